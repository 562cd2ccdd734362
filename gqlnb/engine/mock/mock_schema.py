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

from gqlnb.engine.mock.generator import EVENT_COUNT, MockGenerator, MockOptions
from gqlnb.engine.mock.mock_objects import MockObject
from gqlnb.engine.mock.value_formats import find_format, hash_parts
from gqlnb.engine.resolvers import adapt_resolver, bind_field, bind_resolvers, bind_type_resolver
from gqlnb.engine.schema_adapters import extract_schema, is_schema
from gqlnb.engine.schema_builder import (
    LoadedSchema,
    build_sdl_schema,
    describe_mistakes,
    load_introspection,
    load_sdl,
)
from gqlnb.errors import SchemaError, sanitize_text
from gqlnb.redact import strip_traceback

if TYPE_CHECKING:
    from gqlnb.engine.mock.mock_objects import MockType

__all__ = ["build_mock_schema"]

MISSING = object()
SDL_SOURCE = "The SDL"
SOURCE_HINT = "Give SDL, the answer to an introspection query, or a schema object."


def build_mock_schema(
    source: Any, options: MockOptions, resolvers: Mapping[str, Mapping[str, Any]] | None
) -> LoadedSchema:
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
    schema, notes = load_schema(source)
    check_mock_options(options, schema)
    world = MockGenerator(schema, options)
    for kind in schema.type_map.values():
        if is_object_type(kind) and kind.name not in introspection_types:
            attach_resolvers(world, schema, world.get_type(kind))
        elif is_abstract_type(kind):
            bind_type_resolver(schema, kind.name, resolve_type_name)
    bind_resolvers(schema, resolvers or {})
    return LoadedSchema(schema, notes)


def load_schema(source: Any) -> LoadedSchema:
    """Return a new schema of what describes one.

    Raises
    ------
    SchemaError
        If it describes none.
    """
    own = getattr(source, "graphql", None)  # of a Schema
    if isinstance(own, GraphQLSchema):
        return LoadedSchema(copy_schema(own))
    if is_schema(source):
        return LoadedSchema(copy_schema(extract_schema(source)))
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("{"):
        return load_introspection_text(source)
    if isinstance(source, str):
        return load_published_sdl(source)
    if isinstance(source, Mapping):
        return load_introspection_answer(source)
    msg = f"A {sanitize_text(type(source).__name__, 80)} can't be mocked. {SOURCE_HINT}"
    raise SchemaError(msg)


def load_published_sdl(sdl: str) -> LoadedSchema:
    """Return the schema of SDL that somebody publishes, as far as it can be built.

    Raises
    ------
    SchemaError
        If it can't, with everything that is wrong in it.
    """
    try:
        return LoadedSchema(build_sdl_schema(sdl))
    except SchemaError as error:
        strict = strip_traceback(error)
    with suppress(SchemaError):
        made, notes = load_sdl(sdl, SDL_SOURCE)
        return LoadedSchema(made, notes or tuple(describe_mistakes(strict.problems, SDL_SOURCE)))
    raise strict


def copy_schema(schema: GraphQLSchema) -> GraphQLSchema:
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
        reason = sanitize_text(error, 200)
    msg = f"The schema object can't be written as SDL: {reason}."
    raise SchemaError(msg)


def load_introspection_text(text: str) -> LoadedSchema:
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
        return load_introspection_answer(found)
    msg = f"The text begins like JSON and is none: {sanitize_text(text, 80)!r}. {SOURCE_HINT}"
    raise SchemaError(msg)


def load_introspection_answer(answer: Mapping[str, Any]) -> LoadedSchema:
    """Return the schema of an answer to an introspection query, with or without ``data``.

    What an endpoint says of itself it serves, valid or not.

    Raises
    ------
    SchemaError
        If it describes no schema.
    """
    try:
        return load_introspection(dict(answer), "The introspection result")
    except SchemaError as error:
        reason = str(error)
    msg = f"This is no answer to an introspection query. {reason} {SOURCE_HINT}"
    raise SchemaError(msg)


