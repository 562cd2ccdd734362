"""Files as variables, sent to the servers that take them by the multipart specification."""

from __future__ import annotations

import asyncio
import io
from typing import TYPE_CHECKING

import pytest

from gqlnb import Client, Upload

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.parametrize("server", ["yoga", "strawberry", "ariadne"], indirect=True)
TEXT = "a,b\n1,größer 🎉\n"


@pytest.fixture
def scalar(name: str) -> str:
    """Return what the server calls a file."""
    return "File" if name == "yoga" else "Upload"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Return a file."""
    path = tmp_path / "table.csv"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.mark.parametrize("loaded", [False, True])
def test_a_file_arrives(client: Client, scalar: str, table: Path, loaded: bool) -> None:
    """With its name, its type and its content, whether or not the schema is known."""
    if loaded:
        assert client.schema.mutation_type
    text = f"mutation ($file: {scalar}!) {{ readFile(file: $file) {{ name type size text }} }}"
    found = client.execute(text, {"file": Upload(table)})["readFile"]
    assert found.pop("type").startswith("text/csv")
    assert found == {"name": "table.csv", "size": len(TEXT.encode()), "text": TEXT}
    awaited = asyncio.run(client.aexecute(text, {"file": Upload(table)}))["readFile"]
    assert awaited["text"] == TEXT


def test_several_files_arrive_in_order(client: Client, scalar: str, table: Path) -> None:
    """In one request: of a path, of bytes and of an open file."""
    text = f"mutation ($files: [{scalar}!]!) {{ readFiles(files: $files) {{ name text }} }}"
    with table.open("rb") as file:
        files = [Upload(table), Upload(b"one", filename="ü.txt"), Upload(file), io.BytesIO(b"")]
        found = client.execute(text, {"files": files})["readFiles"]
    assert [row["text"] for row in found] == [TEXT, "one", TEXT, ""]
    assert [row["name"] for row in found][:3] == ["table.csv", "ü.txt", "table.csv"]
