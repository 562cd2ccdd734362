"""Uploads to a server: bodies of ``multipart/form-data`` with GraphQL operations and files.

Source: "GraphQL multipart request specification", J. de Seric, github.com/jaydenseric: a field
``operations`` with JSON, a field ``map`` from file names to paths in it, then the files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

from gqlnb.document.json_codec import JSONError, load_json
from gqlnb.document.upload import DEFAULT_CONTENT_TYPE, Upload
from gqlnb.errors import sanitize_text
from gqlnb.http.headers import parse_parameters
from gqlnb.http.messages import BadRequestError

__all__ = ["find_boundary", "parse_upload_body"]

MAX_PARTS = 64
MAX_PART_HEAD = 4096  # bytes
_BOUNDARY = re.compile(r"[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]")  # RFC 2046, 5.1.1
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
    if not _BOUNDARY.fullmatch(boundary):
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
            shown = sanitize_text(repr(name), 60)
            _refuse(f"The file {shown} of the field 'map' is missing.")
        if not isinstance(targets, list) or not all(isinstance(it, str) for it in targets):
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
        shown = sanitize_text(repr(path), 60)
        _refuse(f"The path {shown} of the field 'map' must lead to a null variable.")
    place[key] = upload


def _find_key(place: object, step: str, path: str) -> str | int:
    if isinstance(place, dict) and step in place:
        return step
    if isinstance(place, list) and _INDEX.fullmatch(step) and int(step) < len(place):
        return int(step)
    shown = sanitize_text(repr(path), 60)
    _refuse(f"The path {shown} of the field 'map' leads nowhere in the operations.")
