"""Forms of scalar values that the name of the scalar does not determine, observed page by page.

PostGraphile's `Datetime` has values with or without a time zone. A page whose values are all null
does not show which, so its frame uses the form observed on earlier pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.document import scalars
from gqlnb.document.scalar_values import OtherFormError

if TYPE_CHECKING:
    from gqlnb.result.shape import Shape

__all__ = ["NO_FORMS", "ScalarForms", "observe_forms"]


class ScalarForms(NamedTuple):
    """The forms of scalar values observed so far.

    Attributes
    ----------
    known
        The form of each leaf that had a value on this page or earlier; empty for the form implied
        by the name of its scalar.
    late
        The leaves whose form was first observed on this page and differs from the one in the
        frames of earlier pages, where all values are null.
    """

    known: Mapping[Shape, str]
    late: frozenset[Shape]


NO_FORMS = ScalarForms(MappingProxyType({}), frozenset())


def observe_forms(shape: Shape | None, data: object, before: ScalarForms | None) -> ScalarForms:
    """Return the forms known after a page.

    Parameters
    ----------
    shape
        The shape of the data; None if no schema is known.
    data
        The data of the page.
    before
        The forms known before it; None for the first page.
    """
    if shape is None or not isinstance(data, dict):
        return before or NO_FORMS
    seen: dict[Shape, str] = {}
    known = NO_FORMS.known if before is None else before.known
    _observe_leaves(shape, [data], known, seen)
    if not seen:
        return ScalarForms(known, frozenset())
    # On the first page no form is late: there are no earlier frames.
    late = [leaf for leaf, form in seen.items() if form and before is not None]
    return ScalarForms({**known, **seen}, frozenset(late))


def _observe_leaves(
    shape: Shape, objects: list[Any], known: Mapping[Shape, str], seen: dict[Shape, str]
) -> None:
    """Add the forms of leaves that are not known yet to `seen`."""
    for name, child in shape.children.items():
        if not _has_forms(child):
            continue
        values = (found.get(name) for found in objects if isinstance(found, dict))
        if child.composite:
            _observe_leaves(child, list(_flatten_lists(values, child.lists)), known, seen)
        elif child not in known:
            # One value decides: a column has one form, and another one later on is an error.
            first = next((value for value in values if value is not None), None)
            if first is not None:
                seen[child] = _get_form(child, first)


def _flatten_lists(values: Iterable[Any], levels: int) -> Iterable[Any]:
    """Return the items of lists of that many levels."""
    if not levels:
        return values
    inner = (item for value in values if isinstance(value, (list, tuple)) for item in value)
    return _flatten_lists(inner, levels - 1)


def _has_forms(shape: Shape) -> bool:
    """Return whether a scalar at or below a place has several forms."""
    key = "forms", scalars.get_version()
    found: bool | None = shape.cache.get(key)
    if found is None:
        own = (
            not shape.composite and not shape.lists and bool(scalars.get_scalar(shape).other_forms)
        )
        found = own or any(map(_has_forms, shape.children.values()))
        shape.cache[key] = found
    return found


def _get_form(shape: Shape, value: object) -> str:
    """Return the form of a value; empty for the implied one, and for an invalid value."""
    kind = scalars.get_scalar(shape)
    try:
        if kind.convert is not None:
            kind.convert(value)
    except OtherFormError as error:
        return error.form if error.form in kind.other_forms else ""
    except (TypeError, ValueError, ArithmeticError):
        pass
    return ""
