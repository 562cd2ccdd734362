"""Star searches as people write them, ``>1000 language:python``, and as GitHub reads them."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, SupportsIndex

from gqlnb.errors import QueryError, sanitize_text
from gqlnb.github.search_syntax import (
    QUALIFIER_NAMES,
    SORT_KEYS,
    is_qualifier,
    parse_expression,
    quote_term,
)

__all__ = ["StarQuery", "normalize_typed_query", "parse_star_query"]

THRESHOLD_FORMS = "'>N', '>=N', 'N..M', 'N'"
# Fifteen digits: more stars than there will be, and a number every JSON reader keeps exact.
_COUNT_PATTERN = r"\d{1,3}(?:,\d{3}){1,4}|\d{1,3}(?:_\d{3}){1,4}|\d{1,15}"
_TERM = re.compile(
    rf"""
    (?P<threshold> (?:stars:)? (?:
        (?P<sign> >=? ) \s* (?P<number> {_COUNT_PATTERN} )
        | (?P<low> {_COUNT_PATTERN} ) \s* \.\. \s* (?P<high> {_COUNT_PATTERN} )
        | (?P<exact> {_COUNT_PATTERN} )
    ) (?= \s | $ ) )
    | (?P<term> (?: [^\s"] | "[^"]*"? )+ )
    """,
    re.VERBOSE | re.ASCII | re.IGNORECASE,
)
_LOOKS_NUMERIC = re.compile(
    r"(?=.*[\d<>])[<>=.,_*\d-]+", re.ASCII
)  # meant as a threshold, and none
_QUALIFIER_TERM = re.compile(r"-?(?P<name>[a-z][a-z.-]*):(?P<value>.*)", re.IGNORECASE | re.DOTALL)
_LEADING_COUNT = re.compile(rf"\s*(?:{_COUNT_PATTERN})(?=\s|$)", re.ASCII)
_ORDER_TERMS = tuple(f"sort:{key}{way}" for key in SORT_KEYS for way in ("", "-asc"))


@dataclass(frozen=True, slots=True)
class StarQuery:
    """What a star search asks for; ``str()`` of it is read as the same again.

    Attributes
    ----------
    threshold
        What stands behind ``stars:``, in stars: ``">N"``, ``">=N"``, ``"N..M"`` or ``"N"``; empty
        if other terms decide.
    terms
        All other terms, a space between them.
    order
        What stands behind ``sort:``: ``"stars"``, ``"forks"`` or ``"updated"``, also with
        ``"-asc"``; empty for the endpoint's own order.
    """

    threshold: str
    terms: str = ""
    order: str = ""

    @property
    def expression(self) -> str:
        """The search expression, as GitHub and the stand-in read it."""
        return self._join_terms("stars:")

    def __str__(self) -> str:
        return self._join_terms("")

    def _join_terms(self, before: str) -> str:
        stars = f"{before}{self.threshold}" if self.threshold else ""
        order = f"sort:{self.order}" if self.order else ""
        return " ".join(filter(None, (stars, self.terms, order)))


def parse_star_query(query: SupportsIndex | str | StarQuery) -> StarQuery:
    """Read a star search.

    Parameters
    ----------
    query
        A whole number N, which means ``">N"``; or text: a threshold, ``">N"``, ``">=N"``,
        ``"N..M"`` or ``"N"``, beside any terms of :mod:`gqlnb.github.expression`, such as
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
    >>> str(parse_star_query(1000))
    '>1000'
    >>> parse_star_query("language:python  >= 20,000").search
    'stars:>=20000 language:python'
    """
    if isinstance(query, StarQuery):
        return query
    reading = _StarQueryParser(
        query, query if isinstance(query, str) else _format_number_threshold(query)
    )
    for match in _TERM.finditer(reading.text):
        if match["threshold"]:
            reading.add_threshold(_parse_threshold(match))
        else:
            reading.add_term(match["term"])
    return reading.build_query()


def normalize_typed_query(text: str) -> str:
    """Return a star search as it is typed in a shell or behind a magic, where all is text.

    There a number without a sign means what a number means in Python: above it.

    Examples
    --------
    >>> normalize_typed_query("1000 language:python")
    '>1000 language:python'
    """
    return f">{text.strip()}" if _LEADING_COUNT.match(text) else text


class _StarQueryParser:
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
        self._original = given
        self._threshold = ""
        self._has_threshold = False
        self._terms: list[str] = []
        self._order = ""

    def add_threshold(self, threshold: str) -> None:
        """Read a threshold."""
        self._check_single_threshold()
        self._threshold = threshold

    def add_term(self, text: str) -> None:
        """Read another term."""
        if _LOOKS_NUMERIC.fullmatch(text):
            self._check_single_threshold()
            raise self._make_threshold_error(self._original if text == self.text.strip() else text)
        named = _QUALIFIER_TERM.fullmatch(text)
        name = named["name"].lower() if named else ""
        if name == "sort" and text[0] != "-" and named is not None:
            self._order = _parse_order(named["value"], text)
            return
        if name == "stars" and text[0] != "-":
            self._check_single_threshold()
        elif name and not is_qualifier(name):
            _check_qualifier_spelling(name, text)
        self._terms.append(text)

    def build_query(self) -> StarQuery:
        """Return all of it."""
        found = StarQuery(self._threshold, " ".join(self._terms), self._order)
        if not parse_expression(found.expression).clauses:
            raise self._make_threshold_error(self._original)
        return found

    def _check_single_threshold(self) -> None:
        """Note a threshold, and refuse a second one."""
        if self._has_threshold:
            msg = (
                f"Star search {quote_term(self.text)} has two thresholds. Write one, such as '>1000' or "
                "'1000..5000'; thousands as 1000 or 1,000, and a number of a name in quotes."
            )
            raise QueryError(msg)
        self._has_threshold = True

    @staticmethod
    def _make_threshold_error(what: object) -> QueryError:
        return QueryError(
            f"Star threshold {sanitize_text(repr(what), 80)} is none of {THRESHOLD_FORMS}, with N and M whole "
            "numbers of stars. Write for example '>1000'."
        )


def _format_number_threshold(query: Any) -> str:
    """Return the threshold that a number means, and text that is none for anything else."""
    try:
        return "" if isinstance(query, bool) else f">{operator.index(query)}"
    except TypeError:
        return ""


def _parse_threshold(match: re.Match[str]) -> str:
    """Return a threshold as GitHub writes it."""
    if match["low"] is None:
        return f"{match['sign'] or ''}{_parse_count(match['number'] or match['exact'])}"
    low, high = _parse_count(match["low"]), _parse_count(match["high"])
    if low > high:
        msg = (
            f"Star threshold {quote_term(match['threshold'])} begins above its end. "
            f"Write '{high}..{low}', or one of {THRESHOLD_FORMS}."
        )
        raise QueryError(msg)
    return f"{low}..{high}"


def _parse_count(text: str) -> int:
    return int(text.replace(",", "").replace("_", ""))


def _parse_order(value: str, text: str) -> str:
    """Return an order as ``sort:`` writes it, the usual direction without a word."""
    order = value.strip('"').lower().removesuffix("-desc")
    if f"sort:{order}" not in _ORDER_TERMS:
        msg = f"Search term {quote_term(text)} is no order. Write one of {', '.join(_ORDER_TERMS)}."
        raise QueryError(msg)
    return order


def _check_qualifier_spelling(name: str, text: str) -> None:
    """Refuse what looks like a qualifier that was meant; GitHub would take it for a word."""
    begun = [known for known in sorted(QUALIFIER_NAMES) if len(name) > 2 and known.startswith(name)]
    near = get_close_matches(name, QUALIFIER_NAMES, 1, 0.75) or begun[:1]
    if near:
        msg = (
            f"Search term {quote_term(text)} is no qualifier. Did you mean {near[0] + ':'!r}? "
            "Put it in quotes if it is text."
        )
        raise QueryError(msg)
