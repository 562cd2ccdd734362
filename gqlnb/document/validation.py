"""Numbers that GraphQL can write and ``Float`` cannot hold."""

from __future__ import annotations

import re
from functools import cache
from math import isinf
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import (
    BREAK,
    SKIP,
    ASTValidationRule,
    FloatValueNode,
    GraphQLError,
    GraphQLFloat,
    IntValueNode,
    ValidationRule,
    get_named_type,
    specified_rules,
    validate,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from graphql import DocumentNode, GraphQLSchema, Node, ValidationContext

__all__ = ["FiniteFloatsRule", "can_be_infinite", "validate_document"]

# What a literal must hold to be infinite: an exponent of three digits, or three hundred digits.
_HUGE_LITERAL = re.compile(r"[eE]\+?[0-9]{3}|[0-9]{300}")


def can_be_infinite(text: str) -> bool:
    """Tell whether it is worth looking for infinite literals in a text."""
    return _HUGE_LITERAL.search(text) is not None


class FiniteFloatsRule(ValidationRule):
    """Refuses ``1e400`` where a ``Float`` is expected.

    graphql-core reads it as infinity and hands that to the resolver. The specification wants an
    error ("Float", input coercion: a value that the type cannot represent).
    """

    def enter_float_value(self, node: FloatValueNode, *_: Any) -> None:
        """Look at a literal with a point or an exponent."""
        self._check_literal(node)

    def enter_int_value(self, node: IntValueNode, *_: Any) -> None:
        """Look at a whole number, which a ``Float`` takes too."""
        self._check_literal(node)

    def _check_literal(self, node: FloatValueNode | IntValueNode) -> None:
        kind = get_named_type(self.context.get_input_type())
        if kind is not None and kind.name == GraphQLFloat.name and isinf(float(node.value)):
            said = node.value if len(node.value) <= 20 else f"{node.value[:20]}..."
            self.report_error(GraphQLError(f"Float cannot represent {said}: it is infinite.", node))


MAX_ERRORS = 100  # graphql-core's own bound


class RuleMethods(NamedTuple):
    """What is called at nodes of a kind: the rule's number, its function, and whether it leaves."""

    enter: tuple[tuple[int, Callable[..., Any]], ...]
    leave: tuple[tuple[int, Callable[..., Any] | None], ...]


@cache
def collect_rule_methods(kind: str) -> RuleMethods:
    """Return the functions of the specified rules for nodes of a kind, in their order.

    A rule that enters such nodes may have skipped one, and must be told when it is left.
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


class SpecifiedRules(ASTValidationRule):
    """All rules of the specification as one.

    graphql-core asks each of its thirty rules, by name, what it does at nodes of each kind, for
    every document anew; that is more than half of the time a short document takes. The rules are
    classes that do not change, so the answer is kept. What they are called with, in what order,
    and what comes of it is as there.
    """

    def __init__(self, context: ValidationContext) -> None:
        super().__init__(context)
        self.rules = [rule(context) for rule in specified_rules]
        self.skipping: list[Any] = [None] * len(self.rules)

    def enter(self, node: Node, *args: Any) -> None:
        """Let every rule enter a node that it does not skip."""
        rules, skipping = self.rules, self.skipping
        for number, function in collect_rule_methods(node.kind).enter:
            if skipping[number] is None:
                said = function(rules[number], node, *args)
                if said is None:
                    continue
                # Rules edit nothing: what they return is one of these, in either spelling.
                skipping[number] = node if said is SKIP or said is False else BREAK

    def leave(self, node: Node, *args: Any) -> None:
        """Let every rule leave a node that it did not skip."""
        rules, skipping = self.rules, self.skipping
        for number, function in collect_rule_methods(node.kind).leave:
            if skipping[number] is None:
                if function is not None:
                    said = function(rules[number], node, *args)
                    if said is BREAK or said is True:
                        skipping[number] = BREAK
            elif skipping[number] is node:
                skipping[number] = None


def validate_document(
    schema: GraphQLSchema,
    document: DocumentNode,
    *,
    more: Sequence[type[ASTValidationRule]] = (),
    max_errors: int = MAX_ERRORS,
) -> list[GraphQLError]:
    """Return what is wrong with a document, as graphql-core's ``validate`` does.

    Parameters
    ----------
    schema
        What to check against.
    document
        The document.
    more
        Rules beside those of the specification, asked after them.
    max_errors
        Where to stop; one more error then says so.
    """
    try:
        return validate(schema, document, (SpecifiedRules, *more), max_errors)
    except GraphQLError as error:  # 3.2 reads variables where a subscription skips its root field
        return [error]
