#!/usr/bin/env bash
# PyPDB: a table has the first item of each list, and the rows behind a missing id have other ids.
#
# Guessed before: `return_data_as_pandas_df` has all that the answer has, and a row belongs to the
# id in its index.
# What happens: of six clusters of a protein only the first is in the table, as of all lists, and no
# word is said of the others. Rows are named by the place of the id in the request. Of three
# ids the second is not found and not in the answer; `fetch_data` prints so, and the table gives the
# third row, a human protein, the second id, and has nothing for the third. Where the first id is
# given twice, the human protein has it, and the protein of the mouse is gone.
# Versions: pypdb 2.11, pandas 3.1.1, graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pypdb==2.11 pandas==3.1.1 graphql-core==3.3.2 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
from graphql import build_schema, graphql_sync
from pypdb.clients.data import data_types

# The part of the schema of data.rcsb.org that a page of PyPDB's documentation asks for.
schema = build_schema("""
type Query { polymer_entities(entity_ids: [String!]!): [CorePolymerEntity] }
type CorePolymerEntity {
  rcsb_id: String!
  rcsb_entity_source_organism: [Organism]
  rcsb_cluster_membership: [Cluster]
}
type Organism { ncbi_scientific_name: String }
type Cluster { cluster_id: Int  identity: Int }
""")
organisms = {"2CPK_1": "Mus musculus", "2D5Z_1": "Homo sapiens"}


def resolve(info: object, entity_ids: list) -> list:
    return [
        {
            "rcsb_id": name,
            "rcsb_entity_source_organism": [{"ncbi_scientific_name": organisms[name]}],
            "rcsb_cluster_membership": [
                {"cluster_id": 10 * i, "identity": identity}
                for i, identity in enumerate((100, 95, 90, 70, 50, 30))
            ],
        }
        for name in dict.fromkeys(entity_ids)
        if name in organisms
    ]


def search(request: dict) -> dict:
    root = {"polymer_entities": resolve}
    return graphql_sync(schema, request["query"], root).formatted


data_types.search_graphql = search


def fetch(*names: str) -> tuple:
    fetcher = data_types.DataFetcher(list(names), data_types.DataType.POLYMER_ENTITY)
    fetcher.add_property(
        {
            "rcsb_id": [],
            "rcsb_entity_source_organism": ["ncbi_scientific_name"],
            "rcsb_cluster_membership": ["cluster_id", "identity"],
        }
    )
    fetcher.fetch_data()
    return fetcher.response["data"]["polymer_entities"], fetcher.return_data_as_pandas_df()


answer, table = fetch("2CPK_1", "2D5Z_1")
print(table.to_string())
assert [len(row["rcsb_cluster_membership"]) for row in answer] == [6, 6], answer
assert list(table["rcsb_cluster_membership.identity"]) == [100, 100], table
assert list(table.index) == list(table["rcsb_id"]) == ["2CPK_1", "2D5Z_1"], table
answer, table = fetch("2CPK_1", "9ZZZ_1", "2D5Z_1")
print(table.to_string())
assert dict(table["rcsb_id"]) == {"2CPK_1": "2CPK_1", "9ZZZ_1": "2D5Z_1"}, table
answer, table = fetch("2CPK_1", "2CPK_1", "2D5Z_1")
assert dict(table["rcsb_id"]) == {"2CPK_1": "2D5Z_1"}, table
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
