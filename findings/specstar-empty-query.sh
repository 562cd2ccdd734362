#!/usr/bin/env bash
# specstar: `query: {}` returns ten rows of a list that has all of them without `query`.
#
# One would expect: an empty object restricts nothing, `{limit: 0}` gives no row, and `{offset: 3}`
# leaves out three rows.
# What happens: `limit` has the default 10 inside the object, while a list without the object has no
# limit. `{offset: 3}` therefore returns ten rows and no sign of the others; `{limit: 0}` returns
# all rows.
# Versions: specstar 0.12.3, strawberry-graphql 0.341.2, graphql-core 3.3.2, msgspec 0.23.0,
# Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet specstar==0.12.3 strawberry-graphql==0.341.2 \
  graphql-core==3.3.2 msgspec==0.23.0 httpx==0.28.1 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import datetime as dt

from fastapi import FastAPI
from fastapi.testclient import TestClient
from msgspec import Struct
from specstar import SpecStar
from specstar.crud.route_templates.graphql import GraphQLRouteTemplate


class Book(Struct):
    number: int


app, star = FastAPI(), SpecStar()
star.add_route_template(GraphQLRouteTemplate())
star.add_model(Book)
star.apply(app)
manager = star.get_resource_manager(Book)
with manager.using("me", dt.datetime(2026, 1, 1, tzinfo=dt.UTC)):
    for number in range(25):
        manager.create(Book(number))
client = TestClient(app)


def count(arguments: str) -> int:
    query = "{ book_list%s { data { number } } }" % arguments
    answer = client.post("/graphql", json={"query": query})
    return len(answer.json()["data"]["book_list"])


texts = ("", "(query: {})", "(query: {offset: 3})", "(query: {limit: 0})", "(query: {limit: 20})")
found = [count(text) for text in texts]
print(found)
assert found == [25, 10, 10, 25, 20], found
PYTHON
"$folder/venv/bin/python" -W ignore "$folder/run.py"
