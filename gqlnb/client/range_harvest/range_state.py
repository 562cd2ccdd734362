"""The state of a harvest in ranges, and the events of its log."""

from __future__ import annotations

from typing import Any

import msgspec

from gqlnb.client.range_harvest.slices import ValueRange, parse_value
from gqlnb.result.answer_notes import MAX_NOTES
from gqlnb.result.renderer import render_lines

__all__ = [
    "Changes",
    "Event",
    "HarvestState",
    "RangeCoverage",
    "RangeGap",
    "RangeStep",
    "Reading",
    "are_frequent",
    "find_most_rows",
]

Ends = tuple[Any, Any]  # of a range, as JSON values in the log


class Reading(msgspec.Struct, kw_only=True):
    """A range that was read.

    Attributes
    ----------
    number
        Its number among all readings.
    ends
        The range.
    count
        The number of rows according to the endpoint; None if it does not say.
    got
        The number of rows that came.
    doubt
        The reason why completeness is not proved; empty if it is.
    has_lasting_doubt
        Whether another reading has the same doubt, as the endpoint does not count rows, or returns
        no more of them.
    requests
        The number of requests; the rows of a single one are of one moment.
    digest
        A hash of the ids of its rows.
    is_verified
        Whether another reading of the range returned the same rows.
    """

    number: int
    ends: Ends
    count: int | None
    got: int
    doubt: str = ""
    has_lasting_doubt: bool = False
    requests: int = 1
    digest: str = ""
    is_verified: bool = False


class RangeStep(msgspec.Struct, tag="range", kw_only=True):
    """A range was taken: it was read, or divided.

    Attributes
    ----------
    ends
        The range.
    parts
        The ranges into which it was divided; empty if it was read.
    reading
        The reading; None if it was divided.
    rows
        The rows of the reading, as a Parquet file.
    requests
        The number of requests.
    intervals, unstable
        The number of intervals between requests after which a change would have shown, and of
        readings in which rows changed.
    notes
        Notes of the endpoint on the answers, by a key that is the same for equal notes.
    """

    ends: Ends
    parts: list[Ends] = []
    reading: Reading | None = None
    rows: bytes = b""
    requests: int = 0
    intervals: int = 0
    unstable: int = 0
    notes: dict[str, str] = {}


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """The differences to the harvest before, by id.

    Attributes
    ----------
    added, changed, removed
        Ids of the rows. Of rows without an id the whole text is the id, and none is changed.
    """

    added: list[str]
    changed: list[str]
    removed: list[str]

    def __repr__(self) -> str:
        return (
            f"{len(self.added):,} added, {len(self.changed):,} changed, "
            f"{len(self.removed):,} removed"
        )


class RangeGap(msgspec.Struct, frozen=True, kw_only=True):
    """A range that could not be proved to be complete.

    Attributes
    ----------
    text
        The range.
    expected, got
        The number of rows according to the endpoint, None if it does not say, and of those here.
    why
        The reason, as a sentence.
    lasts
        Whether ``refresh=True`` would not remove the reason.
    """

    text: str
    expected: int | None
    got: int
    why: str
    lasts: bool = False

    def __str__(self) -> str:
        of = "" if self.expected is None else f" of {self.expected:,}"
        return f"{self.text}: {self.got:,}{of} rows. {self.why}"


