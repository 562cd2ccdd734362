"""The process knows its servers and has one background loop."""

import asyncio
import threading

import pytest

from gqlnb import runtime
from gqlnb.extras import need
from gqlnb.runtime import BackgroundLoop, Servers


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
    registry = Servers()
    first, second = Open("a", registry), Open("b", registry)
    assert registry.newest() is second
    second.close()
    assert registry.newest() is first


def test_closing_the_registry_closes_every_server():
    """Nothing stays open."""
    registry = Servers()
    Open("a", registry), Open("b", registry)
    registry.close()
    assert registry.all() == ()


def test_a_coroutine_runs_in_the_background_and_its_value_comes_back():
    """The caller's thread has no loop running."""

    async def where():
        return threading.current_thread().name

    assert runtime.run(where()) == "gqlnb-loop"


def test_it_works_inside_a_running_loop():
    """A notebook's own loop runs in the main thread; waiting in it must not dead-lock."""

    async def value():
        await asyncio.sleep(0)
        return 5

    async def cell():
        return runtime.run(value())

    assert asyncio.run(cell()) == 5


def test_an_exception_comes_back_as_it_was():
    """The class and text survive the thread."""

    async def fail():
        msg = "lost"
        raise KeyError(msg)

    with pytest.raises(KeyError, match="lost"):
        runtime.run(fail())


def test_waiting_for_itself_is_refused():
    """A resolver on the loop that runs the loop would never end."""
    loop = BackgroundLoop()

    async def inner():
        return 1

    async def outer():
        return loop.run(inner())

    with pytest.raises(RuntimeError, match="aexecute"):
        loop.run(outer())


def test_a_module_that_is_installed_is_returned():
    """`need` is an import with a better error."""
    assert need("json", "x", "read") is __import__("json")
