"""Results and frames as short text and static HTML, for a terminal and a notebook."""

from __future__ import annotations

import json
import re
import sys
import time
from datetime import datetime
from decimal import Decimal
from html import escape
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from gqlnb.config import load_project_settings
from gqlnb.document.error_details import explain_message
from gqlnb.document.scalar_values import format_short_age, is_missing
from gqlnb.errors import (
    GqlnbError,
    clean_text,
    describe_exception,
    format_count,
    format_path,
    measure_width,
    sanitize_text,
)
from gqlnb.result.answer_notes import format_notes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pandas as pd

    from gqlnb.document.json_codec import JSON
    from gqlnb.result.list_verdicts import Verdict

    Bundle = tuple[dict[str, Any], dict[str, Any]]

    from IPython.core.interactiveshell import InteractiveShell
    from IPython.lib.pretty import RepresentationPrinter

ROWS_SHOWN = 20  # a screenful, of more rows than
MOST_ROWS = 25  # which are all shown: "the first 20 of 21" would leave out one row
COLUMNS_SHOWN = 20
TABLES_SHOWN = 8  # of an answer with several lists
ITEMS_UNFOLDED = 10  # of a list within a cell
LEVELS_UNFOLDED = 3  # of lists within lists
UNBROKEN_HEADER = 24  # characters of a column's name; a longer one may be broken after its dots
UNBROKEN_CELL = 25  # characters of a cell; a longer one is broken between its words
WIDE_CELL = 80  # characters; a longer cell gets room for several words on a line
NAME_ON_A_LINE = 40  # characters of a name beside its value; a longer one is broken
VALUES_UNFOLDED = 500  # of one object, beyond the first
IN_TEXT, IN_HTML = 60, 200  # characters of a cell
DECIMALS = 6  # of a float, as in pandas
LONGEST_INTEGER = 14_000  # bits; Python converts up to 4,300 digits
HUGE = 1e15  # larger floats use scientific notation
BAR_WIDTH = 20  # characters of the longest bar
ALIKE_SHARE = 0.8  # of the maximum: bars between the two look the same
MISSING = "<NA>"  # as in pandas
MORE_WORDS = {"more": "more exist", "unknown": "perhaps more"}  # by the state of a verdict
FETCH_ALL = "--paginate fetches all"  # an option of cells and of `gqlnb query`
# ASCII without characters that would end an attribute; a text with any other is not a link.
LINK = re.compile(r"https?://[!#-;=?-\[\]_a-z~]+")
# Columns of numbers that are not amounts, so that bars would be meaningless.
NOT_AMOUNTS = re.compile(r"(?i:(^|[._ ])(id|number|year)$)|[a-z](Id|ID|Number|Year)$")
BREAK = re.compile(r"[^\w.,]")  # where a browser may break a line
EIGHTHS = " ▏▎▍▌▋▊▉█"
ERRORS_SHOWN = 10  # like the server's limit
REASONS_SHOWN = 3  # errors in a warning
ERRORS_EXAMINED = 1000  # for errors that share a line
INDICES_SHOWN = 5  # of errors that share a line
ITEMS_SHOWN = 20  # of a list or mapping within JSON
LINES_SHOWN = 60  # of JSON; larger data are easier to read as frames
MAX_LINE = 100  # characters up to which a list of leaves is on one line
MAX_DEPTH = 30  # levels of JSON
VALUE_SHOWN = 200  # characters of a value beside the table, or within JSON

# Blocks overlap by a hair, or fonts other than the terminal's leave gaps between them. Their grey
# is opaque, so that the overlaps are not darker; it is readable on light and dark pages.
# They are small, so that a narrow page shows them whole.
BAR_STYLE = "text-align:left;color:#777;white-space:nowrap;letter-spacing:-.06em;font-size:60%"
LONG_NAME_STYLE = "text-align:left;white-space:normal;overflow-wrap:anywhere;max-width:40ch"
# JupyterLab breaks preformatted text within words.
TEXT_STYLE = "margin:0;white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere"
COLUMNS_STYLE = "margin:0;white-space:pre;overflow-x:auto"
NOTE_STYLE = "border-left:4px solid #f59e0b;padding:2px 10px;margin:4px 0"
# Classes that keep both generations of MathJax from interpreting text between dollar signs.
HTML_CLASSES = "gqlnb tex2jax_ignore mathjax_ignore"


Renderable: TypeAlias = Any  # a result, whose module imports this one


