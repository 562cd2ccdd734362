"""The cost of attacks on the server: ``python -m tests.benchmarks.server_attacks [names...]``.

Each attack runs against a server of its own; attack, server and the client that measures are three
processes. Printed are the CPU seconds and the memory that it costs the server, and how long
``{ hello }`` takes beside it, asked one after the other: the 99th percentile, the longest, and the
sum of those above 100 ms. On a machine with other work, the CPU time that the server spends until
it answers (its 99th percentile) says more than the time on the clock. ``--against FOLDER`` attacks
the package in another checkout first, for a table of before and after. Linux only.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

__all__ = ["ATTACKS", "main", "measure_attack"]

ROOT = Path(__file__).resolve().parents[2]
SERVER = """
import sys, threading, time
from gqlnb import Limits, Schema, serve
stale = threading.Event()
def cached(*_):
    if stale.is_set():
        time.sleep(2)
    return "value"
def make_stale(_root, args, _context):
    stale.set() if args["on"] else stale.clear()
schema = Schema('''
type Query {
  hello: String cached: String hang: String node: Node s(a: Int): String many(x: [Int]): Int }
type Mutation { makeStale(on: Boolean!): String }
type Node { s: String node: Node }
''', {
    "Query": {"hello": lambda *_: "Hello world!", "cached": cached, "node": lambda *_: {},
              "hang": lambda *_: threading.Event().wait(), "many": lambda *_: 1},
    "Mutation": {"makeStale": make_stale},
})
server = serve(schema, port=0, limits=Limits(seconds=3, connections=1000))
print(server.port, flush=True)
sys.stdin.read()
"""


class Cost(NamedTuple):
    """The cost of an attack: CPU seconds, MiB, and times of ``{ hello }``.

    Attributes
    ----------
    p99, longest
        Milliseconds.
    p99_cpu
        Milliseconds of CPU time of the server until it answered.
    delayed
        Seconds in which an answer took more than 100 ms.
    """

    cpu: float
    memory: float
    p99: float
    p99_cpu: float
    longest: float
    delayed: float


def ask(port: int, query: str, variables: object = None, timeout: float = 30) -> None:
    """Send a query, and read the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    body = json.dumps({"query": query, "variables": variables})
    try:
        connection.request("POST", "/graphql", body, {"Content-Type": "application/json"})
        connection.getresponse().read()
    finally:
        connection.close()


