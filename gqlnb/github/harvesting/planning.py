"""How a search goes on behind its thousand results: lower, or divided by time."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from math import ceil

import msgspec

from gqlnb.github.harvesting.scope import Scope
from gqlnb.github.harvesting.values import Row
from gqlnb.github.search import REACH

__all__ = ["FULL", "divided", "halves", "known", "ways"]

FULL = 920  # a slice aimed at so many rarely holds more than the thousand that can be reached
ALONE = 4000  # with fewer left, slices are made so small that each is one search
TIES = 100_000  # repositories left times those of equal stars, from which dividing pays
SAMPLES = 10  # times of creation for each slice, so that slices are about equal
FEW = 3  # repositories that a search may name to leave them out
_NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_FIRST, _LAST = 1167609600, 2**31 - 1  # 2007, when GitHub was begun, and the end of 32 bits


def ways(left: int, ties: int) -> int:
    """Return how many slices of time to go on with.

    Each search fetches some repositories again, those of the stars where the last one ended: half
    of `ties` on average, less in a slice. Each slice ends with a page that is half empty.

    Parameters
    ----------
    left
        How many repositories are left.
    ties
        How many of them have equal stars, about.
    """
    if left <= REACH or left * ties <= TIES:
        return 1
    return ceil(left / FULL) if left < ALONE else 2


def known(rows: Iterable[Row], lowest: int) -> tuple[str, ...]:
    """Return the repositories that the next search need not show again, if they are few.

    They have the stars where the last one ended, of which there may be more.
    """
    again = [row for row in rows if row.stars == lowest]
    names = [f"{row.owner}/{row.name}" for row in again[: FEW + 1]]
    few = len(names) <= FEW and all(map(_NAME.fullmatch, names))
    return tuple(names) if few else ()


def divided(scope: Scope, created: Sequence[int], parts: int) -> list[Scope]:
    """Return a scope in slices of time that hold about equally many.

    Parameters
    ----------
    scope
        What to divide.
    created
        When some of its repositories were made, as a sample.
    parts
        How many slices there should be; fewer come where the sample is small, and one, the scope
        itself, where it is one second already.
    """
    sample = sorted(moment for moment in created if scope.made_in(moment))
    parts = max(2, min(parts, len(sample) // SAMPLES))
    cuts = {cut for part in range(1, parts) for cut in _around(sample, part / parts)}
    begin = _FIRST if scope.begin is None else scope.begin
    end = _LAST if scope.end is None else scope.end
    inside = sorted(cut for cut in cuts if begin <= cut < end)
    if not inside and begin < end:
        inside = [(begin + end) // 2]
    starts = [scope.begin, *(cut + 1 for cut in inside)]
    ends = [*inside, scope.end]
    return [
        msgspec.structs.replace(scope, begin=first, end=last)
        for first, last in zip(starts, ends, strict=True)
    ]


def _around(sample: Sequence[int], share: float) -> list[int]:
    """Return the moment that divides sorted ones, and the one before where many are the same."""
    if not sample:
        return []
    cut = sample[int(len(sample) * share)]
    alike = bisect_right(sample, cut) - bisect_left(sample, cut)
    return [cut - 1, cut] if alike > len(sample) // SAMPLES else [cut]


def halves(scope: Scope, stars: Sequence[int]) -> list[Scope]:
    """Return a range of stars in two; one if it is a single number.

    Parameters
    ----------
    scope
        What to divide.
    stars
        How many stars some of its repositories have.
    """
    top = scope.high if scope.high is not None else max([*stars, scope.low])
    if scope.low >= top:
        return [scope]
    middle = (scope.low + top + 1) // 2
    return [
        msgspec.structs.replace(scope, low=middle),
        msgspec.structs.replace(scope, high=middle - 1),
    ]
