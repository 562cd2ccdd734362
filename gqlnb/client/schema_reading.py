"""From SDL or an introspection result to a schema, taking what others wrote wrongly.

A schema that a client checks documents against is somebody else's: GitHub's published SDL defines
two fields twice. What can be built is built, and a note says what was passed over. Everything in it
is data: names become no attributes, default values are parsed as GraphQL and never evaluated.
"""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
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

from gqlnb.engine.adopting import held, is_schema
from gqlnb.engine.building import executable
from gqlnb.engine.schema import Schema
from gqlnb.errors import SchemaError, plain
from gqlnb.model.document import problems
from gqlnb.wire.json import JSONError, bare_json, dump, load

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Described", "collector_paused", "from_introspection", "from_sdl", "schema_of", "told"]

SHOWN = 3  # mistakes that a note names
LARGE = 8 * 2**20  # bytes; GitHub's has three to five million
TAKES = (
    "schema= takes SDL text, the path of a file with SDL or introspection JSON, an introspection "
    "result, or a schema object"
)


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


def schema_of(given: Any) -> Described:
    """Return the schema that ``schema=`` means.

    Parameters
    ----------
    given
        SDL text; the path of a file with SDL or with introspection JSON; an introspection result,
        with or without the envelope ``data``; any object that :meth:`Schema.adopt` takes.

    Raises
    ------
    SchemaError
        If it is none of these, or describes no schema.
    """
    if isinstance(given, Schema):
        return Described(given.graphql)
    if isinstance(given, Mapping):
        return from_introspection(given, "The introspection result")
    if isinstance(given, os.PathLike) or (isinstance(given, str) and is_path(given)):
        return from_file(Path(os.fspath(given)).expanduser())
    if isinstance(given, str):
        return from_text(given, "The text")
    if not is_schema(given):
        msg = f"{TAKES}; got {plain(type(given).__name__, 80)}."
        raise SchemaError(msg)
    return Described(held(given))


def is_path(text: str) -> bool:
    """Tell whether text is a path rather than SDL, which has braces unless it says nothing."""
    return "{" not in text and "\n" not in text and text.strip() != ""


def from_file(path: Path) -> Described:
    """Return the schema in a file.

    Raises
    ------
    SchemaError
        If it can't be read, or describes no schema.
    """
    shown = plain(path, 80)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        reason = "it is no UTF-8"
    except (OSError, ValueError) as error:  # ValueError: a null character
        reason = getattr(error, "strerror", None) or "it is no path"
    else:
        return from_text(text, f"The file {shown}")
    msg = f"schema= names no file that can be read: {shown!r} ({reason}). {TAKES}."
    raise SchemaError(msg)


def from_text(text: str, whence: str) -> Described:
    """Return the schema that text describes: introspection JSON, which begins with ``{``, or SDL.

    Raises
    ------
    SchemaError
        If it describes none.
    """
    if not text.lstrip().startswith("{"):
        return from_sdl(text, whence)
    try:
        data = load(text.encode())
    except (JSONError, UnicodeEncodeError) as error:
        reason = str(error)
    else:
        return from_introspection(data, whence)
    msg = f"{whence} begins as JSON does, and is none ({plain(reason, 120)})."
    raise SchemaError(msg)


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


def mistakes(found: list[GraphQLError], whence: str) -> Iterator[str]:
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
        copied: dict[str, Any] = load(dump(data))
    except (JSONError, RecursionError):
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


def whole_of(body: bytes) -> dict[str, Any]:
    """Read a JSON object.

    Raises
    ------
    ValueError
        If it is no JSON, or another.
    """
    whole = load(body)  # JSONError is a ValueError
    if isinstance(whole, dict):
        return whole
    msg = "no JSON object"
    raise ValueError(msg)


_ANY = msgspec.json.Decoder()
_PARTS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])


def told(body: bytes) -> dict[str, Any]:
    """Read the JSON of an introspection result, with or without its envelope.

    A large one is read type by type: a decoder of JSON lets no other thread run before it is done,
    which with 100,000 types takes a second; a kernel that does not answer for so long seems dead.

    Returns
    -------
    dict
        What :func:`gqlnb.wire.json.load` would return.

    Raises
    ------
    ValueError
        If it is no JSON, or no introspection result.
    """
    if len(body) < LARGE:
        with collector_paused():
            return whole_of(body)
    try:
        body.decode()  # msgspec does not look at the UTF-8 of what it skips
        with collector_paused():
            members = _PARTS.decode(bare_json(body))
            inner = _PARTS.decode(members.pop("data")) if "data" in members else members
            schema = _PARTS.decode(inner.pop("__schema"))
            kinds = [_ANY.decode(kind) for kind in _ITEMS.decode(schema.pop("types"))]
            found = {name: _ANY.decode(part) for name, part in schema.items()} | {"types": kinds}
            whole = {name: _ANY.decode(part) for name, part in inner.items()} | {"__schema": found}
            if inner is members:
                return whole
            return {name: _ANY.decode(part) for name, part in members.items()} | {"data": whole}
    except (msgspec.MsgspecError, KeyError, RecursionError) as error:
        reason = type(error).__name__
    msg = f"no introspection result ({reason})"
    raise ValueError(msg)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep the garbage collector from walking again and again over what is being built.

    Half a million objects come to be, and none of them is garbage: looking for some takes as long
    as building them.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
