"""Benchmarks of the cell: ``python tests/benchmarks/magic.py [names...]``.

A cell is run by the shell as a person's would be, its value shown to nobody. ``plain`` is a cell
that calls a function: what IPython itself takes. The endpoint is a process of its own.
"""

from __future__ import annotations

import gc
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from statistics import median
from time import perf_counter
from typing import Any

import requests
from IPython.core.interactiveshell import InteractiveShell

import gqlnb
from tests.benchmarks.client import endpoint
from tests.benchmarks.measure import OURS, Costs, Goal, Sides, Workload, main

PLAIN = "a plain cell"
REQUESTS = "requests.post in a cell"
BARE = "IPython alone"
ROUNDS = 15
CALLS = 20  # cells that are timed at once
HELLO = "{ hello }"
LOAD = """
from time import perf_counter
begun = perf_counter()
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
{load}
print(perf_counter() - begun)
"""


def shell() -> InteractiveShell:
    """Return a shell with the extension and nothing on the disk."""
    InteractiveShell.clear_instance()
    made = InteractiveShell.instance(ipython_dir=tempfile.mkdtemp())
    made.history_manager.enabled = False
    made.run_line_magic("load_ext", "gqlnb")
    return made


def cell(made: InteractiveShell, text: str) -> Callable[[], Any]:
    """Return a function that runs a cell and returns its value as data."""

    def call() -> Any:
        with redirect_stdout(io.StringIO()):
            outcome = made.run_cell(text)
        outcome.raise_error()
        return outcome.result

    return call


def here(_size: int) -> Sides:
    """Ask a schema of the process, against a call of the function that answers it."""
    made = shell()
    made.user_ns["schema"] = gqlnb.reference_schema()
    made.user_ns["hello"] = lambda: {"hello": "Hello world!"}
    return {OURS: cell(made, f"%%graphql schema -t json\n{HELLO}"), PLAIN: cell(made, "hello()")}


def wire(_size: int) -> Sides:
    """Ask over HTTP on loopback, against the same POST through requests alone."""
    made = shell()
    url = endpoint()
    made.user_ns |= {"requests": requests, "url": url, "session": requests.Session()}
    by_hand = "session.post(url, json={'query': '{ hello }'}, timeout=60).json()['data']"
    return {OURS: cell(made, f"%%graphql {url} -t json\n{HELLO}"), REQUESTS: cell(made, by_hand)}


def walls(sides: Sides, rounds: int) -> Costs:
    """Return the seconds of each side by the clock on the wall: a cell over HTTP waits too."""
    for call in 4 * list(sides.values()):
        call()
    taken: Costs = {name: [] for name in sides}
    for turn in range(rounds):
        for name in list(sides) if turn % 2 else list(reversed(sides)):
            gc.collect()
            begun = perf_counter()
            for _ in range(CALLS):
                sides[name]()
            taken[name].append((perf_counter() - begun) / CALLS)
    return taken


def loading(_size: int) -> Sides:
    """Start a fresh process each time: IPython with the extension, against IPython alone."""

    def side(load: str) -> Callable[[], float]:
        code = LOAD.format(load=load)

        def call() -> float:
            done = subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            )
            return float(done.stdout)

        return call

    return {OURS: side("shell.run_line_magic('load_ext', 'gqlnb')"), BARE: side("")}


def told(sides: Sides, rounds: int) -> Costs:
    """Return the seconds that each side says it took."""
    taken: Costs = {name: [] for name in sides}
    for turn in range(rounds):
        for name in list(sides) if turn % 2 else list(reversed(sides)):
            taken[name].append(sides[name]())
    return taken


# A cell should take 2 ms more than a plain one of 0.25 ms, and loading 150 ms more than IPython's
# 80 ms: as ratios these are 9 and 2.9; `--differences` tells the milliseconds themselves.
WORKLOADS = [
    Workload("cell", here, (Goal(PLAIN, 9, most=True),), costs=walls, rounds=ROUNDS),
    Workload("cell-http", wire, (Goal(REQUESTS, 1.3, most=True),), costs=walls, rounds=ROUNDS),
    Workload(
        "load",
        loading,
        (Goal(BARE, 2.9, most=True),),
        costs=told,
        rounds=ROUNDS,
        text=lambda seconds: str(seconds > 0),
    ),
]


def differences(arguments: list[str] | None = None) -> None:
    """Say what a cell and loading take beyond what IPython takes, in milliseconds."""
    from tests.benchmarks.measure import apart

    for workload in WORKLOADS:
        if arguments and workload.name not in arguments:
            continue
        costs = apart(__file__, workload, workload.rounds)
        ours, theirs = (median(costs[name]) * 1e3 for name in (OURS, workload.goals[0].against))
        line = {"workload": workload.name, "ours ms": round(ours, 2), "theirs": round(theirs, 2)}
        sys.stdout.write(f"{json.dumps(line | {'more': round(ours - theirs, 2)})}\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--differences"]:
        differences(sys.argv[2:])
    else:
        main(__file__, WORKLOADS)
