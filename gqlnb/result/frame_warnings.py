"""What a person should know of a frame that the frame does not show."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from gqlnb.result.paging_report import MORE_PAGES_FOLLOW

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from gqlnb.result.result import Result
    from gqlnb.result.table_reader import AnswerData

__all__ = ["format_error_count", "warn_about_frame", "warn_incomplete"]

INCOMPLETE_MARK = "incomplete"  # a mark beside the names of frames in the set of what was said
_warned_sources: set[str | None] = set()  # where answers without a schema came from, each said once


# The user set these ends, or knows of them, so they need no warning.
EXPECTED_ENDS = frozenset(
    {"max_results", "max_requests", "failed", "interrupted", MORE_PAGES_FOLLOW}
)
MAX_DOUBTS_SHOWN = 3


def warn_incomplete(result: Result, level: int) -> Result:
    """Return a result of paging; warn once if it is not proved that everything came.

    Parameters
    ----------
    result
        The result.
    level
        How many calls above this one the user's line is.
    """
    said = result.__dict__.setdefault("_said", set())
    for message in describe_incompleteness(result, said):
        warnings.warn(message, stacklevel=level + 1)
    return result


def describe_incompleteness(result: Result, said: set[str | None]) -> Iterator[str]:
    """Yield why a result may be incomplete, unless that was said of it."""
    report = result.report
    if (
        report is None
        or report.complete
        or report.ended in EXPECTED_ENDS
        or INCOMPLETE_MARK in said
    ):
        return
    said.add(INCOMPLETE_MARK)
    reasons = report.doubts[:MAX_DOUBTS_SHOWN] or (f"It ended: {report.ended}",)
    said_so = " ".join(f"{reason.rstrip('.')}." for reason in reasons)
    yield f"The result may be incomplete: {report.counts}. {said_so} See result.report."


def warn_about_frame(result: Result, answer: AnswerData, level: int) -> None:
    """Warn once of what a frame of a result does not show.

    These are errors, repeated ids, values that are not what their scalar says, guessed dtypes.

    Parameters
    ----------
    result
        The result; what was said of it is kept with it.
    answer
        What its frames are read from.
    level
        How many calls above this one the user's line is.
    """
    said = result.__dict__.setdefault("_said", set())
    found = (
        [*describe_partial_result(format_error_count(result.errors), said)] if result.errors else []
    )
    found += describe_incompleteness(result, said)
    found += describe_renumbering(answer.renumbered, said)
    found += [remark for remark in answer.remarks if remark not in said]
    said.update(answer.remarks)
    if result.document is None or result.document.schema is None:
        found += describe_inference(result.source)
    for message in found:
        warnings.warn(message, stacklevel=level)


def format_error_count(errors: Collection[object]) -> str:
    """Return how many errors there are, in words."""
    return "1 error" if len(errors) == 1 else f"{len(errors):,} errors"


def describe_partial_result(count: str, said: set[str | None]) -> Iterator[str]:
    """Yield that errors came with the data, unless it was said of this answer."""
    if None not in said:
        said.add(None)
        yield f"The answer is partial: {count}. See result.errors_frame()."


def describe_renumbering(names: Collection[str], said: set[str | None]) -> Iterator[str]:
    """Yield of each frame whose ids can't be keys that its rows' numbers are, once an answer."""
    for name in sorted(set(names) - said):
        said.add(name)
        key = name.rpartition(".")[2]
        yield (
            f"Ids in a list of {name!r} repeat or are missing, so what is in its rows has "
            f"the row, {f'{key}_index'!r}, as key instead of {f'{key}.id'!r}."
        )


def describe_inference(source: str | None) -> Iterator[str]:
    """Yield that dtypes are inferred, once for each source."""
    if source not in _warned_sources:
        _warned_sources.add(source)
        yield (
            f"No schema is known for {source or 'this answer'}: the dtypes of its frames "
            "are inferred from the values. A client takes it from Client(..., schema=), and "
            "client.schema says why an endpoint's is not known; Result.from_bytes takes it from "
            "its document."
        )
