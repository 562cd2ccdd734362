"""Where the rows of a harvest go: a folder that survives whatever happens, or memory."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

import msgspec

from gqlnb.errors import OptionError, plain
from gqlnb.github.harvesting.journal import LOG, Answered, Checkpoint, Ended, Journal, Told
from gqlnb.github.harvesting.once import repeated
from gqlnb.github.harvesting.parts import named, read, replaced, strangers, write
from gqlnb.github.harvesting.rows import batch, table, without
from gqlnb.github.harvesting.sweep import Sweep
from gqlnb.wire.json import encode

try:
    import fcntl
except ImportError:  # not POSIX: two harvests into one folder at once are not noticed
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pyarrow as pa

    from gqlnb.github.harvesting.values import Row

__all__ = ["COVERAGE", "PART", "Folder", "Memory"]

PART = 100_000  # rows; about 4 MB on the disk, 10 MB in memory
COVERAGE = "_coverage.json"
LOCK = "_harvest.lock"
_open: set[Path] = set()
_open_lock = threading.Lock()


class Memory:
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
        self.ended: Ended | None = None
        self._batches: list[pa.RecordBatch] = []

    def restored(self, begun: Sweep) -> Sweep:
        """Return the sweep to go on with: the new one, as nothing was kept."""
        return begun

    def add(self, _event: Answered, rows: Iterable[Row], _sweep: Sweep) -> None:
        """Keep the rows that came of an event."""
        self.requests += 1
        self.hold(rows)

    def hold(self, rows: Iterable[Row]) -> None:
        """Keep rows."""
        held = list(rows)
        if held:
            self.rows += len(held)
            self._batches.append(batch(held))

    def settle(self) -> None:
        """Keep each repository once, where it came first; it may be done again."""
        self._drop(repeated(self._ids, self.rows))

    def _ids(self) -> Iterator[list[str]]:
        """Yield the ids of each batch."""
        for each in self._batches:
            yield each.column("id").to_pylist()

    def _drop(self, places: Mapping[int, list[int]], first: int = 0) -> None:
        """Drop rows of batches, the first of which has a number."""
        for number, each in enumerate(self._batches, first):
            if number in places:
                self._batches[number - first] = without(each, places[number])
        self.rows = sum(map(len, self._batches))

    def finish(self, coverage: dict[str, Any]) -> None:
        """Note that all has come."""
        self.ended = Ended(self.rows, self.requests, coverage)

    def table(self) -> pa.Table:
        """Return all rows."""
        return table(self._batches)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: there is nothing to close."""


