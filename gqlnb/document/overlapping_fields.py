"""Whether fields with one response name can be merged, in near-linear time.

graphql-core compares the fields with one response name in pairs: 1,200 times ``node { s }`` takes
it seconds. Here they are merged level by level, and each merged group is compared with its first
field: the algorithm of Simon Adameit, which Sangria, graphql-java and graphql-js 17 use
(https://github.com/graphql/graphql-spec/issues/1066).

It finds whether there is a conflict. Where there is one, graphql-core writes the errors, unless it
would have to compare too many pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLInterfaceType,
    GraphQLObjectType,
    ListValueNode,
    ObjectValueNode,
    OperationDefinitionNode,
    SchemaMetaFieldDef,
    SelectionSetNode,
    StringValueNode,
    TypeMetaFieldDef,
    TypeNameMetaFieldDef,
    VariableNode,
    get_named_type,
    is_composite_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from graphql import DocumentNode, GraphQLField, GraphQLNamedType, GraphQLSchema, ValueNode

__all__ = ["check_overlapping_fields"]

# graphql-core takes 4 us for a pair: 20 ms. A person's mistake has a few pairs.
MAX_PAIRS = 5_000
# A server's Limits.selections is reached long before; this is for documents without limits.
MAX_VISITED_FIELDS = 500_000

_ADVICE = "Use different aliases on the fields to fetch both if this was intentional."
_Groups = dict[str, list["_Field"]]


class OverlapCheck(NamedTuple):
    """The outcome of :func:`check_overlapping_fields`.

    Attributes
    ----------
    needs_rule
        Whether the rule of graphql-core has to run, to write the errors.
    error
        The error, where the rule of graphql-core would take too long.
    """

    needs_rule: bool
    error: GraphQLError | None = None


class _Field(NamedTuple):
    """A field in a merged selection set; `parent` and `type` are None where they are unknown."""

    node: FieldNode
    parent: GraphQLNamedType | None
    type: Any


class _Conflict(Exception):  # noqa: N818 - an outcome
    """Two fields that can't be merged."""

    def __init__(self, reason: str, first: FieldNode, second: FieldNode) -> None:
        super().__init__(reason)
        self.reason, self.first, self.second = reason, first, second


class _TooManyFieldsError(Exception):
    """More fields than `MAX_VISITED_FIELDS`."""


def check_overlapping_fields(schema: GraphQLSchema, document: DocumentNode) -> OverlapCheck:
    """Return whether a document has fields with one response name that can't be merged.

    Parameters
    ----------
    schema
        The schema.
    document
        The document, which may be invalid in any way.

    Returns
    -------
    OverlapCheck
        Whether graphql-core's rule has to run, or the error in its place.
    """
    merger = _FieldMerger(schema, document)
    try:
        merger.run()
    except _TooManyFieldsError:
        message = (
            "Fields with the same name are repeated too often to compare them all: the fragments "
            f"of the document lead to more than {MAX_VISITED_FIELDS:,} fields. "
            "Use fragments less often, or send several documents."
        )
        return OverlapCheck(needs_rule=False, error=GraphQLError(message))
    except _Conflict as conflict:
        if merger.count_pairs() <= MAX_PAIRS:
            return OverlapCheck(needs_rule=True)
        name = (conflict.first.alias or conflict.first.name).value
        message = f"Fields '{name}' conflict because {conflict.reason}. {_ADVICE}"
        error = GraphQLError(message, [conflict.first, conflict.second])
        return OverlapCheck(needs_rule=False, error=error)
    return OverlapCheck(needs_rule=False)


