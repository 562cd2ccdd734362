"""Validation as graphql-ruby does it, the engine of GitHub's API: its errors, in its order.

graphql-core finds other errors in a document: its rules run over the whole document one after the
other, graphql-ruby's run together, and one that finds an error leaves out what is below the node.
Written beside graphql-ruby 1.13.15, with which ``tests/github/standin/test_engine_rules.py``
compares the answers. It differs in this: fields of one response name are compared by the
specification's rule, since the stand-in cannot execute all that the engine takes; and the path to
an item of a list has the item's own index, where the engine has that of the first equal one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations, product
from typing import Any, NamedTuple

from graphql import (
    DirectiveLocation,
    DirectiveNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLSchema,
    InlineFragmentNode,
    Node,
    OperationDefinitionNode,
    SelectionSetNode,
    Token,
    VariableDefinitionNode,
    VariableNode,
    do_types_overlap,
    get_location,
    get_named_type,
    get_nullable_type,
    is_composite_type,
    is_input_type,
    is_interface_type,
    is_object_type,
    is_scalar_type,
    is_union_type,
    print_ast,
    specified_scalar_types,
    type_from_ast,
)

from gqlnb.document.input_coercion import has_default
from gqlnb.document.validation import META_FIELDS

ErrorDict = dict[str, Any]
_Definition = OperationDefinitionNode | FragmentDefinitionNode

_LOCATION_WORDS = {
    DirectiveLocation.QUERY: "queries",
    DirectiveLocation.MUTATION: "mutations",
    DirectiveLocation.SUBSCRIPTION: "subscriptions",
    DirectiveLocation.FIELD: "fields",
    DirectiveLocation.FRAGMENT_DEFINITION: "fragment definitions",
    DirectiveLocation.FRAGMENT_SPREAD: "fragment spreads",
    DirectiveLocation.INLINE_FRAGMENT: "inline fragments",
    DirectiveLocation.VARIABLE_DEFINITION: "variable definitions",
}


# The messages by code. Of the words in braces, those that begin with an underscore stand in the
# message only, the others in `extensions` too.
_MESSAGES = {
    "argumentLiteralsIncompatible": "Argument '{argumentName}' on {typeName} '{_name}' has an "
    "invalid value{_value}. Expected type '{_expected}'.",
    "argumentNotAccepted": "{typeName} '{name}' doesn't accept argument '{argumentName}'",
    "argumentNotUnique": 'There can be only one argument named "{name}"',
    "cannotSpreadFragment": "Fragment{_name} on {typeName} can't be spread inside {parentName}",
    "defaultValueInvalidType": "Default value for ${variableName} doesn't match type {typeName}",
    "directiveCannotBeApplied": "'@{name}' can't be applied to {targetName} (allowed: {_allowed})",
    "directiveNotUniqueForLocation": 'The directive "{directiveName}" can only be used once at '
    "this location.",
    "fieldConflict": "Field '{fieldName}' has {_kind} conflict: {conflicts}?",
    "fragmentNotUnique": 'Fragment name "{fragmentName}" must be unique',
    "fragmentOnNonCompositeType": "Invalid fragment on type {typeName} (must be Union, Interface "
    "or Object)",
    "infiniteLoop": "Fragment {fragmentName} contains an infinite loop",
    "inputFieldNotUnique": 'There can be only one input field named "{name}"',
    "missingMutationConfiguration": "Schema is not configured for mutations",
    "missingQueryConfiguration": "Schema is not configured for queries",
    "missingRequiredArguments": "{className} '{name}' is missing required arguments: {arguments}",
    "missingRequiredInputObjectAttribute": "Argument '{argumentName}' on InputObject "
    "'{inputObjectType}' is required. Expected type {argumentType}",
    "missingSubscriptionConfiguration": "Schema is not configured for subscriptions",
    "queryContainsSchemaDefinitions": "Query cannot contain schema definitions",
    "selectionMismatch": "{_message}",
    "undefinedDirective": "Directive @{directiveName} is not defined",
    "undefinedField": "Field '{fieldName}' doesn't exist on type '{typeName}'",
    "undefinedType": "No such type {typeName}, so it can't be a fragment condition",
    "uniquelyNamedOperations": "{_message}",
    "useAndDefineFragment": "Fragment {fragmentName} was {_reason}",
    "variableMismatch": "{errorMessage} on variable ${variableName} and argument {argumentName} "
    "({typeName} / {_expected})",
    "variableNotDefined": "Variable ${variableName} is used by {_user} but not declared",
    "variableNotUnique": 'There can only be one variable named "{variableName}"',
    "variableNotUsed": "Variable ${variableName} is declared by {_user} but not used",
    "variableRequiresValidType": "{typeName} isn't a {_reason} input type (on ${variableName})",
}


def find_engine_errors(schema: GraphQLSchema, document: DocumentNode) -> list[ErrorDict]:
    """Return the errors of graphql-ruby's static validation.

    Parameters
    ----------
    schema
        The schema.
    document
        The document, parsed with locations.

    Returns
    -------
    list of dict
        The errors with ``path``, ``extensions``, ``locations`` and ``message``, in the engine's
        order; empty if the engine accepts the document.
    """
    checker = _DocumentChecker(schema, document)
    checker.check_document()
    return checker.errors


class _ArgumentOwner(NamedTuple):
    """The definition to which arguments belong, and its words in messages."""

    kind: str  # Field, Directive or InputObject
    name: str
    arguments: Mapping[str, Any]


class _VariableUse(NamedTuple):
    """The last use of a variable in a definition, or none."""

    node: Node | None
    user: _Definition | None
    path: tuple[Any, ...]


class _DocumentChecker:
    """Walks a document in the order of graphql-ruby; each method checks in the order of its rules.

    Attributes
    ----------
    errors
        The errors found.
    """

    def __init__(self, schema: GraphQLSchema, document: DocumentNode) -> None:
        self.errors: list[ErrorDict] = []
        self._schema, self._definitions = schema, document.definitions
        self._fragments: dict[str, FragmentDefinitionNode] = {}
        for node in document.definitions:
            if isinstance(node, FragmentDefinitionNode):
                self._fragments.setdefault(node.name.value, node)
        self._used_fragments: dict[int, list[str]] = {}  # their names, by the id of a definition
        self._conflicts = FieldConflictFinder(self._fragments, schema, self._get_field)
        self._path: list[Any] = []
        self._marked: set[tuple[Any, ...]] = set()  # the paths of the errors, and those above
        self._definition: _Definition | None = None
        self._declared: dict[str, VariableDefinitionNode] = {}
        self._uses: dict[int, dict[str, _VariableUse]] = {}  # by the id of a definition
        self._operations: dict[str | None, list[Node]] = {}
        self._placed_spreads: list[tuple[FragmentSpreadNode, Any, tuple[Any, ...]]] = []

    def check_document(self) -> None:
        """Check all definitions, then what takes the whole document."""
        fragments: dict[str, list[Node]] = {}
        others: list[Node] = []
        for node in self._definitions:
            if isinstance(node, OperationDefinitionNode):
                self._check_operation(node)
            elif isinstance(node, FragmentDefinitionNode):
                fragments.setdefault(node.name.value, []).append(node)
                self._check_fragment(node)
            else:
                others.append(node)
        self._path = []
        self._check_variable_uses()
        for spread, parent, path in self._placed_spreads:
            fragment = self._fragments.get(spread.name.value)
            child = fragment and self._schema.get_type(fragment.type_condition.name.value)
            if child is not None:
                self._check_spread(spread, parent, child, path)
        self._check_fragment_uses()
        for name, nodes in fragments.items():
            if len(nodes) > 1:
                self._add_error("fragmentNotUnique", nodes, fragmentName=name)
        self._check_operation_names()
        if others:
            self._add_error("queryContainsSchemaDefinitions", others)

    def _add_error(
        self, code: str, nodes: Iterable[Node], *, path: Sequence[Any] | None = None, **words: str
    ) -> None:
        """Add an error, its members in GitHub's order."""
        members = {name: word for name, word in words.items() if not name.startswith("_")}
        where = tuple(self._path if path is None else path)
        self._marked.update(where[: place + 1] for place in range(len(where)))
        self.errors.append(
            {
                "path": list(where),
                "extensions": {"code": code, **members},
                "locations": [locate_node(node) for node in nodes],
                "message": _MESSAGES[code].format(**words),
            }
        )

    # ---------------------------------------------------------------- definitions

    def _check_operation(self, node: OperationDefinitionNode) -> None:
        kind = node.operation.value
        name = node.name.value if node.name else None
        root = self._schema.get_root_type(node.operation)
        self._path = [f"{kind} {name}" if name else kind]
        self._check_unique_directives(node)
        self._operations.setdefault(name, []).append(node)
        self._check_conflicts(node, root)
        variables = node.variable_definitions or ()
        for shared, nodes in _find_repeated(variables, lambda each: each.variable.name.value):
            self._add_error("variableNotUnique", nodes, variableName=shared)
        self._declared = {each.variable.name.value: each for each in variables}
        declared = {key: _VariableUse(None, None, tuple(self._path)) for key in self._declared}
        self._uses[id(node)] = declared
        if root is None:
            self._add_error(f"missing{kind.title()}Configuration", [node])
            return
        self._definition = node
        for variable in variables:
            self._check_variable_definition(variable)
        self._check_selections(node.selection_set, root, node)
        self._check_directives(node, getattr(DirectiveLocation, kind.upper()))

    def _check_fragment(self, node: FragmentDefinitionNode) -> None:
        self._path = [f"fragment {node.name.value}"]
        self._check_unique_directives(node)
        kind = self._check_type_condition(node)
        if kind is None:
            return
        self._uses[id(node)] = {}
        self._definition = node
        self._used_fragments[id(node)] = []
        self._check_selections(node.selection_set, kind, node)
        self._check_directives(node, DirectiveLocation.FRAGMENT_DEFINITION)

    def _check_type_condition(self, node: FragmentDefinitionNode | InlineFragmentNode) -> Any:
        """Return the type of a fragment, or None after an error."""
        assert node.type_condition is not None  # noqa: S101 - others are not checked
        name = node.type_condition.name.value
        kind = self._schema.get_type(name)
        if kind is None:
            self._add_error("undefinedType", [node], typeName=name)
        elif not is_composite_type(kind):
            self._add_error("fragmentOnNonCompositeType", [node], typeName=name)
            kind = None
        return kind

    def _check_variable_definition(self, node: VariableDefinitionNode) -> None:
        name = node.variable.name.value
        type_name = print_ast(node.type).strip("[]!")
        # The engine knows its own scalars where the schema does not name them, too.
        kind = self._schema.get_type(type_name) or specified_scalar_types.get(type_name)
        if kind is None or not is_input_type(kind):
            self._add_error(
                "variableRequiresValidType",
                [node],
                typeName=type_name,
                variableName=name,
                _reason="defined" if kind is None else "valid",
            )
        if node.default_value is not None:
            self._check_default(node, name)
        # Version 1.13 of the engine cannot parse them, GitHub's can.
        self._check_directives(node, DirectiveLocation.VARIABLE_DEFINITION)

    def _check_default(self, node: VariableDefinitionNode, name: str) -> None:
        # Of a required variable too: the rule against it, which version 1.13 of the engine has, was
        # removed in 2024 (rmosolgo/graphql-ruby, pull request 5030), as no specification has it.
        kind: Any = type_from_ast(self._schema, node.type)
        if kind is not None and not _is_valid_literal(node.default_value, kind):
            words = {"variableName": name, "typeName": str(kind)}
            self._add_error("defaultValueInvalidType", [node], **words)

    # ---------------------------------------------------------------- selections

    def _check_selections(
        self, selections: SelectionSetNode | None, kind: Any, above: Node
    ) -> None:
        for node in selections.selections if selections else ():
            if isinstance(node, FieldNode):
                self._check_field(node, kind, above)
            elif isinstance(node, InlineFragmentNode):
                self._check_inline_fragment(node, kind)
            elif isinstance(node, FragmentSpreadNode):
                self._check_fragment_spread(node, kind)

    def _get_field(self, kind: Any, name: str) -> Any:
        """Return the definition of a field, introspection included, or None."""
        if name in META_FIELDS and (name == "__typename" or kind is self._schema.query_type):
            return META_FIELDS[name]
        return getattr(kind, "fields", {}).get(name)

    def _check_field(self, node: FieldNode, parent: Any, above: Node) -> None:
        name = node.name.value
        self._path.append((node.alias or node.name).value)
        self._check_unique_directives(node)
        definition = self._get_field(parent, name)
        if definition is not None:
            self._check_known_field(node, definition)
        elif is_union_type(parent):
            message = f"Selections can't be made directly on unions (see selections on {parent})"
            self._add_error("selectionMismatch", [above], nodeName=parent.name, _message=message)
        else:
            self._add_error("undefinedField", [node], typeName=parent.name, fieldName=name)
        self._path.pop()

    def _check_known_field(self, node: FieldNode, definition: Any) -> None:
        name, kind = node.name.value, get_named_type(definition.type)
        self._check_conflicts(node, kind)
        reason = _find_selection_mismatch(node, kind)
        if reason is not None:
            message = f"{reason[0]} (field '{name}' returns {kind} but has {reason[1]})"
            words = {"nodeName": f"field '{name}'", "typeName": kind.name, "_message": message}
            self._add_error("selectionMismatch", [node], **words)
            return
        owner = _ArgumentOwner("Field", (node.alias or node.name).value, definition.args)
        self._check_required_arguments(node, "Field", definition.args)
        self._check_arguments(node, owner)
        self._check_selections(node.selection_set, kind, node)
        self._check_directives(node, DirectiveLocation.FIELD)

    def _check_inline_fragment(self, node: InlineFragmentNode, parent: Any) -> None:
        condition = node.type_condition
        self._path.append(f"... on {condition.name.value}" if condition else "...")
        self._check_unique_directives(node)
        kind = self._check_type_condition(node) if condition else parent
        if kind is not None:
            self._check_spread(node, parent, kind, tuple(self._path))
            self._check_selections(node.selection_set, kind, node)
            self._check_directives(node, DirectiveLocation.INLINE_FRAGMENT)
        self._path.pop()

    def _check_fragment_spread(self, node: FragmentSpreadNode, parent: Any) -> None:
        self._path.append(f"... {node.name.value}")
        self._check_unique_directives(node)
        path = tuple(self._path)
        self._placed_spreads.append((node, parent, path))
        assert self._definition is not None  # noqa: S101 - spreads are inside of definitions
        self._used_fragments.setdefault(id(self._definition), []).append(node.name.value)
        self._check_directives(node, DirectiveLocation.FRAGMENT_SPREAD)
        self._path.pop()

    def _check_spread(self, node: Any, parent: Any, child: Any, path: Sequence[Any]) -> None:
        """Check whether objects of one type can be of the other one; unions are not checked."""
        if not (is_object_type(child) or is_interface_type(child)):
            return
        if do_types_overlap(self._schema, child, parent):
            return
        name = f" {node.name.value}" if isinstance(node, FragmentSpreadNode) else ""
        self._add_error(
            "cannotSpreadFragment",
            [node],
            path=path,
            typeName=child.name,
            fragmentName=name or "unknown",
            parentName=parent.name,
            _name=name,
        )

    def _check_conflicts(self, node: Any, kind: Any) -> None:
        for (what, name), fields in self._conflicts.find_conflicts(node, kind):
            self._add_error(
                "fieldConflict",
                [node for node, _ in fields.values()],
                path=(),
                fieldName=name,
                conflicts=" or ".join(text for _, text in fields.values()),
                _kind={"argument": "an argument", "field": "a field"}[what],
            )

    # ---------------------------------------------------------------- directives

    def _check_unique_directives(self, node: Any) -> None:
        used: dict[str, DirectiveNode] = {}
        for directive in node.directives or ():
            name = directive.name.value
            definition = self._schema.get_directive(name)
            if name in used:
                nodes = [used[name], directive]
                self._add_error("directiveNotUniqueForLocation", nodes, directiveName=name)
            elif definition is None or not definition.is_repeatable:
                used[name] = directive

    def _check_directives(self, node: Any, location: DirectiveLocation) -> None:
        for directive in node.directives or ():
            name = directive.name.value
            definition = self._schema.get_directive(name)
            if definition is None:
                self._add_error("undefinedDirective", [directive], directiveName=name)
                continue
            if location not in definition.locations:
                self._add_location_error(directive, location, definition.locations)
            self._check_required_arguments(directive, "Directive", definition.args)
            self._check_arguments(directive, _ArgumentOwner("Directive", name, definition.args))

    def _add_location_error(
        self, node: DirectiveNode, location: DirectiveLocation, allowed: Sequence[DirectiveLocation]
    ) -> None:
        places = ", ".join(
            _LOCATION_WORDS.get(place, "")
            for place in allowed
            if place.name != "DIRECTIVE_DEFINITION"  # of graphql-core 3.3 only
        )
        words = {"targetName": _LOCATION_WORDS[location], "name": node.name.value}
        self._add_error("directiveCannotBeApplied", [node], _allowed=places, **words)

    # ---------------------------------------------------------------- arguments

    def _check_required_arguments(self, node: Any, kind: str, declared: Mapping[str, Any]) -> None:
        given = {argument.name.value for argument in node.arguments or ()}
        missing = ", ".join(
            name
            for name, each in declared.items()
            if isinstance(each.type, GraphQLNonNull) and not has_default(each) and name not in given
        )
        if missing:
            words = {"className": kind, "name": node.name.value, "arguments": missing}
            self._add_error("missingRequiredArguments", [node], **words)

    def _check_arguments(self, node: Any, owner: _ArgumentOwner) -> None:
        arguments = node.arguments or ()
        for name, nodes in _find_repeated(arguments, lambda item: item.name.value):
            self._add_error("argumentNotUnique", nodes, name=name)
        for argument in arguments:
            self._check_argument(argument, node, owner)

    def _check_argument(self, node: Any, above: Node, owner: _ArgumentOwner | None) -> None:
        """Check an argument, or a member of an input object; `owner` is None below a scalar."""
        name = node.name.value
        self._path.append(name)
        definition = owner.arguments.get(name) if owner is not None else None
        if owner is not None and definition is None:
            words = {"name": owner.name, "typeName": owner.kind, "argumentName": name}
            self._add_error("argumentNotAccepted", [node], **words)
        else:
            items = node.value.values if node.value.kind == "list_value" else [node.value]
            for item in items:
                if isinstance(item, VariableNode) and definition is not None:
                    self._check_variable_type(item, node, definition)
            self._check_values(node.value, definition)
            if owner is not None:
                self._check_literal(node, above, owner, definition)
        self._path.pop()

    def _check_values(self, value: Any, definition: Any) -> None:
        """Note the variables of a value, and check the input objects in it."""
        for place, node in enumerate(_flatten_list(value)):
            if node.kind == "variable":
                use = _VariableUse(node, self._definition, tuple(self._path))
                self._uses[id(self._definition)][node.name.value] = use
            elif node.kind == "object_value":
                kind = definition and get_nullable_type(definition.type)
                index = [place] if isinstance(kind, GraphQLList) else []
                self._path += index
                self._check_input_object(node, definition)
                del self._path[len(self._path) - len(index) :]

    def _check_input_object(self, node: Any, definition: Any) -> None:
        kind = get_named_type(definition.type) if definition is not None else None
        owner = None
        if isinstance(kind, GraphQLInputObjectType):
            owner = _ArgumentOwner("InputObject", kind.name, kind.fields)
            given = {each.name.value for each in node.fields}
            for name, field in kind.fields.items():
                if not isinstance(field.type, GraphQLNonNull) or name in given:
                    continue
                self._add_error(
                    "missingRequiredInputObjectAttribute",
                    [node],
                    path=(*self._path, name),
                    argumentName=name,
                    argumentType=str(field.type),
                    inputObjectType=kind.name,
                )
        for name, nodes in _find_repeated(node.fields, lambda each: each.name.value):
            self._add_error("inputFieldNotUnique", nodes, name=name)
        for field in node.fields:
            self._check_argument(field, node, owner)

    def _check_literal(
        self, node: Any, above: Node, owner: _ArgumentOwner, definition: Any
    ) -> None:
        """Check the type of a literal, unless something else is wrong with it."""
        if tuple(self._path) in self._marked or _is_valid_literal(node.value, definition.type):
            return
        text = print_value(node.value)
        self._add_error(
            "argumentLiteralsIncompatible",
            [above],
            typeName=owner.kind,
            argumentName=node.name.value,
            _name=owner.name,
            _value="" if text == "Infinity" else f" ({text})",
            _expected=str(definition.type),
        )

    # ---------------------------------------------------------------- variables

    def _check_variable_type(self, variable: VariableNode, node: Any, definition: Any) -> None:
        name = variable.name.value
        declared = self._declared.get(name)
        kind: Any = type_from_ast(self._schema, declared.type) if declared is not None else None
        if declared is None or kind is None:
            return
        if declared.default_value is not None and not isinstance(kind, GraphQLNonNull):
            kind = GraphQLNonNull(kind)
        wanted = definition.type
        if isinstance(wanted, GraphQLNonNull) and has_default(definition):
            wanted = wanted.of_type
        same_type = get_named_type(kind) == get_named_type(wanted)
        for _ in range(_count_list_levels(node.value)):
            kind = GraphQLNonNull(GraphQLList(kind))
        if not same_type:
            reason = "Type mismatch"
        elif str(kind).count("[") != str(wanted).count("["):
            reason = "List dimension mismatch"
        elif not _is_null_safe(wanted, kind):
            reason = "Nullability mismatch"
        else:
            return
        self._add_error(
            "variableMismatch",
            [node],
            variableName=name,
            typeName=str(kind),
            argumentName=node.name.value,
            errorMessage=reason,
            _expected=str(definition.type),
        )

    def _check_variable_uses(self) -> None:
        """Check that operations use the variables that they declare, and no others."""
        for operation in self._definitions:
            if not isinstance(operation, OperationDefinitionNode):
                continue
            uses = self._uses[id(operation)]
            declared = {each.variable.name.value for each in operation.variable_definitions or ()}
            self._merge_fragment_uses(operation, uses, set())
            for name, use in uses.items():
                if use.node is None:
                    self._add_variable_error(name, operation, operation, use.path)
            for name, use in uses.items():
                if use.node is not None and name not in declared:
                    self._add_variable_error(name, use.node, use.user, use.path)

    def _merge_fragment_uses(
        self, node: _Definition, uses: dict[str, _VariableUse], visited: set[str]
    ) -> None:
        names = [n for n in self._used_fragments.get(id(node), ()) if n not in visited]
        for name in names:
            fragment = self._fragments.get(name)
            if fragment is not None and id(fragment) in self._uses:
                visited.add(name)
                uses.update(self._uses[id(fragment)])
                self._merge_fragment_uses(fragment, uses, visited)

    def _add_variable_error(self, name: str, node: Node, user: Any, path: Sequence[Any]) -> None:
        code = "variableNotDefined" if isinstance(node, VariableNode) else "variableNotUsed"
        title = user.name.value if user.name else f"anonymous {user.operation.value}"
        self._add_error(code, [node], path=path, variableName=name, _user=title)

    # ---------------------------------------------------------------- the whole document

    def _check_fragment_uses(self) -> None:
        """Check that fragments are defined, used, and not within themselves."""
        code = "useAndDefineFragment"
        for spread, _, path in self._placed_spreads:
            name, word = spread.name.value, "used, but not defined"
            if name not in self._fragments:
                self._add_error(code, [spread], path=path, fragmentName=name, _reason=word)
        used = {spread.name.value for spread, *_ in self._placed_spreads}
        checked = [n for n, node in self._fragments.items() if id(node) in self._used_fragments]
        left = self._find_unresolved(checked)
        unused = [name for name in checked if name not in used]
        for name in reversed(unused):
            if name not in left:
                words = {"fragmentName": name, "_reason": "defined, but not used"}
                self._add_error(code, [self._fragments[name]], path=[f"fragment {name}"], **words)
        for name, inner in left.items():
            if not inner.isdisjoint(self._fragments):
                nodes, place = [self._fragments[name]], [f"fragment {name}"]
                self._add_error("infiniteLoop", nodes, path=place, fragmentName=name)

    def _find_unresolved(self, checked: Sequence[str]) -> dict[str, set[str]]:
        """Return the checked fragments with others in them that never end, or are missing."""
        refused = self._fragments.keys() - set(checked)
        spreads = ((name, self._used_fragments[id(self._fragments[name])]) for name in checked)
        left = {name: {*inner} - refused for name, inner in spreads}
        users: dict[str, list[str]] = {}
        for name, inner in left.items():
            for each in inner:
                users.setdefault(each, []).append(name)
        resolved = [name for name, inner in left.items() if not inner]
        while resolved:
            name = resolved.pop()
            del left[name]
            for user in users.get(name, ()):
                left[user].discard(name)
                resolved += [] if left[user] else [user]
        return left

    def _check_operation_names(self) -> None:
        count, code = sum(map(len, self._operations.values())), "uniquelyNamedOperations"
        for name, nodes in self._operations.items():
            if name is None and count > 1:
                message = "Operation name is required when multiple operations are present"
                self._add_error(code, nodes, _message=message)
            elif name is not None and len(nodes) > 1:
                message = f'Operation name "{name}" must be unique'
                self._add_error(code, nodes, operationName=name, _message=message)


