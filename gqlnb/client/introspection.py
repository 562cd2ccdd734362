"""Asking an endpoint for its schema: for everything first, and for less where it refuses."""

from __future__ import annotations

import inspect
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from graphql import get_introspection_query

from gqlnb.client.schema_reading import read_introspection
from gqlnb.errors import AuthError, QueryError, RateLimited, SchemaError, TransportError, plain
from gqlnb.wire.expected import Place
from gqlnb.wire.typed import Typed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gqlnb.model.result import Result

__all__ = ["IntrospectionReader", "Refusal", "introspected", "query"]

REQUESTS = 4  # for everything; without what it refused; without options; with shallow types
DEEP, SHALLOW = 9, 3  # levels of a type: [[T!]!]! has five, and most schemas three
REFUSING = frozenset({400, 403, 413, 422, 500})  # statuses of endpoints that want less, or nothing
# What not every endpoint knows, and how one that does not names it.
OPTIONS = {
    "one_of": re.compile("isOneOf"),
    "specified_by_url": re.compile("specifiedByU"),
    "directive_is_repeatable": re.compile("isRepeatable"),
    "input_value_deprecation": re.compile(
        r"includeDeprecated|(?:isDeprecated|deprecationReason)\b.*__InputValue"
        r"|__InputValue\b.*(?:isDeprecated|deprecationReason)"
    ),
    "schema_description": re.compile(r"description\b.*__Schema\b|__Schema\b.*\bdescription"),
}
TOLD = {
    "one_of": "isOneOf",
    "specified_by_url": "specifiedByURL",
    "directive_is_repeatable": "isRepeatable",
    "input_value_deprecation": "deprecated arguments",
    "schema_description": "a description of the schema",
}
TOO_MUCH = re.compile(r"depth|deep|nest(?:ed|ing)|complex|cost|tokens?\b", re.IGNORECASE)
# Apollo has a code; graphql-ruby, Hasura and the rule of graphql-js name the field; others say it.
FORBIDDEN = re.compile(r"INTROSPECTION_DISABLED|__schema\b|__type\b|(?i:introspect)")


class Refusal(SchemaError):  # noqa: N818 - it is what the endpoint did, not what went wrong
    """An endpoint does not tell its schema."""


def introspected(
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
    options, depth = frozenset(OPTIONS), DEEP
    words = ""
    for _ in range(REQUESTS):
        data, words, status = answered(ask, query(options, depth))
        if data is not None:
            return data, remarks(options, depth)
        step = less(words, status, options, depth)
        if step is None:
            break
        options, depth = step
    words = plain(words.removeprefix(f"{source}: "), 200).rstrip(".")
    msg = f"{source} does not tell its schema: {words}."
    raise Refusal(msg)


class IntrospectionReader(Typed):
    """Reads an answer to introspection, so that other threads have their turn meanwhile."""

    def __init__(self) -> None:
        super().__init__(Place("anything"))

    def load(self, body: bytes) -> dict[str, Any] | None:
        """Return the members of an answer with a schema; None for any other."""
        try:
            members = read_introspection(body)
        except ValueError:
            return None
        data = members.get("data")
        return members if isinstance(data, dict) and data.get("__schema") else None


@cache
def query(options: frozenset[str], depth: int) -> str:
    """Return the introspection query with some options, types `depth` levels deep."""
    known = inspect.signature(get_introspection_query).parameters
    names = (name if name in known else f"input_object_{name}" for name in options)  # 3.2
    given: dict[str, Any] = dict.fromkeys(names, True)
    return get_introspection_query(type_depth=depth, **given)


def answered(
    ask: Callable[[str], Result], text: str
) -> tuple[Mapping[str, Any] | None, str, int | None]:
    """Return the data of an answer, or None with the words and the status of a refusal."""
    status: int | None = None
    try:
        result = ask(text)
    except QueryError as error:
        said = [problem.message for problem in error.problems] or [str(error)]
        return None, " ".join([*said, *codes(error.result)]), None
    except (AuthError, RateLimited):
        raise
    except TransportError as error:
        if error.status not in REFUSING:
            raise
        words, status = str(error), error.status
    else:
        if isinstance(result.data, dict) and result.data.get("__schema") is not None:
            return result.data, "", None
        said = [str(error.get("message", "")) for error in result.errors]
        words = " ".join([*said, *codes(result)]) or "its answer holds no __schema."
    return None, words, status


def codes(result: Any) -> list[str]:
    """Return the codes that Apollo and others put into the extensions of errors."""
    found = []
    for error in getattr(result, "errors", ()):
        extensions = error.get("extensions")
        if isinstance(extensions, dict):
            names = ("validationErrorCode", "code")
            found += [str(extensions[name]) for name in names if name in extensions]
    return found


def less(
    words: str, status: int | None, options: frozenset[str], depth: int
) -> tuple[frozenset[str], int] | None:
    """Return what to ask for next, None if there is no use in asking."""
    named = {name for name in options if OPTIONS[name].search(words)}
    if named:
        return options - named, depth
    if TOO_MUCH.search(words) and depth > SHALLOW:
        return options, SHALLOW
    if status == 403 or FORBIDDEN.search(words):
        return None
    if options:
        return frozenset(), depth
    return (options, SHALLOW) if depth > SHALLOW else None


def remarks(options: frozenset[str], depth: int) -> tuple[str, ...]:
    """Say what was not asked for."""
    missing = [TOLD[name] for name in OPTIONS if name not in options]
    said = [f"The endpoint does not tell {', '.join(missing)}."] if missing else []
    if depth < DEEP:
        said.append(f"It was asked for types of {depth} levels, as it refuses to tell more.")
    return tuple(said)
