"""The folder of a harvest is read while it grows and afterwards."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from pandas.testing import assert_frame_equal

from gqlnb import Client, FrameError, OptionError, github
from gqlnb.lists.list_harvest import ListStore, Reading
from gqlnb.lists.report import Changes
from gqlnb.lists.store import LogHeader
from tests.github.harvester.github_search import Search
from tests.github.harvester.logging_standin import rows
from tests.github.harvester.test_node_harvest import make_rows


def test_a_finished_folder_has_all_rows_and_the_coverage(tmp_path, client, truth):
    """As Arrow, pandas, DuckDB and Polars."""
    made = github.harvest(">=1", client=client, out=tmp_path, part=2_000)
    folder = github.open(tmp_path)
    assert folder.complete
    assert folder.coverage == made.coverage
    assert rows(folder.frame()) == truth
    assert rows(folder.duckdb().df()) == truth
    assert folder.dataset().count_rows() == folder.arrow().num_rows == len(truth)
    assert folder.polars().collect().height == len(truth)
    assert repr(folder).endswith(f"{len(truth):,} rows, complete)")


def test_a_growing_folder_has_the_parts_so_far(tmp_path, client, truth):
    """Read from another thread, or process, between two requests."""
    seen = []

    def watch(*_):
        folder = github.open(tmp_path)
        assert not folder.complete
        assert folder.coverage is None
        if folder.parts:
            assert rows(folder.frame()) <= truth
            seen.append(folder.duckdb().aggregate("count(*)").df().iloc[0, 0])
        else:
            with pytest.raises(OptionError, match="no part yet"):
                folder.dataset()

    github.harvest(">=1", client=client, out=tmp_path, part=1_000, progress=watch)
    assert seen == sorted(seen)
    assert len(set(seen)) > 2


@pytest.mark.parametrize(
    ("name", "reason"),
    [("", "it has no _harvest.jsonl"), ("a.csv", "it is a file"), ("none", "it does not exist")],
)
def test_another_path_is_not_a_folder_of_a_harvest(tmp_path, name, reason):
    """The error says what it is."""
    (tmp_path / "a.csv").touch()
    with pytest.raises(OptionError, match=f"not the folder of a harvest: {reason}"):
        github.open(tmp_path / name)


def harvest_issues(folder, search, **options):
    """Harvest the rows of a simulated search into a folder."""
    client = Client(search.build_schema())
    return github.harvest_nodes("x", type="ISSUE", client=client, out=folder, part=300, **options)


def test_a_folder_of_another_type_is_opened_too(tmp_path):
    """The rows and the coverage are those of the harvest, for every reader."""
    search = Search(make_rows(1_500))
    made = harvest_issues(tmp_path, search)
    folder = github.open(tmp_path)
    assert len(folder.parts) > 2
    assert folder.complete
    assert folder.coverage == made.coverage
    assert folder.fields is None
    assert_frame_equal(folder.frame(), made.frame(), check_like=False)
    assert folder.arrow().equals(made.arrow())
    everything = sorted(search.rows)
    assert sorted(folder.dataset().to_table()["id"].to_pylist()) == everything
    assert sorted(folder.duckdb().df()["id"]) == everything
    assert sorted(folder.polars().select("id", "createdAt").collect()["id"]) == everything
    assert "1,500 rows, complete" in repr(folder)
    with pytest.raises(FrameError, match="only harvests of repositories"):
        folder.frame(explode="labels")


def test_a_growing_folder_of_another_type_has_the_parts_so_far(tmp_path):
    """During a harvest and a refresh; the report comes at the end."""
    search, counts = Search(make_rows(1_500)), []

    def watch(*_):
        folder = github.open(tmp_path)
        assert folder.coverage is None
        assert not folder.complete
        if folder.parts:
            assert set(folder.arrow()["id"].to_pylist()) <= set(search.rows)
            counts.append(len(folder.frame()))
        else:
            with pytest.raises(OptionError, match="no part yet"):
                folder.frame()

    harvest_issues(tmp_path, search, progress=watch)
    assert counts == sorted(counts)
    assert len(set(counts)) > 2
    harvest_issues(tmp_path, search, progress=watch, refresh=True)
    assert github.open(tmp_path).complete


def store_columns(folder, *columns):
    """Write each column as the `at` of the only row of a part."""
    with ListStore(folder, LogHeader(query="q", source="s"), rows_per_part=1) as store:
        for number, values in enumerate(columns):
            reading = Reading(number=number, ends=(number, number), count=1)
            store.add_reading(reading, pa.table({"id": [f"i{number}"], "at": values}))


def test_parts_with_other_types_are_one_table(tmp_path):
    """Without a schema the values decide, so a part may lack the type of another."""
    store_columns(tmp_path, pa.nulls(1), pa.array([0.5]))
    folder = github.open(tmp_path)
    assert len(folder.parts) == 2
    assert folder.dataset().to_table()["at"].to_pylist() == [None, 0.5]
    assert folder.duckdb().order("id").fetchall() == [("i0", None), ("i1", 0.5)]
    assert folder.arrow()["at"].to_pylist() == [None, 0.5]
    assert folder.frame()["at"].isna().tolist() == [True, False]


@pytest.mark.parametrize(
    ("first", "second", "texts"),
    [
        (pa.array([1]), pa.array(["a"], pa.large_string()), ["1", "a"]),
        (pa.array([[1]]), pa.array([["a"]]), ["[1]", '["a"]']),
        (
            pa.array([0], pa.timestamp("ms")),
            pa.array([0], pa.timestamp("ms", "UTC")),
            ["1970-01-01 00:00:00.000", "1970-01-01 00:00:00.000Z"],
        ),
    ],
    ids=["numbers", "lists", "times"],
)
def test_parts_without_a_common_type_are_text(tmp_path, first, second, texts):
    """In all parts, also in those without values."""
    store_columns(tmp_path, first, pa.nulls(1), second)
    folder = github.open(tmp_path)
    assert folder.arrow()["at"].to_pylist() == [texts[0], None, texts[1]]
    assert folder.frame()["at"].dropna().tolist() == texts


def test_two_harvests_are_compared_by_id(tmp_path):
    """Added, changed and removed rows are those that pandas finds."""
    search = Search(make_rows(700))
    harvest_issues(tmp_path / "before", search)
    before = github.open(tmp_path / "before")
    generator = random.Random(1)
    for number in generator.sample(range(700), 20):
        search.rows[f"i{number}"]["updated"] += 1
    for number in generator.sample(range(700), 10):
        del search.rows[f"i{number}"]
    search.rows |= {f"n{number}": {"created": 1_600_000_000, "updated": 0} for number in range(5)}
    harvest_issues(tmp_path / "after", search)
    after = github.open(tmp_path / "after")
    old, new = before.frame().set_index("id"), after.frame().set_index("id")
    both = old.index.intersection(new.index)
    is_other = old.loc[both, "updatedAt"] != new.loc[both, "updatedAt"]
    changes = after.find_changes(before)
    assert sorted(changes.added) == sorted(new.index.difference(old.index))
    assert sorted(changes.removed) == sorted(old.index.difference(new.index))
    assert sorted(changes.changed) == sorted(both[is_other])
    assert before.find_changes(before) == Changes(added=[], changed=[], removed=[])


def test_harvests_that_cannot_be_compared(tmp_path, client):
    """Other columns are an error, and a harvest that is not finished is a warning."""
    github.harvest(">=1000", client=client, out=tmp_path / "a")
    github.harvest(">=1000", client=client, out=tmp_path / "b", fields="forkCount")
    first, second = github.open(tmp_path / "a"), github.open(tmp_path / "b")
    with pytest.raises(OptionError, match="only one of them has forkCount"):
        second.find_changes(first)
    github.harvest(
        ">=1000", client=client, out=tmp_path / "a", progress=lambda *_: False, resume=False, part=1
    )
    assert not (tmp_path / "a" / "_coverage.json").exists()
    with pytest.warns(UserWarning, match="not proved complete"):
        assert first.find_changes(first) == Changes(added=[], changed=[], removed=[])
