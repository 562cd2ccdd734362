"""Benchmarks of the server: ``python tests/benchmarks/server.py [names...]``. Linux only.

Every side is a process of its own, asked over loopback by wrk (Debian's package `wrk`), which
counts what is answered. Answers are compared first; then every round asks each side in turn.
A figure is the median of the rounds' ratios, with the lowest and the highest in brackets: what else
the machine does hits both sides of a round alike, or so one hopes.

All processes of a workload share one processor. Otherwise the scheduler decides what is measured:
at one connection, client and server work in turn, and on two processors each request wakes both of
them up. On a virtual machine that took 130 of 155 microseconds, of both sides alike, and ratios
were 0.6 to 2.8 within a minute. A rate contains the work of wrk, so ``hello-cpu`` and
``hello-32-cpu`` measure the server alone: the CPU time of its threads for each answer, system calls
included.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from tests.benchmarks.measure import UnequalError

__all__ = ["WORKLOADS", "Load", "Workload", "main", "measured", "ratios"]

SECONDS = 1  # of each side in a round; wrk takes whole ones
ROUNDS = 9
SCRIPT = Path(__file__).with_name("sides.py")
BARE, OURS = "bare uvicorn", "gqlnb"
BY_HAND = "uvicorn and msgspec, by hand"
DEFAULT = ("ariadne", "strawberry")
TUNED = ("ariadne, tuned", "strawberry, tuned")
HELLO = "{ hello }"
NODES = "{ nodes { id name stars owner { login } } }"
LONG = "{ long { id name count score ok } }"

# What wrk sends, and what it tells when it is done. A new text each time is an alias counted up; no
# two runs begin at the same number.
LUA = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"query": "%(query)s"}'
local count = %(start)d
if %(new)s then
  request = function()
    count = count + 1
    return wrk.format(nil, nil, nil, '{"query": "{ a' .. count .. ': hello }"}')
  end
end
done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\\n{"requests": %%d, "microseconds": %%d, "p99": %%f, "failed": %%d}\\n',
    summary.requests, summary.duration, latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
"""


@dataclass(frozen=True)
class Load:
    """What one run of wrk asks.

    Attributes
    ----------
    query
        The document.
    connections
        How many ask at once, each its next question when it has its answer.
    new
        Whether no two texts are the same; the query is `HELLO` then.
    """

    query: str = HELLO
    connections: int = 1
    new: bool = False

    def script(self, start: int) -> str:
        """Return the Lua script for wrk, counting from `start`."""
        return LUA % {"query": self.query, "start": start, "new": str(self.new).lower()}


class Endpoint(NamedTuple):
    """A side that is being served.

    Attributes
    ----------
    url
        Where it answers.
    pid
        The id of its process.
    """

    url: str
    pid: int


@contextmanager
def share_processor() -> Iterator[None]:
    """Let this thread, and the processes that it starts, run on one processor only."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def started(side: str) -> Iterator[Endpoint]:
    """Serve a side in a process of its own."""
    command = [sys.executable, "-W", "ignore", str(SCRIPT), side]
    environment = os.environ | {"PYTHONPATH": str(SCRIPT.parents[2])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        try:
            yield Endpoint(f"http://127.0.0.1:{port}/graphql", process.pid)
        finally:
            process.terminate()


def ask(side: Endpoint, query: str) -> Any:
    """Return what a server answers."""
    body = json.dumps({"query": query}).encode()
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(side.url, body, headers)
    for left in reversed(range(50)):
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return json.load(response)
        except ConnectionRefusedError:  # a side that writes its port before it listens
            if not left:
                raise
    return None


def wrk(side: Endpoint, load: Load, seconds: int) -> dict[str, float]:
    """Ask for some seconds and return what wrk counted.

    Raises
    ------
    UnequalError
        If an answer failed.
    """
    wrk.runs += 1  # type: ignore[attr-defined]
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(load.script(wrk.runs * 10_000_000))  # type: ignore[attr-defined]
        script.flush()
        command = ["wrk", "-t1", f"-c{load.connections}", f"-d{seconds}s", "-s", script.name]
        command.append(side.url)
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    counted: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    if counted["failed"]:
        msg = f"{counted['failed']:g} of {counted['requests']:g} answers failed"
        raise UnequalError(msg)
    return counted


wrk.runs = 0  # type: ignore[attr-defined]


def rate(side: Endpoint, load: Load, seconds: int) -> float:
    """Return answers per second."""
    counted = wrk(side, load, seconds)
    return counted["requests"] / counted["microseconds"] * 1e6


def read_cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of the threads of a process, to the nanosecond."""
    files = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(file.read_text().split()[0]) for file in files) / 1e9


