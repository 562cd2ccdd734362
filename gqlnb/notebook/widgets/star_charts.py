"""Two charts of a star search as plain values, which the front end draws.

A bar chart of the repositories with the most stars, and a histogram of stars. Star counts spread
over several powers of ten, so the ranges of the histogram have equal widths on a logarithmic scale.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import asdict, dataclass, replace
from math import ceil, floor, log10, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from gqlnb.errors import format_count, sanitize_text
from gqlnb.github.star_counts import count_ranges, find_most_stars, read_least_stars
from gqlnb.result.renderer import Grid, draw_bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import ArrayLike

    from gqlnb.client.client import Client
    from gqlnb.github.star_query import StarQuery

__all__ = ["Bin", "build_charts", "build_histogram", "build_histogram_grid", "count_bins"]

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
HATCH = "▒"
SERIES = ((1,), (1, 2, 5), R10, R20, R40)


@dataclass(frozen=True, slots=True)
class StarBar:
    """The bar of one repository, named ``owner/name``."""

    name: str
    stars: int


@dataclass(frozen=True, slots=True)
class Bin:
    """The number of repositories with `low` to `high` stars, both included, and of rows of them."""

    low: int
    high: int
    count: int
    held: int


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
    return fill_bins(choose_edges(int(numbers.min()), most, fewest), most, numbers)


def fill_bins(starts: Sequence[int], most: int, numbers: np.ndarray[Any, Any]) -> list[Bin]:
    """Count the values in the ranges that begin at `starts`; the last one ends at `most`."""
    places = np.searchsorted(np.asarray(starts), numbers, side="right") - 1
    found = np.bincount(places[places >= 0], minlength=len(starts)).tolist()
    ends = [*(start - 1 for start in starts[1:]), max(most, starts[-1])]
    return [Bin(*row) for row in zip(starts, ends, found, found, strict=True)]


def count_bins(client: Client, query: StarQuery, frame: pd.DataFrame) -> list[Bin]:
    """Return the histogram of all repositories of a search, also of those without a row.

    The rows of a result that is cut have a shape of their own: of the most stars only, their ranges
    of few stars are nearly empty.

    Raises
    ------
    GqlnbError
        If the counts of the ranges cannot be read.
    """
    numbers = np.asarray(frame["stargazers"].dropna(), dtype=np.int64)
    if len(frame) >= frame.attrs["total_count"] or not numbers.size:
        return build_histogram(numbers)
    is_first = frame.attrs["order"] == "stars-desc"
    most = int(numbers.max()) if is_first else find_most_stars(client, query)
    least = read_least_stars(query)
    bins = fill_bins(choose_edges(min(least, most), most, FEWEST), most, numbers)
    counts = count_ranges(client, query, [(max(least, each.low), each.high) for each in bins])
    # A row may have moved between the requests.
    return [replace(it, count=max(n, it.held)) for it, n in zip(bins, counts, strict=True)]


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


def build_charts(frame: pd.DataFrame, bins: Sequence[Bin] | None = None) -> dict[str, Any]:
    """Return both charts as JSON values, each with a description for screen readers.

    `bins` are those of :func:`count_bins`; by default those of the rows.
    """
    bars = find_top(frame)
    if bins is None:
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
    held = sum(found.held for found in bins)
    rest = f" Hatched: those that are not among the {held:,} rows." if held < number else ""
    if others and first.count == others[0].count:
        return f"{text}; no range has more than {first.count:,}.{rest}"
    return f"{text}; the most, {first.count:,}, have {format_range(first)} stars.{rest}"


def format_range(found: Bin) -> str:
    return f"{found.low:,}" if found.low == found.high else f"{found.low:,} to {found.high:,}"


def build_histogram_grid(bins: Sequence[Bin]) -> Grid:
    """Build the histogram as a text table; what the rows do not hold is hatched."""
    largest = max((found.count for found in bins), default=1)
    names = ["stars", "repositories"]
    rows = [[format_range(found), f"{found.count:,}"] for found in bins]
    if any(found.held < found.count for found in bins):
        names.append("in rows")
        rows = [[*row, f"{found.held:,}"] for row, found in zip(rows, bins, strict=True)]
    bars = []
    for found in bins:
        held, whole = draw_bar(found.held / largest), draw_bar(found.count / largest)
        bars.append(whole if found.held == found.count else held + HATCH * (len(whole) - len(held)))
    return Grid(names, [True] * len(names), rows, [""] * len(bins), bars)
