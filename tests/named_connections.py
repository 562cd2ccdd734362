"""Removing connections that a test registered."""

from contextlib import suppress

from gqlnb import GqlnbError
from gqlnb.client import connections

__all__ = ["forget_connection"]


def forget_connection(name: str) -> None:
    """Close and remove a connection of this process, also where a file is invalid."""
    with suppress(GqlnbError):
        connections.close_client(name)
    connections._registered.pop(name, None)
