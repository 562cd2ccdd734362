"""Failures reported with status 200, for every kind of request."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from gqlnb import Client, GqlnbError, TransportError
from gqlnb.server.app import App
from tests.asgi import read_body, receive_again, send_answer
from tests.client.faults import answer, json_answer
from tests.client.paging.faulty_connections import FAULTS, QUERY, TOTAL, Items, ids, served
from tests.examples import select_combinations

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = "Something went wrong while executing your query."
FAULTY = {
    "null": json_answer({"data": None, "errors": [{"message": WORDS}]}),
    "missing": json_answer({"errors": [{"message": WORDS}]}),
    "nulls": json_answer({"data": {"a": None}, "errors": [{"message": WORDS}]}),
    "timedout": json_answer({"data": None, "errors": [{"message": "The query timedout."}]}),
    "internal": json_answer({"data": None, "errors": [{"message": "Oops.", "type": "INTERNAL"}]}),
    "text": answer('{"data":"null"}'),
}
RIGHT = json_answer({"data": {"a": 1}})


def ask_many(client: Client, text: str) -> Any:
    """Execute a document as one of several."""
    (outcome,) = client.execute_many([text], return_errors=True)
    if isinstance(outcome, GqlnbError):
        raise outcome
    return outcome


ASKS: dict[str, Callable[[Client, str], Any]] = {
    "execute": lambda client, text: client.execute(text),
    "aexecute": lambda client, text: asyncio.run(client.aexecute(text)),
    "in_turn": lambda client, text: client._execute_in_turn(text),
    "execute_many": ask_many,
}
QUERIES = {
    **ASKS,
    "execute_all": lambda client, text: client.execute_all(text),
    "aexecute_all": lambda client, text: asyncio.run(client.aexecute_all(text)),
    "pages": lambda client, text: next(client.pages(text)),
}


@pytest.mark.parametrize("way", QUERIES)
def test_usable_data_are_returned(endpoint, way):
    """A root field with a value makes the result partial; nothing is sent again."""
    body = {"data": {"a": 1, "b": None}, "errors": [{"message": WORDS, "path": ["b"]}]}
    server = endpoint(json_answer(body), RIGHT)
    client = Client(server.url, schema="type Query { a: Int b: Int }")
    result = QUERIES[way](client, "{ a b }")
    assert result.data == {"a": 1, "b": None}
    assert [error["message"] for error in result.errors] == [WORDS]
    assert len(server.requests) == 1


@pytest.mark.parametrize(("way", "fault"), select_combinations(QUERIES, FAULTY))
def test_a_query_is_retried(endpoint, way, fault):
    """It returns the data of the next attempt."""
    server = endpoint(FAULTY[fault], FAULTY[fault], RIGHT)
    client = Client(server.url, schema="type Query { a: Int }")
    assert QUERIES[way](client, "{ a }").data == {"a": 1}
    assert len(server.requests) == 3


@pytest.mark.parametrize(("way", "fault"), select_combinations(QUERIES, FAULTY))
def test_a_persistent_failure_is_a_transport_error(endpoint, way, fault):
    """With the endpoint's message, after four attempts, and never about the schema."""
    server = endpoint(FAULTY[fault])
    client = Client(server.url, schema="type Query { a: Int }")
    with pytest.raises(TransportError, match="HTTP 200, and the endpoint failed") as caught:
        QUERIES[way](client, "{ a }")
    assert type(caught.value) is TransportError
    assert caught.value.transient
    words = {"timedout": "The query timedout.", "internal": "Oops.", "text": "Gave up"}
    assert words.get(fault, WORDS) in str(caught.value)
    assert "Gave up after 4 attempts" in str(caught.value)
    assert len(server.requests) == 4


@pytest.mark.parametrize(("way", "fault"), select_combinations(ASKS, FAULTY))
def test_a_mutation_is_sent_once(endpoint, way, fault):
    """The error has the endpoint's message and the advice to check the outcome."""
    server = endpoint(FAULTY[fault], RIGHT)
    with pytest.raises(TransportError, match="Check before sending it again") as caught:
        ASKS[way](Client(server.url), "mutation { a }")
    assert caught.value.transient
    assert len(server.requests) == 1


class Faulty:
    """An application whose answers to some queries are transient failures.

    Parameters
    ----------
    app
        What answers the others.
    numbers
        Which queries fail, counted from 0, introspection apart.
    """

    def __init__(self, app: App, numbers: range) -> None:
        self._app, self._numbers = app, numbers
        self._count = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        body = await read_body(receive)
        if b"__schema" not in body:
            self._count += 1
            if self._count - 1 in self._numbers:
                await send_answer(send, {"data": {"items": None}, "errors": [{"message": WORDS}]})
                return
        await self._app(scope, receive_again(body), send)


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("way", ["execute_all", "aexecute_all"])
def test_paging_loses_no_items(place, times, way):
    """Whether the first page fails or a later one."""
    schema = served(Items(FAULTS["right"].spoil))
    client = Client(Faulty(App(schema), range(place, place + times)))
    result = QUERIES[way](client, QUERY)
    assert sorted(ids(result.data)) == list(range(TOTAL))
    assert result.report.complete
