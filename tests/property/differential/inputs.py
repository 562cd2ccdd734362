"""Arguments and variables: literals and JSON-like values, right ones and wrong ones."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from graphql import (
    is_enum_type,
    is_input_object_type,
    is_list_type,
    is_non_null_type,
    is_required_input_field,
)

from tests.property.differential import values

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.property.differential.chance import Chance

LITERALS = {
    "Int": ("0", "1", "-7", "2147483647", "42"),
    "Float": ("0", "1.5", "-2e3", "7", "1e308"),
    "String": ('""', '"a"', '"\\u00e9\\n"', '"""block\n  text"""'),
    "Boolean": ("true", "false"),
    "ID": ('"x"', "7", '""'),
    "Json": ("1", '"s"', "[1, {a: RED}]", "{deep: {er: [1.5, true]}}", "E"),
    "Odd": ("1", '"x"', "[1]"),
}
WRONG_LITERALS = (
    *('"x"', "1", "1.5", "true", "NOPE", "[1]", "[[null]]", "{a: 1}", "{need: RED, zz: 1}"),
    *("99999999999", "1e400", "null", '"bad"', "[]", "{}", "REDD", "{x: 1, y: null}"),
)
JSON = {
    "Int": (0, 1, -7, 2**31 - 1, 1.0),
    "Float": (0, 1.5, -2e3, 7),
    "String": ("", "a", "é"),
    "Boolean": (True, False),
    "ID": ("x", 7, ""),
    "Json": (1, "s", None, [1, {"a": None}], {"deep": {"er": [1.5]}}),
    "Odd": (1, "x", "odd", [1]),
}
WRONG_JSON = ("x", 1, 2**31, 1.5, True, [], [None], [[1]], {}, {"a": 1}, {"need": "RED", "zz": 1})
WRONG_JSON += (values.NAN, "bad", "gql", "undefined", (1, 2), {1, 2}, Decimal(3), values.Whole())
WRONG_JSON += (values.Level.HIGH, values.Words("RED"), "REDD", {"x": None}, {"x": 1, "y": None})
WRONG_JSON += (
    {"need": "RED", "more": {"need": None}},
    {"need": "RED", "sure": None},
    b"x",
    range(2),
)


def literal(kind: Any, chance: Chance, lift: Callable[[Any, Chance], str | None], wild: int) -> str:
    """Return a literal for a type, written as in a document.

    Parameters
    ----------
    kind
        The input type.
    chance
        Decides which.
    lift
        Returns a variable to be used in place of a value, or None.
    wild
        How often the literal does not fit, in percent.
    """
    lifted = lift(kind, chance)
    if lifted is not None:
        return lifted
    if chance.odds(wild):
        return chance.pick(WRONG_LITERALS)
    if is_non_null_type(kind):
        kind = kind.of_type
    elif chance.odds(12):
        return "null"
    if is_list_type(kind):
        return _list_literal(kind.of_type, chance, lift, wild)
    if is_input_object_type(kind):
        return _object_literal(kind, chance, lift, wild)
    return chance.pick(list(kind.values) if is_enum_type(kind) else LITERALS[kind.name])


def _list_literal(
    kind: Any, chance: Chance, lift: Callable[[Any, Chance], str | None], wild: int
) -> str:
    if chance.odds(20):
        return literal(kind, chance, lift, wild)  # stands for a list of one
    items = (literal(kind, chance, lift, wild) for _ in range(chance.below(3)))
    return f"[{', '.join(items)}]"


def _object_literal(
    kind: Any, chance: Chance, lift: Callable[[Any, Chance], str | None], wild: int
) -> str:
    members = []
    for name, field in _members(kind, chance):
        members.append(f"{name}: {literal(field.type, chance, lift, wild)}")
    return "{" + ", ".join(members) + "}"


def _members(kind: Any, chance: Chance) -> list[tuple[str, Any]]:
    fields = list(kind.fields.items())
    if kind.is_one_of:
        return [chance.pick(fields)]
    return [
        (name, field)
        for name, field in fields
        if is_required_input_field(field) or chance.odds(20 if name == "more" else 35)
    ]


def json(kind: Any, chance: Chance, wild: int) -> Any:
    """Return a value for a variable of a type."""
    if chance.odds(wild):
        return chance.pick(WRONG_JSON)
    if is_non_null_type(kind):
        kind = kind.of_type
    elif chance.odds(10):
        return None
    if is_list_type(kind):
        if chance.odds(15):
            return json(kind.of_type, chance, wild)
        return [json(kind.of_type, chance, wild) for _ in range(chance.below(3))]
    if is_input_object_type(kind):
        return {name: json(field.type, chance, wild) for name, field in _members(kind, chance)}
    return chance.pick(list(kind.values) if is_enum_type(kind) else JSON[kind.name])
