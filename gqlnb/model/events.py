"""The results of a subscription, one after the other, as one frame.

The results become the rows of one list, and that is read as any other answer is: once for all of
them, with the dtypes of the schema, or those of all values together where none is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gqlnb.errors import FrameError, plain
from gqlnb.model.decode import decimal_data
from gqlnb.model.frame import Frames, frame_made
from gqlnb.model.places import rows_of
from gqlnb.model.reading import Answer
from gqlnb.model.shape import Shape, inferred, shape_of
from gqlnb.model.tables import Table, plan_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gqlnb.model.document import Document
    from gqlnb.model.result import Result

__all__ = ["events_frame", "events_frames", "rows_in"]

NAME = "events"  # of the list of results


def events_frame(
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
    answer = combined(results, document)
    outer = plan_of(answer.shape).root.inner[0]
    if not results and not answer.shape.children[NAME].children:
        return pd.DataFrame()  # nobody knows yet
    table = outer
    if path is not None:
        table = named(outer, f"{NAME}.{path}")
    elif len(outer.inner) == 1 and all(len(tables_of(result).inner) == 1 for result in results):
        table = outer.inner[0]
    made = frame_made(answer, table.name, strict=False)
    made.attrs = {}  # they would be about the list that was made up here
    return made if table is outer else made.drop(columns=made.columns[0])  # the number of a result


def events_frames(results: Sequence[Result], document: Document | None = None) -> Frames:
    """Return a tidy frame of the results, ``"events"``, and one for each list in them."""
    return Frames(combined(results, document), lambda _: None, strict=False)


def combined(results: Sequence[Result], document: Document | None) -> Answer:
    """Return results as the items of one list."""
    shapes = {id(shape): shape for shape in (result.shape() for result in results)}
    if not results and document is not None:
        shapes = {0: shape_of(document)}
    data = {NAME: [decimal_data(result) for result in results]}
    known = next(iter(shapes.values())) if len(shapes) == 1 else None
    if known is None:
        return Answer(inferred(data), lambda: data)
    item = Shape(lists=1, children=known.children, composite=True, own=NAME)
    return Answer(Shape(children={NAME: item}, nullable=False), lambda: data)


def rows_in(result: Result, path: str | None = None) -> int:
    """Return how many rows a result has in the frame of :func:`events_frame`.

    Raises
    ------
    FrameError
        If there is no list of that name.
    """
    table = root = tables_of(result)
    if path is not None:
        table = named(root, path)
    elif len(root.inner) == 1:
        table = root.inner[0]
    return len(rows_of(result.data, table))


def tables_of(result: Result) -> Table:
    """Return the tables of one result."""
    shape = result.shape()
    return plan_of(inferred(result.data) if shape is None else shape).root


def named(root: Table, name: str) -> Table:
    """Return the table of that name.

    Raises
    ------
    FrameError
        If there is none; the message lists the names.
    """
    known = {table.name: table for table in root.walk() if table is not root}
    if name in known:
        return known[name]
    begin = f"{NAME}." if root.name == NAME else ""
    listed = ", ".join(repr(each.removeprefix(begin)) for each in known) or "no list at all"
    wrong = plain(name.removeprefix(begin), 80)
    msg = f"The events have no list at {wrong!r}. They have: {listed}."
    raise FrameError(msg)
