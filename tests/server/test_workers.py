"""Worker threads: reused, bounded in number, and no obstacle to anything."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar

import pytest

from gqlnb.server import workers

NAME: ContextVar[str] = ContextVar("NAME")


def test_what_a_function_returns_or_raises_arrives():
    """Values and exceptions cross over, those that would end a loop too."""
    assert asyncio.run(workers.run(lambda: 7)) == 7
    for error in (ValueError("no"), SystemExit(3), StopIteration()):

        def fail(error=error):
            raise error

        expected = RuntimeError if isinstance(error, StopIteration) else type(error)
        with pytest.raises(expected):
            asyncio.run(workers.run(fail))


def test_a_function_sees_the_context_of_its_caller():
    """Context variables are copied, not shared."""

    async def ask():
        NAME.set("ask")
        return await workers.run(NAME.get)

    assert asyncio.run(ask()) == "ask"


def test_threads_are_reused():
    """Calls one after the other run in one thread."""
    pool = workers.Workers()
    assert len({asyncio.run(pool.run(threading.get_ident)) for _ in range(50)}) == 1


def test_threads_are_bounded_and_nobody_waits_without_need():
    """As many functions run at once as there are threads, and the rest follows."""
    pool = workers.Workers()
    meet = threading.Barrier(workers.MOST)

    async def ask():
        first = [pool.run(lambda: meet.wait(20)) for _ in range(workers.MOST)]
        return await asyncio.gather(*first, *(pool.run(lambda: -1) for _ in range(100)))

    done = asyncio.run(ask())
    assert sorted(done[: workers.MOST]) == list(range(workers.MOST))
    assert done[workers.MOST :] == [-1] * 100
    assert pool._count == workers.MOST


def test_nobody_misses_an_answer_that_comes_too_late():
    """A loop that has closed, or a caller that was cancelled, disturbs no thread."""
    gate, done = threading.Event(), threading.Event()

    def late():
        gate.wait(20)
        done.set()

    async def leave():
        task = asyncio.ensure_future(workers.run(late))
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(leave())
    gate.set()
    assert done.wait(20)
    assert asyncio.run(workers.run(lambda: "still here")) == "still here"
