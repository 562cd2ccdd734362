"""The schema of an endpoint, and its cache on disk: one compressed file each, without secrets.

A file is named by a hash of the endpoint's address and of the names, not the values, of the headers
of its requests: with a token an endpoint may describe more than without. Two tokens share one
entry, as nothing derived from a token is written; a document that the cached schema refuses is
checked again with a new one, so the difference does no harm.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
import time
import zlib
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import msgspec

from gqlnb import background
from gqlnb.client.credentials import find_secret_segments, is_loopback, strip_url
from gqlnb.client.http_transport import HttpTransport
from gqlnb.client.request_sender import PreparedRequest
from gqlnb.client.schema_diff import SchemaChanges, compare_schemas
from gqlnb.config import get_cache_folder, replace_file
from gqlnb.document.document import Document
from gqlnb.document.json_codec import JSONError, dump_json
from gqlnb.document.sized_cache import SizedCache
from gqlnb.errors import (
    AnswerError,
    AuthError,
    GqlnbError,
    SchemaError,
    TransportError,
    sanitize_text,
)
from gqlnb.http.messages import Request
from gqlnb.http.response_parser import ResponseContext
from gqlnb.interactive import warn_caller
from gqlnb.limits import MAX_CACHED_TEXT
from gqlnb.redact import strip_traceback

# The functions below import `schema_sources`, `schema_diff` and the engine: a client whose schema
# nobody asks for needs none of them.
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from graphql import GraphQLSchema

    from gqlnb.client.endpoint import Endpoint
    from gqlnb.client.recording.session import Recording
    from gqlnb.client.request_sender import RequestSender
    from gqlnb.engine.schema_builder import LoadedSchema
    from gqlnb.result.checked_decoder import CheckedDecoder
    from gqlnb.result.result import Result

CACHE_VARIABLE = "GQLNB_CACHE"
CACHE_SUFFIX = ".schema"
MAX_FILES = 64  # the oldest are removed
MAX_UNPACKED_BYTES = 512 * 2**20  # bytes: a hundred times GitHub's schema
ZLIB_LEVEL = 6  # a third smaller than level 1, and as quick to unpack
_LOG = logging.getLogger("gqlnb")


class CacheHeader(msgspec.Struct, tag_field="gqlnb", tag="schema", kw_only=True):
    """The first line of a file, in JSON.

    Attributes
    ----------
    format
        The version of the format.
    source
        The address as it is shown, for readers of the file.
    fetched
        Time of the endpoint's response, in seconds since the epoch.
    """

    format: Literal[1]
    source: str = ""
    fetched: float


class CachedSchema(NamedTuple):
    """A cached introspection result.

    Attributes
    ----------
    packed
        Its JSON, compressed by zlib.
    fetched
        Time of the endpoint's response, in seconds since the epoch.
    """

    packed: bytes
    fetched: float

    @classmethod
    def pack(cls, body: bytes, fetched: float) -> CachedSchema:
        """Return the entry for an introspection result in JSON."""
        return cls(zlib.compress(body, ZLIB_LEVEL), fetched)

    def unpack(self) -> bytes:
        """Return the introspection result in JSON, or raise ValueError if the entry is damaged."""
        unpacking = zlib.decompressobj()
        try:
            body = unpacking.decompress(self.packed, MAX_UNPACKED_BYTES)
        except zlib.error as error:
            raise ValueError(str(error)) from error
        if not unpacking.eof:
            msg = "it is cut, or too large"
            raise ValueError(msg)
        return body

    def compute_age(self) -> float:
        """Return its age in seconds; infinity for an entry from the future."""
        age = time.time() - self.fetched
        return age if age >= 0 else float("inf")


def find_cache_path(url: str, headers: Iterable[str]) -> Path | None:
    """Return the file for the schema of an endpoint; None if it is not cached.

    Parameters
    ----------
    url
        The address of the endpoint; empty for none.
    headers
        The names of the headers of its requests.
    """
    switch = os.environ.get(CACHE_VARIABLE, "").strip()
    secret = urlsplit(url).query or find_secret_segments(url)
    if not url or switch == "0" or secret or (is_loopback(url) and switch != "1"):
        return None
    names = ",".join(sorted(name.lower() for name in headers))
    digest = hashlib.sha256(f"{strip_url(url)}\n{names}".encode()).hexdigest()
    return get_cache_folder("schemas") / f"{digest[:32]}{CACHE_SUFFIX}"


def read_cache(path: Path) -> CachedSchema | None:
    """Return the entry in a file; None if it is missing, damaged or of another program."""
    try:
        if not path.is_file():  # opening a pipe would block
            return None
        head, _, packed = path.read_bytes().partition(b"\n")
        return CachedSchema(packed, msgspec.json.decode(head, type=CacheHeader).fetched)
    except (OSError, msgspec.MsgspecError):
        return None


def write_cache(path: Path, entry: CachedSchema, source: str) -> None:
    """Write an entry in one step, readable by the user alone; a failure is only logged.

    Parameters
    ----------
    path
        The file, of :func:`find_cache_path`.
    entry
        The entry.
    source
        The address as it is shown, for readers of the file.
    """
    head = msgspec.json.encode(CacheHeader(format=1, source=source, fetched=entry.fetched))
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(path, head + b"\n" + entry.packed, private=True)
        remove_oldest(path.parent)
    except OSError as error:
        _LOG.info("The schema of %s is not cached: %s.", source, error.strerror)


def remove_oldest(where: Path) -> None:
    """Remove the files that were written longest ago, beyond `MAX_FILES`."""
    files = [(file.stat().st_mtime, file) for file in where.glob(f"*{CACHE_SUFFIX}")]
    for _, file in sorted(files)[:-MAX_FILES]:
        with suppress(OSError):  # another process was sooner
            file.unlink()


DAY = 86_400.0  # seconds
FRESH_SECONDS = 7 * DAY  # GitHub's schema changes about weekly
MAX_TEXTS = 512  # texts; a notebook has fewer
GIVEN, CACHED, FETCHED = "given", "cached", "asked"
# Where the schemas of this process are from, for their reprs. Weak keys: a repr keeps none alive.
_sources: WeakKeyDictionary[GraphQLSchema, str] = WeakKeyDictionary()
UNCHECKED_HINT = (
    "Queries are sent all the same, without being checked first. To have them checked, pass "
    "schema= the path of its SDL or introspection JSON; client.refresh_schema() asks again."
)
UNCHANGED_HINT = "The schema that was known is used as before."


def get_schema_source(schema: GraphQLSchema) -> str:
    """Return where a schema is from, such as ``"from <address>"``; "" if no client has it."""
    return _sources.get(schema, "")


# The schemas of other machines are cached; with `GQLNB_CACHE=1` those of this machine too, which
# change often and are quick to load, and with `GQLNB_CACHE=0` none. The schema of an address with a
# query string is not cached, since the query may hold a secret.
# A cached schema completes and types at once. Before a text is rejected because of it, the
# endpoint is asked again, once: so one entry may serve two tokens, and nothing derived from a
# token is stored.
class SchemaStore:
    """The schema of one endpoint, its history, and the texts that were sent.

    Parameters
    ----------
    endpoint
        The endpoint.
    sender
        Sends introspection queries to it.

    Attributes
    ----------
    schema : GraphQLSchema or None
        The schema, once it is there.
    """

    def __init__(self, endpoint: Endpoint, sender: RequestSender) -> None:
        self.schema: GraphQLSchema | None = None
        self._endpoint, self._sender, self._source = endpoint, sender, endpoint.source
        self._notes: tuple[str, ...] = ()
        self._origin = ""  # GIVEN, CACHED or FETCHED
        self._entry: CachedSchema | None = None  # from which `schema` was built
        self._baseline: CachedSchema | GraphQLSchema | None = None  # at the begin of this session
        self._refusal = ""  # of introspection; the endpoint is then not asked again
        self._pending_warning = ""  # issued at the next use of the schema
        self._is_loading = False  # whether a background thread was started
        self._is_revalidated = False  # whether the endpoint was asked since the cache was read
        self._has_tried = False  # whether a result without schema has led to an attempt
        self._loaded_through: Recording | None = None
        self._texts: SizedCache[str, None] = SizedCache(MAX_TEXTS, MAX_TEXTS)
        self._answered: SizedCache[object, None] = SizedCache(MAX_TEXTS, MAX_TEXTS)
        self._lock = threading.RLock()  # held while loading; reentrant for nested loads
        self._start_lock = threading.Lock()  # another one, as `peek_schema` must not wait

    def set_schema(self, schema: object) -> None:
        """Use a schema in any form of ``schema=``; raise SchemaError if it is not valid."""
        described = self._read_schema(schema)
        self.schema, self._notes, self._origin = *described, GIVEN
        local = self._endpoint.local_schema is not None
        source = "of this process" if local else f"given for {self._source}"
        _sources.setdefault(described.graphql, source)
        self._baseline = described.graphql

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks about the schema, a sentence each."""
        if self._origin != CACHED or self._entry is None:
            return self._notes
        return (f"It was cached {format_age(self._entry.compute_age())} ago.", *self._notes)

    @property
    def age(self) -> float | None:
        """The seconds since the endpoint sent the schema; None if it did not."""
        return None if self._entry is None else self._entry.compute_age()

    @property
    def is_doubtful(self) -> bool:
        """Whether the schema is from the cache, and was not fetched since."""
        return self._origin == CACHED and not self._is_revalidated

    def get_schema(self) -> GraphQLSchema:
        """Return the schema; load it if need be.

        Raises
        ------
        SchemaError
            If the endpoint refuses introspection, or described no valid schema.
        TransportError, AuthError, AnswerError
            If it gave no usable answer, and no schema is cached.
        """
        self.load_recorded(self._endpoint.get_recording())
        with self._lock:
            if self.schema is None:
                self._load()
            warning, self._pending_warning = self._pending_warning, ""
            schema = self.schema
        if warning:
            warn_caller(warning)
        assert schema is not None  # noqa: S101 - _load raises otherwise
        return schema

    def peek_schema(self) -> GraphQLSchema | None:
        """Return the schema if it is known; else None, and start loading it in a thread."""
        # With a recording nothing is loaded: its contents would depend on the timing of threads.
        if self.schema is not None or not self._is_direct():
            return self.schema
        # A daemon thread: the schema must not delay the end of the process.
        with self._start_lock:
            first, self._is_loading = not self._is_loading, True
        if first:
            background.start_thread(self._load_quietly, "gqlnb-schema")
        return self.schema

    def try_load(self) -> GraphQLSchema | None:
        """Return the schema, loaded now unless that failed before; None if it can't be loaded."""
        with self._lock:
            if not self._has_tried:
                self._load_quietly()
                self._has_tried = True  # not after an interrupt
            return self.schema

    def refresh(self) -> GraphQLSchema:
        """Fetch the schema from the endpoint, and return it.

        Raises
        ------
        SchemaError, TransportError, AuthError, AnswerError
            As :meth:`get_schema`; the schema that was known stays.
        """
        local = self._endpoint.local_schema
        if local is not None:
            return local.graphql
        with self._lock:
            return self._fetch().graphql

    def revalidate(self) -> None:
        """Replace a schema from the cache by the endpoint's, once; a failure is only logged."""
        with self._lock:
            if not self.is_doubtful:
                return
            self._is_revalidated = True
            try:
                self._fetch()
            except GqlnbError as error:
                _LOG.info("%s: its schema could not be requested again: %s", self._source, error)

    def load_recorded(self, recording: Recording | None) -> bool:
        """Load the schema through a recording, once; return whether there is a recording."""
        # Recordings of earlier versions hold none; then the known one, if any, is used.
        # The requests of paging and the dtypes of frames depend on the schema, so a recording must
        # hold the schema that it was made with.
        if recording is None or self._endpoint.local_schema is not None:
            return False
        if self._origin == GIVEN or self._loaded_through is recording:
            return True
        self._loaded_through = recording
        try:
            self.refresh()
        except GqlnbError as error:
            _LOG.info("%s: the recording holds no schema: %s", self._source, error)
        return True

    def load_for_paging(self) -> tuple[str, ...]:
        """Load the schema before paging, which depends on it; return the reason if that fails."""
        if self._endpoint.local_schema is not None:
            return ()
        try:
            if not self.load_recorded(self._endpoint.get_recording()):
                self.get_schema()
        except (SchemaError, TransportError, AnswerError) as error:
            _LOG.info("%s: paging without a schema: %s", self._source, error)
            if self.schema is None:
                return (f"No schema could be loaded: {sanitize_text(error, 200)}",)
        return ()

    def find_changes(self, since: object = None, documents: Iterable[str] = ()) -> SchemaChanges:
        """Compare the endpoint's schema with the one this session began with, or with `since`.

        Raises
        ------
        SchemaError, TransportError, AuthError, AnswerError
            As :meth:`get_schema`, or if `since` is not a schema.
        """
        before = None if since is None else self._read_schema(since).graphql
        with self._lock:
            first = self._baseline is None
            if first:
                self._load()  # from the cache, or from the endpoint
            if before is None:
                base = self._baseline
                before = unpack_schema(base).graphql if isinstance(base, CachedSchema) else base
            if self._origin == FETCHED and first:
                if since is None:
                    return SchemaChanges((), {}, self._source, first=True)
                now = self.schema
            else:
                now = self._fetch(adopt=self._origin != GIVEN).graphql
        assert before is not None and now is not None  # noqa: PT018, S101 - _load raises otherwise
        texts = tuple(dict.fromkeys([*self._texts, *documents]))
        return compare_schemas(before, now, texts, self._source)

    def inherit_history(self, other: SchemaStore) -> None:
        """Take over the baseline and the texts of another store of the same endpoint."""
        self._baseline = other._baseline
        self._texts, self._answered = other._texts, other._answered

    def record_text(self, text: str) -> None:
        """Remember a text that was sent, for :meth:`find_changes`."""
        if len(text) <= MAX_CACHED_TEXT:
            self._texts.add(text, None, 1)

    # The same call has the same answer before and after the schema is known: what the endpoint has
    # answered is sent again, whatever the schema says. Of variables the very values count, since
    # another value may have a misspelled field that the endpoint would ignore.
    def record_answer(self, text: str, variables: Mapping[str, Any] | None = None) -> None:
        """Remember that the endpoint has answered a text, and one with these JSON variables."""
        self._answered.add(hash(text), None, 1)
        if variables:
            with suppress(JSONError):  # with files
                key = hash(text), hash(dump_json(dict(variables)))
                self._answered.add(key, None, 1)

    def has_answered(self, text: str, variables: Mapping[str, Any] | None = None) -> bool:
        """Return whether the endpoint has answered a text, and with these variables if given."""
        if variables is None:
            return hash(text) in self._answered
        with suppress(JSONError):
            return (hash(text), hash(dump_json(dict(variables)))) in self._answered
        return False

    def _load(self, *, retry: bool = True) -> None:
        """Load the schema from the cache if it is fresh, else from the endpoint."""
        if self._refusal:
            raise SchemaError(self._refusal)
        entry = self._load_cached()
        if entry is not None and entry.compute_age() <= FRESH_SECONDS:
            return
        try:
            self._fetch(retry=retry)
        except (TransportError, SchemaError) as error:
            if entry is None or isinstance(error, AuthError):
                raise
            age = format_age(entry.compute_age())
            self._pending_warning = (
                f"{self._source} could not be queried for its schema; using the schema cached "
                f"{age} ago. Call client.refresh_schema() to retry. ({error})"
            )

    def _load_cached(self) -> CachedSchema | None:
        """Use the cached schema, and return its entry, or None."""
        path = self._find_cache_path()
        entry = read_cache(path) if path is not None else None
        if entry is None:
            return None
        try:
            described = unpack_schema(entry)
        except ValueError:  # damaged; SchemaError is a ValueError
            return None
        self._adopt(described, CACHED, entry)
        return entry

    @staticmethod
    def _read_schema(given: object) -> LoadedSchema:
        """Return a schema in any form of ``schema=``; raise SchemaError if it is not valid."""
        from gqlnb.client.schema_sources import read_schema

        return read_schema(given)

    def _fetch(self, *, adopt: bool = True, retry: bool = True) -> LoadedSchema:
        """Fetch the schema from the endpoint, use it if `adopt`, and write it to the cache."""
        from gqlnb.client import schema_sources

        redact = self._endpoint.credentials.redact
        try:
            fetched = schema_sources.fetch_schema(
                partial(self._execute, retry=retry), self._source, redact
            )
        except schema_sources.IntrospectionRefusedError as error:
            refusal = f"{error} {UNCHECKED_HINT if self.schema is None else UNCHANGED_HINT}"
            if self.schema is None:
                self._refusal = refusal
            raise SchemaError(refusal) from None
        entry = CachedSchema.pack(fetched.body, time.time())
        if adopt:
            self._adopt(fetched.described, FETCHED, entry)
        path = self._find_cache_path()
        if path is not None and fetched.is_free_of_secrets:
            write_cache(path, entry, self._source)
        return fetched.described

    def _adopt(self, described: LoadedSchema, whence: str, entry: CachedSchema) -> None:
        if self._baseline is None:
            self._baseline = entry
        self._notes, self._origin, self._entry = described.notes, whence, entry
        _sources[described.graphql] = f"from {self._source}"
        self.schema = described.graphql  # last, for readers that do not hold the lock
        self._refusal = ""

    def _load_quietly(self) -> None:
        """Load by one attempt per request; a failure is reported when the schema is needed."""
        with self._lock:
            if self.schema is not None:
                return
            try:
                self._load(retry=False)
            except Exception as error:  # noqa: BLE001 - logged, and raised when it is needed
                failure = strip_traceback(error)
                _LOG.info("%s: its schema could not be loaded: %s", self._source, failure)

    def _execute(self, text: str, expected: CheckedDecoder, *, retry: bool) -> Result:
        """Execute an introspection query, unchecked: the known schema may be a wrong one."""
        document, endpoint = Document.parse(text), self._endpoint
        recording = endpoint.get_recording()
        prepared = PreparedRequest(
            Request(text, {}, None, document),
            ResponseContext(
                document, endpoint.source, endpoint.credentials.redact, expected=expected
            ),
            endpoint.select_transport(recording),
            recording is None,
        )
        if retry:
            return self._sender.send(prepared)
        outcome = self._sender.send_once(prepared)
        if isinstance(outcome, (TransportError, AnswerError)):
            raise outcome
        return outcome

    def _is_direct(self) -> bool:
        """Return whether requests go to the endpoint itself, not to a recording."""
        endpoint = self._endpoint
        return endpoint.get_recording() is None and endpoint.options.missing_token_error is None

    def _find_cache_path(self) -> Path | None:
        transport = self._endpoint.transport
        if not isinstance(transport, HttpTransport) or not self._is_direct():
            return None
        if transport.uds is not None:  # as local as a server of this machine, and as short-lived
            return None
        headers = list(self._endpoint.credentials.headers)
        if self._endpoint.credentials.token is not None:
            headers.append("authorization")
        return find_cache_path(transport.url, headers)


def unpack_schema(entry: CachedSchema) -> LoadedSchema:
    """Return the schema of an entry; raise ValueError, or SchemaError, if it is damaged."""
    from gqlnb.client.schema_sources import read_schema_body

    return read_schema_body(entry.unpack(), "The cached schema")


def format_age(seconds: float) -> str:
    """Return an age in words."""
    for name, length in (("day", DAY), ("hour", 3600.0), ("minute", 60.0)):
        count = int(min(seconds, 1e9) // length)
        if count:
            return f"{count} {name}{'s' if count > 1 else ''}"
    return "less than a minute"
