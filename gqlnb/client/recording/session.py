"""What is said of a request that a recording does not answer."""

from __future__ import annotations

import os
import re
import threading
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypedDict, get_args

from gqlnb.client.recording.cassette import (
    Cassette,
    RecordedAnswer,
    build_request_key,
    mask_secrets,
)
from gqlnb.document.json_codec import load_json
from gqlnb.document.syntax import normalize_document
from gqlnb.errors import OptionError, ReplayError, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graphql import DocumentNode

    from gqlnb.client.recording.cassette import Cassette, CassetteLine, LineSpan
    from gqlnb.http.messages import Request

__all__ = [
    "REPLAY_VARIABLE",
    "SERVER_NAME",
    "RecordedRequest",
    "Recording",
    "RecordingOptions",
    "build_exhausted_error",
    "build_mismatch_error",
    "build_unrecordable_error",
    "can_omit_token",
    "get_active_recording",
    "recorded",
    "resolve_recording",
]

TOKEN_PATTERN = re.compile(r'"(?:[^"\\]|\\.)*"|[\w$@]+|\.\.\.|[^\s,]')
MAX_LINES_COMPARED = 200  # lines whose texts are compared
MAX_TOKENS_COMPARED = 400  # of each text
TOKENS_SHOWN = 6  # tokens shown of a difference
MAX_VARIABLES_NAMED = 5  # variables named that differ
MISSING = object()


def build_mismatch_error(key: bytes, tape: Cassette, how: str) -> ReplayError:
    """Return the error for a request without an answer; it shows what comes nearest.

    Parameters
    ----------
    key
        The request.
    tape
        The recording.
    how
        How to record it.
    """
    asked = load_json(key)
    spans = tape.read_spans()
    msg = f"{tape.display_path} holds no answer to {describe_request(asked)}. "
    if not spans:
        return ReplayError(f"{msg}It is empty. {how}")
    nearest = max(spans, key=_build_similarity_key(asked, spans))
    differs = "; ".join(list_differences(asked, nearest.line))
    return ReplayError(
        f"{msg}The nearest recording, line {nearest.number}, differs in {differs}. {how}"
    )


def build_exhausted_error(key: bytes, shown: str, count: int) -> ReplayError:
    """Return the error for a mutation that is replayed more often than it was recorded."""
    times = "once" if count == 1 else f"{count} times"
    return ReplayError(
        f"{shown} holds {describe_request(load_json(key))} {times}, and it was asked for once more. A mutation that "
        "was recorded is sent again with mode='record' alone. To begin with its first answer "
        "again, make the recording, or the client that has it, anew."
    )


def describe_request(asked: dict[str, Any]) -> str:
    """Return in words what was asked."""
    word = "mutation" if asked["query"].startswith("mutation") else "query"
    name = f"{word} {asked['operation']!r}" if asked["operation"] else f"an unnamed {word}"
    return f"{sanitize_text(name, 80)} of {sanitize_text(repr(asked['connection']), 120)}"


def _build_similarity_key(asked: dict[str, Any], spans: Sequence[LineSpan]) -> Any:
    """Return what orders lines by how much they are like a request."""
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(split_tokens(asked["query"])[:MAX_TOKENS_COMPARED])
    compared = {span.number for span in spans[-MAX_LINES_COMPARED:]}

    def rank_span(span: LineSpan) -> tuple[bool, bool, bool, float, int]:
        line = span.line
        text = line.query == asked["query"]
        ratio = 1.0 if text else 0.0
        if not text and span.number in compared:
            matcher.set_seq1(split_tokens(line.query)[:MAX_TOKENS_COMPARED])
            ratio = matcher.quick_ratio()
        named = line.operation is not None and line.operation == asked["operation"]
        same = set(line.variables.items() if _has_only_scalars(line.variables) else ())
        common = (
            len(same & set(asked["variables"].items()))
            if _has_only_scalars(asked["variables"])
            else 0
        )
        return text, named, line.connection == asked["connection"], ratio, common

    return rank_span


def _has_only_scalars(variables: dict[str, Any]) -> bool:
    return not any(isinstance(value, (dict, list)) for value in variables.values())


