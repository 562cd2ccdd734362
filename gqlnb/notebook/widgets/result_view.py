"""A result to look through: its frames as grids, its data as a tree, its errors in words."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd
import pyarrow as pa

from gqlnb.errors import OptionError, plain
from gqlnb.model.grid import ROWS_SHOWN, caption, grid_of
from gqlnb.model.render import error_lines, frame_html, result_bundle, result_text
from gqlnb.model.result import Result
from gqlnb.model.tables import ALONE
from gqlnb.notebook.shown import counted
from gqlnb.notebook.widgets.base import TWIN, Widget
from gqlnb.notebook.widgets.grid import GridSource
from gqlnb.notebook.widgets.tree import TreeSource

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gqlnb.notebook.widgets.base import Message

    Frame: TypeAlias = pd.DataFrame | pa.Table

__all__ = ["ResultView"]

LABEL = 60  # characters of a tab


class ResultView(Widget):
    """Look through a result, or any frame, however long.

    The grid scrolls, sorts, filters and searches in the kernel, also while a cell runs: click on
    the name of a column, or press Enter there, to sort; Ctrl-C copies the selected cells.

    Parameters
    ----------
    result
        A :class:`gqlnb.Result`, whose frames, data and errors have a tab each; a DataFrame; a
        Series; an Arrow table, or what gives one (a Polars frame, a DuckDB relation). It is not
        copied and must not be changed afterwards.

    Attributes
    ----------
    result : Result or None
        What was given, if it was a result.

    Raises
    ------
    OptionError
        If it is none of these.

    Examples
    --------
    >>> import pandas
    >>> ResultView(pandas.DataFrame({"name": ["a", "b"], "stars": [1, 2]}))
    ResultView(2 rows, 2 columns)
    """

    _view = "result_view.js"

    def __init__(self, result: Any) -> None:
        self.result = result if isinstance(result, Result) else None
        self._frames = frames_of(result)
        self._sources: dict[int, GridSource] = {}
        self._tree = None if self.result is None else TreeSource(lambda: result.data)
        super().__init__(_twin=self._text()[:TWIN])

    @property
    def frame(self) -> pd.DataFrame:
        """The frame that is shown first, as it was given; of a result the first of its frames.

        Raises
        ------
        FrameError
            If the values of a result do not fit its columns.
        """
        frame = self._first()
        if isinstance(frame, pd.DataFrame):
            return frame
        made: pd.DataFrame = frame.to_pandas(types_mapper=pd.ArrowDtype)
        return made

    def _first(self) -> Frame:
        return self._frames[0][1]()

    def __repr__(self) -> str:
        name = type(self).__name__
        if self.result is not None:
            return f"{name}({', '.join(label for label, _ in self._frames)})"
        rows, columns = self._first().shape
        return f"{name}({counted(rows, 'row')}, {counted(columns, 'column')})"

    def _text(self) -> str:
        if self.result is not None:
            return result_text(self.result)
        frame, rows = self._beginning()
        return f"{grid_of(frame).text()}\n{caption(frame, rows)}"

    def _html(self) -> str:
        if self.result is not None:
            bundle = result_bundle(self.result)
            html: str = (bundle[0] if isinstance(bundle, tuple) else bundle)["text/html"]
            return html
        frame, rows = self._beginning()
        return frame_html(frame, caption(frame, rows))

    def _beginning(self) -> tuple[pd.DataFrame, int]:
        """Return the first rows of the frame, and how many there are in all."""
        frame = self._first()
        if isinstance(frame, pd.DataFrame):
            return frame.head(ROWS_SHOWN), len(frame)
        first = frame.slice(0, ROWS_SHOWN).to_pandas(types_mapper=pd.ArrowDtype)
        return first, frame.num_rows

    def _heard(self, message: Message, _buffers: Sequence[memoryview], /) -> Message | None:
        match message:
            case {"kind": "hello"}:
                errors = [] if self.result is None else error_lines(self.result)
                self.send({"kind": "state", "tabs": self._tabs(), "errors": errors})
            case {"kind": "grid", "tab": int(at)} if 0 <= at < len(self._frames):
                self._apart(lambda: self._source(at).answer(message), message)
            case {"kind": "tree"} if self._tree is not None:
                self._apart(partial(self._tree.answer, message), message)
        return None

    def _source(self, at: int) -> GridSource:
        with self._lock:
            if at not in self._sources:
                self._sources[at] = GridSource(self._frames[at][1]())
            return self._sources[at]

    def _tabs(self) -> list[dict[str, Any]]:
        """Return the tabs: the frames and the data; the data first where there is no list."""
        tabs = [
            {"kind": "grid", "tab": at, "label": label}
            for at, (label, _) in enumerate(self._frames)
        ]
        if self._tree is None:
            return tabs
        first = 0 if self._frames[0][0] == ALONE else len(tabs)
        return [*tabs[:first], {"kind": "tree", "tab": -1, "label": "JSON"}, *tabs[first:]]


def frames_of(shown: Any) -> list[tuple[str, Callable[[], Frame]]]:
    """Return the frames of what is shown: a name, and a function that gives the frame."""
    if not isinstance(shown, Result):
        frame = frame_of(shown)
        return [("rows", lambda: frame)]
    tables = shown.tables(strict=False, quiet=True)
    found: list[tuple[str, Callable[[], Frame]]] = [
        (plain(name, LABEL), partial(tables.__getitem__, name)) for name in tables
    ]
    if shown.errors:
        found.append(("Errors", shown.errors_frame))
    return found


def frame_of(shown: Any) -> Frame:
    """Return what is no result as a frame.

    Raises
    ------
    OptionError
        If it is none.
    """
    if isinstance(shown, (pd.DataFrame, pa.Table)):
        return shown
    if isinstance(shown, pd.Series):
        return shown.to_frame()
    if hasattr(shown, "__arrow_c_stream__"):
        return pa.table(shown)
    msg = (
        f"ResultView shows a Result, a DataFrame or an Arrow table, and this is of type "
        f"{type(shown).__name__}. Of rows make one: pandas.DataFrame(rows)."
    )
    raise OptionError(msg)
