"""What the cases reach: a comparison of things that never happen would prove nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphql import validate

from tests.property.differential import reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.property.differential.case import Case
    from tests.property.differential.outcome import Outcome

IN_TEXT = {
    "alias": ": ",
    "inline fragment": "... on",
    "inline fragment without a type": "... {",
    "fragment": "\nfragment ",
    "skip by variable": "@skip(if: $",
    "skip by literal": "@skip(if: true",
    "include by variable": "@include(if: $",
    "include by literal": "@include(if: false",
    "typename": "__typename",
    "introspection": "__schema",
    "introspection of a type": "__type(",
    "mutation": "mutation ",
    "subscription": "subscription ",
    "input object": "{need: ",
    "block string": '"""',
    "several operations": "query Other",
}
IN_MESSAGES = {
    "null in a non-null place": "Cannot return null",
    "wrong variable": "Variable '$",
    "wrong argument": "Argument '",
    "wrong leaf": "cannot represent",
    "wrong list": "Expected Iterable",
    "wrong enum": "Enum '",
    "no type told": "must resolve",
    "impossible type told": "is not a possible type",
    "object of another type": "but got",
    "iterator that fails": "no more items",
    "iterable without iterator": "no iterator",
    "resolver raised": "boom",
    "error with extensions": "coded",
    "scalar that fails": "scalar",
    "arguments that do not fit": "unexpected keyword",
    "arguments that clash": "multiple values",
    "property that raises": "attribute",
    "unknown operation": "Unknown operation",
}
IN_CALLS = ("resolve", "call", "field_resolver", "type_resolver", "resolve_type")
PROMISED = (
    *IN_TEXT,
    *IN_MESSAGES,
    *IN_CALLS,
    "no data",
    "null propagated",
    "several errors",
    "error in a list",
    "coroutine",
    "an error later",
    "halted",
    "no errors",
)


def features(case: Case) -> Iterator[str]:
    """Name what a case holds and what comes of it."""
    text = case.text
    yield from (name for name, part in IN_TEXT.items() if part in text)
    yield f"defect {case.written.defect}"
    outcome = case.execute(reference.execute, 0)
    yield from {call[0] for _, call in outcome.calls}
    yield from _of_answer(outcome)
    for error in outcome.errors or ():
        message, path = error.get("message", ""), error.get("path") or []
        yield from (name for name, part in IN_MESSAGES.items() if part in message)
        if any(isinstance(key, int) for key in path):
            yield "error in a list"
        if outcome.waits == "coroutine":
            yield "an error later"
        if "null" in message and _shorter(outcome.data, path):
            yield "null propagated"


def _of_answer(outcome: Outcome) -> Iterator[str]:
    yield outcome.waits
    if outcome.data[0] == "NoneType":
        yield "no data"
    if not outcome.errors:
        yield "no errors"
    elif len(outcome.errors) > 1:
        yield "several errors"
    if outcome.raised and "Halt" in outcome.raised:
        yield "halted"


def _shorter(data: Any, path: list[Any]) -> bool:
    """Return whether the answer ends above the place of an error."""
    for key in path[:-1]:
        if data[0] == "{}":
            data = next((item for name, item in data[1] if name[1] == repr(key)), ("", ""))
        elif data[0] == "[]" and isinstance(key, int) and key < len(data[1]):
            data = data[1][key]
        else:
            return True
    return bool(data[0] == "NoneType")


def valid(case: Case) -> bool:
    """Return whether the document of a case is valid."""
    try:
        return not validate(case.schema, case.document)
    except Exception:  # graphql-core 3.2 raises for some subscriptions
        return False
