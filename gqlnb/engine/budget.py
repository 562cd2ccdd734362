"""A budget for one execution: so many fields, so many seconds.

What executes counts fields off a credit and looks at the clock when the credit is used up, so that
counting costs a subtraction. The credit grows while it is used up quickly and shrinks as soon as it
is not: what is slow is watched closely, and what is fast hardly notices.
"""

from __future__ import annotations

from itertools import chain
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asyncio import Task
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from gqlnb.model.limits import Limits

__all__ = ["Budget", "ExceededError", "late"]

FIRST, MOST = 256, 2048  # fields of credit; a field takes some tenths of a microsecond
QUICK = 0.001  # seconds in which a credit should be used up
AT_ONCE = 32_768  # fields of a list that is taken as a whole; some milliseconds
ENDLESS = 1 << 62  # fields; nobody counts so far


class ExceededError(BaseException):
    """A budget is used up.

    No ``Exception``: what handles the errors of single fields, in this engine, in graphql-core or
    in a resolver, must not take it for one of them.
    """


class Budget:
    """What one execution may use, and what it has used.

    One execution counts, in one thread at a time; :meth:`stop` may be called from any.

    Parameters
    ----------
    fields
        Fields it may execute; None for any number.
    seconds
        Seconds it may take from now on; None for any time.
    clock
        Returns seconds.

    Attributes
    ----------
    left
        The credit: fields until the clock is looked at.
    deadline
        When time is up, by the clock.
    reason : str or None
        Why the execution was stopped, as a sentence for whoever asked; None if it was not.
    task
        The task that awaits the execution, once there is one; it is cancelled with all below it.
    """

    reason: str | None = None
    task: Task[Any] | None = None
    _step = FIRST

    def __init__(
        self,
        fields: int | None = None,
        seconds: float | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.fields = fields
        self.seconds = seconds
        self.clock = clock
        self._looked = clock()
        self.deadline = inf if seconds is None else self._looked + seconds
        total = ENDLESS if fields is None else fields
        self.left = FIRST if total > FIRST else total
        self._rest = total - self.left  # what is not yet given as credit

    @classmethod
    def of(cls, limits: Limits) -> Budget:
        """Return the budget of an execution that begins now."""
        return cls(limits.fields, limits.seconds)

    @property
    def used(self) -> int:
        """Fields executed so far, or about to be."""
        return (ENDLESS if self.fields is None else self.fields) - self._rest - self.left

    def stop(self, reason: str | None = None) -> None:
        """Let the execution stop at its next look; from any thread, and without waiting."""
        self.reason = self.reason or reason or self._late()
        self.deadline = -inf

    def spend(self, fields: int) -> None:
        """Count fields that are about to be executed.

        Raises
        ------
        ExceededError
            If there are none left, or no time.
        """
        self.left -= fields
        self.check()

    def check(self) -> None:
        """Look at the clock.

        Raises
        ------
        ExceededError
            If time is up.
        """
        if self.left < 0 or self.clock() > self.deadline:
            self.look()

    def look(self) -> None:
        """Look at the clock, and take new credit.

        Raises
        ------
        ExceededError
            If time is up, or more fields were counted than there are.
        """
        now = self.clock()
        if now > self.deadline:
            self._exceed(self._late())
        left = self._rest + self.left
        if left < 0:
            self._exceed(too_many(self.fields or 0))
        taken = now - self._looked
        self._looked = now
        if taken < QUICK:
            self._step = min(2 * self._step, MOST)
        else:
            self._step = max(1, int(self._step * QUICK / taken))
        self.left = min(self._step, left)
        self._rest = left - self.left

    def rows(self, rows: Sequence[Any], each: int, dicts: bool) -> Iterable[Any]:
        """Return rows whose number was too much for the credit, to be counted as it goes on.

        Parameters
        ----------
        rows
            The rows, which have been counted.
        each
            The fields of each. Those of rows that turn out to be null are given back, so the last
            row is executed, though it may be too much, and judged when it is done.
        dicts
            Whether the rows are looked up in dicts, which is never slow.

        Raises
        ------
        ExceededError
            If time is up.
        """
        counted = len(rows) * each
        self.left += counted
        self.look()
        if counted > self.left:
            if not dicts or counted > min(AT_ONCE, self._rest + self.left):
                return chain.from_iterable(self._parts(rows, each))
            self._rest += self.left - counted
            self.left = counted
        self.left -= counted
        return rows

    def _parts(self, rows: Sequence[Any], each: int) -> Iterator[Sequence[Any]]:
        done = 0
        while done < len(rows):
            if self.left < each:
                self.look()
            size = min(max(1, self.left // each), len(rows) - done)
            self.left -= size * each
            yield rows[done : done + size]
            done += size
            if self.left < 0:
                self.look()

    def watched(self, items: Iterator[Any]) -> Iterator[Any]:
        """Yield items of an iterator, which may have no end, while there is time."""
        for item in items:
            self.check()
            yield item

    def _late(self) -> str:
        return "Execution was stopped." if self.seconds is None else late(self.seconds)

    def _exceed(self, reason: str) -> None:
        self.stop(reason)
        if self.task is not None:
            self.task.get_loop().call_soon(self.task.cancel)
        raise ExceededError(self.reason)


def too_many(fields: int) -> str:
    """Return the sentence for whoever asked for too many fields."""
    many = f"{fields:,} field{'' if fields == 1 else 's'}"
    return (
        f"Execution stopped after {many}, which is the limit. Ask for less at once, or have "
        f"whoever serves this raise it: serve(schema, limits=Limits(fields={2 * fields}))."
    )


def late(seconds: float) -> str:
    """Return the sentence for whoever asked for what takes too long."""
    return (
        f"Execution stopped after {seconds:g} s, which is the limit. Ask for less at once, or have "
        f"whoever serves this raise it: serve(schema, limits=Limits(seconds={2 * seconds:g}))."
    )
