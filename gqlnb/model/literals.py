"""Numbers that GraphQL can write and ``Float`` cannot hold."""

from __future__ import annotations

import re
from math import isinf
from typing import Any

from graphql import (
    FloatValueNode,
    GraphQLError,
    GraphQLFloat,
    IntValueNode,
    ValidationRule,
    get_named_type,
)

__all__ = ["FiniteFloatsRule", "may_be_infinite"]

# What a literal must hold to be infinite: an exponent of three digits, or three hundred digits.
_HUGE = re.compile(r"[eE]\+?[0-9]{3}|[0-9]{300}")


def may_be_infinite(text: str) -> bool:
    """Tell whether it is worth looking for infinite literals in a text."""
    return _HUGE.search(text) is not None


class FiniteFloatsRule(ValidationRule):
    """Refuses ``1e400`` where a ``Float`` is expected.

    graphql-core reads it as infinity and hands that to the resolver. The specification wants an
    error ("Float", input coercion: a value that the type cannot represent).
    """

    def enter_float_value(self, node: FloatValueNode, *_: Any) -> None:
        """Look at a literal with a point or an exponent."""
        self._look(node)

    def enter_int_value(self, node: IntValueNode, *_: Any) -> None:
        """Look at a whole number, which a ``Float`` takes too."""
        self._look(node)

    def _look(self, node: FloatValueNode | IntValueNode) -> None:
        kind = get_named_type(self.context.get_input_type())
        if kind is not None and kind.name == GraphQLFloat.name and isinf(float(node.value)):
            said = node.value if len(node.value) <= 20 else f"{node.value[:20]}..."
            self.report_error(GraphQLError(f"Float cannot represent {said}: it is infinite.", node))
