"""Mock schemas: loading a schema from any description, and attaching generated resolvers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from graphql import (
    FieldNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLSchema,
    build_schema,
    introspection_types,
)
from graphql.type import is_abstract_type, is_object_type, is_scalar_type, is_specified_scalar_type

from gqlnb.document.schema_text import print_sdl
from gqlnb.engine.graphql_compat import Value
from gqlnb.engine.mock.generator import EVENT_COUNT, MockGenerator, MockOptions
from gqlnb.engine.mock.mock_objects import MockObject
from gqlnb.engine.mock.value_formats import find_format, hash_parts
from gqlnb.engine.resolvers import (
    Resolvers,
    adapt_resolver,
    bind_field,
    bind_resolvers,
)
from gqlnb.engine.schema_adapters import extract_schema, is_schema
from gqlnb.engine.schema_builder import (
    LoadedSchema,
    build_sdl_schema,
    describe_mistakes,
    load_introspection,
    load_sdl,
    parse_sdl,
)
from gqlnb.errors import SchemaError, sanitize_text
from gqlnb.redact import strip_traceback

if TYPE_CHECKING:
    from graphql import GraphQLResolveInfo

    from gqlnb.engine.mock.mock_objects import MockType

MISSING = object()
SDL_SOURCE = "The SDL"
SOURCE_HINT = "Give SDL, the result of an introspection query, or a schema object."


def build_mock_schema(
    source: object, options: MockOptions, resolvers: Resolvers | None
) -> LoadedSchema:
    """Return a new schema that answers with generated data, and the mistakes ignored in it.

    Parameters
    ----------
    source
        SDL, an introspection result as text or as a mapping, or a schema object of any library,
        which is not changed.
    options
        The options of the mock.
    resolvers
        Functions used instead of generated data, as for a :class:`gqlnb.Schema`.

    Raises
    ------
    SchemaError
        If the source is not a schema, an option has an invalid value, or a resolver matches no
        field.
    """
    schema, notes = load_schema(source)
    check_mock_options(options, schema)
    generator = MockGenerator(schema, options)
    for kind in schema.type_map.values():
        if is_object_type(kind) and kind.name not in introspection_types:
            attach_resolvers(generator, generator.get_type(kind))
        elif is_abstract_type(kind):
            kind.resolve_type = resolve_type_name
    bind_resolvers(schema, resolvers or {})
    return LoadedSchema(schema, notes)


def load_schema(source: object) -> LoadedSchema:
    """Return a new schema from any description of one."""
    own = getattr(source, "graphql", None)  # of a Schema
    if isinstance(own, GraphQLSchema) or is_schema(source):
        return copy_schema(own if isinstance(own, GraphQLSchema) else extract_schema(source))
    if isinstance(source, str):
        text = source.lstrip("\ufeff \t\r\n")
        if not text.startswith("{"):
            return load_published_sdl(source)
        try:
            source = json.loads(text)
        except (ValueError, RecursionError):
            source = None
        if not isinstance(source, dict):
            msg = (
                f"The text begins like JSON, but is not: {sanitize_text(text, 80)!r}. {SOURCE_HINT}"
            )
            raise SchemaError(msg)
    if isinstance(source, Mapping):
        # Not validated further: an endpoint serves the schema that it describes.
        try:
            return load_introspection(dict(source), "The introspection result")
        except SchemaError as error:
            reason = str(error)
        msg = f"This is not the result of an introspection query. {reason} {SOURCE_HINT}"
        raise SchemaError(msg)
    msg = f"A {sanitize_text(type(source).__name__, 80)} can't be mocked. {SOURCE_HINT}"
    raise SchemaError(msg)


def load_published_sdl(sdl: str) -> LoadedSchema:
    """Return the schema of SDL, which may contain mistakes that do not prevent building it."""
    parsed = parse_sdl(sdl)  # once: parsing takes half of the time
    try:
        return LoadedSchema(build_sdl_schema(sdl, parsed))
    except SchemaError as error:
        strict = strip_traceback(error)
    # The errors of the strict attempt are complete, those of the tolerant one are not.
    with suppress(SchemaError):
        schema, notes = load_sdl(sdl, SDL_SOURCE, parsed)
        return LoadedSchema(schema, notes or tuple(describe_mistakes(strict.problems, SDL_SOURCE)))
    raise strict


def copy_schema(schema: GraphQLSchema) -> LoadedSchema:
    """Return a copy of a schema, without its resolvers and its scalars' functions."""
    # The copy is not validated: a client accepts more than the specification does.
    try:
        sdl = print_sdl(schema)
        return LoadedSchema(build_schema(sdl, assume_valid=True, assume_valid_sdl=True))
    except (TypeError, GraphQLError) as error:
        reason = sanitize_text(error, 200)
    msg = f"The schema object can't be written as SDL: {reason}."
    raise SchemaError(msg)


