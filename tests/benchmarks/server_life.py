"""Start, stop and memory of the server: ``python tests/benchmarks/server_life.py [names...]``.

``start``   seconds from ``serve()`` to the first answer, and of ``close()`` with five half-sent
            bodies open, in fresh processes; what uvicorn's imports take stands beside it.
``memory``  what serving and a thousand requests add to a kernel that has imported gqlnb and has
            executed one query.
``soak``    memory, threads and open files of a kernel at full load, minute by minute
            (``--minutes``, of ``--seconds`` each); of a hundred requests one has a text never seen,
            and one an error. Beside them subscriptions, over both protocols, and half-sent requests
            come and are given up. This one needs wrk.

Figures are of this machine: goals are printed beside them, and nothing is asserted but answers.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from gqlnb import Client
from tests.benchmarks.server import ask

__all__ = ["main", "memory", "soak", "start"]

ROOT = Path(__file__).resolve().parents[2]
HELLO = "{ hello }"
ANSWER = {"data": {"hello": "Hello world!"}}
ROUNDS = 7
REQUESTS = 1000
CONNECTIONS = 8
WARM = 2  # minutes after which memory is to stay
MIB = 2**20

START = """
import json, socket, time

begun = time.perf_counter()
import uvicorn.protocols.http.auto
try:
    import uvloop
except ImportError:
    pass
imports = time.perf_counter() - begun

from gqlnb import reference_schema, serve

BODY = b'{"query":"{ hello }"}'
HEAD = b"POST /graphql HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Type: application/json\\r\\n"
WHOLE = HEAD + b"Content-Length: %d\\r\\n\\r\\n" % len(BODY) + BODY

def connected(data):
    sock = socket.create_connection(("127.0.0.1", server.port))
    sock.sendall(data)
    return sock

def asked():
    with connected(WHOLE) as sock:
        found = b""
        while not found.endswith(b'{"data":{"hello":"Hello world!"}}'):
            found += sock.recv(4096)

schema, times = reference_schema(), []
for _ in range(2):
    begun = time.perf_counter()
    server = serve(schema, port=0)
    asked()
    ready = time.perf_counter() - begun
    half = [connected(WHOLE[:-5]) for _ in range(5)]
    asked()  # so the half ones have arrived
    begun = time.perf_counter()
    server.close()
    times.append((ready, time.perf_counter() - begun))
print(json.dumps([imports, *times]))
"""

FIRST = """
import gc, os
import gqlnb
schema = gqlnb.reference_schema()
assert schema.execute("{ hello }").data == {"hello": "Hello world!"}
"""
SERVE = "server = gqlnb.serve(schema, port=0)"
ENDLESS = """
import asyncio

async def never(*_):
    yield 1
    await asyncio.Event().wait()

schema = gqlnb.Schema(
    "type Query { hello: String } type Subscription { never: Int }",
    {"Query": {"hello": lambda *_: "Hello world!"}, "Subscription": {"never": never}},
)
"""
STATE = """
import threading
_ = gc.collect()
with open("/proc/self/statm") as _file:
    _pages = int(_file.read().split()[1])
_files = len(os.listdir("/proc/self/fd"))
print(_pages * os.sysconf("SC_PAGE_SIZE"), threading.active_count(), _files)
"""
HALF = (
    b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b'Content-Length: 100\r\n\r\n{"query":'
)

# Of a hundred requests one has a new text, and one an error: unknown field, syntax, or resolver.
LOAD = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local count = %d
local wrong = {'{ helo }', '{ hello', '{ hello(a: 1) }', 'query($a: Int!) { hello }'}
request = function()
  count = count + 1
  local text = '{ hello }'
  if count %% 100 == 0 then text = '{ a' .. count .. ': hello }' end
  if count %% 100 == 50 then text = wrong[1 + math.floor(count / 100) %% 4] end
  return wrk.format(nil, nil, nil, '{"query": "' .. text .. '"}')
end
"""


class Kernel:
    """A kernel of its own, as a notebook has one."""

    def __init__(self) -> None:
        from jupyter_client.manager import start_new_kernel

        self.manager, self._client = start_new_kernel(
            kernel_name="python3", env=os.environ | {"PYTHONPATH": str(ROOT)}
        )

    def run(self, code: str) -> str:
        """Run a cell and return what it printed."""
        printed: list[str] = []

        def take(message: dict[str, Any]) -> None:
            printed.append(message["content"].get("text", ""))

        reply = self._client.execute_interactive(code, output_hook=take, timeout=120)
        if reply["content"]["status"] != "ok":
            raise RuntimeError(reply["content"]["evalue"])
        return "".join(printed)

    def state(self) -> tuple[int, int, int]:
        """Return its resident memory in bytes, its threads, and its open files."""
        resident, threads, files = map(int, self.run(STATE).split())
        return resident, threads, files

    def resident(self) -> int:
        """Return its resident memory in bytes."""
        return self.state()[0]

    def close(self) -> None:
        """End it."""
        self._client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@contextmanager
