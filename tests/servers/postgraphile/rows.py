"""Rows of answers and rows of SQL, in a form in which they can be compared."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


def count_rows(rows: Iterable[Mapping[str, Any]]) -> Counter[tuple[Any, ...]]:
    """Return how many times each row is there; the order of rows and the names do not matter."""
    return Counter(tuple(row.values()) for row in rows)


def read_items(value: Any) -> list[Any]:
    """Return the items of a plain list, or of a connection with `nodes` or `edges`."""
    if isinstance(value, list):
        return value
    return value["nodes"] if "nodes" in value else [edge["node"] for edge in value["edges"]]


def read_leaves(value: Any, *path: str) -> Iterator[tuple[Any, ...]]:
    """Yield the scalars of each innermost item below those of the items that it stands in.

    Parameters
    ----------
    value
        An object of the answer.
    *path
        Names of the lists and connections to go through, outermost first.
    """
    if not path:
        yield ()
        return
    name, *inner = path
    for item in read_items(value[name]):
        scalars = (item,)
        if isinstance(item, dict):
            scalars = tuple(one for one in item.values() if not isinstance(one, (dict, list)))
        for rest in read_leaves(item, *inner):
            yield (*scalars, *rest)
