#!/usr/bin/env bash
# nabu-forge: fields that a fragment selects are requested and lost, and an update erases the rest.
#
# Guessed before: the generated client gives what the query selects, as its type checks promise, and
# an input has the members that are given.
# What happens: `... on User { name }` in a list of users becomes a field `user`, which is None in
# each row; `...Parts` on `User` in an interface becomes nothing. Both times the name is in the
# answer, and not in the result. The inputs are written with all their members: a patch of the name
# alone sends `email: null`, and the e-mail address is gone. A variable with a default is sent as
# null, too: `$first: Int = 1` brings all rows.
# Versions: nabu-forge 1.0.0, graphql-core 3.2.14, httpx 0.28.1, pydantic 2.14.4, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet nabu-forge==1.0.0 graphql-core==3.2.14 httpx==0.28.1 \
  pydantic==2.14.4 2>/dev/null
cd "$folder"
mkdir operations
cat >nabu.toml <<'TOML'
schema = "schema.graphqls"
operations = "operations/"
output = "client"
TOML
cat >schema.graphqls <<'GRAPHQL'
type Query { users(first: Int): [User!]!  node: Node }
type Mutation { update(patch: Patch!): User! }
interface Node { id: ID! }
type User implements Node { id: ID!  name: String  email: String }
input Patch { name: String  email: String }
GRAPHQL
cat >operations/all.graphql <<'GRAPHQL'
query Plain { users { id name } }
query Inline { users { id ... on User { name } } }
query Named { node { id ...Parts } }
fragment Parts on User { name }
query Default($first: Int = 1) { users(first: $first) { id } }
mutation Update($patch: Patch!) { update(patch: $patch) { name email } }
GRAPHQL
venv/bin/nabu generate --config nabu.toml >/dev/null
cat >run.py <<'PYTHON'
import asyncio
import json
from pathlib import Path

import httpx
from graphql import build_schema, graphql_sync
from client.client import Client
from client.inputs import Patch

ann = {"__typename": "User", "id": "1", "name": "Ann", "email": "ann@example.com"}
bob = {"__typename": "User", "id": "2", "name": "Bob", "email": "bob@example.com"}


class Root:
    node = ann

    def users(self, info: object, first: int | None = None) -> list:
        return [ann, bob][:first]

    def update(self, info: object, patch: dict) -> dict:
        return ann | patch


schema = build_schema(Path("schema.graphqls").read_text())
answers = []


def respond(request: httpx.Request) -> httpx.Response:
    body = json.loads(request.content)
    result = graphql_sync(schema, body["query"], Root(), variable_values=body["variables"])
    answers.append(result.data)
    return httpx.Response(200, json=result.formatted)


async def ask() -> list:
    client = Client("http://example.com/graphql")
    client._transport._client = httpx.AsyncClient(transport=httpx.MockTransport(respond))
    return [
        await client.plain(),
        await client.inline(),
        await client.named(),
        await client.default(),
        await client.update(patch=Patch(name="Anna")),
    ]


plain, inline, named, default, update = [result.model_dump() for result in asyncio.run(ask())]
for answer, result in zip(answers, [plain, inline, named, default, update], strict=True):
    print(answer, result)
assert plain["users"][0] == {"id": "1", "name": "Ann"}, plain
assert answers[1]["users"][0]["name"] == "Ann", answers
assert inline["users"] == [{"id": "1", "user": None}, {"id": "2", "user": None}], inline
assert answers[2]["node"]["name"] == "Ann", answers
assert named["node"] == {"id": "1"}, named
assert len(default["users"]) == 2, default
assert update["update"] == {"name": "Anna", "email": None}, update
PYTHON
venv/bin/python run.py
