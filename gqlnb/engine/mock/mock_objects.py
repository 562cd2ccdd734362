"""Objects of a mock: their identity, their known values, and the pages of connections."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import GraphQLError, GraphQLObjectType, get_named_type, get_nullable_type, is_leaf_type
from graphql.type import is_enum_type, is_input_object_type, is_list_type, is_object_type

from gqlnb.engine.graphql_compat import AnyGraphQLType, Value
from gqlnb.engine.mock.value_formats import GOLDEN_STEP, find_format, hash_parts, mix_bits
from gqlnb.errors import sanitize_text

if TYPE_CHECKING:
    from graphql import GraphQLField


MAX_OBJECT_NUMBER = 2**31 - 1  # numbers of objects: as many as an Int holds
ID_FIELDS = ("id", "_id", "nodeId", "uuid")  # the first of these that a type has
MAX_ID_LENGTH = 600  # characters of an id; a longer one does not contain the values of fields
INTEGER_SCALARS = {"bigint", "long", "int64", "safeint"}

# The input of a mutation: a value and its input type, by name.
MutationInput = Mapping[str, tuple[Any, Any]]
FieldRecipe = Callable[["MockObject", dict[str, object]], object]


class MockObject:
    """A generated object.

    Attributes
    ----------
    kind
        Its type.
    key
        The number from which all its values are generated.
    known_values
        Values of fields that are not generated, its id above all, or partials that make them.
    mutation_input
        The input of the mutation that returns the object.
    choice
        The types it may have instead, a number that decides between them, and the function that
        makes it of one; None if its type is certain.
    """

    __slots__ = ("choice", "key", "kind", "known_values", "mutation_input")

    def __init__(
        self,
        kind: MockType,
        key: int,
        known_values: dict[str, object] | None = None,
        mutation_input: MutationInput | None = None,
    ) -> None:
        self.kind, self.key, self.known_values = kind, key, known_values
        self.mutation_input = mutation_input
        self.choice: TypeChoice | None = None

    def __getitem__(self, name: str) -> Value:
        if self.known_values is not None and name in self.known_values:
            known = self.known_values[name]
            return known() if type(known) is partial else known
        if name not in self.kind.type.fields:
            raise KeyError(name)
        return self.kind.get_recipe(name)(self, {})

    def change_type(self, names: Container[str]) -> None:
        """Become an object of one of the named types, if it may and is not."""
        choice, self.choice = self.choice, None
        if choice is None or self.kind.name in names:
            return
        kinds = [kind for kind in choice.kinds if kind.name in names]
        if kinds:
            other = choice.make(kinds[choice.number % len(kinds)])
            self.kind, self.key, self.known_values = other.kind, other.key, other.known_values
            self.mutation_input = other.mutation_input

    def __repr__(self) -> str:
        identity = (self.known_values or {}).get(self.kind.identity or "", "generated")
        return f"<{self.kind.name} {identity}>"


class TypeChoice(NamedTuple):
    """The choice of the type of an object."""

    kinds: Sequence[MockType]
    number: int
    make: Callable[[MockType], MockObject]


def choose_type(
    kinds: Sequence[MockType],
    number: int,
    make: Callable[[MockType], MockObject],
    asked: MockType | None = None,
) -> MockObject:
    """Return an object of one of some types; the fragments of a document may change which.

    `asked` is the type that an argument requests. GitHub's ``type: ISSUE`` finds pull requests, so
    that fragments may change it too.
    """
    item = make(asked or kinds[number % len(kinds)])
    if len(kinds) > 1:
        item.choice = TypeChoice(kinds, number, make)
    return item


def choose_item(
    kinds: Sequence[MockType], base: int, place: int, asked: MockType | None = None
) -> MockObject:
    """Return the object at a place of a list."""
    number = mix_bits(base + place * GOLDEN_STEP)
    return choose_type(kinds, number, lambda kind: kind.create_numbered(base, place), asked)


class MockType:
    """An object type and the identity of its objects.

    Parameters
    ----------
    type_
        The type.
    seed
        The seed of the mock.
    build_recipe
        Returns the function that generates the values of a field.
    """

    def __init__(
        self,
        type_: GraphQLObjectType,
        seed: int,
        build_recipe: Callable[[MockType, str], FieldRecipe],
    ) -> None:
        self.type, self.name, self._build_recipe = type_, type_.name, build_recipe
        self.salt = hash_parts(seed, type_.name)
        self._recipes: dict[str, FieldRecipe] = {}

    def get_recipe(self, name: str) -> FieldRecipe:
        """Return the function that generates the values of a field; built at the first call."""
        recipe = self._recipes.get(name)
        if recipe is None:
            recipe = self._recipes[name] = self._build_recipe(self, name)
        return recipe

    @cached_property
    def identity(self) -> str | None:
        """The field that identifies its objects, or None."""
        for name in ID_FIELDS:
            field = self.type.fields.get(name)
            kind: Any = field and get_nullable_type(field.type)
            leaf = is_leaf_type(kind) and not is_enum_type(kind)
            if leaf and kind.name not in {"Float", "Boolean"}:
                return name
        return None

    @cached_property
    def scalar(self) -> str:
        """The name of the type of the identity field."""
        kind: Any = get_named_type(self.type.fields[self.identity or ""].type)
        return str(kind.name)

    @cached_property
    def _has_text_id(self) -> bool:
        return self.scalar in {"ID", "String"}

    def format_id(self, count: int) -> Value:
        """Return the id of the object with a given number."""
        if self.scalar == "Int" or self.scalar.lower() in INTEGER_SCALARS:
            return count
        make = None if self._has_text_id else find_format(self.scalar)
        if make is None:
            return f"{self.name}:{count}"
        return make(mix_bits(count * GOLDEN_STEP ^ self.salt))

    def format_any_id(self, value: int) -> Value:
        """Return the id for a number of any size."""
        return self.format_id(1 + value % MAX_OBJECT_NUMBER)

    # -- creating objects

    def create_numbered(self, base: int, place: int) -> MockObject:
        """Return the object at a place of a list; the objects of a list have different ids."""
        if self.identity is None:
            return MockObject(self, mix_bits((base ^ self.salt) + place * GOLDEN_STEP))
        identity = self.format_any_id(base + place)
        return MockObject(self, self._hash_identity(identity), {self.identity: identity})

    def create_with_id(self, given: object) -> MockObject:
        """Return the object with a given id, generated or not."""
        given = self._convert_id(given)
        values = {**self._read_carried_fields(given), self.identity or "": given}
        return MockObject(self, self._hash_identity(given), values)

    def create_with_fields(self, given: dict[str, object], base: int) -> MockObject:
        """Return the object that is looked up by some of its fields.

        Parameters
        ----------
        given
            All values that it is looked up by; those of other names only distinguish objects.
        base
            Distinguishes look-ups in different places; 0 for the root.
        """
        fields = self.select_field_values(given)
        if self.identity is None:
            number = mix_bits(base ^ self.salt ^ hash_parts(_serialize_fields(given)))
            return MockObject(self, number, fields)
        identity: Any = f"{self.name}:{_serialize_fields({**given, '': base} if base else given)}"
        # An id that can't contain the fields is a number made from them.
        if not self._has_text_id or len(identity) > MAX_ID_LENGTH:
            identity = self.format_any_id(base ^ hash_parts(identity))
        return MockObject(self, self._hash_identity(identity), {**fields, self.identity: identity})

    def _hash_identity(self, identity: object) -> int:
        return hash_parts(self.salt, identity)

    def _convert_id(self, given: Value) -> Value:
        """Return an id as a value of the identity field's type."""
        if self.scalar == "Int" and not isinstance(given, int):
            try:
                given = int(given)
            except (TypeError, ValueError):
                return self.format_any_id(hash_parts(given))
        return str(given) if self._has_text_id else given

    def _read_carried_fields(self, identity: Value) -> dict[str, object]:
        """Return the values of fields that an id contains."""
        start = f"{self.name}:{{"
        if not self._has_text_id or not identity.startswith(start):
            return {}
        try:
            return self.select_field_values(json.loads(identity[len(start) - 1 :]))
        except (ValueError, RecursionError):
            return {}

    def select_field_values(self, given: Mapping[str, object]) -> dict[str, object]:
        """Return the values that fields other than the id can have."""
        return {
            name: value
            for name, value in given.items()
            if name != self.identity and self._can_hold(name, value)
        }

    def _can_hold(self, name: str, value: object) -> bool:
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


