"""Whether one answer holds a whole list: in the frame, in its caption, and with the evidence."""

from __future__ import annotations

from typing import Any

import pytest

from gqlnb import Client, LiveFrame, Result, ResultView, Schema
from gqlnb.result.list_captions import FETCH_ALL
from gqlnb.result.paging_report import Report
from gqlnb.result.renderer import describe_frame

SDL = """
type Query { numbers(limit: Int = 3, input: Input): [Row!]! plain: [Row!]! owned(id: ID!): [Row!]!
  page(first: Int, size: Big): Page! }
scalar Big
input Input { rows: Int = 4 }
type Row { n: Int! }
type Page { totalCount: Int hasMore: Boolean viewCount: Int items: [Row!]! }
"""


def build_client(**page: Any) -> Client:
    """Return a client of a schema whose lists have as many rows as their arguments say."""

    def make_rows(count: int) -> list[dict[str, int]]:
        return [{"n": number} for number in range(count)]

    def resolve_page(_root: Any, args: dict[str, Any], _context: Any) -> dict[str, Any]:
        return {"items": make_rows(args.get("first") or 7), **page}

    return Client(
        Schema(
            SDL,
            {
                "Query": {
                    "numbers": lambda _root, args, _context: make_rows(args["limit"]),
                    "plain": lambda *_: make_rows(10),
                    "owned": lambda *_: make_rows(3),
                    "page": resolve_page,
                }
            },
        )
    )


def judge(result: Result) -> tuple[str, bool, str]:
    """Return the verdict on the only list of a result, whether it is partial, and its caption."""
    frame = result.frame()
    return frame.attrs["completeness"], frame.attrs["partial"], str(result).splitlines()[-1]


@pytest.mark.parametrize(
    ("text", "reached"),
    [
        ("{ numbers { n } }", "limit: 3"),
        ("{ numbers(limit: 5) { n } }", "limit: 5"),
        ("query ($size: Int = 6) { numbers(limit: $size) { n } }", "limit: 6"),
        ("{ numbers(limit: 4, input: {}) { n } }", "limit: 4"),
        ("{ ...Some } fragment Some on Query { numbers(limit: 2) { n } }", "limit: 2"),
        ("{ some: page(first: 5) { items { n } } }", "first: 5"),
        ('{ page(size: "7") { items { n } } }', "size: 7"),
        ("{ page(first: 5) { totalCount items { n } } }", "first: 5"),
    ],
)
def test_a_reached_size_is_unknown(text: str, reached: str) -> None:
    """Literals, defaults and variables, at the list or at the object around it."""
    verdict, is_partial, caption = judge(build_client(totalCount=5).execute(text))
    assert verdict == f"unknown: `{reached}` is reached"
    assert not is_partial
    assert caption.endswith("rows, perhaps more")


@pytest.mark.parametrize("text", ["{ plain { n } }", '{ owned(id: "3") { n } }'])
def test_without_a_sign_a_list_is_complete(text: str) -> None:
    """The evidence says that there is none."""
    verdict, is_partial, caption = judge(build_client().execute(text))
    assert verdict == "complete: no sign suggests that rows are missing"
    assert not is_partial
    assert caption.endswith(" rows")


@pytest.mark.parametrize(
    ("beside", "verdict", "caption"),
    [
        ({"totalCount": 1067}, "more: `totalCount` counts 1,067", f"7 of 1,067 rows; {FETCH_ALL}"),
        ({"hasMore": True}, "more: `hasMore` is true", f"7 rows, more exist; {FETCH_ALL}"),
        ({"hasMore": False}, "complete: `hasMore` is false", "7 rows"),
        ({"totalCount": 7}, "complete: `totalCount` counts as many rows", "7 rows"),
        (
            {"hasMore": False, "totalCount": 9},
            "more: `totalCount` counts 9",
            f"7 of 9 rows; {FETCH_ALL}",
        ),
    ],
)
def test_what_stands_beside_a_list_decides(
    beside: dict[str, Any], verdict: str, caption: str
) -> None:
    """A count that is larger counts more than a flag that says the end."""
    text = f"{{ page {{ {' '.join(beside)} items {{ n }} }} }}"
    found = judge(build_client(**beside).execute(text))
    assert found == (verdict, verdict.startswith("more"), caption)


