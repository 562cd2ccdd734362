"""`Schema.subscribe`: a stream of results, awaited or not, that ends when it is left."""

import asyncio
import queue
import threading

import graphql
import pytest
from graphql import parse

from gqlnb import background
from gqlnb.engine.graphql_compat import IS_GRAPHQL_33
from gqlnb.engine.schema import Schema, get_adapter
from gqlnb.engine.subscription import SubscriptionArguments, ThreadedIterator
from gqlnb.errors import QueryError
from gqlnb.limits import Limits

PATIENCE = 20
SDL = """
type Query { hello: String }
type Subscription {
  count(to: Int!): Int
  plain(to: Int!): Int
  wrapped: Int
  listed: Int
  thing: Thing
  late: Int
  refuses: Int
  breaks: Int
  wrong: Int
  waits: Int
  bare: Int
}
type Thing { thing: String square: Int slowly: Int fails: Int }
"""


def subscribe_document(schema, document, **options):
    """Subscribe to a parsed document, as the server does."""
    return get_adapter(schema).subscribe_document(document, SubscriptionArguments({}, **options))


class Left:
    """Notes that a generator was left, and where it ran."""

    def __init__(self):
        self.event = threading.Event()
        self.threads = set()

    def note(self):
        """Note the thread."""
        self.threads.add(threading.current_thread().name)


@pytest.fixture
def left():
    """Return the note of the generators below."""
    return Left()


def leaving(left):
    """Return sources that tell when they are left."""

    async def count(root, args, context):
        try:
            for number in range(args["to"]):
                await asyncio.sleep(0)
                yield number
        finally:
            left.event.set()

    def plain(root, args, context):
        try:
            for number in range(args["to"]):
                left.note()
                yield number
        finally:
            left.event.set()

    async def waits(root, args, context):
        try:
            yield 0
            await asyncio.Event().wait()
        finally:
            left.event.set()

    async def late(root, args, context):
        await asyncio.sleep(0)
        return count(root, {"to": 2}, context)

    return {"count": count, "plain": plain, "waits": waits, "late": late}


async def wrapped(root, args, context):
    """Yield as graphql-core's own subscriptions do."""
    yield {"wrapped": context}


async def thing(root, args, context):
    """Yield objects with a field of the name of the subscription's."""
    yield {"thing": "itself"}
    yield {"thing": "with more", "square": 9}


async def breaks(root, args, context):
    """Break after the first event."""
    yield 1
    message = "broken"
    raise OSError(message)


def refuses(root, args, context):
    """Break before."""
    message = "no such topic"
    raise LookupError(message)


async def slowly(*_):
    """Be awaited."""
    await asyncio.sleep(0)
    return 4


SOURCES = {
    "wrapped": wrapped,
    "listed": lambda *_: [1, 2],
    "thing": thing,
    "refuses": refuses,
    "breaks": breaks,
    "wrong": lambda *_: 5,
}


@pytest.fixture
def schema(left):
    """Return a schema with every kind of subscription."""
    thing = {"fails": lambda *_: int("not a number"), "slowly": slowly}
    return Schema(SDL, {"Subscription": SOURCES | leaving(left), "Thing": thing})


def test_each_event_is_a_result(schema):
    """With data and document, as that of `execute`."""
    stream = schema.subscribe("subscription S { count(to: 3) }")
    results = list(stream)
    assert [result.data for result in results] == [{"count": n} for n in range(3)]
    assert results[0].document.name == "S"
    assert repr(stream) == "Stream('S')"


def test_variables_context_and_operation_are_those_of_execute(schema):
    """They are bound by name, and one of several operations is chosen."""
    text = "subscription A($n: Int!) { count(to: $n) } subscription B { wrapped }"
    assert len(list(schema.subscribe(text, {"n": 2}, operation="A"))) == 2
    assert next(schema.subscribe(text, operation="B", context=7)).data == {"wrapped": 7}


@pytest.mark.parametrize(
    ("text", "variables", "message"),
    [
        ("subscription { count(to: 1)", None, "Syntax Error"),
        ("subscription { nothing }", None, "nothing"),
        ("subscription ($n: Int!) { count(to: $n) }", {}, "'\\$n'"),
        ("subscription ($n: Int!) { count(to: $n) }", {"n": "x"}, "n"),
        ("{ hello }", None, "A query gives one result"),
    ],
)
def test_invalid_subscriptions_raise_at_the_call(schema, text, variables, message):
    """Iteration is not required."""
    with pytest.raises(QueryError, match=message):
        schema.subscribe(text, variables)


