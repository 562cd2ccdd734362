"""Values as text and HTML: escaped, static, and the same on every run."""

from __future__ import annotations

import json
import re
import unicodedata
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from gqlnb.errors import UNSEEN, GqlnbError, blame, plain
from gqlnb.model.grid import IN_HTML, ROWS_SHOWN, caption, grid_of, named
from gqlnb.model.notes import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from gqlnb.model.frame import Preview
    from gqlnb.model.report import Report

    Bundle = dict[str, Any] | tuple[dict[str, Any], dict[str, Any]]

__all__ = [
    "CLASSES",
    "ERRORS_SHOWN",
    "error_line",
    "error_lines",
    "frame_html",
    "noted",
    "result_bundle",
    "result_text",
    "where_of",
]

ERRORS_SHOWN = 10  # the same cap as the server's
ITEMS_SHOWN = 20  # of a list or mapping within JSON
LINES_SHOWN = 60  # of JSON; more is seen better as frames
LINE = 100  # characters up to which a list of leaves stands on one line
DEEP = 30  # levels of JSON
VALUE_SHOWN = 200  # characters of a value beside the table, or within JSON; the data have the rest
TREE = 100_000  # bytes of JSON up to which JupyterLab gets a tree: a notebook stores twice as many
LONG = 20  # lines of JSON that are seen at once, so that a tree is no help

