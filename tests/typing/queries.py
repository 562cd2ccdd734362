"""Typed operations and their model classes. Written by `gqlnb codegen`; do not edit."""
# fmt: off
# ruff: noqa

from __future__ import annotations

import datetime
from typing import Annotated, ClassVar, Literal

import msgspec

from gqlnb import Client


ID = Annotated[str, msgspec.Meta(extra={'scalar': 'ID'})]
DateTime = Annotated[datetime.datetime, msgspec.Meta(extra={'scalar': 'DateTime'})]
RepositoryVisibility = Literal['INTERNAL', 'PRIVATE', 'PUBLIC']
OrderDirection = Literal['ASC', 'DESC']
RepositoryOrderField = Literal['CREATED_AT', 'NAME', 'PUSHED_AT', 'STARGAZERS', 'UPDATED_AT']


class TopSearchNodesOther(msgspec.Struct, frozen=True, kw_only=True, tag_field='__typename', tag='*'):
    typename__: str = msgspec.field(name='*type')


class TopSearchNodesOrganization(msgspec.Struct, frozen=True, kw_only=True, tag_field='__typename', tag='Organization'):
    typename__: ClassVar[Literal['Organization']] = 'Organization'
    login: str


class RepositoryPartOwnerOrganization(msgspec.Struct, frozen=True, kw_only=True, tag_field='__typename', tag='Organization'):
    typename__: ClassVar[Literal['Organization']] = 'Organization'
    login: str


class RepositoryPartOwnerUser(msgspec.Struct, frozen=True, kw_only=True, tag_field='__typename', tag='User'):
    typename__: ClassVar[Literal['User']] = 'User'
    login: str
    bio: str | None


RepositoryPartOwner = RepositoryPartOwnerOrganization | RepositoryPartOwnerUser


class RepositoryPart(msgspec.Struct, frozen=True, kw_only=True, tag_field='__typename', tag='Repository'):
    typename__: ClassVar[Literal['Repository']] = 'Repository'
    id: ID
    name: str
    createdAt: DateTime
    visibility: RepositoryVisibility
    owner: RepositoryPartOwner


TopSearchNodes = TopSearchNodesOther | TopSearchNodesOrganization | RepositoryPart


class TopSearch(msgspec.Struct, frozen=True, kw_only=True):
    repositoryCount: int
    nodes: list[TopSearchNodes | None] | None


class Top(msgspec.Struct, frozen=True, kw_only=True):
    search: TopSearch


class RepositoryRepositoryOwnerOrganizationRepositoriesNodes(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    stargazerCount: int


class RepositoryRepositoryOwnerOrganizationRepositories(msgspec.Struct, frozen=True, kw_only=True):
    nodes: list[RepositoryRepositoryOwnerOrganizationRepositoriesNodes | None] | None


class RepositoryRepositoryOwnerOrganization(msgspec.Struct, frozen=True, kw_only=True, tag_field='__typename', tag='Organization'):
    typename__: ClassVar[Literal['Organization']] = 'Organization'
    login: str
    repositories: RepositoryRepositoryOwnerOrganizationRepositories


class RepositoryRepositoryOwnerUserRepositoriesNodes(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    stargazerCount: int


class RepositoryRepositoryOwnerUserRepositories(msgspec.Struct, frozen=True, kw_only=True):
    nodes: list[RepositoryRepositoryOwnerUserRepositoriesNodes | None] | None


class RepositoryRepositoryOwnerUser(msgspec.Struct, frozen=True, kw_only=True, tag_field='__typename', tag='User'):
    typename__: ClassVar[Literal['User']] = 'User'
    login: str
    bio: str | None
    repositories: RepositoryRepositoryOwnerUserRepositories


RepositoryRepositoryOwner = RepositoryRepositoryOwnerOrganization | RepositoryRepositoryOwnerUser


class RepositoryRepository(msgspec.Struct, frozen=True, kw_only=True):
    id: ID
    name: str
    createdAt: DateTime
    visibility: RepositoryVisibility
    owner: RepositoryRepositoryOwner
    forkCount: int | None = None


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    repository: RepositoryRepository | None


class RepositoryOrder(msgspec.Struct, frozen=True, kw_only=True):
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
