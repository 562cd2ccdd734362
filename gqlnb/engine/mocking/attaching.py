"""A schema that is given as text, as introspection or as an object, and a mock hung into it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from graphql import (
    GraphQLError,
    GraphQLSchema,
    build_schema,
    introspection_types,
    print_schema,
)
from graphql.type import is_abstract_type, is_object_type, is_scalar_type, is_specified_scalar_type

from gqlnb.engine.adopting import held, is_schema
from gqlnb.engine.binding import adapted, bind_all, bind_field, bind_type_resolver
from gqlnb.engine.building import built
from gqlnb.engine.lenient import Described, from_introspection, from_sdl, mistakes
from gqlnb.engine.mocking.chance import number
from gqlnb.engine.mocking.formats import known
from gqlnb.engine.mocking.objects import Item
from gqlnb.engine.mocking.world import EVENTS, Options, World
from gqlnb.errors import SchemaError, plain
from gqlnb.sealing import bare

if TYPE_CHECKING:
    from gqlnb.engine.mocking.objects import Kind

__all__ = ["mocked"]

MISSING = object()
SDL = "The SDL"
BEST = "Give SDL, the answer to an introspection query, or a schema object."


def mocked(
    source: Any, options: Options, resolvers: Mapping[str, Mapping[str, Any]] | None
) -> Described:
    """Return a schema of its own that answers with made-up data, and what was passed over in it.

    Parameters
    ----------
    source
        SDL, the answer to an introspection query as text or as a mapping, or a schema object of any
        library, which is not changed.
    options
        How it is made up.
    resolvers
        Functions that come before it, as for a :class:`gqlnb.Schema`.

    Raises
    ------
    SchemaError
        If the source is no valid schema, an option has no such value, or a resolver fits no field.
    """
    schema, notes = read(source)
    check(options, schema)
    world = World(schema, options)
    for kind in schema.type_map.values():
        if is_object_type(kind) and kind.name not in introspection_types:
            attach(world, schema, world.kind(kind))
        elif is_abstract_type(kind):
            bind_type_resolver(schema, kind.name, type_name)
    bind_all(schema, resolvers or {})
    return Described(schema, notes)


def read(source: Any) -> Described:
    """Return a new schema of what describes one.

    Raises
    ------
    SchemaError
        If it describes none.
    """
    own = getattr(source, "graphql", None)  # of a Schema
    if isinstance(own, GraphQLSchema):
        return Described(copied(own))
    if is_schema(source):
        return Described(copied(held(source)))
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("{"):
        return described(source)
    if isinstance(source, str):
        return published(source)
    if isinstance(source, Mapping):
        return introspected(source)
    msg = f"A {plain(type(source).__name__, 80)} can't be mocked. {BEST}"
    raise SchemaError(msg)


def published(sdl: str) -> Described:
    """Return the schema of SDL that somebody publishes, as far as it can be built.

    Raises
    ------
    SchemaError
        If it can't, with everything that is wrong in it.
    """
    try:
        return Described(built(sdl))
    except SchemaError as error:
        strict = bare(error)
    with suppress(SchemaError):
        made, notes = from_sdl(sdl, SDL)
        return Described(made, notes or tuple(mistakes(strict.problems, SDL)))
    raise strict


def copied(schema: GraphQLSchema) -> GraphQLSchema:
    """Return a schema object anew, without its resolvers and its scalars' functions.

    Whether it is valid is for whoever made it: a client takes more than the specification does.

    Raises
    ------
    SchemaError
        If a default value in it can't be written.
    """
    try:
        return build_schema(print_schema(schema), assume_valid=True, assume_valid_sdl=True)
    except (TypeError, GraphQLError) as error:
        reason = plain(error, 200)
    msg = f"The schema object can't be written as SDL: {reason}."
    raise SchemaError(msg)


def described(text: str) -> Described:
    """Return the schema of introspection as text.

    Raises
    ------
    SchemaError
        If it is no JSON object, or none of introspection.
    """
    try:
        found = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict):
        return introspected(found)
    msg = f"The text begins like JSON and is none: {plain(text, 80)!r}. {BEST}"
    raise SchemaError(msg)


def introspected(answer: Mapping[str, Any]) -> Described:
    """Return the schema of an answer to an introspection query, with or without ``data``.

    What an endpoint says of itself it serves, valid or not.

    Raises
    ------
    SchemaError
        If it describes no schema.
    """
    try:
        return from_introspection(dict(answer), "The introspection result")
    except SchemaError as error:
        reason = str(error)
    msg = f"This is no answer to an introspection query. {reason} {BEST}"
    raise SchemaError(msg)


def check(options: Options, schema: GraphQLSchema) -> None:
    """Refuse options that have no such value.

    Raises
    ------
    SchemaError
        If there is one; the message says what would be right.
    """
    if not (is_number(options.nulls, Real) and 0 <= options.nulls <= 1):
        given = plain(repr(options.nulls), 80)
        msg = f"nulls= is the share of nullable fields that are null, 0 to 1; got {given}."
        raise SchemaError(msg)
    for name in ("lengths", "sizes"):
        pair: Any = getattr(options, name)
        right = isinstance(pair, (tuple, list)) and len(pair) == 2
        right = right and all(is_number(it, Integral) for it in pair)
        if not right or not 0 <= pair[0] <= pair[1]:
            given = plain(repr(pair), 80)
            msg = f"{name}= is (fewest, most), 0 or more, in this order; got {given}."
            raise SchemaError(msg)
    for name, said in options.scalars.items():
        kind = schema.type_map.get(name)
        if not is_scalar_type(kind) or is_specified_scalar_type(kind):
            msg = f"scalars= names {plain(name, 80)!r}, and the schema has no such scalar."
            raise SchemaError(msg)
        if not callable(said) and known(str(said)) is None:
            msg = (
                f"scalars= says {plain(said, 80)!r} of {name!r}: give a function of a number, or "
                "the name of a scalar that is known, such as 'DateTime' or 'Decimal'."
            )
            raise SchemaError(msg)


def is_number(value: Any, kind: type) -> bool:
    """Tell whether a value is a number of a kind, Python's or NumPy's."""
    return isinstance(value, kind)


# -- fields


def attach(world: World, schema: GraphQLSchema, kind: Kind) -> None:
    """Let the fields of an object type be made up."""
    events = kind.type is schema.subscription_type
    root = world.root(kind) if kind.type in (schema.query_type, schema.mutation_type) else None
    for name, field in kind.type.fields.items():
        if events:
            bind_field(schema, f"{kind.name}.{name}", streamed(world, kind, name))
        else:
            field.resolve = adapted(answering(kind, name, root))


def answering(kind: Kind, name: str, base: Item | None) -> Callable[[Any, Any, Any], Any]:
    """Return the resolver of a field."""
    recipe: Any = None

    def answer(root: Any, args: dict[str, Any], _context: Any) -> Any:
        nonlocal recipe
        if recipe is None:
            recipe = kind.recipe(name)
        if type(root) is not Item:
            if root is None and base is not None:
                return recipe(base, args)
            return beside(kind, name, root, args)
        known = root.known
        if known is not None and name in known:
            return known[name]
        return recipe(root, args)

    answer.__qualname__ = "made up"  # what `explain` calls it
    return answer


def beside(kind: Kind, name: str, root: Any, args: dict[str, Any]) -> Any:
    """Return a field of an object that somebody's own resolver gave: its own, else made up."""
    found = own(root, name)
    if found is not MISSING:
        return found
    identity = MISSING if kind.identity is None else own(root, kind.identity)
    if identity is not MISSING and identity is not None:
        item = kind.with_id(identity)
    else:
        item = Item(kind, number(kind.salt, written(root)))
    return item[name] if item.known and name in item.known else kind.recipe(name)(item, args)


def own(root: Any, name: str) -> Any:
    """Return what an object holds under a name; methods do not count."""
    if isinstance(root, Mapping):
        return root.get(name, MISSING)
    found = getattr(root, name, MISSING)
    return MISSING if callable(found) else found


def written(root: Any) -> str:
    """Return an object as text that is the same in every process."""
    if not isinstance(root, Mapping):
        return ""
    return json.dumps(dict(root), sort_keys=True, default=lambda value: type(value).__name__)


def type_name(value: Any, _context: Any) -> str | None:
    """Return the object type of a value: of ours, or of somebody's own resolver."""
    if type(value) is Item:
        return value.kind.name
    if isinstance(value, Mapping):
        return value.get("__typename")
    said: Any = getattr(value, "__typename", None)
    return said if isinstance(said, str) else type(value).__name__


def streamed(world: World, kind: Kind, name: str) -> Callable[[Any, Any, Any], AsyncIterator[Any]]:
    """Return the function of a subscription: some events, and an end."""

    async def events(_root: Any, args: dict[str, Any], _context: Any) -> AsyncIterator[Any]:
        for event in range(EVENTS):
            value = kind.recipe(name)(world.root(kind, event), args)
            yield {name: value} if isinstance(value, Mapping) else value

    return events
