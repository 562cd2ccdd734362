"""Sources of schemas: text, files, introspection results, objects, and endpoints."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

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
    from collections.abc import Callable

    from gqlnb.result.result import Result

__all__ = [
    "IntrospectionReader",
    "IntrospectionRefusedError",
    "fetch_introspection",
    "read_introspection",
    "read_schema",
]

LARGE_BYTES = 8 * 2**20  # bytes; GitHub's has three to five million
ACCEPTED_FORMS = (
    "schema= takes SDL text, the path of a file with SDL or introspection JSON, an introspection "
    "result, or a schema object"
)


def read_schema(given: object) -> LoadedSchema:
    """Return the schema of a ``schema=`` argument.

    Parameters
    ----------
    given
        SDL text; the path of a file with SDL or with introspection JSON; an introspection result,
        with or without the envelope ``data``; any object that :meth:`Schema.adopt` takes.

    Raises
    ------
    SchemaError
        If it has another type, or does not describe a schema.
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
    """Return whether text is a path and not SDL, which has braces."""
    return "{" not in text and "\n" not in text and text.strip() != ""


def read_schema_file(path: Path) -> LoadedSchema:
    """Return the schema in a file; raise SchemaError if it can't be read or has no schema."""
    shown = sanitize_text(path, 80)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        reason = "it is not UTF-8"
    except (OSError, ValueError) as error:  # ValueError: a null character
        reason = getattr(error, "strerror", None) or "invalid path"
    else:
        return read_schema_text(text, f"The file {shown}")
    msg = f"schema= does not refer to a readable file: {shown!r} ({reason}). {ACCEPTED_FORMS}."
    raise SchemaError(msg)


def read_schema_text(text: str, whence: str) -> LoadedSchema:
    """Return the schema in text: introspection JSON, which begins with ``{``, or SDL."""
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
    msg = f"{whence} begins like JSON, but is not valid JSON ({sanitize_text(reason, 120)})."
    raise SchemaError(msg)


def load_object(body: bytes) -> dict[str, Any]:
    """Return a JSON object; raise ValueError for any other text."""
    value = load_json(body)  # JSONError is a ValueError
    if isinstance(value, dict):
        return value
    msg = "not a JSON object"
    raise ValueError(msg)


_ANY_DECODER = msgspec.json.Decoder()
_MEMBERS_DECODER = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS_DECODER = msgspec.json.Decoder(list[msgspec.Raw])


def read_introspection(body: bytes) -> dict[str, Any]:
    """Return the introspection result in JSON, with or without its envelope.

    Raises
    ------
    ValueError
        If it is not JSON, or not an introspection result.
    """
    # A large one is decoded type by type: a JSON decoder blocks all other threads, for a second
    # with 100,000 types, and a kernel that does not answer for so long seems dead.
    if len(body) < LARGE_BYTES:
        with pause_collector():
            return load_object(body)
    try:
        body.decode()  # msgspec does not validate the UTF-8 of skipped members
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
    msg = f"not an introspection result ({reason})"
    raise ValueError(msg)


MAX_REQUESTS = 4  # full; without refused options; without any options; with shallow types
DEEP, SHALLOW = 9, 3  # levels of a type: [[T!]!]! has five, and most schemas three
# Statuses with which endpoints refuse introspection, or some part of it.
REFUSAL_STATUSES = frozenset({400, 403, 413, 422, 500})
# Members that older servers do not know, and patterns of the error messages that name them.
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
# Apollo has a code; graphql-ruby, Hasura and graphql-js name the field; others name the feature.
FORBIDDEN = re.compile(r"INTROSPECTION_DISABLED|__schema\b|__type\b|(?i:introspect)")


class IntrospectionRefusedError(SchemaError):
    """An endpoint refused introspection."""


