"""Conversions of single scalar values: from JSON or Python to what a column holds, and to send.

Each raises TypeError or ValueError for a wrong value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any

__all__ = [
    "AMOUNT",
    "COUNT",
    "LOCAL",
    "LOCAL_TIMESTAMP",
    "MAX_EXACT_FLOAT",
    "TEXT",
    "ZONED",
    "ZONED_TIMESTAMP",
    "OtherFormError",
    "WiderError",
    "build_epoch_reader",
    "build_epoch_sender",
    "build_integer_reader",
    "read_boolean",
    "read_byte",
    "read_date",
    "read_decimal",
    "read_id",
    "read_local_datetime",
    "read_local_nanoseconds",
    "read_money",
    "read_number",
    "read_number_text",
    "read_object_text",
    "read_text",
    "read_time",
    "read_timestamp",
    "read_zoned_datetime",
    "read_zoned_nanoseconds",
    "read_zoned_time",
    "send_date",
    "send_datetime",
    "send_local_datetime",
    "send_number",
    "unwrap",
]

EPOCH = datetime(1970, 1, 1)
NANOSECOND_DIGITS = re.compile(
    r"[.,]\d{6}(\d+)"
)  # the digits after microseconds, which Python's types lack
ZONE_NAME = re.compile(r"\[[^\]]*\]$")  # of java.time: 2026-01-02T03:04:05+01:00[Europe/Paris]
MAX_EXACT_FLOAT = 2**53  # a float can represent every integer up to here
NANOSECOND_RANGE = range(-(2**63) + 1, 2**63)  # the least one is NumPy's and Arrow's NaT
EPOCH_COUNT = re.compile(r"[+-]?\d{9,}")  # a count since 1970; a day in ISO 8601's basic form has 8


class WiderError(ValueError):
    """A value that only the wider form of its scalar holds."""


# Forms of values that the name of their scalar does not tell, and what is said of such a value.
LOCAL, ZONED, LOCAL_TIMESTAMP, ZONED_TIMESTAMP = "local", "zoned", "local timestamp", "timestamp"
COUNT, TEXT, AMOUNT = "number", "text", "amount in words"
_FORM_MESSAGES = {
    LOCAL: "it has no time zone",
    ZONED: "it has a time zone",
    LOCAL_TIMESTAMP: "it is a timestamp",
    ZONED_TIMESTAMP: "it is a timestamp",
    COUNT: "it is a number",
    TEXT: "it is text",
    AMOUNT: "it is not a plain number",
}


class OtherFormError(ValueError):
    """A value in another form than the name of its scalar says.

    Parameters
    ----------
    form
        The form, by which :attr:`gqlnb.document.known_scalars.Scalar.others` has its kind.
    """

    def __init__(self, form: str) -> None:
        super().__init__(_FORM_MESSAGES[form])
        self.form = form


def unwrap(value: Any) -> Any:
    """Return a NumPy scalar as the plain value it holds; anything else as it is."""
    return value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value


# -- numbers


def build_integer_reader(
    bits: int | None, *, texts: bool, signed: bool = True, wider: bool = False
) -> Callable[[Any], int]:
    """Return a function that reads whole numbers.

    Parameters
    ----------
    bits
        How many bits they have; None for any number.
    texts
        Whether text of a number is taken too.
    signed
        Whether one of the bits is the sign.
    wider
        Whether a number of more bits raises `WiderError` instead of OverflowError.
    """
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if bits else (0, 0)
    if bits and not signed:
        low, high = 0, 2**bits

    def read_integer(value: Any) -> int:
        value = unwrap(value)
        if texts and isinstance(value, str):
            value = int(value)
        right = not isinstance(value, bool) and isinstance(value, (int, float))
        if not right or value != int(value):
            raise TypeError
        if isinstance(value, float) and abs(value) > MAX_EXACT_FLOAT:
            message = "a number with a decimal point or an exponent is not exact beyond 2**53"
            raise ValueError(message)
        if bits and not low <= value < high:
            message = f"it does not fit into {bits} bits{'' if signed else ' without a sign'}"
            raise WiderError(message) if wider else OverflowError(message)
        return int(value)

    return read_integer


def read_byte(value: Any) -> int:
    """Return a byte as a number; text holds bytes in Base64 or in hexadecimal digits."""
    if isinstance(value, str):
        raise OtherFormError(TEXT)
    return _read_long(value)


_read_long = build_integer_reader(64, texts=True)


def read_number(value: Any) -> float:
    """Return a number as a float."""
    value = unwrap(value)
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        raise TypeError
    return float(value)


def read_number_text(value: Any) -> float:
    """Return a number, or the text of one, as a float: servers on PostgreSQL send either.

    JSON has no NaN, so PostgreSQL's comes as text. A column of Float64 would hold it as null.
    """
    if not isinstance(value, str):
        return read_number(value)
    found = float(value)
    if found != found:  # noqa: PLR0124 - NaN
        message = (
            "a Float64 column would hold NaN as null; gqlnb.scalar(NAME, dtype='float64') makes "
            "both NaN"
        )
        raise ValueError(message)
    return found


def read_decimal(value: Any) -> Decimal:
    """Return a number, or the text of one, as an exact decimal."""
    if type(value) is Decimal:  # what bytes are decoded to
        return value
    value = unwrap(value)
    if isinstance(value, bool) or not isinstance(value, (str, int, float, Decimal)):
        raise TypeError
    try:
        return Decimal(str(value))
    except InvalidOperation:
        pass
    raise ValueError


def read_money(value: Any) -> Decimal:
    """Return an amount; PostgreSQL's own type writes it in words of a locale, as ``$1,234.50``."""
    try:
        return read_decimal(value)
    except ValueError:
        pass
    raise OtherFormError(AMOUNT)


