"""Mock schemas: loading a schema from any description, and attaching generated resolvers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from graphql import (
    FieldNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    build_ast_schema,
    get_nullable_type,
    introspection_types,
    parse,
)
from graphql.type import (
    is_abstract_type,
    is_enum_type,
    is_leaf_type,
    is_list_type,
    is_object_type,
    is_scalar_type,
    is_specified_scalar_type,
)

from gqlnb.document.scalars import recognize_scalar
from gqlnb.document.schema_text import print_sdl
from gqlnb.engine.graphql_compat import AnyGraphQLType, Value
from gqlnb.engine.mock.mock_objects import (
    LIMIT_ARGUMENTS,
    OFFSET_ARGUMENTS,
    ORDERING_ARGUMENTS,
    PAGING_ARGUMENTS,
    MockObject,
    MockType,
    build_page,
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
from gqlnb.engine.schema_adapters import extract_schema, is_schema
from gqlnb.engine.schema_builder import (
    LoadedSchema,
    Resolvers,
    adapt_resolver,
    bind_field,
    bind_resolvers,
    enable_large_integers,
    load_introspection,
    load_text,
    pause_collector,
)
from gqlnb.errors import SchemaError, sanitize_text

if TYPE_CHECKING:
    from graphql import GraphQLField, GraphQLResolveInfo

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
        kind = self._kinds.get(type_.name)
        if kind is None:
            # setdefault, since two threads may create it at the same time.
            new = MockType(type_, self.seed, self.build_recipe)
            kind = self._kinds.setdefault(type_.name, new)
        return kind

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
        guess = self._guess_values(kind, name, type_)
        make, shared = guess.make, self._shared
        if guess.shared:
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
                entry = find_by_arguments(kinds, select_choosing_arguments(args), value, base)
                if entry is not None:
                    return entry
            asked = find_requested_type(kinds, args)
            return choose_type(kinds, value, lambda kind: kind.create_numbered(value, 0), asked)

        return make_object

    def _build_page_maker(self, name: str, type_: AnyGraphQLType, nodes: Value) -> FieldMaker:
        kind, element = self.get_type(type_), self._build_item_maker(None, name, nodes)
        kinds = self._list_item_types(nodes)
        low, high = self.options.sizes if element else (0, 0)

        def make_connection(_item: MockObject, value: int, args: dict[str, object]) -> MockObject:
            total = pick_integer(mix_bits(value), low, high)
            owner = kind.create_numbered(value, 0)
            owner.key = value
            places, asked = select_places(total, args, name), find_requested_type(kinds, args)
            make: Any = partial(choose_item, kinds, asked=asked) if asked else element
            page = build_page(owner, total, places, lambda place: make(value, place), self.get_type)
            owner.known_values = {**(owner.known_values or {}), **page}
            return owner

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
                items: list[object] = [
                    find_by_id(kinds, "id", given) for given in ids if given is not None
                ]
                if None not in items:
                    return items
            places = range(pick_integer(mix_bits(value), low, high))
            places = select_places(len(places), args, name) if paged else places
            asked = find_requested_type(kinds, args)
            make = partial(choose_item, kinds, asked=asked) if asked else element
            return [make(value, place) for place in places] if make else []

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


MISSING = object()


def build_mock_schema(
    source: object, options: MockOptions, resolvers: Resolvers | None
) -> LoadedSchema:
    """Return a new schema that answers with generated data, and the mistakes ignored in it.

    Parameters
    ----------
    source
        SDL, an introspection result as text or as a mapping, or a schema object of any library,
        which is not changed.
    options
        The options of the mock.
    resolvers
        Functions used instead of generated data, by type and field.

    Raises
    ------
    SchemaError
        If the source is not a schema, an option has an invalid value, or a resolver matches no
        field.
    """
    schema, notes = load_schema(source)
    enable_large_integers(schema)
    check_mock_options(options, schema)
    generator = MockGenerator(schema, options)
    for kind in schema.type_map.values():
        if is_object_type(kind) and kind.name not in introspection_types:
            attach_resolvers(generator, generator.get_type(kind))
        elif is_abstract_type(kind):
            kind.resolve_type = resolve_type_name
    bind_resolvers(schema, resolvers or {})
    return LoadedSchema(schema, notes)


def load_schema(source: object) -> LoadedSchema:
    """Return a new schema from any description of one."""
    own = getattr(source, "graphql", None)  # of a Schema
    if isinstance(own, GraphQLSchema) or is_schema(source):
        return copy_schema(own if isinstance(own, GraphQLSchema) else extract_schema(source))
    if isinstance(source, Mapping):
        # Not validated further: an endpoint serves the schema that it describes.
        return load_introspection(dict(source), "The introspection result")
    if not isinstance(source, str):
        msg = (
            f"A {sanitize_text(type(source).__name__, 80)} can't be mocked. Give SDL, the result "
            "of an introspection query, or a schema object."
        )
        raise SchemaError(msg)
    return load_text(source, "The text", validate=True)


def copy_schema(schema: GraphQLSchema) -> LoadedSchema:
    """Return a copy of a schema, without its resolvers and its scalars' functions."""
    # The copy is not validated: a client accepts more than the specification does.
    try:
        with pause_collector():
            document = parse(print_sdl(schema), no_location=True)
            return LoadedSchema(
                build_ast_schema(document, assume_valid=True, assume_valid_sdl=True)
            )
    except (TypeError, GraphQLError) as error:
        reason = sanitize_text(error, 200)
    msg = f"The schema object can't be written as SDL: {reason}."
    raise SchemaError(msg)


