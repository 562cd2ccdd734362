"""Harvests of changing data: ``python -m tests.benchmarks.harvest_changes [runs] [size] [kind]``.

For each kind of change: harvests that say complete and lack a repository that matched throughout,
harvests that are not proved complete, their unproved ranges, and requests per page needed.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from tests.github.harvester.search_simulator import SearchSimulator
from tests.github.harvester.test_search_simulator import CHANGES, LOW, harvest_all

SIZES = (40, 250, 900, 3_000, 6_000)


class Outcome(NamedTuple):
    """One harvest: whether it is complete, its lost rows, unproved ranges, and its cost."""

    complete: bool
    lost: int
    gaps: int
    cost: float


def run(kind: str, size: int, seed: int) -> Outcome:
    """Harvest once."""
    simulator = SearchSimulator(size, LOW, CHANGES[kind], seed)
    found, coverage = harvest_all(simulator)
    lost = len(simulator.required - found)
    return Outcome(
        coverage.complete,
        lost,
        len(coverage.gaps),
        coverage.pages / max(1, -(-coverage.got // 100)),
    )


def main(runs: int = 20, sizes: str = "", only: str = "") -> None:
    """Print a row for each kind of change and size."""
    chosen = [int(size) for size in sizes.split(",")] if sizes else SIZES
    say("| change | repositories | runs | false | not proved | ranges | requests/bound |")
    with ProcessPoolExecutor(2) as pool:
        for kind in CHANGES:
            if only not in kind:
                continue
            for size in chosen:
                made = list(pool.map(run, [kind] * runs, [size] * runs, range(runs)))
                false = [seed for seed, each in enumerate(made) if each.complete and each.lost]
                unproved = sum(not each.complete for each in made)
                gaps, cost = sum(each.gaps for each in made), sum(each.cost for each in made) / runs
                say(
                    f"| {kind} | {size:,} | {runs} | {len(false)} | {unproved} | {gaps} "
                    f"| {cost:.2f} |{f' seeds {false[:9]}' if false else ''}"
                )


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    given = sys.argv[1:]
    main(int(given[0]) if given else 20, *given[1:])