def read_boolean(value: Any) -> bool:
    """Return a truth value."""
    value = unwrap(value)
    if not isinstance(value, bool):
        raise TypeError
    return value


# -- text


def read_text(value: Any) -> str:
    """Return text."""
    if not isinstance(value, str):
        raise TypeError
    value.encode()  # a lone surrogate has no form in Arrow
    return str(value)


def read_id(value: Any) -> str:
    """Return an id, which some endpoints send as a number."""
    value = unwrap(value)
    return (
        str(value) if isinstance(value, int) and not isinstance(value, bool) else read_text(value)
    )


def read_object_text(value: Any) -> str:
    """Return text, or the text of an object such as a UUID or a path that a resolver gave."""
    if isinstance(value, (bool, int, float, bytes, Mapping, list, tuple)):
        raise TypeError
    return read_text(str(value))


# -- moments


def _parse_datetime(value: Any) -> tuple[datetime, int]:
    """Return a moment, and the nanoseconds beyond its microseconds."""
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
    return value, rest


def _parse_iso(read: Callable[[str], Any], text: str, noun: str) -> Any:
    """Return what a text of ISO 8601 says.

    PostgreSQL has more than Python: ``infinity``, years before 1 and after 9999, and 24:00.
    """
    try:
        return read(text)
    except ValueError:
        pass
    message = f"it is not a {noun} in ISO 8601 that Python has: years 1 to 9999, before 24:00"
    raise ValueError(message)


def _parse_nanoseconds(text: str) -> int:
    """Return the nanoseconds of a text beyond its microseconds."""
    match = NANOSECOND_DIGITS.search(text)
    digits = match[1].rstrip("0") if match else ""
    if len(digits) > 3:
        message = "it is finer than nanoseconds"
        raise ValueError(message)
    return int(digits.ljust(3, "0"))


def _parse_zoned(value: Any) -> tuple[datetime, int]:
    found, rest = _parse_datetime(value)
    if found.tzinfo is None:
        raise OtherFormError(LOCAL)
    return found, rest


def _parse_local(value: Any) -> tuple[datetime, int]:
    found, rest = _parse_datetime(value)
    if found.tzinfo is not None:
        raise OtherFormError(ZONED)
    return found, rest


def read_zoned_datetime(value: Any) -> datetime:
    """Return a moment with a zone."""
    return _require_microseconds(*_parse_zoned(value))


def read_local_datetime(value: Any) -> datetime:
    """Return a moment without a zone."""
    return _require_microseconds(*_parse_local(value))


def _require_microseconds(found: datetime, rest: int) -> datetime:
    if rest:
        message = "it has nanoseconds"
        raise WiderError(message)
    return found


def read_zoned_nanoseconds(value: Any) -> int:
    """Return a moment with a zone as nanoseconds since 1970 in UTC."""
    found, rest = _parse_zoned(value)
    return _count_nanoseconds(found.astimezone(UTC).replace(tzinfo=None), rest)


def read_local_nanoseconds(value: Any) -> int:
    """Return a moment without a zone as nanoseconds since 1970."""
    return _count_nanoseconds(*_parse_local(value))


