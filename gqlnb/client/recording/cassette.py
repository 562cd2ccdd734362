"""The file of a recording: requests and their answers as JSON lines.

The first line names the format. Each further line contains a request (``connection``,
``operation``, ``query``, ``variables``), the number of its answer (``take``, by default 1), and the
answer: ``status`` with ``data``, ``errors`` and ``extensions``, or ``type`` and ``body`` of another
response, or the ``failure`` to get one. A line replaces earlier lines of the same request with the
same take or a later one, so that a recording is always written by appending.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, cast

import msgspec
from msgspec import UNSET, UnsetType

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
from gqlnb.redact import MASK, find_secrets, replace_secrets, widen_to_json_values
from gqlnb.tokens import collect_secrets

try:
    import fcntl
except ImportError:  # not POSIX: lines are still written in one call
    fcntl = None  # type: ignore[assignment]

FORMAT_VERSION = 1
HEADER_LINE = dump_valid_json({"gqlnb": "recording", "version": FORMAT_VERSION}) + b"\n"
MASK_BYTES = MASK.encode()
MAX_MASKING_PASSES = 3  # masking one secret may reveal another one
MAX_BODY_BYTES = 1 << 16  # of responses that are not GraphQL; errors show fewer
RESPONSE_MEMBERS = ("data", "errors", "extensions")
REPAIR_HINT = "Repair or delete that line, or delete the file and record again."
ERROR_CLASSES: Mapping[str, type[TransportError]] = {
    "AuthError": AuthError,
    "RateLimited": RateLimited,
    "TransportError": TransportError,
}
ErrorName = Literal["TransportError", "AuthError", "RateLimited"]
TransportOutcome = Response | TransportError | QueryError


class RecordedFailure(msgspec.Struct, omit_defaults=True):
    """A failure to get a response, with the client's error."""

    error: ErrorName
    message: str
    status: int | None = None
    wait: float | None = None
    broken: bool = False


