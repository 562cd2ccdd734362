"""The log of a harvest, and the lock of its folder.

The log is ``_harvest.jsonl``, a file of JSON lines beside the Parquet parts. Its first line
describes the harvest, the second one the state when the last part was written; each further line
is an event since then, and is on the disk before the harvest continues.
"""

from __future__ import annotations

import os
import threading
from itertools import takewhile
from typing import IO, TYPE_CHECKING, Any, Generic, Self, TypeVar

import msgspec

from gqlnb.client.range_harvest.part_files import (
    build_part_path,
    check_foreign_files,
    find_lost_part,
    remove_parts,
    sync_folder,
    write_durably,
)
from gqlnb.document.json_codec import dump_valid_json
from gqlnb.errors import OptionError, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["COVERAGE_NAME", "LOG_NAME", "RESTART_HINT", "FolderLock", "HarvestLog", "LogHeader"]

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]
try:
    import msvcrt
except ImportError:  # neither in a browser, where there are no other processes
    msvcrt = None  # type: ignore[assignment]

Event = TypeVar("Event")

LOG_NAME = "_harvest.jsonl"
LOG_VERSION = 2
RESTART_HINT = "Name another folder, or replace the harvest in this one with resume=False."
COVERAGE_NAME = "_coverage.json"
LOCK_NAME = "_harvest.lock"
_open_folders: set[Path] = set()
_open_folders_lock = threading.Lock()


class LogHeader(msgspec.Struct, kw_only=True):
    """The first line of the log: the harvest and its endpoint.

    Attributes
    ----------
    query, source
        The query, and the address of the endpoint.
    fields
        The caller's own fields; None without.
    shape
        Their shape, as JSON values.
    twice
        Whether everything is read a second time.
    """

    gqlnb: str = "harvest"
    version: int = LOG_VERSION
    query: str
    source: str
    fields: str | None = None
    shape: Any = None
    twice: bool = False

    def build_metadata(self) -> dict[str, str]:
        """Return the metadata of each part."""
        about = {"harvest": str(self.version), "query": self.query, "source": self.source}
        return about if self.fields is None else about | {"fields": self.fields}

    def encode_report(self, coverage: Mapping[str, Any]) -> bytes:
        """Return the report of a finished harvest as JSON."""
        return dump_valid_json({"query": self.query, "source": self.source, **coverage})


