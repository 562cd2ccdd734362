"""What waits: our executor and graphql-core's in an event loop, side by side, without a clock."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from typing import TYPE_CHECKING, Any

import graphql
import pytest
from graphql import (
    GraphQLField,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    build_schema,
    parse,
)

from gqlnb import engine
from tests.engine.comparison import PLACES, alike, answered, told, turn
from tests.property.differential.later import rest

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning"),
    pytest.mark.usefixtures("road"),
]
NEW = graphql.version_info >= (3, 3)
EXECUTORS = {"reference": graphql.execute, "ours": engine.execute}


# Awaitables of every kind


async def coroutine(value: Any) -> Any:
    """Return a value at once."""
    return value


async def failing(value: Any) -> Any:
    """Fail at once."""
    msg = "later"
    raise ValueError(msg)


async def turns() -> None:
    """Let others have some turns."""
    for _ in range(3):
        await asyncio.sleep(0)


def future(value: Any) -> asyncio.Future[Any]:
    """Return a future that is done."""
    made = asyncio.get_running_loop().create_future()
    made.set_result(value)
    return made


def task(value: Any) -> asyncio.Task[Any]:
    """Return a task."""
    return asyncio.get_running_loop().create_task(turn(value))


class Custom:
    """An awaitable of another kind."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __await__(self) -> Any:
        return turn(self._value).__await__()


