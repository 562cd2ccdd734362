"""Lengths of time in nanoseconds: text of ISO 8601, and what Python, NumPy and pandas have."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

__all__ = [
    "NANOSECONDS_PER_SECOND",
    "convert_seconds",
    "format_duration",
    "parse_duration",
    "parse_fraction",
    "strip_zeros",
    "to_nanoseconds",
]

NANOSECONDS_PER_SECOND = 10**9
# A comma is a point in ISO 8601. Months and years have no fixed length.
ISO_DURATION = re.compile(
    r"([+-]?)P(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,](\d{1,9}))?S)?)?"
)

# How PostgreSQL writes an interval by default, "1 day 02:03:04.5"; months and years have no fixed
# length here either.
POSTGRES_INTERVAL = re.compile(
    r"(?:([+-]?\d+) days?)? ?(?:([+-]?)(\d+):(\d\d):(\d\d)(?:\.(\d{1,9}))?)?"
)


def parse_fraction(digits: str | None) -> int:
    """Return the digits after a point, nine at most, as nanoseconds."""
    return int((digits or "").ljust(9, "0"))


def parse_duration(value: str) -> int:
    """Return a length of time, such as ``P1DT2H``, in nanoseconds.

    Raises
    ------
    ValueError
        If it is no length, or none that is fixed, as that of a month.
    """
    match = ISO_DURATION.fullmatch(value)
    if match is None:
        return _parse_interval(value)
    if not any(match.groups()[1:]):
        raise ValueError
    sign, *parts, digits = match.groups()
    weeks, days, hours, minutes, seconds = (int(part or 0) for part in parts)
    total = (((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds
    return (total * NANOSECONDS_PER_SECOND + parse_fraction(digits)) * (-1 if sign == "-" else 1)


def _parse_interval(value: str) -> int:
    match = POSTGRES_INTERVAL.fullmatch(value)
    if match is None or not any(match.groups()):
        raise ValueError
    days, sign, *parts, digits = match.groups()
    hours, minutes, seconds = (int(part or 0) for part in parts)
    clock = ((hours * 60 + minutes) * 60 + seconds) * NANOSECONDS_PER_SECOND + parse_fraction(
        digits
    )
    return int(days or 0) * 86400 * NANOSECONDS_PER_SECOND + clock * (-1 if sign == "-" else 1)


def convert_seconds(value: Any) -> int:
    """Return a length of time as whole nanoseconds: a number of seconds, or what has a unit itself.

    Raises
    ------
    TypeError, ValueError
        If it is none, or finer.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return to_nanoseconds(value)
    count = Decimal(str(value)) * NANOSECONDS_PER_SECOND
    if count != int(count):
        raise ValueError
    return int(count)


def format_duration(span: int) -> str:
    """Return a length of time, in nanoseconds, as text, in seconds."""
    whole, rest = divmod(abs(span), NANOSECONDS_PER_SECOND)
    sign = "-" if span < 0 else ""
    return f"{sign}PT{strip_zeros(f'{whole}.{rest:09}')}S"


def strip_zeros(number: str) -> str:
    """Return a number without the zeros behind its point."""
    return number.rstrip("0").rstrip(".") if "." in number else number


def to_nanoseconds(value: Any) -> int:
    """Return a length of time as whole nanoseconds: text, a ``timedelta``, or NumPy's or pandas'.

    Raises
    ------
    TypeError, ValueError
        If it is none.
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
