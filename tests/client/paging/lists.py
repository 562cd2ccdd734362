"""Pages as services build them, all pages as a client reads them, and what must hold of both."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from gqlnb import Client, Result, Schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["assert_whole", "build_client", "build_page", "build_rows", "fetch", "read_rows"]

MOST_REQUESTS = 60  # of one test


def build_rows(count: int) -> list[dict[str, str]]:
    """Return rows with the numbers from 0 as their identifiers."""
    return [{"id": str(number)} for number in range(count)]


def build_page(rows: list[Any], start: Any, size: int, **members: Any) -> dict[str, Any]:
    """Return a page of rows, with its parts under all of their usual names.

    A schema takes those that it declares. The cursors are offsets.
    """
    start = int(start or 0)
    page = rows[start : start + size]
    end = start + len(page)
    info = {"hasNextPage": end < len(rows), "endCursor": str(end) if page else None}
    edges = [{"cursor": str(number), "node": row} for number, row in enumerate(page, start + 1)]
    counts = dict.fromkeys(["total", "totalCount", "totalItems"], len(rows))
    lists = {"nodes": page, "items": page, "edges": edges}
    return {**lists, **counts, "pageInfo": info, **members}


def build_client(sdl: str, resolve: Callable[..., Any], types: Any = None) -> Client:
    """Return a client of a schema whose root fields have one resolver, which gets the arguments."""
    asked = 0

    def count(_root: Any, args: dict[str, Any], _context: Any) -> Any:
        nonlocal asked
        asked += 1
        assert asked <= MOST_REQUESTS, f"too many requests, the last with {args}"
        return resolve(args)

    fields = dict.fromkeys(Schema(sdl).graphql.query_type.fields, count)
    return Client(Schema(sdl, {"Query": fields, **(types or {})}))


def fetch(
    sdl: str, resolve: Callable[..., Any], text: str, types: Any = None, **options: Any
) -> Result:
    """Return all pages of a query, without the warning of an incomplete result."""
    client = build_client(sdl, resolve, types)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return client.execute_all(text, progress=False, **options)


def read_rows(result: Result) -> list[Any]:
    """Return the rows of the list in the only root field."""
    (page,) = result.data.values()
    if isinstance(page, dict):
        page = next(value for value in page.values() if isinstance(value, list))
    return [row.get("node", row) for row in page]


def assert_whole(result: Result, numbers: Iterable[int]) -> None:
    """Assert that exactly the rows with these identifiers came, and that the report says so."""
    assert [int(row["id"]) for row in read_rows(result)] == [*numbers]
    assert result.report.complete, result.report.doubts
