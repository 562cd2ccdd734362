"""Results and frames as short text and static HTML, for a terminal and a notebook."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from gqlnb.errors import (
    INVISIBLE_CATEGORIES,
    GqlnbError,
    describe_exception,
    format_path,
    measure_width,
    sanitize_text,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import pandas as pd

    from gqlnb.result.paging_report import Report

    Bundle = dict[str, Any] | tuple[dict[str, Any], dict[str, Any]]

__all__ = [
    "ERRORS_SHOWN",
    "HTML_CLASSES",
    "IN_HTML",
    "NOT_AMOUNTS",
    "ROWS_SHOWN",
    "Grid",
    "Preview",
    "build_caption",
    "build_grid",
    "clip_items",
    "describe_value",
    "draw_bar",
    "format_cell",
    "format_error",
    "format_error_count",
    "format_error_path",
    "format_errors",
    "render_bundle",
    "render_frame",
    "render_note",
    "render_text",
]

ROWS_SHOWN = 20  # a screenful
COLUMNS_SHOWN = 20
IN_TEXT, IN_HTML = 60, 200  # characters of a cell
BAR_WIDTH = 20  # characters of the longest bar
ALIKE_SHARE = 0.8  # of the maximum: bars between the two look the same
MISSING = "<NA>"  # as in pandas
# ASCII without characters that would end an attribute; a text with any other is not a link.
LINK = re.compile(r"https?://[!#-;=?-\[\]_a-z~]+")
# Columns of numbers that are not amounts, so that bars would be meaningless.
NOT_AMOUNTS = re.compile(r"(^|[._])(id|number|year)$|[a-z]Id$", re.IGNORECASE)
EIGHTHS = " ▏▎▍▌▋▊▉█"
ERRORS_SHOWN = 10  # like the server's limit
ITEMS_SHOWN = 20  # of a list or mapping within JSON
LINES_SHOWN = 60  # of JSON; larger data are easier to read as frames
MAX_LINE = 100  # characters up to which a list of leaves is on one line
MAX_DEPTH = 30  # levels of JSON
VALUE_SHOWN = 200  # characters of a value beside the table, or within JSON
# Bytes of JSON up to which JupyterLab shows a tree: a notebook stores twice as many.
MAX_TREE_BYTES = 100_000
MIN_TREE_LINES = 20  # lines of JSON that fit on a screen, where a tree does not help

NOTE_STYLE = "border-left:4px solid #f59e0b;padding:2px 10px;margin:4px 0"
# Classes that keep both generations of MathJax from interpreting text between dollar signs.
HTML_CLASSES = "gqlnb tex2jax_ignore mathjax_ignore"
# Characters that a tree would show unescaped: control characters, whether JSON escapes them or
# not, and those that change the direction of text.
UNSAFE_IN_TREE = re.compile(
    r"\\u00[01]|[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


class Preview(NamedTuple):
    """The first rows of an answer with one list of objects.

    Attributes
    ----------
    frame
        The first rows.
    rows
        The total number of rows; null items after the first rows are included.
    beside
        The values selected beside the list, by dotted name.
    """

    frame: pd.DataFrame
    rows: int
    beside: dict[str, object]


class Renderable(Protocol):
    """The parts of a result that are shown."""

    @property
    def data(self) -> Any:
        """The data."""

    @property
    def errors(self) -> Sequence[Mapping[str, object]]:
        """The errors beside it."""

    @property
    def causes(self) -> Sequence[BaseException | None]:
        """The exceptions behind the errors."""

    @property
    def selections(self) -> Sequence[str]:
        """The location of each error's field in the text; empty if unknown."""

    @property
    def report(self) -> Report | None:
        """The report of paging."""

    def preview(self, rows: int | None = None) -> Preview | None:
        """Return the first rows of the only list of objects, or None."""


# -- tables


@dataclass(frozen=True, slots=True)
class Grid:
    """The visible part of a frame.

    Attributes
    ----------
    names
        The names of its columns.
    right
        Which of them are aligned to the right, as numbers are.
    rows
        The cells, row by row, shortened and without control characters.
    index
        The labels of the rows.
    bars
        For each row a bar proportional to its only number; empty if bars would not help.
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
        """Return the table as HTML without scripts, style sheets and colours."""
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
    """Return the first rows and columns of a frame, with cells of at most `limit` characters."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    shown = frame.iloc[:ROWS_SHOWN, :COLUMNS_SHOWN]
    series = [shown.iloc[:, at] for at in range(len(shown.columns))]
    dtypes = [column.dtype for column in series]
    numeric = [is_numeric_dtype(dtype) and not is_bool_dtype(dtype) for dtype in dtypes]
    names = [sanitize_text(name, limit) for name in shown.columns]
    cells = [[format_cell(value, limit) for value in column] for column in series]
    numbers = [at for at, is_number in enumerate(numeric) if is_number]
    bars: list[str] = []
    if len(numbers) == 1 and len(names) > 1 and not NOT_AMOUNTS.search(names[numbers[0]]):
        bars = draw_bars(series[numbers[0]])
    rows = [list(row) for row in zip(*cells, strict=True)]
    return Grid(names, numeric, rows, [sanitize_text(label, limit) for label in shown.index], bars)