@pytest.mark.parametrize(
    ("path", "verdict"),
    [
        (["rows", 0], "complete: no sign suggests that rows are missing"),
        (["other"], "complete: no sign suggests that rows are missing"),
        (["rows"], "unknown: an error may be of the list"),
        (None, "unknown: an error may be of the list"),
    ],
)
def test_an_error_of_a_list_leaves_rows_out(path: list[object] | None, verdict: str) -> None:
    """One without a path may be of any list; one in a row is of a value."""
    resolvers = {"Query": {"rows": lambda *_: [1, 2]}}
    client = Client(Schema("type Query { rows: [Int] other: Int }", resolvers))
    result = client.execute("{ rows other }")
    errors = ({"message": "No", "path": path},)
    failed = Result(data=result.data, errors=errors, document=result.document)
    with pytest.warns(UserWarning, match="The answer is partial"):
        frame = failed.frame()
    assert frame.attrs["completeness"] == verdict


def test_all_pages_have_the_verdict_of_their_report() -> None:
    """It is that of the list, not that of a page."""
    client = build_client()
    whole = client.execute_all("{ owned(id: 3) { n } }", progress=False).frame()
    assert whole.attrs["completeness"] == "complete: all pages were received"
    with pytest.warns(UserWarning, match="usual limit"):
        doubted = client.execute_all("{ plain { n } }", progress=False).frame()
    assert doubted.attrs["completeness"].startswith("unknown: plain: 10 rows is a usual limit")


def test_all_tables_of_a_list_have_the_same_words() -> None:
    """The text, the HTML, `attrs`, a view of the result and one of the frame; not a part of it."""
    result = build_client(totalCount=1067).execute("{ page { totalCount items { n } } }")
    frame, words = result.frame(), f"7 of 1,067 rows; {FETCH_ALL}"
    assert str(result).endswith(words)
    assert words in result._repr_mimebundle_()[0]["text/html"]
    assert frame.attrs["caption"] == words
    assert frame.attrs["all_rows"] == 1067
    for view in (ResultView(result), ResultView(frame)):
        assert words in view._build_html()
        assert view._get_source(0).answer({"ask": "about"})["caption"] == words
    assert describe_frame(frame.head(3)) == "3 rows"


def test_pages_that_are_not_proved_complete_say_so_in_the_table() -> None:
    """With the count of the endpoint, in the words of the report."""
    client = build_client(totalCount=1067)
    report = Report(7, 1067, 0, 1, doubts=("Pages overlap.",))
    one = client.execute("{ page { items { n } } }")
    result = Result(one.data, document=one.document, report=report)
    assert "7 of 1,067 rows, not proved complete" in str(result).splitlines()
    with pytest.warns(UserWarning, match="may be incomplete"):
        frame = result.frame()
    assert frame.attrs["caption"] == "7 of 1,067 rows, not proved complete"
    assert frame.attrs["completeness"] == "unknown: Pages overlap."
    assert frame.attrs["partial"]


def test_a_mutation_is_not_paged() -> None:
    """So no option is named that would fetch the other rows."""
    sdl = "type Query { a: Int } type Mutation { page: Page } type Page { total: Int rows: [Int] }"
    schema = Schema(sdl, {"Mutation": {"page": lambda *_: {"total": 9, "rows": [1, 2]}}})
    result = schema.execute("mutation { page { total rows } }")
    assert str(result).endswith("\n2 of 9 rows")


def test_an_event_with_an_incomplete_list_is_named() -> None:
    """Its rows look like all rows of the event."""
    event = {"page": {"totalCount": 9, "rows": [{"n": 1}, {"n": 2}]}}
    live = LiveFrame([event, {"page": {"totalCount": 1, "rows": [{"n": 3}]}}])
    live.wait()
    assert live.status.endswith("3 rows; incomplete list in 1 event, the last: 2 of 9 rows.")
    assert live.frame.attrs["partial"]
