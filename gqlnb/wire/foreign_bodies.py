"""Bodies that are not GraphQL over HTTP: HTML pages, other JSON, and other character sets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from email.message import Message
from html import unescape
from typing import TYPE_CHECKING, Any

from gqlnb.errors import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb.wire.response import Response

__all__ = ["describe_page", "find_message", "is_login_path", "transcode", "unescape_json"]

EXCERPT = 80  # characters of a title
ESCAPED = re.compile(r"\\u00([2-7][0-9a-fA-F])|\\(/)")  # printable ASCII that need not be escaped
SEARCHED = 1 << 14  # bytes of a page in which its title is looked for
PAGE = re.compile(
    r"\s*(?:<!--.*?-->\s*|<\?xml[^>]*>\s*)*<(?:!doctype\s+html|html|head|title)\b",
    re.IGNORECASE | re.DOTALL,
)
TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
LOGIN = re.compile(r"\b(?:log|sign)[ _-]?(?:in|on)\b|\bsso\b|\bauthenticat", re.IGNORECASE)
PASSWORD = re.compile(r"<input[^>]+type\s*=\s*[\"']?password", re.IGNORECASE)
# Where services put their words: GitHub, OAuth, Django REST framework, Spring.
MESSAGES = ("message", "error_description", "detail", "error", "errors")


def describe_page(body: bytes, clean: Callable[[str, int], str] = plain) -> str | None:
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
    text = body[:SEARCHED].decode("utf-8", "replace")
    if PAGE.match(text) is None:
        return None
    found = TITLE.search(text)
    title = clean(unescape(found[1]), EXCERPT) if found else ""
    said = f"an HTML page titled {title!r}" if title else "an HTML page"
    if LOGIN.search(title) or PASSWORD.search(text):
        said += ", perhaps a login page: pass a token, or another address"
    return said


def unescape_json(text: str) -> str:
    """Return JSON with the escape sequences of printable ASCII replaced by their characters."""
    return ESCAPED.sub(lambda match: chr(int(match[1], 16)) if match[1] else match[2], text)


def is_login_path(path: str) -> bool:
    """Return whether an address looks like that of a login page."""
    return LOGIN.search(path) is not None


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
        return next(filter(None, (find_message(members.get(name)) for name in MESSAGES)), None)
    return None


def transcode(response: Response) -> Response:
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
