"""A frame as a table of short texts, for people: in a terminal, and as HTML."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from gqlnb.errors import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

__all__ = [
    "COUNTED",
    "IN_HTML",
    "ROWS_SHOWN",
    "Grid",
    "bar",
    "caption",
    "clipped",
    "grid_of",
    "named",
    "shown_value",
]

ROWS_SHOWN = 20  # a screenful; the frame has the rest
COLUMNS_SHOWN = 20
IN_TEXT, IN_HTML = 60, 200  # characters of a cell
BAR = 20  # characters of the longest bar
ALIKE = 0.8  # of the largest: bars from there on look the same
MISSING = "<NA>"  # as pandas shows it
# ASCII alone, without what would end an attribute; a text with anything else is no link.
LINK = re.compile(r"https?://[!#-;=?-\[\]_a-z~]+")
COUNTED = re.compile(r"(^|[._])(id|number|year)$|[a-z]Id$", re.IGNORECASE)  # not amounts
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

    def text(self) -> str:
        """Return the table as lines of text."""
        columns = [["", *self.index], *map(list, zip(self.names, *self.rows, strict=True))]
        right = [False, *self.right]
        if self.bars:
            columns.append(["", *self.bars])
            right.append(False)
        filled = [padded(column, end) for column, end in zip(columns, right, strict=True)]
        return "\n".join("  ".join(line).rstrip() for line in zip(*filled, strict=True))

    def html(self) -> str:
        """Return the table as HTML: no script, no style sheet, no colour of its own."""
        names = [*self.names, ""] if self.bars else self.names
        right = [*self.right, False] if self.bars else self.right
        head = "".join(cell("th", name, end) for name, end in zip(names, right, strict=True))
        body = []
        for at, row in enumerate(self.rows):
            cells = [cell("td", text, end) for text, end in zip(row, self.right, strict=True)]
            if self.bars:
                cells.append(f'<td style="text-align:left;opacity:.6">{self.bars[at]}</td>')
            body.append(f"<tr><th>{escape(self.index[at])}</th>{''.join(cells)}</tr>")
        return (
            f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
        )


def grid_of(frame: pd.DataFrame, limit: int = IN_TEXT) -> Grid:
    """Return the first rows and columns of a frame, cells of `limit` characters at most."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    shown = frame.iloc[:ROWS_SHOWN, :COLUMNS_SHOWN]
    series = [shown.iloc[:, at] for at in range(len(shown.columns))]
    numeric = [is_numeric_dtype(it.dtype) and not is_bool_dtype(it.dtype) for it in series]
    names = [plain(name, limit) for name in shown.columns]
    cells = [[shown_value(value, limit) for value in column] for column in series]
    numbers = [at for at, is_number in enumerate(numeric) if is_number]
    bars: list[str] = []
    if len(numbers) == 1 and len(names) > 1 and not COUNTED.search(names[numbers[0]]):
        bars = drawn(series[numbers[0]])
    rows = [list(row) for row in zip(*cells, strict=True)]
    return Grid(names, numeric, rows, [plain(label, limit) for label in shown.index], bars)


def caption(frame: pd.DataFrame, rows: int | None = None) -> str:
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


def shown_value(value: Any, limit: int) -> str:
    """Return a cell as one line of text."""
    from pandas import isna

    if type(value).__name__ == "ndarray":
        value = value.tolist()
    if isinstance(value, (list, tuple, dict)):
        return plain(json.dumps(clipped(value), ensure_ascii=False, default=named), limit)
    if isinstance(value, str):
        return plain(value, limit)
    return MISSING if isna(value) else plain(named(value), limit)


def clipped(value: Any) -> Any:
    """Return the beginning of a list or mapping: what is cut off anyway need not be written."""
    if isinstance(value, dict):
        return {str(key): value[key] for key in list(value)[:ROWS_SHOWN]}
    return list(value)[: ROWS_SHOWN * 5]


def named(value: Any) -> str:
    """Return what is no JSON value as text, without the address that its repr may hold."""
    said = str(value)
    return f"<{type(value).__name__}>" if " at 0x" in said else said


def drawn(numbers: pd.Series[Any]) -> list[str]:
    """Return bars for a column of numbers; none where they would say nothing.

    Amounts that are much alike, below zero or without end have none.
    """
    values = numbers.astype("Float64").fillna(-1).tolist()
    known = [value for value, there in zip(values, numbers.notna(), strict=True) if there]
    if len(known) < 2 or min(known) < 0 or not 0 < max(known) < float("inf"):
        return []
    if min(known) > ALIKE * max(known):
        return []
    return [bar(value / max(known)) for value in values]


def bar(share: float) -> str:
    """Return a bar, in eighths of a character; what is more than nothing shows, a gap does not."""
    whole, rest = divmod(max(round(share * BAR * 8), int(share > 0)), 8)
    return ("█" * whole + EIGHTHS[rest]).rstrip()


def padded(cells: Sequence[str], right: bool) -> list[str]:
    """Return cells of equal width in columns of a terminal."""
    wide = max(map(width, cells))
    return [
        " " * (wide - width(text)) + text if right else text + " " * (wide - width(text))
        for text in cells
    ]


def width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def cell(tag: str, text: str, right: bool) -> str:
    """Return a cell of an HTML table, with a link if it is nothing but the address of a page."""
    body = escape(text, quote=True)
    if tag == "td" and LINK.fullmatch(text):
        body = f'<a href="{body}" target="_blank" rel="noopener noreferrer">{body}</a>'
    faint = ";opacity:.5" if text == MISSING else ""
    return f'<{tag} style="text-align:{"right" if right else "left"}{faint}">{body}</{tag}>'
