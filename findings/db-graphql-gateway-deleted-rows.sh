#!/usr/bin/env bash
# db-graphql-gateway: the list and the connection of a table have different rows; no count is given.
#
# One would expect: `books` and `books_connection`, which are made of the same table, have the same
# rows, and `total_count` of a connection is their number.
# What happens: of a table with a column `deleted_at` the list leaves out the rows that have a value
# there, though nothing in the schema says so, and there is no argument to get them. The connection
# has them, and so have the lists in rows: an author has three books, and `books` knows one of them.
# Who counts books in two ways gets two answers. `total_count` is null in each connection.
# Versions: db-graphql-gateway 0.3.2, strawberry-graphql 0.341.2, aiosqlite 0.22.1, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet db-graphql-gateway==0.3.2 strawberry-graphql==0.341.2 \
  aiosqlite==0.22.1 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import asyncio
import sqlite3
import sys

from db_graphql_gateway.database.adapters.sqlite.adapter import SQLiteAdapter
from db_graphql_gateway.graphql.builder import GraphQLSchemaBuilder
from db_graphql_gateway.schema.config import GatewayConfig
from db_graphql_gateway.schema.ir.builder import IRBuilder

path = sys.argv[1]
with sqlite3.connect(path) as database:
    database.executescript("""
        create table author (id integer primary key);
        create table book (
            id integer primary key,
            author_id integer references author (id),
            deleted_at timestamp
        );
        insert into author values (1);
        insert into book values (1, 1, '2020-01-01 00:00:00'), (2, 1, null),
            (3, 1, '2020-01-01 00:00:00');
    """)
text = """{
    books { id }
    books_connection { total_count edges { node { id } } }
    authors { books { id } }
}"""


async def ask() -> dict:
    adapter = SQLiteAdapter(path)
    await adapter.connect()
    try:
        tables = await adapter.inspector().discover_schema()
        types = IRBuilder(adapter.type_mapper()).build(tables, GatewayConfig())
        schema = GraphQLSchemaBuilder(adapter).build(types, tables)
        answer = await schema.execute(text, context_value={})
        assert not answer.errors, answer.errors
        return answer.data
    finally:
        await adapter.close()


data = asyncio.run(ask())
print(data)
rows = [{"id": number} for number in (1, 2, 3)]
connection = {"total_count": None, "edges": [{"node": row} for row in rows]}
expected = {"books": rows[1:2], "books_connection": connection, "authors": [{"books": rows}]}
assert data == expected, data
PYTHON
"$folder/venv/bin/python" "$folder/run.py" "$folder/books.sqlite"
