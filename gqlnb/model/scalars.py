"""Scalars by name: how their values stand in columns, and how Python values are sent as them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from gqlnb.errors import OptionError, plain

if TYPE_CHECKING:
    from gqlnb.model.shape import Shape

__all__ = ["SPAN", "UNKNOWN", "Scalar", "WiderError", "is_known", "of", "scalar", "sent", "version"]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FINER = re.compile(r"[.,]\d{6}(\d+)")  # what comes behind microseconds, as far as Python's go


class WiderError(ValueError):
    """A value that only the wider form of its scalar holds."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """How the values of a scalar are read and sent.

    Attributes
    ----------
    dtype
        The pandas dtype of a column; ``"object"`` for Python values as they are.
    arrow
        The Arrow type of a column; None where it depends on the values.
    stored
        The Arrow type that values are read as on the way there, where it is another: 32 bits check
        the range of an Int, and Arrow parses the text of a moment.
    wire
        The Python types that the JSON values have, None apart.
    exact
        Those of `wire` that Arrow takes as they are.
    fix
        Makes a value of any other type right, or raises; None where values stay as they are.
    serialise
        Makes a Python value of a variable a JSON value; None for the usual way.
    wider
        What a column is instead where `fix` raises `WiderError` for one of its values; None where
        it never does.
    """

    dtype: str
    arrow: str | None = None
    stored: str | None = None
    wire: tuple[type, ...] = ()
    exact: frozenset[type] = frozenset()
    fix: Callable[[Any], Any] | None = None
    serialise: Callable[[Any], Any] | None = None
    wider: Scalar | None = None


# -- one value made right; each raises TypeError or ValueError for a wrong one


def unwrapped(value: Any) -> Any:
    """Return a NumPy scalar as the plain value it holds; anything else as it is."""
    return value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value


def _whole(
    bits: int | None, *, texts: bool, signed: bool = True, wider: bool = False
) -> Callable[[Any], int]:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if bits else (0, 0)
    if bits and not signed:
        low, high = 0, 2**bits

    def whole(value: Any) -> int:
        value = unwrapped(value)
        if texts and isinstance(value, str):
            value = int(value)
        right = not isinstance(value, bool) and isinstance(value, (int, float))
        if not right or value != int(value):
            raise TypeError
        if bits and not low <= value < high:
            message = f"it does not fit into {bits} bits{'' if signed else ' without a sign'}"
            raise WiderError(message) if wider else OverflowError(message)
        return int(value)

    return whole


def _number(value: Any) -> float:
    value = unwrapped(value)
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        raise TypeError
    return float(value)


def _truth(value: Any) -> bool:
    value = unwrapped(value)
    if not isinstance(value, bool):
        raise TypeError
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    value.encode()  # a lone surrogate has no form in Arrow
    return str(value)


def _identity(value: Any) -> str:
    value = unwrapped(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else _text(value)


def _written(value: Any) -> str:
    """Return text, or the text of an object such as a UUID or a path that a resolver gave."""
    if isinstance(value, (bool, int, float, bytes, Mapping, list, tuple)):
        raise TypeError
    return _text(str(value))


def _moment(value: Any) -> datetime:
    found, rest = _instant(value)
    if rest:
        message = "it has nanoseconds"
        raise WiderError(message)
    return found


def _nanoseconds(value: Any) -> int:
    """Return a moment as nanoseconds since 1970."""
    found, rest = _instant(value)
    return (found - EPOCH) // timedelta(microseconds=1) * 1000 + rest


def _instant(value: Any) -> tuple[datetime, int]:
    """Return a moment, without a zone in UTC, and the nanoseconds beyond its microseconds."""
    rest = 0
    if isinstance(value, str):
        rest = _finer(value)
        value = datetime.fromisoformat(value)
    elif getattr(getattr(value, "dtype", None), "kind", None) == "M":  # of NumPy
        whole = value.astype("datetime64[us]")
        rest = (value - whole).astype("timedelta64[ns]").astype("int64").item()
        value = whole.item()
    elif rest := getattr(value, "nanosecond", 0):  # of pandas, which warns of it
        value = value.to_pydatetime(warn=False)
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    if not isinstance(value, datetime):
        raise TypeError
    return (value if value.tzinfo is not None else value.replace(tzinfo=UTC)), rest


def _finer(text: str) -> int:
    """Return the nanoseconds of a text beyond its microseconds."""
    match = FINER.search(text)
    digits = match[1].rstrip("0") if match else ""
    if len(digits) > 3:
        message = "it is finer than nanoseconds"
        raise ValueError(message)
    return int(digits.ljust(3, "0"))


def _day(value: Any) -> date:
    if isinstance(value, str):
        return date.fromisoformat(value)
    if isinstance(value, datetime) and value.time() != time():
        raise TypeError
    if not isinstance(value, date):
        raise TypeError
    return value.date() if isinstance(value, datetime) else value


def _clock(value: Any) -> time:
    if isinstance(value, str):
        if _finer(value):
            message = "it has nanoseconds, and a time of Python has not"
            raise ValueError(message)
        value = time.fromisoformat(value)
    if not isinstance(value, time):
        raise TypeError
    return value


def _decimal(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, (str, int, float, Decimal)):
        raise TypeError
    try:
        return Decimal(str(value))
    except InvalidOperation:
        pass
    raise ValueError


# -- one value to send


def _sent_moment(value: Any) -> Any:
    """Return a day as its midnight in UTC, as which it is read too; anything else as it is.

    A time without a zone is left alone: it may be meant to be local.
    """
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    return value


def _sent_day(value: Any) -> Any:
    if not isinstance(value, datetime):
        return value
    if value.time() != time():
        message = "a day is asked for, and the value has a time of day. Pass its .date()."
        raise TypeError(message)
    return value.date()


def _sent_number(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


# -- the table

TEXT = Scalar("string", "large_string", None, (str,), frozenset({str}), _text)
WRITTEN = replace(TEXT, fix=_written)
INT = Scalar("Int64", "int64", "int32", (int,), frozenset({int}), _whole(32, texts=False))
LONG = Scalar("Int64", "int64", None, (int, str), frozenset({int}), _whole(64, texts=True))
NUMBER = Scalar(
    "Float64", "float64", None, (float,), frozenset({float, int}), _number, _sent_number
)
TRUTH = Scalar("boolean", "bool", None, (bool,), frozenset({bool}), _truth)
# A number of more than 64 bits, and a moment with nanoseconds, make their columns hold that: either
# is exact, which a declared dtype that cuts them would not be.
BIG = replace(
    LONG,
    fix=_whole(64, texts=True, wider=True),
    wider=Scalar("object", "decimal128(38)", wire=LONG.wire, fix=_whole(None, texts=True)),
)
MOMENT = Scalar(
    "datetime64[us, UTC]",
    "moment",
    "large_string",
    (str,),
    frozenset({str}),
    _moment,
    _sent_moment,
    Scalar("datetime64[ns, UTC]", "instant", "large_string", (str,), fix=_nanoseconds),
)
DAY = Scalar("datetime64[us]", "date32", "large_string", (str,), frozenset({str}), _day, _sent_day)
CLOCK = Scalar("object", "time64[us]", fix=_clock)
EXACT = Scalar("object", "decimal128", wire=(Decimal,), fix=_decimal)
SPAN = Scalar("object", "span")  # of lengths that are all fixed a timedelta64, else as they came
ANY = Scalar("object", "json")  # text in Arrow and Parquet, which have no type of any JSON value
UNKNOWN = Scalar("object")

_KNOWN: dict[str, Scalar] = {
    "Int": INT,
    "Float": NUMBER,
    "Boolean": TRUTH,
    "String": TEXT,
    "ID": replace(TEXT, wire=(str, int), fix=_identity),
    # GitHub, graphql-ruby, Shopify, Hasura, PostGraphile, AppSync, graphql-scalars and graphql-java
    # spell the same few kinds each in their way.
    **dict.fromkeys(
        (
            *("DateTime", "DateTimeISO", "ISO8601DateTime", "AWSDateTime", "OffsetDateTime"),
            *("Timestamp", "GitTimestamp", "PreciseDateTime", "Datetime", "timestamptz"),
        ),
        MOMENT,
    ),
    **dict.fromkeys(("Date", "ISO8601Date", "LocalDate", "AWSDate", "date"), DAY),
    **dict.fromkeys(("Time", "LocalTime", "AWSTime", "time"), CLOCK),
    **dict.fromkeys(("Decimal", "PositiveDecimal", "BigDecimal", "numeric"), EXACT),
    **dict.fromkeys(("BigInt", "BigInteger", "UnsignedInt64"), BIG),
    **dict.fromkeys(("Long", "Int64", "bigint"), LONG),
    **dict.fromkeys(("Duration", "ISO8601Duration"), SPAN),
    **dict.fromkeys(("JSON", "JSONObject", "AWSJSON", "json", "jsonb"), ANY),
    **dict.fromkeys(
        ("UUID", "URI", "URL", "HTML", "GitObjectID", "EmailAddress", "AWSURL", "uuid"), WRITTEN
    ),
}
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

    Known by name are these and their usual spellings. The values of others stay as they came.

    ============ ========================================================================
    Scalar       dtype of a column
    ============ ========================================================================
    ``BigInt``   Int64; Python's ``int`` in all rows where one has more than 64 bits
    ``Date``     datetime64[us]
    ``DateTime`` datetime64[us, UTC]; datetime64[ns, UTC] where one has nanoseconds
    ``Decimal``  object: ``decimal.Decimal``
    ``Duration`` timedelta64[us], or [ns]; as they came where one is no text of a fixed length
    ``JSON``     object: dictionaries, lists, ...
    ``Time``     object: ``datetime.time``
    ``URI``      string
    ``UUID``     string
    ============ ========================================================================

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
    if like is not None and like not in _OWN and like not in _KNOWN:
        names = ", ".join(sorted({*_KNOWN, *_OWN}))
        msg = f"scalar({name!r}, like={plain(like, 80)!r}): known are {names}."
        raise OptionError(msg)
    base = (_OWN.get(like) or _KNOWN[like]) if like is not None else UNKNOWN
    if parse is not None:
        base = replace(base, wire=(), exact=frozenset(), fix=parse)
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
    value = unwrapped(value)
    return bool(value) if type(value) is int and value in {0, 1} else _truth(value)


def _measure(value: Any) -> float:
    return float(value) if isinstance(value, str) else _number(value)


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
        return dtype if found.kind == "O" else "string", _identity
    if found.kind == "f":
        return dtype, _measure
    own = is_extension_array_dtype(found)
    if found.kind == "b" and getattr(found, "subtype", None) is None:
        return dtype if own else "boolean", _either
    if found.kind in "iu" and getattr(found, "subtype", None) is None:
        signed, bits = found.kind == "i", 8 * found.itemsize
        right = _whole(bits, texts=True, signed=signed)
        return dtype if own else f"{'Int' if signed else 'UInt'}{bits}", right
    return dtype, _as_it_is


def of(shape: Shape) -> Scalar:
    """Return how the values of a leaf are read; those of an enum are text."""
    if shape.values or shape.type is None:
        return TEXT if shape.values else UNKNOWN
    return _OWN.get(shape.type) or _KNOWN.get(shape.type) or UNKNOWN


def is_known(name: str) -> bool:
    """Return whether a type of this name is a scalar that is known by its name."""
    return name in _OWN or name in _KNOWN


def sent(name: str, value: Any) -> Any:
    """Return a value of a variable in the form that a scalar is sent in, still to be made JSON.

    Raises
    ------
    TypeError
        If it has none; the message does not hold the value, which may be a secret.
    """
    own = _OWN.get(name)
    found = own or _KNOWN.get(name)
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
