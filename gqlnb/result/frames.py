"""DataFrames, Arrow tables and files of an answer: of one list, of every list, of its errors."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from operator import methodcaller
from types import SimpleNamespace
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from gqlnb.document import scalars
from gqlnb.document.error_details import (
    explain_message,
    read_error_code,
    read_error_path,
    read_error_type,
)
from gqlnb.document.paging_conventions import LAST_FLAGS, MORE_FLAGS, is_null
from gqlnb.document.scalar_values import MAX_EXACT_FLOAT
from gqlnb.document.suspect_lists import is_count_name
from gqlnb.errors import FrameError, advise_if_strict, join_names, sanitize_text
from gqlnb.interactive import warn_caller
from gqlnb.result.column_batch import ColumnBatch
from gqlnb.result.column_builder import CONVERSION_ERRORS, ColumnBuilder
from gqlnb.result.excel import write_workbook
from gqlnb.result.list_verdicts import (
    NO_SIZES,
    STATES,
    Sizes,
    Verdict,
    choose_weakest,
    collect_sizes,
    judge_inner_lists,
    judge_list,
)
from gqlnb.result.renderer import FETCH_ALL, Preview, format_error_path, mark_rows
from gqlnb.result.shape import Shape, find_connection_path
from gqlnb.result.table_reader import AnswerData, TableRows, read_tables
from gqlnb.result.tables import (
    ALIASES,
    ReadPlan,
    ResultTable,
    RowOptions,
    choose_table,
    describe_missing_list,
    follow_path,
    get_read_plan,
    is_sign,
    iter_rows_with_paths,
)

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    PandasArray = pd.api.extensions.ExtensionArray | NDArray[np.object_]
    ErrorPath = tuple[str | int, ...]
    FileOrPath = str | PathLike[str] | IO[Any]
    FrameColumn: TypeAlias = "ColumnBuilder | _RowNumbers | _TakenColumn"


ALIAS_COLUMN = "field"
COLUMNS_LISTED = 12


class AnswerFrames(AnswerData):
    """The data of a result, with the frames, tables and files that are made of them."""

    def combine_aliases(self, data: object, path: str) -> AnswerFrames:
        """Return these data with the objects under several names as a list, at its path.

        Parameters
        ----------
        data
            The data, with exact decimals.
        path
            The path to the object with the aliases, and ``*``: ``"*"``, ``"organization.*"``.

        Raises
        ------
        FrameError
            If the object does not exist, or has no objects of one type alone.
        """
        above, _, _ = path.partition(ALIASES)
        names = tuple(above.split(".")[:-1])
        place: Shape | None = self.shape
        for name in names:
            place = place.children.get(name) if place is not None and not place.lists else None
        shapes = _find_aliases(place.children if place is not None else {}, path)
        merged = _merge_shapes(list(shapes.values()))
        column = ALIAS_COLUMN
        while column in merged.children:  # the nearest of equal names gets the plain one
            column = f"parent.{column}"
        parent = follow_path(data, names)
        rows = [
            {column: name, **(item if isinstance(item, dict) else {})}
            for name, shape in shapes.items()
            for item in _list_items(parent.get(name) if isinstance(parent, dict) else None, shape)
        ]
        label = Shape("String", field_name=column, nullable=False)
        listed = replace(merged, lists=1, children={column: label, **merged.children}, cache={})
        place_name = f"{above}{ALIASES}"
        beside = {} if names else {k: v for k, v in self.shape.children.items() if k not in shapes}
        root = replace(self.shape, children={place_name: listed, **beside}, cache={})
        others = data if isinstance(data, dict) else {}
        holder = SimpleNamespace(data={**others, place_name: rows})
        return replace(self, holder=holder, shape=root, source=None)

    def build_frame(self, options: RowOptions, *, nullable: bool = True) -> pd.DataFrame:
        """Return the frame of a list; warn about integers that its plain dtypes do not hold."""
        columns, count, attrs = read_columns(self, options)
        frame = build_frame(columns, count)
        frame.attrs = attrs
        if nullable:
            return frame
        plain, kept = convert_to_numpy(frame)
        if kept:
            warn_caller(
                "Missing values stand beside integers beyond 2**53, which floats would round, so "
                f"these columns are objects: {join_names(map(repr, kept), COLUMNS_LISTED)}. Drop "
                "the rows without a value, or the columns."
            )
        return plain

    def build_frames(self, *, strict: bool, quiet: bool = False) -> Frames:
        """Return the frames of all lists."""
        return Frames(self, strict=strict, quiet=quiet)

    def build_table(self, options: RowOptions) -> pa.Table:
        """Return a list as an Arrow table."""
        columns, _, _ = read_columns(self, options)
        return build_table(columns)

    def write_parquet(self, file: FileOrPath, options: RowOptions, more: Mapping[str, Any]) -> None:
        """Write a list as Parquet, with `more` options of pyarrow."""
        from pyarrow.parquet import write_table

        columns, _, attrs = read_columns(self, options)
        write_table(build_parquet_table(build_table(columns), attrs), file, **more)

    def write_csv(
        self, file: FileOrPath | None, options: RowOptions, more: Mapping[str, Any]
    ) -> str | None:
        """Write a list as CSV, with `more` options of pandas; return the text without a file."""
        columns, count, _ = read_columns(self, options)
        frame = assemble_frame({name: c.to_text_array() for name, c in columns.items()}, count)
        text: str | None = frame.to_csv(file, **{"index": False, **more})
        return text

    def write_excel(self, file: FileOrPath, options: RowOptions) -> None:
        """Write all lists, or the one at a path, as the sheets of a workbook."""
        if options.path is None and options.explode is None:
            sheets = dict(self.build_frames(strict=options.strict))
        else:
            sheets = {options.path or "rows": self.build_frame(options)}
        if options.short:
            sheets = {
                name: frame.set_axis(shorten_names(list(frame.columns)), axis="columns")
                for name, frame in sheets.items()
            }
        write_workbook(sheets, file)

    def build_previews(self, limit: int | None) -> dict[str, Preview]:
        """Return the first `limit` rows of each outermost list, by name.

        Empty if there is an outermost list of lists, which these tables would not show.

        Raises
        ------
        FrameError
            If a value does not fit its column.
        """
        whole_plan = get_read_plan(self.shape)
        lists = whole_plan.root.inner_tables
        if any(isinstance(inner.row, ResultTable) for inner in lists):
            return {}
        inner_tables: Mapping[str, TableRows] = {}
        if any(outer.inner_tables for outer in lists):
            inner_tables, _ = read_tables(self, whole_plan, strict=False, limit=limit)
        previews = {}
        for outer in lists:
            plan, table, _ = _get_list_plan(self, outer.name)
            tables, outline = read_tables(self, plan, limit=limit)
            rows = tables[table.name]
            frame = build_frame({c.column.name: c for c in rows.columns}, rows.count)
            count = _count(follow_path(outline, table.path))
            beside = _collect_values_beside(self, outline, table)
            nested = {
                inner.name: _judge_inner_lists(self, inner_tables, inner)
                for inner in outer.walk()
                if inner is not outer
            }
            verdict = _judge_list(self, beside, table, count)
            previews[table.name] = Preview(frame, count - rows.dropped, beside, nested, verdict)
        return previews

    def build_errors_frame(self, errors: Sequence[Mapping[str, object]]) -> pd.DataFrame:
        """Return errors as a DataFrame: message, path, list and row, position, code and type."""
        paths = [read_error_path(error) for error in errors]
        rows_by_path = _find_error_rows(self, {path for path in paths if path})
        rows = []
        for error, path in zip(errors, paths, strict=True):
            # The row of the innermost list on the path.
            end = next((end for end in range(len(path), 0, -1) if type(path[end - 1]) is int), 0)
            places = error.get("locations")
            place = places[0] if isinstance(places, (list, tuple)) and places else None
            place = place if isinstance(place, Mapping) else {}
            rows.append(
                (
                    explain_message(error),
                    format_error_path(error),
                    *(rows_by_path.get(path[:end], (None, None)) if end else (None, None)),
                    _parse_position(place.get("line")),
                    _parse_position(place.get("column")),
                    read_error_code(error),
                    read_error_type(error),
                )
            )
        return pd.DataFrame(rows, columns=list(ERROR_DTYPES)).astype(ERROR_DTYPES)

    def read_list(self, path: str | None) -> tuple[dict[str, FrameColumn], dict[str, bool]]:
        """Return the columns of a list, and whether their values may be missing; no warnings."""
        unmarked = replace(self, mark=None, infers=False)  # one of many
        columns, _, _ = read_columns(unmarked, RowOptions(path, strict=False))
        table = choose_table(self.shape, self.holder, path)
        return columns, {column.name: column.nullable for column in table.columns}


def _list_items(value: Any, shape: Shape) -> Sequence[object]:  # noqa: ANN401 - JSON values
    """Return the rows of an alias: the items of a list without null, else the object or null."""
    if not shape.lists:
        return [value]
    return [item for item in value if item is not None] if isinstance(value, list) else []


def _find_aliases(fields: Mapping[str, Shape], path: str) -> dict[str, Shape]:
    """Return the fields with objects, or lists of objects, of the only type with several."""
    groups: defaultdict[tuple[object, int], dict[str, Shape]] = defaultdict(dict)
    for name, shape in fields.items():
        if shape.composite and shape.lists <= 1:
            groups[shape.type or shape.field_name, shape.lists][name] = shape
    several = [group for group in groups.values() if len(group) > 1] or list(groups.values())
    if len(several) == 1:
        return several[0]
    listed = "; ".join(
        f"{', '.join(map(repr, group))} of type {next(iter(group.values())).type}"
        for group in several
    )
    msg = (
        f"path={sanitize_text(path, 80)!r} takes the aliases of one type as rows. The answer has "
        f"there: {listed or 'no object'}."
    )
    raise FrameError(msg)


def _merge_shapes(shapes: Sequence[Shape]) -> Shape:
    """Return the shape of values that have one of several shapes."""
    first = shapes[0]
    if len({(shape.type, shape.lists, shape.values, shape.composite) for shape in shapes}) > 1:
        return Shape(mixed_kinds="values of several types", field_name=first.field_name)
    names = dict.fromkeys(name for shape in shapes for name in shape.children)
    children = {
        name: _merge_shapes([it.children[name] for it in shapes if name in it.children])
        for name in names
    }
    return replace(first, children=children, nullable=True, is_conditional=True, cache={})


FRAMES_ADVICE = (
    "Use result.tables(strict=False), or add --no-strict to the cell, to keep values of other "
    "types unchanged."
)
PANDAS_ATTRS = b"PANDAS_ATTRS"  # the key under which pandas saves `attrs` in Parquet metadata


class _ListPlan(NamedTuple):
    """The plan to read one list.

    Attributes
    ----------
    plan
        The plan of the answer.
    table
        The list; other lists in its rows stay in cells.
    exploded
        The lists whose items become rows, each in the rows of the one before.
    """

    plan: ReadPlan
    table: ResultTable
    exploded: list[ResultTable]


def _get_list_plan(answer: AnswerData, path: str | None, explode: str | None = None) -> _ListPlan:
    """Return the plan to read a list, which is made once for all answers of this shape."""

    def build_plan() -> _ListPlan:
        chosen = choose_table(answer.shape, answer.holder, path)
        inner = [] if explode is None else _find_list_chain(chosen, explode)
        plan = get_read_plan(answer.shape, frozenset({chosen.name, *inner}), chosen.name)
        tables = [plan.wanted[name] for name in inner]
        return _ListPlan(plan, plan.wanted[chosen.name], tables)

    # As text: a list of names is refused above, and cannot be a key.
    key = ("list", repr(path), repr(explode), scalars.get_version())
    return answer.shape.get_cached(key, build_plan)


def read_columns(
    answer: AnswerData, options: RowOptions, *, numbered: str | None = None
) -> tuple[dict[str, FrameColumn], int, dict[Any, object]]:
    """Return the columns of a list by name, the number of rows, and the ``attrs`` of its frame.

    Parameters
    ----------
    answer
        The data and their shape.
    options
        What is read.
    numbered
        The name of a column with the number of each row, repeated by `explode`; None for none.

    Raises
    ------
    FrameError
        If the list does not exist, one must be chosen, or a value does not fit its column.
    """
    plan, table, exploded = _get_list_plan(answer, options.path, options.explode)
    tables, outline = read_tables(answer, plan, strict=options.strict)
    rows = tables[table.name]
    columns, count = _collect_columns(rows, tables, answer), rows.count
    if numbered is not None:
        columns[numbered] = _RowNumbers(np.arange(count))
    if exploded:
        columns, count = explode_rows(columns, rows, [tables[inner.name] for inner in exploded])
    if options.short:
        columns = dict(zip(shorten_names(list(columns)), columns.values(), strict=True))
    attrs = _build_attrs(answer, outline, tables, table)
    for inner in exploded:
        _add_verdict(attrs, _judge_inner_lists(answer, tables, inner), count)
    if answer.mark is not None:
        attrs = answer.mark(answer, options.path, attrs)
    return columns, count, attrs


class Frames(Mapping[str, pd.DataFrame]):
    """The tidy frames of an answer by the name of their list, read on first access.

    Parameters
    ----------
    answer
        The data and their shape.
    strict
        Whether a value that does not fit its column is an error.
    quiet
        Whether to give no warnings about the result.
    """

    def __init__(self, answer: AnswerData, *, strict: bool = True, quiet: bool = False) -> None:
        self._answer = answer
        self._strict, self._quiet = strict, quiet
        self._names = list(get_read_plan(answer.shape).wanted)
        self._frames: dict[str, pd.DataFrame] = {}
        self._reads_singly = False

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._names:
            raise FrameError(describe_missing_list(self._answer.shape, self._answer.holder, name))
        # All lists in one pass, since most callers take several frames.
        if not self._frames and not self._reads_singly:
            try:
                self._frames = self._read_frames(None)
            except FrameError:
                self._reads_singly = True  # an error in one list must not hide the others
        if name not in self._frames:
            self._frames |= self._read_frames(frozenset({name}))
        frame = self._frames[name]
        if self._answer.mark is not None:
            frame.attrs = self._answer.mark(self._answer, name, frame.attrs, quiet=self._quiet)
        return frame

    def _read_frames(self, wanted: frozenset[str] | None) -> dict[str, pd.DataFrame]:
        answer = self._answer
        plan = get_read_plan(answer.shape, wanted)
        with advise_if_strict(FRAMES_ADVICE):
            tables, outline = read_tables(answer, plan, strict=self._strict)
        frames = {}
        for name in plan.wanted:
            rows = tables[name]
            frame = build_frame(_collect_columns(rows, tables, answer), rows.count)
            frame.attrs.update(_build_attrs(answer, outline, tables, rows.table))
            frames[name] = frame
        return frames

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ANN401 - as of any Mapping
        """Return the frame of a list, or `default` if no list has that name."""
        return self[name] if name in self._names else default

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def _ipython_key_completions_(self) -> list[str]:
        return self._names

    def __repr__(self) -> str:
        return f"Frames({', '.join(map(repr, self._names))})"

    def __reduce__(self) -> tuple[Callable[[Any], Any], tuple[object]]:
        # As its result, from which it is read again.
        if getattr(self._answer.holder, "document", None) is None:  # its shape would be lost
            msg = (
                "These Frames cannot be pickled: they are not of one answer to a document. Pickle "
                "dict(frames) in their place."
            )
            raise TypeError(msg)
        return methodcaller("tables", strict=self._strict), (self._answer.holder,)


# -- choosing a list


def _find_list_chain(chosen: ResultTable, explode: str) -> list[str]:
    """Return the names of the lists that lead from a list to one in its rows, inclusive."""
    inner = {t.name: t for t in chosen.walk() if t is not chosen}
    # The name relative to the rows, or the whole one, as in the caption of a result.
    table = inner.get(f"{chosen.name}.{explode}") or inner.get(str(explode))
    if table is None:
        wrong = f"explode={sanitize_text(explode, 80)!r}"
        if isinstance(chosen.row, ResultTable):
            msg = f"{wrong}: the rows of {chosen.name!r} are lists. Take path={chosen.row.name!r}."
            raise FrameError(msg)
        start = len(chosen.name) + 1
        listed = ", ".join(repr(name[start:]) for name in inner) or "no list"
        msg = f"{wrong}: the rows of {chosen.name!r} have {listed}."
        raise FrameError(msg)
    names: list[str] = []
    while table is not None and table.name != chosen.name:
        names.insert(0, table.name)
        table = table.parent
    return names


# -- values beside the rows


def _collect_values_beside(
    answer: AnswerData, outline: object, table: ResultTable
) -> dict[str, object]:
    """Return the values selected beside the rows of a frame, by dotted response name.

    JSON values in the order of selection: the scalars beside a list, and everything in a connection
    but its rows. Empty if the frame is not of a list. Other lists have frames of their own.
    """
    if table.parent is None:
        return {}
    values = dict(_iter_values_beside(outline, answer.shape, (), table.outermost.path))
    # Copied through JSON: `attrs` must be JSON values, and independent of the data.
    copied: dict[str, object] = json.loads(json.dumps(values, default=answer.convert_to_json))
    return copied


def _iter_values_beside(
    value: object, shape: Shape, path: tuple[str, ...], place: tuple[str, ...]
) -> Iterator[tuple[str, object]]:
    """Yield the values below `path` that are not in lists or beside the rows of another list."""
    for name, child in shape.children.items():
        here = (*path, name)
        if not isinstance(value, dict) or name not in value:
            continue  # a fragment on another type
        item = value[name]
        is_own = here == place[: len(here)]
        if child.lists:
            if here == place and item is None:
                yield ".".join(here), None
        elif child.composite and isinstance(item, dict):
            if is_own or not find_connection_path(child):
                yield from _iter_values_beside(item, child, here, place)
        elif is_own or find_connection_path(child) is None:
            yield ".".join(here), item


def _build_attrs(
    answer: AnswerData, outline: object, tables: Mapping[str, TableRows], table: ResultTable
) -> dict[str, object]:
    rows, beside = tables[table.name], _collect_values_beside(answer, outline, table)
    total = None
    if table.total_name is not None and table.outermost is table:
        total = beside.get(".".join((*table.path[:-1], table.total_name)))
    attrs: dict[str, object] = {"total_count": total, "dropped": rows.dropped, "beside": beside}
    if table.outermost is table:
        verdict = _judge_list(answer, beside, table, rows.count + rows.dropped)
        _add_verdict(attrs, verdict, rows.count)
        return attrs
    # The rows of a list in rows are as complete as all the lists that lead to them.
    inner: ResultTable | None = table
    while inner is not None and inner.outermost is not inner:
        _add_verdict(attrs, _judge_inner_lists(answer, tables, inner), rows.count)
        inner = inner.parent
    around = tables[table.outermost.name]
    verdict = _judge_list(answer, beside, table.outermost, around.count + around.dropped)
    if verdict is not None:
        evidence = f"{table.outermost.name}: {verdict.evidence}"
        _add_verdict(attrs, Verdict(verdict.state, evidence, hint=verdict.hint), rows.count)
    return attrs


def _add_verdict(attrs: dict[str, object], verdict: Verdict | None, rows: int) -> None:
    """Add a verdict to the ``attrs`` of a frame with so many rows, unless a weaker one is there."""
    before = str(attrs.get("completeness", "")).partition(":")[0]
    if verdict is None or (before and STATES.index(verdict.state) <= STATES.index(before)):
        return
    attrs |= mark_rows(rows, verdict)


def _judge_inner_lists(
    answer: AnswerData, tables: Mapping[str, TableRows], table: ResultTable
) -> Verdict | None:
    """Judge the lists in the rows of another list; None for lists joined from pages."""
    parent = table.parent
    if parent is None or not table.path or not hasattr(answer.holder, "report"):
        return None
    report = answer.holder.report
    if report is not None and not any(is_part(name, table.full_path) for name in report.kept):
        return None
    rows, holders = tables[table.name], tables[parent.name]
    beside = {}
    for builder in holders.columns:
        shape = builder.column.shape
        name = "" if shape.lists else shape.field_name
        # Where items are null, a count of all is larger than the number of rows.
        is_count = name not in (*MORE_FLAGS, *LAST_FLAGS)
        if is_sign(name, table.path[-1:]) and not (is_count and rows.dropped):
            beside[builder.column.name] = builder.to_arrow().to_pylist()
    lengths = np.bincount(rows.parents, minlength=holders.count).tolist()
    depth = len(table.full_path) - len(table.path)
    if holders.count == 1:  # fast-json-server has a list of one page
        start = ".".join([*table.path[:-1], ""])
        beside |= {f"{start}{name}": v for name, v in beside.items() if is_count_name(name, ())}
    path, named = _name_fields(answer, table.full_path, beside, depth)
    return judge_inner_lists(named, path, lengths, _get_sizes(answer, table), depth)


def _name_fields(
    answer: AnswerData, path: Sequence[str], beside: Mapping[str, Any], above: int = 0
) -> tuple[Sequence[str], dict[str, Any]]:
    """Return a list and what stands beside it by the names of fields, which aliases may hide.

    The path and the keys keep the response names of the object that holds the list. So do fields
    with arguments, which may count other rows.
    """
    holder: Any = answer.holder  # a result
    shape = answer.shape

    def name_fields(place: Shape, names: Sequence[str]) -> Iterator[str]:
        for depth, name in enumerate(names):  # a key without a schema may have dots
            child = place.children.get(name)
            own = name if child is None else child.field_name
            if own != name:
                node = holder.document.find_field((*path[:-1], *names[: depth + 1]))
                is_plain = node is not None and not node.arguments
                own = own if is_plain and own not in place.children else name
            place = child or place
            yield own

    around = shape  # a path through the node of an edge may lead to a list beside it
    for name, inner in pairwise(path):
        around, shape = shape, shape.children.get(name, shape)
        shape = shape if inner in shape.children else around
    start = ".".join([*path[above:-1], ""])
    named = {
        start + ".".join(name_fields(shape, key.removeprefix(start).split("."))): value
        for key, value in beside.items()
        if key.startswith(start)
    }
    return (*path[:-1], *name_fields(shape, path[-1:])), named


def _get_sizes(answer: AnswerData, table: ResultTable) -> Sizes:
    """Return the sizes in the query of an answer for a list."""
    holder: Any = answer.holder  # a result
    if holder.document is None:
        return NO_SIZES
    path, above = table.full_path, len(table.full_path) - len(table.path)
    if holder.document.variables:
        return collect_sizes(holder.document, path, holder.variables or {}, above)
    # Without variables, the same in each answer: it would be a fifth of the time of a small frame.
    collect = partial(collect_sizes, holder.document, path, {}, above)
    return answer.shape.get_cached(("sizes", path, above), collect)


def is_part(name: str, path: Sequence[str]) -> bool:
    """Return whether a dotted name, perhaps without those of objects around items, is in a path."""
    steps = iter(path)
    return all(step in steps for step in name.split("."))


def _judge_list(
    answer: AnswerData, beside: Mapping[str, object], table: ResultTable, rows: int
) -> Verdict | None:
    """Judge an outermost list, of joined pages by their report; None for other lists."""
    if table.parent is None or table.outermost is not table:
        return None
    holder: Any = answer.holder
    if not hasattr(holder, "report"):
        return None
    report = holder.report
    if report is not None:
        state, _, evidence = report.narrow_to(table.name).verdict.partition(": ")
        is_only = len(get_read_plan(answer.shape).root.inner_tables) == 1
        return Verdict(state, evidence, (is_only and report.expected) or 0)
    outline = answer.read_outline()
    is_absent = not rows and is_null(outline, table.path)
    around = follow_path(outline, table.path[:-1])
    longest = max(map(_count, around.values() if isinstance(around, dict) else ()), default=0)
    sizes, is_hidden = _get_sizes(answer, table), is_absent and not holder.errors
    path, named = _name_fields(answer, table.path, beside)
    verdict = judge_list(named, path, rows, sizes, is_null=is_hidden, longest=longest)
    if verdict.state == "more" and holder.document and holder.document.kind == "query":
        return verdict._replace(hint=FETCH_ALL)
    if verdict.state == "complete":
        for error in holder.errors:
            where = tuple(error.get("path") or ())
            # An error in a row leaves a value null, and no row out, unless it is not nullable.
            if is_absent or where == tuple(table.path[: len(where)]):
                return Verdict("unknown", "an error may be of the list")
    return verdict


def _count(items: object) -> int:
    """Return the number of items of a list, null ones included; 0 for other values."""
    return len(items) if isinstance(items, (list, tuple, ColumnBatch)) else 0


def judge_answers(answers: Iterable[AnswerData], path: str | None) -> Verdict | None:
    """Judge a list in each of several answers; return the weakest verdict, None without a list."""
    verdicts: Counter[Verdict] = Counter()
    for answer in answers:
        try:
            table = _get_list_plan(answer, path).table.outermost
        except FrameError:  # of several lists, which are in cells
            return None
        outline = answer.read_outline()
        beside = _collect_values_beside(answer, outline, table)
        verdict = _judge_list(answer, beside, table, _count(follow_path(outline, table.path)))
        if verdict is not None:
            verdicts[verdict] += 1
    return choose_weakest(verdicts, "answers")


# -- assembling


class _RowNumbers:
    """A column with the numbers of rows."""

    def __init__(self, rows: NDArray[np.int64]) -> None:
        self.rows = rows

    def to_pandas(self) -> PandasArray:
        return pd.array(self.rows, dtype="Int64")

    to_text_array = to_pandas

    def to_arrow(self) -> pa.Array:
        return pa.array(self.rows, pa.int64())


class _TakenColumn:
    """The elements of a column at some rows; missing values for -1."""

    def __init__(self, column: FrameColumn, rows: NDArray[np.int64]) -> None:
        self.column = column
        self.rows = rows

    def to_pandas(self) -> PandasArray:
        return self._take(self.column.to_pandas())

    def to_arrow(self) -> pa.Array:
        return self.column.to_arrow().take(pa.array(self.rows, mask=self.rows < 0))

    def to_text_array(self) -> PandasArray:
        return self._take(self.column.to_text_array())

    def _take(self, array: PandasArray) -> PandasArray:
        if isinstance(array, pd.api.extensions.ExtensionArray):
            return array.take(self.rows, allow_fill=True)
        taken = np.empty(len(self.rows), dtype=object)  # None, not NaN, as elsewhere
        taken[self.rows >= 0] = array[self.rows[self.rows >= 0]]
        return taken


def _collect_columns(
    rows: TableRows, tables: Mapping[str, TableRows], answer: AnswerData
) -> dict[str, FrameColumn]:
    """Return the columns of a frame by name: keys of the containing rows first, outermost first.

    A key is the id of a row if ids are unique within their list, else its number.
    """
    columns: dict[str, FrameColumn] = {built.column.name: built for built in rows.columns}
    keys: dict[str, FrameColumn] = {}  # innermost first
    table, at = rows.table, np.arange(rows.count)
    while table.parent is not None and table.parent.parent is not None:
        at = tables[table.name].parents[at]
        table = table.parent
        key: FrameColumn = _RowNumbers(at)
        name = f"{table.short_name}_index"
        if table.key is not None:
            ids = tables[table.name].key
            if ids is not None and not pd.isna(ids.to_pandas())[at].any():
                key, name = _TakenColumn(ids, at), f"{table.short_name}.{table.key.name}"
            else:
                answer.renumbered.add(table.name)
        while name in columns or name in keys:  # the nearest of equal names gets the plain one
            name = f"parent.{name}"
        keys[name] = key
    return {**dict(reversed(keys.items())), **columns}


def build_frame(columns: Mapping[str, FrameColumn], count: int) -> pd.DataFrame:
    """Return columns of `count` values as a DataFrame."""
    return assemble_frame({name: column.to_pandas() for name, column in columns.items()}, count)


def assemble_frame(arrays: Mapping[str, PandasArray], count: int) -> pd.DataFrame:
    """Return arrays of `count` values as a DataFrame that keeps their dtypes."""
    # pandas 3 would infer a string dtype for object arrays of text.
    columns = {
        name: pd.Series(array, dtype=object) if isinstance(array, np.ndarray) else array
        for name, array in arrays.items()
    }
    # Not copied: the arrays were made for this frame alone.
    return pd.DataFrame(columns, index=pd.RangeIndex(count), copy=False)


def convert_to_numpy(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return a frame with the dtypes of NumPy and NaN for missing values.

    Returns
    -------
    (DataFrame, list of str)
        The frame, and the names of the columns of integers that stay objects, because a float does
        not hold all of their digits.
    """
    columns: dict[Any, pd.Series[Any]] = {}
    kept: list[str] = []
    text_dtype: Any = pd.Series([""]).dtype  # `str`, and `object` before pandas 3
    for name in frame.columns:
        column = frame[name]
        dtype: Any = column.dtype
        missing = column.isna()
        plain: Any = getattr(dtype, "numpy_dtype", None)  # of the nullable dtypes
        is_text = isinstance(dtype, pd.StringDtype)
        if plain is not None and missing.any():
            if plain.kind in "iu":
                is_exact = bool((column.dropna().astype(object).abs() <= MAX_EXACT_FLOAT).all())
                kept += [] if is_exact else [str(name)]
                plain = np.dtype("float64" if is_exact else object)
            plain = np.dtype(object) if plain.kind == "b" else plain
        if plain is not None and plain.kind != "O":
            column = column.astype(plain)
        elif plain is not None or is_text or pd.api.types.is_object_dtype(dtype):
            values = column.to_numpy(object, na_value=np.nan)
            column = pd.Series(values, frame.index, dtype=text_dtype if is_text else object)
        columns[name] = column
    plain_frame = pd.DataFrame(columns, index=frame.index, copy=False)
    plain_frame.attrs = frame.attrs
    return plain_frame, kept


