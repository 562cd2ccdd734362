"""A frame as the data of a grid: columns as text, filters, sorting, search, windows of cells.

Above each column is a small picture: a histogram, or the most frequent values.
"""

from __future__ import annotations

import csv
import io
import json
import operator
import re
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, TypeAlias

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


Rows: TypeAlias = "NDArray[np.intp] | slice | list[int]"


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

    def format_rows(self, rows: Rows) -> list[str | None]:
        """Return the texts of rows; None for missing values."""
        values = self.values.iloc[rows].tolist()
        return [None if is_missing(value) else self._format_cell(value) for value in values]

    def _format_cell(self, value: object) -> str:
        # A search still finds the values within the items, in the text of `show`.
        return format_cell(value, CELL) if is_nested(unwrap_array(value)) else self.show(value)

    def format_full(self, row: int) -> str | None:
        """Return the full value of a row as text; None for a missing value."""
        value = self.values.iloc[row]
        return None if is_missing(value) else _format_whole(value)

    def build_items(self, row: int) -> dict[str, object] | None:
        """Return the first items of a nested list as a table; None for another value."""
        value: Any = unwrap_array(self.values.iloc[row])
        return encode_grid(build_inner_grid(value)) if is_nested(value) else None

    def format_for_clipboard(self, rows: Rows) -> list[str]:
        """Return the values of rows as text for the clipboard."""
        return [_format_pasted(value) for value in self.values.iloc[rows].tolist()]

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
        if is_unordered(found.type):
            return None
        return found.cast(pa.float32()) if pa.types.is_float16(found.type) else found

    @cached_property
    def ranks(self) -> pa.Array:
        """The sort keys: the Arrow values, else the rank of each value."""
        if self.arrow is not None:
            return self.arrow
        values = self.values.tolist()
        present = [at for at, value in enumerate(values) if not is_missing(value)]
        # Values without an order in Arrow are sorted by their text.
        keys = values if self.kind == "number" else [self.show(value) for value in values]
        ranks: list[int | None] = [None] * len(values)
        last, rank = None, -1
        for at in sorted(present, key=keys.__getitem__):
            rank += rank < 0 or keys[at] != last
            last, ranks[at] = keys[at], rank
        return pa.array(ranks, pa.int64())

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


def is_unordered(kind: pa.DataType) -> bool:
    """Return whether Arrow cannot sort a type."""
    known = pa.types.is_nested(kind) or pa.types.is_null(kind)
    return bool(known or isinstance(kind, pa.BaseExtensionType))


def _is_time(kind: pa.DataType) -> bool:
    return any((pa.types.is_timestamp(kind), pa.types.is_date(kind)))


