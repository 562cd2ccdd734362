#!/usr/bin/env bash
# swh-graphql (Software Heritage): a directory has at most 50 entries, and says that these are all.
#
# One would expect: `entries(first: 1000)` of a directory with 137 files returns them, or
# `totalCount: 137` and `hasNextPage: true` say that there are more.
# What happens: the resolver asks the archive for its first page, of 50 entries by default, and pages
# through these. `totalCount` is 50, the last page has hasNextPage false, and no cursor leads
# further. `directoryEntry(path:)` finds the other files. So it is with a revision's log.
# Versions: swh.graphql 0.1.4, swh.storage 4.3.0, swh.model 8.4.1, swh.search 0.27.2, ariadne 1.1.0,
# graphql-core 3.2.14, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet swh.graphql==0.1.4 swh.storage==4.3.0 swh.model==8.4.1 \
  swh.search==0.27.2 ariadne==1.1.0 graphql-core==3.2.14 httpx==0.28.1 2>/dev/null
cat >"$folder/config.yml" <<'YAML'
storage: {cls: memory}
search: {cls: memory}
debug: true
introspection: true
max_query_cost: {anonymous: 0, user: 0}
YAML
cat >"$folder/run.py" <<'PYTHON'
from starlette.testclient import TestClient
from swh.graphql import server
from swh.model.model import Directory, DirectoryEntry

app = server.make_app_from_configfile()
entries = [
    DirectoryEntry(name=b"file%03d" % n, type="file", target=b"%020d" % n, perms=0o100644)
    for n in range(137)
]
directory = Directory(entries=tuple(entries))
server.get_storage().directory_add([directory])
client = TestClient(app)


def ask(fields: str) -> dict:
    return client.post("/", json={"query": "{ %s }" % fields}).json()["data"]


page = "totalCount pageInfo { hasNextPage } nodes { name { text } }"
data = ask(f'directory(swhid: "{directory.swhid()}") {{ entries(first: 1000) {{ {page} }} }}')
found = data["directory"]["entries"]
by_path = ask(
    f'directoryEntry(directorySWHID: "{directory.swhid()}", path: "file136") {{ name {{ text }} }}'
)
result = len(found["nodes"]), found["totalCount"], found["pageInfo"]["hasNextPage"]
print(result, by_path)
assert result == (50, 50, False), result
assert by_path == {"directoryEntry": {"name": {"text": "file136"}}}, by_path
PYTHON
SWH_CONFIG_FILENAME="$folder/config.yml" "$folder/venv/bin/python" -W ignore "$folder/run.py"
