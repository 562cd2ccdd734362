#!/usr/bin/env bash
# LazyQL: the fields of a fragment have the defaults of the model, and `createdAt` is now.
#
# Guessed before: rows have the stored values, whether a field is selected directly or in a
# fragment, and `createdAt` is the stored time.
# What happens: the names in the query are the projection for MongoDB. Those in a fragment, or in
# an inline one beside a field, are not read, and pydantic fills in defaults: "user" for the role
# "admin", [] for ["x"], null for 5. `createdAt` is stored as `created_at`, is not found, and has
# the time of the query. `limit: 0` brings all rows, as in MongoDB.
# Versions: lazyql 0.1.15, strawberry-graphql 0.287.4, mongomock-motor 0.0.36, pymongo 4.20.1,
# graphql-core 3.2.14, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet lazyql==0.1.15 strawberry-graphql==0.287.4 \
  mongomock-motor==0.0.36 pymongo==4.20.1 graphql-core==3.2.14 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import asyncio
from datetime import datetime

import strawberry
from lazyql import BaseDBModel, create_crud_api
from mongomock_motor import AsyncMongoMockClient


class User(BaseDBModel):
    name: str
    role: str = "user"
    age: int | None = None
    tags: list[str] = []


Query, Mutation = create_crud_api(model=User, collection_name="users")
schema = strawberry.Schema(query=Query, mutation=Mutation)


async def ask() -> dict:
    database = AsyncMongoMockClient().test

    async def execute(query: str) -> dict:
        answer = await schema.execute(query, context_value={"db": database})
        assert not answer.errors, answer.errors
        return answer.data

    for name in ("Ann", "Bob"):
        values = '{name: "%s", role: "admin", age: 5, tags: ["x"]}' % name
        await execute("mutation { createUser(input: %s) { name } }" % values)
    await database.users.update_many({}, {"$set": {"created_at": datetime(2024, 1, 1)}})
    fields = "role age tags"
    queries = {
        "plain": "{ Users(limit: 1) { %s } }" % fields,
        "named": "{ Users(limit: 1) { ...Rest } } fragment Rest on UserOutput { %s }" % fields,
        "inline": "{ Users(limit: 1) { name ... on UserOutput { %s } } }" % fields,
    }
    found = {name: (await execute(query))["Users"][0] for name, query in queries.items()}
    found["rows"] = len((await execute("{ Users(limit: 0) { name } }"))["Users"])
    (row,) = (await execute("{ Users(limit: 1) { createdAt } }"))["Users"]
    found["year"] = row["createdAt"][:4]
    return found


found = asyncio.run(ask())
print(found)
found["inline"].pop("name")
stored = {"role": "admin", "age": 5, "tags": ["x"]}
defaults = {"role": "user", "age": None, "tags": []}
assert (found["plain"], found["named"], found["inline"]) == (stored, defaults, defaults), found
assert found["rows"] == 2, found
assert found["year"] == str(datetime.now().year), found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