class AnswersAll:
    """Has every attribute anybody asks for."""

    def __init__(self, value: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        return 1


def nested(value: Any) -> Any:
    """Return an awaitable of an awaitable."""
    return coroutine(coroutine(value))


MAKERS = (coroutine, turn, failing, future, task, Custom, AnswersAll, nested)


@pytest.mark.parametrize("make", MAKERS)
def test_awaitables_are_awaited_in_fields_lists_and_objects(make):
    """Next to plain values, and of every awaitable type."""

    def root() -> dict[str, Any]:
        row = {"i": lambda info: make(1), "n": 2, "t": {"n": lambda info: make(3)}, "s": "s"}
        row["__typename"] = "T"
        return {
            "x": lambda info: make(1),
            "y": lambda info: make(None),
            "s": make("s"),
            "list": lambda info: [1, make(2), None, make(None), make("x"), 3],
            "sure": lambda info: [1, make(2), make(3)],
            "t": lambda info: make(row),
            "u": row,
            "ts": lambda info: [row, make(row)],
            "face": lambda info: make(row),
        }

    for text in (
        "x s",
        "y",
        "list",
        "sure",
        "t { i n }",
        "u { i t { n } s }",
        "ts { n i s }",
        "face { i }",
    ):
        answered(PLACES, f"{{ {text} }}", root)
    answered(
        PLACES, "{ x list sure s t { i s } u { n t { n } } ts { i } face { __typename i } }", root
    )
    answered(PLACES, "{ a: x b: x t { t { n } } }", root)


def test_execution_without_awaitables_returns_a_plain_result():
    """In an event loop too."""
    assert answered(PLACES, "{ x list }", lambda: {"x": 1, "list": [1]})[0] is False


def test_an_asynchronous_result_is_a_coroutine():
    """asyncio.run accepts it, also when created outside an event loop."""
    schema, document = build_schema(PLACES), parse("{ x t { i } }")
    root = {"x": lambda info: turn(1), "t": lambda info: turn({"i": 2})}
    for execute in EXECUTORS.values():
        result = execute(schema, document, root)
        assert inspect.iscoroutine(result)
        assert asyncio.run(result).data == {"x": 1, "t": {"i": 2}}


def test_an_unawaited_result_can_be_closed():
    """Closing it runs no further resolver."""
    schema, document = build_schema(PLACES), parse("{ x s }")
    for execute in EXECUTORS.values():
        calls: list[str] = []

        async def later(info: Any, calls: list[str] = calls) -> int:
            calls.append("body")
            return 1

        result = execute(
            schema, document, {"x": later, "s": lambda info, c=calls: c.append("sync")}
        )
        result.close()
        assert calls == ["sync"]


ASYNC_ITEMS: dict[str, list[Any]] = {
    "plain": [1, 2, 3],
    "none": [],
    "nulls": [None, 1, None],
    "wrong": [1, "x", 3],
    "errors": [1, ValueError("item"), 3],
}


class Source:
    """An async iterator that tells what happens to it."""

    def __init__(self, items: list[Any], events: list[Any], fails: bool = False) -> None:
        self._items = iter(items)
        self._events = events
        self._fails = fails

    def __aiter__(self) -> Source:
        return self

    async def __anext__(self) -> Any:
        self._events.append("next")
        for item in self._items:
            return item
        if self._fails:
            msg = "source"
            raise RuntimeError(msg)
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Tell that nobody wants more."""
        self._events.append("closed")


@pytest.mark.parametrize("name", ASYNC_ITEMS)
@pytest.mark.parametrize("kind", ["[Int]", "[Int!]", "[Int!]!"])
@pytest.mark.parametrize("fails", [False, True])
def test_async_iterables_are_lists(name, kind, fails):
    """They are read to the end or to an exception, and closed as in the reference."""

    async def generator(items: list[Any], events: list[Any]) -> Any:
        try:
            for item in items:
                yield item
            if fails:
                msg = "generator"
                raise RuntimeError(msg)
        finally:
            events.append("ended")

    schema = build_schema(f"type Query {{ a: {kind} b: {kind} c: Int }}")
    document = parse("{ a b c }")

    async def story(execute: Callable[..., Any]) -> Any:
        items, events = ASYNC_ITEMS[name], []  # type: ignore[var-annotated]
        root = {"a": Source(items, events, fails), "b": generator(items, events), "c": 1}
        answer = told(await execute(schema, document, root))
        await rest()
        return answer, sorted(events)

    alike(story)


# Order


def test_sibling_fields_run_concurrently():
    """Two fields that wait for each other both complete."""

    async def story(execute: Callable[..., Any]) -> Any:
        events = asyncio.Event(), asyncio.Event()

        async def meet(mine: int) -> int:
            events[mine].set()
            await events[1 - mine].wait()
            return mine

        root = {"x": lambda info: meet(0), "y": lambda info: meet(1)}
        flat = await execute(build_schema(PLACES), parse("{ x y }"), root)
        for event in events:
            event.clear()
        listed = await execute(
            build_schema(PLACES), parse("{ list }"), {"list": [meet(0), meet(1)]}
        )
        for event in events:
            event.clear()
        rows = [{"i": root["x"]}, {"i": root["y"]}]
        below = await execute(build_schema(PLACES), parse("{ ts { i } }"), {"ts": rows})
        return flat.data, listed.data, below.data

    assert alike(story) == ({"x": 0, "y": 1}, {"list": [0, 1]}, {"ts": [{"i": 0}, {"i": 1}]})


@pytest.mark.parametrize("fails", [None, 0, 1])
def test_mutation_fields_run_serially(fails):
    """The side effects of one are complete before the next starts."""
    schema = build_schema(
        "type Query { x: Int } type Mutation { a(n: Int!): T b(n: Int!): Int! }"
        "type T { n: Int later: Int }"
    )
    document = parse("mutation { p: a(n: 0) { later n } q: a(n: 1) { n later } r: b(n: 2) }")

    async def story(execute: Callable[..., Any]) -> Any:
        events: list[Any] = []

        async def mutate(info: Any, n: int) -> Any:
            events.append(("start", n))
            await turns()
            events.append(("end", n))
            if n == fails:
                raise ValueError(n)

            async def later(info: Any) -> int:
                events.append(("below", n))
                await turns()
                events.append(("done", n))
                return n

            return n if n == 2 else {"n": n, "later": later}

        result = await execute(schema, document, {"a": mutate, "b": mutate})
        return told(result), events

    _, events = alike(story)
    numbers = [number for _, number in events]
    assert numbers == sorted(numbers)
    assert numbers[-1] == 2


def test_resolvers_run_at_the_same_time_as_in_the_reference():
    """Synchronous work runs during the call; coroutines start when awaited."""
    schema = build_schema(PLACES)
    document = parse("{ x s t { s i t { n s } } list }")

    async def story(execute: Callable[..., Any]) -> Any:
        events: list[Any] = []

        def note(name: str, value: Any) -> Callable[..., Any]:
            return lambda info: events.append(name) or value

        async def waits(info: Any) -> int:
            events.append(f"starts {info.path.as_list()}")
            await turns()
            events.append(f"ends {info.path.as_list()}")
            return 1

        inner = {"n": waits, "s": note("inner", "s")}
        row = {"s": note("s of t", "s"), "i": waits, "t": inner}
        root = {"x": waits, "s": note("s", "s"), "t": note("t", row), "list": note("list", [])}
        result = execute(schema, document, root)
        events.append("called")
        answer = told(await result)
        return answer, events[: events.index("called")], sorted(events)

    _, before, _ = alike(story)
    assert before[-1] != "starts"


def test_context_variables_propagate_as_in_the_reference():
    """Resolvers see the caller's context, and their changes are visible alike."""
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="none")

    async def story(execute: Callable[..., Any]) -> Any:
        variable.set("outer")
        heard: list[Any] = []

        async def sets(info: Any) -> int:
            heard.append(("async", variable.get()))
            variable.set("async")
            await asyncio.sleep(0)
            heard.append(("async after", variable.get()))
            return 1

        def sync(info: Any) -> str:
            heard.append(("sync", variable.get()))
            variable.set("sync")
            return "s"

        async def reads(info: Any) -> int:
            await turns()
            heard.append(("reads", variable.get()))
            return 1

        root = {"x": sets, "s": sync, "y": reads, "t": {"i": reads, "n": sets}}
        result = await execute(build_schema(PLACES), parse("{ x s y t { i n } }"), root)
        return result.data, sorted(heard), variable.get()

    alike(story)


