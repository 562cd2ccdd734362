"""Two charts of a star search as plain values, which the front end draws.

A bar chart of the repositories with the most stars, and a histogram of stars. Star counts spread
over several powers of ten, so the ranges of the histogram have equal widths on a logarithmic scale.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import asdict, dataclass
from math import ceil, floor, log10, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from gqlnb.errors import format_count, sanitize_text
from gqlnb.result.renderer import Grid, draw_bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import ArrayLike

__all__ = ["build_charts", "build_histogram_grid"]

TOP = 20  # bars; more leave no space for their names
NAME = 140  # characters of owner and name on GitHub, at most
FEWEST, LEAST = 8, 3  # ranges of the histogram, of many values and of a few
SPARE = 4  # more ranges than the fewest; still more are hard to read
# Steps within a power of ten: 1, 1-2-5, then series R10, R20, R40 of ISO 3 (preferred numbers).
R10 = (1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8)
R20 = (*R10, 1.12, 1.4, 1.8, 2.24, 2.8, 3.55, 4.5, 5.6, 7.1, 9)
R40 = (
    *(*R20, 1.06, 1.18, 1.32, 1.5, 1.7, 1.9, 2.12, 2.36, 2.65, 3, 3.35, 3.75, 4.25, 4.75),
    *(5.3, 6, 6.7, 7.5, 8.5, 9.5),
)
SERIES = ((1,), (1, 2, 5), R10, R20, R40)


@dataclass(frozen=True, slots=True)
class StarBar:
    """The bar of one repository, named ``owner/name``."""

    name: str
    stars: int


@dataclass(frozen=True, slots=True)
class Bin:
    """The number of repositories with `low` to `high` stars, both included."""

    low: int
    high: int
    count: int


def find_top(frame: pd.DataFrame) -> list[StarBar]:
    """Return the repositories with the most stars, in descending order."""
    known = frame.dropna(subset=["stargazers"])
    first = known.sort_values("stargazers", ascending=False, kind="stable").head(TOP)
    rows = zip(first["owner"], first["name"], first["stargazers"], strict=True)
    return [
        StarBar(sanitize_text(f"{owner}/{name}", NAME), int(stars)) for owner, name, stars in rows
    ]


def build_histogram(counts: ArrayLike) -> list[Bin]:
    """Count the values in adjacent ranges.

    Parameters
    ----------
    counts
        Numbers of stars, at least 0, in any order.
    """
    numbers = np.asarray(counts, dtype=np.int64)
    if not numbers.size:
        return []
    most = int(numbers.max())
    # The square root of their number, as usual, lest most of the ranges be empty.
    fewest = max(LEAST, min(FEWEST, ceil(sqrt(numbers.size))))
    starts = choose_edges(int(numbers.min()), most, fewest)
    places = np.searchsorted(np.asarray(starts), numbers, side="right") - 1
    found = np.bincount(places, minlength=len(starts)).tolist()
    ends = [*(start - 1 for start in starts[1:]), max(most, starts[-1])]
    return [Bin(*row) for row in zip(starts, ends, found, strict=True)]


def choose_edges(low: int, high: int, fewest: int) -> list[int]:
    """Return the lower ends of `fewest` or some more ranges that cover `low` to `high`."""
    if low == high:
        return [low]
    for steps in SERIES:
        found = select_steps(steps, low, high)
        if len(found) >= fewest:
            return found
    # Below a third of a power of ten a logarithmic scale is nearly linear: steps 1, 2, 5, 10 ...
    widths = (digit * 10**power for power in range(15) for digit in (1, 2, 5))
    step = next(width for width in widths if (high - low) // width < fewest + SPARE)
    return list(range(low // step * step, high + 1, step))


def select_steps(steps: Sequence[float], low: int, high: int) -> list[int]:
    """Return the lower ends from `low` to `high` at given steps of each power of ten."""
    powers = range(floor(log10(max(1, low))), floor(log10(max(1, high))) + 1)
    every = {round(step * 10**power) for power in powers for step in steps}
    ordered = sorted(every | ({0} if low == 0 else set()))
    begin = max(0, bisect_right(ordered, low) - 1)
    return ordered[begin : bisect_right(ordered, high)]


def build_charts(frame: pd.DataFrame) -> dict[str, Any]:
    """Return both charts as JSON values, each with a description for screen readers."""
    bars = find_top(frame)
    bins = build_histogram(frame["stargazers"].dropna())
    return {
        "top": {"bars": [asdict(bar) for bar in bars], "said": describe_bars(bars)},
        "spread": {"bins": [asdict(found) for found in bins], "said": describe_bins(bins)},
    }


def describe_bars(bars: Sequence[StarBar]) -> str:
    if not bars:
        return "No repositories."
    first, last = bars[0], bars[-1]
    if len(bars) == 1:
        return f"One repository: {first.name} with {first.stars:,} stars."
    return (
        f"The {len(bars)} repositories with the most stars, from {first.name} with "
        f"{first.stars:,} to {last.name} with {last.stars:,}."
    )


def describe_bins(bins: Sequence[Bin]) -> str:
    if not bins:
        return "No repositories."
    first, *others = sorted(bins, key=lambda found: -found.count)
    number = sum(found.count for found in bins)
    text = (
        f"{format_count(number, 'repository', 'repositories')} by stars, on a logarithmic scale in "
        f"{format_count(len(bins), 'range')}"
    )
    if others and first.count == others[0].count:
        return f"{text}; no range has more than {first.count:,}."
    return f"{text}; the most, {first.count:,}, have {format_range(first)} stars."


def format_range(found: Bin) -> str:
    return f"{found.low:,}" if found.low == found.high else f"{found.low:,} to {found.high:,}"


def build_histogram_grid(frame: pd.DataFrame) -> Grid:
    """Build the histogram as a text table."""
    bins = build_histogram(frame["stargazers"].dropna())
    largest = max((found.count for found in bins), default=1)
    return Grid(
        ["stars", "repositories"],
        [True, True],
        [[format_range(found), f"{found.count:,}"] for found in bins],
        [""] * len(bins),
        [draw_bar(found.count / largest) for found in bins],
    )
