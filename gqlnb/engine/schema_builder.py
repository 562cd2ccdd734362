"""From SDL text to graphql-core's schema, with everything that is wrong in it said at once."""

from __future__ import annotations

import gc
import inspect
from collections import Counter
from collections.abc import Mapping
from contextlib import contextmanager
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import (
    ExecutableDefinitionNode,
    GraphQLEnumType,
    GraphQLError,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    build_ast_schema,
    build_client_schema,
    parse,
    parse_const_value,
    validate_schema,
)
from graphql.type import specified_scalar_types
from graphql.validation.validate import validate_sdl

from gqlnb.document.document import INCREMENTAL_DIRECTIVES, build_problems
from gqlnb.document.scalars import is_always_integer
from gqlnb.document.variables import read_large_integer
from gqlnb.engine.graphql_compat import IS_GRAPHQL_33
from gqlnb.errors import SchemaError, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from graphql import DocumentNode

    from gqlnb.errors import Problem

__all__ = [
    "REFERENCE_SDL",
    "LoadedSchema",
    "build_sdl_schema",
    "describe_mistakes",
    "find_operation_errors",
    "has_async_resolvers",
    "load_introspection",
    "load_sdl",
    "pause_collector",
    "remove_incremental_directives",
    "summarize_operations",
]

INPUT_PARSERS = ("parse_value", "coerce_input_value")  # graphql-core 3.3 renamed it
REFERENCE_SDL = """
type Query {
  "The greeting that every installation answers the same."
  hello: String
}
"""


def build_sdl_schema(sdl: str) -> GraphQLSchema:
    """Return the schema that SDL text describes.

    Raises
    ------
    SchemaError
        With line, column and caret for everything that is wrong.
    """
    if not isinstance(sdl, str):
        msg = f"SDL is text; got {type(sdl).__name__}."
        raise SchemaError(msg)
    if not sdl.strip():
        msg = "The SDL is empty. Write at least: type Query { hello: String }"
        raise SchemaError(msg)
    try:
        ast = parse(sdl)
        found = find_operation_errors(ast) or validate_sdl(ast)
        schema = None if found else build_ast_schema(ast, assume_valid_sdl=True)
    except GraphQLError as error:
        found, schema = [error], None
    except RecursionError:
        msg = "The SDL is nested too deeply to parse."
        raise SchemaError(msg) from None
    if schema is not None:
        found = validate_schema(schema)
    if schema is None or found:
        raise SchemaError(text=sdl, problems=build_problems(found))
    enable_large_integers(schema)
    return schema


def enable_large_integers(schema: GraphQLSchema) -> None:
    """Let the scalars of big integers read text of one beyond +-(2**53 - 1) as the integer.

    Clients write these as text, ours among them: JavaScript has no such JSON number. A resolver
    gets an int for either form.
    """
    for kind in schema.type_map.values():
        named = isinstance(kind, GraphQLScalarType) and kind.name not in specified_scalar_types
        if named and is_always_integer(kind.name):
            for part in INPUT_PARSERS:
                setattr(kind, part, read_large_integer)


def remove_incremental_directives(schema: GraphQLSchema) -> GraphQLSchema:
    """Return a schema as it is executed: without ``@defer`` and ``@stream``.

    graphql-core from 3.3 on executes nothing of a schema that has them, whatever is asked for. The
    types and their functions are the same ones.
    """
    if not (IS_GRAPHQL_33 and any(schema.get_directive(name) for name in INCREMENTAL_DIRECTIVES)):
        return schema
    parts: dict[str, Any] = dict(schema.to_kwargs())
    parts["directives"] = [it for it in schema.directives if it.name not in INCREMENTAL_DIRECTIVES]
    return GraphQLSchema(**parts)


def find_operation_errors(ast: DocumentNode) -> list[GraphQLError]:
    """Return an error for each definition that is an operation or a fragment, not a type."""
    message = "This is an operation, not a schema. Execute it on one."
    return [
        GraphQLError(message, [node])
        for node in ast.definitions
        if isinstance(node, ExecutableDefinitionNode)
    ]


def has_async_resolvers(schema: GraphQLSchema) -> bool:
    """Tell whether a resolver of a schema is an ``async`` function."""
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


MAX_MISTAKES_SHOWN = 3  # mistakes that a note names


class LoadedSchema(NamedTuple):
    """A schema, and what is to be known about it.

    Attributes
    ----------
    graphql
        The schema; its validity was not checked, beyond what building it takes.
    notes
        Sentences about what was passed over.
    """

    graphql: GraphQLSchema
    notes: tuple[str, ...] = ()


def load_sdl(sdl: str, whence: str) -> LoadedSchema:
    """Return the schema that SDL describes.

    Parameters
    ----------
    sdl
        The text.
    whence
        Where it is from, as the beginning of a sentence.

    Raises
    ------
    SchemaError
        If it does not parse, is a query, or refers to a type that it does not define.
    """
    error: GraphQLError
    try:
        with pause_collector():
            ast = parse(sdl, no_location=True)
            operations = find_operation_errors(ast)
            found = operations or validate_sdl(ast)
            if not operations:
                made = build_ast_schema(ast, assume_valid=True, assume_valid_sdl=True)
                return LoadedSchema(
                    require_query_type(made, whence), tuple(describe_mistakes(found, whence))
                )
        raise SchemaError(text=sdl, problems=build_problems(operations))
    except GraphQLError as fault:
        error = fault
    except (TypeError, ValueError) as fault:  # a type that is not defined, or of the wrong kind
        if isinstance(fault, SchemaError):
            raise
        error = GraphQLError(sanitize_text(fault, 200))
    except RecursionError:
        error = GraphQLError("The SDL is nested too deeply to parse.")
    raise SchemaError(text=sdl, problems=build_problems([error]))


