"""A frame as a grid asks for it: windows of rows, sorted and filtered here, and copies of them.

The front end is ``grid.js``. A widget that shows a frame has one :class:`GridSource` for it, and
hands it the messages of kind ``"grid"``::

    case {"kind": "grid"}:
        return self._source.answer(message)
"""

from __future__ import annotations

import csv
import io
from collections import OrderedDict
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from gqlnb.errors import QueryError
from gqlnb.notebook.widgets.gridcolumn import Column
from gqlnb.notebook.widgets.sifting import Query, order_of, read_query

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["GridSource"]

WINDOW = 1000  # rows of one answer at most; the front end asks for 200
WIDE = 200  # columns of one answer at most
COPIED = 200_000  # cells; more is a file's task, and the browser waits no longer for it
ORDERS = 4  # queries whose answers are kept: two views, each with its last one


class GridSource:
    """A frame that is looked at; thread-safe.

    Parameters
    ----------
    frame
        A DataFrame or an Arrow table. It must not be changed afterwards.
    """

    def __init__(self, frame: pd.DataFrame | pa.Table) -> None:
        self._frame = frame
        self._lock = RLock()
        self._columns: list[Column] | None = None
        self._orders: OrderedDict[Query, NDArray[np.intp] | None] = OrderedDict()
        self._working: dict[Query, Lock] = {}

    def __len__(self) -> int:
        return len(self._frame)

    @property
    def columns(self) -> list[Column]:
        """The levels of the index, then the columns."""
        with self._lock:
            if self._columns is None:
                self._columns = columns_of(self._frame)
            return self._columns

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Answer one message of a grid.

        Raises
        ------
        QueryError
            If a filter can't be read, or too much is asked for at once.
        """
        query = read_query(message.get("query") or {}, len(self.columns))
        match message:
            case {"ask": "about"}:
                return {"rows": len(self), "columns": [column.about() for column in self.columns]}
            case {
                "ask": "rows",
                "start": int(start),
                "end": int(end),
                "from": int(a),
                "to": int(b),
            }:
                return self.window(query, slice(start, end), slice(a, b))
            case {"ask": "cell", "row": int(row), "column": int(at)}:
                return {"text": self.full(query, row, at)}
            case {"ask": "copy", "rows": [int(a), int(b)], "columns": [int(c), int(d)]}:
                return {"text": self.copied(query, slice(a, b), slice(c, d))}
        msg = "The grid asked for what there is not. Run the cell again."
        raise QueryError(msg)

    def window(self, query: Query, rows: slice, columns: slice) -> dict[str, Any]:
        """Return some rows of what a query shows, by column, and how many rows it shows in all."""
        order = self.order(query)
        count = len(self) if order is None else len(order)
        start, end = clipped(rows, count, WINDOW)
        first, last = clipped(columns, len(self.columns), WIDE)
        at = np.arange(start, end) if order is None else order[start:end]
        cells = [column.shown(at) for column in self.columns[first:last]]
        return {"rows": count, "start": start, "from": first, "cells": cells}

    def full(self, query: Query, row: int, at: int) -> str | None:
        """Return the whole text of one cell; None for what is missing, or no longer there."""
        order = self.order(query)
        if not 0 <= row < (len(self) if order is None else len(order)):
            return None
        return self.columns[at].full(row if order is None else int(order[row]))

    def copied(self, query: Query, rows: slice, columns: slice) -> str:
        """Return a part of what a query shows as tab-separated values; names where all rows are.

        Raises
        ------
        QueryError
            If that is too much for a clipboard.
        """
        order = self.order(query)
        count = len(self) if order is None else len(order)
        start, end = clipped(rows, count, count)
        chosen = self.columns[slice(*clipped(columns, len(self.columns), len(self.columns)))]
        if (end - start) * len(chosen) > COPIED:
            msg = (
                f"{(end - start) * len(chosen):,} cells are too many to copy; {COPIED:,} is the "
                "most. Write them to a file instead: frame.to_csv('rows.csv')."
            )
            raise QueryError(msg)
        at = np.arange(start, end) if order is None else order[start:end]
        made = [column.copied(at) for column in chosen]
        out = io.StringIO()
        writer = csv.writer(out, dialect="excel-tab", lineterminator="\n")
        if end - start == count and count > 1:
            writer.writerow([column.label for column in chosen])
        writer.writerows(zip(*made, strict=True))
        return out.getvalue().removesuffix("\n")

    def order(self, query: Query) -> NDArray[np.intp] | None:
        """Return the rows that a query shows; worked out once, by whoever asks first."""
        if query == Query():
            return None
        with self._lock:
            if query in self._orders:
                self._orders.move_to_end(query)
                return self._orders[query]
            turn = self._working.setdefault(query, Lock())
        with turn:
            with self._lock:
                if query in self._orders:
                    return self._orders[query]
            try:
                made = order_of(query, self.columns, len(self))
                with self._lock:
                    self._orders[query] = made
                    while len(self._orders) > ORDERS:
                        self._orders.popitem(last=False)
            finally:
                with self._lock:
                    self._working.pop(query, None)
        return made


def clipped(part: slice, count: int, most: int) -> tuple[int, int]:
    """Return the ends of a part within what there is, at most so many."""
    start = min(max(part.start, 0), count)
    return start, min(max(part.stop, start), count, start + most)


def columns_of(frame: pd.DataFrame | pa.Table) -> list[Column]:
    """Return the columns of a frame, the levels of its index first; an Arrow table has numbers."""
    if not isinstance(frame, pd.DataFrame):
        numbers = Column(None, pd.Series(np.arange(frame.num_rows)), index=True)
        arrays = [
            pd.arrays.ArrowExtensionArray(frame.column(at)) for at in range(frame.num_columns)
        ]
        pairs = zip(frame.column_names, arrays, strict=True)
        return [numbers, *(Column(name, pd.Series(array)) for name, array in pairs)]
    index = frame.index
    levels = [
        Column(name, pd.Series(index.get_level_values(at).array), index=True)
        for at, name in enumerate(index.names)
    ]
    return [*levels, *(Column(name, frame.iloc[:, at]) for at, name in enumerate(frame.columns))]
