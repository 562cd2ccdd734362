"""A harvest returns all rows, reports its coverage, and adapts to the endpoint."""

from __future__ import annotations

import html
import json
import warnings
from types import SimpleNamespace

import dask.dataframe
import duckdb
import pandas as pd
import pyarrow.parquet as pq
import pytest
from msgspec import structs

from gqlnb import Client, OptionError, QueryError, Schema, github, reference_schema, stars
from gqlnb.errors import TransportError
from gqlnb.github.harvester.requests import PAGES_PER_REQUEST, BatchSize
from gqlnb.github.harvester.storage import RepositoryStore
from gqlnb.github.standin.simulation import Simulation
from gqlnb.github.star_results import collect_stars
from gqlnb.lists import accounts
from gqlnb.lists.report import Gap
from gqlnb.lists.window_harvest import FIRST_COUNTS
from tests.github.harvester.logging_standin import rows

EVERYTHING = ">=1"


def test_every_row_is_returned_once(client, standin, truth, tmp_path):
    """In few requests of up to ten pages, without a warning; the report and its files say so."""
    heard = []
    with warnings.catch_warnings(action="error"):
        made = github.harvest(
            EVERYTHING,
            client=client,
            out=tmp_path,
            part=2_500,
            progress=lambda *it: heard.append(it),
        )
    assert rows(made.frame()) == truth
    assert made.complete
    assert (made.coverage.expected, made.coverage.got, len(made)) == (len(truth),) * 3
    assert 60 <= made.coverage.pages <= 67
    pages = [sum(name[0] == "n" for name in asked) for asked in standin.asked]
    counts = [sum(name[0] == "q" for name in asked) for asked in standin.asked]
    assert counts[0] == FIRST_COUNTS
    assert 8 <= max(pages) <= PAGES_PER_REQUEST
    assert made.requests == len(pages) == len(heard) < 30
    assert sum(pages) == made.coverage.pages
    assert sum(counts) == made.coverage.pages + made.coverage.counts
    assert heard[-1][:3] == (len(truth), len(truth), made.requests)

    standin.asked.clear()
    estimate = github.estimate(EVERYTHING, client=client)
    assert len(standin.asked) == 1
    assert estimate.repositories == len(truth)
    assert estimate.least <= made.coverage.pages <= estimate.most
    fewest, most = estimate.requests
    assert fewest <= made.requests <= most
    assert "60 to 67 pages of 100, 201 counts\n  9 to 94 requests: up to ten" in repr(estimate)

    assert made.folder == tmp_path
    assert len(list(tmp_path.glob("*.parquet"))) == 3
    for read in (
        pd.read_parquet(tmp_path),
        duckdb.read_parquet(f"{tmp_path}/*.parquet").df(),
        dask.dataframe.read_parquet(tmp_path).compute(),
    ):
        assert rows(read) == truth
    beside = json.loads((tmp_path / "_coverage.json").read_text())
    within = pq.read_schema(tmp_path / "part-00002.parquet").metadata
    assert json.loads(within[b"gqlnb.coverage"]) == beside
    assert (beside["got"], beside["expected"], beside["gaps"]) == (len(truth), len(truth), [])
    assert (beside["query"], beside["source"]) == ("stars:>=1", made.source)
    assert beside["complete"] is True
    assert github.open(tmp_path).coverage == made.coverage
    first = pq.read_schema(tmp_path / "part-00000.parquet").metadata
    assert first[b"gqlnb.query"] == b"stars:>=1"


def test_everything_is_read_a_second_time(client, standin, truth, tmp_path):
    """With twice=True; a folder that was read once is not taken for one that was read twice."""
    once = github.harvest(EVERYTHING, client=client, out=tmp_path / "once")
    made = github.harvest(EVERYTHING, client=client, out=tmp_path / "twice", twice=True)
    assert rows(made.frame()) == truth
    assert made.complete
    assert made.coverage.got == once.coverage.got == len(truth)
    assert ["read twice" in repr(each) for each in (once, made)] == [False, True]
    assert "; everything was read twice, in " in repr(made)
    assert made.coverage.pages >= 2 * 60
    estimate = github.estimate(EVERYTHING, client=client, twice=True)
    assert estimate.least <= made.coverage.pages <= estimate.most
    with pytest.raises(OptionError, match=r"a harvest without twice=True\. Name another"):
        github.harvest(EVERYTHING, client=client, out=tmp_path / "once", twice=True)
    sent = len(standin.asked)
    for twice in (True, False):
        again = github.harvest(EVERYTHING, client=client, out=tmp_path / "twice", twice=twice)
        assert len(again) == len(truth)
    assert len(standin.asked) == sent
    with pytest.raises(OptionError, match="twice= takes True or False"):
        github.harvest(EVERYTHING, client=client, twice="yes")