# Types and leaves

FACES = """
interface F { x: Int } type A implements F { x: Int } type B implements F { x: Int }
union U = A | B
"""
ANSWERS: tuple[Any, ...] = ("A", "B", None, "Nope", 7, ValueError("told"))


@pytest.mark.parametrize("make", [coroutine, turn, failing, future, Custom])
def test_resolve_type_may_be_awaitable(make):
    """So may type_resolver."""
    schema = build_schema(f"{FACES} type Query {{ f: F u: U l: [F!] }}")
    text = "{ f { __typename x } u { __typename ... on F { x } } l { x } }"
    for answer in ANSWERS:
        for name in "FU":
            schema.type_map[name].resolve_type = lambda *_, a=answer: make(a)
        row = {"x": lambda info: make(1)}
        answered(schema, text, lambda r=row: {"f": r, "u": r, "l": [r, {"x": 2}]})


@pytest.mark.skipif(not NEW, reason="graphql-core 3.2 forgets to await the fields")
@pytest.mark.parametrize("first", [True, False, ValueError("asked")])
@pytest.mark.parametrize("second", [True, False, ValueError("asked")])
def test_is_type_of_may_be_awaitable(first, second):
    """For one type or for several."""
    schema = build_schema(f"{FACES} type Query {{ f: F a: A l: [F] }}")

    def asked(answer: Any, make: Callable[[Any], Any]) -> Any:
        return lambda *_: failing("asked") if isinstance(answer, Exception) else make(answer)

    for makers in ((turn, turn), (coroutine, lambda value: value), (lambda value: value, turn)):
        for name, answer, make in zip("AB", (first, second), makers, strict=True):
            schema.type_map[name].is_type_of = asked(answer, make)
        row = {"x": lambda info: turn(1)}
        answered(
            schema,
            "{ f { __typename x } a { x } l { __typename } }",
            lambda r=row: {"f": r, "a": r, "l": [r, r]},
        )


def test_awaitable_leaves_are_awaited():
    """A scalar may serialize to an awaitable, as in the reference."""
    own = GraphQLScalarType("Own", serialize=turn)
    fields = {"x": GraphQLField(own), "list": GraphQLField(graphql.GraphQLList(own))}
    schema = GraphQLSchema(GraphQLObjectType("Query", fields))
    answered(schema, "{ x list }", lambda: {"x": 1, "list": [1, None, turn(2)]})
