"""The parts of a schema that compiled code takes as constant, and whether one has changed.

Among them are the types of leaves with the usual Python values of each.
"""

from __future__ import annotations

from itertools import repeat
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from graphql import (
    EnumValueNode,
    FieldNode,
    FragmentSpreadNode,
    GraphQLBoolean,
    GraphQLEnumType,
    GraphQLFloat,
    GraphQLID,
    GraphQLInt,
    GraphQLScalarType,
    GraphQLString,
    NullValueNode,
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    type_from_ast,
)

from gqlnb.document.validation import META_FIELDS
from gqlnb.engine.graphql_compat import (
    FIELD_MEMBERS,
    INPUT_MEMBERS,
    LITERAL_COERCER_NAME,
    SERIALIZER_NAME,
    SERIALIZERS,
    AnyGraphQLType,
    get_serializer,
    is_parsed_by_core,
    is_serialized_by_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from graphql import GraphQLField, GraphQLSchema, ValueNode

    from gqlnb.document.document import Document


# The id of an object, the path from it, and the attributes at its end.
Part: TypeAlias = tuple[int, tuple[str, ...], tuple[str, ...]]

SMALL_INT = (1 << 30) - 1  # integers up to it are one digit in CPython, which compares them fast
LARGEST_FLOAT = "1.7976931348623157e308"  # values outside of its signs are not finite

# The test that a value is not of the usual type of a leaf, whose values need no conversion.
LEAF_TESTS = {
    GraphQLString: "type({0}) is not str",
    GraphQLID: "type({0}) is not str",
    GraphQLInt: f"type({{0}}) is not int or {{0}} > {SMALL_INT} or {{0}} < {-SMALL_INT}",
    GraphQLFloat: f"type({{0}}) is not float or not -{LARGEST_FLOAT} <= {{0}} <= {LARGEST_FLOAT}",
    GraphQLBoolean: "{0} is not True and {0} is not False",
}
LEAF_PREDICATES: dict[object, Callable[[object], bool]] = {
    kind: eval(f"lambda value: not ({test.format('value')})")  # noqa: S307
    for kind, test in LEAF_TESTS.items()
}


def iterate_fields(
    document: Document, schema: GraphQLSchema
) -> Iterator[tuple[Any, FieldNode, GraphQLField | None]]:
    """Yield the fields of an operation: the type in which each is selected, node and definition."""
    fragments = document.fragments
    entered: set[str] = set()
    waiting: list[tuple[Any, Any]] = [
        (document.operation, schema.get_root_type(document.operation.operation))
    ]
    while waiting:
        node, kind = waiting.pop()
        if isinstance(node, FragmentSpreadNode):
            name = node.name.value
            if name in entered or name not in fragments:
                continue
            entered.add(name)
            node = fragments[name]
        if isinstance(node, FieldNode):
            member = META_FIELDS.get(node.name.value) or getattr(kind, "fields", {}).get(
                node.name.value
            )
            yield kind, node, member
            kind = get_named_type(member.type) if member is not None else None
        elif getattr(node, "type_condition", None) is not None:
            kind = schema.get_type(node.type_condition.name.value)
        if node.selection_set is not None:
            waiting += [(inner, kind) for inner in node.selection_set.selections]


def is_custom_leaf(kind: AnyGraphQLType) -> bool:
    """Return whether a type may serialize a value to one that JSON can't represent."""
    if isinstance(kind, GraphQLEnumType):
        return not is_serialized_by_name(kind)
    usual = SERIALIZERS.get(kind) if isinstance(kind, GraphQLScalarType) else None
    return usual is None or get_serializer(kind) is not usual


def is_constant(node: ValueNode, kind: AnyGraphQLType) -> bool:
    """Return whether a literal has one value: custom scalars may parse "now" each time anew."""
    if isinstance(node, VariableNode):
        return False
    return isinstance(node, NullValueNode) or is_parsed_by_core(get_nullable_type(kind))


def find_leaf_test(kind: AnyGraphQLType) -> str | None:
    """Return the test that a value is not of a leaf's usual type; None without such a type."""
    serializer = get_serializer(kind)
    if kind in SERIALIZERS:
        return LEAF_TESTS[kind] if serializer is SERIALIZERS[kind] else None
    plain = isinstance(kind, GraphQLScalarType) and serializer is GraphQLScalarType.serialize
    return "type({0}) not in JSON" if plain else None


def find_leaf_predicate(kind: AnyGraphQLType) -> Callable[[object], bool] | None:
    """Return a function that tells whether a value is of a leaf's usual type, if it has one."""
    known = LEAF_PREDICATES.get(kind)
    return known if known is not None and get_serializer(kind) is SERIALIZERS[kind] else None


FEW_CHECKS = 32  # compiling the check takes as long as about so many checks
COPIED = frozenset({"args", "fields"})  # dicts whose members are compared: they change in place
_lock = Lock()


class SchemaChangedError(Exception):
    """The schema has changed since a document was validated; nothing was executed."""


# A plan is checked at each execution, which must take a few percent of that of `{ hello }`. So the
# check is compiled after a few times: it reads all parts into one tuple and compares that with the
# values it knows, which is done in C and takes half the time of one test for each part.
class SchemaWatch:
    """Notices a change of the parts of a schema that an operation's plans take as constant.

    A part is read along its path at each check, so that any object on the way may be replaced.

    Attributes
    ----------
    has_changed : function
        Returns whether a part has another value than when it was added.
    """

    __slots__ = ("_checks", "_parts", "has_changed")

    def __init__(self) -> None:
        # By the owner's id, since fields and arguments cannot be hashed.
        self._parts: dict[Part, tuple[Any, list[Any]]] = {}
        self._checks = 0
        self.has_changed: Callable[[], bool] = self._check_slowly

    def add(self, owner: object, path: tuple[str, ...], *names: str) -> None:
        """Add a part of the schema.

        Parameters
        ----------
        owner
            The object where its path begins.
        path
            The names of attributes that are dicts, each followed by a key.
        names
            The attributes of the object at the end of the path; without any, the object itself.
        """
        part = (id(owner), path, names)
        if part not in self._parts:
            (values,) = read_parts([(part, (owner, []))])
            for place, name in enumerate(names):
                if name in COPIED:
                    values[place] = dict(values[place])
            with _lock:
                self._parts[part] = (owner, values)
                self._checks, self.has_changed = 0, self._check_slowly

    def _check_slowly(self) -> bool:
        with _lock:
            self._checks += 1
            if self._checks > FEW_CHECKS:
                self.has_changed = self._compile()
            parts = list(self._parts.items())
        try:
            return read_parts(parts) != [values for _, (_, values) in parts]
        except Exception:  # noqa: BLE001 - it is missing, or its value cannot be compared
            return True

    def _compile(self) -> Callable[[], bool]:
        terms: list[str] = []
        known: list[object] = []
        space: dict[str, Any] = {}
        locals_: dict[tuple[Any, ...], str] = {}  # of the dicts on the paths
        for (number, path, names), (owner, values) in self._parts.items():
            place = ""
            for end in range(1, len(path), 2):
                key = (number, path[:end])
                if key not in locals_:
                    locals_[key] = f"d{len(locals_)}"
                    source = write_attribute(space, owner, path[end - 1], place)
                    place = f"({locals_[key]} := {source})"
                else:
                    place = locals_[key]
                place = f"{place}[{str.__repr__(path[end])}]"
            for name, value in zip(names or ("",), values, strict=True):
                term = write_attribute(space, owner, name, place) if name else place
                if path and len(names) > 1:
                    term = f"(it := {place}).{name}" if name == names[0] else f"it.{name}"
                is_empty = type(value) is dict and not value  # tested faster than compared
                terms.append(f"not {term}" if is_empty else term)
                known.append(is_empty or value)
        space["known"] = tuple(known)
        # The names in the text are those of attributes of graphql-core; all others are literals.
        parameters = ", ".join(f"{name}={name}" for name in space)  # locals are read fastest
        body = f" try: return ({''.join(f'{term}, ' for term in terms)}) != known"
        text = f"def has_changed({parameters}):\n{body}\n except Exception: return True"
        exec(text, space)  # noqa: S102
        return space.pop("has_changed")  # type: ignore[no-any-return]


def write_attribute(space: dict[str, Any], owner: Any, name: str, place: str) -> str:  # noqa: ANN401
    """Return the source of an attribute of the object at `place`, or of the owner without one."""
    if place:
        return f"{place}.{name}"
    # Python takes a third of the time for what the class has too, as graphql-core's cached
    # properties, if it is looked up in the dict of the object.
    own = getattr(owner, "__dict__", {})
    place = f"{'m' if name in own else 'v'}{id(owner)}"
    space[place] = own if name in own else owner
    return f"{place}[{name!r}]" if name in own else f"{place}.{name}"


def read_parts(parts: Iterable[tuple[Part, tuple[Any, list[Any]]]]) -> list[list[Any]]:
    """Return the present values of parts, all in one call, as most executions read some dozens."""
    read = []
    for (_, path, names), (owner, _) in parts:
        place = owner
        for name, key in zip(path[::2], path[1::2], strict=True):
            place = getattr(place, name)[key]
        read.append([*map(getattr, repeat(place), names)] or [place])
    return read


def watch_field(
    watch: SchemaWatch,
    parent: AnyGraphQLType,
    definition: GraphQLField,
    node: FieldNode,
    *,
    keeps_arguments: bool,
) -> None:
    """Let a change of a field be noticed, and of its arguments if their values are kept."""
    name = node.name.value
    if name in META_FIELDS:
        watch.add(definition, (), *FIELD_MEMBERS)
        return
    watch.add(parent, ("fields", name), *FIELD_MEMBERS)
    if is_leaf_type(kind := get_named_type(definition.type)):
        watch.add(kind, (), SERIALIZER_NAME)
    literals = {argument.name.value: argument.value for argument in node.arguments or ()}
    for key, argument in definition.args.items() if keeps_arguments else ():
        watch.add(parent, ("fields", name, "args", key), *INPUT_MEMBERS)
        watch_literal(watch, literals.get(key), argument.type)


def watch_literal(watch: SchemaWatch, node: ValueNode | None, kind: AnyGraphQLType) -> None:
    """Let a change of the value of a constant literal be noticed."""
    inner = get_nullable_type(kind)
    if node is None or isinstance(node, (VariableNode, NullValueNode)) or not is_leaf_type(inner):
        return
    watch.add(inner, (), LITERAL_COERCER_NAME)
    if isinstance(node, EnumValueNode) and node.value in getattr(inner, "values", ()):
        watch.add(inner, ("values", node.value), "value")


def watch_document(document: Document, schema: GraphQLSchema) -> tuple[SchemaWatch, bool]:
    """Return a watch of the parts of the schema on which the validity of a document depends.

    Returns
    -------
    (SchemaWatch, bool)
        The watch, and whether all leaves of the operation are enums or of GraphQL's five scalars.
        Their serializers reject numbers that are not finite, so that no answer contains one; a
        custom scalar may return any value.
    """
    watch, leaves = SchemaWatch(), set[Any]()
    watch.add(schema, (), f"{document.kind}_type")
    for variable in document.variables.values():
        kind: Any = get_named_type(type_from_ast(schema, variable.type))
        watch.add(schema, ("type_map", kind.name))
    for kind, node, member in iterate_fields(document, schema):
        name = node.name.value
        if member is None or name in META_FIELDS:
            continue
        if node.selection_set is None:
            leaves.add(get_named_type(member.type))
        watch.add(kind, ("fields", name), *FIELD_MEMBERS)
        for argument in node.arguments or ():
            watch.add(kind, ("fields", name, "args", argument.name.value), *INPUT_MEMBERS)
    return watch, not any(map(is_custom_leaf, leaves))
