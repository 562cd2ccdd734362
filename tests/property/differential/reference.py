"""The executor that ours is compared with: graphql-core's.

Version 3.2 leaves two kinds of coroutines in the data. There the awaits that it lacks are added.
"""

from __future__ import annotations

from typing import Any

import graphql

from gqlnb.engine.graphql_compat import IS_GRAPHQL_33, BaseExecutor

EXECUTOR_OPTION = "executor_class" if IS_GRAPHQL_33 else "execution_context_class"


def execute(*args: Any, **options: Any) -> Any:
    """Execute an operation with graphql-core."""
    if not IS_GRAPHQL_33:
        options.setdefault(EXECUTOR_OPTION, BaseExecutor)
    return graphql.execute(*args, **options)
