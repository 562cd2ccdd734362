"""Execute an operation of a generated module, and read its fields."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, assert_type

from queries import RepositoryPart, Top, execute_top

import gqlnb


def list_names(query: str) -> list[str]:
    """Return the names of the repositories."""
    top = execute_top(gqlnb.connect("demo"), query=query, first=5)
    assert_type(top, Top)
    assert_type(top.search.repositoryCount, int)
    names: list[str] = []
    for node in top.search.nodes or []:
        if isinstance(node, RepositoryPart):
            assert_type(node.id, str)
            assert_type(node.createdAt, datetime)
            assert_type(node.visibility, Literal["INTERNAL", "PRIVATE", "PUBLIC"])
            assert_type(node.owner.login, str)
            names.append(node.name)
    return names


def make_mistakes(client: gqlnb.Client) -> None:
    """Give a wrong variable, leave one out, and misspell a field."""
    execute_top(client, query=5)  # type: ignore[arg-type]
    execute_top(client)  # type: ignore[call-arg]
    execute_top(client, query="x", last=5)  # type: ignore[call-arg]
    top = execute_top(client, query="x")
    print(top.search.repositoryCuont)  # type: ignore[attr-defined]
    top.search.repositoryCount = 3  # type: ignore[misc]
