"""Rows, dtypes and requests do not depend on whether the schema was loaded before.

Schemas, data and queries are those of the test of pages; they are asked over HTTP, on two fresh
clients, one of which looked at the schema first.
"""

from __future__ import annotations

import asyncio
import warnings
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from gqlnb import Client, serve
from gqlnb.client.http_transport import HttpTransport
from tests.property.test_pages import schema_of, text_of, worlds

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb import Result


async def collect(client: Client, text: str) -> list[Result]:
    """Return the pages of `apages`."""
    return [page async for page in client.apages(text)]


CALLS: dict[str, Callable[[Client, str], list[Result]]] = {
    "execute": lambda client, text: [client.execute(text)],
    "aexecute": lambda client, text: [asyncio.run(client.aexecute(text))],
    "execute_all": lambda client, text: [client.execute_all(text)],
    "aexecute_all": lambda client, text: [asyncio.run(client.aexecute_all(text))],
    "pages": lambda client, text: list(client.pages(text)),
    "apages": lambda client, text: asyncio.run(collect(client, text)),
    "execute_many": lambda client, text: list(client.execute_many([text, text])),
}


def describe(result: Result) -> Any:
    """Return what can be compared of a result: data, frames with their dtypes, and the report."""
    frames = {
        name: (frame.dtypes.astype(str).to_dict(), frame.to_json(), frame.attrs["partial"])
        for name, frame in result.frames.items()
    }
    return result.data, frames, result.report


def ask(url: str, call: Callable[[Client, str], list[Result]], text: str, *, first: bool) -> Any:
    """Return the results of a call on a fresh client, and the requests apart from introspection."""
    sent: list[Any] = []
    real = HttpTransport.send

    def send(self: HttpTransport, request: Any) -> Any:
        if "__schema" not in request.query:
            sent.append((request.query, repr(request.variables)))
        return real(self, request)

    async def asend(self: HttpTransport, request: Any) -> Any:
        return await asyncio.to_thread(send, self, request)

    with (
        pytest.MonkeyPatch.context() as patch,
        warnings.catch_warnings(record=True, action="always") as said,
    ):
        patch.setattr(HttpTransport, "send", send)
        patch.setattr(HttpTransport, "asend", asend)
        with Client(url) as client:
            if first:
                assert client.schema.query_type is not None
            results = [describe(each) for each in call(client, text)]
    return results, sorted(sent), sorted(str(each.message) for each in said)


@pytest.mark.parametrize("name", CALLS)
@settings(max_examples=4, deadline=None)
@given(world=worlds())
def test_inspecting_a_schema_does_not_change_results(name, world):
    """Each kind of call gives equal results, requests and warnings."""
    with serve(schema_of(world), port=0) as server:
        untouched, touched = (
            ask(server.url, CALLS[name], text_of(world), first=first) for first in (False, True)
        )
    assert untouched == touched
