"""From an answer to DataFrames and Arrow tables: one per list level, or the one a person means."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa

from gqlnb.errors import FrameError, plain
from gqlnb.model.exploding import exploded
from gqlnb.model.places import places_of, reached
from gqlnb.model.reading import read
from gqlnb.model.shape import steps_of
from gqlnb.model.strict import way_out
from gqlnb.model.tables import ALONE, Place, Table, plan_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from gqlnb.model.columns import Filled
    from gqlnb.model.reading import Answer, Rows
    from gqlnb.model.shape import Shape

__all__ = [
    "Frames",
    "Part",
    "Preview",
    "arrow_of",
    "assembled",
    "choose",
    "frame_made",
    "parts_of",
    "preview",
    "shortened",
]

FRAMES_WAY_OUT = (
    "Take result.tables(strict=False), or add --no-strict to a cell, to keep what does not fit as "
    "it came."
)


def frame_made(
    answer: Answer, path: str | None = None, *, explode: str | None = None, strict: bool = True
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
        As for :func:`gqlnb.model.reading.read`.

    Returns
    -------
    DataFrame
        With ``attrs`` ``beside``, ``dropped`` and ``total_count``.

    Raises
    ------
    FrameError
        If there is no such list, one must be chosen, or a value does not fit its column.
    """
    chosen = choose(answer, path)
    chain = _chain(chosen, explode) if explode is not None else []
    wanted = frozenset({chosen.name, *chain})
    plan = plan_of(answer.shape, wanted, chosen.name)
    tables, outline = read(answer, plan, strict=strict)
    rows = tables[chosen.name]
    parts = _parts(rows, tables, answer)
    arrays = {name: part.pandas() for name, part in parts.items()}
    count = rows.count
    if chain:
        arrays, count = exploded(arrays, rows, [tables[name] for name in chain])
    made = assembled(arrays, count)
    made.attrs.update(_attrs(answer, outline, plan.wanted[chosen.name], rows))
    return made


def arrow_of(answer: Answer, path: str | None = None, *, strict: bool = True) -> pa.Table:
    """Return the frame of a list as an Arrow table; parameters as for :func:`frame_made`."""
    parts, _ = parts_of(answer, path, strict=strict)
    return pa.table({name: part.arrow() for name, part in parts.items()})


def parts_of(
    answer: Answer, path: str | None = None, *, strict: bool = True
) -> tuple[dict[str, Part], dict[str, Any]]:
    """Return the columns of the frame of a list, by name, and what its ``attrs`` hold.

    Parameters and errors are those of :func:`frame_made`.
    """
    chosen = choose(answer, path)
    plan = plan_of(answer.shape, frozenset({chosen.name}), chosen.name)
    tables, outline = read(answer, plan, strict=strict)
    rows = tables[chosen.name]
    attrs = _attrs(answer, outline, plan.wanted[chosen.name], rows)
    return _parts(rows, tables, answer), attrs


class Part(Protocol):
    """A column of a frame, in its forms."""

    def pandas(self) -> Any:
        """Return it as a pandas array."""

    def arrow(self) -> pa.Array:
        """Return it as an Arrow array."""

    def flat(self) -> Any:
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


def preview(answer: Answer, limit: int | None = None) -> Preview | None:
    """Return the first `limit` rows of the one list of objects; None where there is no such list.

    Raises
    ------
    FrameError
        If a value does not fit its column.
    """
    root = plan_of(answer.shape).root
    if len(root.inner) != 1 or not isinstance(root.inner[0].row, Place):
        return None
    name = root.inner[0].name
    plan = plan_of(answer.shape, frozenset({name}), name)
    tables, outline = read(answer, plan, limit=limit)
    rows, table = tables[name], plan.wanted[name]
    items = reached(outline, table.place)
    made = assembled({c.column.name: c.pandas() for c in rows.columns}, rows.count)
    count = len(items) if isinstance(items, (list, tuple)) else 0
    return Preview(made, count - rows.dropped, _beside(answer, outline, table))


class Frames(Mapping[str, pd.DataFrame]):
    """The tidy frames of an answer by the name of their list; read when one is first asked for.

    Parameters
    ----------
    answer
        The data and their shape.
    finish
        Called with each frame that is asked for, to mark it.
    strict
        As for :func:`gqlnb.model.reading.read`.
    """

    def __init__(
        self,
        answer: Answer,
        finish: Callable[[pd.DataFrame], None],
        *,
        strict: bool = True,
    ) -> None:
        self._answer = answer
        self._finish = finish
        self._strict = strict
        self._names = list(plan_of(answer.shape).wanted)
        self._made: dict[str, pd.DataFrame] = {}
        self._alone = False

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._names:
            raise FrameError(_no_list(name, self._answer))
        if not self._made and not self._alone:
            try:
                self._made = self._frames(None)
            except FrameError:
                self._alone = True  # what is wrong in one list is no matter of the others
        if name not in self._made:
            self._made |= self._frames(frozenset({name}))
        frame = self._made[name]
        self._finish(frame)
        return frame

    def _frames(self, wanted: frozenset[str] | None) -> dict[str, pd.DataFrame]:
        answer = self._answer
        plan = plan_of(answer.shape, wanted)
        with way_out(FRAMES_WAY_OUT):
            tables, outline = read(answer, plan, strict=self._strict)
        made = {}
        for name, table in plan.wanted.items():
            rows = tables[name]
            parts = _parts(rows, tables, answer)
            frame = assembled({key: part.pandas() for key, part in parts.items()}, rows.count)
            frame.attrs.update(_attrs(answer, outline, table, rows))
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


