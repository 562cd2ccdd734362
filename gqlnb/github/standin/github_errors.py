"""The errors of a document that is not executed, in the form in which GitHub answers them.

GitHub runs graphql-ruby, of which ``engine_rules.py`` has the rules. Where recorded answers of
GitHub differ from the engine, GitHub's form is taken: for syntax errors (``parse_errors.py``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphql import OperationDefinitionNode, parse

from gqlnb.document.document import suggests_near_name
from gqlnb.github.standin.engine_rules import ErrorDict, find_engine_errors
from gqlnb.github.standin.parse_errors import format_parse_error
from gqlnb.github.standin.variable_errors import find_variable_errors

if TYPE_CHECKING:
    from graphql import GraphQLSchema

__all__ = ["format_request_errors", "is_stopped_by_limits"]

_LIMIT_HINT = re.compile(r"serve\(schema, limits=Limits\(\w+=")  # how our own limits end
_TOO_DEEP = "nested too deeply"  # graphql-core's recursion limit
_TOO_LARGE = "This query is too large to execute."


def is_stopped_by_limits(errors: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether our own limits ended an execution."""
    messages = (str(error.get("message")) for error in errors)
    return any(
        text.startswith("Execution stopped after") and _LIMIT_HINT.search(text) for text in messages
    )


def format_request_errors(
    errors: Sequence[Mapping[str, Any]], request: Mapping[str, Any], schema: GraphQLSchema
) -> list[ErrorDict]:
    """Return request errors in GitHub's form.

    Parameters
    ----------
    errors
        The errors of a document that was not executed, as our server writes them.
    request
        ``query``, and ``variables`` and ``operationName`` if they were sent.
    schema
        The schema of the stand-in.

    Returns
    -------
    list of dict
        The errors, their members in GitHub's order.
    """
    first, text = str(errors[0].get("message")), request["query"]
    if _LIMIT_HINT.search(first) or _TOO_DEEP in first:
        return [{"locations": [], "message": _TOO_LARGE}]
    # Refused documents are parsed and walked again, so that others pay nothing for this.
    parse_error = format_parse_error(text)
    if parse_error is not None:
        return [parse_error]
    document = parse(text)
    operations = {
        node.name.value if node.name else None: node
        for node in document.definitions
        if isinstance(node, OperationDefinitionNode)
    }
    name = request.get("operationName")
    if name is None and len(operations) == 1:
        name = next(iter(operations))
    operation = operations.get(name)
    if operations and operation is None:
        required = "An operation name is required"
        return [{"message": required if name is None else f'No operation named "{name}"'}]
    try:
        found = find_engine_errors(schema, document)
    except RecursionError:
        return [{"locations": [], "message": _TOO_LARGE}]
    if found:
        return mark_names_of_github(found, errors, text)
    if operation is not None:
        found = find_variable_errors(schema, operation, request.get("variables") or {})
    # The engine takes a few documents that the stand-in cannot execute.
    found = found or find_engine_errors(schema, document, strict=True)
    kept = ("locations", "message")
    return found or [{key: error[key] for key in kept if key in error} for error in errors]


def mark_names_of_github(
    found: list[ErrorDict], errors: Sequence[Mapping[str, Any]], text: str
) -> list[ErrorDict]:
    """Say of unknown fields and arguments that the stand-in has not got them.

    GitHub may have them, unless graphql-core, in `errors`, suggests a similar name.
    """
    lines, similar = re.split(r"\r\n|[\n\r]", text), set()
    for error in errors:
        near = suggests_near_name(str(error["message"]))
        for at in error.get("locations") or () if near else ():
            before = lines[at["line"] - 1][: at["column"] - 1]
            similar.add((at["line"], len(before.encode()) + 1))
    for error in found:
        extensions, (at, *_) = error["extensions"], error["locations"]
        if (at["line"], at["column"]) not in similar and (
            extensions["code"] == "undefinedField"
            or (extensions["code"], extensions.get("typeName")) == ("argumentNotAccepted", "Field")
        ):
            error["message"] += " in this stand-in"
    return found
