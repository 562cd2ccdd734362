"""From an answer to DataFrames and Arrow tables: one per list level, or the one a person means."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa

from gqlnb.errors import FrameError, advise_if_strict, sanitize_text
from gqlnb.result.shape import find_connection_path
from gqlnb.result.table_reader import read_tables
from gqlnb.result.tables import (
    DATA_TABLE,
    ObjectPlan,
    ResultTable,
    follow_path,
    get_read_plan,
    iter_rows_with_paths,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gqlnb.result.column_builder import ColumnBuilder
    from gqlnb.result.shape import Shape
    from gqlnb.result.table_reader import AnswerData, TableRows


__all__ = [
    "FrameColumn",
    "Frames",
    "Preview",
    "assemble_frame",
    "build_arrow_table",
    "build_list_frame",
    "build_preview",
    "choose_table",
    "explode_rows",
    "read_columns",
    "shorten_column_names",
]

FRAMES_ADVICE = (
    "Take result.tables(strict=False), or add --no-strict to a cell, to keep what does not fit as "
    "it came."
)


def build_list_frame(
    answer: AnswerData, path: str | None = None, *, explode: str | None = None, strict: bool = True
) -> pd.DataFrame:
    """Return the frame of a list, the one list of the answer by default.

    Parameters
    ----------
    answer
        The data and their shape.
    path
        The name of the list; None where there is at most one that stands in no other.
    explode
        The name of a list in its rows: a row for each of its items; None for a cell each.
    strict
        As for :func:`gqlnb.result.table_reader.read_tables`.

    Returns
    -------
    DataFrame
        With ``attrs`` ``beside``, ``dropped`` and ``total_count``.

    Raises
    ------
    FrameError
        If there is no such list, one must be chosen, or a value does not fit its column.
    """
    chosen = choose_table(answer, path)
    chain = _find_list_chain(chosen, explode) if explode is not None else []
    wanted = frozenset({chosen.name, *chain})
    plan = get_read_plan(answer.shape, wanted, chosen.name)
    tables, outline = read_tables(answer, plan, strict=strict)
    rows = tables[chosen.name]
    parts = _collect_columns(rows, tables, answer)
    arrays = {name: part.to_pandas() for name, part in parts.items()}
    count = rows.count
    if chain:
        arrays, count = explode_rows(arrays, rows, [tables[name] for name in chain])
    made = assemble_frame(arrays, count)
    made.attrs.update(_build_attrs(answer, outline, plan.wanted[chosen.name], rows))
    return made


def build_arrow_table(
    answer: AnswerData, path: str | None = None, *, strict: bool = True
) -> pa.Table:
    """Return the frame of a list as an Arrow table; parameters as for :func:`build_list_frame`."""
    parts, _ = read_columns(answer, path, strict=strict)
    return pa.table({name: part.to_arrow() for name, part in parts.items()})


def read_columns(
    answer: AnswerData, path: str | None = None, *, strict: bool = True
) -> tuple[dict[str, FrameColumn], dict[str, Any]]:
    """Return the columns of the frame of a list, by name, and what its ``attrs`` hold.

    Parameters and errors are those of :func:`build_list_frame`.
    """
    chosen = choose_table(answer, path)
    plan = get_read_plan(answer.shape, frozenset({chosen.name}), chosen.name)
    tables, outline = read_tables(answer, plan, strict=strict)
    rows = tables[chosen.name]
    attrs = _build_attrs(answer, outline, plan.wanted[chosen.name], rows)
    return _collect_columns(rows, tables, answer), attrs


class FrameColumn(Protocol):
    """A column of a frame, in its forms."""

    def to_pandas(self) -> Any:
        """Return it as a pandas array."""

    def to_arrow(self) -> pa.Array:
        """Return it as an Arrow array."""

    def to_text_array(self) -> Any:
        """Return it as a pandas array for a file of text."""


class Preview(NamedTuple):
    """The first rows of an answer of one list of objects.

    Attributes
    ----------
    frame
        As many rows as were asked for, columns and dtypes as ever.
    rows
        How many there are in all; null ones beyond those that were read are counted with them.
    beside
        What was asked for beside the list, by dotted name.
    """

    frame: pd.DataFrame
    rows: int
    beside: dict[str, Any]


def build_preview(answer: AnswerData, limit: int | None = None) -> Preview | None:
    """Return the first `limit` rows of the one list of objects; None where there is no such list.

    Raises
    ------
    FrameError
        If a value does not fit its column.
    """
    root = get_read_plan(answer.shape).root
    if len(root.inner_tables) != 1 or not isinstance(root.inner_tables[0].row, ObjectPlan):
        return None
    name = root.inner_tables[0].name
    plan = get_read_plan(answer.shape, frozenset({name}), name)
    tables, outline = read_tables(answer, plan, limit=limit)
    rows, table = tables[name], plan.wanted[name]
    items = follow_path(outline, table.path)
    made = assemble_frame({c.column.name: c.to_pandas() for c in rows.columns}, rows.count)
    count = len(items) if isinstance(items, (list, tuple)) else 0
    return Preview(made, count - rows.dropped, _collect_values_beside(answer, outline, table))


class Frames(Mapping[str, pd.DataFrame]):
    """The tidy frames of an answer by the name of their list; read when one is first asked for.

    Parameters
    ----------
    answer
        The data and their shape.
    finish
        Called with each frame that is asked for, to mark it.
    strict
        As for :func:`gqlnb.result.table_reader.read_tables`.
    """

    def __init__(
        self,
        answer: AnswerData,
        finish: Callable[[pd.DataFrame], None],
        *,
        strict: bool = True,
    ) -> None:
        self._answer = answer
        self._finish = finish
        self._strict = strict
        self._names = list(get_read_plan(answer.shape).wanted)
        self._made: dict[str, pd.DataFrame] = {}
        self._reads_singly = False

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._names:
            raise FrameError(_describe_missing_list(name, self._answer))
        if not self._made and not self._reads_singly:
            try:
                self._made = self._read_frames(None)
            except FrameError:
                self._reads_singly = True  # what is wrong in one list is no matter of the others
        if name not in self._made:
            self._made |= self._read_frames(frozenset({name}))
        frame = self._made[name]
        self._finish(frame)
        return frame

    def _read_frames(self, wanted: frozenset[str] | None) -> dict[str, pd.DataFrame]:
        answer = self._answer
        plan = get_read_plan(answer.shape, wanted)
        with advise_if_strict(FRAMES_ADVICE):
            tables, outline = read_tables(answer, plan, strict=self._strict)
        made = {}
        for name, table in plan.wanted.items():
            rows = tables[name]
            parts = _collect_columns(rows, tables, answer)
            frame = assemble_frame(
                {key: part.to_pandas() for key, part in parts.items()}, rows.count
            )
            frame.attrs.update(_build_attrs(answer, outline, table, rows))
            made[name] = frame
        return made

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def get(self, name: str, default: Any = None) -> Any:
        """Return the frame of a list, or `default` where there is none of that name."""
        return self[name] if name in self._names else default

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def _ipython_key_completions_(self) -> list[str]:
        return self._names

    def __repr__(self) -> str:
        return f"Frames({', '.join(map(repr, self._names))})"


# -- choosing a list


def choose_table(answer: AnswerData, path: str | None) -> ResultTable:
    """Return the list of that name, or the only one; the data where there is none."""
    root = get_read_plan(answer.shape).root
    if path is None and root.name == DATA_TABLE:
        return root
    if path is None and len(root.inner_tables) == 1:
        return root.inner_tables[0]
    found = next((table for table in root.walk() if table.name == path and path), None)
    if found is not None:
        return found
    if path is not None:
        raise FrameError(_describe_missing_list(path, answer))
    msg = f"The answer holds {len(root.inner_tables)} lists. Choose one with path=: {_describe_lists(answer)}."
    raise FrameError(msg)


def _describe_missing_list(path: str, answer: AnswerData) -> str:
    listed = _describe_lists(answer)
    return f"The answer has no list at {sanitize_text(path, 80)!r}. It has: {listed or 'no list at all'}."


def _describe_lists(answer: AnswerData) -> str:
    """Return the names of the lists with the number of their rows."""
    data, root = answer.data(), get_read_plan(answer.shape).root
    counts = {
        t.name: sum(1 for _ in iter_rows_with_paths(t, data)) for t in root.walk() if t.parent
    }
    return ", ".join(
        f"{name!r} ({count:,} row{'' if count == 1 else 's'})" for name, count in counts.items()
    )


def _find_list_chain(chosen: ResultTable, explode: str) -> list[str]:
    """Return the names of the lists that lead from a list to one in its rows, that one included."""
    known = {t.name: t for t in chosen.walk() if t is not chosen}
    table = known.get(f"{chosen.name}.{explode}")
    if table is None:
        wrong = f"explode={sanitize_text(explode, 80)!r}"
        if isinstance(chosen.row, ResultTable):
            msg = f"{wrong}: the rows of {chosen.name!r} are lists. Take path={chosen.row.name!r}."
            raise FrameError(msg)
        start = len(chosen.name) + 1
        listed = ", ".join(repr(name[start:]) for name in known) or "no list"
        msg = f"{wrong}: the rows of {chosen.name!r} have {listed}."
        raise FrameError(msg)
    names: list[str] = []
    while table is not None and table.name != chosen.name:
        names.insert(0, table.name)
        table = table.parent
    return names


# -- what stands beside the rows


def _collect_values_beside(answer: AnswerData, outline: Any, table: ResultTable) -> dict[str, Any]:
    """Return what was asked for beside the rows of a frame.

    JSON values by dotted response name, in the order of selection: the scalars beside a list, and
    all of a connection but its rows. Empty where the frame is not of a list. Other lists are left
    out: they have frames of their own.
    """
    if table.parent is None:
        return {}
    place = table.outermost.path
    found = {
        ".".join(name): value
        for name, value in _iter_values_beside(outline, answer.shape, (), place)
    }
    made: dict[str, Any] = json.loads(json.dumps(found, default=answer.convert_to_json))
    return made


def _iter_values_beside(
    value: Any, shape: Shape, path: tuple[str, ...], place: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the values below `path` that stand in no list, nor beside another list's rows."""
    for name, child in shape.children.items():
        here = (*path, name)
        if not isinstance(value, dict) or name not in value:
            continue  # a fragment on another type
        item = value[name]
        mine = here == place[: len(here)]
        if child.lists:
            if here == place and item is None:
                yield here, None
        elif child.composite and isinstance(item, dict):
            if mine or not find_connection_path(child):
                yield from _iter_values_beside(item, child, here, place)
        elif mine or find_connection_path(child) is None:
            yield here, item


