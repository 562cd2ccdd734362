"""Credentials of a client: its token and headers, which are never shown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from gqlnb.auth import Token
from gqlnb.client.urls import find_secret_segments, format_origin, is_loopback, strip_url
from gqlnb.errors import AuthError, OptionError, TargetError, sanitize_text
from gqlnb.redact import has_secret

if TYPE_CHECKING:
    from gqlnb.http.messages import Response

__all__ = [
    "Credentials",
    "bind_credentials",
    "check_header_value",
    "check_headers",
    "is_secret_name",
    "parse_header_options",
]

VALUE_HINT = "give text, a Token or 'env:NAME'."
MAX_CLEAN_TEXTS = 256  # cached texts of headers without secrets
MIN_SECRET_LENGTH = 4  # characters; hiding shorter parameters would make errors unreadable

# RFC 9110, section 5.6.2: the characters of a field name.
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# RFC 9110, section 5.5: no control character but the tab; nothing beyond Latin-1.
HEADER_VALUE = re.compile("[\t -~\u00a0-\u00ff]*")
# Words of names whose values are secrets, such as X-Api-Key, Private-Token or Cookie.
SECRET_NAME = re.compile(
    r"""(?:^|[-_])(?:
        auth(?:n|z|entication|orization)? | cookie | credentials? | jwt | session(?:id)?
        | signature | pass(?:word|wd|phrase|code) | [a-z0-9]*(?:token|secret) | [a-z0-9]*key$
    )(?:[-_]|$)""",
    re.IGNORECASE | re.VERBOSE,
)
PUBLIC_NAMES = frozenset({"idempotency-key", "sec-websocket-key"})
# Headers that the client sets by itself. They delimit the request: a second, different value could
# have its body read as another request.
FRAMING_HEADERS = frozenset(
    {"accept-encoding", "connection", "content-length", "content-type", "expect", "host"}
    | {"keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
)


class Credentials:
    """The token and the headers of one client.

    Parameters
    ----------
    token
        The token for ``Authorization``, None for none.
    headers
        Further headers, as :func:`check_headers` returns them.
    """

    def __init__(self, token: Token | None, headers: Mapping[str, str | Token]) -> None:
        self.token = token
        self.headers = dict(headers)
        self._address_tokens: list[Token] = []
        self._clean_texts: set[str] = set()  # names and values of headers without secrets

    def build_headers(self) -> dict[str, str]:
        """Return the headers with their secrets; call it just before sending."""
        lines = {
            name: value.build_header() if isinstance(value, Token) else value
            for name, value in self.headers.items()
            if self.token is None or name.lower() != "authorization"
        }
        if self.token is not None:
            lines["Authorization"] = self.token.build_header()
        return lines

    def redact(self, text: str) -> str:
        """Return `text` without any of the secrets."""
        for secret in (*self.list_tokens(), *self._address_tokens):
            text = secret.redact(text)
        return text

    def redact_echoes(self, response: Response) -> Response:
        """Return a response without secrets in its headers, which an endpoint may repeat."""
        if not self.list_tokens():
            return response
        fresh = {*response.headers, *response.headers.values()} - self._clean_texts
        if fresh and self.redact("\n".join(fresh)) != "\n".join(fresh):
            clean = {
                self.redact(name): self.redact(value) for name, value in response.headers.items()
            }
            return replace(response, headers=clean)
        if len(self._clean_texts) > MAX_CLEAN_TEXTS:
            self._clean_texts = set()
        self._clean_texts |= fresh  # most headers are the same in the next response
        return response

    def list_tokens(self) -> list[Token]:
        """Return the tokens among the token and the headers."""
        return [v for v in (self.token, *self.headers.values()) if isinstance(v, Token)]

    @property
    def has_address_secrets(self) -> bool:
        """Whether there are secrets in the address."""
        return bool(self._address_tokens)

    def bind(self, url: str) -> None:
        """Bind the secrets to the origin of `url`, and hide those in its path and query too.

        Raises
        ------
        AuthError
            If one of them belongs to another origin.
        """
        for token in self.list_tokens():
            token.bind(format_origin(url))
        queried = parse_qsl(urlsplit(url).query)
        self._address_tokens = [
            Token.from_header(value)
            for name, value in queried
            if len(value) >= MIN_SECRET_LENGTH
            and is_secret_name(name)
            and HEADER_VALUE.fullmatch(value)
        ]
        self._address_tokens += [
            Token.from_header(text)
            for segment in find_secret_segments(url)
            for text in {segment, unquote(segment)}
            if HEADER_VALUE.fullmatch(text) and text.isascii()
        ]

    def __repr__(self) -> str:
        names = [*(["Authorization"] if self.token is not None else []), *self.headers]
        return f"Credentials({', '.join(dict.fromkeys(names))})"


def is_secret_name(name: str) -> bool:
    """Return whether the name of a header or URL parameter marks its value as a secret."""
    return SECRET_NAME.search(name) is not None and name.lower() not in PUBLIC_NAMES


def parse_header_options(given: Iterable[str]) -> dict[str, str]:
    """Return the sources of header values from ``-H`` options, by name.

    Raises
    ------
    OptionError
        If one is not ``HEADER_NAME=env:VAR``; the message does not show it.
    """
    sources = {}
    for text in given:
        name, _, source = text.partition("=")
        if not name or source.partition(":")[0] not in ("env", "keyring") or source[-1] == ":":
            msg = (
                "--header takes NAME=env:VAR: the name of a header, and of the environment "
                "variable that holds its value."
            )
            raise OptionError(msg)
        sources[name] = source
    return sources


def check_headers(headers: object) -> dict[str, str | Token]:
    """Return headers with the secret ones as Tokens.

    Call it where no traceback shows `headers`: see :func:`gqlnb.redact.hide_locals`.

    Parameters
    ----------
    headers
        A mapping of values by name; None for none. A value is text, a Token, or ``"env:NAME"`` or
        ``"keyring:NAME"`` for the source of the whole value.

    Raises
    ------
    TargetError
        If a name or a value is not valid; no value is shown.
    AuthError
        If a value can't be found where it should be.
    """
    if headers is None:
        return {}
    if not isinstance(headers, Mapping):
        msg = f"headers= takes a mapping of names and values, not a {type(headers).__name__}."
        raise TargetError(msg)
    return {
        check_header_name(name): check_header_value(name, value) for name, value in headers.items()
    }


def check_header_name(name: object) -> str:
    """Return the name of a header; raise TargetError if it is not valid."""
    if isinstance(name, str) and name.lower() in FRAMING_HEADERS:
        msg = f"The header {name} says how a request is sent, which the client does by itself."
        raise TargetError(msg)
    if isinstance(name, str) and HEADER_NAME.fullmatch(name):
        return name
    msg = "A header has an invalid name: write letters, digits and '-', such as 'X-Api-Key'."
    raise TargetError(msg)


def check_header_value(name: str, value: object) -> str | Token:
    """Return the value of one header, as a Token if its name or its form marks it as a secret.

    Raises
    ------
    TargetError, AuthError
        As :func:`check_headers`.
    """
    if isinstance(value, Token):
        return value
    if not isinstance(value, str):
        held = getattr(value, "token", None)  # of a TokenBox, None if it is empty
        if isinstance(held, Token):
            return held
        raise TargetError(
            _describe_fault(name, f"has a value of type {type(value).__name__}; {VALUE_HINT}")
        )
    given, value = value.strip(), resolve_value(value.strip())
    if not HEADER_VALUE.fullmatch(value):
        raise TargetError(
            _describe_fault(name, "holds a line break or another character that none can.")
        )
    secret = given != value or is_secret_name(name) or has_secret(f"{name}: {value}")
    if not value or not secret:
        return value
    if not value.isascii():
        raise TargetError(
            _describe_fault(name, "holds a character outside ASCII, which its value cannot.")
        )
    token = Token.from_header(value)
    return token if given == value else token.record_source(given)


def _describe_fault(name: str, what: str) -> str:
    return f"The header {sanitize_text(name, 40)!r} {what}"


def resolve_value(value: str) -> str:
    """Return the value at ``"env:NAME"`` or ``"keyring:NAME"``; other text unchanged.

    Raises
    ------
    AuthError
        If there is no value.
    """
    word, _, name = value.partition(":")
    if word == "env" and name:
        found = os.environ.get(name, "").strip()
        if found:
            return found
        Token.from_env(name)  # raises AuthError: it is not set
    if word == "keyring" and name:
        return Token.from_keyring(name, "").build_header()
    return value


def bind_credentials(url: str, secrets: Credentials) -> None:
    """Check that secrets may be sent to `url`, and bind them to its origin.

    Raises
    ------
    AuthError
        If it is plain http to another machine, or one of them belongs to another origin.
    """
    if secrets.list_tokens() and urlsplit(url).scheme != "https" and not is_loopback(url):
        msg = (
            f"{strip_url(url)} is plain http, so a token sent there could be read on the way. "
            "Use https."
        )
        raise AuthError(msg)
    secrets.bind(url)
