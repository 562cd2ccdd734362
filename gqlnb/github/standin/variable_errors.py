"""The errors of variables' values, in the words of graphql-ruby, the engine of GitHub's API.

Literals and positions are written as graphql-ruby writes them in all of its errors.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLSchema,
    Node,
    OperationDefinitionNode,
    Token,
    get_location,
    get_nullable_type,
    type_from_ast,
)


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


# Beyond it plain graphql-ruby raises an exception and answers nothing, which no service does.
INT_RANGE = range(-(2**31), 2**31)


def find_variable_errors(
    schema: GraphQLSchema, operation: OperationDefinitionNode, values: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the errors of values that the engine does not take for their variables.

    Parameters
    ----------
    schema
        The schema.
    operation
        The operation, which is valid.
    values
        The values by name.

    Returns
    -------
    list of dict
        An error for each variable, with a problem for each value in it.
    """
    errors = []
    for node in operation.variable_definitions or ():
        name, kind = node.variable.name.value, type_from_ast(schema, node.type)
        if kind is None or (name not in values and node.default_value is not None):
            continue
        value = values.get(name)
        problems = [
            {"path": path, "explanation": explanation}
            for path, explanation in _find_problems(value, kind)
        ]
        if not problems:
            continue
        places = ", ".join(
            f"{'.'.join(map(str, problem['path']))} ({problem['explanation']})"
            for problem in problems
            if problem["path"]
        )
        message = f"Variable ${name} of type {kind} was provided invalid value"
        errors.append(
            {
                "extensions": {"value": value, "problems": problems},
                "locations": [locate_node(node)],
                "message": f"{message} for {places}" if places else message,
            }
        )
    return errors


def _find_problems(value: Any, kind: Any) -> Iterator[tuple[list[Any], str]]:
    """Yield the path and the explanation of each problem of a value."""
    if value is None:
        if isinstance(kind, GraphQLNonNull):
            yield [], "Expected value to not be null"
        return
    kind = get_nullable_type(kind)
    if isinstance(kind, GraphQLList):
        for index, item in enumerate(value if isinstance(value, list) else [value]):
            for path, explanation in _find_problems(item, kind.of_type):
                yield [index, *path], explanation
    elif isinstance(kind, GraphQLInputObjectType):
        yield from _find_object_problems(value, kind)
    elif isinstance(kind, GraphQLEnumType):
        names = list(kind.values)
        if value not in names:
            yield [], f"Expected {print_json(value)} to be one of: {', '.join(names)}"
    elif not _is_taken(value, kind.name):
        yield [], f"Could not coerce value {print_json(value)} to {kind}"


def _find_object_problems(
    value: Any, kind: GraphQLInputObjectType
) -> Iterator[tuple[list[Any], str]]:
    if not isinstance(value, dict):
        expected = "a key-value object responding to `to_h` or `to_unsafe_h`."
        yield [], f"Expected {dump_value(value)} to be {expected}"
        return
    missing = [
        name
        for name, field in kind.fields.items()
        if isinstance(field.type, GraphQLNonNull) and name not in value
    ]
    for name, item in [*value.items(), *((name, None) for name in missing)]:
        if name not in kind.fields:
            yield [name], f"Field is not defined on {kind}"
            continue
        for path, explanation in _find_problems(item, kind.fields[name].type):
            yield [name, *path], explanation


def _is_taken(value: Any, scalar: str) -> bool:
    """Return whether the engine takes a value for a scalar; those of the schema take any."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    match scalar:
        case "Int":  # 1.0 is not an Int, as in GitHub's Ruby
            return whole and value in INT_RANGE
        case "Float":
            return whole or isinstance(value, float)
        case "String":
            return isinstance(value, str)
        case "Boolean":
            return isinstance(value, bool)
        case "ID":
            return whole or isinstance(value, str)
    return True
