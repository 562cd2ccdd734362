"""What the tests of subscriptions subscribe to, and look at."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest

from gqlnb import GqlnbError, Schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE = 20.0  # seconds until a test gives up; nothing waits that long unless it is broken
CANARY = "cAnary/Zx9+81=qq_77"
SUBSCRIPTION = "subscription { ticks }"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
EVENTS = {"Content_Type": "text/event-stream"}
EACH = pytest.mark.parametrize("way", ["ws", "sse", "multipart"])
SDL = """
type Query { hello: String }
type Subscription { ticks: Int flood(size: Int = 262144): Chunk }
type Chunk { number: Int text: String }
"""


class Ticker:
    """A schema whose ticks the test makes, and which counts what it has sent."""

    def __init__(self) -> None:
        self.open, self.begun, self.made = 0, 0, 0
        self.changed = threading.Condition()
        own = {"ticks": self.ticks, "flood": self.flood}
        hello = {"hello": lambda *_: "Hello world!"}
        self.schema = Schema(SDL, {"Query": hello, "Subscription": own})

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count one subscription while it is open."""
        with self.changed:
            self.open += 1
            self.begun += 1
            self.changed.notify_all()
        try:
            yield
        finally:
            with self.changed:
                self.open -= 1
                self.changed.notify_all()

    def until(self, true: Callable[[], bool]) -> bool:
        """Wait until something is true of it."""
        with self.changed:
            return self.changed.wait_for(true, PATIENCE)

    async def ticks(self, root: Any, args: Any, context: Any) -> Any:
        """Yield the number of this subscription twice, and wait for ever."""
        with self.one():
            number = self.begun
            yield number
            yield number
            await asyncio.Event().wait()

    async def flood(self, root: Any, args: Any, context: Any) -> Any:
        """Yield as fast as it is taken."""
        with self.one():
            text = "x" * args["size"]
            while True:
                self.made += 1
                yield {"number": self.made, "text": text}


def ours() -> set[threading.Thread]:
    """Return the threads that a subscription may have begun."""
    return {t for t in threading.enumerate() if t.name.startswith(("gqlnb-worker", "asyncio"))}


def functions(frame: Any) -> set[str]:
    """Return what runs in a thread, in files of the package."""
    found = set()
    while frame is not None:
        if frame.f_code.co_filename.endswith("gqlnb/background.py"):
            found.add(frame.f_code.co_name)
        frame = frame.f_back
    return found


def until_it_breaks(stream: Any) -> None:
    """Take results in a thread of its own."""
    with suppress(GqlnbError):
        for _ in stream:
            pass
