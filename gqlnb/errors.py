"""Every exception the package raises on purpose.

::

    GqlnbError                   the root; .result holds what was received so far, or None
    ├── TextError                a text with something wrong in it; .problems say what and where
    │   ├── SchemaError          SDL, or a resolver that fits no field
    │   └── QueryError           query text, variables or a search expression
    ├── BatchError               some documents of several failed; .outcomes holds all of them
    ├── PartialError             data came together with errors (Result.raise_for_errors)
    ├── TransportError           no usable answer: refused, reset, timed out, HTTP 4xx or 5xx
    │   ├── AuthError            no token, or the endpoint refused it
    │   └── RateLimited          the endpoint asks to wait; .wait in seconds
    ├── AnswerError              an answer came and it is not GraphQL, or not what was asked for
    ├── TargetError              no connection of that name, or nothing we can talk to
    ├── ReplayError              a recording holds no answer to a request, or cannot be used
    ├── FrameError               the answer has no frame of that path
    ├── OptionError              a magic line, or a settings file, with a wrong option or value
    │   └── KeywordError         a keyword argument that does not exist (a TypeError too)
    ├── ServerError              a server cannot start
    │   └── PortInUseError       something else listens on the port
    └── MissingExtraError        an optional dependency is not installed (an ImportError too)
"""

from __future__ import annotations

import linecache
import re
import sys
import unicodedata
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = [
    "AnswerError",
    "AuthError",
    "BatchError",
    "FrameError",
    "GqlnbError",
    "KeywordError",
    "MissingExtraError",
    "OptionError",
    "PartialError",
    "PortInUseError",
    "Problem",
    "QueryError",
    "RateLimited",
    "ReplayError",
    "SchemaError",
    "ServerError",
    "StrictError",
    "TargetError",
    "TextError",
    "TransportError",
    "advise_if_strict",
    "describe_exception",
    "sanitize_text",
]

# GraphQL's line ends, section 2.1.2 of the specification; str.splitlines() knows eight more.
LINE_END = re.compile(r"\r\n|\n|\r")
# Control, format, surrogate, private, unassigned; the line and the paragraph separator.
INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
MAX_PROBLEMS_SHOWN = 10  # the same cap as the server's; more would scroll the first one away
_PACKAGE_DIR = str(Path(__file__).parent)


class ResultLike(Protocol):
    """What an error may carry: anything with the data and the errors received so far."""

    @property
    def data(self) -> Any:
        """The data received, None if there was none."""

    @property
    def errors(self) -> Sequence[Any]:
        """The errors received beside the data."""


def describe_path(path: tuple[str | int, ...]) -> str:
    """Return `` describe_path a.b[0]`` for a path, nothing for the top."""
    text = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)
    return f" at {sanitize_text(text.removeprefix('.'), 200)}" if text else ""


