"""Results as people see them: escaped, cut, static, and the same on every run."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from html.parser import HTMLParser

import pandas as pd
import pytest

from gqlnb import Schema
from gqlnb.result.renderer import (
    build_caption,
    build_grid,
    format_errors,
    iter_json_lines,
    measure_width,
    render_frame,
)
from gqlnb.result.result import Result

SDL = """
scalar JSON
type Query { rows: [Row] a: Int viewer: Viewer any: JSON }
type Row { name: String stars: Int size: Float ok: Boolean tags: [String] }
type Viewer { name: String lists: [[Int]] }
"""
TAGS = {"div", "p", "pre", "br", "details", "summary", "wbr"}
TAGS |= {"table", "thead", "tbody", "tr", "th", "td"}
HOSTILE = [
    "<script>alert(1)</script>",
    "</td></table><img src=x onerror=alert(1)>",
    "\"'><svg onload=alert(1)>",
    "&lt;b&gt;",
    "$x$ \\(y\\) $$z$$",
    "\x1b[31mred\x1b]0;title\x07",
    "\u202egnp.exe\u2066",
    "line\u2028break\r\nand\x85more\x00",
    "\ud800 alone",
    "javascript:alert(1)",
    'https://a.example/"onclick="alert(1)',
    "https://a.example/\u202ex",
    "data:text/html,x",
]


def bundle(result):
    """Return the MIME bundle without metadata."""
    return result._repr_mimebundle_()[0]


class Tags(HTMLParser):
    """The tags of HTML with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember a tag."""
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in {"href", "src"}]

    def handle_data(self, data: str) -> None:
        """Remember text."""
        self.text += data


def answers(value):
    """Return answers that hold a value wherever one can stand."""
    schema = Schema(SDL)

    def broken(*_):
        raise ValueError(value)

    failing = Schema(SDL, {"Query": {"a": broken}})
    roots = [
        ("{ rows { name stars tags } }", {"rows": [{"name": value, "tags": [value]}]}),
        ("{ viewer { name lists } any }", {"viewer": {"name": value}, "any": {value: value}}),
        ("{ viewer { name } rows { name } }", {"viewer": {"name": value}, "rows": []}),
    ]
    return [
        *(schema.execute(text, root=root) for text, root in roots),
        failing.execute("{ a rows { name } }", root={"rows": [{"name": value}]}),
        Result({value: [{value: value}]}, errors=({"message": value, "path": [value]},)),
        Result({value: {value: value}}),
        Result({value: [{value: [{value: value}] * 12}]}),
        Result({value: 1, "rows": [{"name": "a"}]}),
    ]


@pytest.mark.parametrize("value", HOSTILE, ids=ascii)
def test_no_value_is_rendered_as_markup_or_control_characters(value):
    """HTML is escaped, and text output is one line without control characters."""
    for result in answers(value):
        made = bundle(result)
        found = Tags(made["text/html"])
        assert set(found.tags) <= TAGS
        assert found.attributes <= {"class", "style"}
        assert found.links == []
        for text in (made["text/plain"], made["text/html"], found.text):
            text.encode()
            assert not set(text) & set("\x1b\x07\x00\x85\r\u202e\u2066\u2028\ud800")
        assert "application/json" not in made


@pytest.mark.parametrize(
    "value", ["https://github.com/a/b", "http://127.0.0.1:4000/graphql?x=1&y=%20#a"]
)
def test_urls_are_rendered_as_links(value):
    """They open in a new tab and send no referrer."""
    frame = pd.DataFrame({"url": [value, f"{value} and more", f"x{value}", value + "é"]})
    found = Tags(render_frame(frame))
    assert found.links == [value]
    assert 'rel="noopener noreferrer"' in render_frame(frame)


def test_html_disables_mathjax_and_has_no_style():
    """Dollar signs are literal; colours are those of the theme."""
    html = bundle(Result({"rows": [{"price": "$5 and $6"}]}))["text/html"]
    assert 'class="gqlnb tex2jax_ignore mathjax_ignore"' in html
    assert "color" not in html
    assert "<style" not in html


# -- tables


def test_a_table_is_aligned():
    """Numbers at the right, text at the left, wide characters counted as two."""
    frame = pd.DataFrame(
        {"name": ["a", "名前", "e\u0301x"], "n": [1, 2_000, 30], "m": [0.5, None, -1.0]}
    ).astype({"n": "Int64", "m": "Float64"})
    assert build_grid(frame).to_text() == (
        "   name     n     m  n\n"
        "0  a        1   0.5  ▏\n"
        "1  名前  2000  <NA>  ████████████████████\n"
        "2  e x     30  -1.0  ▎"
    ).replace("e x ", "e\u0301x  ")  # fmt: skip
    assert measure_width("名前") == 4


def test_many_rows_and_columns_are_truncated_with_a_count():
    """The frame has all of them."""
    frame = pd.DataFrame({f"c{n}": range(1500) for n in range(30)})
    grid = build_grid(frame)
    assert (len(grid.rows), len(grid.names)) == (20, 20)
    assert build_caption(frame) == "1,500 rows, the first 20 shown, 20 of 30 columns shown"
    assert build_caption(frame.head(20), 1500).startswith("1,500 rows, the first 20 shown")
    assert build_caption(frame[["c1"]].head(1)) == "1 row"
    assert build_caption(frame[["c1"]].head(0)) == "0 rows"


def test_long_values_are_truncated():
    """Sooner in a terminal than in HTML."""
    frame = pd.DataFrame({"x": ["y" * 1000], "z": [list(range(1000))]})
    assert max(map(len, build_grid(frame).to_text().splitlines())) < 140
    assert "y" * 199 + "…" in render_frame(frame)
    assert "[0, 1, 2," in render_frame(frame)


def test_cells_are_rendered_as_json():
    """Lists, mappings, missing values and objects with an address in their repr."""
    values = [["a", None], {"b": 1}, None, object(), 1.5, "text", b"x"]
    cells = [row[0] for row in build_grid(pd.DataFrame({"x": values})).rows]
    assert cells == ['["a", null]', '{"b": 1}', "<NA>", "<object>", "1.5", "text", "b'x'"]


@pytest.mark.parametrize(
    ("columns", "drawn"),
    [
        ({"name": ["a", "b"], "stars": [10, 5]}, ["█" * 20, "█" * 10]),
        ({"name": ["a", "b"], "stars": [1000, 1]}, ["█" * 20, "▏"]),
        ({"name": ["a", "b", "c"], "stars": [4, None, 0]}, ["█" * 20, "", ""]),
        ({"stars": [10, 5]}, []),
        ({"name": ["a", "b"], "stars": [10, 5], "forks": [1, 2]}, ["█" * 20, "█" * 10]),
        ({"id": [1, 2], "stars": [10, 9], "forks": [1, 2]}, ["█" * 10, "█" * 20]),
        ({"name": ["a", "b"], "stars": [10, 9]}, []),
        ({"name": ["a", "b"], "stars": [10, -5]}, []),
        ({"name": ["a", "b"], "stars": [0, 0]}, []),
        ({"name": ["a", "b"], "stars": [None, 5]}, []),
        ({"name": ["a"], "stars": [5]}, []),
        ({"name": ["a", "b"], "size": [float("inf"), 5.0]}, []),
        ({"name": ["a", "b"], "owner.id": [10, 5]}, []),
        ({"name": ["a", "b"], "databaseId": [10, 5]}, []),
        ({"name": ["a", "b"], "ok": [True, False]}, []),
        ({"name": [], "stars": []}, []),
    ],
)
def test_bars_are_drawn_for_the_first_column_of_amounts(columns, drawn):
    """The amounts must differ; identifiers get no bars."""
    frame = pd.DataFrame(columns).convert_dtypes()
    assert build_grid(frame).bars == drawn
    assert ("█" in render_frame(frame)) == bool(drawn)


# -- JSON


def lines(value):
    """Return the lines of a value as JSON."""
    return "\n".join(iter_json_lines(value))


def test_data_are_rendered_on_several_lines():
    """Small nested values are on one line."""
    assert lines({"hello": "Hi", "b": {"c": [1, 2]}, "d": [{"e": 1}, {"e": 2}]}) == (
        '{\n  "hello": "Hi",\n  "b": {\n    "c": [1, 2]\n  },\n'
        '  "d": [\n    {"e": 1},\n    {"e": 2}\n  ]\n}'
    )


def test_long_json_is_truncated_with_a_count():
    """Lists and mappings after their first items, text after its first characters."""
    shown = lines({"n": list(range(10**5)), "t": "x" * 5000, "m": {str(n): 1 for n in range(99)}})
    assert "… 99,980 more" in shown
    assert '…" (5,000 characters)' in shown
    assert "… 79 more" in shown
    wide = lines({str(n): {str(m): [[m]] for m in range(20)} for n in range(20)})
    assert wide.endswith("… cut after 60 lines; the data have all")
    assert len(wide.splitlines()) == 61


def test_deep_json_is_truncated():
    """Beyond a readable depth."""
    value: object = 1
    for _ in range(5000):
        value = [value, {"a": value}] if not isinstance(value, int) else [value]
    assert "[…]" in lines({"a": value})


def test_a_long_column_name_may_break_after_its_dots():
    """Else it would be wider than its values, and squeeze the other columns."""
    row = {"title": "a", "priceRange": {"minVariantPrice": {"amount": 1}}, "shop": {"name": "b"}}
    html = bundle(Result({"rows": [row, row]}))["text/html"]
    assert ">priceRange.<wbr>minVariantPrice.<wbr>amount</th>" in html
    assert ">shop.name</th>" in html


def test_lists_of_lists_unfold():
    """Of scalars as a matrix; deeper ones level by level, up to three; null is not empty."""
    html = bundle(Result({"m": [[1, 2], [3], None, []]}))["text/html"]
    assert re.search("<details open><summary[^>]*>4 items</summary>", html), (
        "alone, so there is room"
    )
    matrix = ("1,2,", "3,,", ",,&lt;NA&gt;", ",,[]")
    rows = [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in html.split("<tr>")[3:]]
    assert [",".join(row) for row in rows] == list(matrix)
    deep = bundle(Result({"a": 1, "m": [[[[[["end"]]]]]] * 12}))["text/html"]
    assert deep.count(">1 item</summary>") == 20
    assert "… 2 more" in deep
    assert "end" not in deep
    assert "<pre" not in deep


def test_numbers_of_any_size_are_aligned_to_the_right():
    """Beyond 64 bits too, and within nested lists; text and mixed columns to the left."""
    large = Result({"rows": [{"n": 10**39, "m": 1, "t": "a"}, {"n": None, "m": "b", "t": "c"}]})
    html = bundle(large)["text/html"]
    aligned = re.findall(r'<th style="text-align:(\w+)[^>]*>(\w)</th>', html)
    assert aligned == [("right", "n"), ("left", "m"), ("left", "t")]
    nested = Result({"rows": [{"items": [{"n": 1, "t": "a"}, {"t": "b"}]}]})
    html = bundle(nested)["text/html"]
    aligned = re.findall(r'<th style="text-align:(\w+)[^>]*>([nt])</th>', html)
    assert aligned == [("right", "n"), ("left", "t")]


def test_many_values_of_an_object_unfold():
    """The first 20 are in view, up to 500 more in the saved page, and the others are counted."""
    long = bundle(Result({"v": {f"v{n}": n for n in range(600)}, "t": [[1]]}))["text/html"]
    head, summary, rest = long.partition("<details><summary>581 more values</summary>")
    assert summary
    assert head.count("<tr>") == 20
    assert rest.count("<tr>") == 500
    assert "… and 81 more values" in rest
    assert "details" not in bundle(Result({f"v{n}": n for n in range(25)}))["text/html"]


def test_reprs_are_deterministic():
    """They contain no memory address."""
    for data in ({"a": object()}, {"rows": [{"x": object()}]}, {"a": [[Schema(SDL)]]}):
        for text in bundle(Result(data)).values():
            assert " at 0x" not in text


def test_errors_beyond_the_first_are_counted():
    """All are in their frame."""
    text = repr(Result({"a": 1}, errors=tuple({"message": f"m{n}"} for n in range(1234))))
    assert "Partial answer, 1,234 errors:" in text
    assert "… and 1,224 more: see result.errors_frame()" in text
    assert len(text.splitlines()) == 15


@pytest.mark.parametrize(
    ("paths", "line"),
    [
        ([["a", 1, "b"], ["a", 2, "b"], ["a", 3, "b"]], "  a[1..3].b: No."),
        ([["a", 0, "b"], ["a", 4, "b"]], "  a[0, 4].b: No."),
        ([["a", n, "b", n] for n in range(2)], "  a[0..1].b[0..1]: No."),
        ([["a", 2 * n] for n in range(8)], "  a[0, 2, 4, 6, 8, …]: No."),
        ([["a", 7]], "  a[7]: No."),
        ([[3], [4]], "  [3..4]: No."),
        ([None, None], "  No."),
    ],
)
def test_errors_that_differ_in_indices_share_a_line(paths, line):
    """A field that fails in each row is one line; the count is of all."""
    errors = [{"message": "No.", "path": path} for path in paths]
    errors.append({"message": "Yes.", "path": ["z"]})
    assert format_errors(Result({"a": 1}, errors=errors)) == [
        f"Partial answer, {len(errors)} errors:",
        line,
        "  z: Yes.",
    ]


@pytest.mark.parametrize(("rows", "shown"), [(20, 20), (21, 21), (25, 25), (26, 20), (400, 20)])
def test_a_table_is_truncated_only_beyond_25_rows(rows, shown):
    """Of more, the first 20 are shown."""
    result = Result({"a": [{"n": n} for n in range(rows)]})
    text = repr(result)
    assert text.splitlines()[shown].split()[0] == str(shown - 1)
    rest = "" if shown == rows else f", the first {shown} shown"
    assert text.splitlines()[shown + 1] == f"{rows} rows{rest}"


def test_each_list_is_rendered_as_a_table():
    """With name and number of rows; fields next to the lists are above, once."""
    result = Result(
        {"a": [{"n": 1}, {"n": 2}], "b": {"nodes": [{"x": "<i>"}], "total": 7}, "me": {"id": "u"}}
    )
    assert repr(result).splitlines() == [
        "me.id: u",
        "b.total: 7",
        "a: 2 rows",
        "   n",
        "0  1",
        "1  2",
        "b: 1 of 7 rows",
        "   x",
        "0  <i>",
    ]
    html = bundle(result)["text/html"]
    assert "<b>b</b>: 1 of 7 rows" in html
    assert "&lt;i&gt;" in html
    assert '<th style="text-align:left">b.total</th><td style="text-align:left">7</td>' in html
    assert html.count("<table>") == 3


def test_lists_beyond_the_first_tables_are_named():
    """Eight tables are shown."""
    text = repr(Result({f"l{n}": [{"n": n}] for n in range(10)}))
    assert "l7: 1 row" in text
    assert text.splitlines()[-1] == "2 more lists in .frames: l8, l9"


def test_one_object_is_a_table_of_two_columns():
    """In HTML, with null and empty text told apart; a terminal has JSON."""
    data = {"me": {"id": "u", "at": {"x": 0.1 + 0.2}}, "a": None, "b": "", "d": False}
    result = Result(data)
    html = bundle(result)["text/html"]
    cells = [part.partition("</td>")[0] for part in html.split("<td ")[1:]]
    assert [cell.partition(">")[2] for cell in cells] == [
        "u",
        "0.3",
        "null",
        "&quot;&quot;",
        "false",
    ]
    assert "me.at.x</th>" in html
    assert "<pre" not in html
    assert json.loads(repr(result)) == data


def test_nested_lists_are_counted_and_unfold():
    """The caption names their frames; HTML has the first items, and one level of them."""
    langs = [{"name": f"<{n}>", "size": n / 3, "on": [{"x": 1}]} for n in range(12)]
    result = Result({"repos": [{"langs": langs}, {"langs": []}, {"langs": langs[:1]}]})
    assert repr(result).splitlines() == [
        "   langs",
        "0  12 items",
        "1  []",
        "2  1 item",
        '3 rows; nested lists: .frames["repos.langs"], .frames["repos.langs.on"]',
    ]
    html = bundle(result)["text/html"]
    found = Tags(html)
    assert found.tags.count("details") == 2
    assert ">12 items</summary><table>" in html
    assert "&lt;9&gt;" in html
    assert "&lt;10&gt;" not in html
    assert "… 2 more" in html
    assert ">0.333333<" in html
    assert list(result.frames) == ["repos", "repos.langs", "repos.langs.on"]


def test_floats_of_a_column_have_the_same_decimals():
    """At most six; huge and tiny ones are in scientific notation, Decimals exact."""
    values = [0.1 + 0.2, 1 / 3, 12345678.5, 1e20, 1e-12, float("nan"), float("inf")]
    assert [row[0] for row in build_grid(pd.DataFrame({"x": values})).rows] == [
        "0.300000",
        "0.333333",
        "12345678.500000",
        "1e+20",
        "1e-12",
        "<NA>",
        "inf",
    ]
    exact = Decimal("0.12345678901")
    assert build_grid(pd.DataFrame({"x": [exact]})).rows == [["0.12345678901"]]


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ({"a": None, "b": None}, ["No data, 1 error:"]),
        ({"a": {"b": None}}, ["No data, 1 error:"]),
        ({"a": []}, ["Partial answer, 1 error:"]),
        ({"a": [{"n": 1}], "b": None}, ["Partial answer, 1 error:"]),
        ({"a": None, "b": 0}, ["Partial answer, 1 error:"]),
    ],
)
def test_an_answer_of_nulls_has_no_data(data, shown):
    """It is not called partial, and a list that is null is not a table of 0 rows."""
    assert format_errors(Result(data, errors=({"message": "m"},)))[:1] == shown


def test_a_null_list_is_not_an_empty_one():
    """Null has no table."""
    text = "query { a { n } b { n } }"
    schema = Schema("type Query { a: [Row] b: [Row] } type Row { n: Int }")
    both = schema.execute(text, root={"a": None, "b": []})
    assert repr(both).splitlines() == ["a: null", "  n", "0 rows"]
    assert json.loads(repr(schema.execute(text))) == {"a": None, "b": None}


def test_without_pandas_an_answer_is_json(monkeypatch):
    """As in a browser; a line names the missing module."""

    def fail(*_):
        raise ModuleNotFoundError(name="numpy")

    result = Schema("type Query { a: [Int] }").execute("{ a }", root={"a": [1]})
    monkeypatch.setattr(Result, "previews", fail)
    data, _ = result._repr_mimebundle_()
    assert data["text/plain"].splitlines()[-1] == (
        "Shown as JSON: tables need numpy, which is not installed."
    )
    assert '"a"' in data["text/plain"]
    assert "tables need numpy" in data["text/html"]
