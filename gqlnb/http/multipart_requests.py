"""Requests with file uploads as multipart bodies: building, sending and reading them.

Source: "GraphQL multipart request specification", J. de Seric, github.com/jaydenseric: a field
``operations`` with JSON, a field ``map`` from file names to paths in it, then the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn
from uuid import uuid4

from gqlnb.document.json_codec import JSONError, dump_json, load_json
from gqlnb.document.upload import DEFAULT_CONTENT_TYPE, Upload
from gqlnb.errors import TransportError, sanitize_text
from gqlnb.http.messages import VALID_BOUNDARY, BadRequestError, Request, parse_parameters

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
        paths = {str(at): targets for at, (_, targets) in enumerate(by_file.values())}
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
        sizes = [size for size in self._sizes if size is not None]
        self._heads = [self._build_file_head(at, file) for at, file in enumerate(self._files)]
        if len(sizes) == len(self._files):
            heads = sum(len(head) + 2 for head in self._heads)
            length = len(self._head) + heads + sum(sizes) + len(self._end)
            self.headers["Content-Length"] = str(length)

    def _build_part_head(self, disposition: str, content_type: str) -> bytes:
        return (
            f"--{self._boundary}\r\nContent-Disposition: form-data; {disposition}\r\n"
            f"Content-Type: {content_type}\r\n\r\n"
        ).encode("utf-8", "replace")

    def _build_file_head(self, at: int, file: Upload) -> bytes:
        name = file.filename.translate(_NAME_ESCAPES)
        return self._build_part_head(f'name="{at}"; filename="{name}"', file.content_type)

    def __iter__(self) -> Iterator[bytes]:
        yield self._head
        for head, file, size in zip(self._heads, self._files, self._sizes, strict=True):
            yield head
            yield from self._read_file(file, size)
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


MAX_PARTS = 64
MAX_PART_HEAD = 4096  # bytes
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
_ADVICE = "Send the fields 'operations' and 'map', then the files."


class _Part(NamedTuple):
    """A part of a body."""

    name: str
    filename: str | None
    content_type: str
    content: bytes


def find_boundary(content_type: str | None) -> str | None:
    """Return the boundary of ``multipart/form-data``; None for another media type.

    Raises
    ------
    BadRequestError
        If it is missing or invalid.
    """
    media, parameters = parse_parameters(content_type or "")
    if media != "multipart/form-data":
        return None
    boundary = parameters.get("boundary", "")
    if not VALID_BOUNDARY.fullmatch(boundary):
        _refuse("The Content-Type multipart/form-data needs a boundary.")
    return boundary


def parse_upload_body(body: bytes, boundary: str) -> Any:  # noqa: ANN401 - decoded JSON
    """Return the operations of a body as decoded JSON, with an :class:`Upload` for each file.

    Raises
    ------
    BadRequestError
        If the body does not follow the specification.
    """
    parts = _split_parts(body, boundary.encode())
    if len(parts) < 2 or [part.name for part in parts[:2]] != ["operations", "map"]:
        _refuse(f"The form does not begin with operations. {_ADVICE}")
    operations, paths = (_load_field(part) for part in parts[:2])
    if not isinstance(paths, Mapping):
        _refuse("The field 'map' must be an object: a list of paths for each file.")
    files = {part.name: part for part in parts[2:]}
    if len(files) < len(parts) - 2:
        _refuse("Two files of the form have the same name.")
    for name, targets in paths.items():
        part = files.get(name)
        if part is None:
            quoted = sanitize_text(repr(name), 60)
            _refuse(f"The file {quoted} of the field 'map' is missing.")
        if not isinstance(targets, list) or not all(isinstance(path, str) for path in targets):
            _refuse("Each entry of the field 'map' must be a list of paths.")
        upload = Upload(part.content, part.filename, part.content_type)
        for target in targets:
            _set_value(operations, target, upload)
    return operations


def _refuse(message: str) -> NoReturn:
    raise BadRequestError(message) from None


def _split_parts(body: bytes, boundary: bytes) -> list[_Part]:
    """Return the parts of a body (RFC 2046, 5.1.1)."""
    delimiter = b"\r\n--" + boundary
    # A preamble is allowed; the first boundary may come without a line break before it.
    sections = (b"\r\n" + body).split(delimiter, MAX_PARTS + 2)
    if len(sections) > MAX_PARTS + 2:
        _refuse(f"The form has more than {MAX_PARTS} parts.")
    if len(sections) < 2 or not sections[-1].startswith(b"--"):
        _refuse(f"The form is incomplete: its last boundary is missing. {_ADVICE}")
    return [_parse_part(section) for section in sections[1:-1]]


def _parse_part(section: bytes) -> _Part:
    line_end, _, rest = section.partition(b"\r\n")
    head, separator, content = (b"\r\n" + rest).partition(b"\r\n\r\n")
    if line_end.strip(b" \t") or not separator or len(head) > MAX_PART_HEAD:
        _refuse(f"A part of the form is malformed. {_ADVICE}")
    headers: dict[str, str] = {}
    for line in head.decode("utf-8", "replace").split("\r\n"):
        field, _, value = line.partition(":")
        headers.setdefault(field.strip().lower(), value.strip())
    disposition, parameters = parse_parameters(headers.get("content-disposition", ""))
    if disposition != "form-data" or "name" not in parameters:
        _refuse(f"A part of the form has no name. {_ADVICE}")
    media = headers.get("content-type", "")
    if not media.isprintable() or not media.isascii():
        media = ""
    return _Part(
        parameters["name"], parameters.get("filename"), media or DEFAULT_CONTENT_TYPE, content
    )


def _load_field(part: _Part) -> Any:  # noqa: ANN401 - decoded JSON
    try:
        return load_json(part.content)
    except JSONError as error:
        _refuse(f"The field {part.name!r} is not JSON: {error}")


def _set_value(operations: object, path: str, upload: Upload) -> None:
    """Put a file at a path such as ``variables.files.0``; the value there must be null."""
    *parents, last = path.split(".")
    place: Any = operations
    for step in parents:
        place = place[_find_key(place, step, path)]
    key = _find_key(place, last, path)
    if "variables" not in parents or place[key] is not None:
        quoted = sanitize_text(repr(path), 60)
        _refuse(f"The path {quoted} of the field 'map' must lead to a null variable.")
    place[key] = upload


def _find_key(place: object, step: str, path: str) -> str | int:
    if isinstance(place, dict) and step in place:
        return step
    if isinstance(place, list) and _INDEX.fullmatch(step) and int(step) < len(place):
        return int(step)
    quoted = sanitize_text(repr(path), 60)
    _refuse(f"The path {quoted} of the field 'map' leads nowhere in the operations.")
