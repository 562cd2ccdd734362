"""Executors that are wrong in one thing each: they show that the comparison finds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gqlnb.engine.graphql_compat import BaseExecutor
from tests.property.differential import bending

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.property.differential.case import Execute


class Mutant(NamedTuple):
    """A wrong executor."""

    make: Callable[[], Execute]  # a new one each time: some remember
    mode: str = "sync"


MUTANTS: dict[str, Mutant] = {
    "@include by variable is ignored": Mutant(
        lambda: bending.documents(directive=bending.no_directive("include", lifted=True))
    ),
    "directives are decided once": Mutant(bending.first_variables),
    "defaults of variables are ignored": Mutant(
        lambda: bending.documents(
            variable_definition=lambda node, _: bending.changed(node, default_value=None)
        )
    ),
    "locations are lost": Mutant(
        lambda: bending.errors(bending.setting("locations", lambda _: None))
    ),
    "True for 1": Mutant(
        lambda: bending.values(bending.only(int, lambda value: value == 1 or value))
    ),
    "keys are sorted": Mutant(
        lambda: bending.values(bending.only(dict, lambda value: dict(sorted(value.items()))))
    ),
    "null does not propagate": Mutant(
        lambda: bending.methods(handle_field_error=bending.propagates_nothing)
    ),
    "resolvers are called twice": Mutant(lambda: bending.middleware(bending.twice)),
    "resolvers are remembered": Mutant(bending.first_resolvers),
    "rows are all of one kind": Mutant(bending.one_kind_of_rows),
    "returned exceptions are null": Mutant(lambda: bending.middleware(bending.no_exceptions)),
    "info has no whole path": Mutant(lambda: bending.middleware(bending.last_key)),
    "tuples are no lists": Mutant(
        lambda: bending.list_as(lambda result: None if isinstance(result, tuple) else result)
    ),
    "True is an integer": Mutant(
        lambda: bending.leaf_as(
            lambda kind, value: value if kind == "Int" and value is True else None
        )
    ),
    "any object type is possible": Mutant(
        lambda: bending.methods(ensure_valid_runtime_type=bending.any_type)
    ),
    "always an awaitable": Mutant(lambda: bending.always_later, "ready"),
    "mutations do not wait": Mutant(
        lambda: bending.methods(execute_fields_serially=BaseExecutor.execute_fields), "gated"
    ),
    "later errors below a null are kept": Mutant(bending.nulled_errors, "gated"),
    "later errors are turned round": Mutant(lambda: bending.after(bending.turned), "gated"),
}
