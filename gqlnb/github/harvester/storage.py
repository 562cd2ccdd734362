"""Storage of a harvest: rows in memory, or a folder with Parquet parts and a log.

The log is ``_harvest.jsonl``, a file of JSON lines beside the parts. Its first line describes the
harvest, the second one the state when the last part was written; each further line contains
requests with their answers, and is on the disk before the next answer is processed. When a part is
written, the log is replaced by one of two lines, so it never contains more rows than one part. An
interrupted harvest is continued by replaying the log.
"""

from __future__ import annotations

import os
import threading
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
    sync_folder,
    write_durably,
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

try:
    import fcntl
except ImportError:  # not POSIX: two processes that harvest into one folder go unnoticed
    fcntl = None  # type: ignore[assignment]

LOG_NAME = "_harvest.jsonl"
LOG_VERSION = 1
RESTART_HINT = "Name another folder, or start again with resume=False: that removes its contents."
ROWS_PER_PART = 100_000  # about 4 MB on the disk, 10 MB in memory
COVERAGE_NAME = "_coverage.json"
LOCK_NAME = "_harvest.lock"
_open_folders: set[Path] = set()
_open_folders_lock = threading.Lock()


class LogHeader(msgspec.Struct, kw_only=True):
    """The first line of the log: the harvest and its endpoint."""

    gqlnb: str = "harvest"
    version: int = LOG_VERSION
    query: str
    source: str


class Checkpoint(msgspec.Struct, tag="checkpoint"):
    """The state when a part was written.

    Attributes
    ----------
    parts, rows
        Number of parts and rows written.
    requests
        Number of requests sent.
    state
        State of the sweep.
    """

    parts: int
    rows: int
    requests: int
    state: dict[str, Any]


class AnsweredEvent(msgspec.Struct, tag="answered"):
    """One request: the pages it asked for, and those that came."""

    asks: list[SearchRequest]
    pages: list[SearchPage]


class EndedEvent(msgspec.Struct, tag="ended"):
    """The end of the harvest.

    Attributes
    ----------
    rows, requests
        Total numbers.
    coverage
        Report of the sweep.
    """

    rows: int
    requests: int
    coverage: dict[str, Any]


_EVENT_DECODER: msgspec.json.Decoder[Checkpoint | AnsweredEvent | EndedEvent] = (
    msgspec.json.Decoder(Checkpoint | AnsweredEvent | EndedEvent)
)


