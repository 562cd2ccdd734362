"""Telling a difference: the smallest document that still shows it, and all that it needs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from graphql import REMOVE, Visitor, print_ast, print_schema, visit

from tests.property.differential.case import Case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphql import Node

    from tests.property.differential.case import Difference, Execute

REMOVABLE = {
    "argument",
    "directive",
    "field",
    "fragment_definition",
    "fragment_spread",
    "inline_fragment",
    "object_field",
    "operation_definition",
    "variable_definition",
}
ATTEMPTS = 300
TEST = "tests/property/test_engine_differential.py"


class _Without(Visitor):
    """Takes one node out of a document."""

    def __init__(self, target: Node) -> None:
        super().__init__()
        self._target = target

    def enter(self, node: Node, *_: Any) -> Any:
        return REMOVE if node is self._target else None


class _Nodes(Visitor):
    """Lists what can be taken out, the largest parts first."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Node] = []

    def enter(self, node: Node, *_: Any) -> None:
        if node.kind in REMOVABLE:
            self.found.append(node)


def shrunk(difference: Difference, reference: Execute, candidate: Execute) -> Difference:
    """Return a difference with a smaller document, of the same case and the same kind."""
    left = ATTEMPTS
    smaller: Difference | None = difference
    while smaller is not None and left > 0:
        difference = smaller
        smaller = None
        for text in _smaller(difference.case):
            left -= 1
            smaller = _same(difference, text, reference, candidate)
            if smaller is not None or left <= 0:
                break
    return difference


def _smaller(case: Case) -> Iterator[str]:
    nodes = _Nodes()
    visit(case.document, nodes)
    for node in nodes.found:
        yield print_ast(visit(case.document, _Without(node)))


def _same(
    difference: Difference, text: str, reference: Execute, candidate: Execute
) -> Difference | None:
    try:
        case = Case(difference.case.seed, difference.case.mode, text)
        found = list(case.differences(reference, candidate))
    except Exception:  # such a document can't be
        return None
    same = [one for one in found if one.what.split(":")[0][:6] == difference.what.split(":")[0][:6]]
    return same[0] if same else None


def describe(difference: Difference) -> str:
    """Return everything that is needed to see a difference again."""
    case, run = difference.case, difference.run
    lines = [
        f"seed {case.seed}, mode {case.mode}, run {run}: {difference.what}",
        f"again: ENGINE_SEED={case.seed} pytest {TEST} -k {case.mode}",
        "",
        print_schema(case.made.schema),
        "",
        case.text or "",
        "",
        *_options(case, run),
        "",
        "WANT",
        str(difference.want),
        "GOT",
        str(difference.got),
    ]
    return "\n".join(lines)


def _options(case: Case, run: int) -> Iterator[str]:
    async def made() -> dict[str, Any]:
        world = case.world(run)
        options = case.options(run, world)
        world.later.close()
        return options

    for name, value in asyncio.run(made()).items():
        try:
            yield f"{name}={value!r:.1500}"
        except Exception as error:
            yield f"{name}: no text: {error}"
