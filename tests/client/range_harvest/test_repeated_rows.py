"""A repository that comes twice, as its stars changed meanwhile, is kept once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gqlnb import Client, github
from gqlnb.client.range_harvest.part_files import find_repeated_rows
from gqlnb.github.harvester import harvests, state_machine, storage, sweep_state
from gqlnb.github.standin.simulation import Simulation
from tests.github.harvester.populations import crowd

if TYPE_CHECKING:
    from pathlib import Path

    from gqlnb.github.standin.repository_search import Population

SEED = 1
DRIFT = 100  # stars that move with each search: far more than ever would
WANTED = "stars:>2"


@given(st.lists(st.lists(st.sampled_from("abcdefghij"), max_size=9), max_size=6), st.integers(1, 9))
def test_each_id_is_returned_once(parts: list[list[str]], at_once: int) -> None:
    """For any number of hashes in memory; the first row stays."""
    places = find_repeated_rows(
        lambda: [[part[:at_once], part[at_once:]] for part in parts], sum(map(len, parts)), at_once
    )
    seen: set[str] = set()
    for number, ids in enumerate(parts):
        again = [place for place, each in enumerate(ids) if each in seen or each in ids[:place]]
        assert places.get(number, []) == again
        seen.update(ids)


def test_equal_hashes_are_not_equal_ids() -> None:
    """Rows with equal hashes and different ids stay."""

    class Same(str):
        __slots__ = ()

        def __hash__(self) -> int:
            return 1

    ids = [Same("a"), Same("b"), Same("a"), Same("c")]
    assert find_repeated_rows(lambda: [[ids]], 4) == {0: [2]}


@pytest.fixture(scope="module")
def moving() -> Population:
    """Return a population in which some come twice because of drift."""
    return crowd(4000, SEED)


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make sweeps forget which rows came before, as a long one does."""
    open_parts = state_machine.Sweep._open_parts

    def forget(sweep: Any, parts: Any, _known: Any, *given: Any, **about: Any) -> None:
        open_parts(sweep, parts, {}, *given, **about)

    monkeypatch.setattr(state_machine.Sweep, "_open_parts", forget)
    monkeypatch.setattr(sweep_state, "MAX_KNOWN_ROWS", 0)
    for module in (state_machine, sweep_state):
        monkeypatch.setattr(module, "MAX_SLICED_ROWS", 0)


def simulation() -> Simulation:
    """Return the faults that make repositories come twice."""
    return Simulation(seed=SEED, drift=DRIFT)


@pytest.mark.parametrize("part", [None, 500, 100_000])
def test_a_harvest_keeps_each_repository_once(
    moving: Population, tmp_path: Path, part: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In memory, in many parts and in one; the report counts the repeated rows."""
    monkeypatch.setattr(
        storage, "find_repeated_rows", lambda parts, rows: find_repeated_rows(parts, rows, 1000)
    )
    app = github.app(github.service(population=moving, simulation=simulation()))
    options: dict[str, Any] = {} if part is None else {"out": tmp_path, "part": part}
    with Client(app) as client:
        made = github.harvest(WANTED, client=client, progress=False, **options)
    ids = made.arrow()["id"].to_pylist()
    assert len(ids) == len(set(ids)) == len(made) == made.coverage.got
    assert made.coverage.moved > 0
    if part:
        assert len(pd.read_parquet(tmp_path)) == len(made)
        assert "returned twice" in repr(made)


def test_an_interrupted_removal_of_repeated_rows_is_repeated(
    moving: Population, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some parts are already without them, which the log does not say."""
    write, written = storage.write_part, []

    def stopping(*given: Any) -> None:
        write(*given)
        written.append(given[1])
        if written.count(given[1]) > 1:  # it was there before
            raise KeyboardInterrupt

    monkeypatch.setattr(storage, "write_part", stopping)
    app = github.app(github.service(population=moving, simulation=simulation()))
    with Client(app) as client:
        with pytest.raises(KeyboardInterrupt):
            github.harvest(WANTED, client=client, progress=False, out=tmp_path, part=500)
        monkeypatch.setattr(storage, "write_part", write)
        made = github.harvest(WANTED, client=client, progress=False, out=tmp_path, part=500)
    ids = made.arrow()["id"].to_pylist()
    assert len(ids) == len(set(ids)) == len(made) == made.coverage.got
    assert made.coverage.moved > 0
    assert harvests.encode_coverage(made.coverage)["moved"] == made.coverage.moved
