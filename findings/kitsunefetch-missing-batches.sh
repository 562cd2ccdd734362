#!/usr/bin/env bash
# KitsuneFetch: fifty entries are missing where one of the answers is an error, and no word is said.
#
# Guessed before: an error of the GraphQL service of the RCSB for a batch is raised, all hits of a
# search are read, and titles are those of the answer.
# What happens: a batch without data is an empty list, so that of 137 entries 87 come, beside the line
# "Fetched 87 PDB". Of a search with 1370 hits the first 1000 are read, whatever `total_count` says.
# All letters of a title after the first become small: DNA is dna, and HSP90 is hsp90.
# Versions: KitsuneFetch 2.1.0, requests 2.32.5, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet kitsunefetch==2.1.0 requests==2.32.5 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
from types import SimpleNamespace

from kitsunefetch import main as kitsune

names = [f"{number}ABC" for number in range(1000, 1137)]
failing = False


def make_entry(name: str) -> dict:
    return {"rcsb_id": name, "struct": {"title": "Human HSP90 bound to DNA"}}


def post(url: str, json: dict, timeout: int) -> SimpleNamespace:
    if url == kitsune.GRAPHQL_API:
        ids = json["variables"]["ids"]
        body = {"data": {"entries": [make_entry(name) for name in ids]}}
        if failing and names[60] in ids:
            body = {"data": None, "errors": [{"message": "timeout", "path": ["entries"]}]}
    else:
        page = json["request_options"]["paginate"]
        hits = range(page["start"], min(page["start"] + page["rows"], 1370))
        body = {"total_count": 1370, "result_set": [{"identifier": f"{hit}"} for hit in hits]}
    return SimpleNamespace(raise_for_status=lambda: None, json=lambda: body, text="{...}")


kitsune.SESSION.post = post
complete, _ = kitsune.fetch_entries_graphql_parallel(names)
failing = True
found, _ = kitsune.fetch_entries_graphql_parallel(names)
hits = kitsune.search_database("a protein of no list", database="pdb")
row = kitsune.parse_pdb_entry(found[0])
print(len(complete), len(found), len(hits), row["Title"])
assert len(complete) == 137 and len(found) == 87 and len(hits) == 1000
assert [entry["rcsb_id"] for entry in found] == names[:50] + names[100:]
assert row["Title"] == "Human hsp90 bound to dna", row
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
