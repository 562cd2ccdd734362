"""Which thread runs what, and for how long."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import weakref

import pytest
from graphql import GraphQLError

from gqlnb.engine.execution_budget import format_time_limit
from gqlnb.engine.graphql_compat import IS_GRAPHQL_33
from gqlnb.engine.schema import Schema, get_adapter
from gqlnb.http.messages import Request
from gqlnb.http.server_rules import ServerRules
from gqlnb.limits import Limits
from gqlnb.server.request_executor import RequestExecutor

SOON = Limits(seconds=0.1)
STOPPED = {"errors": [{"message": format_time_limit(0.1)}], "data": None}


@pytest.fixture
def gate():
    """Return what a resolver waits for until the test ends."""
    made = threading.Event()
    yield made
    made.set()


@pytest.fixture
def schema(gate):
    """Return a schema with resolvers that hang, on the loop and in a thread."""

    async def endless(*_):
        await asyncio.Event().wait()

    async def impatient(*_):
        raise TimeoutError

    def refuses(*_):
        msg = "no"
        raise GraphQLError(msg)

    query = {
        "hello": lambda *_: "Hello world!",
        "hangs": lambda *_: gate.wait(20),
        "endless": endless,
        "impatient": impatient,
        "fails": lambda *_: 1 / 0,
        "refuses": refuses,
        "thread": lambda *_: threading.current_thread().name,
    }
    sdl = """type Query { hello: String hangs: Boolean endless: Int impatient: Int thread: String
      fails: Int refuses: Int }"""
    return Schema(sdl, {"Query": query})


def run(schema, query, limits=SOON, **members):
    """Return the members of an answer."""
    execute = RequestExecutor(schema, ServerRules(limits=limits))
    return asyncio.run(execute(Request(query, **members))).members


class Values(dict):
    """Variables, or a context."""


# Functions of graphql-core 3.2 that await a value refer to its error, and are in its traceback.
@pytest.mark.parametrize(
    "field", ["thread", "fails", "refuses", *(["impatient"] if IS_GRAPHQL_33 else [])]
)
def test_values_are_freed_without_the_garbage_collector(schema, field):
    """With the response: those of megabytes should not wait for each other."""
    execute = RequestExecutor(schema, ServerRules())

    async def run_once():
        values = Values(yes=True), Values()
        query = f"query ($yes: Boolean!) {{ {field} hello @include(if: $yes) }}"
        done = await execute(Request(query, values[0], context=values[1]))
        assert done.members["data"]["hello"]
        return [weakref.ref(value) for value in values]

    async def run_twice():  # by graphql-core's methods, then compiled
        for _ in range(2):
            references = await run_once()
            async with asyncio.timeout(20):  # the thread drops its own after it has answered
                while any(reference() is not None for reference in references):
                    await asyncio.sleep(0.001)

    gc.collect()
    gc.disable()
    try:
        asyncio.run(run_twice())
    finally:
        gc.enable()


def test_the_log_has_the_number_of_hanging_threads(schema, caplog):
    """With the name of the operation."""
    with caplog.at_level(logging.WARNING, "gqlnb"):
        enough = Limits(seconds=0.5)  # to begin, also where much else runs
        run(schema, "query Slow { hangs }", enough)
        run(schema, "query Slow { hangs }", enough, operation_name="Slow")
    assert "Operation without a name ran for more than 0.5 s" in caplog.text
    assert "Operation Slow ran for more than 0.5 s" in caplog.text
    assert "Worker threads that hang: " in caplog.text


def test_execution_stops_after_a_timeout(gate):
    """When the hanging resolver returns, no further resolver runs."""
    ended, ran = threading.Event(), threading.Event()

    query = {"hangs": lambda *_: gate.wait(20), "more": lambda *_: ran.set()}
    schema = Schema("type Query { hangs: Boolean more: Int }", {"Query": query})
    adapter = get_adapter(schema)
    execute_document = adapter.execute_document

    def execute_and_tell(*given, **options):
        try:
            return execute_document(*given, **options)
        finally:
            ended.set()

    adapter.execute_document = execute_and_tell
    assert run(schema, "{ hangs more }") == STOPPED
    gate.set()
    assert ended.wait(20)
    assert not ran.is_set()


def test_a_hanging_async_resolver_is_cancelled():
    """None of its code runs after the response."""
    ended = []

    async def endless(*_):
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    schema = Schema("type Query { endless: Int }", {"Query": {"endless": endless}})
    assert run(schema, "{ endless }") == STOPPED
    assert ended == [True]


def test_a_timeout_error_of_a_resolver_is_a_field_error(schema):
    """It is masked like any other exception."""
    members = run(schema, "{ hello impatient }")
    assert members["data"] == {"hello": "Hello world!", "impatient": None}


def test_without_a_limit_no_resolver_times_out(schema, gate):
    """None waits indefinitely."""
    threading.Timer(0.05, gate.set).start()
    assert run(schema, "{ hangs }", Limits(seconds=None)) == {"data": {"hangs": True}}