class RecordedAnswer(msgspec.Struct, omit_defaults=True, kw_only=True):
    """The answer to a request.

    Attributes
    ----------
    take
        Number of the answer among those to the same request, from 1.
    status
        HTTP status.
    wait
        Seconds of ``Retry-After``.
    data, errors, extensions
        Members of a GraphQL response, as JSON.
    type, body
        Media type and text of another response.
    failure
        The failure, if there was no response.
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
        """Whether it is a GraphQL response with data or errors of the query, not an outage."""
        accepted = 200 <= self.status < 300 or self.status in QUERY_ERROR_STATUSES
        return self.failure is None and self.type is None and accepted


class CassetteLine(msgspec.Struct):
    """The request of a line of a recording.

    Attributes
    ----------
    connection
        Name of the connection, or the address without secrets.
    query
        The document in the layout of :func:`gqlnb.document.syntax.normalize_document`.
    operation
        Name of the operation.
    variables
        The variables.
    take
        Number of the answer, from 1.
    """

    connection: str
    query: str
    operation: str | None = None
    variables: dict[str, Any] = {}
    take: int = 1


class LineSpan(NamedTuple):
    """The position of a line in the file.

    Attributes
    ----------
    start, end
        Offsets in bytes.
    number
        Line number, from 1.
    line
        The request.
    """

    start: int
    end: int
    number: int
    line: CassetteLine


normalize_text = lru_cache(512)(normalize_document)
_LINE_DECODER = msgspec.json.Decoder(CassetteLine)
_ANSWER_DECODER = msgspec.json.Decoder(RecordedAnswer)


# The file is only appended to: a later line replaces an earlier one with the same number.
# Compacting it is a separate, atomic step.
class Cassette:
    """A recording on disk; safe to use from several threads and processes.

    Parameters
    ----------
    path
        The file; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        here = Path.cwd()
        name = path.relative_to(here) if path.is_relative_to(here) else path
        self.display_path = sanitize_text(name, 120)
        self._lock = threading.RLock()
        self._file_state: tuple[int, ...] = ()  # when the file was read
        self._spans_by_key: dict[bytes, list[LineSpan]] = {}
        self._unexamined: list[bytes] = []  # keys
        self._loose_keys: dict[bytes, bytes] = {}  # keys of texts without layout, or with masks
        self._superseded = 0
        self._line_count = 0

    def read_answer(self, key: bytes, index: int) -> tuple[int, RecordedAnswer | None]:
        """Return the number of answers to a request, and one of them.

        Parameters
        ----------
        key
            The request, as :func:`build_request_key` returns it.
        index
            Index of the answer, from 0; beyond the last one, that is returned.

        Raises
        ------
        ReplayError
            If the file cannot be read; the message names an invalid line.
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
        """Return the lines that were not replaced, in their order."""
        with self._lock, self._open("rb") as file:
            self._read_changes(file)
            return self._sort_spans()

    def append_answer(self, key: bytes, answer: RecordedAnswer) -> None:
        """Append a line.

        Parameters
        ----------
        key
            The request, as :func:`build_request_key` returns it.
        answer
            The answer.

        Raises
        ------
        ReplayError
            If it cannot be written.
        """
        line = key[:-1] + b"," + mask_secrets(dump_valid_json(answer))[1:] + b"\n"
        with self._lock, self._open("a+b") as file:
            is_indexed = file is not None and self._file_state == read_file_state(file)
            start = self._write_line(file, line)
            if file is not None and is_indexed and start:
                self._line_count += 1
                request = _LINE_DECODER.decode(line)
                self._index_span(LineSpan(start, start + len(line), self._line_count, request))
                self._file_state = read_file_state(file)

    def prepare_file(self) -> None:
        """Create the file if necessary, and remove the lines that were replaced.

        Raises
        ------
        ReplayError
            If it is not a recording, or cannot be written.
        """
        with self._lock:
            self.remove_superseded()  # first, as it checks that the file is a recording
            with self._open("a+b") as file:
                self._write_line(file, b"")

    def remove_superseded(self) -> None:
        """Remove the lines that were replaced; all others keep their order."""
        with self._lock, self._open("r+b") as file:
            if not self._read_changes(file) or file is None or not self._superseded:
                return
            if fcntl is None:  # without a lock another process may append meanwhile
                return
            lines = [HEADER_LINE]
            for span in self._sort_spans():
                file.seek(span.start)
                lines.append(file.read(span.end - span.start).rstrip() + b"\n")
            try:
                replace_file(self.path.resolve(), b"".join(lines), private=False)
            except OSError as error:
                raise self._build_file_error(error) from None
            self._file_state = ()

    def _sort_spans(self) -> list[LineSpan]:
        return sorted(span for spans in self._spans_by_key.values() for span in spans)

    def _find_spans(self, key: bytes) -> list[LineSpan]:
        """Return the lines of a request."""
        # If none is equal, one matches whose document is laid out differently, as after an edit by
        # hand, or which has a mask in the place of a secret that this process does not know.
        if key in self._spans_by_key:
            return self._spans_by_key[key]
        # Each line is examined once: a session that records asks for each of its requests.
        while self._unexamined:
            stored = self._unexamined.pop()
            line = self._spans_by_key[stored][0].line
            text = normalize_text(line.query)
            loose = encode_request(line.connection, text, line.operation, line.variables)
            if loose != stored or MASK_BYTES in loose:
                self._loose_keys[loose] = stored
        if key in self._loose_keys:
            return self._spans_by_key[self._loose_keys[key]]
        for loose, stored in self._loose_keys.items():
            if MASK_BYTES in loose and is_masked_match(loose, key):
                return self._spans_by_key[stored]
        return []

    def _read_changes(self, file: IO[bytes] | None) -> bool:
        """Read the requests again if the file has changed; return False if it does not exist."""
        if file is not None and read_file_state(file) == self._file_state:
            return True
        self._file_state, self._spans_by_key, self._superseded, self._line_count = (), {}, 0, 0
        self._unexamined, self._loose_keys = [], {}
        if file is None:
            return False
        file.seek(0)
        start = 0
        for number, text in enumerate(file, 1):
            end = start + len(text)
            if number == 1:
                self._check_header(text)
            elif text.strip():
                try:
                    line = _LINE_DECODER.decode(text)
                except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                    raise self._build_line_error(number, error) from None
                self._index_span(LineSpan(start, end, number, line))
            start, self._line_count = end, number
        self._file_state = read_file_state(file)
        return True

    def _index_span(self, span: LineSpan) -> None:
        line = span.line
        key = encode_request(line.connection, line.query, line.operation, line.variables)
        # A take that is recorded anew begins a new sequence, in which those after it are missing.
        if key not in self._spans_by_key:
            self._unexamined.append(key)
        spans = self._spans_by_key.setdefault(key, [])
        self._superseded += len(spans[max(0, line.take - 1) :])
        spans[max(0, line.take - 1) :] = [span]

    def _check_header(self, text: bytes) -> None:
        """Raise unless the first line is that of a recording in this format."""
        try:
            header = json.loads(text)
        except ValueError:
            header = None
        if not isinstance(header, dict) or header.get("gqlnb") != "recording":
            msg = (
                f"{self.display_path} is not a recording of gqlnb: its first line is not "
                f"{HEADER_LINE.decode().strip()}. Name another file."
            )
            raise ReplayError(msg)
        if header.get("version") != FORMAT_VERSION:
            version = sanitize_text(header.get("version"), 20)
            msg = (
                f"{self.display_path} is a recording of format {version}, and this version of "
                f"gqlnb reads format {FORMAT_VERSION}. Update gqlnb, or record it again."
            )
            raise ReplayError(msg)

    def _build_line_error(self, number: int, error: Exception) -> ReplayError:
        reason = sanitize_text(error, 120).rstrip(".")
        return ReplayError(f"{self.display_path}, line {number} is broken: {reason}. {REPAIR_HINT}")

    def _write_line(self, file: IO[bytes] | None, line: bytes) -> int:
        """Append a line completely or not at all; return its offset."""
        # The offset is 0 if a header or a line break had to be written before it: the index must
        # then be built again.
        if file is None:
            return 0
        size = file.seek(0, os.SEEK_END)
        before = b"" if size else HEADER_LINE
        try:
            if size:
                file.seek(-1, os.SEEK_END)
                before = b"" if file.read(1) == b"\n" else b"\n"
            file.write(before + line)
            file.flush()
        except OSError as error:
            os.ftruncate(file.fileno(), size)
            raise self._build_file_error(error) from None
        return 0 if before else size

    def _build_file_error(self, error: OSError) -> ReplayError:
        reason = error.strerror or type(error).__name__
        return ReplayError(
            f"{self.display_path} cannot be used as a recording: {sanitize_text(reason, 120)}."
        )

    @contextmanager
    def _open(self, mode: str) -> Iterator[IO[bytes] | None]:
        """Open and lock the file; yield None if it is opened for reading and does not exist."""
        opened: AbstractContextManager[IO[bytes] | None] = nullcontext()
        try:
            opened = self._open_locked(mode)
        except OSError as error:
            if mode == "a+b" or not isinstance(error, FileNotFoundError):
                raise self._build_file_error(error) from None
        with opened as file:
            yield file

    def _open_locked(self, mode: str) -> IO[bytes]:
        while True:
            file: IO[bytes] = self.path.open(mode)
            if fcntl is None:  # nobody replaces it
                return file
            try:
                fcntl.flock(file, fcntl.LOCK_SH if mode == "rb" else fcntl.LOCK_EX)
                if os.path.samestat(os.fstat(file.fileno()), self.path.stat()):
                    return file
            except BaseException:
                file.close()
                raise
            file.close()  # another process replaced it while this one waited for the lock


def read_file_state(file: IO[bytes]) -> tuple[int, ...]:
    """Return values that change when the file does."""
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def build_request_key(
    connection: str, query: str, operation: str | None, variables: Mapping[str, Any]
) -> bytes:
    """Return the JSON object of a request, without secrets.

    Raises
    ------
    ReplayError
        If a variable cannot be written as JSON.
    """
    # Equal requests give equal bytes: keys are sorted, and whole numbers are integers.
    fault = next(iter_faults(variables, ()), None)
    if fault is not None:
        msg = f"The request cannot be recorded: {fault}"
        raise ReplayError(msg)
    return mask_secrets(encode_request(connection, query, operation, variables))


def encode_request(
    connection: str, query: str, operation: str | None, variables: Mapping[str, Any]
) -> bytes:
    """Return the JSON object of a request, with its secrets."""
    request = {"connection": connection, "operation": operation, "query": query}
    return dump_valid_json(request | {"variables": canonicalize_value(variables)})


def canonicalize_value(value: object) -> object:
    """Return a JSON-like value with sorted keys, and whole floats as integers."""
    if isinstance(value, dict):
        return {key: canonicalize_value(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [canonicalize_value(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def mask_secrets(data: bytes) -> bytes:
    """Mask known secrets, and texts that look like one, in JSON bytes.

    Raises
    ------
    ReplayError
        If the result is not JSON.
    """
    text, secrets = data.decode(), collect_secrets()
    for _ in range(MAX_MASKING_PASSES):
        text, leaks = replace_secrets(text, widen_to_json_values(text, find_secrets(text, secrets)))
        if not leaks:
            break
        data = text.encode()
        with suppress(JSONError):
            load_json(data)
            continue
        # Raised here, as the frames of the other error contain the text.
        msg = (
            "The request or response cannot be recorded: removing the token would make it "
            "invalid JSON."
        )
        raise ReplayError(msg)
    return data


def is_masked_match(recorded: bytes, asked: bytes) -> bool:
    """Return whether a request matches a recorded one with any text in the place of its masks."""
    first, *rest = recorded.split(MASK_BYTES)
    if not asked.startswith(first):
        return False
    at = len(first)
    # By hand: a regular expression of several wildcards can take exponential time.
    for piece in rest:
        place = asked.find(piece, at)
        if place < 0:
            return False
        at = place + len(piece)
    return asked.endswith(rest[-1])


def encode_outcome(outcome: TransportOutcome) -> RecordedAnswer:
    """Return the recorded form of an outcome; raise ReplayError if it cannot be written as JSON."""
    if isinstance(outcome, TransportError):
        names = (name for name, cls in ERROR_CLASSES.items() if isinstance(outcome, cls))
        name = cast("ErrorName", next(names))
        failure = RecordedFailure(name, str(outcome), outcome.status, outcome.wait, outcome.broken)
        return RecordedAnswer(failure=failure)
    if isinstance(outcome, QueryError):
        problems = outcome.problems or [Problem(str(outcome))]
        return _encode_graphql({"errors": [problem.formatted for problem in problems]}, 400)
    members, most = outcome.members, MAX_BODY_BYTES
    if members is None and has_json_media_type(outcome):
        try:
            members = load_json(outcome.body)
        except JSONError as error:
            # An answer with a NaN is not cut: a client may read it as null.
            most = len(outcome.body) if error.is_invalid_number else most
    limited = outcome.status == 429
    wait = read_retry_after(outcome.headers, time.time(), limited=limited)
    wait = None if wait is None else round(wait)
    if not isinstance(members, Mapping) or not (
        "data" in members or isinstance(members.get("errors"), list)
    ):
        media_type = outcome.headers.get("content-type", "")
        body = outcome.body[:most].decode("utf-8", "replace")
        return RecordedAnswer(status=outcome.status, type=media_type, body=body, wait=wait)
    if outcome.members is None:
        answer = RecordedAnswer(status=outcome.status)
        exact = load_exact_json(outcome.body)  # with all digits of decimals
        for member in RESPONSE_MEMBERS:
            if member in exact:
                setattr(answer, member, msgspec.Raw(dump_exact_json(exact[member])))
    else:
        answer = _encode_graphql(members, outcome.status)
    if members.get("data") is None:
        answer.wait = wait
    return answer


def _encode_graphql(members: Mapping[str, object], status: int) -> RecordedAnswer:
    answer = RecordedAnswer(status=status)
    try:
        for member in RESPONSE_MEMBERS:
            if member in members:
                setattr(answer, member, msgspec.Raw(dump_json(members[member])))
    except JSONError as error:
        msg = f"The answer cannot be recorded: {error}"
        raise ReplayError(msg) from None  # the caller hides the frames, which contain the answer
    return answer


def decode_answer(answer: RecordedAnswer) -> Response:
    """Return the response of a recorded answer; raise TransportError if a failure was recorded."""
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
        present = {name: raw for name, raw in members.items() if not isinstance(raw, UnsetType)}
        body = dump_valid_json(present)
    return Response(answer.status, headers, body, replayed=True)
