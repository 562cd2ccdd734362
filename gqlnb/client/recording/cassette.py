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
import time
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from gqlnb.auth import collect_secrets
from gqlnb.config import replace_file
from gqlnb.document.json_codec import (
    JSONError,
    dump_exact_json,
    dump_json,
    dump_valid_json,
    iter_faults,
    load_exact_json,
    load_json,
)
from gqlnb.document.syntax import normalize_document
from gqlnb.errors import (
    AuthError,
    Problem,
    QueryError,
    RateLimited,
    ReplayError,
    TransportError,
    sanitize_text,
)
from gqlnb.http.messages import JSON_CONTENT_TYPE, Response
from gqlnb.http.rate_limit_rules import read_retry_after
from gqlnb.http.response_parser import QUERY_ERROR_STATUSES, has_json_media_type
from gqlnb.redact import MASK, replace_secrets, widen_to_json_values
from gqlnb.redact import find_secrets as leaks_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "Cassette",
    "CassetteLine",
    "LineSpan",
    "RecordedAnswer",
    "RecordedFailure",
    "TransportOutcome",
    "build_request_key",
    "decode_answer",
    "encode_outcome",
    "mask_secrets",
]

try:
    import fcntl
except ImportError:  # not POSIX: a line is still written at once
    fcntl = None  # type: ignore[assignment]

FORMAT_VERSION = 1
HEADER_LINE = dump_valid_json({"gqlnb": "recording", "version": FORMAT_VERSION}) + b"\n"
MASK_BYTES = MASK.encode()
MAX_MASKING_PASSES = 3  # a secret may come to light when the one around it is gone
REPAIR_HINT = "Mend or delete that line, or delete the file and record it anew."


class RecordedFailure(msgspec.Struct, omit_defaults=True):
    """Why no answer came, as the client said it."""

    error: Literal["TransportError", "AuthError", "RateLimited"]
    message: str
    status: int | None = None
    wait: float | None = None
    broken: bool = False


class RecordedAnswer(msgspec.Struct, omit_defaults=True, kw_only=True):
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
    failure: RecordedFailure | None = None
    data: msgspec.Raw | UnsetType = UNSET
    errors: msgspec.Raw | UnsetType = UNSET
    extensions: msgspec.Raw | UnsetType = UNSET

    @property
    def is_conclusive(self) -> bool:
        """Whether it is the endpoint's word on the request; else another time may give one."""
        word = 200 <= self.status < 300 or self.status in QUERY_ERROR_STATUSES
        return self.failure is None and self.type is None and word


