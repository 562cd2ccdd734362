"""Write a schema, and serve it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, assert_type

import gqlnb
from gqlnb import Access, Limits, Result, Schema, Server, Token

schema = Schema("type Query { books: [String!]! } type Subscription { ticks: Int! }")


@schema.resolver("Query.books")
def list_books(root: Any, args: dict[str, Any], context: Any) -> list[str]:
    """Return all books."""
    return ["Emma"]


@schema.resolver("Subscription.ticks")
async def tick(root: Any, args: dict[str, Any], context: Any) -> AsyncIterator[int]:
    """Count."""
    yield 1


def serve() -> None:
    """Serve it with a token and limits."""
    assert_type(schema.execute("{ books }", context={"user": 1}), Result)
    assert_type(list_books(None, {}, None), list[str])
    limits, access = Limits(depth=5), Access(origins=["http://localhost:5173"])
    with gqlnb.serve(schema, token=Token.from_env("KEY"), limits=limits, access=access) as server:
        assert_type(server, Server)
        server.wait()
    gqlnb.serve(schema, prot=5)  # type: ignore[call-arg]
    Limits(deptht=5)  # type: ignore[call-arg]
