"""API keys with their rate limits, and logins by signed tokens."""

from __future__ import annotations

import hmac
import threading
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from secrets import token_bytes
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from starlette.exceptions import HTTPException

from gqlnb.auth import ACCEPTED_SCHEMES, Token
from gqlnb.document.json_codec import dump_json, load_json
from gqlnb.errors import AuthError, ServerError, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "ANONYMOUS",
    "TOKEN_LIFETIME",
    "WINDOW_SECONDS",
    "ApiCallers",
    "LoginTokens",
    "RateDecision",
    "Usage",
    "make_signing_key",
    "parse_secrets",
]

ANONYMOUS = "anonymous"
WINDOW_SECONDS = 3600  # seconds; GitHub counts by the hour, too
TOKEN_LIFETIME = 3600  # seconds a login token is valid
# RFC 7518, 3.2: a key for HMAC-SHA256 has 256 bits at least, and a character may hold all of 8.
MIN_SECRET_LENGTH = 32


class Usage(NamedTuple):
    """The requests of one caller.

    Attributes
    ----------
    requests
        The admitted ones.
    refused
        Those over the limit.
    """

    requests: int
    refused: int


class RateDecision(NamedTuple):
    """Whether a request is admitted, and the state of its caller's window.

    Attributes
    ----------
    is_admitted
        Whether the request is within the limit.
    remaining
        Requests left in this window; None without a limit.
    reset
        The end of the window, in seconds since 1970.
    wait
        Seconds until then.
    """

    is_admitted: bool
    remaining: int | None = None
    reset: int = 0
    wait: int = 0


@dataclass(slots=True)
class _Counter:
    requests: int = 0
    refused: int = 0
    used: int = 0
    window_end: float = 0.0


class ApiCallers:
    """The callers by their API keys, with their request counts; safe to use from any thread.

    Parameters
    ----------
    keys
        The key of each caller by name; None asks for no key and counts everybody as ``anonymous``.
    limit
        Requests of one caller in an hour that begins with its first one; None for no limit.
    clock
        The time in seconds since 1970.
    """

    def __init__(
        self, keys: Mapping[str, Token] | None, limit: int | None, clock: Callable[[], float]
    ) -> None:
        self.limit = limit
        self._keys = keys
        self._clock = clock
        self._lock = threading.Lock()
        self._counters = {name: _Counter() for name in ([ANONYMOUS] if keys is None else keys)}

    @property
    def usage(self) -> dict[str, Usage]:
        """The admitted and refused requests of each caller."""
        with self._lock:
            return {name: Usage(it.requests, it.refused) for name, it in self._counters.items()}

    def find_name(self, key: str | None) -> str | None:
        """Return the caller of a key, or None."""
        if self._keys is None:
            return ANONYMOUS
        header = f"Bearer {key or ''}"  # Token.matches compares headers, in constant time
        return next((name for name, token in self._keys.items() if token.matches(header)), None)

    def admit_request(self, name: str) -> RateDecision:
        """Count a request of a caller and decide whether it is within the limit."""
        now = self._clock()
        with self._lock:
            counter = self._counters[name]
            # A fixed window, as GitHub has: it begins with the first request after the last one.
            if now >= counter.window_end:
                counter.used, counter.window_end = 0, now + WINDOW_SECONDS
            is_admitted = self.limit is None or counter.used < self.limit
            counter.used += is_admitted
            counter.requests += is_admitted
            counter.refused += not is_admitted
            if self.limit is None:
                return RateDecision(is_admitted=True)
            end = counter.window_end
            return RateDecision(is_admitted, self.limit - counter.used, ceil(end), ceil(end - now))


