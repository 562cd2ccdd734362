"""Pages as services build them, all pages as a client reads them, and what must hold of both."""

from __future__ import annotations

import re
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

from gqlnb import Client, Result, Schema

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_REQUESTS = 120  # of one test
USUAL_TYPES = {  # each may have fields of those below it
    "Edges": "{ edges: [Edge!]! pageInfo: PageInfo! }",
    "Nodes": "{ nodes: [Row!]! pageInfo: PageInfo! }",
    "Items": "{ items: [Row!]! }",
    "Edge": "{ cursor: String! node: Row! }",
    "PageInfo": "{ hasNextPage: Boolean! endCursor: String }",
    "Row": "{ id: ID! }",
}


def complete_sdl(sdl: str) -> str:
    """Return an SDL with the usual types that it names and does not define.

    What comes before the first definition are fields of the root.
    """
    definition = r"\b(?=(?:type|interface|input|enum|union|scalar) \w)"
    fields, *types = re.split(definition, sdl.strip(), maxsplit=1)
    if fields:
        sdl = " ".join([f"type Query {{ {fields} }}", *types])
    for name, body in USUAL_TYPES.items():
        if re.search(rf"\b{name}\b", sdl) and f"type {name} " not in sdl:
            sdl += f" type {name} {body}"
    return sdl


def fail(message: str) -> Any:
    """Raise an error with this message, as a resolver does."""
    raise ValueError(message)


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


def build_client(sdl: str, resolve: Any, types: Any = None) -> Client:
    """Return a client of a schema of lists.

    Parameters
    ----------
    sdl
        The SDL, or its parts that :func:`complete_sdl` does not know.
    resolve
        The resolver of all fields of the root, which gets the arguments; or a dict of them by name.
    types
        The resolvers of other types.
    """
    asked = 0

    def count(name: str, _root: Any, args: dict[str, Any], _context: Any) -> Any:
        nonlocal asked
        asked += 1
        assert asked <= MOST_REQUESTS, f"too many requests, the last with {args}"
        return (resolve[name] if isinstance(resolve, dict) else resolve)(args)

    sdl = complete_sdl(sdl)
    names = resolve if isinstance(resolve, dict) else Schema(sdl).graphql.query_type.fields
    fields = {name: partial(count, name) for name in names}
    return Client(Schema(sdl, {"Query": fields, **(types or {})}))


def fetch(sdl: str, resolve: Any, text: str, types: Any = None, **options: Any) -> Result:
    """Return all pages of a query, without the warning that only an incomplete result has."""
    client = build_client(sdl, resolve, types)
    with warnings.catch_warnings(record=True, action="always") as said:
        result = client.execute_all(text, progress=False, **options)
    assert not (result.report.complete and said), said
    return result


def read_rows(result: Result) -> list[Any]:
    """Return the rows of the list in the only root field."""
    (page,) = result.data.values()
    if isinstance(page, dict):
        page = next(value for value in page.values() if isinstance(value, list))
    return [row.get("node", row) for row in page]


def read_numbers(result: Result) -> list[int]:
    """Return the numbers in the identifiers or names of the rows."""
    return [int((row.get("id") or row["name"]).removeprefix("n")) for row in read_rows(result)]


def assert_whole(result: Result, numbers: Iterable[int]) -> None:
    """Assert that exactly the rows with these numbers came, and that the report says so."""
    assert read_numbers(result) == [*numbers]
    assert result.report.complete, result.report.doubts
