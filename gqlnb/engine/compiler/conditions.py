"""Conditions of fields: ``@skip`` and ``@include`` by variables, as branches of compiled code.

Graphql-core evaluates the directives when it collects the fields of a selection. A plan for each
combination of twelve variables would be 4,096 plans. So the fields are collected with the values
for which all of them are in the answer, and each field's conditions are tested in each run. That is
the same only if each field with a condition is alone under its response name; otherwise the order
of the fields, and the selections to be merged, depend on the values. Variables of such fields, and
those in both directives, have a plan for each of their values. :func:`collect_facts` reads from a
document which variables these are, and whether it has a plan at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from graphql import (
    BooleanValueNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    OperationDefinitionNode,
    VariableNode,
)

from gqlnb.engine.graphql_compat import IS_GRAPHQL_33, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from graphql import DirectiveNode, SelectionSetNode

# The name of a Boolean variable, and the value for which the field is in the answer.
Condition: TypeAlias = tuple[str, bool]
MAX_STEPS = 20_000  # selections looked at; fragments are looked at wherever they are used
MAX_DEPTH = 60


def read_condition(directive: DirectiveNode) -> Condition | None:
    """Return the condition of a directive; None if it is not one by a variable."""
    word, arguments = directive.name.value, directive.arguments or ()
    if word not in ("skip", "include") or len(arguments) != 1 or arguments[0].name.value != "if":
        return None
    value = arguments[0].value
    return (value.name.value, word == "include") if isinstance(value, VariableNode) else None


def is_malformed(directive: DirectiveNode) -> bool:
    """Return whether a directive is an error when graphql-core evaluates it."""
    if directive.name.value not in ("skip", "include") or read_condition(directive):
        return False
    arguments = [(a.name.value, type(a.value)) for a in directive.arguments or ()]
    return arguments != [("if", BooleanValueNode)]


def list_selections(
    selection_sets: Sequence[SelectionSetNode], fragments: Mapping[str, FragmentDefinitionNode]
) -> Iterator[tuple[Any, list[Condition]]]:
    """Yield the selections of merged selection sets, each with its conditions.

    A fragment is entered at its first spread.
    """
    waiting: list[tuple[SelectionSetNode, list[Condition]]] = [(s, []) for s in selection_sets]
    entered = set()
    while waiting:
        selection_set, above = waiting.pop()
        for node in selection_set.selections:
            own = map(read_condition, node.directives or ())
            conditions = above + [condition for condition in own if condition is not None]
            yield node, conditions
            if isinstance(node, InlineFragmentNode):
                waiting.append((node.selection_set, conditions))
            elif isinstance(node, FragmentSpreadNode) and node.name.value not in entered:
                entered.add(node.name.value)
                if node.name.value in fragments:
                    waiting.append((fragments[node.name.value].selection_set, conditions))


class BranchSearch:
    """Finds the variables of conditions that are not alone under their response name.

    Attributes
    ----------
    clashing
        The names of these variables, and of those in both directives.
    included
        For each variable, the value for which its fields are in the answer.
    """

    def __init__(self, fragments: Mapping[str, FragmentDefinitionNode]) -> None:
        self.clashing: set[str] = set()
        self.included: dict[str, bool] = {}
        self._fragments = fragments
        self._steps = 0

    def search(self, selection_sets: Sequence[SelectionSetNode], depth: int) -> bool:
        """Look through merged selection sets; return False if branches are not possible.

        That is so if the search takes too long, or if a condition is an error, which graphql-core
        meets only where the conditions before it hold.
        """
        groups: dict[tuple[type, str], list[tuple[Any, list[Condition]]]] = {}
        for node, conditions in list_selections(selection_sets, self._fragments):
            self._steps += 1
            if self._steps > MAX_STEPS or depth > MAX_DEPTH:
                return False
            directives = node.directives or ()
            if any(map(is_malformed, directives)):
                return False
            words = [directive.name.value for directive in directives]
            if len(words) > len(set(words)):
                self.clashing.update(name for name, _ in conditions)
            if not isinstance(node, InlineFragmentNode):
                # Spreads too: graphql-core enters a fragment at the first spread it includes.
                name = (getattr(node, "alias", None) or node.name).value
                groups.setdefault((type(node), name), []).append((node, conditions))
        for group in groups.values():
            for name, value in (condition for _, found in group for condition in found):
                if len(group) > 1 or self.included.setdefault(name, value) is not value:
                    self.clashing.add(name)
            below = [node.selection_set for node, _ in group if getattr(node, "selection_set", 0)]
            if below and not self.search(below, depth + 1):
                return False
        return True


def find_branch_variables(document: DocumentNode, names: Iterable[str]) -> dict[str, bool]:
    """Return the variables of ``@skip`` and ``@include`` that can decide branches.

    Each has the value for which its fields are in the answer.

    Parameters
    ----------
    document
        A document.
    names
        The variables that its directives ``@skip`` and ``@include`` read.
    """
    definitions = document.definitions
    fragments = {d.name.value: d for d in definitions if isinstance(d, FragmentDefinitionNode)}
    search = BranchSearch(fragments)
    for definition in definitions:
        if isinstance(definition, OperationDefinitionNode) and not search.search(
            [definition.selection_set], 0
        ):
            return {}
    return {name: search.included.get(name, True) for name in names if name not in search.clashing}


class Conditions:
    """The conditions of an operation that are branches of its plan.

    Parameters
    ----------
    fragments
        The fragments by name, in the form of the installed graphql-core.
    included
        For each variable of the conditions, the value for which its fields are in the answer.
    """

    def __init__(self, fragments: Value, included: Mapping[str, bool]) -> None:
        self._included = included
        self._fragments: dict[str, FragmentDefinitionNode] = {
            name: fragment.definition if IS_GRAPHQL_33 else fragment
            for name, fragment in fragments.items()
        }

    def include_fields(self, variables: Value) -> Value:
        """Return coerced variables for which graphql-core collects all fields."""
        if not IS_GRAPHQL_33:
            return {**variables, **self._included}
        return variables._replace(coerced={**variables.coerced, **self._included})

    def list_conditions(
        self, selection_sets: Sequence[SelectionSetNode]
    ) -> dict[str, list[Condition]]:
        """Return the conditions of the fields of merged selection sets, by response name."""
        return {
            (node.alias or node.name).value: found
            for node, conditions in list_selections(selection_sets, self._fragments)
            if isinstance(node, FieldNode)
            and (found := [c for c in conditions if c[0] in self._included])
        }


class DocumentFacts(NamedTuple):
    """The facts about a document that decide on its plans.

    Attributes
    ----------
    names
        The variables that ``@skip`` and ``@include`` read.
    branches
        Those of them whose fields can be branches of compiled code, each with the value for which
        they are in the answer.
    plannable
        Whether the engine can execute it: incremental delivery and variables of fragments are
        left to graphql-core.
    depth
        The depth of its selections, each fragment counted once, at its definition.
    type_names
        The types that fragments are for.
    """

    names: tuple[str, ...]
    branches: Mapping[str, bool]
    plannable: bool
    depth: int
    type_names: frozenset[str] = frozenset()


NOT_PLANNABLE = DocumentFacts((), {}, plannable=False, depth=0)


def collect_facts(document: DocumentNode) -> DocumentFacts:
    """Return the facts about a document."""
    if not isinstance(document, DocumentNode):
        return NOT_PLANNABLE
    names: dict[str, None] = {}
    total, type_names = 0, set()
    for definition in document.definitions:
        if isinstance(definition, FragmentDefinitionNode) and definition.variable_definitions:
            return NOT_PLANNABLE
        deepest = 0
        waiting: list[tuple[Any, int]] = [(definition, 0)]
        while waiting:
            node, depth = waiting.pop()
            deepest = max(deepest, depth)
            if (condition := getattr(node, "type_condition", None)) is not None:
                type_names.add(condition.name.value)
            for directive in getattr(node, "directives", None) or ():
                word = directive.name.value
                if word in ("defer", "stream"):
                    return NOT_PLANNABLE
                if word in ("skip", "include"):
                    values = [argument.value for argument in directive.arguments or ()]
                    names |= {v.name.value: None for v in values if isinstance(v, VariableNode)}
            selections = getattr(node, "selection_set", None)
            if selections is not None:
                waiting += [(inner, depth + 1) for inner in selections.selections]
        total += deepest
    branches = find_branch_variables(document, names) if names else {}
    return DocumentFacts(tuple(names), branches, True, total, frozenset(type_names))  # noqa: FBT003
