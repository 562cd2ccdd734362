"""From a response path to the line that selected it."""

from __future__ import annotations

import pytest

from gqlnb.document.document import Document
from gqlnb.result.result import Result

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
def test_a_path_leads_to_a_line(path, line):
    """Through lists, aliases, fragments and fields selected twice; as far as it is known."""
    document = Document.parse(TEXT)
    assert document.locate_path(path, 1) == (f"line {line + 1}" if line else "")


def test_without_a_document_there_is_no_line():
    """As of a saved answer."""
    result = Result(data=None, errors=({"message": "x", "path": ["a"]},))
    assert result.in_cell().selections == ("",)
