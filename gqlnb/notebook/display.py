"""Values and errors below a cell: text in a terminal, escaped HTML in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

from gqlnb.document.syntax import find_position
from gqlnb.errors import PAGES_ADVICE, OptionError, QueryError, TextError, sanitize_text
from gqlnb.result.renderer import COLUMNS_STYLE, HTML_CLASSES, Grid, render_lines, render_note

if TYPE_CHECKING:
    import pandas as pd

    from gqlnb.document.document import Document
    from gqlnb.errors import Problem
    from gqlnb.result.result import Result

LIMIT_REACHED = "max_results"  # the end of paging that a report gives for a reached limit
PAGES_NAME = "_pages"  # like the names that IPython gives to unnamed values: _, _exit_code


def require_query(option: str, document: Document) -> None:
    """Check that an operation may be run more than once.

    Raises
    ------
    OptionError
        If it is not a query.
    """
    if document.kind != "query":
        msg = (
            f"{option} may send an operation several times, so it accepts a query, not a "
            f"{document.kind}."
        )
        raise OptionError(msg)


def get_partial_pages(error: BaseException) -> Result | None:
    """Return the pages received before an error or an interrupt, None if there are none."""
    result: Any = getattr(error, "result", None)
    return result if getattr(result, "report", None) is not None else None


def explain_partial_pages(error: BaseException, name: str, target: str) -> None:
    """Add the extent and the name of the received pages to an error, and how to continue.

    Parameters
    ----------
    error
        The error or interrupt that ended the paging.
    name
        The name under which the pages are stored.
    target
        A Python expression for the target of the cell.
    """
    result = get_partial_pages(error)
    if result is None:
        return
    extent = f"{result.report}. They are kept as {name}."
    advice = f"To continue: gqlnb.connect({target}).resume({name})"
    if isinstance(error, Exception):
        add_error_lines(error, extent, advice)
    else:
        error.notes = (extent, advice)  # type: ignore[attr-defined]


def add_error_lines(error: Exception, *lines: str) -> None:
    """Append lines to the message of an error."""
    text = "\n  ".join(lines)
    if isinstance(error, TextError) and error.problems:
        *before, last = error.problems
        hint = f"{last.hint}\n  {text}" if last.hint else text
        error.problems = (*before, replace(last, hint=hint))
    else:
        # The pager's own advice names methods of a client; the cell gives a better one.
        message = str(error.args[0]).partition(PAGES_ADVICE)[0].rstrip()
        error.args = (f"{message}\n  {text}",)


def clear_positions(error: QueryError, text: str) -> None:
    """Remove positions that refer to the generated text of a further page."""
    if error.text not in (None, text):
        error.text = None
        error.problems = tuple(replace(it, line=None, column=None) for it in error.problems)


def describe_incomplete(result: Result) -> list[str]:
    """Return lines about a paging that ended early; empty if it did not, or at the user's limit."""
    report = result.report
    if report is None or report.complete or (report.ended == LIMIT_REACHED and not report.doubts):
        return []
    return report.format_lines()


def locate_problem(problem: Problem, path: object, document: Document | None) -> Problem:
    """Give a problem without a position that of the field at its response path."""
    if problem.line is not None or document is None:
        return problem
    node = document.find_field(path)
    position = None if node is None else find_position(node)
    if position is None:
        return problem
    return replace(problem, line=position.line, column=position.column)


QUIET = "border-left:4px solid #9ca3af;padding:2px 10px;margin:4px 0;opacity:.8"
IN_TEXT, IN_HTML = 80, 400  # characters of a cell


class Text(str):
    """A string that a notebook shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class HelpText(Text):
    """A string of aligned columns, which a narrow notebook scrolls."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return render_lines(self, COLUMNS_STYLE)


class Note:
    """Lines shown above a value: orange for a problem, otherwise grey.

    Parameters
    ----------
    lines
        The lines.
    wrong
        Whether they report a problem.
    """

    def __init__(self, lines: Sequence[str], *, wrong: bool = False) -> None:
        self.lines = list(lines)
        self.wrong = wrong

    def __repr__(self) -> str:
        return "\n".join(self.lines)

    def _repr_html_(self) -> str:
        note = render_note(self.lines) if self.wrong else render_note(self.lines, QUIET)
        return wrap_html(note)


class Listing:
    """A short table.

    Parameters
    ----------
    columns
        The names of the columns.
    rows
        The rows, each as long as `columns`.
    note
        A line below the rows, shown alone if there are none.
    """

    def __init__(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], note: str) -> None:
        self.columns = list(columns)
        self.rows = [tuple(row) for row in rows]
        self.note = note

    def frame(self) -> pd.DataFrame:
        """Return the rows as a DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.rows, columns=self.columns)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def _build_grid(self, limit: int) -> Grid:
        texts = {None: "", True: "✓", False: ""}
        rows = [
            [
                texts[cell]
                if cell is None or isinstance(cell, bool)
                else sanitize_text(cell, limit)
                for cell in row
            ]
            for row in self.rows
        ]
        right = [
            any(isinstance(row[at], int) and not isinstance(row[at], bool) for row in self.rows)
            for at in range(len(self.columns))
        ]
        return Grid(self.columns, right, rows, [""] * len(rows), [])

    def __repr__(self) -> str:
        if not self.rows:
            return self.note
        lines = [line[2:] for line in self._build_grid(IN_TEXT).to_text().splitlines()]
        return "\n".join([*lines, self.note] if self.note else lines)

    def _repr_html_(self) -> str:
        table = self._build_grid(IN_HTML).to_html() if self.rows else ""
        below = f'<p style="opacity:.7;margin:2px 0">{escape(self.note)}</p>' if self.note else ""
        return wrap_html(f"{table}{below}")


def wrap_html(body: str) -> str:
    """Wrap HTML in an element with the package's CSS classes."""
    return f'<div class="{HTML_CLASSES}">{body}</div>'


def to_json_text(result: Result) -> Text:
    """Return a response as JSON text."""
    from gqlnb.document.json_codec import dump_json
    from gqlnb.result.result import collect_members

    return Text(dump_json(collect_members(result)).decode())


def show(value: object) -> None:
    """Display a value above the value of the cell."""
    from IPython.display import display

    display(value)  # type: ignore[no-untyped-call]
