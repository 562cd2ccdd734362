"""Answers that come in parts: what they grow to is the answer that comes at once."""

from __future__ import annotations

import asyncio
import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import graphql
import pytest
from graphql import build_schema, parse
from hypothesis import given, settings
from hypothesis import strategies as st

from gqlnb.http.incremental import assemble_response, take_first_part
from gqlnb.http.messages import Response
from gqlnb.result.answer_notes import IncrementalResponse, InvalidPartError
from tests.engine.part_schema import merge_parts
from tests.examples import count_examples

if TYPE_CHECKING:
    from collections.abc import Iterator

NEW = graphql.version_info[:2] >= (3, 3)
SDL = """
directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT
directive @stream(if: Boolean! = true, label: String, initialCount: Int = 0) on FIELD
type Query { item: Item }
type Item { id: ID  name: String  fails: String  child: Item  items: [Item]  tags: [String] }
"""


class Item:
    """An item with others below it, without end."""

    def __init__(self, ident: str) -> None:
        self.id, self.name = ident, f"item {ident}"

    def fails(self, *_: Any) -> str:
        """Fail."""
        message = f"{self.id} fails"
        raise ValueError(message)

    def child(self, *_: Any) -> Item:
        """Return the one below."""
        return Item(f"{self.id}c")

    def items(self, *_: Any) -> list[Item | None]:
        """Return those below."""
        return [Item(f"{self.id}{number}") for number in range(3)]

    def tags(self, *_: Any) -> list[str | None]:
        """Return texts."""
        return ["a", None, self.id]


def selections(depth: int) -> st.SearchStrategy[str]:
    """Write selection sets, some of whose fields come later."""
    leaves = st.sampled_from(["id", "name", "fails", "tags"])
    streams = st.integers(0, 4).map("tags @stream(if: $later, initialCount: {})".format)
    found = [leaves, streams]
    if depth:
        below = selections(depth - 1)
        count = st.integers(0, 4)
        found += [
            st.builds("... @defer(if: $later) {}".format, below),
            st.builds("child {}".format, below),
            st.builds("items {}".format, below),
            st.builds("items @stream(if: $later, initialCount: {}) {}".format, count, below),
        ]
    several = st.lists(st.one_of(found), min_size=1, max_size=4)
    return several.map(lambda each: f"{{ {' '.join(each)} }}")


def parts_of(text: str, *, later: bool = True) -> list[dict[str, Any]]:
    """Return what graphql-core answers in parts; in one, where nothing comes later."""
    schema, variables = build_schema(SDL), {"later": later}

    async def all_parts() -> list[dict[str, Any]]:
        done: Any = graphql.experimental_execute_incrementally(
            schema, parse(text), {"item": Item("i")}, variable_values=variables
        )
        if asyncio.iscoroutine(done):
            done = await done
        if not hasattr(done, "initial_result"):
            return [done.formatted]
        rest = [part.formatted async for part in done.subsequent_results]
        return [done.initial_result.formatted, *rest]

    return asyncio.run(all_parts())


