"""The file of a recording: JSON lines of requests and what was answered to them.

The first line says the format. Each further one holds a request (``connection``, ``operation``,
``query``, ``variables``), which of its answers it is (``take``, 1 where it is left out), and that
answer: ``status`` with ``data``, ``errors`` and ``extensions``, or ``type`` and ``body`` of what is
no GraphQL, or a ``failure`` to get any. A line replaces earlier ones of the same request that have
the same take or a later one, so that recording anew is appending too.
"""

from __future__ import annotations

import json
import os
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from gqlnb.client.files import replace_file
from gqlnb.errors import ReplayError, plain
from gqlnb.leaks import MASK, quoted, replaced
from gqlnb.leaks import found as leaks_in
from gqlnb.model.normal import normal
from gqlnb.token import words
from gqlnb.wire.answers import ABOUT_THE_QUERY
from gqlnb.wire.json import JSONError, encode, faults, load

try:
    import fcntl
except ImportError:  # not POSIX: a line is still written at once
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Answer", "Failure", "Line", "Span", "Tape", "key_of", "safe"]

VERSION = 1
HEAD = encode({"gqlnb": "recording", "version": VERSION}) + b"\n"
MASKED = MASK.encode()
PASSES = 3  # a secret may come to light when the one around it is gone
ANEW = "Mend or delete that line, or delete the file and record it anew."


class Failure(msgspec.Struct, omit_defaults=True):
    """Why no answer came, as the client said it."""

    error: Literal["TransportError", "AuthError", "RateLimited"]
    message: str
    status: int | None = None
    wait: float | None = None
    broken: bool = False


class Answer(msgspec.Struct, omit_defaults=True, kw_only=True):
    """What came of a request.

    Attributes
    ----------
    take
        Which of the answers to the same request it is, from 1.
    status
        The HTTP status.
    wait
        Seconds the endpoint asked to wait.
    data, errors, extensions
        Those of a GraphQL response, as JSON.
    type, body
        Media type and text of what was none.
    failure
        Why nothing came.
    """

    take: int = 1
    status: int = 200
    wait: float | None = None
    type: str | None = None
    body: str | None = None
    failure: Failure | None = None
    data: msgspec.Raw | UnsetType = UNSET
    errors: msgspec.Raw | UnsetType = UNSET
    extensions: msgspec.Raw | UnsetType = UNSET

    @property
    def settled(self) -> bool:
        """Whether it is the endpoint's word on the request; else another time may give one."""
        word = 200 <= self.status < 300 or self.status in ABOUT_THE_QUERY
        return self.failure is None and self.type is None and word


class Line(msgspec.Struct):
    """The request of a line of a recording.

    Attributes
    ----------
    connection
        The name of the connection, or the address without secrets.
    query
        The document as :func:`gqlnb.model.normal.normal` writes it.
    operation
        The name of the operation.
    variables
        Its variables.
    take
        Which of the answers to it the line holds.
    """

    connection: str
    query: str
    operation: str | None = None
    variables: dict[str, Any] = {}
    take: int = 1


class Span(NamedTuple):
    """Where a line stands in the file.

    Attributes
    ----------
    start, end
        In bytes.
    number
        Counted from 1.
    line
        Its request.
    """

    start: int
    end: int
    number: int
    line: Line


_LINES = msgspec.json.Decoder(Line)
_ANSWERS = msgspec.json.Decoder(Answer)


