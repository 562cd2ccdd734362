"""A notebook that was recorded passes its tests where the server it asked is gone."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

import gqlnb
from gqlnb import Schema, Token

if TYPE_CHECKING:
    from pathlib import Path

SDL = """
type Query { rows(first: Int!): [Row!]! count: Int! fail: Int }
type Mutation { add(name: String!): Row }
type Row { id: ID! name: String! stars: Int kind: Kind made: String }
enum Kind { A B }
"""
CELLS = [
    "import gqlnb\n%load_ext gqlnb",
    "options = {{'recording': 'it.jsonl', 'mode': 'record', 'token': 'env:NOTEBOOK_TOKEN'}}\n"
    "client = gqlnb.connect({url!r}, **options)",
    "client.schema.query_type.name",
    "client.frame('{{ rows(first: 3) {{ id name stars kind }} }}')",
    "client.frame('{{ rows(first: 0) {{ id stars kind }} }}').dtypes",
    "first = 2",
    "%%graphql client\nquery ($first: Int!) {{ rows(first: $first) {{ id name }} }}",
    "client.execute('{{ fail count }}').errors_frame()",
    "[client.execute('{{ count }}')['count'] for _ in range(3)]",
    "client.execute('mutation {{ add(name: \"x\") {{ name }} }}')",
    "%%graphql client\n# NBVAL_RAISES_EXCEPTION\n{{ rows(first: 1) {{ nam }} }}",
    "# NBVAL_RAISES_EXCEPTION\ngqlnb.connect({url!r}, **options).execute('{{ rows }}')",
]


def counting() -> Schema:
    """Return a schema whose answers change with each request."""
    number = iter(range(1, 100))

    def rows(root: Any, args: dict[str, Any], context: Any) -> list[dict[str, Any]]:
        names = [{"id": n, "name": f"n{n}", "stars": None, "kind": "A"} for n in range(3)]
        return names[: args["first"]]

    resolvers = {
        "Query": {"rows": rows, "count": lambda *_: next(number)},
        "Mutation": {"add": lambda root, args, context: {"name": args["name"]}},
    }
    return Schema(SDL, resolvers)


@pytest.fixture
def run(root, tmp_path):
    """Return a function that runs nbval over the notebook, in a process of its own."""

    def nbval(**environment: str) -> subprocess.CompletedProcess[str]:
        arguments = ["--nbval", "--nbval-current-env", "-p", "no:cacheprovider", "it.ipynb"]
        return subprocess.run(
            [sys.executable, "-m", "pytest", *arguments],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(root)} | environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return nbval


def recorded(folder: Path) -> None:
    """Write the notebook with its outputs, run against a server that is gone afterwards."""
    with gqlnb.serve(counting(), port=0, token=Token("canary-123")) as server:
        cells = [new_code_cell(cell.format(url=server.url)) for cell in CELLS]
        made = new_notebook(cells=cells)
        NotebookClient(made, allow_errors=True, resources={"metadata": {"path": folder}}).execute()
    nbformat.write(made, folder / "it.ipynb")


@pytest.mark.slow
def test_a_recorded_notebook_passes_nbval_without_its_server(run, tmp_path, monkeypatch):
    """Frames with the schema's dtypes, partial responses, polling, mutations, failing cells."""
    monkeypatch.setenv("NOTEBOOK_TOKEN", "canary-123")
    recorded(tmp_path)
    monkeypatch.delenv("NOTEBOOK_TOKEN")
    assert "canary-123" not in (tmp_path / "it.jsonl").read_text()
    failed = run()  # it is to be recorded, and there is neither a token nor a server
    assert f"{len(CELLS) - 2} failed" in failed.stdout
    done = run(GQLNB_REPLAY="it.jsonl")
    assert done.returncode == 0, done.stdout
    assert f"{len(CELLS)} passed" in done.stdout
    (tmp_path / "it.jsonl").write_text((tmp_path / "it.jsonl").read_text().replace("n1", "other"))
    assert "2 failed" in run(GQLNB_REPLAY="it.jsonl").stdout
