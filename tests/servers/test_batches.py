"""Many documents at a time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gqlnb import BatchError, Client, QueryError

ECHO = "query ($text: String!) { echo(text: $text) }"
TEXTS = [f"Text {number}" for number in range(30)]


def test_results_come_in_order(client: Client) -> None:
    """By `execute_many` and `aexecute_many`."""
    documents = [(ECHO, {"text": text}) for text in TEXTS]
    results = client.execute_many(documents, concurrency=6)
    assert [result["echo"] for result in results] == TEXTS
    results = asyncio.run(client.aexecute_many(documents))
    assert [result["echo"] for result in results] == TEXTS


def test_failures_in_a_batch_are_in_order(client: Client) -> None:
    """Other queries have results; without `return_errors` one error describes all failures."""
    assert client.schema.query_type
    documents: list[Any] = ["{ hello }", "{ helo }", "{ person { fails } }"]
    fine, wrong, partial = client.execute_many(documents, return_errors=True)
    assert fine.data == {"hello": "Hello world!"}
    assert isinstance(wrong, QueryError)
    assert partial.data == {"person": {"fails": None}}
    assert partial.errors
    with pytest.raises(BatchError):
        client.execute_many(documents)


def test_frames_of_a_batch_have_the_types_of_the_schema(client: Client) -> None:
    """For a fresh client, without any earlier request."""
    texts = [f"{{ booksByOffset(offset: {n}, limit: 10) {{ number genre }} }}" for n in (0, 10)]
    first, second = (result.frame() for result in client.execute_many(texts))
    assert first["number"].tolist() + second["number"].tolist() == list(range(1, 21))
    assert str(first["genre"].dtype) == "category"
