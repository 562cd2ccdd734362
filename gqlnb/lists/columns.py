"""Ranges of a column: their selection by a query, and their division."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from gqlnb.errors import OptionError, sanitize_text
from gqlnb.option_checks import check_whole_number, explain_keywords

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

ENDS = {"both": (True, True), "left": (True, False), "right": (False, True)}
ENDS["neither"] = (False, False)
FILL = 0.9  # of the cap: ranges of this size rarely exceed it
MAX_PARTS = 32  # of one division: the values may be unevenly distributed


class Kind(NamedTuple):
    """A kind of values.

    Attributes
    ----------
    value_class
        Their class in Python.
    arrow_tests
        The functions of `pyarrow.types` of which one is true for their columns.
    parse
        Returns a value from its text.
    step
        The distance of adjacent values, if all have the same.
    """

    value_class: type
    arrow_tests: tuple[str, ...]
    parse: Callable[[str], Any]
    step: Any = None


KINDS = {  # a datetime is a date, too
    "datetime": Kind(
        datetime,
        ("is_timestamp",),
        datetime.fromisoformat,
        timedelta(microseconds=1),  # databases store times in microseconds, or round them to that
    ),
    "date": Kind(date, ("is_date",), date.fromisoformat, timedelta(days=1)),
    "int": Kind(int, ("is_integer",), int, 1),
    "float": Kind(float, ("is_floating",), float),
    "decimal": Kind(Decimal, ("is_decimal",), Decimal, Decimal("1e-9")),
    "text": Kind(str, ("is_string", "is_large_string"), str),
}
TOLERANCE = timedelta(days=1)


class ValueRange(NamedTuple):
    """The values from `low` to `high`, both included; None for an open end."""

    low: Any
    high: Any

    def __str__(self) -> str:
        ends = ("..." if end is None else sanitize_text(end, 40) for end in self)
        return " to ".join(ends)


@explain_keywords
@dataclass(frozen=True, kw_only=True)
class Slice:
    """The column by which a harvest divides a list, and the filter that selects a range.

    Attributes
    ----------
    column
        The column of the frame whose values the filter compares, such as ``"createdAt"``.
    low, high
        The variables for the ends of a range, without the ``$``; dotted for a member of an input
        object, such as ``"filter.createdAt.gte"``. The member of an open end is left out.
    template
        Text of the variable `low`, if it is a search expression for both ends, such as
        ``"is:open created:{low}..{high}"``; an open end is ``*``.
    closed
        The ends that belong to a range: ``"both"``, ``"left"``, ``"right"`` or ``"neither"``.
    cap
        The most rows that the endpoint returns of one list; None if it is unknown.
    least, most
        The ends of the whole; None if they are open.
    step
        The distance of adjacent values; by default 1, one day, one microsecond, or the next float.
        With a whole number, texts of digits are numbers, as the ids of many databases.
    fixed
        Whether the values of a row never change, as a time of creation.
    id
        The column that identifies a row; by default the selected identifier, else the whole row.

    Examples
    --------
    >>> gqlnb.Slice(column="createdAt", low="since", high="until", closed="left", cap=1000)
    Slice('createdAt', since <= createdAt < until, cap=1000)
    """

    column: str
    low: str = "low"
    high: str = "high"
    template: str | None = None
    closed: Literal["both", "left", "right", "neither"] = "both"
    cap: int | None = 1000
    least: Any = None
    most: Any = None
    step: Any = None
    fixed: bool = False
    id: str | None = None

    def __post_init__(self) -> None:
        if self.closed not in ENDS:
            shown = sanitize_text(repr(self.closed), 40)
            msg = f"closed= is one of {', '.join(map(repr, ENDS))}, not {shown}."
            raise OptionError(msg)
        if self.cap is not None:
            check_whole_number("cap", self.cap, least=1, or_none=True)
        if self.template is not None:
            try:
                self.template.format_map({"low": "", "high": ""})
            except (KeyError, ValueError, IndexError):
                shown = sanitize_text(repr(self.template), 80)
                msg = (
                    f"template= has {{low}} and {{high}} for the ends, and other braces doubled; "
                    f"got {shown}."
                )
                raise OptionError(msg) from None

    def __repr__(self) -> str:
        below, above = ("<=" if closed else "<" for closed in ENDS[self.closed])
        filter_ = f"{self.low} {below} {self.column} {above} {self.high}"
        return f"Slice({self.column!r}, {self.template or filter_}, cap={self.cap})"


def make_slice(value: object) -> Slice:
    """Return a slice; raise OptionError if it is neither one nor the name of a column."""
    if isinstance(value, Slice):
        return value
    if isinstance(value, str) and value:
        return Slice(column=value)
    shown = sanitize_text(repr(value), 60)
    msg = f"slice= takes a gqlnb.Slice or the name of a column, not {shown}."
    raise OptionError(msg)


def bind_range(slice_: Slice, variables: Mapping[str, Any], range_: ValueRange) -> dict[str, Any]:
    """Return the variables of a query for a range.

    Parameters
    ----------
    slice_
        The slice.
    variables
        The variables that are the same for all ranges.
    range_
        The range; its open ends are left out.

    Returns
    -------
    dict
        The variables of both together.

    Raises
    ------
    OptionError
        If a value above a member is not an input object.
    """
    bound = deepcopy(dict(variables))
    low, high = range_
    has_low, has_high = ENDS[slice_.closed]
    if low is not None and not has_low:
        low = shift(low, -1, slice_.step)
    if high is not None and not has_high:
        high = shift(high, 1, slice_.step)
    if slice_.template is not None:
        ends = {"low": _format_end(low), "high": _format_end(high)}
        return bound | {slice_.low: slice_.template.format_map(ends)}
    for name, end in ((slice_.low, low), (slice_.high, high)):
        if end is None:
            continue
        is_day = isinstance(end, datetime) and slice_.step and not slice_.step % KINDS["date"].step
        *above, last = name.split(".")
        target: Any = bound
        for member in above:
            target = target.setdefault(member, {})
            if not isinstance(target, dict):
                msg = f"variables= has a value at {member!r} that is not an input object."
                raise OptionError(msg)
        target[last] = end.date() if is_day else end
    return bound


def _format_end(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return "*" if value is None else str(value)


def find_kind(column: pa.DataType, name: str) -> str:
    """Return the kind of a column's values.

    Returns
    -------
    str
        A key of `KINDS`.

    Raises
    ------
    OptionError
        If its values have no order.
    """
    from pyarrow import types

    for key, kind in KINDS.items():
        if any(getattr(types, test)(column) for test in kind.arrow_tests):
            return key
    msg = f"The column {sanitize_text(name, 80)!r} has values of type {column}, without an order."
    raise OptionError(msg)


def parse_value(kind: str, value: Any) -> Any:  # noqa: ANN401 - of any kind
    """Return a value of a log in its Python type."""
    if not isinstance(value, str) or kind == "text":
        return float(value) if kind == "float" and value is not None else value
    return KINDS[kind].parse(value.upper())


def match_value(value: Any, like: Any) -> Any:  # noqa: ANN401 - of any kind
    """Return an end that the user gave in the type of the column's values, such as `like`."""
    if value is None:
        return None
    value = parse_value(find_value_kind(like), value)
    if isinstance(like, datetime) and isinstance(value, date):
        if not isinstance(value, datetime):
            value = datetime.combine(value, datetime.min.time())
        is_aware, should_be = value.tzinfo is not None, like.tzinfo is not None
        if is_aware and not should_be:
            return value.astimezone(UTC).replace(tzinfo=None)
        return value if is_aware == should_be else value.replace(tzinfo=UTC)
    return value.date() if isinstance(value, datetime) and isinstance(like, date) else value


