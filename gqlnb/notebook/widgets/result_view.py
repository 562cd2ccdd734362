"""A widget to browse a result: its frames as grids, its data as a tree, its errors as text."""

from __future__ import annotations

import json
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from gqlnb.errors import OptionError, QueryError, format_count, sanitize_text
from gqlnb.notebook.display import show
from gqlnb.notebook.widgets.base import TWIN, Widget, get_notebook_names
from gqlnb.option_checks import explain_keywords
from gqlnb.result.renderer import (
    build_caption,
    build_grid,
    count_shown,
    describe_value,
    format_errors,
    render_bundle,
    render_frame,
    render_frame_text,
    render_text,
)
from gqlnb.result.result import Result
from gqlnb.result.tables import DATA_TABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pandas as pd
    import pyarrow as pa

    from gqlnb.notebook.widgets.base import Message
    from gqlnb.notebook.widgets.data_grid import GridSource

    Frame: TypeAlias = pd.DataFrame | pa.Table

LINE = 200  # characters of a value on its line
FEW = 8  # children in the line of a value
CHILDREN = 200  # limit of one message; the front end requests 100
FOUND = 200  # limit of places of one search
COPIED = 2_000_000  # characters of JSON in the clipboard; larger data belong in a file
ENCODER = json.JSONEncoder(ensure_ascii=False, default=describe_value)


# The front end is `tree.js`. A value is addressed by positions instead of keys, because keys of
# mappings may be of any type.
class TreeSource:
    """Answers the messages of a tree view.

    Parameters
    ----------
    data
        Returns the data, which must not change. It is called on the first message, since decoding
        may be slow.
    """

    def __init__(self, data: Callable[[], object]) -> None:
        self._data = data

    def answer(self, message: Mapping[str, object]) -> dict[str, object]:
        """Answer one message of a tree.

        Returns
        -------
        dict
            The reply, JSON values.

        Raises
        ------
        QueryError
            If the value does not exist, or is too large to copy.
        """
        match message:
            case {"ask": "root"}:
                return {"item": {**build_item("", self._data()), "step": ""}}
            case {"ask": "children", "at": list(at), "start": int(start), "end": int(end)}:
                first = max(0, start)
                last = first + min(end - start, CHILDREN)
                pairs = islice(_iterate_children(self.get_value(at)), first, last)
                return {"items": [build_item(key, value) for key, value in pairs]}
            case {"ask": "find", "words": str(words)}:
                return find_words(self._data(), words)
            case {"ask": "copy", "at": list(at)}:
                return {"text": to_json(self.get_value(at))}
        msg = "The tree sent an unknown message. Run the cell again."
        raise QueryError(msg)

    def get_value(self, at: Sequence[object]) -> object:
        """Return the value at a path of positions.

        Returns
        -------
        object
            The JSON value there.

        Raises
        ------
        QueryError
            If no such value exists.
        """
        value = self._data()
        for position in at:
            step = isinstance(position, int) and next(
                islice(_iterate_children(value), max(0, position), None), None
            )
            if not step:
                msg = "There is no such value in the data. Run the cell again."
                raise QueryError(msg)
            value = step[1]
        return value


def _iterate_children(value: object) -> Iterator[tuple[object, object]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, (list, tuple)):
        yield from enumerate(value)


def build_item(key: object, value: object) -> dict[str, object]:
    """Return one line of the tree.

    Returns
    -------
    dict
        ``key`` as text; ``step``, its subscript in Python; ``kind`` (:func:`_get_kind`); ``text``,
        the beginning of the value; ``size``, the number of children.
    """
    return {
        "key": sanitize_text(key, LINE),
        "step": sanitize_text(f"[{key!r}]", 10 * LINE),
        "kind": _get_kind(value),
        "text": format_line(value),
        "size": len(value) if isinstance(value, (dict, list, tuple)) else 0,
    }


def _get_kind(value: object) -> str:
    if value is None:
        return "null"
    kinds = {bool: "boolean", int: "number", float: "number", str: "string", dict: "object"}
    return kinds.get(type(value), "array" if isinstance(value, (list, tuple)) else "other")


def format_line(value: object) -> str:
    """Return a leaf as JSON, or the first leaves of an object or array."""
    if isinstance(value, dict):
        pairs = islice(value.items(), FEW)
        leaves = ", ".join(
            f"{sanitize_text(key, 40)}: {format_leaf(inner, 40)}" for key, inner in pairs
        )
        return "{" + leaves + (", …" if len(value) > FEW else "") + "}"
    if isinstance(value, (list, tuple)):
        few = value[:FEW]
        if any(isinstance(inner, (dict, list, tuple)) for inner in few):
            return ""  # the view shows the size
        leaves = ", ".join(format_leaf(inner, 40) for inner in few)
        return f"[{leaves}{', …' if len(value) > FEW else ''}]"
    return format_leaf(value, LINE)


def format_leaf(value: object, limit: int) -> str:
    """Return a leaf as JSON, or the brackets of an object or array."""
    if isinstance(value, dict):
        return "{…}" if value else "{}"
    if isinstance(value, (list, tuple)):
        return "[…]" if value else "[]"
    if isinstance(value, str) and len(value) > limit:
        value = value[:limit] + "…"
    try:
        return sanitize_text(ENCODER.encode(value), 2 * limit)
    except ValueError:  # an integer with more digits than Python converts
        return f"<{type(value).__name__}>"


def find_words(data: object, words: str) -> dict[str, object]:
    """Search keys and values for words in any case; return the first places in order."""
    # A loop with a stack: deeply nested data would exceed the recursion limit.
    folded = words.strip().casefold()
    places: list[list[int]] = []
    stack: list[Any] = [([], enumerate(_iterate_children(data)))]
    while stack and folded:
        at, left = stack[-1]
        number, step = next(left, (0, None))
        if step is None:
            stack.pop()
            continue
        here = [*at, number]
        if _has_words(step, folded):
            if len(places) == FOUND:
                return {"places": places, "more": True}
            places.append(here)
        if isinstance(step[1], (dict, list, tuple)):
            stack.append((here, enumerate(_iterate_children(step[1]))))
    return {"places": places, "more": False}


def _has_words(step: tuple[object, object], folded: str) -> bool:
    key, value = step
    if isinstance(key, str) and folded in key.casefold():
        return True
    if isinstance(value, str):
        return folded in value.casefold()
    return not isinstance(value, (dict, list, tuple)) and folded in format_line(value).casefold()


def to_json(value: object) -> str:
    """Convert a value to JSON, of which no more is written than can be copied."""
    parts, size = [], 0
    encoder = json.JSONEncoder(ensure_ascii=False, indent=2, default=describe_value)
    for part in encoder.iterencode(value):
        parts.append(part)
        size += len(part)
        if size > COPIED:
            msg = f"This is more than {COPIED:,} characters of JSON, too much to copy."
            raise QueryError(msg)
    return "".join(parts)


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
        frame = self._frames[0][1]()
        rows = frame[: count_shown(len(frame))]
        first = to_pandas(rows)
        caption = build_caption(frame) if first is rows else build_caption(first, len(frame))
        return first, caption

    def _handle_view_message(self, message: Message, /) -> Message | None:
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