def shorten_names(names: Sequence[str]) -> list[str]:
    """Return dotted names, each shortened to its shortest suffix that no other name has."""
    suffixes = {}
    for name in names:
        parts = name.split(".")
        suffixes[name] = [".".join(parts[-count:]) for count in range(1, len(parts) + 1)]
    counts = Counter(suffix for endings in suffixes.values() for suffix in endings)
    return [
        next((suffix for suffix in suffixes[name] if counts[suffix] == 1), name) for name in names
    ]


def explode_rows(
    columns: Mapping[str, FrameColumn], rows: TableRows, chain: Sequence[TableRows]
) -> tuple[dict[str, FrameColumn], int]:
    """Join a table with a list in its rows, and further with lists in the rows of that list.

    Parameters
    ----------
    columns
        The columns of the table, by name.
    rows
        Its rows.
    chain
        The lists, each in the rows of the one before.

    Returns
    -------
    (dict, int)
        The columns, with those of a list below its name, and the number of rows. A row whose list
        is empty or null is kept once, with missing values in the columns of the list.
    """
    start = len(rows.table.name) + 1
    # The cells of these lists are left out: each row would repeat all items beside one of them.
    names = {inner.table.name[start:] for inner in chain}
    joined = {name: column for name, column in columns.items() if name not in names}
    at = np.arange(rows.count)  # for each row so far, its row in the table joined last
    for inner in chain:
        repeated, below = _join_lists(at, inner)
        joined = {name: _TakenColumn(column, repeated) for name, column in joined.items()}
        prefix = inner.table.name[start:]
        for column in inner.columns:
            name = prefix if isinstance(inner.table.row, int) else f"{prefix}.{column.column.name}"
            while name in joined:
                name = f"item.{name}"
            joined[name] = _TakenColumn(column, below)
        at = below
    return joined, len(at)


