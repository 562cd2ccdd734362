"""What a search is about: other qualifiers, a range of stars, a slice of time."""

from __future__ import annotations

import re
from typing import SupportsIndex

import msgspec

from gqlnb.errors import QueryError, sanitize_text
from gqlnb.github.repositories import format_timestamp
from gqlnb.github.search_syntax import RangeTest, parse_qualifier
from gqlnb.github.star_query import parse_star_query

__all__ = ["Scope"]

_TERM_PATTERN = re.compile(
    r'(?P<minus>-?)(?:(?P<name>[a-zA-Z][\w.-]*):)?(?P<value>"[^"]*"?|[^\s"]+)'
)
_BARE_RANGE = re.compile(r"[<>]=?\d+|\d+\.\.(?:\d+|\*)|\*\.\.\d+", re.ASCII)
_BARE_THRESHOLD = re.compile(r"[\s\d,_.>=]+", re.ASCII)
_OPERATORS = frozenset({"AND", "OR", "NOT"})
_RANGE_QUALIFIERS = frozenset({"stars", "created"})


class Scope(msgspec.Struct, frozen=True):
    """What a search is about.

    Attributes
    ----------
    text
        Other qualifiers and words, as they were written.
    low, high
        Fewest and most stars, both included; None for no upper end.
    begin, end
        When repositories were made: the first and the last second, both included, in seconds since
        1970; None for no end.
    without
        Repositories to leave out, as ``owner/name``.
    """

    text: str = ""
    low: int = 0
    high: int | None = None
    begin: int | None = None
    end: int | None = None
    without: tuple[str, ...] = ()

    @classmethod
    def parse(cls, query: SupportsIndex | str) -> Scope:
        """Read a star threshold, or a search expression with one.

        Parameters
        ----------
        query
            ``1000``, ``">1000"``, ``"10..50"``, as :func:`gqlnb.stars` takes it; or an expression
            such as ``"stars:>100 language:python created:>2020-01-01"``, also as ``">100
            language:python"``. Without stars it is about all, those without a star too.

        Raises
        ------
        QueryError
            If it cannot be read; or holds an order, an operator, or ranges without a number in
            common, with which there is no harvest.

        Examples
        --------
        >>> Scope.read("language:python stars:>=10 stars:<20")
        Scope(text='language:python', low=10, high=19, begin=None, end=None, without=())
        """
        if not isinstance(query, str) or _BARE_THRESHOLD.fullmatch(query) or not query.strip():
            query = parse_star_query(query).expression
        kept: list[str] = []
        ranges: list[RangeTest] = []
        for match in _TERM_PATTERN.finditer(query):
            test = _parse_range_term(match)
            if test is None:
                kept.append(match[0])
            else:
                ranges.append(test)
        stars = _intersect_ranges([each for each in ranges if each.column == "stars"], query)
        created = _intersect_ranges([each for each in ranges if each.column == "created"], query)
        return cls(" ".join(kept), max(stars[0] or 0, 0), stars[1], *created)

    def format_expression(self, order: str = "stars-desc") -> str:
        """Return it as GitHub's search takes it.

        Parameters
        ----------
        order
            What stands behind ``sort:``; empty for none.

        Examples
        --------
        >>> Scope("", 10, 19, 1577836800).expression()
        'stars:10..19 created:>=2020-01-01T00:00:00Z sort:stars-desc'
        """
        terms = [self.text, f"stars:{_format_range(self.low, self.high)}"]
        if self.begin is not None or self.end is not None:
            begin = None if self.begin is None else format_timestamp(self.begin)
            terms.append(
                f"created:{_format_range(begin, None if self.end is None else format_timestamp(self.end))}"
            )
        terms += [f"-repo:{name}" for name in self.without]
        if order:
            terms.append(f"sort:{order}")
        return " ".join(filter(None, terms))

    def clamp_stars(self, stars: int) -> int:
        """Return the number of stars of the range that is nearest to one."""
        stars = max(stars, self.low)
        return stars if self.high is None else min(stars, self.high)

    def restrict_above(self, low: int) -> Scope | None:
        """Return the part from so many stars up; None where there is none."""
        if self.high is not None and low > self.high:
            return None
        return msgspec.structs.replace(self, low=max(self.low, low))

    def is_in_time_range(self, created: int | None) -> bool:
        """Tell whether something made at a time may lie in the slice; always for None."""
        if created is None:
            return True
        after = self.begin is None or created >= self.begin
        return after and (self.end is None or created <= self.end)

    def is_in_star_range(self, stars: int) -> bool:
        """Tell whether a number of stars lies in the range."""
        return stars >= self.low and (self.high is None or stars <= self.high)


def _format_range(low: object | None, high: object | None) -> str:
    """Return both ends of a range as a qualifier takes them."""
    if low is None:
        return f"<={high}"
    if high is None:
        return f">={low}"
    return f"{low}..{high}"


def _parse_range_term(match: re.Match[str]) -> RangeTest | None:
    """Return the range of a term that a sweep sets itself; None for other terms.

    Raises
    ------
    QueryError
        If there is no sweep with this term.
    """
    name, value = (match["name"] or "").lower(), match["value"].strip('"')
    if _BARE_RANGE.fullmatch(match[0]):  # as in a threshold; there is no such word
        name = "stars"
    if name == "sort" and not value.lower().startswith("stars"):
        msg = (
            f"A harvest brings everything, whatever its order, so {sanitize_text(match[0], 80)!r} has no "
            "place in its query. Leave it out, and sort the frame."
        )
        raise QueryError(msg)
    if match[0] in _OPERATORS:
        msg = (
            f"A harvest adds qualifiers to its query, and {match[0]} does not go with qualifiers. "
            "Harvest each of the alternatives, and put the frames together."
        )
        raise QueryError(msg)
    if not name and value[:-1].lower() in {*_RANGE_QUALIFIERS, "sort"} and value.endswith(":"):
        msg = f"{sanitize_text(match[0], 80)!r} has no value. Write it without a space after the colon."
        raise QueryError(msg)
    if name == "sort":
        return RangeTest("sort", None, None)
    test = (
        parse_qualifier(name, value, match[0])
        if name in _RANGE_QUALIFIERS and not match["minus"]
        else None
    )
    return test if isinstance(test, RangeTest) else None


def _intersect_ranges(ranges: list[RangeTest], query: str) -> tuple[int | None, int | None]:
    """Return the range that lies in all of these.

    Raises
    ------
    QueryError
        If there is none.
    """
    lows = [each.low for each in ranges if each.low is not None]
    highs = [each.high for each in ranges if each.high is not None]
    low, high = max(lows, default=None), min(highs, default=None)
    if high is not None and high < max(low or 0, 0 if ranges[0].column == "stars" else high):
        msg = f"No number lies in all the ranges of {sanitize_text(query, 80)!r}, so nothing can match."
        raise QueryError(msg)
    return low, high