class _FieldMerger:
    """The merged selection sets of a document.

    Parameters
    ----------
    schema
        The schema.
    document
        The document.
    """

    def __init__(self, schema: GraphQLSchema, document: DocumentNode) -> None:
        self._schema = schema
        definitions = document.definitions
        self._operations = [it for it in definitions if isinstance(it, OperationDefinitionNode)]
        self._fragments = {
            it.name.value: it for it in definitions if isinstance(it, FragmentDefinitionNode)
        }
        self._spread: set[str] = set()  # fragments reached from what was merged
        self._seen: set[tuple[bool, frozenset[int]]] = set()
        self._visited = 0

    def run(self) -> None:
        """Merge all selection sets of the document.

        Raises
        ------
        _Conflict
            If two fields can't be merged.
        _TooManyFieldsError
            If there are too many.
        """
        for operation in self._operations:
            root = self._schema.get_root_type(operation.operation)
            self._merge([(root, operation.selection_set)])
        for name, fragment in self._fragments.items():
            if name not in self._spread:
                kind = self._schema.get_type(fragment.type_condition.name.value)
                self._merge([(kind, fragment.selection_set)])

    def count_pairs(self) -> int:
        """Return an upper estimate of the pairs that graphql-core would compare."""
        groups: dict[str, int] = {}
        waiting: list[Any] = [*self._operations, *self._fragments.values()]
        spreads = 0
        while waiting:
            node = waiting.pop()
            if isinstance(node, FieldNode):
                name = (node.alias or node.name).value
                groups[name] = groups.get(name, 0) + 1
            spreads += isinstance(node, FragmentSpreadNode)
            if getattr(node, "selection_set", None) is not None:
                waiting += node.selection_set.selections
        return sum(count * count for count in groups.values()) + spreads * spreads

    def _merge(self, sets: list[tuple[Any, SelectionSetNode]]) -> None:
        """Merge selection sets, and those below them, without recursion."""
        waiting = [(sets, False)]
        while waiting:
            merged, shape_only = waiting.pop()
            key = shape_only, frozenset(id(selection_set) for _, selection_set in merged)
            if key in self._seen:
                continue
            self._seen.add(key)
            for group in self._collect_fields(merged).values():
                waiting += self._check_group(group, shape_only=shape_only)

    def _collect_fields(self, merged: Iterable[tuple[Any, SelectionSetNode]]) -> _Groups:
        """Return the fields of merged selection sets by response name."""
        groups: _Groups = {}
        seen: set[str] = set()
        waiting = list(merged)
        while waiting:
            parent, selection_set = waiting.pop()
            fields = _find_fields(parent)
            for node in selection_set.selections:
                if isinstance(node, FieldNode):
                    name = node.name.value
                    definition = fields.get(name) or self._find_meta_field(parent, name)
                    kind = definition.type if definition is not None else None
                    key = node.alias.value if node.alias is not None else name
                    groups.setdefault(key, []).append(_Field(node, parent, kind))
                    self._visited += 1
                elif isinstance(node, FragmentSpreadNode):
                    name = node.name.value
                    fragment = self._fragments.get(name)
                    if fragment is None or name in seen:
                        continue
                    seen.add(name)
                    self._spread.add(name)
                    condition = self._schema.get_type(fragment.type_condition.name.value)
                    waiting.append((_keep_composite(condition), fragment.selection_set))
                else:
                    condition = node.type_condition  # type: ignore[attr-defined]
                    inner = self._schema.get_type(condition.name.value) if condition else parent
                    waiting.append((_keep_composite(inner), node.selection_set))  # type: ignore[attr-defined]
            if self._visited > MAX_VISITED_FIELDS:
                raise _TooManyFieldsError
        return groups

    def _find_meta_field(self, parent: object, name: str) -> GraphQLField | None:
        if name == "__typename":
            return TypeNameMetaFieldDef
        if parent is not None and parent is self._schema.query_type:
            return {"__schema": SchemaMetaFieldDef, "__type": TypeMetaFieldDef}.get(name)
        return None

    def _check_group(
        self, group: list[_Field], *, shape_only: bool
    ) -> list[tuple[list[tuple[Any, SelectionSetNode]], bool]]:
        """Compare the fields of one response name; return the selection sets to merge below."""
        if len(group) == 1:
            return _list_sub_selections([group], shape_only=shape_only)
        first = next((it for it in group if it.type is not None), group[0])
        for field in group:
            if field.type is not first.type and _differ_in_shape(first.type, field.type):
                reason = f"they return conflicting types '{first.type}' and '{field.type}'"
                raise _Conflict(reason, first.node, field.node)
            if any(it.name.value == "stream" for it in field.node.directives or ()):
                other = next(it for it in group if it is not field)
                reason = "they have overlapping stream directives"
                raise _Conflict(reason, other.node, field.node)
        if shape_only:
            return _list_sub_selections([group], shape_only=True)
        parts = _split_by_parent(group)
        for part in parts:
            _compare_calls(part)
        if len(parts) == 1:
            return _list_sub_selections(parts, shape_only=False)
        below = _list_sub_selections(parts, shape_only=False)
        return below + _list_sub_selections([group], shape_only=True)


