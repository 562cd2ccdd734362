"""Objects of a mock: which object a value is, and what is said of it already."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from graphql import GraphQLError, GraphQLObjectType, get_named_type, get_nullable_type, is_leaf_type
from graphql.type import is_enum_type, is_input_object_type, is_list_type, is_object_type

from gqlnb.engine.mock.value_formats import GOLDEN_STEP, find_format, hash_parts, mix_bits
from gqlnb.errors import sanitize_text

if TYPE_CHECKING:
    from graphql import GraphQLField


__all__ = [
    "ID_FIELDS",
    "LIMIT_ARGUMENTS",
    "OFFSET_ARGUMENTS",
    "ORDERING_ARGUMENTS",
    "PAGING_ARGUMENTS",
    "FieldRecipe",
    "MockObject",
    "MockPage",
    "MockType",
    "MutationInput",
    "build_part_maker",
    "collect_inputs",
    "echo_input",
    "find_by_arguments",
    "find_by_id",
    "find_node_type",
    "find_requested_type",
    "select_places",
]

MAX_OBJECT_NUMBER = 2**31 - 1  # numbers of objects: as many as an Int holds
ID_FIELDS = ("id", "_id", "nodeId", "uuid")  # the first of these that a type has
MAX_ID_LENGTH = 600  # characters of an id; what needs more is not carried
INTEGER_SCALARS = {"bigint", "long", "int64", "safeint"}

# What is said of an object beforehand: a value and its input type, by name.
MutationInput = Mapping[str, tuple[Any, Any]]
FieldRecipe = Callable[["MockObject", dict[str, Any]], Any]


class RecipeBuilder(Protocol):
    """Who knows how a field is made up; see :class:`gqlnb.engine.mock.generator.MockGenerator`."""

    seed: int

    def build_recipe(self, kind: MockType, name: str) -> FieldRecipe:
        """Return what makes the values of a field."""


class MockObject:
    """An object made up: its type, a number that all its values follow from, and what is known.

    Attributes
    ----------
    kind
        Its type.
    key
        The number.
    known_values
        Values of fields that are not made up, its id first of all.
    mutation_input
        What a mutation was given, for what the object holds.
    page
        The page that a connection shows.
    """

    __slots__ = ("key", "kind", "known_values", "mutation_input", "page")

    def __init__(
        self,
        kind: MockType,
        key: int,
        known: dict[str, Any] | None = None,
        said: MutationInput | None = None,
        page: MockPage | None = None,
    ) -> None:
        self.kind, self.key, self.known_values, self.mutation_input, self.page = (
            kind,
            key,
            known,
            said,
            page,
        )

    def __getitem__(self, name: str) -> Any:
        if self.known_values is not None and name in self.known_values:
            return self.known_values[name]
        if name not in self.kind.type.fields:
            raise KeyError(name)
        return self.kind.get_recipe(name)(self, {})

    def __repr__(self) -> str:
        return f"<{self.kind.name} {(self.known_values or {}).get(self.kind.identity or '', 'made up')}>"


class MockType:
    """An object type, and how its objects are told apart.

    Parameters
    ----------
    type_
        The type.
    cook
        Knows how its fields are made up.
    """

    def __init__(self, type_: GraphQLObjectType, cook: RecipeBuilder) -> None:
        self.type, self.name, self._recipe_builder = type_, type_.name, cook
        self.salt = hash_parts(cook.seed, type_.name)
        self._recipes: dict[str, FieldRecipe] = {}

    def get_recipe(self, name: str) -> FieldRecipe:
        """Return what makes the values of a field; found when it is first asked for."""
        made = self._recipes.get(name)
        if made is None:
            made = self._recipes[name] = self._recipe_builder.build_recipe(self, name)
        return made

    @cached_property
    def identity(self) -> str | None:
        """The field that tells its objects apart; None if there is none."""
        fields = self.type.fields
        return next(
            (name for name in ID_FIELDS if name in fields and self._is_identifying(name)), None
        )

    def _is_identifying(self, name: str) -> bool:
        kind: Any = get_nullable_type(self.type.fields[name].type)
        leaf = is_leaf_type(kind) and not is_enum_type(kind)
        return leaf and kind.name not in {"Float", "Boolean"}

    @cached_property
    def scalar(self) -> str:
        """The type of the field that tells its objects apart."""
        kind: Any = get_named_type(self.type.fields[self.identity or ""].type)
        return str(kind.name)

    @cached_property
    def _has_text_id(self) -> bool:
        """Whether an id is text that may say more than a number."""
        return self.scalar in {"ID", "String"}

    def format_id(self, count: int) -> Any:
        """Return the id of the object with a number."""
        if self.scalar == "Int" or self.scalar.lower() in INTEGER_SCALARS:
            return count
        make = None if self._has_text_id else find_format(self.scalar)
        return (
            f"{self.name}:{count}"
            if make is None
            else make(mix_bits(count * GOLDEN_STEP ^ self.salt))
        )

    def format_any_id(self, value: int) -> Any:
        """Return the id of the object that any number stands for."""
        return self.format_id(1 + value % MAX_OBJECT_NUMBER)

    # -- which object

    def create_numbered(self, base: int, place: int) -> MockObject:
        """Return the object at a place of a list: all its objects have ids of their own."""
        if self.identity is None:
            return MockObject(self, mix_bits((base ^ self.salt) + place * GOLDEN_STEP))
        identity = self.format_any_id(base + place)
        return MockObject(self, self._hash_identity(identity), {self.identity: identity})

    def create_with_id(self, given: Any) -> MockObject:
        """Return the object with an id, ours or anybody's."""
        given = self._convert_id(given)
        return MockObject(
            self,
            self._hash_identity(given),
            {**self._read_carried_fields(given), self.identity or "": given},
        )

    def create_with_fields(self, said: dict[str, Any], base: int) -> MockObject:
        """Return the object that is looked up by some of its fields.

        Parameters
        ----------
        said
            All that it is looked up by, by name; what is no value of a field tells apart only.
        base
            Tells apart what is looked up in different places; 0 for the root.
        """
        fields = self.select_field_values(said)
        if self.identity is None:
            return MockObject(
                self, mix_bits(base ^ self.salt ^ hash_parts(serialize_fields(said))), fields
            )
        identity: Any = f"{self.name}:{serialize_fields(said if base == 0 else {**said, '': base})}"
        if not self._has_text_id or len(identity) > MAX_ID_LENGTH:
            identity = self.format_any_id(base ^ hash_parts(identity))
        return MockObject(self, self._hash_identity(identity), {**fields, self.identity: identity})

    def _hash_identity(self, identity: Any) -> int:
        return hash_parts(self.salt, identity)

    def _convert_id(self, given: Any) -> Any:
        """Return an id in the form that the type of the field has."""
        if self.scalar == "Int" and not isinstance(given, int):
            try:
                given = int(given)
            except (TypeError, ValueError):
                return self.format_any_id(hash_parts(given))
        return str(given) if self._has_text_id else given

    def _read_carried_fields(self, identity: Any) -> dict[str, Any]:
        """Return the values of fields that an id holds."""
        start = f"{self.name}:{{"
        if not self._has_text_id or not identity.startswith(start):
            return {}
        try:
            return self.select_field_values(json.loads(identity[len(start) - 1 :]))
        except (ValueError, RecursionError):
            return {}

    def select_field_values(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Return what can be the value of a field that is no id, and of an id's text."""
        return {
            name: value
            for name, value in said.items()
            if name != self.identity and self._can_hold(name, value)
        }

    def _can_hold(self, name: str, value: Any) -> bool:
        field = self.type.fields.get(name)
        kind: Any = field and get_nullable_type(field.type)
        if kind is None or not is_leaf_type(kind):
            return False
        if is_enum_type(kind):
            return isinstance(value, str) and value in kind.values
        if kind.name in {"Int", "Float"} and isinstance(value, (int, float)):
            whole = isinstance(value, int) and -MAX_OBJECT_NUMBER - 1 <= value <= MAX_OBJECT_NUMBER
            return not isinstance(value, bool) and (whole or kind.name == "Float")
        return kind.name not in {"Int", "Float"} and isinstance(
            value, bool if kind.name == "Boolean" else str
        )


def serialize_fields(said: Mapping[str, Any]) -> str:
    """Return what an object is looked up by as text, the same whatever the order."""
    return json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)


