"""``--paginate``: what may be asked page by page, and what becomes of pages that came."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gqlnb.client.paging.pager import ADVICE
from gqlnb.errors import OptionError, QueryError, TextError

if TYPE_CHECKING:
    from gqlnb.document.document import Document
    from gqlnb.result.result import Result

__all__ = [
    "PAGES_NAME",
    "add_error_lines",
    "clear_positions",
    "describe_incomplete",
    "explain_partial_pages",
    "get_partial_pages",
    "require_query",
]

WANTED_REACHED = "max_results"  # what a report says where that many came
PAGES_NAME = "_pages"  # as IPython keeps what it was not told to keep: _, _exit_code


def require_query(option: str, document: Document) -> None:
    """Check that an operation may be run more than once.

    Raises
    ------
    OptionError
        If it changes something.
    """
    if document.kind != "query":
        msg = f"{option} runs an operation again and again, so it takes no {document.kind}."
        raise OptionError(msg)


def get_partial_pages(error: BaseException) -> Result | None:
    """Return the pages that came before an error or an interrupt; None if there are none."""
    result: Any = getattr(error, "result", None)
    return result if getattr(result, "report", None) is not None else None


def explain_partial_pages(error: BaseException, name: str, target: str) -> None:
    """Let an error say what came, what it is called, and how to go on.

    Parameters
    ----------
    error
        What ended the paging.
    name
        What the pages are kept as.
    target
        A Python expression for what was asked.
    """
    result = get_partial_pages(error)
    if result is None:
        return
    kept = f"{result.report}. They are kept as {name}."
    onward = f"To go on: gqlnb.connect({target}).resume({name})"
    if not isinstance(error, Exception):
        error.told = (kept, onward)  # type: ignore[attr-defined]
    else:
        add_error_lines(error, kept, onward)


def add_error_lines(error: Exception, *lines: str) -> None:
    """Add lines to what an error says."""
    said = "\n  ".join(lines)
    if isinstance(error, TextError) and error.problems:
        *before, last = error.problems
        hint = f"{last.hint}\n  {said}" if last.hint else said
        error.problems = (*before, replace(last, hint=hint))
    else:
        message = str(error.args[0]).partition(ADVICE)[0].rstrip()
        error.args = (f"{message}\n  {said}",)


def clear_positions(error: QueryError, text: str) -> None:
    """Take the places out of an error about the text of a further page: nobody wrote its lines."""
    if error.text not in (None, text):
        error.text = None
        problems = (replace(each, line=None, column=None) for each in error.problems)
        error.problems = tuple(problems)


def describe_incomplete(result: Result) -> list[str]:
    """Return what to say where paging ended before it was meant to; nothing where it did not."""
    report = result.report
    if report is None or report.complete or report.ended == WANTED_REACHED:
        return []
    return report.format_lines()
