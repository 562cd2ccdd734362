#!/usr/bin/env bash
# sqlalchemy-relay-pagination: a second selection of `pageInfo` says that no page follows.
#
# Guessed before: a field that is selected twice, as by a fragment and beside it, has the values
# that it has in one selection.
# What happens: `extract_requested_fields`, as its README calls it, reads the first selection of a
# connection and of `pageInfo` alone, and what is not in these is not computed. `hasNextPage` of a
# fragment, or of an alias, is then false on the first page of several, and where the rows are in
# the second selection, `edges` is empty beside a count of five.
# Versions: sqlalchemy-relay-pagination 0.1.0rc2, SQLAlchemy 2.1.9, aiosqlite 0.22.1,
# graphql-core 3.2.14, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet sqlalchemy-relay-pagination==0.1.0rc2 SQLAlchemy==2.1.9 \
  aiosqlite==0.22.1 greenlet graphql-core==3.2.14 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import asyncio

from graphql import build_schema, graphql
from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy_relay_pagination import paginate
from sqlalchemy_relay_pagination.graphql import extract_requested_fields


class Base(DeclarativeBase):
    pass


class User(Base):
    __tablename__ = "user"
    id: Mapped[int] = mapped_column(primary_key=True)


schema = build_schema("""
  type Query { users(first: Int, after: String): Users! }
  type Users { edges: [Edge!]! pageInfo: PageInfo! }
  type Edge { node: User! } type User { id: Int! }
  type PageInfo { hasNextPage: Boolean! endCursor: String totalCount: Int }
""")


class Root:
    def __init__(self, session):
        self.session = session

    async def users(self, info, **arguments):
        fields = extract_requested_fields(info)
        return await paginate(
            self.session, select(User), order_by=User.id, requested_fields=fields, **arguments
        )


ROWS = "edges { node { id } }"
MORE = "fragment More on Users { pageInfo { hasNextPage } }"
QUERIES = {
    "one": "{ users(first: 2) { %s pageInfo { endCursor hasNextPage } } }" % ROWS,
    "fragment": "{ users(first: 2) { %s pageInfo { endCursor } ...More } } %s" % (ROWS, MORE),
    "two": "{ users(first: 2) { pageInfo { totalCount } } users(first: 2) { %s } }" % ROWS,
}


async def ask() -> dict:
    engine = create_async_engine("sqlite+aiosqlite://")
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
        await connection.execute(insert(User), [{"id": number} for number in range(1, 6)])
    found = {}
    async with AsyncSession(engine) as session:
        for name, query in QUERIES.items():
            answer = await graphql(schema, query, Root(session))
            assert not answer.errors, answer.errors
            users = answer.data["users"]
            found[name] = [edge["node"]["id"] for edge in users["edges"]], users["pageInfo"]
    await engine.dispose()
    return found


found = asyncio.run(ask())
print(found)
assert found == {
    "one": ([1, 2], {"endCursor": "2", "hasNextPage": True}),
    "fragment": ([1, 2], {"endCursor": "2", "hasNextPage": False}),
    "two": ([], {"totalCount": 5}),
}, found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
