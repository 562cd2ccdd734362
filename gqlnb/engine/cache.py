"""The plans of this process: bounded, and dropped when a resolver they took as given changes."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from gqlnb.engine.plan import Plan, facts

if TYPE_CHECKING:
    from graphql import DocumentNode, GraphQLSchema

__all__ = ["Operation", "known", "operation_of"]

OPERATIONS = 512  # documents remembered; a notebook or a server repeats few
PLANS = 16  # sets of @skip and @include values per document; each is a plan of its own
_lock = Lock()
known: dict[tuple[Any, ...], Operation] = {}


class Operation:
    """One operation of a document on a schema, with its plans.

    Attributes
    ----------
    facts
        What the document says before it is planned.
    name
        The name of the operation that was asked for.
    """

    __slots__ = ("document", "facts", "name", "only", "plans", "schema")

    def __init__(self, schema: GraphQLSchema, document: DocumentNode, name: str | None) -> None:
        self.schema = schema  # held, so that no other object gets their ids
        self.document = document
        self.name = name
        self.facts = facts(document)
        self.plans: dict[tuple[Any, ...], Plan] = {}
        self.only: Plan | None = None  # the plan of an operation without variables

    def keep(self, key: tuple[Any, ...], plan: Plan) -> None:
        """Remember the plan for one set of values."""
        with _lock:
            if len(self.plans) >= PLANS:
                self.plans.pop(next(iter(self.plans)))
            self.plans[key] = plan
        if not plan.operation.variable_definitions:
            self.only = plan

    def drop(self) -> None:
        """Forget all plans: a resolver has changed."""
        with _lock:
            self.plans.clear()
            self.only = None


def operation_of(
    schema: GraphQLSchema, document: DocumentNode, name: str | None, given: tuple[Any, ...]
) -> Operation:
    """Return what is known of an operation.

    Parameters
    ----------
    schema, document, name
        What is executed.
    given
        The resolvers used by default, if the caller gave any: a plan takes them as constant; and
        whether it counts.
    """
    key = (id(schema), id(document), name, *given)
    found = known.get(key)
    if found is None:
        found = Operation(schema, document, name)
        with _lock:
            if len(known) >= OPERATIONS:
                known.pop(next(iter(known)))
            known[key] = found
    return found
