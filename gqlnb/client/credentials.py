"""Credentials of a client, which are never shown, and addresses of endpoints without secrets."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from ipaddress import ip_address
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from gqlnb.errors import AuthError, LiteralSecretError, OptionError, TargetError, sanitize_text
from gqlnb.redact import MASK, has_secret, has_token_prefix
from gqlnb.tokens import Token, bind_token, record_source

if TYPE_CHECKING:
    from gqlnb.http.messages import Response

DEFAULT_URL = "http://127.0.0.1:4000/graphql"  # the port of most servers' examples
SERVE_HINT = """To serve a schema from this notebook:
  import gqlnb
  server = gqlnb.serve(gqlnb.reference_schema())"""
SOCKET_SCHEME = "+unix"  # as of requests-unixsocket: http+unix://%2Frun%2Fgql.sock/graphql
DEFAULT_PORTS = {"http": 80, "https": 443}
# Services that take their key in the path (Infura, Alchemy, The Graph) use 32 characters or more.
# Shorter segments are names: versions, tenants, project ids such as Hygraph's of 25 characters.
MIN_KEY_LENGTH = 32
HEX_KEY = re.compile(r"[0-9a-fA-F]{32,}")
KEY_CHARACTERS = re.compile(r"[A-Za-z0-9._~=-]{32,}")
KEY_RUN = re.compile(r"[A-Za-z0-9]{20,}")
# Shown in full: RFC 9562, section 8, warns against UUIDs as secrets, and many services have one per
# project, which distinguishes their endpoints; IPFS names public content by its hash.
PUBLIC_ID = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|Qm[1-9A-HJ-NP-Za-km-z]{44}|baf[a-z2-7]{50,}",
    re.IGNORECASE,
)
MIN_KIND_CHANGES = 4  # between upper case, lower case and digits: names in words have fewer


def strip_url(url: str) -> str:
    """Return a URL without user, password, query and fragment, and without keys in its path.

    Raises
    ------
    TargetError
        If it is not an http or https URL; the message shows it without these parts too.
    """
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        parts, port = urlsplit(""), ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        advice = "Write it in full, such as http://127.0.0.1:4000/graphql."
        if url.startswith("http+unix:"):
            advice = "Give the socket apart: url 'http://localhost/graphql' and uds '/run/x.sock'."
        msg = f"{redact_url(url)!r} is not a valid address. {advice}"
        raise TargetError(msg)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{port}{mask_path(parts.path)}"


def is_key(segment: str) -> bool:
    """Return whether a segment of a path has a known token prefix, or the form of a key."""
    text = unquote(segment)
    if has_token_prefix(text):
        return True
    if len(text) < MIN_KEY_LENGTH or PUBLIC_ID.fullmatch(text):
        return False
    if HEX_KEY.fullmatch(text):
        return True
    if not KEY_CHARACTERS.fullmatch(text):
        return False
    # Digits and both cases alternate in a key; words, even long ones, change at their borders
    # alone.
    kinds = [(letter.isdigit(), letter.isupper()) for letter in text if letter.isalnum()]
    changes = sum(a != b for a, b in pairwise(kinds))
    if not any(is_digit for is_digit, _ in kinds) or changes < MIN_KIND_CHANGES:
        return False
    return KEY_RUN.search(text) is not None or (
        len(set(kinds)) == 3 and changes >= 2 * MIN_KIND_CHANGES
    )


def find_secret_segments(url: str) -> list[str]:
    """Return the segments of a URL's path that are keys or tokens, percent-encoded as they are."""
    path = urlsplit(url).path
    return [segment for segment in path.split("/") if is_key(segment)]


def mask_path(path: str) -> str:
    """Return a path with each key or token replaced."""
    # Addresses that differ in such a segment alone look the same then, in recordings too. The
    # alternative, a part or a hash of the key, would disclose something about it.
    return "/".join(MASK if is_key(segment) else segment for segment in path.split("/"))


def check_url(url: str) -> str:
    """Return the URL of an endpoint without secrets, as it is shown.

    Raises
    ------
    TargetError
        If it is not an http or https URL, or holds a user name or password.
    """
    source = strip_url(url)
    if "@" in urlsplit(url).netloc:
        msg = (
            f"The address of {source} holds a user name or a password, which would be saved with "
            "the notebook. Leave them out, and pass token= or headers={'Authorization': Token(...)}"
            " instead."
        )
        raise TargetError(msg)
    return source


