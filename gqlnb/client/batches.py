"""Batches: several documents executed concurrently, with their outcomes in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import islice
from typing import Any, TypeAlias, TypeVar

from gqlnb import background
from gqlnb.client.transports import MAX_CONNECTIONS
from gqlnb.errors import GqlnbError, OptionError, sanitize_text
from gqlnb.option_checks import check_whole_number
from gqlnb.result.result import Result

BatchItem: TypeAlias = str | tuple[str, Mapping[str, Any] | None]
BatchOutcome: TypeAlias = Result | GqlnbError
Item = TypeVar("Item")
ExecuteGroup: TypeAlias = Callable[[list[Item]], Coroutine[Any, Any, list[BatchOutcome]]]


class BatchError(GqlnbError):
    """Some of several documents failed.

    It stands here and not among the other errors, which are below results in the layers.

    Parameters
    ----------
    message
        The text of the error.
    outcomes
        A Result or an exception for each document, in their order.

    Attributes
    ----------
    outcomes : list
        A Result or an exception for each document, in their order.

    Examples
    --------
    >>> client = gqlnb.Client(gqlnb.reference_schema())
    >>> try:
    ...     client.execute_many(["{ hello }", "{ hallo }"])
    ... except gqlnb.BatchError as error:
    ...     print([type(it).__name__ for it in error.outcomes])
    ['Result', 'QueryError']
    """

    def __init__(self, message: str, outcomes: Sequence[Result | GqlnbError] = ()) -> None:
        super().__init__(message)
        self.outcomes = list(outcomes)


def check_items(documents: Iterable[BatchItem], concurrency: int) -> Iterator[BatchItem]:
    """Return an iterator over the documents; raise OptionError for invalid arguments."""
    if isinstance(documents, (str, bytes, Mapping)) or not isinstance(documents, Iterable):
        msg = (
            "execute_many() takes an iterable of texts or of pairs (text, variables), not a "
            f"{type(documents).__name__}."
        )
        raise OptionError(msg)
    check_concurrency(concurrency)
    return iter(documents)


def check_concurrency(concurrency: int) -> None:
    """Raise OptionError for a number of requests at once that a client does not send."""
    check_whole_number("concurrency", concurrency, least=1, most=MAX_CONNECTIONS)


def read_item(item: BatchItem) -> tuple[str, Mapping[str, Any] | None]:
    """Return the text and the variables of an item; raise OptionError if it is neither."""
    match item:
        case str(text):
            return text, None
        case (str(text), None | Mapping() as variables):
            return text, variables
        case _:
            msg = (
                "Each item of execute_many() is a text or a pair (text, variables), not a "
                f"{type(item).__name__}."
            )
            raise OptionError(msg)


def run_batch(
    items: Iterator[Item], execute: ExecuteGroup[Item], concurrency: int, size: int = 1
) -> list[BatchOutcome]:
    """Return the outcomes of items in their order.

    Parameters
    ----------
    items
        The items.
    execute
        Returns the outcomes of a group of items.
    concurrency
        The number of groups that are executed at once.
    size
        The number of items in a group.
    """
    # Items are drawn from the iterator in the calling thread, and executed on the background loop.
    # An interrupt cancels those that run, and carries the outcomes so far.
    outcomes: list[BatchOutcome | None] = []
    running: dict[Future[list[BatchOutcome]], int] = {}
    try:
        while group := list(islice(items, size)):
            running[background.start(execute(group))] = len(outcomes)
            outcomes += [None] * len(group)
            while len(running) >= concurrency:
                collect_finished(running, outcomes)
        while running:
            collect_finished(running, outcomes)
    except BaseException as error:
        for future in running:
            future.cancel()
        attach_outcomes(error, outcomes)
        raise
    return [outcome for outcome in outcomes if outcome is not None]


def collect_finished(
    running: dict[Future[list[BatchOutcome]], int], outcomes: list[BatchOutcome | None]
) -> None:
    """Wait until groups have ended, or for some time; store their outcomes."""
    # With a timeout: Python handles an interrupt that arrives just before a thread blocks only
    # after the wait has ended.
    for future in wait(running, background.POLL_SECONDS, FIRST_COMPLETED).done:
        place, answer = running.pop(future), future.result()
        outcomes[place : place + len(answer)] = answer


async def arun_batch(
    items: Iterator[Item], execute: ExecuteGroup[Item], concurrency: int, size: int = 1
) -> list[BatchOutcome]:
    """Return the same as :func:`run_batch`, on the running loop."""
    outcomes: list[BatchOutcome | None] = []

    # Workers and not a task per group: the iterable may be endless, or make documents lazily.
    async def run_worker() -> None:
        while group := list(islice(items, size)):  # shared by the workers
            place = len(outcomes)
            outcomes.extend([None] * len(group))
            outcomes[place : place + len(group)] = await execute(group)

    tasks = [asyncio.create_task(run_worker()) for _ in range(concurrency)]
    try:
        await asyncio.gather(*tasks)
    except BaseException as error:
        attach_outcomes(error, outcomes)
        raise
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    return [outcome for outcome in outcomes if outcome is not None]


def attach_outcomes(error: BaseException, outcomes: list[BatchOutcome | None]) -> None:
    """Attach the outcomes so far to the exception that ended a batch early."""
    done = sum(outcome is not None for outcome in outcomes)
    error.outcomes = outcomes  # type: ignore[attr-defined]
    error.add_note(f"{done} of {len(outcomes)} documents completed; see sys.last_value.outcomes")


def require_results(outcomes: list[BatchOutcome]) -> list[Result]:
    """Return the outcomes; raise BatchError, which holds them all, if one is an error."""
    failed = [
        (number, item) for number, item in enumerate(outcomes) if isinstance(item, GqlnbError)
    ]
    if not failed:
        return [item for item in outcomes if isinstance(item, Result)]
    number, first = failed[0]
    reason = f"{type(first).__name__}: {sanitize_text(first, 300)}"
    count = f"{len(failed)} of {len(outcomes)} documents"
    msg = (
        f"{count} failed. The first of them is number {number} (counted from 0). {reason}\n"
        "All outcomes, results and errors, are in error.outcomes; with return_errors=True they are "
        "returned."
    )
    raise BatchError(msg, outcomes)
