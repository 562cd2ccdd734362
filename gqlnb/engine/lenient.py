"""From SDL or an introspection result to a schema, taking what others wrote wrongly.

The schema that a client checks documents against, or that is mocked, is somebody else's: GitHub's
published SDL defines two fields twice. What can be built is built, and a note says what was passed
over. Everything in it is data: names become no attributes, default values are parsed as GraphQL and
never evaluated.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Mapping
from contextlib import contextmanager
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import (
    GraphQLEnumType,
    GraphQLError,
    GraphQLSchema,
    build_ast_schema,
    build_client_schema,
    parse,
    parse_const_value,
)
from graphql.validation.validate import validate_sdl

from gqlnb.engine.building import executable
from gqlnb.errors import SchemaError, plain
from gqlnb.model.document import problems

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gqlnb.errors import Problem

__all__ = ["Described", "collector_paused", "from_introspection", "from_sdl", "mistakes"]

SHOWN = 3  # mistakes that a note names


class Described(NamedTuple):
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


def from_sdl(sdl: str, whence: str) -> Described:
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
        with collector_paused():
            ast = parse(sdl, no_location=True)
            operations = executable(ast)
            found = operations or validate_sdl(ast)
            if not operations:
                made = build_ast_schema(ast, assume_valid=True, assume_valid_sdl=True)
                return Described(with_query(made, whence), tuple(mistakes(found, whence)))
        raise SchemaError(text=sdl, problems=problems(operations))
    except GraphQLError as fault:
        error = fault
    except (TypeError, ValueError) as fault:  # a type that is not defined, or of the wrong kind
        if isinstance(fault, SchemaError):
            raise
        error = GraphQLError(plain(fault, 200))
    except RecursionError:
        error = GraphQLError("The SDL is nested too deeply to parse.")
    raise SchemaError(text=sdl, problems=problems([error]))


def mistakes(found: Sequence[GraphQLError | Problem], whence: str) -> Iterator[str]:
    """Say in one sentence what is wrong with SDL that was built all the same."""
    if found:
        first = " ".join(plain(error.message, 120) for error in found[:SHOWN])
        more = f" There are {len(found) - SHOWN} more." if len(found) > SHOWN else ""
        what = "a mistake" if len(found) == 1 else f"{len(found)} mistakes"
        yield f"{whence} is used in spite of {what} in it: {first}{more}"


def from_introspection(data: Any, whence: str) -> Described:
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
    made, reason = build(data)
    notes = list(duplicates(data, whence))
    if made is None:
        mended, dropped = without_wrong_defaults(data)
        if dropped:
            made, reason = build(mended)
            notes.append(
                f"{whence} has default values that are no GraphQL, which are left out: "
                f"{', '.join(dropped[:SHOWN])}{', …' if len(dropped) > SHOWN else ''}."
            )
    if made is None:
        msg = f"{whence} describes no schema: {reason}"
        raise SchemaError(msg)
    return Described(with_query(made, whence), tuple(notes))


def build(data: dict[str, Any]) -> tuple[GraphQLSchema | None, str]:
    """Return the schema of an introspection result, or None and why there is none."""
    try:
        with collector_paused():
            made = build_client_schema(data, assume_valid=True)  # type: ignore[arg-type]
            for kind in made.type_map.values():
                if isinstance(kind, GraphQLEnumType):
                    _ = kind.values  # graphql-core 3.3 looks at names when they are first used
            return made, ""
    except RecursionError:
        return None, "it is nested too deeply."
    except Exception as error:  # anything may be anywhere in it, and graphql-core trusts it
        word = "" if isinstance(error, (GraphQLError, TypeError)) else f"{type(error).__name__}: "
        return None, f"{word}{plain(error, 200)}"


def with_query(schema: GraphQLSchema, whence: str) -> GraphQLSchema:
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


def duplicates(data: dict[str, Any], whence: str) -> Iterator[str]:
    """Name the types that are described more than once; the last description is taken."""
    kinds = data["__schema"].get("types")
    listed = kinds if isinstance(kinds, list) else []
    names = [kind.get("name") for kind in listed if isinstance(kind, dict)]
    texts = [name for name in names if isinstance(name, str)]
    if len(set(texts)) < len(texts):
        twice = [plain(name, 40) for name, count in Counter(texts).items() if count > 1]
        more = ", …" if len(twice) > SHOWN else ""
        yield f"{whence} describes types more than once: {', '.join(twice[:SHOWN])}{more}."


def without_wrong_defaults(data: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return a copy without the default values that are no GraphQL, and where those were."""
    try:
        copied = deepcopy(data)
    except RecursionError:
        return data, []
    dropped: list[str] = []
    for path, value in inputs(copied["__schema"]):
        default = value.get("defaultValue")
        if default is not None and not is_constant(default):
            value["defaultValue"] = None
            dropped.append(plain(path, 80))
    return copied, dropped


def inputs(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the arguments and input fields of an introspection result, with their places."""
    for directive in objects(schema.get("directives")):
        for value in objects(directive.get("args")):
            yield f"@{directive.get('name')}({value.get('name')}:)", value
    for kind in objects(schema.get("types")):
        for value in objects(kind.get("inputFields")):
            yield f"{kind.get('name')}.{value.get('name')}", value
        for field in objects(kind.get("fields")):
            for value in objects(field.get("args")):
                yield f"{kind.get('name')}.{field.get('name')}({value.get('name')}:)", value


def objects(values: Any) -> list[dict[str, Any]]:
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
def collector_paused() -> Iterator[None]:
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