def cpu(side: Endpoint, load: Load, seconds: int) -> float:
    """Return the CPU seconds of the server for each answer."""
    before = read_cpu_seconds(side.pid)
    counted = wrk(side, load, seconds)
    return (read_cpu_seconds(side.pid) - before) / counted["requests"]


def p99(side: Endpoint, load: Load, seconds: int) -> float:
    """Return the seconds within which 99 of 100 answers came."""
    return wrk(side, load, seconds)["p99"] / 1e6


Measure = Callable[[Endpoint, Load, int], float]


@dataclass(frozen=True)
class Workload:
    """One row of the table.

    Attributes
    ----------
    name
        What it is called on the command line.
    load
        What is asked.
    reach
        What our ratio to the best of `others` should reach; at most, where times are measured.
    others
        The sides we are compared with.
    measure
        What is measured of each side.
    """

    name: str
    load: Load
    reach: float
    others: tuple[str, ...]
    measure: Measure = rate

    def met(self, ratio: float) -> bool:
        """Tell whether a ratio is good enough."""
        return ratio >= self.reach if self.measure is rate else ratio <= self.reach

    def __str__(self) -> str:
        return f"{'>=' if self.measure is rate else '<='} {self.reach:.3g}"


WORKLOADS = [
    Workload("hello", Load(), 1.3, (BARE,)),
    Workload("hello-cpu", Load(), 1 / 1.3, (BARE,), cpu),
    Workload("hello-32", Load(connections=32), 1.3, (BARE,)),
    Workload("hello-32-cpu", Load(connections=32), 1 / 1.3, (BARE,), cpu),
    Workload("new-32", Load(connections=32, new=True), 1.0, DEFAULT),
    Workload("list", Load(NODES), 15.0, TUNED),
    Workload("list-p99", Load(NODES), 1.0, TUNED, p99),
    Workload("long-cpu", Load(LONG), 1.5, (BY_HAND,), cpu),
]


def measured(workload: Workload, rounds: int, seconds: int) -> dict[str, list[float]]:
    """Return what was measured of each side in each round, once all have answered the same.

    Raises
    ------
    UnequalError
        If one of them has not.
    """
    sides = (OURS, *workload.others)
    taken: dict[str, list[float]] = {side: [] for side in sides}
    with share_processor(), ExitStack() as stack:
        served = {side: stack.enter_context(started(side)) for side in sides}
        compare(workload, served)
        for side in sides:
            workload.measure(served[side], workload.load, 1)  # warm
        for turn in range(rounds):
            for side in sides if turn % 2 else reversed(sides):
                taken[side].append(workload.measure(served[side], workload.load, seconds))
    return taken


def compare(workload: Workload, served: dict[str, Endpoint]) -> None:
    """See that all sides answer the same.

    Raises
    ------
    UnequalError
        If one of them does not.
    """
    answers = {side: ask(it, workload.load.query) for side, it in served.items()}
    for side, answer in answers.items():
        if answer != answers[OURS] or "errors" in answer:
            msg = f"{workload.name}: {side} answers {str(answer)[:200]}"
            raise UnequalError(msg)


def ratios(workload: Workload, taken: dict[str, list[float]]) -> tuple[str, list[float]]:
    """Return the best of the others, and our ratio to it in each round."""
    best = max if workload.measure is rate else min
    against = best(workload.others, key=lambda side: median(taken[side]))
    pairs = zip(taken[OURS], taken[against], strict=True)
    return against, [ours / theirs for ours, theirs in pairs]


def line(workload: Workload, taken: dict[str, list[float]]) -> str:
    """Return the line of a workload."""
    against, each = ratios(workload, taken)
    word = "reached" if workload.met(median(each)) else "MISSED"
    factor, unit = (1, "/s") if workload.measure is rate else (1e6, " us")
    figures = ", ".join(
        f"{name} {median(values) * factor:.4g}{unit}" for name, values in taken.items()
    )
    return (
        f"{workload.name:13}{median(each):7.2f}x ({min(each):.2f}..{max(each):.2f}) "
        f"{workload} {word}, {against}; {figures}\n"
    )


def main(arguments: list[str] | None = None) -> None:
    """Measure the workloads that are named, or all."""
    known = {workload.name: workload for workload in WORKLOADS}
    parser = argparse.ArgumentParser(description="Measure the server against bare uvicorn.")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(known)}; all by default")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=int, default=SECONDS, help="of each side in a round")
    given = parser.parse_args(arguments)
    for name in given.names:
        if name not in known:
            parser.error(f"There is no workload {name!r}. There are: {', '.join(known)}.")
    if shutil.which("wrk") is None:
        parser.error("This needs wrk: apt-get install wrk")
    sys.stdout.write(f"processors {os.cpu_count()}, load {os.getloadavg()}\n")
    for name in given.names or known:
        taken = measured(known[name], given.rounds, given.seconds)
        sys.stdout.write(line(known[name], taken))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
