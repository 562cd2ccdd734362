#!/usr/bin/env bash
# datasette-graphql: columns declared as date, timestamp, boolean or json have the type Float.
#
# Guessed before: SQLite keeps such values as text or integers, so their GraphQL type is String or
# Int, or a scalar of its own.
# What happens: the schema says Float for all of them. A date is then no valid value: it comes as
# null with an error for each row, in an answer with status 500 whose other columns are right; a
# boolean comes as 1.0. An integer above 32 bits is Int, and null with an error, too.
# Versions: datasette 0.65.5, datasette-graphql 2.2, graphql-core 3.2.14, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet datasette==0.65.5 datasette-graphql==2.2 \
  graphql-core==3.2.14 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import asyncio
import sqlite3
import sys
from pathlib import Path

from datasette.app import Datasette

QUERY = """{
  __type(name: "runs") { fields { name type { name } } }
  runs(first: 1) { nodes { name day at done big } }
}"""


async def ask(path):
    datasette = Datasette([str(path)])
    await datasette.invoke_startup()
    answer = await datasette.client.post("/graphql", json={"query": QUERY})
    return answer.status_code, answer.json()


path = Path(sys.argv[1]) / "runs.db"
with sqlite3.connect(path) as database:
    columns = "id integer primary key, name text, day date, at timestamp, done boolean, big integer"
    database.execute(f"create table runs ({columns})")
    row = (1, "first", "2026-01-02", "2026-01-02T03:04:05", True, 2**40)
    database.execute("insert into runs values (?, ?, ?, ?, ?, ?)", row)
status, answer = asyncio.run(ask(path))
types = {field["name"]: field["type"]["name"] for field in answer["data"]["__type"]["fields"]}
found = status, {name: types[name] for name in ("day", "at", "done", "big")}, len(answer["errors"])
print(found, answer["data"]["runs"]["nodes"])
types = {"day": "Float", "at": "Float", "done": "Float", "big": "Int"}
nodes = [{"name": "first", "day": None, "at": None, "done": 1.0, "big": None}]
raise SystemExit(found != (500, types, 3) or answer["data"]["runs"]["nodes"] != nodes)
PYTHON
"$folder/venv/bin/python" "$folder/run.py" "$folder"
