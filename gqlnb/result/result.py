"""A result: the data and errors of one answer, and the views of it that people want."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from gqlnb.errors import AnswerError, PartialError, advise_if_strict, sanitize_text
from gqlnb.result import frame_warnings
from gqlnb.result.lazy_schema import load_schema
from gqlnb.result.renderer import ERRORS_SHOWN, format_error, render_bundle, render_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    import pyarrow as pa

    from gqlnb.document.document import Document
    from gqlnb.result.decoder import DecimalData, Envelope
    from gqlnb.result.frames import FrameColumn, Frames, Preview
    from gqlnb.result.paging_report import Report
    from gqlnb.result.renderer import Bundle
    from gqlnb.result.shape import Shape
    from gqlnb.result.table_reader import AnswerData

__all__ = ["Result"]

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The answer to one operation.

    ``result["viewer"]`` is the field of that name, ``len(result)`` the number of rows, iteration
    goes over the rows: the items of the answer's one list, or the data itself where it has none.
    Libraries that read Arrow streams (Polars, DuckDB) take a result as it is.

    Attributes
    ----------
    data
        The data as mappings and lists; None where a null reached the top. Of an answer that came as
        bytes, large and with its schema known, they are made when they are first looked at: a frame
        does not need them. Whether they are what was asked for is checked before there is a Result.
    errors
        The errors beside the data, as mappings with ``message``, ``path``, ``locations``,
        ``extensions`` and whatever else the endpoint sent; empty if all went well.
    extensions
        What the endpoint sent beside data and errors.
    document
        The document that was executed.
    response
        The response it was read from, or None.
    source
        A word that says where the data are from: an endpoint, or a schema in this process.
    causes
        The exception behind each error, in the same order, where it arose in this process.
    profile
        Where the time went, if :meth:`gqlnb.Schema.profile` executed it; else None.
    variables
        The JSON-like values sent with the document, by which fields are skipped or included; None
        where they are not known.
    report
        What paging did, where it was put together from pages: how many items came of how many, in
        how many requests, and why it ended; else None.

    Examples
    --------
    >>> import gqlnb
    >>> schema = gqlnb.Schema("type Query { books: [Book] } type Book { title: String pages: Int }")
    >>> result = schema.execute("{ books { title pages } }", root={"books": [{"title": "Emma"}]})
    >>> result.frame()
      title  pages
    0  Emma   <NA>
    """

    data: Any
    errors: tuple[Mapping[str, Any], ...] = ()
    extensions: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    document: Document | None = None
    response: Any = None
    source: str | None = None
    causes: tuple[BaseException | None, ...] = ()
    profile: Any = None
    variables: Mapping[str, Any] | None = None
    report: Report | None = None

    @classmethod
    def from_execution(
        cls,
        data: Any,
        document: Document,
        source: str,
        variables: Mapping[str, Any] | None = None,
    ) -> Result:
        """Return the result of an execution in which nothing failed, in a third of the time."""
        made = cls.__new__(cls)
        members = made.__dict__  # the other members are as the class declares them
        members["data"] = data
        members["extensions"] = _NOTHING
        members["document"] = document
        members["source"] = source
        members["variables"] = variables
        return made

    @classmethod
    def from_envelope(
        cls, came: Envelope, document: Document | None = None, **members: Any
    ) -> Self:
        """Return the result of a response, its data decoded when they are first looked at.

        Parameters
        ----------
        came
            The response, from :func:`gqlnb.result.decoder.decode_envelope`.
        document
            The document it answers.
        **members
            The other members, by name; `errors` and `extensions` too, which are not taken from
            `came`.
        """
        return cls(None, document=document, **members).with_lazy_data(came)

    def with_lazy_data(self, came: Envelope | DecimalData) -> Self:
        """Return this new result with data that are decoded from a response on first touch."""
        members = self.__dict__
        members.pop("data", None)
        members["_came"] = came
        return self

    @classmethod
    def from_bytes(cls, body: bytes, document: Document | None = None, **members: Any) -> Self:
        """Return the result that the bytes of a GraphQL response hold: a saved answer, a body.

        Parameters
        ----------
        body
            The response, as JSON in UTF-8.
        document
            The document it answers; with it, and the schema it was checked against, frames have the
            declared dtypes.
        **members
            Other members, by name: ``source``, ``variables``.

        Raises
        ------
        AnswerError
            If it is no GraphQL response, or one without data.
        """
        from gqlnb.result.decoder import decode_envelope
        from gqlnb.result.shape import build_shape

        shape = build_shape(document, members.get("variables")) if document is not None else None
        try:
            came = decode_envelope(body, shape)
        except (ValueError, RecursionError) as error:
            fault = sanitize_text(error, 120)
        else:
            errors = [] if came.errors is None else came.errors
            right = isinstance(errors, list) and all(isinstance(e, Mapping) for e in errors)
            fault = "'errors' is no list of objects"
            if not came.has_data:
                fault = "there is no 'data'"
            elif not came.has_valid_data:
                fault = "'data' is no object"
            elif right:
                more = {"errors": tuple(errors), "extensions": came.extensions or _NOTHING}
                return cls.from_envelope(came, document, **more, **members)
        msg = f"Not a GraphQL response: {fault}."
        raise AnswerError(msg)

    if not TYPE_CHECKING:  # or every name would be one that a Result has

        def __getattr__(self, name: str) -> Any:
            """Decode the data when they are first looked at, once for all threads."""
            members = self.__dict__
            came = members.get("_came") if name == "data" else None
            if came is None:
                msg = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise AttributeError(msg)
            try:
                with came.lock:
                    if "data" not in members:
                        members["data"] = came.decode_data()
                return members["data"]
            except (ValueError, RecursionError) as error:
                reason = sanitize_text(error, 120)
            msg = f"{self.source or 'The answer'}: the data cannot be decoded: {reason}"
            raise AnswerError(msg)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is copied and pickled: the data, not what makes them or was made of them."""
        state = {"data": self.data, **self.__dict__, "extensions": dict(self.extensions)}
        # Only a client asks again, for pages or for the schema, and with its own result.
        left = {"_came", "_crawler", "_forms", "_learn", "frames"}
        return {name: value for name, value in state.items() if name not in left}

    def __getitem__(self, key: str) -> Any:
        if not isinstance(self.data, Mapping):
            raise KeyError(key)
        return self.data[key]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.data) if isinstance(self.data, Mapping) else []

    def __len__(self) -> int:
        return len(self.dicts())

    def __bool__(self) -> bool:
        return True  # an answer with no rows is an answer

    def __iter__(self) -> Iterator[Any]:
        return iter(self.dicts())

    def frame(
        self,
        path: str | None = None,
        *,
        short: bool = False,
        explode: str | None = None,
        strict: bool = True,
    ) -> pd.DataFrame:
        """Return the answer as a DataFrame with the dtypes of the schema.

        Parameters
        ----------
        path
            The list to take, as dotted response names without ``edges``, ``node`` and ``nodes``:
            ``"search"``, ``"search.languages"``. None where the answer holds at most one list that
            stands in no other.
        short
            Name columns by the shortest end of their name that no other has: ``login`` for
            ``owner.login``.
        explode
            The name of a list in the rows (``"languages"``, ``"languages.topics"``): each of its
            items becomes a row, beside the columns of the row it stands in.
        strict
            Whether a value that does not fit its column (an ``Int`` of more than 32 bits, text for
            a number) is an error. Otherwise the column keeps all its values as they came.

        Returns
        -------
        DataFrame
            One row per item, in the order of the answer; null items are no rows. Lists in the rows
            stay in one cell each: of the values that a column of their scalar holds (``Decimal``,
            ``Timestamp``, ``int``; None for null), or of mappings of JSON values. The frame of a
            list in rows of another begins with their keys, as in :attr:`frames`. ``attrs`` holds
            JSON values only: ``source``, ``partial``, ``total_count`` (the connection's count of
            all there are, or None), ``dropped`` (how many null edges, nodes and items there were)
            and ``beside``, a mapping of what was asked for beside the list, by dotted name
            (``"search.repositoryCount"``).

        Raises
        ------
        FrameError
            If `path` names no list, or is needed; the message lists the paths. If a value does not
            fit its column; the message names column and row.

        Notes
        -----
        A client asks an endpoint for its schema now, once, where it does not know it yet. Where
        none is known dtypes are inferred, which is said once for each source. One warning announces
        errors beside the data, ``attrs["partial"]`` marks them, :meth:`build_errors_frame` has the rows.
        """
        return build_frame(self, path, 1, short=short, explode=explode, strict=strict)

    to_pandas = frame

    @cached_property
    def frames(self) -> Frames:
        """A tidy DataFrame for each list level, by dotted name, also as :meth:`frame` takes it.

        No list stands in a cell: each has a frame of its own, which begins with the keys of the
        rows it stands in: ``<list>.id`` where a non-null ``id`` is selected of all of them, else
        ``<list>_index``, the row in that list's frame, as where an id comes twice in a list, which
        a warning says. An answer without lists has one frame, ``"data"``. An error in one does not
        keep others from being read.
        """
        return self.tables()

    def tables(self, *, strict: bool = True, quiet: bool = False) -> Frames:
        """Return what :attr:`frames` is, `strict` as in :meth:`frame`; warn of nothing if quiet."""
        from gqlnb.result.frames import Frames

        answer = load_schema(self)
        return Frames(answer, partial(self._finish_frame, answer, quiet), strict=strict)

    def arrow(self, path: str | None = None, *, strict: bool = True) -> pa.Table:
        """Return the answer as a ``pyarrow.Table``; parameters and errors are those of `frame`.

        Lists in the rows are Arrow lists. JSON values are text, each as JSON, as are values of a
        scalar that is not known; text as it is.
        """
        from gqlnb.result.frames import build_arrow_table

        answer = load_schema(self)
        made = build_arrow_table(answer, path, strict=strict)
        frame_warnings.warn_about_frame(self, answer, 3)
        return made

    def to_parquet(
        self, file: Any, path: str | None = None, *, strict: bool = True, **options: Any
    ) -> None:
        """Write the answer as Parquet, each value as :meth:`arrow` has it.

        ``frame().to_parquet()`` would make one struct of JSON objects that have other names each.

        Parameters
        ----------
        file
            A path, or a file that is open for bytes.
        path, strict
            Those of :meth:`frame`, as are the errors.
        **options
            Those of ``pyarrow.parquet.write_table``: ``compression``, ...

        Notes
        -----
        ``pandas.read_parquet`` gives the dtypes of the frame, and its ``attrs``.
        """
        from gqlnb.result.export import write_parquet

        parts, attrs = self._read_columns(path, strict=strict)
        write_parquet(parts, attrs, file, **options)

    def to_csv(
        self, file: Any = None, path: str | None = None, *, strict: bool = True, **options: Any
    ) -> str | None:
        """Write the answer as CSV, lists and JSON values as JSON.

        Parameters
        ----------
        file
            A path, or a file that is open for text; None to get the text.
        path, strict
            Those of :meth:`frame`, as are the errors.
        **options
            Those of ``pandas.DataFrame.to_csv``; ``index`` is False unless it is among them.
        """
        from gqlnb.result.export import write_csv

        parts, _ = self._read_columns(path, strict=strict)
        return write_csv(parts, file, **options)

    def _read_columns(
        self, path: str | None, *, strict: bool
    ) -> tuple[dict[str, FrameColumn], dict[str, Any]]:
        from gqlnb.result.frames import read_columns

        answer = load_schema(self)
        parts, attrs = read_columns(answer, path, strict=strict)
        frame_warnings.warn_about_frame(self, answer, 4)
        return parts, self._build_marks() | attrs

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        with advise_if_strict("Pass result.arrow(strict=False) instead of the result."):
            return self.arrow().__arrow_c_stream__(requested_schema)

    def dicts(self, path: str | None = None) -> list[Any]:
        """Return the rows of a list as they came.

        Without a path, and with more than one list that stands in no other, the data are one row.

        Raises
        ------
        FrameError
            If `path` names no list; the message lists the paths.
        """
        from gqlnb.result.frames import choose_table
        from gqlnb.result.tables import get_read_plan, list_rows

        answer = self._answer
        root = get_read_plan(answer.shape).root
        table = root if path is None and len(root.inner_tables) != 1 else choose_table(answer, path)
        return list_rows(self.data, table)

    def errors_frame(self) -> pd.DataFrame:
        """Return the errors as a DataFrame.

        Returns
        -------
        DataFrame
            ``message``, dotted ``path``, ``frame`` and ``row`` (the list and the row in its frame
            that the error is about; missing where there is no such row, as when the error made it
            null), ``line`` and ``column``.
        """
        from gqlnb.result.errors_frame import build_errors_frame

        return build_errors_frame(self.errors, self._answer)

    def raise_for_errors(self) -> Result:
        """Return this result, or raise if it came with errors.

        Raises
        ------
        PartialError
            With this result as ``.result``; the exception of a resolver that ran in this process
            is its ``__cause__``.
        """
        if not self.errors:
            return self
        lines = [
            f"{format_error(error)} ({place})" if place else format_error(error)
            for error, place in zip(self.errors[:ERRORS_SHOWN], self.selections, strict=False)
        ]
        left = len(self.errors) - ERRORS_SHOWN
        more = [f"... and {left} more."] if left > 0 else []
        head = f"The answer is partial: {frame_warnings.format_error_count(self.errors)}."
        message = "\n  ".join([head, *lines, *more])
        cause = next((cause for cause in self.causes if cause is not None), None)
        raise PartialError(message, result=self) from cause

    def in_cell(self, lines: int = 1, place: str = "cell line", own: int | None = None) -> Self:
        """Say of each error which line selected its field, counted from the top of a cell.

        Parameters
        ----------
        lines
            How many lines of the cell stand above the text.
        place
            The word before a line number.
        own
            How many lines of the text are the cell's; below are saved fragments. None: all.
        """
        self.__dict__["_cell"] = lines, place, own
        return self

    @property
    def selections(self) -> tuple[str, ...]:
        """Where the field of each error is selected, as ``"cell line 3"``; "" if unknown."""
        cell = self.__dict__.get("_cell")
        if cell is None or self.document is None:
            return ("",) * len(self.errors)
        paths = [error.get("path") for error in self.errors]
        return tuple(self.document.locate_path(path, *cell) for path in paths)

    def get_shape(self) -> Shape | None:
        """Return the shape of the answer; None where no schema is known."""
        from gqlnb.result.shape import build_shape

        return build_shape(self.document, self.variables) if self.document is not None else None

    def preview(self, rows: int | None = None) -> Preview | None:
        """Return the first rows of an answer of one list of objects, to be shown.

        Parameters
        ----------
        rows
            How many rows; None for all.

        Returns
        -------
        (DataFrame, int, dict) or None
            ``frame``, the number of ``rows`` in all, and what stands ``beside`` them; None where
            there is no such list.

        Raises
        ------
        FrameError
            If a value does not fit its column.
        """
        from gqlnb.result.frames import build_preview

        return build_preview(self._answer, rows)

    @property
    def _answer(self) -> AnswerData:
        """What frames are read from: the bytes that came, where the shape is known."""
        from gqlnb.result.scalar_forms import NO_FORMS
        from gqlnb.result.shape import infer_shape
        from gqlnb.result.table_reader import AnswerData

        shape = self.get_shape()
        came = self.__dict__.get("_came") if shape is not None else None
        forms = self.__dict__.get("_forms", NO_FORMS)
        return AnswerData(shape or infer_shape(self.data), lambda: self.data, came, forms)

    def _build_marks(self) -> dict[str, Any]:
        report = self.report
        partial = bool(self.errors) or (report is not None and not report.complete)
        marks: dict[str, Any] = {"source": self.source, "partial": partial}
        return marks if report is None else marks | {"report": report.to_dict()}

    def _finish_frame(self, answer: AnswerData, quiet: bool, frame: pd.DataFrame) -> None:
        frame.attrs = self._build_marks() | frame.attrs
        if not quiet:
            frame_warnings.warn_about_frame(self, answer, 4)  # through the mapping of frames

    def __repr__(self) -> str:
        return render_text(self)

    def _repr_mimebundle_(self, **_: object) -> Bundle:
        return render_bundle(self)


def build_frame(
    result: Result,
    path: str | None,
    level: int,
    *,
    short: bool = False,
    explode: str | None = None,
    strict: bool = True,
) -> pd.DataFrame:
    """Return what :meth:`Result.frame` returns.

    Parameters
    ----------
    result, path, short, explode, strict
        As there.
    level
        How many calls above the caller the user's line is, which warnings name.
    """
    from gqlnb.result.frames import build_list_frame, shorten_column_names

    answer = load_schema(result)
    made = build_list_frame(answer, path, explode=explode, strict=strict)
    made = shorten_column_names(made) if short else made
    made.attrs = result._build_marks() | made.attrs  # noqa: SLF001 - of the class above
    frame_warnings.warn_about_frame(result, answer, level + 3)
    return made
