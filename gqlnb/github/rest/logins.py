"""Logins: a password gives a token, and the token holds all that there is to know of it.

A token is ``v1.<claims>.<signature>``: who and until when, as JSON in base64, and the HMAC-SHA256
of what stands before. Whoever has the secret can check it; nothing is kept between requests.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from secrets import token_bytes, token_urlsafe
from typing import TYPE_CHECKING, Any, NoReturn

from starlette.exceptions import HTTPException

from gqlnb.errors import ServerError
from gqlnb.github.rest.callers import secret_of
from gqlnb.token import SCHEMES, Token
from gqlnb.wire.json import dump, load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["LIFETIME", "Logins", "signing_key"]

LIFETIME = 3600  # seconds a token is good for
# RFC 7518, 3.2: a key for HMAC-SHA256 has 256 bits at least, and a character may hold all of 8.
SHORTEST_SECRET = 32
_VERSION = "v1"
# The signature is over this too, so that no other use of the secret makes a token.
_PURPOSE = b"gqlnb rest login "


class Logins:
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

    def open(self, login: str, password: str) -> dict[str, Any]:
        """Return a token for who knows the password, as RFC 6749, 5.1 writes it.

        Raises
        ------
        HTTPException
            401, if login and password do not go together.
        """
        known, secret = self._users.get(login.lower(), self._nobody)
        if not secret.matches(f"Bearer {password}") or not known:
            unauthorized("Login and password do not go together.")
        token = self._signed({"login": known, "expires": int(self._clock()) + LIFETIME})
        return {"token": token, "token_type": "Bearer", "expires_in": LIFETIME, "login": known}

    def who(self, header: str | None) -> str:
        """Return the login that an ``Authorization`` header stands for.

        Raises
        ------
        HTTPException
            401, if it is missing, not ours, or expired.
        """
        if not header:
            unauthorized("Log in first: POST /login, then send Authorization: Bearer ...")
        word, _, token = header.strip().partition(" ")
        claims = self._claims(token.strip()) if word.lower() in SCHEMES else None
        if claims is None or claims["login"].lower() not in self._users:
            unauthorized("Bad credentials")
        if claims["expires"] <= self._clock():
            unauthorized("The token has expired. Log in again: POST /login.")
        return str(claims["login"])

    def _signed(self, claims: dict[str, Any]) -> str:
        text = f"{_VERSION}.{encode(dump(claims))}"
        return f"{text}.{self._signature(text)}"

    def _claims(self, token: str) -> dict[str, Any] | None:
        """Return what a token says, None if it was not signed here."""
        text, _, signature = token.rpartition(".")
        # The text of the signature is compared, so that a token can be written in one way only.
        if not hmac.compare_digest(signature.encode(), self._signature(text).encode()):
            return None
        version, _, claims = text.partition(".")
        return load(decode(claims)) if version == _VERSION else None

    def _signature(self, text: str) -> str:
        return encode(hmac.digest(self._secret, _PURPOSE + text.encode(), "sha256"))

    def __repr__(self) -> str:
        return f"<Logins: {len(self._users)}>"


def encode(data: bytes) -> str:
    """Return bytes in URL-safe base64 without padding."""
    return urlsafe_b64encode(data).decode().rstrip("=")


def decode(text: str) -> bytes:
    """Return the bytes that :func:`encode` wrote."""
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def unauthorized(message: str) -> NoReturn:
    """Refuse who is not logged in."""
    raise HTTPException(401, message, {"www-authenticate": "Bearer"})


def signing_key(secret: Token | str | None) -> bytes:
    """Return the bytes to sign with: a secret's, or new ones that nobody knows.

    Raises
    ------
    AuthError
        If the source holds no secret.
    ServerError
        If it is short enough to be found by trying.
    """
    token = secret_of(secret, "secret")
    if token is None:
        return token_bytes(SHORTEST_SECRET)
    value = token.header().rpartition(" ")[2].encode()
    if len(value) < SHORTEST_SECRET:
        message = (
            f"secret= signs the tokens, so it needs {SHORTEST_SECRET} characters or more; "
            "python -c 'import secrets; print(secrets.token_urlsafe())' makes one."
        )
        raise ServerError(message)
    return value