def sanitize_text(text: object, limit: int = 400) -> str:
    """Return foreign text as one harmless line.

    Control, format and bidirectional characters (Unicode category C) become spaces, so that a
    server cannot colour, overwrite or reorder what a person reads.

    Parameters
    ----------
    text
        Anything; ``str()`` of it is used.
    limit
        Longest text to return, in characters; what is longer ends in an ellipsis.
    """
    line = "".join(" " if unicodedata.category(c)[0] == "C" else c for c in str(text)[: limit * 4])
    line = " ".join(line.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


class GqlnbError(Exception):
    """Root of every error this package raises on purpose.

    Parameters
    ----------
    message
        What happened, where, and what to do next.
    result
        What was received before it happened: partial data, finished pages.

    Examples
    --------
    >>> issubclass(gqlnb.QueryError, gqlnb.GqlnbError)
    True
    """

    def __init__(self, message: str, *, result: ResultLike | None = None) -> None:
        super().__init__(message)
        self.result = result

    def _render_traceback_(self) -> list[str]:
        """Return the lines IPython shows instead of a traceback, in every ``%xmode``."""
        lines = f"{type(self).__name__}: {self}".splitlines()
        if self.__cause__ is not None:
            lines.append(f"  caused by {describe_exception(self.__cause__)}")
        called = find_user_line(self)
        return [*lines, called] if called else lines


def describe_exception(error: BaseException) -> str:
    """Return an exception of the user's own code as one line: its class, text and place."""
    place = find_user_line(error)
    said = f"{type(error).__name__}: {sanitize_text(error, 200)}"
    return f"{said}, {place.strip()}" if place else said


def find_user_line(error: BaseException) -> str | None:
    """Return the innermost line of the user's own code an error passed through."""
    found, step = None, error.__traceback__
    while step is not None:
        name, number = step.tb_frame.f_code.co_filename, step.tb_lineno
        source = linecache.getline(name, number, step.tb_frame.f_globals).strip()
        # IPython turns magics into calls of get_ipython(), which nobody wrote.
        if source and not is_library_file(name) and "get_ipython().run_" not in source:
            function = step.tb_frame.f_code.co_name
            within = "" if function.startswith("<") else f"in {function}, "
            found = f"  {within}line {number}: {sanitize_text(source, 100)}"
        step = step.tb_next
    return found


def is_library_file(filename: str) -> bool:
    """Tell whether a source file belongs to a library rather than to the user."""
    return (
        filename.startswith((_PACKAGE_DIR, "<gqlnb ", sys.prefix, sys.base_prefix, "<frozen"))
        or "site-packages" in filename
    )


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a text.

    Attributes
    ----------
    message
        What is wrong, as the validator or the endpoint said it.
    line, column
        Where in the text, both counted from 1; None if unknown.
    hint
        What to write instead, where we know more than the message says.
    """

    message: str
    line: int | None = None
    column: int | None = None
    hint: str | None = None

    @property
    def formatted(self) -> dict[str, Any]:
        """The problem as an error of a GraphQL response; its hint is among the extensions."""
        error: dict[str, Any] = {"message": self.message}
        if self.line is not None and self.column is not None:
            error["locations"] = [{"line": self.line, "column": self.column}]
        if self.hint:
            error["extensions"] = {"hint": self.hint}
        return error


class TextError(GqlnbError, ValueError):
    """A text with something wrong in it; base of :class:`QueryError` and :class:`SchemaError`.

    Parameters
    ----------
    message
        What is wrong; ignored where `problems` say it.
    text
        The text, to draw carets into.
    problems
        Each thing that is wrong, in the order found.
    result
        What the endpoint answered, if it was asked.

    Attributes
    ----------
    problems : tuple of Problem
    text : str or None
    line_label : str
        The word before a line number, ``"line"`` unless :meth:`in_cell` was called.
    """

    def __init__(
        self,
        message: str = "",
        *,
        text: str | None = None,
        problems: Sequence[Problem] = (),
        result: ResultLike | None = None,
    ) -> None:
        super().__init__(message, result=result)
        self.text = text
        self.problems = tuple(problems)
        self.line_label = "line"
        self._line_offset = 0

    def in_cell(self, lines: int = 1) -> Self:
        """Count lines from the top of a notebook cell whose first `lines` are not query text."""
        self.line_label, self._line_offset = "cell line", lines
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __str__(self) -> str:
        if not self.problems:
            return str(self.args[0])
        shown = [self._draw_problem(problem) for problem in self.problems[:MAX_PROBLEMS_SHOWN]]
        more = len(self.problems) - len(shown)
        return "\n".join([*shown, f"... and {more} more."] if more else shown)

    def _draw_problem(self, problem: Problem) -> str:
        lines = [sanitize_text(problem.message)]
        if problem.line is not None and problem.column is not None:
            number = problem.line + self._line_offset
            lines.append(f"  {self.line_label} {number}, column {problem.column}")
            lines.extend(draw_caret(self.text, problem.line, problem.column, number))
        if problem.hint:
            lines.append(f"  {problem.hint}")
        return "\n".join(lines)


class SchemaError(TextError):
    """SDL that does not parse or validate, or a resolver that fits no field of it.

    Examples
    --------
    >>> gqlnb.Schema("type Query { hello: Strin }")
    Traceback (most recent call last):
    gqlnb.errors.SchemaError: Unknown type 'Strin'. Did you mean 'String'?
      line 1, column 21
         1 | type Query { hello: Strin }
                                 ^
    """


class QueryError(TextError):
    """Query text, variables or a search expression that cannot be executed.

    Examples
    --------
    >>> gqlnb.reference_schema().execute("{ hallo }")
    Traceback (most recent call last):
    gqlnb.errors.QueryError: Cannot query field 'hallo' on type 'Query'. Did you mean 'hello'?
      line 1, column 3
         1 | { hallo }
               ^
    """


def draw_caret(text: str | None, line: int, column: int, number: int) -> list[str]:
    """Return the source line `line` of `text`, numbered `number`, and a caret under `column`."""
    rows = LINE_END.split(text or "")
    if not 0 < line <= len(rows):
        return []
    # One tab would shift the caret by up to seven columns; a long line would wrap above it.
    row = "".join(
        " " if unicodedata.category(c) in INVISIBLE_CATEGORIES else c for c in rows[line - 1]
    )
    start, margin = max(0, column - 60), f"  {number:>4} | "
    before = len(margin) + sum(map(measure_width, row[start : column - 1]))
    return [margin + row[start : start + 100], " " * before + "^"]


def measure_width(character: str) -> int:
    """Return how many columns of a terminal a character takes: 0, 1 or 2 (Unicode, UAX 11)."""
    wide = unicodedata.east_asian_width(character) in "WF"
    return 0 if unicodedata.combining(character) else 1 + wide


class PartialError(GqlnbError):
    """Some fields failed; the data of the others is in ``.result.data``.

    Examples
    --------
    >>> schema = gqlnb.Schema("type Query { a: Int b: Int }", {"Query": {"b": lambda *_: 1 / 0}})
    >>> try:
    ...     schema.execute("{ a b }", root={"a": 1}).raise_for_errors()
    ... except gqlnb.PartialError as error:
    ...     print(error.result.data)
    {'a': 1, 'b': None}
    """


class BatchError(GqlnbError):
    """Some documents of several failed.

    Attributes
    ----------
    outcomes : list
        What became of each document, in their order: a Result, or the error it ended with.

    Examples
    --------
    >>> client = gqlnb.Client(gqlnb.reference_schema())
    >>> try:
    ...     client.execute_many(["{ hello }", "{ hallo }"])
    ... except gqlnb.BatchError as error:
    ...     print([type(it).__name__ for it in error.outcomes])
    ['Result', 'QueryError']
    """

    def __init__(self, message: str, outcomes: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.outcomes = list(outcomes)


class TransportError(GqlnbError):
    """No usable answer came: refused, reset, timed out, or an HTTP error status.

    Attributes
    ----------
    status : int or None
        The HTTP status, if there was one; 504 for a time-out that came with status 200.
    wait : float or None
        Seconds to wait before the next request, if the endpoint said so.
    broken : bool
        Whether the connection ended before the whole answer had come; what was asked for may have
        been done.
    transient : bool
        Whether the endpoint reported, with status 200, a failure of its own that may pass.
    replayed : bool
        Whether it comes from a recording, so that asking again would give the same.

    Examples
    --------
    >>> gqlnb.Client("http://127.0.0.1:9/graphql").execute("{ hello }")
    Traceback (most recent call last):
    gqlnb.errors.TransportError: ...
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        wait: float | None = None,
        broken: bool = False,
        transient: bool = False,
        result: ResultLike | None = None,
    ) -> None:
        super().__init__(message, result=result)
        self.status = status
        self.wait = wait
        self.broken = broken
        self.transient = transient
        self.replayed = False


