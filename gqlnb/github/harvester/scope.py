"""The scope of a search: its qualifiers, with ranges of stars and of creation times."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, SupportsIndex

import msgspec

from gqlnb.errors import QueryError, sanitize_text
from gqlnb.github.repositories import GITHUB_LAUNCH, format_timestamp, parse_timestamp
from gqlnb.github.search_syntax import MAX_PAGE_SIZE, MAX_SEARCH_RESULTS, RangeTest, parse_qualifier
from gqlnb.github.star_query import parse_star_query, spell_out_thresholds
from gqlnb.lists.window_harvest import Source, Window

if TYPE_CHECKING:
    from gqlnb.lists.window_harvest import Row

# The last one counts; the others show rows, the first one first.
ORDERS = ("stars-desc", "forks-desc", "updated-desc", "forks-asc")
_TERM_PATTERN = re.compile(
    r'(?P<minus>-?)(?:(?P<name>[a-zA-Z][\w.-]*):)?(?P<value>"[^"]*"?|[^\s"]+)'
)
_BARE_THRESHOLD = re.compile(r"[\s\d,_.>=]+", re.ASCII)
MAX_STARS = 10**15 - 1  # of fifteen digits, the most in a search
_EARLIEST_CREATION = 0  # seconds since 1970
_LATEST_CREATION = 2**31 - 1  # in 32 bits
# GitHub opened in 2008. A fixed end makes the requests of a harvest the same on each day.
_USUAL_CREATION = parse_timestamp(GITHUB_LAUNCH), parse_timestamp("2030-01-01T00:00:00Z")
_OPERATORS = frozenset({"AND", "OR", "NOT"})


class Scope(msgspec.Struct, frozen=True):
    """The repositories that a search covers.

    Attributes
    ----------
    text
        Further qualifiers and words, as written.
    low, high
        Range of star counts, both ends included; None for no upper end.
    begin, end
        Range of creation times in seconds since 1970, both ends included; None for no end.
    """

    text: str = ""
    low: int = 0
    high: int | None = None
    begin: int | None = None
    end: int | None = None

    @classmethod
    def parse(cls, query: SupportsIndex | str) -> Scope:
        """Parse a star threshold, or a search expression that contains one.

        Parameters
        ----------
        query
            ``1000``, ``">1000"``, ``"10..50"``, as :func:`gqlnb.stars` takes it; or an expression
            such as ``"stars:>100 language:python created:>2020-01-01"``, also as ``">100
            language:python"``. Without a star range it covers all repositories, also those
            without stars.

        Returns
        -------
        Scope
            With the ranges of all ``stars:`` and ``created:`` terms intersected.

        Raises
        ------
        QueryError
            If `query` cannot be parsed, or contains something that a harvest cannot combine with
            its own qualifiers: a sort order, an operator, or ranges that do not overlap.

        Examples
        --------
        >>> Scope.parse("language:python stars:>=10 stars:<20")
        Scope(text='language:python', low=10, high=19, begin=None, end=None)
        """
        if not isinstance(query, str) or _BARE_THRESHOLD.fullmatch(query) or not query.strip():
            query = parse_star_query(query).expression
        query = spell_out_thresholds(query)
        text, (stars, created) = split_ranges(query, "stars", "created")
        operator = next((word for word in text.split() if word in _OPERATORS), None)
        if operator is not None:
            msg = (
                f"A harvest adds qualifiers to its query, and {operator} does not go with "
                "qualifiers. Harvest each of the alternatives, and put the frames together."
            )
            raise QueryError(msg)
        low = min(max(stars[0] or 0, 0), MAX_STARS)
        return cls(text, low, stars[1], *created)

    def format_expression(self, order: str = "stars-desc") -> str:
        """Return the search expression in GitHub's syntax.

        Parameters
        ----------
        order
            Value of ``sort:``; empty to omit it.

        Examples
        --------
        >>> Scope("", 10, 19, 1577836800).format_expression()
        'stars:10..19 created:>=2020-01-01T00:00:00Z sort:stars-desc'
        """
        terms = [self.text, f"stars:{_format_range(self.low, self.high)}"]
        if self.begin is not None or self.end is not None:
            begin = None if self.begin is None else format_timestamp(self.begin)
            end = None if self.end is None else format_timestamp(self.end)
            terms.append(f"created:{_format_range(begin, end)}")
        if order:
            terms.append(f"sort:{order}")
        return " ".join(filter(None, terms))

    def build_source(self) -> Source:
        """Return the search as a list that is harvested in windows of its time of creation."""
        low = _EARLIEST_CREATION if self.begin is None else self.begin
        high = _LATEST_CREATION if self.end is None else self.end
        return Source(
            whole=Window(low, max(low, high) + 1),
            usual=_USUAL_CREATION,
            format_window=lambda window: self.format_window(window, ""),
            is_outside=self._is_outside,
            page_size=MAX_PAGE_SIZE,
            cap=MAX_SEARCH_RESULTS,
            orders=len(ORDERS),
            inner=(self.low, (MAX_STARS if self.high is None else self.high) + 1),
            inner_name="equal stars",
        )

    def format_window(self, window: Window, order: str) -> str:
        """Return the search expression of a window.

        Parameters
        ----------
        window
            Half-open ranges of the time of creation and perhaps of stars.
        order
            Value of ``sort:``; empty to omit it.
        """
        (low, high), stars = window[:2], window.inner
        # The ends of the whole are open unless the query has them.
        begin = self.begin if low == _EARLIEST_CREATION else low
        end = self.end if high == _LATEST_CREATION + 1 else high - 1
        part = msgspec.structs.replace(self, begin=begin, end=end)
        if stars is not None:
            top = self.high if stars[1] > MAX_STARS else stars[1] - 1
            part = msgspec.structs.replace(part, low=stars[0], high=top)
        return part.format_expression(order)

    def _is_outside(self, window: Window, row: Row) -> bool:
        """Return whether a row has not the stars or the time of creation of a window."""
        stars = getattr(row, "stars", self.low)
        has_stars = stars >= self.low and (self.high is None or stars <= self.high)
        has_time = row.created is None or window.low <= row.created < window.high
        return not (has_stars and has_time)


def _format_range(low: object | None, high: object | None) -> str:
    if low is None:
        return f"<={high}"
    if high is None:
        return f">={low}"
    return f"{low}..{high}"


Bounds = tuple[int | None, int | None]


def split_ranges(query: str, *columns: str) -> tuple[str, list[Bounds]]:
    """Return a query without its terms of some qualifiers, and the intersections of their ranges.

    Parameters
    ----------
    query
        The search expression.
    columns
        ``"stars"``, or the name of a time.

    Returns
    -------
    tuple
        The other terms, and for each column its lowest and highest value; None for an open end.

    Raises
    ------
    QueryError
        If the query has a sort order, or ranges that cannot be parsed or do not overlap.
    """
    words, ranges = list[str](), {column: list[RangeTest]() for column in columns}
    for match in _TERM_PATTERN.finditer(query):
        name, value = (match["name"] or "").lower(), match["value"].strip('"')
        if name == "sort":
            # The order of the repositories of a harvest is the one that a star search has.
            if "stars" in columns and value.lower() in {"stars", "stars-desc"}:
                continue
            msg = (
                f"A harvest returns all results, so {sanitize_text(match[0], 80)!r} has no place "
                "in its query. Leave it out, and sort the frame."
            )
            raise QueryError(msg)
        test = None
        if name in ranges and not match["minus"]:  # all times are written alike
            test = parse_qualifier(name if name == "stars" else "created", value, match[0])
        if isinstance(test, RangeTest):
            ranges[name].append(test)
        else:
            words.append(match[0])
    return " ".join(words), [_intersect(ranges[column], query) for column in columns]


def _intersect(ranges: list[RangeTest], query: str) -> Bounds:
    lows = [test.low for test in ranges if test.low is not None]
    highs = [test.high for test in ranges if test.high is not None]
    low, high = max(lows, default=None), min(highs, default=None)
    if high is not None and high < max(low or 0, 0 if ranges[0].column == "stars" else high):
        text = sanitize_text(query, 80)
        msg = f"The ranges of {text!r} have no value in common, so nothing can match."
        raise QueryError(msg)
    return low, high
