"""From a place in an answer back to the text: which field was selected where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from graphql import FieldNode, FragmentSpreadNode

if TYPE_CHECKING:
    from gqlnb.model.document import Document

__all__ = ["line_of_path", "selected_at"]


def selected_at(document: Document, path: Any) -> FieldNode | None:
    """Return the field that a response path leads to, or the last one on the way that is known.

    Parameters
    ----------
    document
        What was executed.
    path
        Names of the response and positions in lists, as an error gives them; anything else has no
        field.
    """
    if not isinstance(path, Sequence) or isinstance(path, str):
        return None
    sets: list[Any] = [document.operation.selection_set]
    found: FieldNode | None = None
    for step in path:
        if not isinstance(step, str):
            continue
        here = [node for node in fields(document, sets) if (node.alias or node.name).value == step]
        if not here:
            break
        found = here[0]
        sets = [node.selection_set for node in here if node.selection_set is not None]
    return found


def fields(document: Document, sets: list[Any]) -> Iterator[FieldNode]:
    """Yield the fields of selection sets, those of their fragments too."""
    fragments, seen, waiting = document.fragments, set[str](), list(reversed(sets))
    while waiting:
        for node in waiting.pop().selections:
            if isinstance(node, FieldNode):
                yield node
            elif not isinstance(node, FragmentSpreadNode):
                waiting.append(node.selection_set)
            elif node.name.value in fragments and node.name.value not in seen:
                seen.add(node.name.value)
                waiting.append(fragments[node.name.value].selection_set)


def line_of_path(document: Document | None, path: Any) -> int | None:
    """Return the line of the text that selects what a response path leads to, counted from 1."""
    node = None if document is None else selected_at(document, path)
    return None if node is None or node.loc is None else node.loc.start_token.line
