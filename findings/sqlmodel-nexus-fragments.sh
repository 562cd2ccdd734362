#!/usr/bin/env bash
# sqlmodel-nexus: the same field has another value in a fragment than in the operation.
#
# One would expect: `{ books { ...F } }` with `fragment F on Book { price }` is `{ books { price } }`;
# a variable that is not given has its default.
# What happens: with a fragment each object has all its columns, and a decimal is the text "12.50"
# instead of the number 12.5. The default of a variable is not read: `limit: $n` with
# `$n: Int = 2` returns all rows. Both answers come without an error.
# Versions: sqlmodel-nexus 1.10.1, sqlmodel 0.0.50, SQLAlchemy 2.1.9, aiosqlite 0.22.1,
# fastapi 0.165.0, graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet sqlmodel-nexus==1.10.1 sqlmodel==0.0.50 SQLAlchemy==2.1.9 \
  aiosqlite==0.22.1 fastapi==0.165.0 graphql-core==3.3.2 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import asyncio
from decimal import Decimal

from fastapi.encoders import jsonable_encoder
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.pool import StaticPool
from sqlmodel import Field, SQLModel
from sqlmodel.ext.asyncio.session import AsyncSession
from sqlmodel_nexus import AutoQueryConfig, GraphQLHandler

engine = create_async_engine("sqlite+aiosqlite://", poolclass=StaticPool)
session = async_sessionmaker(engine, class_=AsyncSession, expire_on_commit=False)


class Book(SQLModel, table=True):
    id: int = Field(primary_key=True)
    price: Decimal = Field(max_digits=10, decimal_places=2)


async def main() -> list:
    async with engine.begin() as connection:
        await connection.run_sync(SQLModel.metadata.create_all)
    async with session() as open_session:
        open_session.add_all(Book(id=n, price=Decimal("12.50")) for n in (1, 2, 3))
        await open_session.commit()
    config = AutoQueryConfig(session_factory=session)
    handler = GraphQLHandler(base=SQLModel, session_factory=session, auto_query_config=config)
    texts = [
        "{ bookByFilter(limit: 1) { price } }",
        "{ bookByFilter(limit: 1) { ...F } } fragment F on Book { price }",
        "query ($n: Int = 2) { bookByFilter(limit: $n) { id } }",
    ]
    # As an endpoint of FastAPI, which the package is made for, sends them.
    answers = [jsonable_encoder(await handler.execute(text)) for text in texts]
    assert not any("errors" in answer for answer in answers), answers
    return [answer["data"]["bookByFilter"] for answer in answers]


found = asyncio.run(main())
print(found)
expected = [[{"price": 12.5}], [{"id": 1, "price": "12.50"}], [{"id": 1}, {"id": 2}, {"id": 3}]]
assert found == expected, found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
