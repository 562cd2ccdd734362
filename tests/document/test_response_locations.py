"""From a response path to the line that selected it."""

from __future__ import annotations

import pytest

from gqlnb.document.document import Document
from gqlnb.result.result import Result, locate_in_cell

TEXT = """query {
  a { b
    c: d }
  ...F
  ... on Q {
    g { h } }
  a { e }
}
fragment F on Q {
  x {
    y
    ...F } }
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (["a"], 2),
        (["a", 0, "b"], 2),
        (["a", "c"], 3),
        (["a", "d"], 2),
        (["a", "e"], 7),
        (["g", 3, "h"], 6),
        (["x", "y"], 11),
        (["x", 0, "x", "y"], 11),
        ([], None),
        (["nope"], None),
        ("a", None),
        (None, None),
        ([None, "a"], 2),
    ],
)
def test_a_response_path_maps_to_a_document_line(path, line):
    """Through lists, aliases, fragments and repeated fields, as far as known."""
    document = Document.parse(TEXT)
    assert document.locate_path(path, 1) == (f"line {line + 1}" if line else "")


def test_without_a_document_there_is_no_line():
    """As of a saved answer."""
    result = Result(data=None, errors=({"message": "x", "path": ["a"]},))
    assert locate_in_cell(result, 1, "cell line").selections == ("",)
