"""The retry loop of one request, with a simulated clock."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from gqlnb.client import request_sender as module
from gqlnb.client.request_sender import RetryLoop
from gqlnb.errors import TransportError
from gqlnb.result.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RESULT = Result({"a": 1})


class Clock:
    """A clock that moves when somebody waits."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        """Wait."""
        self.slept.append(seconds)
        self.now += seconds

    async def asleep(self, seconds: float) -> None:
        """Wait as a coroutine does."""
        self.sleep(seconds)


@pytest.fixture
def clock(monkeypatch):
    """Return the clock of the module under test."""
    made = Clock()
    monkeypatch.setattr(module, "monotonic", lambda: made.now)
    monkeypatch.setattr(module.time, "sleep", made.sleep)
    monkeypatch.setattr(module.asyncio, "sleep", made.asleep)
    return made


@pytest.fixture(params=["run", "arun"])
def run(request):
    """Return a function that makes attempts, in both ways."""

    def start(attempts: RetryLoop, attempt: Callable[[float], Any], **options: Any) -> Result:
        if request.param == "run":
            return attempts.run(attempt, **options)

        async def aattempt(until: float) -> Any:
            return attempt(until)

        # The patched sleep would also be that of the loop, which does not use it.
        return asyncio.run(attempts.arun(aattempt, **options))

    return start


def make_attempts(kind: str = "query") -> RetryLoop:
    """Return attempts of 30 s in all, with 60 s of waits."""
    return RetryLoop(kind, "here", 30.0, 60.0, fraction=lambda: 0.5)


def busy() -> TransportError:
    """Return an error that may pass."""
    return TransportError("here: HTTP 503: no", status=503)


def test_attempts_continue_until_there_is_a_result(clock, run):
    """Waits extend the time limit of the attempts."""
    outcomes = [busy(), busy(), RESULT]
    moments: list[float] = []

    def attempt(until: float) -> Any:
        moments.append(until - clock.now)
        clock.now += 2.0
        return outcomes.pop(0)

    assert run(make_attempts(), attempt) is RESULT
    assert moments == pytest.approx([30.0, 28.0, 26.0])
    assert len(clock.slept) == 2
    assert min(clock.slept) > 0


def test_waiting_for_a_turn_does_not_count_as_attempt_time(clock):
    """Each attempt is made within a turn, which ends before the wait."""
    outcomes = [busy(), RESULT]
    events: list[Any] = []

    @contextmanager
    def turn() -> Iterator[None]:
        clock.now += 7.0
        events.append("begin")
        yield
        events.append("end")

    def attempt(until: float) -> Any:
        events.append(round(until - clock.now, 6))
        return outcomes.pop(0)

    assert make_attempts().run(attempt, turn) is RESULT
    assert events == ["begin", 30.0, "end"] * 2
