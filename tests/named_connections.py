"""Removing connections that a test registered."""

from contextlib import suppress

from gqlnb import TargetError
from gqlnb.client import connections

__all__ = ["forget_connection"]


def forget_connection(name: str) -> None:
    """Close and remove a connection of this process, if there is one of that name."""
    with suppress(TargetError):
        connections.close_client(name)
    connections._registered.pop(name, None)
