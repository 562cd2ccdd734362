"""A list of one page, as fast-json-server 0.0.1 has for each of its tables."""

from __future__ import annotations

import pytest

from gqlnb.result.result import Result
from tests.client.paging.lists import build_client, build_rows, fetch

SDL = """rows(pageSize: Int, pageNum: Int): [Rows] type Page { items: [Row] }
type Rows { totalPages: Int totalItems: Int pageData: Page }"""
ROWS = build_rows(137)


def find(args: dict[str, int]) -> list[dict[str, object]]:
    """Return the list of one page."""
    page = {"items": ROWS[: args.get("pageSize") or 10]}
    return [{"totalPages": 14, "totalItems": len(ROWS), "pageData": page}]


def read_verdict(result: Result) -> str:
    """Return the verdict on the rows."""
    return str(result.frames["rows.pageData.items"].attrs["completeness"])


@pytest.mark.parametrize(
    ("text", "verdict", "doubt"),
    [
        ("{ rows { totalItems pageData { items { id } } } }", "more", "`totalItems` counts 137"),
        ("{ rows(pageSize: 10) { pageData { items { id } } } }", "unknown", "`pageSize: 10`"),
        ("{ rows(pageSize: 3) { pageData { items { id } } } }", "unknown", "`pageSize: 3`"),
        ("{ rows(pageSize: 200) { totalItems pageData { items { id } } } }", "complete", ""),
    ],
)
def test_the_rows_of_the_only_page_of_a_list_are_not_taken_for_all(text, verdict, doubt):
    """The count stands beside the object that holds the rows, and the size on the list of pages."""
    assert read_verdict(build_client(SDL, find).execute(text)).startswith(verdict)
    report = fetch(SDL, find, text).report
    assert report.complete == (not doubt)
    assert doubt in "".join(report.doubts)
