"""A frame as the data of a grid: columns as text, filters, sorting, search, windows of cells.

Above each column is a small picture: a histogram, or the most frequent values.
"""

from __future__ import annotations

import csv
import io
import json
import operator
import re
from contextlib import suppress
from functools import cached_property, lru_cache
from itertools import pairwise
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from gqlnb.document.scalar_values import is_missing
from gqlnb.errors import QueryError, clean_text, format_count, sanitize_text
from gqlnb.result.renderer import (
    NOT_AMOUNTS,
    Grid,
    build_inner_grid,
    choose_format,
    clip_items,
    describe_frame,
    describe_value,
    format_cell,
    is_nested,
    is_number,
    unwrap_array,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray


BINS = 12
VALUES = 4  # the most frequent ones that have a part; the others share one
FREQUENT = 0.2  # of the rows: values that are rarer together have no parts
LABEL = 40  # characters
MOST_ROWS = 2_000_000  # counted in a tenth of a second; longer columns have no picture
SKEWED = 50  # times the median: beyond, equal widths would leave one bar
EXACT = 2**53  # floats, of which edges are made, hold no larger integer
DAY = 86_400_000_000  # microseconds


def build_picture(
    kind: str, array: pa.Array | None, read_text: Callable[[], pa.Array]
) -> dict[str, object] | None:
    """Return the picture of a column as JSON values; None if it has none.

    Parameters
    ----------
    kind
        ``"number"``, ``"time"`` or ``"text"``.
    array
        Its values; None for objects.
    read_text
        Called for the values of a column of text as they are shown.

    Returns
    -------
    dict
        ``kind``, ``"bars"`` or ``"values"``; ``parts``, each with ``count``, ``label`` and
        ``filter`` (empty for none); ``said``, a sentence.
    """
    # Objects, such as lists, would get their texts for the picture alone.
    if array is None or len(array) <= 1:
        return None
    if kind == "text":
        return _build_values(read_text())
    numbers = _read_numbers(kind, array)
    if numbers is None or not numbers.size or numbers.min() == numbers.max():
        return None
    is_time, is_whole = kind == "time", numbers.dtype.kind == "i"
    edges = _choose_edges(numbers, is_whole=is_whole, is_time=is_time)
    counts = np.histogram(numbers, edges)[0].tolist()
    is_exact = is_time or is_whole  # else two ranges share an end
    ranges = _write_ranges(edges.tolist(), is_whole=is_whole, is_time=is_time)
    parts = [
        {
            "count": count,
            "label": f"{low} to {high}",
            "filter": f"{low}..{high}" if is_exact else f">={low} <{high}",
        }
        for count, (low, high) in zip(counts, ranges, strict=True)
    ]
    # Open ends, so that rounding excludes neither the least value nor the largest.
    parts[0]["filter"] = f"..{ranges[0][1]}" if is_exact else f"<{ranges[0][1]}"
    parts[-1]["filter"] = f"{ranges[-1][0]}.." if is_exact else f">={ranges[-1][0]}"
    return {"kind": "bars", "parts": parts, "said": f"{ranges[0][0]} to {ranges[-1][1]}"}


def _read_numbers(kind: str, array: pa.Array) -> NDArray[Any] | None:
    """Return the present values: integers, floats, or microseconds of times."""
    if kind == "time":
        zone = getattr(array.type, "tz", None)
        array = array.cast(pa.timestamp("us", zone)).cast(pa.int64())
    elif not (pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
        array = array.cast(pa.float64(), safe=False)
    numbers: NDArray[Any] = array.drop_null().to_numpy(zero_copy_only=False)
    if numbers.dtype.kind == "f":
        finite: NDArray[Any] = numbers[np.isfinite(numbers)]
        return finite
    limit = 2**62 if kind == "time" else EXACT
    is_exact = not numbers.size or (numbers.min() >= -limit and numbers.max() <= limit)
    return numbers.astype(np.int64) if is_exact else None


def _choose_edges(numbers: NDArray[Any], *, is_whole: bool, is_time: bool) -> NDArray[Any]:
    low, high = numbers.min(), numbers.max()
    if is_time:
        step = DAY if high - low > 2 * BINS * DAY else 1_000_000
        count = min(BINS, int((high - low) // step) + 1)
        edges = np.linspace(low // step, high // step + 1, count + 1).astype(np.int64) * step
        return np.unique(edges)
    if low > 0 and high > SKEWED * np.median(numbers):
        edges = np.geomspace(low, high, BINS + 1)
    else:
        edges = np.linspace(low, high, BINS + 1)
    if is_whole:
        return np.unique([*np.floor(edges[:-1]), high + 1]).astype(np.int64)
    # As a filter writes them, so that it selects the rows that are counted.
    inner = np.unique([float(f"{edge:.6g}") for edge in edges[1:-1]])
    return np.array([low, *inner[(inner > low) & (inner < high)], high])


def _write_ranges(
    edges: Sequence[float], *, is_whole: bool, is_time: bool
) -> list[tuple[str, str]]:
    """Return the first and the last value of each range, as text."""
    write: Callable[[Any], str] = "{:,}".format if is_whole else "{:.6g}".format
    unit = 1 if is_whole else 0  # between the end of a range and the beginning of the next
    if is_time:
        is_days = all(edge % DAY == 0 for edge in edges)
        unit, form = (DAY, "%Y-%m-%d") if is_days else (1_000_000, "%Y-%m-%d %H:%M:%S")
        write = lambda moment: pd.Timestamp(moment, unit="us").strftime(form)  # noqa: E731
    return [(write(low), write(end - unit)) for low, end in pairwise(edges)]


def _build_values(array: pa.Array) -> dict[str, object] | None:
    """Return the most frequent values of a column of text."""
    present = array.drop_null()
    if not len(present):
        return None
    counted = pc.value_counts(present)
    counts = counted.field(1).to_numpy()
    order = np.argsort(-counts, kind="stable")[:VALUES]
    if counts[order].sum() < FREQUENT * len(present):  # names and ids
        return {"kind": "values", "parts": [], "said": f"{len(present):,} different values"}
    parts = [
        {"count": count, "label": sanitize_text(text, LABEL), "filter": _write_filter(text)}
        for text, count in zip(
            counted.field(0).take(pa.array(order)).to_pylist(), counts[order].tolist(), strict=True
        )
    ]
    others = len(present) - int(counts[order].sum())
    if others:
        more = format_count(len(counted) - len(order), "other value")
        parts.append({"count": others, "label": more, "filter": ""})
    if missing := len(array) - len(present):
        parts.append({"count": missing, "label": "missing", "filter": "="})
    return {"kind": "values", "parts": parts, "said": format_count(len(counted), "different value")}


def _write_filter(text: str) -> str:
    """Return the filter for a value; empty for one that a box would change."""
    is_plain = text == text.strip() and text.isprintable() and 0 < len(text) <= 200
    return f"={text}" if is_plain else ""


CELL = 200  # characters of a cell; no column is wider
NAME = 120  # characters of a column's name
FULL = 20_000  # characters of the full value beside the grid
SAMPLE = 300  # values that determine the width and the number format of a column
LONG = 2_000_000  # rows; the times of more are shown in full
# The characters of a time up to a unit.
TIME_FORMS = (("day", 10), ("minute", 16), ("second", 19))
WHOLE = re.compile(r"^[+-]?\d{4,}(?=\.|$)")
LINE = json.JSONEncoder(ensure_ascii=False, default=describe_value)


# Sorting, filters and the window travel with each request, so that the views of one frame do not
# affect each other and any thread may answer.
class GridColumn:
    """A column of a frame, or a level of its index.

    Parameters
    ----------
    name
        Its name, of any type.
    values
        Its values, which must not change.
    index
        Whether it is a level of the index.

    Attributes
    ----------
    label
        The name as one line of text.
    dtype
        The name of its dtype.
    kind
        ``"number"``, ``"time"`` or ``"text"``: determines filters and alignment.
    """

    def __init__(self, name: object, values: pd.Series[Any], *, index: bool = False) -> None:
        self.values = values
        self.index = index
        self.label = sanitize_text(_format_title(name), NAME)
        self.dtype = sanitize_text(_format_dtype(values.dtype), NAME)
        self._sample = [value for value in self._sample_values() if not is_missing(value)]
        self.kind = self._find_kind()
        self.show: Callable[[Any], str] = self._choose_format()

    def __len__(self) -> int:
        return len(self.values)

    def _sample_values(self) -> list[object]:
        """Return the first values, and evenly spaced ones of the rest."""
        some = np.linspace(SAMPLE, len(self) - 1, SAMPLE).astype(int)
        rows = [*range(min(SAMPLE, len(self))), *(some if len(self) > 2 * SAMPLE else [])]
        values: list[object] = self.values.iloc[rows].tolist()
        return values

    def _find_kind(self) -> str:
        dtype = self.values.dtype
        types = pd.api.types
        if types.is_bool_dtype(dtype) or types.is_complex_dtype(dtype):
            return "text"
        if types.is_numeric_dtype(dtype):
            return "number"
        if types.is_object_dtype(dtype):
            numbers = bool(self._sample) and all(map(is_number, self._sample))
            if numbers and all(is_number(v) or is_missing(v) for v in self.values.tolist()):
                return "number"
        array = self.arrow
        return "time" if array is not None and _is_time(array.type) else "text"

    def _choose_format(self) -> Callable[[Any], str]:
        """Choose one format for all values of the column."""
        if self.kind == "text":
            return _format_value
        if self.kind == "time":
            return self._choose_time_format()
        form = choose_format(self._sample, CELL)
        if self.index or NOT_AMOUNTS.search(self.label):
            return form
        return lambda value: group_digits(form(value))

    def _choose_time_format(self) -> Callable[[Any], str]:
        """Choose the shortest form in which different times differ; the dtype names their zone."""
        full = choose_format(self._sample, CELL)
        array: pa.Array = self.arrow
        if len(array) > LONG or not pa.types.is_timestamp(array.type):
            return full
        moments = array.cast(pa.timestamp("ns", "UTC" if array.type.tz else None), safe=False)
        different = pc.count_distinct(moments).as_py()
        for unit, length in TIME_FORMS:
            if pc.count_distinct(pc.floor_temporal(moments, unit=unit)).as_py() == different:
                return lambda value: full(value)[:length]
        return full

    def describe(self) -> dict[str, object]:
        """Describe the column for the front end: name, dtype, kind, alignment, width."""
        widths = [len(self._format_cell(value)) for value in self._sample]
        has_picture = not self.index and len(self) <= MOST_ROWS
        picture = build_picture(self.kind, self.arrow, lambda: self.text) if has_picture else None
        return {
            "name": self.label,
            "dtype": self.dtype,
            "kind": self.kind,
            "right": self.kind == "number",
            "index": self.index,
            "chars": max(widths, default=0),
            "picture": picture,
        }

    def format_rows(self, rows: NDArray[np.intp]) -> list[str | None]:
        """Return the texts of rows; None for missing values."""
        values = self.values.iloc[rows].tolist()
        return [None if is_missing(value) else self._format_cell(value) for value in values]

    def _format_cell(self, value: object) -> str:
        # A search still finds the values within the items, in the text of `show`.
        return format_cell(value, CELL) if is_nested(unwrap_array(value)) else self.show(value)

    def format_full(self, row: int) -> str | None:
        """Return the full value of a row as text; None for a missing value."""
        value = self.values.iloc[row]
        if is_missing(value):
            return None
        text = _write_value(value, indent=2)
        more = f" … ({len(text):,} characters)" if len(text) > FULL else ""
        return clean_text(text[:FULL]) + more

    def build_items(self, row: int) -> dict[str, object] | None:
        """Return the first items of a nested list as a table; None for another value."""
        value: Any = unwrap_array(self.values.iloc[row])
        return encode_grid(build_inner_grid(value)) if is_nested(value) else None

    def format_for_clipboard(self, rows: NDArray[np.intp]) -> list[str]:
        """Return the values of rows as text for the clipboard."""
        values = self.values.iloc[rows].tolist()
        return ["" if is_missing(value) else _write_value(value) for value in values]

    @cached_property
    def arrow(self) -> pa.Array | None:
        """The values as an Arrow array; None if Arrow cannot order them."""
        values = self.values
        if isinstance(values.dtype, pd.CategoricalDtype):
            if values.cat.ordered:
                codes = values.cat.codes.to_numpy()
                return pa.array(codes, mask=codes < 0)
            values = values.astype(values.cat.categories.dtype)
        try:
            found = pa.array(values, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return None
        if pa.types.is_dictionary(found.type):
            found = found.cast(found.type.value_type)
        is_foreign = isinstance(found.type, pa.BaseExtensionType)
        if is_foreign or pa.types.is_nested(found.type) or pa.types.is_null(found.type):
            return None
        return found.cast(pa.float32()) if pa.types.is_float16(found.type) else found

    @cached_property
    def ranks(self) -> pa.Array:
        """The sort keys: the Arrow values, else the rank of each value."""
        if self.arrow is not None:
            return self.arrow
        # Values without an order in Arrow are sorted by their text.
        show = self.show if self.kind != "number" else lambda value: value
        keys = [None if is_missing(value) else show(value) for value in self.values.tolist()]
        ranks = pd.Series(keys, dtype=object).rank(method="dense")
        return pa.array(ranks, from_pandas=True)

    @cached_property
    def text(self) -> pa.Array:
        """The texts to search, as an Arrow array."""
        found = self.arrow
        if isinstance(self.values.dtype, pd.CategoricalDtype):
            names = pa.array(map(self.show, self.values.cat.categories), pa.large_string())
            codes = self.values.cat.codes.to_numpy()
            return names.take(pa.array(codes, mask=codes < 0))
        if found is not None:
            if _is_text(found.type):
                return found
            zone = getattr(found.type, "tz", None)
            if zone == "UTC":  # without Arrow's time zones, which Windows may lack
                found = found.cast(pa.timestamp(found.type.unit))
            elif zone:
                found = pc.local_timestamp(found)
            if _is_time(found.type) or pa.types.is_integer(found.type):
                return found.cast(pa.string())
        # The last resort: format every value, so that search matches the shown text.
        values = self.values.tolist()
        texts = [None if is_missing(value) else self.show(value) for value in values]
        return pa.array(texts, pa.large_string())

    def match_words(self, words: str) -> pa.Array:
        """Return an Arrow array of booleans: whether a row contains the words, in any case."""
        mask = pc.match_substring(self.text, words, ignore_case=True)
        return pc.fill_null(mask, fill_value=False)


def group_digits(text: str) -> str:
    """Return a decimal number with separators between thousands.

    Examples
    --------
    >>> [group_digits(text) for text in ("541915", "-1234.5", "0.333333", "1e+20")]
    ['541,915', '-1,234.5', '0.333333', '1e+20']
    """
    return WHOLE.sub(lambda found: f"{int(found[0]):,}", text, count=1)


def encode_grid(grid: Grid) -> dict[str, object]:
    """Encode the items of a list for the front end; items that are lists have grids of theirs."""
    inner = [
        {"row": row, "column": column, "table": encode_grid(each)}
        for (row, column), each in grid.unfolded.items()
    ]
    return {"names": grid.names, "index": grid.index, "rows": grid.rows, "inner": inner}


def _format_value(value: object) -> str:
    value = unwrap_array(value)
    if isinstance(value, (dict, list, tuple)):
        text = LINE.encode(clip_items(value))
    elif isinstance(value, str):
        text = value
    else:
        return format_cell(value, CELL)
    # A shortcut for text that `sanitize_text` would not change: a search formats whole columns.
    return text if len(text) <= CELL and text.isprintable() else sanitize_text(text, CELL)


def _format_title(name: object) -> str:
    if isinstance(name, tuple):
        return " / ".join(str(part) for part in name)
    return "" if name is None else describe_value(name)


def _format_dtype(dtype: object) -> str:
    if isinstance(dtype, pd.ArrowDtype) and pa.types.is_dictionary(dtype.pyarrow_dtype):
        return "category"
    return str(dtype.pyarrow_dtype) if isinstance(dtype, pd.ArrowDtype) else str(dtype)


def _is_text(kind: pa.DataType) -> bool:
    types = pa.types
    return any((types.is_string(kind), types.is_large_string(kind), types.is_string_view(kind)))


def _is_time(kind: pa.DataType) -> bool:
    return any((pa.types.is_timestamp(kind), pa.types.is_date(kind)))


def _write_value(value: Any, indent: int | None = None) -> str:  # noqa: ANN401 - of any column
    value = unwrap_array(value)
    if isinstance(value, (dict, list, tuple)):
        return json.dumps(value, ensure_ascii=False, indent=indent, default=describe_value)
    return value if isinstance(value, str) else describe_value(value)


FILTER_LENGTH = 1000  # characters of a filter
OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
NUMBER = r"[-+]?(?:\d[\d,_]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
TIME = r"\d{4}[0-9:.TZ+ -]*"


def compute_order(
    columns: Sequence[GridColumn],
    rows: int,
    sort: tuple[tuple[int, bool], ...] = (),
    filters: tuple[tuple[int, str], ...] = (),
    words: str = "",
) -> NDArray[np.intp]:
    """Return the numbers of the selected rows in order.

    Parameters
    ----------
    columns, rows
        The columns, and the number of rows.
    sort
        Pairs of a column number and ``True`` for descending order, most significant first.
    filters
        Pairs of a column number and the text of its filter.
    words
        Words to search in all columns.

    Raises
    ------
    QueryError
        If a filter cannot be parsed.
    """
    masks = [_build_mask(columns[at], text) for at, text in filters]
    if words:
        masks.append(_find_words(words, columns, rows))
    selected = np.flatnonzero(_combine_masks(masks)) if masks else np.arange(rows)
    if not sort:
        return selected
    keys = {f"{n}": columns[at].ranks for n, (at, _) in enumerate(sort)}
    table = pa.table(keys).take(pa.array(selected))
    ways = [(f"{n}", "descending" if down else "ascending") for n, (_, down) in enumerate(sort)]
    order: NDArray[np.intp] = selected[pc.sort_indices(table, sort_keys=ways).to_numpy()]
    return order


def _find_words(words: str, columns: Sequence[GridColumn], rows: int) -> NDArray[np.bool_]:
    mask = np.zeros(rows, bool)
    # Numbers are shown with separators, and stored for the search without.
    digits = words.replace(",", "") if re.fullmatch(r"[\d,.+-]+", words) else words
    for column in columns:
        mask |= _to_numpy(column.match_words(digits if column.kind == "number" else words))
    return mask


def _to_numpy(mask: pa.Array) -> NDArray[np.bool_]:
    made: NDArray[np.bool_] = mask.to_numpy(zero_copy_only=False).astype(bool)
    return made


def _build_mask(column: GridColumn, text: str) -> NDArray[np.bool_]:
    if text in {"=", "!="}:
        missing = column.values.isna().to_numpy()
        return missing if text == "=" else ~missing
    if column.kind == "number":
        return _filter_numbers(column, text)
    if column.kind == "time" and (text[0].isdigit() or text[0] in "<>=!."):
        return _filter_times(column, text)
    return _filter_text(column, text)


def _filter_text(column: GridColumn, text: str) -> NDArray[np.bool_]:
    if text[:1] == "=" or text[:2] == "!=":
        same = pc.equal(column.text, pa.scalar(text.partition("=")[2].strip(), column.text.type))
        mask = _to_numpy(pc.fill_null(same, fill_value=False))
        return ~mask if text[0] == "!" else mask
    if text[0] == "!" and len(text) > 1:
        return ~_to_numpy(column.match_words(text[1:].strip()))
    return _to_numpy(column.match_words(text))


def _filter_numbers(column: GridColumn, text: str) -> NDArray[np.bool_]:
    tests = [(name, _parse_number(end)) for name, end in _parse_comparisons(text, NUMBER)]
    if not tests:
        msg = (
            f"Filter {sanitize_text(text, 80)!r} of column {sanitize_text(column.label, 80)!r} is "
            "not a number. Write N, >N, >=N, <N, <=N, !=N or N..M, several with blanks between, or "
            "= for missing."
        )
        raise QueryError(msg)
    return _combine_masks([_compare(column.values, name, end, end) for name, end in tests])


def _parse_comparisons(text: str, value: str) -> list[tuple[str, str]]:
    """Parse the comparisons of a filter with values of a pattern; empty if it is another text."""
    between = re.fullmatch(rf"\s*({value})?\s*\.\.\s*({value})?\s*", text)
    if between is not None:
        ends = zip((">=", "<="), between.groups(), strict=True)
        return [(name, end) for name, end in ends if end]
    compared = re.compile(rf"\s*(>=|<=|!=|>|<|=)?\s*({value})\s*")
    tests = []
    at = 0
    while found := compared.match(text, at):
        tests.append((found[1] or "=", found[2]))
        at = found.end()
    return tests if at == len(text) else []


def _combine_masks(masks: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    made: NDArray[np.bool_] = np.logical_and.reduce(masks)
    return made


def _parse_number(number: str) -> int | float:
    digits = number.replace(",", "").replace("_", "")
    return int(digits) if re.fullmatch(r"[-+]?\d+", digits) else float(digits)


def _compare(values: pd.Series[Any], name: str, low: float, high: float) -> NDArray[np.bool_]:
    """Return a mask of the values that a comparison with a span passes; a number is one, too."""
    if name == "!=":
        return values.notna().to_numpy() & ~_compare(values, "=", low, high)
    if name == "=":
        return _compare(values, ">=", low, high) & _compare(values, "<=", low, high)
    compare, bound = OPERATORS[name], high if name in {">", "<="} else low
    if values.dtype == object:
        passed = (not is_missing(value) and compare(value, bound) for value in values.tolist())
        return np.fromiter(passed, bool, len(values))
    mask = compare(values, bound).astype("boolean").fillna(value=False)
    made: NDArray[np.bool_] = mask.to_numpy(bool)
    return made


def _filter_times(column: GridColumn, text: str) -> NDArray[np.bool_]:
    """Return a mask of the times that pass a filter; a date may be a day, month or year."""
    tests = _parse_comparisons(text, TIME)
    if not tests and text[0].isdigit():
        return _filter_text(column, text)  # a time of day
    arrow: pa.Array = column.arrow  # not None: the kind of the column is "time"
    zone = getattr(arrow.type, "tz", None)
    spans = []
    with suppress(ValueError, TypeError, OverflowError):
        spans = [(name, *_find_span(end, zone)) for name, end in tests]
    if not spans:
        msg = (
            f"{sanitize_text(text, 80)!r} in the filter of column "
            f"{sanitize_text(column.label, 80)!r} is not a date. Write 2024, >2024-03, "
            "<=2024-03-31, >2024-03-31 12:00, 2024-01..2024-03, or = for missing."
        )
        raise QueryError(msg)
    moments = arrow.cast(pa.timestamp("us", zone)).cast(pa.int64())
    values = pd.Series(pd.arrays.ArrowExtensionArray(moments))
    return _combine_masks([_compare(values, *span) for span in spans])


def _find_span(text: str, zone: str | None) -> tuple[int, int]:
    """Return the first and the last microsecond of a date."""
    period = pd.Period(text.strip())
    ends = [period.start_time, period.end_time]
    return tuple(int(end.tz_localize(zone).value // 1000) for end in ends)  # type: ignore[return-value]


WINDOW = 1000  # limit of rows of one answer; the front end requests 200
WIDE = 200  # limit of columns of one answer
WRITTEN = 5_000_000  # limit of cells in a CSV file
COPIED = 200_000  # limit of cells in the clipboard; more belong in a file
ORDERS = 4  # cached row orders: the last and the current one of two views


class GridSource:
    """Answers the messages of a grid; thread-safe.

    Parameters
    ----------
    frame
        A DataFrame or an Arrow table, which must not be changed afterwards.
    """

    def __init__(self, frame: pd.DataFrame | pa.Table) -> None:
        self._frame = frame
        self._caption = describe_frame(frame) if isinstance(frame, pd.DataFrame) else ""
        self._lock = RLock()
        self._orders = lru_cache(ORDERS)(
            lambda *query: compute_order(self.columns, len(self._frame), *query)
        )

    @cached_property
    def columns(self) -> list[GridColumn]:
        """The levels of the index, then the columns; an Arrow table gets row numbers."""
        frame = self._frame
        if not isinstance(frame, pd.DataFrame):
            numbers = GridColumn(None, pd.Series(np.arange(frame.num_rows)), index=True)
            arrays = map(pd.arrays.ArrowExtensionArray, frame.columns)
            pairs = zip(frame.column_names, arrays, strict=True)
            return [numbers, *(GridColumn(name, pd.Series(array)) for name, array in pairs)]
        index = frame.index
        levels = [
            GridColumn(name, pd.Series(index.get_level_values(at).array), index=True)
            for at, name in enumerate(index.names)
        ]
        columns = [GridColumn(name, frame.iloc[:, at]) for at, name in enumerate(frame.columns)]
        return [*levels, *columns]

    def answer(self, message: Mapping[str, object]) -> dict[str, object]:
        """Answer one message of a grid.

        Raises
        ------
        QueryError
            If a filter cannot be parsed, or too many cells are requested.
        """
        query: Any = message.get("query") or {}
        filters = (
            (int(at), text[:FILTER_LENGTH].strip()) for at, text in query.get("filters", {}).items()
        )
        with self._lock:  # two views with the same query share the work
            order: NDArray[np.intp] = self._orders(
                tuple((at, bool(down)) for at, down in query.get("sort", ())),
                tuple((at, text) for at, text in filters if text),
                query.get("find", "")[:FILTER_LENGTH].strip(),
            )
        match message:
            case {"ask": "about"}:
                return {
                    "rows": len(self._frame),
                    "caption": self._caption,
                    "columns": [column.describe() for column in self.columns],
                }
            case {
                "ask": "rows",
                "start": int(start),
                "end": int(end),
                "from": int(a),
                "to": int(b),
            }:
                return self.get_window(order, slice(start, end), slice(a, b))
            case {"ask": "cell", "row": int(row), "column": int(at)}:
                return self.get_cell(order, row, at)
            case {"ask": "csv"}:
                return {"text": self.write_csv(order)}
            case {"ask": "copy", "rows": [int(a), int(b)], "columns": [int(c), int(d)]}:
                return {"text": self.copy_cells(order, slice(a, b), slice(c, d))}
        msg = "The grid sent an unknown message. Run the cell again."
        raise QueryError(msg)

    def get_window(self, order: NDArray[np.intp], rows: slice, columns: slice) -> dict[str, object]:
        """Return the cells of a window by column, and the number of rows of the query."""
        start, end = clamp_range(rows, len(order), WINDOW)
        first, last = clamp_range(columns, len(self.columns), WIDE)
        cells = [column.format_rows(order[start:end]) for column in self.columns[first:last]]
        return {"rows": len(order), "start": start, "from": first, "cells": cells}

    def get_cell(self, order: NDArray[np.intp], row: int, at: int) -> dict[str, object]:
        """Return the full text of a cell, and the items of a nested list as a table.

        Both are None if the cell is missing or out of range.
        """
        if not 0 <= row < len(order):
            return {"text": None, "items": None}
        column, place = self.columns[at], int(order[row])
        return {"text": column.format_full(place), "items": column.build_items(place)}

    def copy_cells(self, order: NDArray[np.intp], rows: slice, columns: slice) -> str:
        """Return cells as tab-separated values, with a header if all rows are selected.

        Raises
        ------
        QueryError
            If the cells are too many for the clipboard.
        """
        count = len(order)
        start, end = clamp_range(rows, count, count)
        copied = self.columns[slice(*clamp_range(columns, len(self.columns), len(self.columns)))]
        if (end - start) * len(copied) > COPIED:
            msg = (
                f"{(end - start) * len(copied):,} cells are too many to copy (at most "
                f"{COPIED:,}). Write them to a file instead: frame.to_csv('rows.csv')."
            )
            raise QueryError(msg)
        texts = [column.format_for_clipboard(order[start:end]) for column in copied]
        out = io.StringIO()
        writer = csv.writer(out, dialect="excel-tab", lineterminator="\n")
        if end - start == count and count > 1:
            writer.writerow([column.label for column in copied])
        writer.writerows(zip(*texts, strict=True))
        return out.getvalue().removesuffix("\n")

    def write_csv(self, order: NDArray[np.intp]) -> str:
        """Return all rows that pass the filters, in order, as CSV with a header.

        Raises
        ------
        QueryError
            If the cells are too many for the browser.
        """
        columns = [column for column in self.columns if not column.index or column.label]
        if len(order) * len(columns) > WRITTEN:
            msg = (
                f"{len(order) * len(columns):,} cells are too many to download (at most "
                f"{WRITTEN:,}). Write them to a file instead: frame.to_csv('rows.csv')."
            )
            raise QueryError(msg)
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")  # as RFC 4180 has it
        writer.writerow([column.label for column in columns])
        texts = [column.format_for_clipboard(order) for column in columns]
        writer.writerows(zip(*texts, strict=True))
        return out.getvalue()


def clamp_range(part: slice, count: int, most: int) -> tuple[int, int]:
    """Clip a range to `count` items and at most `most` of them."""
    start = min(max(part.start, 0), count)
    return start, min(max(part.stop, start), count, start + most)
