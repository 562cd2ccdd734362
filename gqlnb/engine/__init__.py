"""Executing: a schema with its resolvers, and the functions that run operations on it."""

from gqlnb.engine.run import execute
from gqlnb.engine.subscription import subscribe

__all__ = ["execute", "subscribe"]