def describe_mistakes(found: Sequence[GraphQLError | Problem], whence: str) -> Iterator[str]:
    """Say in one sentence what is wrong with SDL that was built all the same."""
    if found:
        first = " ".join(sanitize_text(error.message, 120) for error in found[:MAX_MISTAKES_SHOWN])
        more = (
            f" There are {len(found) - MAX_MISTAKES_SHOWN} more."
            if len(found) > MAX_MISTAKES_SHOWN
            else ""
        )
        what = "a mistake" if len(found) == 1 else f"{len(found)} mistakes"
        yield f"{whence} is used in spite of {what} in it: {first}{more}"


def load_introspection(data: Any, whence: str) -> LoadedSchema:
    """Return the schema that an introspection result describes.

    Parameters
    ----------
    data
        The result, with or without the envelope ``data``. It is not changed.
    whence
        Where it is from, as the beginning of a sentence.

    Raises
    ------
    SchemaError
        If it describes no schema.
    """
    if isinstance(data, Mapping) and isinstance(data.get("data"), Mapping):
        data = data["data"]
    if not isinstance(data, dict) or not isinstance(data.get("__schema"), dict):
        msg = f"{whence} holds no introspection result: there is no '__schema' in it."
        raise SchemaError(msg)
    made, reason = build_introspected(data)
    notes = list(describe_duplicate_types(data, whence))
    if made is None:
        mended, dropped = remove_wrong_defaults(data)
        if dropped:
            made, reason = build_introspected(mended)
            notes.append(
                f"{whence} has default values that are no GraphQL, which are left out: "
                f"{', '.join(dropped[:MAX_MISTAKES_SHOWN])}{', …' if len(dropped) > MAX_MISTAKES_SHOWN else ''}."
            )
    if made is None:
        msg = f"{whence} describes no schema: {reason}"
        raise SchemaError(msg)
    return LoadedSchema(require_query_type(made, whence), tuple(notes))


def build_introspected(data: dict[str, Any]) -> tuple[GraphQLSchema | None, str]:
    """Return the schema of an introspection result, or None and why there is none."""
    try:
        with pause_collector():
            made = build_client_schema(data, assume_valid=True)  # type: ignore[arg-type]
            for kind in made.type_map.values():
                if isinstance(kind, GraphQLEnumType):
                    _ = kind.values  # graphql-core 3.3 looks at names when they are first used
            return made, ""
    except RecursionError:
        return None, "it is nested too deeply."
    except Exception as error:  # anything may be anywhere in it, and graphql-core trusts it
        word = "" if isinstance(error, (GraphQLError, TypeError)) else f"{type(error).__name__}: "
        return None, f"{word}{sanitize_text(error, 200)}"


def require_query_type(schema: GraphQLSchema, whence: str) -> GraphQLSchema:
    """Return a schema that can be asked something.

    Raises
    ------
    SchemaError
        If it has no query type.
    """
    if schema.query_type is None:
        msg = f"{whence} describes no schema: there is no query type in it."
        raise SchemaError(msg)
    return schema


def describe_duplicate_types(data: dict[str, Any], whence: str) -> Iterator[str]:
    """Name the types that are described more than once; the last description is taken."""
    kinds = data["__schema"].get("types")
    listed = kinds if isinstance(kinds, list) else []
    names = [kind.get("name") for kind in listed if isinstance(kind, dict)]
    texts = [name for name in names if isinstance(name, str)]
    if len(set(texts)) < len(texts):
        twice = [sanitize_text(name, 40) for name, count in Counter(texts).items() if count > 1]
        more = ", …" if len(twice) > MAX_MISTAKES_SHOWN else ""
        yield f"{whence} describes types more than once: {', '.join(twice[:MAX_MISTAKES_SHOWN])}{more}."


def remove_wrong_defaults(data: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return a copy without the default values that are no GraphQL, and where those were."""
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
    return copied, dropped


def iterate_inputs(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the arguments and input fields of an introspection result, with their places."""
    for directive in list_objects(schema.get("directives")):
        for value in list_objects(directive.get("args")):
            yield f"@{directive.get('name')}({value.get('name')}:)", value
    for kind in list_objects(schema.get("types")):
        for value in list_objects(kind.get("inputFields")):
            yield f"{kind.get('name')}.{value.get('name')}", value
        for field in list_objects(kind.get("fields")):
            for value in list_objects(field.get("args")):
                yield f"{kind.get('name')}.{field.get('name')}({value.get('name')}:)", value


def list_objects(values: Any) -> list[dict[str, Any]]:
    """Return the objects in what should be a list of them."""
    return [it for it in values if isinstance(it, dict)] if isinstance(values, list) else []


def is_constant(text: Any) -> bool:
    """Tell whether text is a constant value of GraphQL."""
    if not isinstance(text, str):
        return False
    try:
        parse_const_value(text)
    except (GraphQLError, RecursionError):
        return False
    return True


@contextmanager
def pause_collector() -> Iterator[None]:
    """Keep the garbage collector from walking again and again over what is being built.

    Half a million objects come to be, and none of them is garbage: looking for some takes as long
    as building them. Afterwards they count as old, by two moves of a list, or the collector would
    walk over all of them at once.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            if gc.get_freeze_count() == 0:  # what somebody else has frozen stays so
                gc.freeze()
                gc.unfreeze()
            gc.enable()