class Preview(NamedTuple):
    """The first rows of a list of an answer.

    Attributes
    ----------
    frame
        The first rows.
    rows
        The total number of rows; null items after the first rows are included.
    beside
        The values selected beside the list, by dotted name; null for a list that is null.
    nested
        The names of the lists within its rows, in ``.frames`` of the result, with whether those of
        the first rows are whole: a table of 20,000 rows is shown without reading the others.
    verdict
        Whether the list is whole, if it is of one answer.
    """

    frame: pd.DataFrame
    rows: int
    beside: dict[str, object]
    nested: Mapping[str, Verdict | None] = {}
    verdict: Verdict | None = None


# -- tables


class Grid(msgspec.Struct, frozen=True):
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
        For each row a bar proportional to one of its numbers; empty if bars would not help.
    unfolded
        The items of a list within a cell, by the number of its row and column.
    links
        The address that a cell links to, by the number of its row and column.
    measure
        The name of the column that the bars show; empty if it is the last one, and has the only
        numbers.
    """

    names: list[str]
    right: list[bool]
    rows: list[list[str]]
    index: list[str]
    bars: list[str]
    unfolded: dict[tuple[int, int], Grid] = msgspec.field(default_factory=dict)
    links: dict[tuple[int, int], str] = msgspec.field(default_factory=dict)
    measure: str = ""

    def to_text(self) -> str:
        """Return the table as lines of text."""
        columns = [["", *self.index], *map(list, zip(self.names, *self.rows, strict=True))]
        right = [False, *self.right]
        if self.bars:
            columns.append([self.measure, *self.bars])
            right.append(False)
        filled = [pad_cells(column, right=end) for column, end in zip(columns, right, strict=True)]
        return "\n".join("  ".join(line).rstrip() for line in zip(*filled, strict=True))

    def to_html(self) -> str:
        """Return the table as HTML without scripts, style sheets and colours."""
        names = [*self.names, self.measure] if self.bars else self.names
        right = [*self.right, False] if self.bars else self.right
        head = "".join(
            render_cell("th", name, right=end) for name, end in zip(names, right, strict=True)
        )
        body = []
        for at, row in enumerate(self.rows):
            cells = [
                render_cell(
                    "td",
                    text,
                    right=end,
                    inner=self.unfolded.get((at, number)),
                    link=self.links.get((at, number), text),
                )
                for number, (text, end) in enumerate(zip(row, self.right, strict=True))
            ]
            if self.bars:
                cells.append(f'<td style="{BAR_STYLE}">{self.bars[at]}</td>')
            body.append(f"<tr><th>{escape(self.index[at])}</th>{''.join(cells)}</tr>")
        return (
            f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
        )


def build_grid(frame: pd.DataFrame, limit: int = IN_TEXT) -> Grid:
    """Return the first rows and columns of a frame, with cells of at most `limit` characters."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype, is_object_dtype

    part = frame.iloc[: count_shown(len(frame)), :COLUMNS_SHOWN]
    series = [part.iloc[:, at] for at in range(len(part.columns))]
    dtypes = [column.dtype for column in series]
    numeric = [is_numeric_dtype(dtype) and not is_bool_dtype(dtype) for dtype in dtypes]
    names = [sanitize_text(name, limit) for name in part.columns]
    columns = [list(map(unwrap_array, column)) for column in series]
    cells = [format_column(values, limit) for values in columns]
    numbers = [at for at, is_number in enumerate(numeric) if is_number]
    drawn = [(at, draw_bars(series[at])) for at in numbers if not NOT_AMOUNTS.search(names[at])]
    number, bars = next(filter(itemgetter(1), drawn), (0, []))
    if len(names) == 1:
        bars = []
    rows = [list(row) for row in zip(*cells, strict=True)]
    index = [sanitize_text(label, limit) for label in part.index]
    unfolded = {
        (at, number): build_inner_grid(value)
        for number, values in enumerate(columns)
        for at, value in enumerate(values)
        if limit == IN_HTML and is_nested(value)  # a terminal has nothing to unfold
    }
    right = [
        is_numeric or (is_object_dtype(dtype) and holds_numbers(values))
        for is_numeric, dtype, values in zip(numeric, dtypes, columns, strict=True)
    ]
    is_clear = len(numbers) == 1 and number == len(names) - 1  # the bars stand beside their numbers
    measure = names[number] if bars and not is_clear else ""
    return Grid(names, right, rows, index, bars, unfolded, measure=measure)


def is_number(value: object) -> bool:
    """Return whether a value of a column of mixed types is a number."""
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def holds_numbers(values: Sequence[object]) -> bool:
    """Return whether all values are numbers or missing, as integers beyond 64 bits."""
    present = [value for value in values if not is_missing(value)]
    return bool(present) and all(map(is_number, present))


