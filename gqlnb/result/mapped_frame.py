"""One frame of many answers, with the inputs of each beside its rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from gqlnb.document.error_details import explain_message
from gqlnb.document.input_records import is_missing
from gqlnb.errors import FrameError, QueryError, sanitize_text
from gqlnb.optional_imports import import_optional
from gqlnb.result.answer_notes import merge_notes
from gqlnb.result.concatenation import concat
from gqlnb.result.event_frames import build_frame, count_rows, find_only_list, read_events
from gqlnb.result.frames import add_dtypes, judge_answers
from gqlnb.result.list_captions import mark_rows
from gqlnb.result.result import Result, get_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from gqlnb.document.document import Document
    from gqlnb.errors import GqlnbError
    from gqlnb.result.frames import FrameColumn

    IntArray: TypeAlias = np.ndarray[Any, np.dtype[np.intp]]

__all__ = ["MappedFrame", "build_mapped_frame", "describe_errors"]

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
    rows = frames[0] if len(frames) == 1 else concat(frames).take(order)
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


def describe_errors(frame: MappedFrame) -> str:
    """Return how many inputs of a frame have errors, as sentences; "" if none has."""
    total, failed = frame.attrs["inputs"], frame.attrs["failed"]
    partial = sum(isinstance(it, Result) and bool(it.errors) for it in frame.outcomes)
    if not partial and not failed:
        return ""
    return (
        f"{partial + failed:,} of {total:,} inputs have errors: {failed:,} have no answer, "
        f"{partial:,} a partial one. The frame's .errors lists them with their inputs."
    )
