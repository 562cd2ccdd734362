#!/usr/bin/env bash
# AlchQL: a column that is selected in `... on Book` is null in each row, without an error.
#
# One would expect: `node { ... on Book { title } }` is `node { title }` where nodes are books, as it
# is with a named fragment.
# What happens: the columns to load are read from the query, and inline fragments are left out there.
# Columns that are not loaded are null. A named fragment brings the titles.
# Versions: alchql 3.4.10.45323042, graphene 3.4.3, SQLAlchemy 1.4.54, aiosqlite 0.22.1,
# graphql-core 3.2.14, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet alchql==3.4.10.45323042 graphene==3.4.3 SQLAlchemy==1.4.54 \
  aiosqlite==0.22.1 graphql-core==3.2.14 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import asyncio
from types import SimpleNamespace

import graphene
from alchql import SQLAlchemyObjectType
from alchql.fields import SQLAlchemyConnectionField
from alchql.node import AsyncNode
from sqlalchemy import Column, Integer, String
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import declarative_base

Base = declarative_base()


class BookRow(Base):
    __tablename__ = "books"
    id = Column(Integer, primary_key=True)
    title = Column(String)


class Book(SQLAlchemyObjectType):
    class Meta:
        model = BookRow
        interfaces = (AsyncNode,)


class Query(graphene.ObjectType):
    books = SQLAlchemyConnectionField(Book.connection)


QUERIES = (
    "{ books(first: 1) { edges { node { title } } } }",
    "{ books(first: 1) { edges { node { ...F } } } } fragment F on Book { title }",
    "{ books(first: 1) { edges { node { ... on Book { title } } } } }",
)


async def ask() -> list:
    engine = create_async_engine("sqlite+aiosqlite://")
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    schema = graphene.Schema(query=Query)
    found = []
    async with AsyncSession(engine) as session:
        session.add(BookRow(title="One"))
        await session.commit()
        for query in QUERIES:
            context = SimpleNamespace(session=session)
            answer = await schema.execute_async(query, context_value=context)
            assert not answer.errors, answer.errors
            found += [edge["node"]["title"] for edge in answer.data["books"]["edges"]]
    await engine.dispose()
    return found


found = asyncio.run(ask())
print(found)
assert found == ["One", "One", None], found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