def build_caption(frame: pd.DataFrame, rows: int | None = None) -> str:
    """Return the numbers of rows and columns in words, with the numbers shown.

    `rows` is the total number if the frame holds only the first rows.
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
    """Return the beginning of a list or mapping, more than a cell shows of it."""
    if isinstance(value, dict):
        return {str(key): value[key] for key in list(value)[:ROWS_SHOWN]}
    return list(value)[: ROWS_SHOWN * 5]


def describe_value(value: object) -> str:
    """Return a value that JSON does not have as text, without a memory address."""
    text = str(value)
    return f"<{type(value).__name__}>" if " at 0x" in text else text


def draw_bars(numbers: pd.Series[Any]) -> list[str]:
    """Return bars for a column of numbers; empty if they are similar, negative or infinite."""
    values = numbers.astype("Float64").fillna(-1).tolist()
    known = [value for value, there in zip(values, numbers.notna(), strict=True) if there]
    if len(known) < 2 or min(known) < 0 or not 0 < max(known) < float("inf"):
        return []
    if min(known) > ALIKE_SHARE * max(known):
        return []
    return [draw_bar(value / max(known)) for value in values]


def draw_bar(share: float) -> str:
    """Return a bar in eighths of a character, at least one for a positive share."""
    whole, rest = divmod(max(round(share * BAR_WIDTH * 8), int(share > 0)), 8)
    return ("█" * whole + EIGHTHS[rest]).rstrip()


def pad_cells(cells: Sequence[str], right: bool) -> list[str]:
    """Return cells padded to equal width."""
    wide = max(map(measure_width, cells))
    gaps = [" " * (wide - measure_width(text)) for text in cells]
    return [gap + text if right else text + gap for gap, text in zip(gaps, cells, strict=True)]


def render_cell(tag: str, text: str, right: bool) -> str:
    """Return a cell of an HTML table, as a link if its text is a URL."""
    body = escape(text, quote=True)
    if tag == "td" and LINK.fullmatch(text):
        body = f'<a href="{body}" target="_blank" rel="noopener noreferrer">{body}</a>'
    faint = ";opacity:.5" if text == MISSING else ""
    return f'<{tag} style="text-align:{"right" if right else "left"}{faint}">{body}</{tag}>'


# -- results


def render_text(result: Renderable) -> str:
    """Return a result as text: a table of its rows, else JSON; errors below."""
    return _join_text(result, _get_preview(result))


def render_bundle(result: Renderable) -> Bundle:
    """Return a result as a MIME bundle.

    Returns
    -------
    dict, or (dict, dict) with metadata
        Always ``text/plain`` and ``text/html``. The HTML is escaped and has neither scripts nor
        style sheets, so that it looks the same in an untrusted notebook. Also
        ``application/json``, which JupyterLab shows as a tree instead of both, if there are neither
        a table nor errors, and the data are larger than a screen and small enough to be stored.
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
    """Return lines as an HTML note, by default an orange one; empty without lines."""
    return f'<div style="{style}">{"<br>".join(map(escape, lines))}</div>' if lines else ""


def render_frame(frame: pd.DataFrame, note: str = "") -> str:
    """Return the first rows of a frame as an escaped HTML table, with a note or caption below."""
    below = escape(note or build_caption(frame))
    return f'{build_grid(frame, IN_HTML).to_html()}<p style="opacity:.7;margin:2px 0">{below}</p>'


def _get_preview(result: Renderable) -> Preview | None:
    try:
        return result.preview(ROWS_SHOWN)
    except GqlnbError:  # values that do not fit their column: JSON shows them all
        return None


def _render_paragraph(lines: Sequence[str]) -> str:
    return f'<p style="margin:2px 0">{"<br>".join(map(escape, lines))}</p>' if lines else ""


def _list_lines_beside(others: Mapping[str, object]) -> list[str]:
    """Return the values beside the rows as lines ``name: value``."""
    shown = [
        f"{sanitize_text(name, 120)}: {_format_value(value)}"
        for name, value in islice(others.items(), ROWS_SHOWN)
    ]
    more = len(others) - len(shown)
    return [*shown, f"… and {more} more values"] if more > 0 else shown


