"""Literals and positions as graphql-ruby writes them in its errors."""

from __future__ import annotations

import json
from typing import Any

from graphql import Node, Token, get_location

__all__ = ["dump_value", "locate_node", "print_json", "print_value"]


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


def print_json(value: object) -> str:
    """Return a JSON value; graphql-ruby leaves out the quotes of names."""
    if isinstance(value, dict):
        return f"{{{','.join(f'{name}:{print_json(item)}' for name, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{','.join(map(print_json, value))}]"
    return dump_value(value)


def dump_value(value: object) -> str:
    """Return a value as JSON, with numbers as Ruby writes them."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if isinstance(value, float) and "e" in text and "." not in text:
        return text.replace("e", ".0e")
    return text