class Folder(Memory):
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

    def __init__(self, folder: Path, told: Told, *, resume: bool = True, part: int = PART) -> None:
        super().__init__()
        self.folder = folder
        self._told, self._resume, self._part = told, resume, part
        self._journal = Journal(folder, told)
        self._parts = 0
        self._lock: IO[bytes] | None = None
        self._name = folder.absolute()

    def __enter__(self) -> Self:
        if self.folder.is_file():
            msg = f"{plain(self.folder, 120)} is a file. A harvest writes a folder: name another."
            raise OptionError(msg)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._take()
        try:
            strangers(self.folder)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Close the log and let others in."""
        self._journal.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None
            with _open_lock:
                _open.discard(self._name)

    def restored(self, begun: Sweep) -> Sweep:
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
        known = self._journal.exists()
        if not known:
            self._orphans()
        if not known or not self._resume:
            self._journal.begin(Checkpoint(0, 0, 0, begun.state()))
            self._remove(0)  # only now: a log that says so is there, whatever happens
            (self.folder / COVERAGE).unlink(missing_ok=True)
            return begun
        sweep = begun
        for event in self._journal.read():
            match event:
                case Checkpoint():
                    self._parts, self.rows = event.parts, event.rows
                    self.requests, sweep = event.requests, Sweep.of(event.state)
                case Ended():
                    self.rows, self.requests, self.ended = event.rows, event.requests, event
                case Answered():
                    self.requests += 1
                    for ask, page in zip(event.asks, event.pages, strict=True):
                        self.hold(sweep.feed(ask, page).rows)
        self._remove(self._parts if self.ended is None else None)
        self._flush(sweep)
        return sweep

    def add(self, event: Answered, rows: Iterable[Row], sweep: Sweep) -> None:
        """Write down an event and what came of it; when this returns it is not lost any more."""
        self._journal.add(event)
        super().add(event, rows, sweep)
        self._flush(sweep)

    def _flush(self, sweep: Sweep) -> None:
        """Write a part, if there are rows enough for one."""
        if sum(map(len, self._batches)) >= self._part:
            self._write()
            self._journal.begin(Checkpoint(self._parts, self.rows, self.requests, sweep.state()))

    def _write(self, **about: str) -> None:
        write(self.folder, self._parts, self._batches, self._about(**about))
        self._parts += 1
        self._batches = []

    def _about(self, **more: str) -> dict[str, str]:
        told = self._told
        return {"harvest": str(told.version), "query": told.query, "source": told.source, **more}

    def _ids(self) -> Iterator[list[str]]:
        """Yield the ids of each part, and of each batch that is in none yet."""
        import pyarrow.parquet as pq

        for number in range(self._parts):
            yield pq.read_table(named(self.folder, number), columns=["id"])["id"].to_pylist()
        yield from super()._ids()

    def _drop(self, places: Mapping[int, list[int]], first: int = 0) -> None:
        """Drop rows of parts, and of batches behind them."""
        import pyarrow.parquet as pq

        rows = 0
        for number in range(first, self._parts):
            path = named(self.folder, number)
            rows += pq.read_metadata(path).num_rows
            if number in places:
                left = without(read(path), places[number])
                write(self.folder, number, left.to_batches(), self._about())
                rows -= len(places[number])
        super()._drop(places, self._parts)
        self.rows += rows

    def finish(self, coverage: dict[str, Any]) -> None:
        """Write the last part, empty where there is nothing, with what is said of the whole."""
        said = encode({"query": self._told.query, "source": self._told.source, **coverage})
        self._write(coverage=said.decode())
        unfinished = self.folder / f"{COVERAGE}.tmp"
        unfinished.write_bytes(msgspec.json.format(said, indent=1))
        replaced(unfinished, self.folder / COVERAGE)
        super().finish(coverage)
        self._journal.begin(Ended(self.rows, self.requests, coverage))

    def table(self) -> pa.Table:
        """Return all rows, of all parts."""
        paths = sorted(self.folder.glob("part-*.parquet"))
        return table(each for path in paths for each in read(path).to_batches())

    def _take(self) -> None:
        """Keep other harvests out of the folder, of this process and of others.

        Raises
        ------
        OptionError
            If one is in it.
        """
        msg = f"Another harvest is writing to {plain(self.folder, 120)}. Wait until it is over."
        with _open_lock:
            if self._name in _open:
                raise OptionError(msg)
            self._lock = (self.folder / LOCK).open("ab")
            if fcntl is not None:
                try:
                    # Held by this process alone: its workers would outlive it for a while.
                    fcntl.lockf(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    self._lock.close()
                    self._lock = None
                    raise OptionError(msg) from None
            _open.add(self._name)

    def _orphans(self) -> None:
        """Refuse parts whose log is gone.

        Raises
        ------
        OptionError
            If there are any.
        """
        if named(self.folder, 0).exists():
            msg = (
                f"{plain(self.folder, 120)} holds parts of a harvest whose log {LOG} is gone, so "
                "nobody knows what they lack. Name another folder, or remove them."
            )
            raise OptionError(msg)

    def _remove(self, first: int | None) -> None:
        """Remove the parts from a number on, which the log still has; None for no part."""
        while first is not None and named(self.folder, first).exists():
            named(self.folder, first).unlink()
            first += 1
