"""The schema of an endpoint: loaded once, by who needs it first or in the background.

It comes from ``schema=``, from the cache, or from the endpoint. One from the cache is good for
reading answers and completing names at once, but never the last word: before a text is called
wrong because of it, the endpoint is asked again, once.
"""

from __future__ import annotations

import logging
import threading
import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.client.drift import SchemaChanges, compared
from gqlnb.client.introspection import Refusal, introspected
from gqlnb.client.schema_cache import Entry, find, place_of, store
from gqlnb.client.schema_reading import read_introspection, schema_of
from gqlnb.engine.documents import TEXT_KEPT
from gqlnb.engine.lenient import Described, collector_paused, from_introspection
from gqlnb.errors import AuthError, GqlnbError, SchemaError, TransportError
from gqlnb.sealing import bare
from gqlnb.wire.json import encode

if TYPE_CHECKING:
    from graphql import GraphQLSchema

    from gqlnb.model.result import Result

__all__ = ["Endpoint", "Schemas", "from_entry"]

DAY = 86_400.0  # seconds
YOUNG = 7 * DAY  # GitHub's schema changes about weekly
USED = 512  # texts; a notebook has fewer
GIVEN, CACHED, ASKED = "given", "cached", "asked"
TEXTS = ("description", "deprecationReason", "specifiedByURL", "defaultValue")
UNCHECKED = (
    "Queries are sent all the same, without being checked first. To have them checked, pass "
    "schema= the path of its SDL or introspection JSON; client.refresh_schema() asks again."
)
STAYS = "The schema that was known is used as before."
_LOG = logging.getLogger("gqlnb")


class Endpoint(NamedTuple):
    """What loading a schema takes from a client.

    Attributes
    ----------
    ask
        Executes a text without checking it.
    source
        Where answers are from, without secrets.
    hide
        Replaces known secrets in text.
    url
        The address; empty for what is not asked over HTTP.
    headers
        The names of the headers that go with requests.
    """

    ask: Callable[[str], Result]
    source: str
    hide: Callable[[str], str]
    url: str = ""
    headers: Iterable[str] = ()


