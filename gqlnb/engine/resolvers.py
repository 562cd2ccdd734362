"""Binding resolvers to the fields, types, scalars and enums of a schema."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLUnionType,
    get_named_type,
)

from gqlnb.engine.graphql_compat import AnyGraphQLType, Value
from gqlnb.engine.subscription import open_event_source
from gqlnb.errors import SchemaError, sanitize_text, suggest

Resolvers = Mapping[str, Mapping[str, object]]  # functions by type and field
Resolver = Callable[[Any, dict[str, Any], Any], object]
TypeResolver = Callable[[Any, Any], object]

RESOLVE_TYPE_KEY = "__resolveType"
SCALAR_PARTS = {  # graphql-core 3.3 renamed them and reads the new names
    "__serialize": ("serialize", "coerce_output_value"),
    "__parseValue": ("parse_value", "coerce_input_value"),
}


def bind_resolvers(schema: GraphQLSchema, resolvers: Resolvers) -> None:
    """Bind functions by type and field to a schema.

    Raises
    ------
    SchemaError
        If a type or field does not exist, or a function has other parameters than required.
    """
    for name, members in resolvers.items():
        kind = find_type(schema, name)
        if not isinstance(members, Mapping):
            msg = (
                f"Resolvers for {name!r} must be a mapping of field name to function; "
                f"got {type(members).__name__}."
            )
            raise SchemaError(msg)
        for member, value in members.items():
            _bind_member(schema, kind, f"{name}.{member}", member, value)


def _bind_member(
    schema: GraphQLSchema, kind: AnyGraphQLType, place: str, member: str, value: Value
) -> None:
    if member == RESOLVE_TYPE_KEY:
        bind_type_resolver(schema, kind.name, value)
    elif isinstance(kind, GraphQLScalarType):
        _bind_scalar(kind, place, member, value)
    elif isinstance(kind, GraphQLEnumType):
        _bind_enum(kind, place, member, value)
    else:
        bind_field(schema, place, value)


def bind_field(schema: GraphQLSchema, place: str, function: Resolver) -> None:
    """Make a function the resolver of the field at `place`, such as ``"Query.hello"``.

    Raises
    ------
    SchemaError
        If no such field exists, or the function does not take (root, args, context).
    """
    name, dot, member = place.partition(".")
    if not dot:
        msg = f"A resolver is for a field such as 'Query.hello'; got {sanitize_text(place, 80)!r}."
        raise SchemaError(msg)
    kind = find_type(schema, name, place)
    if not isinstance(kind, (GraphQLObjectType, GraphQLInterfaceType)):
        msg = f"Resolver for {place!r}: {name} is not an object type, so it has no fields."
        raise SchemaError(msg)
    field = kind.fields.get(member)
    if field is None:
        msg = f"Resolver for {sanitize_text(place, 80)!r}: no such field."
        msg += suggest(member, kind.fields)
        raise SchemaError(msg)
    _check_callable(function, ("root", "args", "context"), f"Resolver for {place!r}")
    if kind is schema.subscription_type:  # its function returns the stream of events
        field.subscribe = adapt_subscription(function, place)
        field.resolve = resolve_event
    else:
        field.resolve = adapt_resolver(function)


def adapt_resolver(function: Resolver) -> Callable[..., object]:
    """Return a resolver with graphql-core's parameters for one that takes (root, args, context)."""

    # Positional-only, so that GraphQL arguments may be named `source` and `info`.
    def resolve(source: object, info: GraphQLResolveInfo[Any], /, **args: object) -> object:
        return function(source, args, info.context)

    resolve.__wrapped__ = resolve.gqlnb_native = function  # type: ignore[attr-defined]
    return resolve


def adapt_subscription(function: Resolver, place: str) -> Callable[..., object]:
    """Return a subscription's function with graphql-core's parameters."""

    def subscribe(source: object, info: GraphQLResolveInfo[Any], /, **args: object) -> object:
        return open_event_source(function(source, args, info.context), place)

    subscribe.__wrapped__ = function  # type: ignore[attr-defined]
    return subscribe


def resolve_event(source: object, info: GraphQLResolveInfo[Any], /, **_args: object) -> object:
    """Resolve the field of a subscription to the event, or to ``value`` of ``{field: value}``."""
    # The second form is that of graphql-core's own subscriptions. A mapping of that one key is the
    # value itself if the type of the field has a field of the same name.
    name = info.field_name
    if not isinstance(source, Mapping) or source.keys() != {name}:
        return source
    fields = getattr(get_named_type(info.return_type), "fields", ())
    return source if name in fields else source[name]


def bind_type_resolver(schema: GraphQLSchema, name: str, function: TypeResolver) -> None:
    """Make a function the type resolver of the interface or union `name`.

    Raises
    ------
    SchemaError
        If no such type exists, or the function does not take (value, context).
    """
    kind = find_type(schema, name)
    if not isinstance(kind, (GraphQLInterfaceType, GraphQLUnionType)):
        msg = f"Type resolver for {name!r}: only an interface or a union has values to tell apart."
        raise SchemaError(msg)
    _check_callable(function, ("value", "context"), f"Type resolver for {name!r}")

    def resolve_type(value: object, info: GraphQLResolveInfo[Any], _kind: object) -> Value:
        return function(value, info.context)

    resolve_type.__wrapped__ = resolve_type.gqlnb_native = function  # type: ignore[attr-defined]
    kind.resolve_type = resolve_type


def find_type(schema: GraphQLSchema, name: str, place: str | None = None) -> Value:
    """Return a type of the schema."""
    kind = schema.type_map.get(name)
    if kind is not None:
        return kind
    own = [known for known in schema.type_map if not known.startswith("__")]
    msg = f"Resolver for {sanitize_text(place or name, 80)!r}: no such type."
    owner, dot, field = str(name).partition(".")
    if dot and owner in schema.type_map:
        msg += (
            f" Write {sanitize_text(repr({owner: {field: ...}}), 120).replace('Ellipsis', '...')}."
        )
    else:
        msg += suggest(str(name), own)
    raise SchemaError(msg)


def _bind_scalar(kind: GraphQLScalarType, place: str, member: str, value: object) -> None:
    if member not in SCALAR_PARTS:
        msg = f"{place!r}: a scalar takes {' and '.join(SCALAR_PARTS)} only."
        raise SchemaError(msg)
    _check_callable(value, ("value",), f"{place!r}")
    for part in SCALAR_PARTS[member]:
        setattr(kind, part, value)


def _bind_enum(kind: GraphQLEnumType, place: str, member: str, value: object) -> None:
    if member not in kind.values:
        msg = f"{sanitize_text(place, 80)!r}: no such enum value."
        msg += suggest(member, kind.values)
        raise SchemaError(msg)
    kind.values[member].value = value


def _check_callable(function: object, names: tuple[str, ...], place: str) -> None:
    """Check that a function takes as many positional arguments as `names`."""
    if not callable(function):
        msg = f"{place} must be a function ({', '.join(names)}); got {type(function).__name__}."
        raise SchemaError(msg)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some builtins have none
        return
    # Bound, not compared: defaults and *args are as good as three parameters.
    try:
        signature.bind(*names)
    except TypeError:
        pass
    else:
        return
    msg = f"{place} is called with ({', '.join(names)}); this one takes {signature}."
    raise SchemaError(msg)
