"""How every field of a schema is made up, found for each when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graphql import GraphQLNonNull, GraphQLObjectType, get_nullable_type
from graphql.type import (
    is_abstract_type,
    is_enum_type,
    is_leaf_type,
    is_list_type,
    is_object_type,
)

from gqlnb.engine.mocking.chance import STEP, argued, below, mixed, number
from gqlnb.engine.mocking.fields import Guess, guess
from gqlnb.engine.mocking.formats import Maker, known
from gqlnb.engine.mocking.lookup import echoed, identified, inputs, looked_up, typed
from gqlnb.engine.mocking.objects import Item, Kind
from gqlnb.engine.mocking.paging import (
    LIMITS,
    OFFSETS,
    ORDERING,
    PAGING,
    Page,
    node_type,
    part,
    places,
)
from gqlnb.model.scalar_table import recognize

if TYPE_CHECKING:
    from graphql import GraphQLField, GraphQLSchema

    from gqlnb.engine.mocking.objects import Recipe

__all__ = ["EVENTS", "Options", "World"]

EVENTS = 3
FAULTS = frozenset({"errors", "userErrors", "user_errors", "problems"})  # lists that are empty
SHARES = 2**53

# Makes a value: of the object it belongs to, a number, and the arguments of the field.
Making = Callable[[Item, int, dict[str, Any]], Any]


@dataclass(frozen=True)
class Options:
    """How a mock is made up; see :meth:`gqlnb.Schema.mock`."""

    seed: int = 0
    nulls: float = 0.1
    lengths: tuple[int, int] = (1, 5)
    sizes: tuple[int, int] = (5, 50)
    scalars: Mapping[str, str | Maker] = field(default_factory=dict)


class World:
    """Everything that a schema without resolvers can be asked for.

    It remembers how fields are made up, never what was made; any thread may use it.

    Parameters
    ----------
    schema
        The schema.
    options
        Its seed, and how much there is of what.
    """

    def __init__(self, schema: GraphQLSchema, options: Options) -> None:
        self.schema, self.options, self.seed = schema, options, options.seed
        self._kinds: dict[str, Kind] = {}
        self._shared = number(self.seed, "shared")
        self._roots = {
            kind.name: word
            for word in ("query", "mutation", "subscription")
            if (kind := getattr(schema, f"{word}_type")) is not None
        }

    def kind(self, type_: GraphQLObjectType) -> Kind:
        """Return an object type as we know it."""
        found = self._kinds.get(type_.name)
        if found is None:
            found = self._kinds.setdefault(type_.name, Kind(type_, self))
        return found

    def possible(self, type_: Any) -> list[Kind]:
        """Return the object types that a composite type may be."""
        if not is_abstract_type(type_):
            return [self.kind(type_)]
        return [self.kind(kind) for kind in self.schema.get_possible_types(type_)]

    def root(self, kind: Kind, event: int = 0) -> Item:
        """Return the object that the fields of an operation are those of."""
        return Item(kind, kind.salt + event * STEP)

    # -- fields

    def recipe(self, kind: Kind, name: str) -> Recipe:
        """Return what makes the values of a field."""
        definition = kind.type.fields[name]
        usual = self._usual(kind, name, definition)
        if node_type(kind.type) is None:
            return usual
        of_page = part(kind, name, self.kind)
        if of_page is None:
            return usual

        def made(item: Item, args: dict[str, Any]) -> Any:
            return usual(item, args) if item.page is None else of_page(item.page, item)

        return made

    def _usual(self, kind: Kind, name: str, definition: GraphQLField) -> Recipe:
        make = self._making(kind, name, definition, get_nullable_type(definition.type))
        salt = number(self.seed, kind.name, name)
        role = self._roots.get(kind.name)
        nulls = 0 if role or not self._may_be_null(definition.type) else self.options.nulls
        limit = int(nulls * SHARES)

        def made(item: Item, args: dict[str, Any]) -> Any:
            value = mixed(item.key ^ salt)
            chosen = argued(choosing(args)) if args else 0
            if chosen:
                value = mixed(value ^ chosen)
            if limit and value >> 11 < limit:
                return None
            return make(item, value, args)

        if role != "mutation":
            return made
        return lambda item, args: made(Item(kind, item.key, None, inputs(definition, args)), args)

    def _may_be_null(self, type_: Any) -> bool:
        return not isinstance(type_, GraphQLNonNull) and node_type(type_) is None

    def _making(self, kind: Kind, name: str, definition: GraphQLField, type_: Any) -> Making:
        if is_list_type(type_):
            return self._list(kind, name, definition, type_)
        if is_leaf_type(type_):
            return self._reference(kind, name, type_) or self._leaf(kind, name, type_)
        nodes = node_type(type_)
        return self._object(kind, name, type_) if nodes is None else self._page(name, type_, nodes)

    # -- leaves

    def _leaf(self, kind: Kind, name: str, type_: Any) -> Making:
        found = self._guess(kind, name, type_)
        make, shared = found.make, self._shared
        if found.shared:
            return lambda item, _value, _args: make(mixed(item.key ^ shared))
        return lambda _item, value, _args: make(value)

    def _reference(self, kind: Kind, name: str, type_: Any) -> Making | None:
        """Return what makes ``userId``: the id of the ``user`` beside it, else that of any User."""
        beside = kind.type.fields.get(name[:-2]) if name.endswith("Id") else None
        named = self.schema.type_map.get(name[:1].upper() + name[1:-2])
        found = get_nullable_type(beside.type) if beside else named
        if not name.endswith("Id") or not is_object_type(found):
            return None
        target = self.kind(found)
        if target.identity is None or target.scalar != type_.name:
            return None
        if beside is None:
            return lambda _item, value, _args: target.spelled_of(value)
        salt = number(self.seed, kind.name, name[:-2])
        return lambda item, _value, _args: target.spelled_of(mixed(item.key ^ salt))

    def _guess(self, kind: Kind, name: str, type_: Any) -> Guess:
        if is_enum_type(type_):
            values = [member.value for member in type_.values.values()]
            return Guess(lambda value: values[value % len(values)])
        own = self.options.scalars.get(type_.name)
        if own is None:
            like = recognize(type_.name, type_.specified_by_url, type_.description)
            return guess(type_.name, name, kind.name, known(like or type_.name))
        if not isinstance(own, str):
            return Guess(own)
        return guess(own, name, kind.name, known(own))

    # -- objects

    def _object(self, kind: Kind, name: str, type_: Any) -> Making:
        kinds, at_root = self.possible(type_), self._roots.get(kind.name) == "query"

        def made(item: Item, value: int, args: dict[str, Any]) -> Any:
            if not kinds:
                return None
            if item.said is not None:
                return echoed(kinds, name, item.said, value)
            if args:
                base = 0 if at_root else mixed(item.key ^ kind.salt)
                found = looked_up(kinds, choosing(args), value, base)
                if found is not None:
                    return found
            return (typed(kinds, args) or kinds[value % len(kinds)]).numbered(value, 0)

        return made

    def _page(self, name: str, type_: Any, nodes: Any) -> Making:
        kind, element = self.kind(type_), self._element(None, name, nodes)
        kinds = self._composite(nodes)
        low, high = self.options.sizes if element else (0, 0)

        def made(_item: Item, value: int, args: dict[str, Any]) -> Item:
            total = below(mixed(value), low, high)
            found = kind.numbered(value, 0)
            found.key = value
            shown, asked = places(total, args, name), typed(kinds, args)
            make = asked.numbered if asked else element
            found.page = Page(total, shown, lambda place: make and make(value, place))
            return found

        return made

    # -- lists

    def _list(self, kind: Kind, name: str, definition: GraphQLField, type_: Any) -> Making:
        element = self._element(kind, name, get_nullable_type(type_.of_type))
        kinds = self._composite(get_nullable_type(type_.of_type))
        paged = not definition.args.keys().isdisjoint({*LIMITS, *OFFSETS})
        low, high = self.options.sizes if paged else self.options.lengths
        if name in FAULTS or element is None:
            low = high = 0

        def made(_item: Item, value: int, args: dict[str, Any]) -> list[Any]:
            ids = args.get("ids")
            if kinds and isinstance(ids, list):
                found = [identified(kinds, "id", given) for given in ids if given is not None]
                if None not in found:
                    return found
            shown = range(below(mixed(value), low, high))
            shown = places(len(shown), args, name) if paged else shown
            asked = typed(kinds, args)
            make = asked.numbered if asked else element
            return [make(value, place) for place in shown] if make else []

        return made

    def _composite(self, type_: Any) -> Sequence[Kind]:
        """Return the object types that items of a list may be; none of leaves and lists."""
        return () if is_list_type(type_) or is_leaf_type(type_) else self.possible(type_)

    def _element(
        self, kind: Kind | None, name: str, type_: Any
    ) -> Callable[[int, int], Any] | None:
        """Return what makes the item at a place of a list; None if there can be none."""
        if is_list_type(type_):
            inner = self._element(kind, name, get_nullable_type(type_.of_type))
            return None if inner is None else self._row(inner)
        if is_leaf_type(type_):
            owner = kind or self.kind(self.schema.query_type)  # type: ignore[arg-type]
            make = self._guess(owner, singular(name), type_).make
            return lambda base, place: make(mixed(base + place * STEP))
        kinds = self.possible(type_)
        if len(kinds) == 1:
            return kinds[0].numbered
        if not kinds:
            return None
        return lambda base, place: kinds[mixed(base + place * STEP) % len(kinds)].numbered(
            base, place
        )

    def _row(self, inner: Callable[[int, int], Any]) -> Callable[[int, int], Any]:
        low, high = self.options.lengths

        def made(base: int, place: int) -> list[Any]:
            value = mixed(base + place * STEP)
            return [inner(value, at) for at in range(below(mixed(value), low, high))]

        return made


def choosing(args: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that decide what is there, not which part of it and how ordered."""
    return {
        name: value
        for name, value in args.items()
        if name not in PAGING
        and value is not None
        and name.lower().replace("_", "") not in ORDERING
    }


def singular(name: str) -> str:
    """Return the name of one item of a list, as far as its last letter tells."""
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name