def choose(answer: Answer, path: str | None) -> Table:
    """Return the list of that name, or the only one; the data where there is none."""
    root = plan_of(answer.shape).root
    if path is None and root.name == ALONE:
        return root
    if path is None and len(root.inner) == 1:
        return root.inner[0]
    found = next((table for table in root.walk() if table.name == path and path), None)
    if found is not None:
        return found
    if path is not None:
        raise FrameError(_no_list(path, answer))
    msg = f"The answer holds {len(root.inner)} lists. Choose one with path=: {_listed(answer)}."
    raise FrameError(msg)


def _no_list(path: str, answer: Answer) -> str:
    listed = _listed(answer)
    return f"The answer has no list at {plain(path, 80)!r}. It has: {listed or 'no list at all'}."


def _listed(answer: Answer) -> str:
    """Return the names of the lists with the number of their rows."""
    data, root = answer.data(), plan_of(answer.shape).root
    counts = {t.name: sum(1 for _ in places_of(t, data)) for t in root.walk() if t.parent}
    return ", ".join(
        f"{name!r} ({count:,} row{'' if count == 1 else 's'})" for name, count in counts.items()
    )


def _chain(chosen: Table, explode: str) -> list[str]:
    """Return the names of the lists that lead from a list to one in its rows, that one included."""
    known = {t.name: t for t in chosen.walk() if t is not chosen}
    table = known.get(f"{chosen.name}.{explode}")
    if table is None:
        wrong = f"explode={plain(explode, 80)!r}"
        if isinstance(chosen.row, Table):
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


def _beside(answer: Answer, outline: Any, table: Table) -> dict[str, Any]:
    """Return what was asked for beside the rows of a frame.

    JSON values by dotted response name, in the order of selection: the scalars beside a list, and
    all of a connection but its rows. Empty where the frame is not of a list. Other lists are left
    out: they have frames of their own.
    """
    if table.parent is None:
        return {}
    place = table.outermost.place
    found = {".".join(name): value for name, value in _others(outline, answer.shape, (), place)}
    made: dict[str, Any] = json.loads(json.dumps(found, default=answer.json_value))
    return made


def _others(
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
            if mine or not steps_of(child):
                yield from _others(item, child, here, place)
        elif mine or steps_of(child) is None:
            yield here, item


def _attrs(answer: Answer, outline: Any, table: Table, rows: Rows) -> dict[str, Any]:
    others = _beside(answer, outline, table)
    total = None
    if table.total is not None and table.outermost is table:
        total = others.get(".".join((*table.place[:-1], table.total)))
    return {"total_count": total, "dropped": rows.dropped, "beside": others}


# -- assembling


class _Key:
    """A column that says in which row of another table a row stands."""

    def __init__(self, filled: Filled | None, rows: NDArray[np.int64]) -> None:
        self.filled = filled
        self.rows = rows

    def pandas(self) -> Any:
        if self.filled is None:
            return pd.array(self.rows, dtype="Int64")
        return self.filled.pandas().take(self.rows)

    def arrow(self) -> pa.Array:
        numbers = pa.array(self.rows, pa.int64())
        return numbers if self.filled is None else self.filled.arrow().take(numbers)

    def flat(self) -> Any:
        return self.pandas() if self.filled is None else self.filled.flat().take(self.rows)

    def whole(self) -> bool:
        """Tell whether no row is without the value."""
        return self.filled is not None and not pd.isna(self.filled.pandas())[self.rows].any()


def _parts(rows: Rows, tables: Mapping[str, Rows], answer: Answer) -> dict[str, Any]:
    """Return the columns of a frame by name: keys, then what the rows hold."""
    return {**_keys(rows, tables, answer), **{c.column.name: c for c in rows.columns}}


def _keys(rows: Rows, tables: Mapping[str, Rows], answer: Answer) -> dict[str, Any]:
    """Return the columns that lead from a row to the rows it stands in, the outermost first.

    Each is the id of that row, if ids tell the rows of a list from each other, else its number.
    """
    found: list[tuple[str, _Key]] = []
    table, at = rows.table, np.arange(rows.count)
    while table.parent is not None and table.parent.parent is not None:
        at = tables[table.name].parents[at]
        table = table.parent
        key = _Key(tables[table.name].key, at)
        if table.key is not None and key.whole():
            found.insert(0, (f"{table.short}.{table.key.name}", key))
            continue
        found.insert(0, (f"{table.short}_index", _Key(None, at)))
        if table.key is not None:
            answer.renumbered.add(table.name)
    taken = {each.column.name for each in rows.columns}
    made: list[tuple[str, _Key]] = []
    for name, key in reversed(found):  # lists of one name: the nearest has it, then its parent's
        unique = name
        while unique in taken:
            unique = f"parent.{unique}"
        taken.add(unique)
        made.append((unique, key))
    return dict(reversed(made))


def assembled(arrays: Mapping[str, Any], count: int) -> pd.DataFrame:
    """Return arrays of that many values as a DataFrame, each with the dtype that it has."""
    # pandas 3 would look into object arrays for text, which is no dtype of the schema's.
    columns = {
        name: pd.Series(array, dtype=object) if isinstance(array, np.ndarray) else array
        for name, array in arrays.items()
    }
    return pd.DataFrame(columns, index=pd.RangeIndex(count), copy=False)


def shortened(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose column names are the shortest ends of theirs that only one has."""
    names = [str(name) for name in frame.columns]
    ends = Counter(end for name in names for end in _ends(name))
    short = [next((e for e in _ends(name) if ends[e] == 1), name) for name in names]
    return frame.set_axis(short, axis=1)


def _ends(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[-count:]) for count in range(1, len(parts) + 1)]
