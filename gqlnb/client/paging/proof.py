"""Doubts about completeness: a list counts as complete only if nothing speaks against it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gqlnb.client.paging.cursors import ListCursor
    from gqlnb.model.paged_fields import PagedField

SEEN = 20  # items of a list that are looked into

__all__ = ["describe_doubt", "find_null", "find_unknown_lists", "list_places"]


def describe_doubt(cursor: ListCursor) -> str | None:
    """Return why a list may be incomplete although the endpoint says that it ended; or None."""
    counted = cursor.total is not None
    if counted and cursor.got != cursor.total and not cursor.is_outermost:
        more = "more" if cursor.got > (cursor.total or 0) else "fewer"
        return f"{more} items came than the endpoint counts."
    if cursor.ambiguous:
        return "the same id came with different items, so rows cannot be told apart."
    if cursor.overlaps:
        return (
            "pages overlapped or came twice, and nothing tells their rows apart. "
            "Select a field that identifies them."
        )
    if cursor.duplicates and not (counted and cursor.is_recounted):
        return (
            f"{cursor.duplicates:,} items came twice, so items moved between pages, and others may "
            "have been missed. Select a count of all items, if there is one, or an order that does "
            "not change."
        )
    return None


def find_unknown_lists(data: Any, fields: Sequence[PagedField]) -> Iterator[str]:
    """Yield the dotted names of lists in an answer that no paged field explains.

    Without a schema nobody knows whether such a list has arguments for further pages.
    """
    followed = {place for field in fields for place in list_places(field)}
    found: dict[str, None] = {}
    waiting: list[tuple[Any, tuple[str, ...]]] = [(data, ())]
    while waiting:
        value, steps = waiting.pop()
        if isinstance(value, list):
            if steps not in followed:
                found[".".join(steps)] = None
            waiting.extend((item, steps) for item in value[:SEEN])
        elif isinstance(value, dict):
            waiting.extend((inner, (*steps, name)) for name, inner in value.items())
    yield from found


def find_null(data: Any, path: Sequence[str | int]) -> tuple[str, ...] | None:
    """Return the response names that lead to the first null on a path; None if there is none."""
    names: list[str] = []
    for step in path:
        if data is None:
            break
        if isinstance(step, str):
            names.append(step)
            data = data.get(step) if isinstance(data, dict) else None
        else:
            data = data[step] if isinstance(data, list) and step < len(data) else None
    return tuple(names) if data is None and names else None


def list_places(field: PagedField) -> Iterator[tuple[str, ...]]:
    """Yield the response names from the data to the lists of a field."""
    steps = tuple(step for step in field.steps if step)
    outer = () if field.outer is None else _page_place(field.outer)
    for each in field.items:
        yield (*outer, *steps, each.key) if each.key else (*outer, *steps)


def _page_place(field: PagedField) -> tuple[str, ...]:
    """Return the response names from the data to the pages of a field."""
    outer = () if field.outer is None else _page_place(field.outer)
    return (*outer, *(step for step in field.steps if step))