def test_an_empty_harvest_is_complete(tmp_path, client):
    """A threshold above all gives an empty frame, and one empty part."""
    made = github.harvest(">9000000", client=client, out=tmp_path)
    assert made.complete
    assert list(made.frame()) == ["name", "owner", "stargazers", "created_at", "id"]
    assert pd.read_parquet(tmp_path).empty


def test_an_expression_may_have_further_qualifiers(client, people):
    """They restrict the harvest."""
    made = github.harvest("stars:>=1 language:python", client=client)
    assert rows(made.frame()) == rows(people.frame("language:python"))


def test_slow_answers_make_requests_smaller():
    """Fast answers double the number of pages in a request, or more; slow ones halve it."""
    load = BatchSize()
    for seconds, pages in ((1.5, 2), (0.9, 8), (0.1, PAGES_PER_REQUEST)):
        load.note_success(seconds)
        assert load.pages == pages
    load.note_success(3.0)
    assert load.pages == PAGES_PER_REQUEST
    load.note_success(5.0)
    assert load.pages == 5
    for pages in (2, 1, 0):
        load.halve()
        assert load.pages == pages


@pytest.mark.parametrize(
    "faults",
    [
        {"ties": True, "dropped": 0.002, "duplicated": 0.002},
        {"resources": 40},
        {"gateway": 0.02, "timeouts": 0.02},
    ],
    ids="+".join,
)
def test_faults_lose_no_rows(people, truth, faults):
    """Over HTTP, with the faults that GitHub shows to harvesters."""
    service = github.service(population=people, simulation=Simulation(seed=5, **faults))
    with github.serve(service, port=0) as server, Client(server) as client:
        made = github.harvest(EVERYTHING, client=client)
    assert rows(made.frame()) == truth
    assert made.complete


class Clock:
    """A clock that sleeping moves forward."""

    def __init__(self) -> None:
        self.time = 1e9
        self.slept: list[float] = []

    def now(self) -> float:
        """Return the time."""
        return self.time

    monotonic = now

    def sleep(self, seconds: float) -> None:
        """Move the time forward."""
        self.slept.append(seconds)
        self.time += seconds


def test_a_harvest_waits_for_the_next_budget(people, truth, monkeypatch):
    """The harvest continues with the points of the next hour."""
    clock = Clock()
    simulation = Simulation(budget=12, clock=clock.now)
    service = github.service(population=people, simulation=simulation)
    with Client(github.app(service)) as client:
        gate = client._rate_limiter._queue
        gate.clock = SimpleNamespace(now=clock.now)
        monkeypatch.setattr(accounts, "time", clock)
        monkeypatch.setattr("gqlnb.client.request_sender.time.time", clock.now)
        made = github.harvest(EVERYTHING, client=client)
    assert rows(made.frame()) == truth
    assert any(seconds > 3000 for seconds in clock.slept)


# ---------------------------------------------------------------- reports


def test_frame_and_report_of_a_harvest(client):
    """Most stars first, with the dtypes of a star search, times in UTC; cost and completeness."""
    made = github.harvest(">=2000", client=client)
    frame, text, coverage = made.frame(), repr(made), made.coverage
    assert frame["stargazers"].is_monotonic_decreasing
    dtypes = ["string", "string", "Int64", "datetime64[s, UTC]", "string"]
    assert frame.dtypes.astype(str).tolist() == dtypes
    assert frame.attrs["query"] == "stars:>=2000"
    assert frame.attrs["coverage"]["complete"]
    assert json.loads(json.dumps(frame.attrs)) == frame.attrs
    assert text.startswith(f"{len(made):,} repositories of 'stars:>=2000', complete\n")
    assert f"in {made.requests} requests" in text
    assert "from in-process" in text
    assert html.escape(text) in made._repr_html_()
    first, numbers, pages = repr(coverage).split("\n")
    assert first == "Coverage: complete"
    assert first in coverage._repr_html_()
    assert numbers == f"  expected {coverage.expected:,}, got {coverage.got:,}"
    assert f"{coverage.pages} pages, with {coverage.counts} counts" in pages
    gap = Gap("stars:5", 3, 2, "Counts differ.")
    last = repr(structs.replace(coverage, gaps=(gap,), field_errors={"x": 1})).split("\n")[-1]
    assert last == "  gaps: 1, field_errors: 1, notes: 0"


