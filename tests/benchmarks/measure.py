"""Measuring ratios: the protocol of all benchmarks, and the table they print.

Each workload runs in a fresh process with the collector on. The answers of all sides are compared
first; then every round times each side once, after ``gc.collect()``; a call too short for the clock
is timed in a batch. The clock is the processor's: no workload waits for anything, and what else the
machine does is not in the figures. A figure is the ratio of the medians, with the lowest and the
highest ratio of a round in brackets. Ratios are stated against graphql-core `STATED`.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from statistics import geometric_mean, median
from time import process_time
from typing import Any

import graphql

Sides = dict[str, Callable[[], Any]]  # who answers, to a call without arguments that does
Costs = dict[str, list[float]]  # who answered, to the cost of each round

STATED = "3.2.14"
ROUNDS = 15
WARM = 4  # calls before the first that is timed
SHORT = 0.001  # seconds; a shorter call is timed in a batch
BATCH = 0.01  # seconds a batch takes, about

OURS = "gqlnb"
EXECUTE = "graphql.execute"
SYNC = "graphql.graphql_sync"
RESULT = "the result itself"
CORE = (EXECUTE, SYNC)


class UnequalError(AssertionError):
    """The sides of a workload do not answer the same, so that comparing them means nothing."""


@dataclass(frozen=True)
class Goal:
    """What a ratio should reach.

    Attributes
    ----------
    against
        The side we are compared with.
    reach
        How many times as fast we should be; with `most`, how many times its cost we may cost.
    most
        Whether `reach` is a limit from above.
    """

    against: str
    reach: float
    most: bool = False

    def ratio(self, ours: float, theirs: float) -> float:
        """Return the ratio of two costs, the way round that `reach` is meant."""
        return ours / theirs if self.most else theirs / ours

    def met(self, ratio: float) -> bool:
        """Tell whether a ratio reaches the goal."""
        return ratio <= self.reach if self.most else ratio >= self.reach

    def __str__(self) -> str:
        return f"{'<=' if self.most else '>='} {self.reach:g}"


def times(sides: Sides, rounds: int) -> Costs:
    """Return the processor seconds per call of each side, by round, once all of them are warm."""
    for call in WARM * list(sides.values()):
        call()
    batches = {name: batch(call) for name, call in sides.items()}
    taken: Costs = {name: [] for name in sides}
    for turn in range(rounds):
        order = list(sides) if turn % 2 else list(reversed(sides))
        for name in order:
            taken[name].append(timed(sides[name], batches[name]))
    return taken


def batch(call: Callable[[], Any]) -> int:
    """Return how many calls are timed at once: enough for the clock to tell."""
    once = timed(call, 1)
    return 1 if once >= SHORT else 1 + int(BATCH / timed(call, 1 + int(SHORT / once)))


def timed(call: Callable[[], Any], calls: int) -> float:
    """Return the seconds that a call takes, dropping its answer included."""
    gc.collect()
    begun = process_time()
    for _ in repeat(None, calls):
        call()
    return (process_time() - begun) / calls


def bytes_taken(sides: Sides, rounds: int) -> Costs:
    """Return the bytes each side takes, as tracemalloc counts them.

    For the result itself what it holds when it is there, for anybody else the peak until then.
    """
    taken: Costs = {name: [] for name in sides}
    tracemalloc.start()
    for name, call in rounds * list(sides.items()):
        gc.collect()
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        answer = call()
        held, peak = tracemalloc.get_traced_memory()
        del answer
        taken[name].append((held if name == RESULT else peak) - before)
    tracemalloc.stop()
    return taken


@dataclass(frozen=True)
class Workload:
    """One row of the table.

    Attributes
    ----------
    name
        What it is called on the command line.
    sides
        Builds who answers, of a size.
    goals
        What we should reach, by side: all of them.
    size, small
        How many items there are, and how many in the test suite.
    costs
        What is measured.
    rounds
        How often, unless the command line says.
    text
        Returns an answer as text by which it is compared.
    """

    name: str
    sides: Callable[[int], Sides]
    goals: tuple[Goal, ...]
    size: int = 1
    small: int = 1
    costs: Callable[[Sides, int], Costs] = times
    rounds: int = ROUNDS
    text: Callable[[Any], str] = field(default=lambda answer: text(answer))  # noqa: PLW0108 - it is defined below


def measured(workload: Workload, size: int, rounds: int) -> Costs:
    """Return what each side costs, once all of them have given the same answer.

    Raises
    ------
    UnequalError
        If one of them has not.
    """
    sides = workload.sides(size)
    answers = {name: workload.text(call()) for name, call in sides.items()}
    for name, answer in answers.items():
        if answer != answers[OURS]:
            msg = f"{workload.name}: {name} answers {answer[:200]}, we {answers[OURS][:200]}"
            raise UnequalError(msg)
    del answers
    return workload.costs(sides, rounds)


def report_small(workload: Workload, rounds: int) -> Costs:
    """Compare the answers of all sides at the small size, print the ratios, and return the costs.

    For the test suite. Times are not asserted there: a busy machine, or a thread that another test
    left behind, changes them by any factor.

    Raises
    ------
    UnequalError
        If the answers differ.
    """
    costs = measured(workload, workload.small, rounds)
    sys.stdout.write(line(workload.name, figures(workload, costs)))
    return costs


def text(answer: Any) -> str:
    """Return an answer as text that shows the order of its fields too; none has errors."""
    if getattr(answer, "errors", None):
        raise UnequalError(repr(answer.errors))
    return json.dumps(answer if isinstance(answer, dict) else answer.data)


# -- the table


def apart(script: str, workload: Workload, rounds: int) -> Costs:
    """Measure a workload of a script in a process of its own."""
    command = [sys.executable, script, workload.name, "--here", "--rounds", str(rounds)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def figures(workload: Workload, costs: Costs) -> list[dict[str, Any]]:
    """Return the ratio for each goal, and what it was made from."""
    found = []
    for goal in workload.goals:
        ours, theirs = costs[OURS], costs[goal.against]
        ratio = goal.ratio(median(ours), median(theirs))
        each = [goal.ratio(a, b) for a, b in zip(ours, theirs, strict=True)]
        found.append(
            {
                "against": goal.against,
                "goal": str(goal),
                "ratio": ratio,
                "lowest": min(each),
                "highest": max(each),
                "met": goal.met(ratio),
                "times as fast": median(theirs) / median(ours),
            }
        )
    return found


def line(name: str, ratios: list[dict[str, Any]]) -> str:
    """Return the line of a workload."""
    parts = [
        f"{r['ratio']:7.2f}x ({r['lowest']:.2f}..{r['highest']:.2f}) "
        f"{r['goal']} {'reached' if r['met'] else 'MISSED'}, {r['against']}"
        for r in ratios
    ]
    return f"{name:24}{';'.join(parts)}\n"


def mean(table: dict[str, Any]) -> float | None:
    """Return the geometric mean of how many times as fast as graphql-core we are."""
    ratios = [
        figure["times as fast"]
        for workload in table.values()
        for figure in workload["ratios"]
        if figure["against"] in CORE
    ]
    return geometric_mean(ratios) if ratios else None


def report(script: str, chosen: list[Workload], rounds: int | None) -> dict[str, Any]:
    """Measure workloads of a script, write a line for each, and return the figures."""
    about = {
        "graphql-core": graphql.__version__,
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "load": os.getloadavg(),
    }
    sys.stdout.write(f"{about}\n")
    if graphql.__version__ != STATED:
        sys.stdout.write(f"Ratios are stated against graphql-core {STATED}, not this one.\n")
    table: dict[str, Any] = {}
    for workload in chosen:
        costs = apart(script, workload, rounds or workload.rounds)
        table[workload.name] = {"ratios": figures(workload, costs), "costs": costs}
        sys.stdout.write(line(workload.name, table[workload.name]["ratios"]))
        sys.stdout.flush()
    overall = mean(table)
    if overall is not None:
        sys.stdout.write(f"Geometric mean: {overall:.1f} times as fast as graphql-core.\n")
    return about | {"workloads": table, "geometric mean": overall}


def main(script: str, workloads: list[Workload], arguments: list[str] | None = None) -> None:
    """Run the command line of a script.

    Parameters
    ----------
    script
        Its file, which is started again for each workload.
    workloads
        What it measures.
    arguments
        Those after the name of the script; by default those it was started with.
    """
    known = {workload.name: workload for workload in workloads}
    parser = argparse.ArgumentParser(description="Measure ratios of time and memory.")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(known)}; all by default")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--rounds", type=int, help="how often each side is timed")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    for name in given.names:
        if name not in known:
            parser.error(f"There is no workload {name!r}. There are: {', '.join(known)}.")
    chosen = [known[name] for name in given.names] or workloads
    if given.here:
        json.dump(measured(chosen[0], chosen[0].size, given.rounds), sys.stdout)
        return
    made = report(script, chosen, given.rounds)
    if given.json is not None:
        given.json.write_text(json.dumps(made, indent=1), encoding="utf-8")
