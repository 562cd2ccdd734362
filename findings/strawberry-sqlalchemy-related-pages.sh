#!/usr/bin/env bash
# strawberry-sqlalchemy-mapper: `books(first: 2)` gives two books to the first author and none to
# the others.
#
# One would expect: a connection in a list of objects has a page for each object, as Relay's has.
# What happens: the limit holds for all rows that are loaded together. The first author gets two
# books with hasNextPage true, the others an empty page with hasNextPage false, though each has
# five. No error, and no sign by which a client could tell these pages from ends.
# Versions: strawberry-sqlalchemy-mapper 0.9.0, strawberry-graphql 0.327.7, SQLAlchemy 2.1.9,
# graphql-core 3.2.14, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet strawberry-sqlalchemy-mapper==0.9.0 strawberry-graphql==0.327.7 \
  SQLAlchemy==2.1.9 graphql-core==3.2.14 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import asyncio

import strawberry
from sqlalchemy import ForeignKey, create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship
from sqlalchemy.pool import StaticPool
from strawberry_sqlalchemy_mapper import StrawberrySQLAlchemyLoader, StrawberrySQLAlchemyMapper


class Base(DeclarativeBase):
    pass


class Author(Base):
    __tablename__ = "authors"
    id: Mapped[int] = mapped_column(primary_key=True)
    books: Mapped[list["Book"]] = relationship(back_populates="author")


class Book(Base):
    __tablename__ = "books"
    id: Mapped[int] = mapped_column(primary_key=True)
    author_id: Mapped[int] = mapped_column(ForeignKey("authors.id"))
    author: Mapped[Author] = relationship(back_populates="books")


engine = create_engine("sqlite://", poolclass=StaticPool)
Base.metadata.create_all(engine)
session = Session(engine)
session.add_all(Author(books=[Book() for _ in range(5)]) for _ in range(3))
session.commit()
mapper = StrawberrySQLAlchemyMapper()


@mapper.type(Author)
class AuthorType:
    pass


@mapper.type(Book)
class BookType:
    pass


mapper.finalize()


@strawberry.type
class Query:
    @strawberry.field
    def authors(self) -> list[AuthorType]:
        return session.query(Author).all()


schema = strawberry.Schema(Query)


def ask(page: str) -> list:
    query = "{ authors { books%s { edges { node { id } } pageInfo { hasNextPage } } } }" % page
    context = {"sqlalchemy_loader": StrawberrySQLAlchemyLoader(bind=session)}
    answer = asyncio.run(schema.execute(query, context_value=context))
    assert not answer.errors, answer.errors
    pages = [author["books"] for author in answer.data["authors"]]
    return [(len(page["edges"]), page["pageInfo"]["hasNextPage"]) for page in pages]


found = ask(""), ask("(first: 2)")
print(found)
assert found == ([(5, False)] * 3, [(2, True), (0, False), (0, False)]), found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