LIMIT_ARGUMENTS = ("first", "limit", "take")
OFFSET_ARGUMENTS = ("offset", "skip")
PAGING_ARGUMENTS = frozenset({*LIMIT_ARGUMENTS, *OFFSET_ARGUMENTS, "last", "after", "before"})
ORDERING_ARGUMENTS = frozenset(
    {"orderby", "order", "sort", "sortby", "direction", "orderdirection"}
)
COUNT_FIELDS = frozenset({"totalCount", "total_count", "total", "count"})
CURSOR_PREFIX = "cursor:"


def find_node_type(kind: Any) -> Any:
    """Return the type of the items of a connection; None for what is none.

    A connection is an object type with ``build_edges_maker`` that have a ``node``, or ``build_nodes``, beside
    ``pageInfo``.
    """
    if not is_object_type(kind) or "pageInfo" not in kind.fields:
        return None
    found = [find_item_type(kind, "nodes"), find_edge_node_type(find_item_type(kind, "edges"))]
    kinds = [inner for inner in found if inner is not None]
    if not kinds or len({get_named_type(inner).name for inner in kinds}) > 1:
        return None
    return kinds[0]


def find_item_type(kind: GraphQLObjectType, name: str) -> Any:
    """Return the type of the items of a list field, without null; None if it is no list."""
    field = kind.fields.get(name)
    type_: Any = get_nullable_type(field.type) if field else None
    return get_nullable_type(type_.of_type) if is_list_type(type_) else None


