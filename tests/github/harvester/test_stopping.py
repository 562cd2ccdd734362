"""Harvests and paging that a progress function stops, and that continue afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gqlnb
from gqlnb import Client, github
from tests.github.harvester.github_search import Search
from tests.github.harvester.logging_standin import Listening, rows
from tests.github.harvester.test_node_harvest import make_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

QUIET = settings(
    max_examples=4,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def stop_after(calls: int) -> Callable[..., bool]:
    """Return a progress function that returns False from the given call on."""
    left = calls

    def watch(*_: object) -> bool:
        nonlocal left
        left -= 1
        return left > 0

    return watch


@QUIET
@given(
    first=st.integers(1, 16), second=st.integers(1, 12), fields=st.sampled_from([None, "forkCount"])
)
def test_a_stopped_harvest_continues(first, second, fields, tmp_path_factory):
    """It is not complete and has the rows so far; the same call brings the rest."""
    people = github.population(2_000, seed=5)
    folder = tmp_path_factory.mktemp("harvest")
    standin = Listening(people)
    options: dict[str, Any] = {"out": folder, "part": 400, "fields": fields}
    with Client(standin) as client:
        for calls in (first, second):
            made = github.harvest(">0", client=client, progress=stop_after(calls), **options)
            ids = made.arrow()["id"].to_pylist()
            assert len(ids) == len(made) == len(set(ids)) == made.coverage.got
            assert made.complete != made.coverage.stopped
            if made.coverage.stopped:
                assert "not complete" in repr(made)
                assert "Run the same call again" in repr(made)
                opened = github.open(folder)
                assert not opened.complete
                assert sorted(opened.arrow()["id"].to_pylist()) == sorted(ids)
        end = github.harvest(">0", client=client, progress=False, **options)
    assert end.complete
    assert not end.coverage.stopped
    assert rows(end.frame()) == rows(people.frame())


def test_a_stopped_harvest_in_memory_has_its_rows():
    """Without a folder the rows so far are returned, and nothing says that it can continue."""
    with Client(Listening(github.population(3_000, seed=5))) as client:
        made = github.harvest(">0", client=client, progress=lambda got, *_: got < 500)
    assert 0 < len(made) < 3_000
    assert not made.complete
    assert made.coverage.stopped
    assert "stopped by progress=" in repr(made)
    assert "Run the same call" not in repr(made)
    assert made.frame().attrs["coverage"]["complete"] is False


@QUIET
@given(first=st.integers(1, 12), second=st.integers(1, 12))
def test_a_stopped_harvest_in_ranges_continues(first, second, tmp_path_factory):
    """A harvest of issues continues likewise; each row comes once."""
    folder: Path = tmp_path_factory.mktemp("ranges")
    search = Search(make_rows(2_500))
    client = Client(search.build_schema())
    options: dict[str, Any] = {"type": "ISSUE", "client": client, "out": folder}
    for calls in (first, second):
        made = github.harvest_nodes("x", progress=stop_after(calls), **options)
        ids = made.arrow()["id"].to_pylist()
        assert len(ids) == len(set(ids)) == len(made)
        assert made.complete != made.coverage.stopped
        assert set(ids) <= set(search.rows)
        if made.coverage.stopped:
            assert "Run the same call again" in repr(made)
            assert made.frame().attrs["partial"]
    end = github.harvest_nodes("x", **options)
    assert end.complete
    assert sorted(end.frame()["id"]) == sorted(search.rows)


TEXT = """query ($after: String) {
  search(query: "stars:>50000", type: REPOSITORY, first: 20, after: $after) {
    nodes { ... on Repository { name } }
  }
}"""


def test_paging_stops_and_resumes():
    """`execute_all` returns the pages so far without a warning, and `resume` brings the rest."""
    client = gqlnb.connect("demo")
    whole = client.execute_all(TEXT, page_size=20)
    part = client.execute_all(TEXT, page_size=20, progress=lambda *_: False)
    assert part.report is not None
    assert part.report.ended == "stopped by progress="
    assert not part.report.complete
    assert 0 < len(part) < len(whole)
    rest = client.resume(part)
    assert rest.frame()["name"].tolist() == whole.frame()["name"].tolist()


def test_an_iterator_of_pages_stops():
    """`pages` ends after the page at which the function returned False."""
    client = gqlnb.connect("demo")
    seen = list(client.pages(TEXT, page_size=20, progress=lambda *_: False))
    assert len(seen) == 1
    assert seen[0].report is not None
    assert seen[0].report.ended == "stopped by progress="


@pytest.mark.parametrize("answer", [None, True, 0, ""])
def test_only_false_stops(answer):
    """A function without a return value, or with another one, does not stop anything."""
    client = gqlnb.connect("demo")
    result = client.execute_all(TEXT, page_size=50, progress=lambda *_: answer)
    assert result.report is not None
    assert result.report.complete
    assert github.harvest(">100000", progress=lambda *_: answer).complete
