"""The log of a harvest: what was asked and what came, so that a killed one goes on where it was.

A file of JSON lines beside the parts, ``_harvest.jsonl``. The first line says the format and what
is harvested; the second where the harvest stood when the last part was written; each further line
holds requests and their answers, and is on the disk before the rows of the next answer are taken
in. When a part is written the file is replaced by one of two lines, so that it never holds more
than one part's rows.
"""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Any

import msgspec

from gqlnb.errors import OptionError, plain
from gqlnb.github.harvesting.parts import replaced, synced
from gqlnb.github.harvesting.values import Ask, Page
from gqlnb.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["LOG", "Answered", "Checkpoint", "Ended", "Journal", "Told"]

LOG = "_harvest.jsonl"
VERSION = 1
ANEW = "Name another folder, or begin anew with resume=False: that removes what is there."


class Told(msgspec.Struct, kw_only=True):
    """The first line: what is harvested, and where from."""

    gqlnb: str = "harvest"
    version: int = VERSION
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


class Answered(msgspec.Struct, tag="answered"):
    """What one request asked, and the pages that came."""

    asks: list[Ask]
    pages: list[Page]


class Ended(msgspec.Struct, tag="ended"):
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


_LINES: msgspec.json.Decoder[Checkpoint | Answered | Ended] = msgspec.json.Decoder(
    Checkpoint | Answered | Ended
)


class Journal:
    """The log of one harvest; one process writes it, as the folder is locked.

    Parameters
    ----------
    folder
        Where it is.
    told
        What is harvested.
    """

    def __init__(self, folder: Path, told: Told) -> None:
        self._path = folder / LOG
        self._told = told
        self._file: IO[bytes] | None = None

    def begin(self, line: Checkpoint | Ended) -> None:
        """Replace the log by one that begins, or ends, here.

        Raises
        ------
        OSError
            If it can't be written.
        """
        self.close()
        unfinished = self._path.with_name(f"{LOG}.tmp")
        unfinished.write_bytes(encode(self._told) + b"\n" + encode(line) + b"\n")
        replaced(unfinished, self._path)
        self._file = self._path.open("ab")

    def add(self, event: Answered) -> None:
        """Write a line; when this returns it is on the disk.

        Raises
        ------
        OSError
            If it can't be written.
        """
        if self._file is None:
            self._file = self._path.open("ab")
        self._file.write(encode(event) + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def read(self) -> Iterator[Checkpoint | Answered | Ended]:
        """Yield the lines; a last one that was cut off is dropped, here and in the file.

        Raises
        ------
        OptionError
            If the log is of another harvest, or can't be read.
        """
        with self._path.open("rb") as file:
            self._check(file.readline())
            end = file.tell()
            for number, text in enumerate(file, 2):
                if not text.endswith(b"\n"):
                    break
                end += len(text)
                yield self._line(number, text)
        if end < self._path.stat().st_size:
            os.truncate(self._path, end)
            synced(self._path.parent)

    def exists(self) -> bool:
        """Tell whether there is a log."""
        return self._path.exists()

    def _check(self, text: bytes) -> None:
        """Refuse a log that is not of this harvest."""
        shown = plain(self._path, 120)
        try:
            said = msgspec.json.decode(text, type=dict[str, Any])
        except msgspec.MsgspecError:
            said = {}
        if said.get("gqlnb") != "harvest":
            msg = f"{shown} is no log of a harvest. {ANEW}"
        elif said.get("version") != VERSION:
            msg = (
                f"{shown} is a log of format {plain(said.get('version'), 20)}, and this version of "
                f"gqlnb reads format {VERSION}. Update gqlnb. Or: {ANEW}"
            )
        elif (said.get("query"), said.get("source")) != (self._told.query, self._told.source):
            msg = (
                f"{shown} is the log of {plain(repr(said.get('query')), 120)} from "
                f"{plain(said.get('source'), 120)}, and this harvest is "
                f"{plain(repr(self._told.query), 120)} from {self._told.source}. {ANEW}"
            )
        else:
            return
        raise OptionError(msg)

    def _line(self, number: int, text: bytes) -> Checkpoint | Answered | Ended:
        try:
            return _LINES.decode(text)
        except msgspec.MsgspecError as error:
            reason = plain(error, 120).rstrip(".")
        msg = f"{plain(self._path, 120)}, line {number} is broken: {reason}. {ANEW}"
        raise OptionError(msg)

    def close(self) -> None:
        """Close the file; it can be written to again."""
        if self._file is not None:
            self._file.close()
            self._file = None
