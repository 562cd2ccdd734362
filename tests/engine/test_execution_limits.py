"""Executing within limits: what is counted, what is stopped, and what is answered then."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import tracemalloc
import warnings
from types import SimpleNamespace
from typing import Any

import pytest
from graphql import GraphQLObjectType, build_schema, parse

from gqlnb import OptionError, QueryError, Schema
from gqlnb.engine.compiled_execution import execute_within
from gqlnb.engine.compiler import plans as plan
from gqlnb.engine.compiler.conditions import collect_facts
from gqlnb.engine.compiler.plans import get_operation_cache
from gqlnb.engine.execution_budget import BudgetExceededError, ExecutionBudget
from gqlnb.engine.graphql_compat import IS_GRAPHQL_33
from gqlnb.engine.schema import get_adapter
from gqlnb.limits import Limits
from gqlnb.result.result import Result
from tests.examples import count_examples
from tests.property.differential.case import RUNS, Case

SDL = """
type Query { rows: [Row!]! maybe: [Row] one: Row hello: String later: String node: [Node] any: Any
  mixed: [Node] numbers: [Int] endless: [Int] }
type Mutation { step: String }
interface Node { id: ID }
scalar Any
type Row implements Node { id: ID name: String rows: [Row!]! owner: Owner later: String }
type Owner { login: String row: Row }
type Other implements Node { id: ID login: String }
"""
MANY = Limits(fields=10**9, seconds=10**6)


def tree(branches: int) -> dict[str, Any]:
    """Return rows each of which holds the same rows, without end."""
    rows: list[dict[str, Any]] = [
        {"__typename": "Row", "id": str(n), "name": f"n{n}", "owner": {"login": "a"}}
        for n in range(branches)
    ]
    for row in rows:
        row["rows"] = rows
    other = {"__typename": "Other", "id": "o", "login": "l"}
    of_another_kind = SimpleNamespace(id="p", login="m", _SimpleNamespace__typename="Other")
    return {
        "rows": rows,
        "maybe": [*rows, None, None],
        "one": rows[0],
        "node": rows,
        "mixed": [*rows, None, other, of_another_kind],
        "hello": "hi",
    }


def used(schema: Schema, text: str, root: Any = None, **more: Any) -> int:
    """Return how many fields an execution takes."""
    budget = ExecutionBudget()
    result = get_adapter(schema).execute_document(
        schema.parse_document(text), {}, root=root, budget=budget, **more
    )
    assert isinstance(result, Result)
    assert not result.errors
    return budget.used


def words(result: Result) -> str:
    """Return the only error's message of a result without data."""
    assert result.data is None
    (error,) = result.errors
    assert error.keys() == {"message"}
    assert not any(result.causes)
    return str(error["message"])


# Each text with the number of fields that ten rows make of it.
COUNTED = [
    ("{ hello }", 1),
    ("{ hello a: hello __typename }", 3),
    ("{ hello hello ... { hello } }", 1),
    ("{ rows { id name } }", 21),
    ("{ maybe { id name } }", 21),
    ("{ rows { id owner { login } } }", 31),
    ("{ rows { id owner { login row { id } } } }", 41),
    ("{ rows { rows { id } } }", 111),
    ("{ maybe { id rows { id owner { login row { id } } } } }", 421),
    ("{ one { rows { rows { rows { id } } } } }", 1112),
    ("{ node { id __typename ... on Row { name } } }", 31),
    ("{ mixed { id ... on Row { name } ... on Other { login } } }", 25),
    ("{ mixed { id ... on Row { name owner { login } } } }", 43),
    ("{ mixed { id ... on Row { owner { login } } ... on Other { login __typename } } }", 37),
    ("{ numbers }", 1),
    ("{ __schema { queryType { name } } }", 3),
]


@pytest.mark.usefixtures("road")
@pytest.mark.parametrize(("text", "fields"), COUNTED)
@pytest.mark.parametrize("shape", [dict, SimpleNamespace])
def test_the_field_limit_is_exact(text, fields, shape):
    """In compiled code and before it; an execution at the limit succeeds."""
    schema = Schema(SDL)
    root = tree(10) | {"numbers": list(range(500))}
    if shape is SimpleNamespace:
        root = objects(root)
    for _ in range(3):
        assert used(schema, text, root) == fields
        assert schema.execute(text, root=root, limits=Limits(fields=fields)).data
        if fields > 1:
            result = schema.execute(text, root=root, limits=Limits(fields=fields - 1))
            assert f"after {fields - 1:,} field" in words(result)


