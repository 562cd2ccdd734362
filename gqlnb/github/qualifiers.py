"""The qualifiers of a search for repositories: what each asks, by its name and its value."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass

from gqlnb.errors import QueryError, plain
from gqlnb.github.data import seconds
from gqlnb.github.languages import spoken

__all__ = [
    "FIELDS",
    "GROUPS",
    "NAMES",
    "Known",
    "Named",
    "Range",
    "Test",
    "asked",
    "cut",
    "is_qualifier",
]

# Fifteen digits: more stars than there will be, and a number every JSON reader keeps exact. Below
# zero, for those who ask for all with ``stars:>-1``.
_NUMBER = re.compile(r"(?P<sign>[<>]=?|)(?P<number>-?\d{1,15})", re.ASCII)
_RANGE = re.compile(r"(?P<low>\d{1,15}|\*)\.\.(?P<high>\d{1,15}|\*)", re.ASCII)
_TIME = r"T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
_DATE = rf"\d{{4}}(?:-\d\d(?:-\d\d(?:{_TIME})?)?)?"
_MOMENT = re.compile(rf"(?P<sign>[<>]=?|)(?P<moment>{_DATE})", re.ASCII | re.IGNORECASE)
_SPAN = re.compile(rf"(?P<low>{_DATE}|\*)\.\.(?P<high>{_DATE}|\*)", re.ASCII | re.IGNORECASE)
_FRACTION = re.compile(r"\.(\d+)", re.ASCII)

_ELSEWHERE = frozenset(
    {
        *("archived-by", "assignee", "author", "author-date", "author-email"),
        *("author-name", "base", "closed", "commenter", "comments", "committer"),
        *("committer-date", "draft", "extension", "filename", "fullname", "hash", "head"),
        *("interactions", "involves", "label", "linked", "location", "mentions", "merge"),
        *("merged", "milestone", "no", "parent", "path", "project", "reactions", "reason"),
        *("repos", "repositories", "review", "review-requested", "reviewed-by", "since"),
        *("sponsorable", "state", "status", "symbol", "team", "team-review-requested"),
        *("tree", "type", "updated", "user-review-requested"),
    }
)
"""Qualifiers of GitHub's searches for other things."""

FIELDS = frozenset({"name", "description", "readme", "topics"})
"""Where GitHub looks for words; without ``in:`` not in the readme."""


@dataclass(frozen=True, slots=True)
class Range:
    """A number lies within bounds.

    Attributes
    ----------
    column
        ``"stars"`` or ``"forks"``; ``"created"`` or ``"pushed"``, in seconds since 1970.
    low, high
        The lowest and the highest number, both included; None for no bound.
    """

    column: str
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class Named:
    """A text is what it should be.

    Attributes
    ----------
    column
        ``"language"``, ``"owner"`` or ``"repository"`` (owner and name with a slash between).
    text
        The text, in lower case; of a language what :func:`~gqlnb.github.languages.spoken` makes.
    """

    column: str
    text: str


@dataclass(frozen=True, slots=True)
class Known:
    """Something is so, or is not.

    Attributes
    ----------
    column
        ``"archived"``, or ``"all"`` for what is so of every repository.
    wanted
        Whether it shall be so.
    """

    column: str
    wanted: bool


Test = Range | Named | Known


def is_qualifier(name: str) -> bool:
    """Tell whether GitHub has a qualifier of that name; ``props.`` is one of organizations."""
    known = name in _TESTS or name in _ELSEWHERE or name in {"sort", "in"}
    return known or name.startswith("props.")


def asked(name: str, value: str, text: str) -> Test | None:
    """Return what a qualifier asks of a repository; None for nothing, as it is of other searches.

    Parameters
    ----------
    name
        Its name; ``"-fork"`` for the opposite of ``fork:``, which leaves out or does not.
    value
        What stands behind the colon.
    text
        Both, for messages.

    Raises
    ------
    QueryError
        If the value is none that it takes.
    """
    return _TESTS[name](value, text) if name in _TESTS else None


def cut(text: str) -> str:
    """Return a term as messages show it."""
    return repr(plain(text, 80))


def _number(column: str) -> Callable[[str, str], Test]:
    """Return a maker of tests of one number."""
    return lambda value, text: Range(column, *_bounds(value, text))


def _nought(value: str, text: str) -> Test:
    """Return a test of a number that is not known of any repository, and so is 0."""
    low, high = _bounds(value, text)
    return Known("all", (low is None or low <= 0) and (high is None or high >= 0))


def _bounds(value: str, text: str) -> tuple[int | None, int | None]:
    """Return the lowest and highest number of a term, both included; None for no bound."""
    if match := _RANGE.fullmatch(value):
        low, high = match["low"], match["high"]
        return None if low == "*" else int(low), None if high == "*" else int(high)
    if match := _NUMBER.fullmatch(value):
        number = int(match["number"])
        return _compared(match["sign"], number, number)
    msg = (
        f"Search term {cut(text)} has no number that can be read. "
        "Write N, >N, >=N, <N, <=N, N..M, N..* or *..N."
    )
    raise QueryError(msg)