def _join_lists(
    at: NDArray[np.int64], inner: TableRows
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each row of the join, the numbers of its row so far and of its row of the list.

    The latter is -1 if the list is empty or null.
    """
    # NumPy instead of pandas.merge: the rows of a list are sorted by their parent's row.
    parents = inner.parents
    sizes = np.bincount(parents, minlength=int(at.max(initial=-1)) + 2)
    first = np.cumsum(sizes) - sizes
    counts = np.where(at >= 0, sizes[at], 0)
    times = np.maximum(counts, 1)
    repeated = np.repeat(np.arange(len(at)), times)
    within = np.arange(len(repeated)) - np.repeat(np.cumsum(times) - times, times)
    below = np.where(counts[repeated] > 0, first[at[repeated]] + within, -1)
    return repeated, below


# -- files


def build_table(columns: Mapping[str, FrameColumn]) -> pa.Table:
    """Return columns as a table that pandas converts to their dtypes."""
    table = pa.table({name: column.to_arrow() for name, column in columns.items()})
    return add_dtypes(table, {name: column.to_pandas() for name, column in columns.items()})


def add_dtypes(table: pa.Table, arrays: Mapping[str, PandasArray]) -> pa.Table:
    """Return a table with the dtypes of its columns in pandas, as pandas stores them.

    Without them, ``Table.to_pandas`` and readers of Arrow streams make floats of integers with
    nulls.
    """
    empty: dict[str, PandasArray] = {}
    for name, array in arrays.items():
        try:
            pa.array(array[:0])
        except CONVERSION_ERRORS:  # a registered dtype without an Arrow type
            continue
        empty[name] = array[:0]
    schema = pa.Schema.from_pandas(assemble_frame(empty, 0), preserve_index=False)
    return table.replace_schema_metadata(schema.metadata)


def build_parquet_table(table: pa.Table, attrs: Mapping[Any, object]) -> pa.Table:
    """Return a table of :func:`build_table` as pandas reads it from Parquet.

    Parameters
    ----------
    table
        The table.
    attrs
        The ``attrs`` of its frame, JSON values.
    """
    for number, field in enumerate(table.schema):
        if pa.types.is_date32(field.type):  # pandas would read objects; frames have timestamps
            dates = table.column(number).cast(pa.timestamp("us"))
            table = table.set_column(number, field.name, dates)
    metadata = {**(table.schema.metadata or {}), PANDAS_ATTRS: json.dumps(attrs).encode()}
    return table.replace_schema_metadata(metadata)


# -- errors

ERROR_DTYPES = {
    "message": "string",
    "path": "string",
    "frame": "string",
    "row": "Int64",
    "line": "Int64",
    "column": "Int64",
    "code": "string",
    "type": "string",
}


def _find_error_rows(answer: AnswerData, paths: set[ErrorPath]) -> dict[ErrorPath, tuple[str, int]]:
    """Return the list and the row of each item that is on one of the paths."""
    starts = {path[: end + 1] for path in paths for end, p in enumerate(path) if type(p) is int}
    rows: dict[ErrorPath, tuple[str, int]] = {}
    for table in get_read_plan(answer.shape).root.walk() if starts else ():
        if table.parent is None:
            continue
        for row, (place, _) in enumerate(iter_rows_with_paths(table, answer.holder.data)):
            if place in starts:
                rows[place] = (table.name, row)
    return rows


def _parse_position(value: object) -> int | None:
    """Return a line or column; None for an invalid value from an endpoint."""
    return value if isinstance(value, int) and 0 < value < 2**31 else None