def objects(value: Any) -> Any:
    """Return the same as objects."""
    made: dict[int, Any] = {}

    def of(value: Any) -> Any:
        if isinstance(value, list):
            return [of(item) for item in value]
        if not isinstance(value, dict):
            return value
        if id(value) not in made:
            made[id(value)] = SimpleNamespace()
            vars(made[id(value)]).update({key: of(item) for key, item in value.items()})
            vars(made[id(value)])["_SimpleNamespace__typename"] = value.get("__typename")
        return made[id(value)]

    return of(value)


def test_compiled_code_counts_the_fields_that_graphql_core_executes(monkeypatch):
    """On generated documents and data, for every partition of a list."""
    compared, count = 0, count_examples(80)
    for case in (Case(number, "sync") for number in range(count)):
        for run in range(RUNS):
            counts = {counted(case, run, hot, monkeypatch) for hot in (10**9, 0, 2)}
            if None not in counts:
                assert len(counts) == 1, f"{case.text}: {counts}"
                compared += 1
    assert compared > count


def counted(case: Case, run: int, hot: int, monkeypatch: pytest.MonkeyPatch) -> int | None:
    """Return how many fields a run takes; None if something fails, which leaves others out."""
    monkeypatch.setattr(plan, "HOT", hot)
    get_operation_cache(case.made.schema).clear()
    budget = ExecutionBudget()

    def execute(*given: Any, **options: Any) -> Any:
        names = ("root_value", "context_value", "variable_values", "operation_name")
        values = (options.pop(n, None) for n in names)
        return execute_within(*given, *values, budget=budget, **options)

    outcome = case.execute(execute, run)
    return None if outcome.errors or outcome.raised else budget.used


# -- too many fields


