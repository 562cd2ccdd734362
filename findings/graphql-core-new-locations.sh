#!/usr/bin/env bash
# graphql-core: versions up to 3.2.8 read no schema of a server with 3.3.
#
# One would expect: introspection carries what a client does not know, as for a directive whose
# locations have a name newer than the client; graphql-js reads such a schema.
# What happens: the server's own `@deprecated` has the location DIRECTIVE_DEFINITION, and an older
# `build_client_schema` raises a TypeError for it. Clients and generators that pin such a
# version (gql-schema-codegen needs 3.2.0) get no schema from any server with graphql-core 3.3; its
# SDL, which leaves out the directives of the specification, is read. 3.2.14 knows the name, and
# fails in the same way for the next new one.
# Versions: graphql-core 3.2.0, 3.2.8, 3.2.14 and 3.3.2, graphql 16.15.0, Python 3.11, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >write.py <<'PYTHON'
import json

from graphql import build_schema, introspection_from_schema

answer = introspection_from_schema(build_schema("type Query { hello: String }"))
json.dump(answer, open("now.json", "w"))
answer["__schema"]["directives"][0]["locations"].append("NEW_LOCATION")
json.dump(answer, open("later.json", "w"))
PYTHON
cat >read.py <<'PYTHON'
import json

from graphql import build_client_schema

words = []
for name in ("now", "later"):
    try:
        build_client_schema(json.load(open(f"{name}.json")))
        words.append("read")
    except TypeError:
        words.append("TypeError")
print(*words)
PYTHON
python3 -m venv venv
for version in 3.3.2 3.2.0 3.2.8 3.2.14; do
  venv/bin/pip install --quiet graphql-core==$version 2>/dev/null
  [ $version = 3.3.2 ] && venv/bin/python write.py
  echo "$version $(venv/bin/python read.py)"
done | tee found
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error graphql@16.15.0 >/dev/null
node -e "require('graphql').buildClientSchema(require('./later.json')); console.log('js read')" \
  | tee -a found
[ "$(cat found)" = "3.3.2 read TypeError
3.2.0 TypeError TypeError
3.2.8 TypeError TypeError
3.2.14 read TypeError
js read" ]
