"""What a client does with the schema of its endpoint."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from gqlnb.client.http import Http
from gqlnb.client.introspection import IntrospectionReader
from gqlnb.client.part import Part
from gqlnb.client.recordings import active
from gqlnb.client.schemas import Endpoint, Schemas
from gqlnb.client.transports import Asgi, InProcess
from gqlnb.errors import (
    AnswerError,
    GqlnbError,
    QueryError,
    SchemaError,
    TransportError,
    plain,
)
from gqlnb.model.document import Document
from gqlnb.model.result import Result
from gqlnb.model.variables import depends_on_types
from gqlnb.wire.answers import Asked, read
from gqlnb.wire.request import Request

if TYPE_CHECKING:
    from graphql import GraphQLSchema

    from gqlnb.client.drift import SchemaChanges
    from gqlnb.client.recordings import Recording
    from gqlnb.model.learning import Learn

__all__ = ["Schemed"]

T = TypeVar("T")
_LOG = logging.getLogger("gqlnb")


class Schemed(Part):
    """What a client knows of its endpoint's schema; it is a part of :class:`gqlnb.Client`."""

    _schemas: Schemas
    _left = False  # closed, and not used since
    _recording: Recording | None
    _recorded_with: Recording | None = None  # the recording that its schema was loaded through

    @property
    def schema(self) -> GraphQLSchema:
        """The schema of the endpoint: as given, kept from a few days ago, or asked for, once.

        One that is kept on this machine is used for seven days, and later too where the endpoint
        can't be reached, which a warning says with its age; before a document is called wrong
        because of it, the endpoint is asked again. Kept are the schemas of other machines, without
        any secret; with ``GQLNB_CACHE=1`` in the environment those of this machine too, with
        ``GQLNB_CACHE=0`` none. The endpoint is asked for all that introspection has, and for less
        where it refuses, four times at most.

        Raises
        ------
        SchemaError
            If the endpoint does not tell its schema, or described none. Documents are then sent
            without being checked; ``Client(..., schema=...)`` takes one from elsewhere.
        TransportError, AuthError, AnswerError
            If the endpoint gave no usable answer, and no schema is kept.
        """
        self._load_recorded_schema()
        return self._schemas.get(self._endpoint())

    def peek_schema(self) -> GraphQLSchema | None:
        """Return the schema if it is known by now, else None; this never waits and never fails.

        The first call begins to load it in a background thread, by one request per step, without
        another attempt. What goes wrong there is said when :attr:`schema` is asked for. A function
        that gives a token is called in that thread. With a recording nothing is loaded: what is
        recorded would depend on who was quicker.
        """
        if self._road is not self._transport:
            return self._schemas.known
        return self._schemas.peek(self._endpoint(quiet=True))

    def refresh_schema(self) -> GraphQLSchema:
        """Ask the endpoint for its schema anew, keep it, and return it.

        Raises
        ------
        SchemaError, TransportError, AuthError, AnswerError
            If it gave none; the schema that was known stays.
        """
        if isinstance(self._transport, InProcess):
            return self._transport.schema.graphql
        return self._schemas.refresh(self._endpoint())

    @property
    def schema_notes(self) -> tuple[str, ...]:
        """What is to be known about the schema, a sentence each; empty while it is not loaded.

        How old it is where it was kept, what the endpoint does not tell, and mistakes in SDL that
        were passed over.
        """
        return self._schemas.notes

    def schema_changes(self, since: Any = None, *, documents: Iterable[str] = ()) -> SchemaChanges:
        """Ask for the schema anew, and return what in it may break queries.

        Parameters
        ----------
        since
            What to compare with, in any form that ``schema=`` of :class:`gqlnb.Client` has; None
            for the schema that this session began with: as given, as it was kept on this machine,
            or as it was first asked for.
        documents
            Texts to look for beside those that this client has asked: saved queries, say.

        Returns
        -------
        SchemaChanges
            Breaking and dangerous changes, those first that touch what was asked.

        Raises
        ------
        SchemaError, TransportError, AuthError, AnswerError
            If the endpoint gave no schema, or `since` is none.
        """
        return self._schemas.changes(self._endpoint(), since, documents)

    @property
    def _schema(self) -> GraphQLSchema | None:
        """The schema if it is known."""
        return self._schemas.known

    @_schema.setter
    def _schema(self, schema: Any) -> None:
        if schema is not None:
            self._schemas.give(schema)

    def _surely(self, find: Callable[..., T], *given: Any) -> T:
        """Call what checks a text; before it says no by a schema from the cache, ask for it anew.

        Raises
        ------
        QueryError
            If the text is wrong.
        """
        try:
            return find(*given)
        except QueryError:
            if not self._schemas.doubtful:
                raise
        self._schemas.renew(self._endpoint())
        return find(*given)

    async def _aask(
        self, text: str, variables: Mapping[str, Any] | None, operation: str | None
    ) -> tuple[Request, Asked]:
        """Check a text as `_ask` does, in a thread if the endpoint may be asked for its schema."""
        types = self._schema is None and any(map(depends_on_types, (variables or {}).values()))
        if self._schemas.doubtful or types:
            return await asyncio.to_thread(self._ask, text, variables, operation)
        return self._ask(text, variables, operation)

    def _endpoint(self, *, quiet: bool = False) -> Endpoint:
        """Return what loading the schema takes; quiet asks once and says nothing."""
        through = self._transport
        url = ""
        if isinstance(through, Http) and self._road is through:  # no recording counts
            url = through.url
        names = list(self._secrets.headers)
        if self._secrets.token is not None:
            names.append("authorization")
        ask = self._introspect_once if quiet else self._introspect
        return Endpoint(ask, self.source, self._secrets.hide, url, names)

    def _load_schema(self) -> tuple[str, ...]:
        """Load the schema before paging, which depends on it; return why it cannot be had."""
        if isinstance(self._transport, InProcess):
            return ()
        try:
            if not self._load_recorded_schema():
                _ = self.schema
        except (SchemaError, TransportError, AnswerError) as error:
            _LOG.info("%s: paging without a schema: %s", self.source, error)
            if self._schemas.known is None:
                return (f"No schema could be loaded: {plain(error, 200)}",)
        return ()

    def _load_recorded_schema(self) -> bool:
        """Load the schema through the recording that is active; return whether there is one.

        The requests of paging and the dtypes of frames depend on the schema, so a recording must
        hold the one that it was made with. Recordings of earlier versions hold none; then the known
        one, if any, is used.
        """
        recording = active(self._recording)
        if recording is None or isinstance(self._transport, InProcess):
            return False
        if self._schemas.is_given or self._recorded_with is recording:
            return True
        self._recorded_with = recording
        try:
            self._schemas.load_recorded(self._endpoint())
        except GqlnbError as error:
            _LOG.info("%s: the recording holds no schema: %s", self.source, error)
        return True

    def _learner(self, document: Document) -> Learn | None:
        """Return what finds the schema of a document's answer later; None if it is known."""
        self._left = False  # whoever asks uses the client again
        asks = document.schema is None and isinstance(self._transport, (Asgi, Http))
        return self._learned if asks else None

    def _learned(self, result: Result) -> Document | None:
        """Return the document of an answer with the schema, asked for now if nobody did before.

        None where it can't be had, or does not describe the answer; and where the client was closed
        meanwhile.
        """
        document, response = result.document, result.response
        if self._left or document is None or response is None:
            return None
        if not self._load_recorded_schema():
            self._schemas.sought(self._endpoint(quiet=True))
        if self._schemas.known is None:
            return None
        try:
            _, asked = self._ask(document.text, result.variables, document.name)
            return read(response, asked).document
        except GqlnbError as error:
            _LOG.info("%s: frames are inferred: %s", self.source, error)
        return None

    def _introspect(self, text: str) -> Result:
        """Execute an introspection query, without checking it: the schema may be a wrong one."""
        return self._send(*self._unchecked(text))

    def _introspect_once(self, text: str) -> Result:
        outcome = self._attempt(*self._unchecked(text))
        if isinstance(outcome, Result):
            return outcome
        raise outcome

    def _unchecked(self, text: str) -> tuple[Request, Asked]:
        document = Document.parse(text)
        asked = Asked(document, self.source, self._secrets.hide, expected=IntrospectionReader())
        return Request(text, {}, None, document), asked
