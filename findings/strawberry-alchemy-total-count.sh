#!/usr/bin/env bash
# strawberry-alchemy: the totalCount of a connection is that of the page, and one more.
#
# Guessed before: `totalCount` beside the first two of five rows is 5, as its README has Relay
# connections with totalCount.
# What happens: `resolve_connection` counts the rows that it fetched, the page and the one that
# tells whether another follows: 3, then 3, then 1. Without `first` it is 5, as all rows come; with
# `last` it is the rows from there on. `return_total_count=True`, which its list sets by itself,
# brings 5 on each page.
# Versions: strawberry-alchemy 0.1.5, strawberry-graphql 0.341.2, SQLAlchemy 2.1.9,
# aiosqlite 0.22.1, Python 3.13.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
PYENV_VERSION=3.13 python3.13 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet strawberry-alchemy==0.1.5 strawberry-graphql==0.341.2 \
  SQLAlchemy==2.1.9 aiosqlite==0.22.1 greenlet 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import asyncio
from types import SimpleNamespace
from typing import Any, ClassVar

import strawberry
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Mapped
from strawberry.types import Info
from strawberry_alchemy import BaseNodeType
from strawberry_alchemy.filtering import AccessControlFilter
from strawberry_alchemy.models import Base
from strawberry_alchemy.types.connection import OptimizedListConnection


class Post(Base):
    title: Mapped[str]


class PostAccessFilter(AccessControlFilter):
    model_class = Post

    @staticmethod
    async def apply_filter(query: Any, model: type[Any], context_user: Any) -> Any:
        return query


@strawberry.type
class PostType(BaseNodeType):
    access_filter: ClassVar = PostAccessFilter()
    title: str | None = strawberry.UNSET


@strawberry.type
class Query:
    @strawberry.field
    async def posts(
        self,
        info: Info,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        is_counted: bool = False,
    ) -> OptimizedListConnection[PostType]:
        return await PostType.resolve_connection(
            info=info, first=first, after=after, last=last, return_total_count=is_counted
        )


schema = strawberry.Schema(query=Query)
TEXT = """query ($first: Int, $after: String, $last: Int, $isCounted: Boolean! = false) {
  posts(first: $first, after: $after, last: $last, isCounted: $isCounted) {
    edges { node { title } } totalCount pageInfo { hasNextPage endCursor } } }"""


async def ask() -> dict:
    engine = create_async_engine("sqlite+aiosqlite://")
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    found = {}
    async with AsyncSession(engine) as session:
        session.add_all([Post(title=str(number)) for number in range(5)])
        await session.commit()

        async def get_session() -> AsyncSession:
            return session

        async def fetch(**variables: Any) -> dict:
            user = SimpleNamespace(id=1)
            context = SimpleNamespace(
                get_session=get_session, identity=user, user=user, db_execution_lock=asyncio.Lock()
            )
            answer = await schema.execute(TEXT, variable_values=variables, context_value=context)
            assert not answer.errors, answer.errors
            return answer.data["posts"]

        page, totals = await fetch(first=2), []
        while True:
            totals.append((len(page["edges"]), page["totalCount"]))
            if not page["pageInfo"]["hasNextPage"]:
                break
            page = await fetch(first=2, after=page["pageInfo"]["endCursor"])
        found["pages"] = totals
        found["all"] = (await fetch())["totalCount"]
        found["last"] = (await fetch(last=2))["totalCount"]
        found["counted"] = (await fetch(first=2, isCounted=True))["totalCount"]
    await engine.dispose()
    return found


found = asyncio.run(ask())
print(found)
assert found["pages"] == [(2, 3), (2, 3), (1, 1)], found
assert (found["all"], found["last"], found["counted"]) == (5, 2, 5), found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
