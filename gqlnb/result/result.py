"""The result of an operation: data and errors of one answer, and views of them."""

# ruff: noqa: SLF001 - the functions of this module set the private state of its class

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, Self, TypeVar, overload

from gqlnb.document.json_codec import strip_bom
from gqlnb.errors import (
    AnswerError,
    FrameError,
    GqlnbError,
    advise_if_strict,
    format_count,
    join_names,
    sanitize_text,
    suggest,
)
from gqlnb.interactive import raise_attribute_error, split_hints, warn_caller
from gqlnb.option_checks import explain_keywords, raise_option_error
from gqlnb.optional_imports import import_optional
from gqlnb.result import decoder
from gqlnb.result.answer_notes import (
    describe_inference,
    describe_row_keys,
    describe_scalar_dtype,
    find_missing_data,
    list_notes,
)
from gqlnb.result.checked_decoder import LARGE_BODY, SMALL_BODY
from gqlnb.result.column_batch import MIN_BATCH_ROWS, ColumnData
from gqlnb.result.decoder import CheckedData, DecimalData, decode_envelope, has_exact_scalars
from gqlnb.result.renderer import (
    ERRORS_SHOWN,
    describe_partial_answer,
    format_error,
    render_bundle,
    render_text,
)
from gqlnb.result.shape import NO_FORMS, build_shape, infer_shape
from gqlnb.result.tables import ALIASES, RowOptions, choose_table, get_read_plan, list_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from os import PathLike

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

    from gqlnb.document.document import Document
    from gqlnb.document.json_codec import JSON
    from gqlnb.result.checked_decoder import CheckedDecoder
    from gqlnb.result.decoder import DataSource
    from gqlnb.result.frames import AnswerFrames, FrameColumn, Frames
    from gqlnb.result.paging_report import Report
    from gqlnb.result.renderer import Bundle, Preview
    from gqlnb.result.shape import ScalarForms, Shape
    from gqlnb.result.table_reader import AnswerData

    SchemaLoader = Callable[["Result"], "Result" | None]

Model = TypeVar("Model")
_NOTHING: Mapping[str, Any] = MappingProxyType({})
# Marks of warnings that were given for a result, beside names of lists and remarks on columns.
PARTIAL, INCOMPLETE = "errors beside the data", "report"
# Names that readers of other libraries try first.
_HINTS = split_hints(
    {
        "dataframe DataFrame pandas to_dataframe to_df to_frame": "df",
        "json to_json to_dict dict raw": "data",
        "rows records to_dicts items nodes": "dicts()",
        "text content body": "response.body, where there was a response",
        "status status_code headers": "response, where there was one",
        "ok has_errors exception error": "errors, or raise_for_errors()",
        "raise_for_status": "raise_for_errors()",
        "page_info pageInfo has_next total totalCount": "report, after execute_all()",
        "to_polar polars": "to_polars()",
        "model to_model to_models pydantic typed parse": "models()",
        "query_text text_sent": "document",
    }
)
KEYS_SHOWN = 12
_given_messages: set[str] = set()  # one warning per source, or query, and process about inference
_warned_scalars: dict[str | None, set[str]] = {}  # and one for each of its unknown scalars
# Neither copied nor pickled: only a client sends further requests, and for its own result.
_TRANSIENT_STATE = frozenset({"_lazy_data", "_crawler", "_forms", "_schema_loader", "frames"})


@explain_keywords
@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The answer to one operation.

    ``result["viewer"]`` is the field of that name. ``len(result)`` and iteration are about the
    rows as in JSON: the items of the answer's only list, or the data itself if there is none.
    Libraries that read Arrow streams (Polars, DuckDB) accept a result directly; others take its
    frame, :attr:`df`, and raise FrameError for ``pandas.DataFrame(result)``.

    Attributes
    ----------
    data
        The data as mappings and lists; None if a null propagated to the top. The data of a large
        answer whose schema is known are decoded on first access; frames do not need them. They are
        validated against the schema before the result is returned.
    errors
        The errors beside the data, as mappings with ``message``, ``path``, ``locations``,
        ``extensions`` and other members that the endpoint sent; empty without errors. Values that
        contradict the schema, such as null for a non-null field, have an error each at the end,
        with the code ``SCHEMA_VIOLATION`` in its ``extensions``, as soon as the schema is known:
        frames and :meth:`raise_for_errors` load it.
    extensions
        The member ``extensions`` of the response.
    document
        The document that was executed.
    response
        The response it was read from, or None.
    source
        The origin of the data: an endpoint, or a schema in this process.
    causes
        The exception behind each error, in the same order, if it was raised in this process.
    profile
        The execution profile, if :meth:`gqlnb.Schema.profile` executed it; else None.
    variables
        The JSON-like values sent with the document, which ``@skip`` and ``@include`` depend on;
        None if they are not known.
    report
        The report of paging for a result merged from pages: items, requests, and the reason why it
        ended; else None.

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

    # Private state. A result is immutable for its users; the functions below the class set these
    # fields while it is created, or when a frame first needs a schema.
    _lazy_data: DataSource | None = field(default=None, init=False)
    _schema_loader: SchemaLoader | None = field(default=None, init=False)
    _forms: ScalarForms | None = field(default=None, init=False)
    _crawler: object = field(default=None, init=False)
    _cell: tuple[int, str, int | None] | None = field(default=None, init=False)
    _given_warnings: set[str] | None = field(default=None, init=False)

    @classmethod
    def from_bytes(
        cls,
        body: bytes,
        document: Document | None = None,
        *,
        source: str | None = None,
        variables: Mapping[str, Any] | None = None,
    ) -> Self:
        """Read the bytes of a GraphQL response, such as a saved answer.

        Parameters
        ----------
        body
            The response, as JSON in UTF-8.
        document
            The document it answers. With it and its schema, frames have the declared dtypes.
        source, variables
            The attributes of these names.

        Returns
        -------
        Result
            A result whose data are decoded on first access.

        Raises
        ------
        AnswerError
            If the body is not a GraphQL response, or has no data.
        """
        if isinstance(document, str):
            raise_option_error("document", document, "a Document: client.parse_document(text)")
        shape = build_shape(document, variables) if document is not None else None
        try:
            envelope = decode_envelope(body, shape)
        except (ValueError, RecursionError) as error:
            fault = sanitize_text(error, 120)
        else:
            errors = [] if envelope.errors is None else envelope.errors
            if not envelope.has_data:
                fault = "there is no 'data'"
            elif not envelope.has_valid_data:
                fault = "'data' is not an object"
            elif not isinstance(errors, list) or not all(isinstance(e, Mapping) for e in errors):
                fault = "'errors' is not a list of objects"
            else:
                extensions = envelope.extensions or _NOTHING
                result = cls(
                    None, tuple(errors), extensions, document, source=source, variables=variables
                )
                attach_lazy_data(result, envelope)
                return result
        msg = f"Not a GraphQL response: {fault}."
        raise AnswerError(msg)

    if not TYPE_CHECKING:  # type checkers would accept any attribute name

        def __getattr__(self, name: str) -> JSON:
            """Decode the data on first access, once for all threads."""
            lazy = self._lazy_data if name == "data" else None
            if lazy is None:
                pandas = sys.modules.get("pandas")
                is_of_frame = pandas is not None and hasattr(pandas.DataFrame, name)
                of_frame = {name: f"df.{name}"} if is_of_frame else {}
                raise_attribute_error(self, name, of_frame | _HINTS)
            members = self.__dict__
            try:
                with lazy.lock:
                    if "data" not in members:
                        members["data"] = lazy.decode_data()
                return members["data"]
            except (ValueError, RecursionError) as error:
                reason = sanitize_text(error, 120)
            msg = f"{self.source or 'The answer'}: the data cannot be decoded: {reason}"
            raise AnswerError(msg)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to copy and pickle: the data, and no decoders or clients."""
        # With decimals in the data instead of the bytes that have them: they are not copied.
        exact = copy_with_decimals(self)
        state = {**self.__dict__, "data": exact, "extensions": dict(self.extensions)}
        state["has_decimals"] = exact is not self.data
        return {name: value for name, value in state.items() if name not in _TRANSIENT_STATE}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copied or pickled state."""
        has_decimals = state.pop("has_decimals", False)  # not in pickles of earlier versions
        self.__dict__.update(state)
        if has_decimals:
            hide_decimals(self)

    def __getitem__(self, key: str) -> JSON:
        data = self.data
        if isinstance(data, Mapping) and key in data:
            return data[key]
        name = sanitize_text(repr(key), 80)
        names = list(data) if isinstance(data, Mapping) else []
        has = join_names(map(repr, names), KEYS_SHOWN) or "no data"
        hint = suggest(key, names) if type(key) is str else " Rows are in result.df."
        msg = f"The result has no field {name}. It has {has}.{hint}"
        raise KeyError(msg)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.data) if isinstance(self.data, Mapping) else []

    def __len__(self) -> int:
        return len(self.dicts())

    def __bool__(self) -> bool:
        return True  # despite __len__: an answer without rows is an answer

    def __iter__(self) -> Iterator[Any]:
        return iter(self.dicts())

    def frame(
        self,
        path: str | None = None,
        *,
        short: bool = False,
        explode: str | None = None,
        strict: bool = True,
        nullable: bool = True,
    ) -> pd.DataFrame:
        """Return the answer as a DataFrame with the dtypes of the schema.

        Parameters
        ----------
        path
            The list to read, as dotted response names without ``edges``, ``node`` and ``nodes``:
            ``"search"``, ``"search.languages"``. May be None if there is at most one list that is
            not inside another. ``"*"`` stands for aliases of one type, as of ``a: repository(...)
            {...} b: repository(...) {...}``: each is a row, also one that is null, or as many rows
            as it has items; the column ``field`` has its alias. ``"organization.*"`` reads those
            below a field.
        short
            Whether to shorten column names to their shortest unique suffix: ``login`` for
            ``owner.login``.
        explode
            The name of a list in the rows (``"languages"``, ``"languages.topics"``), or its whole
            name as in :attr:`frames` (``"search.languages"``): each of its items becomes a row,
            beside the columns of the row that contains it.
        strict
            Whether a value that does not fit its column (an ``Int`` of more than 32 bits, text for
            a number) is an error. Otherwise the column keeps all its values unchanged.
        nullable
            Whether to use the nullable dtypes of pandas. False for libraries that do not take
            them: text is ``str`` (objects before pandas 3), numbers and Booleans have the dtypes of
            NumPy, and missing values are NaN or NaT. Integers beside NaN are floats, Booleans
            objects. Where a float does not hold an integer, beyond 2**53, the column has Python's
            integers as objects, with a warning.

        Returns
        -------
        DataFrame
            One row per item, in the order of the answer, without null items. Lists in the rows
            stay in one cell each: of the values that a column of their scalar holds (``Decimal``,
            ``Timestamp``, ``int``; None for null), or of mappings of JSON values. The frame of a
            list in rows of another begins with their keys, as in :attr:`frames`. ``attrs`` holds
            JSON values only: ``source``, ``partial``, ``total_count`` (the total count of the
            connection, or None), ``completeness`` (a text that begins with ``complete``, ``more``
            or ``unknown``, followed by the evidence: a flag or a count beside the list, a size in
            the query that is reached, the report of all pages), ``all_rows`` (only where there are
            more rows, so that the frame is ``partial``: their number, or None without a count),
            ``dropped`` (the number of null edges, nodes and objects, which
            have no row; a null in a list of scalars is a row with a missing value) and ``beside``,
            a mapping of the values selected beside the list, by dotted name
            (``"search.repositoryCount"``); and :attr:`notes` if there are any.

        Raises
        ------
        FrameError
            If `path` leads to no list, or `path` is needed; the message lists the paths. If a
            value does not fit its column; the message names column and row.

        Notes
        -----
        If the schema of the endpoint is not known, the client fetches it now, once. Without a
        schema, dtypes are inferred, with one warning per source. Errors beside the data cause one
        warning and set ``attrs["partial"]``; :meth:`errors_frame` lists them. Fields that the
        stand-in for GitHub has no data for cause one warning, too.
        """
        options = RowOptions(path, short, explode, strict)
        return self._load_answer(path).build_frame(options, nullable=nullable)

    to_pandas = frame

    @property
    def df(self) -> pd.DataFrame:
        """The frame of the only list, as by :meth:`frame` without arguments."""
        return self.frame()

    @cached_property  # writes to __dict__, which a frozen dataclass allows
    def frames(self) -> Frames:
        """A tidy DataFrame for each list level, by dotted name or a path as of :meth:`frame`.

        Lists are not kept in cells: each has its own frame, which begins with the keys of the rows
        that contain it. A key is ``<list>.id`` if a non-null ``id`` is selected for all of these
        rows, else ``<list>_index``, the row number in that list's frame; so too, with a warning, if
        an id occurs twice in a list. An answer without lists has one frame, ``"data"``. Frames are
        read on first access; an error in one does not affect the others.
        """
        return self.tables()

    def tables(self, *, strict: bool = True, quiet: bool = False) -> Frames:
        """Return the tidy frames like :attr:`frames`, with options.

        Parameters
        ----------
        strict
            Whether a value that does not fit its column is an error; otherwise the column keeps
            all its values unchanged.
        quiet
            Whether to suppress warnings.

        Returns
        -------
        Frames
            A mapping of names to DataFrames, each read on first access.
        """
        return self._load_answer().build_frames(strict=strict, quiet=quiet)

    def dicts(self, path: str | None = None) -> list[Any]:
        """Return the rows of a list as mappings.

        Parameters
        ----------
        path
            The list, as for :meth:`frame`. If None and there is not exactly one list that is not
            inside another, the data are the only row.

        Returns
        -------
        list
            The rows unchanged, without null objects; null items of lists of scalars included.

        Raises
        ------
        FrameError
            If `path` leads to no list; the message lists the paths.
        """
        shape = get_shape(self) or infer_shape(self.data)
        root = get_read_plan(shape).root
        is_whole = path is None and len(root.inner_tables) != 1
        return list_rows(self.data, root if is_whole else choose_table(shape, self, path))

    @overload
    def models(self, model: None = None) -> Any: ...  # noqa: ANN401 - of a class that is made now
    @overload
    def models(self, model: type[Model]) -> Model: ...

    def models(self, model: type[Model] | None = None) -> Any:
        """Return the data as an object, with a class for each selection set.

        The classes are frozen Structs of msgspec, named after operation, fields and fragments, with
        an attribute for each field: a scalar is of the Python type in frames (``datetime``,
        ``Decimal``), a nullable field or one that is selected under a condition may be None. Where
        fragments select fields of some types of a union or an interface and ``__typename`` is
        selected, each type has its own class; without ``__typename`` one class has all fields.

        Parameters
        ----------
        model
            A class of pydantic or msgspec that the data fit, such as one that ariadne-codegen has
            written, which type checkers and pickle know; None to make the classes from schema and
            document.

        Returns
        -------
        object
            An instance of the class of the operation, such as ``result.models().viewer.login``.

        Raises
        ------
        PartialError
            If the answer has errors and no data.
        AnswerError
            If a value does not fit its class; the message has its path.
        SchemaError
            If the schema is not known, without `model`.

        Warns
        -----
        UserWarning
            Once, if there are errors beside the data: the fields that failed are None.

        Examples
        --------
        >>> import gqlnb
        >>> schema = gqlnb.Schema("type Query { book: Book } type Book { title: String }")
        >>> root = {"book": {"title": "Emma"}}
        >>> schema.execute("query Shop { book { title } }", root=root).models().book
        ShopBook(title='Emma')
        """
        from gqlnb.result.models import build_model, convert_data, has_decimals

        if model is None or has_decimals(model):
            self._load_schema()
        if self.data is None:
            self.raise_for_errors()
        doubts = {PARTIAL: describe_partial_answer(self.errors)} if self.errors else {}
        _warn_once(self, {**doubts, **find_missing_data(self.notes)})
        if model is None:
            model = build_model(self.document, get_shape(self), self.variables)
        return convert_data(copy_with_decimals(self), model)

    def to_arrow(
        self,
        path: str | None = None,
        *,
        short: bool = False,
        explode: str | None = None,
        strict: bool = True,
    ) -> pa.Table:
        """Return the answer as a ``pyarrow.Table``.

        Parameters
        ----------
        path, short, explode, strict
            The list to read, whether to shorten column names, a list in its rows to unfold, and
            whether a value that does not fit its column is an error; :meth:`frame` has details.

        Returns
        -------
        pyarrow.Table
            Lists in the rows are Arrow lists. JSON values, and values of unknown scalars that are
            not all of one kind, are JSON text, but strings remain as they are. ``to_pandas()`` of
            the table has the dtypes of :meth:`frame`, but Python's dates, and text for JSON.

        Raises
        ------
        FrameError
            If `path` leads to no list, or `path` is needed; if a value does not fit its column.
        """
        return self._load_answer(path).build_table(RowOptions(path, short, explode, strict))

    arrow = to_arrow

    def to_polars(
        self,
        path: str | None = None,
        *,
        short: bool = False,
        explode: str | None = None,
        strict: bool = True,
    ) -> pl.DataFrame:
        """Return the answer as a Polars DataFrame, with the types of :meth:`to_arrow`.

        Parameters
        ----------
        path, short, explode, strict
            The list to read, whether to shorten column names, a list in its rows to unfold, and
            whether a value that does not fit its column is an error; :meth:`frame` has details.

        Returns
        -------
        polars.DataFrame
            An enum is a Categorical.

        Raises
        ------
        FrameError
            If `path` leads to no list, or `path` is needed; if a value does not fit its column.
        MissingExtraError
            If Polars is not installed.
        """
        polars = import_optional("polars", "polars", "return Polars frames")
        table = self.to_arrow(path, short=short, explode=explode, strict=strict)
        frame: pl.DataFrame = polars.from_arrow(table)
        return frame

    def to_duckdb(
        self,
        connection: DuckDBPyConnection,
        name: str,
        path: str | None = None,
        *,
        short: bool = False,
        explode: str | None = None,
        strict: bool = True,
    ) -> DuckDBPyRelation:
        """Register the answer as a view of a DuckDB connection, to query it in SQL.

        Parameters
        ----------
        connection
            The connection, such as ``duckdb.connect()``.
        name
            The name of the view; a view of that name is replaced.
        path, short, explode, strict
            The list to read, whether to shorten column names, a list in its rows to unfold, and
            whether a value that does not fit its column is an error; :meth:`frame` has details.

        Returns
        -------
        duckdb.DuckDBPyRelation
            The view.

        Raises
        ------
        FrameError
            If `path` leads to no list, or `path` is needed; if a value does not fit its column.

        Notes
        -----
        DuckDB also finds a result by the name of its variable:
        ``duckdb.sql("select name from result")``.

        Examples
        --------
        >>> import duckdb, gqlnb
        >>> schema = gqlnb.Schema("type Query { books: [Book] } type Book { pages: Int }")
        >>> result = schema.execute("{ books { pages } }", root={"books": [{"pages": 474}]})
        >>> connection = duckdb.connect()
        >>> result.to_duckdb(connection, "books").fetchall()
        [(474,)]
        >>> connection.sql("select max(pages) from books").fetchall()
        [(474,)]
        """
        connection.register(name, self.to_arrow(path, short=short, explode=explode, strict=strict))
        return connection.view(name)

    def to_parquet(
        self,
        file: str | PathLike[str] | IO[bytes],
        path: str | None = None,
        *,
        short: bool = False,
        explode: str | None = None,
        strict: bool = True,
        **options: Any,  # noqa: ANN401 - of a function of another library
    ) -> None:
        """Write the answer as Parquet, with the types of :meth:`to_arrow`.

        Unlike ``frame().to_parquet()``, JSON objects with different keys are not merged into one
        struct type.

        Parameters
        ----------
        file
            A path, or a file open for bytes.
        path, short, explode, strict
            The list to read, whether to shorten column names, a list in its rows to unfold, and
            whether a value that does not fit its column is an error; :meth:`frame` has details.
        **options
            Passed to ``pyarrow.parquet.write_table``: ``compression``, ...

        Raises
        ------
        FrameError
            If `path` leads to no list, or `path` is needed; if a value does not fit its column.

        Notes
        -----
        ``pandas.read_parquet`` restores the dtypes of the frame, and its ``attrs``, except for
        types that Parquet does not have. JSON values, values of unknown scalars in columns of
        objects, times with a zone, durations without a fixed length, and decimals of more than 38
        digits (18 of them after the point) are text. Integers beyond 64 bits are ``Decimal``. Lists
        are NumPy arrays, with timestamps in UTC but without a zone. Without rows, enums have no
        categories.
        """
        rows = RowOptions(path, short, explode, strict)
        self._load_answer(path).write_parquet(file, rows, options)

    def to_csv(
        self,
        file: str | PathLike[str] | IO[str] | None = None,
        path: str | None = None,
        *,
        short: bool = False,
        explode: str | None = None,
        strict: bool = True,
        **options: Any,  # noqa: ANN401 - of a function of another library
    ) -> str | None:
        """Write the answer as CSV, with lists and JSON values as JSON.

        Parameters
        ----------
        file
            A path, or a file open for text; None to return the text.
        path, short, explode, strict
            The list to read, whether to shorten column names, a list in its rows to unfold, and
            whether a value that does not fit its column is an error; :meth:`frame` has details.
        **options
            Passed to ``pandas.DataFrame.to_csv``; ``index`` is False by default.

        Returns
        -------
        str or None
            The text, if `file` is None.

        Raises
        ------
        FrameError
            If `path` leads to no list, or `path` is needed; if a value does not fit its column.
        """
        rows = RowOptions(path, short, explode, strict)
        return self._load_answer(path).write_csv(file, rows, options)

    def to_excel(
        self,
        file: str | PathLike[str] | IO[bytes],
        path: str | None = None,
        *,
        short: bool = False,
        explode: str | None = None,
        strict: bool = True,
    ) -> None:
        """Write the answer as an Excel workbook, with a sheet for each list.

        Parameters
        ----------
        file
            A path, or a file open for bytes.
        path, short, explode, strict
            The list for a single sheet, whether to shorten column names, a list in its rows to
            unfold, and whether a value that does not fit its column is an error; :meth:`frame` has
            details. Without `path` and `explode` the sheets are the tables of :attr:`frames`.

        Raises
        ------
        FrameError
            If `path` leads to no list; if a value does not fit its column; if there are more rows
            or longer texts than Excel holds.
        MissingExtraError
            If openpyxl is not installed.

        Notes
        -----
        Times are in UTC, for Excel has no time zones; lists and JSON values are JSON text. A column
        with a number of more than 15 digits or a day before March 1900 is text, since Excel would
        change its values. Text that begins with ``=`` stays text.
        """
        self._load_answer(path).write_excel(file, RowOptions(path, short, explode, strict))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        import pyarrow as pa

        with advise_if_strict("Pass result.to_arrow(strict=False) instead of the result."):
            table = self.to_arrow()
        # Without rows the stream of a table has no batch, and so not the values of an enum.
        empty = pa.record_batch(
            [column.combine_chunks() for column in table.slice(0, 0).columns], table.schema
        )
        batches = table.to_batches() or [empty]
        reader = pa.RecordBatchReader.from_batches(table.schema, batches)
        return reader.__arrow_c_stream__(requested_schema)

    def __array__(self, *_: object, **__: object) -> object:
        # pandas.DataFrame(result) and plotly make an array of anything that is not a frame: of the
        # rows as in JSON, with large integers beside null as floats, and times as text.
        msg = (
            "A Result is neither a DataFrame nor an array. Pass its frame, result.df, which has "
            "the dtypes of the schema; list(result) has the rows as in JSON."
        )
        raise FrameError(msg)

    __dataframe__ = __array__  # plotly and Altair try it first, and hide later errors

    def errors_frame(self) -> pd.DataFrame:
        """Return the errors as a DataFrame.

        Returns
        -------
        DataFrame
            ``message``, dotted ``path``, ``frame`` and ``row`` (the list and the row in its frame
            with the error; missing if there is no such row, as when the error made it null),
            ``line`` and ``column``, ``code`` and ``type``, as the endpoint has them in the error
            or its extensions.
        """
        return self._load_answer(loads_schema=False).build_errors_frame(self.errors)

    def raise_for_errors(self) -> Result:
        """Raise if there are errors beside the data, or values that contradict the schema.

        If the schema of the endpoint is not known, the client fetches it now, once.

        Returns
        -------
        Result
            This result.

        Raises
        ------
        PartialError
            With this result as ``.result``; the exception of a resolver that ran in this process
            is its ``__cause__``.
        """
        self._load_schema()
        if not self.errors:
            return self
        lines = [
            f"{format_error(error)} ({place})" if place else format_error(error)
            for error, place in zip(self.errors[:ERRORS_SHOWN], self.selections, strict=False)
        ]
        left = len(self.errors) - ERRORS_SHOWN
        more = [f"... and {left} more."] if left > 0 else []
        head = f"The answer is partial: {format_count(len(self.errors), 'error')}."
        message = "\n  ".join([head, *lines, *more])
        cause = next((cause for cause in self.causes if cause is not None), None)
        raise PartialError(message, result=self) from cause

    @property
    def selections(self) -> tuple[str, ...]:
        """The location of each error's field, such as ``"cell line 3"``; empty if unknown."""
        if self._cell is None or self.document is None:
            return ("",) * len(self.errors)
        paths = [error.get("path") for error in self.errors]
        return tuple(self.document.locate_path(path, *self._cell) for path in paths)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of the endpoint on this answer, in ``extensions``, as sentences.

        Warnings as GitHub sends them, and the fields that the stand-in's data do not contain: a
        ``totalCount`` of 0 or an empty list then says nothing about a repository.
        """
        return list_notes(self.extensions)

    def preview(self, rows: int | None = None) -> Preview | None:
        """Return the first rows of an answer with one list of objects, for display.

        Parameters
        ----------
        rows
            The maximum number of rows; None for all.

        Returns
        -------
        (DataFrame, int, dict) or None
            ``frame``, the total number of ``rows``, and the values ``beside`` them; None if the
            answer does not have exactly one such list.

        Raises
        ------
        FrameError
            If a value does not fit its column.
        """
        frames = self.previews(rows)
        return next(iter(frames.values())) if len(frames) == 1 else None

    def previews(self, rows: int | None = None) -> dict[str, Preview]:
        """Return the first rows of each outermost list, for display.

        Parameters
        ----------
        rows
            The maximum number of rows of each list; None for all.

        Returns
        -------
        dict
            As of :meth:`preview`, by the name of the list; empty if there is none, or if the items
            of one are lists.

        Raises
        ------
        FrameError
            If a value does not fit its column.
        """
        return self._load_answer(loads_schema=False).build_previews(rows)

    def _load_schema(self) -> None:
        """Load the schema if it is not known and can be loaded."""
        if self._schema_loader is not None:
            typed = self._schema_loader(self)
            attach_schema_loader(self, None)  # not before: an interrupted load is repeated
            if typed is not None:
                self.__dict__["document"], self.__dict__["errors"] = typed.document, typed.errors
                keep_exact_bytes(self)

    def _load_answer(self, path: str | None = None, *, loads_schema: bool = True) -> AnswerFrames:
        """Return the data for frames, with aliases as a list if `path` asks for it."""
        from gqlnb.result.frames import AnswerFrames  # loads pandas

        if loads_schema:
            self._load_schema()
        shape, forms = get_shape(self), self._forms or NO_FORMS
        # As bytes, if the shape is known and they came as bytes.
        source = None if shape is None else self._lazy_data
        shape = shape or infer_shape(self.data)
        answer = AnswerFrames(self, shape, source, forms, self._mark_frame)
        answer.infers = self._forms is None  # not a page, whose next ones may have other values
        if isinstance(path, str) and ALIASES in path:
            return answer.combine_aliases(copy_with_decimals(self), path)
        return answer

    def _mark_frame(
        self,
        answer: AnswerData,
        path: str | None,
        attrs: Mapping[Any, object],
        *,
        quiet: bool = False,
    ) -> dict[Any, object]:
        """Return the ``attrs`` of the frame at `path`; warn once about facts it does not show."""
        if answer.source is None and answer.row_count >= MIN_BATCH_ROWS and self.document:
            self.document.note_reading(columns=True)
        report = self.report
        if report is not None and report.left_out:  # of other lists than the one at `path`
            report = report.narrow_to(choose_table(answer.shape, answer.holder, path).name)
        marks = self._build_marks(report)
        if quiet:
            return {**marks, **attrs}
        warnings = {**answer.remarks, **find_missing_data(self.notes)}
        for name in sorted(answer.inferred.keys() - _warned_scalars.setdefault(self.source, set())):
            _warned_scalars[self.source].add(name)
            warnings[name] = describe_scalar_dtype(name, answer.inferred[name])
        if self.errors:
            lacks_data = answer.read_outline() is None
            warnings[PARTIAL] = describe_partial_answer(self.errors, lacks_data=lacks_data)
        if report is not None and report.warning is not None:
            warnings[INCOMPLETE] = report.warning
        for name in sorted(answer.renumbered):
            warnings[name] = describe_row_keys(name)
        _warn_once(self, warnings)
        message = describe_inference(self.source, self.document)
        if message and message not in _given_messages:
            _given_messages.add(message)
            warn_caller(message)
        return {**marks, **attrs}

    def _build_marks(self, report: Report | None) -> dict[str, object]:
        """Return the ``attrs`` that a frame has from its result, with a report narrowed to it."""
        partial = bool(self.errors) or (report is not None and not report.complete)
        marks: dict[str, object] = {"source": self.source, "partial": partial}
        if notes := self.notes:
            marks["notes"] = list(notes)
        cached_at = getattr(self.response, "cached_at", None)
        if report is not None:
            marks["report"], cached_at = report.to_dict(), report.cached_at
            marks["completeness"] = report.verdict
        if cached_at is not None:  # seconds since the epoch, of the oldest remembered answer
            marks["cached_at"] = cached_at
        return marks

    def __repr__(self) -> str:
        return render_text(self)

    def _repr_mimebundle_(self, **_: object) -> Bundle:
        return render_bundle(self)

    def _mime_(self) -> tuple[str, str]:
        """Return the HTML for marimo, with the padding of cells that its style sheet removes."""
        style = "<style>.gqlnb :is(td, th) { padding: 3px 8px; }</style>"
        return "text/html", style + render_bundle(self)[0]["text/html"]


# -- for the modules that create results


class PartialError(GqlnbError):
    """Some fields failed; the data of the other fields is in ``.result.data``.

    It stands here and not among the other errors, which are below results in the layers.

    Examples
    --------
    >>> schema = gqlnb.Schema("type Query { a: Int b: Int }", {"Query": {"b": lambda *_: 1 / 0}})
    >>> try:
    ...     schema.execute("{ a b }", root={"a": 1}).raise_for_errors()
    ... except gqlnb.PartialError as error:
    ...     print(error.result.data)
    {'a': 1, 'b': None}
    """

    result: Result


def build_data_result(
    data: object, document: Document, source: str, variables: Mapping[str, Any] | None = None
) -> Result:
    """Return the result of an execution without errors."""
    # A third of the time of the constructor of a frozen dataclass: it counts for `{ hello }`.
    result = Result.__new__(Result)
    members = result.__dict__
    members["data"] = data
    members["extensions"] = _NOTHING
    members["document"] = document
    members["source"] = source
    members["variables"] = variables
    return result


def read_list(result: Result, path: str | None) -> tuple[dict[str, FrameColumn], dict[str, bool]]:
    """Return the columns of a list, and whether their values may be missing; without warnings."""
    return result._load_answer().read_list(path)


def get_shape(result: Result) -> Shape | None:
    """Return the shape of the answer; None if no schema is known."""
    return build_shape(result.document, result.variables) if result.document is not None else None


def locate_in_cell(result: Result, lines: int, place: str, own: int | None = None) -> Result:
    """Locate the fields of a result's errors by lines of a notebook cell, and return it."""
    # `lines` of the cell are above the text, `place` is the word before a line number, and `own`
    # the number of lines of the text in the cell, before saved fragments; None for all.
    result.__dict__["_cell"] = lines, place, own
    return result