class HarvestLog:
    """The log of one harvest. The lock of the folder keeps other processes from writing to it.

    Parameters
    ----------
    folder
        The folder of the harvest.
    header
        The first line.
    """

    def __init__(self, folder: Path, header: LogHeader) -> None:
        self._path = folder / LOG_NAME
        self._header = header
        self._file: IO[bytes] | None = None

    def restart_at(self, line: Checkpoint | EndedEvent) -> None:
        """Replace the log by its header and `line`.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        self.close()
        write_durably(
            self._path, dump_valid_json(self._header) + b"\n" + dump_valid_json(line) + b"\n"
        )
        self._file = self._path.open("ab")

    def append_event(self, event: AnsweredEvent) -> None:
        """Append a line, and wait until it is on the disk.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        if self._file is None:
            self._file = self._path.open("ab")
        self._file.write(dump_valid_json(event) + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def read_events(self) -> Iterator[Checkpoint | AnsweredEvent | EndedEvent]:
        """Yield the lines; an incomplete last one is removed from the file.

        Raises
        ------
        OptionError
            If the log belongs to another harvest, or cannot be read.
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
        """Return whether the folder contains a log."""
        return self._path.exists()

    def _check_header(self, text: bytes) -> None:
        path, own = sanitize_text(self._path, 120), self._header
        try:
            header = msgspec.json.decode(text, type=dict[str, Any])
        except msgspec.MsgspecError:
            header = {}
        if header.get("gqlnb") != "harvest":
            msg = f"{path} is not the log of a harvest. {RESTART_HINT}"
        elif header.get("version") != LOG_VERSION:
            version = sanitize_text(header.get("version"), 20)
            msg = (
                f"{path} is a log of format {version}, and this version of gqlnb reads format "
                f"{LOG_VERSION}. Update gqlnb. Or: {RESTART_HINT}"
            )
        elif (header.get("query"), header.get("source")) != (own.query, own.source):
            msg = (
                f"{path} is the log of {sanitize_text(repr(header.get('query')), 120)} from "
                f"{sanitize_text(header.get('source'), 120)}, and this harvest is "
                f"{sanitize_text(repr(own.query), 120)} from {own.source}. {RESTART_HINT}"
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
        """Close the file; appending opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None


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
    """

    folder: Path | None = None

    def __init__(self) -> None:
        self.rows = self.requests = 0
        self.ended: EndedEvent | None = None
        self._batches: list[pa.RecordBatch] = []

    def restore_sweep(self, new_sweep: Sweep) -> Sweep:
        """Return the sweep to continue: the new one, as memory starts empty."""
        return new_sweep

    def add_rows(self, _event: AnsweredEvent, rows: Iterable[RepositoryRow], _sweep: Sweep) -> None:
        """Add the rows of an event."""
        self.requests += 1
        self.hold_rows(rows)

    def hold_rows(self, rows: Iterable[RepositoryRow]) -> None:
        """Add rows that belong to no new event."""
        new_rows = list(rows)
        if new_rows:
            self.rows += len(new_rows)
            self._batches.append(build_batch(new_rows))

    def remove_repeated_rows(self) -> None:
        """Keep each repository once, at its first place. Calling it again changes nothing."""
        self._drop_rows(find_repeated_rows(self._iterate_ids, self.rows))

    def _iterate_ids(self) -> Iterator[list[str]]:
        """Yield the ids of each batch."""
        for batch in self._batches:
            yield batch.column("id").to_pylist()

    def _drop_rows(self, places: Mapping[int, list[int]], first: int = 0) -> None:
        """Drop rows by batch; `first` is the number of the first batch."""
        for number, batch in enumerate(self._batches, first):
            if number in places:
                self._batches[number - first] = drop_rows(batch, places[number])
        self.rows = sum(map(len, self._batches))

    def finish_harvest(self, coverage: dict[str, Any]) -> None:
        """Record the end of the harvest."""
        self.ended = EndedEvent(self.rows, self.requests, coverage)

    def load_table(self) -> pa.Table:
        """Return all rows."""
        return concat_batches(self._batches)

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

    Raises
    ------
    OptionError
        If `folder` is a file, contains other Parquet files or another harvest, or another harvest
        is writing to it.
    OSError
        If it cannot be written to.
    """

    folder: Path

    def __init__(
        self, folder: Path, header: LogHeader, *, resume: bool = True, part: int = ROWS_PER_PART
    ) -> None:
        super().__init__()
        self.folder = folder
        self._header, self._resume, self._rows_per_part = header, resume, part
        self._log = HarvestLog(folder, header)
        self._part_count = 0
        self._lock_file: IO[bytes] | None = None
        self._absolute_folder = folder.absolute()

    def __enter__(self) -> Self:
        if self.folder.is_file():
            path = sanitize_text(self.folder, 120)
            msg = f"{path} is a file. A harvest writes a folder: name another."
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
        """Close the log and unlock the folder."""
        self._log.close()
        if self._lock_file is not None:
            self._lock_file.close()
            self._lock_file = None
            with _open_folders_lock:
                _open_folders.discard(self._absolute_folder)

    def restore_sweep(self, new_sweep: Sweep) -> Sweep:
        """Return the sweep to continue: the state at the end of the log, or the new one.

        Parameters
        ----------
        new_sweep
            A sweep that has not begun.

        Raises
        ------
        OptionError
            If the log belongs to another harvest, or cannot be read.
        """
        has_log = self._log.exists()
        if not has_log and build_part_path(self.folder, 0).exists():
            msg = (
                f"{sanitize_text(self.folder, 120)} holds parts of a harvest whose log {LOG_NAME} "
                "is gone, so it cannot be continued. Name another folder, or remove them."
            )
            raise OptionError(msg)
        if not has_log or not self._resume:
            # The log first: if this is interrupted, it says that all parts are obsolete.
            self._log.restart_at(Checkpoint(0, 0, 0, new_sweep.export_state()))
            self._remove_parts(0)
            (self.folder / COVERAGE_NAME).unlink(missing_ok=True)
            return new_sweep
        sweep = new_sweep
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
        if self.ended is None:
            self._remove_parts(self._part_count)  # of a part that was not followed by a checkpoint
        self._flush_full_part(sweep)
        return sweep

    def add_rows(self, event: AnsweredEvent, rows: Iterable[RepositoryRow], sweep: Sweep) -> None:
        """Log an event and add its rows, which are safe from interruption then."""
        self._log.append_event(event)
        super().add_rows(event, rows, sweep)
        self._flush_full_part(sweep)

    def _flush_full_part(self, sweep: Sweep) -> None:
        """Write a part and a checkpoint if there are enough rows."""
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
        header = self._header
        version = str(header.version)
        return {"harvest": version, "query": header.query, "source": header.source, **more}

    def _iterate_ids(self) -> Iterator[list[str]]:
        """Yield the ids of each part, then of each batch that is not in a part yet."""
        import pyarrow.parquet as pq

        for number in range(self._part_count):
            part = pq.read_table(build_part_path(self.folder, number), columns=["id"])
            yield part["id"].to_pylist()
        yield from super()._iterate_ids()

    def _drop_rows(self, places: Mapping[int, list[int]], first: int = 0) -> None:
        """Drop rows by part, then by batch."""
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
        """Write the last part, which may be empty, with the coverage in its metadata."""
        header = self._header
        report = dump_valid_json({"query": header.query, "source": header.source, **coverage})
        self._write_next_part(coverage=report.decode())
        write_durably(self.folder / COVERAGE_NAME, msgspec.json.format(report, indent=1))
        super().finish_harvest(coverage)
        self._log.restart_at(EndedEvent(self.rows, self.requests, coverage))

    def load_table(self) -> pa.Table:
        """Return the rows of all parts."""
        paths = sorted(self.folder.glob("part-*.parquet"))
        return concat_batches(batch for path in paths for batch in read_part(path).to_batches())

    def _lock_folder(self) -> None:
        """Lock the folder against other harvests in this process and in others."""
        path = sanitize_text(self.folder, 120)
        msg = f"Another harvest is writing to {path}. Wait until it is over."
        with _open_folders_lock:
            if self._absolute_folder in _open_folders:
                raise OptionError(msg)
            self._lock_file = (self.folder / LOCK_NAME).open("ab")
            if fcntl is not None:
                try:
                    # lockf, not flock: forked workers would inherit an flock, and may outlive
                    # this process for a while.
                    fcntl.lockf(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    self._lock_file.close()
                    self._lock_file = None
                    raise OptionError(msg) from None
            _open_folders.add(self._absolute_folder)

    def _remove_parts(self, first: int) -> None:
        """Remove the parts from number `first` on; the log contains their rows."""
        while (path := build_part_path(self.folder, first)).exists():
            path.unlink()
            first += 1
