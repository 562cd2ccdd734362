"""Use classes of pydantic: match the types of a union, give an input object."""

from __future__ import annotations

import datetime
from typing import assert_never, assert_type

from pydantic import BaseModel
from pydantic_queries import (
    REPOSITORY_TEXT,
    Repository,
    RepositoryOrder,
    RepositoryPart,
    Top,
    TopSearchNodesOrganization,
    TopSearchNodesOther,
    aexecute_repository,
    execute_top,
)

from gqlnb import Client


class Page(BaseModel):
    """A class of the user, as of a web service."""

    nodes: list[RepositoryPart]


def read(client: Client) -> Page:
    """Return the repositories; the cases are complete."""
    top = execute_top(client, query="stars:>400000")
    assert_type(top, Top)
    page: list[RepositoryPart] = []
    for node in top.search.nodes or []:
        match node:
            case None:
                continue
            case RepositoryPart(name=name):
                assert_type(name, str)
                assert_type(node.createdAt, datetime.datetime)
                page.append(node)
            case TopSearchNodesOrganization(login=login):
                print(login)
            case TopSearchNodesOther(typename__=kind):
                assert_type(kind, str)
                print(kind, TopSearchNodesOther(typename__=kind))
            case _:
                assert_never(node)
    return Page(nodes=page)


async def read_forks(client: Client) -> int | None:
    """Return the number of forks."""
    order = RepositoryOrder(field="STARGAZERS", direction="DESC")
    RepositoryOrder(field="STARS", direction="DESC")  # type: ignore[arg-type]
    RepositoryOrder(field="NAME")  # type: ignore[call-arg]
    order.field = "NAME"  # type: ignore[misc]
    answer = await aexecute_repository(client, owner="a", name="b", order=order, forks=True)
    assert_type(answer, Repository)
    return None if answer.repository is None else answer.repository.forkCount


def read_result(client: Client) -> Repository:
    """Read a result at hand as the class of its operation."""
    result = client.execute(REPOSITORY_TEXT, {"owner": "a", "name": "b", "forks": False})
    assert_type(result.models(Repository), Repository)
    return result.models(Repository)
