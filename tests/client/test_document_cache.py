"""A client parses the text of a cell once, however often the cell is run."""

from __future__ import annotations

from typing import Any

import pytest
from graphql import build_schema

from gqlnb import Client
from gqlnb.client import request_preparer
from gqlnb.document.document import Document
from tests.client.faults import Endpoint, json_answer

DATA = dict.fromkeys([f"long_name_{number}" for number in range(3_000)], 1)
LONG = f"{{ {' '.join(f'{name}: n' for name in DATA)} }}"


@pytest.mark.parametrize(
    ("text", "most", "parsed"),
    [("{ long_name_0: n }", 100, 1), (LONG, 500_000, 1), (LONG, 10_000, 3)],
    ids=["short", "long", "longer than all that is kept"],
)
def test_a_repeated_text_is_parsed_once(text, most, parsed, monkeypatch):
    """Unless it is longer than all texts that a client keeps."""
    monkeypatch.setattr(request_preparer, "MAX_CHARACTERS", most)
    texts: list[str] = []
    parse = Document.parse

    def count_text(text: str, *given: Any, **options: Any) -> Document:
        texts.append(text)
        return parse(text, *given, **options)

    monkeypatch.setattr(Document, "parse", count_text)
    with Endpoint(json_answer({"data": DATA if text == LONG else {"long_name_0": 1}})) as endpoint:
        client = Client(endpoint.url, schema=build_schema("type Query { n: Int }"))
        for _ in range(3):
            client.execute(text)
    assert texts == [text] * parsed
