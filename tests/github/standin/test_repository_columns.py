"""Repositories in columns are the same repositories, found by name, owner and id."""

import numpy as np
import pytest

from gqlnb.github.repositories import load_snapshot
from gqlnb.github.standin.github_schema import load_snapshot_population


def test_columns_return_every_repository_unchanged():
    """One by one or all at once, in the original order."""
    columns = load_snapshot_population()
    assert [columns[row] for row in range(len(columns))] == list(load_snapshot())
    assert list(columns.iter_rows(np.arange(len(columns)))) == list(load_snapshot())


@pytest.mark.parametrize("row", [-1, 3449])
def test_a_row_out_of_range_is_an_error(row):
    """The index is checked at both ends."""
    with pytest.raises(IndexError):
        load_snapshot_population()[row]


@pytest.mark.parametrize("name", ["", "torvalds", "torvalds/", "/linux", "torvalds/linux/x", "é/ß"])
def test_an_invalid_or_unknown_name_is_not_found(name):
    """Half a name, and a name that does not exist."""
    assert load_snapshot_population().find_row(name) is None


def test_every_owner_is_found_with_all_repositories():
    """Each login has its account and its rows, most starred first."""
    columns = load_snapshot_population()
    by_owner = {}
    for row in load_snapshot():
        by_owner.setdefault(row.owner, []).append(row)
    for owner, rows in list(by_owner.items())[::11]:
        assert columns.find_owner(owner.login.upper()) == owner
        place = columns.owners.find_place(owner.login)
        assert [columns[int(row)] for row in columns.find_owned_rows(place)] == rows


@pytest.mark.parametrize("node_id", ["", "R", "R_", "D_x", "R_x", "U_dG9ydmFsZHM=", "L_", "é_é"])
def test_an_unknown_id_is_not_found(node_id):
    """A text that was never issued as an id."""
    assert load_snapshot_population().find_node(node_id) is None


def test_writing_to_a_copy_leaves_the_original_unchanged():
    """Two rows of a copy are swapped in all columns."""
    columns = load_snapshot_population()
    copied = columns.copy_writable()
    one, other = 3, 3000
    before = copied[one], copied[other]
    copied.swap_rows(one, other)
    assert (copied[other], copied[one]) == before
    assert (columns[one], columns[other]) == before
    for row, repository in ((other, before[0]), (one, before[1])):
        assert copied.find_row(repository.full_name) == row
        owned = copied.find_owned_rows(copied.owners.find_place(repository.owner.login))
        assert sorted(owned) == list(owned)


def test_a_population_has_counts_and_frames_without_the_cap():
    """For comparison with a harvest."""
    assert load_snapshot_population().count("stars:>1000") == 3024
    frame = load_snapshot_population().frame("stars:>1000 sort:forks")
    assert len(frame) == 3024
    assert frame["forks"].is_monotonic_decreasing
    assert frame.dtypes.astype(str).to_dict() | {"created_at": "", "pushed_at": ""} == {
        "name": "string",
        "owner": "string",
        "stargazers": "Int64",
        "forks": "Int64",
        "language": "string",
        "created_at": "",
        "pushed_at": "",
        "archived": "boolean",
    }
    linux = frame[frame["name"] == "linux"].iloc[0]
    assert (linux["owner"], linux["stargazers"]) == ("torvalds", 243608)
    assert linux["pushed_at"].isoformat() == "2026-08-21T20:24:53+00:00"
    assert load_snapshot_population().frame("stars:>1000000").empty
