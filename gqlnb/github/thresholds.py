"""Star thresholds: what a person writes, and what a search takes."""

from __future__ import annotations

import operator
import re
from typing import Any, SupportsIndex

from gqlnb.errors import QueryError, plain

__all__ = ["FORMS", "threshold"]

FORMS = "'>N', '>=N', 'N..M', 'N'"
# Fifteen digits: more stars than there will be, and a number every JSON reader keeps exact.
_COUNT = r"\d{1,3}(?:,\d{3}){1,4}|\d{1,3}(?:_\d{3}){1,4}|\d{1,15}"
_FORM = re.compile(
    rf"(?P<sign>>=?|)\s*(?P<number>{_COUNT})|(?P<low>{_COUNT})\s*\.\.\s*(?P<high>{_COUNT})",
    re.ASCII,
)


def threshold(query: SupportsIndex | str) -> str:
    """Read a star threshold and return it as GitHub's search writes it.

    Parameters
    ----------
    query
        A whole number N, which means ``">N"``; or ``">N"``, ``">=N"``, ``"N..M"``, ``"N"`` as
        text. N and M are in stars, at most 15 digits, ``0 <= N <= M``; thousands may be grouped
        by commas or by underscores.

    Returns
    -------
    str
        What stands behind ``stars:`` in a search expression.

    Raises
    ------
    QueryError
        If it is none of these forms; the message shows it and the forms.

    Notes
    -----
    Source: GitHub documentation, "Understanding the search syntax", numeric qualifiers.

    Examples
    --------
    >>> threshold(1000)
    '>1000'
    >>> threshold(">= 20,000")
    '>=20000'
    """
    text = query.strip() if isinstance(query, str) else _above(query)
    match = _FORM.fullmatch(text)
    if match is None:
        raise _unreadable(query)
    if match["number"] is not None:
        return f"{match['sign']}{_count(match['number'])}"
    low, high = _count(match["low"]), _count(match["high"])
    if low > high:
        msg = (
            f"Star threshold {plain(text, 80)!r} begins above its end. "
            f"Write '{high}..{low}', or one of {FORMS}."
        )
        raise QueryError(msg)
    return f"{low}..{high}"


def _above(query: Any) -> str:
    """Return the threshold that a number means, and text that is none for anything else."""
    try:
        return "" if isinstance(query, bool) else f">{operator.index(query)}"
    except TypeError:
        return ""


def _count(text: str) -> int:
    return int(text.replace(",", "").replace("_", ""))


def _unreadable(query: object) -> QueryError:
    return QueryError(
        f"Star threshold {plain(repr(query), 80)} is none of {FORMS}, with N and M whole numbers "
        "of stars. Write for example '>1000'."
    )
