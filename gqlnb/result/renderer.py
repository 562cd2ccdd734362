"""A frame as a table of short texts, for people: in a terminal, and as HTML."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from gqlnb.errors import INVISIBLE_CATEGORIES, GqlnbError, describe_exception, sanitize_text
from gqlnb.result.frame_warnings import format_error_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

__all__ = [
    "ERRORS_SHOWN",
    "HTML_CLASSES",
    "IN_HTML",
    "NOT_AMOUNTS",
    "ROWS_SHOWN",
    "Grid",
    "build_caption",
    "build_grid",
    "clip_items",
    "describe_value",
    "draw_bar",
    "format_cell",
    "format_error",
    "format_error_path",
    "format_errors",
    "render_bundle",
    "render_frame",
    "render_note",
    "render_text",
]

ROWS_SHOWN = 20  # a screenful; the frame has the rest
COLUMNS_SHOWN = 20
IN_TEXT, IN_HTML = 60, 200  # characters of a cell
BAR_WIDTH = 20  # characters of the longest bar
ALIKE_SHARE = 0.8  # of the largest: bars from there on look the same
MISSING = "<NA>"  # as pandas shows it
# ASCII alone, without what would end an attribute; a text with anything else is no link.
LINK = re.compile(r"https?://[!#-;=?-\[\]_a-z~]+")
NOT_AMOUNTS = re.compile(r"(^|[._])(id|number|year)$|[a-z]Id$", re.IGNORECASE)  # not amounts
EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True, slots=True)
class Grid:
    """What is shown of a frame.

    Attributes
    ----------
    names
        The names of its columns.
    right
        Which of them stand at the right, as numbers do.
    rows
        The cells, row by row, cut and free of control characters.
    index
        The labels of the rows.
    bars
        For each row a bar as long as its one number is large; empty if that would say nothing.
    """

    names: list[str]
    right: list[bool]
    rows: list[list[str]]
    index: list[str]
    bars: list[str]

    def to_text(self) -> str:
        """Return the table as lines of text."""
        columns = [["", *self.index], *map(list, zip(self.names, *self.rows, strict=True))]
        right = [False, *self.right]
        if self.bars:
            columns.append(["", *self.bars])
            right.append(False)
        filled = [pad_cells(column, end) for column, end in zip(columns, right, strict=True)]
        return "\n".join("  ".join(line).rstrip() for line in zip(*filled, strict=True))

    def to_html(self) -> str:
        """Return the table as HTML: no script, no style sheet, no colour of its own."""
        names = [*self.names, ""] if self.bars else self.names
        right = [*self.right, False] if self.bars else self.right
        head = "".join(render_cell("th", name, end) for name, end in zip(names, right, strict=True))
        body = []
        for at, row in enumerate(self.rows):
            cells = [
                render_cell("td", text, end) for text, end in zip(row, self.right, strict=True)
            ]
            if self.bars:
                cells.append(f'<td style="text-align:left;opacity:.6">{self.bars[at]}</td>')
            body.append(f"<tr><th>{escape(self.index[at])}</th>{''.join(cells)}</tr>")
        return (
            f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
        )


def build_grid(frame: pd.DataFrame, limit: int = IN_TEXT) -> Grid:
    """Return the first rows and columns of a frame, cells of `limit` characters at most."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    shown = frame.iloc[:ROWS_SHOWN, :COLUMNS_SHOWN]
    series = [shown.iloc[:, at] for at in range(len(shown.columns))]
    numeric = [is_numeric_dtype(it.dtype) and not is_bool_dtype(it.dtype) for it in series]
    names = [sanitize_text(name, limit) for name in shown.columns]
    cells = [[format_cell(value, limit) for value in column] for column in series]
    numbers = [at for at, is_number in enumerate(numeric) if is_number]
    bars: list[str] = []
    if len(numbers) == 1 and len(names) > 1 and not NOT_AMOUNTS.search(names[numbers[0]]):
        bars = draw_bars(series[numbers[0]])
    rows = [list(row) for row in zip(*cells, strict=True)]
    return Grid(names, numeric, rows, [sanitize_text(label, limit) for label in shown.index], bars)


def build_caption(frame: pd.DataFrame, rows: int | None = None) -> str:
    """Return how many rows and columns there are, and how many of them are shown.

    `rows` is their number where the frame holds only the first of them.
    """
    count, width = len(frame) if rows is None else rows, len(frame.columns)
    parts = ["1 row" if count == 1 else f"{count:,} rows"]
    if count > min(len(frame), ROWS_SHOWN):
        parts.append(f"the first {min(len(frame), ROWS_SHOWN)} shown")
    if width > COLUMNS_SHOWN:
        parts.append(f"{COLUMNS_SHOWN} of {width:,} columns shown")
    return ", ".join(parts)


