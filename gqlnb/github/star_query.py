"""Star searches in short form, ``>1000 language:python``, and as GitHub expressions."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import SupportsIndex

from gqlnb.errors import QueryError, find_similar, sanitize_text
from gqlnb.github.search_syntax import (
    QUALIFIER_NAMES,
    SORT_KEYS,
    is_qualifier,
    parse_expression,
    quote_term,
)

THRESHOLD_FORMS = "'>N', '>=N', '<N', '<=N', 'N..M', 'N'"
# Fifteen digits: more than any count, and exact in every JSON reader.
_COUNT_PATTERN = r"\d{1,3}(?:,\d{3}){1,4}|\d{1,3}(?:_\d{3}){1,4}|\d{1,15}"
_TERM = re.compile(
    rf"""
    (?P<threshold> (?:stars:)? (?:
        (?P<sign> [<>]=? ) \s* (?P<number> {_COUNT_PATTERN} )
        | (?P<low> {_COUNT_PATTERN} ) \s* \.\. \s* (?P<high> {_COUNT_PATTERN} | \* )
        | \* \s* \.\. \s* (?P<most> {_COUNT_PATTERN} )
        | (?P<exact> {_COUNT_PATTERN} )
    ) (?= \s | $ ) )
    | (?P<term> (?: [^\s"] | "[^"]*"? )+ )
    """,
    re.VERBOSE | re.ASCII | re.IGNORECASE,
)
# A malformed threshold, which GitHub would take for a word.
_LOOKS_NUMERIC = re.compile(r"(?=.*[\d<>])[<>=.,_*\d-]+", re.ASCII)
# "50k..60k", "stars>1000", "≥1000" and "1000+", likewise.
_LOOKS_LIKE_THRESHOLD = re.compile(
    r"(?:stars?)?(?=\D*\d)(?=.*(?:[<>=≥≤~\u2013]|\.\.|\+$))[<>=≥≤~+.,_*\u2013\dkm-]+",
    re.IGNORECASE,
)
# "3.12" and "24-7", which are words if the threshold is another term.
_DOTTED_NUMBER = re.compile(r"\d+(?:[.-]\d+)+", re.ASCII)
# Spellings of other services, which GitHub would take for words.
_OTHER_NAMES = {"owner": "user", "account": "user", "order": "sort", "stargazers": "stars"}
_ASSIGNED_TERM = re.compile(
    r"(?P<name>-?[a-z][a-z-]*)[=\uff1a](?P<value>.+)", re.IGNORECASE | re.DOTALL
)
# "1k" and "1000.0", which GitHub would take for words, too.
_ROUNDED_COUNT = re.compile(
    r"(?P<sign>[<>]=?)?(?P<number>\d{1,12}(?:\.\d{1,6})?)(?P<unit>[km]?)", re.ASCII | re.IGNORECASE
)
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}
_QUALIFIER_TERM = re.compile(r"-?(?P<name>[a-z][a-z.-]*):(?P<value>.*)", re.IGNORECASE | re.DOTALL)
_LEADING_COUNT = re.compile(rf"\s*(?:{_COUNT_PATTERN})(?=\s|$)(?!\s*\.\.)", re.ASCII)
# Words before a number, which GitHub would search for.
_WORDED_SIGNS = {
    **dict.fromkeys(("above", "over", "more than", "greater than"), ">"),
    **dict.fromkeys(("below", "under", "less than", "fewer than"), "<"),
    "at least": ">=",
    **dict.fromkeys(("at most", "up to"), "<="),
}
_ORDER_TERMS = tuple(f"sort:{key}{way}" for key in SORT_KEYS for way in ("", "-asc"))


@dataclass(frozen=True, slots=True)
class StarQuery:
    """A parsed star search; ``str()`` gives its short form.

    Attributes
    ----------
    threshold
        The value of ``stars:``: ``">N"``, ``">=N"``, ``"<N"``, ``"<=N"``, ``"N..M"``, ``"N..*"``,
        ``"*..N"`` or ``"N"``; empty for none.
    terms
        All other terms, separated by spaces.
    order
        The value of ``sort:``: ``"stars"``, ``"forks"`` or ``"updated"``, also with ``"-asc"``;
        empty for the endpoint's own order.
    """

    threshold: str
    terms: str = ""
    order: str = ""

    @property
    def expression(self) -> str:
        """The search expression for GitHub and the stand-in."""
        return self._join_terms("stars:")

    def __str__(self) -> str:
        return self._join_terms("")

    def _join_terms(self, before: str) -> str:
        stars = f"{before}{self.threshold}" if self.threshold else ""
        order = f"sort:{self.order}" if self.order else ""
        return " ".join(filter(None, (stars, self.terms, order)))


def parse_star_query(query: SupportsIndex | str) -> StarQuery:
    """Parse a star search.

    Parameters
    ----------
    query
        A whole number N, which means ``">N"``; or text: a threshold, ``">N"``, ``">=N"``,
        ``"<N"``, ``"<=N"``, ``"N..M"``, ``"N..*"``, ``"*..N"`` or ``"N"``, with or without
        ``stars:``, and other terms of :mod:`gqlnb.github.search_syntax`, such as ``language:python
        created:>2024 -user:google sort:forks``, in any order. N and M are in stars, at most 15
        digits, ``0 <= N <= M``; thousands may be grouped by commas or underscores. ``">N <M"`` is
        the range between both. A number that is part of a name is written in quotes.

    Returns
    -------
    StarQuery
        The search, with ungrouped numbers and single spaces between terms.

    Raises
    ------
    QueryError
        If a term is not valid, if there are two thresholds without a range between them, or neither
        a threshold nor a qualifier.

    Notes
    -----
    Source: GitHub documentation, "Understanding the search syntax", numeric qualifiers.

    Examples
    --------
    >>> str(parse_star_query(1000))
    '>1000'
    >>> parse_star_query("language:python  >= 20,000").expression
    'stars:>=20000 language:python'
    """
    text = normalize_spaces(query) if isinstance(query, str) else ""
    if not isinstance(query, str | bool):
        try:
            text = f">{operator.index(query)}"
        except TypeError:  # refused below, as a text without a threshold
            text = ""
    terms = _Terms(text, query)
    thresholds, words, order, others = list[str](), list[str](), "", 0
    for match in terms.matches:
        if match["threshold"]:
            thresholds.append(_parse_threshold(match))
            continue
        term = terms.check_word(match)
        name, colon, value = term.partition(":")
        if f"{name}{colon}".lower() == "sort:":
            order = _parse_order(value, term)
        else:
            words.append(term)
            others += f"{name}{colon}".lower() == "stars:"
    joined = _join_thresholds(" ".join(thresholds)) if len(thresholds) == 2 else ""
    if len(thresholds) + others - bool(joined) > 1:
        raise _make_repeated_error(text)
    parsed = StarQuery(joined or "".join(thresholds), " ".join(words), order)
    if not parse_expression(parsed.expression).clauses:
        raise _make_threshold_error(query)
    return parsed


def normalize_typed_query(text: str) -> str:
    """Return a star search from a command line, where every number is text.

    A number without a sign means the same as the number 1000 in Python: more stars than that.

    Examples
    --------
    >>> normalize_typed_query("1000 language:python")
    '>1000 language:python'
    """
    return f">{text.strip()}" if _LEADING_COUNT.match(normalize_spaces(text)) else text


def check_threshold(text: str) -> None:
    """Check the text of a box for the threshold; an empty one is valid.

    Beside a qualifier, :func:`parse_star_query` takes a misspelt threshold for a word to search.

    Raises
    ------
    QueryError
        If it has no threshold.
    """
    if text.strip() and not parse_star_query(text).threshold:
        raise _make_threshold_error(text.strip())


def normalize_spaces(text: str) -> str:
    """Return text with a plain space for each other one, such as U+00A0 of a copied page."""
    return "".join(" " if char.isspace() else char for char in text)


def spell_out_thresholds(text: str) -> str:
    """Return a search expression with ``stars:`` before each threshold.

    Raises
    ------
    QueryError
        If a term looks like a threshold or a qualifier and is not one, or a number without a sign
        stands beside another threshold.

    Examples
    --------
    >>> spell_out_thresholds("language:python > 1,000")
    'language:python stars:>1000'
    """
    terms = _Terms(normalize_spaces(text), text)
    numbers = [match for match in terms.matches if match["threshold"]]
    if len(numbers) > 1 and any(match["exact"] == match["threshold"] for match in numbers):
        raise _make_repeated_error(text)  # the number may be part of a name
    return " ".join(
        f"stars:{_parse_threshold(match)}" if match["threshold"] else terms.check_word(match)
        for match in terms.matches
    )


class _Terms:
    """The terms of a search.

    Parameters
    ----------
    text
        The search, with plain spaces.
    given
        The argument of the caller, for messages.
    """

    def __init__(self, text: str, given: object) -> None:
        self.matches = [*_TERM.finditer(text)]
        self._text = text
        self._given = given
        self._check_worded_sign()
        self._has_threshold = any(
            match["threshold"] or match["term"].lower().startswith("stars:")
            for match in self.matches
        )

    def _check_worded_sign(self) -> None:
        """Raise if words such as ``more than`` stand before a number."""
        texts = [match["threshold"] or match["term"] for match in self.matches]
        for place, match in enumerate(self.matches):
            for length in (1, 2):
                words = " ".join(texts[max(place - length, 0) : place])
                sign = _WORDED_SIGNS.get(words.lower())
                if sign and match["exact"] == match["threshold"] is not None:
                    msg = (
                        f"Search term {quote_term(words)} before a number is text to search for. "
                        f"Write '{sign}{_parse_count(match['exact'])}', or put it in quotes if it "
                        "is part of a name."
                    )
                    raise QueryError(msg)

    def check_word(self, match: re.Match[str]) -> str:
        """Return a term, or raise if it looks like a threshold or a qualifier and is not one."""
        text = match["term"]
        if self._is_malformed_threshold(text):
            if self._has_threshold and _LOOKS_NUMERIC.fullmatch(text):
                raise _make_repeated_error(self._text)
            if text == self._text.strip():
                raise _make_threshold_error(self._given)
            raise _make_threshold_error(text, " A number of a name is written in quotes.")
        if text.lower() in {"star", "stars"} and self._is_beside_threshold(match):
            msg = (
                f"Search term {quote_term(text)} beside a threshold is a word to search for. Leave "
                "it out, or put it in quotes if it is part of a name."
            )
            raise QueryError(msg)
        _check_qualifier(text)
        return text

    def _is_malformed_threshold(self, text: str) -> bool:
        if self._has_threshold and _DOTTED_NUMBER.fullmatch(text):
            return False
        if not self._has_threshold and _ROUNDED_COUNT.fullmatch(text):
            return True
        return bool(_LOOKS_NUMERIC.fullmatch(text) or _LOOKS_LIKE_THRESHOLD.fullmatch(text))

    def _is_beside_threshold(self, match: re.Match[str]) -> bool:
        place = self.matches.index(match)
        neighbors = self.matches[max(place - 1, 0) : place + 2]
        return any(neighbor["threshold"] for neighbor in neighbors)


def _make_repeated_error(text: str) -> QueryError:
    joined = _join_thresholds(text)
    example = f"'{joined}'" if joined else "'>1000' or '1000..5000'"
    return QueryError(
        f"Star search {quote_term(text)} has two thresholds. Write one, such as {example}; "
        "thousands as 1000 or 1,000, and a number of a name in quotes."
    )


def _join_thresholds(text: str) -> str:
    """Return the range between a lower and an upper threshold; empty if there are no such two."""
    ends: dict[str, int] = {}
    for match in _TERM.finditer(text):
        if match["sign"]:
            sign, number = match["sign"], _parse_count(match["number"])
            ends[sign[0]] = number if "=" in sign else number + (1 if sign == ">" else -1)
    low, high = ends.get(">"), ends.get("<")
    return f"{low}..{high}" if low is not None and high is not None and low <= high else ""


def _make_threshold_error(given: object, advice: str = "") -> QueryError:
    return QueryError(
        f"Star threshold {sanitize_text(repr(given), 80)} is not one of {THRESHOLD_FORMS}, "
        f"with N and M whole numbers of stars. Write {_propose_threshold(given)}.{advice}"
    )


def _propose_threshold(given: object) -> str:
    """Return a valid threshold that is near to an invalid one."""
    text = str(given).strip().translate({0x2265: ">=", 0x2264: "<=", 0x2013: "-"})
    text = re.sub(r"^stars?:?", "", text, flags=re.IGNORECASE)
    if text.endswith("+"):
        text = f">={text[:-1]}"
    first, last = (re.split(r"\.\.|-", text, maxsplit=1) * 2)[:2]
    low, high = (end if end == "*" else _round_count(end) for end in (first, last))
    if first != last and all(end == "*" or end.isdecimal() for end in (low, high)):
        ends = [low, high] if "*" in (low, high) else sorted([low, high], key=int)
        return "'{}..{}'".format(*ends)
    sign = ">" if isinstance(given, float) else ""
    count = _round_count(text)
    return f"'{sign}{count}'" if count else "for example '>1000'"


def _round_count(text: str) -> str:
    """Return a count such as ``>1.5k`` in digits; empty if it is none."""
    match = _ROUNDED_COUNT.fullmatch(text.replace(",", "").replace("_", ""))
    if match is None:
        return ""
    count = float(match["number"]) * _UNITS[match["unit"].lower()]
    return f"{match['sign'] or ''}{round(count)}" if count == round(count) else ""


def _parse_threshold(match: re.Match[str]) -> str:
    """Return a threshold in GitHub's form."""
    if match["most"] is not None:
        return f"*..{_parse_count(match['most'])}"
    if match["low"] is None:
        return f"{match['sign'] or ''}{_parse_count(match['number'] or match['exact'])}"
    low = _parse_count(match["low"])
    if match["high"] == "*":
        return f"{low}..*"
    high = _parse_count(match["high"])
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
    """Return the value of ``sort:``, without ``-desc``."""
    order = value.strip('"').lower().removesuffix("-desc")
    if f"sort:{order}" not in _ORDER_TERMS:
        known = ", ".join(_ORDER_TERMS)
        msg = f"Search term {quote_term(text)} is not an order. Write one of {known}."
        raise QueryError(msg)
    return order


def _check_qualifier(text: str) -> None:
    """Refuse a misspelt qualifier, which GitHub would take for a word, and one without a value."""
    assigned = _ASSIGNED_TERM.fullmatch(text)
    if assigned is not None and is_qualifier(assigned["name"].lower().lstrip("-")):
        right = f"{assigned['name'].lower()}:{assigned['value']}"
        msg = (
            f"Search term {quote_term(text)} is not a qualifier. Write {quote_term(right)}, or put "
            "it in quotes if it is text."
        )
        raise QueryError(msg)
    named = _QUALIFIER_TERM.fullmatch(text)
    name = named["name"].lower() if named else ""
    if named is not None and is_qualifier(name):
        if not named["value"]:
            msg = f"Search term {quote_term(text)} has no value. Write it without a space after it."
            raise QueryError(msg)
        return
    near = _OTHER_NAMES.get(name) or find_similar(
        name, sorted(QUALIFIER_NAMES), 0.75, abbreviated=True
    )
    if name and near is not None:
        msg = (
            f"Search term {quote_term(text)} is not a qualifier. Did you mean {near + ':'!r}? "
            "Put it in quotes if it is text."
        )
        raise QueryError(msg)


def read_least_stars(query: StarQuery) -> int:
    """Return the fewest stars that a search admits.

    Examples
    --------
    >>> [read_least_stars(StarQuery(text)) for text in (">1000", "10..20", "*..5", "7", "")]
    [1001, 10, 0, 7, 0]
    """
    sign, number = re.match(r"(>?)=?(\d*)", query.threshold).groups()  # type: ignore[union-attr]
    return int(number or 0) + len(sign) * ("=" not in query.threshold)
