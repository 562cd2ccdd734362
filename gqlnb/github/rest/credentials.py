"""Who asks: programs by their API keys, counted and limited."""

from __future__ import annotations

import hmac
import threading
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from secrets import token_bytes, token_urlsafe
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from starlette.exceptions import HTTPException

from gqlnb.auth import ACCEPTED_SCHEMES, Token
from gqlnb.document.json_codec import dump_json, load_json
from gqlnb.errors import AuthError, ServerError, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "ANONYMOUS",
    "TOKEN_LIFETIME",
    "ApiCallers",
    "LoginTokens",
    "RateDecision",
    "Usage",
    "make_signing_key",
    "parse_secret",
    "parse_secrets",
]

ANONYMOUS = "anonymous"
WINDOW_SECONDS = 3600  # seconds; GitHub counts by the hour, too


class Usage(NamedTuple):
    """What one caller has asked so far.

    Attributes
    ----------
    requests
        Those that were let through.
    refused
        Those that were over the limit.
    """

    requests: int
    refused: int


class RateDecision(NamedTuple):
    """What the limit says to one request.

    Attributes
    ----------
    is_admitted
        Whether it is let through.
    remaining
        Requests left to the caller in this window; None without a limit.
    reset
        When the window ends, in seconds since 1970.
    wait
        Seconds until then.
    """

    is_admitted: bool
    remaining: int | None = None
    reset: int = 0
    wait: int = 0


@dataclass(slots=True)
class RequestCount:
    """The requests of one caller: in all, and in the window that is open."""

    requests: int = 0
    refused: int = 0
    used: int = 0
    ends: float = 0.0


class ApiCallers:
    """The programs that may ask, with their counts; safe to use from any thread.

    Parameters
    ----------
    keys
        The API key of each caller by its name; None lets everyone ask, as the one caller
        ``anonymous``.
    limit
        Requests a caller may send within an hour that begins with its first one; None for any
        number.
    clock
        The time in seconds since 1970.
    """

    def __init__(
        self, keys: Mapping[str, Token] | None, limit: int | None, clock: Callable[[], float]
    ) -> None:
        self._keys = keys
        self.limit = limit
        self._clock = clock
        self._lock = threading.Lock()
        self._counts = {name: RequestCount() for name in ([ANONYMOUS] if keys is None else keys)}

    @property
    def usage(self) -> dict[str, Usage]:
        """What each caller has asked so far."""
        with self._lock:
            return {name: Usage(it.requests, it.refused) for name, it in self._counts.items()}

    def find_name(self, key: str | None) -> str | None:
        """Return whose key it is, None if nobody's; every key is compared, in constant time."""
        if self._keys is None:
            return ANONYMOUS
        header = f"Bearer {key or ''}"
        found = [name for name, token in self._keys.items() if token.matches(header)]
        return found[0] if found else None

    def admit_request(self, name: str) -> RateDecision:
        """Count a request of a caller, and say whether the limit lets it through."""
        now = self._clock()
        with self._lock:
            count = self._counts[name]
            if now >= count.ends:
                count.used, count.ends = 0, now + WINDOW_SECONDS
            admitted = self.limit is None or count.used < self.limit
            count.used += admitted
            count.requests += admitted
            count.refused += not admitted
            if self.limit is None:
                return RateDecision(is_admitted=True)
            left = ceil(count.ends - now)
            return RateDecision(admitted, self.limit - count.used, ceil(count.ends), left)

    def __repr__(self) -> str:
        return f"<Callers: {', '.join(self._counts)}>"


def parse_secrets(sources: Mapping[str, Token | str], argument: str) -> dict[str, Token]:
    """Return secrets by name, from what `argument` was given.

    Raises
    ------
    AuthError
        If a source holds no secret, or is a literal one; the message says whose.
    ServerError
        If it is no mapping, holds nothing, or a name is none, or two differ in case alone.
    """
    given: Any = sources  # what a person wrote, whatever the signature says
    if not isinstance(given, Mapping) or not given:
        raise_secret_error(argument, f"got {'none' if given == {} else type(given).__name__}")
    found: dict[str, Token] = {}
    for name, source in given.items():
        if not isinstance(name, str) or not name.strip():
            raise_secret_error(argument, f"{sanitize_text(repr(name), 80)} is no name")
        if name.lower() in map(str.lower, found):
            raise_secret_error(
                argument, f"{sanitize_text(repr(name), 80)} stands there twice, in another case"
            )
        token = parse_secret(source, f"{argument}[{sanitize_text(repr(name), 80)}]")
        if token is None:
            raise_secret_error(argument, f"{sanitize_text(repr(name), 80)} has none")
        found[name] = token
    return found


