"""Files as values of variables."""

from __future__ import annotations

import io
import os
from mimetypes import guess_type
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from gqlnb.errors import OptionError, TransportError, sanitize_text
from gqlnb.option_checks import explain_keywords

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK_SIZE = 1 << 18  # bytes read at a time
DEFAULT_CONTENT_TYPE = "application/octet-stream"


# A file is read while it is sent, so that its size does not matter. The request is repeated only
# if every file can be read again.
@explain_keywords
class Upload:
    """A file to send as the value of a variable, in a multipart request.

    An open binary file can be given as a variable too; an Upload has its own name and media type,
    and opens a path only while it is sent.

    Parameters
    ----------
    content
        The path of a file, its bytes, or a file that is open for reading bytes: it is sent from its
        current position, and stays open.
    filename
        The name sent to the endpoint; by default that of the file, else ``"file"``.
    content_type
        The media type; by default that of the file name's extension, else
        ``application/octet-stream``.

    Raises
    ------
    OptionError
        If the file does not exist, `content` is of another type, or `content_type` is not printable
        ASCII.

    Examples
    --------
    >>> from gqlnb import Upload
    >>> Upload(b"a,b", filename="table.csv")
    Upload('table.csv', 'text/csv', 3 bytes)
    """

    __slots__ = ("_content", "_is_read", "_start", "content_type", "filename")

    def __init__(
        self,
        content: str | os.PathLike[str] | bytes | BinaryIO,
        filename: str | None = None,
        content_type: str | None = None,
    ) -> None:
        self._content: Any = validate_content(content)
        self._start = get_position(self._content)
        self._is_read = False
        self.filename = filename or get_filename(self._content)
        self.content_type = content_type or guess_type(self.filename)[0] or DEFAULT_CONTENT_TYPE
        if not self.content_type.isprintable() or not self.content_type.isascii():
            shown = sanitize_text(content_type, 80)
            msg = f"content_type= is a media type such as 'text/csv'; got {shown!r}."
            raise OptionError(msg)

    @property
    def size(self) -> int | None:
        """The number of bytes; None for a stream of unknown length."""
        if isinstance(self._content, bytes):
            return len(self._content)
        if isinstance(self._content, Path):
            return self._content.stat().st_size
        if self._start is None:
            return None
        end: int = self._content.seek(0, os.SEEK_END)
        self._content.seek(self._start)
        return end - self._start

    @property
    def is_rereadable(self) -> bool:
        """Whether the content can be read more than once."""
        return isinstance(self._content, (bytes, Path)) or self._start is not None

    def open(self) -> BinaryIO:
        """Open the content at its start.

        Returns
        -------
        BinaryIO
            A file; closing it does not close a file given as content.

        Raises
        ------
        TransportError
            If the content is a stream that was read before.
        OSError
            If the file cannot be opened.
        """
        if isinstance(self._content, bytes):
            return io.BytesIO(self._content)
        if isinstance(self._content, Path):
            return self._content.open("rb")
        if self._start is not None:
            self._content.seek(self._start)
        elif self._is_read:
            msg = (
                f"The file {sanitize_text(self.filename)!r} can't be sent a second time: it "
                "can't be read again from its start. Give gqlnb.Upload(path), or a file that can "
                "seek."
            )
            raise TransportError(msg)
        self._is_read = True
        return UnclosedFile(self._content)  # type: ignore[return-value]

    def iterate_chunks(self) -> Iterator[bytes]:
        """Read the content in chunks.

        Yields
        ------
        bytes
            At most 256 KiB, never empty.

        Raises
        ------
        TransportError
            If the content is a stream that was read before.
        OSError
            If the file cannot be read.
        """
        with self.open() as file:
            while part := file.read(CHUNK_SIZE):
                yield part

    def read(self) -> bytes:
        """Read the whole content.

        Returns
        -------
        bytes
            The content.

        Raises
        ------
        TransportError
            If the content is a stream that was read before.
        OSError
            If the file cannot be read.
        """
        return b"".join(self.iterate_chunks())

    def __repr__(self) -> str:
        size = "a stream" if self.size is None else f"{self.size:,} bytes"
        return f"Upload({self.filename!r}, {self.content_type!r}, {size})"


class UnclosedFile(io.RawIOBase):
    """A reader that does not close the underlying file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes of the underlying file."""
        return self._file.read(size)


def is_file(value: object) -> bool:
    """Return whether a value is sent as a file: an :class:`Upload`, or an open file."""
    return isinstance(value, Upload) or (
        callable(getattr(value, "read", None)) and not isinstance(value, type)
    )


def has_file(value: object) -> bool:
    """Return whether a value is a file, or holds one."""
    if isinstance(value, dict):
        return any(map(has_file, value.values()))
    if isinstance(value, list):
        return any(map(has_file, value))
    return is_file(value)


def validate_content(content: object) -> bytes | Path | BinaryIO:
    """Check the content of an upload.

    Parameters
    ----------
    content
        The content as given to :class:`Upload`.

    Returns
    -------
    bytes, Path or BinaryIO
        Bytes, the path of a file, or an open file.

    Raises
    ------
    OptionError
        If it cannot be sent.
    """
    if isinstance(content, (bytes, bytearray, memoryview)):
        return bytes(content)
    if isinstance(content, (str, os.PathLike)):
        path = Path(content)
        if path.is_file():
            return path
        msg = f"Upload: there is no file {sanitize_text(path)!r}."
        raise OptionError(msg)
    if isinstance(content, io.TextIOBase) or hasattr(content, "encoding"):
        msg = "A file to upload is read as bytes. Open it so: open(path, 'rb')."
        raise OptionError(msg)
    if getattr(content, "closed", False):
        msg = "The file to upload is closed. Keep it open until it is sent, or give its path."
        raise OptionError(msg)
    if callable(getattr(content, "read", None)):
        return cast("BinaryIO", content)
    msg = f"Upload takes a path, bytes, or a file open for reading; got {type(content).__name__}."
    raise OptionError(msg)


def get_position(content: bytes | Path | BinaryIO) -> int | None:
    """Return the position of an open file; None for other content, and if it cannot seek."""
    if isinstance(content, (bytes, Path)):
        return None
    try:
        position = content.tell() if content.seekable() else None
    except (AttributeError, OSError, ValueError):
        return None
    return position if isinstance(position, int) else None


def get_filename(content: object) -> str:
    """Return the base name of a path or an open file; "file" if unknown."""
    name = content.name if isinstance(content, Path) else getattr(content, "name", None)
    return Path(name).name or "file" if isinstance(name, str) else "file"