def kernel() -> Iterator[Kernel]:
    """Return a kernel that has imported gqlnb and executed a query."""
    made = Kernel()
    try:
        made.run(FIRST)
        yield made
    finally:
        made.close()


def served(one: Kernel) -> str:
    """Serve in a kernel and return the URL."""
    return f"http://127.0.0.1:{int(one.run(f'{SERVE}; print(server.port)'))}/graphql"


def start(rounds: int = ROUNDS) -> dict[str, float]:
    """Return medians of seconds: imports, the first start and stop, and the second."""
    found = []
    for _ in range(rounds):
        command = [sys.executable, "-c", START]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, capture_output=True, env=environment, check=True)
        imports, (ready, stopped), (again, ended) = json.loads(done.stdout)
        found.append((imports, ready, stopped, again, ended))
    names = ("imports of uvicorn", "first start", "first stop", "second start", "second stop")
    return dict(zip(names, map(median, zip(*found, strict=True)), strict=True))


def memory(rounds: int = 3, requests: int = REQUESTS) -> list[int]:
    """Return the bytes that serving adds to a kernel, in each round."""
    found = []
    for _ in range(rounds):
        with kernel() as one:
            before = one.resident()
            url = served(one)
            for _ in range(requests):
                if ask(url, HELLO) != ANSWER:
                    raise AssertionError(url)
            found.append(one.resident() - before)
    return found


def soak(minutes: int, seconds: int = 60) -> Iterator[tuple[int, int, int]]:
    """Yield a kernel's memory in bytes, threads and files under mixed load, after each minute."""
    with kernel() as one, tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        one.run(ENDLESS)
        url = served(one)
        for minute in range(minutes):
            script.seek(0)
            script.write(LOAD % (minute * 100_000_000))
            script.truncate()
            script.flush()
            command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", script.name, url]
            with fickle(url):
                done = subprocess.run(command, capture_output=True, text=True, check=True)
            if ask(url, HELLO) != ANSWER or "Socket errors" in done.stdout:
                raise AssertionError(done.stdout)
            yield one.state()


@contextmanager
def fickle(url: str) -> Iterator[None]:
    """Meanwhile subscribe and leave, and send half a request and leave, again and again."""
    over, parts = threading.Event(), urlsplit(url)

    def come_and_go() -> None:
        while not over.is_set():
            for transport in ("ws", "sse"):
                with Client(url) as client:
                    events = client.subscribe("subscription { never }", transport=transport)
                    if next(iter(events)).data != {"never": 1}:
                        raise AssertionError(transport)
                    events.close()
            with socket.create_connection((parts.hostname, parts.port)) as half:
                half.sendall(HALF)

    with ThreadPoolExecutor(1) as thread:
        gone = thread.submit(come_and_go)
        try:
            yield
        finally:
            over.set()
        gone.result()


def tell_start(_: argparse.Namespace) -> None:
    """Print the seconds of starting and stopping."""
    for name, seconds in start().items():
        goal = {"start": " (goal 30)", "stop": " (goal 20)"}.get(name.split()[-1], "")
        sys.stdout.write(f"{name:20}{seconds * 1000:8.1f} ms{goal}\n")


def tell_memory(_: argparse.Namespace) -> None:
    """Print what serving adds."""
    found = memory()
    each = ", ".join(f"{size / MIB:.1f}" for size in found)
    sys.stdout.write(f"serving and {REQUESTS} requests add {each} MiB (goal 10)\n")


def tell_soak(given: argparse.Namespace) -> None:
    """Print what each minute left, and how memory grew after the second."""
    if shutil.which("wrk") is None:
        sys.exit("The soak needs wrk: apt-get install wrk")
    found: list[int] = []
    for size, threads, files in soak(given.minutes, given.seconds):
        found.append(size)
        begun = time.strftime("%H:%M:%S")
        sys.stdout.write(
            f"{begun} minute {len(found):3} {size / MIB:8.1f} MiB "
            f"{threads:4} threads {files:4} files\n"
        )
        sys.stdout.flush()
    if len(found) > WARM:
        grown = (found[-1] - found[WARM - 1]) / MIB
        sys.stdout.write(f"minute {len(found)} - minute {WARM}: {grown:+.1f} MiB (goal 2)\n")


TOLD: dict[str, Callable[[argparse.Namespace], None]] = {
    "start": tell_start,
    "memory": tell_memory,
    "soak": tell_soak,
}


def main(arguments: list[str] | None = None) -> None:
    """Measure what is named, or start and memory."""
    parser = argparse.ArgumentParser(description="Measure start, stop and memory of the server.")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(TOLD)}; the first two by default")
    parser.add_argument("--minutes", type=int, default=10, help="of the soak")
    parser.add_argument("--seconds", type=int, default=60, help="that each of them lasts")
    given = parser.parse_args(arguments)
    for name in given.names:
        if name not in TOLD:
            parser.error(f"There is no {name!r}. There are: {', '.join(TOLD)}.")
    for name in given.names or ("start", "memory"):
        TOLD[name](given)


if __name__ == "__main__":
    main()
