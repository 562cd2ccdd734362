"""Frames of many results: a subscription's, those of one operation for many inputs, or pages."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from gqlnb.document.error_details import explain_message
from gqlnb.document.scalar_values import is_missing
from gqlnb.errors import FrameError, QueryError, sanitize_text
from gqlnb.interactive import warn_caller
from gqlnb.option_checks import check_whole_number
from gqlnb.optional_imports import import_optional
from gqlnb.result.answer_notes import merge_notes
from gqlnb.result.frames import (
    Frames,
    add_dtypes,
    build_frame,
    judge_answers,
    read_columns,
    shorten_names,
)
from gqlnb.result.list_verdicts import Verdict, choose_weakest
from gqlnb.result.renderer import describe_rows, format_error, mark_rows
from gqlnb.result.result import Result, copy_with_decimals, get_shape
from gqlnb.result.shape import Shape, build_shape, infer_shape
from gqlnb.result.table_reader import AnswerData
from gqlnb.result.tables import ObjectPlan, ResultTable, RowOptions, get_read_plan, list_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from gqlnb.document.document import Document
    from gqlnb.errors import GqlnbError
    from gqlnb.result.column_builder import PandasDtype
    from gqlnb.result.frames import FrameColumn

    IntArray: TypeAlias = np.ndarray[Any, np.dtype[np.intp]]

EVENTS_TABLE = "events"  # the name of the list of results
RESULT_NUMBER = ""  # the name of a column, which no response name can be


class EventStream(Protocol):
    """The part of a subscription that its frame is made of."""

    document: Document

    def __iter__(self) -> Iterator[Result]:
        """Iterate over the results."""


def build_events_frame(
    results: Sequence[Result], path: str | None = None, document: Document | None = None
) -> pd.DataFrame:
    """Return results as one frame, with rows like those of :meth:`gqlnb.Result.frame`.

    Parameters
    ----------
    results
        The results, in the order of their rows.
    path
        The list to read, as for :meth:`gqlnb.Result.frame`. None: the only list that is not inside
        another; if there is none, or more than one, a row for each result.
    document
        The document they answer; it gives the columns if there are no results yet.

    Returns
    -------
    DataFrame
        With the dtypes of the schema. A column with a value that does not fit keeps all its values
        unchanged. Results whose data are null have no row.

    Raises
    ------
    FrameError
        If no list has that name.
    """
    columns, numbers = read_events(results, path, document, strict=False)
    return build_frame(columns, len(numbers))


def read_events(
    results: Sequence[Result],
    path: str | None = None,
    document: Document | None = None,
    *,
    keep_results: bool = False,
    in_cells: bool = False,
    **options: Any,  # noqa: ANN401 - of several types
) -> tuple[dict[str, FrameColumn], np.ndarray[Any, np.dtype[np.intp]]]:
    """Return the columns of :func:`build_events_frame`, and the number of each row's result.

    Parameters
    ----------
    results, path, document
        As for :func:`build_events_frame`.
    keep_results
        Whether, without `path`, the values beside the only list are columns too, and a result whose
        list is empty or null has a row, as with ``explode``.
    in_cells
        Whether, without `path`, lists stay in cells even if there is only one.
    **options
        ``short``, ``explode`` and ``strict`` of :meth:`gqlnb.Result.frame`.

    Raises
    ------
    FrameError
        If no list has that name, or a value does not fit its column.
    """
    if document is None and results:
        document = results[0].document
    # Those without data have no row, and must not shift the numbers of the others.
    places = [at for at, result in enumerate(results) if result.data is not None]
    results = [results[at] for at in places]
    answer = _combine_results(results, document)
    answer.infers = keep_results  # all results that there will be
    outer = get_read_plan(answer.shape).root.inner_tables[0]
    if not results and not answer.shape.children[EVENTS_TABLE].children:
        return {}, np.array([], np.intp)  # without a schema, columns are not known yet
    table = outer
    if path is not None:
        table = _find_table(outer, f"{EVENTS_TABLE}.{path}")
    elif len(outer.inner_tables) == 1 and not in_cells and all(map(find_only_list, results)):
        table = outer.inner_tables[0]
    if options.get("explode") is not None:
        options["explode"] = _find_list_in_rows(options["explode"], table, outer)
    if keep_results and path is None and table is not outer:
        columns = _explode_results(answer, outer, table, **options)
        numbers = columns.pop(RESULT_NUMBER).to_pandas()
        return columns, np.array(places, np.intp)[np.asarray(numbers, np.intp)]
    columns, _, _ = read_columns(answer, RowOptions(table.name, **options))
    if table is outer:
        return columns, np.array(places, np.intp)
    # The first column of an inner list is the key of its result: the number, or a field `id`.
    key = columns.pop(next(iter(columns))).to_pandas()
    if outer.key is not None and outer.name not in answer.renumbered:
        by_id = {str(result.data["id"]): at for at, result in zip(places, results, strict=True)}
        return columns, np.array([by_id[str(each)] for each in key], np.intp)
    return columns, np.array(places, np.intp)[np.asarray(key, np.intp)]


def _find_list_in_rows(explode: str, table: ResultTable, outer: ResultTable) -> str:
    """Return the name of a list within its rows, given that name or the whole one."""
    inner = {it.name: it.name[len(table.name) + 1 :] for it in table.walk() if it is not table}
    name = inner.get(f"{EVENTS_TABLE}.{explode}", explode)
    if table is not outer and name in inner.values():
        return name
    shown, lists = sanitize_text(explode, 80), ", ".join(map(repr, inner.values()))
    msg = f"explode={shown!r} needs path=, the list to read: {lists or 'there is none'}."
    if table is not outer:
        rows = table.name.partition(".")[2]
        msg = f"explode={shown!r}: the rows of {rows!r} have {lists or 'no list'}."
    raise FrameError(msg)


def _explode_results(
    answer: AnswerData,
    outer: ResultTable,
    table: ResultTable,
    *,
    short: bool = False,
    explode: str | None = None,
    strict: bool = True,
) -> dict[str, FrameColumn]:
    """Return the values of each result beside the rows of its only list, and its number."""
    inner = table.name.removeprefix(f"{EVENTS_TABLE}.")
    full = inner if explode is None else f"{inner}.{explode}"
    rows = RowOptions(outer.name, explode=full, strict=strict)
    columns, _, _ = read_columns(answer, rows, numbered=RESULT_NUMBER)
    beside = {RESULT_NUMBER, *(column.name for column in outer.columns)}
    names = list(columns)
    if short:
        names = shorten_names(names)
    else:  # columns of the list are named as in its own frame
        start = inner.rpartition(".")[0] if not isinstance(table.row, ObjectPlan) else inner
        plain = [name if name in beside else name.removeprefix(f"{start}.") for name in names]
        names = [
            new if plain.count(new) == 1 else old for old, new in zip(names, plain, strict=True)
        ]
    return dict(zip(names, columns.values(), strict=True))


def collect_frame(
    stream: EventStream,
    count: int | None,
    path: str | None,
    **options: Any,  # noqa: ANN401 - of several types
) -> pd.DataFrame:
    """Return the rows of the next events of a subscription; see ``Stream.frame``."""
    if count is not None:
        count = check_whole_number("count", count, least=1, or_none=True)
    results: list[Result] = []

    def build(**others: Any) -> pd.DataFrame:  # noqa: ANN401 - of several types
        for result in results:
            result._load_answer()  # noqa: SLF001 - with the schema, if it is known by now
        columns, numbers = read_events(results, path, stream.document, **{**options, **others})
        frame = build_frame(columns, len(numbers))
        source = next((result.source for result in results), None)
        partial = any(result.errors for result in results)
        frame.attrs = {"source": source, "partial": partial, "events": len(results)}
        frame.attrs |= merge_notes(result.extensions for result in results)
        return frame

    try:
        for result in islice(stream, count):  # not extend(): an error must leave those before
            results.append(result)  # noqa: PERF402
    except BaseException as error:
        error.result = build(strict=False)  # type: ignore[attr-defined]
        error.add_note(f"The frame of the {len(results):,} events before is error.result.")
        raise
    frame = build()
    # One warning for all events, as a long stream may have many.
    if faulty := sum(bool(result.errors) for result in results):
        first = next(format_error(result.errors[0]) for result in results if result.errors)
        msg = f"{faulty:,} of {len(results):,} events have errors, the first: {first}"
        warn_caller(msg)
    return frame


def build_events_frames(results: Sequence[Result]) -> Frames:
    """Return a tidy frame of the results, ``"events"``, and one for each list in them."""
    return Frames(_combine_results(results), strict=False)


def _combine_results(results: Sequence[Result], document: Document | None = None) -> AnswerData:
    """Return results as the items of one list."""
    shapes = {id(shape): shape for shape in map(get_shape, results)}
    if not results and document is not None:
        shapes = {0: build_shape(document)}
    data = {EVENTS_TABLE: [copy_with_decimals(result) for result in results]}
    # Results of different documents have no common shape, so the values decide.
    known = next(iter(shapes.values())) if len(shapes) == 1 else None
    if known is None:
        return AnswerData(Result(data), infer_shape(data))
    item = Shape(lists=1, children=known.children, composite=True, field_name=EVENTS_TABLE)
    return AnswerData(Result(data), Shape(children={EVENTS_TABLE: item}, nullable=False))


def count_rows(result: Result, path: str | None = None) -> int:
    """Return the number of rows of a result in the frame of :func:`build_events_frame`.

    Raises
    ------
    FrameError
        If no list has that name.
    """
    table = root = _get_root_table(result)
    if path is not None:
        table = _find_table(root, path)
    elif len(root.inner_tables) == 1:
        table = root.inner_tables[0]
    return len(list_rows(result.data, table))


def describe_cut_list(result: Result, path: str | None = None) -> str:
    """Return the rows of a result in words if its list is not complete; else empty.

    `path` is as of :func:`build_events_frame`.
    """
    name = path or find_only_list(result)
    try:
        verdict = result.previews(0)[name].verdict if name else None
    except (FrameError, KeyError):
        return ""
    if verdict is None or verdict.state == "complete":
        return ""
    return describe_rows(count_rows(result, path), verdict)


def find_only_list(result: Result) -> str:
    """Return the name of the only outermost list of a result; "" if there is not exactly one."""
    found = _get_root_table(result).inner_tables
    return found[0].name if len(found) == 1 else ""


def _get_root_table(result: Result) -> ResultTable:
    return get_read_plan(get_shape(result) or infer_shape(result.data)).root


def _find_table(root: ResultTable, name: str) -> ResultTable:
    known = {table.name: table for table in root.walk() if table is not root}
    if name in known:
        return known[name]
    prefix = f"{EVENTS_TABLE}." if root.name == EVENTS_TABLE else ""
    listed = ", ".join(repr(found.removeprefix(prefix)) for found in known) or "no list at all"
    shown = sanitize_text(name.removeprefix(prefix), 80)
    msg = f"The events have no list at {shown!r}. They have: {listed}."
    raise FrameError(msg)


MESSAGE_LENGTH = 2_000  # characters of an error in the frame of errors


class MappedFrame(pd.DataFrame):
    """The frame of :meth:`gqlnb.Client.map`: a DataFrame with the errors of its inputs.

    What pandas derives from it, such as a selection or a copy, is a plain DataFrame.

    Attributes
    ----------
    errors
        A DataFrame with a row for each error: the columns of the input; ``input``, its position
        from 0; ``kind``, ``"partial"`` if there is an answer, else the class of the exception;
        ``message`` and dotted ``path``.
    outcomes
        The Result or the exception of each input, in their order; None for those not sent. They
        are not pickled.
    """

    # As pandas declares it; these are pickled. The outcomes are not: their documents hold the
    # schema, and one of this process has resolvers that cannot be pickled. To go on in another
    # process, answers are remembered with cache=.
    _metadata = ["errors"]  # noqa: RUF012
    errors: pd.DataFrame
    outcomes: Sequence[Result | GqlnbError | None] = ()
    build_rows: Callable[[], pa.Table] | None = None  # the rows of the answers; not pickled

    @property
    def _constructor(self) -> type[pd.DataFrame]:
        return pd.DataFrame

    def _describe_errors(self) -> str:
        """Return how many inputs have errors, as sentences; "" if none has."""
        total, failed = self.attrs["inputs"], self.attrs["failed"]
        partial = sum(isinstance(it, Result) and bool(it.errors) for it in self.outcomes)
        if not partial and not failed:
            return ""
        return (
            f"{partial + failed:,} of {total:,} inputs have errors: {failed:,} have no answer, "
            f"{partial:,} a partial one. The frame's .errors lists them with their inputs."
        )

    def to_arrow(self) -> pa.Table:
        """Return the frame as a ``pyarrow.Table``, with the types of ``Result.to_arrow``.

        Dates are dates, and JSON values are text, for which ``pyarrow.Table.from_pandas`` has no
        type. Values that were changed since are as they were.

        Raises
        ------
        FrameError
            If rows or columns were added or removed since, or the frame was pickled.
        """
        table = None if self.build_rows is None else self.build_rows()
        inputs = 0 if table is None else len(self.columns) - table.num_columns
        if table is None or inputs < 0 or not self.index.equals(pd.RangeIndex(table.num_rows)):
            msg = (
                "to_arrow() takes a frame as map() returned it, and this one was changed or "
                "pickled. Use pyarrow.Table.from_pandas(frame)."
            )
            raise FrameError(msg)
        arrays = [convert_input_column(self.iloc[:, at]) for at in range(inputs)]
        names = list(map(str, self.columns))
        dtypes = {name: self.iloc[:0, at].array for at, name in enumerate(names)}
        return add_dtypes(pa.table([*arrays, *table.columns], names=names), dtypes)

    def to_polars(self) -> pl.DataFrame:
        """Return the frame as a Polars DataFrame, with the types of :meth:`to_arrow`."""
        polars = import_optional("polars", "polars", "return Polars frames")
        frame: pl.DataFrame = polars.from_arrow(self.to_arrow())
        return frame


def convert_input_column(column: pd.Series[Any]) -> pa.Array:
    """Return a column of the inputs as an Arrow array; values of mixed types as text."""
    try:
        return pa.Array.from_pandas(column)
    except pa.ArrowException:
        texts = [None if is_missing(value) else str(value) for value in column]
        return pa.array(texts, pa.large_string())


def build_mapped_frame(
    inputs: pd.DataFrame | Sequence[Mapping[str, Any]],
    outcomes: Sequence[Result | GqlnbError | None],
    document: Document,
    path: str | None = None,
    *,
    keep_empty: bool = True,
    **options: Any,  # noqa: ANN401 - of several types
) -> MappedFrame:
    """Return the rows of all answers, each beside the input of its answer.

    Parameters
    ----------
    inputs
        A row for each input; of records the dtypes are inferred.
    outcomes
        The outcome of each.
    document
        The document that was executed, for the dtypes of inputs without an answer.
    keep_empty
        Whether, without `path`, an answer whose only list is empty or null has a row.
    path, **options
        As for :meth:`gqlnb.Result.frame`.

    Raises
    ------
    FrameError
        As :meth:`gqlnb.Result.frame`.
    """
    if isinstance(inputs, pd.DataFrame):
        inputs = inputs.reset_index(drop=True)
    elif inputs:
        inputs = pd.DataFrame(list(inputs), index=range(len(inputs))).convert_dtypes()
    else:
        inputs = pd.DataFrame({name: pd.Series([], dtype="string") for name in document.variables})
    answers = {at: it for at, it in enumerate(outcomes) if isinstance(it, Result)}
    # Variables of @skip and @include change the shape of an answer. Each shape has its own frame.
    groups: dict[int, dict[int, Result]] = {}
    loaded = []
    for at, result in answers.items():
        # With the schema, if it is known by now.
        loaded.append(result._load_answer())  # noqa: SLF001
        groups.setdefault(id(get_shape(result)), {})[at] = result
    # Rows of one frame are all items, or all answers.
    in_cells = len({find_only_list(next(iter(group.values()))) for group in groups.values()}) > 1
    parts: list[tuple[dict[str, FrameColumn], IntArray]] = []  # columns, and the rows to keep
    frames, places = [], []
    for group in groups.values() or ({},):
        results = list(group.values())
        columns, numbers = read_events(
            results, path, document, keep_results=True, in_cells=in_cells, **options
        )
        kept = np.arange(len(numbers))
        if path is None and not keep_empty and not in_cells:
            kept = kept[np.array([count_rows(it) > 0 for it in results], bool)[numbers]]
        parts.append((columns, kept))
        frames.append(build_frame(columns, len(numbers)).take(kept))
        places.append(np.array(list(group), np.intp)[numbers[kept]])
    place = np.concatenate(places)
    order = np.argsort(place, kind="stable")
    place = place[order]
    rows = frames[0] if len(frames) == 1 else concat_frames(frames, ignore_index=True).take(order)
    errors = build_errors_frame(inputs, outcomes)
    whole = MappedFrame(join_columns(inputs.take(place), rows))
    left = list(outcomes).count(None)
    whole.attrs = {
        "source": next((it.source for it in answers.values()), None),
        "partial": bool(len(errors)) or left > 0,
        "inputs": len(inputs),
        "answered": len(answers),
        "failed": len(outcomes) - len(answers) - left,
    }
    whole.attrs |= merge_notes(it.extensions for it in answers.values())
    if not in_cells and (verdict := judge_answers(loaded, path)) is not None:
        whole.attrs |= mark_rows(len(whole), verdict)
    found = [getattr(it.response, "cached_at", None) for it in answers.values()]
    if cached_at := [it for it in found if it is not None]:
        whole.attrs |= {"cached": len(cached_at), "cached_at": min(cached_at)}
    whole.errors, whole.outcomes = errors, list(outcomes)
    whole.build_rows = partial(build_arrow_rows, parts, order)
    return whole


def build_arrow_rows(
    parts: Sequence[tuple[Mapping[str, FrameColumn], IntArray]], order: IntArray
) -> pa.Table:
    """Return the rows of all answers as a table, without their inputs."""
    tables = [
        pa.table({name: column.to_arrow() for name, column in columns.items()}).take(kept)
        for columns, kept in parts
    ]
    try:
        whole = pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        msg = f"The answers have columns of different types: {sanitize_text(error, 200)}"
        raise FrameError(msg) from error
    return whole.unify_dictionaries().take(order)


def build_errors_frame(
    inputs: pd.DataFrame, outcomes: Sequence[Result | GqlnbError | None]
) -> pd.DataFrame:
    """Return a row for each error, with its input."""
    found: list[tuple[int, str, str, str | None]] = []
    for at, outcome in enumerate(outcomes):
        if isinstance(outcome, Result):
            for error in outcome.errors:
                steps = error.get("path")
                text = sanitize_text(explain_message(error), MESSAGE_LENGTH)
                path = ".".join(map(str, steps)) if isinstance(steps, list) else None
                found.append((at, "partial", text, path))
        elif outcome is not None:
            # Without the lines of the document, which are the same for all inputs.
            problems = outcome.problems if isinstance(outcome, QueryError) else ()
            text = "; ".join(it.message for it in problems) or str(outcome)
            text = sanitize_text(text, MESSAGE_LENGTH)
            found.append((at, type(outcome).__name__, text, None))
    columns = ["input", "kind", "message", "path"]
    beside = pd.DataFrame(found, columns=columns).astype(
        {"input": "Int64", "kind": "string", "message": "string", "path": "string"}
    )
    return join_columns(inputs.take([at for at, *_ in found]), beside)


def join_columns(inputs: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return inputs and rows side by side, ``$`` before the name of an input that both have."""
    renamed = inputs.rename(columns={name: f"${name}" for name in inputs if name in rows})
    return pd.concat([renamed.reset_index(drop=True), rows.reset_index(drop=True)], axis=1)


