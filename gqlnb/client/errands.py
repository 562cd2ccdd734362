"""What a client does for whoever asks a lot: in turn, with patience, and from other processes."""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import inf
from typing import TYPE_CHECKING, Any, Self

from gqlnb.client import connections
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

    from graphql import GraphQLSchema

    from gqlnb.client.client import Client
    from gqlnb.client.recordings import Recording
    from gqlnb.client.schemas import Schemas
    from gqlnb.errors import TransportError
    from gqlnb.model.limits import Limits

__all__ = ["Errands", "Recipe"]

RECORDED = "it records, or replays what was recorded. Ask without a recording."
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

    def options(self) -> dict[str, Any]:
        """Return the options of the client; none where its connection says them.

        Raises
        ------
        AuthError
            If the token is not to be found here.
        """
        if "://" not in self.target:
            return {}
        return {
            "token": None if self.token is None else Token.of(self.token[0], self.token[1]),
            "headers": dict(self.headers) or None,
            "timeout": self.timeout,
            "limits": self.limits,
            "verify": self.verify,
        }


@lru_cache(CLIENTS_KEPT)
def _opened(recipe: Recipe, make: Callable[..., Client], _process: int) -> Client:
    return make(recipe.target, **recipe.options())


def rebuild(
    make: Callable[..., Client], recipe: Recipe, name: str | None, extras: Mapping[str, Any]
) -> Client:
    """Return the client of a pickle.

    Parameters
    ----------
    make
        The class.
    recipe
        Its address or connection, and its options.
    name
        The name of its connection, by which recordings know it; None for none.
    extras
        Its recording and its schema, where it has them.

    Raises
    ------
    AuthError
        If its token is not to be found in this process.
    """
    made = make(recipe.target, **recipe.options(), **extras)
    made.name = name
    return made


def portable_schema(given: Any, known: GraphQLSchema | None) -> Any:
    """Return a schema that was given to a client in a form that can be pickled."""
    if isinstance(given, (str, os.PathLike, dict)) or known is None:
        return given
    from graphql import print_schema

    return print_schema(known)


class Errands(Part):
    """Asking a lot; it is a part of :class:`gqlnb.Client`."""

    name: str | None
    is_by_name: bool
    _recording: Recording | None
    _verify: Any
    _given_schema: Any
    _schemas: Schemas

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
        return attempts.run(
            lambda until: self._attempt(replace(request, until=until), asked),
            partial(self._pace.turn, wait=inf if patience is None else patience),
            over,
        )

    def recipe(self) -> Recipe:
        """Return how another process makes this client.

        Raises
        ------
        TargetError
            If none can: it asks something of this process, or has a secret that was given by value,
            which stays in this process.
        """
        fault = RECORDED if active(self._recording) is not None else self._rooted()
        if fault:
            msg = f"This client cannot be made in another process: {fault}"
            raise TargetError(msg)
        return self._recipe()

    def _recipe(self) -> Recipe:
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
            self._verify if isinstance(self._verify, (bool, type(None))) else str(self._verify),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # All of the options travel, or pickling is refused: a client that lost its token, its
        # timeout or its CA bundle on the way would fail, or trust others, far from here.
        extras: dict[str, Any] = {}
        if self._recording is not None:
            extras["recording"] = self._recording
        if self._given_schema is not None:
            extras["schema"] = portable_schema(self._given_schema, self._schemas.known)
        name = self.name
        if name is not None and self.is_by_name and connections.is_shared(name):
            return rebuild, (type(self), Recipe(name), name, extras)
        fault = self._rooted()
        if isinstance(self._transport, InProcess):
            fault = f"{self.source} is in this process. Serve it, and ask its address."
        if fault:
            msg = f"This client cannot be pickled: {fault}"
            raise TypeError(msg)
        return rebuild, (type(self), self._recipe(), name, extras)

    def __copy__(self) -> Self:
        # Within this process nothing needs to be left behind: a copy shares secrets, schema and
        # connections with the client it is of.
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __deepcopy__(self, memo: object) -> Self:
        return self.__copy__()

    def _rooted(self) -> str | None:
        """Say what keeps it in this process; None if nothing does."""
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
