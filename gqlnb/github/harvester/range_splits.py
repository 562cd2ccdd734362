"""Ranges of a harvest: splitting them by creation time or stars, and merging them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise
from math import ceil, inf
from typing import TYPE_CHECKING

import msgspec

from gqlnb.github.search_syntax import MAX_SEARCH_RESULTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gqlnb.github.harvester.query_range import Scope

__all__ = [
    "TARGET_SLICE_SIZE",
    "count_slices",
    "join_ranges",
    "merge_ranges",
    "split_by_stars",
    "split_by_time",
]

TARGET_SLICE_SIZE = 920  # repositories; slices of this size rarely exceed the 1,000 of a search
SINGLE_SEARCH_LIMIT = 4000  # with fewer repositories left, each slice is one search
SPLIT_THRESHOLD = 100_000  # repositories left times those of equal stars; a split pays from here
SAMPLES_PER_SLICE = 10  # creation times per slice, so that slices are about equal
_EARLIEST_CREATION = 1167609600  # 2007: GitHub was founded then
_LATEST_CREATION = 2**31 - 1  # seconds since 1970 in 32 bits


def count_slices(left: int, ties: int) -> int:
    """Return the number of time slices in which to continue.

    The next search returns again the repositories with as many stars as the last one had: half of
    `ties` on average, fewer in a slice. On the other hand each slice ends with a page that is half
    empty on average.

    Parameters
    ----------
    left
        Number of repositories left.
    ties
        Estimated number of repositories with equal stars.
    """
    if left <= MAX_SEARCH_RESULTS or left * ties <= SPLIT_THRESHOLD:
        return 1
    return ceil(left / TARGET_SLICE_SIZE) if left < SINGLE_SEARCH_LIMIT else 2


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

    Each covers one range of stars in one time slice.
    """
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
