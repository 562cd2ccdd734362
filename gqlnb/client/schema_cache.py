"""Schemas of endpoints on disk: one compressed file each, which holds no secret.

A file is named by a hash of the endpoint's address and of the names, not the values, of the headers
that go with its requests: who sends a token may be told more than who sends none. Two tokens share
one entry, as nothing that is made from a token is written; a document that the schema kept does not
allow is checked again with one that was just asked for, so the difference harms nobody.

Kept are the schemas of other machines; with ``GQLNB_CACHE=1`` those of this machine too, which
change often and are quick to ask for, and with ``GQLNB_CACHE=0`` none. An address with a query
string is not kept, since a secret may stand in it.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import time
import zlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from gqlnb.client.addresses import address, loopback, secret_segments
from gqlnb.client.files import replace_file
from gqlnb.client.schema_reading import read_introspection
from gqlnb.wire.json import JSONError, encode, load

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["VARIABLE", "Entry", "find", "forget", "place_of", "store"]

VARIABLE = "GQLNB_CACHE"
FORMAT = 1
SUFFIX = ".schema"
FILES = 64  # the oldest make room
HEAD = 4096  # bytes that the first line may have
LARGEST = 512 * 2**20  # bytes unpacked: a hundred times GitHub's
PIECE = 2**20  # bytes; an expression that searches lets no other thread run, 100 MB/s
LEVEL = 6  # a third smaller than level 1, and as quick to unpack
# A member that is null says no more than one that is absent, and is a third of most results. In a
# string there would be a backslash before the quotation mark.
NULL = re.compile(rb',"\w+":null')
_LOG = logging.getLogger("gqlnb")


def pieces(body: bytes) -> Iterator[bytes]:
    """Yield JSON in pieces, cut before commas: no member that is null is in two of them."""
    begin = 0
    while begin < len(body):
        end = body.find(b",", begin + PIECE)
        end = len(body) if end < 0 else end
        yield body[begin:end]
        begin = end


class Entry(NamedTuple):
    """An introspection result that is kept.

    Attributes
    ----------
    packed
        Its JSON, compressed by zlib.
    fetched
        When the endpoint gave it, in seconds since the epoch.
    """

    packed: bytes
    fetched: float

    @classmethod
    def of(cls, body: bytes, fetched: float) -> Entry:
        """Return the entry of an introspection result as JSON."""
        packing = zlib.compressobj(LEVEL)
        packed = [packing.compress(NULL.sub(b"", piece)) for piece in pieces(body)]
        return cls(b"".join([*packed, packing.flush()]), fetched)

    def data(self) -> Any:
        """Return the introspection result.

        Raises
        ------
        ValueError
            If there is none in it.
        """
        unpacking = zlib.decompressobj()
        try:
            body = unpacking.decompress(self.packed, LARGEST)
        except zlib.error as error:
            raise ValueError(str(error)) from error
        if not unpacking.eof:
            msg = "it is cut, or too large"
            raise ValueError(msg)
        return read_introspection(body)

    def age(self) -> float:
        """Return how many seconds ago it was given; what comes from the future is old."""
        age = time.time() - self.fetched
        return age if age >= 0 else float("inf")


def place_of(url: str, headers: Iterable[str]) -> Path | None:
    """Return the file for the schema of an endpoint; None if it is not kept.

    Parameters
    ----------
    url
        Its address; empty for none.
    headers
        The names of the headers that go with its requests.
    """
    switch = os.environ.get(VARIABLE, "").strip()
    secret = urlsplit(url).query or secret_segments(url)
    if not url or switch == "0" or secret or (loopback(url) and switch != "1"):
        return None
    names = ",".join(sorted(name.lower() for name in headers))
    digest = hashlib.sha256(f"{address(url)}\n{names}".encode()).hexdigest()
    return folder() / f"{digest[:32]}{SUFFIX}"


def folder() -> Path:
    """Return where schemas are kept: in the person's own cache."""
    from platformdirs import user_cache_path

    return user_cache_path("gqlnb", appauthor=False) / "schemas"


def find(path: Path) -> Entry | None:
    """Return what is kept in a file; None if there is none, or one that is not ours or broken."""
    try:
        if not path.is_file():  # a pipe would be waited for
            return None
        with path.open("rb") as file:
            head = load(file.readline(HEAD))
            packed = file.read(LARGEST)
    except (OSError, JSONError):
        return None
    if not isinstance(head, dict) or head.get("gqlnb") != "schema" or head.get("format") != FORMAT:
        return None
    fetched = head.get("fetched")
    if isinstance(fetched, bool) or not isinstance(fetched, (int, float)):
        return None
    return Entry(packed, float(fetched))


def store(path: Path, entry: Entry, source: str) -> None:
    """Keep an entry: all of it or nothing, for this person's eyes. That it fails is no error.

    Parameters
    ----------
    path
        The file, as :func:`place_of` gives it.
    entry
        What to keep.
    source
        The address as it is shown, so that a person who looks at the file knows what it is.
    """
    head = {"gqlnb": "schema", "format": FORMAT, "source": source, "fetched": int(entry.fetched)}
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(path, encode(head) + b"\n" + entry.packed, keep_mode=False)
        make_room(path.parent)
    except OSError as error:
        _LOG.info("The schema of %s is not kept: %s.", source, error.strerror)


def make_room(where: Path) -> None:
    """Remove the files that were written longest ago, beyond the number that is kept."""
    files = [(file.stat().st_mtime, file) for file in where.glob(f"*{SUFFIX}")]
    for _, file in sorted(files)[:-FILES]:
        forget(file)


def forget(path: Path) -> None:
    """Remove a file; one that is not there is no error."""
    with suppress(OSError):
        path.unlink()
