"""The active recording of a client, the replay of its answers, and errors for missing ones."""

from __future__ import annotations

import os
import re
import threading
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, get_args

import msgspec

from gqlnb.client.credentials import Credentials, check_headers
from gqlnb.client.recording.cassette import (
    Cassette,
    CassetteLine,
    LineSpan,
    RecordedAnswer,
    TransportOutcome,
    build_request_key,
    decode_answer,
    encode_outcome,
    mask_secrets,
    normalize_text,
)
from gqlnb.client.transports import InProcessTransport, Transport
from gqlnb.document.json_codec import load_json
from gqlnb.errors import (
    AuthError,
    LiteralSecretError,
    OptionError,
    QueryError,
    ReplayError,
    TransportError,
    sanitize_text,
)
from gqlnb.http.messages import Request, Response
from gqlnb.option_checks import explain_keywords, raise_option_error
from gqlnb.redact import hide_locals, strip_traceback
from gqlnb.tokens import Token, TokenHolder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphql import DocumentNode


REPLAY_VARIABLE = "GQLNB_REPLAY"
RECORD_VARIABLE = "GQLNB_RECORD"
RecordingMode = Literal["replay", "record", "auto"]
RECORDING_MODES = get_args(RecordingMode)
SERVER_NAME = "server"  # stands for any server of this process, as its port may change
# Versions of gqlnb and graphql-core have different introspection queries; all are recorded as one.
INTROSPECTION_QUERY = "query IntrospectionQuery { __schema }"
INTROSPECTION_PATTERN = re.compile(
    re.escape(INTROSPECTION_QUERY[:-1]) + r"\{ (?:description )?queryType \{"
)
TARGET_EXPRESSIONS = {SERVER_NAME: "server", "in-process": "schema", "ASGI app": "app"}

TOKEN_PATTERN = re.compile(r'"(?:[^"\\]|\\.)*"|[\w$@]+|\.\.\.|[^\s,]')
TOKENS_SHOWN = 6
MAX_VARIABLES_NAMED = 5
MISSING = object()
Entered = TypeVar("Entered")  # a context manager that holds for all threads


class RecordedRequest(msgspec.Struct, frozen=True):
    """A request in its recorded form.

    Attributes
    ----------
    key
        The JSON object of the request; equal for equal requests.
    kind
        ``"query"`` or ``"mutation"``.
    variables
        The mapping that is sent. Its identity tells retries of one request from a new request.
    """

    key: bytes
    kind: str
    variables: Mapping[str, Any] | None


