"""GraphQL over HTTP on plain values, without I/O: requests, responses, and their rules."""