# ---------------------------------------------------------------- values and types


def _find_repeated(nodes: Iterable[Any], get_name: Any) -> Iterator[tuple[str, list[Any]]]:
    """Yield the names that several nodes have, each with its nodes."""
    groups: dict[str, list[Any]] = {}
    for node in nodes:
        groups.setdefault(get_name(node), []).append(node)
    return ((name, group) for name, group in groups.items() if len(group) > 1)


def _find_selection_mismatch(node: FieldNode, kind: Any) -> tuple[str, str] | None:
    """Return what is wrong with having a selection, or none, and what was found; or None."""
    selections = node.selection_set.selections if node.selection_set else ()
    if selections and is_scalar_type(kind):
        inline = isinstance(selections[0], InlineFragmentNode)
        names = ", ".join(_name_selection(each) for each in selections)
        given = f"inline fragments [{names}]" if inline else f"selections [{names}]"
        return "Selections can't be made on scalars", given
    if not selections and is_composite_type(kind):
        suggestion = f"Did you mean '{node.name.value} {{ ... }}'?"
        return "Field must have selections", f"no selections. {suggestion}"
    return None


def _name_selection(node: Any) -> str:
    named = node.type_condition if isinstance(node, InlineFragmentNode) else node
    return named.name.value if named else "..."


