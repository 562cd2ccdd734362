"""The rows of a harvest of repositories: their store; and the folders of harvests, for readers.

Each event of the log contains the answers to a request, until the windows that they are for are
closed, and the rows of these. So the log never contains more rows than one part and the windows
under way; an interrupted harvest takes the answers from it in place of requesting them again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from gqlnb.errors import FrameError, OptionError, format_count, sanitize_text
from gqlnb.github.harvester.own_fields import ERRORS_KEY
from gqlnb.interactive import warn_caller
from gqlnb.lists.report import Changes, Coverage
from gqlnb.lists.store import (
    LOG_NAME,
    HarvestStore,
    LogHeader,
    Part,
    build_range_frame,
    compare_hashes,
    concat_tables,
    find_lost_part,
    hash_rows,
    parse_header,
    read_parquet,
)
from gqlnb.lists.window_harvest import HarvestState, PageAnswer
from gqlnb.option_checks import explain_keywords
from gqlnb.optional_imports import import_optional

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd
    import pyarrow as pa
    import pyarrow.dataset as ds

    from gqlnb.github.harvester.field_columns import FieldColumns


NODE_IS_GONE = "The repository is gone, or cannot be seen any more"
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
_SORT_KEYS = [("stargazers", "descending"), ("by owner", "ascending"), ("by name", "ascending")]


class RepositoryRow(NamedTuple):
    """One repository.

    Attributes
    ----------
    id
        Node id; it identifies a repository that comes more than once.
    stars
        Number of stars.
    created
        Creation time in seconds since 1970; None if the endpoint does not give it.
    name, owner
        Name of the repository, login of its owner.
    data
        The JSON of its own fields, if the harvest has any; None while they are to be fetched.
    """

    id: str
    stars: int
    created: int | None = None
    name: str = ""
    owner: str = ""
    data: str | None = None


def encode_node(node: Mapping[str, Any] | None, reasons: Sequence[str]) -> bytes:
    """Return the JSON of a node with the reasons of the errors in its fields."""
    if node is None:
        node, reasons = {}, reasons or [NODE_IS_GONE]
    if reasons:
        # Without names and ids, so that equal reasons are counted together.
        texts = [_QUOTED.sub("'...'", sanitize_text(reason, 160)) for reason in reasons]
        node = {**node, ERRORS_KEY: texts}
    return msgspec.json.encode(node)


class RepositoryState(HarvestState, tag="checkpoint", kw_only=True):
    """The state of a harvest of repositories.

    Attributes
    ----------
    requests
        Number of requests sent.
    incomplete
        Rows whose own fields are still to be fetched, by id; they are not counted yet.
    field_errors
        Number of own fields that are null because of an error, by field and reason.
    rows
        In the log, after the first state: the rows of the windows that an answer closed, or rows
        with their own fields; those without these are incomplete if there are any.
    """

    requests: int = 0
    incomplete: dict[str, RepositoryRow] = msgspec.field(default_factory=dict)
    field_errors: dict[str, int] = msgspec.field(default_factory=dict)
    rows: list[RepositoryRow] = msgspec.field(default_factory=list)


class RepositoryStore(HarvestStore[RepositoryState]):
    """The store of a harvest of repositories."""

    state_type = RepositoryState
    decoder = msgspec.json.Decoder(
        RepositoryState, dec_hook=lambda _, values: RepositoryRow(*values)
    )

    @cached_property
    def own_columns(self) -> FieldColumns | None:
        """The columns of own fields, with the types that the log has for them; None without."""
        from gqlnb.github.harvester.field_columns import build_own_columns

        return build_own_columns(self.header)

    def add_answer(self, rows: list[RepositoryRow], answers: list[PageAnswer]) -> None:
        """Log the state, and an answer with its rows, which are safe from interruption then.

        Parameters
        ----------
        rows
            As of :class:`RepositoryState`.
        answers
            The answers for windows that are not closed yet.
        """
        self.state.requests += 1
        if self.folder is not None:
            self._log_state(rows=rows, answers=answers, incomplete={})
            self.state.answers += answers
        self.hold_rows(rows)
        self._save_full_part()

    def _take_state(self, state: RepositoryState) -> None:
        rows, state.rows = state.rows, []
        state.answers, state.incomplete = self.state.answers + state.answers, self.state.incomplete
        self.state = state
        self.hold_rows(rows)

    def hold_rows(self, rows: Iterable[RepositoryRow]) -> None:
        """Add rows; those without their own fields are incomplete."""
        new_rows, columns = list(rows), self.own_columns
        arrow_fields, arrays = list["pa.Field"](), list["pa.Array"]()
        if columns is not None:
            for row in new_rows:
                if row.data is None:
                    self.state.incomplete[row.id] = row
                else:
                    self.state.incomplete.pop(row.id, None)
            new_rows = [row for row in new_rows if row.data is not None]
            nodes = [row.data or "" for row in new_rows]
            arrow_fields = columns.arrow_fields
            arrays = columns.build_arrays(nodes, self.state.field_errors)
        if new_rows:
            self._new.append(Part([(0, len(new_rows))], build_rows(new_rows, arrow_fields, arrays)))

    def save_state(self, **about: str) -> None:
        """Write the rows that are in memory as a part, and the state to the log."""
        is_open = self.state.is_open
        self.state.answers = [pair for pair in self.state.answers if is_open(pair[0].window)]
        super().save_state(**about)

    def complete_rows(self) -> None:
        """Make all rows of a stopped harvest available, if no later run can."""
        if self.folder is None:
            missing = encode_node({}, ["The harvest was stopped before the fields came"]).decode()
            incomplete = self.state.incomplete.values()
            self.hold_rows([row._replace(data=missing) for row in incomplete])
        self.save_state()

    def finish(self, coverage: Coverage) -> None:
        """Write the last part, which may be empty, with the coverage in its metadata."""
        if not (self._new or coverage.stopped):
            self._new.append(Part([(0, 0)], self._concat([])))
        super().finish(coverage)

    def _concat(self, tables: Sequence[pa.Table]) -> pa.Table:
        return concat_rows(tables, self.own_columns)


# -- rows as Arrow columns, and as a DataFrame


@cache
def build_arrow_schema() -> pa.Schema:
    """Return the Arrow schema of all parts, without own fields."""
    import pyarrow as pa

    return pa.schema(
        [
            ("name", pa.string()),
            ("owner", pa.string()),
            ("stargazers", pa.int64()),
            ("created_at", pa.timestamp("s", "UTC")),
            ("id", pa.string()),
        ]
    )


def build_rows(
    rows: Sequence[RepositoryRow], own_fields: Sequence[pa.Field], own: Sequence[pa.Array]
) -> pa.Table:
    """Return rows as Arrow columns, which take a tenth of the memory, with those of own fields."""
    import pyarrow as pa

    schema = build_arrow_schema()
    ids, stars, created, names, owners, _ = zip(*rows, strict=True)
    columns = (names, owners, stars, created, ids)
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    batch = pa.record_batch([*arrays, *own], pa.schema([*schema, *own_fields]))
    # Copied into one buffer of its own: Arrow's default allocator never returns the pages between
    # the arrays of many batches, so that memory would grow with the number of parts.
    buffer = batch.serialize(memory_pool=pa.system_memory_pool())
    return pa.Table.from_batches([pa.ipc.read_record_batch(buffer, batch.schema)])


def concat_rows(tables: Iterable[pa.Table], columns: FieldColumns | None) -> pa.Table:
    """Return the rows of parts as one table, which is empty without parts."""
    import pyarrow as pa

    own_fields = () if columns is None else columns.arrow_fields
    schema = pa.schema([*build_arrow_schema(), *own_fields])
    # Parquet stores no timestamps in seconds, so they come back in milliseconds.
    casted = (table.replace_schema_metadata(None).cast(schema) for table in tables)
    return pa.concat_tables([schema.empty_table(), *casted])


def build_repository_frame(
    rows: pa.Table, columns: FieldColumns | None = None, explode: str | None = None
) -> pd.DataFrame:
    """Return rows as a DataFrame, sorted by stars (descending), owner and name.

    Parameters
    ----------
    rows
        The rows.
    columns
        The columns of own fields in them, if there are any.
    explode
        A list in the rows whose items become rows.

    Returns
    -------
    DataFrame
        Columns ``name``, ``owner``, ``stargazers``, ``created_at`` and ``id``, then the own fields.

    Raises
    ------
    FrameError
        If there is no such list.
    """
    import pandas as pd
    import pyarrow as pa
    from pyarrow.compute import sort_indices, utf8_lower

    keys = rows.select(["stargazers"])
    for name in ("owner", "name"):  # GitHub compares logins and names without regard to case
        keys = keys.append_column(f"by {name}", utf8_lower(rows[name]))
    ordered = rows.take(sort_indices(keys, _SORT_KEYS))
    dtypes = {pa.int64(): pd.Int64Dtype(), pa.string(): pd.StringDtype()}
    base = ordered.select(build_arrow_schema().names)
    frame: pd.DataFrame = base.to_pandas(types_mapper=dtypes.get)
    if columns is not None:
        frame = columns.add_to_frame(frame, ordered)
    if explode is None:
        return frame
    if columns is None:
        msg = f"explode={sanitize_text(repr(explode), 80)}: the harvest has no fields= with lists."
        raise FrameError(msg)
    return columns.explode(frame, explode)


class LogLine(msgspec.Struct):
    """The kind of a state in a log, its number of parts, and the report at the end of a harvest."""

    type: str = ""
    parts: int = 0
    coverage: Coverage | None = None


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
        return self._read_log()[1].coverage

    @property
    def complete(self) -> bool:
        """Whether the harvest is finished, its completeness is proved, and no part is lost."""
        coverage = self.coverage
        return coverage is not None and coverage.complete and self._lost_part is None

    @property
    def _lost_part(self) -> str | None:
        """The first part that is damaged, or missing though it is in the log, in words; or None."""
        return find_lost_part(self.path, max(self._read_log()[1].parts, len(self.parts)))

    def _list_parts(self, *, may_be_empty: bool = False) -> list[str]:
        """Return the paths of the parts; raise OptionError if there is none, or one is lost."""
        paths, shown = [str(path) for path in self.parts], sanitize_text(self.path, 120)
        if (lost := self._lost_part) is not None:
            msg = f"{shown}: {lost}. Put it back."
            raise OptionError(msg)
        if not (paths or may_be_empty):
            msg = f"{shown} has no part yet: the first one is being filled."
            raise OptionError(msg)
        return paths

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
        has_ranges = self._has_ranges  # then without a part the columns are not known
        tables = [read_parquet(path) for path in self._list_parts(may_be_empty=not has_ranges)]
        return concat_tables(tables) if has_ranges else concat_rows(tables, self._own_columns)

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
            return build_range_frame(self.arrow())
        return build_repository_frame(self.arrow(), self._own_columns, explode)

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
        path = self.path / LOG_NAME
        with path.open("rb") as log:
            header = parse_header(path, log.readline())
            return header, msgspec.json.decode(log.readline() or b"{}", type=LogLine)

    @property
    def _has_ranges(self) -> bool:
        """Whether it is of a harvest in ranges."""
        return self._read_log()[1].type == "state"

    @property
    def _own_columns(self) -> FieldColumns | None:
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

        paths = self._list_parts()
        # Without a schema of the endpoint, a column without values has no type.
        types = [pq.read_schema(path).remove_metadata() for path in paths]
        schema = pa.unify_schemas(types, promote_options="permissive")
        return pyarrow.dataset.dataset(paths, schema, format="parquet")

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
        return duckdb.read_parquet(self._list_parts(), union_by_name=True)

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
        return polars.scan_parquet(self._list_parts())

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
    opened = HarvestFolder(path)
    opened._read_log()  # noqa: SLF001 - to refuse another format
    return opened
