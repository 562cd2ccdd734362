"""Match the types of a union."""

from __future__ import annotations

from typing import assert_never, assert_type

from queries import RepositoryPart, Top, TopSearchNodesOrganization, TopSearchNodesOther


def describe(top: Top) -> list[str]:
    """Return a line for each item; the cases are complete."""
    lines: list[str] = []
    for node in top.search.nodes or []:
        match node:
            case None:
                continue
            case RepositoryPart(name=name):
                assert_type(name, str)
                lines.append(name)
            case TopSearchNodesOrganization(login=login):
                lines.append(login)
            case TopSearchNodesOther(typename__=kind):
                assert_type(kind, str)
                lines.append(f"a {kind}")
            case _:
                assert_never(node)
    return lines