def attach_lazy_data(result: Result, lazy_data: DataSource) -> Result:
    """Attach data that are decoded on first access to a new result, and return it."""
    result.__dict__.pop("data", None)
    result.__dict__["_lazy_data"] = lazy_data
    return result


def release_data(result: Result, body: bytes, checked: CheckedDecoder) -> None:
    """Let a new result keep the bytes that a decoder has accepted, until its data are accessed."""
    # Notebooks may keep thousands of smaller ones, and larger ones are mostly text.
    if SMALL_BODY <= len(body) < LARGE_BODY and not has_exact_scalars(checked.shape):
        attach_lazy_data(result, CheckedData(body, result.data, checked.decode_members))


def add_errors(result: Result, errors: Iterable[Mapping[str, Any]]) -> None:
    """Add errors to those of a new result."""
    result.__dict__["errors"] = (*result.errors, *errors)


def collect_members(result: Result) -> dict[str, Any]:
    """Return the members of a response with a result: data, errors, extensions."""
    members: dict[str, Any] = {"data": result.data}
    if result.errors:
        members["errors"] = list(result.errors)
    if result.extensions:
        members["extensions"] = dict(result.extensions)
    return members


def get_columns(result: Result) -> ColumnData | None:
    """Return the data of a result as columns; None if they are not."""
    data = result._lazy_data
    return data if isinstance(data, ColumnData) else None


