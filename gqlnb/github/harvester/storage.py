"""The log of a harvest: what was asked and what came, so that a killed one goes on where it was.

A file of JSON lines beside the parts, ``_harvest.jsonl``. The first line says the format and what
is harvested; the second where the harvest stood when the last part was written; each further line
holds requests and their answers, and is on the disk before the rows of the next answer are taken
in. When a part is written the file is replaced by one of two lines, so that it never holds more
than one part's rows.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

import msgspec

from gqlnb.document.json_codec import dump_valid_json
from gqlnb.errors import OptionError, sanitize_text
from gqlnb.github.harvester.parquet_parts import (
    build_batch,
    build_part_path,
    check_foreign_files,
    concat_batches,
    drop_rows,
    find_repeated_rows,
    read_part,
    replace_durably,
    sync_folder,
    write_part,
)
from gqlnb.github.harvester.search_windows import SearchPage, SearchRequest
from gqlnb.github.harvester.state_machine import Sweep

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    import pyarrow as pa

    from gqlnb.github.harvester.search_windows import RepositoryRow

__all__ = [
    "COVERAGE_NAME",
    "LOG_NAME",
    "ROWS_PER_PART",
    "AnsweredEvent",
    "Checkpoint",
    "EndedEvent",
    "FolderStorage",
    "HarvestLog",
    "LogHeader",
    "MemoryStorage",
]

LOG_NAME = "_harvest.jsonl"
LOG_VERSION = 1
RESTART_HINT = "Name another folder, or begin anew with resume=False: that removes what is there."


class LogHeader(msgspec.Struct, kw_only=True):
    """The first line: what is harvested, and where from."""

    gqlnb: str = "harvest"
    version: int = LOG_VERSION
    query: str
    source: str


class Checkpoint(msgspec.Struct, tag="checkpoint"):
    """Where the harvest stood when a part was written.

    Attributes
    ----------
    parts, rows
        How many there were.
    requests
        How many were sent.
    state
        That of the sweep.
    """

    parts: int
    rows: int
    requests: int
    state: dict[str, Any]


class AnsweredEvent(msgspec.Struct, tag="answered"):
    """What one request asked, and the pages that came."""

    asks: list[SearchRequest]
    pages: list[SearchPage]


class EndedEvent(msgspec.Struct, tag="ended"):
    """It is complete, or as complete as can be.

    Attributes
    ----------
    rows, requests
        How many there were.
    coverage
        What the sweep says of it.
    """

    rows: int
    requests: int
    coverage: dict[str, Any]


_EVENT_DECODER: msgspec.json.Decoder[Checkpoint | AnsweredEvent | EndedEvent] = (
    msgspec.json.Decoder(Checkpoint | AnsweredEvent | EndedEvent)
)


class HarvestLog:
    """The log of one harvest; one process writes it, as the folder is locked.

    Parameters
    ----------
    folder
        Where it is.
    told
        What is harvested.
    """

    def __init__(self, folder: Path, told: LogHeader) -> None:
        self._path = folder / LOG_NAME
        self._header = told
        self._file: IO[bytes] | None = None

    def restart_at(self, line: Checkpoint | EndedEvent) -> None:
        """Replace the log by one that begins, or ends, here.

        Raises
        ------
        OSError
            If it can't be written.
        """
        self.close()
        unfinished = self._path.with_name(f"{LOG_NAME}.tmp")
        unfinished.write_bytes(
            dump_valid_json(self._header) + b"\n" + dump_valid_json(line) + b"\n"
        )
        replace_durably(unfinished, self._path)
        self._file = self._path.open("ab")

    def append_event(self, event: AnsweredEvent) -> None:
        """Write a line; when this returns it is on the disk.

        Raises
        ------
        OSError
            If it can't be written.
        """
        if self._file is None:
            self._file = self._path.open("ab")
        self._file.write(dump_valid_json(event) + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def read_events(self) -> Iterator[Checkpoint | AnsweredEvent | EndedEvent]:
        """Yield the lines; a last one that was cut off is dropped, here and in the file.

        Raises
        ------
        OptionError
            If the log is of another harvest, or can't be read.
        """
        with self._path.open("rb") as file:
            self._check_header(file.readline())
            end = file.tell()
            for number, text in enumerate(file, 2):
                if not text.endswith(b"\n"):
                    break
                end += len(text)
                yield self._parse_line(number, text)
        if end < self._path.stat().st_size:
            os.truncate(self._path, end)
            sync_folder(self._path.parent)

    def exists(self) -> bool:
        """Tell whether there is a log."""
        return self._path.exists()

    def _check_header(self, text: bytes) -> None:
        """Refuse a log that is not of this harvest."""
        shown = sanitize_text(self._path, 120)
        try:
            said = msgspec.json.decode(text, type=dict[str, Any])
        except msgspec.MsgspecError:
            said = {}
        if said.get("gqlnb") != "harvest":
            msg = f"{shown} is no log of a harvest. {RESTART_HINT}"
        elif said.get("version") != LOG_VERSION:
            msg = (
                f"{shown} is a log of format {sanitize_text(said.get('version'), 20)}, and this version of "
                f"gqlnb reads format {LOG_VERSION}. Update gqlnb. Or: {RESTART_HINT}"
            )
        elif (said.get("query"), said.get("source")) != (self._header.query, self._header.source):
            msg = (
                f"{shown} is the log of {sanitize_text(repr(said.get('query')), 120)} from "
                f"{sanitize_text(said.get('source'), 120)}, and this harvest is "
                f"{sanitize_text(repr(self._header.query), 120)} from {self._header.source}. {RESTART_HINT}"
            )
        else:
            return
        raise OptionError(msg)

    def _parse_line(self, number: int, text: bytes) -> Checkpoint | AnsweredEvent | EndedEvent:
        try:
            return _EVENT_DECODER.decode(text)
        except msgspec.MsgspecError as error:
            reason = sanitize_text(error, 120).rstrip(".")
        msg = f"{sanitize_text(self._path, 120)}, line {number} is broken: {reason}. {RESTART_HINT}"
        raise OptionError(msg)

    def close(self) -> None:
        """Close the file; it can be written to again."""
        if self._file is not None:
            self._file.close()
            self._file = None


try:
    import fcntl
except ImportError:  # not POSIX: two harvests into one folder at once are not noticed
    fcntl = None  # type: ignore[assignment]

ROWS_PER_PART = 100_000  # rows; about 4 MB on the disk, 10 MB in memory
COVERAGE_NAME = "_coverage.json"
LOCK_NAME = "_harvest.lock"
_open_folders: set[Path] = set()
_open_folders_lock = threading.Lock()


class MemoryStorage:
    """Holds the rows of a harvest.

    Attributes
    ----------
    rows, requests
        How many there were so far.
    ended
        What was said at the end of a harvest that is complete already.
    """

    folder: Path | None = None

    def __init__(self) -> None:
        self.rows = self.requests = 0
        self.ended: EndedEvent | None = None
        self._batches: list[pa.RecordBatch] = []

    def restore_sweep(self, begun: Sweep) -> Sweep:
        """Return the sweep to go on with: the new one, as nothing was kept."""
        return begun

    def add_rows(self, _event: AnsweredEvent, rows: Iterable[RepositoryRow], _sweep: Sweep) -> None:
        """Keep the rows that came of an event."""
        self.requests += 1
        self.hold_rows(rows)

    def hold_rows(self, rows: Iterable[RepositoryRow]) -> None:
        """Keep rows."""
        held = list(rows)
        if held:
            self.rows += len(held)
            self._batches.append(build_batch(held))

    def remove_repeated_rows(self) -> None:
        """Keep each repository once, where it came first; it may be done again."""
        self._drop_rows(find_repeated_rows(self._iterate_ids, self.rows))

    def _iterate_ids(self) -> Iterator[list[str]]:
        """Yield the ids of each batch."""
        for each in self._batches:
            yield each.column("id").to_pylist()

    def _drop_rows(self, places: Mapping[int, list[int]], first: int = 0) -> None:
        """Drop rows of batches, the first of which has a number."""
        for number, each in enumerate(self._batches, first):
            if number in places:
                self._batches[number - first] = drop_rows(each, places[number])
        self.rows = sum(map(len, self._batches))

    def finish_harvest(self, coverage: dict[str, Any]) -> None:
        """Note that all has come."""
        self.ended = EndedEvent(self.rows, self.requests, coverage)

    def load_table(self) -> pa.Table:
        """Return all rows."""
        return concat_batches(self._batches)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: there is nothing to close."""


