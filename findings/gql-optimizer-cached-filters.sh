#!/usr/bin/env bash
# gql-optimizer: with its cache, a list for one author has the books of the author before.
#
# Guessed before: the key of a cached list holds the values of the filter, and the order.
# What happens: the filter stands in the key as SQLAlchemy prints it, with `:author_1` in the place of
# the value, and the order is not in it. For a minute `books(author: "Ann")` answers what was asked
# for Bob, and books sorted by price come sorted by id. No error; without `cache=True` all
# lists are right.
# Versions: gql-optimizer 1.0.1, strawberry-graphql 0.341.2, SQLAlchemy 2.1.9, graphql-core 3.3.2,
# Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet gql-optimizer==1.0.1 strawberry-graphql==0.341.2 \
  SQLAlchemy==2.1.9 graphql-core==3.3.2 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import strawberry
from gql_optimizer import QueryOptimizer
from sqlalchemy import create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column


class Base(DeclarativeBase):
    pass


class Row(Base):
    __tablename__ = "book"
    id: Mapped[int] = mapped_column(primary_key=True)
    author: Mapped[str]
    price: Mapped[int]


engine = create_engine("sqlite://")
Base.metadata.create_all(engine)
session = Session(engine)
session.add_all([Row(author="Bob", price=3), Row(author="Ann", price=2), Row(author="Ann", price=1)])
session.commit()


@strawberry.type
class Book:
    id: int
    author: str
    price: int


@strawberry.type
class Query:
    @strawberry.field
    def books(
        self, info: strawberry.Info, author: str | None = None, sort: str = "id", cache: bool = True
    ) -> list[Book]:
        optimizer = QueryOptimizer(info, Row, session, cache=cache)
        chosen = None if author is None else Row.author == author
        return optimizer.get_many(chosen, order_by=getattr(Row, sort), order_direction="asc")


schema = strawberry.Schema(Query)


def ask(arguments: str) -> list[int]:
    answer = schema.execute_sync("{ books(%s) { id author price } }" % arguments)
    assert not answer.errors, answer.errors
    return [book["id"] for book in answer.data["books"]]


found = [ask('author: "%s", cache: %s' % it) for it in (("Bob", "false"), ("Ann", "false"))]
print(found)
assert found == [[1], [2, 3]], found
found = [ask('author: "%s"' % name) for name in ("Bob", "Ann")]
print(found)
assert found == [[1], [1]], found
found = [ask(it) for it in ('sort: "price", cache: false', 'sort: "id"', 'sort: "price"')]
print(found)
assert found == [[3, 2, 1], [1, 2, 3], [1, 2, 3]], found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
