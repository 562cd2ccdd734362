"""Errors of a cell: partial pages, hints for continuing, and positions in the cell's text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gqlnb.document.syntax import find_position
from gqlnb.errors import PAGES_ADVICE, OptionError, QueryError, TextError

if TYPE_CHECKING:
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


def add_error_lines(error: BaseException, *lines: str) -> None:
    """Append lines to the message of an error, or of an interrupt."""
    text = "\n  ".join(lines)
    if isinstance(error, KeyboardInterrupt):
        error.notes = lines  # type: ignore[attr-defined]
    elif isinstance(error, TextError) and error.problems:
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
