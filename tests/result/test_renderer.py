"""Results as people see them: escaped, cut, static, and the same on every run."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pandas as pd
import pytest

from gqlnb import Schema
from gqlnb.result.renderer import (
    build_caption,
    build_grid,
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
    made = result._repr_mimebundle_()
    return made[0] if isinstance(made, tuple) else made


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
        Result({value: 1, "rows": [{"name": "a"}]}),
    ]


@pytest.mark.parametrize("value", HOSTILE, ids=ascii)
def test_no_value_becomes_markup_or_control(value):
    """Whatever it is and wherever it stands: in HTML a text, in text one harmless line."""
    for result in answers(value):
        made = bundle(result)
        found = Tags(made["text/html"])
        assert set(found.tags) <= {
            "div",
            "p",
            "pre",
            "br",
            "table",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
        }
        assert found.attributes <= {"class", "style"}
        assert found.links == []
        for text in (made["text/plain"], made["text/html"], found.text):
            text.encode()
            assert not set(text) & set("\x1b\x07\x00\x85\r\u202e\u2066\u2028\ud800")
        assert "application/json" not in made


@pytest.mark.parametrize(
    "value",
    [
        "https://github.com/a/b",
        "http://127.0.0.1:4000/graphql?x=1&y=%20#a",
    ],
)
def test_the_address_of_a_page_is_a_link(value):
    """One that opens elsewhere and learns nothing from it."""
    frame = pd.DataFrame({"url": [value, f"{value} and more", f"x{value}", value + "é"]})
    found = Tags(render_frame(frame))
    assert found.links == [value]
    assert 'rel="noopener noreferrer"' in render_frame(frame)


def test_html_keeps_mathjax_out_and_brings_no_style_of_its_own():
    """Dollars stay dollars; colours are those of the reader's theme."""
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
        "   name     n     m\n"
        "0  a        1   0.5\n"
        "1  名前  2000  <NA>\n"
        "2  e x     30  -1.0"
    ).replace("e x ", "e\u0301x  ")  # fmt: skip
    assert measure_width("名前") == 4


def test_many_rows_and_columns_are_cut_and_counted():
    """The frame has all of them."""
    frame = pd.DataFrame({f"c{n}": range(1500) for n in range(30)})
    grid = build_grid(frame)
    assert (len(grid.rows), len(grid.names)) == (20, 20)
    assert build_caption(frame) == "1,500 rows, the first 20 shown, 20 of 30 columns shown"
    assert build_caption(frame.head(20), 1500).startswith("1,500 rows, the first 20 shown")
    assert build_caption(frame[["c1"]].head(1)) == "1 row"
    assert build_caption(frame[["c1"]].head(0)) == "0 rows"


def test_long_values_are_cut():
    """In a terminal sooner than in HTML."""
    frame = pd.DataFrame({"x": ["y" * 1000], "z": [list(range(1000))]})
    assert max(map(len, build_grid(frame).to_text().splitlines())) < 140
    assert "y" * 199 + "…" in render_frame(frame)
    assert "[0, 1, 2," in render_frame(frame)


def test_cells_are_shown_as_json_has_them():
    """Lists and mappings, missing values, and what has an address in its repr."""
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
        ({"name": ["a", "b"], "stars": [10, 5], "forks": [1, 2]}, []),
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
def test_bars_are_drawn_where_they_say_something(columns, drawn):
    """Beside a lone column of amounts that differ; not for numbers that only name something."""
    frame = pd.DataFrame(columns).convert_dtypes()
    assert build_grid(frame).bars == drawn
    assert ("█" in render_frame(frame)) == bool(drawn)


def test_only_the_rows_that_are_shown_are_read():
    """A repr of a long answer takes no longer than one of a short one."""
    rows = [{"name": "a", "stars": n} for n in range(20)] + [{"name": "b", "stars": "wrong"}] * 10
    result = Result({"rows": rows})
    assert "30 rows, the first 20 shown" in repr(result)


# -- JSON


def lines(value):
    """Return the lines of a value as JSON."""
    return "\n".join(iter_json_lines(value))


@pytest.mark.parametrize(
    "value",
    [
        {"hello": "Hello world!"},
        {"a": {"b": [], "c": {}, "d": [1, 2.5, None, True, "x"]}},
        {"a": [{"b": [{"c": 'quoted "text"\n\\'}]}, {"b": None}]},
        [[1], [[2, 3]]],
        None,
        "text",
    ],
)
def test_short_json_is_shown_as_it_is(value):
    """It reads back to the same value."""
    assert json.loads(lines(value)) == value


def test_an_answer_stands_on_lines_of_its_own():
    """What is small within it on one."""
    assert lines({"hello": "Hi", "b": {"c": [1, 2]}, "d": [{"e": 1}, {"e": 2}]}) == (
        '{\n  "hello": "Hi",\n  "b": {\n    "c": [1, 2]\n  },\n'
        '  "d": [\n    {"e": 1},\n    {"e": 2}\n  ]\n}'
    )


def test_long_json_is_cut_and_counted():
    """Lists and mappings after their first items, text after its first characters."""
    shown = lines({"n": list(range(10**5)), "t": "x" * 5000, "m": {str(n): 1 for n in range(99)}})
    assert "… 99,980 more" in shown
    assert '…" (5,000 characters)' in shown
    assert "… 79 more" in shown
    wide = lines({str(n): {str(m): [[m]] for m in range(20)} for n in range(20)})
    assert wide.endswith("… cut after 60 lines; the data have all")
    assert len(wide.splitlines()) == 61


def test_deep_json_is_cut():
    """Deeper than anybody reads."""
    value: object = 1
    for _ in range(5000):
        value = [value, {"a": value}] if not isinstance(value, int) else [value]
    assert "[…]" in lines({"a": value})


def test_a_tree_is_offered_for_what_is_long_but_not_large():
    """JupyterLab shows it in place of the text; a notebook stores twice its size."""

    def offered(data, **members):
        made = Result(data, **members)._repr_mimebundle_()
        return isinstance(made, tuple) and made[0]["application/json"] == data

    def nested(count, value="x"):
        return {"a": {"b": [[{"name": value}] * 3 for _ in range(count)]}}

    assert offered(nested(20))
    assert Result(nested(20))._repr_mimebundle_()[1] == {
        "application/json": {"expanded": False, "root": "data"}
    }
    assert not offered(nested(2)), "seen at once"
    assert not offered(nested(20_000)), "too large"
    assert not offered(nested(20), errors=({"message": "m"},)), "would hide the error"
    assert not offered({"rows": [{"name": "x"}] * 50}), "a table"
    for odd in ("\x1b", "\u202e", "\x85", "\ud800", float("nan"), object()):
        assert not offered(nested(20, odd)), ascii(odd)


def test_reprs_are_the_same_on_every_run():
    """No address, whatever stands in the data."""
    for data in ({"a": object()}, {"rows": [{"x": object()}]}, {"a": [[Schema(SDL)]]}):
        for text in bundle(Result(data)).values():
            assert " at 0x" not in text


def test_errors_beyond_the_first_are_counted():
    """All are in their frame."""
    text = repr(Result({"a": 1}, errors=tuple({"message": f"m{n}"} for n in range(1234))))
    assert "Partial answer, 1,234 errors:" in text
    assert "… and 1,224 more: see result.errors_frame()" in text
    assert len(text.splitlines()) == 15
