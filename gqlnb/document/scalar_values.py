"""Conversion of single scalar values: from JSON to column values, and from Python for sending.

The functions raise TypeError or ValueError for an invalid value. Durations are in nanoseconds: ISO
8601 and PostgreSQL text, and Python, NumPy and pandas values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar

# A value of Python, NumPy or pandas, or of JSON, told apart by its attributes.
ScalarValue: TypeAlias = Any
NANOSECONDS_PER_SECOND = 10**9
PANDAS_MISSING_TYPES = frozenset({"NAType", "NaTType"})
# ISO 8601 allows a decimal comma. Months and years have no fixed length.
ISO_DURATION = re.compile(
    r"([+-]?)P(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,](\d{1,9}))?S)?)?"
)
# PostgreSQL's default format of an interval, such as "1 day 02:03:04.5".
POSTGRES_INTERVAL = re.compile(
    r"(?:([+-]?\d+) days?)? ?(?:([+-]?)(\d+):(\d\d):(\d\d)(?:\.(\d{1,9}))?)?"
)


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN, NaT or NA."""
    if value is None:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()  # a signalling one cannot be compared
    if isinstance(value, (float, complex)):
        return bool(value != value)  # noqa: PLR0124 - NaN alone differs
    if type(value).__name__ in PANDAS_MISSING_TYPES:
        return True
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    return kind in {"M", "m", "f"} and not getattr(value, "ndim", 0) and bool(value != value)  # noqa: PLR0124


def parse_fraction(digits: str | None) -> int:
    """Convert up to nine digits after a decimal point to nanoseconds."""
    return int((digits or "").ljust(9, "0"))


