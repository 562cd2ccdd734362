"""Worker threads: reused, bounded in number, and no obstacle to anything."""

from __future__ import annotations

import asyncio
import gc
import threading
from contextvars import ContextVar

import pytest

from gqlnb.server import scheduling

NAME: ContextVar[str] = ContextVar("NAME")


def test_what_a_function_returns_or_raises_arrives():
    """Values and exceptions cross over, those that would end a loop too."""
    assert asyncio.run(scheduling.run_in_thread(lambda: 7)) == 7
    for error in (ValueError("no"), SystemExit(3), StopIteration()):

        def fail(error=error):
            raise error

        expected = RuntimeError if isinstance(error, StopIteration) else type(error)
        with pytest.raises(expected):
            asyncio.run(scheduling.run_in_thread(fail))


def test_a_function_sees_the_context_of_its_caller():
    """Context variables are copied, not shared."""

    async def ask():
        NAME.set("ask")
        return await scheduling.run_in_thread(NAME.get)

    assert asyncio.run(ask()) == "ask"


def test_threads_are_reused():
    """Calls one after the other run in one thread."""
    pool = scheduling.WorkerPool()
    assert len({asyncio.run(pool.run(threading.get_ident)) for _ in range(50)}) == 1


def test_threads_are_bounded_and_nobody_waits_without_need():
    """As many functions run at once as there are threads, and the rest follows."""
    pool = scheduling.WorkerPool()
    meet = threading.Barrier(scheduling.MAX_BUSY_THREADS)

    async def ask():
        first = [pool.run(lambda: meet.wait(20)) for _ in range(scheduling.MAX_BUSY_THREADS)]
        return await asyncio.gather(*first, *(pool.run(lambda: -1) for _ in range(100)))

    done = asyncio.run(ask())
    assert sorted(done[: scheduling.MAX_BUSY_THREADS]) == list(range(scheduling.MAX_BUSY_THREADS))
    assert done[scheduling.MAX_BUSY_THREADS :] == [-1] * 100
    assert pool._count == scheduling.MAX_BUSY_THREADS


def test_nobody_misses_an_answer_that_comes_too_late():
    """A loop that has closed, or a caller that was cancelled, disturbs no thread."""
    begun, gate, done = threading.Event(), threading.Event(), threading.Event()

    def late():
        begun.set()
        gate.wait(20)
        done.set()

    async def leave():
        task = asyncio.ensure_future(scheduling.run_in_thread(late))
        await asyncio.to_thread(begun.wait, 20)
        task.cancel()

    asyncio.run(leave())
    gate.set()
    assert done.wait(20)
    assert asyncio.run(scheduling.run_in_thread(lambda: "still here")) == "still here"


class Hanging:
    """Calls that hang until the test ends, and a pool whose clock the test moves on."""

    def __init__(self, monkeypatch):
        self.pool = scheduling.WorkerPool()
        self.gate = threading.Event()
        self.now = 0.0
        monkeypatch.setattr(scheduling, "monotonic", lambda: self.now)

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


def test_calls_that_hang_do_not_count_as_work(hanging):
    """Where every thread hangs, the next call finds a new one."""

    async def ask():
        tasks = await hanging.hang(scheduling.MAX_BUSY_THREADS)
        assert hanging.pool.hanging_count == 0
        hanging.now += scheduling.STALE_SECONDS + 1
        assert hanging.pool.hanging_count == scheduling.MAX_BUSY_THREADS
        answer = await hanging.pool.run(lambda: "served")
        hanging.gate.set()
        await asyncio.gather(*tasks)
        return answer

    assert asyncio.run(ask()) == "served"
    assert hanging.pool.hanging_count == 0


def test_a_call_that_waits_already_is_served_when_the_others_turn_out_to_hang(hanging, monkeypatch):
    """It needs no later call to be noticed."""
    monkeypatch.setattr(scheduling, "STALE_SECONDS", 0.01)

    async def ask():
        tasks = await hanging.hang(scheduling.MAX_BUSY_THREADS)
        waiting = asyncio.ensure_future(hanging.pool.run(lambda: "served"))
        await asyncio.sleep(0)
        assert hanging.pool._unserved == 1
        hanging.now += 1
        answer = await asyncio.wait_for(waiting, 20)
        hanging.gate.set()
        await asyncio.gather(*tasks)
        return answer

    assert asyncio.run(ask()) == "served"


def test_threads_are_bounded_even_if_all_hang(hanging, monkeypatch):
    """There is a last thread; who comes after it waits, and is served when one comes back."""
    monkeypatch.setattr(scheduling, "MAX_THREADS", scheduling.MAX_BUSY_THREADS + 5)

    async def ask():
        tasks = await hanging.hang(scheduling.MAX_BUSY_THREADS)
        hanging.now += scheduling.STALE_SECONDS + 1
        tasks += await hanging.hang(5)
        hanging.now += scheduling.STALE_SECONDS + 1
        waiting = asyncio.ensure_future(hanging.pool.run(lambda: "served"))
        await asyncio.sleep(0)
        assert (hanging.pool._count, hanging.pool._unserved) == (scheduling.MAX_BUSY_THREADS + 5, 1)
        hanging.gate.set()
        await asyncio.gather(*tasks)
        return await waiting

    assert asyncio.run(ask()) == "served"


def test_threads_that_are_too_many_end(hanging):
    """When the hanging calls come back, as many threads stay as work at once."""

    async def ask():
        tasks = await hanging.hang(scheduling.MAX_BUSY_THREADS)
        hanging.now += scheduling.STALE_SECONDS + 1
        tasks += await hanging.hang(7)
        hanging.gate.set()
        await asyncio.gather(*tasks)

    asyncio.run(ask())
    assert (hanging.pool._count, hanging.pool._idle) == (
        scheduling.MAX_BUSY_THREADS,
        scheduling.MAX_BUSY_THREADS,
    )


def test_what_nobody_waits_for_is_not_begun(hanging):
    """A call that was cancelled in the queue never runs, and costs no thread."""
    ran = []

    async def ask():
        tasks = await hanging.hang(scheduling.MAX_BUSY_THREADS)
        given_up = asyncio.ensure_future(hanging.pool.run(lambda: ran.append(1)))
        await asyncio.sleep(0)
        given_up.cancel()
        hanging.gate.set()
        await asyncio.gather(*tasks)
        return await hanging.pool.run(lambda: "served")

    assert asyncio.run(ask()) == "served"
    assert (ran, hanging.pool._unserved) == ([], 0)


def test_a_coroutine_that_comes_too_late_is_closed(hanging, recwarn):
    """Python does not complain in a cell that nobody awaited it."""
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
