"""The results of a subscription, one after the other, as one frame.

The results become the rows of one list, and that is read as any other answer is: once for all of
them, with the dtypes of the schema, or those of all values together where none is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gqlnb.errors import FrameError, sanitize_text
from gqlnb.result.decoder import build_decimal_data
from gqlnb.result.frames import Frames, build_list_frame
from gqlnb.result.shape import Shape, build_shape, infer_shape
from gqlnb.result.table_reader import AnswerData
from gqlnb.result.tables import ResultTable, get_read_plan, list_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gqlnb.document.document import Document
    from gqlnb.result.result import Result

__all__ = ["build_events_frame", "build_events_frames", "count_rows"]

EVENTS_TABLE = "events"  # of the list of results


def build_events_frame(
    results: Sequence[Result], path: str | None = None, document: Document | None = None
) -> pd.DataFrame:
    """Return results as one frame, each row as :meth:`gqlnb.Result.frame` has it.

    Parameters
    ----------
    results
        The results, in the order of their rows.
    path
        The list to take, as for :meth:`gqlnb.Result.frame`. None: the one list that stands in no
        other; a row for each result where there is none, or more than one.
    document
        What they answer; it gives the columns where there are no results yet.

    Returns
    -------
    DataFrame
        With the dtypes of the schema. A column with a value that fits none keeps all its values as
        they came. Results whose data are null have no row.

    Raises
    ------
    FrameError
        If there is no list of that name.
    """
    answer = combine_results(results, document)
    outer = get_read_plan(answer.shape).root.inner_tables[0]
    if not results and not answer.shape.children[EVENTS_TABLE].children:
        return pd.DataFrame()  # nobody knows yet
    table = outer
    if path is not None:
        table = find_table(outer, f"{EVENTS_TABLE}.{path}")
    elif len(outer.inner_tables) == 1 and all(
        len(get_root_table(result).inner_tables) == 1 for result in results
    ):
        table = outer.inner_tables[0]
    made = build_list_frame(answer, table.name, strict=False)
    made.attrs = {}  # they would be about the list that was made up here
    return made if table is outer else made.drop(columns=made.columns[0])  # the number of a result


def build_events_frames(results: Sequence[Result], document: Document | None = None) -> Frames:
    """Return a tidy frame of the results, ``"events"``, and one for each list in them."""
    return Frames(combine_results(results, document), lambda _: None, strict=False)


def combine_results(results: Sequence[Result], document: Document | None) -> AnswerData:
    """Return results as the items of one list."""
    shapes = {id(shape): shape for shape in (result.get_shape() for result in results)}
    if not results and document is not None:
        shapes = {0: build_shape(document)}
    data = {EVENTS_TABLE: [build_decimal_data(result) for result in results]}
    known = next(iter(shapes.values())) if len(shapes) == 1 else None
    if known is None:
        return AnswerData(infer_shape(data), lambda: data)
    item = Shape(lists=1, children=known.children, composite=True, field_name=EVENTS_TABLE)
    return AnswerData(Shape(children={EVENTS_TABLE: item}, nullable=False), lambda: data)


def count_rows(result: Result, path: str | None = None) -> int:
    """Return how many rows a result has in the frame of :func:`build_events_frame`.

    Raises
    ------
    FrameError
        If there is no list of that name.
    """
    table = root = get_root_table(result)
    if path is not None:
        table = find_table(root, path)
    elif len(root.inner_tables) == 1:
        table = root.inner_tables[0]
    return len(list_rows(result.data, table))


def get_root_table(result: Result) -> ResultTable:
    """Return the tables of one result."""
    shape = result.get_shape()
    return get_read_plan(infer_shape(result.data) if shape is None else shape).root


def find_table(root: ResultTable, name: str) -> ResultTable:
    """Return the table of that name.

    Raises
    ------
    FrameError
        If there is none; the message lists the names.
    """
    known = {table.name: table for table in root.walk() if table is not root}
    if name in known:
        return known[name]
    begin = f"{EVENTS_TABLE}." if root.name == EVENTS_TABLE else ""
    listed = ", ".join(repr(each.removeprefix(begin)) for each in known) or "no list at all"
    wrong = sanitize_text(name.removeprefix(begin), 80)
    msg = f"The events have no list at {wrong!r}. They have: {listed}."
    raise FrameError(msg)