class Tape:
    """A recording on disk; safe to use from several threads and processes.

    Parameters
    ----------
    path
        The file; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.shown = plain(shown(path), 120)
        self._lock = threading.RLock()
        self._state: tuple[int, ...] = ()  # of the file when it was read
        self._takes: dict[bytes, list[Span]] = {}
        self._loose: dict[bytes, bytes] | None = None
        self._superseded = 0
        self._count = 0

    def answer(self, key: bytes, index: int) -> tuple[int, Answer | None]:
        """Return how many answers there are to a request, and one of them.

        Parameters
        ----------
        key
            The request.
        index
            Which one, from 0; beyond the last one it is that.

        Raises
        ------
        ReplayError
            If the file cannot be read; a line that is broken is named.
        """
        with self._lock, self._opened("rb") as file:
            spans = self._spans(key) if self._read(file) else []
            if not spans or file is None:
                return 0, None
            span = spans[min(index, len(spans) - 1)]
            file.seek(span.start)
            try:
                return len(spans), _ANSWERS.decode(file.read(span.end - span.start))
            except msgspec.MsgspecError as error:
                raise self._broken(span.number, error) from None

    def spans(self) -> list[Span]:
        """Return the lines that count, in their order."""
        with self._lock, self._opened("rb") as file:
            self._read(file)
            return self._in_order()

    def append(self, question: bytes, answer: Answer) -> None:
        """Write a line at the end, at once.

        Parameters
        ----------
        question
            The request, as :func:`key_of` returns it.
        answer
            What came of it.

        Raises
        ------
        ReplayError
            If it cannot be written.
        """
        line = question[:-1] + b"," + safe(encode(answer))[1:] + b"\n"
        with self._lock, self._opened("ab") as file:
            known = file is not None and self._state == state(file)
            start = self._write(file, line)
            if file is not None and known and start:
                self._count += 1
                self._add(Span(start, start + len(line), self._count, _LINES.decode(line)))
                self._state = state(file)

    def begin(self) -> None:
        """Make the file ready to be written to, and drop the lines that were replaced.

        Raises
        ------
        ReplayError
            If it cannot be.
        """
        with self._lock:
            self.tidy()  # who reads it first sees whether it is one
            with self._opened("ab") as file:
                self._write(file, b"")

    def tidy(self) -> None:
        """Drop the lines that were replaced, if there are any; all others keep their order."""
        with self._lock, self._opened("r+b") as file:
            if file is None or not self._read(file) or not self._superseded or fcntl is None:
                return
            kept = [HEAD]
            for span in self._in_order():
                file.seek(span.start)
                kept.append(file.read(span.end - span.start).rstrip() + b"\n")
            self._replace(b"".join(kept))
            self._state = ()

    def _in_order(self) -> list[Span]:
        return sorted(span for spans in self._takes.values() for span in spans)

    def _spans(self, key: bytes) -> list[Span]:
        return self._takes.get(key) or self._loosely(key)

    def _loosely(self, key: bytes) -> list[Span]:
        """Return the lines of a request that a person, or another printer, laid out otherwise.

        Or of one with a secret in it that nobody here knows any more.
        """
        if self._loose is None:
            self._loose = {}
            for known, (span, *_) in self._takes.items():
                line = span.line
                text = normal(line.query) or line.query
                other = form(line.connection, text, line.operation, line.variables)
                self._loose.setdefault(other, known)
        known = self._loose.get(key) or next(
            (known for known in self._takes if MASKED in known and fits(known, key)), b""
        )
        return self._takes.get(known, [])

    def _read(self, file: IO[bytes] | None) -> bool:
        """Read the requests of the file again if it has changed; False if there is none."""
        if file is None:
            self._forget(())
            return False
        if state(file) == self._state:
            return True
        self._forget(())
        file.seek(0)
        start = 0
        for number, text in enumerate(file, 1):
            end = start + len(text)
            if number == 1:
                self._check(text)
            elif text.strip():
                self._add(Span(start, end, number, self._parsed(number, text)))
            start, self._count = end, number
        self._state = state(file)
        return True

    def _forget(self, now: tuple[int, ...]) -> None:
        self._state, self._takes, self._superseded, self._count = now, {}, 0, 0
        self._loose = None

    def _add(self, span: Span) -> None:
        line = span.line
        key = form(line.connection, line.query, line.operation, line.variables)
        spans = self._takes.setdefault(key, [])
        self._superseded += len(spans[max(0, line.take - 1) :])
        spans[max(0, line.take - 1) :] = [span]
        self._loose = None

    def _parsed(self, number: int, text: bytes) -> Line:
        try:
            return _LINES.decode(text)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise self._broken(number, error) from None

    def _check(self, text: bytes) -> None:
        """Raise unless the first line of a file says that we can read it."""
        try:
            said = json.loads(text)
        except ValueError:
            said = None
        if not isinstance(said, dict) or said.get("gqlnb") != "recording":
            msg = (
                f"{self.shown} is no recording of gqlnb: its first line would be "
                f"{HEAD.decode().strip()}. Name another file."
            )
            raise ReplayError(msg)
        if said.get("version") != VERSION:
            msg = (
                f"{self.shown} is a recording of format {plain(said.get('version'), 20)}, and this "
                f"version of gqlnb reads format {VERSION}. Update gqlnb, or record it anew."
            )
            raise ReplayError(msg)

    def _broken(self, number: int, error: Exception) -> ReplayError:
        msg = f"{self.shown}, line {number} is broken: {plain(error, 120).rstrip('.')}. {ANEW}"
        return ReplayError(msg)

    def _write(self, file: IO[bytes] | None, line: bytes) -> int:
        """Write a line at the end of a file, whole or not at all; return where it begins.

        0 where a line had to be written, or ended, before it.
        """
        if file is None:
            return 0
        size = file.seek(0, os.SEEK_END)
        before = b"" if size else HEAD
        try:
            if size and _last(self.path) != b"\n":
                before = b"\n"
            file.write(before + line)
            file.flush()
        except OSError as error:
            os.ftruncate(file.fileno(), size)
            raise self._refused(error) from None
        return 0 if before else size

    def _replace(self, data: bytes) -> None:
        try:
            replace_file(self.path.resolve(), data, keep_mode=True)
        except OSError as error:
            raise self._refused(error) from None

    def _refused(self, error: OSError) -> ReplayError:
        reason = error.strerror or type(error).__name__
        return ReplayError(f"{self.shown} cannot be used as a recording: {plain(reason, 120)}.")

    @contextmanager
    def _opened(self, mode: str) -> Iterator[IO[bytes] | None]:
        """Open the file, locked against other processes; None if it is to be read and missing."""
        try:
            file = self._locked(mode)
        except FileNotFoundError as error:
            if mode == "ab":
                raise self._refused(error) from None
            file = None
        except OSError as error:
            raise self._refused(error) from None
        try:
            yield file
        finally:
            if file is not None:
                file.close()

    def _locked(self, mode: str) -> IO[bytes]:
        while True:
            file: IO[bytes] = self.path.open(mode)
            try:
                if fcntl is not None:
                    fcntl.flock(file, fcntl.LOCK_SH if mode == "rb" else fcntl.LOCK_EX)
                if os.path.samestat(os.fstat(file.fileno()), self.path.stat()):
                    return file
            except BaseException:
                file.close()
                raise
            file.close()  # it was replaced while we waited


def state(file: IO[bytes]) -> tuple[int, ...]:
    """Return what changes when a file does."""
    found = os.fstat(file.fileno())
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def shown(path: Path) -> str:
    """Return a path as a person would write it, from where they are."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def key_of(
    connection: str, query: str, operation: str | None, variables: Mapping[str, Any]
) -> bytes:
    """Return a request as the JSON object that is its part of a line, without secrets.

    Equal requests give equal bytes: names are sorted, and a number has one form.

    Raises
    ------
    ReplayError
        If a variable is no JSON value.
    """
    fault = next(faults(variables, ()), None)
    if fault is not None:
        msg = f"The request cannot be recorded: {fault}"
        raise ReplayError(msg)
    return safe(form(connection, query, operation, variables))


