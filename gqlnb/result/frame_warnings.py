"""Warnings about a frame: facts that its rows and columns do not show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gqlnb.result.paging_report import MORE_PAGES_FOLLOW
from gqlnb.result.renderer import format_error_count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from gqlnb.result.paging_report import Report

__all__ = [
    "describe_incompleteness",
    "describe_inference",
    "describe_partial_result",
    "describe_remarks",
    "describe_renumbering",
]

# Marks in the set of warnings that were given for a result, beside names of lists and remarks.
INCOMPLETE_MARK = "incomplete"
PARTIAL_MARK = None
# Ends of paging that the user has chosen or has been told by an exception.
EXPECTED_ENDS = frozenset(
    {"max_results", "max_requests", "failed", "interrupted", MORE_PAGES_FOLLOW}
)
MAX_DOUBTS_SHOWN = 3
_warned_sources: set[str | None] = set()  # one warning per source and process about inference


def describe_partial_result(errors: Collection[object], given: set[str | None]) -> Iterator[str]:
    """Yield the warning that errors came with the data, once per result."""
    if errors and PARTIAL_MARK not in given:
        given.add(PARTIAL_MARK)
        yield f"The answer is partial: {format_error_count(errors)}. See result.errors_frame()."


def describe_incompleteness(report: Report | None, given: set[str | None]) -> Iterator[str]:
    """Yield the warning that paging may have missed rows, once per result."""
    if report is None or report.complete or report.ended in EXPECTED_ENDS:
        return
    if INCOMPLETE_MARK in given:
        return
    given.add(INCOMPLETE_MARK)
    reasons = report.doubts[:MAX_DOUBTS_SHOWN] or (f"It ended: {report.ended}",)
    text = " ".join(f"{reason.rstrip('.')}." for reason in reasons)
    yield f"The result may be incomplete: {report.counts}. {text} See result.report."


def describe_renumbering(names: Collection[str], given: set[str | None]) -> Iterator[str]:
    """Yield a warning for each list with ids that are not unique, once per result."""
    for name in sorted(set(names) - given):
        given.add(name)
        key = name.rpartition(".")[2]
        yield (
            f"Ids in a list of {name!r} repeat or are missing, so what is in its rows has "
            f"the row, {f'{key}_index'!r}, as key instead of {f'{key}.id'!r}."
        )


def describe_remarks(remarks: Iterable[str], given: set[str | None]) -> Iterator[str]:
    """Yield the remarks on columns that were not given for this result yet."""
    for remark in remarks:
        if remark not in given:
            given.add(remark)
            yield remark


def describe_inference(source: str | None) -> Iterator[str]:
    """Yield the warning that dtypes are inferred, once per source."""
    if source not in _warned_sources:
        _warned_sources.add(source)
        yield (
            f"No schema is known for {source or 'this answer'}: the dtypes of its frames "
            "are inferred from the values. A client takes it from Client(..., schema=), and "
            "client.schema says why an endpoint's is not known; Result.from_bytes takes it from "
            "its document."
        )
