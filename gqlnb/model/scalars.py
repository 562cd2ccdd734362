"""Scalars by name: how their values stand in columns, and how Python values are sent as them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from gqlnb.errors import OptionError, plain
from gqlnb.model.scalar_kinds import (
    ANY,
    FLOAT,
    ID,
    INT,
    NUMBER,
    TEXT,
    TRUTH,
    UNKNOWN,
    WRITTEN,
    Scalar,
)
from gqlnb.model.scalar_table import KNOWN, known_by_name
from gqlnb.model.scalar_values import (
    OtherFormError,
    WiderError,
    read_boolean,
    read_identity,
    read_number,
    unwrap,
    whole_reader,
)

__all__ = [
    "NUMBER",
    "UNKNOWN",
    "OtherFormError",
    "Scalar",
    "WiderError",
    "is_always_integer",
    "is_integer",
    "is_known",
    "needs_conversion",
    "of",
    "scalar",
    "sent",
    "takes_numbers",
    "version",
]

JSON_VALUES = (TEXT, WRITTEN, ID, INT, FLOAT, TRUTH, ANY, UNKNOWN)
_OWN: dict[str, Scalar] = {}
_count = 0


def version() -> int:
    """Return a number that changes when a scalar is registered."""
    return _count


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
    global _count  # noqa: PLW0603 - one registry per process, like that of codecs
    if like is not None and like not in _OWN and known_by_name(like) is None:
        names = ", ".join(sorted({*KNOWN, *_OWN}))
        msg = f"scalar({name!r}, like={plain(like, 80)!r}): known are {names}."
        raise OptionError(msg)
    base = UNKNOWN if like is None else _OWN.get(like) or known_by_name(like) or UNKNOWN
    if parse is not None:
        base = replace(base, wire=(), exact=frozenset(), fix=parse, wider=None, others={})
    if dtype is not None:
        found, right = _kept_as(name, dtype)
        first = base.fix
        fix = right if first is None else lambda value: _then(right, first(value))
        base = Scalar(found, fix=fix)
    _OWN[name] = replace(base, serialise=serialise or base.serialise)
    _count += 1


def _then(right: Callable[[Any], Any], value: Any) -> Any:
    return None if value is None else right(value)


def _as_it_is(value: Any) -> Any:
    return value


def _either(value: Any) -> bool:
    """Return a truth value, which 0 and 1 are too."""
    value = unwrap(value)
    return bool(value) if type(value) is int and value in {0, 1} else read_boolean(value)


def _measure(value: Any) -> float:
    return float(value) if isinstance(value, str) else read_number(value)


def _kept_as(name: str, dtype: str) -> tuple[str, Callable[[Any], Any]]:
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
            f"scalar({name!r}, dtype={plain(dtype, 80)!r}): pandas has no such dtype. "
            "For example 'Int64', 'Float64', 'string', 'datetime64[us, UTC]' or 'object'."
        )
        raise OptionError(msg)
    if isinstance(found, StringDtype) or found.kind in "US":
        return dtype if found.kind == "O" else "string", read_identity
    if found.kind == "f":
        return dtype, _measure
    own = is_extension_array_dtype(found)
    if found.kind == "b" and getattr(found, "subtype", None) is None:
        return dtype if own else "boolean", _either
    if found.kind in "iu" and getattr(found, "subtype", None) is None:
        signed, bits = found.kind == "i", 8 * found.itemsize
        right = whole_reader(bits, texts=True, signed=signed)
        return dtype if own else f"{'Int' if signed else 'UInt'}{bits}", right
    return dtype, _as_it_is


class Leaf(Protocol):
    """What tells the scalar of a leaf of an answer."""

    type: str | None
    values: tuple[str, ...]
    like: str


def of(shape: Leaf) -> Scalar:
    """Return how the values of a leaf are read; those of an enum are text."""
    if shape.values or shape.type is None:
        return TEXT if shape.values else UNKNOWN
    own = _OWN.get(shape.type)
    return own or known_by_name(shape.like or shape.type) or UNKNOWN


def needs_conversion(kind: Scalar) -> bool:
    """Return whether values of a scalar in a column are others than its JSON values.

    Not so of text, of the numbers and truth values that JSON has, and of any JSON.
    """
    if kind in JSON_VALUES:
        return False
    return kind.dtype != "object" or kind.fix is not None or kind.arrow in {"span", "seconds"}


def is_known(name: str) -> bool:
    """Return whether a type of this name is a scalar that is known by its name."""
    return name in _OWN or known_by_name(name) is not None


def is_integer(name: str) -> bool:
    """Return whether a scalar of this name takes whole numbers, and nothing else is said of it."""
    found = _OWN.get(name) or known_by_name(name)
    return found is not None and found.dtype == "Int64" and found.serialise is None


def is_always_integer(name: str) -> bool:
    """Return whether a scalar of this name is a number wherever it is known; not so `Byte`."""
    found = _OWN.get(name) or known_by_name(name)
    return is_integer(name) and found is not None and not found.others


def takes_numbers(name: str, like: str = "") -> bool:
    """Return whether a scalar takes JSON numbers alone, as Int and Float do, or any JSON.

    Also one with a `serialise` of its own, which decides what is sent.

    Parameters
    ----------
    name, like
        Its name, and the name of the known scalar that it is like; empty for none.
    """
    found = _OWN.get(name) or known_by_name(like or name) or UNKNOWN
    if name in {"Int", "String", "Boolean"}:  # their servers refuse what they do not hold
        return True
    return found.serialise is not None or found.dtype == "Float64" or found.arrow == "json"


def sent(name: str, value: Any) -> Any:
    """Return a value of a variable in the form that a scalar is sent in, still to be made JSON.

    Raises
    ------
    TypeError
        If it has none; the message does not hold the value, which may be a secret.
    """
    own = _OWN.get(name)
    found = own or known_by_name(name)
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