def older(parts: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield parts as servers of 2022 write them: each with its path, none with an id."""
    places: dict[str, list[Any]] = {}
    grown, growing = {}, IncrementalResponse()
    for number, part in enumerate(parts):
        before = deepcopy(grown)
        places |= {each["id"]: each["path"] for each in part.get("pending", ())}
        made = {k: v for k, v in part.items() if k not in ("pending", "completed", "incremental")}
        if number:
            made["incremental"] = []
        for each in part.get("incremental", ()):
            path = [*places[each["id"]], *each.get("subPath", ())]
            if "items" in each:
                row = before["data"]
                for step in path:
                    row = row[step]
                path = [*path, len(row)]
                row.extend(each["items"])
            made["incremental"].append(
                {k: v for k, v in each.items() if k not in ("id", "subPath")} | {"path": path}
            )
        grown = growing.feed(deepcopy(part))
        yield made


def oldest(parts: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield parts as servers of 2020 write them: each fragment and each item is one."""
    for part in older(parts):
        yield {k: v for k, v in part.items() if k != "incremental"} | {"hasNext": True}
        for each in part.get("incremental", ()):
            rest = {k: v for k, v in each.items() if k != "items"}
            *path, start = each["path"] or [None]
            for place, item in enumerate(each.get("items", ())):
                yield {**rest, "path": [*path, start + place], "data": item, "hasNext": True}
                rest.pop("errors", None)
            if "data" in each:
                yield {**each, "hasNext": True}
    yield {"hasNext": False}


def same(ours: Any, theirs: Any) -> bool:
    """Tell whether two answers are one, in whatever order their errors came.

    A field that is asked for at once and later has failed at once.
    """
    paths = [{str(e["path"]) for e in each.get("errors") or ()} for each in (ours, theirs)]
    return bool(ours["data"] == theirs["data"] and paths[0] == paths[1])


@pytest.mark.skipif(not NEW, reason="graphql-core before 3.3 knows no incremental delivery.")
@settings(max_examples=count_examples(60))
@given(selections(3))
def test_merged_parts_equal_the_undivided_response(selection):
    """For all three proposals, and for any deferred fields."""
    text = f"query ($later: Boolean!) {{ item {selection} }}"
    parts, [expected] = parts_of(text), parts_of(text, later=False)
    for spelled in (parts, list(older(parts)), list(oldest(parts))):
        assert same(merge_parts(spelled), expected), spelled


def test_repeated_fields_are_merged():
    """Older servers repeat fields that a fragment shares with its surroundings."""
    growing = IncrementalResponse()
    data = {"a": {"x": 1}, "list": [{"x": 1}, None], "gone": [1]}
    growing.feed({"data": data, "hasNext": True})
    late = {"a": {"y": 2}, "list": [{"y": 2}, None], "gone": [1, 2]}
    found = growing.feed({"incremental": [{"path": [], "data": late}], "hasNext": False})
    assert found["data"] == {
        "a": {"x": 1, "y": 2},
        "list": [{"x": 1, "y": 2}, None],
        "gone": [1, 2],
    }


def test_later_errors_are_reported_and_other_data_is_kept():
    """In data, in `completed`, and for a fragment that is null."""
    growing = IncrementalResponse()
    growing.feed({"data": {"a": {}}, "pending": [{"id": "0", "path": ["a"]}], "hasNext": True})
    late = {"id": "0", "errors": [{"message": "two"}]}
    found = growing.feed({"completed": [late], "extensions": {"cost": 1}, "hasNext": True})
    null = {"path": ["a"], "data": None, "errors": [{"message": "three"}]}
    found = growing.feed({"incremental": [null], "extensions": {"more": 2}, "hasNext": False})
    assert [error["message"] for error in found["errors"]] == ["two", "three"]
    assert found["data"] == {"a": {}}
    assert found["extensions"] == {"cost": 1, "more": 2}
    assert not growing.has_next


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ([], r"it is \[\], not an object"),
        ({"incremental": {}}, "its 'incremental' is not a list"),
        ({"incremental": [1]}, "its 'incremental' is not a list of objects"),
        ({"incremental": [{"id": "7", "data": {}}]}, "it is for '7', which was not announced"),
        ({"incremental": [{"path": ["no"], "data": {}}]}, "fields into no, which is not an object"),
        ({"incremental": [{"path": ["list", 9], "data": {}}]}, "fields into list.9, which is no"),
        ({"incremental": [{"path": ["a", "b"], "items": []}]}, "items to a, which is not a list"),
        ({"incremental": [{"path": ["list", 2], "items": [1]}]}, "items to list, which is not"),
        ({"path": "a", "data": {}}, "its 'path' is not a list"),
    ],
)
def test_an_invalid_part_raises(part, said):
    """The error has the reason."""
    growing = IncrementalResponse()
    growing.feed({"data": {"a": {}, "list": [1]}, "hasNext": True})
    with pytest.raises(InvalidPartError, match=said):
        growing.feed(part)


def test_a_response_in_parts_is_merged():
    """Once the last part is present; other responses are unchanged."""
    head = {"content-type": "multipart/mixed; boundary=x"}
    body = b'--x\r\n\r\n{"data":{"a":{}},"hasNext":true}\r\n--x'
    last = b'\r\n\r\n{"path":["a"],"data":{"b":1},"hasNext":false}\r\n--x--'
    made = assemble_response(Response(200, head, body + last))
    assert json.loads(made.body) == {"data": {"a": {"b": 1}}}
    assert made.headers["content-type"].startswith("application/json")
    for wrong, said in ((b"", "the last one is missing"), (b"\r\n\r\n{\r\n--x", "one is not JSON")):
        with pytest.raises(InvalidPartError, match=said):
            assemble_response(Response(200, head, body + wrong))
    plain = Response(200, {"content-type": "text/html"}, b"<html>")
    assert assemble_response(plain) is plain


def test_the_first_result_of_a_rejected_stream_is_found():
    """In event streams and multipart; other bodies are unchanged."""
    body = b'{"errors": [{"message": "no"}]}'
    events = {"content-type": "text/event-stream"}
    mixed = {"content-type": "multipart/mixed; boundary=x"}
    for head, stream in (
        (events, b": hello\n\nevent: next\ndata: " + body + b"\n\nevent: complete\ndata:\n\n"),
        (mixed, b"--x\r\ncontent-type: application/json\r\n\r\n" + body + b"\r\n--x--"),
    ):
        made = take_first_part(Response(400, head, stream))
        assert (made.status, made.body) == (400, body)
        assert made.headers["content-type"].startswith("application/json")
    for nothing in (
        Response(400, events, b"event: complete\ndata:\n\n"),
        Response(400, events, b"event: next\ndata: cut"),
        Response(400, {"content-type": "text/html"}, b"<html>"),
    ):
        assert take_first_part(nothing) is nothing