def redact_url(text: str) -> str:
    """Return an address, a path or a name without secrets, as it is shown.

    The parts before an ``@`` and after a ``?`` or ``#`` are left out; keys in the path are masked.

    Examples
    --------
    >>> redact_url("ftp://me:password@host/graphql?key=1")
    'ftp://host/graphql'
    >>> redact_url("demo")
    'demo'
    """
    scheme, slashes, rest = text.rpartition("://") if "://" in text else ("", "", text)
    rest = mask_path(rest.rpartition("@")[2].partition("?")[0].partition("#")[0])
    return sanitize_text(f"{scheme.rpartition('@')[2]}{slashes}{rest}", 80)


def parse_origin(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port of a URL."""
    parts = urlsplit(url)
    port = parts.port or DEFAULT_PORTS.get(parts.scheme)
    return parts.scheme, (parts.hostname or "").lower(), port


def format_origin(url: str, uds: str | None = None) -> str:
    """Return scheme, host and port of a URL as text, without the default port of its scheme.

    Behind a Unix socket, of which each belongs to another program, with the path of the socket.
    """
    scheme, host, port = parse_origin(url)
    host = f"[{host}]" if ":" in host else host
    text = f"{scheme}://{host}"
    text = text if port == DEFAULT_PORTS.get(scheme) else f"{text}:{port}"
    return text if uds is None else f"{text} at {uds}"


def split_socket_url(url: str) -> tuple[str, str | None]:
    """Return an address, and the path of the socket that one such as `Server.url` names.

    Examples
    --------
    >>> split_socket_url("http+unix://%2Frun%2Fgql.sock/graphql")
    ('http://localhost/graphql', '/run/gql.sock')
    """
    scheme, is_socket, rest = url.partition(f"{SOCKET_SCHEME}://")
    if not is_socket or scheme not in DEFAULT_PORTS:
        return url, None
    path, slash, rest = rest.partition("/")
    return f"{scheme}://localhost{slash}{rest}", unquote(path)


def format_socket_url(source: str, uds: str) -> str:
    """Return an address without secrets as it is shown behind a Unix socket."""
    parts = urlsplit(source)
    # Whoever asks for localhost names no host; another one tells virtual hosts apart.
    host = "" if is_loopback(source) else f"?host={parts.netloc}"
    return f"{parts.scheme}{SOCKET_SCHEME}://{quote(uds, safe='')}{parts.path}{host}"


def is_loopback(url: str) -> bool:
    """Return whether a URL leads to this machine."""
    if urlsplit(url).scheme.endswith(SOCKET_SCHEME):
        return True
    host = urlsplit(url).hostname or ""
    # Reserved for this machine, with all names below: RFC 6761, section 6.3.
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


HEADER_SOURCES = (
    "'env:NAME', 'Bearer env:NAME', 'keyring:NAME', 'file:PATH', a TokenBox, or a Token: "
    "Token.prompt(), and in programs Token(value) or Token.from_header(line)"
)
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
# The source of a whole value, or of the token after its scheme. "file:" has no slashes after it, or
# the value is a URL, as of the header Origin.
VALUE_SOURCE = re.compile(r"(?:([A-Za-z]+)\s+)?((?:env|keyring|file(?!://)):\s*\S.*)")
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

    Attributes
    ----------
    tokens
        The tokens among the token and the headers.
    """

    def __init__(self, token: Token | None, headers: Mapping[str, str | Token]) -> None:
        self.headers = dict(headers)
        self.address_tokens: list[Token] = []
        self._clean_texts: set[str] = set()  # names and values of headers without secrets
        self.use_token(token)

    def use_token(self, token: Token | None) -> None:
        """Set the token for ``Authorization``."""
        self.token = token
        self.tokens = [v for v in (token, *self.headers.values()) if isinstance(v, Token)]

    def build_headers(self, refused: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the headers with their secrets; call it just before sending.

        Functions that return tokens are called here, which may send requests themselves.

        Parameters
        ----------
        refused
            The headers that the endpoint has refused, for which new tokens are made.
        """
        values: dict[str, str | Token] = dict(self.headers)
        if self.token is not None:
            values = {k: value for k, value in values.items() if k.lower() != "authorization"}
            values["Authorization"] = self.token
        before = refused or {}
        return {
            name: value.build_header(before.get(name)) if isinstance(value, Token) else value
            for name, value in values.items()
        }

    async def abuild_headers(self, refused: Mapping[str, str] | None = None) -> dict[str, str]:
        """Asynchronous version of :meth:`build_headers`: functions are called in a thread."""
        if not self.is_renewable:
            return self.build_headers(refused)
        return await asyncio.to_thread(self.build_headers, refused)

    @property
    def is_renewable(self) -> bool:
        """Whether a function returns one of the tokens."""
        return any(token.is_renewable for token in self.tokens)

    def redact(self, text: str) -> str:
        """Return `text` without any of the secrets."""
        for secret in (*self.tokens, *self.address_tokens):
            text = secret.redact(text)
        return text

    def redact_echoes(self, response: Response) -> Response:
        """Return a response without secrets in its headers, which an endpoint may repeat."""
        if not self.tokens:
            return response
        # One text of all new names and values: a search for each secret, not one for each header.
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

    def bind(self, url: str, uds: str | None = None) -> None:
        """Bind the secrets to `url`, or to it behind a Unix socket; hide those in the address too.

        Raises
        ------
        AuthError
            If it is plain http to another machine, or one of them belongs to another origin.
        """
        is_local = uds is not None or is_loopback(url)
        if self.tokens and urlsplit(url).scheme != "https" and not is_local:
            msg = (
                f"{strip_url(url)} does not use TLS, so the token would be sent unencrypted. "
                "Use https."
            )
            raise AuthError(msg)
        for token in self.tokens:
            bind_token(token, format_origin(url, uds))
        # Some services take their key in the address, which errors, logs and file names would show.
        queried = parse_qsl(urlsplit(url).query)
        self.address_tokens = [
            Token.from_header(value)
            for name, value in queried
            if len(value) >= MIN_SECRET_LENGTH
            and is_secret_name(name)
            and HEADER_VALUE.fullmatch(value)
        ]
        self.address_tokens += [
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
        A mapping of values by name; None for none. A value is text, a Token, or ``"env:NAME"``,
        ``"keyring:NAME"`` or ``"file:PATH"`` for the source of the whole value, or of the token
        after a scheme: ``"Bearer env:NAME"``.

    Raises
    ------
    TargetError
        If a name or a value is not valid; no value is shown.
    AuthError
        If a value can't be found where it should be, or a secret is given as text.
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
        msg = f"The header {name} is set by the client and cannot be overridden."
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
    subject = f"The header {sanitize_text(name, 40)!r}"
    if not isinstance(value, str):
        held = getattr(value, "token", None)  # of a TokenBox, None if it is empty
        if isinstance(held, Token):
            return held
        kind = type(value).__name__
        msg = f"{subject} has a value of type {kind}; give text, or for a secret {HEADER_SOURCES}."
        raise TargetError(msg)
    given, value = value.strip(), resolve_value(value.strip())
    if not HEADER_VALUE.fullmatch(value):
        msg = (
            f"{subject} contains a line break or another character that is not allowed in header "
            "values."
        )
        raise TargetError(msg)
    secret = given != value or is_secret_name(name) or has_secret(f"{name}: {value}")
    if not value or not secret:
        return value
    if not value.isascii():
        msg = f"{subject} must contain only ASCII characters."
        raise TargetError(msg)
    if given == value:  # text of a cell or program; not from one of the sources
        msg = (
            f"{subject} is a secret given as text; in a cell it would be saved with the notebook. "
            f"Give {HEADER_SOURCES}."
        )
        raise LiteralSecretError(msg)
    return record_source(Token.from_header(value), given)


def resolve_value(value: str) -> str:
    """Return the value at a source such as ``"env:NAME"``; other text unchanged.

    Raises
    ------
    AuthError
        If there is no value.
    """
    match = VALUE_SOURCE.fullmatch(value)
    if match is None:
        return value
    scheme, source = match[1] or "", match[2]
    word, _, name = source.partition(":")
    if not scheme and word == "env":  # the variable may hold a whole header, with spaces in it
        secret = os.environ.get(name.strip(), "").strip()
        if secret:
            return secret
    token = Token.from_source(source, scheme)
    return token.build_header() if token is not None else ""
