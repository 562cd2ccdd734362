"""Durations in nanoseconds: ISO 8601 and PostgreSQL text, and Python, NumPy and pandas values."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any, TypeAlias

# A value of Python, NumPy or pandas, told apart by its attributes.
ScalarValue: TypeAlias = Any

__all__ = [
    "NANOSECONDS_PER_SECOND",
    "convert_seconds",
    "format_duration",
    "format_short_age",
    "parse_fraction",
    "strip_zeros",
    "to_nanoseconds",
]

NANOSECONDS_PER_SECOND = 10**9
# ISO 8601 allows a decimal comma. Months and years have no fixed length.
ISO_DURATION = re.compile(
    r"([+-]?)P(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,](\d{1,9}))?S)?)?"
)
# PostgreSQL's default format of an interval, such as "1 day 02:03:04.5".
POSTGRES_INTERVAL = re.compile(
    r"(?:([+-]?\d+) days?)? ?(?:([+-]?)(\d+):(\d\d):(\d\d)(?:\.(\d{1,9}))?)?"
)


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