def is_nested(value: object) -> bool:
    """Return whether a value is a list of objects or of lists."""
    return isinstance(value, (list, tuple)) and any(
        isinstance(item, (dict, list, tuple)) for item in value[:ROWS_SHOWN]
    )


def build_inner_grid(items: Sequence[JSON], level: int = 1) -> Grid:
    """Return the first items of a list within a cell as a grid; of lists of lists, all levels."""
    first = items[:ITEMS_UNFOLDED]
    mappings = [_map_columns(item) for item in first]
    names = [*dict.fromkeys(name for row in mappings for name in row)][:COLUMNS_SHOWN]
    columns = [format_column([row.get(name, "") for row in mappings], IN_TEXT) for name in names]
    right = [holds_numbers([row[name] for row in mappings if name in row]) for name in names]
    rows = [list(row) for row in zip(*columns, strict=True)]
    index = [str(at) for at in range(len(first))]
    unfolded = {
        (at, names.index("")): build_inner_grid(item, level + 1)
        for at, item in enumerate(first)
        if is_nested(item) and "" in names and level < LEVELS_UNFOLDED
    }
    if len(items) > len(first):
        index[-1:] = [index[-1], f"… {len(items) - len(first):,} more"]
        rows.append([""] * len(names))
    names = [sanitize_text(name, IN_TEXT) for name in names]
    return Grid(names, right, rows, index, [], unfolded)


def _map_columns(item: JSON) -> dict[str, JSON]:
    """Return the cells of an item by column: of a list of scalars, by position."""
    if isinstance(item, dict):
        return dict(islice(iter_leaves(item), COLUMNS_SHOWN))
    if isinstance(item, (list, tuple)) and item and not is_nested(item):
        return {str(at): value for at, value in enumerate(item[:COLUMNS_SHOWN])}
    return {"": item}


def iter_leaves(value: Mapping[str, JSON], prefix: str = "") -> Iterator[tuple[str, JSON]]:
    """Yield the values in nested objects by dotted name, lists as they are."""
    for key, item in value.items():
        name = f"{prefix}{key}"
        if isinstance(item, dict) and item and name.count(".") < MAX_DEPTH:
            yield from iter_leaves(item, f"{name}.")
        else:
            yield name, item


def count_shown(rows: int) -> int:
    """Return the number of rows that a table shows of a frame."""
    return rows if rows <= MOST_ROWS else ROWS_SHOWN


def build_caption(
    frame: pd.DataFrame, rows: int | None = None, verdict: Verdict | None = None
) -> str:
    """Return the numbers of rows and columns in words, with the numbers shown.

    `rows` is the number of rows of the answer if the frame holds only the first ones, and `verdict`
    whether they are all rows of the list, as in :class:`Preview`.
    """
    count, width = len(frame) if rows is None else rows, len(frame.columns)
    words = describe_frame(frame) if rows is None else describe_rows(count, verdict)
    words, separator, hint = words.partition("; ")
    parts = [words]
    shown = min(len(frame), count_shown(count))
    if count > shown:
        parts.append(f"the first {shown} shown")
    if width > COLUMNS_SHOWN:
        parts.append(f"{COLUMNS_SHOWN} of {width:,} columns shown")
    return f"{', '.join(parts)}{separator}{hint}"


def describe_rows(rows: int, verdict: Verdict | None) -> str:
    """Return the number of rows in words, with that of all rows.

    Examples
    --------
    >>> from gqlnb.result.list_verdicts import Verdict
    >>> describe_rows(100, Verdict("more", "`total` counts 1,067", 1067, FETCH_ALL))
    '100 of 1,067 rows; --paginate fetches all'
    >>> describe_rows(100, Verdict("more", "`hasMore` is true"))
    '100 rows, more exist'
    >>> describe_rows(100, Verdict("unknown", "`limit: 100` is reached"))
    '100 rows, perhaps more'
    >>> describe_rows(1000, Verdict("unknown", "Pages overlap.", 1067))
    '1,000 of 1,067 rows, not proved complete'
    """
    words = format_count(rows, "row")
    if verdict is None or verdict.state == "complete":
        return words
    if verdict.total > rows:
        words = f"{rows:,} of {format_count(verdict.total, 'row')}"
    elif verdict.state == "more":
        words += f", {MORE_WORDS[verdict.state]}"
    if verdict.state == "unknown":
        words += f", {'not proved complete' if verdict.total else MORE_WORDS[verdict.state]}"
    return f"{words}; {verdict.hint}" if verdict.hint else words


