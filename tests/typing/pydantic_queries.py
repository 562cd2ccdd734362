"""Typed operations and their model classes. Written by `gqlnb codegen`; do not edit."""
# fmt: off
# ruff: noqa

from __future__ import annotations

import datetime
from typing import Annotated, Literal

import msgspec
from pydantic import BaseModel, Field

from gqlnb.result.pydantic_types import ByTypename, InputModel, JSONScalar

from gqlnb import Client


ID = Annotated[str, JSONScalar('ID')]
DateTime = Annotated[datetime.datetime, JSONScalar('DateTime')]
RepositoryVisibility = Literal['INTERNAL', 'PRIVATE', 'PUBLIC']
OrderDirection = Literal['ASC', 'DESC']
RepositoryOrderField = Literal['CREATED_AT', 'NAME', 'PUSHED_AT', 'STARGAZERS', 'UPDATED_AT']


class TopSearchNodesOther(BaseModel, frozen=True, strict=True, populate_by_name=True):
    typename__: str = Field(validation_alias='__typename', serialization_alias='__typename')


class TopSearchNodesOrganization(BaseModel, frozen=True, strict=True, populate_by_name=True):
    typename__: Literal['Organization'] = Field(default='Organization', validation_alias='__typename', serialization_alias='__typename')
    login: str


class RepositoryPartOwnerOrganization(BaseModel, frozen=True, strict=True, populate_by_name=True):
    typename__: Literal['Organization'] = Field(default='Organization', validation_alias='__typename', serialization_alias='__typename')
    login: str


class RepositoryPartOwnerUser(BaseModel, frozen=True, strict=True, populate_by_name=True):
    typename__: Literal['User'] = Field(default='User', validation_alias='__typename', serialization_alias='__typename')
    login: str
    bio: str | None


RepositoryPartOwner = Annotated[RepositoryPartOwnerOrganization | RepositoryPartOwnerUser, ByTypename()]


class RepositoryPart(BaseModel, frozen=True, strict=True, populate_by_name=True):
    typename__: Literal['Repository'] = Field(default='Repository', validation_alias='__typename', serialization_alias='__typename')
    id: ID
    name: str
    createdAt: DateTime
    visibility: RepositoryVisibility
    owner: RepositoryPartOwner


TopSearchNodes = Annotated[TopSearchNodesOther | TopSearchNodesOrganization | RepositoryPart, ByTypename()]


class TopSearch(BaseModel, frozen=True, strict=True):
    repositoryCount: int
    nodes: list[TopSearchNodes | None] | None


class Top(BaseModel, frozen=True, strict=True):
    search: TopSearch


class RepositoryRepositoryOwnerOrganizationRepositoriesNodes(BaseModel, frozen=True, strict=True):
    name: str
    stargazerCount: int


class RepositoryRepositoryOwnerOrganizationRepositories(BaseModel, frozen=True, strict=True):
    nodes: list[RepositoryRepositoryOwnerOrganizationRepositoriesNodes | None] | None


class RepositoryRepositoryOwnerOrganization(BaseModel, frozen=True, strict=True, populate_by_name=True):
    typename__: Literal['Organization'] = Field(default='Organization', validation_alias='__typename', serialization_alias='__typename')
    login: str
    repositories: RepositoryRepositoryOwnerOrganizationRepositories


class RepositoryRepositoryOwnerUserRepositoriesNodes(BaseModel, frozen=True, strict=True):
    name: str
    stargazerCount: int


class RepositoryRepositoryOwnerUserRepositories(BaseModel, frozen=True, strict=True):
    nodes: list[RepositoryRepositoryOwnerUserRepositoriesNodes | None] | None


class RepositoryRepositoryOwnerUser(BaseModel, frozen=True, strict=True, populate_by_name=True):
    typename__: Literal['User'] = Field(default='User', validation_alias='__typename', serialization_alias='__typename')
    login: str
    bio: str | None
    repositories: RepositoryRepositoryOwnerUserRepositories


RepositoryRepositoryOwner = Annotated[RepositoryRepositoryOwnerOrganization | RepositoryRepositoryOwnerUser, ByTypename()]


class RepositoryRepository(BaseModel, frozen=True, strict=True):
    id: ID
    name: str
    createdAt: DateTime
    visibility: RepositoryVisibility
    owner: RepositoryRepositoryOwner
    forkCount: int | None = None


class Repository(BaseModel, frozen=True, strict=True):
    repository: RepositoryRepository | None


class RepositoryOrder(InputModel, frozen=True, strict=True):
    direction: OrderDirection
    field: RepositoryOrderField


TOP_TEXT = (
    'query Top($query: String!, $first: Int = 10) {\n'
    '  search(query: $query, type: REPOSITORY, first: $first) {\n'
    '    repositoryCount\n'
    '    nodes { __typename ...RepositoryPart ... on Organization { login } }\n'
    '  }\n'
    '}\n'
    'fragment RepositoryPart on Repository {\n'
    '  id\n'
    '  name\n'
    '  createdAt\n'
    '  visibility\n'
    '  owner { __typename login ... on User { bio } }\n'
    '}'
)


def execute_top(
    client: Client,
    *,
    query: str,
    first: int | None | msgspec.UnsetType = msgspec.UNSET,
) -> Top:
    """Execute `TOP_TEXT`, and return Top; raise if a field failed."""
    result = client.execute(TOP_TEXT, {'query': query, 'first': first})
    return result.raise_for_errors().models(Top)


async def aexecute_top(
    client: Client,
    *,
    query: str,
    first: int | None | msgspec.UnsetType = msgspec.UNSET,
) -> Top:
    """Execute `TOP_TEXT`, and return Top; raise if a field failed."""
    result = await client.aexecute(TOP_TEXT, {'query': query, 'first': first})
    return result.raise_for_errors().models(Top)


REPOSITORY_TEXT = (
    'fragment RepositoryPart on Repository {\n'
    '  id\n'
    '  name\n'
    '  createdAt\n'
    '  visibility\n'
    '  owner { __typename login ... on User { bio } }\n'
    '}\n'
    'query Repository($owner: String!, $name: String!, $order: RepositoryOrder, $forks: Boolean!) {\n'
    '  repository(owner: $owner, name: $name) {\n'
    '    ...RepositoryPart\n'
    '    forkCount @include(if: $forks)\n'
    '    owner { __typename repositories(first: 2, orderBy: $order) { nodes { name stargazerCount } } }\n'
    '  }\n'
    '}'
)


def execute_repository(
    client: Client,
    *,
    owner: str,
    name: str,
    order: RepositoryOrder | None | msgspec.UnsetType = msgspec.UNSET,
    forks: bool,
) -> Repository:
    """Execute `REPOSITORY_TEXT`, and return Repository; raise if a field failed."""
    result = client.execute(REPOSITORY_TEXT, {'owner': owner, 'name': name, 'order': order, 'forks': forks})
    return result.raise_for_errors().models(Repository)


async def aexecute_repository(
    client: Client,
    *,
    owner: str,
    name: str,
    order: RepositoryOrder | None | msgspec.UnsetType = msgspec.UNSET,
    forks: bool,
) -> Repository:
    """Execute `REPOSITORY_TEXT`, and return Repository; raise if a field failed."""
    result = await client.aexecute(REPOSITORY_TEXT, {'owner': owner, 'name': name, 'order': order, 'forks': forks})
    return result.raise_for_errors().models(Repository)
