"""Binding the resolvers of the stand-in, and substitutes for fields that its data lack.

A field of GitHub's schema without a fact here is null if its type allows it, an empty list or
connection, false, or a generated value: its *outcome*. With ``fill`` every such field is generated,
by the mock engine. The outcomes of the fields in an answer are in its ``extensions.standIn``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from graphql import (
    GraphQLBoolean,
    GraphQLNonNull,
    GraphQLObjectType,
    get_nullable_type,
    introspection_types,
)
from graphql.type import is_list_type, is_object_type

from gqlnb.engine.mock.mock_objects import MockObject
from gqlnb.engine.mock.mock_schema import MockGenerator, MockOptions
from gqlnb.engine.mock.value_formats import hash_parts
from gqlnb.engine.resolvers import adapt_resolver
from gqlnb.github.standin.connection_pages import build_page, require_boundary
from gqlnb.github.standin.simulation import CURRENT_METER

if TYPE_CHECKING:
    from graphql import GraphQLField, GraphQLSchema

    from gqlnb.engine.mock.mock_objects import MockType

Resolver = Callable[[Any, dict[str, Any], Any], Any]  # (root, args, context)
Facts = Mapping[str, Mapping[str, Resolver | None]]  # by type and field; None reads an attribute

#: Returned by a resolver where the data have no fact.
UNKNOWN: Final = object()


def note_outcome(place: str, outcome: str) -> None:
    """Record that a field of the running operation has no fact."""
    meter = CURRENT_METER.get()
    if meter is not None:  # graphql-core may execute the schema too, without a meter
        meter.outcomes[place] = outcome


def bind_fields(schema: GraphQLSchema, facts: Facts, *, fill: bool, seed: int) -> dict[str, str]:
    """Bind facts to the fields of a schema, and substitutes to all other fields.

    The description of a field that is not a fact says so.

    Parameters
    ----------
    schema
        The schema; fields that it does not have are ignored.
    facts
        The resolvers of facts. With `fill` they may return :data:`UNKNOWN`. One whose value is not
        quite a fact has an attribute ``outcome``.
    fill
        Whether to generate all values that are not facts.
    seed
        The seed of generated values.

    Returns
    -------
    dict
        The outcomes of the fields that are not facts, by place: ``"Repository.description"``.
    """
    generator = MockGenerator(schema, MockOptions(seed=seed))
    outcomes: dict[str, str] = {}
    for kind in schema.type_map.values():
        if is_object_type(kind) and kind.name not in introspection_types:
            if kind in (schema.mutation_type, schema.subscription_type):
                continue
            # With the facts that the pages of connections have.
            parts = next((it for end, it in _PAGE_PARTS.items() if kind.name.endswith(end)), {})
            known = {**parts, **facts.get(kind.name, {})}
            binder = _FieldBinder(generator, kind, fill=fill)
            for name, field in kind.fields.items():
                outcome = getattr(known.get(name), "outcome", None)
                if name not in known:
                    outcome = binder.choose_outcome(field)
                if outcome is not None:
                    outcomes[f"{kind.name}.{name}"] = outcome
                    reason = f"Not in the snapshot ({outcome})."
                    field.description = f"{field.description or ''} {reason}".lstrip()
                binder.bind_field(name, field, known)
    return outcomes


_PAGE_PARTS: Facts = {
    "Connection": {
        "edges": None,
        "nodes": None,
        "pageInfo": lambda root, *_: root.page_info,
        "totalCount": lambda root, *_: root.total,
    },
    "Edge": {"cursor": None, "node": None},
    "PageInfo": dict.fromkeys(("endCursor", "hasNextPage", "hasPreviousPage", "startCursor")),
}


class _FieldBinder:
    """Binds resolvers to the fields of one object type."""

    def __init__(self, generator: MockGenerator, kind: GraphQLObjectType, *, fill: bool) -> None:
        self._mock: MockType = generator.get_type(kind)
        self._root = generator.create_root(self._mock)
        self._fill = fill

    def choose_outcome(self, field: GraphQLField) -> str:
        """Return the outcome of a field without a fact."""
        type_ = field.type
        if self._fill:
            return "generated"
        if not isinstance(type_, GraphQLNonNull):
            return "null"
        inner: Any = get_nullable_type(type_)
        if is_list_type(inner) or _is_connection(field):
            return "empty"
        return "false" if inner is GraphQLBoolean else "generated"

    def bind_field(
        self, name: str, field: GraphQLField, known: Mapping[str, Resolver | None]
    ) -> None:
        """Make the fact, or else the substitute, the resolver of a field."""
        substitute = self._build_substitute(name, field)
        fact = known.get(name)
        if name in known:
            if fact is None and not self._fill:
                field.resolve = None  # the default reads an attribute or a key, fast
                return
            fact = self._build_fact(name, fact or partial(read_value, name), substitute)
        resolve = fact or substitute
        # Seeing the selection costs seven calls, which a list of a hundred connections would feel.
        is_checked = getattr(fact, "checks_boundary", False) and not self._fill
        if _is_connection(field) and "first" in field.args and not is_checked:
            field.resolve = require_boundary(name, resolve)
        else:
            field.resolve = adapt_resolver(resolve)

    def _build_fact(self, name: str, fact: Resolver, substitute: Resolver) -> Resolver:
        if not self._fill:
            return fact

        def resolve_fact(root: Any, args: dict[str, Any], context: object) -> Any:
            if type(root) is MockObject:  # the parent is generated, so are its fields
                if not self._mock.name.endswith(tuple(_PAGE_PARTS)):  # the items are noted
                    note_outcome(f"{self._mock.name}.{name}", "generated")
                values = root.known_values or {}
                return values[name] if name in values else self._generate(name, root, args)
            value = fact(root, args, context)
            return substitute(root, args, context) if value is UNKNOWN else value

        return resolve_fact

    def _build_substitute(self, name: str, field: GraphQLField) -> Resolver:
        outcome, place = self.choose_outcome(field), f"{self._mock.name}.{name}"
        is_page = _is_connection(field) and "first" in field.args

        def resolve_substitute(root: Any, args: dict[str, Any], _context: object) -> Any:
            note_outcome(place, outcome)
            if outcome == "null":
                return None
            if outcome == "false":
                return False
            # Also a generated connection refuses the page sizes that GitHub refuses.
            page: object = build_page(name, (), args) if is_page else []
            return page if outcome == "empty" else self._generate(name, root, args)

        return resolve_substitute

    def _generate(self, name: str, root: Any, args: dict[str, Any]) -> Any:
        """Return a generated value, always the same for the same object."""
        item = root
        if type(root) is not MockObject:
            node_id = getattr(root, "node_id", None)
            if node_id is None:
                item = self._root
            elif self._mock.identity is None:  # another schema, whose type has no id
                item = MockObject(self._mock, hash_parts(self._mock.salt, node_id))
            else:
                item = self._mock.create_with_id(node_id)
        return self._mock.get_recipe(name)(item, args)


def _is_connection(field: GraphQLField) -> bool:
    return str(get_nullable_type(field.type)).endswith("Connection")


def read_value(name: str, root: Any, _args: dict[str, Any], _context: object) -> Any:
    """Return a key of a mapping, or an attribute."""
    return root.get(name) if isinstance(root, Mapping) else getattr(root, name, None)