def mark_rows(rows: int, verdict: Verdict) -> dict[Any, object]:
    """Return the ``attrs`` of a frame with all rows that were received of a list.

    ``completeness``; if the list is not complete also ``caption``, the words of every table; if
    there are more rows also ``partial`` and ``all_rows``, their number or None.
    """
    marks: dict[Any, object] = {"completeness": str(verdict)}
    if verdict.state != "complete":
        marks["caption"] = describe_rows(rows, verdict)
    if verdict.state == "more":
        marks |= {"partial": True, "all_rows": verdict.total or None}
    return marks


def describe_frame(frame: pd.DataFrame) -> str:
    """Return the number of rows of a frame in words, with that of all rows of its list."""
    caption = str(frame.attrs.get("caption", ""))
    # `attrs` go with the rows that are taken from a frame, of which the caption would be wrong.
    is_whole = caption.partition(" ")[0] == f"{len(frame):,}"
    return caption if is_whole else format_count(len(frame), "row")


def format_column(values: Sequence[JSON], limit: int) -> list[str]:
    """Return the values of a column as text."""
    return list(map(choose_format(values, limit), values))


def choose_format(values: Sequence[object], limit: int) -> Callable[[Any], str]:
    """Return the function that formats each value of a column, of which `values` is a sample.

    Its floats have the same number of decimals, and its times no clock time if all are midnights.
    """
    floats = [value for value in values if isinstance(value, float)]
    decimals = max(map(count_decimals, floats), default=1)
    are_dates = all(map(is_date, values))

    def format_one(value: JSON) -> str:
        if isinstance(value, float) and value == value:  # noqa: PLR0124 - not NaN
            return format_float(value, decimals)
        text = format_cell(value, limit)
        return text[:10] if are_dates and is_date(value) else text

    return format_one


def is_date(value: object) -> bool:
    """Return whether a value is a time without a zone at midnight, or missing."""
    return value is None or (isinstance(value, datetime) and str(value)[10:] in ("", " 00:00:00"))


def count_decimals(value: float) -> int:
    """Return the number of decimals of a float, up to those that are shown."""
    rounded = repr(round(float(value), DECIMALS))
    return 1 if "e" in rounded else max(1, len(rounded.partition(".")[2]))


def format_float(value: float, decimals: int) -> str:
    """Return a float with so many decimals; a huge or tiny one in scientific notation."""
    size = abs(value)
    if size >= HUGE or 0 < size < 0.5 * 10**-decimals:  # infinity too
        return f"{value:.6g}"
    return f"{value:.{decimals}f}"


def format_cell(value: JSON, limit: int) -> str:
    """Return a cell as one line of text."""
    if isinstance(value, str):
        return sanitize_text(value, limit)
    value = unwrap_array(value)
    if is_nested(value):
        return format_count(len(value), "item")
    if isinstance(value, (list, tuple, dict)):
        return sanitize_text(
            json.dumps(clip_items(value), ensure_ascii=False, default=describe_value), limit
        )
    return MISSING if is_missing(value) else sanitize_text(describe_value(value), limit)


def unwrap_array(value: JSON) -> JSON:
    """Return an array of NumPy as a list, another value as it is."""
    return value.tolist() if type(value).__name__ == "ndarray" else value


def clip_items(value: JSON) -> JSON:
    """Return the beginning of a list or mapping, more than a cell shows of it."""
    if isinstance(value, dict):
        return {str(key): value[key] for key in list(value)[:ROWS_SHOWN]}
    return list(value)[: ROWS_SHOWN * 5]


def describe_value(value: object) -> str:
    """Return a value that JSON does not have as text, without a memory address; truth as JSON."""
    if isinstance(value, int) and value.bit_length() > LONGEST_INTEGER:
        return f"<an integer of {value.bit_length():,} bits>"
    text = str(value)
    if type(value).__name__ in ("bool", "bool_"):  # of Python and NumPy
        return text.lower()
    return f"<{type(value).__name__}>" if " at 0x" in text else text


def draw_bars(numbers: pd.Series[Any]) -> list[str]:
    """Return bars for a column of numbers; empty if they are similar, negative or infinite."""
    values = numbers.astype("Float64").fillna(-1).tolist()
    present = [value for value, there in zip(values, numbers.notna(), strict=True) if there]
    if len(present) < 2 or min(present) < 0 or not 0 < max(present) < float("inf"):
        return []
    if min(present) > ALIKE_SHARE * max(present):
        return []
    return [draw_bar(value / max(present)) for value in values]