class FolderStorage(MemoryStorage):
    """Keeps the rows of a harvest as Parquet parts, and a log of what is not in one yet.

    Parameters
    ----------
    folder
        Where; it is made if it is not there.
    told
        What is harvested.
    resume
        Whether to go on with what is there; else it is removed.
    part
        How many rows a part has, or somewhat more.

    Raises
    ------
    OptionError
        If it is a file, or holds other Parquet files or another harvest, or one that is running.
    OSError
        If nothing can be written there.
    """

    folder: Path

    def __init__(
        self, folder: Path, told: LogHeader, *, resume: bool = True, part: int = ROWS_PER_PART
    ) -> None:
        super().__init__()
        self.folder = folder
        self._header, self._resume, self._rows_per_part = told, resume, part
        self._log = HarvestLog(folder, told)
        self._part_count = 0
        self._lock_file: IO[bytes] | None = None
        self._absolute_folder = folder.absolute()

    def __enter__(self) -> Self:
        if self.folder.is_file():
            msg = f"{sanitize_text(self.folder, 120)} is a file. A harvest writes a folder: name another."
            raise OptionError(msg)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock_folder()
        try:
            check_foreign_files(self.folder)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Close the log and let others in."""
        self._log.close()
        if self._lock_file is not None:
            self._lock_file.close()
            self._lock_file = None
            with _open_folders_lock:
                _open_folders.discard(self._absolute_folder)

    def restore_sweep(self, begun: Sweep) -> Sweep:
        """Return the sweep to go on with: where the log ends, or from the beginning.

        Parameters
        ----------
        begun
            A new one.

        Raises
        ------
        OptionError
            If the log is of another harvest, or can't be read.
        """
        known = self._log.exists()
        if not known:
            self._check_orphans()
        if not known or not self._resume:
            self._log.restart_at(Checkpoint(0, 0, 0, begun.export_state()))
            self._remove_parts(0)  # only now: a log that says so is there, whatever happens
            (self.folder / COVERAGE_NAME).unlink(missing_ok=True)
            return begun
        sweep = begun
        for event in self._log.read_events():
            match event:
                case Checkpoint():
                    self._part_count, self.rows = event.parts, event.rows
                    self.requests, sweep = event.requests, Sweep.from_state(event.state)
                case EndedEvent():
                    self.rows, self.requests, self.ended = event.rows, event.requests, event
                case AnsweredEvent():
                    self.requests += 1
                    for ask, page in zip(event.asks, event.pages, strict=True):
                        self.hold_rows(sweep.feed_page(ask, page).rows)
        self._remove_parts(self._part_count if self.ended is None else None)
        self._flush_full_part(sweep)
        return sweep

    def add_rows(self, event: AnsweredEvent, rows: Iterable[RepositoryRow], sweep: Sweep) -> None:
        """Write down an event and what came of it; when this returns it is not lost any more."""
        self._log.append_event(event)
        super().add_rows(event, rows, sweep)
        self._flush_full_part(sweep)

    def _flush_full_part(self, sweep: Sweep) -> None:
        """Write a part, if there are rows enough for one."""
        if sum(map(len, self._batches)) >= self._rows_per_part:
            self._write_next_part()
            self._log.restart_at(
                Checkpoint(self._part_count, self.rows, self.requests, sweep.export_state())
            )

    def _write_next_part(self, **about: str) -> None:
        write_part(self.folder, self._part_count, self._batches, self._build_metadata(**about))
        self._part_count += 1
        self._batches = []

    def _build_metadata(self, **more: str) -> dict[str, str]:
        told = self._header
        return {"harvest": str(told.version), "query": told.query, "source": told.source, **more}

    def _iterate_ids(self) -> Iterator[list[str]]:
        """Yield the ids of each part, and of each batch that is in none yet."""
        import pyarrow.parquet as pq

        for number in range(self._part_count):
            yield pq.read_table(build_part_path(self.folder, number), columns=["id"])[
                "id"
            ].to_pylist()
        yield from super()._iterate_ids()

    def _drop_rows(self, places: Mapping[int, list[int]], first: int = 0) -> None:
        """Drop rows of parts, and of batches behind them."""
        import pyarrow.parquet as pq

        rows = 0
        for number in range(first, self._part_count):
            path = build_part_path(self.folder, number)
            rows += pq.read_metadata(path).num_rows
            if number in places:
                left = drop_rows(read_part(path), places[number])
                write_part(self.folder, number, left.to_batches(), self._build_metadata())
                rows -= len(places[number])
        super()._drop_rows(places, self._part_count)
        self.rows += rows

    def finish_harvest(self, coverage: dict[str, Any]) -> None:
        """Write the last part, empty where there is nothing, with what is said of the whole."""
        said = dump_valid_json(
            {"query": self._header.query, "source": self._header.source, **coverage}
        )
        self._write_next_part(coverage=said.decode())
        unfinished = self.folder / f"{COVERAGE_NAME}.tmp"
        unfinished.write_bytes(msgspec.json.format(said, indent=1))
        replace_durably(unfinished, self.folder / COVERAGE_NAME)
        super().finish_harvest(coverage)
        self._log.restart_at(EndedEvent(self.rows, self.requests, coverage))

    def load_table(self) -> pa.Table:
        """Return all rows, of all parts."""
        paths = sorted(self.folder.glob("part-*.parquet"))
        return concat_batches(each for path in paths for each in read_part(path).to_batches())

    def _lock_folder(self) -> None:
        """Keep other harvests out of the folder, of this process and of others.

        Raises
        ------
        OptionError
            If one is in it.
        """
        msg = f"Another harvest is writing to {sanitize_text(self.folder, 120)}. Wait until it is over."
        with _open_folders_lock:
            if self._absolute_folder in _open_folders:
                raise OptionError(msg)
            self._lock_file = (self.folder / LOCK_NAME).open("ab")
            if fcntl is not None:
                try:
                    # Held by this process alone: its workers would outlive it for a while.
                    fcntl.lockf(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    self._lock_file.close()
                    self._lock_file = None
                    raise OptionError(msg) from None
            _open_folders.add(self._absolute_folder)

    def _check_orphans(self) -> None:
        """Refuse parts whose log is gone.

        Raises
        ------
        OptionError
            If there are any.
        """
        if build_part_path(self.folder, 0).exists():
            msg = (
                f"{sanitize_text(self.folder, 120)} holds parts of a harvest whose log {LOG_NAME} is gone, so "
                "nobody knows what they lack. Name another folder, or remove them."
            )
            raise OptionError(msg)

    def _remove_parts(self, first: int | None) -> None:
        """Remove the parts from a number on, which the log still has; None for no part."""
        while first is not None and build_part_path(self.folder, first).exists():
            build_part_path(self.folder, first).unlink()
            first += 1
