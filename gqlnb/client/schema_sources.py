"""What ``schema=`` may be: text, a file, an introspection result, an object; and large JSON."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from graphql import get_introspection_query

from gqlnb.document.json_codec import JSONError, load_json, strip_bom
from gqlnb.engine.schema import Schema
from gqlnb.engine.schema_adapters import extract_schema, is_schema
from gqlnb.engine.schema_builder import LoadedSchema, load_introspection, load_sdl, pause_collector
from gqlnb.errors import (
    AuthError,
    QueryError,
    RateLimited,
    SchemaError,
    TransportError,
    sanitize_text,
)
from gqlnb.result.checked_decoder import CheckedDecoder
from gqlnb.result.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gqlnb.result.result import Result

__all__ = [
    "IntrospectionReader",
    "IntrospectionRefusedError",
    "build_introspection_query",
    "fetch_introspection",
    "read_introspection",
    "read_schema",
]

LARGE_BYTES = 8 * 2**20  # bytes; GitHub's has three to five million
ACCEPTED_FORMS = (
    "schema= takes SDL text, the path of a file with SDL or introspection JSON, an introspection "
    "result, or a schema object"
)


def read_schema(given: Any) -> LoadedSchema:
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
        return LoadedSchema(given.graphql)
    if isinstance(given, Mapping):
        return load_introspection(given, "The introspection result")
    if isinstance(given, os.PathLike) or (isinstance(given, str) and is_path(given)):
        return read_schema_file(Path(os.fspath(given)).expanduser())
    if isinstance(given, str):
        return read_schema_text(given, "The text")
    if not is_schema(given):
        msg = f"{ACCEPTED_FORMS}; got {sanitize_text(type(given).__name__, 80)}."
        raise SchemaError(msg)
    return LoadedSchema(extract_schema(given))


def is_path(text: str) -> bool:
    """Tell whether text is a path rather than SDL, which has braces unless it says nothing."""
    return "{" not in text and "\n" not in text and text.strip() != ""


def read_schema_file(path: Path) -> LoadedSchema:
    """Return the schema in a file.

    Raises
    ------
    SchemaError
        If it can't be read, or describes no schema.
    """
    shown = sanitize_text(path, 80)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        reason = "it is no UTF-8"
    except (OSError, ValueError) as error:  # ValueError: a null character
        reason = getattr(error, "strerror", None) or "it is no path"
    else:
        return read_schema_text(text, f"The file {shown}")
    msg = f"schema= names no file that can be read: {shown!r} ({reason}). {ACCEPTED_FORMS}."
    raise SchemaError(msg)


def read_schema_text(text: str, whence: str) -> LoadedSchema:
    """Return the schema that text describes: introspection JSON, which begins with ``{``, or SDL.

    Raises
    ------
    SchemaError
        If it describes none.
    """
    if not text.strip():
        msg = f"{whence} is empty. {ACCEPTED_FORMS}."
        raise SchemaError(msg)
    if not text.lstrip().startswith("{"):
        return load_sdl(text, whence)
    try:
        data = load_json(text.encode())
    except (JSONError, UnicodeEncodeError) as error:
        reason = str(error)
    else:
        return load_introspection(data, whence)
    msg = f"{whence} begins as JSON does, and is none ({sanitize_text(reason, 120)})."
    raise SchemaError(msg)


def load_object(body: bytes) -> dict[str, Any]:
    """Read a JSON object.

    Raises
    ------
    ValueError
        If it is no JSON, or another.
    """
    whole = load_json(body)  # JSONError is a ValueError
    if isinstance(whole, dict):
        return whole
    msg = "no JSON object"
    raise ValueError(msg)


_ANY_DECODER = msgspec.json.Decoder()
_MEMBERS_DECODER = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS_DECODER = msgspec.json.Decoder(list[msgspec.Raw])


def read_introspection(body: bytes) -> dict[str, Any]:
    """Read the JSON of an introspection result, with or without its envelope.

    A large one is read type by type: a decoder of JSON lets no other thread run before it is done,
    which with 100,000 types takes a second; a kernel that does not answer for so long seems dead.

    Returns
    -------
    dict
        What :func:`gqlnb.document.json_codec.load_json` would return.

    Raises
    ------
    ValueError
        If it is no JSON, or no introspection result.
    """
    if len(body) < LARGE_BYTES:
        with pause_collector():
            return load_object(body)
    try:
        body.decode()  # msgspec does not look at the UTF-8 of what it skips
        with pause_collector():
            members = _MEMBERS_DECODER.decode(strip_bom(body))
            inner = _MEMBERS_DECODER.decode(members.pop("data")) if "data" in members else members
            schema = _MEMBERS_DECODER.decode(inner.pop("__schema"))
            kinds = [
                _ANY_DECODER.decode(kind) for kind in _ITEMS_DECODER.decode(schema.pop("types"))
            ]
            found = {name: _ANY_DECODER.decode(part) for name, part in schema.items()} | {
                "types": kinds
            }
            whole = {name: _ANY_DECODER.decode(part) for name, part in inner.items()} | {
                "__schema": found
            }
            if inner is members:
                return whole
            return {name: _ANY_DECODER.decode(part) for name, part in members.items()} | {
                "data": whole
            }
    except (msgspec.MsgspecError, KeyError, RecursionError) as error:
        reason = type(error).__name__
    msg = f"no introspection result ({reason})"
    raise ValueError(msg)


MAX_REQUESTS = 4  # for everything; without what it refused; without options; with shallow types
DEEP, SHALLOW = 9, 3  # levels of a type: [[T!]!]! has five, and most schemas three
REFUSAL_STATUSES = frozenset(
    {400, 403, 413, 422, 500}
)  # statuses of endpoints that want less, or nothing
# What not every endpoint knows, and how one that does not names it.
OPTION_PATTERNS = {
    "one_of": re.compile("isOneOf"),
    "specified_by_url": re.compile("specifiedByU"),
    "directive_is_repeatable": re.compile("isRepeatable"),
    "input_value_deprecation": re.compile(
        r"includeDeprecated|(?:isDeprecated|deprecationReason)\b.*__InputValue"
        r"|__InputValue\b.*(?:isDeprecated|deprecationReason)"
    ),
    "schema_description": re.compile(r"description\b.*__Schema\b|__Schema\b.*\bdescription"),
}
OPTION_DESCRIPTIONS = {
    "one_of": "isOneOf",
    "specified_by_url": "specifiedByURL",
    "directive_is_repeatable": "isRepeatable",
    "input_value_deprecation": "deprecated arguments",
    "schema_description": "a description of the schema",
}
TOO_DEEP = re.compile(r"depth|deep|nest(?:ed|ing)|complex|cost|tokens?\b", re.IGNORECASE)
# Apollo has a code; graphql-ruby, Hasura and the rule of graphql-js name the field; others say it.
FORBIDDEN = re.compile(r"INTROSPECTION_DISABLED|__schema\b|__type\b|(?i:introspect)")


class IntrospectionRefusedError(SchemaError):
    """An endpoint does not tell its schema."""


def fetch_introspection(
    ask: Callable[[str], Result], source: str
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Return the introspection result of an endpoint, and what is to be known about it.

    Parameters
    ----------
    ask
        Executes a text at the endpoint.
    source
        What the endpoint is called.

    Raises
    ------
    Refusal
        If it refuses, after four requests at most.
    TransportError, AuthError, RateLimited, AnswerError
        If it gave no usable answer.
    """
    options, depth = frozenset(OPTION_PATTERNS), DEEP
    words = ""
    for _ in range(MAX_REQUESTS):
        data, words, status = execute_introspection(ask, build_introspection_query(options, depth))
        if data is not None:
            return data, describe_omissions(options, depth)
        step = reduce_query(words, status, options, depth)
        if step is None:
            break
        options, depth = step
    words = sanitize_text(words.removeprefix(f"{source}: "), 200).rstrip(".")
    msg = f"{source} does not tell its schema: {words}."
    raise IntrospectionRefusedError(msg)


class IntrospectionReader(CheckedDecoder):
    """Reads an answer to introspection, so that other threads have their turn meanwhile."""

    def __init__(self) -> None:
        super().__init__(Shape(type_text="anything"))

    def decode_response(self, body: bytes) -> dict[str, Any] | None:
        """Return the members of an answer with a schema; None for any other."""
        try:
            members = read_introspection(body)
        except ValueError:
            return None
        data = members.get("data")
        return members if isinstance(data, dict) and data.get("__schema") else None


@cache
def build_introspection_query(options: frozenset[str], depth: int) -> str:
    """Return the introspection query with some options, types `depth` levels deep."""
    known = inspect.signature(get_introspection_query).parameters
    names = (name if name in known else f"input_object_{name}" for name in options)  # 3.2
    given: dict[str, Any] = dict.fromkeys(names, True)
    return get_introspection_query(type_depth=depth, **given)


def execute_introspection(
    ask: Callable[[str], Result], text: str
) -> tuple[Mapping[str, Any] | None, str, int | None]:
    """Return the data of an answer, or None with the words and the status of a refusal."""
    status: int | None = None
    try:
        result = ask(text)
    except QueryError as error:
        said = [problem.message for problem in error.problems] or [str(error)]
        return None, " ".join([*said, *list_error_codes(error.result)]), None
    except (AuthError, RateLimited):
        raise
    except TransportError as error:
        if error.status not in REFUSAL_STATUSES:
            raise
        words, status = str(error), error.status
    else:
        if isinstance(result.data, dict) and result.data.get("__schema") is not None:
            return result.data, "", None
        said = [str(error.get("message", "")) for error in result.errors]
        words = " ".join([*said, *list_error_codes(result)]) or "its answer holds no __schema."
    return None, words, status


def list_error_codes(result: Any) -> list[str]:
    """Return the codes that Apollo and others put into the extensions of errors."""
    found = []
    for error in getattr(result, "errors", ()):
        extensions = error.get("extensions")
        if isinstance(extensions, dict):
            names = ("validationErrorCode", "code")
            found += [str(extensions[name]) for name in names if name in extensions]
    return found


def reduce_query(
    words: str, status: int | None, options: frozenset[str], depth: int
) -> tuple[frozenset[str], int] | None:
    """Return what to ask for next, None if there is no use in asking."""
    named = {name for name in options if OPTION_PATTERNS[name].search(words)}
    if named:
        return options - named, depth
    if TOO_DEEP.search(words) and depth > SHALLOW:
        return options, SHALLOW
    if status == 403 or FORBIDDEN.search(words):
        return None
    if options:
        return frozenset(), depth
    return (options, SHALLOW) if depth > SHALLOW else None


def describe_omissions(options: frozenset[str], depth: int) -> tuple[str, ...]:
    """Say what was not asked for."""
    missing = [OPTION_DESCRIPTIONS[name] for name in OPTION_PATTERNS if name not in options]
    said = [f"The endpoint does not tell {', '.join(missing)}."] if missing else []
    if depth < DEEP:
        said.append(f"It was asked for types of {depth} levels, as it refuses to tell more.")
    return tuple(said)