def draw_bar(share: float) -> str:
    """Return a bar in eighths of a character, at least one for a positive share."""
    whole, rest = divmod(max(round(share * BAR_WIDTH * 8), int(share > 0)), 8)
    return ("█" * whole + EIGHTHS[rest]).rstrip()


def pad_cells(cells: Sequence[str], *, right: bool) -> list[str]:
    """Return cells padded to equal width."""
    wide = max(map(measure_width, cells))
    gaps = [" " * (wide - measure_width(text)) for text in cells]
    return [gap + text if right else text + gap for gap, text in zip(gaps, cells, strict=True)]


def render_cell(
    tag: str,
    text: str,
    *,
    right: bool = False,
    inner: Grid | None = None,
    opened: bool = False,
    link: str = "",
) -> str:
    """Return a cell of an HTML table: a link if `link` is a URL; `inner` unfolds below it."""
    body = escape(text, quote=True)
    if tag == "th" and len(text) > UNBROKEN_HEADER:
        body = body.replace(".", ".<wbr>")
    if inner is not None:
        start = "<details open>" if opened else "<details>"
        summary = f'<summary style="white-space:nowrap">{body}</summary>'
        body = f"{start}{summary}{inner.to_html()}</details>"
    if LINK.fullmatch(link):
        body = f'<a href="{escape(link)}" target="_blank" rel="noopener noreferrer">{body}</a>'
    style = ";opacity:.5" if text in (MISSING, "null") else ""
    if tag == "td" and len(text) <= UNBROKEN_CELL and BREAK.search(text):
        style += ";white-space:nowrap"
    elif tag == "td" and len(text) > WIDE_CELL:
        style += ";min-width:20em;overflow-wrap:anywhere"
    return f'<{tag} style="text-align:{"right" if right else "left"}{style}">{body}</{tag}>'


# -- results


class Layout(NamedTuple):
    """The parts of an answer that are shown.

    Attributes
    ----------
    tables
        The first rows of its first lists, by name.
    others
        The names of further lists.
    values
        The values beside these lists, by dotted name; without a list those of the answer.
    missing
        A module that tables need and that is not installed, as in a browser; else empty.
    """

    tables: dict[str, Preview]
    others: list[str]
    values: dict[str, object]
    missing: str = ""


def render_text(result: Renderable) -> str:
    """Return a result as text: a table of its rows, else JSON; errors below."""
    return _join_text(result, _lay_out(result))


def render_bundle(result: Renderable) -> Bundle:
    """Return a result as a MIME bundle.

    Returns
    -------
    (dict, dict)
        The data, ``text/plain`` and ``text/html``, and no metadata. The HTML is escaped and has
        neither scripts nor style sheets, so that it looks the same in an untrusted notebook.
    """
    layout = _lay_out(result)
    bundle = {"text/plain": _join_text(result, layout), "text/html": _join_html(result, layout)}
    return bundle, {}


def _lay_out(result: Renderable) -> Layout:
    """Choose how to show an answer: as tables, as names with values, or as JSON."""
    try:
        previews = result.previews(MOST_ROWS)
    # Values that do not fit their column, or lone surrogates in names: JSON shows them all.
    except (GqlnbError, UnicodeEncodeError):
        return Layout({}, [], {})
    except ModuleNotFoundError as error:
        return Layout({}, [], {}, missing=error.name or "")
    named = {
        sanitize_text(name, 120): table
        for name, table in previews.items()
        if not _is_null(name, table)
    }
    if not named:
        return Layout(
            {}, [], dict(iter_leaves(result.data)) if isinstance(result.data, dict) else {}
        )
    tables = {
        name: table
        if table.rows <= MOST_ROWS
        else table._replace(frame=table.frame.head(ROWS_SHOWN))
        for name, table in islice(named.items(), TABLES_SHOWN)
    }
    values = {name: value for table in previews.values() for name, value in table.beside.items()}
    return Layout(tables, [*named][TABLES_SHOWN:], values)


def _is_null(name: str, table: Preview) -> bool:
    """Return whether a list is null, or within an object that is null."""
    return not table.rows and any(
        value is None and f"{name}.".startswith(f"{key}.") for key, value in table.beside.items()
    )


def _join_text(result: Renderable, layout: Layout) -> str:
    body = [] if layout.tables else list(iter_json_lines(result.data))
    if layout.tables:
        body += _list_value_lines(layout.values)
    for name, table in layout.tables.items():
        caption = _build_table_caption(table)
        text = build_grid(table.frame).to_text()
        # One table needs no name, and several have their captions above them.
        body += [text, caption] if len(layout.tables) == 1 else [f"{name}: {caption}", text]
    body += _list_other_lists(layout)
    return "\n".join([*body, *format_errors(result), *_list_lines_below(result)])