class Recording:
    """A recording file with the position of its replay; created by :func:`recorded`.

    Within a ``with`` block it is used by every client of the process. A new object starts with the
    first answers; the same object entered again continues.

    Attributes
    ----------
    path : Path
        The file.
    mode : str
        ``"replay"``, ``"record"`` or ``"auto"``.
    display_path : str
        The path for messages: relative to the working directory if it is below it.
    """

    def __init__(self, path: str | os.PathLike[str], mode: RecordingMode = "auto") -> None:
        if mode not in RECORDING_MODES:
            raise_option_error("mode", mode, ", ".join(map(repr, RECORDING_MODES)))
        self.path = Path(path).absolute()
        self.mode = mode
        self._cassette = Cassette(self.path)
        self.display_path = self._cassette.display_path
        self._lock = threading.Lock()
        self._is_prepared = False
        self._replay_counts: dict[bytes, int] = {}
        self._recorded_takes: dict[bytes, tuple[int, Mapping[str, Any] | None]] = {}
        if mode == "replay" and not self.path.exists():
            hint = format_recording_hint(self.display_path)
            msg = f"There is no recording {self.display_path}. {hint}"
            raise ReplayError(msg)

    def identify_request(self, connection: str, request: Request) -> RecordedRequest:
        """Return the recorded form of a request; raise ReplayError if it is not valid JSON."""
        document = request.document
        ast: DocumentNode | str = request.query
        if document is not None and document.is_parsed:
            ast = document.ast
        operation = request.operation_name if document is None else document.name
        kind = "query" if document is None else document.kind
        variables = request.variables
        # Without layout, so that a recording survives editing the white space of a cell.
        text = normalize_text(ast)
        if INTROSPECTION_PATTERN.match(text):
            text = INTROSPECTION_QUERY
        key = build_request_key(connection, text, operation, dict(variables or {}))
        return RecordedRequest(key, kind, variables)

    def find_answer(self, question: RecordedRequest) -> RecordedAnswer | None:
        """Return the next answer, None to send the request, or raise ReplayError for neither."""
        # The last answer to a query is repeated. A recorded mutation is never sent because it was
        # replayed too often.
        with self._lock:
            if self.mode == "record" or question.key in self._recorded_takes:
                return None  # a request that this recording has sent once, it always sends
            number = self._replay_counts.get(question.key, 0)
            count, answer = self._cassette.read_answer(question.key, number)
            if answer is None and self.mode == "auto":
                return None
            if answer is None:
                hint = format_recording_hint(self.display_path, question.key)
                raise build_mismatch_error(question.key, self._cassette, hint)
            if number >= count and question.kind != "query":
                raise build_exhausted_error(question.key, self.display_path, count)
            if self.mode == "auto" and question.kind == "query" and not answer.is_conclusive:
                # The next answer gets the take of the failure, and so replaces it.
                self._recorded_takes[question.key] = min(number, count - 1), None
                return None
            self._replay_counts[question.key] = number + 1
            return answer

    def prepare_file(self) -> None:
        """Prepare the file for writing, before a request is sent.

        Raises
        ------
        ReplayError
            If the file cannot be written.
        """
        with self._lock:
            if not self._is_prepared:
                self._cassette.prepare_file()
                self._is_prepared = True

    def record_answer(self, question: RecordedRequest, answer: RecordedAnswer) -> None:
        """Record an answer; the answer to a retry of the same request replaces it.

        Raises
        ------
        ReplayError
            If it cannot be recorded.
        """
        with self._lock:
            # Again, as a token from a function is known only after it was used for the request.
            key = mask_secrets(question.key)
            take, variables = self._recorded_takes.get(key, (0, None))
            if variables is None or variables is not question.variables:
                take += 1
            answer.take = take
            self._cassette.append_answer(key, answer)
            self._recorded_takes[key] = self._recorded_takes[question.key] = (
                take,
                question.variables,
            )

    def close(self) -> None:
        """Remove replaced answers from the file; create it if nothing was recorded."""
        with self._lock:
            if self._is_prepared:
                self._cassette.remove_superseded()
            elif self.mode != "replay" and not self.path.exists():
                self._cassette.prepare_file()

    def __enter__(self) -> Self:
        _open_recordings.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        leave_block(_open_recordings, self)
        self.close()

    def __reduce__(self) -> tuple[type[Recording], tuple[Path, RecordingMode]]:
        return Recording, (self.path, self.mode)  # another process starts with the first answers

    def __repr__(self) -> str:
        return f"Recording({self.display_path!r}, mode={self.mode!r})"


_open_recordings: list[Recording] = []  # of the whole process, the innermost block last
_blocks_lock = threading.Lock()


def leave_block(entered: list[Entered], block: Entered) -> None:
    """Remove a block from those that were entered; the last entry, if it is in them twice."""
    with _blocks_lock:
        del entered[len(entered) - 1 - entered[::-1].index(block)]


