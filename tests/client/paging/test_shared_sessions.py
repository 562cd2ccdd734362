"""Pages that an endpoint answers alone, but not beside others in one request."""

from __future__ import annotations

from typing import Any

import pytest

from gqlnb import Client, Schema, serve
from tests.client.paging.lists import fail

SDL = """
type Query { rows(limit: Int = 20, offset: Int = 0): [Row!]! row(id: Int!): Row }
type Row { id: Int! parts(limit: Int = 10, offset: Int = 0): [Part!]! } type Part { id: Int! }
"""
COUNT = 47


def build_schema(*, shared: bool, forbidden: int | None = None) -> tuple[Schema, list[int]]:
    """Return a schema of rows with 0 to 46 parts, and a list of the fields of each request."""
    fields: list[int] = []

    def cut(ids: range, args: dict[str, Any]) -> list[dict[str, int]]:
        return [{"id": n} for n in ids[args["offset"] :][: args["limit"]]]

    def begin(context: Any) -> None:
        context["fields"] = context.get("fields", 0) + 1
        fields.append(context["fields"])
        if shared and context["fields"] > 1:
            fail("This session is provisioning a new connection")

    def resolve_row(_root: Any, args: dict[str, Any], context: Any) -> Any:
        begin(context)
        return fail("Not for you") if args["id"] == forbidden else args

    def resolve_rows(_root: Any, args: dict[str, Any], context: Any) -> Any:
        begin(context)
        return cut(range(COUNT), args)

    def resolve_parts(row: dict[str, int], args: dict[str, Any], _context: Any) -> Any:
        return cut(range(row["id"] * 100, row["id"] * 100 + row["id"]), args)

    resolvers = {
        "Query": {"rows": resolve_rows, "row": resolve_row},
        "Row": {"parts": resolve_parts},
    }
    return Schema(SDL, resolvers), fields


def fetch_parts(schema: Schema) -> Any:
    """Return the result of all pages, from a server with a context for each request."""
    with serve(schema, port=0, context=lambda _request: {}) as server, Client(server.url) as client:
        return client.execute_all("{ rows { id parts { id } } }", progress=False)


def test_pages_that_fail_together_are_requested_alone():
    """Strawchemy 0.24 has one session of SQLAlchemy for the fields of a request."""
    schema, _ = build_schema(shared=True)
    result = fetch_parts(schema)
    assert [len(row["parts"]) for row in result.data["rows"]] == [*range(COUNT)]
    assert result.report.complete, result.report.doubts


@pytest.mark.filterwarnings("ignore:The result may be incomplete")
def test_a_page_that_fails_alone_leaves_requests_as_they_were():
    """It is no fault of the others."""
    schema, fields = build_schema(shared=False, forbidden=35)
    result = fetch_parts(schema)
    assert not result.report.complete
    assert fields.count(1) < 25  # one for each request; 60 if each page were requested alone
