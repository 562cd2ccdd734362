"""Give an input object and optional variables; execute without blocking."""

from __future__ import annotations

from typing import assert_type

from queries import REPOSITORY_TEXT, Repository, RepositoryOrder, aexecute_repository

from gqlnb import Client


async def read(client: Client) -> int | None:
    """Return the number of forks."""
    order = RepositoryOrder(field="STARGAZERS", direction="DESC")
    RepositoryOrder(field="STARS", direction="DESC")  # type: ignore[arg-type]
    RepositoryOrder(field="NAME")  # type: ignore[call-arg]
    answer = await aexecute_repository(client, owner="a", name="b", order=order, forks=True)
    await aexecute_repository(client, owner="a", name="b", forks=False)
    assert_type(answer, Repository)
    if answer.repository is None:
        return None
    assert_type(answer.repository.forkCount, int | None)
    return answer.repository.forkCount


def read_result(client: Client) -> Repository:
    """Read a result at hand as the class of its operation."""
    result = client.execute(REPOSITORY_TEXT, {"owner": "a", "name": "b", "forks": False}, timeout=5)
    assert_type(result.models(Repository), Repository)
    return result.models(Repository)
