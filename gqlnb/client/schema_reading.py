"""What ``schema=`` may be: text, a file, an introspection result, an object; and large JSON."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from gqlnb.engine.adopting import held, is_schema
from gqlnb.engine.lenient import Described, collector_paused, from_introspection, from_sdl
from gqlnb.engine.schema import Schema
from gqlnb.errors import SchemaError, plain
from gqlnb.wire.json import JSONError, bare_json, load

__all__ = ["read_introspection", "schema_of"]

LARGE = 8 * 2**20  # bytes; GitHub's has three to five million
TAKES = (
    "schema= takes SDL text, the path of a file with SDL or introspection JSON, an introspection "
    "result, or a schema object"
)


def schema_of(given: Any) -> Described:
    """Return the schema that ``schema=`` means.

    Parameters
    ----------
    given
        SDL text; the path of a file with SDL or with introspection JSON; an introspection result,
        with or without the envelope ``data``; any object that :meth:`Schema.adopt` takes.

    Raises
    ------
    SchemaError
        If it is none of these, or describes no schema.
    """
    if isinstance(given, Schema):
        return Described(given.graphql)
    if isinstance(given, Mapping):
        return from_introspection(given, "The introspection result")
    if isinstance(given, os.PathLike) or (isinstance(given, str) and is_path(given)):
        return from_file(Path(os.fspath(given)).expanduser())
    if isinstance(given, str):
        return from_text(given, "The text")
    if not is_schema(given):
        msg = f"{TAKES}; got {plain(type(given).__name__, 80)}."
        raise SchemaError(msg)
    return Described(held(given))


def is_path(text: str) -> bool:
    """Tell whether text is a path rather than SDL, which has braces unless it says nothing."""
    return "{" not in text and "\n" not in text and text.strip() != ""


def from_file(path: Path) -> Described:
    """Return the schema in a file.

    Raises
    ------
    SchemaError
        If it can't be read, or describes no schema.
    """
    shown = plain(path, 80)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        reason = "it is no UTF-8"
    except (OSError, ValueError) as error:  # ValueError: a null character
        reason = getattr(error, "strerror", None) or "it is no path"
    else:
        return from_text(text, f"The file {shown}")
    msg = f"schema= names no file that can be read: {shown!r} ({reason}). {TAKES}."
    raise SchemaError(msg)


def from_text(text: str, whence: str) -> Described:
    """Return the schema that text describes: introspection JSON, which begins with ``{``, or SDL.

    Raises
    ------
    SchemaError
        If it describes none.
    """
    if not text.strip():
        msg = f"{whence} is empty. {TAKES}."
        raise SchemaError(msg)
    if not text.lstrip().startswith("{"):
        return from_sdl(text, whence)
    try:
        data = load(text.encode())
    except (JSONError, UnicodeEncodeError) as error:
        reason = str(error)
    else:
        return from_introspection(data, whence)
    msg = f"{whence} begins as JSON does, and is none ({plain(reason, 120)})."
    raise SchemaError(msg)


def whole_of(body: bytes) -> dict[str, Any]:
    """Read a JSON object.

    Raises
    ------
    ValueError
        If it is no JSON, or another.
    """
    whole = load(body)  # JSONError is a ValueError
    if isinstance(whole, dict):
        return whole
    msg = "no JSON object"
    raise ValueError(msg)


_ANY = msgspec.json.Decoder()
_PARTS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])


def read_introspection(body: bytes) -> dict[str, Any]:
    """Read the JSON of an introspection result, with or without its envelope.

    A large one is read type by type: a decoder of JSON lets no other thread run before it is done,
    which with 100,000 types takes a second; a kernel that does not answer for so long seems dead.

    Returns
    -------
    dict
        What :func:`gqlnb.wire.json.load` would return.

    Raises
    ------
    ValueError
        If it is no JSON, or no introspection result.
    """
    if len(body) < LARGE:
        with collector_paused():
            return whole_of(body)
    try:
        body.decode()  # msgspec does not look at the UTF-8 of what it skips
        with collector_paused():
            members = _PARTS.decode(bare_json(body))
            inner = _PARTS.decode(members.pop("data")) if "data" in members else members
            schema = _PARTS.decode(inner.pop("__schema"))
            kinds = [_ANY.decode(kind) for kind in _ITEMS.decode(schema.pop("types"))]
            found = {name: _ANY.decode(part) for name, part in schema.items()} | {"types": kinds}
            whole = {name: _ANY.decode(part) for name, part in inner.items()} | {"__schema": found}
            if inner is members:
                return whole
            return {name: _ANY.decode(part) for name, part in members.items()} | {"data": whole}
    except (msgspec.MsgspecError, KeyError, RecursionError) as error:
        reason = type(error).__name__
    msg = f"no introspection result ({reason})"
    raise ValueError(msg)