def attach_forms(result: Result, forms: ScalarForms) -> Result:
    """Attach the forms of scalars seen so far to the result of a page, and return it."""
    result.__dict__["_forms"] = forms
    return result


def keep_crawler(result: Result, crawler: object) -> Result:
    """Attach the crawler that can continue paging to a result, and return it."""
    result.__dict__["_crawler"] = crawler
    return result


def attach_schema_loader(result: Result, loader: SchemaLoader | None) -> Result:
    """Attach a loader for the schema to a result, for its first frame; None detaches it."""
    # It is called once, and returns the result with the schema, or None if there is none.
    result.__dict__["_schema_loader"] = loader
    return result


def finish_pages(last: Result, merged: Result) -> Result:
    """Return the merged result of all pages, after giving its report to the last page."""
    # Only an empty page after it may show that a page was the last one. Warnings given for the one
    # are not given again for the other.
    last.__dict__["report"] = merged.report
    merged.__dict__["_given_warnings"] = last.__dict__.setdefault("_given_warnings", set())
    return merged


def warn_incomplete(result: Result) -> Result:
    """Return a result of paging; warn once if its completeness is not proved."""
    if result.report is not None and result.report.warning is not None:
        _warn_once(result, {INCOMPLETE: result.report.warning})
    return result


def _warn_once(result: Result, messages: Mapping[str, str]) -> None:
    """Give the warnings that were not given for a result yet, by their marks."""
    given: set[str] = result.__dict__.setdefault("_given_warnings", set())
    for mark, message in messages.items():
        if mark not in given:
            given.add(mark)
            warn_caller(message)


