"""Answers in parts, `@defer` and `@stream`, as GraphQL Yoga gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gqlnb import Client, QueryError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.servers.processes import ServerProcess

yoga = pytest.mark.parametrize("server", ["yoga"], indirect=True)
DEFER = "{ slow { quick ... @defer { slow } } }"
STREAM = "query ($n: Int!) { streamed(count: $n) @stream(initialCount: 2) }"


@yoga
def test_deferred_fields_arrive_later(client: Client) -> None:
    """Each Result is the data so far; the last one is complete."""
    results = list(client.subscribe(DEFER))
    assert results[0].data == {"slow": {"quick": "quick"}}
    assert results[-1].data == {"slow": {"quick": "quick", "slow": "slow"}}
    assert len(results) == 2


@yoga
@pytest.mark.parametrize("loaded", [False, True])
def test_streamed_items_arrive_later(client: Client, loaded: bool) -> None:
    """With and without the schema, which declares both directives."""
    if loaded:
        assert {"defer", "stream"} <= {it.name for it in client.schema.directives}
    results = list(client.subscribe(STREAM, {"n": 20}))
    assert results[0].data == {"streamed": [0, 1]}
    assert results[-1].data == {"streamed": list(range(20))}
    assert len(results) > 2


@yoga
def test_streamed_objects_make_a_frame(client: Client, library: dict[str, Any]) -> None:
    """The last Result has the frame of a query that is answered at once."""
    text = "{ streamedBooks(limit: 30) %s { number title pages genre } }"
    *_, last = client.subscribe(text % "@stream(initialCount: 0)")
    whole = Client(client.source).execute(text % "").frame()
    assert last.frame().equals(whole)
    assert whole["number"].tolist() == [book["number"] for book in library["books"][:30]]


@yoga
def test_a_deferred_field_that_fails(client: Client) -> None:
    """Is null, and its error is in the last Result."""
    *_, last = client.subscribe("{ slow { quick ... @defer { slow fails } } }")
    assert last.data == {"slow": {"quick": "quick", "slow": "slow", "fails": None}}
    assert [error["message"] for error in last.errors] == ["It is too slow."]


@pytest.mark.parametrize("name", ["apollo", "mercurius", "strawberry", "ariadne"])
def test_a_server_without_incremental_delivery_is_an_error(
    name: str, shared_server: Callable[[str], ServerProcess]
) -> None:
    """Its schema has no such directive."""
    client = Client(shared_server(name).url)
    with pytest.raises(QueryError, match=r"defer"):
        list(client.subscribe("{ person { name ... @defer { fails } } }"))
