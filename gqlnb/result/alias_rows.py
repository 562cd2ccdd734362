"""Aliases of one type as rows: the objects of ``a: repository(...)`` and ``b: repository(...)``."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from gqlnb.errors import FrameError, sanitize_text
from gqlnb.result.shape import Shape
from gqlnb.result.table_reader import AnswerData
from gqlnb.result.tables import follow_path

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["ALIASES", "combine_aliases"]

ALIASES = "*"  # stands for the aliases in a path
ALIAS_COLUMN = "field"


def combine_aliases(answer: AnswerData, data: object, path: str) -> AnswerData:
    """Return an answer with a list of the objects under several names, at the path of the list.

    Parameters
    ----------
    answer
        The answer.
    data
        Its data, with exact decimals.
    path
        The path to the object with the aliases, and ``*``: ``"*"``, ``"organization.*"``.

    Raises
    ------
    FrameError
        If the object does not exist, or has no objects of one type alone.
    """
    above, _, _ = path.partition(ALIASES)
    names = tuple(above.split(".")[:-1])
    place: Shape | None = answer.shape
    for name in names:
        place = place.children.get(name) if place is not None and not place.lists else None
    shapes = _find_aliases(place.children if place is not None else {}, path)
    merged = _merge_shapes(list(shapes.values()))
    column = ALIAS_COLUMN
    while column in merged.children:  # as for keys: the nearest of equal names gets the plain one
        column = f"parent.{column}"
    found = follow_path(data, names)
    rows = [
        {column: name, **(item if isinstance(item, dict) else {})}
        for name, shape in shapes.items()
        for item in _list_items(found.get(name) if isinstance(found, dict) else None, shape)
    ]
    label = Shape("String", field_name=column, nullable=False)
    listed = replace(merged, lists=1, children={column: label, **merged.children}, cache={})
    place_name = f"{above}{ALIASES}"
    beside = {} if names else {k: v for k, v in answer.shape.children.items() if k not in shapes}
    root = replace(answer.shape, children={place_name: listed, **beside}, cache={})
    others = data if isinstance(data, dict) else {}
    whole = AnswerData(SimpleNamespace(data={**others, place_name: rows}), root, None, answer.forms)
    whole.infers = answer.infers
    whole.remarks, whole.inferred = answer.remarks, answer.inferred
    whole.renumbered = answer.renumbered
    return whole


def _list_items(value: Any, shape: Shape) -> Sequence[object]:  # noqa: ANN401 - JSON values
    """Return the rows of an alias: the items of a list without null, else the object or null."""
    if not shape.lists:
        return [value]
    return [item for item in value if item is not None] if isinstance(value, list) else []


def _find_aliases(fields: Mapping[str, Shape], path: str) -> dict[str, Shape]:
    """Return the fields with objects, or lists of objects, of the only type with several."""
    groups: defaultdict[tuple[object, int], dict[str, Shape]] = defaultdict(dict)
    for name, shape in fields.items():
        if shape.composite and shape.lists <= 1:
            groups[shape.type or shape.field_name, shape.lists][name] = shape
    several = [group for group in groups.values() if len(group) > 1] or list(groups.values())
    if len(several) == 1:
        return several[0]
    listed = "; ".join(
        f"{', '.join(map(repr, group))} of type {next(iter(group.values())).type}"
        for group in several
    )
    msg = (
        f"path={sanitize_text(path, 80)!r} takes the aliases of one type as rows. The answer has "
        f"there: {listed or 'no object'}."
    )
    raise FrameError(msg)


def _merge_shapes(shapes: Sequence[Shape]) -> Shape:
    """Return the shape of values that have one of several shapes."""
    first = shapes[0]
    if len({(shape.type, shape.lists, shape.values, shape.composite) for shape in shapes}) > 1:
        return Shape(mixed_kinds="values of several types", field_name=first.field_name)
    names = dict.fromkeys(name for shape in shapes for name in shape.children)
    children = {
        name: _merge_shapes([it.children[name] for it in shapes if name in it.children])
        for name in names
    }
    return replace(first, children=children, nullable=True, is_conditional=True, cache={})