# -- numbers whose digits a float does not hold


def keep_exact_bytes(result: Result) -> None:
    """Let frames be read from the bytes, if numbers in the data may not be exact."""
    # JSON numbers of decimal scalars are floats in the data, as everywhere in Python.
    body, shape = _get_body(result), None
    if body and result._lazy_data is None:
        shape = get_shape(result)
    if shape is not None and has_exact_scalars(shape):
        data = result.data
        envelope = decode_envelope(body, shape)
        envelope.make_data = lambda: data
        attach_lazy_data(result, envelope)


def _get_body(result: Result) -> bytes:
    """Return the bytes of a result; empty if it holds values of this process."""
    body: bytes = getattr(result._lazy_data, "body", b"")
    if not body and getattr(result.response, "members", None) is None:
        body = strip_bom(getattr(result.response, "body", b""))
    return body


def restore_decimals(result: Result) -> bool:
    """Put exact decimals in place of floats in the data of a result; return whether any were."""
    shape = get_shape(result)
    if shape is None or not decoder.has_exact_scalars(shape):
        return False
    return decoder.restore_decimals(result.data, shape, _get_body(result))


def copy_with_decimals(result: Result) -> JSON:
    """Return the data of a result with exact decimals, in a copy unless they hold none."""
    if isinstance(result._lazy_data, decoder.DecimalData):
        return result._lazy_data.outline
    shape, body = get_shape(result), _get_body(result)
    if not body or shape is None or not decoder.has_exact_scalars(shape):
        return result.data
    data = decoder.remove_decimals(result.data, shape)
    decoder.restore_decimals(data, shape, body)
    return data


def hide_decimals(result: Result) -> Result:
    """Return a result with floats in its data and decimals in its frames, given decimals."""
    shape = get_shape(result)
    return result if shape is None else attach_lazy_data(result, DecimalData(result.data, shape))
