"""Recordings of responses: the file format, the transport, and the removal of secrets."""
