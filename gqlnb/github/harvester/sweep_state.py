"""The state of a harvest: its searches, the counts to compare them with, and proved ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gqlnb.github.harvester.query_range import Scope, widen_range
from gqlnb.github.harvester.search_windows import (
    Coverage,
    CreationTimes,
    Gap,
    RepositoryRow,
    RowsById,
    SearchWindow,
)
from gqlnb.github.search_syntax import MAX_PAGE_SIZE

if TYPE_CHECKING:
    from collections.abc import Container, Sized

__all__ = [
    "MAX_KNOWN_ROWS",
    "MAX_SLICED_ROWS",
    "MIN_CUT_SHARE",
    "CountCheck",
    "ProvedSlice",
    "RangeRepair",
    "SweepState",
]

# Changes that hide each other between two pages, as expected from those that were seen alone. Above
# this, only searches of one page prove something. With twenty star changes per request and 18,400
# repositories it is 0.2 at most; where repositories were lost, it was above 1.5.
MAX_HIDDEN_CHANGES = 1.0
# A smaller difference of two counts may be changes, a larger one is an answer that was cut.
MIN_CUT, MIN_CUT_SHARE = 10, 0.05
MAX_NEW_SHARE = 0.001  # of all rows, that may come while as many others leave
# Up to so many rows all ids are kept. With more, a count of the rows may include some twice that
# moved between two windows.
MAX_KNOWN_ROWS = 100_000
MAX_HIDDEN_MISMATCHES = 0.05  # as expected; where it is more, ranges may agree by chance
MAX_REPEATED_PAGES = 50  # so many cost little, even if changes that hide each other are rare
# Where counts are wrong, repetitions bring nothing. They stop when they took so many more pages
# than those that helped, and this share of all; what is not proved then is reported.
FRUITLESS_PAGES = 16
FRUITLESS_SHARE = 0.1
MAX_MISCOUNTS = 2  # counts that are too low for their own answer; they stop then too
# Up to so many rows those of each proved range are kept, too, so that ranges are compared with
# their rows again where the count of all differs from the number of rows.
MAX_SLICED_ROWS = 10_000


class CountCheck(msgspec.Struct):
    """Comparison of the count and the rows of a window with those of the windows below it.

    Attributes
    ----------
    number
        Number of its window.
    scope
        Range that the window should have completed.
    parent
        Number of the check that waits for this window; 0 for none.
    total
        Count of the window.
    ids
        Repositories of the window.
    recent
        Repositories that came before it.
    waiting
        Number of next windows that are not finished.
    held
        Windows below those, which start when all next windows are finished.
    below, below_total
        Repositories of the next windows, and the sum of their counts.
    """

    number: int
    scope: Scope
    parent: int
    total: int
    ids: CreationTimes
    recent: CreationTimes
    waiting: int = 0
    held: list[int] = []
    below: CreationTimes = {}
    below_total: int = 0

    @property
    def missing(self) -> int:
        """Number of repositories in the range by the counts, less those that came."""
        return self.total - self.below_total - len(self.ids.keys() - self.below.keys())


class RangeRepair(msgspec.Struct):
    """Closed windows that search again for repositories that another one may have skipped.

    They search the star ranges around the places where it may have skipped repositories, or
    everything in parts. If everything shows less than was counted, the count was wrong.

    Attributes
    ----------
    number
        Number of the window that is repaired.
    scope
        Its range.
    tries
        How often it was searched before.
    ids
        Its repositories, and those that the new windows found.
    recent
        Repositories that came before it.
    missing
        Number of repositories that may have been skipped around these places; 0 for the whole
        range.
    unseen
        Number of repositories that were counted all the time, and not shown.
    found
        Number that they found in the range.
    open
        Number of them that are not finished.
    failed
        Whether one of them ended as a gap.
    whole
        Whether they search the whole range, and only that.
    parent
        Number of the repair that waits for this one; 0 for none.
    counted
        Whether its range was counted again at the end.
    held
        Ranges that are searched if the count does not agree.
    has_arrivals
        Whether repositories that entered the range may explain what is missing.
    """

    number: int
    scope: Scope
    tries: int
    ids: CreationTimes
    recent: CreationTimes
    missing: int
    unseen: int = 0
    found: int = 0
    open: int = 0
    failed: bool = False
    whole: bool = False
    parent: int = 0
    counted: bool = False
    held: list[Scope] = []
    has_arrivals: bool = False


class ProvedSlice(msgspec.Struct, frozen=True, array_like=True):
    """A range that was proved complete.

    Attributes
    ----------
    scope
        The range.
    shown
        Number of its repositories.
    rows
        The repositories; empty if there are more than 10,000 in all.
    pages
        Number of pages that proved it.
    order
        Their sort order.
    """

    scope: Scope
    shown: int
    rows: CreationTimes = {}
    pages: int = 1
    order: str = "stars-asc"


class SweepState(msgspec.Struct):
    """The whole state of a sweep, as it is written to the log of a harvest."""

    scope: Scope
    most: int = MAX_PAGE_SIZE
    size: int = MAX_PAGE_SIZE
    calm: int = 0
    width: int = 1
    number: int = 0
    windows: dict[int, SearchWindow] = {}
    checks: dict[int, CountCheck] = {}
    proved: list[CountCheck] = []
    repairs: dict[int, RangeRepair] = {}
    moving: bool = False
    unverified: list[Scope] = []  # what chains have read, until it is compared with its counts
    unverified_rows: CreationTimes = {}
    verified: list[ProvedSlice] = []  # ranges that agreed, until all are compared
    mismatches: int = 0  # ranges that did not
    has_mismatches: bool = False  # whether there were any, also before they were compared
    has_forgotten: bool = False  # whether chains have read more than is kept
    recounted: bool = False
    twice: bool = False  # whether to read everything a second time
    is_repeated: bool = False  # whether that, or a part of it, has begun
    intervals: int = 0  # between pages of closed windows
    pulls: int = 0  # intervals in which results moved up
    pushes: int = 0  # intervals in which results moved down
    changed: bool = False  # whether anything shows that the repositories change
    has_split_second: bool = False  # whether one second was read in ranges of stars
    has_cut_answers: bool = False  # whether two counts of a search differ by too much for that
    compared: int = 0  # how often the count of all was compared with the rows
    counted: int = 0  # the larger count then
    last_compared: tuple[int, int] = (0, 0)  # that of the comparison before, and the rows then
    reopened: bool = False  # whether slices are read again since, so that it is compared again
    slices: list[ProvedSlice] = []
    expected: int | None = None
    got: int = 0
    duplicates: int = 0
    requests: int = 0
    begun: int = 0
    splits: int = 0
    repeated: int = 0
    fruitless: int = 0
    miscounts: int = 0
    shifts: int = 0
    ids: set[str] = set()  # of all rows, unless they are too many
    has_forgotten_ids: bool = False
    gaps: list[Gap] = []
    recovered: list[str] = []

    def note_counts(self, one: int, other: int) -> None:
        """Note whether two counts of the same search differ, and whether by very much."""
        self.changed |= one != other
        self.has_cut_answers |= abs(one - other) > max(MIN_CUT, MIN_CUT_SHARE * one)

    @property
    def has_frequent_changes(self) -> bool:
        """Whether changes may have hidden each other between two pages of a search."""
        return self.pulls * self.pushes > MAX_HIDDEN_CHANGES * self.intervals

    @property
    def is_hopeless(self) -> bool:
        """Whether searching ranges again has brought too little for the pages it took."""
        is_fruitless = self.fruitless > FRUITLESS_PAGES + FRUITLESS_SHARE * self.requests
        return is_fruitless or self.miscounts >= MAX_MISCOUNTS

    def may_agree_by_chance(self, verified: Sized) -> bool:
        """Return whether ranges may agree with their rows though one is missing, as one has left.

        If `m` of `n` ranges did not agree, about ``m / 2`` lack a row, as many have lost one, and
        in ``n * (m / 2n) ** 2`` both happened.
        """
        ranges = self.mismatches + len(verified)
        return self.mismatches**2 > 4 * MAX_HIDDEN_MISMATCHES * ranges

    def take_doubtful_slices(self) -> list[ProvedSlice]:
        """Remove and return the proved ranges that have to be read again.

        Changes hide each other between the pages of a search if results move both up and down.
        Most move down, as others gain stars. So ranges of several pages are read again where both
        are frequent; and once, if it costs little, where any moved up, or counts did not agree.
        """
        is_whole = self.twice and not self.is_repeated
        again = [part for part in self.slices if is_whole or part.pages > 1]
        is_cheap = sum(part.pages for part in again) <= MAX_REPEATED_PAGES
        is_doubtful = (self.pulls > 0 or self.has_mismatches) and is_cheap and not self.is_repeated
        if not again or not (is_whole or is_doubtful or self.has_frequent_changes):
            return []
        self.is_repeated = True
        if self.has_forgotten_ids:  # their rows are new again
            self.got -= sum(part.shown for part in again)
        self.slices = [] if is_whole else [part for part in self.slices if part.pages == 1]
        return again

    @property
    def lacks_many(self) -> bool:
        """Whether more repositories are counted at the end than may have come meanwhile.

        Those that came after their range was read, less those that left, are a part of the change
        of the count, about.
        """
        change = abs(self.counted - (self.expected or 0))
        return self.counted - self.got > max(MIN_CUT, MAX_NEW_SHARE * self.got) + change

    def compare_with_count(self, *, is_last: bool) -> None:
        """Add a gap if fewer repositories came than are counted, unless others may have come.

        Others come continually, so that the count grows from one comparison to the next: it is
        compared once more, unless this is the last time.
        """
        if self.counted <= self.got or self.gaps:
            return
        if not self.changed and self.counted == self.expected:
            why = "The count is the same as at the beginning, and fewer repositories came."
        elif not self.changed and (self.counted, self.got) == self.last_compared:
            why = "The same count came again, and fewer repositories."
        elif self.has_cut_answers and is_last:
            why = "Answers were cut, and fewer repositories came than are counted."
        elif self.lacks_many and not self.reopened:
            why = "More repositories are counted than can have come meanwhile."
        else:
            self.reopened |= not self.changed
            return
        self.gaps.append(Gap(self.scope.format_expression(), self.counted, self.got, why))

    def forget_fallen(self, rows: RowsById) -> None:
        """Forget which rows chains have read in ranges that they have left since.

        Otherwise each of them would stand for another one that came into its range.
        """
        for key in self.unverified_rows.keys() & rows.keys():
            row = rows[key]
            if not any(
                scope.is_in_time_range(row.created)
                and row.stars >= widen_range(scope, self.scope).low
                for scope in self.unverified
            ):
                del self.unverified_rows[key]

    def list_repairs(self, number: int) -> list[RangeRepair]:
        """Return a repair and those that wait for it."""
        found = []
        while (repair := self.repairs.get(number)) is not None:
            found.append(repair)
            number = repair.parent
        return found

    def add_slice(self, part: ProvedSlice) -> None:
        """Note a proved range; with many rows without the rows, which would take much memory."""
        if self.got > MAX_SLICED_ROWS:
            part = msgspec.structs.replace(part, rows={})
            if self.slices and self.slices[0].rows:
                self.slices = [msgspec.structs.replace(each, rows={}) for each in self.slices]
        self.slices.append(part)

    def select_new_rows(self, rows: RowsById, known: Container[str]) -> list[RepositoryRow]:
        """Return the rows that have not come before, and count them."""
        new = [row for key, row in rows.items() if key not in known and key not in self.ids]
        self.got += len(new)
        self.has_forgotten_ids |= self.got > MAX_KNOWN_ROWS
        if self.has_forgotten_ids:
            self.ids.clear()
        else:
            self.ids.update(row.id for row in new)
        return new

    def build_coverage(self) -> Coverage:
        """Return the completeness so far."""
        return Coverage(
            scope=self.scope,
            expected=self.expected,
            got=self.got,
            duplicates=self.duplicates,
            requests=self.requests,
            bound=-(-self.got // MAX_PAGE_SIZE),
            windows=self.begun,
            splits=self.splits,
            repairs=self.repeated,
            shifts=self.shifts,
            gaps=tuple(self.gaps) or self._list_doubts(),
            open=len(self.windows),
            recovered=tuple(sorted(self.recovered)),
            twice=self.twice,
        )

    def _list_doubts(self) -> tuple[Gap, ...]:
        """Return the whole range as a gap if counts agree by chance, or prove nothing."""
        if self.windows:
            return ()
        text, expected = self.scope.format_expression(), self.expected or 0
        if self.miscounts:
            why = f"{self.miscounts} counts were wrong, so others may be right by chance."
            return (Gap(text, expected, self.got, why),)
        if self.has_split_second and self.changed:  # ranges of stars are left and entered
            why = (
                "Repositories created in the same second are too many for one search, and changed."
            )
            return (Gap(text, expected, self.got, why),)
        return ()
