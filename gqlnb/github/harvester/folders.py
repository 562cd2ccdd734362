"""Reading the folder of a harvest, also while it grows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from gqlnb.errors import FrameError, OptionError, format_count, sanitize_text
from gqlnb.github.harvester.storage import build_repository_frame, concat_rows
from gqlnb.interactive import warn_caller
from gqlnb.lists.list_store import build_range_frame, compare_hashes, concat_tables, hash_rows
from gqlnb.lists.part_files import find_lost_part, has_end, read_parquet
from gqlnb.lists.report import Changes, Coverage
from gqlnb.lists.store import COVERAGE_NAME, LOG_NAME, LogHeader, parse_header
from gqlnb.option_checks import explain_keywords
from gqlnb.optional_imports import import_optional

if TYPE_CHECKING:
    import os

    import pandas as pd
    import pyarrow as pa
    import pyarrow.dataset as ds

    from gqlnb.github.harvester.field_columns import FieldColumns


class LogLine(msgspec.Struct):
    """The kind of a line of a log, and the number of parts that were written before it."""

    type: str = ""
    parts: int = 0


@explain_keywords
@dataclass(frozen=True, slots=True)
class HarvestFolder:
    """The parts that a harvest has written to its folder so far.

    While the harvest runs, the rows of its last, unfinished part are not among them, and a row that
    moved between two searches may come twice; a finished harvest has each once.

    Attributes
    ----------
    path
        The folder.

    Examples
    --------
    >>> folder = gqlnb.github.open("harvest")  # doctest: +SKIP
    >>> folder.duckdb().filter("stargazers > 1000").df()  # doctest: +SKIP
    """

    path: Path

    @property
    def parts(self) -> list[Path]:
        """The Parquet files, in the order in which they were written."""
        return sorted(self.path.glob("part-*.parquet"))

    @property
    def coverage(self) -> Coverage | None:
        """The completeness and the cost; None while the harvest is not finished."""
        try:
            report = (self.path / COVERAGE_NAME).read_bytes()
        except FileNotFoundError:
            return None
        return msgspec.json.decode(report, type=Coverage)

    @property
    def complete(self) -> bool:
        """Whether the harvest is finished, its completeness is proved, and no part is lost."""
        coverage = self.coverage
        return coverage is not None and coverage.complete and self._lost_part is None

    @property
    def _lost_part(self) -> str | None:
        """The first part of the log that is missing or damaged, in words; or None."""
        return find_lost_part(self.path, self._read_log()[1].parts)

    def _check_parts(self) -> list[Path]:
        """Return the parts; raise OptionError if one of the log is missing or one is damaged."""
        parts, lost = self.parts, self._lost_part
        damaged = next((path.name for path in parts if not has_end(path)), None)
        if lost is None and damaged is not None:
            lost = f"{damaged} is damaged"
        if lost is not None:
            msg = f"{sanitize_text(self.path, 120)}: {lost}. Put it back."
            raise OptionError(msg)
        return parts

    def arrow(self) -> pa.Table:
        """Return the rows as an Arrow table; it must fit into memory.

        Returns
        -------
        pyarrow.Table
            The rows in the order in which they were written; empty if there is no part yet.

        Raises
        ------
        OptionError
            If a part is missing or damaged.
        """
        if self._has_ranges:
            self._list_names()  # without a part the columns are not known
            return concat_tables(self._load_parts())
        return concat_rows(self._load_parts(), self._build_own_columns())

    def _load_parts(self) -> list[pa.Table]:
        return [read_parquet(path) for path in self._check_parts()]

    def frame(self, *, explode: str | None = None) -> pd.DataFrame:
        """Return the rows as a DataFrame; it must fit into memory.

        Parameters
        ----------
        explode
            As for :meth:`gqlnb.github.Harvest.frame`; only of repositories.

        Returns
        -------
        DataFrame
            The columns of :meth:`gqlnb.github.Harvest.frame`, sorted by stars, owner and name; or
            of a harvest in ranges the columns of its rows, in the order in which they were read.

        Raises
        ------
        FrameError
            If the rows have no list `explode`.
        OptionError
            If a part is missing or damaged, or there is no part of a harvest in ranges yet, whose
            columns are not known.
        """
        if self._has_ranges:
            if explode is not None:
                msg = f"explode={sanitize_text(repr(explode), 80)}: only harvests of repositories."
                raise FrameError(msg)
            self._list_names()  # as of arrow()
            return build_range_frame(self._load_parts())
        return build_repository_frame(self.arrow(), self._build_own_columns(), explode)

    def find_changes(self, before: HarvestFolder) -> Changes:
        """Compare the rows with those of an earlier harvest, by id.

        Parameters
        ----------
        before
            The folder of a harvest with the same fields; of repositories the same ones, since a
            search cannot select those whose stars have changed.

        Returns
        -------
        Changes
            The ids of the rows that are ``added``, ``changed`` in any column, and ``removed``:
            gone, or not found by the query any more.

        Raises
        ------
        OptionError
            If the rows have other columns, or no ids.

        Warns
        -----
        UserWarning
            If one of the harvests is not proved complete, so that rows may appear as added or
            removed that the other one missed.
        """
        old, new = before.arrow(), self.arrow()
        names, others = set(old.column_names), set(new.column_names)
        if names != others or "id" not in names:
            differing = ", ".join(sorted(names ^ others))
            reason = f"only one of them has {differing}" if differing else "their rows have no id"
            msg = f"These harvests cannot be compared by id: {reason}."
            raise OptionError(msg)
        for folder in (before, self):
            if not folder.complete:
                path = sanitize_text(folder.path, 120)
                msg = (
                    f"{path} is not proved complete: rows it lacks may appear as added or removed."
                )
                warn_caller(msg)
        tables = [table.select(sorted(names)) for table in (old, new)]
        return compare_hashes(*(hash_rows(each, each["id"].to_pylist()) for each in tables))

    @property
    def fields(self) -> str | None:
        """The harvest's own fields, as GraphQL; None without."""
        return self._read_log()[0].fields

    def _read_log(self) -> tuple[LogHeader, LogLine]:
        """Return the first lines of the log: the header, and the state at the last part."""
        with (self.path / LOG_NAME).open("rb") as log:
            header = msgspec.json.decode(log.readline(), type=LogHeader)
            return header, msgspec.json.decode(log.readline() or b"{}", type=LogLine)

    @property
    def _has_ranges(self) -> bool:
        """Whether it is of a harvest in ranges."""
        return self._read_log()[1].type == "state"

    def _build_own_columns(self) -> FieldColumns | None:
        from gqlnb.github.harvester.field_columns import build_own_columns

        return build_own_columns(self._read_log()[0])

    def dataset(self) -> ds.Dataset:
        """Return a lazy Arrow dataset of the present parts.

        Returns
        -------
        pyarrow.dataset.Dataset
            The rows of these files, read when it is queried.

        Raises
        ------
        OptionError
            If there is no part yet, or one is missing or damaged.
        """
        import pyarrow as pa
        import pyarrow.dataset
        import pyarrow.parquet as pq

        names = self._list_names()
        # Without a schema of the endpoint, a column without values has no type.
        types = [pq.read_schema(name).remove_metadata() for name in names]
        schema = pa.unify_schemas(types, promote_options="permissive")
        return pyarrow.dataset.dataset(names, schema, format="parquet")

    def duckdb(self) -> Any:  # noqa: ANN401 - duckdb is optional
        """Return a lazy DuckDB relation of the present parts.

        Returns
        -------
        duckdb.DuckDBPyRelation
            The rows of these files, read when it is queried.

        Raises
        ------
        OptionError
            If there is no part yet, or one is missing or damaged.
        MissingExtraError
            If DuckDB is not installed.
        """
        duckdb = import_optional("duckdb", "duckdb", "read a harvest with DuckDB")
        return duckdb.read_parquet(self._list_names(), union_by_name=True)

    def polars(self) -> Any:  # noqa: ANN401 - polars is optional
        """Return a Polars LazyFrame of the present parts.

        Returns
        -------
        polars.LazyFrame
            The rows of these files, read when it is collected.

        Raises
        ------
        OptionError
            If there is no part yet, or one is missing or damaged.
        MissingExtraError
            If Polars is not installed.
        """
        polars = import_optional("polars", "polars", "read a harvest with Polars")
        if self._has_ranges:
            return polars.scan_pyarrow_dataset(self.dataset())
        return polars.scan_parquet(self._list_names())

    def _list_names(self) -> list[str]:
        """Return the names of the parts; raise OptionError if there is none, or one is lost."""
        names = [str(path) for path in self._check_parts()]
        if not names:
            path = sanitize_text(self.path, 120)
            msg = f"{path} has no part yet: the first one is being filled."
            raise OptionError(msg)
        return names

    def __repr__(self) -> str:
        coverage, lost = self.coverage, self._lost_part
        state = "not finished"
        if coverage is not None:
            state = "complete" if coverage.complete else "not complete"
            state = f"{coverage.got:,} rows, {state}"
        if lost is not None:
            state = f"not complete, {lost}"
        count = format_count(len(self.parts), "part")
        return f"HarvestFolder({str(self.path)!r}: {count}, {state})"


