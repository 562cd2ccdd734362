"""Documents, variables, scalars and paging plans."""