@explain_keywords
def recorded(path: str | os.PathLike[str], *, mode: RecordingMode = "auto") -> Recording:
    """Record the answers to clients in a file, or replay them, so that notebooks run offline.

    ``with gqlnb.recorded("github.jsonl"):`` applies to every client of this process in all threads,
    also to those of :func:`gqlnb.stars`, widgets and magics. The object can also be passed to one
    or several clients as ``recording=``, and then applies only to them.

    Parameters
    ----------
    path
        The file: JSON lines. It contains no tokens and no headers; addresses are written without
        user and query.
    mode
        ``"replay"`` answers from the recording only. ``"record"`` sends every request, and replaces
        the recorded answers. ``"auto"`` answers from the recording if it has an answer, and
        otherwise sends the request and records the answer.

    Returns
    -------
    Recording
        A context manager.

    Raises
    ------
    ReplayError
        If the file to replay does not exist. From a request: if the recording has no answer,
        contains an invalid line, or cannot be written.
    OptionError
        If `mode` is not one of these.

    Notes
    -----
    A request is identified by the name of its connection (or else the address), its document
    regardless of layout and order of definitions, the operation and the variables. Several answers
    to one request are replayed in their order; the last one of a query is repeated. Failures are
    recorded too; in mode ``"auto"`` a query whose answer is a failure is sent again.
    ``GQLNB_REPLAY=path`` replays a file to every client and overrides all other settings.
    ``GQLNB_RECORD=path`` records the requests of every client that is not within a ``with`` block.
    Subscriptions, which need not end, and requests with file uploads cannot be recorded; while a
    recording is active they raise :class:`ReplayError`.

    Examples
    --------
    >>> import gqlnb, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "hello.jsonl")
    >>> with recorded(path):
    ...     gqlnb.Client(gqlnb.reference_schema()).execute("{ hello }").data
    {'hello': 'Hello world!'}
    >>> with recorded(path, mode="replay"):
    ...     gqlnb.Client(gqlnb.Schema("type Query { hello: String }")).execute("{ hello }").data
    {'hello': 'Hello world!'}
    """
    return Recording(path, mode)


def resolve_recording(
    recording: Recording | str | os.PathLike[str] | None = None, mode: RecordingMode = "auto"
) -> Recording | None:
    """Return the recording for the options of a client."""
    if isinstance(recording, Recording):
        return recording
    if recording is None:
        if mode != "auto":
            msg = "mode= needs recording=, the file of a recording."
            raise OptionError(msg)
        return None
    if not isinstance(recording, (str, os.PathLike)):
        msg = f"recording= takes the path of a file, not {type(recording).__name__}."
        raise OptionError(msg)
    return Recording(recording, mode)


def read_replay_path() -> str:
    """Return the path in the environment variable; empty if it is not set."""
    return os.environ.get(REPLAY_VARIABLE, "").strip()


@lru_cache(maxsize=1)  # one object per path, as it counts the replayed answers
def _open_once(path: str, mode: RecordingMode) -> Recording:
    return Recording(path, mode)


def get_active_recording(own: Recording | None = None) -> Recording | None:
    """Return the recording of GQLNB_REPLAY, else of a block, else of GQLNB_RECORD, else `own`."""
    path = read_replay_path()
    if path:
        return _open_once(path, "replay")
    if _open_recordings:
        return _open_recordings[-1]
    path = os.environ.get(RECORD_VARIABLE, "").strip()
    return _open_once(path, "record") if path else own


def can_omit_token(
    recording: Recording | str | os.PathLike[str] | None = None, mode: RecordingMode = "auto"
) -> bool:
    """Return whether a client needs no token, as a recording may answer its requests."""
    now = get_active_recording()
    if now is None and recording is not None:
        return getattr(recording, "mode", mode) != "record"
    return now is not None and now.mode != "record"


def build_unrecordable_error(recording: Recording, what: str, why: str) -> ReplayError:
    """Return the error for a kind of requests that cannot be recorded, and the reason `why`."""
    if read_replay_path():
        way = f"unset {REPLAY_VARIABLE}"
    elif recording in _open_recordings:
        way = "ask outside of `with gqlnb.recorded(...)`, and of cells with --record or --replay"
    else:
        way = "ask a client that has no recording="
    return ReplayError(
        f"{recording.display_path} is active, and recordings cannot hold {what}: {why} "
        f"To use them, {way}. To exclude a cell from nbval, add the tag nbval-skip."
    )


def format_recording_hint(shown: str, key: bytes = b"") -> str:
    """Return the two lines of Python that would record the missing answer."""
    first = (
        f"To record it, unset {REPLAY_VARIABLE} and run" if read_replay_path() else "To record it"
    )
    connection = load_json(key)["connection"] if key else ""
    target = TARGET_EXPRESSIONS.get(connection, repr(connection)) if connection else "..."
    return (
        f"{first}:\n  with gqlnb.recorded({shown!r}):\n"
        f"      gqlnb.connect({sanitize_text(target, 120)}).execute(...)"
    )


