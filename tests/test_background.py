"""The process knows its servers and has one background loop."""

import _thread
import asyncio
import sys
import threading
from contextvars import ContextVar

import pytest

from gqlnb import background
from gqlnb.background import WorkerThread
from tests.client.subscriptions.tickers import functions


def test_waiting_on_the_background_loop_is_rejected():
    """A resolver on it would deadlock."""

    async def inner():
        return 1

    async def outer():
        return background.run(inner())

    with pytest.raises(RuntimeError, match="aexecute"):
        background.run(outer())


def test_a_function_can_run_in_a_daemon_thread():
    """In the caller's context, without delaying the exit of the process."""
    word = ContextVar("word")
    go = threading.Event()

    def waits():
        assert go.wait(20)
        return word.get(), threading.current_thread().daemon

    async def both():
        word.set("said")
        waiting = asyncio.ensure_future(background.run_in_thread(waits))
        await background.run_in_thread(go.set)
        return await waiting

    assert asyncio.run(both()) == ("said", True)


def test_an_exception_of_the_thread_is_raised_in_the_caller():
    """Including `SystemExit`."""

    def leave():
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        asyncio.run(background.run_in_thread(leave))


def test_a_worker_thread_runs_its_functions_in_order(monkeypatch):
    """In one thread, which starts with the first and survives exceptions."""
    slots = threading.Semaphore(1)
    monkeypatch.setattr(background, "_thread_slots", slots)
    WorkerThread().close()  # a thread that was never used has not started

    async def there():
        worker = WorkerThread()
        found = [await worker.run(threading.current_thread) for _ in range(3)]
        with pytest.raises(ZeroDivisionError):
            await worker.run(lambda: 1 / 0)
        found.append(await worker.run(threading.current_thread))
        worker.close()
        return found

    threads = asyncio.run(there())
    assert len(set(threads)) == 1
    assert threads[0] is not threading.current_thread()
    threads[0].join(20)
    assert not threads[0].is_alive()
    assert slots._value == 1


def test_worker_threads_are_used_again(monkeypatch):
    """Each by one function at a time; they end with the block, a cancelled one's after it."""
    slots = threading.Semaphore(3)
    monkeypatch.setattr(background, "_thread_slots", slots)
    go = threading.Event()

    async def there():
        with background.WorkerThreads() as threads:
            first = await threads.run(threading.current_thread)
            with pytest.raises(ZeroDivisionError):
                await threads.run(lambda: 1 / 0)
            waiting = asyncio.ensure_future(threads.run(lambda: go.wait(20)))
            await asyncio.sleep(0)
            second = await threads.run(threading.current_thread)
            assert await threads.run(threading.current_thread) is second
            waiting.cancel()
        await asyncio.wait([waiting])
        return first, second

    first, second = asyncio.run(there())
    second.join(20)
    assert first is not second
    assert first.is_alive()
    go.set()
    first.join(20)
    assert slots._value == 3


def test_the_number_of_daemon_threads_is_limited(monkeypatch):
    """A thread that ends frees its slot."""
    monkeypatch.setattr(background, "MAX_WORKER_THREADS", 1)
    monkeypatch.setattr(background, "_thread_slots", threading.Semaphore(1))
    go = threading.Event()

    async def one_more():
        waiting = asyncio.ensure_future(background.run_in_thread(lambda: go.wait(20)))
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="1 functions are running"):
            await background.run_in_thread(int)
        go.set()
        assert await waiting
        return await background.run_in_thread(int)

    assert asyncio.run(one_more()) == 0


def test_a_started_coroutine_can_be_awaited_or_cancelled():
    """The caller continues meanwhile."""
    begun, ended = threading.Event(), threading.Event()

    async def forever():
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def soon():
        return 7

    future = background.start(forever())
    assert begun.wait(10)
    assert background.start(soon()).result(10) == 7
    future.cancel()
    assert ended.wait(10)


def test_an_interrupt_before_the_wait_ends_it(monkeypatch):
    """Python records it then, but does not wake the wait."""
    monkeypatch.setattr(background, "POLL_SECONDS", 0.01)
    waiting, cancelled = threading.Event(), threading.Event()

    async def slow():
        waiting.set()
        try:
            await asyncio.sleep(20)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def interrupt():
        assert waiting.wait(20)
        while "_wait_for_result" not in functions(sys._current_frames()[main]):
            cancelled.wait(0.001)
        _thread.interrupt_main()  # as a signal that wakes nobody

    main = threading.main_thread().ident

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        background.run(slow())
    thread.join(20)
    assert cancelled.wait(20)


def test_an_interrupt_at_the_start_cancels_the_coroutine(monkeypatch):
    """Under load it comes after the start, and before the caller has the future."""
    started, ended = threading.Event(), threading.Event()
    start = background.start

    async def wait():
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    def interrupt(coroutine):
        start(coroutine)
        assert started.wait(20)
        raise KeyboardInterrupt

    monkeypatch.setattr(background, "start", interrupt)
    with pytest.raises(KeyboardInterrupt):
        background.run(wait())
    assert ended.wait(20)


def test_a_timeout_error_of_a_coroutine_is_raised(monkeypatch):
    """It is not mistaken for a timeout of the wait."""
    monkeypatch.setattr(background, "POLL_SECONDS", 0.01)

    async def late():
        await asyncio.sleep(0.05)
        message = "its own"
        raise TimeoutError(message)

    with pytest.raises(TimeoutError, match="its own"):
        background.run(late())