def _format_value(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return sanitize_text(text, VALUE_SHOWN)


# -- JSON


def iter_json_lines(value: object) -> Iterator[str]:
    """Yield lines of JSON text, with long values cut and control characters replaced by blanks."""
    found = _iter_value_lines(value, "", "", "")
    yield from islice(found, LINES_SHOWN)
    if next(found, None) is not None:
        yield f"… cut after {LINES_SHOWN} lines; the data have all"


def _iter_value_lines(value: object, head: str, indent: str, comma: str) -> Iterator[str]:
    """Yield the lines of one value, with `head` before it and `comma` after it."""
    if not isinstance(value, (dict, list, tuple)):
        yield f"{indent}{head}{_format_leaf(value)}{comma}"
        return
    depth = len(indent) // 2
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    items: list[tuple[str, object]]
    if isinstance(value, dict):
        items = [(f"{_format_leaf(str(k))}: ", v) for k, v in islice(value.items(), ITEMS_SHOWN)]
    else:
        items = [("", item) for item in value[:ITEMS_SHOWN]]
    more = len(value) - len(items)
    rest = [f"… {more:,} more"] if more else []
    line = f"{opening}…{closing}" if depth >= MAX_DEPTH else None
    is_flat = not any(isinstance(item, (dict, list, tuple)) for _, item in items)
    # The answer itself has a line for each of its fields.
    if not value or (line is None and is_flat and (opening == "[" or depth)):
        leaves = [name + _format_leaf(item) for name, item in items]
        line = f"{opening}{', '.join([*leaves, *rest])}{closing}"
        line = line if len(line) <= MAX_LINE else None
    if line is not None:
        yield f"{indent}{head}{line}{comma}"
        return
    yield f"{indent}{head}{opening}"
    for number, (name, item) in enumerate(items, 1):
        separator = "," if more or number < len(items) else ""
        yield from _iter_value_lines(item, name, f"{indent}  ", separator)
    yield from (f"{indent}  {text}" for text in rest)
    yield f"{indent}{closing}{comma}"


def _format_leaf(value: object) -> str:
    """Return a leaf as JSON, or as its own text if JSON does not have it."""
    if isinstance(value, str) and len(value) > VALUE_SHOWN:
        return f'{_format_leaf(value[:VALUE_SHOWN])[:-1]}…" ({len(value):,} characters)'
    try:
        text = json.dumps(value, ensure_ascii=False, default=describe_value)
    except ValueError:  # an integer with more digits than Python converts
        text = f"<{type(value).__name__}>"
    return "".join(" " if unicodedata.category(c) in INVISIBLE_CATEGORIES else c for c in text)


def is_tree(data: object) -> bool:
    """Return whether JSON data are better, safely and cheaply shown as a tree."""
    if (
        not isinstance(data, dict)
        or sum(1 for _ in islice(iter_json_lines(data), MIN_TREE_LINES + 1)) <= MIN_TREE_LINES
    ):
        return False
    size = 0  # counted while encoding, to stop early at large data
    try:
        for part in json.JSONEncoder(ensure_ascii=False, allow_nan=False).iterencode(data):
            size += len(part.encode())
            if size > MAX_TREE_BYTES or UNSAFE_IN_TREE.search(part):
                return False
    except (TypeError, ValueError, RecursionError):  # not JSON, or too deep for a viewer
        return False
    return True


# -- errors


def format_error(error: Mapping[str, object]) -> str:
    """Return an error of an answer as one line: path and message."""
    path = format_error_path(error)
    message = sanitize_text(error.get("message", "no message"))
    return f"{path}: {message}" if path else message


def format_error_count(errors: Collection[object]) -> str:
    """Return the number of errors in words."""
    return "1 error" if len(errors) == 1 else f"{len(errors):,} errors"


def format_error_path(error: Mapping[str, object]) -> str | None:
    """Return the path of an error as ``a.b[0].c``; None without a valid path."""
    path = error.get("path")
    if not isinstance(path, (list, tuple)) or not path:
        return None
    return format_path(path, 120)


def format_errors(result: Renderable) -> list[str]:
    """Return the errors of an answer as lines: path, message, and location of the field."""
    if not result.errors:
        return []
    causes = [*result.causes, *[None] * len(result.errors)]
    lines = []
    shown = zip(result.errors[:ERRORS_SHOWN], causes, result.selections, strict=False)
    for error, cause, place in shown:
        described = error if cause is None else {**error, "message": describe_exception(cause)}
        lines.append(f"  {format_error(described)}" + (f" ({place})" if place else ""))
    more = len(result.errors) - len(lines)
    rest = [f"  … and {more:,} more: see result.errors_frame()"] if more else []
    return [f"Partial answer, {format_error_count(result.errors)}:", *lines, *rest]
