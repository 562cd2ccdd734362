"""The results of a subscription as one frame.

The results become the rows of one list, which is read like any other answer: all at once, with the
dtypes of the schema, or with dtypes inferred from all values together if no schema is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gqlnb.errors import FrameError, sanitize_text
from gqlnb.result.frames import Frames, build_list_frame
from gqlnb.result.result import copy_with_decimals, get_shape
from gqlnb.result.shape import Shape, build_shape, infer_shape
from gqlnb.result.table_reader import AnswerData
from gqlnb.result.tables import ResultTable, get_read_plan, list_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gqlnb.document.document import Document
    from gqlnb.result.result import Result

__all__ = ["build_events_frame", "build_events_frames", "count_rows"]

EVENTS_TABLE = "events"  # the name of the list of results


def build_events_frame(
    results: Sequence[Result], path: str | None = None, document: Document | None = None
) -> pd.DataFrame:
    """Return results as one frame, with rows like those of :meth:`gqlnb.Result.frame`.

    Parameters
    ----------
    results
        The results, in the order of their rows.
    path
        The list to read, as for :meth:`gqlnb.Result.frame`. None: the only list that is not inside
        another; if there is none, or more than one, a row for each result.
    document
        The document they answer; it gives the columns if there are no results yet.

    Returns
    -------
    DataFrame
        With the dtypes of the schema. A column with a value that does not fit keeps all its values
        unchanged. Results whose data are null have no row.

    Raises
    ------
    FrameError
        If no list has that name.
    """
    answer = _combine_results(results, document)
    outer = get_read_plan(answer.shape).root.inner_tables[0]
    if not results and not answer.shape.children[EVENTS_TABLE].children:
        return pd.DataFrame()  # without a schema, columns are not known yet
    table = outer
    if path is not None:
        table = _find_table(outer, f"{EVENTS_TABLE}.{path}")
    elif len(outer.inner_tables) == 1 and all(
        len(_get_root_table(result).inner_tables) == 1 for result in results
    ):
        table = outer.inner_tables[0]
    frame = build_list_frame(answer, table.name, strict=False)
    frame.attrs = {}  # they describe the combined list, not a result
    # The first column of an inner list is the number of its result.
    return frame if table is outer else frame.drop(columns=frame.columns[0])


def build_events_frames(results: Sequence[Result], document: Document | None = None) -> Frames:
    """Return a tidy frame of the results, ``"events"``, and one for each list in them."""
    return Frames(_combine_results(results, document), lambda _: None, strict=False)


def _combine_results(results: Sequence[Result], document: Document | None) -> AnswerData:
    """Return results as the items of one list."""
    shapes = {id(shape): shape for shape in map(get_shape, results)}
    if not results and document is not None:
        shapes = {0: build_shape(document)}
    data = {EVENTS_TABLE: [copy_with_decimals(result) for result in results]}
    known = next(iter(shapes.values())) if len(shapes) == 1 else None
    if known is None:
        return AnswerData(infer_shape(data), lambda: data)
    item = Shape(lists=1, children=known.children, composite=True, field_name=EVENTS_TABLE)
    return AnswerData(Shape(children={EVENTS_TABLE: item}, nullable=False), lambda: data)


def count_rows(result: Result, path: str | None = None) -> int:
    """Return the number of rows of a result in the frame of :func:`build_events_frame`.

    Raises
    ------
    FrameError
        If no list has that name.
    """
    table = root = _get_root_table(result)
    if path is not None:
        table = _find_table(root, path)
    elif len(root.inner_tables) == 1:
        table = root.inner_tables[0]
    return len(list_rows(result.data, table))


def _get_root_table(result: Result) -> ResultTable:
    shape = get_shape(result)
    return get_read_plan(infer_shape(result.data) if shape is None else shape).root


def _find_table(root: ResultTable, name: str) -> ResultTable:
    known = {table.name: table for table in root.walk() if table is not root}
    if name in known:
        return known[name]
    prefix = f"{EVENTS_TABLE}." if root.name == EVENTS_TABLE else ""
    listed = ", ".join(repr(found.removeprefix(prefix)) for found in known) or "no list at all"
    shown = sanitize_text(name.removeprefix(prefix), 80)
    msg = f"The events have no list at {shown!r}. They have: {listed}."
    raise FrameError(msg)