def test_a_plain_generator_steps_in_threads(schema, left):
    """It may wait there without holding up the loop that iterates."""
    assert [r["plain"] for r in schema.subscribe("subscription { plain(to: 3) }")] == [0, 1, 2]
    assert left.threads == {"gqlnb-worker"}
    assert left.event.is_set()


@pytest.mark.parametrize(("field", "values"), [("listed", [1, 2]), ("late", [0, 1])])
def test_iterables_are_event_sources(schema, field, values):
    """A list, or the result of an `async def`."""
    assert [r[field] for r in schema.subscribe(f"subscription {{ {field} }}")] == values


def test_a_mapping_with_the_field_name_is_unwrapped(schema):
    """As yielded by graphql-core sources, unless the type has a field of that name."""
    assert next(schema.subscribe("subscription { wrapped }", context=3)).data == {"wrapped": 3}
    results = schema.subscribe("subscription { alias: thing { thing square } }")
    assert [result["alias"] for result in results] == [
        {"thing": "itself", "square": None},
        {"thing": "with more", "square": 9},
    ]


def test_fields_of_an_event_are_executed_and_may_fail(schema):
    """An `async` resolver is awaited, a failed one costs its field."""
    result = next(schema.subscribe("subscription { thing { slowly fails } }"))
    assert result.data == {"thing": {"slowly": 4, "fails": None}}
    assert [type(cause) for cause in result.causes] == [ValueError]


@pytest.mark.parametrize(("field", "cause"), [("refuses", LookupError), ("wrong", TypeError)])
def test_a_source_that_cannot_start_is_one_result_with_errors(schema, field, cause):
    """As a field that fails is in `execute`."""
    (result,) = schema.subscribe(f"subscription {{ {field} }}")
    assert result.data is None
    assert result.errors[0]["path"] == [field]
    assert isinstance(result.causes[0], cause)


def test_a_field_without_a_source_is_an_error(schema):
    """The message says that an AsyncIterable is expected."""
    try:
        (result,) = schema.subscribe("subscription { bare }")
    except TypeError as error:  # graphql-core 3.2 raises
        said = str(error)
    else:
        said = result.errors[0]["message"]
    assert "AsyncIterable" in said


def test_a_source_exception_ends_the_stream(schema):
    """Earlier events are delivered."""
    stream = schema.subscribe("subscription { breaks }")
    assert next(stream)["breaks"] == 1
    with pytest.raises(OSError, match="broken"):
        next(stream)
    with pytest.raises(StopIteration):
        next(stream)


@pytest.mark.parametrize("field", ["count(to: 9)", "plain(to: 9)", "waits"])
def test_leaving_a_loop_closes_the_source(schema, left, field):
    """Its `finally` block has run before the next statement."""
    for _ in schema.subscribe(f"subscription {{ {field} }}"):
        assert not left.event.is_set()
        break
    assert left.event.is_set()


def test_a_context_manager_closes_the_source(schema, left):
    """With `with` and with `async with`."""
    with schema.subscribe("subscription { waits }") as stream:
        assert next(stream)["waits"] == 0
    assert left.event.is_set()
    left.event.clear()

    async def asynchronous():
        async with schema.subscribe("subscription { waits }") as stream:
            assert (await anext(stream))["waits"] == 0
        return left.event.is_set()

    assert asyncio.run(asynchronous())


def test_a_cancelled_step_closes_the_source(schema, left):
    """Waiting for an event can be interrupted."""

    async def cancelled():
        stream = schema.subscribe("subscription { waits }")
        await anext(stream)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(stream), 0.01)
        # From Python 3.12 on, a task of graphql-core 3.2 closes the source after this one goes on.
        assert await asyncio.to_thread(left.event.wait, 60)
        with pytest.raises(StopAsyncIteration):
            await anext(stream)

    asyncio.run(cancelled())


