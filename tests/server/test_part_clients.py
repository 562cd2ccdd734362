"""JavaScript clients of `@defer` and `@stream` read our server: Apollo, urql, graphql-sse, meros.

They are installed once, by hand or by CI::

    npm install --prefix FOLDER --ignore-scripts --no-package-lock   # FOLDER has our package.json
    PART_CLIENTS=FOLDER pytest -m slow tests/server/test_part_clients.py

Without the variable they are looked for in ``tests/server/part_clients``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gqlnb.engine.graphql_compat import IS_GRAPHQL_33
from gqlnb.result.answer_notes import IncrementalResponse
from gqlnb.server.background_server import serve
from tests.engine.part_schema import build_part_schema

pytestmark = pytest.mark.slow
HERE = Path(__file__).with_name("part_clients")
if not IS_GRAPHQL_33:
    pytest.skip("graphql-core before 3.3 executes nothing in parts.", allow_module_level=True)


@pytest.fixture
def read_by_clients():
    """Return a function that returns the data of an operation after each part, by client."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("No Node on this machine")
    folder = Path(os.environ.get("PART_CLIENTS", HERE))
    if not (folder / "node_modules" / "@apollo" / "client").is_dir():
        pytest.skip("npm's @apollo/client is not installed; PART_CLIENTS says where it is")

    def read(url, query):
        done = subprocess.run(
            [node, str(HERE / "run.mjs"), str(folder), url, query],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    with serve(build_part_schema(), port=0) as server:
        yield lambda query: read(server.url, query)


def remove_typenames(value):
    """Return a value without the fields that Apollo adds."""
    if isinstance(value, dict):
        return {k: remove_typenames(it) for k, it in value.items() if k != "__typename"}
    return [remove_typenames(it) for it in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        (
            "{ item { id ... @defer { name later } } }",
            {"item": {"id": "i"}},
            {"item": {"id": "i", "name": "item i", "later": "later i"}},
        ),
        (
            "{ item { id tags @stream(initialCount: 1) "
            "ticks @stream { id ... @defer { name } } } }",
            {"item": {"id": "i", "tags": ["a"], "ticks": []}},
            {
                "item": {
                    "id": "i",
                    "tags": ["a", None, "i"],
                    "ticks": [{"id": f"i{n}", "name": f"item i{n}"} for n in range(3)],
                }
            },
        ),
    ],
)
def test_clients_merge_the_parts(read_by_clients, query, first, last):
    """Each by its own code; the last two give the parts, which ours merges."""
    found = read_by_clients(query)
    for name in ("apollo 2022", "apollo 2023", "urql"):
        seen = [remove_typenames(data) for data in found[name]]
        assert (seen[0], seen[-1]) == (first, last), name
    for name in ("graphql-sse", "meros"):
        growing = IncrementalResponse()
        assert [growing.feed(part) for part in found[name]][-1]["data"] == last, name
        assert not growing.has_next