def _count_nanoseconds(found: datetime, rest: int) -> int:
    count = (found - EPOCH) // timedelta(microseconds=1) * 1000 + rest
    if count not in NANOSECOND_RANGE:
        message = "another value of the column has nanoseconds, which reach from 1677 to 2262 only"
        raise ValueError(message)
    return count


def read_timestamp(value: Any) -> datetime:
    """Return a moment with a zone; a number since 1970 is of a unit that its name does not say."""
    number = unwrap(value)
    if isinstance(number, (int, float)) and not isinstance(number, bool):
        raise OtherFormError(COUNT)
    if isinstance(number, str) and EPOCH_COUNT.fullmatch(number):
        raise OtherFormError(COUNT)
    return read_zoned_datetime(value)


def build_epoch_reader(unit: str) -> Callable[[Any], datetime]:
    """Return a function that reads numbers of `unit` since 1970; it takes text of a moment too.

    Parameters
    ----------
    unit
        ``"seconds"`` or ``"milliseconds"``.
    """
    return partial(_read_epoch, 1_000_000 if unit == "seconds" else 1_000)


def _read_epoch(step: int, value: Any) -> datetime:
    value = unwrap(value)
    if isinstance(value, str) and re.fullmatch(r"[+-]?\d+(\.\d+)?", value):
        value = Decimal(value)
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return read_zoned_datetime(value)
    count = Decimal(str(value)) * step
    if count != int(count):
        message = "it is finer than microseconds"
        raise ValueError(message)
    return EPOCH.replace(tzinfo=UTC) + timedelta(microseconds=int(count))


# -- days and times of day


def read_date(value: Any) -> date:
    """Return a day."""
    if isinstance(value, str):
        found: date = _parse_iso(date.fromisoformat, value, "date")
        return found
    if isinstance(value, datetime) and value.time() != time():
        raise TypeError
    if not isinstance(value, date):
        raise TypeError
    return value.date() if isinstance(value, datetime) else value


def _parse_clock(value: Any) -> time:
    if isinstance(value, str):
        if _parse_nanoseconds(value):
            message = "it has nanoseconds, and a time of Python has not"
            raise ValueError(message)
        value = _parse_time(value)
    if not isinstance(value, time):
        raise TypeError
    return value


def _parse_time(text: str) -> time:
    try:
        return time.fromisoformat(text)
    except ValueError:
        pass
    found = _parse_iso(
        datetime.fromisoformat, text, "time of day"
    )  # some servers call a timestamp "Time", as GitLab does
    raise OtherFormError(ZONED_TIMESTAMP if found.tzinfo else LOCAL_TIMESTAMP)


def read_time(value: Any) -> time:
    """Return a time of day without a zone."""
    found = _parse_clock(value)
    if found.tzinfo is not None:
        raise OtherFormError(ZONED)
    return found


def read_zoned_time(value: Any) -> time:
    """Return a time of day with a zone."""
    found = _parse_clock(value)
    if found.tzinfo is None:
        raise OtherFormError(LOCAL)
    return found


# -- one value to send


def send_datetime(value: Any) -> Any:
    """Return a day as its midnight in UTC; anything else as it is.

    A time without a zone is left alone: it may be meant to be local.
    """
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    return value


def send_local_datetime(value: Any) -> Any:
    """Return a day as its midnight; anything else as it is."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)
    return value


def build_epoch_sender(unit: str) -> Callable[[Any], Any]:
    """Return a function that makes moments with a zone whole numbers of `unit` since 1970.

    Anything else it returns as it is; `unit` is as for :func:`build_epoch_reader`.
    """
    step = timedelta(seconds=1) if unit == "seconds" else timedelta(milliseconds=1)

    def send_count(value: Any) -> Any:
        if not isinstance(value, datetime) or value.tzinfo is None:
            return value
        return (value - EPOCH.replace(tzinfo=UTC)) // step

    return send_count


def send_date(value: Any) -> Any:
    """Return a moment at midnight as its day; anything else as it is."""
    if not isinstance(value, datetime):
        return value
    if value.time() != time():
        message = "a day is asked for, and the value has a time of day. Pass its .date()."
        raise TypeError(message)
    return value.date()


def send_number(value: Any) -> Any:
    """Return a decimal as a float; anything else as it is."""
    return float(value) if isinstance(value, Decimal) else value