def _compared(sign: str, first: int, last: int) -> tuple[int | None, int | None]:
    """Return what a sign before something that goes from `first` to `last` leaves."""
    return {
        "": (first, last),
        ">": (last + 1, None),
        ">=": (first, None),
        "<": (None, first - 1),
        "<=": (None, last),
    }[sign]


def _moment(column: str) -> Callable[[str, str], Test]:
    """Return a maker of tests of one moment."""

    def make(value: str, _text: str) -> Test:
        try:
            return Range(column, *_span(value))
        except (ValueError, OverflowError):  # no such day; a zone that leads out of all years
            shown = plain(value.lstrip("<>="), 80)
        msg = (
            f'"{shown}" is not a recognized date/time format. '
            "Please provide an ISO 8601 date/time value, such as YYYY-MM-DD."
        )
        raise QueryError(msg)

    return make


def _span(value: str) -> tuple[int | None, int | None]:
    """Return the first and the last second of a span of time, both included.

    Raises
    ------
    ValueError, OverflowError
        If it is none.
    """
    if match := _SPAN.fullmatch(value):
        low, high = match["low"], match["high"]
        return (
            None if low == "*" else _seconds(low)[0],
            None if high == "*" else _seconds(high)[1],
        )
    match = _MOMENT.fullmatch(value)
    if match is None:
        raise ValueError(value)
    return _compared(match["sign"], *_seconds(match["moment"]))


def _seconds(moment: str) -> tuple[int, int]:
    """Return the first and the last second of a year, month or day in UTC, or of a second.

    What lies between two seconds has none: the second after it is its first, that before its last.
    """
    if len(moment) > len("2026-08-22"):
        return _second(moment.upper())
    year, month, day = (*map(int, moment.split("-")), 0, 0)[:3]
    last = day or monthrange(year, month or 12)[1]
    return (
        seconds(f"{year:04}-{month or 1:02}-{day or 1:02}T00:00:00Z"),
        seconds(f"{year:04}-{month or 12:02}-{last:02}T23:59:59Z"),
    )


def _second(moment: str) -> tuple[int, int]:
    """Return a second twice, or the two around a fraction."""
    fraction = _FRACTION.search(moment)
    date, _, time = _FRACTION.sub("", moment).partition("T")
    zone = "" if len(time) > len("04:07:00") else "Z"
    at = seconds(f"{date}T{time}{zone}")
    return at + (fraction is not None and int(fraction[1]) > 0), at


def _owner(value: str, _text: str) -> Test:
    return Named("owner", value.lower())


def _repository(value: str, _text: str) -> Test:
    return Named("repository", value.lower())


def _language(value: str, _text: str) -> Test:
    return Named("language", spoken(value))


def _unknown(_value: str, _text: str) -> Test:
    """Return a test of what is not known of any repository: it has none."""
    return Known("all", wanted=False)


def _chosen(choices: dict[str, bool], column: str = "all") -> Callable[[str, str], Test]:
    """Return a maker of tests of something that is one of some words."""
    return lambda value, text: Known(column, _choice(value, text, choices))


def _choice(value: str, text: str, choices: dict[str, bool]) -> bool:
    """Return what a word stands for.

    Raises
    ------
    QueryError
        If it is none of the words.
    """
    if value.lower() in choices:
        return choices[value.lower()]
    name = text.partition(":")[0].lower()
    known = " or ".join(f"{name}:{word}" for word in choices)
    msg = f"Search term {cut(text)} is not known. Write {known}."
    raise QueryError(msg)


def _is(value: str, _text: str) -> Test | None:
    """Return what ``is:`` asks for; nothing, where it is of another search."""
    return _KINDS.get(value.lower())


_PUBLIC = {"public": True, "private": False, "internal": False}
_RARE = {"true": False, "false": True}
_KINDS: dict[str, Test] = {
    **{word: Known("all", wanted) for word, wanted in _PUBLIC.items()},
    **{word: Known("all", wanted=False) for word in ("fork", "mirror", "template", "sponsorable")},
    "archived": Known("archived", wanted=True),
}
_TESTS: dict[str, Callable[[str, str], Test | None]] = {
    "stars": _number("stars"),
    "forks": _number("forks"),
    "created": _moment("created"),
    "pushed": _moment("pushed"),
    "language": _language,
    "user": _owner,
    "org": _owner,
    "repo": _repository,
    "archived": _chosen({"true": True, "false": False}, "archived"),
    "fork": _chosen({"true": True, "false": True, "only": False}),
    "-fork": _chosen({"true": True, "false": False, "only": True}),
    "is": _is,
    "visibility": _chosen(_PUBLIC),
    "mirror": _chosen(_RARE),
    "template": _chosen(_RARE),
    **dict.fromkeys(("size", "followers", "topics"), _nought),
    **dict.fromkeys(("good-first-issues", "help-wanted-issues"), _nought),
    **dict.fromkeys(("topic", "license", "has", "custom"), _unknown),
}
NAMES = frozenset({*_TESTS, "sort", "in"} - {"-fork"})
"""The qualifiers of a search for repositories, and where it looks and how it sorts."""
GROUPS = {"user": "owner", "org": "owner", "repo": "owner", "language": "language"}
"""Qualifiers of which several mean any of them, with others of the same group."""
