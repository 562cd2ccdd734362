"""Remembered answers: complete answers to queries, in one SQLite file of the user.

A key is a keyed hash of the address, the headers with their secrets, the document regardless of
layout, the operation and the variables, so that an answer is found only by a client with the same
token, and nothing about a token can be read from the file. The random key of the hash is in the
file, which only the user may read.

SQLite in WAL mode: several kernels read and write at once, and a killed one leaves no damage.
"""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import threading
import time
import warnings
from contextlib import suppress
from datetime import timedelta
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import msgspec

from gqlnb.client.http_transport import HttpTransport
from gqlnb.client.recording.cassette import encode_request, normalize_text
from gqlnb.client.recording.session import leave_block
from gqlnb.config import get_cache_folder
from gqlnb.document.json_codec import JSONError
from gqlnb.errors import OptionError, sanitize_text
from gqlnb.http.messages import Response
from gqlnb.option_checks import explain_keywords, raise_option_error
from gqlnb.redact import redact_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb.client.credentials import Credentials
    from gqlnb.client.transports import Transport
    from gqlnb.http.messages import Request
    from gqlnb.result.result import Result

CACHE_FORMAT = 1
MAX_BYTES = 256 * 2**20  # of all answers; the oldest are removed
MAX_ENTRY_BYTES = 32 * 2**20  # of one answer; larger ones are not kept
MAX_SECONDS = 30 * 86_400.0  # older answers are removed
DEFAULT_SECONDS = 86_400.0
BUSY_SECONDS = 5.0  # to wait for another kernel that writes
PAUSE_SECONDS = 60.0  # without remembering after a failure, so that not each request waits
UNITS = {"s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
AGE = re.compile(rf"(\d+(?:\.\d+)?)\s*({'|'.join(UNITS)})")
TABLES = """
CREATE TABLE IF NOT EXISTS secrets (id INTEGER PRIMARY KEY CHECK (id = 1), hash_key BLOB);
CREATE TABLE IF NOT EXISTS answers (
  key BLOB PRIMARY KEY, source TEXT, title TEXT, created REAL, seconds REAL, content_type TEXT,
  size INTEGER, body BLOB
);
CREATE INDEX IF NOT EXISTS answers_by_age ON answers (created, size);
"""
_LOG = logging.getLogger("gqlnb")


class CachePolicy(msgspec.Struct, frozen=True, eq=False):
    """Settings of the response cache; a ``with`` block applies it to all clients of this process.

    Attributes
    ----------
    max_age
        Seconds for which an answer is used; None for those of each client's own policy.
    refresh
        Whether requests are sent all the same, and their answers remembered anew.
    """

    max_age: float | None
    refresh: bool = False

    def __enter__(self) -> Self:
        _open_policies.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        leave_block(_open_policies, self)


_open_policies: list[CachePolicy] = []  # as for recordings, of the whole process


@explain_keywords
def cached(max_age: object = "1d", *, refresh: bool = False) -> CachePolicy:
    """Remember the answers to queries on disk, and answer from there.

    ``with gqlnb.cached("1h"):`` applies to every client of this process in all threads; a client
    has its own with ``connect(..., cache="1h")``. Only complete answers over HTTP to queries are
    remembered: none with errors, and never mutations. The answers survive the process, are found
    only with the same token and headers, and can be read by this user alone.

    Parameters
    ----------
    max_age
        How long an answer is used: ``"90s"``, ``"15min"``, ``"1h"``, ``"7d"``, ``"2w"``, a number
        of seconds, a timedelta; True for a day. None, with `refresh`, for clients that remember
        answers anyway.
    refresh
        Whether to send all requests, and remember the new answers.

    Returns
    -------
    CachePolicy
        A context manager, and a value for ``cache=``.

    Raises
    ------
    OptionError
        If `max_age` is not one of these.

    Notes
    -----
    Within a recording nothing is remembered. At most 256 MiB are kept, 32 MiB of one answer, for
    at most 30 days. ``Cache-Control`` of the endpoint is not considered: many GraphQL servers
    send ``no-store`` with everything. ``%graphql cache list`` shows the answers, ``%graphql cache
    clear`` removes them.

    Examples
    --------
    >>> import gqlnb
    >>> with gqlnb.serve(gqlnb.reference_schema(), port=0) as server, cached("1h"):
    ...     for _ in range(2):
    ...         data = gqlnb.connect(server.url).execute("{ hello }").data
    ...     len(server.log)
    1
    """
    if max_age is None and refresh:
        return CachePolicy(None, refresh)
    policy = resolve_cache(max_age, refresh=refresh)
    if policy is None:
        msg = "cached() takes how long an answer is used: '1h', '15min', '7d', True for a day."
        raise OptionError(msg)
    return policy


def resolve_cache(value: object, *, refresh: bool = False) -> CachePolicy | None:
    """Return the policy of a ``cache=`` argument.

    Returns
    -------
    CachePolicy or None
        None for None and False.

    Raises
    ------
    OptionError
        If it is not an age.
    """
    if isinstance(value, CachePolicy):
        return value
    if value is None or value is False:
        return None
    seconds: float | None = None
    if value is True:
        seconds = DEFAULT_SECONDS
    elif isinstance(value, (int, float)):
        seconds = float(value)
    elif isinstance(value, timedelta):
        seconds = value.total_seconds()
    elif isinstance(value, str) and (match := AGE.fullmatch(value.strip())) is not None:
        seconds = float(match[1]) * UNITS[match[2]]
    if seconds is None or not 0 < seconds < float("inf"):
        valid = (
            "how long an answer is used: '90s', '15min', '1h', '7d', '2w', seconds above 0, a "
            "timedelta, or True for a day"
        )
        raise_option_error("cache", value, valid)
    return CachePolicy(seconds, refresh)


class CacheEntry(NamedTuple):
    """A remembered answer, without its body.

    Attributes
    ----------
    source
        The endpoint, without secrets.
    title
        Kind and name of the operation, or the beginning of its text.
    created
        Seconds since the epoch.
    size
        Bytes of the answer.
    """

    source: str
    title: str
    created: float
    size: int


class ResponseCache:
    """The answers in one file; safe for several threads and processes.

    A failure, as of a full disk, is reported once and costs the memory, never an answer.

    Parameters
    ----------
    path
        The file; it is created when first needed.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._process = 0  # a connection must not be used in a forked child
        self._hash_key = b""
        self._has_warned = False
        self._paused_until = 0.0  # of the monotonic clock

    def compute_key(self, headers: str, request: bytes) -> bytes:
        """Return the keyed hash of a request; empty if the file cannot be used."""
        if time.monotonic() < self._paused_until or not self._run(lambda _: True):
            return b""
        # No header holds a null character, so that it shows where the request begins.
        data = headers.encode() + b"\0" + request
        return blake2b(data, key=self._hash_key, digest_size=32).digest()

    def find(self, key: bytes, max_age: float) -> tuple[Response, float] | None:
        """Return an answer that is not older, and the seconds it took, or None."""
        row = self._run(
            lambda connection: connection.execute(
                "SELECT created, seconds, content_type, body FROM answers"
                " WHERE key = ? AND created >= ?",
                (key, time.time() - max_age),
            ).fetchone()
        )
        # An answer from the future is of a clock that was wrong.
        if row is None or row[0] > time.time() + 60:
            return None
        created, seconds, content_type, body = row
        headers = {"content-type": content_type}
        return Response(200, headers, body, replayed=True, cached_at=created), seconds

    def store(self, key: bytes, entry: CacheEntry, response: Response, seconds: float) -> None:
        """Remember an answer, and remove the oldest beyond the bounds."""
        if entry.size > MAX_ENTRY_BYTES:
            _LOG.info("An answer of %s is too large to be remembered.", entry.source)
            return
        content_type = response.headers.get("content-type", "application/json")

        def write(connection: sqlite3.Connection) -> bool:
            with connection:
                connection.execute(
                    "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (key, *entry[:3], seconds, content_type, entry.size, response.body),
                )
                remove_oldest(connection)
            return True

        self._run(write)

    def list_entries(self) -> list[CacheEntry]:
        """Return the answers, newest first."""
        rows = self._run(
            lambda connection: connection.execute(
                "SELECT source, title, created, size FROM answers ORDER BY created DESC"
            ).fetchall()
        )
        return [CacheEntry(*row) for row in rows or ()]

    def clear(self) -> int:
        """Remove all answers, also from the disk, and return their number."""

        def empty(connection: sqlite3.Connection) -> int:
            with connection:
                count = connection.execute("DELETE FROM answers").rowcount
            # The latest answers may stand in the write-ahead log alone.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return count

        return int(self._run(empty) or 0)

    def _run(self, action: Callable[[sqlite3.Connection], Any]) -> Any:  # noqa: ANN401 - of the action
        """Return the value of an action on the connection; None after a failure."""
        with self._lock:
            try:
                try:
                    return action(self._open())
                except sqlite3.DatabaseError as error:
                    if isinstance(error, sqlite3.OperationalError):  # locked, full or read-only
                        raise
                    self._remove_files()  # damaged: answers can be requested again
                    return action(self._open())
            except (sqlite3.Error, OSError) as error:
                reason = sanitize_text(error, 120)
                self._paused_until = time.monotonic() + PAUSE_SECONDS
        if not self._has_warned:
            self._has_warned = True
            warnings.warn(f"Answers are not remembered in {self._path}: {reason}.", stacklevel=2)
        return None

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._process == os.getpid():
            return self._connection
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Created before SQLite opens it, which gives its other files the mode of this one.
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        self._path.chmod(0o600)
        connection = sqlite3.connect(self._path, BUSY_SECONDS, check_same_thread=False)
        try:
            # Full: the file shrinks as answers are removed, whose bytes are overwritten.
            for pragma in ("auto_vacuum=FULL", "journal_mode=WAL", "synchronous=NORMAL"):
                connection.execute(f"PRAGMA {pragma}").fetchall()
            connection.execute("PRAGMA secure_delete=ON").fetchall()
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            with connection:
                if version not in (0, CACHE_FORMAT):
                    # Not converted: what another version remembered can be requested again.
                    connection.execute("DROP TABLE IF EXISTS answers")
                    connection.execute("DROP TABLE IF EXISTS secrets")
                connection.execute(f"PRAGMA user_version={CACHE_FORMAT}")
            connection.executescript(TABLES)
            with connection:
                insert = "INSERT OR IGNORE INTO secrets VALUES (1, ?)"
                connection.execute(insert, (os.urandom(32),))
            self._hash_key = connection.execute("SELECT hash_key FROM secrets").fetchone()[0]
        except BaseException:
            connection.close()
            raise
        self._connection, self._process = connection, os.getpid()
        return connection

    def _remove_files(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                Path(f"{self._path}{suffix}").unlink()


def remove_oldest(connection: sqlite3.Connection) -> None:
    """Remove answers that are too old, and the oldest beyond the bound in bytes."""
    connection.execute("DELETE FROM answers WHERE created < ?", (time.time() - MAX_SECONDS,))
    total = connection.execute("SELECT sum(size) FROM answers").fetchone()[0] or 0
    if total <= MAX_BYTES:
        return
    rows = connection.execute("SELECT created, size FROM answers ORDER BY created").fetchall()
    for created, size in rows:
        if total <= MAX_BYTES * 0.9:  # so that not each of the next answers removes others
            break
        connection.execute("DELETE FROM answers WHERE created <= ?", (created,))
        total -= size


def open_response_cache() -> ResponseCache:
    """Return the answers of this user, in the cache folder of the system."""
    return _open_path(get_cache_folder("responses") / "answers.sqlite")


@lru_cache(maxsize=4)
def _open_path(path: Path) -> ResponseCache:
    return ResponseCache(path)


class CachedRequest:
    """One request with an answer that may be remembered.

    Parameters
    ----------
    cache
        The answers.
    policy
        The policy in force.
    key
        The key of the request.
    source, title
        The endpoint and the operation, as they are listed.
    """

    def __init__(
        self, cache: ResponseCache, policy: CachePolicy, key: bytes, source: str, title: str
    ) -> None:
        self._cache, self._policy, self._key = cache, policy, key
        self._source, self._title = source, title

    def find(self) -> tuple[Response, float] | None:
        """Return the remembered answer and the seconds it took; None if it must be requested."""
        policy = self._policy
        if policy.refresh or policy.max_age is None:
            return None
        return self._cache.find(self._key, policy.max_age)

    def store(self, result: Result, seconds: float) -> None:
        """Remember an answer, if it is complete."""
        response = result.response
        if result.errors or not isinstance(response, Response) or response.replayed:
            return
        if response.status != 200 or not response.body:
            return
        entry = CacheEntry(self._source, self._title, time.time(), len(response.body))
        self._cache.store(self._key, entry, response, seconds)


def prepare_cached_request(
    own: CachePolicy | None, transport: Transport, credentials: Credentials, request: Request
) -> CachedRequest | None:
    """Return the place of a request among the remembered answers.

    Parameters
    ----------
    own
        The policy of the client; that of the innermost ``with`` block comes before it.
    transport
        The transport that sends the request.
    credentials
        The token and the headers, which decide about the answer.
    request
        The request.

    Returns
    -------
    CachedRequest or None
        None if it has none: without a policy, for a mutation, and for an endpoint of this process.
    """
    policy, document = _open_policies[-1] if _open_policies else own, request.document
    # A block that only refreshes leaves it to each client whether answers are remembered.
    if policy is not None and policy.max_age is None:
        policy = None if own is None else CachePolicy(own.max_age, policy.refresh)
    if policy is None or document is None or document.kind != "query":
        return None
    if not isinstance(transport, HttpTransport) or document.incremental_directives:
        return None
    lines = sorted(
        f"{name.lower()}: {value}" for name, value in credentials.build_headers().items()
    )
    try:
        asked = encode_request(
            f"{transport.uds or ''}{transport.url}",
            normalize_text(document.text),
            document.name,
            request.variables or {},
        )
    except (JSONError, TypeError):  # with files, which are read while they are sent
        return None
    cache = open_response_cache()
    key = cache.compute_key("\n".join(lines), asked)
    if not key:
        return None
    title = document.name or " ".join(document.text.split())
    title = redact_text(sanitize_text(title, 60))  # a listing is saved with the notebook
    return CachedRequest(cache, policy, key, transport.source, title)
