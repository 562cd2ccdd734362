"""Experiments that find out how a list is paged, where no published convention tells.

A list that may be cut is requested again with one argument changed at a time. The rows that come
back decide the role of the argument: twice the size that brings the same rows and as many behind
them is a page size; one more that shifts the rows by one is an offset; the rows that join them are
the next page. Names only order the trials, and decide where no experiment can. Without I/O: a
:class:`RoleSearch` yields changed arguments and is sent the data of the answer.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from gqlnb.client.paging.completeness import SHARED_LIMIT
from gqlnb.client.paging.page_size import find_size_limit
from gqlnb.document.paged_fields import ListRole
from gqlnb.document.paging_conventions import PageArguments, format_argument, is_limit_name
from gqlnb.document.selections import is_on_path
from gqlnb.document.suspect_lists import (
    CAPPED_COUNT,
    CURSOR_WORDS,
    SIZE_WORDS,
    SMALLEST_ROUND,
    is_default_limit,
    is_long_limit,
    is_named_after,
    is_round,
    is_usual,
)
from gqlnb.errors import sanitize_text

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
    from typing import TypeAlias, TypeVar

    from gqlnb.client.endpoint import PagingOptions
    from gqlnb.client.paging.completeness import CompletenessDoubts
    from gqlnb.document.paging_conventions import PagingKind
    from gqlnb.document.paging_plan import PagingPlan
    from gqlnb.document.suspect_lists import ArgumentLeaf, Rows, SuspectList

    T = TypeVar("T")
    # An experiment is the values of changed arguments. It is answered by the data, None if it was
    # refused, and by the message of the refusal.
    Trial: TypeAlias = Mapping[ArgumentLeaf, int | str]
    Steps: TypeAlias = Generator[Trial, tuple[object, str], T]

OTHER_TYPE = "the endpoint returned an object of another type, without the list"
CHANGED = "its rows changed while experiments found out how it goes on."
MAY_BE_CUT = "nothing shows that it is whole, and a sign suggests that it may be cut"
NOTHING_MOVES = "no argument extends or moves the list"
LEFT_OUT = "`path` leaves it out, so no further pages were requested; it may have more items"
MAX_TRIALS = 10  # for one list, before its size is doubled as long as rows come
MAX_GROWN_ROWS = 10_000  # of one answer: a service may make as many rows as it is asked for
LONGEST_AMBIGUOUS = 2  # rows; of so few, the next page may look shifted by one
PLACE_WORDS = "page pages offset skip start begin from index chunk batch cursor after pos position"
SIZE_OR_PLACE = f"{SIZE_WORDS} {PLACE_WORDS}"
OFFSET_WORDS = "offset skip start"
TOTAL_WORDS = "total all found hits matches filtered"
ACTION_WORDS = "send generate create update delete remove trigger submit execute"
BOUND = re.compile(
    r"^_*(?:min|max|from|to|since|until|upper|lower|gte?|lte?)_?|_?(?:min|max|from|to|gte?|lte?)$",
    re.IGNORECASE,
)


class Finding(msgspec.Struct, frozen=True):
    """The outcome of the experiments on a list.

    Attributes
    ----------
    reason
        The evidence, or the reason of the doubt.
    is_complete
        Whether it is shown that the list is whole.
    role
        How the list goes on; None if that was not found.
    is_of_size
        Whether an argument allows a number of rows, and cuts no list of the answer.
    """

    reason: str
    is_complete: bool = False
    role: ListRole | None = None
    is_of_size: bool = False

    @property
    def is_followed(self) -> bool:
        """Whether further pages of the list can be requested."""
        return self.role is not None and self.role.arguments.kind != "none"


def rule_out_cut(
    suspect: SuspectList,
    length: int,
    counts: Mapping[str, int],
    *,
    can_ask: bool = True,
    together: int = 0,
) -> Finding | None:
    """Judge a list by one answer; return None if a sign suggests that it may be cut.

    Parameters
    ----------
    suspect
        The list.
    length
        The number of its rows; of the longest one, if several objects have such a list.
    counts
        The integers beside it.
    can_ask
        Whether the list may be requested again.
    together
        The number of rows of all lists, if several objects have one.
    """
    larger = find_larger_count(counts, length)
    numbers = [leaf for leaf in suspect.leaves if leaf.is_number]
    if larger is not None:
        if is_round(length):
            return None
        skipped = find_skipped(numbers, counts[larger] - length, is_empty=not length)
        reason = f"`{larger}` counts the rows before `{skipped}`, too"
        return Finding(reason, is_complete=True) if skipped is not None else None
    reached = find_reached_size(numbers, length)
    equals = sorted((name for name, n in counts.items() if n == length), key=is_total)
    equal = equals[-1] if equals else None
    zeros = (leaf.name for leaf in numbers if leaf.is_written and leaf.value == 0)
    # Strapi has one row for a size of 0, and most others none.
    zero = next(filter(is_limit_name, zeros), None) if equal is None and length <= 1 else None
    if zero is not None or not length:
        reason = "the list is empty" if zero is None else f"the query has `{zero}: 0`"
        return Finding(reason, is_complete=zero is None)
    untried = list_untried(suspect, numbers)
    places = [name for name in untried if can_ask and is_named_after(name, PLACE_WORDS)]
    # A count that equals the size, too, or a usual one, may be that of the page, where an argument
    # for the place can tell, whatever its name: `totalCount` is in TinaCMS. One that no name calls
    # a total may be so at any length, or without such an argument.
    can_be_of_page = [is_round(length), bool(places)]
    is_sure = not all(can_be_of_page) if is_total(equal or "") else not any(can_be_of_page)
    is_of_all = equal is not None and is_sure
    if is_of_all and reached is None and length != CAPPED_COUNT:
        return Finding(f"`{equal}` counts as many rows", is_complete=True)
    # A list that is shorter than its size is whole, unless the service leaves rows out of pages.
    sizes = [leaf.value or 0 for leaf in numbers if is_named_after(leaf.name, SIZE_WORDS)]
    has_no_room = max(sizes, default=0) <= length or is_usual(length)
    is_open = length > 1 and bool(untried) and (bool(places) or has_no_room)
    limits = (leaf.value or 0 for leaf in numbers if is_limit_name(leaf.name))
    may_share = any(0 < limit <= together <= limit + 1 for limit in limits)
    if is_open or may_share or is_likely_cut(suspect, length):
        return None
    return Finding("nothing suggests that the list is cut", is_complete=True)


def is_total(name: str) -> bool:
    """Return whether the name of a count says that it is not that of one page."""
    return is_named_after(name, TOTAL_WORDS)


def find_skipped(numbers: list[ArgumentLeaf], lacking: int, *, is_empty: bool) -> str | None:
    """Return the argument that leaves out as many rows as a count is larger, or None."""
    values = [(leaf.name, leaf.value or 0) for leaf in numbers]
    offsets = [(n, value) for n, value in values if value and is_named_after(n, OFFSET_WORDS)]
    return next((n for n, v in offsets if v == lacking or (is_empty and v > lacking)), None)


def list_untried(suspect: SuspectList, numbers: list[ArgumentLeaf]) -> list[str]:
    """Return the arguments without a value, and written places, other than filters of the rows.

    They may be the size or the place of a page.
    """
    fields = {name.lower() for name in getattr(suspect.kind, "fields", {})}
    names = (
        leaf.name
        for leaf in numbers
        if leaf.value in {None, 0, 1} or is_named_after(leaf.name, OFFSET_WORDS)
    )
    return [name for name in names if name.lower() not in fields]


def is_likely_cut(suspect: SuspectList, length: int) -> bool:
    """Return whether a list has as many rows as a size allows, or as services often return."""
    numbers = [leaf for leaf in suspect.leaves if leaf.is_number]
    if any(leaf.value == length for leaf in (*suspect.bounds, *suspect.page_sizes)):
        return True
    if suspect.leaves:
        # Balboa leaves the row itself out of a page of related rows after it has cut it.
        is_one_less = any(
            leaf.value == length + 1 >= SMALLEST_ROUND and is_limit_name(leaf.name)
            for leaf in numbers
        )
        return is_one_less or find_reached_size(numbers, length) is not None or is_round(length)
    # A list without arguments in the rows of another is part of them, unless it is long.
    return is_long_limit(length) if suspect.is_nested else is_default_limit(length)


def find_larger_count(counts: Mapping[str, int], length: int) -> str | None:
    """Return the name of the first count beside a list that is larger than its length."""
    return next((name for name, count in counts.items() if count > length), None)


def find_reached_size(numbers: list[ArgumentLeaf], length: int) -> ArgumentLeaf | None:
    """Return the argument, or the upper of two, that allows exactly as many rows as came."""
    for leaf in numbers:
        starts = [other.value for other in numbers if other is not leaf and other.value]
        lengths = {(leaf.value or 0) - start for start in starts}
        if leaf.value == length or (leaf.value and lengths & {length, length - 1}):
            return leaf
    return None


class RoleSearch:
    """The experiments on one list.

    Parameters
    ----------
    suspect
        The list.
    data
        The first answer, which may be changed afterwards.
    given
        The roles that the user gave to arguments, by name.

    Attributes
    ----------
    larger_count
        The name of a number beside the list that is larger than its length; None without one.
    trials
        A sentence for each trial.
    """

    def __init__(self, suspect: SuspectList, data: object, given: Mapping[str, str]) -> None:
        self.suspect, self._given = suspect, given
        self.rows, self.counts = suspect.read_rows(data), suspect.read_counts(data)
        self.length = count_longest(self.rows)
        self._cursors = list(suspect.iterate_cursors(data, self.length // 2))
        self.trials: list[str] = []
        self._new_counts: Mapping[str, int] = {}  # of the last trial
        self._new_texts: Mapping[tuple[str, ...], str] = {}  # that may be cursors
        self._refusal = ""  # the message with which it was refused
        leaves = [leaf for leaf in suspect.leaves if given.get(leaf.name) != "filter"]
        self._numbers = [leaf for leaf in leaves if leaf.is_number]
        self._leaves = leaves
        self.larger_count = find_larger_count(self.counts, self.length)
        self._sign = suspect.read_sign(data)  # of the last answer with these rows
        self._reached = find_reached_size(self._numbers, self.length)
        self._size: ArgumentLeaf | None = None
        self._grown: Rows | None = None  # the answer to a larger size
        self._grown_size = 0
        self._is_size_needed = False  # CAP ignores `skip` without `top`
        self._is_shared = False  # whether all lists have together as many rows as a size allows
        self._is_unstable = False
        self._has_moved = False  # whether what is no size brought other rows
        self._is_mixed = False  # whether rows came again in another order, or among others
        self._lower: tuple[ArgumentLeaf, int] | None = None  # a lower bound, and its first value
        self._end: str | None = None  # the evidence that nothing follows
        self._is_end_proved = False  # whether that holds for usual lengths, too
        self._weak_end: str | None = None  # the same, if nothing speaks against it
        self._other_rows: str | None = None  # an argument that gave other rows
        self._is_unclear = False  # whether rows that look alike hide what it is
        self._refuted: set[ArgumentLeaf] = set()  # shown not to be sizes
        self._tried_cursors: set[ArgumentLeaf] = set()

    def run(self) -> Steps[Finding]:
        """Yield trials, each answered by data and a message (see `Steps`); return the finding."""
        finding = yield from self._search()
        if finding.is_complete and self._sign is not None and self._sign[1]:
            return Finding(f"`{self._sign[0]}` says that rows follow", role=finding.role)
        return finding

    def _search(self) -> Steps[Finding]:
        if self.length == 0:
            return (yield from self._examine_empty_list())
        finding = yield from self._examine_size()
        if finding is None and not self._is_unstable:
            finding = yield from self._find_position()
            finding = finding or (yield from self._find_cursor())
        if finding is None and self._size is not None and self._grown is not None:
            finding = yield from self._grow()
        if finding is None and self._is_mixed and (yield from self._try({})) != self.rows:
            return Finding("its rows changed between the experiments")
        return finding or self._conclude()

    def _examine_empty_list(self) -> Steps[Finding]:
        """Find the argument that takes the cursor beside no rows, if there is one."""
        for path, value, _ in self._cursors:
            texts = [leaf for leaf in self._leaves if leaf.value is None and not leaf.is_number]
            leaf = next((it for it in texts if it.name == path[-1]), None)
            if leaf is not None and (yield from self._try({leaf: value})) is not None:
                return self._build_finding("cursor", leaf, 0, path)
            return Finding(f"no rows came, and `{'.'.join(path)}` is not null")
        name = self.larger_count or ""
        reason = f"`{name}` counts rows, and none came" if name else "the list is empty"
        return Finding(reason, is_complete=not name)

    def leave_count(self, other: RoleSearch) -> Finding | None:
        """Leave a larger count to another list beside it, which goes on; return the finding then.

        None if experiments are to tell more. Facets of a search stand beside its rows and the
        number of all rows.
        """
        self.counts = {n: v for n, v in self.counts.items() if n != other.larger_count}
        self.larger_count, self._sign = find_larger_count(self.counts, self.length), None
        together = count_rows(self.rows) if self.suspect.is_nested else 0
        sign = rule_out_cut(self.suspect, self.length, self.counts, together=together)
        return sign or (self._conclude() if self.trials else None)

    def _examine_size(self) -> Steps[Finding | None]:
        """Find the size; return the finding if it proves the end, or may not be changed."""
        yield from self._find_size()
        if self._is_shared:
            return Finding(SHARED_LIMIT.rstrip("."))
        # Endpoints that leave rows out after they have cut a page have shorter ones: the next page
        # decides, if there is an argument for its place.
        has_place = any(is_named_after(leaf.name, PLACE_WORDS) for leaf in self._numbers)
        is_end = self._is_end_proved or (self._end and not (self._has_usual_length or has_place))
        if is_end and self._grown is None and self.larger_count is None:
            return self._conclude()
        if self._size is None or self._may_change(self._size):
            return None
        bound = f"`{self._size.name}: {self._size.value}` bounds the list, as written"
        # As many rows as it allows may also be the most that the endpoint returns.
        is_whole = not (self._grown or (self._has_usual_length and self._reached is self._size))
        reason = self._end if self._end is not None and is_whole else bound
        return Finding(reason, is_complete=is_whole, is_of_size=True)

    def get_known_rows(self) -> Rows:
        """Return the rows that came first, with those that a larger size added."""
        return self.rows if self._grown is None or self._is_unstable else self._grown

    # -- sizes

    def _find_size(self) -> Steps[None]:
        """Find the argument whose larger value adds rows behind the same rows."""
        length = self.length
        for leaf in self._order_sizes()[:4]:
            if self._is_spent:
                return
            asked = (leaf.value or length) + length
            asked, larger = yield from self._try_larger(leaf, asked, leaf.value or length)
            is_of_rows = self._is_of_rows(leaf)
            if larger is not None and self.suspect.is_nested:
                self._is_shared = is_shared(self.rows, leaf.value or length, larger, asked)
                if self._is_shared:
                    return
            if larger is not None and not is_of_rows and self._is_grown(leaf, larger, asked):
                self._size, self._grown, self._grown_size = leaf, larger, asked
                return
            # Other rows than a size could bring are those of a filter.
            begins = larger is None or begins_with(larger, self.rows)
            is_filter = not begins or count_longest(larger or {}) > asked
            if larger is not None and (is_of_rows or (is_filter and larger != self.rows)):
                self._refute(leaf, larger)
                continue
            # It was refused, had no effect, or brought fewer rows than it allows: a smaller value
            # decides.
            is_bound = leaf is self._reached or (leaf.value or length) < length
            size = leaf.value - 1 if leaf.value and is_bound else length - 1
            fewer = (yield from self._try({leaf: size})) if length > 1 else None
            # An endpoint that leaves rows out after it has cut a page brings fewer than that.
            is_longer = larger is not None and count_rows(larger) > count_rows(self.rows)
            is_longer &= is_named_after(leaf.name, SIZE_WORDS)  # else it may be a filter
            # The longest lists then lack exactly their last row, and the others are equal.
            if is_longer or (fewer is not None and fewer == slice_rows(self.rows, 0, length - 1)):
                self._set_size(leaf, larger, asked)
                return
            if larger is not None or fewer is not None:
                self._refute(leaf, larger or fewer or {})

    def _try_larger(
        self, leaf: ArgumentLeaf, asked: int, accepted: int
    ) -> Steps[tuple[int, Rows | None]]:
        """Return a larger value and its rows: the one that a refusal allows, if it names one."""
        rows = yield from self._try({leaf: asked})
        most = find_size_limit([self._refusal], asked, accepted) if rows is None else None
        if most is not None:
            asked, rows = most, (yield from self._try({leaf: most}))
        return asked, rows

    def _set_size(self, leaf: ArgumentLeaf, larger: Rows | None, asked: int) -> None:
        """Take an argument for a size whose larger value was refused, or brought too few rows."""
        self._size = leaf
        if larger is not None and count_rows(larger) > count_rows(self.rows):
            self._grown, self._grown_size = larger, asked
            self._end = f"`{leaf.name}: {asked}` brought {count_longest(larger)} rows"
        elif larger is not None:
            end = f"`{leaf.name}: {asked}` brought no further row"
            # As many rows as a default allows may also be the most that the endpoint returns.
            if leaf.is_written or leaf.value not in {None, self.length}:
                self._end = end
            elif leaf.value is None:
                self._weak_end = end

    def _order_sizes(self) -> list[ArgumentLeaf]:
        candidates = [
            leaf
            for leaf in self._numbers
            # An upper bound from 0 on that is included is one less.
            if leaf.value is None or leaf.value >= self.length - 1 or leaf is self._reached
            if self._given.get(leaf.name, "size") == "size"
            if not (self._is_of_rows(leaf) and leaf is not self._reached)
            if leaf.value is not None
            or is_named_after(leaf.name, SIZE_WORDS)
            or not is_named_after(leaf.name, PLACE_WORDS)
        ]
        return sorted(
            candidates,
            key=lambda leaf: (
                leaf is not self._reached,
                not is_named_after(leaf.name, SIZE_WORDS),
                is_named_after(leaf.name, PLACE_WORDS),
                leaf.value is None,
            ),
        )

    def _is_grown(self, leaf: ArgumentLeaf, larger: Rows, asked: int) -> bool:
        """Return whether a larger size brought exactly the rows that it allows."""
        longest = count_longest(larger)
        # Of an upper bound, the rows begin at a lower one.
        full = {asked, self.length + asked - (leaf.value or self.length)}
        if count_rows(larger) <= count_rows(self.rows) or longest not in full:
            return False
        if begins_with(larger, self.rows):
            return True
        is_mixed = longest == asked and collect_rows(self.rows) <= collect_rows(larger)
        # The same rows in the same order behind others are those of a larger page 2.
        self._is_unstable = is_mixed and not ends_with(larger, self.rows)
        return self._is_unstable

    def _refute(self, leaf: ArgumentLeaf, rows: Rows) -> None:
        self._refuted.add(leaf)
        came_again = collect_rows(self.rows) & collect_rows(rows)
        self._has_moved |= rows != self.rows
        self._is_mixed |= bool(came_again) and rows != self.rows

    def _grow(self) -> Steps[Finding]:
        """Double the size until fewer rows come than it allows."""
        assert self._size is not None  # noqa: S101 - for the type checker
        assert self._grown is not None  # noqa: S101
        size, before, asked = self._size, self._grown, self._grown_size
        start = (size.value or self.length) - self.length  # of an upper bound
        totals = self.counts.values()
        while (length := count_longest(before)) >= asked - start and length not in totals:
            if asked >= MAX_GROWN_ROWS:
                reason = f"`{size.name}: {asked}` brought as many rows, and nothing says how many"
                return self._conclude_growth(
                    size, length, asked, f"{reason} there are", is_end=False
                )
            accepted, asked = asked, min(asked * 2, MAX_GROWN_ROWS)
            asked, larger = yield from self._try_larger(size, asked, accepted)
            name = f"`{size.name}: {asked}`"
            if larger and not (self._is_unstable or begins_with(larger, before)):
                return Finding(f"{name} brought other rows")
            if larger and self.suspect.is_nested and is_shared(before, accepted, larger, asked):
                return Finding(SHARED_LIMIT.rstrip("."))
            if larger is None or count_longest(larger) <= length:
                how = "was refused" if larger is None else f"brought {count_longest(larger)} rows"
                # As many rows as the size before allowed are the most that the endpoint returns.
                ends = yield from self._is_empty_after(size, length, asked)
                return self._conclude_growth(size, length, accepted, f"{name} {how}", is_end=ends)
            before = larger
        is_limit = is_round(length) or (length < SMALLEST_ROUND and is_usual(length))
        # Beside a lower bound it may be the size of pages from which rows are left out.
        is_end = length in totals or not (is_limit or self._lower is not None)
        is_end = is_end or (yield from self._is_empty_after(size, length, asked))
        reason = f"`{size.name}: {asked}` brought {length} rows"
        if not is_end:
            reason += ", which is a usual limit" if is_limit else ", and others may follow"
        return self._conclude_growth(size, length, asked, reason, is_end=is_end)

    def _is_empty_after(self, size: ArgumentLeaf, length: int, asked: int) -> Steps[bool]:
        """Return whether a lower bound behind the last row brings no rows."""
        if self._lower is None:
            return False
        leaf, first = self._lower
        beyond = yield from self._try({leaf: first + length, size: asked * 2})
        return beyond is not None and not count_rows(beyond)

    def _conclude_growth(
        self, size: ArgumentLeaf, length: int, asked: int, reason: str, *, is_end: bool
    ) -> Finding:
        count = self.counts.get(self.larger_count or "")
        if count is not None and length < count:
            is_end, reason = False, f"`{self.larger_count}` counts {count}, and {reason}"
        elif (self._is_unclear or self._other_rows is not None) and length != count:
            is_end, reason = False, f"{reason}, and `{self._other_rows}` brings other rows"
        # A larger page with the same number has other rows, which may look alike.
        others = (leaf.value or 0 for leaf in self._numbers if leaf is not size and leaf.is_written)
        if is_end and max(others, default=0) > 1 and not have_distinct_rows(self.rows):
            is_end, reason = False, f"{reason}, and its rows look alike"
        path, quoted = size.path, self._list_quoted(size)
        arguments = PageArguments("none", size=path, found_size=asked, quoted=quoted)
        role = ListRole(arguments, holder=self.suspect.holder)
        return Finding(reason, is_complete=is_end, role=role)

    # -- positions

    def _find_position(self) -> Steps[Finding | None]:
        """Find the argument by which one more shifts the rows by one, or brings the next ones."""
        # Equal rows without an identifier look shifted by any number.
        if any(len(rows) > 2 and rows[1:] == rows[:-1] for rows in self.rows.values()):
            self._is_unclear = self._has_moved
            return None
        for leaf in self._order_positions()[:3]:
            other: Rows | None = None
            for value in (1, 2) if leaf.value is None else (leaf.value + 1,):
                if self._is_spent:
                    return None
                other = yield from self._try_place(leaf, value)
                if other is None:
                    break
                if not other or other == self.rows:
                    continue
                found = yield from self._read_position(leaf, value, other)
                if found is not None:
                    return found
                break
            is_end = other is not None and self._end is not None and self._grown is None
            if is_end or self._lower is not None:
                return None
        return None

    def _try_place(self, leaf: ArgumentLeaf, value: int) -> Steps[Rows | None]:
        """Return the rows at a place, beside the size if the query has none."""
        size = self._size
        both = {} if size is None or size.value is not None else {size: self.length}
        self._is_size_needed = bool(both)
        return (yield from self._try({leaf: value, **both}, self.length))

    def _order_positions(self) -> list[ArgumentLeaf]:
        candidates = [
            leaf
            for leaf in self._numbers
            if leaf is not self._size and self._given.get(leaf.name) != "size"
            if self._is_sent_with_size(leaf)
            if leaf.name in self._given or not self._is_of_rows(leaf)
        ]
        return sorted(
            candidates,
            key=lambda leaf: (
                not is_named_after(leaf.name, PLACE_WORDS),
                is_named_after(leaf.name, SIZE_WORDS),
                leaf in self._refuted,
                leaf.value is None,
            ),
        )

    def _is_sent_with_size(self, leaf: ArgumentLeaf) -> bool:
        """Return whether what an argument requires beside it can be a size at most."""
        size = next(iter(leaf.required), ()) if self._size is None else self._size.path
        return {*leaf.required} <= {size}

    def _read_position(self, leaf: ArgumentLeaf, value: int, other: Rows) -> Steps[Finding | None]:
        """Return the role of an argument by the rows that its value brought; None for no role."""
        may_be_length = count_longest(other) == value < self.length
        if may_be_length and (yield from self._is_length(leaf, value)):
            return None  # of a page whose number is written, shorter ones move
        ambiguous = 1 if self._grown is None else LONGEST_AMBIGUOUS
        if self.length <= ambiguous and count_rows(other):
            return (yield from self._read_few_rows(leaf, value))
        if (yield from self._is_shifted(leaf, value, other)):
            return (yield from self._read_shift(leaf, value, other))
        is_named = leaf.name in self._given or is_named_after(leaf.name, PLACE_WORDS)
        # Fewer rows of the only list, from its second on: a default size.
        is_shorter = len(self.rows) == 1 and 0 < count_longest(other) < self.length - 1
        if is_named and is_shorter and begins_with(slice_rows(self.rows, 1), other):
            last = value - 1 + self.length
            beyond = yield from self._try({leaf: last})
            if beyond is not None and not count_rows(beyond):
                self._end, self._is_end_proved = f"`{leaf.name}: {last}` brought no row", True
                return None
        # Rows that look alike may come again; but not those of a larger page, and more, by chance.
        grown = self._grown or {}
        is_longer = count_rows(self.rows) + count_rows(other) > count_rows(grown) > self.length + 1
        is_next = is_longer and do_join(self.rows, other, grown)
        if is_next or are_disjoint(self.rows, other):
            return (yield from self._read_other_rows(leaf, value, other, is_named=is_named))
        is_long = self.length >= SMALLEST_ROUND and count_longest(other) == self.length
        if is_long or (is_named and count_rows(other)):
            self._other_rows = self._other_rows or leaf.name
        return None

    def _is_shifted(self, leaf: ArgumentLeaf, value: int, other: Rows) -> Steps[bool]:
        """Return whether a larger value brought the rows from the second one on."""
        if self.length == 1 or not begins_with(other, slice_rows(self.rows, 1)):
            return False
        if self.length > LONGEST_AMBIGUOUS or count_longest(other) != self.length:
            return True
        # One row that comes again may also be that of a next page which begins too early.
        third = yield from self._try_place(leaf, value + 1)
        return not third or begins_with(third, slice_rows(other, 1))

    def _is_length(self, leaf: ArgumentLeaf, value: int) -> Steps[bool]:
        """Return whether two larger values bring as many rows as they say, so that it is a size."""
        for longer in (value + 1, value + 2):
            more = yield from self._try({leaf: longer}, self.length)
            if more is None or count_longest(more) != longer:
                return False
        return True

    def _read_few_rows(self, leaf: ArgumentLeaf, value: int) -> Steps[Finding | None]:
        """Tell an offset from a page number, by a larger page.

        They are the same for pages of one row, and so are pages of two rows that overlap.
        """
        size, grown = self._size, self._grown
        # Rows that look alike come again on other pages, too; so may the one row of a later page.
        is_later = self.length == 1 and leaf.is_written and (leaf.value or 0) > 1
        has_twins = not have_distinct_rows(grown or {})
        self._is_unclear = has_twins or (is_later and not self.suspect.ids)
        if size is not None and grown is not None and not self._is_unclear:
            other = yield from self._try({size: self._grown_size, leaf: value})
            if other and begins_with(other, slice_rows(grown, 1)):
                third = slice_rows(other, 1, 1 + self.length)
                if self.suspect.ids or (yield from self._try_place(leaf, value + 1)) == third:
                    return self._build_finding("offset", leaf, value - 1)
                self._is_unclear = True
            # Without rows it is the page behind a larger first one; a filter would bring the same.
            if other is not None and are_disjoint(grown, other):
                return self._build_finding("page", leaf, value - 1)
        self._other_rows = self._other_rows or leaf.name
        return None

    def _read_other_rows(
        self, leaf: ArgumentLeaf, value: int, other: Rows, *, is_named: bool
    ) -> Steps[Finding | None]:
        """Return the role of an argument that brought other rows, perhaps of the next page."""
        # Those of another filter have another count; but so have those of a shorter page, as
        # `perPage: 1` beside a page number that is written.
        is_counted = self.larger_count is not None and self._new_counts == self.counts
        is_page = self._grown is not None and do_join(self.rows, other, self._grown)
        half = self.length // 2
        if self._grown is None and self._size is not None and half:
            # The second page of half the size is the second half.
            halves = yield from self._try({self._size: half, leaf: value})
            is_page = halves == slice_rows(self.rows, half, 2 * half)
        if not is_page and self._grown is None and count_rows(other) and (is_counted or is_named):
            again = yield from self._try({})  # is the list the same if nothing changes?
            is_page = again == self.rows and count_longest(other) <= self.length
        if is_page:
            return self._build_finding("page", leaf, value - 1)
        if count_rows(other):
            self._other_rows = self._other_rows or leaf.name
        elif is_named and self.larger_count is None and self._grown is None:
            self._end, self._is_end_proved = f"`{leaf.name}: {value}` brought no row", True
        return None

    def _read_shift(self, leaf: ArgumentLeaf, value: int, other: Rows) -> Steps[Finding | None]:
        """Return the role of an argument whose larger value shifted the rows by one."""
        first = value - 1
        if count_longest(other) == self.length:
            return self._build_finding("offset", leaf, first)
        if self._grown is not None and count_rows(self._grown) > count_rows(self.rows):
            is_bounded = count_longest(other) == self.length - 1  # by the size that was sent
            if self._size is not None and (self._size.value is not None or is_bounded):
                self._lower = leaf, first  # the other is the upper bound, which grows
                return None
            return self._build_finding("offset", leaf, first)
        name = self.larger_count
        if name is not None and leaf.value == self.counts[name] - self.length:
            self.larger_count = None  # it counts the rows before the place, too
        is_longer = count_longest(other) > self.length  # as of a larger page with its number
        if len(self.rows) != 1 or self.larger_count is not None or is_longer:
            return None
        bound = self._size if self._is_size_needed else self._reached
        most = self.length if bound is None or self._is_size_needed else bound.value
        if bound is not None and bound is not leaf and most is not None:
            wider = yield from self._try({leaf: value, bound: most + self.length})
            if wider != other:
                # Above its largest size a service returns fewer rows, or none. As many as were left
                # fit into a smaller one; an upper bound would leave the last one out.
                fitting = yield from self._try({leaf: value, bound: self.length - 1})
                if fitting != other:
                    return None
        self._end, self._is_end_proved = f"`{leaf.name}: {value}` brought no further row", True
        return None

    def _find_cursor(self) -> Steps[Finding | None]:
        """Find the argument by which a value of a row, or beside the rows, continues the list."""
        if len(self.rows) != 1 or self._lower is not None:
            return None
        if not have_distinct_rows(self.rows):  # equal rows seem to continue after any of them
            return None
        leaves = [
            leaf
            for leaf in self._leaves
            if leaf.value is None and leaf is not self._size and leaf not in self._refuted
            if self._is_sent_with_size(leaf)
            if not (leaf.is_number and is_named_after(leaf.name, SIZE_WORDS))
        ]
        beside = {path[-1] for path, _, middle in self._cursors if middle is None}
        # Behind what looks like the end, rows follow only if something beside them says so, as a
        # cursor of the next page.
        is_end = self._end is not None and not (self._sign is not None and self._sign[1])
        cursors = [it for it in self._cursors[:3] if not is_end or it[2] is None]
        leaves.sort(key=lambda e: (e.name not in beside, not is_named_after(e.name, CURSOR_WORDS)))
        half = self.length // 2
        for leaf in leaves[:2]:
            for path, value, middle in cursors:
                if self._is_spent:
                    return None
                cursor = value if middle is None else middle
                if leaf.is_number and not re.fullmatch(r"-?\d+", str(cursor)):
                    continue
                self._tried_cursors.add(leaf)
                sent = int(cursor) if leaf.is_number else cursor
                other = yield from self._try({leaf: sent}, self.length)
                # A page that repeats an argument has the value that was sent.
                is_new = leaf.name == path[-1] and self._new_texts.get(path) != cursor
                is_likely = is_new or is_named_after(leaf.name, CURSOR_WORDS)
                after = None if middle is None else half
                if other and self._continues(other, after, is_likely=is_likely):
                    return self._build_finding(
                        "cursor", leaf, 0, path, is_cursor_of_row=middle is not None
                    )
        return None

    def _continues(self, other: Rows, half: int | None, *, is_likely: bool) -> bool:
        """Return whether the rows are those after the first `half`, or None for after all."""
        if half is not None:
            return half > 0 and begins_with(other, slice_rows(self.rows, half))
        if not count_rows(other) or not are_disjoint(self.rows, other):
            return False
        if self._grown is not None:
            return do_join(self.rows, other, self._grown)
        return self.larger_count is not None or is_likely

    def _build_finding(
        self,
        kind: PagingKind,
        leaf: ArgumentLeaf,
        first: int,
        cursor: tuple[str, ...] = (),
        *,
        is_cursor_of_row: bool = False,
    ) -> Finding:
        is_sent = self._grown is not None or self._is_size_needed
        is_sent |= self._size is not None and self._size.is_lowered
        size = self._size if is_sent else None
        needed = next(iter(leaf.required), ())
        arguments = PageArguments(
            kind,
            leaf.path,
            str(leaf.type),
            size.path if size is not None else needed,
            default_position=None if leaf.is_written else first,
            found_size=self.length if self._grown is None else self._grown_size,
            quoted=self._list_quoted(leaf, size),
            is_number=leaf.is_number,
        )
        how = {"offset": "shifts the rows", "page": "brings the rows that follow"}
        reason = f"`{leaf.name}` {how.get(kind, 'continues after a row')}"
        return Finding(
            reason, role=ListRole(arguments, cursor, is_cursor_of_row, self.suspect.holder)
        )

    def _list_quoted(self, *leaves: ArgumentLeaf | None) -> frozenset[tuple[str | int, ...]]:
        return frozenset(leaf.path for leaf in leaves if leaf is not None and leaf.is_text)

    # -- the verdict without a role

    def _conclude(self) -> Finding:
        return next(self._iterate_conclusions())

    def _iterate_conclusions(self) -> Iterator[Finding]:
        """Yield what the trials say of the list, the most certain first."""
        length, size, reached, other = self.length, self._size, self._reached, self._other_rows
        if self.larger_count is not None:
            name, count = self.larger_count, self.counts[self.larger_count]
            yield Finding(f"`{name}` counts {count}, and {length} rows came")
        # Without identifiers the same rows may also be those of another page, which look alike.
        is_unclear = self._has_usual_length or (other is not None and not self.suspect.ids)
        if self._end is not None and (self._is_end_proved or not is_unclear):
            yield Finding(self._end, is_complete=True, is_of_size=size is not None)
        if other is not None:
            says = f"paging={{{other!r}: 'page'}} or paging={{{other!r}: 'filter'}} says so"
            reason = f"`{other}` brings as many other rows: a page, or a filter? {says}"
            given = f"`{other}` brings other rows, which do not follow as paging= says"
            yield Finding(given if other in self._given else reason)
        if self._weak_end is not None and not (self._has_usual_length or self._has_untried_cursor):
            yield Finding(self._weak_end, is_complete=True, is_of_size=True)
        # Some endpoints never fill the sign: after a full page it proves nothing.
        is_full = reached is not None or (size is not None and size.value is None)
        name, goes_on = self._sign or ("", True)
        if not (goes_on or is_full or is_long_limit(length)):
            yield Finding(f"`{name}` says that no rows follow", is_complete=True)
        if size is not None:
            yield Finding(f"`{size.name}` allows no more than {length} rows")
        if is_round(length):
            yield Finding(f"{length} rows is a usual limit, and no argument continues the list")
        for leaf in self._numbers:
            is_size = leaf.value is None and is_named_after(leaf.name, SIZE_WORDS)
            if (is_size or leaf is reached) and leaf not in self._refuted:
                what = "has no value" if is_size else "is reached"
                yield Finding(f"`{leaf.name}` {what}, and no other value was answered")
        evidence = f"`{reached.name}` is not a size" if reached is not None else NOTHING_MOVES
        evidence += ", but its rows look alike" if self._is_unclear else ""
        yield Finding(evidence, is_complete=not self._is_unclear)

    @property
    def _has_untried_cursor(self) -> bool:
        """Whether an argument is named like a cursor, and no value for it was known."""
        return any(
            leaf.value is None and not leaf.is_number and is_named_after(leaf.name, CURSOR_WORDS)
            for leaf in self._leaves
            if leaf not in self._tried_cursors
        )

    @property
    def _has_usual_length(self) -> bool:
        """Whether services cut lists at its length; with a size, at more of them."""
        return is_round(self.length) or (self._size is not None and is_usual(self.length))

    # -- shared

    def _try(self, values: Mapping[ArgumentLeaf, int | str], fill: int = 0) -> Steps[Rows | None]:
        required = {path for leaf in values for path in leaf.required}
        needed = {leaf: fill for leaf in self._leaves if leaf.path in required}
        data, self._refusal = yield {**needed, **values}
        rows = None if data is None else self.suspect.read_rows(data)
        self._new_counts = {} if data is None else self.suspect.read_counts(data)
        self._new_texts = {path: text for path, text, _ in self.suspect.iterate_cursors(data, 0)}
        if rows is not None and begins_with(rows, self.rows):
            sign = self.suspect.read_sign(data)
            # A smaller size may cut another list, of which the same sign is said.
            if rows != self.rows or (sign is not None and not sign[1]):
                self._sign = sign
        if rows is not None and not self.rows.keys() <= rows.keys():
            rows, self._refusal = None, "the objects around the list changed"
        changed = ", ".join(f"`{leaf.name}: {value}`" for leaf, value in values.items())
        if rows and 0 < count_longest(rows) < self.length:
            same = [
                n for n, v in self._new_counts.items() if v == self.length == self.counts.get(n)
            ]
            if same and self.length != CAPPED_COUNT:
                self._end = f"`{same[0]}` counts {self.length} beside fewer rows, too"
                self._is_end_proved = True
        came = (
            f"refused: {self._refusal}".removesuffix(": ")
            if rows is None
            else f"{count_longest(rows)} rows"
        )
        self.trials.append(f"{self.suspect.name}: {changed or 'the same again'}: {came}")
        return rows

    @property
    def _is_spent(self) -> bool:
        return len(self.trials) >= MAX_TRIALS

    def _is_of_rows(self, leaf: ArgumentLeaf) -> bool:
        """Return whether an argument is named after a field of the rows: `year`, `maxPrice`."""
        fields = {name.lower() for name in getattr(self.suspect.kind, "fields", {})}
        fields -= {"n", "rows", "size", "count", "page", "offset"}
        return leaf.name.lower() in fields or BOUND.sub("", leaf.name).lower() in fields

    def _may_change(self, leaf: ArgumentLeaf) -> bool:
        """Return whether a size may be enlarged: it is not written, or is named like one."""
        is_named = leaf.name in self._given or is_named_after(leaf.name, SIZE_OR_PLACE)
        return is_named or not leaf.is_written or leaf.value is None


# -- comparing rows


def count_rows(rows: Rows) -> int:
    """Return the number of all rows."""
    return sum(map(len, rows.values()))


def collect_rows(rows: Rows) -> set[str]:
    """Return the identities of all rows."""
    return {row for column in rows.values() for row in column}


def count_longest(rows: Rows) -> int:
    """Return the number of rows of the longest list."""
    return max(map(len, rows.values()), default=0)


def begins_with(larger: Rows, rows: Rows) -> bool:
    """Return whether each list begins with the rows of a shorter one."""
    return rows.keys() <= larger.keys() and all(
        larger[path][: len(before)] == before for path, before in rows.items()
    )


def ends_with(larger: Rows, rows: Rows) -> bool:
    """Return whether each list ends with the rows of a shorter one."""
    return rows.keys() <= larger.keys() and all(
        larger[path][len(larger[path]) - len(before) :] == before for path, before in rows.items()
    )


def is_shared(rows: Rows, size: int, larger: Rows, asked: int) -> bool:
    """Return whether a list that was not full got rows by a larger size, and all hold that many.

    So it is in objection-graphql, which limits the query for the lists of all objects.
    """
    had_room = (key for key, column in rows.items() if len(column) < size)
    is_longer = any(len(larger.get(key, ())) > len(rows[key]) for key in had_room)
    return is_longer and asked <= count_rows(larger) <= asked + 1


def have_distinct_rows(rows: Rows) -> bool:
    """Return whether no list has a row twice."""
    return all(len(set(column)) == len(column) for column in rows.values())


def slice_rows(rows: Rows, start: int, stop: int | None = None) -> Rows:
    """Return a part of each list."""
    return {path: column[start:stop] for path, column in rows.items()}


def are_disjoint(rows: Rows, other: Rows) -> bool:
    """Return whether no row came again."""
    return all(set(before).isdisjoint(other.get(path, ())) for path, before in rows.items())


def do_join(rows: Rows, other: Rows, grown: Rows) -> bool:
    """Return whether rows and those of another answer are together those of a longer answer."""
    if not count_rows(other) or count_rows(grown) <= count_rows(rows):
        return False
    for path in rows.keys() & grown.keys():
        both = rows[path] + other.get(path, [])
        if both[: len(grown[path])] != grown[path][: len(both)]:
            return False
    return True


class Experiments:
    """The lists of one query that no convention pages: what answers and experiments tell of them.

    Parameters
    ----------
    limits
        The limits of paging.
    roles
        How lists are paged, as experiments on this endpoint found; they are added here. None to
        take such lists as they come.
    note_kept
        Called with the name of a list that keeps the size that is written for it, and the size.

    Attributes
    ----------
    trial
        The list and the changed arguments of the experiment that is under way.
    sentences
        What was tried, for the report.
    new_plan
        The plan to begin with again, where a role was found.
    """

    def __init__(
        self,
        limits: PagingOptions,
        roles: dict[tuple[str, str], ListRole] | None,
        note_kept: Callable[[str, str], None],
    ) -> None:
        self.trial: tuple[SuspectList, Trial] | None = None
        self.sentences: list[str] = []
        self.new_plan: PagingPlan | None = None
        self._limits, self._roles, self._note_kept = limits, roles, note_kept
        self._own_roles: dict[tuple[str, str], ListRole] = {}  # found for this query
        self._judged_lengths: dict[str, Counter[int]] = {}  # of the lists judged, by name
        self._findings: dict[str, Finding] = {}  # by the names of the lists
        self._searches: list[RoleSearch] = []  # that are not finished
        self._steps: Steps[Finding] | None = None  # of the first of them
        self._with_role: list[RoleSearch] = []  # that found how their list goes on
        self._without_role: list[RoleSearch] = []  # that did not

    def begin(self, plan: PagingPlan, doubts: CompletenessDoubts) -> None:
        """Begin with a plan, and the doubts of its lists."""
        self._plan, self._doubts, self.new_plan = plan, doubts, None

    @property
    def is_open(self) -> bool:
        """Whether something is still to be requested."""
        return bool(self._searches) or self.new_plan is not None

    def list_names(self) -> list[str]:
        """Return the names of the lists whose experiments are not finished."""
        return [search.suspect.name for search in self._searches]

    def add_role(self, coordinate: tuple[str, str], role: ListRole) -> None:
        """Begin again with the role of a list."""
        self._own_roles[coordinate] = role
        self._apply_roles()

    def _apply_roles(self) -> None:
        self.new_plan = self._plan.apply_roles({**(self._roles or {}), **self._own_roles})

    def examine_lists(self, data: object) -> None:
        """Judge the lists of the first answer; begin experiments where they may be cut."""
        for search in self._with_role:
            suspect = search.suspect
            is_one_page = self._own_roles[suspect.coordinate].arguments.kind == "none"
            before = search.get_known_rows() if is_one_page else search.rows
            if not begins_with(suspect.read_rows(data), before):
                self._doubts.add(suspect.name, CHANGED)
                (self._roles or {}).pop(suspect.coordinate, None)
        for suspect in self._plan.suspects:
            if suspect.name in self._findings:
                continue
            finding = self._judge(suspect, data)
            is_action = is_named_after(suspect.coordinate[1], ACTION_WORDS)
            if finding is None and self._limits.experiments and not is_action:
                self._searches.append(RoleSearch(suspect, data, self._limits.paging or {}))
            else:
                self._findings[suspect.name] = finding or Finding(MAY_BE_CUT)
        if self._searches:
            self.advance()
        else:
            self._note_findings()

    def _judge(self, suspect: SuspectList, data: object) -> Finding | None:
        """Judge a list by the first answer; return None if experiments may tell more."""
        lengths, path = suspect.read_lengths(data), self._plan.path
        self._judged_lengths[suspect.name] = Counter(lengths)
        length, together = max(lengths, default=0), sum(lengths) if suspect.is_nested else 0
        is_left_out = path is not None and not is_on_path(suspect.name, path)
        finding = rule_out_cut(
            suspect, length, suspect.read_counts(data), can_ask=not is_left_out, together=together
        )
        sign = suspect.read_sign(data)
        may_go_on = not length and any(suspect.iterate_cursors(data, 0))  # beside no rows
        finding = None if (sign is not None and sign[1]) or may_go_on else finding
        if suspect.is_absent(data):
            return Finding(OTHER_TYPE)
        if finding is None and self._is_kept(suspect, length):
            return Finding("its size is part of the question", is_complete=True)
        bounds = (*suspect.bounds, *suspect.page_sizes)
        bound = next((leaf for leaf in bounds if leaf.value == length), None)
        if finding is None and bound is not None:
            return Finding(f"it is as long as `{bound.name}: {length}` of the list around it")
        return Finding(LEFT_OUT) if finding is None and is_left_out else finding

    def _is_kept(self, suspect: SuspectList, length: int) -> bool:
        """Return whether a list is complete with the size that is written for it; note that."""
        follow, leaf = self._plan.follow, suspect.find_kept_size(length)
        if leaf is None or follow == "all" or suspect.name in follow:
            return False
        self._note_kept(suspect.name, f"`{format_argument(leaf.path)}: {leaf.value}`")
        return True

    def judge_later_pages(self, data: object) -> None:
        """Doubt lists in rows that came after the first answer, and look cut although none did."""
        for suspect in self._plan.suspects if isinstance(data, dict) else ():
            finding = self._findings.get(suspect.name)
            if not suspect.is_nested or finding is None or not finding.is_complete or finding.role:
                continue
            lengths, judged = Counter(suspect.read_lengths(data)), self._judged_lengths
            length = max(lengths - judged[suspect.name], default=0)
            # A size that did not cut the lists judged may cut another one of their length.
            if length > max(judged[suspect.name], default=0) or finding.is_of_size:
                judged[suspect.name] = lengths
                if not self._is_kept(suspect, length) and is_likely_cut(suspect, length):
                    self._doubts.add(suspect.name, f"{MAY_BE_CUT}.")

    def _note_findings(self) -> None:
        for name, finding in self._findings.items():
            if not finding.is_complete and not finding.is_followed:
                self._doubts.add(name, f"{finding.reason}.")

    def advance(self, data: object = None, messages: Sequence[str] = ()) -> None:
        """Process the data of an experiment, None if it was refused; or begin the next search."""
        refusal = "".join(sanitize_text(text, 120) for text in messages[:1])
        search, steps = self._searches[0], self._steps
        try:
            if steps is None:
                self._steps = search.run()
                self.trial = search.suspect, next(self._steps)
            else:
                self.trial = search.suspect, steps.send((data, refusal))
        except StopIteration as stop:
            self._end_search(search, stop.value)
            if self._searches:
                self.advance()

    def _end_search(self, search: RoleSearch, finding: Finding) -> None:
        """Take the finding of a search; with the last one, follow the lists that go on."""
        self._searches.remove(search)
        self._steps = self.trial = None
        self.sentences += search.trials
        self._findings[search.suspect.name] = finding
        coordinate = search.suspect.coordinate
        if finding.role is not None and self._roles is not None:
            if finding.is_followed:
                self._roles[coordinate] = finding.role
            self._own_roles[coordinate] = finding.role
            self._with_role.append(search)
            for other in [*self._searches, *self._without_role]:
                is_beside = other.suspect.steps == search.suspect.steps
                if is_beside and (sign := other.leave_count(search)):
                    self._findings[other.suspect.name] = sign
                    self._searches = [each for each in self._searches if each is not other]
        elif finding.role is None:
            self._without_role.append(search)
        if self._searches:
            return
        if self._own_roles:
            self._apply_roles()
        else:
            self._note_findings()

    def end(self, reason: str) -> None:
        """End the experiments that are not finished; their lists stay doubtful."""
        for search in list(self._searches):
            self._end_search(search, Finding(f"{MAY_BE_CUT}; {reason}"))