def _serialize_fields(given: Mapping[str, object]) -> str:
    return json.dumps(given, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)


LIMIT_ARGUMENTS = ("first", "limit", "take")
OFFSET_ARGUMENTS = ("offset", "skip")
PAGING_ARGUMENTS = frozenset({*LIMIT_ARGUMENTS, *OFFSET_ARGUMENTS, "last", "after", "before"})
ORDERING_ARGUMENTS = frozenset(
    {"orderby", "order", "sort", "sortby", "direction", "orderdirection"}
)
COUNT_FIELDS = frozenset({"totalCount", "total_count", "total", "count"})
CURSOR_PREFIX = "cursor:"  # of cursors that are text; those of type Int are plain numbers


def find_node_type(kind: AnyGraphQLType) -> Value:
    """Return the connection's item type, or None if it is not a connection.

    A connection is an object type with ``edges`` of type list, whose items have a ``node``, or with
    ``nodes``, beside ``pageInfo``.
    """
    if not is_object_type(kind) or "pageInfo" not in kind.fields:
        return None
    kinds = []
    for name in ("nodes", "edges"):
        field = kind.fields.get(name)
        type_: Any = field and get_nullable_type(field.type)
        inner = get_nullable_type(type_.of_type) if is_list_type(type_) else None
        if name == "edges":
            node = inner.fields.get("node") if is_object_type(inner) else None
            inner = node and get_nullable_type(node.type)
            inner = None if is_list_type(inner) else inner
        if inner is not None:
            kinds.append(inner)
    return kinds[0] if len({get_named_type(inner).name for inner in kinds}) == 1 else None


