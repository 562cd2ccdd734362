"""What an execution came to, in a form that can be compared to the last detail."""

from __future__ import annotations

import asyncio
import inspect
import re
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import ExecutionResult, GraphQLError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.property.differential.world import World


ADDRESS = re.compile(r" at 0x[0-9a-f]+|(?<=name='Task-)\d+")


class Outcome(NamedTuple):
    """All that can be seen of one execution."""

    raised: str | None  # by `execute` itself, or by its awaitable
    waits: str  # what kind of thing `execute` returned
    data: Any
    errors: tuple[dict[str, Any], ...] | None
    others: str  # of the result
    calls: tuple[Any, ...]  # of resolvers, each with when it happened

    def __str__(self) -> str:
        lines = [
            f"  raised: {self.raised}",
            f"  returned: {self.waits}",
            f"  data: {plain(self.data)}",
        ]
        lines += [f"  error: {error}" for error in self.errors or ()]
        lines += [f"  call: {call}" for _, call in self.calls]
        return "\n".join(lines)


def exact(value: Any) -> Any:
    """Return a value that is equal only for equal types, orders and texts.

    ``1``, ``True`` and ``1.0`` are equal in Python, and not a number is never.
    """
    kind = type(value)
    if kind is dict:
        return ("{}", tuple((exact(key), exact(item)) for key, item in value.items()))
    if kind is list:
        return ("[]", tuple(exact(item) for item in value))
    try:
        text = repr(value)
    except Exception as error:
        text = f"no text: {error}"
    return (kind.__name__, ADDRESS.sub("", text))


def plain(value: Any) -> str:
    """Return the text of an exact value."""
    kind, content = value
    if kind == "{}":
        return "{" + ", ".join(f"{key[1]}: {plain(item)}" for key, item in content) + "}"
    if kind == "[]":
        return "[" + ", ".join(map(plain, content)) + "]"
    return content if kind in ("str", "NoneType") else f"{kind}({content})"


def detail(error: Any) -> dict[str, Any]:
    """Return everything that an error tells."""
    if type(error) is not GraphQLError:
        return {"type": type(error).__name__, "text": str(error)}
    original = error.original_error
    try:
        said = str(original)
    except Exception as failure:
        said = f"no text: {failure}"
    return {
        "message": error.message,
        "path": error.path,
        "locations": error.locations and [tuple(place) for place in error.locations],
        "extensions": exact(error.extensions),
        "original": f"{type(original).__name__}: {said}",
        "nodes": error.nodes
        and [(node.kind, bool(node.loc) and node.loc.start) for node in error.nodes],
        "positions": error.positions and list(error.positions),
        "formatted": exact(dict(error.formatted)),
        "cause": type(error.__cause__).__name__,
        "traceback": error.__traceback__ is not None,
    }