class RangeCoverage(msgspec.Struct, frozen=True, kw_only=True):
    """The completeness of a harvest, and its cost.

    Attributes
    ----------
    expected
        The number of rows according to the endpoint, at the end; None if it does not say.
    got
        The number of rows, each counted once, with those that came as null.
    ranges, requests
        Numbers of ranges and of requests.
    moved
        Ids of rows that came from several ranges; each is kept once, as it came last.
    gaps
        Ranges whose completeness could not be proved.
    notes
        Notes of the endpoint on its answers, such as fields without data, and of a refresh that
        does not notice deleted rows, as sentences.
    stopped
        Whether `progress` stopped the harvest.
    changes
        The differences to the harvest before; None if there was none.
    """

    expected: int | None
    got: int
    ranges: int
    requests: int
    moved: list[str]
    gaps: list[RangeGap]
    notes: list[str] = []
    stopped: bool = False
    changes: Changes | None = None

    def __repr__(self) -> str:
        lines = [
            f"RangeCoverage: {'' if self.complete else 'not '}complete",
            self.describe_counts(),
        ]
        if self.gaps or self.notes:
            lines.append(f"gaps: {len(self.gaps):,}, notes: {len(self.notes):,}")
        return "\n  ".join(lines)

    def describe_counts(self) -> str:
        """Return the numbers of rows, ranges and requests as text."""
        expected = "an unknown number" if self.expected is None else f"{self.expected:,}"
        return (
            f"expected {expected}, got {self.got:,} in {self.ranges:,} ranges and "
            f"{self.requests:,} requests; {len(self.moved):,} moved between ranges"
        )

    def _repr_html_(self) -> str:
        return render_lines(repr(self))

    @property
    def complete(self) -> bool:
        """Whether it is proved that all rows were received."""
        return not self.gaps and not self.stopped


class HarvestState(msgspec.Struct, tag="state", kw_only=True):
    """The state of a harvest.

    Attributes
    ----------
    kind
        The kind of the values, as of :func:`find_kind`; empty before the first row.
    id
        The column that identifies a row, or None.
    has_nulls
        Whether the column may be null.
    total
        The number of rows at the beginning.
    started, previous
        The beginning of this harvest and of the one before, in seconds since 1970.
    pinned
        The last value, if the range was open and later rows are left out.
    pending
        The ranges to read; the last is the next.
    readings
        The ranges that were read.
    numbers
        The number of readings, replaced ones included.
    requests, parts
        Numbers of requests and of Parquet files.
    intervals, unstable
        The number of intervals between requests after which a change would have shown, and of
        readings in which rows changed.
    moves
        The number of times that the count of a range had changed when it was counted again.
    notes
        Notes of the endpoint on its answers, by a key that is the same for equal notes.
    doubt
        The reason why rows may be missing, if the accounts of a run see different rows.
    coverage
        The report; None while the harvest is not finished.
    """

    kind: str = ""
    id: str | None = None
    has_nulls: bool = True
    total: int | None = None
    started: float = 0.0
    previous: float = 0.0
    pinned: Any = None
    pending: list[Ends] = []
    readings: list[Reading] = []
    numbers: int = 0
    requests: int = 0
    parts: int = 0
    intervals: int = 0
    unstable: int = 0
    moves: int = 0
    notes: dict[str, str] = {}
    doubt: str = ""
    coverage: RangeCoverage | None = None

    @property
    def is_ended(self) -> bool:
        """Whether the harvest is finished."""
        return self.coverage is not None

    @property
    def is_moving(self) -> bool:
        """Whether rows change so often that changes may hide each other between two pages."""
        return are_frequent(self.unstable, self.intervals)

    def parse_range(self, ends: Ends) -> ValueRange:
        """Return a range with values of Python."""
        return ValueRange(*(parse_value(self.kind, end) if self.kind else end for end in ends))

    def apply_step(self, step: RangeStep) -> None:
        """Change the state after a range was read or divided."""
        self.pending.remove(step.ends)
        self.requests += step.requests
        self.intervals += step.intervals
        self.unstable += step.unstable
        new = [key for key in step.notes if key not in self.notes][: MAX_NOTES - len(self.notes)]
        self.notes |= {key: step.notes[key] for key in new}
        if step.reading is None:
            self.pending.extend(reversed(step.parts))
            return
        self.numbers = step.reading.number + 1
        self.readings.append(step.reading)


# Changes come at random. If `seen` were seen in some intervals, about seen² / (4 * intervals) pairs
# of them, such as a deletion and an insertion, hid each other: less than 1/80 below this limit.
def are_frequent(seen: int, intervals: int) -> bool:
    """Return whether so many changes were seen that others may have hidden each other."""
    return seen**2 * 20 > intervals


def find_most_rows(count: int, cap: int | None) -> int:
    """Return the number of rows above which a list has grown beyond all rows that change."""
    return 2 * count + 10 * (cap or 1000)


Event = HarvestState | RangeStep