def build_mismatch_error(key: bytes, cassette: Cassette, hint: str) -> ReplayError:
    """Return the error for a request without an answer; it names the most similar line."""
    request = load_json(key)
    spans = cassette.read_spans()
    msg = f"{cassette.display_path} holds no answer to {describe_request(request)}. "
    if not spans:
        return ReplayError(f"{msg}It is empty. {hint}")
    nearest = max(spans, key=partial(rank_span, request))
    differences = "; ".join(list_differences(request, nearest.line))
    return ReplayError(
        f"{msg}The nearest recording, line {nearest.number}, differs in {differences}. {hint}"
    )


def build_exhausted_error(key: bytes, shown: str, count: int) -> ReplayError:
    """Return the error for a mutation that is replayed more often than it was recorded."""
    times = "once" if count == 1 else f"{count} times"
    return ReplayError(
        f"{shown} holds {describe_request(load_json(key))} {times}, but it was requested "
        "again. Use mode='record' to send a recorded mutation again. To replay from the first "
        "response, create a new recording or client."
    )


def describe_request(request: dict[str, Any]) -> str:
    """Return the operation and the connection of a request as text."""
    kind = "mutation" if request["query"].startswith("mutation") else "query"
    name = f"{kind} {request['operation']!r}" if request["operation"] else f"an unnamed {kind}"
    return f"{sanitize_text(name, 80)} of {sanitize_text(repr(request['connection']), 120)}"


def rank_span(request: dict[str, Any], span: LineSpan) -> tuple[bool, bool, bool, float, int]:
    """Return a sort key of lines by their similarity to a request."""
    line, variables = span.line, request["variables"]
    same_text = line.query == request["query"]
    same_name = line.operation is not None and line.operation == request["operation"]
    # The tokens at both ends: most texts differ in one place, that of the last edit.
    old, new = TOKEN_PATTERN.findall(line.query), TOKEN_PATTERN.findall(request["query"])
    ends = find_difference(old, new) + find_difference(old[::-1], new[::-1])
    common = sum(variables.get(name, MISSING) == v for name, v in line.variables.items())
    share = ends / max(len(old), len(new))
    return same_text, same_name, line.connection == request["connection"], share, common


def find_difference(old: list[str], new: list[str]) -> int:
    """Return the index of the first token in which two texts differ."""
    pairs = zip([*old, None], [*new, None], strict=False)
    return next((number for number, (a, b) in enumerate(pairs) if a != b), len(old))


def list_differences(request: dict[str, Any], line: CassetteLine) -> list[str]:
    """Return the parts in which a recorded request differs, without values of variables."""
    differences = []
    if line.connection != request["connection"]:
        differences.append(f"the connection (it is of {sanitize_text(repr(line.connection), 120)})")
    if line.query != request["query"]:
        old, new = TOKEN_PATTERN.findall(line.query), TOKEN_PATTERN.findall(request["query"])
        first = find_difference(old, new)
        differences.append(
            f"the document ({_quote_tokens(old, first)} there, {_quote_tokens(new, first)} here)"
        )
    elif line.operation != request["operation"]:
        differences.append("the operation")
    here, there = request["variables"], line.variables
    names = [n for n in {**here, **there} if here.get(n, MISSING) != there.get(n, MISSING)]
    if names:
        listed = ", ".join(f"${name}" for name in names[:MAX_VARIABLES_NAMED])
        word = "the variable" if len(names) == 1 else "the variables"
        differences.append(f"{word} {sanitize_text(listed, 200)}")
    return differences or ["the order of its parts"]