class HarvestLog(Generic[Event]):
    """The log of one harvest. The lock of the folder keeps other processes from writing to it.

    Parameters
    ----------
    folder
        The folder of the harvest.
    header
        The first line.
    decoder
        Decoder of the other lines.
    """

    def __init__(
        self, folder: Path, header: LogHeader, decoder: msgspec.json.Decoder[Event]
    ) -> None:
        self._folder, self._path = folder, folder / LOG_NAME
        self._header, self._decoder = header, decoder
        self._file: IO[bytes] | None = None

    def begin(self, line: Event, *, resume: bool) -> bool:
        """Return whether there is a log to continue; otherwise begin one at `line`.

        Raises
        ------
        OptionError
            If the folder has parts without a log.
        OSError
            If it cannot be written.
        """
        if not self._path.exists() and build_part_path(self._folder, 0).exists():
            msg = (
                f"{sanitize_text(self._folder, 120)} holds parts of a harvest whose log {LOG_NAME} "
                "is gone, so it cannot be continued. Name another folder, or remove them."
            )
            raise OptionError(msg)
        if self._path.exists() and resume:
            return True
        # The log first: if this is interrupted, it says that all parts are obsolete.
        self.restart_at(line)
        remove_parts(self._folder, 0)
        self.remove_coverage()
        return False

    def check_parts(self, count: int) -> None:
        """Check that no part was removed or cut: the log does not contain its rows any more.

        Raises
        ------
        OptionError
            If one of the first `count` parts is missing or damaged.
        """
        lost = find_lost_part(self._folder, count)
        if lost is not None:
            msg = (
                f"{sanitize_text(self._folder, 120)}: {lost}, a part of this harvest. Put it back. "
                f"Or: {RESTART_HINT}"
            )
            raise OptionError(msg)

    def remove_coverage(self) -> None:
        """Remove the report of a finished harvest."""
        (self._folder / COVERAGE_NAME).unlink(missing_ok=True)

    def write_coverage(self, report: bytes) -> None:
        """Write the report of a finished harvest, as of :meth:`LogHeader.encode_report`."""
        write_durably(self._folder / COVERAGE_NAME, msgspec.json.format(report, indent=1))

    def restart_at(self, line: Event) -> None:
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

    def append_event(self, event: Event) -> None:
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

    def read_events(self) -> Iterator[Event]:
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
            found, wanted = _show_difference(str(header.get("query")), own.query)
            msg = (
                f"{path} is the log of {found} from "
                f"{sanitize_text(header.get('source'), 120)}, and this harvest is "
                f"{wanted} from {own.source}. {RESTART_HINT}"
            )
        elif header.get("fields") != own.fields:
            found, wanted = (
                "no fields=" if text is None else f"fields={sanitize_text(repr(text), 120)}"
                for text in (header.get("fields"), own.fields)
            )
            msg = f"{path} is the log of {found}, and this harvest has {wanted}. {RESTART_HINT}"
        elif own.twice and not header.get("twice"):
            msg = f"{path} is the log of a harvest without twice=True. {RESTART_HINT}"
        else:
            # The parts have the types of their time, though the schema may have changed since.
            own.shape, own.twice = header.get("shape"), header.get("twice", False)
            return
        raise OptionError(msg)

    def _parse_line(self, number: int, text: bytes) -> Event:
        try:
            return self._decoder.decode(text)
        except msgspec.MsgspecError as error:
            reason = sanitize_text(error, 120).rstrip(".")
        msg = f"{sanitize_text(self._path, 120)}, line {number} is broken: {reason}. {RESTART_HINT}"
        raise OptionError(msg)

    def close(self) -> None:
        """Close the file; appending opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _show_difference(*queries: str) -> list[str]:
    """Return two queries as they are shown: from shortly before their first difference."""
    pairs = zip(*queries, strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    start = same - 30 if same > 60 and queries[0] != queries[1] else 0
    cut = "\u2026" if start else ""
    return [sanitize_text(repr(cut + query[start:]), 120) for query in queries]


def lock_file(file: IO[bytes]) -> None:
    """Lock a file against other processes, until it is closed.

    Raises
    ------
    OSError
        If another process has locked it.
    """
    if fcntl is not None:
        # lockf, not flock: forked workers would inherit an flock, and may outlive this process for
        # a while.
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    elif msvcrt is not None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)


class FolderLock:
    """The lock of a folder against other harvests in this process and in others.

    Parameters
    ----------
    folder
        The folder; it is created if it does not exist.

    Raises
    ------
    OptionError
        If `folder` is a file, contains other Parquet files, or another harvest is writing to it.
    OSError
        If it cannot be written to.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._absolute_folder = folder, folder.absolute()
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        path = sanitize_text(self._folder, 120)
        if self._folder.is_file():
            msg = f"{path} is a file. A harvest writes a folder: name another."
            raise OptionError(msg)
        self._folder.mkdir(parents=True, exist_ok=True)
        msg = f"Another harvest is writing to {path}. Wait until it is over."
        with _open_folders_lock:
            if self._absolute_folder in _open_folders:
                raise OptionError(msg)
            self._file = (self._folder / LOCK_NAME).open("ab")
            try:
                lock_file(self._file)
            except OSError:
                self._file.close()
                self._file = None
                raise OptionError(msg) from None
            _open_folders.add(self._absolute_folder)
        try:
            check_foreign_files(self._folder)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Unlock the folder."""
        if self._file is not None:
            self._file.close()
            self._file = None
            with _open_folders_lock:
                _open_folders.discard(self._absolute_folder)