def _flatten_list(value: Any) -> Iterator[Any]:
    if value.kind != "list_value":
        yield value
        return
    for item in value.values:
        yield from _flatten_list(item)


def _count_list_levels(value: Any) -> int:
    """Return how deeply lists are nested in a literal."""
    if value.kind != "list_value":
        return 0
    return 1 + max(map(_count_list_levels, value.values), default=0)


def _is_null_safe(wanted: Any, kind: Any) -> bool:
    """Return whether no null of one type reaches a place of the other that takes none."""
    if isinstance(wanted, GraphQLNonNull) and not isinstance(kind, GraphQLNonNull):
        return False
    inner, inner_kind = get_nullable_type(wanted), get_nullable_type(kind)
    if not isinstance(inner, GraphQLList) or not isinstance(inner_kind, GraphQLList):
        return True
    return _is_null_safe(inner.of_type, inner_kind.of_type)


def _is_valid_literal(node: Any, kind: Any) -> bool:
    """Return whether the engine takes a literal for a type."""
    if node.kind in {"null_value", "variable"}:  # the types of variables have a rule of their own
        return node.kind == "variable" or not isinstance(kind, GraphQLNonNull)
    kind = get_nullable_type(kind)
    if isinstance(kind, GraphQLList):
        items = node.values if node.kind == "list_value" else [node]
        return all(_is_valid_literal(item, kind.of_type) for item in items)
    if isinstance(kind, GraphQLEnumType):
        return node.kind == "enum_value" and node.value in kind.values
    if isinstance(kind, GraphQLInputObjectType):
        return node.kind == "object_value" and _is_valid_object(node, kind)
    taken = _LITERALS.get(kind.name)  # None for the scalars of the schema, which take any
    if taken is None:
        return is_scalar_type(kind)
    return node.kind in taken and (kind.name != "Int" or int(node.value) in INT_RANGE)


