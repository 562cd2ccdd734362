"""The population against its yardsticks: time to build, bytes a row, time to the first page.

Each figure comes from a fresh process with the collector on; before anything is timed, what the
stand-in answers is compared with a plain filter and sort by pandas over the same rows. A page is
timed with another threshold each time, so that no search is remembered. Figures are absolute, and
say something about this machine alone; seconds are the processor's, as nothing waits.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import pandas as pd

from gqlnb import github
from gqlnb.github.star_results import STARS_QUERY

SIZE = 3_000_000
ROUNDS = 15
WARM = 3
SEED = 1


class WrongAnswerError(AssertionError):
    """The stand-in answers something else than a plain filter and sort."""


@dataclass(frozen=True)
class Figure:
    """One yardstick.

    Attributes
    ----------
    name
        What it is called on the command line.
    measure
        Returns what each round took, for a size and a number of rounds.
    unit
        What it is in.
    most
        What it should not pass; None where nothing was asked for.
    """

    name: str
    measure: Callable[[int, int], list[float]]
    unit: str
    most: float | None = None


def seconds(call: Callable[[], Any]) -> float:
    """Return the processor seconds of a call."""
    gc.collect()
    begun = process_time()
    call()
    return process_time() - begun


def build(size: int, rounds: int) -> list[float]:
    """Time making a population with its indexes."""
    return [seconds(lambda: github.population(size, SEED)) for _ in range(max(1, rounds // 5))]


def memory(size: int, _rounds: int) -> list[float]:
    """Count the bytes of columns, names and indexes, for each row."""
    return [github.population(size, SEED).nbytes / size]


def resident(size: int, _rounds: int) -> list[float]:
    """Look how far the process had grown at most while it was made, for each row."""
    github.population(1_000, SEED)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    github.population(size, SEED)
    return [(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / size]


def pages(terms: str) -> Callable[[int, int], list[float]]:
    """Return a measure of the documented query with some terms and another threshold each time."""

    def measure(size: int, rounds: int) -> list[float]:
        population = github.population(size, SEED)
        service = github.service(population=population)
        ask = asking(service, terms)
        checked(population.frame(), next(ask)(), terms)
        for _ in range(WARM):
            next(ask)()
        return [1000 * seconds(next(ask)) for _ in range(rounds)]

    return measure


def asking(service: Any, terms: str) -> Iterator[Callable[[], Any]]:
    """Yield calls that ask for the first page above another number of stars each time."""
    for threshold in count(10):
        variables = {"query": f"stars:>{threshold} {terms}".strip(), "first": 100}
        yield lambda v=variables: service.execute(STARS_QUERY, v)["search"]


def checked(frame: pd.DataFrame, found: dict[str, Any], terms: str) -> None:
    """Compare the answer to the first threshold with a plain filter and sort.

    Raises
    ------
    WrongAnswerError
        If they differ.
    """
    kept = frame[frame["stargazers"] > 10]
    if "language:" in terms:
        kept = kept[(kept["language"] == "Go").fillna(False)]
    if "created:" in terms:
        kept = kept[kept["created_at"] >= pd.Timestamp("2020-01-01", tz="UTC")]
    if "otter" in terms:
        kept = kept[kept["name"].str.contains("otter")]
    key = (kept["owner"] + "/" + kept["name"]).rename("key")
    kept = kept.assign(key=key).sort_values(["stargazers", "key"], ascending=[False, True])
    first = kept.head(100)[["name", "owner", "stargazers"]]
    wanted = [
        {"name": name, "owner": {"login": owner}, "stargazers": {"totalCount": stars}}
        for name, owner, stars in first.itertuples(index=False)
    ]
    nodes = [edge["node"] for edge in found["edges"]]
    if found["repositoryCount"] != len(kept) or nodes != wanted:
        msg = f"stars:>10 {terms}: {found['repositoryCount']} and {nodes[:2]}, not {wanted[:2]}"
        raise WrongAnswerError(msg)


FIGURES = [
    Figure("build", build, "s", 10),
    Figure("memory", memory, "bytes a row", 100),
    Figure("resident", resident, "bytes a row while building"),
    Figure("first-page", pages(""), "ms", 5),
    Figure("first-page-created", pages("created:>=2020-01-01"), "ms"),
    Figure("first-page-language", pages("language:go"), "ms"),
    Figure("first-page-word", pages("otter"), "ms"),
]


def line(figure: Figure, costs: list[float]) -> str:
    """Return the line of a figure."""
    found = median(costs)
    goal = ""
    if figure.most is not None:
        goal = f"  <= {figure.most:g} {'reached' if found <= figure.most else 'MISSED'}"
    around = f"({min(costs):.2f}..{max(costs):.2f})"
    return f"{figure.name:22}{found:10.2f} {around:22} {figure.unit}{goal}\n"


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    known = {figure.name: figure for figure in FIGURES}
    parser = argparse.ArgumentParser(description="Measure the population against its yardsticks.")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(known)}; all by default")
    parser.add_argument("--size", type=int, default=SIZE, help="rows (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often a page is timed")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    for name in given.names:
        if name not in known:
            parser.error(f"There is no figure {name!r}. There are: {', '.join(known)}.")
    chosen = [known[name] for name in given.names] or FIGURES
    if given.here:
        json.dump(chosen[0].measure(given.size, given.rounds), sys.stdout)
        return
    about = {"python": platform.python_version(), "processors": os.cpu_count(), "rows": given.size}
    sys.stdout.write(f"{about | {'load': os.getloadavg()}}\n")
    table = {}
    for figure in chosen:
        sizes = ["--size", str(given.size), "--rounds", str(given.rounds)]
        command = [sys.executable, __file__, figure.name, "--here", *sizes]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        table[figure.name] = json.loads(done.stdout)
        sys.stdout.write(line(figure, table[figure.name]))
        sys.stdout.flush()
    if given.json is not None:
        given.json.write_text(json.dumps(about | {"figures": table}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
