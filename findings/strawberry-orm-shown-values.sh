#!/usr/bin/env bash
# strawberry-orm: filters do not find the times and the enum values that the lists show.
#
# Guessed before: a value of the answer, given back to the filter of its field, finds its row.
# What happens: with SQLAlchemy on SQLite a time goes to the database as the text that came, with
# "T" where the stored one has a blank. No row is equal, none of the same day is later, and all of
# it are earlier than its first minute. A column of an enum is `String`, shown as "Grade.MID", and
# "MID" finds it. `Mapped[float]`, a DOUBLE since SQLAlchemy 2.1, is `String`, too: "0.5".
# Versions: strawberry-orm 0.24.0, strawberry-graphql 0.330.0, SQLAlchemy 2.1.9,
# graphql-core 3.3.2, Python 3.12.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
PYENV_VERSION=3.12 python3.12 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet strawberry-orm==0.24.0 strawberry-graphql==0.330.0 \
  SQLAlchemy==2.1.9 greenlet graphql-core==3.3.2 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import enum
from datetime import datetime

import strawberry
from sqlalchemy import create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from strawberry_orm import StrawberryORM, auto


class Grade(enum.Enum):
    LOW = "low"
    MID = "mid"


class Base(DeclarativeBase):
    pass


class Item(Base):
    __tablename__ = "item"
    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    grade: Mapped[Grade]
    score: Mapped[float]


engine = create_engine("sqlite://")
Base.metadata.create_all(engine)
session = Session(engine)
session.add(Item(at=datetime(2024, 1, 1, 12, 30), grade=Grade.MID, score=0.5))
session.commit()
orm = StrawberryORM.for_sqlalchemy(
    dialect="sqlite", session_getter=lambda _info: session, warn_missing_scope=False
)
ItemFilter = orm.filter(Item)


@orm.type(Item)
class ItemType:
    id: auto
    at: auto
    grade: auto
    score: auto


@strawberry.type
class Query:
    items: list[ItemType] = orm.field.eager(filters=ItemFilter)


schema = orm.schema(query=Query)


def ask(condition: str) -> list:
    chosen = "(filter: {field: {%s}})" % condition if condition else ""
    answer = schema.execute_sync("{ items%s { at grade score } }" % chosen)
    assert not answer.errors, answer.errors
    return answer.data["items"]


shown = ask("")
print(shown)
assert shown == [{"at": "2024-01-01T12:30:00", "grade": "Grade.MID", "score": "0.5"}], shown
found = {
    condition: len(ask(condition))
    for condition in (
        'at: {exact: "2024-01-01T12:30:00"}',
        'at: {gt: "2024-01-01T00:00:00"}',
        'at: {lt: "2024-01-01T00:00:00"}',
        'at: {gt: "2023-12-31T00:00:00"}',
        'grade: {exact: "MID"}',
        'score: {exact: "0.5"}',
    )
}
print(found)
assert list(found.values()) == [0, 0, 1, 1, 1, 1], found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
