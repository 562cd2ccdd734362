"""Bodies that are not GraphQL over HTTP: HTML pages, other JSON, and other character sets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from email.message import Message
from html import unescape
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.errors import sanitize_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gqlnb.http.messages import Response

__all__ = [
    "NULL_AS_TEXT",
    "TransientFailure",
    "describe_page",
    "find_message",
    "find_transient_failure",
    "is_login_path",
    "is_transient_message",
    "transcode_response",
    "unescape_json",
]

MAX_TITLE = 80  # characters of a title
ESCAPED_ASCII = re.compile(
    r"\\u00([2-7][0-9a-fA-F])|\\(/)"
)  # printable ASCII that need not be escaped
SEARCHED_BYTES = 1 << 14  # bytes of a page in which its title is looked for
HTML_START = re.compile(
    r"\s*(?:<!--.*?-->\s*|<\?xml[^>]*>\s*)*<(?:!doctype\s+html|html|head|title)\b",
    re.IGNORECASE | re.DOTALL,
)
TITLE_TAG = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
LOGIN_WORDS = re.compile(r"\b(?:log|sign)[ _-]?(?:in|on)\b|\bsso\b|\bauthenticat", re.IGNORECASE)
PASSWORD_FIELD = re.compile(r"<input[^>]+type\s*=\s*[\"']?password", re.IGNORECASE)
# Where services put their words: GitHub, OAuth, Django REST framework, Spring.
MESSAGE_KEYS = ("message", "error_description", "detail", "error", "errors")


def describe_page(body: bytes, clean: Callable[[str, int], str] = sanitize_text) -> str | None:
    """Return an HTML page in words, with its title; None for another body.

    Parameters
    ----------
    body
        The body; its beginning is enough.
    clean
        Makes text of the other side harmless, and cuts it to a length.

    Examples
    --------
    >>> describe_page(b"<html><title>Welcome</title></html>")
    "an HTML page titled 'Welcome'"
    >>> describe_page(b'{"data": {}}') is None
    True
    """
    text = body[:SEARCHED_BYTES].decode("utf-8", "replace")
    if HTML_START.match(text) is None:
        return None
    found = TITLE_TAG.search(text)
    title = clean(unescape(found[1]), MAX_TITLE) if found else ""
    said = f"an HTML page titled {title!r}" if title else "an HTML page"
    if LOGIN_WORDS.search(title) or PASSWORD_FIELD.search(text):
        said += ", perhaps a login page: pass a token, or another address"
    return said


def unescape_json(text: str) -> str:
    """Return JSON with the escape sequences of printable ASCII replaced by their characters."""
    return ESCAPED_ASCII.sub(lambda match: chr(int(match[1], 16)) if match[1] else match[2], text)


def is_login_path(path: str) -> bool:
    """Return whether an address looks like that of a login page."""
    return LOGIN_WORDS.search(path) is not None


def find_message(members: Any) -> str | None:
    """Return the words in a JSON body that is not a GraphQL response, or None.

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
        return next(filter(None, (find_message(members.get(name)) for name in MESSAGE_KEYS)), None)
    return None


def transcode_response(response: Response) -> Response:
    """Return a response in UTF-8, where it is in another character set and says so.

    What is UTF-8 is left alone, whatever it says: JSON is in UTF-8 (RFC 8259, 8.1), and many
    servers label it wrongly.
    """
    label = response.headers.get("content-type", "")
    if "charset" not in label.lower():
        return response
    head = Message()
    head["content-type"] = label
    charset = head.get_content_charset("utf-8").strip("'\" ")
    if charset in ("utf-8", "utf8") or _is_utf8(response.body):
        return response
    try:
        body = response.body.decode(charset).encode()
    except (LookupError, UnicodeError):
        return response
    return replace(response, body=body)


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


# octokit/graphql.js#554, apache/devlake#4349, magit/forge#65; the last is of a body whose member
# `message` says so.
TRANSIENT_WORDS = re.compile(
    r"\s*something went wrong|.*\btimedout\b|.*couldn['\u2019]t respond to your request in time",
    re.IGNORECASE | re.DOTALL,
)
INTERNAL_TYPE = "INTERNAL"  # the `type` of an error; codes in `extensions` are those of resolvers
NULL_AS_TEXT = "null"  # what GitHub's gateway writes for null data: a string


class TransientFailure(NamedTuple):
    """A failure that may pass.

    Attributes
    ----------
    message
        The endpoint's words, not cleaned.
    timed_out
        Whether they are those of a time-out, so that asking for less may help.
    """

    message: str
    timed_out: bool


def is_transient_message(message: object) -> bool:
    """Return whether a message is one of a failure that may pass."""
    return isinstance(message, str) and TRANSIENT_WORDS.match(message) is not None


def find_transient_failure(
    data: object, errors: Sequence[Mapping[str, Any]]
) -> TransientFailure | None:
    """Return the transient failure that an answer with status 200 reports, or None.

    Parameters
    ----------
    data
        The data of the answer; None where they are null or missing.
    errors
        Its errors.

    Examples
    --------
    >>> find_transient_failure({"a": None}, [{"message": "timedout"}])
    TransientFailure(message='timedout', timed_out=True)
    >>> find_transient_failure({"a": 1, "b": None}, [{"message": "timedout"}]) is None
    True
    """
    if not _is_empty(data):
        return None
    for error in errors:
        message = error.get("message")
        if is_transient_message(message):
            return TransientFailure(str(message), timed_out=True)
    for error in errors:
        if str(error.get("type")).upper() == INTERNAL_TYPE:
            message = error.get("message")
            said = message if isinstance(message, str) and message else INTERNAL_TYPE
            return TransientFailure(said, timed_out=False)
    return None


def _is_empty(data: object) -> bool:
    """Return whether nothing stands below the root of the data."""
    if isinstance(data, Mapping):
        return all(value is None for name, value in data.items() if name != "__typename")
    return data is None
