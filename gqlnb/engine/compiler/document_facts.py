"""The facts about a document that decide on its plans."""

from __future__ import annotations

from typing import Any, NamedTuple

from graphql import DocumentNode, FragmentDefinitionNode, VariableNode

from gqlnb.engine.compiler.conditions import find_branch_variables

__all__ = ["DocumentFacts", "collect_facts"]


class DocumentFacts(NamedTuple):
    """The facts about a document that decide on its plans.

    Attributes
    ----------
    names
        The variables that ``@skip`` and ``@include`` read.
    branches
        Those of them whose fields can be branches of compiled code.
    plannable
        Whether the engine can execute it: incremental delivery and variables of fragments are
        left to graphql-core.
    depth
        The depth of its selections, each fragment counted once, at its definition.
    """

    names: tuple[str, ...]
    branches: frozenset[str]
    plannable: bool
    depth: int


NOT_PLANNABLE = DocumentFacts((), frozenset(), plannable=False, depth=0)


def collect_facts(document: DocumentNode) -> DocumentFacts:
    """Return the facts about a document."""
    if not isinstance(document, DocumentNode):
        return NOT_PLANNABLE
    names: dict[str, None] = {}
    total = 0
    for definition in document.definitions:
        if isinstance(definition, FragmentDefinitionNode) and definition.variable_definitions:
            return NOT_PLANNABLE
        deepest = 0
        waiting: list[tuple[Any, int]] = [(definition, 0)]
        while waiting:
            node, depth = waiting.pop()
            deepest = max(deepest, depth)
            for directive in getattr(node, "directives", None) or ():
                word = directive.name.value
                if word in ("defer", "stream"):
                    return NOT_PLANNABLE
                if word in ("skip", "include"):
                    values = [argument.value for argument in directive.arguments or ()]
                    names |= {v.name.value: None for v in values if isinstance(v, VariableNode)}
            selections = getattr(node, "selection_set", None)
            if selections is not None:
                waiting.extend((inner, depth + 1) for inner in selections.selections)
        total += deepest
    branches = find_branch_variables(document, names) if names else frozenset()
    return DocumentFacts(tuple(names), branches, plannable=True, depth=total)