def _join_html(result: Renderable, layout: Layout) -> str:
    body = _render_values(layout.values)
    if not layout.tables and not layout.values:
        body = render_preformatted("\n".join(iter_json_lines(result.data)))
    for name, table in layout.tables.items():
        caption = _build_table_caption(table)
        if len(layout.tables) == 1:
            body += render_frame(table.frame, caption)
        else:
            head = f"<b>{escape(name)}</b>: {escape(caption)}"
            body += f'<p style="margin:8px 0 2px">{head}</p>'
            body += build_grid(table.frame, IN_HTML).to_html()
    note = render_note(format_errors(result))
    below = _render_paragraph([*_list_other_lists(layout), *_list_lines_below(result)])
    return wrap_html(f"{note}{body}{below}")


def _build_table_caption(table: Preview) -> str:
    """Return the caption of a table, with the frames of the lists in its rows."""
    caption = build_caption(table.frame, table.rows, table.verdict)
    names = []
    for name, verdict in table.nested.items():
        words = MORE_WORDS.get(verdict.state, "") if verdict else ""
        names.append(f'.frames["{sanitize_text(name, 120)}"]{words and f" ({words})"}')
    return f"{caption}; nested lists: {', '.join(names)}" if names else caption


def _list_other_lists(layout: Layout) -> list[str]:
    """Return a line about the lists that are not shown as tables; none if all are."""
    if layout.missing:
        return [f"Shown as JSON: tables need {layout.missing}, which is not installed."]
    if not layout.others:
        return []
    lists = "list" if len(layout.others) == 1 else "lists"
    return [f"{len(layout.others):,} more {lists} in .frames: {', '.join(layout.others)}"]


def _list_lines_below(result: Renderable) -> list[str]:
    lines = result.report.format_lines() if result.report is not None else []
    lines += format_notes(result.notes, "result.notes")
    cached_at = getattr(result.response, "cached_at", None)
    if cached_at is not None:
        lines = [*lines, f"cached {format_short_age(time.time() - cached_at)} ago"]
    return lines


def render_note(lines: Sequence[str], style: str = NOTE_STYLE) -> str:
    """Return lines as an HTML note, by default an orange one; empty without lines."""
    return f'<div style="{style}">{"<br>".join(map(escape, lines))}</div>' if lines else ""


def render_caption(text: str) -> str:
    """Return the HTML of a line below a table."""
    return f'<p style="opacity:.7;margin:2px 0">{escape(text)}</p>'


def wrap_html(body: str) -> str:
    """Return the HTML of a value: text in it is no formula, and our styles apply to it."""
    return f'<div class="{HTML_CLASSES}">{body}</div>'


def render_preformatted(text: str, style: str = TEXT_STYLE) -> str:
    """Return text as HTML in a font of one width; long lines are broken between words."""
    return f'<pre style="{style}">{escape(text)}</pre>'


def render_lines(text: str, style: str = TEXT_STYLE) -> str:
    """Return text as the HTML of a value, as :func:`render_preformatted`."""
    return wrap_html(render_preformatted(text, style))


def render_frame(
    frame: pd.DataFrame, note: str = "", links: Mapping[tuple[int, int], str] | None = None
) -> str:
    """Return the first rows of a frame as an escaped HTML table, with a note or caption below.

    `links` are as of :class:`Grid`.
    """
    below = note or build_caption(frame)
    table = replace(build_grid(frame, IN_HTML), links=dict(links or {})).to_html()
    return f"{table}{render_caption(below)}"


def _render_paragraph(lines: Sequence[str]) -> str:
    return f'<p style="margin:2px 0">{"<br>".join(map(escape, lines))}</p>' if lines else ""


def _render_values(values: Mapping[str, JSON]) -> str:
    """Return names and values as an HTML table of two columns; empty without values.

    Those beyond the first unfold below it.
    """
    if not values:
        return ""
    first, total = count_shown(len(values)), len(values)
    items = list(islice(values.items(), first + VALUES_UNFOLDED))
    body = _render_value_table(items[:first], opened=total == 1)
    if total > first:
        rest = _render_value_table(items[first:])
        more = _render_paragraph(_count_more_values(total - len(items)))
        body += f"<details><summary>{total - first:,} more values</summary>{rest}{more}</details>"
    return body


