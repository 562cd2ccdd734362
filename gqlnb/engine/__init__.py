"""Executing: a schema with its resolvers, and the functions that run operations on it.

Both take what graphql-core's functions of these names take, and give what they give.

Examples
--------
>>> [name for name in gqlnb.engine.__all__]
['execute', 'subscribe']
"""

from gqlnb.engine.compiled_execution import execute
from gqlnb.engine.subscription import subscribe

__all__ = ["execute", "subscribe"]
