#!/usr/bin/env bash
# datamodel-code-generator: the model of an interface refuses every object that implements it.
#
# One would expect: the class of an interface takes the answer for a field of that interface, whose
# `__typename` is always the name of an object type, never that of the interface.
# What happens: its field `__typename` is `Literal['Node']`. `{"__typename": "User", "id": "1"}` is a
# validation error, and a model with a field of type `Node` cannot be read from any answer that has
# `__typename`; a list of a union is read. Without `__typename` in the answer the object is read as a
# `Node` that calls itself "Node".
# Versions: datamodel-code-generator 0.89.0, pydantic 2.14.4, graphql-core 3.3.2.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install -q 'datamodel-code-generator[graphql]==0.89.0' pydantic==2.14.4 \
  graphql-core==3.3.2 2>/dev/null
cat >schema.graphql <<'SDL'
interface Node { id: ID! }
type User implements Node { id: ID! login: String! }
type Team implements Node { id: ID! name: String! }
union Owner = User | Team
type Answer { node: Node owner: Owner }
type Query { answer: Answer }
SDL
venv/bin/datamodel-codegen --input schema.graphql --input-file-type graphql --output models.py \
  --output-model-type pydantic_v2.BaseModel 2>/dev/null
cat >main.py <<'PY'
import warnings

warnings.simplefilter("ignore")
import models
from graphql import build_schema, graphql_sync
from pydantic import ValidationError

schema = build_schema(open("schema.graphql").read())
user = {"__typename": "User", "id": "1", "login": "ann"}
query = "{ answer { node { __typename id } owner { __typename ... on User { id login } } } }"
answer = graphql_sync(schema, query, {"answer": {"node": user, "owner": user}}).data["answer"]
print("owner:", type(models.Answer(owner=answer["owner"]).owner).__name__)
try:
    models.Answer(node=answer["node"])
except ValidationError as error:
    print("node:", error.errors()[0]["type"])
print("without:", models.Answer(node={"id": "1"}).node.typename__)
PY
found=$(venv/bin/python main.py)
echo "$found"
[ "$found" = "owner: User
node: literal_error
without: Node" ]
