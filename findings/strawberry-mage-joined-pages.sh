#!/usr/bin/env bash
# Strawberry-GraphQL-Mage: a page of ten authors with their books is one author with ten books.
#
# One would expect: `pageSize: 10` of authors is ten authors, whichever of their fields are selected.
# What happens: the size limits the rows of the joined tables. Of three authors with 25 books each,
# a page of 10 has one author, whose books are cut to 10; `totalResultsCount` is 75 and `resultsCount`
# 1. Without `books` the same page has all three authors, and counts 3.
# Versions: strawberry-graphql-mage 0.0.1a9.dev1657963998, strawberry-graphql 0.119.0,
# SQLAlchemy 1.4.54, aiosqlite 0.17.0, graphql-core 3.2.14, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet strawberry-graphql-mage==0.0.1a9.dev1657963998 \
  strawberry-graphql==0.119.0 "SQLAlchemy[asyncio]==1.4.54" aiosqlite==0.17.0 \
  graphql-core==3.2.14 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import asyncio

from sqlalchemy import Column, ForeignKey, Integer, insert
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import relationship
from sqlalchemy.pool import StaticPool
from strawberry_mage.backends.sqlalchemy.backend import SQLAlchemyBackend
from strawberry_mage.backends.sqlalchemy.models import create_base_entity
from strawberry_mage.core.schema import SchemaManager

Base = create_base_entity()


class Author(Base):
    id = Column(Integer, primary_key=True)
    books = relationship("Book", back_populates="author")


class Book(Base):
    id = Column(Integer, primary_key=True)
    author_id = Column(Integer, ForeignKey("author.id"))
    author = relationship("Author", back_populates="books")


async def ask() -> list:
    engine = create_async_engine("sqlite+aiosqlite://", poolclass=StaticPool)
    schema = SchemaManager(Author, Book, backend=SQLAlchemyBackend(engine)).get_schema()
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
        await connection.execute(insert(Author.__table__), [{"id": n} for n in (1, 2, 3)])
        rows = [{"id": n, "author_id": n // 25 + 1} for n in range(75)]
        await connection.execute(insert(Book.__table__), rows)
    found = []
    for fields in ("id", "id books { id }"):
        page = "totalResultsCount resultsCount results { %s }" % fields
        answer = await schema.execute("{ authors(data: {pageSize: 10}) { %s } }" % page)
        assert not answer.errors, answer.errors
        authors = answer.data["authors"]
        lengths = [len(row["books"]) for row in authors["results"] if "books" in row]
        found.append((authors["totalResultsCount"], authors["resultsCount"], lengths))
    await engine.dispose()
    return found


found = asyncio.run(ask())
print(found)
assert found == [(3, 3, []), (75, 1, [10])], found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
