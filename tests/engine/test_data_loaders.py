"""aiodataloader's batches in a cell, on a running loop and on a server."""

from __future__ import annotations

import asyncio
from functools import cached_property

import pytest

from gqlnb import Client, Schema
from gqlnb.server.background_server import serve

aiodataloader = pytest.importorskip("aiodataloader", reason="aiodataloader is not installed.")
SDL = "type Query { posts: [Post] } type Post { id: ID author: User } type User { name: String }"
TEXT = "{ posts { id author { name } } }"


@pytest.fixture
def batches():
    """Return the list of the batches that were loaded."""
    return []


@pytest.fixture
def schema(batches):
    """Return a schema with a loader for each operation."""

    async def load_users(keys):
        batches.append(list(keys))
        return [{"name": f"user {key}"} for key in keys]

    class Loaders:
        @cached_property  # made on the loop that executes the operation
        def users(self):
            return aiodataloader.DataLoader(load_users)

    async def author(root, _args, context):
        return await context.users.load(root["id"] % 3)

    rows = [{"id": number} for number in range(30)]
    resolvers = {"Query": {"posts": lambda *_: rows}, "Post": {"author": author}}
    return Schema.adopt(Schema(SDL, resolvers).graphql, context=Loaders)


def check(data):
    """Check the data of an answer."""
    assert [row["author"]["name"] for row in data["posts"]] == [f"user {n % 3}" for n in range(30)]


def test_one_batch_for_each_operation(schema, batches):
    """In a cell, compiled or not; nothing is kept from one operation to the next."""
    for _ in range(4):
        check(schema.execute(TEXT).data)
    assert batches == [[0, 1, 2]] * 4


def test_batches_on_a_running_loop(schema, batches):
    """Two operations at once have a batch each."""

    async def execute_twice():
        return await asyncio.gather(schema.aexecute(TEXT), schema.aexecute(TEXT))

    for result in asyncio.run(execute_twice()):
        check(result.data)
    assert batches == [[0, 1, 2]] * 2


def test_batches_on_a_server(schema, batches):
    """The same, for requests."""
    with serve(schema, port=0) as server:
        client = Client(server.url)
        for _ in range(4):
            check(client.execute(TEXT).data)
    assert batches == [[0, 1, 2]] * 4


def test_a_plain_resolver_that_returns_a_future_gets_advice():
    """The message says how to write the resolver, here and in the exception of a server."""

    def author(root, _args, context):
        return aiodataloader.DataLoader(lambda keys: keys).load(root["id"])

    resolvers = {"Query": {"posts": lambda *_: [{"id": 1}]}, "Post": {"author": author}}
    schema = Schema(SDL, resolvers)
    advice = "make it 'async def', and await the future in it."
    assert schema.execute(TEXT).errors[0]["message"].endswith(advice)
    with serve(schema, port=0) as server:
        Client(server).execute(TEXT)
        error = server.error(server.log["error_id"].iloc[-1])
    assert error.__notes__[0].endswith(advice)