def _build_attrs(
    answer: AnswerData, outline: Any, table: ResultTable, rows: TableRows
) -> dict[str, Any]:
    others = _collect_values_beside(answer, outline, table)
    total = None
    if table.total_name is not None and table.outermost is table:
        total = others.get(".".join((*table.path[:-1], table.total_name)))
    return {"total_count": total, "dropped": rows.dropped, "beside": others}


# -- assembling


class _KeyColumn:
    """A column that says in which row of another table a row stands."""

    def __init__(self, filled: ColumnBuilder | None, rows: NDArray[np.int64]) -> None:
        self.column = filled
        self.rows = rows

    def to_pandas(self) -> Any:
        if self.column is None:
            return pd.array(self.rows, dtype="Int64")
        return self.column.to_pandas().take(self.rows)

    def to_arrow(self) -> pa.Array:
        numbers = pa.array(self.rows, pa.int64())
        return numbers if self.column is None else self.column.to_arrow().take(numbers)

    def to_text_array(self) -> Any:
        return (
            self.to_pandas() if self.column is None else self.column.to_text_array().take(self.rows)
        )

    def is_complete(self) -> bool:
        """Tell whether no row is without the value."""
        return self.column is not None and not pd.isna(self.column.to_pandas())[self.rows].any()


def _collect_columns(
    rows: TableRows, tables: Mapping[str, TableRows], answer: AnswerData
) -> dict[str, Any]:
    """Return the columns of a frame by name: keys, then what the rows hold."""
    return {**_build_keys(rows, tables, answer), **{c.column.name: c for c in rows.columns}}


