"""Custom scalars of frames: parsers of request values and formatters of response values.

Moments are parsed to whole nanoseconds (dates to days), so that a filter is exact for a column of
any unit.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np
from graphql import GraphQLError

from gqlnb.document.scalar_values import (
    NANOSECONDS_PER_SECOND,
    format_duration,
    parse_fraction,
    strip_zeros,
    to_nanoseconds,
)
from gqlnb.document.variables import HIDES_VALUES

__all__ = [
    "BIGINT_DIGITS",
    "NANOSECONDS_PER_UNIT",
    "SCALAR_DESCRIPTIONS",
    "SCALAR_PARSERS",
    "format_durations",
    "format_local_moments",
    "format_moments",
    "format_times",
]

# Of the units of Arrow; days are parsed to days.
NANOSECONDS_PER_UNIT = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1, "D": 1}
TickArray: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
BIGINT_DIGITS = 38  # the digits of a 128 bit decimal

MOMENT = re.compile(r"(\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d)?)?)(?:[.,](\d{1,9}))?(\D.*)?")
TIME = re.compile(r"(\d\d:\d\d(?::\d\d)?)(?:[.,](\d{1,9}))?")

SCALAR_DESCRIPTIONS = {
    "BigInt": f"A whole number of up to {BIGINT_DIGITS} digits, beyond the 32 bits of Int.",
    "Date": "A date in ISO 8601 format: 2024-02-29.",
    "DateTime": "A date and time in ISO 8601 format, in UTC: 2024-02-29T12:30:00Z. "
    "Filters accept any UTC offset; the default is UTC.",
    "Decimal": "An exact decimal number, as text: 12.50.",
    "Duration": "A length of time in ISO 8601 format, in seconds: PT90S. "
    "Filters also accept weeks, days, hours and minutes: P1DT2H.",
    "JSON": "Any JSON value.",
    "LocalDateTime": "A date and time without a time zone: 2024-02-29T12:30:00.",
    "Time": "A time of day in ISO 8601 format: 12:30:00.",
    "UUID": "A UUID as text.",
}


def read_moment(text: str) -> int:
    """Return a moment as nanoseconds since 1970, in UTC if it has no offset."""
    match = MOMENT.fullmatch(text)
    if match is None:
        raise ValueError
    base, digits, zone = match.groups()
    found = datetime.fromisoformat(f"{base}{zone or ''}".upper())
    since = found.replace(tzinfo=found.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86400 + since.seconds) * NANOSECONDS_PER_SECOND + parse_fraction(digits)


def read_local_moment(text: str) -> int:
    """Return a moment without a time zone as nanoseconds since 1970; an offset is an error."""
    match = MOMENT.fullmatch(text)
    if match is None or match[3]:
        raise ValueError
    return read_moment(text)


def read_date(text: str) -> int:
    return date.fromisoformat(text).toordinal() - date(1970, 1, 1).toordinal()


def read_time(text: str) -> int:
    match = TIME.fullmatch(text)
    if match is None:
        raise ValueError
    found = datetime.fromisoformat(f"1970-01-01T{match[1]}")
    seconds = found.hour * 3600 + found.minute * 60 + found.second
    return seconds * NANOSECONDS_PER_SECOND + parse_fraction(match[2])


def read_decimal(value: object) -> Decimal:
    """Return an exact decimal number; of a float the number that it prints as."""
    found = Decimal(str(value))
    if isinstance(value, bool) or not found.is_finite() or abs(found.adjusted()) > 1000:
        raise ValueError
    return found


def read_big_integer(value: object) -> int:
    found = read_decimal(value)
    if found != found.to_integral_value() or found.adjusted() >= BIGINT_DIGITS:
        raise ValueError
    return int(found)


def build_parser(name: str, read: Callable[[Any], Any], form: str) -> Callable[[Any], Any]:
    """Return a scalar's parser; its error shows a valid form.

    The error never contains the value, which may be that of a variable.
    """

    def parse(value: object) -> object:
        try:
            return read(value)
        except (ArithmeticError, AttributeError, TypeError, ValueError):
            message = f"{name} cannot represent this value: write {form}."
        raise GraphQLError(message)

    setattr(parse, HIDES_VALUES, True)
    return parse


READERS: tuple[tuple[str, Callable[[Any], Any], str], ...] = (
    ("BigInt", read_big_integer, f"a whole number of up to {BIGINT_DIGITS} digits"),
    ("Date", read_date, "a day such as '2024-02-29'"),
    ("DateTime", read_moment, "a moment such as '2024-02-29T12:30:00Z'"),
    (
        "LocalDateTime",
        read_local_moment,
        "a date and time without a time zone such as '2024-02-29T12:30:00'",
    ),
    ("Decimal", read_decimal, "a number such as '12.50'"),
    ("Duration", to_nanoseconds, "a length of time such as 'PT90S'"),
    ("UUID", lambda text: str(UUID(text)), "a UUID as text"),
    ("Time", read_time, "a time of day such as '12:30:00'"),
)
SCALAR_PARSERS = {
    name: {"__parseValue": build_parser(name, read, form)} for name, read, form in READERS
}


def format_moments(ticks: TickArray, unit: str) -> list[str]:
    """Return moments in UTC as text.

    Parameters
    ----------
    ticks
        NumPy integers, `unit` since 1970.
    unit
        ``"s"``, ``"ms"``, ``"us"``, ``"ns"`` or, for days, ``"D"``.
    """
    texts: list[str] = np.datetime_as_string(ticks.astype(f"datetime64[{unit}]")).tolist()
    return texts if unit == "D" else [f"{strip_zeros(text)}Z" for text in texts]


def format_local_moments(ticks: TickArray, unit: str) -> list[str]:
    """Version of :func:`format_moments` for moments without a time zone."""
    return [text.removesuffix("Z") for text in format_moments(ticks, unit)]


def format_times(ticks: TickArray, unit: str) -> list[str]:
    """Return times of day as text; `ticks` are NumPy integers, `unit` since midnight."""
    return [text.partition("T")[2] for text in format_local_moments(ticks, unit)]


def format_durations(ticks: TickArray, unit: str) -> list[str]:
    """Return lengths of time as text; `ticks` are NumPy integers in `unit`."""
    return [format_duration(tick * NANOSECONDS_PER_UNIT[unit]) for tick in ticks.tolist()]
