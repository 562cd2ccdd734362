"""Building graphql-core schemas from SDL and introspection, and binding resolvers to them."""

from __future__ import annotations

import gc
import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, NamedTuple

from graphql import (
    DirectiveLocation,
    DocumentNode,
    ExecutableDefinitionNode,
    GraphQLEnumType,
    GraphQLError,
    GraphQLIncludeDirective,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLSkipDirective,
    GraphQLUnionType,
    build_ast_schema,
    build_client_schema,
    get_named_type,
    parse,
    parse_const_value,
    validate_schema,
)
from graphql.type import specified_scalar_types
from graphql.validation.validate import validate_sdl

from gqlnb.document.document import INCREMENTAL_DIRECTIVES, build_problems
from gqlnb.document.json_codec import JSONError, load_json
from gqlnb.document.scalars import is_always_integer
from gqlnb.document.variables import read_large_integer
from gqlnb.engine.graphql_compat import IS_GRAPHQL_33, AnyGraphQLType, Value
from gqlnb.engine.subscription import open_event_source
from gqlnb.errors import SchemaError, sanitize_text, suggest

MOVED_OBJECTS = 10_000  # the collector traverses fewer in under a millisecond
MAX_MISTAKES_SHOWN = 3  # mistakes that a note names
SOURCE_HINT = "Give SDL, or the result of an introspection query."
DIRECTIVE_LOCATIONS = [*DirectiveLocation.__members__]
INPUT_PARSERS = ("parse_value", "coerce_input_value")  # graphql-core 3.3 renamed it
REFERENCE_SDL = """
type Query {
  "A fixed greeting, to check the installation."
  hello: String
}
"""


FILE_NAME = re.compile(r"\S{1,4000}\.(?:graphqls?|gql|json)")


# The garbage collector is paused while a schema is built, since half a million new objects are
# not garbage. Freezing and unfreezing then moves them to the oldest generation, so that the next
# collection does not traverse them all.
def build_sdl_schema(sdl: str) -> GraphQLSchema:
    """Return the schema that SDL text describes.

    Raises
    ------
    SchemaError
        If the text is invalid; it lists all errors with line, column and caret.
    """
    if not isinstance(sdl, str):
        advice = " Give its text: path.read_text()." if hasattr(sdl, "read_text") else ""
        msg = f"SDL is text; got {type(sdl).__name__}.{advice}"
        raise SchemaError(msg)
    with pause_collector():
        schema, errors = _build_schema(sdl, strict=True)
        if schema is not None:
            errors = validate_schema(schema)
    if schema is None or errors:
        raise SchemaError(text=sdl, problems=build_problems(errors))
    enable_large_integers(schema)
    return schema


def _build_schema(sdl: str, *, strict: bool) -> tuple[GraphQLSchema | None, list[GraphQLError]]:
    """Return the schema of SDL, None if it can't be built, and the errors found.

    With `strict`, an error in the SDL prevents building, and has its location; else only one that
    makes it impossible does.
    """
    if not sdl.strip():
        advice = "The SDL is empty. Write at least: type Query { hello: String }"
        return None, [GraphQLError(advice)]
    schema: GraphQLSchema | None = None
    try:
        with pause_collector():
            document = parse(sdl, no_location=not strict)
            # An operation in the place of a schema is reported by this error alone.
            misplaced = _find_operation_errors(document)
            errors = misplaced or validate_sdl(document)
            if not misplaced and not (errors and strict):
                schema = build_ast_schema(document, assume_valid=not strict, assume_valid_sdl=True)
    except GraphQLError as error:
        errors = [error]
        if FILE_NAME.fullmatch(sdl.strip()):
            advice = "This is the name of a file. Give its text: pathlib.Path(name).read_text()."
            errors = [GraphQLError(advice)]
    except (TypeError, ValueError) as error:  # an undefined type, or one of the wrong kind
        errors = [GraphQLError(sanitize_text(error, 200))]
    except RecursionError:
        errors = [GraphQLError("The SDL is nested too deeply to parse.")]
    return schema, errors


def enable_large_integers(schema: GraphQLSchema) -> None:
    """Let scalars of big integers read numeric strings beyond +-(2**53 - 1) as integers."""
    # Clients, ours included, send such numbers as strings, since JavaScript's JSON numbers can't
    # hold them. A resolver gets an int for either form.
    for kind in schema.type_map.values():
        custom = isinstance(kind, GraphQLScalarType) and kind.name not in specified_scalar_types
        if custom and is_always_integer(kind.name):
            for attribute in INPUT_PARSERS:
                setattr(kind, attribute, read_large_integer)


def remove_incremental_directives(schema: GraphQLSchema) -> GraphQLSchema:
    """Return a schema without ``@defer`` and ``@stream``, with the same type objects."""
    # graphql-core from 3.3 on refuses to execute any document of a schema that has them.
    if not (IS_GRAPHQL_33 and any(schema.get_directive(name) for name in INCREMENTAL_DIRECTIVES)):
        return schema
    arguments = schema.to_kwargs()
    arguments["directives"] = tuple(
        directive for directive in schema.directives if directive.name not in INCREMENTAL_DIRECTIVES
    )
    return GraphQLSchema(**arguments)