def _build_keys(
    rows: TableRows, tables: Mapping[str, TableRows], answer: AnswerData
) -> dict[str, Any]:
    """Return the columns that lead from a row to the rows it stands in, the outermost first.

    Each is the id of that row, if ids tell the rows of a list from each other, else its number.
    """
    found: list[tuple[str, _KeyColumn]] = []
    table, at = rows.table, np.arange(rows.count)
    while table.parent is not None and table.parent.parent is not None:
        at = tables[table.name].parents[at]
        table = table.parent
        key = _KeyColumn(tables[table.name].key, at)
        if table.key is not None and key.is_complete():
            found.insert(0, (f"{table.short_name}.{table.key.name}", key))
            continue
        found.insert(0, (f"{table.short_name}_index", _KeyColumn(None, at)))
        if table.key is not None:
            answer.renumbered.add(table.name)
    taken = {each.column.name for each in rows.columns}
    made: list[tuple[str, _KeyColumn]] = []
    for name, key in reversed(found):  # lists of one name: the nearest has it, then its parent's
        unique = name
        while unique in taken:
            unique = f"parent.{unique}"
        taken.add(unique)
        made.append((unique, key))
    return dict(reversed(made))


def assemble_frame(arrays: Mapping[str, Any], count: int) -> pd.DataFrame:
    """Return arrays of that many values as a DataFrame, each with the dtype that it has."""
    # pandas 3 would look into object arrays for text, which is no dtype of the schema's.
    columns = {
        name: pd.Series(array, dtype=object) if isinstance(array, np.ndarray) else array
        for name, array in arrays.items()
    }
    return pd.DataFrame(columns, index=pd.RangeIndex(count), copy=False)