NOTE = "border-left:4px solid #f59e0b;padding:2px 10px;margin:4px 0"
# Classes that keep MathJax, in its two generations, from reading what stands between two dollars.
CLASSES = "gqlnb tex2jax_ignore mathjax_ignore"
# What a tree would show as it is: control characters, written by JSON or not, and those that turn
# the direction of text.
ODD = re.compile(r"\\u00[01]|[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class Answer(Protocol):
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


def result_text(result: Answer) -> str:
    """Return a result as text: a table of its rows, else JSON; errors below."""
    return _text(result, _table(result))


def result_bundle(result: Answer) -> Bundle:
    """Return a result as MIME bundle.

    Returns
    -------
    dict, or (dict, dict) with metadata
        ``text/plain`` and ``text/html`` always. The HTML is escaped, has neither script nor style
        sheet, and thus looks the same in a notebook that is not trusted. ``application/json``,
        which JupyterLab shows as a tree in place of both, where there is no table, no error, and
        more than a screenful that is not too large to be stored.
    """
    table = _table(result)
    bundle: dict[str, Any] = {"text/plain": _text(result, table), "text/html": _html(result, table)}
    if table is not None or result.errors or result.report or not is_tree(result.data):
        return bundle
    return bundle | {"application/json": result.data}, {
        "application/json": {"expanded": False, "root": "data"}
    }


def _text(result: Answer, table: Preview | None) -> str:
    if table is None:
        body = list(json_lines(result.data))
    else:
        shown = grid_of(table.frame).text()
        body = [*_beside_lines(table.beside), shown, caption(table.frame, table.rows)]
    return "\n".join([*body, *error_lines(result), *_page_lines(result)])


def _html(result: Answer, table: Preview | None) -> str:
    if table is None:
        lines = escape("\n".join(json_lines(result.data)))
        body = f'<pre style="white-space:pre-wrap">{lines}</pre>'
    else:
        above = _paragraph(_beside_lines(table.beside))
        body = above + frame_html(table.frame, caption(table.frame, table.rows))
    note = noted(error_lines(result))
    below = _paragraph(_page_lines(result))
    return f'<div class="{CLASSES}">{note}{body}{below}</div>'


def _page_lines(result: Answer) -> list[str]:
    return result.report.lines() if result.report is not None else []


def noted(lines: Sequence[str], style: str = NOTE) -> str:
    """Return lines as an HTML note, by default an orange one; nothing for none."""
    return f'<div style="{style}">{"<br>".join(map(escape, lines))}</div>' if lines else ""


def frame_html(frame: pd.DataFrame, note: str = "") -> str:
    """Return the first rows of a frame as an escaped HTML table, with a note below.

    The note says by default how many rows there are, and how many are shown.
    """
    below = escape(note or caption(frame))
    return f'{grid_of(frame, IN_HTML).html()}<p style="opacity:.7;margin:2px 0">{below}</p>'


def _table(result: Answer) -> Preview | None:
    """Return the first rows and what stands beside them, for an answer of one list of objects."""
    try:
        return result.preview(ROWS_SHOWN)
    except GqlnbError:  # values that fit no column: JSON shows them all
        return None


def _paragraph(lines: Sequence[str]) -> str:
    return f'<p style="margin:2px 0">{"<br>".join(map(escape, lines))}</p>' if lines else ""


def _beside_lines(others: Mapping[str, Any]) -> list[str]:
    """Return what was asked for beside the rows, a line ``name: value`` each."""
    shown = [
        f"{plain(name, 120)}: {_value(value)}" for name, value in islice(others.items(), ROWS_SHOWN)
    ]
    more = len(others) - len(shown)
    return [*shown, f"… and {more} more values"] if more > 0 else shown


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return plain(text, VALUE_SHOWN)


# -- JSON


def json_lines(value: Any) -> Iterator[str]:
    """Yield the lines of JSON text: long values and lists are cut, odd characters are blanks."""
    found = _lines(value, "", "", "")
    yield from islice(found, LINES_SHOWN)
    if next(found, None) is not None:
        yield f"… cut after {LINES_SHOWN} lines; the data have all"


def _lines(value: Any, head: str, indent: str, comma: str) -> Iterator[str]:
    """Yield the lines of one value; `head` stands before it and `comma` behind it."""
    line = _on_one_line(value, len(indent) // 2)
    if line is not None:
        yield f"{indent}{head}{line}{comma}"
        return
    pairs: list[tuple[str, Any]]
    if isinstance(value, dict):
        opening, closing = "{", "}"
        pairs = [(f"{_leaf(str(k))}: ", v) for k, v in islice(value.items(), ITEMS_SHOWN)]
    else:
        opening, closing = "[", "]"
        pairs = [("", item) for item in value[:ITEMS_SHOWN]]
    yield f"{indent}{head}{opening}"
    more = len(value) - len(pairs)
    for number, (name, item) in enumerate(pairs, 1):
        yield from _lines(item, name, f"{indent}  ", "," if more or number < len(pairs) else "")
    if more:
        yield f"{indent}  … {more:,} more"
    yield f"{indent}{closing}{comma}"


def _on_one_line(value: Any, depth: int) -> str | None:
    """Return what takes one line: a leaf, nothing in brackets, a few leaves."""
    if isinstance(value, dict):
        ends, items = "{}", list(islice(value.values(), ITEMS_SHOWN))
        names = [f"{_leaf(str(key))}: " for key in islice(value, ITEMS_SHOWN)]
    elif isinstance(value, (list, tuple)):
        ends, items = "[]", list(value[:ITEMS_SHOWN])
        names = [""] * len(items)
    else:
        return _leaf(value)
    if not value:
        return ends
    if depth >= DEEP:
        return f"{ends[0]}…{ends[1]}"
    if any(isinstance(item, (dict, list, tuple)) for item in items) or (ends == "{}" and not depth):
        return None  # the answer itself takes a line for each of its fields
    shown = [name + _leaf(item) for name, item in zip(names, items, strict=True)]
    more = [f"… {len(value) - len(items):,} more"] if len(value) > len(items) else []
    line = f"{ends[0]}{', '.join([*shown, *more])}{ends[1]}"
    return line if len(line) <= LINE else None


def _leaf(value: Any) -> str:
    """Return a leaf as JSON writes it, or what it says of itself if it is no JSON value."""
    if isinstance(value, str) and len(value) > VALUE_SHOWN:
        return f'{_leaf(value[:VALUE_SHOWN])[:-1]}…" ({len(value):,} characters)'
    try:
        text = json.dumps(value, ensure_ascii=False, default=named)
    except ValueError:  # a number of more digits than Python writes
        text = f"<{type(value).__name__}>"
    return "".join(" " if unicodedata.category(c) in UNSEEN else c for c in text)


def is_tree(data: Any) -> bool:
    """Tell whether JSON data are better shown as a tree, and safely and cheaply so."""
    if not isinstance(data, dict) or sum(1 for _ in islice(json_lines(data), LONG + 1)) <= LONG:
        return False
    size = 0
    try:
        for part in json.JSONEncoder(ensure_ascii=False, allow_nan=False).iterencode(data):
            size += len(part.encode())
            if size > TREE or ODD.search(part):
                return False
    except (TypeError, ValueError, RecursionError):  # no JSON, or too deep for a viewer
        return False
    return True


# -- errors


def error_line(error: Mapping[str, Any]) -> str:
    """Return an error of an answer as one line: where it happened, and what."""
    where = where_of(error)
    message = plain(error.get("message", "no message"))
    return f"{where}: {message}" if where else message


def where_of(error: Mapping[str, Any]) -> str | None:
    """Return the dotted path of an error; None where the endpoint sent none, or no list."""
    path = error.get("path")
    return dotted(path) if isinstance(path, (list, tuple)) and path else None


def dotted(path: Any) -> str:
    """Return a response path as text: ``a.b[0].c``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return plain(text.removeprefix("."), 120)


def error_lines(result: Answer) -> list[str]:
    """Return the errors of an answer as lines: where, what, and which line asked for it."""
    if not result.errors:
        return []
    causes = [*result.causes, *[None] * len(result.errors)]
    lines = [
        f"  {error_line(error if cause is None else {**error, 'message': blame(cause)})}"
        + (f" ({place})" if place else "")
        for error, cause, place in zip(
            result.errors[:ERRORS_SHOWN], causes, result.selections, strict=False
        )
    ]
    more = len(result.errors) - len(lines)
    rest = [f"  … and {more:,} more: see result.errors_frame()"] if more else []
    return [f"Partial answer, {counted(result.errors)}:", *lines, *rest]