def test_graphql_core_subscribes_to_the_same_schema(schema):
    """`.graphql` can be streamed by graphql-core alone."""

    async def collected(text):
        made = graphql.subscribe(schema.graphql, parse(text))
        made = await made if asyncio.iscoroutine(made) else made
        return [result.data async for result in made]

    assert asyncio.run(collected("subscription { plain(to: 2) }")) == [{"plain": 0}, {"plain": 1}]


def test_a_function_bound_again_serves_the_next_subscription(schema):
    """As a cell that is run again does."""

    @schema.resolver("Subscription.count")
    def count(root, args, context):
        yield 42

    assert next(schema.subscribe("subscription { count(to: 1) }")).data == {"count": 42}


def test_each_event_has_its_own_budget(schema):
    """An event over budget is one result without data; the next starts anew."""
    text = "subscription { thing { thing square } }"
    assert len(list(schema.subscribe(text, limits=Limits(fields=3)))) == 2
    results = list(schema.subscribe(text, limits=Limits(fields=2)))
    assert [result.data for result in results] == [None, None]
    assert "2 fields" in results[0].errors[0]["message"]
    with pytest.raises(QueryError, match=r"depth|levels"):
        schema.subscribe(text, limits=Limits(depth=1))


def test_an_event_with_a_hanging_resolver_is_abandoned():
    """The stream continues."""
    go = threading.Event()

    async def numbers(root, args, context):
        yield {"square": 1}
        yield {"square": 2}

    def hangs(thing, args, context):
        return thing["square"] if thing["square"] == 2 or go.wait(PATIENCE) else None

    schema = Schema(SDL, {"Subscription": {"thing": numbers}, "Thing": {"square": hangs}})
    document = schema.parse_document("subscription { thing { square } }")
    limits = Limits(seconds=0.3)
    with subscribe_document(
        schema, document, limits=limits, run_in=background.run_in_thread
    ) as stream:
        assert "after 0.3 s" in next(stream).errors[0]["message"]
        go.set()
        assert next(stream).data == {"thing": {"square": 2}}


class Step:
    """An iterator that a test lets go on."""

    def __init__(self):
        self.entered, self.go, self.closed = (threading.Event() for _ in range(3))

    def __iter__(self):
        return self

    def __next__(self):
        self.entered.set()
        assert self.go.wait(PATIENCE)
        return 1

    def close(self):
        """Note it."""
        self.closed.set()


def test_an_iterator_abandoned_during_a_step_is_closed_after_it():
    """No caller blocks on the step."""
    iterator = Step()

    async def left():
        steps = ThreadedIterator(iterator)
        step = asyncio.ensure_future(anext(steps))
        await background.run_in_thread(lambda: iterator.entered.wait(PATIENCE))
        step.cancel()
        await steps.aclose()
        assert not iterator.closed.is_set()
        iterator.go.set()
        await background.run_in_thread(lambda: iterator.closed.wait(PATIENCE))
        with pytest.raises(StopAsyncIteration):
            await anext(steps)

    asyncio.run(left())
    assert iterator.closed.is_set()


def test_a_generator_waiting_for_a_queue_does_not_block_others():
    """Two wait concurrently on one loop."""
    first, second = queue.Queue(), queue.Queue()

    def source(root, args, context):
        yield (context.get(timeout=PATIENCE))

    schema = Schema(SDL, {"Subscription": {"wrapped": source}})

    async def both():
        text = "subscription { wrapped }"
        one = asyncio.ensure_future(anext(schema.subscribe(text, context=first)))
        other = asyncio.ensure_future(anext(schema.subscribe(text, context=second)))
        await asyncio.sleep(0)
        second.put(2)
        assert (await other).data == {"wrapped": 2}
        first.put(1)
        assert (await one).data == {"wrapped": 1}

    asyncio.run(both())


@pytest.mark.skipif(
    not IS_GRAPHQL_33, reason="graphql-core 3.2 has no middleware for subscriptions"
)
def test_an_adopted_schema_subscribes_with_its_options():
    """Middleware sees the events."""
    schema = graphql.build_schema("type Query { a: Int } type Subscription { n: Int }")

    async def events(root, info):
        yield {"n": 1}

    schema.subscription_type.fields["n"].subscribe = events
    adopted = Schema.adopt(schema, middleware=[lambda follow, *a, **k: follow(*a, **k) + 1])
    assert next(adopted.subscribe("subscription { n }")).data == {"n": 2}
