#!/usr/bin/env bash
# BerryQL on SQLite: a price is rounded to 15 digits in a list of a row, and is not at the top.
#
# One would expect: the same row has the same values wherever it stands in an answer.
# What happens: the rows of a relation come as one JSON text from the database, and SQLite writes
# numbers in JSON with 15 digits. 12345678901234.5678 comes as 12345678901234.6 among the orders of
# a shop, and as 12345678901234.568 among all orders. Nothing says so.
# Versions: berryql 0.5.10, strawberry-graphql 0.341.2, SQLAlchemy 2.1.9, aiosqlite 0.22.1,
# graphql-core 3.3.2, greenlet 3.5.6, SQLite 3.40.1, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet berryql==0.5.10 strawberry-graphql==0.341.2 \
  SQLAlchemy==2.1.9 aiosqlite==0.22.1 graphql-core==3.3.2 greenlet==3.5.6 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import asyncio
from decimal import Decimal

from berryql import BerrySchema, BerryType, field, relation
from sqlalchemy import ForeignKey, Numeric
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


class Base(DeclarativeBase):
    pass


class Shop(Base):
    __tablename__ = "shops"
    id: Mapped[int] = mapped_column(primary_key=True)
    orders: Mapped[list["Order"]] = relationship(back_populates="shop")


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    shop_id: Mapped[int] = mapped_column(ForeignKey("shops.id"))
    shop: Mapped[Shop] = relationship(back_populates="orders")
    price: Mapped[Decimal] = mapped_column(Numeric(20, 4))


berry = BerrySchema()


@berry.type(model=Order)
class OrderQL(BerryType):
    id = field()
    price = field()


@berry.type(model=Shop)
class ShopQL(BerryType):
    id = field()
    orders = relation("OrderQL")


@berry.query()
class Query:
    shops = relation("ShopQL")
    orders = relation("OrderQL")


async def ask() -> list:
    engine = create_async_engine("sqlite+aiosqlite://")
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    async with AsyncSession(engine) as session:
        session.add(Shop(orders=[Order(price=Decimal("12345678901234.5678"))]))
        await session.commit()
        schema = berry.to_strawberry()
        found = []
        for query in ("{ orders { price } }", "{ shops { orders { price } } }"):
            answer = await schema.execute(query, context_value={"db_session": session})
            assert not answer.errors, answer.errors
            data = answer.data
            rows = data["orders"] if "orders" in data else data["shops"][0]["orders"]
            found.append(rows[0]["price"])
    await engine.dispose()
    return found


found = asyncio.run(ask())
print(found)
assert found == [12345678901234.568, 12345678901234.6], found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
