"""The result of a harvest in ranges, and the estimate of its cost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING

from gqlnb.client.range_harvest.range_store import unify_texts
from gqlnb.option_checks import explain_keywords
from gqlnb.result.answer_notes import format_notes, summarize_notes
from gqlnb.result.frame_display import register_frame_display
from gqlnb.result.list_captions import mark_rows
from gqlnb.result.renderer import render_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa

    from gqlnb.client.range_harvest.range_store import RangeStore
    from gqlnb.lists.report import Changes, Coverage

__all__ = [
    "RangeEstimate",
    "RangeHarvest",
    "build_range_frame",
]

REFRESH_HINT = "refresh=True reads ranges again that may be proved now."


@explain_keywords
@dataclass(frozen=True, slots=True)
class RangeEstimate:
    """The expected cost of a harvest in ranges.

    Attributes
    ----------
    source
        Address of the endpoint.
    rows
        The number of rows; None if the endpoint does not say.
    cap
        The most rows that the endpoint returns of one list; None if it is unknown.
    notes
        Notes of the endpoint on its answer, such as data that it lacks, as sentences.

    Examples
    --------
    >>> text = "query ($low: Int) { books(low: $low) { total pages } }"  # doctest: +SKIP
    >>> client.harvest(text, slice="pages", dry_run=True)  # doctest: +SKIP
    5,210 rows from https://books.example/graphql, in 6 ranges or more
    """

    source: str
    rows: int | None
    cap: int | None
    notes: tuple[str, ...] = ()

    @property
    def least(self) -> int | None:
        """The fewest ranges, of which each takes at least a request; None if it is unknown."""
        return None if self.rows is None else max(1, ceil(self.rows / (self.cap or self.rows or 1)))

    def __repr__(self) -> str:
        text = f"{self.rows or 0:,} rows from {self.source}, in {self.least or 0:,} ranges or more"
        if self.rows is None:
            text = f"An unknown number of rows from {self.source}: it does not count them"
        return "\n  ".join([text, *format_notes(self.notes, "notes")])

    def _list_warnings(self) -> list[str]:
        return summarize_notes(self.notes, "notes")


@explain_keywords
@dataclass(frozen=True, slots=True)
class RangeHarvest:
    """The rows of a harvest in ranges, with a report on their completeness.

    Attributes
    ----------
    source
        Address of the endpoint.

    Examples
    --------
    >>> found = gqlnb.github.harvest_nodes("repo:owner/name", type="ISSUE")  # doctest: +SKIP
    >>> found.complete, len(found)  # doctest: +SKIP
    (True, 41234)
    """

    source: str
    _store: RangeStore = field(repr=False)

    @property
    def coverage(self) -> Coverage:
        """The number of rows expected and received, the ranges, and those not proved complete."""
        coverage = self._store.coverage
        if coverage is None:
            msg = "a harvest returns only when it is finished or stopped"
            raise AssertionError(msg)
        return coverage

    @property
    def folder(self) -> Path | None:
        """Folder of the Parquet parts; None if the rows are in memory."""
        return self._store.folder

    @property
    def complete(self) -> bool:
        """Whether counts and rows prove that all rows were received."""
        return self.coverage.complete

    @property
    def changes(self) -> Changes | None:
        """The ids added, changed and removed since the harvest before, after ``refresh=True``."""
        return None if self.coverage.stopped else self._store.state.changes

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of the endpoint on its answers, such as fields without data, as sentences."""
        return tuple(self.coverage.notes)

    def __len__(self) -> int:
        return self._store.rows

    def arrow(self) -> pa.Table:
        """Return all rows as an Arrow table.

        Returns
        -------
        pyarrow.Table
            The columns of :meth:`gqlnb.Result.arrow`; rows in the order in which they were read.
        """
        return self._store.load_table()

    def frame(self) -> pd.DataFrame:
        """Return all rows as a DataFrame; it must fit into memory.

        Returns
        -------
        DataFrame
            The columns and dtypes of :meth:`gqlnb.Result.frame`, rows in the order in which they
            were read; decimals with as many places as the longest of their column needs. ``attrs``
            with ``source``, ``partial``, ``notes`` (the warnings) and ``coverage``.
        """
        register_frame_display()
        frame = build_range_frame(self._store.load_tables())
        frame.attrs = {
            "source": self.source,
            "partial": not self.complete,
            "total_count": self.coverage.expected,
            "notes": self._list_warnings(),
            "coverage": self.coverage.to_dict(),
            **mark_rows(len(self), self.coverage.judge_rows()),
        }
        return frame

    @property
    def _hint(self) -> str:
        # Rows in memory cannot be refreshed.
        return "" if self.folder is None else REFRESH_HINT

    def _list_warnings(self) -> list[str]:
        return self.coverage.list_warnings(self._hint)

    def __repr__(self) -> str:
        changes = [f"since the harvest before: {self.changes}"] if self.changes is not None else []
        title = f"{len(self):,} rows from {self.source}"
        return self.coverage.describe_harvest(title, self.folder, hint=self._hint, details=changes)

    def _repr_html_(self) -> str:
        return render_lines(repr(self))


def build_range_frame(tables: Sequence[pa.Table]) -> pd.DataFrame:
    """Return the tables of the parts as one DataFrame."""
    from pyarrow import types

    from gqlnb.result.concatenation import concat

    # Parts have 18 places, since a later part may need more than this one.
    scales = Counter[str]()
    tables = unify_texts(tables)
    for table in tables:
        for column in table.schema:
            if types.is_decimal(column.type):
                scales[column.name] = max(scales[column.name], _find_scale(table[column.name]))
    frames = []
    for table in tables:
        short = table
        for index, column in enumerate(table.schema):
            if column.name in scales:
                values = _cast_decimals(table[column.name], scales[column.name])
                short = short.set_column(index, column.name, values)
        frames.append(short.to_pandas())
    return concat(frames)


def _find_scale(values: pa.ChunkedArray) -> int:
    """Return the fewest decimal places that hold all values."""
    scales = range(values.type.scale)
    return next((scale for scale in scales if _fits_scale(values, scale)), values.type.scale)


def _fits_scale(values: pa.ChunkedArray, scale: int) -> bool:
    import pyarrow as pa

    try:
        _cast_decimals(values, scale)
    except pa.ArrowInvalid:
        return False
    return True


def _cast_decimals(values: pa.ChunkedArray, scale: int) -> pa.ChunkedArray:
    import pyarrow as pa

    kind = values.type
    build_type = pa.decimal128 if pa.types.is_decimal128(kind) else pa.decimal256
    return values.cast(build_type(kind.precision, scale))