def shorten_column_names(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose column names are the shortest ends of theirs that only one has."""
    names = [str(name) for name in frame.columns]
    ends = Counter(end for name in names for end in _list_name_ends(name))
    short = [next((e for e in _list_name_ends(name) if ends[e] == 1), name) for name in names]
    return frame.set_axis(short, axis=1)


def _list_name_ends(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[-count:]) for count in range(1, len(parts) + 1)]


def explode_rows(
    arrays: Mapping[str, Any], rows: TableRows, chain: Sequence[TableRows]
) -> tuple[dict[str, Any], int]:
    """Join a table with a list in its rows, and on with one in that.

    Parameters
    ----------
    arrays
        The columns of the table, by name.
    rows
        Its rows.
    chain
        The lists, each in the rows of the one before.

    Returns
    -------
    (dict, int)
        The columns, those of a list below its name in the row, and how many rows there are. A row
        whose list is empty or null is kept once, its columns of the list missing.
    """
    start = len(rows.table.name) + 1
    names = {each.table.name[start:] for each in chain}
    made = {name: array for name, array in arrays.items() if name not in names}
    at = np.arange(rows.count)  # for each row so far, its row in the table joined last
    for inner in chain:
        repeated, below = _join_lists(at, inner)
        made = {name: _take_elements(array, repeated) for name, array in made.items()}
        prefix = inner.table.name[start:]
        for filled in inner.columns:
            name = prefix if isinstance(inner.table.row, int) else f"{prefix}.{filled.column.name}"
            while name in made:
                name = f"item.{name}"
            made[name] = _take_elements(filled.to_pandas(), below)
        at = below
    return made, len(at)


def _join_lists(
    at: NDArray[np.int64], inner: TableRows
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each row of the join the number of its row so far, and of its row of the list.

    The latter is -1 where the list is empty or null.
    """
    parents = inner.parents
    sizes = np.bincount(parents, minlength=int(at.max(initial=-1)) + 2)
    first = np.cumsum(sizes) - sizes
    counts = np.where(at >= 0, sizes[at], 0)
    times = np.maximum(counts, 1)
    repeated = np.repeat(np.arange(len(at)), times)
    within = np.arange(len(repeated)) - np.repeat(np.cumsum(times) - times, times)
    below = np.where(counts[repeated] > 0, first[at[repeated]] + within, -1)
    return repeated, below


def _take_elements(array: Any, rows: NDArray[np.int64]) -> Any:
    """Return the elements of those numbers, missing ones for -1."""
    if isinstance(array, pd.api.extensions.ExtensionArray):
        return array.take(rows, allow_fill=True)
    made = np.empty(len(rows), dtype=object)  # of None, as such columns have it, not NaN
    made[rows >= 0] = array[rows[rows >= 0]]
    return made
