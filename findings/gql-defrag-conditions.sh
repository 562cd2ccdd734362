#!/usr/bin/env bash
# gql-defrag: a field that is selected twice, once under a condition, is gone where the condition fails.
#
# One would expect: a query without its fragments selects what it selected with them.
# What happens: `id` and `id @include(if: $all)` become one field with the directives of both. With
# `all: false` the first selection asks for the id, and the answer has none: rows lose their key. The
# condition of a fragment spread, `...More @include(if: $all)`, is dropped instead, so that its fields
# always come.
# Versions: gql-defrag 0.2.1, graphql-core 2.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet gql-defrag==0.2.1 graphql-core==2.3.2 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
from gql_defrag import Defragmenter
from graphql import build_ast_schema, graphql, parse

sdl = "schema { query: Query } type Query { user: User } type User { id: ID name: String mail: String }"
schema = build_ast_schema(parse(sdl))
spread = """query Users($all: Boolean!) {
  user { id name @skip(if: $all) ...More @include(if: $all) }
}
  fragment More on User { mail }"""
twice = "query Users($all: Boolean!) { user { id name id @include(if: $all) } }"
user = {"id": "1", "name": "Ann", "mail": "a@b.c"}


def ask(text: str) -> dict:
    answer = graphql(schema, text, {"user": user}, variables={"all": False})
    assert not answer.errors, answer.errors
    return dict(answer.data["user"])


found = []
for text in (spread, twice):
    flat = Defragmenter([text]).defragment("Users", add_source=False)
    found.append((ask(text), ask(flat)))
    print(*found[-1])
assert found[0] == ({"id": "1", "name": "Ann"}, user), found[0]
assert found[1] == ({"id": "1", "name": "Ann"}, {"name": "Ann"}), found[1]
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
