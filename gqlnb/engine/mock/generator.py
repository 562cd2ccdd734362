"""The generator of a mock's values: a recipe for each field, built at its first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from graphql import GraphQLNonNull, GraphQLObjectType, get_nullable_type
from graphql.type import (
    is_abstract_type,
    is_enum_type,
    is_leaf_type,
    is_list_type,
    is_object_type,
)

from gqlnb.document.known_scalars import recognize_scalar
from gqlnb.engine.graphql_compat import AnyGraphQLType, Value
from gqlnb.engine.mock.mock_objects import (
    LIMIT_ARGUMENTS,
    OFFSET_ARGUMENTS,
    ORDERING_ARGUMENTS,
    PAGING_ARGUMENTS,
    MockObject,
    MockPage,
    MockType,
    build_part_maker,
    choose_item,
    choose_type,
    collect_inputs,
    echo_input,
    find_by_arguments,
    find_by_id,
    find_node_type,
    find_requested_type,
    select_places,
)
from gqlnb.engine.mock.value_formats import (
    GOLDEN_STEP,
    ValueGuess,
    ValueMaker,
    find_format,
    guess_field,
    hash_arguments,
    hash_parts,
    mix_bits,
    pick_integer,
)

if TYPE_CHECKING:
    from graphql import GraphQLField, GraphQLSchema

    from gqlnb.engine.mock.mock_objects import FieldRecipe

EVENT_COUNT = 3
ERROR_LIST_FIELDS = frozenset({"errors", "userErrors", "user_errors", "problems"})  # always empty
NULL_SHARES = 2**53

# Makes a value from the object it belongs to, a number, and the arguments of the field.
FieldMaker = Callable[[MockObject, int, dict[str, object]], object]


@dataclass(frozen=True)
class MockOptions:
    """The options of :meth:`gqlnb.Schema.mock`."""

    seed: int = 0
    nulls: float = 0.1
    lengths: tuple[int, int] = (1, 5)
    sizes: tuple[int, int] = (5, 50)
    scalars: Mapping[str, str | ValueMaker] = field(default_factory=dict)


# The mock stores nothing. A value depends on seed, object, field and arguments only; the id of an
# object contains the arguments it was found by, so that a second query for the same object
# agrees.
class MockGenerator:
    """Generates the values of a schema without resolvers.

    It caches recipes of fields, never values; any thread may use it.
    """

    def __init__(self, schema: GraphQLSchema, options: MockOptions) -> None:
        self.schema, self.options, self.seed = schema, options, options.seed
        self._kinds: dict[str, MockType] = {}
        # One number for fields that must agree, such as the name and the e-mail of a person.
        self._shared = hash_parts(self.seed, "shared")
        self._roots = {
            kind.name: word
            for word in ("query", "mutation", "subscription")
            if (kind := getattr(schema, f"{word}_type")) is not None
        }

    def get_type(self, type_: GraphQLObjectType) -> MockType:
        """Return the mock type of an object type."""
        found = self._kinds.get(type_.name)
        if found is None:
            # setdefault, since two threads may create it at the same time.
            new = MockType(type_, self.seed, self.build_recipe)
            found = self._kinds.setdefault(type_.name, new)
        return found

    def list_possible_types(self, type_: AnyGraphQLType) -> list[MockType]:
        """Return the possible object types of a composite type."""
        if not is_abstract_type(type_):
            return [self.get_type(type_)]
        return [self.get_type(kind) for kind in self.schema.get_possible_types(type_)]

    def create_root(self, kind: MockType, event: int = 0) -> MockObject:
        """Return the parent of the root fields."""
        return MockObject(kind, kind.salt + event * GOLDEN_STEP)

    # -- fields

    def build_recipe(self, kind: MockType, name: str) -> FieldRecipe:
        """Return the function that generates the values of a field."""
        definition = kind.type.fields[name]
        usual = self._build_usual_recipe(kind, name, definition)
        if find_node_type(kind.type) is None:
            return usual
        of_page = build_part_maker(kind, name, self.get_type)
        if of_page is None:
            return usual

        def make_value(item: MockObject, args: dict[str, object]) -> Value:
            return usual(item, args) if item.page is None else of_page(item.page, item)

        return make_value

    def _build_usual_recipe(
        self, kind: MockType, name: str, definition: GraphQLField
    ) -> FieldRecipe:
        make = self._build_maker(kind, name, definition, get_nullable_type(definition.type))
        salt = hash_parts(self.seed, kind.name, name)
        role, type_ = self._roots.get(kind.name), definition.type
        never_null = role or isinstance(type_, GraphQLNonNull) or find_node_type(type_) is not None
        limit = 0 if never_null else int(self.options.nulls * NULL_SHARES)

        def make_value(item: MockObject, args: dict[str, object]) -> Value:
            # The object, the field and the arguments decide, so that neither the order of
            # execution nor the other fields of a query change a value.
            value = mix_bits(item.key ^ salt)
            chosen = hash_arguments(select_choosing_arguments(args)) if args else 0
            if chosen:
                value = mix_bits(value ^ chosen)
            if limit and value >> 11 < limit:  # the upper 53 bits, as many as a float has
                return None
            return make(item, value, args)

        if role != "mutation":
            return make_value
        return lambda item, args: make_value(
            MockObject(kind, item.key, None, collect_inputs(definition, args)), args
        )

    def _build_maker(
        self, kind: MockType, name: str, definition: GraphQLField, type_: AnyGraphQLType
    ) -> FieldMaker:
        if is_list_type(type_):
            return self._build_list_maker(kind, name, definition, type_)
        if is_leaf_type(type_):
            reference = self._build_reference_maker(kind, name, type_)
            return reference or self._build_leaf_maker(kind, name, type_)
        nodes = find_node_type(type_)
        if nodes is None:
            return self._build_object_maker(kind, name, type_)
        return self._build_page_maker(name, type_, nodes)

    # -- leaves

    def _build_leaf_maker(self, kind: MockType, name: str, type_: AnyGraphQLType) -> FieldMaker:
        found = self._guess_values(kind, name, type_)
        make, shared = found.make, self._shared
        if found.shared:
            return lambda item, _value, _args: make(mix_bits(item.key ^ shared))
        return lambda _item, value, _args: make(value)

    def _build_reference_maker(
        self, kind: MockType, name: str, type_: AnyGraphQLType
    ) -> FieldMaker | None:
        """Return the maker of ``userId``: the id of the ``user`` beside it, else of any User."""
        beside = kind.type.fields.get(name[:-2]) if name.endswith("Id") else None
        named = self.schema.type_map.get(name[:1].upper() + name[1:-2])
        found = get_nullable_type(beside.type) if beside else named
        if not name.endswith("Id") or not is_object_type(found):
            return None
        target = self.get_type(found)
        if target.identity is None or target.scalar != type_.name:
            return None
        if beside is None:
            return lambda _item, value, _args: target.format_any_id(value)
        salt = hash_parts(self.seed, kind.name, name[:-2])
        return lambda item, _value, _args: target.format_any_id(mix_bits(item.key ^ salt))

    def _guess_values(self, kind: MockType, name: str, type_: AnyGraphQLType) -> ValueGuess:
        if is_enum_type(type_):
            values = [member.value for member in type_.values.values()]
            return ValueGuess(lambda value: values[value % len(values)])
        own = self.options.scalars.get(type_.name)
        if own is None:
            like = recognize_scalar(type_.name, type_.specified_by_url, type_.description)
            return guess_field(type_.name, name, kind.name, find_format(like or type_.name))
        if not isinstance(own, str):
            return ValueGuess(own)
        return guess_field(own, name, kind.name, find_format(own))

    # -- objects

    def _build_object_maker(self, kind: MockType, name: str, type_: AnyGraphQLType) -> FieldMaker:
        kinds, at_root = self.list_possible_types(type_), self._roots.get(kind.name) == "query"

        def make_object(item: MockObject, value: int, args: dict[str, object]) -> Value:
            if not kinds:
                return None
            if item.mutation_input is not None:
                return echo_input(kinds, name, item.mutation_input, value)
            if args:
                base = 0 if at_root else mix_bits(item.key ^ kind.salt)
                found = find_by_arguments(kinds, select_choosing_arguments(args), value, base)
                if found is not None:
                    return found
            asked = find_requested_type(kinds, args)
            return choose_type(kinds, value, lambda kind: kind.create_numbered(value, 0), asked)

        return make_object

    def _build_page_maker(self, name: str, type_: AnyGraphQLType, nodes: Value) -> FieldMaker:
        kind, element = self.get_type(type_), self._build_item_maker(None, name, nodes)
        kinds = self._list_item_types(nodes)
        low, high = self.options.sizes if element else (0, 0)

        def make_connection(_item: MockObject, value: int, args: dict[str, object]) -> MockObject:
            total = pick_integer(mix_bits(value), low, high)
            found = kind.create_numbered(value, 0)
            found.key = value
            shown, asked = select_places(total, args, name), find_requested_type(kinds, args)
            make = partial(choose_item, kinds, asked=asked) if asked else element
            found.page = MockPage(total, shown, lambda place: make and make(value, place))
            return found

        return make_connection

    # -- lists

    def _build_list_maker(
        self, kind: MockType, name: str, definition: GraphQLField, type_: AnyGraphQLType
    ) -> FieldMaker:
        element = self._build_item_maker(kind, name, get_nullable_type(type_.of_type))
        kinds = self._list_item_types(get_nullable_type(type_.of_type))
        paged = not definition.args.keys().isdisjoint({*LIMIT_ARGUMENTS, *OFFSET_ARGUMENTS})
        low, high = self.options.sizes if paged else self.options.lengths
        # A mutation succeeds: clients treat any item of these lists as a failure.
        if name in ERROR_LIST_FIELDS or element is None:
            low = high = 0

        def make_list(_item: MockObject, value: int, args: dict[str, object]) -> list[object]:
            ids = args.get("ids")
            if kinds and isinstance(ids, list):
                found: list[object] = [
                    find_by_id(kinds, "id", given) for given in ids if given is not None
                ]
                if None not in found:
                    return found
            shown = range(pick_integer(mix_bits(value), low, high))
            shown = select_places(len(shown), args, name) if paged else shown
            asked = find_requested_type(kinds, args)
            make = partial(choose_item, kinds, asked=asked) if asked else element
            return [make(value, place) for place in shown] if make else []

        return make_list

    def _list_item_types(self, type_: AnyGraphQLType) -> Sequence[MockType]:
        """Return the possible object types of a list's items; none for leaves and lists."""
        return () if is_list_type(type_) or is_leaf_type(type_) else self.list_possible_types(type_)

    def _build_item_maker(
        self, kind: MockType | None, name: str, type_: AnyGraphQLType
    ) -> Callable[[int, int], object] | None:
        """Return the maker of the item at a place of a list; None if no item is possible."""
        if is_list_type(type_):
            inner = self._build_item_maker(kind, name, get_nullable_type(type_.of_type))
            low, high = self.options.lengths

            def make_row(base: int, place: int) -> list[object]:
                value = mix_bits(base + place * GOLDEN_STEP)
                count = pick_integer(mix_bits(value), low, high)
                return [inner(value, place) for place in range(count)] if inner else []

            return None if inner is None else make_row
        if is_leaf_type(type_):
            owner = kind or self.get_type(self.schema.query_type)  # type: ignore[arg-type]
            is_plural = name.endswith("s") and not name.endswith("ss")
            make = self._guess_values(owner, name[:-1] if is_plural else name, type_).make
            return lambda base, place: make(mix_bits(base + place * GOLDEN_STEP))
        kinds = self.list_possible_types(type_)
        if len(kinds) <= 1:
            return kinds[0].create_numbered if kinds else None

        return partial(choose_item, kinds)


def select_choosing_arguments(args: dict[str, object]) -> dict[str, object]:
    """Return the arguments that choose items, without those for paging and ordering."""
    return {
        name: value
        for name, value in args.items()
        if name not in PAGING_ARGUMENTS
        and value is not None
        and name.lower().replace("_", "") not in ORDERING_ARGUMENTS
    }
