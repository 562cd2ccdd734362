"""The scope of a search: qualifiers, ranges of stars and creation times; splits and unions."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import pairwise
from math import ceil, inf, sqrt
from typing import TYPE_CHECKING, SupportsIndex

import msgspec

from gqlnb.errors import QueryError, sanitize_text
from gqlnb.github.repositories import format_timestamp
from gqlnb.github.search_syntax import MAX_PAGE_SIZE, MAX_SEARCH_RESULTS, RangeTest, parse_qualifier
from gqlnb.github.star_query import parse_star_query, spell_out_thresholds

if TYPE_CHECKING:
    from collections.abc import Sequence


__all__ = [
    "TARGET_SLICE_SIZE",
    "Scope",
    "count_slices",
    "join_ranges",
    "merge_ranges",
    "split_by_stars",
    "split_by_time",
    "widen_range",
]

_TERM_PATTERN = re.compile(
    r'(?P<minus>-?)(?:(?P<name>[a-zA-Z][\w.-]*):)?(?P<value>"[^"]*"?|[^\s"]+)'
)
_BARE_THRESHOLD = re.compile(r"[\s\d,_.>=]+", re.ASCII)
MAX_STARS = 10**15 - 1  # of fifteen digits, the most in a search
_OPERATORS = frozenset({"AND", "OR", "NOT"})
_RANGE_QUALIFIERS = frozenset({"stars", "created"})


class Scope(msgspec.Struct, frozen=True):
    """The repositories that a search covers.

    Attributes
    ----------
    text
        Further qualifiers and words, as written.
    low, high
        Range of star counts, both ends included; None for no upper end.
    begin, end
        Range of creation times in seconds since 1970, both ends included; None for no end.
    without
        Repositories to exclude, as ``owner/name``.
    """

    text: str = ""
    low: int = 0
    high: int | None = None
    begin: int | None = None
    end: int | None = None
    without: tuple[str, ...] = ()

    @classmethod
    def parse(cls, query: SupportsIndex | str) -> Scope:
        """Parse a star threshold, or a search expression that contains one.

        Parameters
        ----------
        query
            ``1000``, ``">1000"``, ``"10..50"``, as :func:`gqlnb.stars` takes it; or an expression
            such as ``"stars:>100 language:python created:>2020-01-01"``, also as ``">100
            language:python"``. Without a star range it covers all repositories, also those
            without stars.

        Returns
        -------
        Scope
            With the ranges of all ``stars:`` and ``created:`` terms intersected.

        Raises
        ------
        QueryError
            If `query` cannot be parsed, or contains something that a harvest cannot combine with
            its own qualifiers: a sort order, an operator, or ranges that do not overlap.

        Examples
        --------
        >>> Scope.parse("language:python stars:>=10 stars:<20")
        Scope(text='language:python', low=10, high=19, begin=None, end=None, without=())
        """
        if not isinstance(query, str) or _BARE_THRESHOLD.fullmatch(query) or not query.strip():
            query = parse_star_query(query).expression
        query = spell_out_thresholds(query)
        words: list[str] = []
        ranges: list[RangeTest] = []
        for match in _TERM_PATTERN.finditer(query):
            test = _parse_range_term(match)
            if test is None:
                words.append(match[0])
            else:
                ranges.append(test)
        stars = _intersect_ranges([test for test in ranges if test.column == "stars"], query)
        created = _intersect_ranges([test for test in ranges if test.column == "created"], query)
        low = min(max(stars[0] or 0, 0), MAX_STARS)
        return cls(" ".join(words), low, stars[1], *created)

    def format_expression(self, order: str = "stars-desc") -> str:
        """Return the search expression in GitHub's syntax.

        Parameters
        ----------
        order
            Value of ``sort:``; empty to omit it.

        Examples
        --------
        >>> Scope("", 10, 19, 1577836800).format_expression()
        'stars:10..19 created:>=2020-01-01T00:00:00Z sort:stars-desc'
        """
        terms = [self.text, f"stars:{_format_range(self.low, self.high)}"]
        if self.begin is not None or self.end is not None:
            begin = None if self.begin is None else format_timestamp(self.begin)
            end = None if self.end is None else format_timestamp(self.end)
            terms.append(f"created:{_format_range(begin, end)}")
        terms += [f"-repo:{name}" for name in self.without]
        if order:
            terms.append(f"sort:{order}")
        return " ".join(filter(None, terms))

    @property
    def is_one_second(self) -> bool:
        """Whether all its repositories were created in the same second."""
        return self.begin is not None and self.begin == self.end

    def clamp_stars(self, stars: int) -> int:
        """Return the star count in the range that is nearest to `stars`."""
        stars = max(stars, self.low)
        return stars if self.high is None else min(stars, self.high)

    def is_in_time_range(self, created: int | None) -> bool:
        """Return whether a creation time is in range; True for None, as it may be."""
        if created is None:
            return True
        after = self.begin is None or created >= self.begin
        return after and (self.end is None or created <= self.end)

    def is_in_star_range(self, stars: int) -> bool:
        """Return whether a star count is in range."""
        return stars >= self.low and (self.high is None or stars <= self.high)


def _format_range(low: object | None, high: object | None) -> str:
    if low is None:
        return f"<={high}"
    if high is None:
        return f">={low}"
    return f"{low}..{high}"


def _parse_range_term(match: re.Match[str]) -> RangeTest | None:
    """Return the range of a term that a harvest sets itself; None for other terms."""
    name, value = (match["name"] or "").lower(), match["value"].strip('"')
    if name == "sort" and value.lower() not in {"stars", "stars-desc"}:
        msg = (
            f"A harvest returns all repositories, so {sanitize_text(match[0], 80)!r} has no "
            "place in its query. Leave it out, and sort the frame."
        )
        raise QueryError(msg)
    if match[0] in _OPERATORS:
        msg = (
            f"A harvest adds qualifiers to its query, and {match[0]} does not go with qualifiers. "
            "Harvest each of the alternatives, and put the frames together."
        )
        raise QueryError(msg)
    if name == "sort":
        return RangeTest("sort", None, None)
    if name not in _RANGE_QUALIFIERS or match["minus"]:
        return None
    test = parse_qualifier(name, value, match[0])
    return test if isinstance(test, RangeTest) else None


def _intersect_ranges(ranges: list[RangeTest], query: str) -> tuple[int | None, int | None]:
    """Return the intersection of all ranges; None for an open end."""
    lows = [test.low for test in ranges if test.low is not None]
    highs = [test.high for test in ranges if test.high is not None]
    low, high = max(lows, default=None), min(highs, default=None)
    if high is not None and high < max(low or 0, 0 if ranges[0].column == "stars" else high):
        text = sanitize_text(query, 80)
        msg = f"The ranges of {text!r} have no number in common, so nothing can match."
        raise QueryError(msg)
    return low, high


SINGLE_SEARCH_LIMIT = 4000  # of fewer repositories, each slice is one search
TARGET_SLICE_SIZE = 920  # repositories; slices of this size rarely exceed the 1,000 of a search
SAMPLES_PER_SLICE = 10  # creation times per slice, so that slices are about equal
_EARLIEST_CREATION = 1167609600  # 2007: GitHub was founded then
_LATEST_CREATION = 2**31 - 1  # seconds since 1970 in 32 bits


def count_slices(left: int, low: float, high: int, ties: int) -> int:
    """Return the number of time slices in which to continue.

    A search returns again the repositories with as many stars as the last one of the search before
    it had: half of those with equal stars on average, fewer in a slice. On the other hand each
    slice ends with a page that is half empty on average. Slices cost nothing else as long as few
    repositories have equal stars, so they are made before that.

    Parameters
    ----------
    left
        Number of repositories left.
    low, high
        Their lowest and highest number of stars.
    ties
        Estimated number of repositories with `high` stars.
    """
    if left <= MAX_SEARCH_RESULTS:
        return 1
    # As many equally frequent star counts would cause as many repetitions: sum(p)**2 / sum(p**2).
    # The number of repositories falls with the square of the stars, unless more have `high` stars.
    bottom, top = max(low, 1) - 0.5, max(high, 1) + 0.5
    levels = 3 * (1 / bottom - 1 / top) ** 2 / (bottom**-3 - top**-3)
    levels = min(levels, left / max(ties, 1))
    # The least of half a page for each slice, and half of the equal ones for each search.
    slices = round(left / sqrt(MAX_PAGE_SIZE * MAX_SEARCH_RESULTS * levels))
    # The sizes of small slices vary too much, until a sample of their own repositories is known.
    is_small = left < SINGLE_SEARCH_LIMIT
    most = ceil(left / TARGET_SLICE_SIZE) if is_small else left // SINGLE_SEARCH_LIMIT
    return max(1, min(slices, most))


def split_by_time(scope: Scope, created: Sequence[int], parts: int) -> list[Scope]:
    """Split a scope into slices of creation time with about equally many repositories.

    Parameters
    ----------
    scope
        The scope to split.
    created
        Creation times of some of its repositories, as a sample.
    parts
        Number of slices. Fewer are returned if the sample is small, and only the scope itself if
        it is one second.
    """
    sample = sorted(moment for moment in created if scope.is_in_time_range(moment))
    parts = max(2, min(parts, len(sample) // SAMPLES_PER_SLICE))
    cuts: set[int] = set()
    for part in range(1, parts) if sample else ():
        cut = sample[int(len(sample) * (part / parts))]
        cuts.add(cut)
        if bisect_right(sample, cut) - bisect_left(sample, cut) > len(sample) // SAMPLES_PER_SLICE:
            cuts.add(cut - 1)  # a second with many repositories gets its own slice
    begin = _EARLIEST_CREATION if scope.begin is None else scope.begin
    end = _LATEST_CREATION if scope.end is None else scope.end
    inside = sorted(cut for cut in cuts if begin <= cut < end)
    if not inside and begin < end:
        inside = [(begin + end) // 2]
    starts = [scope.begin, *(cut + 1 for cut in inside)]
    return [
        msgspec.structs.replace(scope, begin=first, end=last)
        for first, last in zip(starts, [*inside, scope.end], strict=True)
    ]


def split_by_stars(scope: Scope, stars: Sequence[int]) -> list[Scope]:
    """Halve a star range; a single star count is returned as it is.

    Parameters
    ----------
    scope
        The scope to split.
    stars
        Star counts of some of its repositories.
    """
    top = scope.high if scope.high is not None else max([*stars, scope.low])
    if scope.low >= top:
        return [scope]
    middle = (scope.low + top + 1) // 2
    return [
        msgspec.structs.replace(scope, low=middle),
        msgspec.structs.replace(scope, high=middle - 1),
    ]


def widen_range(scope: Scope, whole: Scope) -> Scope:
    """Add some stars on both sides, within `whole`: a repository may have moved there meanwhile."""
    low, high = max(whole.low, scope.low - 1 - scope.low // 100), scope.high
    if high is not None:
        high += 1 + high // 100
        high = high if whole.high is None else min(high, whole.high)
    return msgspec.structs.replace(scope, low=low, high=high)


def merge_ranges(ranges: list[Scope]) -> list[Scope]:
    """Merge overlapping and adjacent star ranges of the same time slice, most stars first."""

    def sort_key(scope: Scope) -> tuple[int, int, float]:
        return scope.begin or 0, scope.end or 0, inf if scope.high is None else scope.high

    merged: list[Scope] = []
    for scope in sorted(ranges, key=sort_key, reverse=True):
        last = merged[-1] if merged else None
        *slice_, high = sort_key(scope)
        if last is not None and [*sort_key(last)[:2]] == slice_ and high + 1 >= last.low:
            merged[-1] = msgspec.structs.replace(last, low=min(last.low, scope.low))
        else:
            merged.append(scope)
    return merged


def join_ranges(ranges: list[Scope]) -> list[Scope]:
    """Return scopes that cover the same repositories and do not overlap in time.

    Each covers one range of stars in one time slice, and excludes no repository.
    """
    ranges = [msgspec.structs.replace(scope, without=()) for scope in ranges]
    begins = [-1 if scope.begin is None else scope.begin for scope in ranges]
    ends = [_LATEST_CREATION if scope.end is None else scope.end + 1 for scope in ranges]
    joined: list[Scope] = []
    for begin, end in pairwise(sorted({*begins, *ends})):
        inside = [
            msgspec.structs.replace(
                scope,
                begin=None if begin < 0 else begin,
                end=None if end == _LATEST_CREATION else end - 1,
            )
            for scope, first, last in zip(ranges, begins, ends, strict=True)
            if first <= begin and end <= last
        ]
        merged = merge_ranges(inside)
        before = joined[-1] if joined else None
        if before and len(merged) == 1 and merged[0].begin == (before.end or 0) + 1:
            longer = msgspec.structs.replace(before, end=merged[0].end)
            if longer == msgspec.structs.replace(merged[0], begin=before.begin):
                joined[-1] = longer
                continue
        joined += merged
    return joined
