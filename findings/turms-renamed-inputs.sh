#!/usr/bin/env bash
# turms: a value given for a renamed field of an input is ignored.
#
# Guessed before: a field `from`, a keyword of Python, is `from_` in the generated class, and what
# is given for it is sent as `from`.
# What happens: the class has the attribute `from_`, and its constructor takes `from` alone (by
# `**`): `Filter(from_="2026-01-01")` is a filter without conditions, and no error. Fields with
# other names are as guessed.
# Versions: turms 2.3.0, pydantic 2.14.4, graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet turms==2.3.0 pydantic==2.14.4 graphql-core==3.3.2 2>/dev/null
cat >schema.graphql <<'SDL'
input Filter { name: String from: String in: [Int!] }
type Query { rows(filter: Filter): [Int] }
SDL
echo 'query Rows($filter: Filter) { rows(filter: $filter) }' >query.graphql
cat >graphql.config.yaml <<'YAML'
projects:
  default:
    schema: schema.graphql
    documents: query.graphql
    extensions:
      turms:
        out_dir: generated
        plugins:
          - type: turms.plugins.inputs.InputsPlugin
          - type: turms.plugins.operations.OperationsPlugin
YAML
venv/bin/turms gen >/dev/null
cat >run.py <<'PYTHON'
from generated.schema import Filter

day = "2026-01-01"
found = [
    Filter(**arguments).model_dump(by_alias=True, exclude_none=True)
    for arguments in ({"name": "ann"}, {"from_": day}, {"from": day}, {"in_": [1]})
]
print(sorted(Filter.model_fields), found)
assert sorted(Filter.model_fields) == ["from_", "in_", "name"]
assert found == [{"name": "ann"}, {}, {"from": day}, {}], found
PYTHON
venv/bin/python run.py