class Schemas:
    """The schema of one endpoint, what it was before, and the texts that were asked with it.

    Attributes
    ----------
    known : GraphQLSchema or None
        The schema, once it is there.
    """

    def __init__(self) -> None:
        self.known: GraphQLSchema | None = None
        self._notes: tuple[str, ...] = ()
        self._whence = ""  # GIVEN, CACHED or ASKED
        self._entry: Entry | None = None  # what `known` was built from
        self._before: Entry | GraphQLSchema | None = None  # what this session began with
        self._refusal = ""  # of the endpoint, which is then not asked again
        self._unsaid = ""  # a warning for whoever asks for the schema next
        self._loading = False  # whether it was begun in the background
        self._renewed = False  # whether the endpoint was asked since the cache
        self._sought = False  # whether an answer without a schema made us look for one
        self._used: dict[str, None] = {}
        self._lock = threading.RLock()  # held while loading
        self._gate = threading.Lock()

    def give(self, schema: Any) -> None:
        """Take a schema from a person, in any form that ``schema=`` has.

        Raises
        ------
        SchemaError
            If it is none.
        """
        described = schema_of(schema)
        self.known, self._notes, self._whence = *described, GIVEN
        self._before = described.graphql

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known about the schema, a sentence each."""
        if self._whence != CACHED or self._entry is None:
            return self._notes
        return (f"It was kept {ago(self._entry.age())} ago.", *self._notes)

    @property
    def is_given(self) -> bool:
        """Whether a person gave the schema."""
        return self._whence == GIVEN

    @property
    def doubtful(self) -> bool:
        """Whether the schema is from the cache, and the endpoint was not asked since."""
        return self._whence == CACHED and not self._renewed

    def get(self, endpoint: Endpoint) -> GraphQLSchema:
        """Return the schema; wait for it if need be.

        Raises
        ------
        SchemaError
            If the endpoint does not tell it, or described none.
        TransportError, AuthError, AnswerError
            If it gave no usable answer, and none is kept.
        """
        with self._lock:
            if self.known is None:
                self._load(endpoint)
            said, self._unsaid = self._unsaid, ""
            known = self.known
        if said:
            warnings.warn(said, stacklevel=4)  # the property, and who asked it
        assert known is not None  # noqa: S101 - _load raises otherwise
        return known

    def peek(self, endpoint: Endpoint) -> GraphQLSchema | None:
        """Return the schema if it is there; else None, and loading begins in the background."""
        if self.known is not None:
            return self.known
        with self._gate:
            first, self._loading = not self._loading, True
        if first:
            thread = threading.Thread(
                target=self._load_quietly, args=(endpoint,), name="gqlnb-schema", daemon=True
            )
            thread.start()
        return self.known

    def sought(self, endpoint: Endpoint) -> GraphQLSchema | None:
        """Return the schema, asked for now unless that failed before; None if it can't be had."""
        with self._lock:
            if not self._sought:
                self._load_quietly(endpoint)
                self._sought = True  # not before: an interrupt is no failure
            return self.known

    def refresh(self, endpoint: Endpoint) -> GraphQLSchema:
        """Ask the endpoint for its schema anew, and return it.

        Raises
        ------
        SchemaError, TransportError, AuthError, AnswerError
            As :meth:`get`; the schema that was known stays.
        """
        with self._lock:
            return self._fetch(endpoint).graphql

    def renew(self, endpoint: Endpoint) -> None:
        """Ask the endpoint once whether a schema from the cache still holds; a failure is none."""
        with self._lock:
            if not self.doubtful:
                return
            self._renewed = True
            try:
                self._fetch(endpoint)
            except GqlnbError as error:
                _LOG.info("%s: its schema could not be asked for again: %s", endpoint.source, error)

    def load_recorded(self, endpoint: Endpoint) -> None:
        """Ask for the schema through a recording, which answers or keeps it.

        Raises
        ------
        SchemaError, TransportError, AuthError, AnswerError, ReplayError
            If there is none in it and the endpoint gave none; the schema that was known stays.
        """
        with self._lock:
            self._fetch(endpoint)

    def changes(
        self, endpoint: Endpoint, since: Any = None, documents: Iterable[str] = ()
    ) -> SchemaChanges:
        """Compare the endpoint's schema with the one this session began with, or with `since`.

        Raises
        ------
        SchemaError, TransportError, AuthError, AnswerError
            As :meth:`get`, or if `since` is no schema.
        """
        before = None if since is None else schema_of(since).graphql
        with self._lock:
            first = self._before is None
            if first:
                self._load(endpoint)  # from the cache, or as it is today
            if before is None:
                before = self._began_with()
            if self._whence == ASKED and first:
                if since is None:
                    return SchemaChanges((), {}, endpoint.source, first=True)
                now = self.known
            else:
                now = self._fetch(endpoint, adopt=self._whence != GIVEN).graphql
        assert now is not None  # noqa: S101 - _load raises otherwise
        texts = tuple(dict.fromkeys([*self._used, *documents]))
        return compared(before, now, texts, endpoint.source)

    def follow(self, other: Schemas) -> None:
        """Compare with what another one of the same endpoint began with; take over its texts."""
        self._before = other._before
        self._used.update(other._used)

    def asked_with(self, text: str) -> None:
        """Note a text that was asked, for :meth:`changes`."""
        if text in self._used or len(text) > TEXT_KEPT:
            return
        self._used[text] = None
        while len(self._used) > USED:
            with suppress(StopIteration, KeyError, RuntimeError):  # another thread was sooner
                del self._used[next(iter(self._used))]

    def _began_with(self) -> GraphQLSchema:
        """Return the schema that this session began with."""
        if isinstance(self._before, Entry):
            return from_entry(self._before).graphql
        assert self._before is not None  # noqa: S101 - called when it is known
        return self._before

    def _load(self, endpoint: Endpoint) -> None:
        """Take the schema from the cache if it is young, else from the endpoint.

        Raises
        ------
        SchemaError, TransportError, AuthError, AnswerError
            If it is in neither.
        """
        if self._refusal:
            raise SchemaError(self._refusal)
        entry = self._from_cache(endpoint)
        if entry is not None and entry.age() <= YOUNG:
            return
        try:
            self._fetch(endpoint)
        except (TransportError, SchemaError) as error:
            if entry is None or isinstance(error, AuthError):
                raise
            self._unsaid = (
                f"{endpoint.source} gave no schema now, so the one of {ago(entry.age())} ago is "
                f"used. client.refresh_schema() asks again. ({error})"
            )

    def _from_cache(self, endpoint: Endpoint) -> Entry | None:
        """Take the schema that is kept, and return its entry; None if there is none."""
        place = place_of(endpoint.url, endpoint.headers)
        entry = find(place) if place is not None else None
        if entry is None:
            return None
        try:
            described = from_entry(entry)
        except ValueError:  # broken; SchemaError is one too
            return None
        self._take(described, CACHED, entry)
        return entry

    def _fetch(self, endpoint: Endpoint, *, adopt: bool = True) -> Described:
        """Ask the endpoint for its schema; take and keep it.

        Raises
        ------
        SchemaError, TransportError, AuthError, AnswerError
            If it gave none.
        """
        try:
            data, remarks = introspected(endpoint.ask, endpoint.source)
        except Refusal as error:
            said = f"{error} {UNCHECKED if self.known is None else STAYS}"
            if self.known is None:
                self._refusal = said
            raise SchemaError(said) from None
        body = encode({"__schema": data["__schema"]})
        if not (clean := holds_no_secret(body, endpoint)):  # it writes our token into its schema
            data = read_introspection(body)
            hide_texts(data, endpoint.hide)
            body = encode(data)
            clean = holds_no_secret(body, endpoint)
        described = from_introspection(data, f"The answer of {endpoint.source}")
        described = Described(described.graphql, (*remarks, *described.notes))
        entry = Entry.of(body, time.time())
        if adopt:
            self._take(described, ASKED, entry)
        place = place_of(endpoint.url, endpoint.headers)
        if place is not None and clean:
            store(place, entry, endpoint.source)
        return described

    def _take(self, described: Described, whence: str, entry: Entry) -> None:
        if self._before is None:
            self._before = entry
        self._notes, self._whence, self._entry = described.notes, whence, entry
        self.known = described.graphql  # last: who does not hold the lock sees it whole
        self._refusal = ""

    def _load_quietly(self, endpoint: Endpoint) -> None:
        """Load in the background; what goes wrong is said when somebody waits for the schema."""
        with self._lock:
            if self.known is not None:
                return
            try:
                self._load(endpoint)
            except Exception as error:
                failure = bare(error)
                _LOG.info("%s: its schema could not be loaded: %s", endpoint.source, failure)


def from_entry(entry: Entry) -> Described:
    """Return the schema that is kept.

    Raises
    ------
    ValueError
        If there is none in it; also as :class:`SchemaError`.
    """
    with collector_paused():
        return from_introspection(entry.data(), "The schema kept")


def holds_no_secret(body: bytes, endpoint: Endpoint) -> bool:
    """Tell whether no secret of the client is in an answer, in any spelling."""
    text = body.decode()
    return endpoint.hide(text) == text


def hide_texts(data: Any, hide: Callable[[str], str]) -> None:
    """Hide secrets in the texts of an introspection result; a name may be like one by chance."""
    waiting = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            texts = {name: value[name] for name in TEXTS if isinstance(value.get(name), str)}
            value.update({name: hide(text) for name, text in texts.items()})
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def ago(seconds: float) -> str:
    """Return an age in words."""
    for name, length in (("day", DAY), ("hour", 3600.0), ("minute", 60.0)):
        count = int(min(seconds, 1e9) // length)
        if count:
            return f"{count} {name}{'s' if count > 1 else ''}"
    return "less than a minute"