def check_mock_options(options: MockOptions, schema: GraphQLSchema) -> None:
    """Check the values of options."""
    nulls: Any = options.nulls
    if not (isinstance(nulls, Real) and 0 <= float(nulls) <= 1):
        given = sanitize_text(repr(nulls), 80)
        msg = f"nulls= is the share of nullable fields that are null, 0 to 1; got {given}."
        raise SchemaError(msg)
    for name in ("lengths", "sizes"):
        pair: Any = getattr(options, name)
        valid = isinstance(pair, (tuple, list)) and len(pair) == 2
        valid = valid and all(isinstance(number, Integral) for number in pair)
        if not valid or not 0 <= pair[0] <= pair[1]:
            given = sanitize_text(repr(pair), 80)
            msg = f"{name}= is (fewest, most), 0 or more, in this order; got {given}."
            raise SchemaError(msg)
    for name, format_ in options.scalars.items():
        kind = schema.type_map.get(name)
        if not is_scalar_type(kind) or is_specified_scalar_type(kind):
            msg = f"scalars= names {sanitize_text(name, 80)!r}, and the schema has no such scalar."
            raise SchemaError(msg)
        if not callable(format_) and find_format(str(format_)) is None:
            msg = (
                f"scalars= says {sanitize_text(format_, 80)!r} of {name!r}: give a function of a "
                "number, or the name of a scalar that is known, such as 'DateTime' or 'Decimal'."
            )
            raise SchemaError(msg)


# -- fields


def attach_resolvers(generator: MockGenerator, kind: MockType) -> None:
    """Attach resolvers that generate values to the fields of an object type."""
    schema = generator.schema
    is_root = kind.type in (schema.query_type, schema.mutation_type)
    root = generator.create_root(kind) if is_root else None
    for name, field in kind.type.fields.items():
        if kind.type is schema.subscription_type:
            events = build_event_generator(generator, kind, name)
            bind_field(schema, f"{kind.name}.{name}", events)
        else:
            field.resolve = adapt_resolver(build_resolver(kind, name, root))


def build_resolver(
    kind: MockType, name: str, base: MockObject | None
) -> Callable[[Any, Any, Any], object]:
    """Return the resolver of a field."""
    recipe: Any = None  # built late: a large schema has thousands of fields, a query uses few

    def generate(root: object, args: dict[str, object], _context: object) -> Value:
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

    generate.__qualname__ = "generated"  # its name in an explanation
    return generate


def resolve_partial_object(
    kind: MockType, name: str, root: object, args: dict[str, object]
) -> Value:
    """Return a field of a user's object: its own value, else a generated one."""
    found = read_own_value(root, name)
    if found is not MISSING:
        return found
    identity = MISSING if kind.identity is None else read_own_value(root, kind.identity)
    if identity is not MISSING and identity is not None:
        item = kind.create_with_id(identity)
    else:
        text = ""
        if isinstance(root, Mapping):  # the same in every process
            text = json.dumps(dict(root), sort_keys=True, default=lambda v: type(v).__name__)
        item = MockObject(kind, hash_parts(kind.salt, text))
    if item.known_values and name in item.known_values:
        return item[name]
    return kind.get_recipe(name)(item, args)


def read_own_value(root: object, name: str) -> Value:
    """Return a key of a mapping or an attribute that is not a method; else MISSING."""
    if isinstance(root, Mapping):
        return root.get(name, MISSING)
    found = getattr(root, name, MISSING)
    return MISSING if callable(found) else found


def resolve_type_name(value: object, info: GraphQLResolveInfo[Any], _kind: object) -> str | None:
    """Return the object type of a generated value, or of a user's."""
    if type(value) is MockObject:
        if value.choice is not None:
            value.change_type(find_named_types(info))
        return value.kind.name
    if isinstance(value, Mapping):
        return value.get("__typename")
    name = getattr(value, "__typename", None)
    return name if isinstance(name, str) else type(value).__name__


def find_named_types(info: GraphQLResolveInfo[Any]) -> set[str]:
    """Return the object types that the fragments of a field name, directly or by interfaces."""
    schema = info.schema
    direct: set[str] = set()
    wide: set[str] = set()
    waiting: list[Any] = [node.selection_set for node in info.field_nodes]
    spread: set[str] = set()
    while waiting:
        for selection in waiting.pop().selections:
            fragment: Any = selection
            if isinstance(selection, FieldNode):
                continue
            if isinstance(selection, FragmentSpreadNode):
                if selection.name.value in spread:
                    continue
                spread.add(selection.name.value)
                fragment = info.fragments[selection.name.value]
            waiting.append(fragment.selection_set)
            condition = fragment.type_condition
            kind: Any = condition and schema.type_map[condition.name.value]
            if is_object_type(kind):
                direct.add(kind.name)
            elif kind is not None:
                wide.update(possible.name for possible in schema.get_possible_types(kind))
    return direct or wide


def build_event_generator(
    generator: MockGenerator, kind: MockType, name: str
) -> Callable[[Any, Any, Any], AsyncIterator[Any]]:
    """Return the function of a subscription, which yields some events and ends."""

    async def generate_events(
        _root: object, args: dict[str, object], _context: object
    ) -> AsyncIterator[Any]:
        for event in range(EVENT_COUNT):
            value = kind.get_recipe(name)(generator.create_root(kind, event), args)
            yield {name: value} if isinstance(value, Mapping) else value

    return generate_events
