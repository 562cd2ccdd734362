"""The pictures of a star search as values: ranges without gaps, sentences, text."""

from itertools import pairwise

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gqlnb import connect, stars
from gqlnb.github.star_query import parse_star_query
from gqlnb.notebook.widgets.star_search import (
    build_charts,
    build_histogram,
    build_histogram_grid,
    count_bins,
    find_top,
)


def frame(*rows):
    """Return a result with these rows."""
    names, owners, counts = zip(*rows, strict=True) if rows else ((), (), ())
    return pd.DataFrame(
        {
            "name": pd.array(names, dtype="string"),
            "owner": pd.array(owners, dtype="string"),
            "stargazers": pd.array(counts, dtype="Int64"),
        }
    )


@given(st.lists(st.integers(0, 10**15 - 1), min_size=1, max_size=50))
def test_every_number_is_in_one_range(counts):
    """The ranges are contiguous, disjoint and few enough to read."""
    bins = build_histogram(counts)
    assert sum(each.count for each in bins) == len(counts)
    assert bins[0].low <= min(counts)
    assert bins[-1].high >= max(counts)
    assert all(a.high + 1 == b.low for a, b in pairwise(bins))
    for each in bins:
        assert each.count == sum(each.low <= number <= each.high for number in counts)
    assert len(bins) <= 50
    if len(counts) < 10:
        assert len(bins) <= 16


@pytest.mark.parametrize(
    ("counts", "lows"),
    [
        ([], []),
        ([0], [0]),
        ([541_915], [541_915]),
        ([0, 1, 700], [0, 1, 10, 100]),
        ([0, 1, 700] * 20, [0, 1, 2, 5, 10, 20, 50, 100, 200, 500]),
        ([10_000, 99_999], [10_000, 20_000, 50_000]),
        (
            [10_000, 99_999] * 30,
            [10_000, 12_500, 16_000, 20_000, 25_000, 31_500, 40_000, 50_000, 63_000, 80_000],
        ),
        ([1000, 1010], list(range(1000, 1011, 2))),
        ([1000, 1010] * 30, list(range(1000, 1011))),
        ([50_040, 50_990] * 30, list(range(50_000, 50_991, 100))),
        ([7, 90, 1200, 35_000, 541_915], [1, 10, 100, 1000, 10_000, 100_000]),
    ],
)
def test_ranges_are_equally_wide_on_a_logarithmic_scale(counts, lows):
    """The coarsest useful step: powers of ten, 1-2-5, preferred numbers, even steps if close."""
    assert [each.low for each in build_histogram(counts)] == lows


def test_bars_are_sorted_by_stars():
    """For rows in any order; repositories without stars have no bar."""
    found = stars(">1000 sort:forks", limit=300)
    bars = find_top(found)
    assert [each.stars for each in bars] == sorted(found["stargazers"], reverse=True)[:20]
    assert find_top(frame(("a", "b", None), ("c", "d", 3)))[0].name == "d/c"
    assert len(find_top(frame(("a", "b", None)))) == 0


def test_each_chart_has_a_description():
    """For screen readers."""
    said = {name: each["said"] for name, each in build_charts(stars(">100000", limit=50)).items()}
    assert said["top"].startswith(
        "The 20 repositories with the most stars, from codecrafters-io/build-your-own-x with 541,"
    )
    assert said["spread"].startswith("50 repositories by stars, on a logarithmic scale in ")
    one = build_charts(frame(("a", "b", 7)))
    assert one["top"]["said"] == "One repository: b/a with 7 stars."
    assert one["spread"]["said"].endswith("the most, 1, have 7 stars.")
    two = build_charts(frame(("a", "b", 10), ("c", "d", 900)))["spread"]["said"]
    assert two.endswith("; no range has more than 1.")
    assert {each["said"] for each in build_charts(frame()).values()} == {"No repositories."}


def test_the_histogram_is_available_as_text():
    """Ranges, counts and bars, also for an empty result."""
    text = build_histogram_grid(build_histogram([7, 7, 8])).to_text().splitlines()
    assert [line.split() for line in text[1:]] == [["7", "2", "█" * 20], ["8", "1", "█" * 10]]
    assert "<table>" in build_histogram_grid([]).to_html()


@pytest.mark.parametrize("order", ["", " sort:stars-asc", " sort:forks"])
def test_a_cut_result_has_the_histogram_of_all_matches(order):
    """Its bars are counts of the endpoint, and say how many of them the rows hold."""
    query, demo = f">50000{order}", connect("demo")
    every, cut = stars(">50000", limit=None), stars(query, limit=300)
    bins = count_bins(demo, parse_star_query(query), cut)
    assert sum(each.count for each in bins) == len(every) == 406
    assert sum(each.held for each in bins) == 300
    for each in bins:
        numbers = every["stargazers"]
        assert each.count == ((numbers >= each.low) & (numbers <= each.high)).sum()
    said = build_charts(cut, bins)["spread"]["said"]
    assert said.startswith("406 repositories by stars")
    assert said.endswith("Hatched: those that are not among the 300 rows.")
    assert "▒" in build_histogram_grid(bins).to_text()


def test_a_whole_result_needs_no_counts():
    """No request is sent for it."""
    bins = count_bins(None, parse_star_query(">200000"), stars(">200000"))
    assert sum(each.held for each in bins) == sum(each.count for each in bins) == 26
    assert "rows" not in build_histogram_grid(bins).to_text()
