"""Validation by the rules of the specification, with a dispatch cache and a check of floats.

Whether fields of one response name can be merged is decided in near-linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from math import isinf
from typing import Any, NamedTuple

from graphql import (
    BREAK,
    SKIP,
    ASTValidationRule,
    DocumentNode,
    FieldNode,
    FloatValueNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLField,
    GraphQLFloat,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    IntValueNode,
    ListValueNode,
    Node,
    NoUndefinedVariablesRule,
    NoUnusedVariablesRule,
    ObjectValueNode,
    OperationDefinitionNode,
    OverlappingFieldsCanBeMergedRule,
    SchemaMetaFieldDef,
    SelectionSetNode,
    StringValueNode,
    TypeMetaFieldDef,
    TypeNameMetaFieldDef,
    ValidationContext,
    ValidationRule,
    ValueNode,
    VariableNode,
    VariablesInAllowedPositionRule,
    get_named_type,
    is_composite_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
    specified_rules,
    validate,
)
from graphql.language.parser import MAX_NESTING_DEPTH

# graphql-core takes 4 us for a pair: 20 ms. A person's mistake has a few pairs.
MAX_PAIRS = 5_000
# A server's Limits.selections is reached long before; this is for documents without limits.
MAX_VISITED_FIELDS = 500_000

_ADVICE = "Use different aliases on the fields to fetch both if this was intentional."
_Groups = dict[str, list["_Field"]]
META_FIELDS = {
    "__typename": TypeNameMetaFieldDef,
    "__schema": SchemaMetaFieldDef,
    "__type": TypeMetaFieldDef,
}


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
                self._merge([(_keep_composite(kind), fragment.selection_set)])

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
            fields: Mapping[str, GraphQLField] = getattr(parent, "fields", _NO_FIELDS)
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
        is_root = parent is not None and parent is self._schema.query_type
        return META_FIELDS.get(name) if is_root or name == "__typename" else None

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


MAX_ERRORS = 100  # the default of graphql-core
# An infinite literal has an exponent of three digits, or three hundred digits.
_ABORTED = "Validation aborted."  # all that graphql-core says
_ABORT_MESSAGE = (
    "The document was not validated: its fragments are nested too deeply (MAX_NESTING_DEPTH of "
    "graphql-core: {depth} levels) or shared by too many operations (its MAX_FRAGMENT_WORK). Nest "
    "and spread fragments less, or send fewer operations in one document."
)
_TOO_MANY_DIGITS = "sys.set_int_max_str_digits"  # in the message of Python's int()
_HUGE_LITERAL = re.compile(r"[eE]\+?[0-9]{3}|[0-9]{300}")


def can_be_infinite(text: str) -> bool:
    """Return whether a text may contain an infinite number literal."""
    return _HUGE_LITERAL.search(text) is not None


# graphql-core parses such a literal as infinity and passes that to the resolver. The specification
# requires an error (section "Float", input coercion: a value that the type cannot represent).
class FiniteFloatsRule(ValidationRule):
    """Rejects ``1e400`` for a ``Float``."""

    def enter_float_value(self, node: FloatValueNode | IntValueNode, *_: object) -> None:
        """Check a literal with a decimal point or an exponent, or an integer."""
        kind = get_named_type(self.context.get_input_type())
        if kind is not None and kind.name == GraphQLFloat.name and isinf(float(node.value)):
            shown = node.value if len(node.value) <= 20 else f"{node.value[:20]}..."
            self.report_error(
                GraphQLError(f"Float cannot represent {shown}: it is infinite.", node)
            )

    enter_int_value = enter_float_value  # which is valid for ``Float`` too


# The dicts of graphql-core's context by node. A look-up hashes the node with all nodes below it, up
# to nine times for each document, which is a sixth of the time of validating a long one.
NODE_CACHES = ("_fragment_spreads", "_variable_usages", "_recursive_variable_usages")


class NodeCache(dict[Any, Any]):
    """A dict by node, compared by identity; the document keeps the nodes alive."""

    def get(self, node: Node, default: Any = None) -> Any:
        """Return the value of a node."""
        return super().get(id(node), default)

    def __setitem__(self, node: Node, value: Any) -> None:
        super().__setitem__(id(node), value)


class NoUsages(NodeCache):
    """The variables used in the nodes of a document without any, which need not be visited."""

    def get(self, _node: Node, _default: Any = None) -> Any:
        """Return an empty list."""
        return []


class RuleMethods(NamedTuple):
    """The methods to call at nodes of one kind, with the index of the rule they belong to."""

    enter: tuple[tuple[int, Callable[..., Any]], ...]
    leave: tuple[tuple[int, Callable[..., Any] | None], ...]


# They visit every operation once more, with all its fragments, to find its variables.
_VARIABLE_RULES: tuple[type[ASTValidationRule], ...] = (
    NoUndefinedVariablesRule,
    NoUnusedVariablesRule,
    VariablesInAllowedPositionRule,
)


@cache
def collect_rule_methods(kind: str) -> RuleMethods:
    """Return the methods of the specified rules for nodes of a kind, in the order of the rules.

    A rule with an enter method only is listed under `leave` too, to end the skipping of a node.
    """
    enter, leave = [], []
    for number, rule in enumerate(specified_rules):
        entering = getattr(rule, f"enter_{kind}", None) or getattr(rule, "enter", None)
        leaving = getattr(rule, f"leave_{kind}", None) or getattr(rule, "leave", None)
        if entering:
            enter.append((number, entering))
        if entering or leaving:
            leave.append((number, leaving))
    return RuleMethods(tuple(enter), tuple(leave))


# The rules of the specification run in their order through one visitor that knows which rule
# handles which node type. graphql-core creates and calls about thirty visitors for every
# document, which is most of the cost of a short one.
# graphql-core looks up the methods of thirty rules by name at each node, for every document again,
# which is more than half of the time for a short document. Here the look-up is cached per kind of
# node. Arguments, order of calls and results are the same as in graphql-core.
class SpecifiedRules(ASTValidationRule):
    """All rules of the specification as one rule."""

    def __init__(self, context: ValidationContext) -> None:
        super().__init__(context)
        for name in NODE_CACHES:
            if hasattr(context, name):
                setattr(context, name, NodeCache())
        self.rules = [rule(context) for rule in specified_rules]
        self.skipping: list[Any] = [None] * len(self.rules)
        source = context.document.loc.source.body if context.document.loc is not None else "$"
        if "$" not in source:  # there are no variables
            context._variable_usages = NoUsages()  # noqa: SLF001
            for rule in _VARIABLE_RULES:
                self.skipping[specified_rules.index(rule)] = BREAK
        overlaps = check_overlapping_fields(context.schema, context.document)
        if overlaps.error is not None:
            self.report_error(overlaps.error)
        if not overlaps.needs_rule:
            self.skipping[specified_rules.index(OverlappingFieldsCanBeMergedRule)] = BREAK

    def enter(self, node: Node, *args: object) -> None:
        """Call the enter methods of the rules that do not skip the node."""
        rules, skipping = self.rules, self.skipping
        try:
            for number, method in collect_rule_methods(node.kind).enter:
                if skipping[number] is None:
                    outcome = method(rules[number], node, *args)
                    if outcome is None:
                        continue
                    # Rules do not edit the document: an outcome is SKIP, BREAK, or the bool for it.
                    skipping[number] = node if outcome is SKIP or outcome is False else BREAK
        except BaseException:
            self._release()
            raise

    def leave(self, node: Node, *args: object) -> None:
        """Call the leave methods of the rules that did not skip the node."""
        rules, skipping = self.rules, self.skipping
        is_done = True
        try:
            for number, method in collect_rule_methods(node.kind).leave:
                if skipping[number] is None:
                    if method is not None:
                        outcome = method(rules[number], node, *args)
                        if outcome is BREAK or outcome is True:
                            skipping[number] = BREAK
                elif skipping[number] is node:
                    skipping[number] = None
            is_done = node.kind == "document"
        finally:
            if is_done:
                self._release()

    # The visitors of a validation refer to themselves, and would keep the document alive until the
    # garbage collector runs, which stops all threads.
    def _release(self) -> None:
        """Drop all references to the document: it is validated, or validation has stopped."""
        vars(self.context).clear()
        self.rules.clear()
        self.skipping.clear()


def validate_document(
    schema: GraphQLSchema,
    document: DocumentNode,
    *,
    more: Sequence[type[ASTValidationRule]] = (),
    max_errors: int = MAX_ERRORS,
) -> list[GraphQLError]:
    """Return the validation errors of a document, equal to those of graphql-core's ``validate``.

    Parameters
    ----------
    schema
        The schema.
    document
        The document.
    more
        Further rules, applied after those of the specification.
    max_errors
        The number of errors after which validation stops; one more error then says so.
    """
    try:
        errors = validate(schema, document, (SpecifiedRules, *more), max_errors)
    # graphql-core 3.2 raises if the @skip of a subscription's root field depends on a variable.
    except GraphQLError as error:
        return [error]
    if not errors:
        return errors
    if errors[-1].message == _ABORTED:
        errors[-1] = GraphQLError(_ABORT_MESSAGE.format(depth=MAX_NESTING_DEPTH))
    return [
        GraphQLError("An integer of thousands of digits is not accepted.", error.nodes)
        if _TOO_MANY_DIGITS in error.message
        else error
        for error in errors
    ]
