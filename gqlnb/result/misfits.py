"""Values of an answer that do not fit its shape, found place by place."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gqlnb.result.decoder import Data
    from gqlnb.result.shape import Shape

__all__ = ["Misfit", "find_missing_fields", "iter_misfits"]

JSON_TYPE_NAMES = {
    type(None): "null",
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
}
Path = tuple[str | int, ...]


class Misfit(NamedTuple):
    """One value of an answer that does not fit its shape.

    Attributes
    ----------
    path
        Response names and indices below ``data``.
    wanted
        The GraphQL type.
    got
        The kind of the value in words; never the value, which may be confidential.
    absent
        Whether the value is null or missing, which an error of the answer may explain.
    """

    path: Path
    wanted: str
    got: str
    absent: bool


def find_missing_fields(shape: Shape, keys: Iterable[str], kind: str | None = None) -> set[str]:
    """Return the fields of fragments that an object with these keys lacks.

    Parameters
    ----------
    shape
        The shape of the object.
    keys
        Its response names.
    kind
        Its object type. If None (unknown), a fragment must be complete or absent: some of its
        fields may belong to other fragments too.
    """
    present = set(keys)
    missing: set[str] = set()
    if kind is not None:
        for kinds, names in shape.fragments.items():
            if kind in kinds:
                missing |= names - present
        return missing
    names = set().union(*shape.fragments.values())
    complete = [fields for fields in shape.fragments.values() if fields <= present]
    stray = (present & names).difference(*complete)
    for fields in shape.fragments.values():
        if fields & stray:
            missing |= fields - present
    return missing


def iter_misfits(shape: Shape, value: Data, path: Path = (), level: int = 0) -> Iterator[Misfit]:
    """Yield the misfits of a value and of everything below it, from the top down.

    `level` is the number of list levels of the shape that the value is inside of.
    """
    kind = type(value)
    is_list = level < shape.lists or (shape.may_be_lists and kind is list)
    if value is None:
        if not shape.is_nullable_at(level):
            yield Misfit(path, shape.get_type_text(level), "null", absent=True)
        return
    if is_list:
        fits = kind is list
    elif shape.composite:
        fits = kind is dict
    else:
        fits = shape.json_types is None or kind in shape.json_types
    if not fits:
        got = JSON_TYPE_NAMES.get(kind, kind.__name__)
        yield Misfit(path, shape.get_type_text(level), got, absent=False)
    elif is_list:
        below = level if shape.may_be_lists else level + 1
        for index, item in enumerate(value):
            yield from iter_misfits(shape, item, (*path, index), below)
    elif shape.composite:
        yield from _iter_field_misfits(shape, value, path)


def _iter_field_misfits(shape: Shape, value: dict[str, object], path: Path) -> Iterator[Misfit]:
    fragment_fields: set[str] = set()
    if shape.fragments:
        named = shape.children.get("__typename")
        kind = value.get("__typename") if named is not None and named.is_required else None
        fragment_fields = find_missing_fields(shape, value, kind if isinstance(kind, str) else None)
    for name, child in shape.children.items():
        if name not in value and (child.is_required or name in fragment_fields):
            yield Misfit((*path, name), child.type_text, "nothing", absent=True)
    for name, child in shape.children.items():
        if name in value:
            yield from iter_misfits(child, value[name], (*path, name))