def _find_operation_errors(ast: DocumentNode) -> list[GraphQLError]:
    message = "This is an operation, not a schema. Execute it on one."
    return [
        GraphQLError(message, [node])
        for node in ast.definitions
        if isinstance(node, ExecutableDefinitionNode)
    ]


def has_async_resolvers(schema: GraphQLSchema) -> bool:
    """Return whether a resolver of a schema is an ``async`` function."""
    return any(
        inspect.iscoroutinefunction(getattr(field.resolve, "__wrapped__", field.resolve))
        for kind in schema.type_map.values()
        if isinstance(kind, GraphQLObjectType) and not kind.name.startswith("__")
        for field in kind.fields.values()
    )


def summarize_operations(schema: GraphQLSchema) -> str:
    """Return the first fields of each kind of operation as one line."""
    parts = [
        f"{word}: {', '.join(list(kind.fields)[:6])}{', …' if len(kind.fields) > 6 else ''}"
        for word, kind in (
            ("query", schema.query_type),
            ("mutation", schema.mutation_type),
            ("subscription", schema.subscription_type),
        )
        if kind is not None
    ]
    return "; ".join(parts)


class LoadedSchema(NamedTuple):
    """A schema that somebody else has published, built in spite of mistakes in it.

    Attributes
    ----------
    graphql
        The schema; it is only as valid as building it requires.
    notes
        The ignored mistakes, a sentence each.
    """

    graphql: GraphQLSchema
    notes: tuple[str, ...] = ()


def load_text(text: str, whence: str, *, validate: bool = False) -> LoadedSchema:
    """Return the schema in text: introspection JSON, which begins with ``{``, or SDL.

    Parameters
    ----------
    text
        The text.
    whence
        Its origin, as the beginning of a sentence.
    validate
        As of :func:`load_sdl`.

    Raises
    ------
    SchemaError
        If the text is neither.
    """
    bare = text.lstrip("\ufeff \t\r\n")
    if not bare.startswith("{"):
        return load_sdl(text, whence, validate=validate)
    try:
        data = load_json(bare.encode())
    except (JSONError, UnicodeEncodeError) as error:
        reason = sanitize_text(error, 120)
        msg = f"{whence} begins like JSON, but is not valid JSON ({reason}). {SOURCE_HINT}"
        raise SchemaError(msg) from None
    return load_introspection(data, whence)


def load_sdl(sdl: str, whence: str, *, validate: bool = False) -> LoadedSchema:
    """Return the schema of SDL that may contain mistakes.

    Parameters
    ----------
    sdl
        The text.
    whence
        Its origin, as the beginning of a sentence.
    validate
        Whether the types of the schema are validated too, after its definitions.

    Raises
    ------
    SchemaError
        If it does not parse, is a query, or refers to an undefined type.
    """
    schema, errors = _build_schema(sdl, strict=False)
    if schema is None or (errors and schema.query_type is None):
        errors = _build_schema(sdl, strict=True)[1] or errors  # all of them, with their locations
        raise SchemaError(text=sdl, problems=build_problems(errors))
    _require_query_type(schema, whence)
    if validate and not errors:
        schema._validation_errors = None  # noqa: SLF001 - it was built as a valid schema
        errors = validate_schema(schema)
        schema._validation_errors = []  # noqa: SLF001 - and is used as one
    return LoadedSchema(schema, tuple(describe_mistakes(errors, whence)))


def describe_mistakes(errors: Sequence[GraphQLError], whence: str) -> Iterator[str]:
    """Yield one sentence about the mistakes of SDL that was built in spite of them."""
    if errors:
        count, hidden = len(errors), len(errors) - MAX_MISTAKES_SHOWN
        shown = " ".join(sanitize_text(error.message, 120) for error in errors[:MAX_MISTAKES_SHOWN])
        more = f" There are {hidden} more." if hidden > 0 else ""
        mistakes = "a mistake" if count == 1 else f"{count} mistakes"
        yield f"{whence} is used in spite of {mistakes} in it: {shown}{more}"