def list_differences(asked: dict[str, Any], line: CassetteLine) -> list[str]:
    """Return what is different in a recorded request; no value of a variable is shown."""
    found = []
    if line.connection != asked["connection"]:
        found.append(f"the connection (it is of {sanitize_text(repr(line.connection), 120)})")
    if line.query != asked["query"]:
        old, new = split_tokens(line.query), split_tokens(asked["query"])
        pairs = zip([*old, None], [*new, None], strict=False)
        first = next((n for n, (a, b) in enumerate(pairs) if a != b), 0)
        found.append(
            f"the document ({_quote_tokens(old, first)} there, {_quote_tokens(new, first)} here)"
        )
    elif line.operation != asked["operation"]:
        found.append("the operation")
    mine, theirs = asked["variables"], line.variables
    names = [n for n in {**mine, **theirs} if mine.get(n, MISSING) != theirs.get(n, MISSING)]
    if names:
        shown = ", ".join(f"${name}" for name in names[:MAX_VARIABLES_NAMED])
        word = "the variable" if len(names) == 1 else "the variables"
        found.append(f"{word} {sanitize_text(shown, 200)}")
    return found or ["the order of its parts"]


def _quote_tokens(tokens: list[str], at: int) -> str:
    """Return the part of a text that is around a difference."""
    start = max(0, at - TOKENS_SHOWN // 2)
    piece = " ".join(tokens[start : start + TOKENS_SHOWN])
    before, after = "… " * (start > 0), " …" * (len(tokens) > start + TOKENS_SHOWN)
    return f"{sanitize_text(before + piece + after, 100)!r}"


def split_tokens(text: str) -> list[str]:
    """Return the tokens of a document."""
    return TOKEN_PATTERN.findall(text)


REPLAY_VARIABLE = "GQLNB_REPLAY"
RecordingMode = Literal["replay", "record", "auto"]
RECORDING_MODES = get_args(RecordingMode)
MAX_DOCUMENTS_CACHED = 256
SERVER_NAME = "server"  # what a server of this process is called: the system may choose its port
# The schema is asked for in other words by another version of ours, or of graphql-core.
INTROSPECTION_QUERY = "query IntrospectionQuery { __schema }"
INTROSPECTION_PATTERN = re.compile(
    re.escape(INTROSPECTION_QUERY[:-1]) + r"\{ (?:description )?queryType \{"
)
TARGET_EXPRESSIONS = {SERVER_NAME: "server", "in-process": "schema", "ASGI app": "app"}


class RecordingOptions(TypedDict, total=False):
    """What a client takes: a file or a :class:`Recording`, and its mode."""

    recording: Recording | str | os.PathLike[str] | None
    mode: RecordingMode


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request as a recording knows it.

    Attributes
    ----------
    key
        Its part of a line, the same for equal requests.
    kind
        ``"query"`` or ``"mutation"``.
    variables
        The very mapping that is sent: all attempts at one request have the same one.
    """

    key: bytes
    kind: str
    variables: Mapping[str, Any] | None


class Recording:
    """Answers in a file, and how far they were replayed; made by :func:`recorded`.

    Within ``with`` it counts for every client of the process. Each one begins with the first
    answers; the same one entered again goes on where it was.

    Attributes
    ----------
    path : Path
        The file.
    mode : str
        ``"replay"``, ``"record"`` or ``"auto"``.
    """

    def __init__(self, path: str | os.PathLike[str], mode: RecordingMode = "auto") -> None:
        if mode not in RECORDING_MODES:
            msg = f"mode= takes {', '.join(map(repr, RECORDING_MODES))}, not {sanitize_text(repr(mode), 40)}."
            raise OptionError(msg)
        self.path = Path(path).absolute()
        self.mode = mode
        self._cassette = Cassette(self.path)
        self._lock = threading.Lock()
        self._is_prepared = False
        self._replay_counts: dict[bytes, int] = {}
        self._recorded_takes: dict[bytes, tuple[int, Mapping[str, Any] | None]] = {}
        self._normalize = lru_cache(MAX_DOCUMENTS_CACHED)(normalize_document)
        if mode == "replay" and not self.path.exists():
            msg = f"There is no recording {self._cassette.display_path}. {format_recording_hint(self._cassette.display_path)}"
            raise ReplayError(msg)

    @property
    def display_path(self) -> str:
        """The file, as people read it."""
        return self._cassette.display_path

    def identify_request(self, connection: str, request: Request) -> RecordedRequest:
        """Return a request as it is recorded.

        Raises
        ------
        ReplayError
            If a variable is no JSON value.
        """
        document = request.document
        ast: DocumentNode | str = request.query if document is None else document.ast
        operation = request.operation_name if document is None else document.name
        kind = "query" if document is None else document.kind
        variables = request.variables
        text = self._normalize(ast)
        if INTROSPECTION_PATTERN.match(text):
            text = INTROSPECTION_QUERY
        key = build_request_key(connection, text, operation, dict(variables or {}))
        return RecordedRequest(key, kind, variables)

    def find_answer(self, question: RecordedRequest) -> RecordedAnswer | None:
        """Return the next answer to a request; None if it is to be asked.

        After the last answer to a query it comes again and again; a mutation that was recorded is
        never sent by replaying it too often.

        Raises
        ------
        ReplayError
            If there is none, and none is to be got.
        """
        with self._lock:
            if self.mode == "record" or question.key in self._recorded_takes:
                return None  # what this recording was the first to ask it goes on asking
            number = self._replay_counts.get(question.key, 0)
            count, answer = self._cassette.read_answer(question.key, number)
            if answer is None and self.mode == "auto":
                return None
            if answer is None:
                raise build_mismatch_error(
                    question.key,
                    self._cassette,
                    format_recording_hint(self._cassette.display_path, question.key),
                )
            if number >= count and question.kind != "query":
                raise build_exhausted_error(question.key, self._cassette.display_path, count)
            if self.mode == "auto" and question.kind == "query" and not answer.is_conclusive:
                self._recorded_takes[question.key] = min(number, count - 1), None  # to be replaced
                return None
            self._replay_counts[question.key] = number + 1
            return answer

    def prepare_file(self) -> None:
        """Make sure that what is going to be asked can be recorded.

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
        """Record what came of a request; another attempt at the same one replaces it.

        Raises
        ------
        ReplayError
            If it cannot be recorded.
        """
        with self._lock:
            key = mask_secrets(question.key)  # a function may have given its token only now
            take, before = self._recorded_takes.get(key, (0, None))
            if before is None or before is not question.variables:
                take += 1
            answer.take = take
            self._cassette.append_answer(key, answer)
            self._recorded_takes[key] = self._recorded_takes[question.key] = (
                take,
                question.variables,
            )

    def close(self) -> None:
        """Drop from the file what was recorded anew; one of nothing is a file all the same."""
        with self._lock:
            if self._is_prepared:
                self._cassette.remove_superseded()
            elif self.mode != "replay" and not self.path.exists():
                self._cassette.prepare_file()

    def __enter__(self) -> Self:
        global _open_recordings  # noqa: PLW0603 - which recordings are open is one thing for the process
        with _open_recordings_lock:
            _open_recordings = (*_open_recordings, self)
        return self

    def __exit__(self, *_: object) -> None:
        global _open_recordings  # noqa: PLW0603 - as above
        with _open_recordings_lock:
            last = len(_open_recordings) - 1 - _open_recordings[::-1].index(self)
            _open_recordings = _open_recordings[:last] + _open_recordings[last + 1 :]
        self.close()

    def __reduce__(self) -> Any:
        return Recording, (self.path, self.mode)  # in another process it begins anew

    def __repr__(self) -> str:
        return f"Recording({self._cassette.display_path!r}, mode={self.mode!r})"


_open_recordings: tuple[Recording, ...] = ()
_open_recordings_lock = threading.Lock()


def recorded(path: str | os.PathLike[str], *, mode: RecordingMode = "auto") -> Recording:
    """Record what clients are answered, or answer them from a recording: notebooks without network.

    ``with gqlnb.recorded("github.jsonl"):`` counts for every client of this process, also of
    :func:`gqlnb.stars`, widgets and magics, in all threads. What it returns can be given to a
    client as ``recording=``, or to several, and counts for those alone.

    Parameters
    ----------
    path
        The file: JSON lines that people can read. It holds no token and no header, and of an
        address neither user nor query.
    mode
        ``"replay"``: from the recording alone. ``"record"``: all is asked, and the first answer to
        a request takes the place of those the file had. ``"auto"``: from the recording where it has
        an answer, else asked and recorded.

    Returns
    -------
    Recording
        A context manager.

    Raises
    ------
    ReplayError
        If there is nothing to replay; while asking, if the recording has no answer, or a line that
        is broken, or cannot be written.
    OptionError
        If there is no such mode.

    Notes
    -----
    A request is known by the name of its connection (else the address), its document, whatever
    its layout and the order of its definitions, the operation and the variables. Several answers to
    one request are replayed in their order, the last one of a query again and again. Failures are
    recorded as well; ``"auto"`` asks a query again that no answer came to. ``GQLNB_REPLAY=path``
    replays a file to every client, whatever else is said. Subscriptions, which need not end, and
    requests with files are in no recording; within one they are refused.

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
    """Return the recording that the options of a client mean.

    Raises
    ------
    ReplayError
        If there is nothing to replay.
    OptionError
        If they mean none.
    """
    if isinstance(recording, Recording):
        return recording
    if recording is None:
        if mode != "auto":
            msg = "mode= says how to use a recording: name its file as recording=."
            raise OptionError(msg)
        return None
    if not isinstance(recording, (str, os.PathLike)):
        msg = f"recording= takes the path of a file, not {type(recording).__name__}."
        raise OptionError(msg)
    return Recording(recording, mode)


def read_replay_path() -> str:
    """Return the file that the environment names; empty if it names none."""
    return os.environ.get(REPLAY_VARIABLE, "").strip()


@lru_cache(maxsize=1)
def _open_replay(path: str) -> Recording:
    """Return the recording that the environment names, the same one each time."""
    return Recording(path, "replay")


def get_active_recording(own: Recording | None = None) -> Recording | None:
    """Return the recording that counts now for a client; None if there is none.

    Parameters
    ----------
    own
        The one the client was made with.
    """
    path = read_replay_path()
    if path:
        return _open_replay(path)
    return _open_recordings[-1] if _open_recordings else own


def can_omit_token(
    recording: Recording | str | os.PathLike[str] | None = None, mode: RecordingMode = "auto"
) -> bool:
    """Tell whether a client may be made without a token, since a recording may answer for it."""
    now = get_active_recording()
    if now is None and recording is not None:
        return getattr(recording, "mode", mode) != "record"
    return now is not None and now.mode != "record"


def build_unrecordable_error(recording: Recording, what: str, why: str) -> ReplayError:
    """Return the error for what no recording holds; it says how to ask without one.

    Parameters
    ----------
    recording
        The one that counts.
    what
        What it can't hold, in the plural.
    why
        Why, as a sentence.
    """
    if read_replay_path():
        way = f"unset {REPLAY_VARIABLE}"
    elif recording in _open_recordings:
        way = "ask outside of `with gqlnb.recorded(...)`, and of cells with --record or --replay"
    else:
        way = "ask a client that has no recording="
    return ReplayError(
        f"{recording.display_path} counts here, and recordings hold no {what}: {why} To have them, {way}. "
        "A cell that nbval is not to run has the tag nbval-skip."
    )


def format_recording_hint(shown: str, key: bytes = b"") -> str:
    """Return the two lines that would record what is missing."""
    first = (
        f"To record it, unset {REPLAY_VARIABLE} and run" if read_replay_path() else "To record it"
    )
    connection = load_json(key)["connection"] if key else ""
    target = TARGET_EXPRESSIONS.get(connection, repr(connection)) if connection else "..."
    return (
        f"{first}:\n  with gqlnb.recorded({shown!r}):\n"
        f"      gqlnb.connect({sanitize_text(target, 120)}).execute(...)"
    )
