#!/usr/bin/env bash
# graphql-sqlalchemy: `_is_null: false` keeps the rows that are null, and an object of two columns
# in `_or`, `_and` or `_not` filters by the first alone.
#
# One would expect: `_is_null: false` keeps the rows that are not null, and two columns in one
# object both have to fit, as they do at the top of `where`.
# What happens: `_is_null` is never read, so true and false keep the same rows. Inside `_or`, `_and`
# and `_not` the columns after the first are ignored, without an error. `limit: 0` is no limit.
# Versions: graphql-sqlalchemy 0.6.1, SQLAlchemy 1.4.54, graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet graphql-sqlalchemy==0.6.1 SQLAlchemy==1.4.54 \
  graphql-core==3.3.2 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
from graphql import graphql_sync
from graphql_sqlalchemy import build_schema
from sqlalchemy import Column, Float, Integer, String, create_engine
from sqlalchemy.orm import Session, declarative_base

Base = declarative_base()


class Author(Base):
    __tablename__ = "author"
    id = Column(Integer, primary_key=True)
    name = Column(String)
    ratio = Column(Float)


engine = create_engine("sqlite://")
Base.metadata.create_all(engine)
session = Session(engine)
for n in range(100):
    session.add(Author(id=n + 1, name=None if n % 50 == 0 else f"a{n}", ratio=n / 3))
session.commit()
schema = build_schema(Base)
both = "{id: {_lte: 10}, ratio: {_lt: 1}}"
expected = {
    "where: {name: {_is_null: true}}": 2,
    "where: {name: {_is_null: false}}": 2,
    f"where: {both}": 3,
    f"where: {{_and: [{both}]}}": 10,
    f"where: {{_or: [{both}]}}": 10,
    f"where: {{_not: {both}}}": 90,
    "limit: 5": 5,
    "limit: 0": 100,
}
found = {}
for arguments in expected:
    text = f"{{ author({arguments}) {{ id }} }}"
    result = graphql_sync(schema, text, context_value={"session": session})
    assert not result.errors, result.errors
    found[arguments] = len(result.data["author"])
    print(arguments, found[arguments])
assert found == expected, found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
