"""Variables of an operation from a command's arguments, such as ``first=10``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from graphql import ListTypeNode, NonNullTypeNode, TypeNode, print_ast

from gqlnb.cli.options import parse_assignments
from gqlnb.document.json_codec import JSONError, load_json
from gqlnb.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from graphql import VariableDefinitionNode

__all__ = ["parse_variable_assignments"]

# What a value of the type looks like, and the Python types of its JSON.
_NUMBERS_AND_FLAGS: dict[str, tuple[str, tuple[type, ...]]] = {
    "Int": ("a whole number", (int,)),
    "Float": ("a number", (int, float)),
    "Boolean": ("true or false", (bool,)),
}


def parse_variable_assignments(
    assignments: Iterable[str], declared: Mapping[str, VariableDefinitionNode]
) -> dict[str, Any]:
    """Return the variables of ``NAME=VALUE`` arguments, by name.

    Parameters
    ----------
    assignments
        The arguments. A name may begin with ``$``.
    declared
        The variables that the operation declares.

    Raises
    ------
    OptionError
        If an argument has another form, the operation does not declare the name, or the value
        cannot be of its type.
    """
    texts = [text.removeprefix("$") for text in assignments]
    if not declared:
        msg = f"{texts[0]!r}: the operation declares no variables. Remove the argument."
        raise OptionError(msg)
    parsers = {name: partial(_parse_value, node.type) for name, node in declared.items()}
    return parse_assignments("", texts, parsers)


def _parse_value(type_: TypeNode, text: str) -> object:
    """Return a value as the declared type asks for; a ValueError describes the valid ones.

    The schema is not asked: of a name that is no built-in scalar it would say whether it is an
    enum, an input object or another scalar. Text that is a JSON object or list is read as JSON, as
    it cannot be the name of an enum value; any other text stays text.
    """
    if isinstance(type_, NonNullTypeNode):
        type_ = type_.type
    elif text == "null":
        return None
    name = "" if isinstance(type_, ListTypeNode) else print_ast(type_)
    if name in {"String", "ID"}:
        return text
    if name in _NUMBERS_AND_FLAGS:
        about, types = _NUMBERS_AND_FLAGS[name]
        value = _load_json(text)
        if type(value) not in types:
            raise ValueError(about)
        return value
    if text.lstrip().startswith(("{", "[")):
        value = _load_json(text)
        if value is None:
            reason = f"valid JSON, as for {print_ast(type_)}"
            raise ValueError(reason)
        return value
    # GraphQL takes a single value for a list of one.
    return [_parse_value(type_.type, text)] if isinstance(type_, ListTypeNode) else text


def _load_json(text: str) -> object:
    try:
        return load_json(text.encode())
    except JSONError:
        return None
