"""Star searches as people write them, ``>1000 language:python``, and as GitHub reads them."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, SupportsIndex

from gqlnb.errors import QueryError, plain
from gqlnb.github.qualifiers import NAMES, cut, is_qualifier
from gqlnb.github.search import KEYS, parse

__all__ = ["StarQuery", "read", "typed"]

FORMS = "'>N', '>=N', 'N..M', 'N'"
# Fifteen digits: more stars than there will be, and a number every JSON reader keeps exact.
_COUNT = r"\d{1,3}(?:,\d{3}){1,4}|\d{1,3}(?:_\d{3}){1,4}|\d{1,15}"
_TERM = re.compile(
    rf"""
    (?P<threshold> (?:stars:)? (?:
        (?P<sign> >=? ) \s* (?P<number> {_COUNT} )
        | (?P<low> {_COUNT} ) \s* \.\. \s* (?P<high> {_COUNT} )
        | (?P<exact> {_COUNT} )
    ) (?= \s | $ ) )
    | (?P<term> (?: [^\s"] | "[^"]*"? )+ )
    """,
    re.VERBOSE | re.ASCII | re.IGNORECASE,
)
_NUMERIC = re.compile(r"(?=.*[\d<>])[<>=.,_*\d-]+", re.ASCII)  # meant as a threshold, and none
_NAMED = re.compile(r"-?(?P<name>[a-z][a-z.-]*):(?P<value>.*)", re.IGNORECASE | re.DOTALL)
_ALONE = re.compile(rf"\s*(?:{_COUNT})(?=\s|$)", re.ASCII)
_ORDERS = tuple(f"sort:{key}{way}" for key in KEYS for way in ("", "-asc"))


@dataclass(frozen=True, slots=True)
class StarQuery:
    """What a star search asks for; ``str()`` of it is read as the same again.

    Attributes
    ----------
    threshold
        What stands behind ``stars:``, in stars: ``">N"``, ``">=N"``, ``"N..M"`` or ``"N"``; empty
        if other terms decide.
    also
        All other terms, a space between them.
    order
        What stands behind ``sort:``: ``"stars"``, ``"forks"`` or ``"updated"``, also with
        ``"-asc"``; empty for the endpoint's own order.
    """

    threshold: str
    also: str = ""
    order: str = ""

    @property
    def search(self) -> str:
        """The search expression, as GitHub and the stand-in read it."""
        return self._joined("stars:")

    def __str__(self) -> str:
        return self._joined("")

    def _joined(self, before: str) -> str:
        stars = f"{before}{self.threshold}" if self.threshold else ""
        order = f"sort:{self.order}" if self.order else ""
        return " ".join(filter(None, (stars, self.also, order)))


def read(query: SupportsIndex | str | StarQuery) -> StarQuery:
    """Read a star search.

    Parameters
    ----------
    query
        A whole number N, which means ``">N"``; or text: a threshold, ``">N"``, ``">=N"``,
        ``"N..M"`` or ``"N"``, beside any terms of :mod:`gqlnb.github.search`, such as
        ``language:python created:>2024 -user:google sort:forks``, in any order. ``stars:`` may
        stand before the threshold, and terms may stand without one. N and M are in stars, at most
        15 digits, ``0 <= N <= M``; thousands may be grouped by commas or by underscores. A number
        that is no threshold but part of a name stands in quotes.

    Returns
    -------
    StarQuery
        Numbers without signs between thousands, single spaces between terms, the order last.

    Raises
    ------
    QueryError
        If a term cannot be read, if there are two thresholds, or neither a threshold nor a
        qualifier; the message shows what, and what to write.

    Notes
    -----
    Source: GitHub documentation, "Understanding the search syntax", numeric qualifiers.

    Examples
    --------
    >>> str(read(1000))
    '>1000'
    >>> read("language:python  >= 20,000").search
    'stars:>=20000 language:python'
    """
    if isinstance(query, StarQuery):
        return query
    reading = _Reading(query, query if isinstance(query, str) else _above(query))
    for match in _TERM.finditer(reading.text):
        if match["threshold"]:
            reading.take(_threshold(match))
        else:
            reading.term(match["term"])
    return reading.query()


def typed(text: str) -> str:
    """Return a star search as it is typed in a shell or behind a magic, where all is text.

    There a number without a sign means what a number means in Python: above it.

    Examples
    --------
    >>> typed("1000 language:python")
    '>1000 language:python'
    """
    return f">{text.strip()}" if _ALONE.match(text) else text


class _Reading:
    """What has been read of a text.

    Parameters
    ----------
    given
        What the caller gave, for messages.
    text
        The text it means.
    """

    def __init__(self, given: object, text: str) -> None:
        self.text = text
        self._given = given
        self._threshold = ""
        self._counted = False
        self._terms: list[str] = []
        self._order = ""

    def take(self, threshold: str) -> None:
        """Read a threshold."""
        self._single()
        self._threshold = threshold

    def term(self, text: str) -> None:
        """Read another term."""
        if _NUMERIC.fullmatch(text):
            self._single()
            raise self._unreadable(self._given if text == self.text.strip() else text)
        named = _NAMED.fullmatch(text)
        name = named["name"].lower() if named else ""
        if name == "sort" and text[0] != "-" and named is not None:
            self._order = _order(named["value"], text)
            return
        if name == "stars" and text[0] != "-":
            self._single()
        elif name and not is_qualifier(name):
            _refuse_misspelt(name, text)
        self._terms.append(text)

    def query(self) -> StarQuery:
        """Return all of it."""
        found = StarQuery(self._threshold, " ".join(self._terms), self._order)
        if not parse(found.search).clauses:
            raise self._unreadable(self._given)
        return found

    def _single(self) -> None:
        """Note a threshold, and refuse a second one."""
        if self._counted:
            msg = (
                f"Star search {cut(self.text)} has two thresholds. Write one, such as '>1000' or "
                "'1000..5000'; thousands as 1000 or 1,000, and a number of a name in quotes."
            )
            raise QueryError(msg)
        self._counted = True

    @staticmethod
    def _unreadable(what: object) -> QueryError:
        return QueryError(
            f"Star threshold {plain(repr(what), 80)} is none of {FORMS}, with N and M whole "
            "numbers of stars. Write for example '>1000'."
        )


def _above(query: Any) -> str:
    """Return the threshold that a number means, and text that is none for anything else."""
    try:
        return "" if isinstance(query, bool) else f">{operator.index(query)}"
    except TypeError:
        return ""


def _threshold(match: re.Match[str]) -> str:
    """Return a threshold as GitHub writes it."""
    if match["low"] is None:
        return f"{match['sign'] or ''}{_count(match['number'] or match['exact'])}"
    low, high = _count(match["low"]), _count(match["high"])
    if low > high:
        msg = (
            f"Star threshold {cut(match['threshold'])} begins above its end. "
            f"Write '{high}..{low}', or one of {FORMS}."
        )
        raise QueryError(msg)
    return f"{low}..{high}"


def _count(text: str) -> int:
    return int(text.replace(",", "").replace("_", ""))


def _order(value: str, text: str) -> str:
    """Return an order as ``sort:`` writes it, the usual direction without a word."""
    order = value.strip('"').lower().removesuffix("-desc")
    if f"sort:{order}" not in _ORDERS:
        msg = f"Search term {cut(text)} is no order. Write one of {', '.join(_ORDERS)}."
        raise QueryError(msg)
    return order


def _refuse_misspelt(name: str, text: str) -> None:
    """Refuse what looks like a qualifier that was meant; GitHub would take it for a word."""
    begun = [known for known in sorted(NAMES) if len(name) > 2 and known.startswith(name)]
    near = get_close_matches(name, NAMES, 1, 0.75) or begun[:1]
    if near:
        msg = (
            f"Search term {cut(text)} is no qualifier. Did you mean {near[0] + ':'!r}? "
            "Put it in quotes if it is text."
        )
        raise QueryError(msg)
