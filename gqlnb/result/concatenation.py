"""Concatenation of frames, with the dtypes that their values show."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any

from gqlnb.errors import FrameError, sanitize_text
from gqlnb.option_checks import explain_keywords
from gqlnb.result.list_verdicts import Verdict, choose_weakest

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from gqlnb.result.column_builder import PandasDtype


@explain_keywords
def concat(frames: Iterable[pd.DataFrame], *, ignore_index: bool = True) -> pd.DataFrame:
    """Concatenate frames of several answers or pages, and keep their dtypes.

    ``pandas.concat`` makes objects of a column whose dtypes differ, also where the dtype of a frame
    without any value is a guess: a column of PostGraphile's ``Datetime`` is in UTC until a value
    shows that it has no time zone. It makes objects of enums too, if one frame has a value that
    the schema does not know.

    Parameters
    ----------
    frames
        The frames, such as ``[page.frame() for page in client.pages(text)]``; at least one.
    ignore_index
        Whether to number the rows anew.

    Returns
    -------
    DataFrame
        The rows in order. A column has the dtype of the frames in which it has values, if they
        agree, and the categories of all frames. ``attrs`` are those that all frames have in
        common; ``partial`` is True if one of them is.

    Raises
    ------
    FrameError
        If `frames` is empty, one of them is not a DataFrame, or has two columns of one name.

    Examples
    --------
    >>> import pandas as pd
    >>> empty = pd.DataFrame({"at": pd.Series([], dtype="datetime64[us, UTC]")})
    >>> rows = pd.DataFrame({"at": pd.Series(["2026-01-02"], dtype="datetime64[us]")})
    >>> concat([empty, rows]).dtypes["at"]
    dtype('<M8[us]')
    """
    import pandas as pd

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
    import pandas as pd

    filled = [column for column in columns if column.notna().any()]
    # The dtype of a column without values may be a guess: it counts if there is no other.
    dtypes: list[Any] = list(dict.fromkeys(column.dtype for column in filled or columns))
    if all(isinstance(dtype, pd.CategoricalDtype) for dtype in dtypes):
        names = dict.fromkeys(chain.from_iterable(dtype.categories for dtype in dtypes))
        return pd.CategoricalDtype(list(names), ordered=all(dtype.ordered for dtype in dtypes))
    return dtypes[0] if len(dtypes) == 1 else None


def _convert(column: pd.Series[Any], dtype: PandasDtype) -> pd.Series[Any]:
    """Return a column of nulls, or of categories, in another dtype."""
    import pandas as pd

    if isinstance(dtype, pd.CategoricalDtype) and isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.set_categories(dtype.categories, ordered=bool(dtype.ordered))
    try:
        return pd.Series([None] * len(column), index=column.index, dtype=dtype)
    except (TypeError, ValueError):  # NumPy's integers and Booleans have no null
        return column
