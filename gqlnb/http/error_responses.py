"""Bodies other than GraphQL responses (HTML pages, other JSON), and transient failures."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from html import unescape
from typing import Any, NamedTuple

from gqlnb.document.json_codec import JSONError, load_json, mark_numbers, replace_numbers
from gqlnb.errors import sanitize_text
from gqlnb.http.messages import Response, parse_parameters

_MAX_TITLE = 80  # characters
_SEARCHED_BYTES = 1 << 14  # bytes of a page that are searched for its title
_HTML_START = re.compile(
    r"\s*(?:<!--.*?-->\s*|<\?xml[^>]*>\s*)*<(?:!doctype\s+html|html|head|title)\b",
    re.IGNORECASE | re.DOTALL,
)
_TITLE_TAG = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_LOGIN_WORDS = re.compile(r"\b(?:log|sign)[ _-]?(?:in|on)\b|\bsso\b|\bauthenticat", re.IGNORECASE)
_PASSWORD_FIELD = re.compile(r"<input[^>]+type\s*=\s*[\"']?password", re.IGNORECASE)
# Members with the message of a service: GitHub, OAuth, Django REST framework, Spring.
_MESSAGE_KEYS = (
    *("message", "error_description", "detail", "error", "errors"),
    *("issue", "details", "text", "diagnostics"),  # of an OperationOutcome of FHIR
)


def describe_page(body: bytes, clean: Callable[[str, int], str] = sanitize_text) -> str | None:
    """Return a description of an HTML page, with its title; None for another body.

    Parameters
    ----------
    body
        The body; its beginning is enough.
    clean
        Sanitizes text of the endpoint, and cuts it to a length.

    Examples
    --------
    >>> describe_page(b"<html><title>Welcome</title></html>")
    "an HTML page titled 'Welcome'"
    >>> describe_page(b'{"data": {}}') is None
    True
    """
    text = body[:_SEARCHED_BYTES].decode("utf-8", "replace")
    if _HTML_START.match(text) is None:
        return None
    tag = _TITLE_TAG.search(text)
    title = clean(unescape(tag[1]), _MAX_TITLE) if tag else ""
    description = f"an HTML page titled {title!r}" if title else "an HTML page"
    if _LOGIN_WORDS.search(title) or _PASSWORD_FIELD.search(text):
        description += ", perhaps a login page: pass a token, or another address"
    return description


def is_login_path(path: str) -> bool:
    """Return whether the path of a URL looks like a login page."""
    return _LOGIN_WORDS.search(path) is not None


def find_message(members: object) -> str | None:
    """Return the message in a JSON body that is not a GraphQL response, or None.

    Examples
    --------
    >>> find_message({"error": {"message": "Unauthorized"}})
    'Unauthorized'
    """
    if isinstance(members, str):
        return members or None
    if isinstance(members, list):
        return next(filter(None, map(find_message, members[:3])), None)
    if isinstance(members, Mapping):
        return next(filter(None, (find_message(members.get(name)) for name in _MESSAGE_KEYS)), None)
    return None


def transcode_response(response: Response) -> Response:
    """Return a response in UTF-8, if its ``Content-Type`` names another character set."""
    # A body that is valid UTF-8 is not changed: JSON is in UTF-8 (RFC 8259, 8.1), and many servers
    # label it wrongly.
    label = response.headers.get("content-type", "")
    if "charset" not in label.lower():
        return response
    _, parameters = parse_parameters(label)
    charset = parameters.get("charset", "utf-8").strip("'\" ").lower()
    if charset not in ("utf-8", "utf8"):
        with suppress(UnicodeDecodeError):
            response.body.decode()
            return response
        with suppress(LookupError, UnicodeError):
            return replace(response, body=response.body.decode(charset).encode())
    return response


def nullify_response(response: Response) -> Response:
    """Return a response with null in the places of NaN and infinities, which it counts."""
    body, count = replace_numbers(response.body)
    return replace(response, body=body, nullified=response.nullified + count) if count else response


# octokit/graphql.js#554, apache/devlake#4349, magit/forge#65; "Timeout on validation of query" is
# graphql-ruby's (MeltanoLabs/tap-github#466); the last alternative is the member `message` of a
# body.
_TRANSIENT_WORDS = re.compile(
    r"\s*something went wrong|.*\btimedout\b|\s*timeout on (?:validation|execution)\b"
    r"|.*couldn['\u2019]t respond to your request in time",
    re.IGNORECASE | re.DOTALL,
)
# The `type` of an error; codes in `extensions` are a resolver's. PostHog/posthog#69652.
_TRANSIENT_TYPES = frozenset({"INTERNAL", "SERVICE_UNAVAILABLE"})
NULL_AS_TEXT = "null"  # GitHub's gateway writes null data as this string


class TransientFailure(NamedTuple):
    """A failure after which a retry may succeed.

    Attributes
    ----------
    message
        The endpoint's message, not sanitized.
    timed_out
        Whether it is a time-out, so that a smaller request may succeed.
    """

    message: str
    timed_out: bool


def is_transient_message(message: object) -> bool:
    """Return whether a message is that of a transient failure."""
    return isinstance(message, str) and _TRANSIENT_WORDS.match(message) is not None


def is_transient_error(error: Mapping[str, object]) -> bool:
    """Return whether an error is that of a transient failure."""
    return str(error.get("type")).upper() in _TRANSIENT_TYPES or is_transient_message(
        error.get("message")
    )


def find_transient_failure(
    data: object, errors: Sequence[Mapping[str, object]]
) -> TransientFailure | None:
    """Return the transient failure reported in a response with status 200, or None.

    Parameters
    ----------
    data
        The data of the response; None where they are null or missing.
    errors
        Its errors.

    Examples
    --------
    >>> find_transient_failure({"a": None}, [{"message": "timedout"}])
    TransientFailure(message='timedout', timed_out=True)
    >>> find_transient_failure({"a": 1, "b": None}, [{"message": "timedout"}]) is None
    True
    """
    if not is_empty(data):
        return None
    for error in errors:
        message = error.get("message")
        if is_transient_message(message):
            return TransientFailure(str(message), timed_out=True)
    failed = next(filter(is_transient_error, errors), None)
    if failed is None:
        return None
    message = failed.get("message")
    text = message if isinstance(message, str) and message else str(failed.get("type")).upper()
    return TransientFailure(text, timed_out=False)


def is_empty(data: object) -> bool:
    """Return whether all root fields are null."""
    if isinstance(data, Mapping):
        return all(value is None for name, value in data.items() if name != "__typename")
    return data is None


def is_token_refused(response: Response, *, is_query: bool) -> bool:
    """Return whether a request was refused for its token, and may be sent again with another one.

    Parameters
    ----------
    response
        The response, whose status 401 is the refusal.
    is_query
        Whether the operation changes nothing. Any other may have been executed if the response has
        data, or the error of a field.
    """
    if response.status != 401:
        return False
    if is_query:
        return True
    try:
        body = load_json(response.body)
    except JSONError:
        return True  # a page of a gateway
    return not any(
        isinstance(members, Mapping)
        and ("data" in members or any(error.get("path") for error in list_errors(members)))
        for members in (body if isinstance(body, list) else [body])
    )


def load_members(body: bytes) -> Mapping[str, Any]:
    """Return the members of a JSON object, NaN and infinities as text; none of any other body."""
    with suppress(JSONError):
        members = load_json(mark_numbers(body))
        return members if isinstance(members, Mapping) else {}
    return {}


def list_errors(members: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the errors among the members of a response; none where they are not objects."""
    items = members.get("errors")
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []
