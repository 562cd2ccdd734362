"""The exceptions of the package, and text helpers for their messages.

::

    GqlnbError                   base class; .result holds the data received so far, or None
    ├── TextError                an invalid text; .problems hold messages and positions
    │   ├── SchemaError          invalid SDL, or a resolver without a matching field
    │   └── QueryError           an invalid query, variables or search expression
    ├── BatchError               some of several documents failed; in gqlnb.client.batches
    ├── PartialError             the response has data and errors; in gqlnb.result.result
    ├── TransportError           no usable response: refused, reset, timed out, HTTP 4xx or 5xx
    │   ├── AuthError            the token is missing, or the endpoint rejected it
    │   │   └── LiteralSecretError   a secret was given as text
    │   └── RateLimited          the endpoint asks to wait; .wait in seconds
    ├── AnswerError              the response is not GraphQL, or does not match the request
    ├── TargetError              unknown connection name, or an unsupported endpoint object
    ├── ReplayError              a recording has no matching response, or cannot be used
    ├── FrameError               the result has no frame at that path
    │   └── StrictError          a value does not fit its column, and reading is strict
    ├── OptionError              an invalid option, argument or settings file
    │   └── KeywordError         a keyword argument that does not exist (a TypeError too)
    ├── ServerError              a server cannot start
    │   └── PortInUseError       the port is in use
    └── MissingExtraError        an optional dependency is not installed (an ImportError too)
"""

from __future__ import annotations

import difflib
import linecache
import re
import sys
import unicodedata
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from gqlnb.redact import find_secrets, replace_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# The last sentence of an error after some pages, which cells leave out.
PAGES_ADVICE = "They are in error.result; client.resume() continues from there."

__all__ = [
    "AnswerError",
    "AuthError",
    "FrameError",
    "GqlnbError",
    "KeywordError",
    "LiteralSecretError",
    "MissingExtraError",
    "OptionError",
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
    "clean_text",
    "describe_exception",
    "describe_path",
    "find_similar",
    "format_path",
    "join_names",
    "sanitize_text",
    "suggest",
    "suggest_or_list",
]

# GraphQL's line terminators, section 2.1.2 of the specification; str.splitlines() has eight more.
LINE_END = re.compile(r"\r\n|\n|\r")
# Control, format, surrogate, private, unassigned; the line and the paragraph separator.
INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
MAX_PROBLEMS_SHOWN = 10  # the server's limit; more would scroll the first one off the screen
# difflib compares two names in time proportional to the product of their lengths.
MAX_COMPARED_LENGTH, MAX_COMPARED_NAMES = 100, 2_000
SHORTEST_ABBREVIATION = 3  # characters; fewer begin too many names
_PACKAGE_DIR = str(Path(__file__).parent)


class ResultLike(Protocol):
    """The part of a Result that an error may carry; errors stand below results in the layers."""

    @property
    def data(self) -> Any:  # noqa: ANN401 - JSON values, which callers index
        """The data received, or None."""

    @property
    def errors(self) -> Sequence[Any]:
        """The errors received with the data."""


def clean_text(text: str, limit: int | None = None) -> str:
    """Return foreign text without control characters; line ends and tabs are kept.

    Control, format and bidirectional characters become spaces, so that a server cannot colour,
    overwrite or reorder the text on the screen.

    Parameters
    ----------
    text
        The text; it may be megabytes long if there is a limit.
    limit
        Maximum length of the returned text, in characters; longer text ends in an ellipsis.

    Returns
    -------
    str
        The text; each control character is a space.
    """
    if limit is not None and len(text) > limit:
        text = f"{text[: limit - 1]}…"
    if text.isprintable():  # text of a table is, almost always
        return text
    return "".join(
        " " if c not in "\n\t" and unicodedata.category(c) in INVISIBLE_CATEGORIES else c
        for c in text
    )


