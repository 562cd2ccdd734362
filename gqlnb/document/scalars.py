"""Scalars by name: how their values stand in columns, and how Python values are sent as them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from gqlnb.document.known_scalars import (
    BOOLEAN,
    FLOAT,
    ID,
    INT,
    JSON,
    KNOWN_SCALARS,
    NUMBER,
    OBJECT_TEXT,
    TEXT,
    UNKNOWN,
    Scalar,
    get_known_scalar,
)
from gqlnb.document.scalar_values import (
    OtherFormError,
    WiderError,
    build_integer_reader,
    read_boolean,
    read_id,
    read_number,
    unwrap,
)
from gqlnb.errors import OptionError, sanitize_text

__all__ = [
    "NUMBER",
    "UNKNOWN",
    "OtherFormError",
    "Scalar",
    "WiderError",
    "get_scalar",
    "get_version",
    "is_always_integer",
    "is_integer",
    "is_known",
    "needs_conversion",
    "scalar",
    "serialise_value",
    "takes_numbers",
]

UNCONVERTED = (TEXT, OBJECT_TEXT, ID, INT, FLOAT, BOOLEAN, JSON, UNKNOWN)
_REGISTERED: dict[str, Scalar] = {}
_version = 0


def get_version() -> int:
    """Return a number that changes when a scalar is registered."""
    return _version


def scalar(
    name: str,
    *,
    like: str | None = None,
    parse: Callable[[Any], Any] | None = None,
    serialise: Callable[[Any], Any] | None = None,
    dtype: str | None = None,
) -> None:
    """Say how the values of a custom scalar are read and sent, in this process from now on.

    Known by name are these, their usual spellings, and the scalars of PostGraphile, Hasura,
    graphql-scalars, Strawberry, Saleor, graphql-java, HotChocolate, Shopify, GitHub, GitLab and
    AppSync; others by the specification that ``@specifiedBy`` names. Values of the rest stay as
    they came.

    ================= ===================================================================
    Scalar            dtype of a column
    ================= ===================================================================
    ``BigInt``        Int64; Python's ``int`` in all rows where one has more than 64 bits
    ``Date``          datetime64[us]
    ``DateTime``      datetime64[us, UTC]; datetime64[us] where no value has a zone; [ns]
                      where one has nanoseconds
    ``Datetime``      that of ``DateTime``: PostGraphile has one name for both. Without any value
                      it is in UTC, and in a page of ``client.pages`` as in the pages before
    ``LocalDateTime`` datetime64[us]; datetime64[ns] where one has nanoseconds
    ``Decimal``       object: ``decimal.Decimal``
    ``Double``        Float64
    ``Duration``      timedelta64[us], or [ns]; as they came where one is not of a fixed
                      length, Float64 where all are numbers: a warning says so
    ``JSON``          object: dictionaries, lists, ...
    ``PositiveInt``   Int64
    ``Time``          object: ``datetime.time``
    ``Timestamp``     that of ``DateTime``; Int64 where values are numbers, with a warning
    ``URI``, ``UUID`` string
    ================= ===================================================================

    Lists of a scalar in one cell hold such values too. What no value shows, pages cannot agree on
    beforehand: a warning names the column of ``Datetime`` whose first value in a later page has no
    zone, since ``pandas.concat`` makes objects of the two; ``client.execute_all`` reads all pages
    as one frame.

    Variables of integer and decimal scalars are sent as numbers up to 2**53 - 1, beyond as text.

    Parameters
    ----------
    name
        The name of the scalar in the schema.
    like
        The name of a known scalar that it is read and sent like.
    parse
        Turns one JSON value of an answer, never null, into the value in the column.
    serialise
        Turns one Python value of a variable, never None, into the JSON value to send.
    dtype
        The pandas dtype of its columns; with `parse`, that of what it returns. By default that of
        `like`, else ``"object"``. What it cannot hold unchanged is an error; text of a number is
        taken as the number. For NumPy's ``"bool"`` and integers, which have no null, it is
        the pandas dtype that has one: ``"boolean"``, ``"Int64"``.

    Raises
    ------
    OptionError
        If `like` names no known scalar, or `dtype` no dtype.

    Examples
    --------
    >>> scalar("Money", parse=lambda text: float(text.removeprefix("$")), dtype="Float64")
    """
    global _version  # noqa: PLW0603 - one registry per process, like that of codecs
    if like is not None and like not in _REGISTERED and get_known_scalar(like) is None:
        names = ", ".join(sorted({*KNOWN_SCALARS, *_REGISTERED}))
        msg = f"scalar({name!r}, like={sanitize_text(like, 80)!r}): known are {names}."
        raise OptionError(msg)
    base = UNKNOWN if like is None else _REGISTERED.get(like) or get_known_scalar(like) or UNKNOWN
    if parse is not None:
        base = replace(base, wire=(), exact=frozenset(), fix=parse, wider=None, others={})
    if dtype is not None:
        found, right = _resolve_dtype(name, dtype)
        first = base.fix
        fix = right if first is None else lambda value: _apply_unless_none(right, first(value))
        base = Scalar(found, fix=fix)
    _REGISTERED[name] = replace(base, serialise=serialise or base.serialise)
    _version += 1


def _apply_unless_none(right: Callable[[Any], Any], value: Any) -> Any:
    return None if value is None else right(value)


def _keep_value(value: Any) -> Any:
    return value


def _read_boolean_or_bit(value: Any) -> bool:
    """Return a truth value, which 0 and 1 are too."""
    value = unwrap(value)
    return bool(value) if type(value) is int and value in {0, 1} else read_boolean(value)


def _read_float(value: Any) -> float:
    return float(value) if isinstance(value, str) else read_number(value)


def _resolve_dtype(name: str, dtype: str) -> tuple[str, Callable[[Any], Any]]:
    """Return the dtype of a column that can hold null too, and what makes a value fit into it.

    NumPy's truth values, integers and texts have no null: it would be false, an error, or "None".
    """
    from pandas import StringDtype
    from pandas.api.types import is_extension_array_dtype, pandas_dtype

    try:
        found: Any = pandas_dtype(dtype)
    except TypeError:
        found = None
    if found is None:
        msg = (
            f"scalar({name!r}, dtype={sanitize_text(dtype, 80)!r}): pandas has no such dtype. "
            "For example 'Int64', 'Float64', 'string', 'datetime64[us, UTC]' or 'object'."
        )
        raise OptionError(msg)
    if isinstance(found, StringDtype) or found.kind in "US":
        return dtype if found.kind == "O" else "string", read_id
    if found.kind == "f":
        return dtype, _read_float
    own = is_extension_array_dtype(found)
    if found.kind == "b" and getattr(found, "subtype", None) is None:
        return dtype if own else "boolean", _read_boolean_or_bit
    if found.kind in "iu" and getattr(found, "subtype", None) is None:
        signed, bits = found.kind == "i", 8 * found.itemsize
        right = build_integer_reader(bits, texts=True, signed=signed)
        return dtype if own else f"{'Int' if signed else 'UInt'}{bits}", right
    return dtype, _keep_value


class LeafShape(Protocol):
    """What tells the scalar of a leaf of an answer."""

    type: str | None
    values: tuple[str, ...]
    like: str


def get_scalar(shape: LeafShape) -> Scalar:
    """Return how the values of a leaf are read; those of an enum are text."""
    if shape.values or shape.type is None:
        return TEXT if shape.values else UNKNOWN
    own = _REGISTERED.get(shape.type)
    return own or get_known_scalar(shape.like or shape.type) or UNKNOWN


def needs_conversion(kind: Scalar) -> bool:
    """Return whether values of a scalar in a column are others than its JSON values.

    Not so of text, of the numbers and truth values that JSON has, and of any JSON.
    """
    if kind in UNCONVERTED:
        return False
    return kind.dtype != "object" or kind.fix is not None or kind.arrow in {"span", "seconds"}


def is_known(name: str) -> bool:
    """Return whether a type of this name is a scalar that is known by its name."""
    return name in _REGISTERED or get_known_scalar(name) is not None


def is_integer(name: str) -> bool:
    """Return whether a scalar of this name takes whole numbers, and nothing else is said of it."""
    found = _REGISTERED.get(name) or get_known_scalar(name)
    return found is not None and found.dtype == "Int64" and found.serialise is None


def is_always_integer(name: str) -> bool:
    """Return whether a scalar of this name is a number wherever it is known; not so `Byte`."""
    found = _REGISTERED.get(name) or get_known_scalar(name)
    return is_integer(name) and found is not None and not found.others


def takes_numbers(name: str, like: str = "") -> bool:
    """Return whether a scalar takes JSON numbers alone, as Int and Float do, or any JSON.

    Also one with a `serialise` of its own, which decides what is sent.

    Parameters
    ----------
    name, like
        Its name, and the name of the known scalar that it is like; empty for none.
    """
    found = _REGISTERED.get(name) or get_known_scalar(like or name) or UNKNOWN
    if name in {"Int", "String", "Boolean"}:  # their servers refuse what they do not hold
        return True
    return found.serialise is not None or found.dtype == "Float64" or found.arrow == "json"


def serialise_value(name: str, value: Any) -> Any:
    """Return a value of a variable in the form that a scalar is sent in, still to be made JSON.

    Raises
    ------
    TypeError
        If it has none; the message does not hold the value, which may be a secret.
    """
    own = _REGISTERED.get(name)
    found = own or get_known_scalar(name)
    if found is None or found.serialise is None:
        return value
    try:
        return found.serialise(value)
    except Exception as error:
        if own is None:
            raise
        reason = type(error).__name__
    message = f"its serialiser raised {reason} for a {type(value).__name__}."
    raise TypeError(message)
