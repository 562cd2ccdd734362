"""Values that subcommands and options show: text in a terminal, escaped HTML in a notebook."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from gqlnb.document.json_codec import dump_json
from gqlnb.errors import sanitize_text
from gqlnb.result.renderer import COLUMNS_STYLE, HTML_CLASSES, Grid, render_lines, render_note

if TYPE_CHECKING:
    import pandas as pd

    from gqlnb.result.result import Result


QUIET = "border-left:4px solid #9ca3af;padding:2px 10px;margin:4px 0;opacity:.8"
# Themes of books have light code on dark pages alone; on a grey ground, each line had its own box.
CODE = '<code style="color:inherit;background:none;padding:0;overflow-wrap:anywhere'
IN_TEXT, IN_HTML = 80, 400  # characters of a cell


class Text(str):
    """A string that a notebook shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class HelpText(Text):
    """A string of aligned columns, which a narrow notebook scrolls."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return render_lines(self, COLUMNS_STYLE)


class Note:
    """Lines shown above a value: orange for a problem, otherwise grey.

    Parameters
    ----------
    lines
        The lines.
    wrong
        Whether they report a problem.
    """

    def __init__(self, lines: Sequence[str], *, wrong: bool = False) -> None:
        self.lines = list(lines)
        self.wrong = wrong

    def __repr__(self) -> str:
        return "\n".join(self.lines)

    def _repr_html_(self) -> str:
        note = render_note(self.lines) if self.wrong else render_note(self.lines, QUIET)
        return wrap_html(note)


class Listing:
    """A short table.

    Parameters
    ----------
    columns
        The names of the columns.
    rows
        The rows, each as long as `columns`.
    note
        A line below the rows, shown alone if there are none.
    """

    def __init__(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], note: str) -> None:
        self.columns = list(columns)
        self.rows = [tuple(row) for row in rows]
        self.note = note

    def frame(self) -> pd.DataFrame:
        """Return the rows as a DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.rows, columns=self.columns)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def _build_grid(self, limit: int) -> Grid:
        texts = {None: "", True: "✓", False: ""}
        rows = [
            [
                texts[cell]
                if cell is None or isinstance(cell, bool)
                else sanitize_text(cell, limit)
                for cell in row
            ]
            for row in self.rows
        ]
        right = [
            any(isinstance(row[at], int) and not isinstance(row[at], bool) for row in self.rows)
            for at in range(len(self.columns))
        ]
        return Grid(self.columns, right, rows, [""] * len(rows), [])

    def __repr__(self) -> str:
        if not self.rows:
            return self.note
        lines = [line[2:] for line in self._build_grid(IN_TEXT).to_text().splitlines()]
        return "\n".join([*lines, self.note] if self.note else lines)

    def _repr_html_(self) -> str:
        table = self._build_grid(IN_HTML).to_html() if self.rows else ""
        below = f'<p style="opacity:.7;margin:2px 0">{escape(self.note)}</p>' if self.note else ""
        return wrap_html(mark_code(f"{table}{below}"))


def mark_code(html: str) -> str:
    """Mark what stands between backticks in escaped texts, such as descriptions, as code."""
    return re.sub("`([^`<>]+)`", rf'{CODE}">\1</code>', html)


def wrap_html(body: str) -> str:
    """Wrap HTML in an element with the package's CSS classes."""
    return f'<div class="{HTML_CLASSES}">{body}</div>'


def to_json_text(result: Result) -> Text:
    """Return a response as JSON text."""
    from gqlnb.result.result import collect_members

    return Text(dump_json(collect_members(result)).decode())


def show(value: object) -> None:
    """Display a value above the value of the cell."""
    from IPython.display import display

    display(value)  # type: ignore[no-untyped-call]
