"""What a client sends beside a request and shows to nobody: its token and its headers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from gqlnb.client.addresses import address, loopback, secret_segments, shown_origin
from gqlnb.errors import AuthError, OptionError, TargetError, plain
from gqlnb.leaks import looks_secret
from gqlnb.token import Token

if TYPE_CHECKING:
    from gqlnb.wire.response import Response

__all__ = [
    "Secrets",
    "checked_headers",
    "checked_value",
    "headers_of",
    "secret_name",
    "sendable",
]

GIVE = "give text, a Token or 'env:NAME'."
CLEAN = 256  # texts of headers that are remembered
SHORTEST = 4  # characters of a parameter worth hiding; to hide less makes errors unreadable

# RFC 9110, section 5.6.2: the characters of a field name.
NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# RFC 9110, section 5.5: no control character but the tab; what is beyond Latin-1 has no bytes.
VALUE = re.compile("[\t -~\u00a0-\u00ff]*")
# Words of names whose values are secrets, such as X-Api-Key, Private-Token or Cookie.
SECRET = re.compile(
    r"""(?:^|[-_])(?:
        auth(?:n|z|entication|orization)? | cookie | credentials? | jwt | session(?:id)?
        | signature | pass(?:word|wd|phrase|code) | [a-z0-9]*(?:token|secret) | [a-z0-9]*key$
    )(?:[-_]|$)""",
    re.IGNORECASE | re.VERBOSE,
)
PUBLIC = frozenset({"idempotency-key", "sec-websocket-key"})
# Headers that the client sets by itself. They say where a request ends and how it is read: set a
# second time, otherwise, they could have its body read as another request.
FRAMING = frozenset(
    {"accept-encoding", "connection", "content-length", "content-type", "expect", "host"}
    | {"keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
)


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
        self._in_address: list[Token] = []
        self._clean: set[str] = set()  # names and values of headers that hold no secret

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
        for secret in (*self.tokens(), *self._in_address):
            text = secret.hide(text)
        return text

    def unechoed(self, response: Response) -> Response:
        """Return a response without the secrets in its headers, where an endpoint repeats them."""
        if not self.tokens():
            return response
        fresh = {*response.headers, *response.headers.values()} - self._clean
        if fresh and self.hide("\n".join(fresh)) != "\n".join(fresh):
            clean = {self.hide(name): self.hide(value) for name, value in response.headers.items()}
            return replace(response, headers=clean)
        if len(self._clean) > CLEAN:
            self._clean = set()
        self._clean |= fresh  # most headers of the next answer are the same
        return response

    def tokens(self) -> list[Token]:
        """Return the secrets among token and headers."""
        return [v for v in (self.token, *self.headers.values()) if isinstance(v, Token)]

    @property
    def queried(self) -> bool:
        """Whether there are secrets in the address too."""
        return bool(self._in_address)

    def bind(self, url: str) -> None:
        """Bind the secrets to the origin of `url`, and hide those in its path and query too.

        Raises
        ------
        AuthError
            If one of them belongs to another origin.
        """
        for token in self.tokens():
            token.bind(shown_origin(url))
        queried = parse_qsl(urlsplit(url).query)
        self._in_address = [
            Token.from_header(value)
            for name, value in queried
            if len(value) >= SHORTEST and secret_name(name) and VALUE.fullmatch(value)
        ]
        self._in_address += [
            Token.from_header(text)
            for segment in secret_segments(url)
            for text in {segment, unquote(segment)}
            if VALUE.fullmatch(text) and text.isascii()
        ]

    def __repr__(self) -> str:
        names = [*(["Authorization"] if self.token is not None else []), *self.headers]
        return f"Secrets({', '.join(dict.fromkeys(names))})"


def secret_name(name: str) -> bool:
    """Tell whether what a header or a parameter of an address is called makes it a secret."""
    return SECRET.search(name) is not None and name.lower() not in PUBLIC


def headers_of(given: Iterable[str]) -> dict[str, str]:
    """Return the headers of ``-H``: by name, where the value of each is.

    Raises
    ------
    OptionError
        If one is no ``NAME=env:VAR``; the message does not show it.
    """
    made = {}
    for text in given:
        name, _, source = text.partition("=")
        if not name or source.partition(":")[0] not in ("env", "keyring") or source[-1] == ":":
            msg = (
                "--header takes NAME=env:VAR: the name of a header, and of the environment "
                "variable that holds its value."
            )
            raise OptionError(msg)
        made[name] = source
    return made


def checked_headers(headers: object) -> dict[str, str | Token]:
    """Return headers with the secret ones as Tokens.

    Call it where no traceback shows `headers`: see :func:`gqlnb.sealing.unseen`.

    Parameters
    ----------
    headers
        What a person gave: a mapping of values by name; None for none. A value is text, a Token,
        or ``"env:NAME"`` or ``"keyring:NAME"`` for where to find it whole.

    Raises
    ------
    TargetError
        If a name or a value is none that a header can have; no value is shown.
    AuthError
        If a value can't be found where it should be.
    """
    if headers is None:
        return {}
    if not isinstance(headers, Mapping):
        msg = f"headers= takes a mapping of names and values, not a {type(headers).__name__}."
        raise TargetError(msg)
    return {checked_name(name): checked_value(name, value) for name, value in headers.items()}


def checked_name(name: object) -> str:
    """Return the name of a header.

    Raises
    ------
    TargetError
        If no header can have it.
    """
    if isinstance(name, str) and name.lower() in FRAMING:
        msg = f"The header {name} says how a request is sent, which the client does by itself."
        raise TargetError(msg)
    if isinstance(name, str) and NAME.fullmatch(name):
        return name
    msg = (
        "A header has a name that no header can have: write letters, digits and '-', such as "
        "'X-Api-Key'."
    )
    raise TargetError(msg)


def checked_value(name: str, value: object) -> str | Token:
    """Return the value of one header, as a Token if it is a secret by its name or its looks.

    Raises
    ------
    TargetError, AuthError
        As :func:`checked_headers` does.
    """
    if isinstance(value, Token):
        return value
    if not isinstance(value, str):
        held = getattr(value, "token", None)  # of a TokenBox, which may be empty
        if isinstance(held, Token):
            return held
        raise TargetError(_fault(name, f"has a value of type {type(value).__name__}; {GIVE}"))
    given, value = value.strip(), found_value(value.strip())
    if not VALUE.fullmatch(value):
        raise TargetError(_fault(name, "holds a line break or another character that none can."))
    secret = given != value or secret_name(name) or looks_secret(f"{name}: {value}")
    if not value or not secret:
        return value
    if not value.isascii():
        raise TargetError(_fault(name, "holds a character outside ASCII, which its value cannot."))
    made = Token.from_header(value)
    return made if given == value else made.found_at(given)


def _fault(name: str, what: str) -> str:
    return f"The header {plain(name, 40)!r} {what}"


def found_value(value: str) -> str:
    """Return the value that ``"env:NAME"`` or ``"keyring:NAME"`` names; other text unchanged.

    Raises
    ------
    AuthError
        If it names nothing.
    """
    word, _, name = value.partition(":")
    if word == "env" and name:
        found = os.environ.get(name, "").strip()
        if found:
            return found
        Token.from_env(name)  # says that it is not set
    if word == "keyring" and name:
        return Token.from_keyring(name, "").header()
    return value


def sendable(url: str, secrets: Secrets) -> None:
    """Check that secrets may travel to `url`, and bind them to its origin.

    Raises
    ------
    AuthError
        If it is plain http to another machine, or one of them belongs to another origin.
    """
    if secrets.tokens() and urlsplit(url).scheme != "https" and not loopback(url):
        msg = (
            f"{address(url)} is plain http, so a token sent there could be read on the way. "
            "Use https."
        )
        raise AuthError(msg)
    secrets.bind(url)
