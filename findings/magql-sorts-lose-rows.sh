#!/usr/bin/env bash
# magql-sqlalchemy: books in the order of their authors' names are fewer, and so is their count.
#
# Guessed before: rows with a null in the order of `sort` are there like any other, and `total` is
# right.
# What happens: the table that a dotted path names is joined with an inner join. The book without an
# author is gone, and `total` says 2 for 3. Authors by `books.title` are one row for each book.
# Versions: magql-sqlalchemy 1.1.0, magql 1.1.1, SQLAlchemy 2.1.9, graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet magql-sqlalchemy==1.1.0 magql==1.1.1 SQLAlchemy==2.1.9 \
  graphql-core==3.3.2 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import magql
from magql_sqlalchemy import ModelGroup
from sqlalchemy import ForeignKey, create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship


class Base(DeclarativeBase):
    pass


class Author(Base):
    __tablename__ = "author"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    books: Mapped[list["Book"]] = relationship(back_populates="author")


class Book(Base):
    __tablename__ = "book"
    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str]
    author_id: Mapped[int | None] = mapped_column(ForeignKey("author.id"))
    author: Mapped[Author | None] = relationship(back_populates="books")


engine = create_engine("sqlite://")
Base.metadata.create_all(engine)
session = Session(engine)
session.add(Author(name="Ann", books=[Book(title="One"), Book(title="Two")]))
session.add(Book(title="Three"))
session.commit()
schema = magql.Schema()
ModelGroup.from_declarative_base(Base).register(schema)


def ask(kind: str, sort: str, field: str) -> tuple:
    query = '{ rows: %s_list(sort: ["%s"]) { items { %s } total } }' % (kind, sort, field)
    answer = schema.execute(query, context={"sa_session": session})
    assert not answer.errors, answer.errors
    rows = answer.data["rows"]
    return [row[field] for row in rows["items"]], rows["total"]


found = ask("book", "id", "title")
print(found)
assert found == (["One", "Two", "Three"], 3), found
found = ask("book", "author.name", "title")
print(found)
assert found == (["One", "Two"], 2), found
found = ask("author", "books.title", "name")
print(found)
assert found == (["Ann", "Ann"], 2), found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
