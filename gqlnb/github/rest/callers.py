"""Who asks: programs by their API keys, counted and limited."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from gqlnb.errors import AuthError, ServerError, plain
from gqlnb.token import Token

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ANONYMOUS", "Callers", "Ticket", "Usage", "secret_of", "tokens"]

ANONYMOUS = "anonymous"
WINDOW = 3600  # seconds; GitHub counts by the hour, too


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


class Ticket(NamedTuple):
    """What the limit says to one request.

    Attributes
    ----------
    admitted
        Whether it is let through.
    remaining
        Requests left to the caller in this window; None without a limit.
    reset
        When the window ends, in seconds since 1970.
    wait
        Seconds until then.
    """

    admitted: bool
    remaining: int | None = None
    reset: int = 0
    wait: int = 0


@dataclass(slots=True)
class Count:
    """The requests of one caller: in all, and in the window that is open."""

    requests: int = 0
    refused: int = 0
    used: int = 0
    ends: float = 0.0


class Callers:
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
        self._counts = {name: Count() for name in ([ANONYMOUS] if keys is None else keys)}

    @property
    def usage(self) -> dict[str, Usage]:
        """What each caller has asked so far."""
        with self._lock:
            return {name: Usage(it.requests, it.refused) for name, it in self._counts.items()}

    def name(self, key: str | None) -> str | None:
        """Return whose key it is, None if nobody's; every key is compared, in constant time."""
        if self._keys is None:
            return ANONYMOUS
        header = f"Bearer {key or ''}"
        found = [name for name, token in self._keys.items() if token.matches(header)]
        return found[0] if found else None

    def admit(self, name: str) -> Ticket:
        """Count a request of a caller, and say whether the limit lets it through."""
        now = self._clock()
        with self._lock:
            count = self._counts[name]
            if now >= count.ends:
                count.used, count.ends = 0, now + WINDOW
            admitted = self.limit is None or count.used < self.limit
            count.used += admitted
            count.requests += admitted
            count.refused += not admitted
            if self.limit is None:
                return Ticket(admitted=True)
            left = ceil(count.ends - now)
            return Ticket(admitted, self.limit - count.used, ceil(count.ends), left)

    def __repr__(self) -> str:
        return f"<Callers: {', '.join(self._counts)}>"


def tokens(sources: Mapping[str, Token | str], argument: str) -> dict[str, Token]:
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
        wrong(argument, f"got {'none' if given == {} else type(given).__name__}")
    found: dict[str, Token] = {}
    for name, source in given.items():
        if not isinstance(name, str) or not name.strip():
            wrong(argument, f"{plain(repr(name), 80)} is no name")
        if name.lower() in map(str.lower, found):
            wrong(argument, f"{plain(repr(name), 80)} stands there twice, in another case")
        token = secret_of(source, f"{argument}[{plain(repr(name), 80)}]")
        if token is None:
            wrong(argument, f"{plain(repr(name), 80)} has none")
        found[name] = token
    return found


def secret_of(source: Token | str | None, place: str) -> Token | None:
    """Return the secret that a source means, None for none.

    Raises
    ------
    AuthError
        If it holds none, or is a literal one; the message says where it was given.
    """
    try:
        return Token.of(source)
    except AuthError as error:
        message = str(error)
    message = f"{place}: {message.replace('token= takes', 'it takes')}"
    raise AuthError(message)  # outside the block: without what was caught


def wrong(argument: str, what: str) -> NoReturn:
    """Raise the error that says what names and secrets are given as."""
    example = f"{argument}={{'me': 'env:NAME'}}"
    message = f"{argument}= takes a secret for each name, such as {example}; {what}."
    raise ServerError(message)