def _is_valid_object(node: Any, kind: GraphQLInputObjectType) -> bool:
    given = {field.name.value for field in node.fields}
    required = {name for name, it in kind.fields.items() if isinstance(it.type, GraphQLNonNull)}
    return required <= given <= kind.fields.keys() and all(
        _is_valid_literal(field.value, kind.fields[field.name.value].type) for field in node.fields
    )


_LITERALS: dict[str, frozenset[str]] = {
    "Int": frozenset({"int_value"}),
    "Float": frozenset({"int_value", "float_value"}),
    "String": frozenset({"string_value"}),
    "Boolean": frozenset({"boolean_value"}),
    "ID": frozenset({"string_value", "int_value"}),
}


def print_value(node: Any) -> str:
    """Return a literal on one line."""
    kind = node.kind
    if kind == "variable":
        return f"${node.name.value}"
    if kind == "list_value":
        return f"[{', '.join(map(print_value, node.values))}]"
    if kind == "object_value":
        fields = (f"{each.name.value}: {print_value(each.value)}" for each in node.fields)
        return f"{{{', '.join(fields)}}}"
    if kind in {"string_value", "boolean_value"}:
        return dump_value(node.value)
    if kind == "float_value":
        return dump_value(float(node.value))
    return "null" if kind == "null_value" else str(node.value)