def _render_value_table(items: Sequence[tuple[str, JSON]], *, opened: bool = False) -> str:
    rows = []
    for name, value in items:
        inner = build_inner_grid(value) if is_nested(value) else None
        text = _format_value(value)
        cell = render_cell("td", text, link=text, inner=inner, opened=opened)
        rows.append(f"<tr>{_render_value_name(sanitize_text(name, 120))}{cell}</tr>")
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def _render_value_name(name: str) -> str:
    if len(name) <= NAME_ON_A_LINE:
        return render_cell("th", name)
    return f'<th style="{LONG_NAME_STYLE}">{escape(name)}</th>'


def _list_value_lines(values: Mapping[str, object]) -> list[str]:
    """Return names and values as lines ``name: value``."""
    first = islice(values.items(), count_shown(len(values)))
    lines = [f"{sanitize_text(name, 120)}: {_format_value(value)}" for name, value in first]
    return [*lines, *_count_more_values(len(values) - len(lines))]


def _count_more_values(more: int) -> list[str]:
    return [f"… and {more:,} more values"] if more > 0 else []


def _format_value(value: object) -> str:
    """Return a value as JSON, text without quotes unless it is empty, a float rounded."""
    if isinstance(value, str) and value:
        return sanitize_text(value, VALUE_SHOWN)
    if isinstance(value, float):
        return format_float(value, count_decimals(value))
    if is_nested(value):
        return format_cell(value, VALUE_SHOWN)
    return sanitize_text(_format_leaf(value), VALUE_SHOWN)


# -- JSON


def iter_json_lines(value: object) -> Iterator[str]:
    """Yield lines of JSON text, with long values cut and control characters replaced by blanks."""
    lines = _iter_value_lines(value, "", "", "")
    yield from islice(lines, LINES_SHOWN)
    if next(lines, None) is not None:
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
    return clean_text(text)


# -- errors


def format_error(error: Mapping[str, object]) -> str:
    """Return an error of an answer as one line: path and message."""
    path = format_error_path(error)
    message = sanitize_text(explain_message(error))
    return f"{path}: {message}" if path else message


def format_error_path(error: Mapping[str, object]) -> str | None:
    """Return the path of an error as ``a.b[0].c``; None without a valid path."""
    path = error.get("path")
    if not isinstance(path, (list, tuple)) or not path:
        return None
    return format_path(path, 120)


def describe_partial_answer(
    errors: Sequence[Mapping[str, object]], *, lacks_data: bool = False
) -> str:
    """Return the warning about an answer with errors, with the first of them."""
    messages = "; ".join(map(format_error, errors[:REASONS_SHOWN])).rstrip(".")
    count = format_count(len(errors), "error")
    reason = f"no data, and {count}" if lacks_data else count
    return f"The answer is partial: {reason}: {messages}. See result.errors_frame()."


def format_errors(result: Renderable) -> list[str]:
    """Return the errors of an answer as lines: path, message, and location of the field.

    Errors that differ in the indices of their paths alone share a line.
    """
    if not result.errors:
        return []
    causes = [*result.causes, *[None] * len(result.errors)]
    examined = zip(result.errors[:ERRORS_EXAMINED], causes, result.selections, strict=False)
    groups: dict[tuple[object, ...], list[Mapping[str, object]]] = {}
    for error, cause, place in examined:
        described = error
        if cause is not None:  # a GraphQLError is raised for its message; its class says nothing
            message = describe_exception(cause).removeprefix("GraphQLError: ")
            described = {**error, "message": message}
        path = described.get("path")
        steps = path if isinstance(path, (list, tuple)) else ()
        form = repr([None if isinstance(step, int) else step for step in steps])
        groups.setdefault((form, explain_message(described), place), []).append(described)
    first = list(groups.items())[:ERRORS_SHOWN]
    lines = [
        f"  {format_error({**alike[0], 'path': merge_paths(alike)})}"
        + (f" ({place})" if place else "")
        for (_, _, place), alike in first
    ]
    more = len(result.errors) - sum(len(alike) for _, alike in first)
    rest = [f"  … and {more:,} more: see result.errors_frame()"] if more else []
    count = format_count(len(result.errors), "error")
    return [
        f"Partial answer, {count}:" if has_values(result.data) else f"No data, {count}:",
        *lines,
        *rest,
    ]


def has_values(data: object) -> bool:
    """Return whether data have a value other than null."""
    leaves = iter_leaves(data) if isinstance(data, dict) else [("", data)]
    return any(value is not None for _, value in leaves)