_NO_FIELDS: Mapping[str, GraphQLField] = {}


def _keep_composite(kind: GraphQLNamedType | None) -> GraphQLNamedType | None:
    return kind if is_composite_type(kind) else None


def _find_fields(parent: Any) -> Mapping[str, GraphQLField]:
    has_fields = isinstance(parent, (GraphQLObjectType, GraphQLInterfaceType))
    return cast("Mapping[str, GraphQLField]", parent.fields) if has_fields else _NO_FIELDS


def _list_sub_selections(
    groups: list[list[_Field]], *, shape_only: bool
) -> list[tuple[list[tuple[Any, SelectionSetNode]], bool]]:
    """Return the selection sets below each group of fields, to be merged."""
    below = []
    for group in groups:
        sets = [
            (_keep_composite(get_named_type(field.type)), field.node.selection_set)
            for field in group
            if field.node.selection_set is not None
        ]
        if sets:
            below.append((sets, shape_only))
    return below


def _split_by_parent(group: list[_Field]) -> list[list[_Field]]:
    """Return the fields that may belong to one object: by object type, with all abstract ones."""
    first = group[0].parent
    if all(field.parent is first for field in group):
        return [group]
    concrete: dict[str, list[_Field]] = {}
    abstract: list[_Field] = []
    for field in group:
        if isinstance(field.parent, GraphQLObjectType):
            concrete.setdefault(field.parent.name, []).append(field)
        else:
            abstract.append(field)
    return [part + abstract for part in concrete.values()] or [abstract]


def _compare_calls(fields: list[_Field]) -> None:
    """Compare the names and arguments of fields of one object."""
    first = fields[0].node
    name, arguments = first.name.value, _build_arguments_key(first)
    for field in fields:
        node = field.node
        if node.name.value != name:
            reason = f"'{name}' and '{node.name.value}' are different fields"
            raise _Conflict(reason, first, node)
        if (node.arguments or first.arguments) and _build_arguments_key(node) != arguments:
            reason = "they have differing arguments"
            raise _Conflict(reason, first, node)


def _build_arguments_key(node: FieldNode) -> object:
    if not node.arguments:
        return ()
    pairs = {it.name.value: _build_value_key(it.value) for it in node.arguments}
    # Given twice, which another rule refuses, an argument equals nothing.
    return object() if len(pairs) < len(node.arguments) else pairs


def _build_value_key(value: ValueNode) -> object:
    """Return a value that is equal for equal literals; the order of members does not matter."""
    if isinstance(value, ListValueNode):
        return [_build_value_key(it) for it in value.values]
    if isinstance(value, ObjectValueNode):
        return sorted((it.name.value, repr(_build_value_key(it.value))) for it in value.fields)
    if isinstance(value, VariableNode):
        return "$", value.name.value
    block = isinstance(value, StringValueNode) and bool(value.block)
    return value.kind, getattr(value, "value", None), block


def _differ_in_shape(one: Any, other: Any) -> bool:  # noqa: ANN401 - a type of a schema, or None
    """Return whether two types can't be in one place of a response."""
    if one is None or other is None:
        return False
    while True:
        if is_non_null_type(one) or is_non_null_type(other):
            if not (is_non_null_type(one) and is_non_null_type(other)):
                return True
        elif is_list_type(one) or is_list_type(other):
            if not (is_list_type(one) and is_list_type(other)):
                return True
        elif is_leaf_type(one) or is_leaf_type(other):
            return one is not other
        else:
            return False
        one, other = one.of_type, other.of_type
