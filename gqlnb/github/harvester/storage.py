"""Storage of a harvest: rows in memory, or a folder with Parquet parts and a log.

Each event of the log contains the answers to a request, until the windows that they are for are
closed, and the rows of these. When a part is written, the log is replaced by one of two lines, so
it never contains more rows than one part and the windows under way. An interrupted harvest takes
the answers from the log in place of requesting them again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

import msgspec

from gqlnb.client.range_harvest.harvest_log import FolderLock, HarvestLog, LogHeader
from gqlnb.client.range_harvest.part_files import (
    remove_parts,
    write_part,
)
from gqlnb.github.harvester.parquet_parts import build_batch, concat_batches, load_parts
from gqlnb.github.harvester.requests import RepositoryRow, encode_node
from gqlnb.lists.window_harvest import ClosedWindow, HarvestState
from gqlnb.lists.windows import Page, PageRequest, Window
from gqlnb.result.answer_notes import MAX_NOTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import pyarrow as pa

    from gqlnb.github.harvester.field_columns import FieldColumns
    from gqlnb.github.harvester.own_fields import OwnFields

__all__ = ["ROWS_PER_PART", "ClosedEvent", "FieldsEvent", "FolderStorage", "MemoryStorage"]

ROWS_PER_PART = 100_000  # about 4 MB on the disk, 10 MB in memory


class Answer(msgspec.Struct, array_like=True):
    """A request for a page or a count, and its answer as of :class:`gqlnb.lists.windows.Page`."""

    request: PageRequest
    total: int
    rows: list[RepositoryRow | None]
    more: bool
    end: str | None
    heavy: bool

    @classmethod
    def from_page(cls, request: PageRequest, page: Page) -> Answer:
        """Return the answer that is a page."""
        rows = cast("list[RepositoryRow | None]", list(page.rows))
        return cls(request, page.total, rows, page.more, page.end, page.heavy)

    def build_page(self) -> Page:
        """Return the page."""
        return Page(self.total, tuple(self.rows), self.more, self.end, self.heavy)


class Checkpoint(msgspec.Struct, tag="checkpoint"):
    """The state when a part was written.

    Attributes
    ----------
    parts, rows
        Number of parts and rows written.
    requests
        Number of requests sent.
    state
        The windows that were read.
    incomplete
        Rows whose own fields are still to be fetched.
    field_errors
        Number of own fields that are null because of an error, by field and reason.
    notes
        Notes of the endpoint on its answers.
    doubt
        As of :class:`NotesEvent`.
    answers
        The answers for windows that are not closed yet.
    """

    parts: int
    rows: int
    requests: int
    state: HarvestState
    incomplete: list[RepositoryRow] = []
    field_errors: dict[str, int] = {}
    notes: dict[str, str] = {}
    doubt: str = ""
    answers: list[Answer] = []


class ClosedEvent(msgspec.Struct, tag="closed", kw_only=True):
    """One request: its answers, and the windows that they closed, with their rows.

    Attributes
    ----------
    windows, rows
        The windows, and the rows of all together.
    pages, counts, repeated
        What it adds to these numbers of the report.
    expected, noise, may_vary
        As of :class:`gqlnb.lists.window_harvest.HarvestState`.
    todo
        The same; None if it is as before.
    answers
        Those for windows that are not closed yet.
    """

    windows: list[ClosedWindow]
    rows: list[RepositoryRow]
    pages: int
    counts: int
    repeated: int
    expected: int | None
    noise: int
    may_vary: bool
    todo: list[tuple[Window, int | None]] | None
    answers: list[Answer]

    def apply_to(self, state: HarvestState) -> None:
        """Change the state of an interrupted harvest as the answer did."""
        state.expected, state.noise = self.expected, self.noise
        state.may_vary = self.may_vary
        if self.todo is not None:
            state.todo = self.todo
        state.pages += self.pages
        state.counts += self.counts
        state.repeated += self.repeated
        for window in self.windows:
            state.close_window(window)


class FieldsEvent(msgspec.Struct, tag="fields"):
    """One request for the own fields of rows that had come without: the rows with them."""

    rows: list[RepositoryRow]


class NotesEvent(msgspec.Struct, tag="notes"):
    """New notes of the endpoint on its answers, by a key that is the same for equal notes.

    Attributes
    ----------
    doubt
        The reason why rows may be missing, if the accounts of a run see different rows.
    """

    notes: dict[str, str]
    doubt: str = ""


class EndedEvent(msgspec.Struct, tag="ended"):
    """The end of the harvest.

    Attributes
    ----------
    rows, requests, parts
        Total numbers; no parts in memory.
    coverage
        The report.
    """

    rows: int
    requests: int
    coverage: dict[str, Any]
    parts: int = 0


Event = Checkpoint | ClosedEvent | FieldsEvent | NotesEvent | EndedEvent
_EVENT_DECODER: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


class MemoryStorage:
    """Rows of a harvest in memory.

    Attributes
    ----------
    folder
        The folder of the harvest; None in memory.
    rows, requests
        Numbers so far.
    ended
        The end of the harvest; None before.
    own_columns
        The columns of own fields; None without.
    incomplete
        Rows whose own fields are still to be fetched, by id; they are not counted yet.
    field_errors
        Number of own fields that are null because of an error, by field and reason.
    notes
        Notes of the endpoint on its answers, by a key that is the same for equal notes.
    doubt
        The reason why rows may be missing, if the accounts of a run see different rows.

    Parameters
    ----------
    fields
        Own fields of the rows.
    """

    folder: Path | None = None

    def __init__(self, fields: OwnFields | None = None) -> None:
        self.rows = self.requests = 0
        self.ended: EndedEvent | None = None
        self.own_columns: FieldColumns | None = None
        if fields is not None:
            from gqlnb.github.harvester.field_columns import FieldColumns

            self.own_columns = FieldColumns(fields)
        self.incomplete: dict[str, RepositoryRow] = {}
        self.field_errors: dict[str, int] = {}
        self.notes: dict[str, str] = {}
        self.doubt = ""
        self._batches: list[pa.RecordBatch] = []

    def restore_state(self) -> HarvestState:
        """Return the state to continue: a new one, as memory starts empty."""
        return HarvestState()

    def list_answers(self) -> list[tuple[PageRequest, Page]]:
        """Return no answers, as memory starts empty."""
        return []

    def add_rows(
        self, _event: ClosedEvent | FieldsEvent, rows: Iterable[RepositoryRow], _state: HarvestState
    ) -> None:
        """Add the rows of an event."""
        self.requests += 1
        self.hold_rows(rows)

    def hold_rows(self, rows: Iterable[RepositoryRow]) -> None:
        """Add rows that belong to no new event."""
        new_rows, columns = list(rows), self.own_columns
        if columns is None:
            self._add_batch(build_batch(new_rows))
            return
        for row in new_rows:
            if row.data is None:
                self.incomplete[row.id] = row
            else:
                self.incomplete.pop(row.id, None)
        whole = [row for row in new_rows if row.data is not None]
        arrays = columns.build_arrays([row.data or "" for row in whole], self.field_errors)
        self._add_batch(build_batch(whole, columns.arrow_fields, arrays))

    def add_notes(self, notes: Mapping[str, str]) -> dict[str, str]:
        """Add notes of the endpoint, up to a number of them; return the new ones."""
        new = [key for key in notes if key not in self.notes][: MAX_NOTES - len(self.notes)]
        added = {key: notes[key] for key in new}
        self.notes |= added
        return added

    def add_doubt(self, doubt: str) -> None:
        """Keep the first doubt about the accounts: rows may be missing in later runs too."""
        self.doubt = self.doubt or doubt

    def _add_batch(self, batch: pa.RecordBatch) -> None:
        if batch.num_rows:
            self.rows += batch.num_rows
            self._batches.append(batch)

    def pause_harvest(self, _state: HarvestState) -> None:
        """Make all rows so far available."""
        missing = encode_node({}, ["The harvest was stopped before the fields came"]).decode()
        self.hold_rows([row._replace(data=missing) for row in self.incomplete.values()])

    def finish_harvest(self, coverage: dict[str, Any]) -> None:
        """Record the end of the harvest."""
        self.ended = EndedEvent(self.rows, self.requests, coverage)

    def load_table(self) -> pa.Table:
        """Return all rows."""
        return self._concat_batches(self._batches)

    def _concat_batches(self, batches: Iterable[pa.RecordBatch]) -> pa.Table:
        columns = self.own_columns
        return concat_batches(batches, () if columns is None else columns.arrow_fields)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the storage; memory needs no closing."""


