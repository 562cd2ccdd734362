"""The rows of a harvest of repositories: their columns, their events, and their store.

Each event of the log contains the answers to a request, until the windows that they are for are
closed, and the rows of these. So the log never contains more rows than one part and the windows
under way; an interrupted harvest takes the answers from it in place of requesting them again.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING

import msgspec

from gqlnb.errors import FrameError, sanitize_text
from gqlnb.github.harvester.requests import RepositoryRow, encode_node
from gqlnb.lists.store import HarvestStore, Part, StoredState
from gqlnb.lists.window_harvest import HarvestState, PageAnswer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    import pyarrow as pa

    from gqlnb.github.harvester.field_columns import FieldColumns
    from gqlnb.lists.report import Coverage

_SORT_KEYS = [("stargazers", "descending"), ("by owner", "ascending"), ("by name", "ascending")]


class RepositoryState(StoredState, tag="checkpoint", kw_only=True):
    """The state of a harvest of repositories.

    Attributes
    ----------
    requests
        Number of requests sent.
    windows
        The windows that were read.
    incomplete
        Rows whose own fields are still to be fetched, by id; they are not counted yet.
    field_errors
        Number of own fields that are null because of an error, by field and reason.
    answers
        The answers for windows that are not closed yet; none in memory.
    """

    requests: int = 0
    windows: HarvestState = msgspec.field(default_factory=HarvestState)
    incomplete: dict[str, RepositoryRow] = msgspec.field(default_factory=dict)
    field_errors: dict[str, int] = msgspec.field(default_factory=dict)
    answers: list[PageAnswer] = msgspec.field(default_factory=list)


class AnswerEvent(msgspec.Struct, tag="answer", kw_only=True):
    """The answer to a request: rows of the windows that it closed, or with their own fields.

    Attributes
    ----------
    windows, notes, doubt
        As of the state after it.
    rows
        The rows; those without own fields are incomplete if there are any.
    answers
        The answers for windows that are not closed yet.
    """

    windows: HarvestState
    rows: list[RepositoryRow]
    answers: list[PageAnswer] = []
    notes: dict[str, str] = {}
    doubt: str = ""


class RepositoryStore(HarvestStore[RepositoryState]):
    """The store of a harvest of repositories."""

    state_type = RepositoryState
    decoder = msgspec.json.Decoder(
        RepositoryState | AnswerEvent, dec_hook=lambda _, values: RepositoryRow(*values)
    )

    @cached_property
    def own_columns(self) -> FieldColumns | None:
        """The columns of own fields, with the types that the log has for them; None without."""
        from gqlnb.github.harvester.field_columns import build_own_columns

        return build_own_columns(self.header)

    def add_answer(
        self, windows: HarvestState, rows: list[RepositoryRow], answers: list[PageAnswer]
    ) -> None:
        """Log an answer and add its rows, which are safe from interruption then.

        Parameters
        ----------
        windows, rows, answers
            As of :class:`AnswerEvent`.
        """
        event = AnswerEvent(
            windows=windows,
            rows=rows,
            answers=answers if self.folder else [],
            notes=self.state.notes,
            doubt=self.state.doubt,
        )
        self._add_event(event)

    def _apply_event(self, event: AnswerEvent) -> None:
        """Change the state and the rows as an answer does."""
        self.state.requests += 1
        self.state.windows, self.state.answers = event.windows, self.state.answers + event.answers
        self.state.notes, self.state.doubt = event.notes, event.doubt
        self.hold_rows(event.rows)

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
        is_open = self.state.windows.is_open
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
        if not self._new:
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