def find_edge_node_type(kind: Any) -> Any:
    """Return the type of the node of an edge; None for what is no edge."""
    if not is_object_type(kind) or "node" not in kind.fields:
        return None
    type_ = get_nullable_type(kind.fields["node"].type)
    return None if is_list_type(type_) else type_


def select_places(total: int, arguments: Mapping[str, Any], field: str) -> range:
    """Return the places of a page in a list.

    Parameters
    ----------
    total
        Its length.
    arguments
        Those of the field: ``first``, ``after``, ``last``, ``before``, ``limit``, ``offset`` and
        what they are called elsewhere.
    field
        Its name, for the error.

    Raises
    ------
    GraphQLError
        If a number is negative, or a cursor is none of ours.

    Notes
    -----
    Source: "GraphQL Cursor Connections Specification", 4.4, Pagination algorithm.
    """
    chosen = range(total)
    for name in OFFSET_ARGUMENTS:
        chosen = chosen[_read_count(arguments.get(name), name, field) or 0 :]
    after, before = (_decode_place(arguments.get(name), field) for name in ("after", "before"))
    start = chosen.start if after is None else max(chosen.start, after + 1)
    stop = chosen.stop if before is None else min(chosen.stop, before)
    chosen = range(start, max(start, stop))
    for name in LIMIT_ARGUMENTS:
        chosen = chosen[: _read_count(arguments.get(name), name, field)]
    last = _read_count(arguments.get("last"), "last", field)
    return chosen if last is None else chosen[max(0, len(chosen) - last) :]


def _read_count(given: Any, name: str, field: str) -> int | None:
    """Return a number of items, None if it is not said or is no number."""
    if not isinstance(given, int) or isinstance(given, bool):
        return None
    if given >= 0:
        return given
    msg = f"'{name}' of '{field}' is 0 or more; got {given:,}."
    raise GraphQLError(msg)