def shift(value: Any, direction: int, step: Any = None) -> Any:  # noqa: ANN401 - of any kind
    """Return the next value (`direction` 1) or the one before (-1)."""
    if isinstance(value, str):  # a text is followed by the same text with a space
        return value + " " if direction > 0 else value.removesuffix(" ")
    if step is None and isinstance(value, float):
        return math.nextafter(value, math.inf * direction)
    try:
        return value + direction * (KINDS[find_value_kind(value)].step if step is None else step)
    except OverflowError:
        return value


def is_between_steps(value: object) -> bool:
    """Return whether values may lie between this one and the one that :func:`shift` returns."""
    if isinstance(value, str):
        return min(value, default=" ") < " "  # control characters
    if isinstance(value, Decimal):
        return bool(Fraction(value) % Fraction(KINDS["decimal"].step))
    return bool(getattr(value, "nanosecond", 0))  # of a pandas.Timestamp


def find_value_kind(value: object) -> str:
    """Return the kind of a Python value, as :func:`find_kind` does of a column."""
    return next(key for key, kind in KINDS.items() if isinstance(value, kind.value_class))


def interpolate(low: Any, high: Any, share: float) -> Any:  # noqa: ANN401 - of any kind
    """Return the value at a share of the way from `low` to `high`, which may lie beyond."""
    try:
        if isinstance(low, Decimal):
            return low + (high - low) * Decimal(share)
        if isinstance(low, int):
            return low + (high - low) * round(share * 2**30) // 2**30
        between = low + (high - low) * share  # a date ignores the hours
    except OverflowError:
        return high
    if isinstance(between, datetime) and high - low > timedelta(minutes=1):
        return between.replace(microsecond=0)  # endpoints may truncate values to milliseconds
    return between


