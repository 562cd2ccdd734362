"""A report of an endpoint by experiment: protocol, schema, lists, scalars and advice."""
