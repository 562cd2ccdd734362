"""Rows of answers and rows of SQL, in a form in which they can be compared."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from gqlnb import Client
    from tests.servers.postgraphile.postgraphile import PostGraphile

    Connect = Callable[..., Client]
    Rows = Counter[tuple[Any, ...]]


def count_rows(rows: Iterable[Mapping[str, Any]]) -> Rows:
    """Return how many times each row is there; the order of rows and the names do not matter."""
    return Counter(tuple(row.values()) for row in rows)


def read_items(value: Any) -> list[Any]:
    """Return the items of a plain list, of a connection with `nodes` or `edges`, or an object."""
    if isinstance(value, list):
        return value
    if "edges" in value:
        return [edge["node"] for edge in value["edges"]]
    return value.get("nodes", [value])


def read_leaves(value: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the scalars of each innermost item below those of the items that it stands in.

    Of several lists beside each other, the first one counts.
    """
    if not isinstance(value, dict):
        yield (value,)
        return
    scalars = tuple(it for it in value.values() if not isinstance(it, dict | list))
    inner = next((it for it in value.values() if isinstance(it, dict | list)), None)
    if inner is None:
        yield scalars
        return
    for item in read_items(inner):
        for rest in read_leaves(item):
            yield (*scalars, *rest)


def check_pages(
    connect: Connect, server: PostGraphile, text: str, rows: Rows, **options: Any
) -> None:
    """Assert that a fresh client gets each row as often as the table has it, and all are proved.

    The server accepts each request, and the report counts them all.
    """
    server.take_requests()
    result = connect(server).execute_all(text, follow="all", **options)
    requests = server.take_requests()
    assert Counter(read_leaves(result.data)) == rows
    assert result.report.complete, result.report
    assert {request.status for request in requests} == {200}
    assert result.report.requests == len(requests)