class CassetteLine(msgspec.Struct):
    """The request of a line of a recording.

    Attributes
    ----------
    connection
        The name of the connection, or the address without secrets.
    query
        The document as :func:`gqlnb.document.normalize_document.normalize_document` writes it.
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


class LineSpan(NamedTuple):
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
    line: CassetteLine


_LINE_DECODER = msgspec.json.Decoder(CassetteLine)
_ANSWER_DECODER = msgspec.json.Decoder(RecordedAnswer)


class Cassette:
    """A recording on disk; safe to use from several threads and processes.

    Parameters
    ----------
    path
        The file; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.display_path = sanitize_text(shorten_path(path), 120)
        self._lock = threading.RLock()
        self._file_state: tuple[int, ...] = ()  # of the file when it was read
        self._spans_by_key: dict[bytes, list[LineSpan]] = {}
        self._loose_keys: dict[bytes, bytes] | None = None
        self._superseded = 0
        self._line_count = 0

    def read_answer(self, key: bytes, index: int) -> tuple[int, RecordedAnswer | None]:
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
        with self._lock, self._open("rb") as file:
            spans = self._find_spans(key) if self._read_changes(file) else []
            if not spans or file is None:
                return 0, None
            span = spans[min(index, len(spans) - 1)]
            file.seek(span.start)
            try:
                return len(spans), _ANSWER_DECODER.decode(file.read(span.end - span.start))
            except msgspec.MsgspecError as error:
                raise self._build_line_error(span.number, error) from None

    def read_spans(self) -> list[LineSpan]:
        """Return the lines that count, in their order."""
        with self._lock, self._open("rb") as file:
            self._read_changes(file)
            return self._sort_spans()

    def append_answer(self, question: bytes, answer: RecordedAnswer) -> None:
        """Write a line at the end, at once.

        Parameters
        ----------
        question
            The request, as :func:`build_request_key` returns it.
        answer
            What came of it.

        Raises
        ------
        ReplayError
            If it cannot be written.
        """
        line = question[:-1] + b"," + mask_secrets(dump_valid_json(answer))[1:] + b"\n"
        with self._lock, self._open("ab") as file:
            known = file is not None and self._file_state == read_file_state(file)
            start = self._write_line(file, line)
            if file is not None and known and start:
                self._line_count += 1
                self._index_span(
                    LineSpan(start, start + len(line), self._line_count, _LINE_DECODER.decode(line))
                )
                self._file_state = read_file_state(file)

    def prepare_file(self) -> None:
        """Make the file ready to be written to, and drop the lines that were replaced.

        Raises
        ------
        ReplayError
            If it cannot be.
        """
        with self._lock:
            self.remove_superseded()  # who reads it first sees whether it is one
            with self._open("ab") as file:
                self._write_line(file, b"")

    def remove_superseded(self) -> None:
        """Drop the lines that were replaced, if there are any; all others keep their order."""
        with self._lock, self._open("r+b") as file:
            if (
                file is None
                or not self._read_changes(file)
                or not self._superseded
                or fcntl is None
            ):
                return
            kept = [HEADER_LINE]
            for span in self._sort_spans():
                file.seek(span.start)
                kept.append(file.read(span.end - span.start).rstrip() + b"\n")
            self._replace_contents(b"".join(kept))
            self._file_state = ()

    def _sort_spans(self) -> list[LineSpan]:
        return sorted(span for spans in self._spans_by_key.values() for span in spans)

    def _find_spans(self, key: bytes) -> list[LineSpan]:
        return self._spans_by_key.get(key) or self._find_loose_spans(key)

    def _find_loose_spans(self, key: bytes) -> list[LineSpan]:
        """Return the lines of a request that a person, or another printer, laid out otherwise.

        Or of one with a secret in it that nobody here knows any more.
        """
        if self._loose_keys is None:
            self._loose_keys = {}
            for known, (span, *_) in self._spans_by_key.items():
                line = span.line
                text = normalize_document(line.query) or line.query
                other = encode_request(line.connection, text, line.operation, line.variables)
                self._loose_keys.setdefault(other, known)
        known = self._loose_keys.get(key) or next(
            (
                known
                for known in self._spans_by_key
                if MASK_BYTES in known and is_masked_match(known, key)
            ),
            b"",
        )
        return self._spans_by_key.get(known, [])

    def _read_changes(self, file: IO[bytes] | None) -> bool:
        """Read the requests of the file again if it has changed; False if there is none."""
        if file is None:
            self._reset_index(())
            return False
        if read_file_state(file) == self._file_state:
            return True
        self._reset_index(())
        file.seek(0)
        start = 0
        for number, text in enumerate(file, 1):
            end = start + len(text)
            if number == 1:
                self._check_header(text)
            elif text.strip():
                self._index_span(LineSpan(start, end, number, self._parse_line(number, text)))
            start, self._line_count = end, number
        self._file_state = read_file_state(file)
        return True

    def _reset_index(self, now: tuple[int, ...]) -> None:
        self._file_state, self._spans_by_key, self._superseded, self._line_count = now, {}, 0, 0
        self._loose_keys = None

    def _index_span(self, span: LineSpan) -> None:
        line = span.line
        key = encode_request(line.connection, line.query, line.operation, line.variables)
        spans = self._spans_by_key.setdefault(key, [])
        self._superseded += len(spans[max(0, line.take - 1) :])
        spans[max(0, line.take - 1) :] = [span]
        self._loose_keys = None

    def _parse_line(self, number: int, text: bytes) -> CassetteLine:
        try:
            return _LINE_DECODER.decode(text)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise self._build_line_error(number, error) from None

    def _check_header(self, text: bytes) -> None:
        """Raise unless the first line of a file says that we can read it."""
        try:
            said = json.loads(text)
        except ValueError:
            said = None
        if not isinstance(said, dict) or said.get("gqlnb") != "recording":
            msg = (
                f"{self.display_path} is no recording of gqlnb: its first line would be "
                f"{HEADER_LINE.decode().strip()}. Name another file."
            )
            raise ReplayError(msg)
        if said.get("version") != FORMAT_VERSION:
            msg = (
                f"{self.display_path} is a recording of format {sanitize_text(said.get('version'), 20)}, and this "
                f"version of gqlnb reads format {FORMAT_VERSION}. Update gqlnb, or record it anew."
            )
            raise ReplayError(msg)

    def _build_line_error(self, number: int, error: Exception) -> ReplayError:
        msg = f"{self.display_path}, line {number} is broken: {sanitize_text(error, 120).rstrip('.')}. {REPAIR_HINT}"
        return ReplayError(msg)

    def _write_line(self, file: IO[bytes] | None, line: bytes) -> int:
        """Write a line at the end of a file, whole or not at all; return where it begins.

        0 where a line had to be written, or ended, before it.
        """
        if file is None:
            return 0
        size = file.seek(0, os.SEEK_END)
        before = b"" if size else HEADER_LINE
        try:
            if size and _read_last_byte(self.path) != b"\n":
                before = b"\n"
            file.write(before + line)
            file.flush()
        except OSError as error:
            os.ftruncate(file.fileno(), size)
            raise self._build_file_error(error) from None
        return 0 if before else size

    def _replace_contents(self, data: bytes) -> None:
        try:
            replace_file(self.path.resolve(), data, keep_mode=True)
        except OSError as error:
            raise self._build_file_error(error) from None

    def _build_file_error(self, error: OSError) -> ReplayError:
        reason = error.strerror or type(error).__name__
        return ReplayError(
            f"{self.display_path} cannot be used as a recording: {sanitize_text(reason, 120)}."
        )

    @contextmanager
    def _open(self, mode: str) -> Iterator[IO[bytes] | None]:
        """Open the file, locked against other processes; None if it is to be read and missing."""
        try:
            file = self._open_locked(mode)
        except FileNotFoundError as error:
            if mode == "ab":
                raise self._build_file_error(error) from None
            file = None
        except OSError as error:
            raise self._build_file_error(error) from None
        try:
            yield file
        finally:
            if file is not None:
                file.close()

    def _open_locked(self, mode: str) -> IO[bytes]:
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


