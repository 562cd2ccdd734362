"""The process knows its servers and has one background loop."""

import _thread
import asyncio
import sys
import threading
from contextvars import ContextVar

import pytest

from gqlnb import background
from gqlnb.background import ServerRegistry, WorkerThread
from gqlnb.optional_imports import import_optional
from tests.client.subscriptions.tickers import functions


class Open:
    """A server that notes being closed."""

    def __init__(self, url, registry):
        self.url, self.registry = url, registry
        registry.add(self)

    def close(self):
        """Close it."""
        self.registry.remove(self)


def test_the_newest_server_is_the_one_opened_last():
    """Closing it makes the one before the newest."""
    registry = ServerRegistry()
    first, second = Open("a", registry), Open("b", registry)
    assert registry.get_newest() is second
    second.close()
    assert registry.get_newest() is first


def test_closing_the_registry_closes_every_server():
    """Nothing stays open."""
    registry = ServerRegistry()
    Open("a", registry), Open("b", registry)
    registry.close()
    assert registry.list_open() == ()


def test_a_coroutine_runs_in_the_background_and_its_value_comes_back():
    """The caller's thread has no loop running."""

    async def where():
        return threading.current_thread().name

    assert background.run(where()) == "gqlnb-loop"


def test_it_works_inside_a_running_loop():
    """A notebook's own loop runs in the main thread; waiting in it must not dead-lock."""

    async def value():
        await asyncio.sleep(0)
        return 5

    async def cell():
        return background.run(value())

    assert asyncio.run(cell()) == 5


def test_an_exception_comes_back_as_it_was():
    """The class and text survive the thread."""

    async def fail():
        msg = "lost"
        raise KeyError(msg)

    with pytest.raises(KeyError, match="lost"):
        background.run(fail())


def test_waiting_for_itself_is_refused():
    """A resolver on the loop that runs the loop would never end."""

    async def inner():
        return 1

    async def outer():
        return background.run(inner())

    with pytest.raises(RuntimeError, match="aexecute"):
        background.run(outer())


def test_a_module_that_is_installed_is_returned():
    """`import_optional` is an import with a better error."""
    assert import_optional("json", "x", "read") is __import__("json")


def test_a_function_may_wait_aside():
    """Others run meanwhile, in threads that keep no process alive, with the caller's context."""
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


def test_what_a_function_raises_aside_is_raised_here():
    """`SystemExit` included: it ends no thread unheard."""

    def leave():
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        asyncio.run(background.run_in_thread(leave))


def test_a_worker_thread_runs_its_functions_in_one_thread(monkeypatch):
    """In order, whatever one of them raises; its thread ends with it, and begins with the first."""
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


def test_functions_aside_are_counted(monkeypatch):
    """Those that wait for ever must not fill the process; one that comes back makes room."""
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


def test_what_is_started_is_waited_for_or_cancelled():
    """Whoever starts goes on meanwhile."""
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


def test_an_interrupt_that_came_before_the_wait_ends_it(monkeypatch):
    """Python notes it then, and does not wake up for it by itself."""
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


def test_a_coroutines_own_timeout_is_its_own(monkeypatch):
    """However long others are waited for."""
    monkeypatch.setattr(background, "POLL_SECONDS", 0.01)

    async def late():
        await asyncio.sleep(0.05)
        message = "its own"
        raise TimeoutError(message)

    with pytest.raises(TimeoutError, match="its own"):
        background.run(late())