def _quote_tokens(tokens: list[str], index: int) -> str:
    """Return a few tokens around an index, in quotes."""
    start = max(0, index - TOKENS_SHOWN // 2)
    piece = " ".join(tokens[start : start + TOKENS_SHOWN])
    before, after = "… " * (start > 0), " …" * (len(tokens) > start + TOKENS_SHOWN)
    return f"{sanitize_text(before + piece + after, 100)!r}"


PROMPT_TOKEN = "prompt"  # noqa: S105


def resolve_secrets(
    token: Token | TokenHolder | str | None,
    headers: Mapping[str, str | Token | TokenHolder] | None,
    recording: Recording | None,
) -> tuple[Credentials, AuthError | None]:
    """Return the credentials of a client, and the error to raise if they are needed and missing.

    Returns
    -------
    (Credentials, AuthError or None)
        The credentials, and the error.

    Raises
    ------
    AuthError
        If a token is missing, and no recording can answer instead.
    TargetError
        If a header is invalid.
    """
    # A recording may be replayed where the environment variables of its tokens are not set, so
    # their absence is an error only for a request that is really sent.
    active = get_active_recording(recording)
    if active is not None and active.mode == "replay" and token == PROMPT_TOKEN:
        return Credentials(None, {}), AuthError("No token is asked for during a replay.")
    try:
        return Credentials(Token.from_source(token), check_headers(headers)), None
    except AuthError as error:
        missing = strip_traceback(error)
    if active is None or active.mode == "record" or isinstance(missing, LiteralSecretError):
        raise missing
    return Credentials(None, {}), missing


# A recording is a transport in front of another one, so that checks, redaction and typed decoding
# run as always. Replayed answers are never retried and do not change rate limits.
class RecordingTransport:
    """A transport that replays a recording, or records the responses of another transport.

    Parameters
    ----------
    transport
        The other transport.
    recording
        The recording.
    connection
        Name of the endpoint in the recording.
    token_error
        The error to raise instead of sending a request, as a token is missing.
    """

    def __init__(
        self,
        transport: Transport,
        recording: Recording,
        connection: str,
        token_error: AuthError | None = None,
    ) -> None:
        self.transport = transport
        self.recording = recording
        self.connection = connection
        self._token_error = token_error

    @property
    def source(self) -> str:
        """Address of the endpoint, also of replayed answers."""
        return self.transport.source

    def send(self, request: Request) -> Response:
        """Answer a request from the recording, or send it and record the response.

        Returns
        -------
        Response
            The recorded response, or that of the other transport.

        Raises
        ------
        ReplayError
            If the recording has no answer, or the response cannot be recorded.
        TransportError, QueryError
            As the other transport raises, or as recorded.
        """
        recorded_request, answer = self._look_up_answer(request)
        if answer is not None:
            return self._build_replayed_response(answer)
        try:
            outcome: TransportOutcome = self.transport.send(request)
        except (TransportError, QueryError) as error:
            outcome = strip_traceback(error)
        return self._record_outcome(recorded_request, outcome)

    async def asend(self, request: Request) -> Response:
        """Asynchronous version of :meth:`send`.

        Returns
        -------
        Response
            As for :meth:`send`.

        Raises
        ------
        ReplayError, TransportError, QueryError
            As for :meth:`send`.
        """
        recorded_request, answer = self._look_up_answer(request)
        if answer is not None:
            return self._build_replayed_response(answer)
        try:
            outcome: TransportOutcome = await self.transport.asend(request)
        except (TransportError, QueryError) as error:
            outcome = strip_traceback(error)
        return self._record_outcome(recorded_request, outcome)

    def close(self) -> None:
        """Close the other transport."""
        self.transport.close()

    @hide_locals
    def _look_up_answer(self, request: Request) -> tuple[RecordedRequest, RecordedAnswer | None]:
        recorded_request = self.recording.identify_request(self.connection, request)
        answer = self.recording.find_answer(recorded_request)
        if answer is None:
            if self._token_error is not None:
                raise AuthError(str(self._token_error))
            self.recording.prepare_file()
        return recorded_request, answer

    def _build_replayed_response(self, answer: RecordedAnswer) -> Response:
        response = decode_answer(answer)
        if isinstance(self.transport, InProcessTransport) and answer.type is None:
            members = load_json(response.body)
            return Response(response.status, members=members, replayed=True)
        return response

    @hide_locals
    def _record_outcome(self, request: RecordedRequest, outcome: TransportOutcome) -> Response:
        self.recording.record_answer(request, encode_outcome(outcome))
        if isinstance(outcome, Response):
            return outcome
        raise outcome