@pytest.mark.parametrize("limit", [None, 5_000])
def test_stars_without_limit_show_a_bar(client, capsys, monkeypatch, limit):
    """It counts up to the rows expected; with a callback there is no bar."""
    monkeypatch.setenv("GQLNB_PROGRESS", "1")
    found = stars(EVERYTHING, limit=limit, client=client)
    seen = capsys.readouterr().err
    assert f"{len(found)}/{len(found)} [" in seen
    assert " requests" in seen
    collect_stars(EVERYTHING, limit=limit, client=client, on_page=lambda *_: None)
    assert capsys.readouterr().err == ""


def test_a_gap_warns():
    """More than 1,000 repositories with equal stars in one second cannot be fetched."""
    from gqlnb.github.repositories import Owner, Repository

    owner, moment = Owner("mona", "User"), "2020-01-01T00:00:00Z"
    made = [Repository(f"r{n:04}", owner, 7, 0, None, moment, moment) for n in range(1500)]
    crowd = github.Population.from_repositories(made, source="a crowd")
    with pytest.warns(UserWarning, match="not proved complete.* of 1,500 rows") as warned:
        harvested = github.harvest(EVERYTHING, client=Client(github.service(population=crowd)))
    assert not harvested.complete
    assert len(warned) == 1
    assert 1000 <= len(harvested) < 1500


# ---------------------------------------------------------------- parts


def test_a_folder_keeps_few_rows_in_memory(tmp_path, client):
    """Never more than a part and the windows of one request."""
    held = []

    def watch(*_: object) -> None:
        held.append(sum(part.rows for part in keeper[0]._new))

    keeper = []
    usual = RepositoryStore.__init__

    def noted(self, *args, **options):
        usual(self, *args, **options)
        keeper.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gqlnb.github.harvester.storage.RepositoryStore.__init__", noted)
        github.harvest(EVERYTHING, client=client, out=tmp_path, part=2_000, progress=watch)
    assert 0 < max(held) < 2_000


# ---------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({"part": 0}, OptionError, "part= takes a whole number above 0"),
        ({"width": "all"}, OptionError, "width= takes a whole number above 0"),
        ({"parts": 2}, OptionError, r"harvest\(\) has no argument parts=. Did you mean part=\?"),
        ({"progress": "loud"}, OptionError, "progress= takes"),
    ],
)
def test_an_invalid_option_raises(client, standin, options, error, reason):
    """Before any request."""
    with pytest.raises(error, match=reason):
        github.harvest(EVERYTHING, client=client, **options)
    assert standin.asked == []


def test_an_endpoint_of_another_shape_raises():
    """A schema without searches gives a one-sentence error."""
    with pytest.raises(QueryError, match="is not GitHub-shaped: Cannot query field 'search'"):
        github.harvest(EVERYTHING, client=Client(reference_schema()))


def test_an_endpoint_that_ignores_stars_raises():
    """An endpoint that answers the same to every search cannot be harvested."""
    sdl = github.schema().sdl
    node = {"__typename": "Repository", "id": "1", "stargazerCount": 1}
    page = {"repositoryCount": 5000, "pageInfo": {"hasNextPage": True, "endCursor": "x"}}
    nodes = [
        node | {"id": str(n), "nameWithOwner": f"a/{n}", "createdAt": "2020-01-01T00:00:00Z"}
        for n in range(100)
    ]
    schema = Schema(sdl, {"Query": {"search": lambda *_: page | {"nodes": nodes}}})
    with pytest.raises(Exception, match="ignores"):
        github.harvest(">1000", client=Client(schema))


def test_rows_before_a_failure_are_in_the_error(client, standin):
    """Without a folder, the rows so far are in the error."""

    def watch(got: int, *_: object) -> None:
        if got >= 1000:
            standin.fails = 1

    with pytest.raises(Exception, match="disk") as caught:
        github.harvest(EVERYTHING, client=client, progress=watch)
    assert isinstance(caught.value, TransportError | Exception)
    assert len(caught.value.result.data["repositories"]) >= 1000