def sanitize_text(text: object, limit: int = 400) -> str:
    """Return foreign text as a single line without control characters; see :func:`clean_text`.

    Parameters
    ----------
    text
        Any object; its ``str()`` is used.
    limit
        Maximum length of the returned text, in characters; longer text ends in an ellipsis.

    Returns
    -------
    str
        The line, without white space at its ends.
    """
    line = " ".join(clean_text(str(text)[: limit * 4]).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def format_count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: ``1 row``, ``2,000 rows``; `many` is an irregular plural."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def join_names(names: Iterable[str], most: int) -> str:
    """Return the first names with commas between them, and the number of the others."""
    names = list(names)
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def format_path(path: Iterable[object], limit: int = 200) -> str:
    """Return a response path as text, such as ``a.b[0]``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return sanitize_text(text.removeprefix("."), limit)


def describe_path(path: Iterable[object]) -> str:
    """Return a response path for use in a sentence, such as `` at a.b[0]``; "" for the root."""
    text = format_path(path)
    return f" at {text}" if text else ""


def find_similar(
    word: str, candidates: Iterable[str], cutoff: float = 0.6, *, abbreviated: bool = False
) -> str | None:
    """Return the candidate most similar to a misspelled word in any case, or None.

    Parameters
    ----------
    word
        The unknown word.
    candidates
        The valid words; at most the first 2,000, and those of up to 100 characters, are compared.
    cutoff
        The lowest accepted similarity, 0 to 1, as in :func:`difflib.get_close_matches`.
    abbreviated
        Whether the word may be the beginning of a candidate too, of at least three characters.

    Returns
    -------
    str or None
        The candidate; None if none is similar enough.
    """
    if len(word) > MAX_COMPARED_LENGTH:
        return None
    short = [name for name in candidates if len(name) <= MAX_COMPARED_LENGTH]
    by_fold = {name.lower(): name for name in short[:MAX_COMPARED_NAMES]}
    folded = word.lower()
    near = difflib.get_close_matches(folded, by_fold, 1, cutoff)
    if not near and abbreviated and len(word) >= SHORTEST_ABBREVIATION:
        near = sorted((name for name in by_fold if name.startswith(folded)), key=len)
    return by_fold[near[0]] if near else None


def suggest(word: str, candidates: Iterable[str], *, abbreviated: bool = False) -> str:
    """Return `` Did you mean 'x'?`` for the candidate most similar to a word, or "".

    Takes the parameters of :func:`find_similar`. The text starts with a space, so that it can
    follow a sentence.

    Returns
    -------
    str
        The sentence, or "".
    """
    similar = find_similar(word, candidates, abbreviated=abbreviated)
    return "" if similar is None else f" Did you mean {similar!r}?"


def suggest_or_list(word: str, candidates: Sequence[str]) -> str:
    """Return the sentence of :func:`suggest`, or one that lists the candidates if it is ""."""
    return suggest(word, candidates) or f" There are: {', '.join(candidates)}."


class GqlnbError(Exception):
    """Base class of the package's exceptions.

    Parameters
    ----------
    message
        The text of the error.
    result
        The data received before the error, such as partial data or finished pages.

    Examples
    --------
    >>> issubclass(gqlnb.QueryError, gqlnb.GqlnbError)
    True
    """

    def __init__(self, message: str, *, result: ResultLike | None = None) -> None:
        super().__init__(message)
        self.result = result

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows instead of a traceback, in every ``%xmode``."""
        lines = f"{type(self).__name__}: {self}".splitlines()
        if self.__cause__ is not None:
            lines.append(f"  caused by {describe_exception(self.__cause__)}")
        called = find_user_line(self)
        return [*lines, called] if called else lines


def describe_exception(error: BaseException) -> str:
    """Return an exception of user code as one line: its class, message and source line."""
    place = find_user_line(error)
    text = f"{type(error).__name__}: {sanitize_text(error, 200)}"
    return f"{text.removesuffix('.')}, {place.strip()}" if place else text


def find_user_line(error: BaseException) -> str | None:
    """Return the innermost line of user code in an exception's traceback, or None."""
    # Without tokens: the output of a cell is saved and shown more widely than its text.

    found, step = None, error.__traceback__
    library = (_PACKAGE_DIR, "<gqlnb ", sys.prefix, sys.base_prefix, "<frozen")
    while step is not None:
        code, number = step.tb_frame.f_code, step.tb_lineno
        source = linecache.getline(code.co_filename, number, step.tb_frame.f_globals).strip()
        is_user_code = not (
            code.co_filename.startswith(library) or "site-packages" in code.co_filename
        )
        # IPython turns magics into calls of get_ipython(), which the user did not write.
        if source and is_user_code and "get_ipython().run_" not in source:
            within = "" if code.co_name.startswith("<") else f"in {code.co_name}, "
            found = f"  {within}line {number}"
            if not isinstance(error, LiteralSecretError):  # the line holds the secret
                source = replace_secrets(source, find_secrets(source))[0]
                found = f"{found}: {sanitize_text(source, 100)}"
        step = step.tb_next
    return found


# Messages are those of graphql-core, unchanged, so that the engine can be compared with it
# message by message. What we know beyond that is a hint: `Problem.hint` here, `extensions.hint`
# over HTTP.
@dataclass(frozen=True, slots=True)
class Problem:
    """An error in a text.

    Attributes
    ----------
    message
        The message of the validator or of the endpoint.
    line, column
        The position in the text, both counted from 1; None if unknown.
    hint
        A correction or further help; None if the message says it all.
    """

    message: str
    line: int | None = None
    column: int | None = None
    hint: str | None = None

    @property
    def formatted(self) -> dict[str, Any]:
        """The problem as an error of a GraphQL response; the hint is an extension."""
        error: dict[str, Any] = {"message": self.message}
        if self.line is not None and self.column is not None:
            error["locations"] = [{"line": self.line, "column": self.column}]
        if self.hint:
            error["extensions"] = {"hint": self.hint}
        return error


class TextError(GqlnbError, ValueError):
    """An invalid text; base class of :class:`QueryError` and :class:`SchemaError`.

    Parameters
    ----------
    message
        The text of the error; not used if there are `problems`.
    text
        The invalid text, quoted above the carets.
    problems
        The errors in the text, in the order found.
    result
        The response of the endpoint, if the request was sent.

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
        """Count lines in the message from the top of a notebook cell.

        Parameters
        ----------
        lines
            The number of lines at the top of the cell that are not query text.

        Returns
        -------
        TextError
            The error itself.
        """
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
            rows = LINE_END.split(self.text or "")
            if 0 < problem.line <= len(rows):
                lines.extend(draw_caret(rows[problem.line - 1], problem.column, number))
        if problem.hint:
            lines.append(f"  {problem.hint}")
        return "\n".join(lines)


class SchemaError(TextError):
    """Invalid SDL, or a resolver without a matching field.

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
    """An invalid query, invalid variables, or an invalid search expression.

    Examples
    --------
    >>> gqlnb.reference_schema().execute("{ hallo }")
    Traceback (most recent call last):
    gqlnb.errors.QueryError: Cannot query field 'hallo' on type 'Query'. Did you mean 'hello'?
      line 1, column 3
         1 | { hallo }
               ^
    """


# Columns of a quoted line, and before its caret. With the margin they fit into the output of a
# notebook in a window of 600 pixels, which would wrap a longer line above its caret.
QUOTED_WIDTH, QUOTED_BEFORE = 46, 30


def draw_caret(row: str, column: int, number: int) -> list[str]:
    """Return a source line with its line number, and a line with a caret under `column`."""
    # One tab would shift the caret by up to seven columns.
    row = clean_text(row).replace("\t", " ")
    start = max(0, min(column - 1 - QUOTED_BEFORE, len(row) - QUOTED_WIDTH))
    end = start + QUOTED_WIDTH
    while measure_width(row[start:end]) > QUOTED_WIDTH:  # wide characters
        start, end = (start, end - 1) if end > column + 1 else (start + 1, end)
    quoted, margin = row[start:end], f"  {number:>4} | "
    if start > 0:
        quoted = f"…{quoted[1:]}"
    if end < len(row):
        quoted = f"{quoted[:-1]}…"
    before = len(margin) + measure_width(quoted[: column - 1 - start])
    return [margin + quoted, " " * before + "^"]


def measure_width(text: str) -> int:
    """Return the number of terminal columns that a text occupies (Unicode, UAX 11)."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )


class TransportError(GqlnbError):
    """No usable response: connection refused, reset or timed out, or an HTTP error status.

    Parameters
    ----------
    message
        The text of the error.
    status
        The HTTP status, if any.
    wait
        Seconds to wait before the next request.
    broken
        Whether the connection ended before the whole response had arrived.
    transient
        Whether the endpoint reported a temporary failure with status 200.
    result
        The data received before the error, such as finished pages.

    Attributes
    ----------
    status : int or None
        The HTTP status, if any; 504 for a time-out that was reported with status 200.
    wait : float or None
        Seconds to wait before the next request, if the endpoint sent them.
    broken : bool
        Whether the connection ended before the whole response had arrived; the endpoint may have
        executed the request.
    transient : bool
        Whether the endpoint reported a temporary failure with status 200.
    replayed : bool
        Whether the error comes from a recording, so that a retry would give the same.

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
    """The token is missing, or the endpoint rejected it.

    Examples
    --------
    >>> with gqlnb.serve(gqlnb.reference_schema(), port=0, token=gqlnb.Token("right")) as server:
    ...     try:
    ...         gqlnb.Client(server.url, token=gqlnb.Token("wrong")).execute("{ hello }")
    ...     except gqlnb.AuthError as error:
    ...         print(error.status)
    401
    """


class LiteralSecretError(AuthError):
    """A secret was given as text, which would be saved with the notebook.

    Give its source instead, such as ``token="env:GITHUB_TOKEN"``, or ``gqlnb.Token(text)`` in a
    program.

    Examples
    --------
    >>> gqlnb.connect("https://api.example.com/graphql", token="a-token-as-text")
    Traceback (most recent call last):
    gqlnb.errors.LiteralSecretError: ...
    """


class RateLimited(TransportError):  # noqa: N818 - the state has a name that people know
    """The endpoint asks to wait before the next request; ``.wait`` holds the seconds, if sent.

    Examples
    --------
    >>> error = gqlnb.RateLimited("Wait a minute.", status=403, wait=60.0)
    >>> error.wait, isinstance(error, gqlnb.TransportError)
    (60.0, True)
    """


class AnswerError(GqlnbError):
    """The response is not a GraphQL response, or does not match the document and the schema.

    The readable part is in ``.result``.

    Parameters
    ----------
    message
        The text of the error.
    broken
        Whether the body is empty, or ends before its JSON does.
    result
        The readable part of the response.

    Attributes
    ----------
    broken : bool
        Whether the body is empty, or ends before its JSON does; the endpoint may have executed the
        request.
    replayed : bool
        Whether the error comes from a recording, so that a retry would give the same.

    Examples
    --------
    >>> async def page(scope, receive, send):
    ...     await send({"type": "http.response.start", "status": 200, "headers": []})
    ...     await send({"type": "http.response.body", "body": b"<h1>Welcome</h1>"})
    >>> gqlnb.Client(page).execute("{ hello }")
    Traceback (most recent call last):
    gqlnb.errors.AnswerError: ...
    """

    def __init__(
        self, message: str, *, broken: bool = False, result: ResultLike | None = None
    ) -> None:
        super().__init__(message, result=result)
        self.broken = broken
        self.replayed = False


class TargetError(GqlnbError, LookupError):
    """The connection name is unknown, or the object is not a supported endpoint.

    Examples
    --------
    >>> gqlnb.connect("gihtub")
    Traceback (most recent call last):
    gqlnb.errors.TargetError: ...
    """


class ReplayError(GqlnbError, LookupError):
    """A recording has no response to a request, or cannot be read or written.

    Examples
    --------
    >>> gqlnb.connect("demo", recording="no-such.jsonl", mode="replay").execute("{ __typename }")
    Traceback (most recent call last):
    gqlnb.errors.ReplayError: ...
    """


class FrameError(GqlnbError, LookupError):
    """The result has no frame at that path, or more than one to choose from.

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
    """The port is in use by another server.

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
    """An unknown option or an invalid value, in a call, a magic line or a settings file.

    Examples
    --------
    >>> gqlnb.Access(origins=["*"])
    Traceback (most recent call last):
    gqlnb.errors.OptionError: ...
    """


class KeywordError(OptionError, TypeError):
    """An unknown keyword argument.

    Examples
    --------
    >>> gqlnb.connect("demo", tokn="env:GITHUB_TOKEN")
    Traceback (most recent call last):
    gqlnb.errors.KeywordError: ...
    """


class MissingExtraError(GqlnbError, ImportError):
    """A required optional dependency is not installed.

    Examples
    --------
    >>> issubclass(gqlnb.MissingExtraError, ImportError)
    True
    """


class StrictError(FrameError):
    """A value does not fit its column; ``strict=False`` would keep it as received.

    Parameters
    ----------
    fact
        The value's kind and place, in sentences; advice is added to it.
    """

    def __init__(self, fact: str) -> None:
        super().__init__(f"{fact} Pass strict=False to keep values of other types unchanged.")
        self.fact = fact


@contextmanager
def advise_if_strict(advice: str) -> Iterator[None]:
    """Replace the advice in a `StrictError` raised within the block."""
    try:
        yield
    except StrictError as error:
        error.args = (f"{error.fact} {advice}",)
        raise