def _format_whole(value: object) -> str:
    """Format a value on several lines, without control characters."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (dict, list, tuple)):
        encoder = json.JSONEncoder(ensure_ascii=False, indent=2, default=describe_value)
        text = "".join(islice(encoder.iterencode(value), FULL))
    elif isinstance(value, str):
        text = value
    else:
        text = describe_value(value)
    more = f" … ({len(text):,} characters)" if len(text) > FULL else ""
    return clean_text(text[:FULL]) + more


def _format_pasted(value: object) -> str:
    if is_missing(value):
        return ""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (dict, list, tuple)):
        return LINE.encode(value)
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


@dataclass(frozen=True, slots=True)
class GridQuery:
    """The sort order, filters and search of a view.

    Attributes
    ----------
    sort
        Pairs of a column number and ``True`` for descending order, most significant first.
    filters
        Pairs of a column number and the text of its filter.
    find
        Words to search in all columns.
    """

    sort: tuple[tuple[int, bool], ...] = ()
    filters: tuple[tuple[int, str], ...] = ()
    find: str = ""


def read_query(message: Any, columns: int) -> GridQuery:  # noqa: ANN401 - JSON of a view
    """Parse the query of a front end.

    Raises
    ------
    QueryError
        If it is not a query for a grid with that number of columns.
    """
    try:
        sort = tuple(
            (_check_column(at, columns), bool(down)) for at, down in message.get("sort", ())
        )
        filters = tuple(
            (_check_column(int(at), columns), str(text)[:FILTER_LENGTH])
            for at, text in message.get("filters", {}).items()
            if str(text).strip()
        )
        return GridQuery(sort, filters, str(message.get("find", ""))[:FILTER_LENGTH].strip())
    except (AttributeError, TypeError, ValueError):
        pass
    msg = "The query does not fit this grid. Run the cell again."
    raise QueryError(msg)


def _check_column(at: object, columns: int) -> int:
    if not isinstance(at, int) or not 0 <= at < columns:
        raise ValueError
    return at


def compute_order(
    query: GridQuery, columns: Sequence[GridColumn], rows: int
) -> NDArray[np.intp] | None:
    """Return the numbers of the selected rows in order; None for all rows unsorted.

    Raises
    ------
    QueryError
        If a filter cannot be parsed.
    """
    selected: NDArray[np.intp] | None = None
    masks = [_build_mask(columns[at], text.strip()) for at, text in query.filters]
    if query.find:
        masks.append(_find_words(query.find, columns, rows))
    if masks:
        selected = np.flatnonzero(_combine_masks(masks))
    if not query.sort:
        return selected
    keys = {f"{n}": columns[at].ranks for n, (at, _) in enumerate(query.sort)}
    table = pa.table(keys) if selected is None else pa.table(keys).take(pa.array(selected))
    ways = [
        (f"{n}", "descending" if down else "ascending") for n, (_, down) in enumerate(query.sort)
    ]
    places = pc.sort_indices(table, sort_keys=ways).to_numpy()
    order: NDArray[np.intp] = places.astype(np.intp) if selected is None else selected[places]
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
    if not tests:
        raise QueryError(_describe_bad_date(text, column))
    arrow: pa.Array = column.arrow  # not None: the kind of the column is "time"
    zone = getattr(arrow.type, "tz", None)
    moments = arrow.cast(pa.timestamp("us", zone)).cast(pa.int64())
    values = pd.Series(pd.arrays.ArrowExtensionArray(moments))
    spans = [(name, *_find_span(end, zone, column)) for name, end in tests]
    return _combine_masks([_compare(values, *span) for span in spans])


def _find_span(text: str, zone: str | None, column: GridColumn) -> tuple[int, int]:
    """Return the first and the last microsecond of a date."""
    try:
        period = pd.Period(text.strip())
        ends = [period.start_time, period.end_time]
        return tuple(int(end.tz_localize(zone).value // 1000) for end in ends)  # type: ignore[return-value]
    except (ValueError, TypeError, OverflowError):
        pass
    raise QueryError(_describe_bad_date(text, column))


def _describe_bad_date(text: str, column: GridColumn) -> str:
    return (
        f"{sanitize_text(text, 80)!r} in the filter of column {sanitize_text(column.label, 80)!r} "
        "is not a date. Write 2024, >2024-03, <=2024-03-31, >2024-03-31 12:00, 2024-01..2024-03, "
        "or = for missing."
    )


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
        self._columns: list[GridColumn] | None = None
        self._orders: OrderedDict[GridQuery, NDArray[np.intp] | None] = OrderedDict()
        # One lock per query: two views with the same query share the work, others do not wait.
        self._order_locks: dict[GridQuery, Lock] = {}

    def __len__(self) -> int:
        return len(self._frame)

    @property
    def columns(self) -> list[GridColumn]:
        """The levels of the index, then the columns."""
        with self._lock:
            if self._columns is None:
                self._columns = build_columns(self._frame)
            return self._columns

    def answer(self, message: Mapping[str, object]) -> dict[str, object]:
        """Answer one message of a grid.

        Raises
        ------
        QueryError
            If a filter cannot be parsed, or too many cells are requested.
        """
        query = read_query(message.get("query") or {}, len(self.columns))
        match message:
            case {"ask": "about"}:
                return {
                    "rows": len(self),
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
                return self.get_window(query, slice(start, end), slice(a, b))
            case {"ask": "cell", "row": int(row), "column": int(at)}:
                return self.get_cell(query, row, at)
            case {"ask": "csv"}:
                return {"text": self.write_csv(query)}
            case {"ask": "copy", "rows": [int(a), int(b)], "columns": [int(c), int(d)]}:
                return {"text": self.copy_cells(query, slice(a, b), slice(c, d))}
        msg = "The grid sent an unknown message. Run the cell again."
        raise QueryError(msg)

    def get_window(self, query: GridQuery, rows: slice, columns: slice) -> dict[str, object]:
        """Return the cells of a window by column, and the number of rows of the query."""
        order = self.get_order(query)
        count = len(self) if order is None else len(order)
        start, end = clamp_range(rows, count, WINDOW)
        first, last = clamp_range(columns, len(self.columns), WIDE)
        at = np.arange(start, end) if order is None else order[start:end]
        cells = [column.format_rows(at) for column in self.columns[first:last]]
        return {"rows": count, "start": start, "from": first, "cells": cells}

    def get_cell(self, query: GridQuery, row: int, at: int) -> dict[str, object]:
        """Return the full text of a cell, and the items of a nested list as a table.

        Both are None if the cell is missing or out of range.
        """
        order = self.get_order(query)
        if not 0 <= row < (len(self) if order is None else len(order)):
            return {"text": None, "items": None}
        column, place = self.columns[at], row if order is None else int(order[row])
        return {"text": column.format_full(place), "items": column.build_items(place)}

    def copy_cells(self, query: GridQuery, rows: slice, columns: slice) -> str:
        """Return cells as tab-separated values, with a header if all rows are selected.

        Raises
        ------
        QueryError
            If the cells are too many for the clipboard.
        """
        order = self.get_order(query)
        count = len(self) if order is None else len(order)
        start, end = clamp_range(rows, count, count)
        copied = self.columns[slice(*clamp_range(columns, len(self.columns), len(self.columns)))]
        _check_count((end - start) * len(copied), COPIED, "copy")
        at = np.arange(start, end) if order is None else order[start:end]
        is_whole = end - start == count and count > 1
        return _write_cells(copied, at, "excel-tab", "\n", header=is_whole).removesuffix("\n")

    def write_csv(self, query: GridQuery) -> str:
        """Return all rows that pass the filters, in order, as CSV with a header.

        Raises
        ------
        QueryError
            If the cells are too many for the browser.
        """
        order = self.get_order(query)
        at = slice(None) if order is None else order
        rows = len(self) if order is None else len(order)
        columns = [column for column in self.columns if not column.index or column.label]
        _check_count(rows * len(columns), WRITTEN, "download")
        return _write_cells(columns, at, "excel", "\r\n", header=True)  # as RFC 4180 has it

    def get_order(self, query: GridQuery) -> NDArray[np.intp] | None:
        """Return the rows of a query, computed once for threads that ask at the same time."""
        if query == GridQuery():
            return None
        with self._lock:
            if query in self._orders:
                self._orders.move_to_end(query)
                return self._orders[query]
            turn = self._order_locks.setdefault(query, Lock())
        with turn:
            with self._lock:
                if query in self._orders:
                    return self._orders[query]
            try:
                order = compute_order(query, self.columns, len(self))
                with self._lock:
                    self._orders[query] = order
                    while len(self._orders) > ORDERS:
                        self._orders.popitem(last=False)
            finally:
                with self._lock:
                    self._order_locks.pop(query, None)
        return order


def _check_count(cells: int, most: int, use: str) -> None:
    if cells > most:
        advice = "Write them to a file instead: frame.to_csv('rows.csv')."
        msg = f"{cells:,} cells are too many to {use} (at most {most:,}). {advice}"
        raise QueryError(msg)


def _write_cells(
    columns: Sequence[GridColumn], at: Rows, dialect: str, line_end: str, *, header: bool
) -> str:
    """Return the cells of columns at some rows as CSV."""
    texts = [column.format_for_clipboard(at) for column in columns]
    out = io.StringIO()
    writer = csv.writer(out, dialect, lineterminator=line_end)
    if header:
        writer.writerow([column.label for column in columns])
    writer.writerows(zip(*texts, strict=True))
    return out.getvalue()


def clamp_range(part: slice, count: int, most: int) -> tuple[int, int]:
    """Clip a range to `count` items and at most `most` of them."""
    start = min(max(part.start, 0), count)
    return start, min(max(part.stop, start), count, start + most)


def build_columns(frame: pd.DataFrame | pa.Table) -> list[GridColumn]:
    """Return the index levels and columns of a frame; an Arrow table gets row numbers."""
    if not isinstance(frame, pd.DataFrame):
        numbers = GridColumn(None, pd.Series(np.arange(frame.num_rows)), index=True)
        arrays = [
            pd.arrays.ArrowExtensionArray(frame.column(at)) for at in range(frame.num_columns)
        ]
        pairs = zip(frame.column_names, arrays, strict=True)
        return [numbers, *(GridColumn(name, pd.Series(array)) for name, array in pairs)]
    index = frame.index
    levels = [
        GridColumn(name, pd.Series(index.get_level_values(at).array), index=True)
        for at, name in enumerate(index.names)
    ]
    return [
        *levels,
        *(GridColumn(name, frame.iloc[:, at]) for at, name in enumerate(frame.columns)),
    ]
