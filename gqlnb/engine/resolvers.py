"""Fitting a person's functions onto a schema, and saying clearly where one does not fit."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLUnionType,
    get_named_type,
)
from graphql.pyutils import did_you_mean, suggestion_list

from gqlnb.engine.subscription import open_event_source
from gqlnb.errors import SchemaError, sanitize_text

__all__ = ["adapt_resolver", "bind_field", "bind_resolvers", "bind_type_resolver", "tidy_guess"]

Resolvers = Mapping[str, Mapping[str, Any]]  # functions by type and field
Resolver = Callable[[Any, dict[str, Any], Any], Any]
TypeResolver = Callable[[Any, Any], Any]

RESOLVE_TYPE_KEY = "__resolveType"
SCALAR_PARTS = {  # graphql-core 3.3 renamed them and reads the new names
    "__serialize": ("serialize", "coerce_output_value"),
    "__parseValue": ("parse_value", "coerce_input_value"),
}


def bind_resolvers(schema: GraphQLSchema, resolvers: Mapping[str, Mapping[str, Any]]) -> None:
    """Fit a mapping of type name to field name to function onto a schema.

    Raises
    ------
    SchemaError
        If a type or field does not exist, or a function can't be called as it will be.
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


def _bind_member(schema: GraphQLSchema, kind: Any, place: str, member: str, value: Any) -> None:
    if member == RESOLVE_TYPE_KEY:
        bind_type_resolver(schema, kind.name, value)
    elif isinstance(kind, GraphQLScalarType):
        _bind_scalar(kind, place, member, value)
    elif isinstance(kind, GraphQLEnumType):
        _bind_enum(kind, place, member, value)
    else:
        bind_field(schema, place, value)


def bind_field(schema: GraphQLSchema, place: str, function: Resolver) -> None:
    """Let `function` resolve the field at `place`, such as ``"Query.hello"``.

    Raises
    ------
    SchemaError
        If there is no such field, or the function does not take (root, args, context).
    """
    name, dot, member = place.partition(".")
    if not dot:
        msg = f"A resolver is for a field such as 'Query.hello'; got {sanitize_text(place, 80)!r}."
        raise SchemaError(msg)
    kind = find_type(schema, name, place)
    if not isinstance(kind, (GraphQLObjectType, GraphQLInterfaceType)):
        msg = f"Resolver for {place!r}: {name} is no object type, so it has no fields."
        raise SchemaError(msg)
    field = kind.fields.get(member)
    if field is None:
        guess = did_you_mean([f"'{n}'" for n in suggestion_list(member, list(kind.fields))])
        msg = f"Resolver for {sanitize_text(place, 80)!r}: no such field.{tidy_guess(guess)}"
        raise SchemaError(msg)
    _check_callable(function, ("root", "args", "context"), f"Resolver for {place!r}")
    _attach_resolver(schema, kind, field, function, place)


def _attach_resolver(
    schema: GraphQLSchema, kind: Any, field: GraphQLField, function: Resolver, place: str
) -> None:
    if kind is schema.subscription_type:
        field.subscribe = adapt_subscription(
            function, place
        )  # its function gives the stream of events
        field.resolve = resolve_event
    else:
        field.resolve = adapt_resolver(function)


def adapt_resolver(function: Resolver) -> Callable[..., Any]:
    """Return a resolver as graphql-core calls it, around one called (root, args, context)."""

    # Positional-only, so that GraphQL arguments may be named `source` and `info`.
    def resolve(source: Any, info: Any, /, **args: Any) -> Any:
        return function(source, args, info.context)

    resolve.__wrapped__ = resolve.gqlnb_native = function  # type: ignore[attr-defined]
    return resolve


def adapt_subscription(function: Resolver, place: str) -> Callable[..., Any]:
    """Return the function of a subscription as graphql-core calls it, for the stream of events."""

    def subscribe(source: Any, info: Any, /, **args: Any) -> Any:
        return open_event_source(function(source, args, info.context), place)

    subscribe.__wrapped__ = function  # type: ignore[attr-defined]
    return subscribe


def resolve_event(source: Any, info: Any, /, **_args: Any) -> Any:
    """Resolve the field of a subscription: what was yielded, or its value in ``{field: value}``.

    The second form is how graphql-core's own subscriptions yield. A mapping of that one key is
    the value itself where the type of the field has a field of the same name.
    """
    name = info.field_name
    if not isinstance(source, Mapping) or source.keys() != {name}:
        return source
    return (
        source if name in getattr(get_named_type(info.return_type), "fields", ()) else source[name]
    )


def bind_type_resolver(schema: GraphQLSchema, name: str, function: TypeResolver) -> None:
    """Let `function` tell the object type of a value of the interface or union `name`.

    Raises
    ------
    SchemaError
        If there is no such type, or the function does not take (value, context).
    """
    kind = find_type(schema, name)
    if not isinstance(kind, (GraphQLInterfaceType, GraphQLUnionType)):
        msg = f"Type resolver for {name!r}: only an interface or a union has values to tell apart."
        raise SchemaError(msg)
    _check_callable(function, ("value", "context"), f"Type resolver for {name!r}")

    def resolve_type(value: Any, info: Any, _kind: Any) -> Any:
        return function(value, info.context)

    resolve_type.__wrapped__ = resolve_type.gqlnb_native = function  # type: ignore[attr-defined]
    kind.resolve_type = resolve_type


def find_type(schema: GraphQLSchema, name: str, place: str | None = None) -> Any:
    """Return a type of the schema.

    Raises
    ------
    SchemaError
        If there is none of that name; the message guesses which was meant.
    """
    kind = schema.type_map.get(name)
    if kind is not None:
        return kind
    own = [known for known in schema.type_map if not known.startswith("__")]
    guess = did_you_mean([f"'{n}'" for n in suggestion_list(str(name), own)])
    msg = f"Resolver for {sanitize_text(place or name, 80)!r}: no such type.{tidy_guess(guess)}"
    raise SchemaError(msg)


def tidy_guess(guess: str) -> str:
    """Return graphql-core's guess with single quotes only."""
    return guess.replace("''", "'").replace("\"'", "'").replace("'\"", "'").replace("'?", "'?")


def _bind_scalar(kind: GraphQLScalarType, place: str, member: str, value: Any) -> None:
    if member not in SCALAR_PARTS:
        msg = f"{place!r}: a scalar takes {' and '.join(SCALAR_PARTS)} only."
        raise SchemaError(msg)
    _check_callable(value, ("value",), f"{place!r}")
    for part in SCALAR_PARTS[member]:
        setattr(kind, part, value)


def _bind_enum(kind: GraphQLEnumType, place: str, member: str, value: Any) -> None:
    if member not in kind.values:
        guess = did_you_mean([f"'{n}'" for n in suggestion_list(member, list(kind.values))])
        msg = f"{sanitize_text(place, 80)!r}: no such enum value.{tidy_guess(guess)}"
        raise SchemaError(msg)
    kind.values[member].value = value


def _check_callable(function: Any, names: tuple[str, ...], who: str) -> None:
    """Check that `function` can be called with as many positional arguments as `names`."""
    if not callable(function):
        msg = f"{who} must be a function ({', '.join(names)}); got {type(function).__name__}."
        raise SchemaError(msg)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some builtins do not tell
        return
    try:
        signature.bind(*names)
    except TypeError:
        pass
    else:
        return
    msg = f"{who} is called with ({', '.join(names)}); this one takes {signature}."
    raise SchemaError(msg)
