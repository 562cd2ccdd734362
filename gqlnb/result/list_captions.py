"""The number of rows of a table in words, and in the ``attrs`` of a frame."""

# Apart from the verdicts: a display needs no graphql-core, which they import.
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gqlnb.errors import format_count

if TYPE_CHECKING:
    from gqlnb.result.list_verdicts import Verdict


FETCH_ALL = "--paginate fetches all"  # an option of cells and of `gqlnb query`


def describe_rows(rows: int, verdict: Verdict | None) -> str:
    """Return the number of rows in words, with that of all rows.

    Examples
    --------
    >>> from gqlnb.result.list_verdicts import Verdict
    >>> describe_rows(100, Verdict("more", "`total` counts 1,067", 1067, FETCH_ALL))
    '100 of 1,067 rows; --paginate fetches all'
    >>> describe_rows(100, Verdict("more", "`hasMore` is true"))
    '100 rows, more exist'
    >>> describe_rows(100, Verdict("unknown", "`limit: 100` is reached"))
    '100 rows, perhaps more'
    >>> describe_rows(1000, Verdict("unknown", "Pages overlap.", 1067))
    '1,000 of 1,067 rows, not proved complete'
    """
    words = format_count(rows, "row")
    if verdict is None or verdict.state == "complete":
        return words
    if verdict.total > rows:
        words = f"{rows:,} of {format_count(verdict.total, 'row')}"
    elif verdict.state == "more":
        words += ", more exist"
    if verdict.state == "unknown":
        words += ", not proved complete" if verdict.total else ", perhaps more"
    return f"{words}; {verdict.hint}" if verdict.hint else words


def mark_rows(rows: int, verdict: Verdict) -> dict[Any, object]:
    """Return the ``attrs`` of a frame with all rows that were received of a list.

    ``completeness``; if the list is not complete also ``caption``, the words of every table; if
    there are more rows also ``partial`` and ``all_rows``, their number or None.
    """
    marks: dict[Any, object] = {"completeness": str(verdict)}
    if verdict.state != "complete":
        marks["caption"] = describe_rows(rows, verdict)
    if verdict.state == "more":
        marks |= {"partial": True, "all_rows": verdict.total or None}
    return marks