def load_introspection(data: Value, whence: str) -> LoadedSchema:
    """Return the schema of an introspection result.

    Parameters
    ----------
    data
        The result, with or without the envelope ``data``. It is not changed.
    whence
        Its origin, as the beginning of a sentence.

    Raises
    ------
    SchemaError
        If it does not describe a schema.
    """
    if isinstance(data, Mapping) and isinstance(data.get("data"), Mapping):
        data = data["data"]
    if not isinstance(data, dict) or not isinstance(data.get("__schema"), dict):
        msg = f"{whence} holds no introspection result: there is no '__schema' in it. {SOURCE_HINT}"
        raise SchemaError(msg)
    notes = []
    names = [kind.get("name") for kind in _list_objects(data["__schema"].get("types"))]
    counts = Counter(name for name in names if isinstance(name, str))
    if repeated := [sanitize_text(name, 40) for name, count in counts.items() if count > 1]:
        notes.append(f"{whence} describes types more than once: {_join_first(repeated)}.")
    schema, reason = build_introspected(data)
    # Repaired only after a failure, since this copies the whole result.
    if schema is None:
        mended, dropped = remove_unreadable_parts(data)
        schema, reason = build_introspected(mended)
        if dropped:
            notes.append(
                f"{whence} has default values that are no GraphQL, which are left out: "
                f"{_join_first(dropped)}."
            )
    if schema is None:
        msg = f"{whence} describes no schema: {reason}"
        raise SchemaError(msg)
    _require_query_type(schema, whence)
    return LoadedSchema(schema, tuple(notes))


def build_introspected(data: dict[str, Any]) -> tuple[GraphQLSchema | None, str]:
    """Return the schema of an introspection result, or None and the reason."""
    try:
        with pause_collector():
            schema = build_client_schema(data, assume_valid=True)  # type: ignore[arg-type]
            for kind in schema.type_map.values():
                if isinstance(kind, GraphQLEnumType):
                    _ = kind.values  # graphql-core 3.3 checks the names at the first access
            # bramble-graphql 0.3 lists no directives, and meta-fields among the fields of Query.
            names = {directive.name for directive in schema.directives}
            required = (GraphQLSkipDirective, GraphQLIncludeDirective)
            schema.directives += tuple(it for it in required if it.name not in names)
            fields = {} if schema.query_type is None else schema.query_type.fields
            for name in ("__schema", "__type"):
                fields.pop(name, None)
            return schema, ""
    except RecursionError:
        return None, "it is nested too deeply."
    except Exception as error:  # noqa: BLE001 - graphql-core trusts the data, which may be anything
        prefix = "" if isinstance(error, (GraphQLError, TypeError)) else f"{type(error).__name__}: "
        return None, f"{prefix}{sanitize_text(error, 200)}"


def _require_query_type(schema: GraphQLSchema, whence: str) -> None:
    if schema.query_type is None:
        msg = f"{whence} describes no schema: there is no query type in it."
        raise SchemaError(msg)


def _join_first(names: Sequence[str]) -> str:
    more = ", …" if len(names) > MAX_MISTAKES_SHOWN else ""
    return f"{', '.join(names[:MAX_MISTAKES_SHOWN])}{more}"


def remove_unreadable_parts(data: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return a copy without what graphql-core cannot read of an introspection result.

    These are default values that are not GraphQL, whose paths are returned too, and locations of
    directives that this version does not know, as those of a later specification are.
    """
    try:
        copied = deepcopy(data)
    except RecursionError:
        return data, []
    dropped: list[str] = []
    for path, value in iterate_inputs(copied["__schema"]):
        default = value.get("defaultValue")
        if default is not None and not is_constant(default):
            value["defaultValue"] = None
            dropped.append(sanitize_text(path, 80))
    directives = _list_objects(copied["__schema"].get("directives"))
    for directive in directives:
        if isinstance(names := directive.get("locations"), list):
            directive["locations"] = [name for name in names if name in DIRECTIVE_LOCATIONS]
    if directives:  # one without a location cannot be written as SDL
        copied["__schema"]["directives"] = [it for it in directives if it.get("locations") != []]
    return copied, dropped


def iterate_inputs(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the arguments and input fields of an introspection result, each after its path."""
    for directive in _list_objects(schema.get("directives")):
        for value in _list_objects(directive.get("args")):
            yield f"@{directive.get('name')}({value.get('name')}:)", value
    for kind in _list_objects(schema.get("types")):
        for value in _list_objects(kind.get("inputFields")):
            yield f"{kind.get('name')}.{value.get('name')}", value
        for field in _list_objects(kind.get("fields")):
            for value in _list_objects(field.get("args")):
                yield f"{kind.get('name')}.{field.get('name')}({value.get('name')}:)", value


def _list_objects(values: object) -> list[dict[str, Any]]:
    return [it for it in values if isinstance(it, dict)] if isinstance(values, list) else []


def is_constant(text: object) -> bool:
    """Return whether a text is a constant value of GraphQL."""
    if not isinstance(text, str):
        return False
    try:
        parse_const_value(text)
    except (GraphQLError, RecursionError):
        return False
    return True


@contextmanager
def pause_collector() -> Iterator[None]:
    """Disable the garbage collector while a large structure is built."""
    # Building creates half a million objects and no garbage: searching them for garbage takes as
    # long as building them. Afterwards they are moved to the oldest generation, or the collector
    # would traverse all of them at once.
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            # Objects frozen by other code stay frozen. Their number is only asked for where it is
            # worth it: counting them takes 40 ms for a million.
            if gc.get_count()[0] > MOVED_OBJECTS and gc.get_freeze_count() == 0:
                gc.freeze()
                gc.unfreeze()
            gc.enable()


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
