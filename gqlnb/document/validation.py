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
    NoUndefinedVariablesRule,
    NoUnusedVariablesRule,
    OverlappingFieldsCanBeMergedRule,
    ValidationRule,
    VariablesInAllowedPositionRule,
    get_named_type,
    specified_rules,
    validate,
)
from graphql.language.parser import MAX_NESTING_DEPTH

from gqlnb.document.overlapping_fields import check_overlapping_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from graphql import DocumentNode, GraphQLSchema, Node, ValidationContext

__all__ = ["FiniteFloatsRule", "can_be_infinite", "validate_document"]

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

    has_variables = True

    def __init__(self, context: ValidationContext) -> None:
        super().__init__(context)
        for name in NODE_CACHES:
            if hasattr(context, name):
                setattr(context, name, NodeCache())
        if not self.has_variables:
            context._variable_usages = NoUsages()  # noqa: SLF001
        self.rules = [rule(context) for rule in specified_rules]
        self.skipping: list[Any] = [None] * len(self.rules)
        source = context.document.loc.source.body if context.document.loc is not None else "$"
        if "$" not in source:
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


class SpecifiedRulesWithoutVariables(SpecifiedRules):
    """The same for a document without variables."""

    has_variables = False


def validate_document(
    schema: GraphQLSchema,
    document: DocumentNode,
    *,
    more: Sequence[type[ASTValidationRule]] = (),
    max_errors: int = MAX_ERRORS,
    has_variables: bool = True,
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
    has_variables
        False if the document has no variables, neither declared nor used.
    """
    specified = SpecifiedRules if has_variables else SpecifiedRulesWithoutVariables
    try:
        errors = validate(schema, document, (specified, *more), max_errors)
    # graphql-core 3.2 raises if the @skip of a subscription's root field depends on a variable.
    except GraphQLError as error:
        return [error]
    if errors and errors[-1].message == _ABORTED:
        errors[-1] = GraphQLError(_ABORT_MESSAGE.format(depth=MAX_NESTING_DEPTH))
    return [
        GraphQLError("An integer of thousands of digits is not accepted.", error.nodes)
        if _TOO_MANY_DIGITS in error.message
        else error
        for error in errors
    ]
