"""Which rows of a grid are seen, and in which order: what stands in its filters, and its sorting.

All of it follows from the query, which the front end sends with each request: no view changes what
another one shows, and it does not matter which thread answers.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from gqlnb.errors import QueryError, plain
from gqlnb.notebook.widgets.gridcolumn import missing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from gqlnb.notebook.widgets.gridcolumn import Column

__all__ = ["Query", "order_of", "read_query"]

LONG = 1000  # characters of a filter
OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}
NUMBER = r"[-+]?(?:\d[\d,_]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
COMPARED = re.compile(rf"\s*(>=|<=|!=|>|<|=)?\s*({NUMBER})\s*")
BETWEEN = re.compile(rf"\s*({NUMBER})?\s*\.\.\s*({NUMBER})?\s*")
TIME = r"\d{4}[0-9:.TZ+ -]*?"
SPAN = re.compile(rf"\s*({TIME})?\s*\.\.\s*({TIME})?\s*")
MOMENT = re.compile(rf"\s*(>=|<=|!=|>|<|=)?\s*({TIME})\s*")


@dataclass(frozen=True, slots=True)
class Query:
    """What a view of a grid shows.

    Attributes
    ----------
    sort
        Columns by number with ``True`` for the largest first; the first one decides.
    filters
        What stands in the box of a column, by number.
    find
        Words to look for in all columns.
    """

    sort: tuple[tuple[int, bool], ...] = ()
    filters: tuple[tuple[int, str], ...] = ()
    find: str = ""


def read_query(message: Any, columns: int) -> Query:
    """Read what the front end sent, which may be anything.

    Raises
    ------
    QueryError
        If it is no query of a grid of that many columns.
    """
    try:
        sort = tuple((_column(at, columns), bool(down)) for at, down in message.get("sort", ()))
        filters = tuple(
            (_column(int(at), columns), str(text)[:LONG])
            for at, text in message.get("filters", {}).items()
            if str(text).strip()
        )
        return Query(sort, filters, str(message.get("find", ""))[:LONG].strip())
    except (AttributeError, TypeError, ValueError):
        pass
    msg = "This is no query of this grid. Run the cell again."
    raise QueryError(msg)


def _column(at: Any, columns: int) -> int:
    if not isinstance(at, int) or not 0 <= at < columns:
        raise ValueError
    return at


def order_of(query: Query, columns: Sequence[Column], rows: int) -> NDArray[np.intp] | None:
    """Return the rows that are seen, in their order; None for all of them as they are.

    Raises
    ------
    QueryError
        If a filter can't be read.
    """
    kept: NDArray[np.intp] | None = None
    masks = [_mask(columns[at], text.strip()) for at, text in query.filters]
    if query.find:
        masks.append(_found(query.find, columns, rows))
    if masks:
        kept = np.flatnonzero(all_of(masks))
    if not query.sort:
        return kept
    keys = {f"{n}": columns[at].ranks for n, (at, _) in enumerate(query.sort)}
    table = pa.table(keys) if kept is None else pa.table(keys).take(pa.array(kept))
    ways = [
        (f"{n}", "descending" if down else "ascending") for n, (_, down) in enumerate(query.sort)
    ]
    found = pc.sort_indices(table, sort_keys=ways).to_numpy()
    order: NDArray[np.intp] = found.astype(np.intp) if kept is None else kept[found]
    return order


def _found(words: str, columns: Sequence[Column], rows: int) -> NDArray[np.bool_]:
    found = np.zeros(rows, bool)
    digits = words.replace(",", "") if re.fullmatch(r"[\d,.+-]+", words) else words
    for column in columns:
        found |= _numpy(column.holding(digits if column.kind == "number" else words))
    return found


def _numpy(mask: Any) -> NDArray[np.bool_]:
    made: NDArray[np.bool_] = mask.to_numpy(zero_copy_only=False).astype(bool)
    return made


def _mask(column: Column, text: str) -> NDArray[np.bool_]:
    """Return which rows pass the filter of a column."""
    if text in {"=", "!="}:
        gone = column.values.isna().to_numpy()
        return gone if text == "=" else ~gone
    if column.kind == "number":
        return _numbers(column, text)
    if column.kind == "time" and (text[0].isdigit() or text[0] in "<>=!."):
        return _times(column, text)
    return _texts(column, text)


def _texts(column: Column, text: str) -> NDArray[np.bool_]:
    if text[:1] == "=" or text[:2] == "!=":
        same = pc.equal(column.text, pa.scalar(text.partition("=")[2].strip(), column.text.type))
        found = _numpy(pc.fill_null(same, False))
        return ~found if text[0] == "!" else found
    if text[0] == "!" and len(text) > 1:
        return ~_numpy(column.holding(text[1:].strip()))
    return _numpy(column.holding(text))


def _numbers(column: Column, text: str) -> NDArray[np.bool_]:
    tests = _tests(text)
    if not tests:
        msg = (
            f"Filter {plain(text, 80)!r} of column {plain(column.label, 80)!r} is no number. "
            "Write N, >N, >=N, <N, <=N, !=N or N..M, several with blanks between, or = for missing."
        )
        raise QueryError(msg)
    return all_of([_compared(column, name, _read(number)) for name, number in tests])


def _tests(text: str) -> list[tuple[str, str]]:
    """Return the comparisons with numbers that a text asks for; none if it can't be read."""
    between = BETWEEN.fullmatch(text)
    if between is not None:
        return [
            (name, end) for name, end in zip((">=", "<="), between.groups(), strict=True) if end
        ]
    tests = []
    at = 0
    while found := COMPARED.match(text, at):
        tests.append((found[1] or "=", found[2]))
        at = found.end()
    return tests if at == len(text) else []


