"""The result of a harvest in ranges, and the estimate of its cost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any

import msgspec

from gqlnb.client.range_harvest.range_store import concat_tables, unify_texts
from gqlnb.document.json_codec import dump_valid_json
from gqlnb.option_checks import explain_keywords
from gqlnb.result.answer_notes import format_notes, summarize_notes
from gqlnb.result.frame_display import register_frame_display
from gqlnb.result.list_captions import mark_rows
from gqlnb.result.list_verdicts import Verdict
from gqlnb.result.renderer import render_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa

    from gqlnb.client.range_harvest.range_state import Changes, RangeCoverage
    from gqlnb.client.range_harvest.range_store import RangeStore

__all__ = [
    "RangeEstimate",
    "RangeHarvest",
    "build_range_frame",
    "describe_stop",
    "list_warnings",
]

GAPS_SHOWN = 3
REFRESH_HINT = "refresh=True reads ranges again that may be proved now."
NOTES_PLACE = "notes"


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
        return "\n  ".join([text, *format_notes(self.notes, NOTES_PLACE)])


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
    def coverage(self) -> RangeCoverage:
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
        return self.coverage.changes

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
        return concat_tables(self._store.load_tables())

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
        coverage: dict[str, Any] = msgspec.json.decode(dump_valid_json(self.coverage))
        frame.attrs = {
            "source": self.source,
            "partial": not self.complete,
            "total_count": self.coverage.expected,
            "notes": list_warnings(self),
            "coverage": coverage,
            **mark_rows(len(self), self._judge_rows()),
        }
        return frame

    def _judge_rows(self) -> Verdict:
        if self.complete:
            return Verdict("complete", "each range was proved complete")
        gaps = " ".join(_list_gaps(self)) or "the harvest is not finished"
        return Verdict("unknown", gaps, self.coverage.expected or 0)

    def __repr__(self) -> str:
        report = self.coverage
        lines = [
            f"{len(self):,} rows from {self.source}, {'' if self.complete else 'not '}complete",
            f"  {report.describe_counts()}",
        ]
        if report.stopped:
            lines.append(f"  {describe_stop(self.folder)}")
        if self.changes is not None:
            lines.append(f"  since the harvest before: {self.changes}")
        notes = format_notes(_list_notes(self), NOTES_PLACE)
        lines += [f"  {line}" for line in (*_list_gaps(self), *notes)]
        if self.folder is not None:
            lines.append(f"  in {self.folder}")
        return "\n".join(lines)

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


def describe_stop(folder: Path | None) -> str:
    """Return a sentence about a harvest that `progress` stopped."""
    hint = "" if folder is None else " Run the same call again to continue."
    return f"It was stopped by progress= before its end.{hint}"


def list_warnings(found: RangeHarvest | RangeEstimate) -> list[str]:
    """Return the warnings about a harvest: its first gaps, and one of all notes."""
    if isinstance(found, RangeEstimate):
        return summarize_notes(found.notes, NOTES_PLACE)
    return [*_list_gaps(found), *summarize_notes(_list_notes(found), NOTES_PLACE)]


def _list_notes(found: RangeHarvest) -> list[str]:
    """Return the notes of a harvest, without those that are the reason of a gap."""
    reasons = {gap.why for gap in found.coverage.gaps}
    return [note for note in found.notes if note not in reasons]


def _list_gaps(found: RangeHarvest) -> list[str]:
    """Return sentences about the first gaps, the last one with a hint if they can be removed."""
    gaps = found.coverage.gaps
    lines = [f"The harvest is not proved complete. {gap}" for gap in gaps[:GAPS_SHOWN]]
    if len(gaps) > GAPS_SHOWN:
        more = len(gaps) - GAPS_SHOWN
        lines.append(f"{more:,} more ranges are not proved complete; see coverage.gaps.")
    # Rows in memory cannot be refreshed.
    if found.folder is not None and not all(gap.lasts for gap in gaps):
        lines[-1] += f" {REFRESH_HINT}"
    return lines
