"""From a place in an answer back to the text: which field was selected where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from graphql import FieldNode, FragmentSpreadNode

if TYPE_CHECKING:
    from gqlnb.model.document import Document

__all__ = ["place_of_path", "selected_at"]


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


def place_of_path(
    document: Document, path: Any, above: int, place: str, own: int | None = None
) -> str:
    """Return where a text selects what a response path leads to; "" if that is unknown.

    Parameters
    ----------
    document, path
        As for :func:`selected_at`.
    above
        How many lines stand above the text.
    place
        The word before a line number.
    own
        How many lines of the text were written there; below them are saved fragments.
    """
    node = selected_at(document, path)
    if node is None or node.loc is None:
        return ""
    line = node.loc.start_token.line
    if own is None or line <= own:
        return f"{place} {line + above}"
    within = [
        name
        for name, fragment in document.fragments.items()
        if fragment.loc is not None and fragment.loc.start <= node.loc.start < fragment.loc.end
    ]
    return f"saved fragment {within[0]}" if within else ""