# -- concatenation


def concat_frames(frames: Iterable[pd.DataFrame], *, ignore_index: bool) -> pd.DataFrame:
    """Concatenate frames, as :func:`gqlnb.concat` describes it."""
    if isinstance(frames, pd.DataFrame):
        msg = "concat takes several DataFrames, such as [january, february]; got one DataFrame."
        raise FrameError(msg)
    given = list(frames)
    if not given or not all(isinstance(frame, pd.DataFrame) for frame in given):
        kinds = ", ".join(dict.fromkeys(type(frame).__name__ for frame in given)) or "nothing"
        msg = (
            f"concat takes DataFrames, such as [result.frame() for result in results]; got {kinds}."
        )
        raise FrameError(msg)
    if repeated := [name for frame in given for name in frame.columns[frame.columns.duplicated()]]:
        listed = sanitize_text(", ".join(map(repr, dict.fromkeys(repeated))), 200)
        msg = f"concat takes frames whose columns have different names; {listed} is there twice."
        raise FrameError(msg)
    columns = dict.fromkeys(chain.from_iterable(frame.columns for frame in given))
    dtypes = {name: _find_dtype([f[name] for f in given if name in f]) for name in columns}
    # Shallow: columns are replaced in the copies, and the caller's frames stay as they are.
    fitted = [frame.copy(deep=False) for frame in given]
    for frame in fitted:
        for name in frame.columns:
            dtype = dtypes[name]
            if dtype is not None and frame[name].dtype != dtype:
                frame[name] = _convert(frame[name], dtype)
    whole = pd.concat(fitted, ignore_index=ignore_index)
    first, *others = (frame.attrs for frame in given)
    whole.attrs = {
        name: value
        for name, value in first.items()
        if all(name in attrs and attrs[name] == value for attrs in others)
    }
    if any("partial" in frame.attrs for frame in given):
        whole.attrs["partial"] = any(frame.attrs.get("partial") for frame in given)
    parts = [str(frame.attrs.get("completeness", "")).partition(": ") for frame in given]
    verdicts = Counter(Verdict(state, evidence) for state, _, evidence in parts if state)
    if len(verdicts) > 1:
        whole.attrs["completeness"] = str(choose_weakest(verdicts, "frames"))
    if notes := dict.fromkeys(note for frame in given for note in frame.attrs.get("notes", ())):
        whole.attrs["notes"] = list(notes)
    return whole


def _find_dtype(columns: list[pd.Series[Any]]) -> PandasDtype | None:
    """Return the common dtype of columns; None if those with values disagree."""
    filled = [column for column in columns if column.notna().any()]
    # The dtype of a column without values may be a guess: it counts if there is no other.
    dtypes: list[Any] = list(dict.fromkeys(column.dtype for column in filled or columns))
    if all(isinstance(dtype, pd.CategoricalDtype) for dtype in dtypes):
        names = dict.fromkeys(chain.from_iterable(dtype.categories for dtype in dtypes))
        return pd.CategoricalDtype(list(names), ordered=all(dtype.ordered for dtype in dtypes))
    return dtypes[0] if len(dtypes) == 1 else None


def _convert(column: pd.Series[Any], dtype: PandasDtype) -> pd.Series[Any]:
    """Return a column of nulls, or of categories, in another dtype."""
    if isinstance(dtype, pd.CategoricalDtype) and isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.set_categories(dtype.categories, ordered=bool(dtype.ordered))
    try:
        return pd.Series([None] * len(column), index=column.index, dtype=dtype)
    except (TypeError, ValueError):  # NumPy's integers and Booleans have no null
        return column
