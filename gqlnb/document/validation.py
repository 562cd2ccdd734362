"""Validation by the rules of the specification, with a dispatch cache and a check of floats."""

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

MAX_ERRORS = 100  # the default of graphql-core
# An infinite literal has an exponent of three digits, or three hundred digits.
_HUGE_LITERAL = re.compile(r"[eE]\+?[0-9]{3}|[0-9]{300}")


def can_be_infinite(text: str) -> bool:
    """Return whether a text may contain an infinite number literal."""
    return _HUGE_LITERAL.search(text) is not None


class FiniteFloatsRule(ValidationRule):
    """Rejects ``1e400`` for a ``Float``.

    graphql-core parses it as infinity and passes that to the resolver. The specification requires
    an error (section "Float", input coercion: a value that the type cannot represent).
    """

    def enter_float_value(self, node: FloatValueNode, *_: object) -> None:
        """Check a literal with a decimal point or an exponent."""
        self._check_literal(node)

    def enter_int_value(self, node: IntValueNode, *_: object) -> None:
        """Check an integer literal, which is valid for ``Float`` too."""
        self._check_literal(node)

    def _check_literal(self, node: FloatValueNode | IntValueNode) -> None:
        kind = get_named_type(self.context.get_input_type())
        if kind is not None and kind.name == GraphQLFloat.name and isinf(float(node.value)):
            shown = node.value if len(node.value) <= 20 else f"{node.value[:20]}..."
            self.report_error(
                GraphQLError(f"Float cannot represent {shown}: it is infinite.", node)
            )


class RuleMethods(NamedTuple):
    """The methods to call at nodes of one kind, with the index of the rule they belong to."""

    enter: tuple[tuple[int, Callable[..., Any]], ...]
    leave: tuple[tuple[int, Callable[..., Any] | None], ...]


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
class SpecifiedRules(ASTValidationRule):
    """All rules of the specification as one rule.

    graphql-core looks up the methods of thirty rules by name at each node, for every document
    again, which is more than half of the time for a short document. Here the look-up is cached per
    kind of node. Arguments, order of calls and results are the same as in graphql-core.
    """

    def __init__(self, context: ValidationContext) -> None:
        super().__init__(context)
        self.rules = [rule(context) for rule in specified_rules]
        self.skipping: list[Any] = [None] * len(self.rules)

    def enter(self, node: Node, *args: object) -> None:
        """Call the enter methods of the rules that do not skip the node."""
        rules, skipping = self.rules, self.skipping
        for number, method in collect_rule_methods(node.kind).enter:
            if skipping[number] is None:
                outcome = method(rules[number], node, *args)
                if outcome is None:
                    continue
                # Rules do not edit the document: an outcome is SKIP, BREAK, or the bool for it.
                skipping[number] = node if outcome is SKIP or outcome is False else BREAK

    def leave(self, node: Node, *args: object) -> None:
        """Call the leave methods of the rules that did not skip the node."""
        rules, skipping = self.rules, self.skipping
        for number, method in collect_rule_methods(node.kind).leave:
            if skipping[number] is None:
                if method is not None:
                    outcome = method(rules[number], node, *args)
                    if outcome is BREAK or outcome is True:
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
        return validate(schema, document, (SpecifiedRules, *more), max_errors)
    # graphql-core 3.2 raises if the @skip of a subscription's root field depends on a variable.
    except GraphQLError as error:
        return [error]
