"""Execution: schemas with resolvers, and functions that execute operations on them.

Both have the parameters and return values of graphql-core's functions of these names.

Examples
--------
>>> [name for name in gqlnb.engine.__all__]
['execute', 'subscribe']
"""

from gqlnb.engine.compiled_execution import execute
from gqlnb.engine.subscription import subscribe

__all__ = ["execute", "subscribe"]
