#!/usr/bin/env bash
# strawberry-chemist: a page that is given by its offset alone has one row.
#
# Guessed before: of 25 rows in pages of 20, `pagination: {offset: 20}` are the last five, as the list
# without an argument has its first 20, and `limit` has a default.
# What happens: the default of `limit` in the input object is -1, which is raised to 1. An empty object
# gives one row, too; `totalCount` is 25 beside each. With plain arguments, which the class has by
# default, `offset: 20` gives five rows.
# Versions: strawberry-chemist 0.7.0, strawberry-graphql 0.341.2, SQLAlchemy 2.1.9, aiosqlite 0.22.1,
# graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet strawberry-chemist==0.7.0 strawberry-graphql==0.341.2 \
  SQLAlchemy==2.1.9 aiosqlite==0.22.1 graphql-core==3.3.2 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import asyncio
from contextlib import asynccontextmanager

import strawberry
import strawberry_chemist as sc
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from strawberry_chemist.gql_context import SQLAlchemyContext


class Base(DeclarativeBase):
    pass


class Row(Base):
    __tablename__ = "book"
    id: Mapped[int] = mapped_column(primary_key=True)


engine = create_async_engine("sqlite+aiosqlite://")
make_session = async_sessionmaker(engine)


class Context(SQLAlchemyContext):
    user = None

    @asynccontextmanager
    async def get_session(self):
        async with make_session() as session:
            yield session


@sc.type(model=Row)
class Book:
    id: int


@strawberry.type
class Query:
    books: sc.OffsetConnection[Book] = sc.connection(pagination=sc.OffsetPagination(nested=True))
    flat: sc.OffsetConnection[Book] = sc.connection(pagination=sc.OffsetPagination())


schema = strawberry.Schema(Query, extensions=sc.extensions())


async def run() -> None:
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    async with make_session() as session:
        session.add_all(Row(id=number) for number in range(1, 26))
        await session.commit()
    for field, expected in {
        "books": 20,
        "books(pagination: {offset: 20, limit: 20})": 5,
        "books(pagination: {offset: 20})": 1,
        "books(pagination: {})": 1,
        "flat(offset: 20)": 5,
    }.items():
        query = "{ page: %s { totalCount items { id } } }" % field
        answer = await schema.execute(query, context_value=Context(None))
        assert not answer.errors, answer.errors
        page = answer.data["page"]
        print(field, len(page["items"]), page["totalCount"])
        assert (len(page["items"]), page["totalCount"]) == (expected, 25), (field, page)
    await engine.dispose()


asyncio.run(run())
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
