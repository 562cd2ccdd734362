"""A widget to browse a result: its frames as grids, its data as a tree, its errors as text."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from gqlnb.errors import OptionError, format_count, sanitize_text
from gqlnb.notebook.display import show
from gqlnb.notebook.widgets.base import TWIN, Widget, get_notebook_names
from gqlnb.notebook.widgets.tree import TreeSource
from gqlnb.option_checks import explain_keywords
from gqlnb.result.frame_display import render_frame_text
from gqlnb.result.renderer import (
    build_caption,
    build_grid,
    count_shown,
    format_errors,
    render_bundle,
    render_frame,
    render_text,
)
from gqlnb.result.result import Result
from gqlnb.result.tables import DATA_TABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd
    import pyarrow as pa

    from gqlnb.notebook.widgets.base import Message
    from gqlnb.notebook.widgets.data_grid import GridSource

    Frame: TypeAlias = pd.DataFrame | pa.Table

__all__ = ["ResultView"]

LABEL = 60  # characters of a tab


@explain_keywords
class ResultView(Widget):
    """Browse a result, or a frame of any length.

    The grid scrolls, sorts, filters and searches in the kernel, also while a cell runs. Click on
    the name of a column, or press Enter there, to sort; Ctrl-C copies the selected cells.

    Parameters
    ----------
    result
        A :class:`gqlnb.Result`, whose frames, data and errors have a tab each; a DataFrame; a
        Series; an Arrow table; or an object with the Arrow stream interface (a Polars frame, a
        DuckDB relation). It is not copied and must not be changed afterwards.

    Attributes
    ----------
    result : Result or None
        The result; None if a frame was given.

    Raises
    ------
    OptionError
        If `result` is of another type.

    Examples
    --------
    >>> import pandas
    >>> ResultView(pandas.DataFrame({"name": ["a", "b"], "stars": [1, 2]}))
    ResultView(2 rows, 2 columns)
    """

    _view = "result_view.js"

    def __init__(self, result: object) -> None:
        self.result = result if isinstance(result, Result) else None
        self._frames = list_frames(result)
        # Built on first use: most tabs are never opened.
        self._sources: dict[int, GridSource] = {}
        shown = self.result
        self._tree = None if shown is None else TreeSource(lambda: shown.data)
        super().__init__(_twin=self._build_text()[:TWIN])

    @property
    def frame(self) -> pd.DataFrame:
        """The given frame, or the first frame of the result.

        Raises
        ------
        FrameError
            If the values of a result do not fit its columns.
        """
        return to_pandas(self._frames[0][1]())

    def __repr__(self) -> str:
        name = type(self).__name__
        if self.result is not None:
            return f"{name}({', '.join(label for label, _ in self._frames)})"
        rows, columns = self._frames[0][1]().shape
        return f"{name}({format_count(rows, 'row')}, {format_count(columns, 'column')})"

    def _build_text(self) -> str:
        if self.result is not None:
            return render_text(self.result)
        frame, caption = self._get_first_rows()
        return f"{build_grid(frame).to_text()}\n{caption}"

    def _build_html(self) -> str:
        if self.result is not None:
            html: str = render_bundle(self.result)[0]["text/html"]
            return html
        return render_frame(*self._get_first_rows())

    def _get_first_rows(self) -> tuple[pd.DataFrame, str]:
        """Return the first rows of the frame, and its caption."""
        import pandas as pd

        frame = self._frames[0][1]()
        if isinstance(frame, pd.DataFrame):
            return frame.head(count_shown(len(frame))), build_caption(frame)
        first = to_pandas(frame.slice(0, count_shown(frame.num_rows)))
        return first, build_caption(first, frame.num_rows)

    def _handle_view_message(
        self, message: Message, _buffers: Sequence[memoryview], /
    ) -> Message | None:
        match message:
            case {"kind": "hello"}:
                shown = self.result
                errors = [] if shown is None else [*format_errors(shown), *shown.notes]
                self.send({"kind": "state", "tabs": self._build_tabs(), "errors": errors})
            case {"kind": "grid", "tab": int(at)} if 0 <= at < len(self._frames):
                self._run_in_thread(lambda: self._get_source(at).answer(message), message)
            case {"kind": "tree"} if self._tree is not None:
                self._run_in_thread(partial(self._tree.answer, message), message)
        return None

    def _get_source(self, at: int) -> GridSource:
        from gqlnb.notebook.widgets.data_grid import GridSource

        with self._lock:
            if at not in self._sources:
                self._sources[at] = GridSource(self._frames[at][1]())
            return self._sources[at]

    def _build_tabs(self) -> list[dict[str, Any]]:
        """Return the tabs: frames, then data; the data first if the result has no list."""
        tabs = [
            {"kind": "grid", "tab": at, "label": label}
            for at, (label, _) in enumerate(self._frames)
        ]
        if self._tree is None:
            return tabs
        first = 0 if self._frames[0][0] == DATA_TABLE else len(tabs)
        return [*tabs[:first], {"kind": "tree", "tab": -1, "label": "JSON"}, *tabs[first:]]


def show_grid(count: int, text: str) -> None:
    """Display the view of :func:`open_grid`; JupyterLab calls it for a button of the output.

    As a value it would take the place of the last output of the notebook, which has its number.
    """
    show(open_grid(count, text))


def open_grid(count: int, text: str) -> ResultView:
    """Return a view of a result that was displayed before.

    Parameters
    ----------
    count
        The number of the output, of a result or a DataFrame.
    text
        Its text. After a restart of the kernel another value can have the number.

    Returns
    -------
    ResultView
        The view.

    Raises
    ------
    OptionError
        If the kernel does not have the result.
    """
    import pandas as pd

    shown = get_notebook_names().get("Out", {}).get(count)
    is_result = isinstance(shown, Result)
    render = render_text if is_result else render_frame_text
    if not (is_result or isinstance(shown, pd.DataFrame)) or render(shown) != text:
        msg = "The kernel does not have this result any more. Run the cell again."
        raise OptionError(msg)
    return ResultView(shown)


def list_frames(shown: object) -> list[tuple[str, Callable[[], Frame]]]:
    """Return the frames of a value: the name of each, and a function that builds it."""
    if not isinstance(shown, Result):
        frame = to_frame(shown)
        return [("rows", lambda: frame)]
    tables = shown.tables(strict=False, quiet=True)
    found: list[tuple[str, Callable[[], Frame]]] = [
        (sanitize_text(name, LABEL), partial(tables.__getitem__, name)) for name in tables
    ]
    if shown.errors:
        found.append(("Errors", shown.errors_frame))
    return found


def to_pandas(frame: Frame) -> pd.DataFrame:
    """Convert a frame to pandas without changing its types."""
    import pandas as pd

    if isinstance(frame, pd.DataFrame):
        return frame
    converted: pd.DataFrame = frame.to_pandas(types_mapper=pd.ArrowDtype)
    return converted


def to_frame(shown: object) -> Frame:
    """Convert a value other than a result to a frame."""
    import pandas as pd
    import pyarrow as pa

    if isinstance(shown, (pd.DataFrame, pa.Table)):
        return shown
    if isinstance(shown, pd.Series):
        return shown.to_frame()
    if hasattr(shown, "__arrow_c_stream__"):
        return pa.table(shown)
    msg = (
        f"ResultView cannot show a {type(shown).__name__}. Give a Result, a DataFrame or an Arrow "
        "table; for a list of rows: pandas.DataFrame(rows)."
    )
    raise OptionError(msg)