class FolderStorage(MemoryStorage):
    """Rows of a harvest as Parquet parts, with a log of the rows that are not in one yet.

    Parameters
    ----------
    folder
        The folder; it is created if it does not exist.
    header
        Description of the harvest.
    resume
        Whether to continue the harvest in the folder; else it is removed.
    part
        Number of rows per part; a part may have up to a thousand more.
    fields
        Own fields of the rows; the header has them too.

    Raises
    ------
    OptionError
        If `folder` is a file, contains other Parquet files or another harvest, lacks a part, or
        another harvest is writing to it.
    OSError
        If it cannot be written to.
    """

    folder: Path

    def __init__(
        self,
        folder: Path,
        header: LogHeader,
        *,
        resume: bool = True,
        part: int = ROWS_PER_PART,
        fields: OwnFields | None = None,
    ) -> None:
        super().__init__(fields)
        self.folder = folder
        self._header, self._resume, self._rows_per_part = header, resume, part
        self._log = HarvestLog(folder, header, _EVENT_DECODER)
        self._lock = FolderLock(folder)
        self._part_count = 0
        self._answers: list[Answer] = []  # for windows that are not closed

    def __enter__(self) -> Self:
        self._lock.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """Close the log and unlock the folder."""
        self._log.close()
        self._lock.__exit__()

    def restore_state(self) -> HarvestState:
        """Return the state to continue: that at the end of the log, or a new one.

        Raises
        ------
        OptionError
            If the log belongs to another harvest, or cannot be read, or a part is missing.
        """
        state = HarvestState()
        if not self._log.begin(Checkpoint(0, 0, 0, state), resume=self._resume):
            return state
        for event in self._log.read_events():
            match event:
                case Checkpoint():
                    self._restore_columns()
                    self._part_count, self.rows = event.parts, event.rows
                    self.requests, state = event.requests, event.state
                    self.incomplete = {row.id: row for row in event.incomplete}
                    self.field_errors, self.notes = event.field_errors, event.notes
                    self.doubt, self._answers = event.doubt, event.answers
                case EndedEvent():
                    self._restore_columns()
                    self._part_count, self.rows = event.parts, event.rows
                    self.requests, self.ended = event.requests, event
                case ClosedEvent():
                    self.requests += 1
                    event.apply_to(state)
                    self._answers += event.answers
                    self.hold_rows(event.rows)
                case FieldsEvent():
                    self.requests += 1
                    self.hold_rows(event.rows)
                case NotesEvent():
                    self.notes |= event.notes
                    self.doubt = self.doubt or event.doubt
        self._log.check_parts(self._part_count)
        if self.ended is None:
            # A part that was not followed by a checkpoint: the log contains its rows.
            remove_parts(self.folder, self._part_count)
        self._flush_full_part(state)
        return state

    def list_answers(self) -> list[tuple[PageRequest, Page]]:
        """Return the answers of earlier runs for windows that they did not close."""
        return [(answer.request, answer.build_page()) for answer in self._answers]

    def add_rows(
        self, event: ClosedEvent | FieldsEvent, rows: Iterable[RepositoryRow], state: HarvestState
    ) -> None:
        """Log an event and add its rows, which are safe from interruption then."""
        self._log.append_event(event)
        if isinstance(event, ClosedEvent):
            self._answers += event.answers
        super().add_rows(event, rows, state)
        self._flush_full_part(state)

    def add_notes(self, notes: Mapping[str, str]) -> dict[str, str]:
        """Add notes of the endpoint, and log the new ones."""
        added = super().add_notes(notes)
        if added:
            self._log.append_event(NotesEvent(added))
        return added

    def add_doubt(self, doubt: str) -> None:
        """Keep the first doubt about the accounts, also in the log."""
        if doubt and not self.doubt:
            self._log.append_event(NotesEvent({}, doubt))
        super().add_doubt(doubt)

    def _flush_full_part(self, state: HarvestState) -> None:
        """Write a part and a checkpoint if there are enough rows."""
        if sum(map(len, self._batches)) >= self._rows_per_part:
            self._write_checkpoint(state)

    def _write_checkpoint(self, state: HarvestState) -> None:
        if self._batches:
            self._write_next_part()
        spans = state.spans
        self._answers = [
            answer
            for answer in self._answers
            if not any(low <= answer.request.window.low < high for low, high in spans)
        ]
        self._log.restart_at(
            Checkpoint(
                self._part_count,
                self.rows,
                self.requests,
                state,
                list(self.incomplete.values()),
                self.field_errors,
                self.notes,
                self.doubt,
                self._answers,
            )
        )

    def pause_harvest(self, state: HarvestState) -> None:
        """Write all rows so far, so that the next run goes on from here."""
        self._write_checkpoint(state)

    def _restore_columns(self) -> None:
        """Use the types that the log has for own fields."""
        from gqlnb.github.harvester.field_columns import restore_columns

        header = self._header
        if header.fields is not None:
            self.own_columns = restore_columns(header.fields, header.shape)

    def _write_next_part(self, **about: str) -> None:
        rows = self._concat_batches(self._batches)
        metadata = self._header.build_metadata() | about
        write_part(self.folder, self._part_count, rows, metadata)
        self._part_count += 1
        self._batches = []

    def finish_harvest(self, coverage: dict[str, Any]) -> None:
        """Write the last part, which may be empty, with the coverage in its metadata."""
        report = self._header.encode_report(coverage)
        self._write_next_part(coverage=report.decode())
        self._log.write_coverage(report)
        super().finish_harvest(coverage)
        self._log.restart_at(EndedEvent(self.rows, self.requests, coverage, self._part_count))

    def load_table(self) -> pa.Table:
        """Return the rows of all parts."""
        return load_parts(sorted(self.folder.glob("part-*.parquet")), self.own_columns)
