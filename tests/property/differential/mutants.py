"""Executors that are wrong in one thing each: they show that the comparison finds it."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, NamedTuple

from graphql.pyutils import Path

from gqlnb.engine.graphql_compat import BaseExecutor
from tests.property.differential import bending
from tests.property.differential.values import NAN

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.property.differential.case import Execute


class Mutant(NamedTuple):
    """A wrong executor."""

    make: Callable[[], Execute]  # a new one each time: some remember
    mode: str = "sync"


MUTANTS: dict[str, Mutant] = {
    "copies of a field are not merged": Mutant(
        lambda: bending.documents(selection_set=bending.first_of_each)
    ),
    "@include by variable is ignored": Mutant(
        lambda: bending.documents(directive=bending.no_directive("include", lifted=True))
    ),
    "@include by literal is ignored": Mutant(
        lambda: bending.documents(directive=bending.no_directive("include", lifted=False))
    ),
    "@skip by variable is ignored": Mutant(
        lambda: bending.documents(directive=bending.no_directive("skip", lifted=True))
    ),
    "directives are decided once": Mutant(bending.first_variables),
    "type conditions are ignored": Mutant(
        lambda: bending.documents(
            inline_fragment=lambda node, _: bending.changed(node, type_condition=None)
        )
    ),
    "fragments on interfaces are ignored": Mutant(
        lambda: bending.documents(inline_fragment=bending.no_interface)
    ),
    "defaults of variables are ignored": Mutant(
        lambda: bending.documents(
            variable_definition=lambda node, _: bending.changed(node, default_value=None)
        )
    ),
    "null in a variable is nothing": Mutant(lambda: bending.options(bending.not_null)),
    "the name of the operation is ignored": Mutant(
        lambda: bending.options(bending.first_operation)
    ),
    "the limit of coercion errors is ignored": Mutant(
        lambda: bending.options(lambda given: given.pop("max_coercion_errors", None))
    ),
    "suggestions are hidden": Mutant(
        lambda: bending.options(lambda given: given.update(hide_suggestions=True))
    ),
    "defaults of arguments are ignored": Mutant(lambda: bending.middleware(bending.no_defaults)),
    "errors are turned round": Mutant(lambda: bending.after(bending.turned)),
    "locations are lost": Mutant(
        lambda: bending.errors(bending.setting("locations", lambda _: None))
    ),
    "one location of several is told": Mutant(
        lambda: bending.errors(bending.setting("locations", lambda places: places and places[:1]))
    ),
    "paths have no indices": Mutant(
        lambda: bending.errors(
            bending.setting(
                "path", lambda path: path and [key for key in path if isinstance(key, str)]
            )
        )
    ),
    "extensions are lost": Mutant(
        lambda: bending.errors(bending.setting("extensions", lambda _: {}))
    ),
    "original errors are lost": Mutant(
        lambda: bending.errors(bending.setting("original_error", lambda _: None))
    ),
    "request errors are raised": Mutant(lambda: bending.after(bending.raised)),
    "True for 1": Mutant(
        lambda: bending.values(bending.only(int, lambda value: value == 1 or value))
    ),
    "1 for 1.0": Mutant(
        lambda: bending.values(
            bending.only(float, lambda value: int(value) if value == 1.0 else value)
        )
    ),
    "keys are sorted": Mutant(
        lambda: bending.values(bending.only(dict, lambda value: dict(sorted(value.items()))))
    ),
    "null items are dropped": Mutant(
        lambda: bending.values(
            bending.only(list, lambda value: [item for item in value if item is not None])
        )
    ),
    "null does not propagate": Mutant(
        lambda: bending.methods(handle_field_error=bending.propagates_nothing)
    ),
    "null propagates out of lists": Mutant(
        lambda: bending.methods(handle_field_error=bending.propagates_items)
    ),
    "resolvers are called twice": Mutant(lambda: bending.middleware(bending.twice)),
    "resolvers are remembered": Mutant(bending.first_resolvers),
    "rows are all of one kind": Mutant(bending.one_kind_of_rows),
    "rows are read by item": Mutant(lambda: bending.fields(bending.by_item)),
    "rows are read without their class": Mutant(lambda: bending.fields(bending.own_attributes)),
    "methods are not called": Mutant(lambda: bending.fields(bending.no_calls)),
    "returned exceptions are null": Mutant(lambda: bending.middleware(bending.no_exceptions)),
    "everything is caught": Mutant(lambda: bending.middleware(bending.everything_caught)),
    "info has no whole path": Mutant(
        lambda: bending.middleware(
            bending.other_info(path=lambda info: Path(None, info.path.key, None))
        )
    ),
    "info has one node": Mutant(
        lambda: bending.middleware(
            bending.other_info(field_nodes=lambda info: info.field_nodes[:1])
        )
    ),
    "info has another context": Mutant(
        lambda: bending.middleware(bending.other_info(context=lambda _: None))
    ),
    "strings are lists": Mutant(
        lambda: bending.list_as(lambda result: list(result) if isinstance(result, str) else result)
    ),
    "tuples are no lists": Mutant(
        lambda: bending.list_as(lambda result: None if isinstance(result, tuple) else result)
    ),
    "lists are read by index": Mutant(
        lambda: bending.list_as(lambda result: result[:] if isinstance(result, list) else result)
    ),
    "iterators may fail": Mutant(lambda: bending.list_as(bending.partial)),
    "integers are not checked": Mutant(
        lambda: bending.leaf_as(
            lambda kind, value: value if kind == "Int" and type(value) is int else None
        )
    ),
    "True is an integer": Mutant(
        lambda: bending.leaf_as(
            lambda kind, value: value if kind == "Int" and value is True else None
        )
    ),
    "not a number is a number": Mutant(
        lambda: bending.leaf_as(
            lambda kind, value: value if kind == "Float" and value is NAN else None
        )
    ),
    "strings of a subclass are strings": Mutant(
        lambda: bending.leaf_as(lambda kind, value: str(value) if isinstance(value, str) else None)
    ),
    "is_type_of is not asked": Mutant(
        lambda: bending.methods(complete_object_value=bending.no_is_type_of)
    ),
    "any object type is possible": Mutant(
        lambda: bending.methods(ensure_valid_runtime_type=bending.any_type)
    ),
    "always an awaitable": Mutant(lambda: bending.always_later, "ready"),
    "only coroutines are awaited": Mutant(
        lambda: bending.options(lambda given: given.update(is_awaitable=inspect.iscoroutine)),
        "ready",
    ),
    "later nulls do not propagate": Mutant(
        lambda: bending.methods(handle_field_error=bending.propagates_nothing), "ready"
    ),
    "siblings wait for each other": Mutant(
        lambda: bending.methods(execute_fields=BaseExecutor.execute_fields_serially), "gated"
    ),
    "mutations do not wait": Mutant(
        lambda: bending.methods(execute_fields_serially=BaseExecutor.execute_fields), "gated"
    ),
    "later errors below a null are kept": Mutant(bending.nulled_errors, "gated"),
    "later errors are turned round": Mutant(lambda: bending.after(bending.turned), "gated"),
}