def attack_with_hanging_calls(port: int) -> None:
    """Call a resolver that never returns 256 times, and leave."""
    body = b'{"query": "{ hang }"}'
    head = b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    for _ in range(256):
        with socket.create_connection(("127.0.0.1", port)) as one:
            one.sendall(head + b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    time.sleep(4)


def attack_with_stalls(port: int) -> None:
    """Repeat a fast query until it runs on the event loop, where it blocks; five times."""
    for _ in range(5):
        for _ in range(300):
            ask(port, "{ cached }")
        ask(port, "mutation { makeStale(on: true) }")
        ask(port, "{ cached }")
        ask(port, "mutation { makeStale(on: false) }")


def attack_with_texts(port: int) -> None:
    """Send 500 distinct texts of 10 KB, 5 MB in all."""
    for number in range(500):
        ask(
            port, "{ " + " ".join(f"a{number}_{it}: hello" for it in range(49)) + " }#" + "x" * 9000
        )


def attack_with_repeated_fields(port: int) -> None:
    """Send documents of 6 to 15 KB that are slow to validate, ten of each."""
    spreads = "".join(f"...f{it} " for it in range(300))
    fragments = "".join(f"fragment f{it} on Query {{ node {{ s }} }} " for it in range(300))
    documents = ("node { s } " * 1200, "s(a: 1) " * 800, "s(a: 1) s(a: 2) " * 400)
    for number in range(10):
        for text in documents:
            ask(port, f"{{ {text} }} # {number}")
        ask(port, f"{{ {spreads} }} {fragments} # {number}")


def attack_with_connections(port: int) -> None:
    """Connect 2,000 times, and send nothing."""
    held = []
    for _ in range(2000):
        with suppress(OSError):
            held.append(socket.create_connection(("127.0.0.1", port)))
    for one in held:
        one.close()


def attack_with_variables(port: int) -> None:
    """Send variables of 900 KB ten times."""
    for _ in range(10):
        ask(port, "query ($x: [Int]) { many(x: $x) }", {"x": [123456] * 110_000})


ATTACKS: dict[str, Callable[[int], None]] = {
    "hanging": attack_with_hanging_calls,
    "stalls": attack_with_stalls,
    "texts": attack_with_texts,
    "validation": attack_with_repeated_fields,
    "connections": attack_with_connections,
    "variables": attack_with_variables,
}


@contextmanager
def run_server(package: Path) -> Iterator[tuple[int, int]]:
    """Yield the process id and the port of a server of the package in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(package)}
    command = [sys.executable, "-c", SERVER]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    # In that folder, which `python -c` searches first.
    with subprocess.Popen(command, env=environment, cwd=package, text=True, **pipes) as process:
        try:
            yield process.pid, int(process.stdout.readline())
        finally:
            process.kill()


def read_cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def read_exact_cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of the threads of a process, to the nanosecond; 0 if one has ended."""
    with suppress(OSError):
        files = Path(f"/proc/{pid}/task").glob("*/schedstat")
        return sum(int(file.read_text().split()[0]) for file in files) / 1e9
    return 0.0


def read_memory(pid: int) -> float:
    """Return the resident memory of a process in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def measure_attack(package: Path, attack: Callable[[int], None]) -> Cost:
    """Attack a server of the package in a folder; return what it cost."""
    with run_server(package) as (pid, port):
        for _ in range(20):
            ask(port, "{ hello }")
        seconds: list[float] = []
        cpu_seconds: list[float] = []
        is_done = threading.Event()

        def probe() -> None:
            while not is_done.wait(0.005):
                began, cpu_before = time.perf_counter(), read_exact_cpu_seconds(pid)
                with suppress(OSError, http.client.HTTPException):
                    ask(port, "{ hello }", timeout=60)
                seconds.append(time.perf_counter() - began)
                cpu_seconds.append(read_exact_cpu_seconds(pid) - cpu_before)

        prober = threading.Thread(target=probe)
        attacker = multiprocessing.get_context("forkserver").Process(target=attack, args=(port,))
        cpu, memory = read_cpu_seconds(pid), read_memory(pid)
        prober.start()
        attacker.start()
        attacker.join()
        is_done.set()
        prober.join()
        cpu, memory = read_cpu_seconds(pid) - cpu, read_memory(pid) - memory
        delayed = sum(it for it in seconds if it > 0.1)
        p99, p99_cpu = (
            1000 * sorted(each)[int(0.99 * (len(each) - 1))] for each in (seconds, cpu_seconds)
        )
        return Cost(cpu, memory, p99, p99_cpu, 1000 * max(seconds), delayed)


def main() -> None:
    """Print a line for each attack and package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*ATTACKS, []], default=[])
    parser.add_argument("--against", type=Path, help="the folder of another checkout")
    options = parser.parse_args()
    packages = {"before": options.against} if options.against else {}
    packages["now"] = ROOT
    write = sys.stdout.write
    times = f"{'p99 ms':>8} {'CPU ms':>8} {'longest ms':>10} {'delayed s':>9}"
    write(f"{'attack':12} {'':6} {'CPU s':>7} {'MiB':>7} {times}\n")
    for name in options.names or ATTACKS:
        for label, package in packages.items():
            cost = measure_attack(package, ATTACKS[name])
            times = f"{cost.p99:8.1f} {cost.p99_cpu:8.1f} {cost.longest:10.1f} {cost.delayed:9.2f}"
            write(f"{name:12} {label:6} {cost.cpu:7.2f} {cost.memory:7.1f} {times}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
