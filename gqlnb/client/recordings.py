"""Recordings: which one counts for whom, and how far it was replayed.

Where the environment variable ``GQLNB_REPLAY`` names a file, every client replays it and nothing is
sent. Else the innermost open :func:`recorded` counts, else the recording that a client was made
with.
"""

from __future__ import annotations

import os
import re
import threading
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypedDict, get_args

from gqlnb.client.misses import missed, used_up
from gqlnb.client.tape import Answer, Tape, key_of, safe
from gqlnb.errors import OptionError, ReplayError, plain
from gqlnb.model.normal import normal
from gqlnb.wire.json import load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphql import DocumentNode

    from gqlnb.wire.request import Request

__all__ = [
    "SERVER",
    "VARIABLE",
    "Options",
    "Question",
    "Recording",
    "active",
    "recorded",
    "recording_of",
    "spared",
    "unrecorded",
]

VARIABLE = "GQLNB_REPLAY"
Mode = Literal["replay", "record", "auto"]
MODES = get_args(Mode)
DOCUMENTS_KEPT = 256
SERVER = "server"  # what a server of this process is called: the system may choose its port
# The schema is asked for in other words by another version of ours, or of graphql-core.
INTROSPECTION = "query IntrospectionQuery { __schema }"
INTROSPECTING = re.compile(re.escape(INTROSPECTION[:-1]) + r"\{ (?:description )?queryType \{")
OBJECTS = {SERVER: "server", "in-process": "schema", "ASGI app": "app"}


class Options(TypedDict, total=False):
    """What a client takes: a file or a :class:`Recording`, and its mode."""

    recording: Recording | str | os.PathLike[str] | None
    mode: Mode


@dataclass(frozen=True, slots=True)
class Question:
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

    def __init__(self, path: str | os.PathLike[str], mode: Mode = "auto") -> None:
        if mode not in MODES:
            msg = f"mode= takes {', '.join(map(repr, MODES))}, not {plain(repr(mode), 40)}."
            raise OptionError(msg)
        self.path = Path(path).absolute()
        self.mode = mode
        self._tape = Tape(self.path)
        self._lock = threading.Lock()
        self._begun = False
        self._replayed: dict[bytes, int] = {}
        self._kept: dict[bytes, tuple[int, Mapping[str, Any] | None]] = {}
        self._normal = lru_cache(DOCUMENTS_KEPT)(normal)
        if mode == "replay" and not self.path.exists():
            msg = f"There is no recording {self._tape.shown}. {how_to(self._tape.shown)}"
            raise ReplayError(msg)

    @property
    def shown(self) -> str:
        """The file, as people read it."""
        return self._tape.shown

    def question(self, connection: str, request: Request) -> Question:
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
        text = self._normal(ast)
        if INTROSPECTING.match(text):
            text = INTROSPECTION
        key = key_of(connection, text, operation, dict(variables or {}))
        return Question(key, kind, variables)

    def find(self, question: Question) -> Answer | None:
        """Return the next answer to a request; None if it is to be asked.

        After the last answer to a query it comes again and again; a mutation that was recorded is
        never sent by replaying it too often.

        Raises
        ------
        ReplayError
            If there is none, and none is to be got.
        """
        with self._lock:
            if self.mode == "record" or question.key in self._kept:
                return None  # what this recording was the first to ask it goes on asking
            number = self._replayed.get(question.key, 0)
            count, answer = self._tape.answer(question.key, number)
            if answer is None and self.mode == "auto":
                return None
            if answer is None:
                raise missed(question.key, self._tape, how_to(self._tape.shown, question.key))
            if number >= count and question.kind != "query":
                raise used_up(question.key, self._tape.shown, count)
            if self.mode == "auto" and question.kind == "query" and not answer.settled:
                self._kept[question.key] = min(number, count - 1), None  # to be replaced
                return None
            self._replayed[question.key] = number + 1
            return answer

    def begin(self) -> None:
        """Make sure that what is going to be asked can be recorded.

        Raises
        ------
        ReplayError
            If the file cannot be written.
        """
        with self._lock:
            if not self._begun:
                self._tape.begin()
                self._begun = True

    def keep(self, question: Question, answer: Answer) -> None:
        """Record what came of a request; another attempt at the same one replaces it.

        Raises
        ------
        ReplayError
            If it cannot be recorded.
        """
        with self._lock:
            key = safe(question.key)  # a function may have given its token only now
            take, before = self._kept.get(key, (0, None))
            if before is None or before is not question.variables:
                take += 1
            answer.take = take
            self._tape.append(key, answer)
            self._kept[key] = self._kept[question.key] = take, question.variables

    def close(self) -> None:
        """Drop from the file what was recorded anew; one of nothing is a file all the same."""
        with self._lock:
            if self._begun:
                self._tape.tidy()
            elif self.mode != "replay" and not self.path.exists():
                self._tape.begin()

    def __enter__(self) -> Self:
        global _open  # noqa: PLW0603 - which recordings are open is one thing for the process
        with _lock:
            _open = (*_open, self)
        return self

    def __exit__(self, *_: object) -> None:
        global _open  # noqa: PLW0603 - as above
        with _lock:
            last = len(_open) - 1 - _open[::-1].index(self)
            _open = _open[:last] + _open[last + 1 :]
        self.close()

    def __reduce__(self) -> Any:
        return Recording, (self.path, self.mode)  # in another process it begins anew

    def __repr__(self) -> str:
        return f"Recording({self._tape.shown!r}, mode={self.mode!r})"


_open: tuple[Recording, ...] = ()
_lock = threading.Lock()


def recorded(path: str | os.PathLike[str], *, mode: Mode = "auto") -> Recording:
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


def recording_of(
    recording: Recording | str | os.PathLike[str] | None = None, mode: Mode = "auto"
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


def path_named() -> str:
    """Return the file that the environment names; empty if it names none."""
    return os.environ.get(VARIABLE, "").strip()


@lru_cache(maxsize=1)
def _named(path: str) -> Recording:
    """Return the recording that the environment names, the same one each time."""
    return Recording(path, "replay")


def active(own: Recording | None = None) -> Recording | None:
    """Return the recording that counts now for a client; None if there is none.

    Parameters
    ----------
    own
        The one the client was made with.
    """
    path = path_named()
    if path:
        return _named(path)
    return _open[-1] if _open else own


def spared(
    recording: Recording | str | os.PathLike[str] | None = None, mode: Mode = "auto"
) -> bool:
    """Tell whether a client may be made without a token, since a recording may answer for it."""
    now = active()
    if now is None and recording is not None:
        return getattr(recording, "mode", mode) != "record"
    return now is not None and now.mode != "record"


def unrecorded(recording: Recording, what: str, why: str) -> ReplayError:
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
    if path_named():
        way = f"unset {VARIABLE}"
    elif recording in _open:
        way = "ask outside of `with gqlnb.recorded(...)`, and of cells with --record or --replay"
    else:
        way = "ask a client that has no recording="
    return ReplayError(
        f"{recording.shown} counts here, and recordings hold no {what}: {why} To have them, {way}. "
        "A cell that nbval is not to run has the tag nbval-skip."
    )


def how_to(shown: str, key: bytes = b"") -> str:
    """Return the two lines that would record what is missing."""
    first = f"To record it, unset {VARIABLE} and run" if path_named() else "To record it"
    connection = load(key)["connection"] if key else ""
    target = OBJECTS.get(connection, repr(connection)) if connection else "..."
    return (
        f"{first}:\n  with gqlnb.recorded({shown!r}):\n"
        f"      gqlnb.connect({plain(target, 120)}).execute(...)"
    )