def fetch_introspection(
    execute: Callable[[str], Result], source: str
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Return the introspection result of an endpoint, and remarks about it.

    Parameters
    ----------
    execute
        Executes a text at the endpoint.
    source
        The endpoint, as it is shown.

    Raises
    ------
    IntrospectionRefusedError
        If it refuses, after at most four requests.
    TransportError, AuthError, RateLimited, AnswerError
        If it gave no usable answer.
    """
    # The fullest query first; a refusal names the option that the endpoint does not know.
    options, depth = frozenset(OPTION_PATTERNS), DEEP
    reason = ""
    for _ in range(MAX_REQUESTS):
        response = execute_introspection(execute, build_introspection_query(options, depth))
        if not isinstance(response, Refusal):
            return response, describe_omissions(options, depth)
        reason = response.reason
        step = reduce_query(response, options, depth)
        if step is None:
            break
        options, depth = step
    reason = sanitize_text(reason.removeprefix(f"{source}: "), 200).rstrip(".")
    msg = f"{source} refuses introspection: {reason}."
    raise IntrospectionRefusedError(msg)


class Refusal(NamedTuple):
    """A response to introspection without a schema.

    Attributes
    ----------
    reason
        Its error messages and codes.
    status
        Its HTTP status; None if it had the form of a GraphQL response.
    """

    reason: str
    status: int | None = None


class IntrospectionReader(CheckedDecoder):
    """Decodes a response to introspection, type by type."""

    def __init__(self) -> None:
        super().__init__(Shape(type_text="anything"))

    def decode_response(self, body: bytes) -> dict[str, Any] | None:
        """Return the members of a response with a schema; None for any other."""
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
    execute: Callable[[str], Result], text: str
) -> Mapping[str, Any] | Refusal:
    """Return the data of a response, or the refusal."""
    try:
        result = execute(text)
    except QueryError as error:
        messages = [problem.message for problem in error.problems] or [str(error)]
        return Refusal(" ".join([*messages, *list_error_codes(error.result)]))
    except (AuthError, RateLimited):
        raise
    except TransportError as error:
        if error.status not in REFUSAL_STATUSES:
            raise
        return Refusal(str(error), error.status)
    if isinstance(result.data, dict) and result.data.get("__schema") is not None:
        return result.data
    messages = [str(error.get("message", "")) for error in result.errors]
    return Refusal(
        " ".join([*messages, *list_error_codes(result)]) or "its answer holds no __schema."
    )


def list_error_codes(result: object) -> list[str]:
    """Return the codes in the extensions of errors, as of Apollo."""
    found = []
    for error in getattr(result, "errors", ()):
        extensions = error.get("extensions")
        if isinstance(extensions, dict):
            names = ("validationErrorCode", "code")
            found += [str(extensions[name]) for name in names if name in extensions]
    return found


def reduce_query(
    refusal: Refusal, options: frozenset[str], depth: int
) -> tuple[frozenset[str], int] | None:
    """Return options and depth of the next query; None if another one would be refused too."""
    reason = refusal.reason
    # The least first: without the options that the message names, then with shallower types, and
    # only then without all options.
    named = {name for name in options if OPTION_PATTERNS[name].search(reason)}
    if named:
        return options - named, depth
    if TOO_DEEP.search(reason) and depth > SHALLOW:
        return options, SHALLOW
    if refusal.status == 403 or FORBIDDEN.search(reason):
        return None
    if options:
        return frozenset(), depth
    return (options, SHALLOW) if depth > SHALLOW else None


def describe_omissions(options: frozenset[str], depth: int) -> tuple[str, ...]:
    """Return a sentence for each part that the query left out."""
    missing = [OPTION_DESCRIPTIONS[name] for name in OPTION_PATTERNS if name not in options]
    remarks = [f"The endpoint does not describe {', '.join(missing)}."] if missing else []
    if depth < DEEP:
        remarks.append(f"Types are described to {depth} levels, as the endpoint refuses more.")
    return tuple(remarks)