def select_places(total: int, arguments: Mapping[str, object], field: str) -> range:
    """Return the places of a page in a list.

    Parameters
    ----------
    total
        Its length.
    arguments
        Those of the field: ``first``, ``after``, ``last``, ``before``, ``limit``, ``offset`` and
        their usual other names.
    field
        Its name, for the error.

    Raises
    ------
    GraphQLError
        If a number is negative, or a cursor is invalid.

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


def _read_count(given: object, name: str, field: str) -> int | None:
    """Return a number of items, or None if it is not an integer."""
    if not isinstance(given, int) or isinstance(given, bool):
        return None
    if given >= 0:
        return given
    msg = f"'{name}' of '{field}' is 0 or more; got {given:,}."
    raise GraphQLError(msg)


def _decode_place(cursor: object, field: str) -> int | None:
    """Return the place that a cursor names, or None without a cursor."""
    if cursor is None or not isinstance(cursor, (str, int)):
        return None
    digits = str(cursor).removeprefix(CURSOR_PREFIX)
    if digits.isascii() and digits.isdecimal() and len(digits) < 10:
        return int(digits)
    given = sanitize_text(cursor, 80)
    msg = f"{given!r} is not a cursor of '{field}'. Take one from its last result."
    raise GraphQLError(msg)


def build_page(
    owner: MockObject,
    total: int,
    places: range,
    make_item: Callable[[int], object],
    get_type: Callable[[Any], MockType],
) -> dict[str, object]:
    """Return the values of a connection's fields for a page; those that are dear as partials.

    Parameters
    ----------
    owner
        The connection.
    total
        Items of the whole list.
    places
        Places of the items on the page.
    make_item
        Returns the item at a place.
    get_type
        Returns the mock type of an object type.
    """
    values: dict[str, object] = {}
    for name, field in owner.kind.type.fields.items():
        type_, inner = get_nullable_type(field.type), get_named_type(field.type)
        if is_list_type(type_):
            if name == "nodes":
                values[name] = partial(_list_nodes, places, make_item)
            elif name == "edges" and "node" in getattr(inner, "fields", ()):
                values[name] = partial(_list_edges, owner, get_type(inner), places, make_item)
        elif name in COUNT_FIELDS and inner.name == "Int":
            values[name] = total
        elif name == "pageInfo" and is_object_type(inner):
            values[name] = partial(_build_info, owner, get_type(inner), total, places)
    return values


def _list_nodes(places: range, make_item: Callable[[int], object]) -> list[object]:
    return [make_item(place) for place in places]


def _list_edges(
    owner: MockObject, kind: MockType, places: range, make_item: Callable[[int], object]
) -> list[MockObject]:
    edges = []
    for place in places:
        edge = kind.create_numbered(owner.key, place)
        own = {**format_page_parts(kind.type, {"cursor": place}), "node": make_item(place)}
        edge.known_values = {**(edge.known_values or {}), **own}
        edges.append(edge)
    return edges


def _build_info(owner: MockObject, kind: MockType, total: int, places: range) -> MockObject:
    info: dict[str, object] = {
        "hasPreviousPage": places.start > 0 and total > 0,
        "hasNextPage": places.stop < total,
        "startCursor": places.start if places else None,
        "endCursor": places.stop - 1 if places else None,
    }
    return MockObject(kind, owner.key ^ kind.salt, format_page_parts(kind.type, info))


def format_page_parts(kind: GraphQLObjectType, values: dict[str, object]) -> dict[str, object]:
    """Return the values that a type has fields for, cursors in the form of their type."""
    parts = {}
    for name, value in values.items():
        if name not in kind.fields:
            continue
        whole = get_named_type(kind.fields[name].type).name == "Int"
        number = isinstance(value, int) and not isinstance(value, bool)
        parts[name] = f"{CURSOR_PREFIX}{value}" if number and not whole else value
    return parts


def find_by_id(kinds: Sequence[MockType], name: str, given: object) -> MockObject | None:
    """Return the object with an id, of the type that the id names or of any type.

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
        None if the argument does not identify objects.
    """
    if isinstance(given, bool) or not isinstance(given, (str, int)):
        return None
    start = str(given).partition(":")[0]
    chosen = [kind for kind in kinds if kind.name == start]
    # A foreign id belongs to one of the types: always the same one, unless fragments name others.
    number = hash_parts(given)
    kinds = chosen or [
        kind
        for kind in kinds
        if kind.identity is not None and name in {"id", kind.identity, build_id_name(kind)}
    ]
    return choose_type(kinds, number, lambda kind: kind.create_with_id(given)) if kinds else None


def find_requested_type(kinds: Sequence[MockType], args: Mapping[str, object]) -> MockType | None:
    """Return the type requested by an argument, such as ``type: REPOSITORY``; None without one."""
    given = args.get("type", args.get("kind"))
    if not isinstance(given, str) or len(kinds) < 2:
        return None
    wanted = given.lower().replace("_", "")
    return next((kind for kind in kinds if kind.name.lower() == wanted), None)


def build_id_name(kind: MockType) -> str:
    """Return the name of a reference to a type, ``userId`` for a ``User``."""
    return f"{kind.name[:1].lower()}{kind.name[1:]}Id"


def find_by_arguments(
    kinds: Sequence[MockType], given: Mapping[str, object], value: int, base: int
) -> MockObject | None:
    """Return the object that the arguments of a field look up; None if they look up none.

    Parameters
    ----------
    kinds
        The types it may be of.
    given
        The arguments that choose.
    value
        Decides on the type if nothing else does.
    base
        Distinguishes look-ups in different places; 0 for the root.
    """
    entry = _find_by_ids(kinds, given)
    if entry is not None:
        return entry
    fitting = [kind for kind in kinds if kind.select_field_values(given)]
    if not fitting:
        return None
    return choose_type(fitting, value, lambda kind: kind.create_with_fields(dict(given), base))


def _find_by_ids(kinds: Sequence[MockType], given: Mapping[str, object]) -> MockObject | None:
    for name in (*ID_FIELDS, *(build_id_name(kind) for kind in kinds)):
        if name in given:
            entry = find_by_id(kinds, name, given[name])
            if entry is not None:
                return entry
    return None


def collect_inputs(definition: GraphQLField, args: Mapping[str, object]) -> MutationInput:
    """Return the arguments of a mutation, together with the members of its input objects."""
    inputs = select_typed(args, definition.args)
    for value, type_ in list(inputs.values()):
        inputs.update(collect_members(value, type_))
    return inputs


def collect_members(value: object, type_: AnyGraphQLType) -> dict[str, tuple[Any, Any]]:
    """Return the members of an input object; empty for another value."""
    kind: Any = get_nullable_type(type_)
    if not is_input_object_type(kind) or not isinstance(value, Mapping):
        return {}
    return select_typed(value, kind.fields)


def select_typed(
    values: Mapping[str, object], definitions: Mapping[str, Any]
) -> dict[str, tuple[Any, Any]]:
    """Return the values that are defined and not null, each with its type."""
    return {
        name: (value, definitions[name].type)
        for name, value in values.items()
        if name in definitions and value is not None
    }


def echo_input(
    kinds: Sequence[MockType], name: str, inputs: MutationInput, value: int
) -> MockObject:
    """Return an object that repeats the input of a mutation.

    Parameters
    ----------
    kinds
        The types it may be of.
    name
        The field of the object: the mutation itself, or a field of its result.
    inputs
        The input.
    value
        Decides on the type if the input does not identify an object.
    """
    if name in inputs:
        inputs = {**inputs, **collect_members(*inputs[name])}
    ids = {key: given for key, (given, _) in inputs.items()}
    entry = _find_by_ids(kinds, ids)
    if entry is not None:
        kinds, value = entry.choice[:2] if entry.choice else ([entry.kind], 0)

    def make(kind: MockType) -> MockObject:
        fields = {key: item[0] for key, item in inputs.items() if _can_echo(kind, key, *item)}
        if kind.identity is not None:
            fields.pop(kind.identity, None)
        made = _find_by_ids([kind], ids)
        if made is None:
            plain = kind.select_field_values(fields)
            if plain and kind.identity is not None:
                made = kind.create_with_fields(plain, 0)
            else:
                made = kind.create_numbered(value, 0)
        made.known_values = {**(made.known_values or {}), **fields}
        made.mutation_input = inputs if kind.identity is None else None
        return made

    return choose_type(kinds, value, make)


def _can_echo(kind: MockType, name: str, value: object, type_: AnyGraphQLType) -> bool:
    """Return whether an input value can be the value of a field."""
    # The types may differ in nullability, since an input is often optional.
    field = kind.type.fields.get(name)
    if field is None or str(field.type).replace("!", "") != str(type_).replace("!", ""):
        return False
    leaf = is_leaf_type(get_named_type(field.type))
    return leaf and not (isinstance(value, list) and has_null(value))


def has_null(values: object) -> bool:
    """Return whether a value is null, or a list that contains null."""
    return values is None or (isinstance(values, list) and any(map(has_null, values)))
