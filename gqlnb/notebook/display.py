"""Values that cells show: text in a terminal, HTML in a notebook, outputs updated in place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

from IPython.core.getipython import get_ipython
from IPython.display import display

from gqlnb.errors import PAGES_ADVICE, TextError, sanitize_text
from gqlnb.interactive import is_unattended
from gqlnb.result.renderer import (
    COLUMNS_STYLE,
    Grid,
    render_caption,
    render_lines,
    render_note,
    wrap_html,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd


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
        def write(cell: object) -> str:
            if cell is None or isinstance(cell, bool):
                return "✓" if cell else ""
            return sanitize_text(cell, limit)

        rows = [list(map(write, row)) for row in self.rows]
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
        below = render_caption(self.note) if self.note else ""
        return wrap_html(mark_code(f"{table}{below}"))


def mark_code(html: str) -> str:
    """Mark what stands between backticks in escaped texts, such as descriptions, as code."""
    return re.sub("`([^`<>]+)`", rf'{CODE}">\1</code>', html)


def show(value: object) -> None:
    """Display a value above the value of the cell."""
    display(value)  # type: ignore[no-untyped-call]


def add_error_lines(error: BaseException, *lines: str) -> None:
    """Append lines to the message of an error, or of an interrupt."""
    text = "\n  ".join(lines)
    if isinstance(error, KeyboardInterrupt):
        error.notes = lines  # type: ignore[attr-defined]
    elif isinstance(error, TextError) and error.problems:
        *before, last = error.problems
        hint = f"{last.hint}\n  {text}" if last.hint else text
        error.problems = (*before, replace(last, hint=hint))
    else:
        # The pager's own advice names methods of a client; the cell gives a better one.
        message = str(error.args[0]).partition(PAGES_ADVICE)[0].rstrip()
        error.args = (f"{message}\n  {text}",)


MimeBundle = dict[str, str]
# Our extension of JupyterLab and Notebook shows these outputs: live, and as HTML when reopened.
# It takes the view out of the notebook as soon as it has arrived.
MARK_TYPE = "application/vnd.gqlnb.widget+json"
MARK = {"version": 1}
EMPTY_BUNDLE = {"text/plain": "", "text/html": ""}
UPDATE_INTERVAL = 0.1  # seconds; ten updates per second look smooth
CHECK_INTERVAL = 1.0  # seconds, if no event announces a change
END_TIMEOUT = 5.0  # seconds


class OutputUpdater:
    """Updates outputs in a thread, so that neither a running cell nor the source waits.

    Parameters
    ----------
    bundle
        Returns the current output; its argument is a hint to show until the end.
    state
        Returns a value that changes with the output.
    finished
        Set at the end; the output is then updated once more.
    """

    def __init__(
        self, bundle: Callable[[str], MimeBundle], state: Callable[[], object], finished: Event
    ) -> None:
        self.news = Event()
        self._bundle, self._state, self._finished = bundle, state, finished
        self._lock = Lock()
        self._shown: list[tuple[Callable[[MimeBundle], None], bool, str]] = []
        self._thread: Thread | None = None

    def show(self, *, keep: bool, hint: str) -> None:
        """Display the output here; parameters as for :meth:`gqlnb.LiveFrame.show`."""
        # An output that is cleared at the end must start empty: nbval compares the first version.
        first = self._bundle(hint) if keep else EMPTY_BUNDLE
        handle: Any = display(first, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        if handle is None:  # outside of IPython
            return
        with self._lock:
            self._shown.append((partial(handle.update, raw=True), keep, hint))
            self.news.set()
            if self._thread is None:
                # One thread for all displays of a source, started by the first.
                self._thread = Thread(
                    target=self._update_outputs, name="gqlnb-painter", daemon=True
                )
                self._thread.start()

    def wait(self) -> None:
        """Wait for the last update."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(END_TIMEOUT)

    def _update_outputs(self) -> None:
        seen: object = None
        while not self._finished.is_set():
            self.news.wait(CHECK_INTERVAL)
            self.news.clear()
            shown = list(self._shown)
            state = self._state(), len(shown)
            for update, _, hint in shown if state != seen else []:
                update(self._bundle(hint))
            seen = state
            self._finished.wait(UPDATE_INTERVAL)
        # Built once, outside the lock: it may take a while.
        last = self._bundle("")
        with self._lock:
            for update, keep, _ in self._shown:
                update(last if keep else EMPTY_BUNDLE)
            self._shown.clear()
            self._thread = None


def is_in_kernel() -> bool:
    """Return whether outputs can be updated later: in a notebook, not in a terminal."""
    return getattr(get_ipython(), "kernel", None) is not None


def build_view_bundle(
    get_view: Callable[[], Mapping[str, Any]], text: str, html: str
) -> dict[str, Any]:
    """Build the output of a widget.

    Parameters
    ----------
    get_view
        Returns the view's own bundle; not called if nobody would see the view, because the
        identifier of its model would be saved, another one in each run.
    text, html
        The output for viewers without a kernel.
    """
    view = {} if is_unattended() else get_view()
    return {**view, MARK_TYPE: MARK, "text/html": html, "text/plain": text}