class AuthError(TransportError):
    """There is no token to send, or the endpoint refused the one sent.

    Examples
    --------
    >>> with gqlnb.serve(gqlnb.reference_schema(), port=0, token=gqlnb.Token("right")) as server:
    ...     try:
    ...         gqlnb.Client(server.url, token=gqlnb.Token("wrong")).execute("{ hello }")
    ...     except gqlnb.AuthError as error:
    ...         print(error.status)
    401
    """


class RateLimited(TransportError):  # noqa: N818 - the state has a name that people know
    """The endpoint asks to wait: for ``.wait`` seconds, if it said how long.

    Examples
    --------
    >>> error = gqlnb.RateLimited("Wait a minute.", status=403, wait=60.0)
    >>> error.wait, isinstance(error, gqlnb.TransportError)
    (60.0, True)
    """


class AnswerError(GqlnbError):
    """An answer came and it is no GraphQL response, or does not fit document and schema.

    What could be read of it is in ``.result``.

    Examples
    --------
    >>> async def page(scope, receive, send):
    ...     await send({"type": "http.response.start", "status": 200, "headers": []})
    ...     await send({"type": "http.response.body", "body": b"<h1>Welcome</h1>"})
    >>> gqlnb.Client(page).execute("{ hello }")
    Traceback (most recent call last):
    gqlnb.errors.AnswerError: ...
    """


