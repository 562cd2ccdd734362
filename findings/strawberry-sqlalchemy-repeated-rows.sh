#!/usr/bin/env bash
# strawberry-sqlalchemy-mapper: from the third page on, a page begins with the row before it.
#
# One would expect: the pages of an author's books join, as `after` is the cursor of the last book
# of the page before.
# What happens: the second page follows the first, but its cursors begin with that of the first
# page's last book, so they are one too small, and the third page repeats the last book of the
# second. 25 books in pages of 10 come as 26. No error, and hasNextPage is right.
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
    books: Mapped[list["Book"]] = relationship(back_populates="author", order_by="Book.id")


class Book(Base):
    __tablename__ = "books"
    id: Mapped[int] = mapped_column(primary_key=True)
    author_id: Mapped[int] = mapped_column(ForeignKey("authors.id"))
    author: Mapped[Author] = relationship(back_populates="books")


engine = create_engine("sqlite://", poolclass=StaticPool)
Base.metadata.create_all(engine)
session = Session(engine)
session.add(Author(books=[Book() for _ in range(25)]))
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
    def author(self) -> AuthorType:
        return session.query(Author).one()


schema = strawberry.Schema(Query)


def ask(after: str) -> dict:
    page = "first: 10" + (f', after: "{after}"' if after else "")
    query = "{ author { books(%s) { edges { node { id } } pageInfo { hasNextPage endCursor } } } }"
    context = {"sqlalchemy_loader": StrawberrySQLAlchemyLoader(bind=session)}
    answer = asyncio.run(schema.execute(query % page, context_value=context))
    assert not answer.errors, answer.errors
    return answer.data["author"]["books"]


found, cursor = [], ""
while cursor is not None:
    books = ask(cursor)
    found.append([edge["node"]["id"] for edge in books["edges"]])
    cursor = books["pageInfo"]["endCursor"] if books["pageInfo"]["hasNextPage"] else None
print([(page[0], page[-1]) for page in found])
assert found == [[*range(1, 11)], [*range(11, 21)], [*range(20, 26)]], found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
