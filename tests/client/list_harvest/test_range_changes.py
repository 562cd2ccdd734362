"""Harvests in ranges while rows change, and after the process was killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import gqlnb
from gqlnb import Client, OptionError, Slice
from tests.client.list_harvest.simulator import Endpoint
from tests.client.list_harvest.test_range_harvest import (
    KINDS,
    assert_whole,
    draw_values,
    harvest,
    harvest_quietly,
    list_ids,
)

ROOT = Path(__file__).parents[3]
TOP = 10**5
FIXED_KINDS = ["insert", "append", "delete"]
KINDS_OF_CHANGE = [*FIXED_KINDS, "move", "rise", "step"]
KILLED = """
import sys
from gqlnb import Slice, connect
connect(sys.argv[1]).harvest(
    sys.argv[2], slice=Slice(column="at", cap=50), page_size=10, out=sys.argv[3], part=60
)
"""


def move_rows(endpoint: Endpoint, seed: int, kinds: list[str], rate: float) -> set[str]:
    """Let rows change before requests; return the ids of the rows that stay, which shrink."""
    generator = random.Random(seed)
    stays, made = set(endpoint.rows), Counter[str]()

    def change(kind: str, chosen: str) -> None:
        made[kind] += 1
        number = f"{kind}{made[kind]}"
        if kind == "delete":
            del endpoint.rows[chosen]
            stays.discard(chosen)
        values = {
            "insert": (number, generator.randint(0, TOP)),
            "append": (number, TOP + made[kind]),
            "move": (chosen, generator.randint(0, TOP)),
            "rise": (chosen, TOP + made[kind]),
            "step": (chosen, endpoint.rows.get(chosen, 0) + generator.choice([-50, -1, 1, 5, 200])),
        }
        if kind in values:
            key, value = values[kind]
            endpoint.rows[key] = value

    def drift() -> None:
        wait = generator.expovariate(1)  # several may change between two requests
        while wait < rate and endpoint.rows:
            change(generator.choice(kinds), generator.choice(list(endpoint.rows)))
            wait += generator.expovariate(1)

    endpoint.drift = drift
    return stays


def check_drift(seed: int) -> str:
    """Harvest rows that change; return the outcome."""
    generator = random.Random(seed)
    choose = generator.choice
    is_fixed = generator.random() < 0.3
    every = FIXED_KINDS if is_fixed else KINDS_OF_CHANGE
    kinds = generator.sample(every, generator.randint(1, len(every)))
    rows = {f"r{n}": generator.randint(0, TOP) for n in range(choose([30, 60, 200, 600]))}
    endpoint = Endpoint(
        rows,
        is_required=choose([True, False]),
        order=choose(["rising", "falling", "none"]),
        closed=choose(["both", "left"]),
        cursors=choose(["offset", "opaque", "keyset"]),
        has_count=generator.random() < 0.8,
    )
    stays = move_rows(endpoint, seed, kinds, choose([0.01, 0.03, 0.1, 0.3, 1]))
    slice_ = Slice(column="at", cap=50, closed=endpoint.closed, fixed=is_fixed)  # type: ignore[arg-type]
    client = Client(endpoint.build_schema())
    found = harvest_quietly(client, endpoint.query, slice=slice_, page_size=choose([10, 25]))
    ids = list_ids(found)
    assert len(ids) == len(set(ids))
    lost = stays - set(ids)
    assert not (lost and found.complete), f"seed {seed}: {lost} lost, {kinds}"
    return "complete" if found.complete else "lost" if lost else "unproved"


def test_no_harvest_is_falsely_complete():
    """Rows inserted, deleted and moved while they are read never make a false proof."""
    outcomes = Counter(map(check_drift, range(10)))
    assert outcomes["complete"] >= 4, outcomes


@pytest.mark.slow
def test_no_harvest_of_many_is_falsely_complete():
    """The same, with many seeds."""
    outcomes = Counter(map(check_drift, range(600)))
    assert outcomes["complete"] >= 200, outcomes


def test_rows_that_moved_are_listed():
    """A row that moved from one range to another comes once, and its id is listed."""
    endpoint = Endpoint(draw_values(KINDS["integers"][1]))

    def rise() -> None:
        if endpoint.requests == 20:
            first = min(endpoint.rows, key=lambda key: endpoint.rows[key])
            endpoint.rows[first] = 5000
            moved.append(first)

    moved: list[str] = []
    endpoint.drift = rise
    found = harvest(endpoint)
    assert found.complete
    assert [*found.coverage.moved] == moved
    frame = found.frame().set_index("id")
    assert frame["at"][moved[0]] == 5000


def test_nulls_in_place_of_rows_are_a_gap():
    """The rows are requested again; those that stay null are missing."""
    endpoint = Endpoint({f"r{number}": number for number in range(10)})
    endpoint.damage = lambda nodes: endpoint.requests == 1 and nodes.__setitem__(4, None)
    found = harvest(endpoint)
    assert_whole(found, endpoint.rows)
    endpoint.damage = lambda nodes: len(nodes) > 4 and nodes.__setitem__(4, None)
    with pytest.warns(UserWarning, match="null instead of 1 row"):
        found = harvest(endpoint)
    assert not found.complete
    (gap,) = found.coverage.gaps
    assert (gap.expected, gap.got, len(found)) == (10, 9, 9)


@pytest.mark.parametrize("is_deleted", [False, True])
def test_rows_repeated_in_place_of_others_are_noticed(is_deleted):
    """Even if another row is deleted meanwhile, so that the number of different ids agrees."""

    def repeat(nodes: list[dict[str, Any]]) -> None:
        if endpoint.requests == 1:
            nodes[4] = nodes[5]
            if is_deleted:
                del endpoint.rows["r0"]

    rows = {f"r{number}": number for number in range(10)}
    endpoint = Endpoint(rows, damage=repeat)
    found = harvest(endpoint, slice=Slice(column="at", cap=50, fixed=True))
    assert_whole(found, endpoint.rows)
    assert "r4" in endpoint.rows


def test_the_highest_range_is_read_last_also_again():
    """The counts of both ranges agree, and a row that left the lower one is in the higher one."""
    endpoint, phase = Endpoint({f"r{number}": number for number in range(100)}), 0

    def move(args: dict[str, Any]) -> None:
        """While a range is read again, move a row to the highest, which loses another."""
        nonlocal phase
        if phase == 0 and args["first"] == 1:
            phase = 1
            del endpoint.rows["r5"]
        elif phase == 1 and args["first"] > 1:
            phase = 2
            endpoint.rows["r7"] = TOP
            del endpoint.rows["r99"]

    endpoint.watch = move
    found = harvest(endpoint)
    assert phase == 2
    assert_whole(found, endpoint.rows)


def test_a_number_that_left_the_highest_range_is_found_below():
    """The count of the lower range agrees; that of the highest shows that one may be there."""
    endpoint = Endpoint({f"r{number}": number for number in range(400)})

    def swap(args: dict[str, Any]) -> None:
        """At the first count move a row of the highest range to a lower, which loses one."""
        if args["first"] == 1:
            endpoint.rows["r399"] = endpoint.rows.pop("r5")
            endpoint.watch = None

    endpoint.watch = swap
    slice_ = Slice(column="at", cap=50)
    with gqlnb.serve(endpoint.build_schema(), port=0) as server, Client(server.url) as client:
        found = client.harvest(endpoint.query, slice=slice_, page_size=10)
    assert endpoint.watch is None
    assert_whole(found, endpoint.rows)


@pytest.mark.parametrize("request_", [30, 70, 90])
def test_a_number_that_left_one_of_many_uncounted_ranges_is_found(request_):
    """It entered a range that was read before, while all are read a second time."""
    endpoint = Endpoint({f"r{n}": n for n in range(1500)}, has_count=False, is_required=True)

    def move() -> None:
        if endpoint.requests == request_:
            endpoint.rows["r1497"] = 5

    endpoint.drift = move
    slice_ = Slice(column="at", cap=50)
    with gqlnb.serve(endpoint.build_schema(), port=0) as server, Client(server.url) as client:
        found = client.harvest(endpoint.query, slice=slice_, page_size=50)
    assert found.complete
    assert found.coverage.windows > 20
    assert list_ids(found) == sorted(endpoint.rows)


@pytest.mark.parametrize("cap", [50, None])
def test_a_list_that_grows_faster_than_it_is_read_is_given_up(cap):
    """The harvest ends with the rows so far, and says why it is not complete."""
    endpoint = Endpoint({f"r{n}": n for n in range(100)}, is_required=True, cap=cap or 10**9)

    def grow() -> None:
        assert endpoint.requests < 500
        start, more = len(endpoint.rows), 25 if cap else 2000
        # Another dictionary, as other requests read this one.
        endpoint.rows = endpoint.rows | {f"r{n}": n for n in range(start, start + more)}

    endpoint.drift = grow
    options: dict[str, Any] = {
        "slice": Slice(column="at", cap=cap),
        "page_size": 20 if cap else 1000,
    }
    with gqlnb.serve(endpoint.build_schema(), port=0) as server, Client(server.url) as client:
        found = harvest_quietly(client, endpoint.query, **options)
    assert not found.complete
    assert any("grows faster than it is read" in gap.why for gap in found.coverage.gaps)
    assert len(found) > 100


def test_new_times_do_not_keep_a_harvest_open():
    """Rows created meanwhile are left out, if times of creation are `fixed`."""
    import datetime as dt

    endpoint = Endpoint(draw_values(KINDS["times"][1]), type="DateTime")
    stays = sorted(endpoint.rows)

    def create() -> None:
        moment = dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)
        if endpoint.requests % 5 == 0:
            endpoint.rows[f"new{endpoint.requests}"] = moment.isoformat()

    endpoint.drift = create
    found = harvest(endpoint, slice=Slice(column="at", cap=50, fixed=True))
    assert found.complete
    assert [key for key in list_ids(found) if key.startswith("r")] == stays
    endpoint.drift = None


# -- folders


def test_a_folder_holds_the_same_rows(tmp_path):
    """Parts in a folder have the rows and dtypes of a harvest in memory, and are read again."""
    endpoint = Endpoint(draw_values(KINDS["times"][1]), type="DateTime")
    memory, folder = harvest(endpoint), harvest(endpoint, out=tmp_path, part=60)
    assert len(list(tmp_path.glob("part-*.parquet"))) > 3
    assert folder.frame().dtypes.to_dict() == memory.frame().dtypes.to_dict()
    assert list_ids(folder) == list_ids(memory)
    before = endpoint.requests
    again = harvest(endpoint, out=tmp_path, part=60)
    assert endpoint.requests == before
    assert again.coverage == folder.coverage
    assert repr(again) == repr(folder)


def test_an_interrupted_harvest_continues_where_it_ended(tmp_path):
    """After an interrupt the same call continues, and repeats at most one range."""
    endpoint = Endpoint(draw_values(KINDS["skewed integers"][1]))
    harvest(endpoint)
    clean, endpoint.requests = endpoint.requests, 0

    def interrupt() -> None:
        if endpoint.requests in {1, 2, 20, 45, 50, 51, 80}:
            raise KeyboardInterrupt

    endpoint.drift = interrupt
    failures = 0
    for _ in range(9):
        try:
            found = harvest(endpoint, out=tmp_path, part=60)
            break
        except KeyboardInterrupt as error:
            advice = str(getattr(error, "__notes__", ""))
            failures += 1
    assert failures > 4
    assert "resume()" not in advice  # which would continue one of its ranges
    assert_whole(found, endpoint.rows)
    assert endpoint.requests <= clean + failures * 7  # a range has up to six pages


@pytest.mark.slow
def test_a_killed_harvest_continues(tmp_path):
    """After `kill -9` at any moment the same call continues, and the rows are all there once."""
    endpoint = Endpoint(draw_values(KINDS["integers"][1]))
    generator = random.Random(3)
    process: subprocess.Popen[bytes] | None = None
    kills = 0

    def kill() -> None:
        nonlocal kills
        if process is not None and kills < 4 and generator.random() < 0.2:
            kills += 1
            process.send_signal(signal.SIGKILL)

    with gqlnb.serve(endpoint.build_schema(), port=0) as server:
        endpoint.drift = kill
        folder = tmp_path / "harvest"
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", KILLED, server.url, endpoint.query, str(folder)]
        for _ in range(8):
            process = subprocess.Popen(command, env=environment)
            if not process.wait(120):
                break
        process = None
        assert kills == 4
        with Client(server.url) as client:
            before = endpoint.requests
            found = client.harvest(
                endpoint.query, slice=Slice(column="at", cap=50), page_size=10, out=folder
            )
    assert endpoint.requests == before
    assert_whole(found, endpoint.rows)


@pytest.mark.parametrize(
    "damage", [b"{", b'{"type":"range"}\n', b"\x00\xff\n", b'{"type":"new"}\n']
)
def test_a_damaged_log_is_named_or_repaired(tmp_path, damage):
    """An incomplete last line is removed; another broken line is an error that names it."""
    endpoint = Endpoint(draw_values(KINDS["integers"][1]))
    harvest(endpoint, out=tmp_path)
    with (tmp_path / "_harvest.jsonl").open("ab") as log:
        log.write(damage)
    if damage.endswith(b"\n"):
        with pytest.raises(OptionError, match=r"line 3 is broken|goes on after its end"):
            harvest(endpoint, out=tmp_path)
    else:
        assert list_ids(harvest(endpoint, out=tmp_path)) == sorted(endpoint.rows)
