#!/usr/bin/env bash
# sqlmodel-graphql: the size of a list in rows is ignored if it comes as a variable.
#
# One would expect: `books(limit: $n)` with 2 is `books(limit: 2)`, as it is for a field of Query.
# What happens: below the first level a variable is null, so that the page has its usual 20 books. The
# other way round, an optional integer of Query is a number if it comes as a variable, and a text if
# it stands in the query: `start: 2` is "2" for the function. Introspection calls its default `None`,
# which is no value of Int.
# Versions: sqlmodel-graphql 0.14.0, sqlmodel 0.0.50, SQLAlchemy 2.1.9, aiosqlite 0.22.1,
# graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet sqlmodel-graphql==0.14.0 sqlmodel==0.0.50 SQLAlchemy==2.1.9 \
  aiosqlite==0.22.1 graphql-core==3.3.2 greenlet==3.5.6 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import asyncio

from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlmodel import Field, Relationship, SQLModel, select
from sqlmodel.ext.asyncio.session import AsyncSession
from sqlmodel_graphql import GraphQLHandler, query


starts = []  # the values that arrived


class Base(SQLModel):
    pass


class Author(Base, table=True):
    id: int | None = Field(default=None, primary_key=True)
    books: list["Book"] = Relationship(
        back_populates="author", sa_relationship_kwargs={"order_by": "Book.id"}
    )

    @query
    async def listed(cls, limit: int = 9, start: int | None = None) -> list["Author"]:
        """Return authors."""
        starts.append(start)
        async with make_session() as session:
            return list((await session.exec(select(cls).limit(limit))).all())


class Book(Base, table=True):
    id: int | None = Field(default=None, primary_key=True)
    author_id: int | None = Field(default=None, foreign_key="author.id")
    author: Author | None = Relationship(back_populates="books")


engine = create_async_engine("sqlite+aiosqlite://")
make_session = async_sessionmaker(engine, class_=AsyncSession, expire_on_commit=False)
handler = GraphQLHandler(base=Base, session_factory=make_session, enable_pagination=True)


async def count_rows(head: str, outer: str, inner: str) -> tuple:
    text = head + " { authorListed(limit: %s) { id books(limit: %s) { items { id } } } }"
    answer = await handler.execute(text % (outer, inner), {"n": 2})
    assert not answer.get("errors"), answer
    rows = answer["data"]["authorListed"]
    return len(rows), len(rows[0]["books"]["items"])


async def run() -> None:
    async with engine.begin() as connection:
        await connection.run_sync(SQLModel.metadata.create_all)
    async with make_session() as session:
        session.add_all(Author(id=number) for number in (1, 2, 3))
        session.add_all(Book(author_id=1) for _ in range(30))
        await session.commit()
    found = [await count_rows("query", "2", "2"), await count_rows("query ($n: Int)", "$n", "$n")]
    print(found)
    assert found == [(2, 2), (2, 20)], found
    for start in ("2", "$n"):
        text = "query ($n: Int) { authorListed(start: %s) { id } }" % start
        await handler.execute(text, {"n": 2})
    print(starts)
    assert starts[-2:] == ["2", 2], starts
    answer = await handler.execute("{ __schema { types { name } } }")
    kinds = {kind["name"]: kind for kind in answer["data"]["__schema"]["types"]}
    arguments = {it["name"]: it["defaultValue"] for it in kinds["Query"]["fields"][0]["args"]}
    print(arguments)
    assert arguments == {"limit": "9", "start": "None"}, arguments
    await engine.dispose()


asyncio.run(run())
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
