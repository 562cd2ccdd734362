"""What a client does for whoever asks a lot: in turn, with patience, and from other processes."""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import inf
from typing import TYPE_CHECKING, Any, Self

from gqlnb.auth import Token
from gqlnb.client import connections
from gqlnb.client.client_base import ClientBase
from gqlnb.client.http_transport import HttpTransport
from gqlnb.client.recording.session import get_active_recording
from gqlnb.client.retry_loop import RetryLoop
from gqlnb.client.transports import InProcessTransport
from gqlnb.errors import TargetError
from gqlnb.result.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from graphql import GraphQLSchema

    from gqlnb.client.client import Client
    from gqlnb.client.recording.session import Recording
    from gqlnb.client.schema_store import SchemaStore
    from gqlnb.document.limits import Limits
    from gqlnb.errors import TransportError

__all__ = ["ClientRecipe", "RecipeMixin"]

RECORDING_FAULT = "it records, or replays what was recorded. Ask without a recording."
MAX_CLIENTS = 8  # made from recipes, per process; a harvest has one


@dataclass(frozen=True, slots=True)
class ClientRecipe:
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

    def open_client(self, make: Callable[..., Client]) -> Client:
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
        return _open_cached(self, make, os.getpid())

    def resolve_options(self) -> dict[str, Any]:
        """Return the options of the client; none where its connection says them.

        Raises
        ------
        AuthError
            If the token is not to be found here.
        """
        if "://" not in self.target:
            return {}
        return {
            "token": None
            if self.token is None
            else Token.from_source(self.token[0], self.token[1]),
            "headers": dict(self.headers) or None,
            "timeout": self.timeout,
            "limits": self.limits,
            "verify": self.verify,
        }


@lru_cache(MAX_CLIENTS)
def _open_cached(recipe: ClientRecipe, make: Callable[..., Client], _process: int) -> Client:
    return make(recipe.target, **recipe.resolve_options())


def rebuild_client(
    make: Callable[..., Client], recipe: ClientRecipe, name: str | None, extras: Mapping[str, Any]
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
    made = make(recipe.target, **recipe.resolve_options(), **extras)
    made.name = name
    return made


def export_schema(given: Any, known: GraphQLSchema | None) -> Any:
    """Return a schema that was given to a client in a form that can be pickled."""
    if isinstance(given, (str, os.PathLike, dict)) or known is None:
        return given
    from graphql import print_schema

    return print_schema(known)


class RecipeMixin(ClientBase):
    """Asking a lot; it is a part of :class:`gqlnb.Client`."""

    name: str | None
    is_by_name: bool
    _recording: Recording | None
    _verify: Any
    _explicit_schema: Any
    _schema_store: SchemaStore

    @property
    def concurrency(self) -> int:
        """How many requests may be on their way at once: one, before an endpoint has answered.

        It changes with what the endpoint says; GitHub takes one at a time.
        """
        return self._rate_limiter.concurrency

    def execute_in_turn(
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
        request, asked = self._prepare_request(text, variables, operation)
        patience = self._limits.wait if wait is None else wait
        attempts = RetryLoop(asked.document.kind, self.source, self._timeout, patience)
        return attempts.run(
            lambda until: self._send_once(replace(request, deadline=until), asked),
            partial(self._rate_limiter.queue_request, wait=inf if patience is None else patience),
            over,
        )

    def make_recipe(self) -> ClientRecipe:
        """Return how another process makes this client.

        Raises
        ------
        TargetError
            If none can: it asks something of this process, or has a secret that was given by value,
            which stays in this process.
        """
        fault = (
            RECORDING_FAULT
            if get_active_recording(self._recording) is not None
            else self._find_local_dependency()
        )
        if fault:
            msg = f"This client cannot be made in another process: {fault}"
            raise TargetError(msg)
        return self._build_recipe()

    def _build_recipe(self) -> ClientRecipe:
        through = self._transport
        if not isinstance(through, HttpTransport):
            return ClientRecipe(str(self.name))
        token = self._credentials.token
        return ClientRecipe(
            through.url,
            None if token is None else (str(token.where), token.scheme),
            tuple(
                (name, str(value.where) if isinstance(value, Token) else value)
                for name, value in self._credentials.headers.items()
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
        if self._explicit_schema is not None:
            extras["schema"] = export_schema(self._explicit_schema, self._schema_store.schema)
        name = self.name
        if name is not None and self.is_by_name and connections.is_shared(name):
            return rebuild_client, (type(self), ClientRecipe(name), name, extras)
        fault = self._find_local_dependency()
        if isinstance(self._transport, InProcessTransport):
            fault = f"{self.source} is in this process. Serve it, and ask its address."
        if fault:
            msg = f"This client cannot be pickled: {fault}"
            raise TypeError(msg)
        return rebuild_client, (type(self), self._build_recipe(), name, extras)

    def __copy__(self) -> Self:
        # Within this process nothing needs to be left behind: a copy shares secrets, schema and
        # connections with the client it is of.
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __deepcopy__(self, memo: object) -> Self:
        return self.__copy__()

    def _find_local_dependency(self) -> str | None:
        """Say what keeps it in this process; None if nothing does."""
        if isinstance(self._transport, InProcessTransport) and self.name is not None:
            return None
        if not isinstance(self._transport, HttpTransport):
            return f"{self.source} is in this process. Serve it, and ask its address."
        if isinstance(self._verify, ssl.SSLContext):
            return "its verify= is an SSLContext of this process. Give the path of a CA bundle."
        given = [each for each in self._credentials.list_tokens() if each.where is None]
        if given or self._credentials.has_address_secrets:
            return (
                "it has a secret that was given by value, which stays here. Name where each "
                "process finds it: token='env:NAME', 'keyring:NAME' or 'file:PATH', or "
                "headers={'X-Api-Key': 'env:NAME'}."
            )
        return None
