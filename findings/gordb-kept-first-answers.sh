#!/usr/bin/env bash
# GoRDB: rows that are added after the first query are never in an answer.
#
# Guessed before: each query reads the tables, as the examples of the read me run one SELECT each.
# What happens: the batch loaders hang on the classes of the tables, one for each key and filter, and
# keep what they loaded as long as the process runs. The second query sends no SELECT: a row that was
# added is missing, one that was deleted is there, and a changed name is the old one; so in lists
# inside rows. The same filter with one more space is another loader, and has the new rows.
# Versions: GoRDB 6.3, strawberry-graphql 0.84.4, graphql-core 3.1.7, Python 3.11, SQLite.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet GoRDB==6.3 strawberry-graphql==0.84.4 \
  graphql-core==3.1.7 networkx==3.4.2 pyvis==0.3.2 ipython==8.12.3 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import asyncio
import sqlite3

from GoRDB import GoRDB

database = sqlite3.connect(":memory:")
database.execute("CREATE TABLE users (id INTEGER, name TEXT)")
database.execute("CREATE TABLE orders (user_id INTEGER, title TEXT)")
for number in range(1, 138):
    database.execute("INSERT INTO users VALUES (?, ?)", (number, f"user {number}"))
    database.execute("INSERT INTO orders VALUES (?, ?)", (number, f"order {number}"))
statements = []


def run_select(connection: str, statement: str) -> list:
    statements.append(statement)
    return database.execute(statement).fetchall()


users = {
    "node_alias": "User",
    "tbl_name": "users",
    "features": [
        {"feature_alias": "ID", "feature_name_in_table": "id", "feature_type": int},
        {"feature_alias": "NAME", "feature_name_in_table": "name"},
    ],
    "edges": [
        {
            "edge_alias": "orders",
            "node_feature_alias": "ID",
            "foreign_node_alias": "Order",
            "foreignNode_feature_alias": "USER",
            "many_mapping": True,
        }
    ],
}
orders = {
    "node_alias": "Order",
    "tbl_name": "orders",
    "features": [
        {"feature_alias": "USER", "feature_name_in_table": "user_id", "feature_type": int},
        {"feature_alias": "TITLE", "feature_name_in_table": "title"},
    ],
    "edges": [],
}
for table in (users, orders):
    table.update(tbl_connection_id="db", query_executor=run_select)
schema, _ = GoRDB.build_scheme_from_node_dict([users, orders])


async def ask(arguments: str = "") -> list:
    answer = await schema.execute("{ User%s { ID NAME orders { TITLE } } }" % arguments)
    assert not answer.errors, answer.errors
    return answer.data["User"]


async def main() -> None:
    first = await ask()
    sent = len(statements)
    database.execute("INSERT INTO users VALUES (138, 'user 138')")
    database.execute("INSERT INTO orders VALUES (1, 'late order')")
    database.execute("UPDATE users SET name = 'renamed' WHERE id = 1")
    database.execute("DELETE FROM users WHERE id = 2")
    second = await ask()
    filtered = await ask('(filterStr: " ID > 0 ")')
    print(len(first), len(second), second[:2], len(statements) - sent, len(filtered), filtered[0])
    assert sent == 2 and second == first, (sent, second)
    assert len(second) == 137 and second[0]["NAME"] == "user 1" and second[1]["ID"] == 2, second
    assert len(filtered) == 137 and filtered[-1]["ID"] == 138, filtered
    assert filtered[0]["NAME"] == "renamed" and len(filtered[0]["orders"]) == 1, filtered[0]


asyncio.run(main())
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
