#!/usr/bin/env bash
# SQD's GraphQL server: `title_not: null` finds no row, and exact times that came find none.
#
# One would expect: in the dialect of The Graph `where: {title: null}` are the 2 rows without a
# title, as they are here, and `where: {title_not: null}` the 4 others; a time that came in a row
# finds this row.
# What happens: `title_not: null` finds nothing, without an error, as SQL's `<> NULL` does; so does
# `title_eq: null` for rows without a title in the other dialect, opencrud. A time comes with
# microseconds, but is cut to milliseconds in a filter: `made` finds no row, and `made_gt` of the
# last row that was read brings this row and those of the same millisecond again, so that reading on
# from there never gets past them.
# Versions: @subsquid/graphql-server 4.11.0 with @subsquid/openreader 5.3.0, graphql 15.11.0,
# pgserver 0.1.4 (Postgres 16), Node 20, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet pgserver==0.1.4 2>/dev/null
npm init -y >/dev/null
npm install --legacy-peer-deps --no-audit --no-fund --loglevel=error \
  @subsquid/graphql-server@4.11.0 @subsquid/openreader@5.3.0 @subsquid/big-decimal@1.0.0 \
  pg@8.23.1 graphql@15.11.0 >/dev/null
echo 'type Row @entity { id: ID! title: String made: DateTime }' >schema.graphql
cat >run.py <<'PYTHON'
import json
import os
import pathlib
import re
import subprocess
import urllib.request

import pgserver

database = pgserver.get_server(pathlib.Path("data"))
MADE = "2001-02-03T04:05:06.12345{}Z"


def start(dialect):
    command = ["node", "node_modules/.bin/squid-graphql-server", "--dialect", dialect]
    options = {"DB_HOST": os.path.abspath("data"), "DB_USER": "postgres", "DB_NAME": "postgres"}
    options |= {"DB_PASS": "none", "GQL_PORT": "0"}
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    server = subprocess.Popen(command, env=os.environ | options, **pipe)
    for line in server.stdout:
        if port := re.search(r"listening on port (\d+)", line):
            return server, int(port[1])
    raise SystemExit("no port")


def ask(port, where):
    source = f"{{ rows(where: {{{where}}}) {{ id made }} }}"
    body = json.dumps({"query": source}).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/graphql", body, headers)
    with urllib.request.urlopen(request) as answer:
        rows = json.load(answer)["data"]["rows"]
    return [int(row["id"]) for row in rows]


try:
    database.psql("create table row (id text primary key, title text, made timestamptz)")
    for number in range(1, 7):
        title = "null" if number % 3 == 0 else f"'T{number}'"
        database.psql(f"insert into row values ('{number}', {title}, '{MADE.format(number)}')")
    server, port = start("thegraph")
    try:
        print("all:", ask(port, ""))
        for where in ("title: null", "title_not: null", f'made: "{MADE.format(6)}"'):
            print(f"{where}:", ask(port, where))
        where = f'made_gt: "{MADE.format(6)}"'
        print(f"{where}:", ask(port, where))
    finally:
        server.terminate()
        server.wait()
    server, port = start("opencrud")
    try:
        for where in ("title_isNull: true", "title_eq: null"):
            print(f"{where}:", ask(port, where))
    finally:
        server.terminate()
        server.wait()
finally:
    database.cleanup()
PYTHON
found=$(venv/bin/python run.py 2>/dev/null)
echo "$found"
[ "$found" = 'all: [1, 2, 3, 4, 5, 6]
title: null: [3, 6]
title_not: null: []
made: "2001-02-03T04:05:06.123456Z": []
made_gt: "2001-02-03T04:05:06.123456Z": [1, 2, 3, 4, 5, 6]
title_isNull: true: [3, 6]
title_eq: null: []' ]
