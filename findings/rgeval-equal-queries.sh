#!/usr/bin/env bash
# RGEval: queries for other fields, other types and other rows are scored as the same query.
#
# Guessed before: `score_pair` is true for a query that is written in another way, and false for one
# that has another answer.
# What happens: where a field stands is not compared. The names of the friends with the ids of the
# users equal the ids of the friends with the names of the users; friends of friends equal friends.
# The names of dogs equal those of users, and a query without the dogs equals one with them. The
# default of the variable behind `first:` is not read. Each of these pairs brings other data, and a
# benchmark counts the generated query as right. A literal 2 for 1 and a missing field are seen.
# Versions: rgeval 0.1.0, graphql-core 3.2.14, networkx 2.8.8, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet rgeval==0.1.0 graphql-core==3.2.14 networkx==2.8.8 \
  2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import logging

from graphql import build_schema, parse, validate
from rgeval import score_pair

logging.disable(logging.CRITICAL)
schema = """
type Query { users(first: Int): [User!]!  pets: [Pet!]! }
type User { id: ID!  name: String!  friends: [User!]! }
type Dog { id: ID!  name: String! }
union Pet = User | Dog
"""
pairs = [
    ("{ users(first: 1) { id } }", "{ users(first: 2) { id } }", False),
    ("{ users { id name } }", "{ users { id } }", False),
    ("{ users { id friends { name } } }", "{ users { name friends { id } } }", True),
    ("{ users { friends { friends { id } } } }", "{ users { friends { id } } }", True),
    ("{ pets { ... on User { name } } }", "{ pets { ... on Dog { name } } }", True),
    (
        "{ pets { ... on User { name } ... on Dog { name } } }",
        "{ pets { ... on User { name } } }",
        True,
    ),
    (
        "query ($n: Int = 1) { users(first: $n) { id } }",
        "query ($n: Int = 2) { users(first: $n) { id } }",
        True,
    ),
]
for gold, generated, expected in pairs:
    for query in (gold, generated):
        assert not validate(build_schema(schema), parse(query)), query
    found = score_pair(schema, gold, generated)
    print(found, gold, generated)
    assert found is expected, (gold, generated, found)
PYTHON
cd "$folder"
"$folder/venv/bin/python" "$folder/run.py"
