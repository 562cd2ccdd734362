"""Persisted queries and arrays of requests, which some servers have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gqlnb import BatchError, Client

if TYPE_CHECKING:
    from tests.servers.proxy import Proxy

ECHO = "query ($text: String!) { echo(text: $text) }"
HASHING = ["apollo"]  # the others need a plug-in for it
TAKING_ARRAYS = ["apollo", "yoga", "mercurius"]


def test_persisted_queries(name: str, proxy: Proxy) -> None:
    """The text is sent once; a server without them costs one request, and is not asked again."""
    with Client(proxy.url, persisted_queries=True) as client:
        for number in range(3):
            assert client.execute(ECHO, {"text": str(number)})["echo"] == str(number)
    sent = [("query" in it, "extensions" in it) for it in proxy.bodies]
    later = (False, True) if name in HASHING else (True, False)
    assert sent == [(False, True), (True, True), later, later]


def test_arrays_of_requests(name: str, proxy: Proxy) -> None:
    """Ten requests in one; a server that takes no arrays is named, with the option."""
    documents = [(ECHO, {"text": str(number)}) for number in range(20)]
    with Client(proxy.url, batch=10) as client:
        if name in TAKING_ARRAYS:
            results = client.execute_many(documents, concurrency=1)
            assert [it["echo"] for it in results] == [str(number) for number in range(20)]
            assert list(map(len, proxy.bodies)) == [10, 10]
        else:
            with pytest.raises(BatchError, match=r"not accept an array of 10 requests.*batch="):
                client.execute_many(documents)