class TargetError(GqlnbError, LookupError):
    """No connection has that name, or the object given is nothing we can talk to.

    Examples
    --------
    >>> gqlnb.connect("gihtub")
    Traceback (most recent call last):
    gqlnb.errors.TargetError: ...
    """


class ReplayError(GqlnbError, LookupError):
    """A recording holds no answer to a request, or cannot be read or written.

    Examples
    --------
    >>> gqlnb.connect("demo", recording="no-such.jsonl", mode="replay").execute("{ __typename }")
    Traceback (most recent call last):
    gqlnb.errors.ReplayError: ...
    """


class FrameError(GqlnbError, LookupError):
    """The answer has no frame of that path, or more than one to choose from.

    Examples
    --------
    >>> gqlnb.reference_schema().execute("{ hello }").frame("repositories")
    Traceback (most recent call last):
    gqlnb.errors.FrameError: ...
    """


class ServerError(GqlnbError):
    """A server cannot start.

    Examples
    --------
    >>> gqlnb.serve(gqlnb.reference_schema(), port=0, host="0.0.0.0")
    Traceback (most recent call last):
    gqlnb.errors.ServerError: ...
    """


class PortInUseError(ServerError, OSError):
    """Something else already listens on the port.

    Examples
    --------
    >>> import socket
    >>> with socket.create_server(("127.0.0.1", 0)) as other:
    ...     try:
    ...         gqlnb.serve(gqlnb.reference_schema(), port=other.getsockname()[1])
    ...     except gqlnb.PortInUseError as error:
    ...         print(type(error).__name__)
    PortInUseError
    """


class OptionError(GqlnbError, ValueError):
    """An option that does not exist, or a value that does not fit it; settings files included.

    Examples
    --------
    >>> gqlnb.Access(origins=["*"])
    Traceback (most recent call last):
    gqlnb.errors.OptionError: ...
    """


class KeywordError(OptionError, TypeError):
    """A keyword argument that a function of this package does not have."""


class MissingExtraError(GqlnbError, ImportError):
    """An optional dependency is needed and is not installed.

    Examples
    --------
    >>> issubclass(gqlnb.MissingExtraError, ImportError)
    True
    """


STRICT_ADVICE = "Pass strict=False to keep what does not fit as it came."


class StrictError(FrameError):
    """A value that does not fit, which is an error only because reading is strict.

    Parameters
    ----------
    fact
        What it is and where, in sentences.
    """

    def __init__(self, fact: str) -> None:
        super().__init__(f"{fact} {STRICT_ADVICE}")
        self._fact = fact

    def replace_advice(self, way_out: str) -> None:
        """Replace the advice by one that fits where the frame was asked for."""
        self.args = (f"{self._fact} {way_out}",)


@contextmanager
def advise_if_strict(advice: str) -> Iterator[None]:
    """Let a `StrictError` that is raised within say how to go on from here."""
    try:
        yield
    except StrictError as error:
        error.replace_advice(advice)
        raise