def dump_value(value: object) -> str:
    """Return a value as JSON, with numbers as Ruby writes them."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if isinstance(value, float) and "e" in text and "." not in text:
        return text.replace("e", ".0e")
    return text


# Beyond it plain graphql-ruby raises an exception and answers nothing, which no service does.
INT_RANGE = range(-(2**31), 2**31)


def locate_node(node: Node) -> dict[str, int]:
    """Return the line and column of a node; graphql-ruby counts the bytes of a line."""
    assert node.loc is not None  # noqa: S101 - every parsed node has its place
    source, start = node.loc.source, node.loc.start
    token: Token | None = node.loc.start_token
    # Documents that are kept have no tokens; counting the lines of one with many errors takes long.
    line, column = (token.line, token.column) if token else get_location(source, start)
    if not source.body.isascii():
        column = len(source.body[start + 1 - column : start].encode()) + 1
    return {"line": line, "column": column}


# ---------------------------------------------------------------- conflicts of fields

# Fields are compared in pairs. A person's mistake has a few pairs, an attack millions.
MAX_PAIRS = 5_000


# "field" or "argument", whichever differs, and the response name; then, by the text of each field,
# its node, and its name or its arguments.
_Conflict = tuple[tuple[str, str], dict[str, tuple[Node, str]]]


class _TooManyPairsError(Exception):
    """More pairs than `MAX_PAIRS`."""


class _Field(NamedTuple):
    node: FieldNode
    parent: Any


class FieldConflictFinder:
    """Compares the fields of selection sets, for one document.

    Parameters
    ----------
    fragments
        The fragments of the document, by name.
    schema
        The schema.
    get_field
        Returns the definition of a field of a type, or None.
    """

    def __init__(
        self,
        fragments: Mapping[str, FragmentDefinitionNode],
        schema: GraphQLSchema,
        get_field: Callable[[Any, str], Any],
    ) -> None:
        self._fragments, self._schema, self._get_field = fragments, schema, get_field
        self._conflicts = dict[tuple[str, str], dict[str, tuple[Node, str]]]()
        self._compared: set[frozenset[int]] = set()  # so that each conflict is found once
        self._pairs = 0

    def find_conflicts(self, node: Any, kind: Any) -> list[_Conflict]:
        """Return the conflicts below an operation or a field of a type."""
        self._conflicts = {}
        if self._pairs > MAX_PAIRS:
            return []
        with suppress(_TooManyPairsError):
            for name, group in self._collect(node.selection_set, kind).items():
                for one, other in combinations(group, 2):
                    self._compare_fields(name, one, other)
        return sorted(self._conflicts.items(), key=lambda conflict: conflict[0][0] != "field")

    def _collect(
        self, selection_set: SelectionSetNode | None, kind: Any
    ) -> dict[str, list[_Field]]:
        """Return the fields of a selection set by response name, those of fragments last."""
        fields: dict[str, list[_Field]] = {}
        spreads: list[str] = []
        self._collect_into(selection_set, kind, fields, spreads)
        for name in spreads:  # fragments add further ones
            fragment = self._fragments.get(name)
            if fragment is not None:
                parent = self._schema.get_type(fragment.type_condition.name.value)
                self._collect_into(fragment.selection_set, parent, fields, spreads)
        return fields

    def _collect_into(
        self,
        selection_set: SelectionSetNode | None,
        parent: Any,
        fields: dict[str, list[_Field]],
        spreads: list[str],
    ) -> None:
        for node in selection_set.selections if selection_set and parent else ():
            if isinstance(node, FieldNode):
                fields.setdefault((node.alias or node.name).value, []).append(_Field(node, parent))
            elif isinstance(node, InlineFragmentNode):
                condition = node.type_condition
                kind = self._schema.get_type(condition.name.value) if condition else parent
                self._collect_into(node.selection_set, kind, fields, spreads)
            elif node.name.value not in spreads:  # type: ignore[attr-defined]
                spreads.append(node.name.value)  # type: ignore[attr-defined]

    def _compare_fields(self, name: str, one: _Field, other: _Field) -> None:
        self._pairs += 1
        if self._pairs > MAX_PAIRS:
            raise _TooManyPairsError
        nodes, parents = (one.node, other.node), (one.parent, other.parent)
        pair = frozenset(map(id, nodes))
        is_exclusive = parents[0] is not parents[1] and all(map(is_object_type, parents))
        if is_exclusive or nodes[0] is nodes[1] or pair in self._compared:
            return
        self._compared.add(pair)
        names = [node.name.value for node in nodes]
        if names[0] != names[1]:
            self._add_conflict("field", name, nodes, names)
        values = [_print_arguments(node) for node in nodes]
        if values[0] != values[1]:
            self._add_conflict("argument", name, nodes, [_join(each) for each in values])
        fields, fields2 = (self._collect_below(each) for each in (one, other))
        for inner, group in fields.items():
            for pair_below in product(group, fields2.get(inner, ())):
                self._compare_fields(inner, *pair_below)

    def _collect_below(self, field: _Field) -> dict[str, list[_Field]]:
        definition = self._get_field(field.parent, field.node.name.value)
        kind = definition and get_named_type(definition.type)
        return self._collect(field.node.selection_set, kind)

    def _add_conflict(
        self, kind: str, name: str, nodes: Sequence[Node], texts: Sequence[str]
    ) -> None:
        fields = self._conflicts.setdefault((kind, name), {})
        for node, text in zip(nodes, texts, strict=True):
            fields.setdefault(print_ast(node), (node, text))


def _print_arguments(node: FieldNode) -> dict[str, str]:
    return {each.name.value: print_value(each.value) for each in node.arguments or ()}


def _join(values: Mapping[str, str]) -> str:
    pairs = (f"{name}:{dump_value(text)}" for name, text in values.items())
    return f"{{{','.join(pairs)}}}"
