"""JSON data for a tree view: children and search."""

from __future__ import annotations

from typing import Any

import pytest

from gqlnb import QueryError
from gqlnb.notebook.widgets import result_view as module
from gqlnb.notebook.widgets.result_view import TreeSource

DATA = {
    "me": {"login": "Ada", "none": None, "x": [1, 2.5, True]},
    "rows": [{"id": n, "tags": [f"tag{n}"]} for n in range(1_000)],
    "<b>": "<script>",
    "long": "x" * 500,
}


@pytest.fixture
def source():
    """Return a tree of some data."""
    return TreeSource(lambda: DATA)


def items(source: TreeSource, *at: int, start: int = 0, end: int = 100) -> list[dict[str, Any]]:
    """Return the children of a value."""
    message = {"ask": "children", "at": list(at), "start": start, "end": end}
    found: list[dict[str, Any]] = source.answer(message)["items"]
    return found


def test_children_are_sent_in_batches(source):
    """With their key, Python subscript, kind, preview and size."""
    assert source.answer({"ask": "root"})["item"]["size"] == 4
    me, rows, markup, long = items(source)
    assert me == {
        "key": "me",
        "step": "['me']",
        "kind": "object",
        "size": 3,
        "text": '{login: "Ada", none: null, x: […]}',
    }
    assert (rows["kind"], rows["size"], rows["text"]) == ("array", 1_000, "")
    assert (markup["key"], markup["text"]) == ("<b>", '"<script>"')
    assert len(long["text"]) == 203
    (row,) = items(source, 1, start=998, end=999)
    assert row["key"] == "998"
    assert row["step"] == "[998]"
    assert [it["text"] for it in items(source, 0, 2)] == ["1", "2.5", "true"]
    assert [it["kind"] for it in items(source, 0)] == ["string", "null", "array"]


def test_search_covers_keys_and_values(source):
    """Ignoring case, in the order of the data; each hit is a path of positions."""

    def find(words: str) -> Any:
        return source.answer({"ask": "find", "words": words})

    assert find("ADA") == {"places": [[0, 0]], "more": False}
    assert find("login") == {"places": [[0, 0]], "more": False}
    assert find("tag99")["places"][:2] == [[1, 99, 1, 0], [1, 990, 1, 0]]
    assert find("2.5") == {"places": [[0, 2, 1]], "more": False}
    many = find("id")
    assert len(many["places"]) == module.FOUND
    assert many["more"]
    assert find("  ") == find("nowhere") == {"places": [], "more": False}


def test_a_value_is_copied_as_json(source, monkeypatch):
    """Unless it is too large."""
    text = source.answer({"ask": "copy", "at": [0]})["text"]
    assert text.startswith('{\n  "login": "Ada",')
    monkeypatch.setattr(module, "COPIED", 10)
    with pytest.raises(QueryError, match="more than 10 characters of JSON"):
        source.answer({"ask": "copy", "at": [0]})


@pytest.mark.parametrize(
    "message",
    [
        {"ask": "children", "at": [9], "start": 0, "end": 1},
        {"ask": "children", "at": ["me"], "start": 0, "end": 1},
        {"ask": "children", "at": [2, 0], "start": 0, "end": 1},
        {"ask": "copy", "at": [0, 99]},
        {"ask": "find", "words": 5},
        {},
    ],
)
def test_unknown_paths_and_messages_are_errors(source, message):
    """The reply has the error."""
    with pytest.raises(QueryError, match="Run the cell again"):
        source.answer(message)


def test_any_python_data_can_be_shown():
    """Keys other than text, huge numbers, arbitrary objects, deep nesting."""
    deep: Any = 1
    for _ in range(5_000):
        deep = [deep]
    data = {3: 10**5000, None: object(), ("a",): {1, 2}, "nan": float("nan"), "deep": deep}
    source = TreeSource(lambda: data)
    found = items(source)
    assert [it["step"] for it in found] == ["[3]", "[None]", "[('a',)]", "['nan']", "['deep']"]
    assert [it["key"] for it in found[:3]] == ["3", "None", "('a',)"]
    assert " at 0x" not in str(found)
    at = [4, *[0] * 5_000]
    assert source.answer({"ask": "find", "words": "1"})["places"][-1] == at
    assert items(source, *at[:-1])[0]["text"] == "1"
