#!/usr/bin/env bash
# graphinate: an undirected edge has another id at each of its ends, and one of them finds nothing.
#
# Guessed before: the ids of the edges in the rows of nodes are those of the list of all edges, each
# twice, so that the two lists join.
# What happens: in the rows of a node, the node is the `source` of each of its edges, and the id is
# made of source and target: three edges have six ids. For the three that are not in the list of
# all edges, `edges(edgeId:)` is empty. The argument `nodeId` of nodes takes their `id`; their field
# `nodeId`, "(1,)", is an error. The diameter of a graph in two parts is the text "Infinity", that
# of a connected one a number.
# Versions: graphinate 0.17.1, strawberry-graphql 0.341.2, networkx 3.6.1, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet graphinate==0.17.1 strawberry-graphql==0.341.2 \
  networkx==3.6.1 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import graphinate


def build(pairs: list[tuple[int, int]]):
    model = graphinate.GraphModel(name="items")

    @model.node(key=lambda number: number)
    def item():
        yield from (1, 2, 3, 4)

    @model.edge(source=lambda pair: pair[0], target=lambda pair: pair[1])
    def follows():
        yield from pairs

    return graphinate.builders.GraphQLBuilder(model).build()


def ask(schema, query: str) -> dict:
    answer = schema.execute_sync(query)
    assert not answer.errors, answer.errors
    return answer.data


schema = build([(1, 2), (2, 3), (3, 4)])
data = ask(schema, "{ edges { id } items { id nodeId edges { id source { id } } } }")
ids = {edge["id"] for edge in data["edges"]}
own = {edge["id"] for item in data["items"] for edge in item["edges"]}
print(len(ids), len(own), len(own - ids))
assert (len(ids), len(own), len(own - ids)) == (3, 6, 3)
assert all(edge["source"]["id"] == item["id"] for item in data["items"] for edge in item["edges"])
found = {key: len(ask(schema, '{ edges(edgeId: "%s") { id } }' % key)["edges"]) for key in own}
print(found)
assert found == {key: int(key in ids) for key in own}, found
first = data["items"][0]
by_id = ask(schema, '{ items(nodeId: "%s") { nodeId } }' % first["id"])["items"]
by_node_id = schema.execute_sync('{ items(nodeId: "%s") { nodeId } }' % first["nodeId"])
print(by_id, by_node_id.errors)
assert by_id == [{"nodeId": "(1,)"}] and by_node_id.errors
parted = build([(1, 2), (3, 4)])
whole = tuple(ask(each, "{ graph { diameter } }") for each in (schema, parted))
print(whole)
assert whole == ({"graph": {"diameter": 3}}, {"graph": {"diameter": "Infinity"}}), whole
PYTHON
"$folder/venv/bin/python" "$folder/run.py" 2>"$folder/log" || { cat "$folder/log"; exit 1; }
