#!/usr/bin/env bash
# opentargets-py: each association has no evidence, and a drug one mechanism.
#
# Guessed before: a column of the table is what the service says, or it is missing.
# What happens: `evidence_count`, by its documentation the total number of supporting evidence
# items, is in no query. The default of the model, 0, stands in each row of the table, beside scores
# that come from evidence; a filter on it drops all. `chembl_ids` of a drug is an empty list in the
# same way. `mechanism_of_action` is the first of the mechanisms that the answer has, and the
# second, which stands for another target, is dropped without a sign.
# Versions: opentargets-py 0.2.1, pandas 3.1.1, httpx 0.28.1, graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet opentargets-py==0.2.1 pandas==3.1.1 httpx==0.28.1 \
  graphql-core==3.3.2 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import json

import httpx
from graphql import build_schema, graphql_sync
from opentargets import OpenTargetsClient

# The part of the schema of Open Targets that is requested here.
schema = build_schema("""
type Query { target(ensemblId: String!): Target  drug(chemblId: String!): Drug }
input Pagination { index: Int!  size: Int! }
type Target {
  id: String!  approvedSymbol: String!  approvedName: String!  biotype: String!
  functionDescriptions: [String!]!  associatedDiseases(page: Pagination): AssociatedDiseases!
}
type AssociatedDiseases { count: Int!  rows: [AssociatedDisease!]! }
type AssociatedDisease { disease: Disease!  score: Float!  datasourceScores: [ScoredComponent!]! }
type ScoredComponent { id: String!  score: Float! }
type Disease { id: String!  name: String! }
type Drug {
  id: String!  name: String!  drugType: String!  maximumClinicalStage: String
  synonyms: [String!]!  tradeNames: [String!]!  mechanismsOfAction: MechanismsOfAction
}
type MechanismsOfAction { rows: [Mechanism!]! }
type Mechanism { mechanismOfAction: String! }
""")
diseases = [
    {
        "disease": {"id": f"EFO_{number}", "name": f"disease {number}"},
        "score": 0.9,
        "datasourceScores": [{"id": "chembl", "score": 0.9}],
    }
    for number in (1, 2)
]
root = {
    "target": {
        "id": "ENSG00000146648",
        "approvedSymbol": "EGFR",
        "approvedName": "epidermal growth factor receptor",
        "biotype": "protein_coding",
        "functionDescriptions": [],
        "associatedDiseases": {"count": 2, "rows": diseases},
    },
    "drug": {
        "id": "CHEMBL554",
        "name": "LAPATINIB",
        "drugType": "Small molecule",
        "maximumClinicalStage": "APPROVAL",
        "synonyms": [],
        "tradeNames": [],
        "mechanismsOfAction": {
            "rows": [
                {"mechanismOfAction": "Epidermal growth factor receptor inhibitor"},
                {"mechanismOfAction": "Receptor protein-tyrosine kinase erbB-2 inhibitor"},
            ]
        },
    },
}
queries = []


def respond(request: httpx.Request) -> httpx.Response:
    body = json.loads(request.content)
    queries.append(body["query"])
    result = graphql_sync(schema, body["query"], root, variable_values=body.get("variables"))
    assert not result.errors, result.errors
    return httpx.Response(200, json=result.formatted)


client = OpenTargetsClient()
client._gql._client = httpx.Client(transport=httpx.MockTransport(respond))
table = client.get_target_associations("ENSG00000146648", as_dataframe=True)
drug = client.get_drug("CHEMBL554")
print(table[["disease_name", "score", "evidence_count"]].to_string())
print(drug.mechanism_of_action, drug.chembl_ids)
assert list(table["score"]) == [0.9, 0.9], table
assert list(table["evidence_count"]) == [0, 0], table
assert not any("evidence" in query.lower() for query in queries), queries
assert drug.mechanism_of_action == "Epidermal growth factor receptor inhibitor", drug
assert "erbB-2" not in drug.model_dump_json(), drug
assert drug.chembl_ids == [], drug
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