def check_mock_options(options: MockOptions, schema: GraphQLSchema) -> None:
    """Refuse options that have no such value.

    Raises
    ------
    SchemaError
        If there is one; the message says what would be right.
    """
    if not (is_number(options.nulls, Real) and 0 <= options.nulls <= 1):
        given = sanitize_text(repr(options.nulls), 80)
        msg = f"nulls= is the share of nullable fields that are null, 0 to 1; got {given}."
        raise SchemaError(msg)
    for name in ("lengths", "sizes"):
        pair: Any = getattr(options, name)
        right = isinstance(pair, (tuple, list)) and len(pair) == 2
        right = right and all(is_number(it, Integral) for it in pair)
        if not right or not 0 <= pair[0] <= pair[1]:
            given = sanitize_text(repr(pair), 80)
            msg = f"{name}= is (fewest, most), 0 or more, in this order; got {given}."
            raise SchemaError(msg)
    for name, said in options.scalars.items():
        kind = schema.type_map.get(name)
        if not is_scalar_type(kind) or is_specified_scalar_type(kind):
            msg = f"scalars= names {sanitize_text(name, 80)!r}, and the schema has no such scalar."
            raise SchemaError(msg)
        if not callable(said) and find_format(str(said)) is None:
            msg = (
                f"scalars= says {sanitize_text(said, 80)!r} of {name!r}: give a function of a number, or "
                "the name of a scalar that is known, such as 'DateTime' or 'Decimal'."
            )
            raise SchemaError(msg)


def is_number(value: Any, kind: type) -> bool:
    """Tell whether a value is a number of a kind, Python's or NumPy's."""
    return isinstance(value, kind)


# -- fields


def attach_resolvers(world: MockGenerator, schema: GraphQLSchema, kind: MockType) -> None:
    """Let the fields of an object type be made up."""
    events = kind.type is schema.subscription_type
    root = (
        world.create_root(kind) if kind.type in (schema.query_type, schema.mutation_type) else None
    )
    for name, field in kind.type.fields.items():
        if events:
            bind_field(schema, f"{kind.name}.{name}", build_event_generator(world, kind, name))
        else:
            field.resolve = adapt_resolver(build_resolver(kind, name, root))


def build_resolver(
    kind: MockType, name: str, base: MockObject | None
) -> Callable[[Any, Any, Any], Any]:
    """Return the resolver of a field."""
    recipe: Any = None

    def answer(root: Any, args: dict[str, Any], _context: Any) -> Any:
        nonlocal recipe
        if recipe is None:
            recipe = kind.get_recipe(name)
        if type(root) is not MockObject:
            if root is None and base is not None:
                return recipe(base, args)
            return resolve_partial_object(kind, name, root, args)
        known = root.known_values
        if known is not None and name in known:
            return known[name]
        return recipe(root, args)

    answer.__qualname__ = "made up"  # what `explain` calls it
    return answer


def resolve_partial_object(kind: MockType, name: str, root: Any, args: dict[str, Any]) -> Any:
    """Return a field of an object that somebody's own resolver gave: its own, else made up."""
    found = read_own_value(root, name)
    if found is not MISSING:
        return found
    identity = MISSING if kind.identity is None else read_own_value(root, kind.identity)
    if identity is not MISSING and identity is not None:
        item = kind.create_with_id(identity)
    else:
        item = MockObject(kind, hash_parts(kind.salt, serialize_root(root)))
    return (
        item[name]
        if item.known_values and name in item.known_values
        else kind.get_recipe(name)(item, args)
    )


def read_own_value(root: Any, name: str) -> Any:
    """Return what an object holds under a name; methods do not count."""
    if isinstance(root, Mapping):
        return root.get(name, MISSING)
    found = getattr(root, name, MISSING)
    return MISSING if callable(found) else found


def serialize_root(root: Any) -> str:
    """Return an object as text that is the same in every process."""
    if not isinstance(root, Mapping):
        return ""
    return json.dumps(dict(root), sort_keys=True, default=lambda value: type(value).__name__)


def resolve_type_name(value: Any, _context: Any) -> str | None:
    """Return the object type of a value: of ours, or of somebody's own resolver."""
    if type(value) is MockObject:
        return value.kind.name
    if isinstance(value, Mapping):
        return value.get("__typename")
    said: Any = getattr(value, "__typename", None)
    return said if isinstance(said, str) else type(value).__name__


def build_event_generator(
    world: MockGenerator, kind: MockType, name: str
) -> Callable[[Any, Any, Any], AsyncIterator[Any]]:
    """Return the function of a subscription: some events, and an end."""

    async def generate_events(
        _root: Any, args: dict[str, Any], _context: Any
    ) -> AsyncIterator[Any]:
        for event in range(EVENT_COUNT):
            value = kind.get_recipe(name)(world.create_root(kind, event), args)
            yield {name: value} if isinstance(value, Mapping) else value

    return generate_events
