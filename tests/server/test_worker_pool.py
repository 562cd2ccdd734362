"""Worker threads: reused, bounded in number, and no obstacle to anything."""

from __future__ import annotations

import asyncio
import gc
import threading
from contextvars import ContextVar

import pytest

from gqlnb.server import worker_pool

NAME: ContextVar[str] = ContextVar("NAME")


def test_a_function_sees_the_context_of_its_caller():
    """Context variables are copied, not shared."""

    async def ask():
        NAME.set("ask")
        return await worker_pool.WorkerPool().run(NAME.get)

    assert asyncio.run(ask()) == "ask"


def test_the_number_of_threads_is_limited():
    """Further calls wait for a free thread."""
    pool = worker_pool.WorkerPool()
    meet = threading.Barrier(worker_pool.MAX_BUSY_THREADS)

    async def ask():
        first = [pool.run(lambda: meet.wait(20)) for _ in range(worker_pool.MAX_BUSY_THREADS)]
        return await asyncio.gather(*first, *(pool.run(lambda: -1) for _ in range(100)))

    done = asyncio.run(ask())
    assert sorted(done[: worker_pool.MAX_BUSY_THREADS]) == list(range(worker_pool.MAX_BUSY_THREADS))
    assert done[worker_pool.MAX_BUSY_THREADS :] == [-1] * 100
    assert pool._count == worker_pool.MAX_BUSY_THREADS


class Hanging:
    """Calls that hang until the test ends, and a pool whose clock the test moves on."""

    def __init__(self, monkeypatch):
        self.pool = worker_pool.WorkerPool()
        self.gate = threading.Event()
        self.now = 0.0
        monkeypatch.setattr(worker_pool, "monotonic", lambda: self.now)

    async def hang(self, count):
        """Begin so many calls, and return when each is in its thread."""
        begun = threading.Semaphore(0)

        def wait():
            begun.release()
            self.gate.wait(20)

        tasks = [asyncio.ensure_future(self.pool.run(wait)) for _ in range(count)]
        for _ in range(count):
            assert await asyncio.to_thread(begun.acquire, timeout=20)
        return tasks


@pytest.fixture
def hanging(monkeypatch):
    """Return a pool of its own and the means to make it hang."""
    made = Hanging(monkeypatch)
    yield made
    made.gate.set()


def test_a_queued_call_runs_once_the_others_hang(hanging, monkeypatch):
    """No later call is needed to start it."""
    monkeypatch.setattr(worker_pool, "STALE_SECONDS", 0.01)

    async def ask():
        tasks = await hanging.hang(worker_pool.MAX_BUSY_THREADS)
        waiting = asyncio.ensure_future(hanging.pool.run(lambda: "served"))
        await asyncio.sleep(0)
        assert hanging.pool._unserved == 1
        hanging.now += 1
        answer = await asyncio.wait_for(waiting, 20)
        hanging.gate.set()
        await asyncio.gather(*tasks)
        return answer

    assert asyncio.run(ask()) == "served"


def test_the_number_of_hanging_threads_is_limited(hanging, monkeypatch):
    """At the limit, calls fail immediately until a thread returns."""
    monkeypatch.setattr(worker_pool, "MAX_THREADS", worker_pool.MAX_BUSY_THREADS + 5)

    async def ask():
        tasks = await hanging.hang(worker_pool.MAX_BUSY_THREADS)
        hanging.now += worker_pool.STALE_SECONDS + 1
        tasks += await hanging.hang(5)
        hanging.now += worker_pool.STALE_SECONDS + 1
        with pytest.raises(worker_pool.NoThreadError, match="all 45 worker threads hang"):
            await hanging.pool.run(lambda: "served")
        assert hanging.pool._count == worker_pool.MAX_BUSY_THREADS + 5
        hanging.gate.set()
        await asyncio.gather(*tasks)
        return await hanging.pool.run(lambda: "served")

    assert asyncio.run(ask()) == "served"


def test_surplus_threads_end(hanging):
    """After the hanging calls return, the normal number remains."""

    async def ask():
        tasks = await hanging.hang(worker_pool.MAX_BUSY_THREADS)
        hanging.now += worker_pool.STALE_SECONDS + 1
        tasks += await hanging.hang(7)
        hanging.gate.set()
        await asyncio.gather(*tasks)

    asyncio.run(ask())
    assert (hanging.pool._count, hanging.pool._idle) == (
        worker_pool.MAX_BUSY_THREADS,
        worker_pool.MAX_BUSY_THREADS,
    )


def test_a_late_coroutine_is_closed(hanging, recwarn):
    """Python prints no "never awaited" warning."""
    begun = threading.Event()

    async def coroutine():
        """Never run."""

    def late():
        begun.set()
        hanging.gate.wait(20)
        return coroutine()

    async def ask():
        task = asyncio.ensure_future(hanging.pool.run(late))
        await asyncio.to_thread(begun.wait, 20)
        task.cancel()
        hanging.gate.set()
        await hanging.pool.run(lambda: None)
        await asyncio.sleep(0)

    asyncio.run(ask())
    gc.collect()
    assert not recwarn.list


def test_a_call_that_waits_too_long_is_rejected(hanging):
    """It never runs; waiting does not count as hanging."""
    ran = []

    async def ask():
        tasks = await hanging.hang(worker_pool.MAX_BUSY_THREADS)
        with pytest.raises(worker_pool.NoThreadError, match="no worker thread was free within 0 s"):
            await hanging.pool.run(lambda: ran.append(1), 0.05)
        hanging.gate.set()
        await asyncio.gather(*tasks)

    asyncio.run(ask())
    assert ran == []


def test_idle_threads_end(monkeypatch):
    """A replaced server leaves no thread behind."""
    monkeypatch.setattr(worker_pool, "IDLE_SECONDS", 0.01)
    pool = worker_pool.WorkerPool()
    thread = asyncio.run(pool.run(threading.current_thread))
    thread.join(20)
    assert not thread.is_alive()
    assert (pool._count, pool._idle) == (0, 0)
    assert asyncio.run(pool.run(lambda: "served")) == "served"