def divide_range(
    range_: ValueRange, sample: Sequence[Any], count: int | None, slice_: Slice
) -> list[ValueRange]:
    """Divide a range into parts that together contain the same values.

    Parameters
    ----------
    range_
        The range.
    sample
        The values of some of its rows, in the order of the list.
    count
        The number of its rows; None if it is unknown.
    slice_
        The slice.

    Returns
    -------
    list of ValueRange
        In rising order; empty if the range cannot be divided.
    """
    values = sorted(sample)
    # The first page of a list in order of the column says nothing about its other values.
    is_rising, is_falling = values == [*sample], values == [*reversed(sample)]
    parts = 2
    if count is not None and slice_.cap is not None:
        parts = min(max(2, math.ceil(count / (slice_.cap * FILL))), MAX_PARTS)
    cuts: list[Any] = []
    if (is_rising or is_falling) and values and (count is None or isinstance(values[0], str)):
        distinct = sorted(set(values))
        before = distinct[-2:][0] if is_rising else distinct[0]
        cuts = [shift(before, 1, slice_.step)]
    elif is_rising or is_falling:
        low, high = _estimate_ends(range_, values, count, is_rising=is_rising)
        if low is not None and high is not None:
            cuts = [interpolate(low, high, part / parts) for part in range(1, parts)]
    else:
        quantiles = (values[len(values) * part // parts] for part in range(1, parts))
        is_text = isinstance(values[0], str)  # which has a next value, but none before
        cuts = [shift(value, 1) if is_text else value for value in quantiles]
    if slice_.step is not None:
        cuts = [_align_time(cut, slice_.step) for cut in cuts]
    cuts = _select_cuts(cuts, range_)
    if not cuts and values:  # such as equal values: they get a range of their own
        middle = values[len(values) // 2]
        own = [middle, shift(middle, 1, slice_.step)][isinstance(middle, str) :]
        cuts = _select_cuts(own, range_)
    lows = [range_.low, *cuts]
    highs = [*(shift(cut, -1, slice_.step) for cut in cuts), range_.high]
    return [ValueRange(*pair) for pair in zip(lows, highs, strict=True)] if cuts else []


def _estimate_ends(
    range_: ValueRange, values: Sequence[Any], count: int | None, *, is_rising: bool
) -> tuple[Any, Any]:
    """Return the ends of a range; open ends are extrapolated from the first of its values."""
    low, high = range_
    if values:
        share = (count or 0) / len(values)
        first, last = values[0], values[-1]
        if low is None:
            low = first if is_rising else interpolate(last, first, share)
        if high is None:
            high = interpolate(first, last, share) if is_rising else last
    return low, high


def _align_time(value: Any, step: Any) -> Any:  # noqa: ANN401 - of any kind
    """Return a time at a multiple of the step."""
    if not isinstance(value, datetime):
        return value
    return value - (value - datetime.min.replace(tzinfo=value.tzinfo)) % step


def _select_cuts(cuts: Sequence[Any], range_: ValueRange) -> list[Any]:
    """Return the cuts in rising order that are inside a range, without its lowest value."""
    low, high = range_
    inside = {cut for cut in cuts if (low is None or cut > low) and (high is None or cut <= high)}
    return sorted(inside)


def is_far_outside(value: Any, range_: ValueRange) -> bool:  # noqa: ANN401 - of any kind
    """Return whether a value is outside a range by more than endpoints change it."""
    # They round times and read dates in their own time zone; databases order texts in several ways.
    if isinstance(value, str):
        return False
    margin: Any = TOLERANCE if isinstance(value, date) else 0  # a datetime is a date, too
    low, high = range_
    try:
        return (low is not None and value < low - margin) or (
            high is not None and value > high + margin
        )
    except OverflowError:
        return False
