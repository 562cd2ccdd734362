#!/usr/bin/env bash
# gql: parsed answers lose the fields of an object that is selected in two places.
#
# Guessed before: `parse_results` gives the answer with its scalars read; where a field stands both
# in the query and in a fragment, the two selections are one, as the server merges them.
# What happens: the object has the fields of the last place alone; `id` below is in the answer and
# gone from the result, without an error. Without `parse_results`, the default, results are
# complete.
# Versions: gql 4.4.0, graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet gql==4.4.0 graphql-core==3.3.2 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
from gql import Client, gql
from graphql import build_schema

schema = build_schema("""
  type Team { id: ID name: String }
  type Row { team: Team number: Int }
  type Query { row: Row }
""")
root = {"row": {"team": {"id": "1", "name": "blue"}, "number": 7}}
queries = [
    "{ row { team { id } team { name } } }",
    "{ row { team { id } ...Names } } fragment Names on Row { team { name } }",
    "{ row { number } ...Teams } fragment Teams on Query { row { team { name } } }",
]
found = []
for parse_results in (False, True):
    client = Client(schema=schema, parse_results=parse_results)
    found.append([client.execute(gql(query), root_value=root)["row"] for query in queries])
print(*found, sep="\n")
team, name = root["row"]["team"], {"name": "blue"}
assert found == [
    [{"team": team}, {"team": team}, {"number": 7, "team": name}],
    [{"team": name}, {"team": name}, {"team": name}],
], found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