def all_of(masks: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Return where all of these are true."""
    made: NDArray[np.bool_] = np.logical_and.reduce(masks)
    return made


def _read(number: str) -> int | float:
    digits = number.replace(",", "").replace("_", "")
    return int(digits) if re.fullmatch(r"[-+]?\d+", digits) else float(digits)


def _compared(column: Column, name: str, number: float) -> NDArray[np.bool_]:
    compare = OPERATORS[name]
    if column.values.dtype == object:
        values = column.values.tolist()
        return np.fromiter(
            (not missing(v) and compare(v, number) for v in values), bool, len(values)
        )
    found: NDArray[np.bool_] = (
        compare(column.values, number).astype("boolean").fillna(False).to_numpy(bool)
    )
    # Of a column of NumPy, what is missing differs from every number.
    return found & ~column.values.isna().to_numpy() if name == "!=" else found


def _times(column: Column, text: str) -> NDArray[np.bool_]:
    """Compare points in time with a moment, which may be a whole day, month or year."""
    zone = getattr(column.arrow.type, "tz", None)
    moments = column.arrow.cast(pa.timestamp("us", zone)).cast(pa.int64())
    between, one = SPAN.fullmatch(text), MOMENT.fullmatch(text)
    if between is not None and any(between.groups()):
        ends = [_span(end, zone, column) if end else None for end in between.groups()]
        tests = [(pc.greater_equal, ends[0][0])] if ends[0] else []
        tests += [(pc.less_equal, ends[1][1])] if ends[1] else []
    elif one is not None:
        first, last = _span(one[2], zone, column)
        tests = {
            ">": [(pc.greater, last)],
            ">=": [(pc.greater_equal, first)],
            "<": [(pc.less, first)],
            "<=": [(pc.less_equal, last)],
            "!=": [(pc.less, first), (pc.greater, last)],
        }.get(one[1], [(pc.greater_equal, first), (pc.less_equal, last)])
    elif text[0].isdigit():
        return _texts(column, text)  # a time of the day
    else:
        raise QueryError(_no_date(text, column))
    masks = [_numpy(pc.fill_null(test(moments, bound), False)) for test, bound in tests]
    return masks[0] | masks[1] if text.startswith("!=") else all_of(masks)


def _span(text: str, zone: str | None, column: Column) -> tuple[int, int]:
    """Return the first and the last microsecond of a moment."""
    try:
        period = pd.Period(text.strip())
        ends = [period.start_time, period.end_time]
        return tuple(int(end.tz_localize(zone).value // 1000) for end in ends)  # type: ignore[return-value]
    except (ValueError, TypeError, OverflowError):
        pass
    raise QueryError(_no_date(text, column))


def _no_date(text: str, column: Column) -> str:
    return (
        f"{plain(text, 80)!r} in the filter of column {plain(column.label, 80)!r} is no date. "
        "Write 2024, >2024-03, <=2024-03-31, >2024-03-31 12:00, 2024-01..2024-03, or = for missing."
    )
