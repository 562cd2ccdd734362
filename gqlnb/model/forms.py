"""Forms of values that the names of their scalars do not tell, as earlier pages have shown them.

PostGraphile's `Datetime` is with and without a zone. The frame of a page whose values are all null
cannot show which, so it takes the form that the pages before it have shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.model import scalars

if TYPE_CHECKING:
    from gqlnb.model.shape import Shape

__all__ = ["NO_FORMS", "Forms", "observe_forms"]


class Forms(NamedTuple):
    """What is known of the forms of values before a page is read.

    Attributes
    ----------
    known
        The form of each leaf that had a value by now, itself included; empty for the form that the
        name of its scalar says.
    late
        The leaves whose form shows for the first time in this page, and is another one than the
        frames of earlier pages have, where all values are null.
    """

    known: Mapping[Shape, str]
    late: frozenset[Shape]


NO_FORMS = Forms(MappingProxyType({}), frozenset())


def observe_forms(shape: Shape | None, data: Any, before: Forms | None) -> Forms:
    """Return the forms known after a page.

    Parameters
    ----------
    shape
        The shape of the data; None where no schema is known.
    data
        The data of the page.
    before
        What was known before it; None for the first page.
    """
    if shape is None or not isinstance(data, dict):
        return before or NO_FORMS
    seen: dict[Shape, str] = {}
    known = NO_FORMS.known if before is None else before.known
    _observe(shape, [data], known, seen)
    if not seen:
        return Forms(known, frozenset())
    late = [leaf for leaf, form in seen.items() if form and before is not None]
    return Forms({**known, **seen}, frozenset(late))


def _observe(
    shape: Shape, objects: list[Any], known: Mapping[Shape, str], seen: dict[Shape, str]
) -> None:
    """Note the forms of the leaves of objects that are not known yet."""
    for name, child in shape.children.items():
        if not _has_forms(child):
            continue
        values = (each.get(name) for each in objects if isinstance(each, dict))
        if child.composite:
            _observe(child, list(_unlisted(values, child.lists)), known, seen)
        elif child not in known:
            first = next((value for value in values if value is not None), None)
            if first is not None:
                seen[child] = _form(child, first)


def _unlisted(values: Iterable[Any], levels: int) -> Iterable[Any]:
    """Return the items of lists of that many levels."""
    if not levels:
        return values
    inner = (item for value in values if isinstance(value, (list, tuple)) for item in value)
    return _unlisted(inner, levels - 1)


def _has_forms(shape: Shape) -> bool:
    """Return whether values at or below a place may have a form that no name tells."""
    key = "forms", scalars.version()
    found: bool | None = shape.plans.get(key)
    if found is None:
        own = not shape.composite and not shape.lists and bool(scalars.of(shape).others)
        found = own or any(map(_has_forms, shape.children.values()))
        shape.plans[key] = found
    return found


def _form(shape: Shape, value: Any) -> str:
    """Return the form of a value; empty for that of the name, and for a wrong value."""
    kind = scalars.of(shape)
    try:
        if kind.fix is not None:
            kind.fix(value)
    except scalars.OtherFormError as error:
        return error.form if error.form in kind.others else ""
    except (TypeError, ValueError, ArithmeticError):
        pass
    return ""
