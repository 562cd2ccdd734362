#!/usr/bin/env bash
# FraiseQL: the largest numbers are those with the largest first digit.
#
# Guessed before: `orderBy: {stock: DESC}, limit: 2` are the two rows with the largest stock, since
# `stock` is an Int.
# What happens: rows are sorted by `data ->> 'stock'`, a text. Of 5, 40, 99, 100 and 1200 the two
# largest are 99 and 5, and `ASC` begins with 100. A filter compares numbers: `stock: {gt: 50}` has
# three rows. `offset` without `limit` is ignored: the rows that were read come again.
# Versions: fraiseql 0.5.3 (the last before 2.0 for Python 3.11), graphql-core 3.2.6, psycopg 3.3.9,
# fastapi 0.165.0, httpx 0.28.1, pgserver 0.1.4 (Postgres 16), Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet fraiseql==0.5.3 graphql-core==3.2.6 psycopg==3.3.9 fastapi==0.165.0 \
  httpx==0.28.1 pgserver==0.1.4 2>/dev/null
cat >run.py <<'PYTHON'
import logging
import pathlib

import fraiseql
import pgserver
import psycopg
from fastapi.testclient import TestClient
from fraiseql.fastapi import create_fraiseql_app
from fraiseql.sql import create_graphql_order_by_input, create_graphql_where_input

logging.disable(logging.WARNING)
server = pgserver.get_server(pathlib.Path("data").resolve())
with psycopg.connect(server.get_uri()) as connection:
    connection.execute("CREATE TABLE item (id int, stock int)")
    connection.execute("INSERT INTO item VALUES (1, 5), (2, 40), (3, 99), (4, 100), (5, 1200)")
    connection.execute(
        "CREATE VIEW v_item AS SELECT id, jsonb_build_object('id', id, 'stock', stock) AS data"
        " FROM item ORDER BY id"
    )


@fraiseql.type(sql_source="v_item")
class Item:
    id: int
    stock: int


Where = create_graphql_where_input(Item)
OrderBy = create_graphql_order_by_input(Item)


async def items(
    info,
    limit: int | None = None,
    offset: int | None = None,
    where: Where | None = None,
    order_by: OrderBy | None = None,
) -> list[Item]:
    database = info.context["db"]
    return await database.find(
        "v_item", limit=limit, offset=offset, where=where, order_by=order_by
    )


app = create_fraiseql_app(database_url=server.get_uri(), types=[Item], queries=[items])
with TestClient(app) as client:

    def ask(arguments: str) -> list:
        query = "{ items(%s) { stock } }" % arguments
        answer = client.post("/graphql", json={"query": query}).json()
        assert "errors" not in answer, answer
        return [row["stock"] for row in answer["data"]["items"]]

    largest = ask("orderBy: {stock: DESC}, limit: 2")
    ascending = ask("orderBy: {stock: ASC}")
    filtered = ask("where: {stock: {gt: 50}}")
    behind = ask("offset: 4"), ask("offset: 4, limit: 5")
server.cleanup()
print(largest, ascending, filtered, behind)
assert largest == [99, 5], largest
assert ascending == [100, 1200, 40, 5, 99], ascending
assert sorted(filtered) == [99, 100, 1200], filtered
assert behind == ([5, 40, 99, 100, 1200], [1200]), behind
PYTHON
venv/bin/python run.py