def form(connection: str, query: str, operation: str | None, variables: Mapping[str, Any]) -> bytes:
    """Return the JSON of a request of JSON-like variables as it is."""
    asked = {"connection": connection, "operation": operation, "query": query}
    return encode(asked | {"variables": canonical(variables)})


def canonical(value: Any) -> Any:
    """Return a JSON-like value with its keys sorted, and whole numbers as integers."""
    if isinstance(value, dict):
        return {key: canonical(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [canonical(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def safe(data: bytes) -> bytes:
    """Return JSON without the secrets that this process knows, or that look like one.

    Raises
    ------
    ReplayError
        If it would be no JSON then.
    """
    text, known = data.decode(), words()
    for _ in range(PASSES):
        text, leaks = replaced(text, quoted(text, leaks_in(text, known)))
        if not leaks:
            break
        data = text.encode()
        if not sound(data):
            msg = "What holds a token in such a place cannot be recorded without it."
            raise ReplayError(msg)
    return data


def fits(known: bytes, asked: bytes) -> bool:
    """Tell whether a request may be the recorded one, which was written without its secrets."""
    first, *rest = known.split(MASKED)
    if not asked.startswith(first):
        return False
    at = len(first)
    for piece in rest:
        found = asked.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return asked.endswith(rest[-1])


def sound(data: bytes) -> bool:
    """Tell whether bytes are JSON."""
    try:
        load(data)
    except JSONError:
        return False
    return True


def _last(path: Path) -> bytes:
    """Return the last byte of a file."""
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1)
