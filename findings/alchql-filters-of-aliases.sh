#!/usr/bin/env bash
# AlchQL: of two selections of one list, each is filtered by the filter of the last.
#
# One would expect: `some: books(id_Eq: ...) all: books` of an author are one book and three.
# What happens: both wait for the same loader, which keeps the last selection that asked and reads
# its arguments alone. `some` has three books as well; the other way round `all` has one.
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
from alchql.middlewares.loaders_middleware import LoaderMiddleware
from alchql.node import AsyncNode
from sqlalchemy import Column, ForeignKey, Integer, String
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import declarative_base, relationship

Base = declarative_base()


class AuthorRow(Base):
    __tablename__ = "authors"
    id = Column(Integer, primary_key=True)
    books = relationship("BookRow", back_populates="author")


class BookRow(Base):
    __tablename__ = "books"
    id = Column(Integer, primary_key=True)
    title = Column(String)
    author_id = Column(ForeignKey("authors.id"))
    author = relationship(AuthorRow, back_populates="books")


class Book(SQLAlchemyObjectType):
    class Meta:
        model = BookRow
        interfaces = (AsyncNode,)


class Author(SQLAlchemyObjectType):
    class Meta:
        model = AuthorRow
        interfaces = (AsyncNode,)


class Query(graphene.ObjectType):
    authors = SQLAlchemyConnectionField(Author.connection)
    books = SQLAlchemyConnectionField(Book.connection)


EDGES = "{ edges { node { id title } } }"


async def ask() -> list:
    engine = create_async_engine("sqlite+aiosqlite://")
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    schema = graphene.Schema(query=Query)
    found = []
    async with AsyncSession(engine) as session:
        session.add(AuthorRow(books=[BookRow(title=title) for title in ("One", "Two", "Three")]))
        await session.commit()

        async def execute(query: str) -> dict:
            context = SimpleNamespace(session=session)
            loaders = LoaderMiddleware([AuthorRow, BookRow])
            answer = await schema.execute_async(query, context_value=context, middleware=[loaders])
            assert not answer.errors, answer.errors
            return answer.data

        books = await execute("{ books(first: 1) %s }" % EDGES)
        some = 'some: books(id_Eq: "%s") %s' % (books["books"]["edges"][0]["node"]["id"], EDGES)
        every = "all: books %s" % EDGES
        for selections in (some, f"{some} {every}", f"{every} {some}"):
            data = await execute("{ authors(first: 1) { edges { node { %s } } } }" % selections)
            author = data["authors"]["edges"][0]["node"]
            found.append({name: len(books["edges"]) for name, books in author.items()})
    await engine.dispose()
    return found


found = asyncio.run(ask())
print(found)
assert found == [{"some": 1}, {"some": 3, "all": 3}, {"all": 1, "some": 1}], found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
