"""Requests with file uploads as multipart bodies; files are read while they are sent.

Source: "GraphQL multipart request specification", J. de Seric, github.com/jaydenseric.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from gqlnb.document.json_codec import JSONError, dump_json
from gqlnb.document.upload import Upload
from gqlnb.errors import TransportError, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gqlnb.http.messages import Request

__all__ = ["MultipartBody", "build_multipart_body"]

# HTML, "Multipart form data": the characters that are escaped in a name.
_NAME_ESCAPES = str.maketrans({'"': "%22", "\r": "%0D", "\n": "%0A"})


def build_multipart_body(request: Request, error: JSONError) -> MultipartBody:
    """Return the multipart body of a POST with files.

    Raises
    ------
    JSONError
        The given `error` if files are missing, or if a variable is neither a JSON value nor a
        file.
    """
    places: list[tuple[str, Upload]] = []
    variables = _extract_uploads(request.variables or {}, "variables", places)
    if not places:
        raise error
    return MultipartBody(replace(request, variables=variables), places)


def _extract_uploads(
    value: Any,  # noqa: ANN401 - a JSON value, with uploads
    path: str,
    places: list[tuple[str, Upload]],
) -> Any:  # noqa: ANN401
    """Return a value with null for each file, which is added to `places` with its path."""
    if isinstance(value, Upload):
        places.append((path, value))
        return None
    if isinstance(value, dict):
        return {key: _extract_uploads(item, f"{path}.{key}", places) for key, item in value.items()}
    if isinstance(value, list):
        return [_extract_uploads(item, f"{path}.{at}", places) for at, item in enumerate(value)]
    return value


class MultipartBody:
    """A multipart body; iteration yields its bytes and reads the files.

    Parameters
    ----------
    request
        The request, with null in place of files.
    places
        The paths of the files in the variables; a file with several paths is sent once.

    Attributes
    ----------
    headers : dict
        Headers of the body, with the length if it is known.
    is_repeatable : bool
        Whether it can be sent a second time.
    """

    def __init__(self, request: Request, places: list[tuple[str, Upload]]) -> None:
        # By identity: an Upload of a stream can be read only once, whatever it is equal to.
        by_file: dict[int, tuple[Upload, list[str]]] = {}
        for path, file in places:
            by_file.setdefault(id(file), (file, []))[1].append(path)
        self._files = [file for file, _ in by_file.values()]
        self._boundary = f"gqlnb-{uuid4().hex}"
        self.is_repeatable = all(file.is_rereadable for file in self._files)
        paths = {str(at): found for at, (_, found) in enumerate(by_file.values())}
        self._head = b"".join(
            self._build_part_head(f'name="{name}"', "application/json") + body + b"\r\n"
            for name, body in (("operations", request.encode()), ("map", dump_json(paths)))
        )
        self._end = f"--{self._boundary}--\r\n".encode()
        # Apollo Server refuses multipart bodies without such a header, as a defence against CSRF.
        self.headers = {
            "Content-Type": f"multipart/form-data; boundary={self._boundary}",
            "Apollo-Require-Preflight": "true",
        }
        self._sizes = [_measure_upload(file) for file in self._files]
        known = [size for size in self._sizes if size is not None]
        if len(known) == len(self._files):
            heads = sum(
                len(head) + 2 for head in map(self._build_file_head, range(len(self._files)))
            )
            length = len(self._head) + heads + sum(known) + len(self._end)
            self.headers["Content-Length"] = str(length)

    def _build_part_head(self, disposition: str, content_type: str) -> bytes:
        return (
            f"--{self._boundary}\r\nContent-Disposition: form-data; {disposition}\r\n"
            f"Content-Type: {content_type}\r\n\r\n"
        ).encode("utf-8", "replace")

    def _build_file_head(self, at: int) -> bytes:
        file = self._files[at]
        name = file.filename.translate(_NAME_ESCAPES)
        return self._build_part_head(f'name="{at}"; filename="{name}"', file.content_type)

    def __iter__(self) -> Iterator[bytes]:
        yield self._head
        for at, file in enumerate(self._files):
            yield self._build_file_head(at)
            yield from self._read_file(file, self._sizes[at])
            yield b"\r\n"
        yield self._end

    def _read_file(self, file: Upload, size: int | None) -> Iterator[bytes]:
        """Yield the bytes of a file, at most `size`; raise a TransportError if they are fewer."""
        sent = 0
        try:
            for part in file.iterate_chunks():
                chunk = part if size is None else part[: size - sent]
                sent += len(chunk)
                yield chunk
        except (OSError, ValueError) as error:
            reason = f"could not be read ({type(error).__name__})"
        else:
            if size is None or sent == size:
                return
            reason = f"became shorter while it was sent: {sent:,} bytes, not {size:,}"
        msg = f"The file {sanitize_text(file.filename, 80)!r} {reason}. Nothing was executed."
        raise TransportError(msg)


def _measure_upload(file: Upload) -> int | None:
    """Return the size of a file, None for a stream; TransportError if it is not readable."""
    try:
        return file.size
    except (OSError, ValueError) as error:
        reason = type(error).__name__
    name = sanitize_text(file.filename, 80)
    msg = f"The file {name!r} could not be read ({reason}). Nothing was sent."
    raise TransportError(msg)
