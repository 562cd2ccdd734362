"""Objects of a mock: which object a value is, and what is said of it already."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from graphql import GraphQLObjectType, get_named_type, get_nullable_type, is_leaf_type
from graphql.type import is_enum_type

from gqlnb.engine.mocking.chance import STEP, mixed, number
from gqlnb.engine.mocking.formats import known

if TYPE_CHECKING:
    from gqlnb.engine.mocking.paging import Page

__all__ = ["IDENTITIES", "Item", "Kind", "Recipe", "Said"]

PRIME = 2**31 - 1  # numbers of objects: as many as an Int holds
IDENTITIES = ("id", "_id", "nodeId", "uuid")  # the first of these that a type has
CARRIED = 600  # characters of an id; what needs more is not carried
WHOLE = {"bigint", "long", "int64", "safeint"}

# What is said of an object beforehand: a value and its input type, by name.
Said = Mapping[str, tuple[Any, Any]]
Recipe = Callable[["Item", dict[str, Any]], Any]


class Cook(Protocol):
    """Who knows how a field is made up; see :class:`gqlnb.engine.mocking.world.World`."""

    seed: int

    def recipe(self, kind: Kind, name: str) -> Recipe:
        """Return what makes the values of a field."""


class Item:
    """An object made up: its type, a number that all its values follow from, and what is known.

    Attributes
    ----------
    kind
        Its type.
    key
        The number.
    known
        Values of fields that are not made up, its id first of all.
    said
        What a mutation was given, for what the object holds.
    page
        The page that a connection shows.
    """

    __slots__ = ("key", "kind", "known", "page", "said")

    def __init__(
        self,
        kind: Kind,
        key: int,
        known: dict[str, Any] | None = None,
        said: Said | None = None,
        page: Page | None = None,
    ) -> None:
        self.kind, self.key, self.known, self.said, self.page = kind, key, known, said, page

    def __getitem__(self, name: str) -> Any:
        if self.known is not None and name in self.known:
            return self.known[name]
        if name not in self.kind.type.fields:
            raise KeyError(name)
        return self.kind.recipe(name)(self, {})

    def __repr__(self) -> str:
        return f"<{self.kind.name} {(self.known or {}).get(self.kind.identity or '', 'made up')}>"


class Kind:
    """An object type, and how its objects are told apart.

    Parameters
    ----------
    type_
        The type.
    cook
        Knows how its fields are made up.
    """

    def __init__(self, type_: GraphQLObjectType, cook: Cook) -> None:
        self.type, self.name, self._cook = type_, type_.name, cook
        self.salt = number(cook.seed, type_.name)
        self._recipes: dict[str, Recipe] = {}

    def recipe(self, name: str) -> Recipe:
        """Return what makes the values of a field; found when it is first asked for."""
        made = self._recipes.get(name)
        if made is None:
            made = self._recipes[name] = self._cook.recipe(self, name)
        return made

    @cached_property
    def identity(self) -> str | None:
        """The field that tells its objects apart; None if there is none."""
        fields = self.type.fields
        return next((name for name in IDENTITIES if name in fields and self._tells(name)), None)

    def _tells(self, name: str) -> bool:
        kind: Any = get_nullable_type(self.type.fields[name].type)
        leaf = is_leaf_type(kind) and not is_enum_type(kind)
        return leaf and kind.name not in {"Float", "Boolean"}

    @cached_property
    def scalar(self) -> str:
        """The type of the field that tells its objects apart."""
        kind: Any = get_named_type(self.type.fields[self.identity or ""].type)
        return str(kind.name)

    @cached_property
    def _carries(self) -> bool:
        """Whether an id is text that may say more than a number."""
        return self.scalar in {"ID", "String"}

    def spelled(self, count: int) -> Any:
        """Return the id of the object with a number."""
        if self.scalar == "Int" or self.scalar.lower() in WHOLE:
            return count
        make = None if self._carries else known(self.scalar)
        return f"{self.name}:{count}" if make is None else make(mixed(count * STEP ^ self.salt))

    def spelled_of(self, value: int) -> Any:
        """Return the id of the object that any number stands for."""
        return self.spelled(1 + value % PRIME)

    # -- which object

    def numbered(self, base: int, place: int) -> Item:
        """Return the object at a place of a list: all its objects have ids of their own."""
        if self.identity is None:
            return Item(self, mixed((base ^ self.salt) + place * STEP))
        identity = self.spelled_of(base + place)
        return Item(self, self._key(identity), {self.identity: identity})

    def with_id(self, given: Any) -> Item:
        """Return the object with an id, ours or anybody's."""
        given = self._fitting(given)
        return Item(self, self._key(given), {**self._carried(given), self.identity or "": given})

    def with_fields(self, said: dict[str, Any], base: int) -> Item:
        """Return the object that is looked up by some of its fields.

        Parameters
        ----------
        said
            All that it is looked up by, by name; what is no value of a field tells apart only.
        base
            Tells apart what is looked up in different places; 0 for the root.
        """
        fields = self.held(said)
        if self.identity is None:
            return Item(self, mixed(base ^ self.salt ^ number(text(said))), fields)
        identity: Any = f"{self.name}:{text(said if base == 0 else {**said, '': base})}"
        if not self._carries or len(identity) > CARRIED:
            identity = self.spelled_of(base ^ number(identity))
        return Item(self, self._key(identity), {**fields, self.identity: identity})

    def _key(self, identity: Any) -> int:
        return number(self.salt, identity)

    def _fitting(self, given: Any) -> Any:
        """Return an id in the form that the type of the field has."""
        if self.scalar == "Int" and not isinstance(given, int):
            try:
                given = int(given)
            except (TypeError, ValueError):
                return self.spelled_of(number(given))
        return str(given) if self._carries else given

    def _carried(self, identity: Any) -> dict[str, Any]:
        """Return the values of fields that an id holds."""
        start = f"{self.name}:{{"
        if not self._carries or not identity.startswith(start):
            return {}
        try:
            return self.held(json.loads(identity[len(start) - 1 :]))
        except (ValueError, RecursionError):
            return {}

    def held(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Return what can be the value of a field that is no id, and of an id's text."""
        return {
            name: value
            for name, value in said.items()
            if name != self.identity and self._holds(name, value)
        }

    def _holds(self, name: str, value: Any) -> bool:
        field = self.type.fields.get(name)
        kind: Any = field and get_nullable_type(field.type)
        if kind is None or not is_leaf_type(kind):
            return False
        if is_enum_type(kind):
            return isinstance(value, str) and value in kind.values
        if kind.name in {"Int", "Float"} and isinstance(value, (int, float)):
            whole = isinstance(value, int) and -PRIME - 1 <= value <= PRIME
            return not isinstance(value, bool) and (whole or kind.name == "Float")
        return kind.name not in {"Int", "Float"} and isinstance(
            value, bool if kind.name == "Boolean" else str
        )


def text(said: Mapping[str, Any]) -> str:
    """Return what an object is looked up by as text, the same whatever the order."""
    return json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
