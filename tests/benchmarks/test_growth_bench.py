"""The benchmarks of growth, at small sizes: answers are equal, and memory is bounded."""

from __future__ import annotations

from tests.benchmarks.growth import keep_results, map_inputs, read_pages


def test_inputs_and_pages_are_measured():
    """All answers are compared."""
    assert map_inputs(300)["milliseconds for each"] > 0
    assert read_pages(300)["rows"] == 300


def test_results_that_are_shown_do_not_keep_their_dictionaries():
    """Their bytes, and what the newest take."""
    figures = keep_results(80)
    assert figures["kept"] < 2.5
    assert figures["shown"] < 2.5
    assert figures["data read"] > 3
