"""What the cases reach: a comparison of things that never happen would prove nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.property.differential import reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.property.differential.case import Case

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
IN_OUTCOME = {  # patterns of its lines
    **{name: rf"  error: .'message': .*{re.escape(part)}" for name, part in IN_MESSAGES.items()},
    **{
        name: rf"  call: \('{name}'"
        for name in ("resolve", "call", "field_resolver", "type_resolver", "resolve_type")
    },
    "no data": r"  data: None\n",
    "no errors": r"\A(.+\n)(.+\n)(.+)(\n  call: .*)*\Z",
    "several errors": r"  error: .*\n  error: ",
    "error in a list": r"  error: .*'path': \[[^]]*, \d+[],]",
    "coroutine": "  returned: coroutine",
    "an error later": r"  returned: coroutine\n.*\n  error: ",
    "halted": "  raised: .*Halt",
}
PROMISED = (*IN_TEXT, *IN_OUTCOME)


def features(case: Case) -> Iterator[str]:
    """Name what a case holds and what comes of it."""
    yield from (name for name, part in IN_TEXT.items() if part in case.text)
    outcome = str(case.execute(reference.execute, 0))
    yield from (name for name, pattern in IN_OUTCOME.items() if re.search(pattern, outcome))
