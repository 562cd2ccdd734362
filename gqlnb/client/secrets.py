"""What a client sends beside a request and shows to nobody: its token and its headers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from gqlnb.client.addresses import address, loopback
from gqlnb.errors import AuthError, plain
from gqlnb.token import Token

__all__ = ["Secrets", "checked_headers", "sendable"]

# RFC 9110, section 5.6.2: the characters of a field name.
NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# RFC 9110, section 5.5: no control character but the tab; what is beyond Latin-1 has no bytes.
VALUE = re.compile("[\t -~\u00a0-\u00ff]*")
# Names whose values are secrets by what they say, such as X-Api-Key, Private-Token or Cookie.
SECRET = re.compile(
    r"(?:.*[-_])?(?:authorization|auth|cookie|\w*key|\w*token|\w*secret|password|credentials?)",
    re.IGNORECASE,
)
PUBLIC = frozenset({"idempotency-key"})


class Secrets:
    """The token and the headers of one client.

    Parameters
    ----------
    token
        What ``Authorization`` carries, None for nothing.
    headers
        Further headers, as :func:`checked_headers` returns them.
    """

    def __init__(self, token: Token | None, headers: Mapping[str, str | Token]) -> None:
        self.token = token
        self.headers = dict(headers)

    def lines(self) -> dict[str, str]:
        """Return the headers as they are sent; call it only at the moment of sending."""
        lines = {
            name: value.header() if isinstance(value, Token) else value
            for name, value in self.headers.items()
            if self.token is None or name.lower() != "authorization"
        }
        if self.token is not None:
            lines["Authorization"] = self.token.header()
        return lines

    def hide(self, text: str) -> str:
        """Return `text` without any of the secrets."""
        for secret in self.tokens():
            text = secret.hide(text)
        return text

    def tokens(self) -> list[Token]:
        """Return the secrets among token and headers."""
        return [v for v in (self.token, *self.headers.values()) if isinstance(v, Token)]


def checked_headers(headers: Any) -> tuple[dict[str, str | Token], str]:
    """Return headers with the secret ones as Tokens, and what is wrong with them.

    The fault is returned, not raised: the traceback would show `headers`.

    Parameters
    ----------
    headers
        What a person gave as a mapping of text or Tokens by name; None for none.

    Returns
    -------
    (dict, str)
        The headers, and a sentence that shows no value; empty if all is well.
    """
    if headers is None:
        return {}, ""
    if not isinstance(headers, Mapping):
        return {}, f"headers= takes a mapping of names and values, not a {type(headers).__name__}."
    made: dict[str, str | Token] = {}
    for name, value in headers.items():
        if not isinstance(name, str) or not NAME.fullmatch(name):
            return {}, (
                "A header has a name that no header can have: write letters, digits and '-', "
                "such as 'X-Api-Key'."
            )
        checked, fault = checked_value(name, value)
        if fault:
            return {}, f"The header {plain(name, 40)!r} {fault}"
        made[name] = checked
    return made, ""


def checked_value(name: str, value: Any) -> tuple[str | Token, str]:
    """Return the value of one header, as a Token if its name says so, and what is wrong with it."""
    if isinstance(value, Token):
        return value, ""
    if not isinstance(value, str):
        return "", f"has a value of type {type(value).__name__}; give text or a Token."
    value = value.strip()
    if not VALUE.fullmatch(value):
        return "", "holds a line break or another character that no header can hold."
    if not value or name.lower() in PUBLIC or not SECRET.fullmatch(name):
        return value, ""
    if not value.isascii():
        return "", "holds a character outside ASCII, which its value cannot."
    return Token.from_header(value), ""


def sendable(url: str, secrets: Secrets) -> None:
    """Check that secrets may travel to `url`.

    Raises
    ------
    AuthError
        If it is plain http to another machine.
    """
    if secrets.tokens() and urlsplit(url).scheme != "https" and not loopback(url):
        msg = (
            f"{address(url)} is plain http, so a token sent there could be read on the way. "
            "Use https."
        )
        raise AuthError(msg)