def read_file_state(file: IO[bytes]) -> tuple[int, ...]:
    """Return what changes when a file does."""
    found = os.fstat(file.fileno())
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def shorten_path(path: Path) -> str:
    """Return a path as a person would write it, from where they are."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def build_request_key(
    connection: str, query: str, operation: str | None, variables: Mapping[str, Any]
) -> bytes:
    """Return a request as the JSON object that is its part of a line, without secrets.

    Equal requests give equal bytes: names are sorted, and a number has one form.

    Raises
    ------
    ReplayError
        If a variable is no JSON value.
    """
    fault = next(iter_faults(variables, ()), None)
    if fault is not None:
        msg = f"The request cannot be recorded: {fault}"
        raise ReplayError(msg)
    return mask_secrets(encode_request(connection, query, operation, variables))


def encode_request(
    connection: str, query: str, operation: str | None, variables: Mapping[str, Any]
) -> bytes:
    """Return the JSON of a request of JSON-like variables as it is."""
    asked = {"connection": connection, "operation": operation, "query": query}
    return dump_valid_json(asked | {"variables": canonicalize_value(variables)})


def canonicalize_value(value: Any) -> Any:
    """Return a JSON-like value with its keys sorted, and whole numbers as integers."""
    if isinstance(value, dict):
        return {key: canonicalize_value(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [canonicalize_value(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def mask_secrets(data: bytes) -> bytes:
    """Return JSON without the secrets that this process knows, or that look like one.

    Raises
    ------
    ReplayError
        If it would be no JSON then.
    """
    text, known = data.decode(), collect_secrets()
    for _ in range(MAX_MASKING_PASSES):
        text, leaks = replace_secrets(text, widen_to_json_values(text, leaks_in(text, known)))
        if not leaks:
            break
        data = text.encode()
        if not is_json(data):
            msg = "What holds a token in such a place cannot be recorded without it."
            raise ReplayError(msg)
    return data


def is_masked_match(known: bytes, asked: bytes) -> bool:
    """Tell whether a request may be the recorded one, which was written without its secrets."""
    first, *rest = known.split(MASK_BYTES)
    if not asked.startswith(first):
        return False
    at = len(first)
    for piece in rest:
        found = asked.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return asked.endswith(rest[-1])


def is_json(data: bytes) -> bool:
    """Tell whether bytes are JSON."""
    try:
        load_json(data)
    except JSONError:
        return False
    return True


def _read_last_byte(path: Path) -> bytes:
    """Return the last byte of a file."""
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1)


TransportOutcome = Response | TransportError | QueryError

ERROR_CLASSES: Mapping[str, type[TransportError]] = {
    "AuthError": AuthError,
    "RateLimited": RateLimited,
    "TransportError": TransportError,
}
RESPONSE_MEMBERS = ("data", "errors", "extensions")
MAX_BODY_BYTES = 1 << 16  # bytes kept of what is no GraphQL; errors show fewer


def encode_outcome(outcome: TransportOutcome) -> RecordedAnswer:
    """Return what came of a request as it is recorded.

    Raises
    ------
    ReplayError
        If it holds what JSON cannot.
    """
    if isinstance(outcome, TransportError):
        kind: Any = next(name for name, made in ERROR_CLASSES.items() if isinstance(outcome, made))
        failure = RecordedFailure(kind, str(outcome), outcome.status, outcome.wait, outcome.broken)
        return RecordedAnswer(failure=failure)
    if isinstance(outcome, QueryError):
        problems = outcome.problems or [Problem(str(outcome))]
        return _encode_graphql({"errors": [problem.formatted for problem in problems]}, 400)
    members = outcome.members
    if members is None and has_json_media_type(outcome):
        try:
            members = load_json(outcome.body)
        except JSONError:
            members = None
    graphql = isinstance(members, dict) and (
        "data" in members or isinstance(members.get("errors"), list)
    )
    if not graphql or members is None:
        return _encode_other_body(outcome)
    if outcome.members is None:
        exact = load_exact_json(outcome.body)  # a recording holds all digits that came
        found: Any = {
            name: msgspec.Raw(dump_exact_json(exact[name]))
            for name in RESPONSE_MEMBERS
            if name in exact
        }
        answer = RecordedAnswer(status=outcome.status, **found)
    else:
        answer = _encode_graphql(members, outcome.status)
    if members.get("data") is None:
        answer.wait = _read_retry_after(outcome)
    return answer


def _encode_graphql(members: Mapping[str, Any], status: int) -> RecordedAnswer:
    kept: dict[str, Any] = {}
    try:
        for name in RESPONSE_MEMBERS:
            if name in members:
                kept[name] = msgspec.Raw(dump_json(members[name]))
    except JSONError as error:
        reason = str(error)
    else:
        return RecordedAnswer(status=status, **kept)
    msg = f"The answer cannot be recorded: {reason}"
    raise ReplayError(msg)


def _encode_other_body(response: Response) -> RecordedAnswer:
    media = response.headers.get("content-type", "")
    body = response.body[:MAX_BODY_BYTES].decode("utf-8", "replace")
    return RecordedAnswer(
        status=response.status, type=media, body=body, wait=_read_retry_after(response)
    )


def _read_retry_after(response: Response) -> float | None:
    limited = response.status == 429
    wait = read_retry_after(response.headers, time.time(), limited=limited)
    return None if wait is None else round(wait)


def decode_answer(answer: RecordedAnswer) -> Response:
    """Return a recorded answer as the response it was.

    Raises
    ------
    TransportError
        If none came.
    """
    failure = answer.failure
    if failure is not None:
        error = ERROR_CLASSES[failure.error](
            failure.message, status=failure.status, wait=failure.wait, broken=failure.broken
        )
        error.replayed = True
        raise error
    headers = {"content-type": JSON_CONTENT_TYPE if answer.type is None else answer.type}
    if answer.wait is not None:
        headers["retry-after"] = f"{answer.wait:.0f}"
    body = (answer.body or "").encode()
    if answer.type is None:
        members = {"data": answer.data, "errors": answer.errors, "extensions": answer.extensions}
        body = dump_valid_json(
            {name: it for name, it in members.items() if not isinstance(it, UnsetType)}
        )
    return Response(answer.status, headers, body, replayed=True)