def merge_paths(errors: Sequence[Mapping[str, Any]]) -> list[object] | None:
    """Merge paths that differ only in indices into one path; return None without a path."""
    paths = [error.get("path") for error in errors]
    if not isinstance(paths[0], (list, tuple)):
        return None
    merged: list[object] = []
    for steps in zip(*paths, strict=True):
        different = sorted(set(steps)) if isinstance(steps[0], int) else [steps[0]]
        if len(different) == 1:
            merged.append(different[0])
            continue
        first, last = different[0], different[-1]
        is_range = last - first == len(different) - 1
        listed = ", ".join(map(str, different[:INDICES_SHOWN]))
        rest = ", …" if len(different) > INDICES_SHOWN else ""
        text = f"{first}..{last}" if is_range else f"{listed}{rest}"
        merged[-1:] = [f"{merged[-1]}[{text}]"] if merged else [f"[{text}]"]
    return merged


CLASSES = ("pandas.DataFrame", "pandas.core.frame.DataFrame")  # of pandas 3, and 2
FRAMES_ATTRIBUTE = "_gqlnb_frames"  # the attribute of the shell that holds a FrameDisplay
PANDAS_ROWS = 60  # the default of its option display.max_rows
TABLE, PANDAS = "table", "pandas"  # the setting `frames`


class FrameDisplay:
    """The formatters of DataFrames in a shell.

    Parameters
    ----------
    shell
        The shell.
    is_on
        Returns whether frames of the package are shown as tables.
    """

    def __init__(self, shell: InteractiveShell, is_on: Callable[[], bool]) -> None:
        self._is_on = is_on
        self._formatters: Any = shell.display_formatter.formatters  # type: ignore[union-attr]
        self._forms = {"text/plain": self.print_frame, "text/html": self.render_frame}

    def install(self) -> None:
        """Register the formatters, unless another library formats DataFrames."""
        for mime, form in self._forms.items():
            for name in CLASSES:
                before = self._formatters[mime].for_type(name)
                if before is None or isinstance(getattr(before, "__self__", None), FrameDisplay):
                    self._formatters[mime].for_type(name, form)

    def uninstall(self) -> None:
        """Remove the formatters that are still registered."""
        for mime, form in self._forms.items():
            for name in CLASSES:
                if self._formatters[mime].for_type(name) == form:
                    self._formatters[mime].pop(name)

    def print_frame(self, frame: pd.DataFrame, printer: RepresentationPrinter, _: object) -> None:
        """Print a frame; within a list or dict as pandas does."""
        is_alone = len(printer.stack) == 1
        is_table_shown = is_alone and self._is_on() and is_table(frame)
        lines = (render_frame_text(frame) if is_table_shown else repr(frame)).splitlines()
        with printer.group():
            for number, line in enumerate(lines):
                if number:
                    printer.break_()  # type: ignore[no-untyped-call]
                printer.text(line)  # type: ignore[no-untyped-call]

    def render_frame(self, frame: pd.DataFrame) -> str | None:
        """Render a frame as HTML; None if pandas is set to show text only."""
        html: str | None = frame._repr_html_()  # type: ignore[operator]
        if html is None or not (self._is_on() and is_table(frame)):
            return html
        return wrap_html(render_frame(frame))


def register_frame_display() -> None:
    """Show the frames of this package as tables in the running shell, if there is one.

    ``frames = "pandas"`` in ``[tool.gqlnb]`` of ``pyproject.toml`` leaves them to pandas. After
    ``%load_ext gqlnb`` the setting ``GraphQLMagic.frames`` decides.
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or hasattr(shell, FRAMES_ATTRIBUTE):
        return

    settings = load_project_settings()
    choice = TABLE if settings is None else settings.values.get("frames", TABLE)
    frames = FrameDisplay(shell, lambda: choice != PANDAS)
    frames.install()
    setattr(shell, FRAMES_ATTRIBUTE, frames)


def is_table(frame: pd.DataFrame) -> bool:
    """Return whether a frame has rows of this package, and no labels that its table would lack."""
    import pandas as pd

    index, columns = frame.index, frame.columns
    is_plain = index.inferred_type == "integer" and index.name is None and columns.nlevels == 1
    # Who chooses a number of rows in pandas wants to see as many.
    is_usual = pd.get_option("display.max_rows") == PANDAS_ROWS
    is_ours = {"source", "partial"} <= frame.attrs.keys()
    return is_ours and is_plain and is_usual and columns.name is None and len(columns) > 0


def render_frame_text(frame: pd.DataFrame) -> str:
    """Return a frame as text, with its caption."""
    return f"{build_grid(frame).to_text()}\n{build_caption(frame)}"
