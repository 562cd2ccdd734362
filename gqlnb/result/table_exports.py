"""Exports of an answer: tables of Arrow, Polars and DuckDB, Parquet, CSV and Excel files."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from gqlnb.errors import advise_if_strict
from gqlnb.optional_imports import import_optional

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl
    import pyarrow as pa
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

    from gqlnb.result.frames import FrameColumn, Frames

__all__ = ["TableExports"]


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
            Lists in the rows are Arrow lists. JSON values, and values of unknown scalars, are JSON
            text, but strings remain as they are.

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
        ``pandas.read_parquet`` restores the dtypes of the frame, and its ``attrs``.
        """
        from pyarrow.parquet import write_table

        from gqlnb.result.frames import build_parquet_table

        columns, _, attrs = self._read_columns(path, 2, short=short, explode=explode, strict=strict)
        write_table(build_parquet_table(columns, attrs), file, **options)

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

        columns, count, _ = self._read_columns(path, 2, short=short, explode=explode, strict=strict)
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
                path, 2, short=short, explode=explode, strict=strict
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
        with advise_if_strict("Pass result.to_arrow(strict=False) instead of the result."):
            return self.to_arrow().__arrow_c_stream__(requested_schema)

    def tables(self, *, strict: bool = True, quiet: bool = False) -> Frames:
        """Return the tidy frames of all lists."""
        raise NotImplementedError

    def _build_table(self, path: str | None, **options: Any) -> pa.Table:  # noqa: ANN401 - of several types
        import pyarrow as pa

        columns, _, _ = self._read_columns(path, 3, **options)
        return pa.table({name: column.to_arrow() for name, column in columns.items()})

    def _read_columns(
        self,
        path: str | None,
        level: int,
        **options: Any,  # noqa: ANN401 - of several types
    ) -> tuple[dict[str, FrameColumn], int, dict[Any, object]]:
        """Return the columns, the number of rows and the ``attrs`` of a frame."""
        # `level` is the number of calls between this method and the user's line, for warnings.
        raise NotImplementedError
