"""Decoding an answer and checking it against what is expected, in one pass over its bytes.

The types that msgspec decodes into are made from the expected place, so that fields, types and
nulls are checked in C while plain dicts and lists are built; what types cannot say, which fields
come together, is checked afterwards, for all objects of one place at once. An answer that does
not fit, or fits only because of its errors, is left to :func:`gqlnb.wire.expected.misfits`.
"""

from __future__ import annotations

from functools import cached_property, reduce
from itertools import chain
from operator import or_
from typing import TYPE_CHECKING, Any, NotRequired, Optional, Required, TypedDict

import msgspec

from gqlnb.wire.expected import decided, deciding, missing, planned
from gqlnb.wire.json import bare_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.model.document import Document
    from gqlnb.wire.expected import Place

__all__ = ["Expectation", "Typed", "as_type", "or_null"]

LEVELS = 2  # lists in lists that are decoded so where no schema is known; deeper ones are rare
SMALL = 4096  # bytes; below, looking through a first answer takes less time than making a decoder


class Expectation:
    """What the answers to one document must hold: it depends on ``@skip`` and ``@include``.

    Parameters
    ----------
    document
        One that was checked against its schema, or one without a schema.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._deciding = deciding(document)
        self._made: dict[tuple[bool | None, ...], Typed] = {}

    def of(self, variables: Mapping[str, Any]) -> Typed:
        """Return what an answer must hold that was asked for with these variables."""
        known = tuple(decided(self._document, name, variables) for name in self._deciding)
        made = self._made.get(known)
        if made is None:
            values = dict(zip(self._deciding, known, strict=True))
            made = self._made[known] = Typed(planned(self._document, values))
        return made


class Typed:
    """Decodes answers whose data must be what `place` says."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.kept: dict[Any, Any] = {}  # what others have made of the place, to be used again
        self.mixed = frozenset(mixed(place))  # the ids of places with fragments in or below them
        self._asked = False

    def load(self, body: bytes) -> dict[str, Any] | None:
        """Return the members of an answer with data; None if they must be looked through.

        Members that were not asked for are left out.
        """
        first, self._asked = not self._asked, True
        return None if first and len(body) < SMALL else self.members(body)

    def members(self, body: bytes) -> dict[str, Any] | None:
        """Do as :meth:`load`, however small a first answer is."""
        try:
            body.decode()  # what is left out is not looked at, and might be no UTF-8
            members: dict[str, Any] = self._decoder.decode(bare_json(body))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        data = members.get("data")
        if data is None or not self._whole(self.place, [data]):
            return None
        return members

    @cached_property
    def _decoder(self) -> msgspec.json.Decoder[Any]:
        members = {"data": as_type(self.place), "errors": list[dict[str, Any]] | None}
        members["extensions"] = Any
        answer = typed_dict({name: NotRequired[kind] for name, kind in members.items()})
        return msgspec.json.Decoder(answer)

    def _whole(self, place: Place, values: list[Any]) -> bool:
        """Tell whether the fragments in and below a place are whole in all of its values."""
        if id(place) not in self.mixed:
            return True
        values = [value for value in values if value is not None]
        if place.item is not None:
            return self._whole(place.item, list(chain.from_iterable(values)))
        if place.fragments and not fragments_whole(place, values):
            return False
        return all(
            self._whole(inner, [value[name] for value in values if name in value])
            for name, inner in place.fields.items()
            if id(inner) in self.mixed
        )


def as_type(place: Place) -> Any:
    """Return the Python type that a place is decoded as."""
    made: Any = Any
    if place.item is not None:
        made = list.__class_getitem__(as_type(place.item))
    elif place.always is not None:
        made = one = typed_dict(
            {name: Required[as_type(inner)] for name, inner in place.always.items()}
            | {name: NotRequired[as_type(inner)] for name, inner in place.sometimes.items()}
        )
        for _ in range(LEVELS if place.listed else 0):
            made = one | list.__class_getitem__(or_null(made, place))
    elif place.kinds is not None:
        made = reduce(or_, place.kinds)
    return or_null(made, place)


def or_null(made: Any, place: Place) -> Any:
    """Return a type that takes null too, where a place may be null."""
    return Optional[made] if place.null else made  # noqa: UP045 - Any | None is no type


def typed_dict(fields: dict[str, Any]) -> Any:
    """Return a type of dicts with these keys, which may be any text."""
    make: Any = TypedDict
    return make("answer", fields)


def mixed(place: Place) -> set[int]:
    """Return the ids of the places with fragments in or below them."""
    inner = [place.item] if place.item is not None else list(place.fields.values())
    found: set[int] = set().union(*map(mixed, inner))
    return found | {id(place)} if found or place.fragments else found


def fragments_whole(place: Place, values: list[dict[str, Any]]) -> bool:
    """Tell whether no object lacks a part of a fragment; most have one of a few sets of keys."""
    if set(map(len, values)) <= {len(place.fields)}:
        return True  # each has every field
    if "__typename" in (place.always or {}):
        kinds = {(value["__typename"], *value) for value in values}
        return not any(missing(place, keys, kind) for kind, *keys in kinds)
    return not any(missing(place, keys) for keys in set(map(tuple, values)))
