"""Asking: the client, the connections it knows by name, and the transports behind it."""