def _raised(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _outcome(result: Any, waits: str, world: World) -> Outcome:
    if type(result) is not ExecutionResult:
        return Outcome(None, waits, exact(result), None, type(result).__name__, ())
    errors = result.errors and tuple(detail(error) for error in result.errors)
    return Outcome(
        None, waits, exact(result.data), errors, repr(result.extensions), tuple(world.record)
    )


def run(execute: Callable[[], Any], world: World) -> Outcome:
    """Call `execute` where no event loop runs.

    Parameters
    ----------
    execute
        Calls an executor with all its arguments.
    world
        What its resolvers do.
    """
    try:
        result = execute()
    except BaseException as error:
        return Outcome(_raised(error), "", exact(None), None, "", tuple(world.record))
    waits = kind(result)
    if waits != "value":
        getattr(result, "close", int)()
        result = None
    return _outcome(result, waits, world)


async def arun(execute: Callable[[], Any], world: World) -> Outcome:
    """Call `execute` in an event loop, await what it returns, and leave nothing running."""
    try:
        return await _arun(execute, world)
    finally:
        while left := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in left:
                task.cancel()
            await asyncio.wait(left)


async def _arun(execute: Callable[[], Any], world: World) -> Outcome:
    try:
        result = execute()
    except Exception as error:
        return Outcome(_raised(error), "", exact(None), None, "", tuple(world.record))
    waits = kind(result)
    if waits == "value":
        return _outcome(result, waits, world)

    task = asyncio.ensure_future(_settled(result, waits, world))
    clock = world.later.clock
    done = await clock.conduct(task) if clock else await _soon(task)
    return task.result() if done else Outcome("never ends", waits, exact(None), None, "", ())


async def _settled(result: Awaitable[Any], waits: str, world: World) -> Outcome:
    try:
        # What comes later is not the answer's: errors of siblings that nobody waits for.
        return _outcome(await result, waits, world)
    except asyncio.CancelledError:
        return Outcome("CancelledError", waits, exact(None), None, "", tuple(world.record))
    except Exception as error:
        return Outcome(_raised(error), waits, exact(None), None, "", tuple(world.record))


async def _soon(task: asyncio.Task[Any]) -> bool:
    for _ in range(1000):
        if task.done():
            return True
        await asyncio.sleep(0)
    return False


def kind(result: Any) -> str:
    """Return whether something is a value, a coroutine or another awaitable."""
    if inspect.iscoroutine(result):
        return "coroutine"
    return "awaitable" if inspect.isawaitable(result) else "value"


# Comparing


def difference(want: Outcome, got: Outcome, mode: str) -> str | None:
    """Return the first thing in which two outcomes differ, or None.

    Parameters
    ----------
    want
        The reference.
    got
        What is compared with it.
    mode
        Of the run. In ``ready`` nobody decides which of several failing siblings is first: there,
        below a position that is null for an error, one error is enough.
    """
    for part in ("raised", "waits", "others"):
        if getattr(want, part) != getattr(got, part):
            return f"{part}: want {getattr(want, part)!r}, got {getattr(got, part)!r}"
    found = _in_data(want.data, got.data, "data")
    if found is None:
        found = (
            _in_ready_errors(want, got) if mode == "ready" else _in_errors(want.errors, got.errors)
        )
    if found is None and (mode == "sync" or not (want.errors or want.raised)):
        # What runs on beside an error is not determined in an event loop.
        found = _in_calls(_calls(want, mode), _calls(got, mode))
    return found


def _in_data(want: Any, got: Any, where: str) -> str | None:
    if want == got:
        return None
    if want[0] != got[0] or want[0] not in ("{}", "[]"):
        return f"{where}: want {plain(want)}, got {plain(got)} ({want[0]}, {got[0]})"
    if want[0] == "{}":
        names, others = ([key[1] for key, _ in side[1]] for side in (want, got))
        if names != others:
            return f"{where} keys: want {names}, got {others}"
        pairs = zip((f"{where}.{name}" for name in names), want[1], got[1], strict=True)
        found = (_in_data(one[1], other[1], place) for place, one, other in pairs)
    else:
        if len(want[1]) != len(got[1]):
            return f"{where} length: want {len(want[1])}, got {len(got[1])}"
        pairs = zip(want[1], got[1], strict=True)
        found = (_in_data(one, other, f"{where}[{i}]") for i, (one, other) in enumerate(pairs))
    return next(filter(None, found), None)


def _in_errors(want: Any, got: Any) -> str | None:
    if want == got:
        return None
    if want is None or got is None or len(want) != len(got):
        return f"errors: want {_brief(want)}, got {_brief(got)}"
    for index, (one, other) in enumerate(zip(want, got, strict=True)):
        for name in {**one, **other}:
            if one.get(name) != other.get(name):
                return f"errors[{index}].{name}: want {one.get(name)!r}, got {other.get(name)!r}"
    return f"errors: want {want!r}, got {got!r}"


def _brief(errors: Any) -> Any:
    return errors and [(error.get("message"), error.get("path")) for error in errors]


def _in_ready_errors(want: Outcome, got: Outcome) -> str | None:
    sides = []
    for side in (want, got):
        nulled: set[tuple[Any, ...]] = set()
        own = []
        for error in side.errors or ():
            place = _nulled(side.data, error.get("path") or [])
            if place is None:
                own.append(error)
            else:
                nulled.add(place)
        sides.append((sorted(own, key=repr), nulled))
    (one, nulled), (other, also) = sides
    if nulled != also:
        return f"nulled: want {sorted(nulled, key=repr)}, got {sorted(also, key=repr)}"
    return _in_errors(tuple(one), tuple(other))


def _nulled(data: Any, path: list[Any]) -> tuple[Any, ...] | None:
    """Return the position above `path` that is null for the error there, if there is one."""
    for depth, key in enumerate(path):
        if data[0] == "{}":
            data = next((item for name, item in data[1] if name[1] == repr(key)), ("", "None"))
        elif data[0] == "[]" and isinstance(key, int) and key < len(data[1]):
            data = data[1][key]
        else:
            return tuple(path[:depth])
    return None


def _calls(outcome: Outcome, mode: str) -> list[Any]:
    if mode == "sync":
        return [call for _, call in outcome.calls]
    if mode == "ready":
        return sorted((call for _, call in outcome.calls), key=repr)
    steps = groupby(outcome.calls, key=lambda entry: entry[0])
    return [(place, sorted((call for _, call in calls), key=repr)) for place, calls in steps]


def _in_calls(want: list[Any], got: list[Any]) -> str | None:
    if want == got:
        return None
    for index, (one, other) in enumerate(zip(want, got, strict=False)):
        if one != other:
            return f"calls[{index}]: want {one}, got {other}"
    return f"calls: want {len(want)}, got {len(got)}, next {(want + got)[min(len(want), len(got))]}"