def _decode_place(cursor: Any, field: str) -> int | None:
    """Return the place that a cursor names, None if there is none."""
    if cursor is None or not isinstance(cursor, (str, int)):
        return None
    digits = str(cursor).removeprefix(CURSOR_PREFIX)
    if digits.isascii() and digits.isdecimal() and len(digits) < 10:
        return int(digits)
    msg = f"{sanitize_text(cursor, 80)!r} is no cursor of '{field}'. Take one from its last answer."
    raise GraphQLError(msg)


class MockPage:
    """What a connection shows of its list.

    Parameters
    ----------
    total
        Items of the whole list.
    shown
        Places of those on the page.
    make_item
        Makes the item at a place.
    """

    __slots__ = ("make_item", "shown", "total")

    def __init__(self, total: int, shown: range, item: Callable[[int], Any]) -> None:
        self.total, self.shown, self.make_item = total, shown, item

    def build_nodes(self) -> list[Any]:
        """Return the items."""
        return [self.make_item(place) for place in self.shown]

    def build_page_info(self) -> dict[str, Any]:
        """Return what ``pageInfo`` says."""
        shown = self.shown
        return {
            "hasPreviousPage": shown.start > 0 and self.total > 0,
            "hasNextPage": shown.stop < self.total,
            "startCursor": shown.start if shown else None,
            "endCursor": shown.stop - 1 if shown else None,
        }


def build_part_maker(
    kind: MockType, name: str, kinds: Callable[[Any], MockType]
) -> Callable[[MockPage, MockObject], Any] | None:
    """Return what makes a part of a connection of its page; None for a field that is no part."""
    type_ = get_nullable_type(kind.type.fields[name].type)
    inner: Any = get_named_type(type_)
    if name in COUNT_FIELDS and inner.name == "Int" and not is_list_type(type_):
        return lambda page, _item: page.total
    if name == "nodes" and is_list_type(type_):
        return lambda page, _item: page.build_nodes()
    if not is_object_type(inner):
        return None
    if name == "edges" and is_list_type(type_) and "node" in inner.fields:
        return build_edges_maker(inner, kinds(inner))
    if name == "pageInfo" and not is_list_type(type_):
        known = kinds(inner)
        return lambda page, item: MockObject(
            known, item.key ^ known.salt, format_page_parts(inner, page.build_page_info())
        )
    return None


def build_edges_maker(
    inner: GraphQLObjectType, kind: MockType
) -> Callable[[MockPage, MockObject], Any]:
    """Return what makes the edges of a page."""

    def make_edges(page: MockPage, item: MockObject) -> list[MockObject]:
        found = []
        for place in page.shown:
            edge = kind.create_numbered(item.key, place)
            parts = {**format_page_parts(inner, {"cursor": place}), "node": page.make_item(place)}
            edge.known_values = {**edge.known_values, **parts} if edge.known_values else parts
            found.append(edge)
        return found

    return make_edges


