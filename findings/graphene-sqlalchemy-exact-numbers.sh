#!/usr/bin/env bash
# graphene-sqlalchemy: 64-bit integers and exact decimals are answered as rounded floats.
#
# One would expect: BigInteger is a scalar of its own or text, and Numeric is graphene's Decimal,
# which is text; or integers beyond 32 bits are an error, as they are with the type Int.
# What happens: both columns have the type Float. An id of 2**60 + 1 comes as 2**60 and a price
# loses its last digits, without an error, so that two rows can get the same id.
# Versions: graphene-sqlalchemy 3.0.0rc2, graphene 3.4.3, SQLAlchemy 2.1.9, graphql-core 3.2.14,
# Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet graphene-sqlalchemy==3.0.0rc2 graphene==3.4.3 \
  "SQLAlchemy[asyncio]==2.1.9" graphql-core==3.2.14 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import decimal

import graphene
from graphene_sqlalchemy import SQLAlchemyObjectType
from sqlalchemy import BigInteger, Numeric
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    pass


class Row(Base):
    __tablename__ = "rows"
    number: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    price: Mapped[decimal.Decimal] = mapped_column(Numeric(30, 4))


class RowType(SQLAlchemyObjectType):
    class Meta:
        model = Row


class Query(graphene.ObjectType):
    rows = graphene.List(RowType)

    def resolve_rows(root, info):
        price = decimal.Decimal("10000000000000.0001")
        return [Row(number=2**60 + 1, price=price), Row(number=2**60, price=price)]


schema = graphene.Schema(query=Query)
fields = schema.graphql_schema.type_map["RowType"].fields
types = [str(fields[name].type) for name in ("number", "price")]
answer = schema.execute("{ rows { number price } }")
first, second = answer.data["rows"]
print(types, answer)
assert types == ["Float!", "Float!"], types
assert first == second == {"number": float(2**60), "price": 10000000000000.0}, (first, second)
assert not answer.errors, answer.errors
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