def format_cell(value: Any, limit: int) -> str:
    """Return a cell as one line of text."""
    from pandas import isna

    if type(value).__name__ == "ndarray":
        value = value.tolist()
    if isinstance(value, (list, tuple, dict)):
        return sanitize_text(
            json.dumps(clip_items(value), ensure_ascii=False, default=describe_value), limit
        )
    if isinstance(value, str):
        return sanitize_text(value, limit)
    return MISSING if isna(value) else sanitize_text(describe_value(value), limit)


def clip_items(value: Any) -> Any:
    """Return the beginning of a list or mapping: what is cut off anyway need not be written."""
    if isinstance(value, dict):
        return {str(key): value[key] for key in list(value)[:ROWS_SHOWN]}
    return list(value)[: ROWS_SHOWN * 5]


def describe_value(value: Any) -> str:
    """Return what is no JSON value as text, without the address that its repr may hold."""
    said = str(value)
    return f"<{type(value).__name__}>" if " at 0x" in said else said


def draw_bars(numbers: pd.Series[Any]) -> list[str]:
    """Return bars for a column of numbers; none where they would say nothing.

    Amounts that are much alike, below zero or without end have none.
    """
    values = numbers.astype("Float64").fillna(-1).tolist()
    known = [value for value, there in zip(values, numbers.notna(), strict=True) if there]
    if len(known) < 2 or min(known) < 0 or not 0 < max(known) < float("inf"):
        return []
    if min(known) > ALIKE_SHARE * max(known):
        return []
    return [draw_bar(value / max(known)) for value in values]


def draw_bar(share: float) -> str:
    """Return a bar, in eighths of a character; what is more than nothing shows, a gap does not."""
    whole, rest = divmod(max(round(share * BAR_WIDTH * 8), int(share > 0)), 8)
    return ("█" * whole + EIGHTHS[rest]).rstrip()


def pad_cells(cells: Sequence[str], right: bool) -> list[str]:
    """Return cells of equal width in columns of a terminal."""
    wide = max(map(measure_width, cells))
    return [
        " " * (wide - measure_width(text)) + text
        if right
        else text + " " * (wide - measure_width(text))
        for text in cells
    ]


def measure_width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def render_cell(tag: str, text: str, right: bool) -> str:
    """Return a cell of an HTML table, with a link if it is nothing but the address of a page."""
    body = escape(text, quote=True)
    if tag == "td" and LINK.fullmatch(text):
        body = f'<a href="{body}" target="_blank" rel="noopener noreferrer">{body}</a>'
    faint = ";opacity:.5" if text == MISSING else ""
    return f'<{tag} style="text-align:{"right" if right else "left"}{faint}">{body}</{tag}>'


if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from gqlnb.result.frames import Preview
    from gqlnb.result.paging_report import Report

    Bundle = dict[str, Any] | tuple[dict[str, Any], dict[str, Any]]

ERRORS_SHOWN = 10  # the same cap as the server's
ITEMS_SHOWN = 20  # of a list or mapping within JSON
LINES_SHOWN = 60  # of JSON; more is seen better as frames
MAX_LINE = 100  # characters up to which a list of leaves stands on one line
MAX_DEPTH = 30  # levels of JSON
VALUE_SHOWN = 200  # characters of a value beside the table, or within JSON; the data have the rest
MAX_TREE_BYTES = (
    100_000  # bytes of JSON up to which JupyterLab gets a tree: a notebook stores twice as many
)
MIN_TREE_LINES = 20  # lines of JSON that are seen at once, so that a tree is no help