@explain_keywords
def open_folder(folder: str | os.PathLike[str]) -> HarvestFolder:
    """Open the folder of a harvest, finished or not, to read its rows.

    Parameters
    ----------
    folder
        The `out` of :func:`gqlnb.github.harvest` or :meth:`gqlnb.Client.harvest`.

    Returns
    -------
    HarvestFolder
        Its rows as Arrow, pandas, DuckDB or Polars, and the coverage.

    Raises
    ------
    OptionError
        If it is not the folder of a harvest, or of another format.

    Examples
    --------
    >>> import tempfile
    >>> import gqlnb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = gqlnb.github.harvest(">100000", out=folder, progress=False)
    ...     found = gqlnb.github.open(folder)
    ...     found.complete, len(found.arrow())
    (True, 119)
    """
    path = Path(folder).expanduser()
    if not (path / LOG_NAME).exists():
        reason = f"it has no {LOG_NAME}" if path.is_dir() else "it is a file"
        reason = reason if path.exists() else "it does not exist"
        msg = (
            f"{sanitize_text(path, 120)} is not the folder of a harvest: {reason}. "
            "Give the folder that was out= of a harvest."
        )
        raise OptionError(msg)
    with (path / LOG_NAME).open("rb") as log:
        parse_header(path / LOG_NAME, log.readline())
    return HarvestFolder(path)
