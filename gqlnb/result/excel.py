"""Excel workbooks: a sheet for each table, with values that Excel's cells can hold."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pandas as pd

from gqlnb.document.json_codec import dump_json
from gqlnb.document.scalar_values import is_missing
from gqlnb.errors import FrameError
from gqlnb.optional_imports import import_optional

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

# Microsoft, "Excel specifications and limits".
MAX_ROWS, MAX_TEXT, MAX_DIGITS, MAX_SHEET_NAME = 1_048_576, 32_767, 15, 31
MIN_NUMBER, MAX_NUMBER = 2.2251e-308, 9.99999999999999e307  # beside 0
FIRST_DAY = datetime(1900, 3, 1)  # Excel counts a 29 February 1900 before it
CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # not in XML
CELL_TYPES = (int, float, Decimal, date, time, timedelta)  # and text, of those that columns hold
ERROR_WORDS = {"#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A"}


def write_workbook(
    frames: Mapping[str, pd.DataFrame], file: str | PathLike[str] | IO[bytes]
) -> None:
    """Write frames as the sheets of a workbook.

    Parameters
    ----------
    frames
        The frames by the name of their sheet, which is cut to 31 characters.
    file
        A path, or a file open for bytes.

    Raises
    ------
    FrameError
        If Excel has too few rows, or a cell too few characters.
    MissingExtraError
        If openpyxl is not installed.
    """
    # openpyxl instead of DataFrame.to_excel: that refuses times with a zone, executes text that
    # begins with "=" as a formula, and cuts long texts and numbers without a word.
    openpyxl = import_optional("openpyxl", "openpyxl", "write Excel files")
    book = openpyxl.Workbook(write_only=True)
    for (name, frame), title in zip(frames.items(), choose_titles(frames), strict=True):
        if len(frame) >= MAX_ROWS:
            msg = (
                f"{name!r} has {len(frame):,} rows, and a sheet of Excel holds {MAX_ROWS - 1:,}. "
                "Write Parquet or CSV."
            )
            raise FrameError(msg)
        sheet = book.create_sheet(title)
        sheet.freeze_panes = "A2"
        columns = [convert_values(column, f"{name}.{key}") for key, column in frame.items()]
        make = partial(openpyxl.cell.WriteOnlyCell, sheet)
        sheet.append([make_cell(make, str(key)) for key in frame.columns])
        for row in zip(*columns, strict=True):
            sheet.append([make_cell(make, value) for value in row])
    # Written at once: a failure within openpyxl leaves no half of a file.
    content = BytesIO()
    book.save(content)
    if isinstance(file, (str, PathLike)):
        Path(file).write_bytes(content.getvalue())
    else:
        file.write(content.getvalue())


def choose_titles(names: Iterable[str]) -> list[str]:
    """Return a title for each sheet; Excel's are short, and differ in more than case."""
    titles: dict[str, str] = {}
    for name in names:
        title, number = name[:MAX_SHEET_NAME], 1
        while title.casefold() in titles:
            number += 1
            title = f"{name[: MAX_SHEET_NAME - len(str(number)) - 1]}~{number}"
        titles[title.casefold()] = title
    return list(titles.values())


def make_cell(make: Callable[[str], Any], value: object) -> object:
    """Return a cell, made as text if its value looks like a formula or an error."""
    if isinstance(value, str) and (value.startswith("=") or value in ERROR_WORDS):
        cell = make(value)
        cell.data_type = "s"
        return cell
    return value


def convert_values(column: pd.Series[Any], name: str) -> list[object]:
    """Return the values of a column as Excel has them.

    Times are in UTC, lists and JSON values are JSON text. A column with a number of more than 15
    digits or a day before March 1900 is text, since Excel would change them.

    Raises
    ------
    FrameError
        If a text is too long.
    """
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    values = [None if is_missing(value) else convert_value(value) for value in column.tolist()]
    if any(not fits_excel(value) for value in values):
        values = [None if value is None else format_value(value) for value in values]
    longest = max((len(value) for value in values if isinstance(value, str)), default=0)
    if longest > MAX_TEXT:
        msg = (
            f"{name!r} has a text of {longest:,} characters, and a cell of Excel holds "
            f"{MAX_TEXT:,}. Write Parquet or CSV, or leave the column out."
        )
        raise FrameError(msg)
    return values


def convert_value(value: object) -> object:
    """Return a value in a type that a cell has."""
    if isinstance(value, (dict, list)):
        value = dump_json(value).decode()
    if isinstance(value, str):
        return CONTROL_CHARACTERS.sub("\N{REPLACEMENT CHARACTER}", value)
    zone = value.tzinfo if isinstance(value, (datetime, time)) else None
    return value if isinstance(value, CELL_TYPES) and zone is None else str(value)


def fits_excel(value: object) -> bool:
    """Return whether Excel shows a value as it is."""
    if isinstance(value, int):
        return len(str(abs(value))) <= MAX_DIGITS
    if isinstance(value, Decimal) and len(value.as_tuple().digits) > MAX_DIGITS:
        return False
    if isinstance(value, (Decimal, float)):
        return value == 0 or MIN_NUMBER <= abs(float(value)) <= MAX_NUMBER
    return not (isinstance(value, datetime) and value < FIRST_DAY)


def format_value(value: object) -> str:
    """Return a value as text."""
    return value.isoformat(" ") if isinstance(value, datetime) else str(value)