class LoginTokens:
    """Issues and verifies signed tokens, so that the service stores no sessions.

    Parameters
    ----------
    users
        Passwords by login.
    secret
        The signing key.
    clock
        The time in seconds since 1970.
    """

    def __init__(
        self, users: Mapping[str, Token], secret: bytes, clock: Callable[[], float]
    ) -> None:
        self._users = {login.lower(): (login, password) for login, password in users.items()}
        self._secret = secret
        self._clock = clock

    def issue_token(self, login: str, password: str) -> dict[str, object]:
        """Return a token in the form of RFC 6749, 5.1.

        Raises
        ------
        HTTPException
            401, if login and password do not go together.
        """
        name, expected = self._users.get(login.lower(), ("", None))
        if expected is None or not expected.matches(f"Bearer {password}"):
            _raise_unauthorized("Login and password do not go together.")
        claims = dump_json({"login": name, "expires": int(self._clock()) + TOKEN_LIFETIME})
        payload = urlsafe_b64encode(claims).decode().rstrip("=")
        return {
            "token": f"{payload}.{self._sign(payload)}",
            "token_type": "Bearer",
            "expires_in": TOKEN_LIFETIME,
            "login": name,
        }

    def find_login(self, header: str | None) -> str:
        """Return the login of an ``Authorization`` header.

        Raises
        ------
        HTTPException
            401, if it is missing, not issued here, or expired.
        """
        if not header:
            message = "Log in first: POST /login, then send Authorization: Bearer ..."
            _raise_unauthorized(message)
        scheme, _, token = header.strip().partition(" ")
        payload, _, signature = token.strip().partition(".")
        # The signature is compared before anything is decoded: a forged payload is never parsed.
        if scheme.lower() not in ACCEPTED_SCHEMES or not hmac.compare_digest(
            signature.encode(), self._sign(payload).encode()
        ):
            _raise_unauthorized("Bad credentials")
        claims = load_json(urlsafe_b64decode(payload + "=="))  # surplus padding is ignored
        if claims["login"].lower() not in self._users:
            _raise_unauthorized("Bad credentials")
        if claims["expires"] <= self._clock():
            message = "The token has expired. Log in again: POST /login."
            _raise_unauthorized(message)
        return str(claims["login"])

    def _sign(self, payload: str) -> str:
        # With a purpose in the signed text, another use of the same secret cannot make a token.
        return hmac.digest(self._secret, f"gqlnb rest login {payload}".encode(), "sha256").hex()


def _raise_unauthorized(message: str) -> NoReturn:
    raise HTTPException(401, message, {"www-authenticate": "Bearer"})


def parse_secrets(sources: object, argument: str) -> dict[str, Token]:
    """Return secrets by name.

    Raises
    ------
    AuthError
        If a source is a literal secret or holds none; the message names it.
    ServerError
        If `sources` is not a mapping from names, or is empty.
    """
    problem = None
    secrets: dict[str, Token] = {}
    if not isinstance(sources, Mapping) or not sources:
        problem = f"got {'{}' if sources == {} else type(sources).__name__}"
    else:
        for name, source in sources.items():
            token = _parse_secret(source, f"{argument}[{sanitize_text(repr(name), 80)}]")
            if not isinstance(name, str) or not name.strip():
                problem = f"{sanitize_text(repr(name), 80)} is not a name"
            elif token is None:
                problem = f"{sanitize_text(repr(name), 80)} has no secret"
            else:
                secrets[name] = token
    if problem:
        example = f"{argument}={{'me': 'env:NAME'}}"
        message = f"{argument}= takes a secret for each name, such as {example}; {problem}."
        raise ServerError(message)
    return secrets


def make_signing_key(secret: Token | str | None) -> bytes:
    """Return the signing key: of a secret, or a random one for None.

    Raises
    ------
    AuthError
        If the source holds no secret.
    ServerError
        If the secret is too short.
    """
    token = _parse_secret(secret, "secret")
    if token is None:
        return token_bytes(MIN_SECRET_LENGTH)
    value = token.build_header().rpartition(" ")[2].encode()
    if len(value) < MIN_SECRET_LENGTH:
        message = (
            f"secret= signs the tokens, so it needs {MIN_SECRET_LENGTH} characters or more; "
            "python -c 'import secrets; print(secrets.token_urlsafe())' makes one."
        )
        raise ServerError(message)
    return value


def _parse_secret(source: object, place: str) -> Token | None:
    try:
        return Token.from_source(source)
    except AuthError as error:
        message = f"{place}: {str(error).replace('token= takes', 'it takes')}"
    raise AuthError(message)  # outside the block, so that nothing is chained to it
