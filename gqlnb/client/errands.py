"""What a client does for whoever asks a lot: in turn, with patience, and from other processes."""

from __future__ import annotations

import os
import ssl
import time
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

from gqlnb.client.attempts import Attempts
from gqlnb.client.http import Http
from gqlnb.client.part import Part
from gqlnb.client.recordings import active
from gqlnb.client.transports import InProcess
from gqlnb.errors import TargetError
from gqlnb.model.result import Result
from gqlnb.token import Token

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gqlnb.client.client import Client
    from gqlnb.client.recordings import Recording
    from gqlnb.errors import TransportError
    from gqlnb.model.limits import Limits

__all__ = ["Errands", "Recipe"]

CLIENTS_KEPT = 8  # made from recipes, per process; a harvest has one


@dataclass(frozen=True, slots=True)
class Recipe:
    """How another process makes the same client; it can be pickled, and holds no secret.

    Attributes
    ----------
    target
        An address, or the name of a connection that every process has.
    token
        Where the token is, such as ``"env:NAME"``, and its scheme; None for no token.
    headers
        Names and values, the secret ones as where they are.
    timeout, limits, verify
        As for :class:`gqlnb.Client`.
    """

    target: str
    token: tuple[str, str] | None = None
    headers: tuple[tuple[str, str], ...] = ()
    timeout: float = 60.0
    limits: Limits | None = None
    verify: bool | str | None = None

    def open(self, make: Callable[..., Client]) -> Client:
        """Return the client, in one process the same one each time.

        Parameters
        ----------
        make
            Called with target and options, as :func:`gqlnb.connect` is.

        Raises
        ------
        AuthError
            If the token is not to be found here.
        """
        return _opened(self, make, os.getpid())


@lru_cache(CLIENTS_KEPT)
def _opened(recipe: Recipe, make: Callable[..., Client], _process: int) -> Client:
    if "://" not in recipe.target:
        return make(recipe.target)
    token = None if recipe.token is None else Token.of(recipe.token[0], recipe.token[1])
    options = {"timeout": recipe.timeout, "limits": recipe.limits, "verify": recipe.verify}
    return make(recipe.target, token=token, headers=dict(recipe.headers) or None, **options)


class Errands(Part):
    """Asking a lot; it is a part of :class:`gqlnb.Client`."""

    name: str | None
    _recording: Recording | None
    _verify: Any

    @property
    def width(self) -> int:
        """How many requests may be on their way at once: one, before an endpoint has answered.

        It changes with what the endpoint says; GitHub takes one at a time.
        """
        return self._pace.width

    def in_turn(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        wait: float | None = None,
        over: Callable[[TransportError], bool] | None = None,
    ) -> Result:
        """Execute a query as :meth:`execute` does, in turn with all who share its budget.

        Parameters
        ----------
        text, variables, operation
            As for :meth:`execute`.
        wait
            Seconds that may be waited because the endpoint asks to; None for what the client's
            limits say.
        over
            Tells which failures not to ask again after, although that might help.

        Raises
        ------
        GqlnbError
            As :meth:`execute` does.
        """
        request, asked = self._ask(text, variables, operation)
        patience = self._limits.wait if wait is None else wait
        attempts = Attempts(asked.document.kind, self.source, self._timeout, patience)
        while True:
            begun = monotonic()
            with self._pace.turn(wait=inf if patience is None else patience):
                attempts.until += monotonic() - begun
                outcome = self._attempt(replace(request, until=attempts.until), asked)
            if isinstance(outcome, Result):
                return outcome
            if over is not None and over(outcome):
                raise outcome
            time.sleep(attempts.pause(outcome))

    def recipe(self) -> Recipe:
        """Return how another process makes this client.

        Raises
        ------
        TargetError
            If none can: it asks something of this process, or has a secret that was given by value,
            which stays in this process.
        """
        fault = self._rooted()
        if fault:
            msg = f"This client cannot be made in another process: {fault}"
            raise TargetError(msg)
        through = self._transport
        if not isinstance(through, Http):
            return Recipe(str(self.name))
        token = self._secrets.token
        return Recipe(
            through.url,
            None if token is None else (str(token.where), token.scheme),
            tuple(
                (name, str(value.where) if isinstance(value, Token) else value)
                for name, value in self._secrets.headers.items()
            ),
            self._timeout,
            self._limits,
            self._verify,
        )

    def _rooted(self) -> str | None:
        """Say what keeps it in this process; None if nothing does."""
        if active(self._recording) is not None:
            return "it records, or replays what was recorded. Ask without a recording."
        if isinstance(self._transport, InProcess) and self.name is not None:
            return None
        if not isinstance(self._transport, Http):
            return f"{self.source} is in this process. Serve it, and ask its address."
        if isinstance(self._verify, ssl.SSLContext):
            return "its verify= is an SSLContext of this process. Give the path of a CA bundle."
        given = [each for each in self._secrets.tokens() if each.where is None]
        if given or self._secrets.queried:
            return (
                "it has a secret that was given by value, which stays here. Name where each "
                "process finds it: token='env:NAME', 'keyring:NAME' or 'file:PATH', or "
                "headers={'X-Api-Key': 'env:NAME'}."
            )
        return None