NOTE_STYLE = "border-left:4px solid #f59e0b;padding:2px 10px;margin:4px 0"
# Classes that keep MathJax, in its two generations, from reading what stands between two dollars.
HTML_CLASSES = "gqlnb tex2jax_ignore mathjax_ignore"
# What a tree would show as it is: control characters, written by JSON or not, and those that turn
# the direction of text.
UNSAFE_IN_TREE = re.compile(
    r"\\u00[01]|[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


class Renderable(Protocol):
    """What is shown of a result."""

    @property
    def data(self) -> Any:
        """The data."""

    @property
    def errors(self) -> Sequence[Mapping[str, Any]]:
        """The errors beside it."""

    @property
    def causes(self) -> Sequence[BaseException | None]:
        """The exceptions behind the errors."""

    @property
    def selections(self) -> Sequence[str]:
        """Where in the text the field of each error is selected, where that is said."""

    @property
    def report(self) -> Report | None:
        """What paging did."""

    def preview(self, rows: int | None = None) -> Preview | None:
        """Return the first rows of the one list of objects, None where there is no such list."""


def render_text(result: Renderable) -> str:
    """Return a result as text: a table of its rows, else JSON; errors below."""
    return _join_text(result, _get_preview(result))


def render_bundle(result: Renderable) -> Bundle:
    """Return a result as MIME bundle.

    Returns
    -------
    dict, or (dict, dict) with metadata
        ``text/sanitize_text`` and ``text/html`` always. The HTML is escaped, has neither script nor style
        sheet, and thus looks the same in a notebook that is not trusted. ``application/json``,
        which JupyterLab shows as a tree in place of both, where there is no table, no error, and
        more than a screenful that is not too large to be stored.
    """
    table = _get_preview(result)
    bundle: dict[str, Any] = {
        "text/plain": _join_text(result, table),
        "text/html": _join_html(result, table),
    }
    if table is not None or result.errors or result.report or not is_tree(result.data):
        return bundle
    return bundle | {"application/json": result.data}, {
        "application/json": {"expanded": False, "root": "data"}
    }


def _join_text(result: Renderable, table: Preview | None) -> str:
    if table is None:
        body = list(iter_json_lines(result.data))
    else:
        shown = build_grid(table.frame).to_text()
        body = [*_list_lines_beside(table.beside), shown, build_caption(table.frame, table.rows)]
    return "\n".join([*body, *format_errors(result), *_list_page_lines(result)])


def _join_html(result: Renderable, table: Preview | None) -> str:
    if table is None:
        lines = escape("\n".join(iter_json_lines(result.data)))
        body = f'<pre style="white-space:pre-wrap">{lines}</pre>'
    else:
        above = _render_paragraph(_list_lines_beside(table.beside))
        body = above + render_frame(table.frame, build_caption(table.frame, table.rows))
    note = render_note(format_errors(result))
    below = _render_paragraph(_list_page_lines(result))
    return f'<div class="{HTML_CLASSES}">{note}{body}{below}</div>'


def _list_page_lines(result: Renderable) -> list[str]:
    return result.report.format_lines() if result.report is not None else []


def render_note(lines: Sequence[str], style: str = NOTE_STYLE) -> str:
    """Return lines as an HTML note, by default an orange one; nothing for none."""
    return f'<div style="{style}">{"<br>".join(map(escape, lines))}</div>' if lines else ""


def render_frame(frame: pd.DataFrame, note: str = "") -> str:
    """Return the first rows of a frame as an escaped HTML table, with a note below.

    The note says by default how many rows there are, and how many are shown.
    """
    below = escape(note or build_caption(frame))
    return f'{build_grid(frame, IN_HTML).to_html()}<p style="opacity:.7;margin:2px 0">{below}</p>'


def _get_preview(result: Renderable) -> Preview | None:
    """Return the first rows and what stands beside them, for an answer of one list of objects."""
    try:
        return result.preview(ROWS_SHOWN)
    except GqlnbError:  # values that fit no column: JSON shows them all
        return None


def _render_paragraph(lines: Sequence[str]) -> str:
    return f'<p style="margin:2px 0">{"<br>".join(map(escape, lines))}</p>' if lines else ""


def _list_lines_beside(others: Mapping[str, Any]) -> list[str]:
    """Return what was asked for beside the rows, a line ``name: value`` each."""
    shown = [
        f"{sanitize_text(name, 120)}: {_format_value(value)}"
        for name, value in islice(others.items(), ROWS_SHOWN)
    ]
    more = len(others) - len(shown)
    return [*shown, f"… and {more} more values"] if more > 0 else shown


def _format_value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return sanitize_text(text, VALUE_SHOWN)


# -- JSON


def iter_json_lines(value: Any) -> Iterator[str]:
    """Yield the lines of JSON text: long values and lists are cut, odd characters are blanks."""
    found = _iter_value_lines(value, "", "", "")
    yield from islice(found, LINES_SHOWN)
    if next(found, None) is not None:
        yield f"… cut after {LINES_SHOWN} lines; the data have all"


def _iter_value_lines(value: Any, head: str, indent: str, comma: str) -> Iterator[str]:
    """Yield the lines of one value; `head` stands before it and `comma` behind it."""
    line = _format_on_one_line(value, len(indent) // 2)
    if line is not None:
        yield f"{indent}{head}{line}{comma}"
        return
    pairs: list[tuple[str, Any]]
    if isinstance(value, dict):
        opening, closing = "{", "}"
        pairs = [(f"{_format_leaf(str(k))}: ", v) for k, v in islice(value.items(), ITEMS_SHOWN)]
    else:
        opening, closing = "[", "]"
        pairs = [("", item) for item in value[:ITEMS_SHOWN]]
    yield f"{indent}{head}{opening}"
    more = len(value) - len(pairs)
    for number, (name, item) in enumerate(pairs, 1):
        yield from _iter_value_lines(
            item, name, f"{indent}  ", "," if more or number < len(pairs) else ""
        )
    if more:
        yield f"{indent}  … {more:,} more"
    yield f"{indent}{closing}{comma}"


def _format_on_one_line(value: Any, depth: int) -> str | None:
    """Return what takes one line: a leaf, nothing in brackets, a few leaves."""
    if isinstance(value, dict):
        ends, items = "{}", list(islice(value.values(), ITEMS_SHOWN))
        names = [f"{_format_leaf(str(key))}: " for key in islice(value, ITEMS_SHOWN)]
    elif isinstance(value, (list, tuple)):
        ends, items = "[]", list(value[:ITEMS_SHOWN])
        names = [""] * len(items)
    else:
        return _format_leaf(value)
    if not value:
        return ends
    if depth >= MAX_DEPTH:
        return f"{ends[0]}…{ends[1]}"
    if any(isinstance(item, (dict, list, tuple)) for item in items) or (ends == "{}" and not depth):
        return None  # the answer itself takes a line for each of its fields
    shown = [name + _format_leaf(item) for name, item in zip(names, items, strict=True)]
    more = [f"… {len(value) - len(items):,} more"] if len(value) > len(items) else []
    line = f"{ends[0]}{', '.join([*shown, *more])}{ends[1]}"
    return line if len(line) <= MAX_LINE else None


def _format_leaf(value: Any) -> str:
    """Return a leaf as JSON writes it, or what it says of itself if it is no JSON value."""
    if isinstance(value, str) and len(value) > VALUE_SHOWN:
        return f'{_format_leaf(value[:VALUE_SHOWN])[:-1]}…" ({len(value):,} characters)'
    try:
        text = json.dumps(value, ensure_ascii=False, default=describe_value)
    except ValueError:  # a number of more digits than Python writes
        text = f"<{type(value).__name__}>"
    return "".join(" " if unicodedata.category(c) in INVISIBLE_CATEGORIES else c for c in text)


def is_tree(data: Any) -> bool:
    """Tell whether JSON data are better shown as a tree, and safely and cheaply so."""
    if (
        not isinstance(data, dict)
        or sum(1 for _ in islice(iter_json_lines(data), MIN_TREE_LINES + 1)) <= MIN_TREE_LINES
    ):
        return False
    size = 0
    try:
        for part in json.JSONEncoder(ensure_ascii=False, allow_nan=False).iterencode(data):
            size += len(part.encode())
            if size > MAX_TREE_BYTES or UNSAFE_IN_TREE.search(part):
                return False
    except (TypeError, ValueError, RecursionError):  # no JSON, or too deep for a viewer
        return False
    return True


# -- errors


def format_error(error: Mapping[str, Any]) -> str:
    """Return an error of an answer as one line: where it happened, and what."""
    where = format_error_path(error)
    message = sanitize_text(error.get("message", "no message"))
    return f"{where}: {message}" if where else message


def format_error_path(error: Mapping[str, Any]) -> str | None:
    """Return the dotted path of an error; None where the endpoint sent none, or no list."""
    path = error.get("path")
    return format_path(path) if isinstance(path, (list, tuple)) and path else None


def format_path(path: Any) -> str:
    """Return a response path as text: ``a.b[0].c``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return sanitize_text(text.removeprefix("."), 120)


def format_errors(result: Renderable) -> list[str]:
    """Return the errors of an answer as lines: where, what, and which line asked for it."""
    if not result.errors:
        return []
    causes = [*result.causes, *[None] * len(result.errors)]
    lines = [
        f"  {format_error(error if cause is None else {**error, 'message': describe_exception(cause)})}"
        + (f" ({place})" if place else "")
        for error, cause, place in zip(
            result.errors[:ERRORS_SHOWN], causes, result.selections, strict=False
        )
    ]
    more = len(result.errors) - len(lines)
    rest = [f"  … and {more:,} more: see result.errors_frame()"] if more else []
    return [f"Partial answer, {format_error_count(result.errors)}:", *lines, *rest]