def format_page_parts(kind: GraphQLObjectType, values: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a page that a type has, cursors in the form of their type."""
    made = {}
    for name, value in values.items():
        if name not in kind.fields:
            continue
        whole = get_named_type(kind.fields[name].type).name == "Int"
        number = isinstance(value, int) and not isinstance(value, bool)
        made[name] = f"{CURSOR_PREFIX}{value}" if number and not whole else value
    return made


def find_by_id(kinds: Sequence[MockType], name: str, given: Any) -> MockObject | None:
    """Return the object with an id, of the type that the id names, if it names one.

    Parameters
    ----------
    kinds
        The types it may be of.
    name
        The argument that holds the id.
    given
        The id.

    Returns
    -------
    MockObject or None
        None where the argument does not tell objects apart.
    """
    if isinstance(given, bool) or not isinstance(given, (str, int)):
        return None
    start = str(given).partition(":")[0]
    chosen = [kind for kind in kinds if kind.name == start]
    kind = chosen[0] if chosen else kinds[hash_parts(given) % len(kinds)]
    if kind.identity is None or name not in {"id", kind.identity, build_id_name(kind)}:
        return None
    return kind.create_with_id(given)


def find_requested_type(kinds: Sequence[MockType], args: Mapping[str, Any]) -> MockType | None:
    """Return the type that an argument asks for, as ``type: REPOSITORY``; None if none does."""
    said = args.get("type", args.get("kind"))
    if not isinstance(said, str) or len(kinds) < 2:
        return None
    wanted = said.lower().replace("_", "")
    return next((kind for kind in kinds if kind.name.lower() == wanted), None)


def build_id_name(kind: MockType) -> str:
    """Return what an id of a type is called elsewhere, ``userId`` for a ``User``."""
    return f"{kind.name[:1].lower()}{kind.name[1:]}Id"


def find_by_arguments(
    kinds: Sequence[MockType], given: Mapping[str, Any], value: int, base: int
) -> MockObject | None:
    """Return the object that the arguments of a field name; None if they name none.

    Parameters
    ----------
    kinds
        The types it may be of.
    given
        The arguments that choose.
    value
        Decides the type, where nothing else does.
    base
        Tells apart what is looked up in different places; 0 for the root.
    """
    found = _find_by_ids(kinds, given)
    if found is not None:
        return found
    kind = kinds[value % len(kinds)]
    return kind.create_with_fields(dict(given), base) if kind.select_field_values(given) else None


def _find_by_ids(kinds: Sequence[MockType], given: Mapping[str, Any]) -> MockObject | None:
    """Return the object that is given by an id; None if none is."""
    for name in (*ID_FIELDS, *(build_id_name(kind) for kind in kinds)):
        if name in given:
            found = find_by_id(kinds, name, given[name])
            if found is not None:
                return found
    return None


def collect_inputs(definition: GraphQLField, args: Mapping[str, Any]) -> MutationInput:
    """Return what a mutation was given, the members of its input objects beside the rest."""
    said: dict[str, tuple[Any, Any]] = {}
    for name, value in args.items():
        argument = definition.args.get(name)
        if argument is not None and value is not None:
            said[name] = (value, argument.type)
    for value, type_ in list(said.values()):
        said.update(collect_members(value, type_))
    return said


def collect_members(value: Any, type_: Any) -> dict[str, tuple[Any, Any]]:
    """Return the members of an input object with their types; none of another value."""
    kind: Any = get_nullable_type(type_)
    if not is_input_object_type(kind) or not isinstance(value, Mapping):
        return {}
    return {
        name: (each, kind.fields[name].type)
        for name, each in value.items()
        if name in kind.fields and each is not None
    }


def echo_input(kinds: Sequence[MockType], name: str, said: MutationInput, value: int) -> MockObject:
    """Return an object that repeats the input of a mutation.

    Parameters
    ----------
    kinds
        The types it may be of.
    name
        The field that holds it, in what the mutation returns or as that itself.
    said
        The input.
    value
        Decides the type, where the input does not name an object.
    """
    if name in said:
        said = {**said, **collect_members(*said[name])}
    found = _find_by_ids(kinds, {each: given for each, (given, _) in said.items()})
    kind = kinds[value % len(kinds)] if found is None else found.kind
    fields = {each: said[each][0] for each in said if _can_echo(kind, each, *said[each])}
    if kind.identity is not None:
        fields.pop(kind.identity, None)
    if found is None:
        plain = kind.select_field_values(fields)
        made = kind.create_numbered(value, 0)
        found = kind.create_with_fields(plain, 0) if plain and kind.identity is not None else made
    found.known_values = {**(found.known_values or {}), **fields}
    found.mutation_input = said if kind.identity is None else None
    return found


def _can_echo(kind: MockType, name: str, value: Any, type_: Any) -> bool:
    """Tell whether a value that was given can be that of a field."""
    field = kind.type.fields.get(name)
    if field is None or str(field.type).replace("!", "") != str(type_).replace("!", ""):
        return False
    inner: Any = field.type
    while hasattr(inner, "of_type"):
        inner = inner.of_type
    return is_leaf_type(inner) and not (isinstance(value, list) and has_null(value))


def has_null(values: Any) -> bool:
    """Tell whether a null stands somewhere in a list."""
    return values is None or (isinstance(values, list) and any(map(has_null, values)))
