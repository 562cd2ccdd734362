"""Executing: a schema with its resolvers, and the function that runs an operation on it."""

from gqlnb.engine.run import execute

__all__ = ["execute"]
