#!/usr/bin/env bash
# cuckoo-hasura: an error of Hasura is an empty list, in the plain call alone.
#
# Guessed before: where Hasura answers `errors` with status 200, as for a column that the role may
# not read, `Query(Model).many().returning()` raises HasuraServerError.
# What happens: the plain call reads the answer as a stream, and takes what stands at the path of
# the rows. In an answer with `errors` nothing does, so that the result is [], as if the table had no
# such rows. `returning_async`, `aggregate` and a batch raise for the same answer. The fraction 0.1
# of a model without types is Decimal in the plain call, and float in the others.
# Versions: cuckoo-hasura 0.2.0, httpx 0.28.1, pydantic 1.10.26, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet cuckoo-hasura==0.2.0 httpx==0.28.1 \
  pydantic==1.10.26 2>/dev/null
mkdir "$folder/public"  # the folder of a model names its schema
cat >"$folder/public/run.py" <<'PYTHON'
import asyncio
import json
import re
from typing import Any

import httpx
from cuckoo import Query
from cuckoo.errors import HasuraServerError
from cuckoo.models import HasuraTableModel


class Author(HasuraTableModel):
    _table_name = "authors"
    name: Any
    share: Any


failing = False
message = "field 'share' not found in type: 'authors'"


def answer(request: httpx.Request) -> httpx.Response:
    if failing:
        error = {"message": message, "extensions": {"code": "validation-failed"}}
        return httpx.Response(200, json={"errors": [error]})
    query = json.loads(request.content)["query"]
    alias = re.search(r"(\w+) *: *authors", query)[1]
    rows = [{"name": f"author {number}", "share": 0.1} for number in range(137)]
    return httpx.Response(200, json={"data": {alias: rows}})


transport = httpx.MockTransport(answer)
config = {"url": "http://hasura.example/v1/graphql", "headers": {}}


def read() -> list:
    with httpx.Client(transport=transport) as session:
        query = Query(Author, config=config, session=session).many()
        return query.returning(columns=["name", "share"])


async def read_async() -> list:
    async with httpx.AsyncClient(transport=transport) as session:
        query = Query(Author, config=config, session_async=session).many()
        return await query.returning_async(columns=["name", "share"])


def name_error(function: Any) -> Any:
    try:
        return function()
    except Exception as error:
        return type(error)


rows, rows_async = read(), asyncio.run(read_async())
types = type(rows[0].share).__name__, type(rows_async[0].share).__name__
failing = True
found = name_error(read), name_error(lambda: asyncio.run(read_async()))
print(len(rows), len(rows_async), types, found)
assert len(rows) == len(rows_async) == 137
assert types == ("Decimal", "float"), types
assert found == ([], HasuraServerError), found
PYTHON
"$folder/venv/bin/python" "$folder/public/run.py"