def parse_duration(value: str) -> int:
    """Parse a duration, such as ``P1DT2H`` or ``1 day 02:00:00``, as nanoseconds.

    Raises
    ------
    ValueError
        If it is not a duration, or not of a fixed length, such as a month.
    """
    match = ISO_DURATION.fullmatch(value)
    if match is not None:
        if not any(match.groups()[1:]):
            raise ValueError
        sign, *parts, digits = match.groups()
        weeks, days, hours, minutes, seconds = (int(part or 0) for part in parts)
        total = (((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds
        length = total * NANOSECONDS_PER_SECOND + parse_fraction(digits)
        return -length if sign == "-" else length
    match = POSTGRES_INTERVAL.fullmatch(value)
    if match is None or not any(match.groups()):
        raise ValueError
    day_digits, sign, *parts, digits = match.groups()
    hours, minutes, seconds = (int(part or 0) for part in parts)
    clock_seconds = (hours * 60 + minutes) * 60 + seconds
    clock = clock_seconds * NANOSECONDS_PER_SECOND + parse_fraction(digits)
    return int(day_digits or 0) * 86400 * NANOSECONDS_PER_SECOND + (
        -clock if sign == "-" else clock
    )


def convert_seconds(value: object) -> int:
    """Convert a number of seconds, or a value as for :func:`to_nanoseconds`, to nanoseconds.

    Raises
    ------
    TypeError, ValueError
        If it is not a duration, or has a finer resolution.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return to_nanoseconds(value)
    count = Decimal(str(value)) * NANOSECONDS_PER_SECOND
    if count != int(count):
        raise ValueError
    return int(count)


def format_duration(span: int) -> str:
    """Format nanoseconds as ISO 8601 text in seconds, such as ``PT90.5S``."""
    whole, rest = divmod(abs(span), NANOSECONDS_PER_SECOND)
    sign = "-" if span < 0 else ""
    return f"{sign}PT{strip_zeros(f'{whole}.{rest:09}')}S"


def strip_zeros(number: str) -> str:
    """Return the text of a number without trailing zeros after its decimal point."""
    return number.rstrip("0").rstrip(".") if "." in number else number


def to_nanoseconds(value: ScalarValue) -> int:
    """Convert text, or a duration of Python, NumPy or pandas, to nanoseconds.

    Raises
    ------
    TypeError, ValueError
        If it is not a duration.
    """
    if isinstance(value, str):
        return parse_duration(value)
    if getattr(getattr(value, "dtype", None), "kind", None) == "m":
        whole = value.astype("timedelta64[us]")
        rest = (value - whole).astype("timedelta64[ns]").astype("int64").item()
        return int(whole.astype("int64").item()) * 1000 + int(rest)
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1) * 1000 + getattr(value, "nanoseconds", 0)
    raise TypeError


def format_short_age(seconds: float) -> str:
    """Return an age in seconds in one unit: ``5 s``, ``12 min``, ``3 h``, ``2 d``."""
    for name, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{int(seconds // length)} {name}"
    return f"{max(0, int(seconds))} s"


T = TypeVar("T")
EPOCH = datetime(1970, 1, 1)
NANOSECOND_DIGITS = re.compile(r"[.,]\d{6}(\d+)")  # beyond the resolution of Python's types
ZONE_NAME = re.compile(r"\[[^\]]*\]$")  # of java.time: 2026-01-02T03:04:05+01:00[Europe/Paris]
MAX_EXACT_FLOAT = 2**53  # a float can represent every integer up to here
NANOSECOND_RANGE = range(-(2**63) + 1, 2**63)  # -(2**63) is NaT for NumPy and Arrow
TIME_START = re.compile(r"\d\d:\d\d")
EPOCH_COUNT = re.compile(r"[+-]?\d{9,}")  # since 1970; a date in ISO 8601's basic form has 8 digits


class ValueForm(StrEnum):
    """A form that values of a scalar may have, contrary to its name, as a clause for messages."""

    LOCAL = "it has no time zone"
    ZONED = "it has a time zone"
    LOCAL_TIMESTAMP = "it is a timestamp without a time zone"
    ZONED_TIMESTAMP = "it is a timestamp with a time zone"
    TIME = "it is a time of day"
    COUNT = "it is a number"
    TEXT = "it is text"
    AMOUNT = "it is not a plain number"


class WiderError(ValueError):
    """A value that needs the wider column type of its scalar."""


class OtherFormError(ValueError):
    """A value in another form than the name of its scalar implies.

    Parameters
    ----------
    form
        The form, a key of :attr:`gqlnb.document.scalars.Scalar.other_forms`.
    """

    def __init__(self, form: ValueForm) -> None:
        super().__init__(form.value)
        self.form = form


def unwrap(value: object) -> ScalarValue:
    """Convert a NumPy scalar to a Python value; return any other value unchanged."""
    return value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value


# -- numbers


def build_integer_reader(
    bits: int | None, *, texts: bool, signed: bool = True, wider: bool = False
) -> Callable[[object], int]:
    """Return a function that converts a value to an integer.

    Parameters
    ----------
    bits
        The number of bits; None for any size.
    texts
        Whether to accept text.
    signed
        Whether one of the bits is the sign.
    wider
        Whether a number of more bits raises `WiderError` instead of OverflowError.
    """
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if bits else (0, 0)
    if bits and not signed:
        low, high = 0, 2**bits

    def read_integer(value: ScalarValue) -> int:
        value = unwrap(value)
        if texts and isinstance(value, str):
            value = int(value)
        is_number = not isinstance(value, bool) and isinstance(value, (int, float))
        if not is_number or value != int(value):
            raise TypeError
        if isinstance(value, float) and abs(value) > MAX_EXACT_FLOAT:
            message = "a number with a decimal point or an exponent is not exact beyond 2**53"
            raise ValueError(message)
        if bits and not low <= value < high:
            message = f"it does not fit into {bits} bits{'' if signed else ' without a sign'}"
            raise WiderError(message) if wider else OverflowError(message)
        return int(value)

    return read_integer


def read_byte(value: object) -> int:
    """Convert a number; text is in another form, such as Base64."""
    if isinstance(value, str):
        raise OtherFormError(ValueForm.TEXT)
    return _read_long(value)


_read_long = build_integer_reader(64, texts=True)


def read_number(value: object) -> float:
    """Convert a number to a float."""
    value = unwrap(value)
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        raise TypeError
    return float(value)


def read_number_text(value: object) -> float:
    """Convert a number or text to a float; servers on PostgreSQL send either."""
    # PostgreSQL's NaN is sent as text, because JSON cannot represent it, and is rejected: a column
    # of Float64 would store it as null.
    if not isinstance(value, str):
        return read_number(value)
    number = float(value)
    if number != number:  # noqa: PLR0124 - NaN
        message = (
            "a Float64 column would hold NaN as null; gqlnb.scalar(NAME, dtype='float64') makes "
            "both NaN"
        )
        raise ValueError(message)
    return number


def read_exact_number(value: object) -> float:
    """Convert a number or text to the float that it equals as a decimal number."""
    number = read_number_text(value)
    if not isinstance(value, float) and Decimal(str(value)) != Decimal(repr(number)):
        message = "a float does not have all of its digits"
        raise ValueError(message)
    return number


def read_decimal(value: object) -> Decimal:
    """Convert a number or text to an exact decimal."""
    if type(value) is Decimal:  # from the JSON decoder
        return value
    value = unwrap(value)
    if isinstance(value, bool) or not isinstance(value, (str, int, float, Decimal)):
        raise TypeError
    try:
        return Decimal(str(value))
    except InvalidOperation:
        pass
    raise ValueError


def read_money(value: object) -> Decimal:
    """Convert an amount; PostgreSQL's type ``money`` is formatted for a locale: ``$1,234.50``."""
    try:
        return read_decimal(value)
    except ValueError:
        pass
    raise OtherFormError(ValueForm.AMOUNT)


def read_boolean(value: object) -> bool:
    """Return a Boolean."""
    value = unwrap(value)
    if not isinstance(value, bool):
        raise TypeError
    return value


# -- text


def read_text(value: object) -> str:
    """Return text without lone surrogates."""
    if not isinstance(value, str):
        raise TypeError
    value.encode()  # Arrow cannot represent a lone surrogate
    return str(value)


def read_id(value: object) -> str:
    """Convert an ID to text; some endpoints send a number."""
    value = unwrap(value)
    return (
        str(value) if isinstance(value, int) and not isinstance(value, bool) else read_text(value)
    )


def read_object_text(value: object) -> str:
    """Convert text, or an object with a text form such as a UUID or a path, to text."""
    if isinstance(value, (bool, int, float, bytes, Mapping, list, tuple)):
        raise TypeError
    return read_text(str(value))


# -- dates with times


def _parse_datetime(value: ScalarValue, *, zoned: bool) -> tuple[datetime, int]:
    """Return a datetime with or without a time zone, and its nanoseconds beyond microseconds."""
    rest = 0
    if isinstance(value, str):
        rest = _parse_nanoseconds(value)
        value = _parse_iso(datetime.fromisoformat, ZONE_NAME.sub("", value), "timestamp")
    elif getattr(getattr(value, "dtype", None), "kind", None) == "M":  # of NumPy
        whole = value.astype("datetime64[us]")
        rest = (value - whole).astype("timedelta64[ns]").astype("int64").item()
        value = whole.item()
    elif rest := getattr(value, "nanosecond", 0):  # of pandas, which warns of it
        value = value.to_pydatetime(warn=False)
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime):
        raise TypeError
    if (value.tzinfo is not None) != zoned:
        raise OtherFormError(ValueForm.LOCAL if zoned else ValueForm.ZONED)
    return value, rest


def _parse_iso(parse: Callable[[str], T], text: str, noun: str) -> T:
    """Parse ISO 8601 text."""
    # PostgreSQL has values that Python lacks: infinity, years before 1 and after 9999, and 24:00.
    try:
        return parse(text.upper())  # RFC 3339 has a lower-case t and z too
    except ValueError:
        pass
    message = f"it is not a {noun} in ISO 8601 that Python has: years 1 to 9999, before 24:00"
    raise ValueError(message)


def _parse_nanoseconds(text: str) -> int:
    """Return the nanoseconds beyond microseconds in a text."""
    match = NANOSECOND_DIGITS.search(text)
    digits = match[1].rstrip("0") if match else ""
    if len(digits) > 3:
        message = "it is finer than nanoseconds"
        raise ValueError(message)
    return int(digits.ljust(3, "0"))


def read_datetime(value: object, *, zoned: bool) -> datetime:
    """Convert a value to a datetime with or without a time zone."""
    moment, rest = _parse_datetime(value, zoned=zoned)
    if rest:
        message = "it has nanoseconds"
        raise WiderError(message)
    return moment


def read_nanoseconds(value: object, *, zoned: bool) -> int:
    """Convert a value with or without a time zone to nanoseconds since 1970, in UTC."""
    moment, rest = _parse_datetime(value, zoned=zoned)
    if zoned:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    count = (moment - EPOCH) // timedelta(microseconds=1) * 1000 + rest
    if count not in NANOSECOND_RANGE:
        message = "another value of the column has nanoseconds, which reach from 1677 to 2262 only"
        raise ValueError(message)
    return count


def read_timestamp(value: object) -> datetime:
    """Convert text to a datetime with a time zone; the unit of a number is unknown."""
    _reject_count(value)
    return read_datetime(value, zoned=True)


def _reject_count(value: object) -> None:
    """Raise OtherFormError for a number."""
    number = unwrap(value)
    if isinstance(number, (int, float)) and not isinstance(number, bool):
        raise OtherFormError(ValueForm.COUNT)
    if isinstance(number, str) and EPOCH_COUNT.fullmatch(number):
        raise OtherFormError(ValueForm.COUNT)


def read_epoch(unit: int, value: object) -> datetime:
    """Convert a number since 1970, in units of so many microseconds, or ISO 8601 text."""
    value = unwrap(value)
    if isinstance(value, str) and re.fullmatch(r"[+-]?\d+(\.\d+)?", value):
        value = Decimal(value)
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return read_datetime(value, zoned=True)
    count = Decimal(str(value)) * unit
    if count != int(count):
        message = "it is finer than microseconds"
        raise ValueError(message)
    return EPOCH.replace(tzinfo=UTC) + timedelta(microseconds=int(count))


# -- dates and times of day


def read_date(value: object) -> date:
    """Convert a value to a date; timestamps, times and numbers are in another form."""
    _reject_count(value)
    if isinstance(value, time) or (isinstance(value, str) and TIME_START.match(value)):
        raise OtherFormError(ValueForm.TIME)
    if isinstance(value, str):
        return _parse_or_reject(date.fromisoformat, value, "date")
    if not isinstance(value, date):
        raise TypeError
    if not isinstance(value, datetime):
        return value
    if value.time() != time():
        raise _build_timestamp_error(value)
    return value.date()


def _parse_or_reject(parse: Callable[[str], T], text: str, about: str) -> T:
    """Parse a date or a time of day; raise the error for a timestamp in its place."""
    try:
        return parse(text.upper())
    except ValueError:
        pass
    # Servers on JavaScript often have a scalar "Date" for its class Date, which is a timestamp, and
    # GitLab and others call one "Time".
    raise _build_timestamp_error(_parse_iso(datetime.fromisoformat, text, about))


def _build_timestamp_error(value: datetime) -> OtherFormError:
    return OtherFormError(ValueForm.ZONED_TIMESTAMP if value.tzinfo else ValueForm.LOCAL_TIMESTAMP)


def read_time(value: object, *, zoned: bool) -> time:
    """Convert a value to a time of day with or without a time zone."""
    text = value
    if isinstance(text, str):
        value = _parse_or_reject(time.fromisoformat, text, "time of day")
        if _parse_nanoseconds(text):
            message = "it has nanoseconds, which a time of Python cannot represent"
            raise ValueError(message)
    if not isinstance(value, time):
        raise TypeError
    if (value.tzinfo is not None) != zoned:
        raise OtherFormError(ValueForm.LOCAL if zoned else ValueForm.ZONED)
    return value


# -- values to send


def send_datetime(value: object, zone: tzinfo | None) -> object:
    """Convert a date to its midnight in a time zone; return any other value unchanged."""
    # A datetime without a time zone is not converted, because it may be a local time.
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day, tzinfo=zone)
    return value


def send_epoch(unit: int, value: object) -> object:
    """Convert a datetime with a time zone to an integer, the inverse of :func:`read_epoch`.

    Other values are returned unchanged.
    """
    if not isinstance(value, datetime) or value.tzinfo is None:
        return value
    return (value - EPOCH.replace(tzinfo=UTC)) // timedelta(microseconds=unit)


def send_date(value: object) -> object:
    """Convert a datetime at midnight to its date; return any other value unchanged."""
    if not isinstance(value, datetime):
        return value
    if value.time() != time():
        message = (
            "a date is required, and the value has a time of day. Pass its .date(); if the "
            "endpoint's scalar has times, register it: gqlnb.scalar(NAME, like='DateTime')."
        )
        raise TypeError(message)
    return value.date()


def send_number(value: object) -> object:
    """Convert a decimal to a float; return any other value unchanged."""
    return float(value) if isinstance(value, Decimal) else value