@pytest.mark.usefixtures("road")
def test_a_short_query_for_millions_of_objects_is_stopped():
    """It takes neither its time nor its memory."""
    schema, root = Schema(SDL), tree(300)
    text = "{ rows { rows { rows { rows { rows { id } } } } } }"
    tracemalloc.start()
    result = schema.execute(text, root=root, limits=Limits(fields=50_000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert words(result).startswith("Execution stopped after 50,000 fields, which is the limit.")
    assert peak < 50_000_000


def test_no_more_resolvers_are_called_than_there_are_fields():
    """A list that is too long ends within one row."""
    calls = []
    schema = Schema(SDL, {"Row": {"name": lambda *_: calls.append(1)}})
    limits = Limits(fields=50)
    for _ in range(3):
        calls.clear()
        assert "50 fields" in words(
            schema.execute("{ rows { name } }", root=tree(90), limits=limits)
        )
        assert len(calls) <= 50


# -- too long


def test_a_list_of_slow_resolvers_ends_soon_after_the_deadline():
    """Each of them is called after a look at the clock."""
    calls = []

    def name(root: Any, args: Any, context: Any) -> str:
        calls.append(time.sleep(0.005))
        return "x"

    schema = Schema(SDL, {"Row": {"name": name}})
    for _ in range(2):  # as graphql-core does, and compiled
        calls.clear()
        result = schema.execute("{ rows { name } }", root=tree(999), limits=Limits(seconds=0.1))
        assert words(result).startswith("Execution stopped after 0.1 s, which is the limit.")
        assert len(calls) < 100


@pytest.mark.parametrize(
    "text", ["{ hello a: hello b: hello }", "{ one { owner { login } } hello }"]
)
def test_no_function_is_called_after_the_deadline(text):
    """The one that took too long is the last."""
    calls: list[str] = []

    def slow(*_: Any) -> Any:
        calls.append("slow")
        budget.stop()
        return {}

    def other(*_: Any) -> Any:
        calls.append("other")

    resolvers = {"Query": {"one": slow, "hello": slow}, "Owner": {"login": other}}
    schema = Schema(SDL, {**resolvers, "Row": {"owner": other}})
    document = schema.parse_document(text)
    for _ in range(3):
        calls.clear()
        budget = ExecutionBudget(seconds=60)
        result = get_adapter(schema).execute_document(document, {}, budget=budget)
        assert isinstance(result, Result)
        assert words(result).startswith("Execution stopped after 60 s")
        assert calls == ["slow"]


def test_the_fields_of_a_mutation_end_too():
    """They are executed one after the other, and so is the look at the clock."""
    calls = []

    def step(*_: Any) -> None:
        calls.append(1)
        if len(calls) % 3 == 0:
            budget.stop()

    schema = Schema(SDL, {"Mutation": {"step": step}})
    document = schema.parse_document("mutation { step a: step b: step c: step d: step }")
    for count in (3, 6, 9):
        budget = ExecutionBudget()
        assert (
            words(get_adapter(schema).execute_document(document, {}, budget=budget))
            == "Execution was stopped."
        )
        assert len(calls) == count


@pytest.mark.usefixtures("road")
@pytest.mark.parametrize("catch", [Exception, ValueError])
def test_no_resolver_can_swallow_it(catch):
    """One that executes another operation within the same budget may try."""
    inner = build_schema("type Query { a: Int b: Int }")
    swallowed = []

    def hello(*_: Any) -> str:
        try:
            document = Schema.adopt(inner).parse_document("{ a b }").ast
            execute_within(inner, document, budget=budget)
        except catch as error:
            swallowed.append(error)
        return "x"

    schema = Schema(SDL, {"Query": {"hello": hello}})
    budget = ExecutionBudget(2)
    assert "2 fields" in words(
        get_adapter(schema).execute_document(schema.parse_document("{ hello }"), {}, budget=budget)
    )
    assert not swallowed


@pytest.mark.parametrize("handed", [False, True])
def test_an_infinite_iterator_is_stopped_at_the_deadline(handed):
    """The generator is advanced only before the deadline, in every executor."""
    schema = Schema(SDL, {"Query": {"endless": lambda *_: iter(int, 1)}})
    if handed:
        schema = Schema.adopt(schema, middleware=[middleware])
    result = schema.execute("{ endless }", limits=Limits(seconds=0.05))
    assert words(result).startswith("Execution stopped after 0.05 s")


def test_another_thread_stops_a_hanging_execution_at_its_next_step():
    """A server calls `stop` after responding without it."""
    begun, stopped = threading.Event(), threading.Event()
    calls = []

    def name(*_: Any) -> str:
        calls.append(1)
        begun.set()
        assert stopped.wait(20)
        return "x"

    schema = Schema(SDL, {"Row": {"name": name}})
    budget = ExecutionBudget(seconds=60)
    found: list[Any] = []
    document = schema.parse_document("{ rows { name } }")
    thread = threading.Thread(
        target=lambda: found.append(
            get_adapter(schema).execute_document(document, {}, root=tree(99), budget=budget)
        )
    )
    thread.start()
    assert begun.wait(20)
    budget.stop("Nobody waits any more.")
    stopped.set()
    thread.join(20)
    assert words(found[0]) == "Nobody waits any more."
    assert len(calls) == 1


# -- awaiting


async def ended(task: asyncio.Event) -> str:
    """Wait for ever, and tell when that has ended."""
    try:
        await asyncio.Event().wait()
    finally:
        task.set()
    return "never"


@pytest.mark.usefixtures("road")
@pytest.mark.parametrize("text", ["{ later }", "{ rows { later id } hello }"])
def test_awaitables_are_cancelled_at_the_deadline(text):
    """Including the tasks they have started."""

    async def story() -> None:
        cancelled = asyncio.Event()
        resolve = {"later": lambda *_: ended(cancelled)}
        schema = Schema(SDL, {"Query": resolve, "Row": resolve})
        result = await schema.aexecute(text, root=tree(3), limits=Limits(seconds=0.05))
        assert words(result).startswith("Execution stopped after 0.05 s")
        await asyncio.wait_for(cancelled.wait(), 20)
        await settled()

    asyncio.run(story())


async def settled() -> None:
    """Wait until nothing is left running."""
    async with asyncio.timeout(20):
        while len(asyncio.all_tasks()) > 1:
            await asyncio.sleep(0)


def test_awaitables_are_not_started_after_the_deadline():
    """Time spent in synchronous resolvers counts."""
    begun = []

    async def later(*_: Any) -> None:
        begun.append(1)

    schema = Schema(SDL, {"Query": {"later": later}})
    budget = ExecutionBudget(seconds=60)
    waits = get_adapter(schema).execute_document(
        schema.parse_document("{ later }"), {}, budget=budget
    )
    assert not isinstance(waits, Result)
    budget.stop()

    async def story() -> Result:
        return await waits

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert words(asyncio.run(story())).startswith("Execution stopped after 60 s")
        gc.collect()
    assert not begun


def test_a_resolver_that_ignores_cancellation_is_abandoned():
    """A resolver may catch its CancelledError."""

    async def story() -> None:
        free = asyncio.Event()

        async def stubborn(*_: Any) -> str:
            while not free.is_set():
                try:
                    await free.wait()
                except asyncio.CancelledError:
                    continue
            return "x"

        schema = Schema(SDL, {"Query": {"later": stubborn}})
        async with asyncio.timeout(20):
            result = await schema.aexecute("{ later }", limits=Limits(seconds=0.05))
        assert words(result).startswith("Execution stopped after 0.05 s")
        free.set()
        await settled()

    asyncio.run(story())


@pytest.mark.usefixtures("road")
def test_awaitables_are_cancelled_when_another_field_exceeds_the_budget():
    """No sibling task continues."""

    async def story() -> None:
        cancelled = asyncio.Event()

        async def owner(root: Any, args: Any, context: Any) -> Any:
            await asyncio.sleep(0)
            return {"login": "a"}

        schema = Schema(
            SDL, {"Query": {"later": lambda *_: ended(cancelled)}, "Row": {"owner": owner}}
        )
        text = "{ later rows { owner { login a: login b: login } } }"
        result = await schema.aexecute(text, root=tree(9), limits=Limits(fields=20))
        assert "20 fields" in words(result)
        await asyncio.wait_for(cancelled.wait(), 20)
        await settled()

    asyncio.run(story())


def test_the_caller_may_cancel_an_execution():
    """Its awaitables are cancelled, and no result is produced."""

    async def story() -> None:
        cancelled = asyncio.Event()
        schema = Schema(SDL, {"Query": {"later": lambda *_: ended(cancelled)}})
        task = asyncio.ensure_future(schema.aexecute("{ later }", limits=MANY))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(cancelled.wait(), 20)
        await settled()

    asyncio.run(story())


def test_an_error_of_a_resolver_is_an_error_as_ever():
    """Also one that looks like a cancellation."""

    async def fails(*_: Any) -> None:
        raise ValueError("so")  # noqa: EM101 - what a person writes

    async def cancels(*_: Any) -> None:
        raise asyncio.CancelledError

    schema = Schema(SDL, {"Query": {"later": fails}})
    result = schema.execute("{ later hello }", root={"hello": "hi"}, limits=MANY)
    assert result.data == {"later": None, "hello": "hi"}
    assert result.errors[0]["path"] == ["later"]
    schema = Schema(SDL, {"Query": {"later": cancels}})
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(schema.aexecute("{ later }", limits=MANY))


# -- documents, and schemas of other libraries


@pytest.mark.parametrize("limits", [5, {"depth": 3}, Limits])
def test_limits_of_another_type_are_refused(limits):
    with pytest.raises(OptionError, match=r"^limits= takes gqlnb.Limits"):
        Schema("type Query { hello: String }").execute("{ hello }", limits=limits)


def test_a_document_beyond_its_limits_is_a_query_error():
    """No resolver runs."""
    schema = Schema(SDL, {"Query": {"hello": lambda *_: pytest.fail("it was executed")}})
    with pytest.raises(QueryError, match=r"Fields nest 2 levels deep; the limit is 1\."):
        schema.execute("{ hello one { id } }", limits=Limits(depth=1))


@pytest.mark.parametrize("limits", [None, MANY, Limits(fields=None, seconds=None)])
def test_sufficient_limits_do_not_change_the_result(limits):
    """Including the suggestions in error messages."""
    schema = Schema(SDL)
    assert schema.execute("{ rows { id owner { login } } }", root=tree(2), limits=limits).data == {
        "rows": [{"id": str(n), "owner": {"login": "a"}} for n in range(2)]
    }
    with pytest.raises(QueryError, match="Did you mean 'hello'"):
        schema.execute("{ helo }", limits=limits)


def middleware(resolve: Any, source: Any, info: Any, **args: Any) -> Any:
    """Resolve a field as it would be without."""
    return resolve(source, info, **args)


@pytest.mark.parametrize("options", [{}, {"middleware": [middleware]}], ids=["own", "handed"])
def test_limits_apply_to_adopted_schemas(options):
    """In every executor."""
    core = build_schema("type Query { rows: [Query] name: String slow: String }")
    assert isinstance(core.query_type, GraphQLObjectType)
    core.query_type.fields["slow"].resolve = lambda *_: time.sleep(0.02)
    schema = Schema.adopt(core, **options)
    rows: list[Any] = [{"name": "n"} for _ in range(30)]
    for row in rows:
        row["rows"] = rows
    root = {"rows": rows}
    for _ in range(2):
        assert schema.execute("{ rows { name } }", root=root, limits=Limits(fields=31)).data
        result = schema.execute("{ rows { name } }", root=root, limits=Limits(fields=30))
        assert "30 fields" in words(result)
        result = schema.execute("{ rows { slow } }", root=root, limits=Limits(seconds=0.1))
        assert words(result).startswith("Execution stopped after 0.1 s")


def test_limits_apply_to_operations_executed_by_graphql_core():
    """Fragment variables are not compiled."""
    option = (
        "experimental_fragment_arguments" if IS_GRAPHQL_33 else "allow_legacy_fragment_variables"
    )
    text = "{ rows { ...F } } fragment F($x: Int) on Row { id }"
    document = parse(text, **{option: True})
    assert not collect_facts(document).plannable
    core = build_schema(SDL)
    assert execute_within(core, document, tree(9), budget=ExecutionBudget(10)).data
    with pytest.raises(BudgetExceededError, match="9 fields"):
        execute_within(core, document, tree(9), budget=ExecutionBudget(9))