def check_mock_options(options: MockOptions, schema: GraphQLSchema) -> None:
    """Check the values of options."""
    nulls: Any = options.nulls
    if not (isinstance(nulls, Real) and 0 <= float(nulls) <= 1):
        given = sanitize_text(repr(nulls), 80)
        msg = f"nulls= is the share of nullable fields that are null, 0 to 1; got {given}."
        raise SchemaError(msg)
    for name in ("lengths", "sizes"):
        pair: Any = getattr(options, name)
        valid = isinstance(pair, (tuple, list)) and len(pair) == 2
        valid = valid and all(isinstance(number, Integral) for number in pair)
        if not valid or not 0 <= pair[0] <= pair[1]:
            given = sanitize_text(repr(pair), 80)
            msg = f"{name}= is (fewest, most), 0 or more, in this order; got {given}."
            raise SchemaError(msg)
    for name, format_ in options.scalars.items():
        kind = schema.type_map.get(name)
        if not is_scalar_type(kind) or is_specified_scalar_type(kind):
            msg = f"scalars= names {sanitize_text(name, 80)!r}, and the schema has no such scalar."
            raise SchemaError(msg)
        if not callable(format_) and find_format(str(format_)) is None:
            msg = (
                f"scalars= says {sanitize_text(format_, 80)!r} of {name!r}: give a function of a "
                "number, or the name of a scalar that is known, such as 'DateTime' or 'Decimal'."
            )
            raise SchemaError(msg)


# -- fields


def attach_resolvers(generator: MockGenerator, kind: MockType) -> None:
    """Attach resolvers that generate values to the fields of an object type."""
    schema = generator.schema
    is_root = kind.type in (schema.query_type, schema.mutation_type)
    root = generator.create_root(kind) if is_root else None
    for name, definition in kind.type.fields.items():
        if kind.type is schema.subscription_type:
            events = build_event_generator(generator, kind, name)
            bind_field(schema, f"{kind.name}.{name}", events)
        # Also of subscriptions: a type for paid plans may have the name of the root.
        definition.resolve = adapt_resolver(build_resolver(kind, name, root))


def build_resolver(
    kind: MockType, name: str, base: MockObject | None
) -> Callable[[Any, Any, Any], object]:
    """Return the resolver of a field."""
    recipe: Any = None  # built late: a large schema has thousands of fields, a query uses few

    def generate(root: object, args: dict[str, object], _context: object) -> Value:
        nonlocal recipe
        if recipe is None:
            recipe = kind.get_recipe(name)
        if type(root) is not MockObject:
            if root is None and base is not None:
                return recipe(base, args)
            return resolve_partial_object(kind, name, root, args)
        known = root.known_values
        if known is not None and name in known:
            return root[name]
        return recipe(root, args)

    generate.__qualname__ = "generated"  # its name in an explanation
    return generate


def resolve_partial_object(
    kind: MockType, name: str, root: object, args: dict[str, object]
) -> Value:
    """Return a field of a user's object: its own value, else a generated one."""
    found = read_own_value(root, name)
    if found is not MISSING:
        return found
    identity = MISSING if kind.identity is None else read_own_value(root, kind.identity)
    if identity is not MISSING and identity is not None:
        item = kind.create_with_id(identity)
    else:
        text = ""
        if isinstance(root, Mapping):  # the same in every process
            text = json.dumps(dict(root), sort_keys=True, default=lambda v: type(v).__name__)
        item = MockObject(kind, hash_parts(kind.salt, text))
    if item.known_values and name in item.known_values:
        return item[name]
    return kind.get_recipe(name)(item, args)


def read_own_value(root: object, name: str) -> Value:
    """Return a key of a mapping or an attribute that is not a method; else MISSING."""
    if isinstance(root, Mapping):
        return root.get(name, MISSING)
    found = getattr(root, name, MISSING)
    return MISSING if callable(found) else found


def resolve_type_name(value: object, info: GraphQLResolveInfo[Any], _kind: object) -> str | None:
    """Return the object type of a generated value, or of a user's."""
    if type(value) is MockObject:
        if value.choice is not None:
            value.change_type(find_named_types(info))
        return value.kind.name
    if isinstance(value, Mapping):
        return value.get("__typename")
    name = getattr(value, "__typename", None)
    return name if isinstance(name, str) else type(value).__name__


def find_named_types(info: GraphQLResolveInfo[Any]) -> set[str]:
    """Return the object types that the fragments of a field name, directly or by interfaces."""
    schema = info.schema
    direct: set[str] = set()
    wide: set[str] = set()
    waiting: list[Any] = [node.selection_set for node in info.field_nodes]
    spread: set[str] = set()
    while waiting:
        for selection in waiting.pop().selections:
            fragment: Any = selection
            if isinstance(selection, FieldNode):
                continue
            if isinstance(selection, FragmentSpreadNode):
                if selection.name.value in spread:
                    continue
                spread.add(selection.name.value)
                fragment = info.fragments[selection.name.value]
            waiting.append(fragment.selection_set)
            condition = fragment.type_condition
            kind: Any = condition and schema.type_map[condition.name.value]
            if is_object_type(kind):
                direct.add(kind.name)
            elif kind is not None:
                wide.update(possible.name for possible in schema.get_possible_types(kind))
    return direct or wide


def build_event_generator(
    generator: MockGenerator, kind: MockType, name: str
) -> Callable[[Any, Any, Any], AsyncIterator[Any]]:
    """Return the function of a subscription, which yields some events and ends."""

    async def generate_events(
        _root: object, args: dict[str, object], _context: object
    ) -> AsyncIterator[Any]:
        for event in range(EVENT_COUNT):
            value = kind.get_recipe(name)(generator.create_root(kind, event), args)
            yield {name: value}

    return generate_events
