"""An operation that blocks the event loop does so once."""

from __future__ import annotations

import logging
import threading
import time

import pytest
import requests

from gqlnb import Limits, Schema, serve
from gqlnb.server import scheduling

SDL = "type Query { hello: String cached(key: Int): String other: String waits: String }"
RUNS = 12  # enough for the event loop


class Refill:
    """A cache that is refilled now and then, for as long as `release` is not set."""

    def __init__(self) -> None:
        self.is_stale = False
        self.release = threading.Event()
        self.threads: list[str] = []

    def read(self, _root: object, _args: object, _context: object) -> str:
        """Return the value; wait first if it is stale."""
        self.threads.append(threading.current_thread().name)
        if self.is_stale:
            self.release.wait(20)
        return "value"


@pytest.fixture
def refill():
    """Yield a cache, and release it at the end."""
    refill = Refill()
    yield refill
    refill.release.set()


@pytest.fixture
def server(refill):
    """Yield a server of the cache."""
    schema = Schema(
        SDL,
        {
            "Query": {
                "hello": lambda *_: "Hello world!",
                "other": lambda *_: "other",
                "cached": refill.read,
                "waits": lambda *_: time.sleep(0.003),
            }
        },
    )
    with serve(schema, port=0, limits=Limits(seconds=2)) as server:
        yield server


def ask(server, text: str, **variables: object) -> dict:
    """Send an operation."""
    body = {"query": text, "variables": variables}
    return requests.post(server.url, json=body, timeout=20).json()


def get_suspects(server):
    """Return the runs that the suspects of a server need."""
    return server._listener.app._served.execute.scheduler._suspects


def move_to_loop(server, refill: Refill, text: str, **variables: object) -> None:
    """Repeat an operation until it runs on the event loop."""
    for _ in range(100):
        ask(server, text, **variables)
        if "resolver" not in refill.threads[-1]:
            return
    pytest.fail("It stays in threads.")


def test_an_operation_that_stalls_the_loop_never_runs_there_again(server, refill, caplog):
    """Others wait once; then it hangs in a thread, with other variables and texts too."""
    query = "query Cached($key: Int) { cached(key: $key) }"
    move_to_loop(server, refill, query, key=1)
    refill.is_stale = True
    with caplog.at_level(logging.WARNING, "gqlnb"):
        victim = threading.Thread(target=ask, args=(server, query), kwargs={"key": 1})
        victim.start()
        while not caplog.records:
            time.sleep(0.01)
    (record,) = caplog.records
    assert "Operation Cached blocked the event loop" in record.message
    assert "tests.server.test_stall_watchdog.Refill.read, line" in record.message
    refill.release.set()
    victim.join()
    assert ask(server, "{ hello }") == {"data": {"hello": "Hello world!"}}
    refill.is_stale = False
    refill.threads.clear()
    for key in range(3):
        for _ in range(RUNS):
            ask(server, query, key=key)
            ask(server, "{ cached }")
            ask(server, "{ x: cached(key: 3) hello }")
    assert all(name.startswith("gqlnb-resolver") for name in refill.threads)
    refill.release.clear()
    refill.is_stale = True
    slow = threading.Thread(target=ask, args=(server, "{ cached }"))
    slow.start()
    while len(refill.threads) == 9 * RUNS:
        time.sleep(0.01)
    began = time.monotonic()
    assert ask(server, "{ hello }") == {"data": {"hello": "Hello world!"}}
    assert time.monotonic() - began < 1
    refill.release.set()
    slow.join()


def test_a_stall_is_listed_as_hanging(server, refill):
    """With its resolver, like a call in a thread."""
    move_to_loop(server, refill, "{ cached }")
    refill.is_stale = True
    victim = threading.Thread(target=ask, args=(server, "{ cached }"))
    victim.start()
    deadline = time.monotonic() + 10
    while server.hanging.empty and time.monotonic() < deadline:
        time.sleep(0.05)
    (resolver,) = server.hanging["resolver"]
    assert "Refill.read" in resolver
    refill.release.set()
    victim.join()
    assert server.hanging.empty


def test_other_fields_still_run_on_the_loop_after_a_stall(server, refill):
    """Only the field of the resolver that blocked is suspected."""
    move_to_loop(server, refill, "{ hello cached }")
    refill.is_stale = True
    victim = threading.Thread(target=ask, args=(server, "{ hello cached }"))
    victim.start()
    while not get_suspects(server):
        time.sleep(0.01)
    refill.release.set()
    victim.join()
    assert [key for key in get_suspects(server) if isinstance(key, str)] == ["cached"]


@pytest.mark.skipif("not hasattr(__import__('resource'), 'RUSAGE_THREAD')")
def test_an_operation_that_waits_stays_in_threads(server):
    """A sleep of 3 ms is fast, but it would delay everybody."""
    ask(server, "{ waits }")
    assert get_suspects(server)["waits"] == scheduling.MAX_NEEDED_RUNS
    ask(server, "{ x: waits }")
    assert get_suspects(server)["waits"] == float("inf")


def test_a_replaced_resolver_is_no_longer_suspected(server):
    """It has to prove fast like any other."""
    schema = server._listener.app.schema
    ask(server, "{ waits }")
    assert get_suspects(server)
    schema.resolver("Query.waits")(lambda *_: "fast")
    ask(server, "{ waits }")
    assert not get_suspects(server)
