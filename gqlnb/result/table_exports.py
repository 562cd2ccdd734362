"""Exports of an answer: tables of Arrow, Polars and DuckDB, Parquet, CSV and Excel files."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from gqlnb.errors import FrameError, advise_if_strict
from gqlnb.option_checks import explain_keywords
from gqlnb.optional_imports import import_optional

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl
    import pyarrow as pa
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

    from gqlnb.result.frames import FrameColumn, Frames


@explain_keywords
class TableExports:
    """The exports of a :class:`gqlnb.Result`; its method ``_read_columns`` provides the columns."""

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
            As for :meth:`frame`.

        Returns
        -------
        pyarrow.Table
            Lists in the rows are Arrow lists. JSON values, and values of unknown scalars that are
            not all of one kind, are JSON text, but strings remain as they are. ``to_pandas()`` of
            the table has the dtypes of :meth:`frame`, but Python's dates, and text for JSON.

        Raises
        ------
        FrameError
            As for :meth:`frame`.
        """
        return self._build_table(path, short=short, explode=explode, strict=strict)

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
            As for :meth:`frame`.

        Returns
        -------
        polars.DataFrame
            An enum is a Categorical.

        Raises
        ------
        FrameError
            As for :meth:`frame`.
        MissingExtraError
            If Polars is not installed.
        """
        polars = import_optional("polars", "polars", "return Polars frames")
        table = self._build_table(path, short=short, explode=explode, strict=strict)
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
            As for :meth:`frame`.

        Returns
        -------
        duckdb.DuckDBPyRelation
            The view.

        Raises
        ------
        FrameError
            As for :meth:`frame`.

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
        table = self._build_table(path, short=short, explode=explode, strict=strict)
        connection.register(name, table)
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
            As for :meth:`frame`.
        **options
            Passed to ``pyarrow.parquet.write_table``: ``compression``, ...

        Raises
        ------
        FrameError
            As for :meth:`frame`.

        Notes
        -----
        ``pandas.read_parquet`` restores the dtypes of the frame, and its ``attrs``, except for
        types that Parquet does not have. JSON values, values of unknown scalars in columns of
        objects, times with a zone, durations without a fixed length, and decimals of more than 38
        digits (18 of them after the point) are text. Integers beyond 64 bits are ``Decimal``. Lists
        are NumPy arrays, with timestamps in UTC but without a zone. Without rows, enums have no
        categories.
        """
        from pyarrow.parquet import write_table

        from gqlnb.result.frames import build_parquet_table, build_table

        columns, _, attrs = self._read_columns(path, short=short, explode=explode, strict=strict)
        write_table(build_parquet_table(build_table(columns), attrs), file, **options)

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
            As for :meth:`frame`.
        **options
            Passed to ``pandas.DataFrame.to_csv``; ``index`` is False by default.

        Returns
        -------
        str or None
            The text, if `file` is None.

        Raises
        ------
        FrameError
            As for :meth:`frame`.
        """
        from gqlnb.result.frames import assemble_frame

        columns, count, _ = self._read_columns(path, short=short, explode=explode, strict=strict)
        frame = assemble_frame({name: c.to_text_array() for name, c in columns.items()}, count)
        text: str | None = frame.to_csv(file, **{"index": False, **options})
        return text

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
            As for :meth:`frame`, for a single sheet. Without `path` and `explode` the sheets are
            the tables of :attr:`frames`.

        Raises
        ------
        FrameError
            As for :meth:`frame`; if there are more rows or longer texts than Excel holds.
        MissingExtraError
            If openpyxl is not installed.

        Notes
        -----
        Times are in UTC, for Excel has no time zones; lists and JSON values are JSON text. A column
        with a number of more than 15 digits or a day before March 1900 is text, since Excel would
        change its values. Text that begins with ``=`` stays text.
        """
        from gqlnb.result.excel import write_workbook
        from gqlnb.result.frames import assemble_frame, shorten_names

        if path is None and explode is None:
            sheets = dict(self.tables(strict=strict))
        else:
            columns, count, _ = self._read_columns(
                path, short=short, explode=explode, strict=strict
            )
            arrays = {name: column.to_pandas() for name, column in columns.items()}
            sheets = {path or "rows": assemble_frame(arrays, count)}
        if short:
            sheets = {
                name: frame.set_axis(shorten_names(list(frame.columns)), axis="columns")
                for name, frame in sheets.items()
            }
        write_workbook(sheets, file)

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

    def tables(self, *, strict: bool = True, quiet: bool = False) -> Frames:
        """Return the tidy frames of all lists."""
        raise NotImplementedError

    def _build_table(self, path: str | None, **options: Any) -> pa.Table:  # noqa: ANN401 - of several types
        from gqlnb.result.frames import build_table

        columns, _, _ = self._read_columns(path, **options)
        return build_table(columns)

    def _read_columns(
        self,
        path: str | None,
        **options: Any,  # noqa: ANN401 - of several types
    ) -> tuple[dict[str, FrameColumn], int, dict[Any, object]]:
        """Return the columns, the number of rows and the ``attrs`` of a frame."""
        raise NotImplementedError
