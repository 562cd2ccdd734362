"""Concatenation of frames, with the dtypes that their values show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gqlnb.option_checks import explain_keywords

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd


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
    from gqlnb.result.event_frames import concat_frames  # loads pandas

    return concat_frames(frames, ignore_index=ignore_index)