def parse_secret(source: Token | str | None, place: str) -> Token | None:
    """Return the secret that a source means, None for none.

    Raises
    ------
    AuthError
        If it holds none, or is a literal one; the message says where it was given.
    """
    try:
        return Token.from_source(source)
    except AuthError as error:
        message = str(error)
    message = f"{place}: {message.replace('token= takes', 'it takes')}"
    raise AuthError(message)  # outside the block: without what was caught


def raise_secret_error(argument: str, what: str) -> NoReturn:
    """Raise the error that says what names and secrets are given as."""
    example = f"{argument}={{'me': 'env:NAME'}}"
    message = f"{argument}= takes a secret for each name, such as {example}; {what}."
    raise ServerError(message)


TOKEN_LIFETIME = 3600  # seconds a token is good for
# RFC 7518, 3.2: a key for HMAC-SHA256 has 256 bits at least, and a character may hold all of 8.
MIN_SECRET_LENGTH = 32
_TOKEN_VERSION = "v1"  # noqa: S105
# The signature is over this too, so that no other use of the secret makes a token.
_SIGNATURE_PURPOSE = b"gqlnb rest login "


class LoginTokens:
    """Who may log in, and who has.

    Parameters
    ----------
    users
        Passwords by login.
    secret
        What tokens are signed with.
    clock
        The time in seconds since 1970.
    """

    def __init__(
        self, users: Mapping[str, Token], secret: bytes, clock: Callable[[], float]
    ) -> None:
        self._users = {login.lower(): (login, password) for login, password in users.items()}
        self._secret = secret
        self._clock = clock
        # Compared with where the login is unknown, so that the time does not tell.
        self._nobody = ("", Token(token_urlsafe()))

    def issue_token(self, login: str, password: str) -> dict[str, Any]:
        """Return a token for who knows the password, as RFC 6749, 5.1 writes it.

        Raises
        ------
        HTTPException
            401, if login and password do not go together.
        """
        known, secret = self._users.get(login.lower(), self._nobody)
        if not secret.matches(f"Bearer {password}") or not known:
            raise_unauthorized("Login and password do not go together.")
        token = self._sign_claims({"login": known, "expires": int(self._clock()) + TOKEN_LIFETIME})
        return {
            "token": token,
            "token_type": "Bearer",
            "expires_in": TOKEN_LIFETIME,
            "login": known,
        }

    def find_login(self, header: str | None) -> str:
        """Return the login that an ``Authorization`` header stands for.

        Raises
        ------
        HTTPException
            401, if it is missing, not ours, or expired.
        """
        if not header:
            raise_unauthorized("Log in first: POST /login, then send Authorization: Bearer ...")
        word, _, token = header.strip().partition(" ")
        claims = self._verify_claims(token.strip()) if word.lower() in ACCEPTED_SCHEMES else None
        if claims is None or claims["login"].lower() not in self._users:
            raise_unauthorized("Bad credentials")
        if claims["expires"] <= self._clock():
            raise_unauthorized("The token has expired. Log in again: POST /login.")
        return str(claims["login"])

    def _sign_claims(self, claims: dict[str, Any]) -> str:
        text = f"{_TOKEN_VERSION}.{encode_base64(dump_json(claims))}"
        return f"{text}.{self._compute_signature(text)}"

    def _verify_claims(self, token: str) -> dict[str, Any] | None:
        """Return what a token says, None if it was not signed here."""
        text, _, signature = token.rpartition(".")
        # The text of the signature is compared, so that a token can be written in one way only.
        if not hmac.compare_digest(signature.encode(), self._compute_signature(text).encode()):
            return None
        version, _, claims = text.partition(".")
        return load_json(decode_base64(claims)) if version == _TOKEN_VERSION else None

    def _compute_signature(self, text: str) -> str:
        return encode_base64(
            hmac.digest(self._secret, _SIGNATURE_PURPOSE + text.encode(), "sha256")
        )

    def __repr__(self) -> str:
        return f"<Logins: {len(self._users)}>"


def encode_base64(data: bytes) -> str:
    """Return bytes in URL-safe base64 without padding."""
    return urlsafe_b64encode(data).decode().rstrip("=")


def decode_base64(text: str) -> bytes:
    """Return the bytes that :func:`encode_base64` wrote."""
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def raise_unauthorized(message: str) -> NoReturn:
    """Refuse who is not logged in."""
    raise HTTPException(401, message, {"www-authenticate": "Bearer"})


def make_signing_key(secret: Token | str | None) -> bytes:
    """Return the bytes to sign with: a secret's, or new ones that nobody knows.

    Raises
    ------
    AuthError
        If the source holds no secret.
    ServerError
        If it is short enough to be found by trying.
    """
    token = parse_secret(secret, "secret")
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
