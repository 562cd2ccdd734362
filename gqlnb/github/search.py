"""Search expressions: ``stars:>1000 language:python -user:google vim sort:forks``.

What an expression can say, in any case:

==============================  ================================================================
``stars:N`` ``forks:N``         the number; also ``>N``, ``>=N``, ``<N``, ``<=N``, ``N..M``,
                                ``N..*``, ``*..N``
``created:DATE`` ``pushed:``    when it was made, the last push: a day as ``2026-08-22``, or a
                                second as ``2026-08-22T04:07:00Z`` (or ``+02:00``); in the same
                                forms
``language:NAME``               the language; quoted if it holds a space; several mean any of them
``user:LOGIN`` ``org:LOGIN``    the owner; several, with ``repo:`` among them, mean any of them
``repo:OWNER/NAME``             the one repository
``archived:true``               closed for changes; ``archived:false`` the others
``fork:true``                   all, with ``false`` too, for there are no forks here; ``only`` none
``is:public``                   all; ``is:private`` none
``in:name``                     says what holds anyway: words are looked for in names
``word`` ``"two words"``        is part of the name
``-...`` ``NOT ...``            what follows does not hold
``sort:stars``                  the order; also ``forks``, ``updated`` (the last push); each also
                                with ``-asc`` or ``-desc``
==============================  ================================================================

All conditions hold together, except where the table says any. An expression without conditions
finds everything.

Notes
-----
Source: GitHub documentation, "Searching for repositories" and "Understanding the search syntax".
GitHub documents no order for its default, "best match": here it is most stars first. Equal
repositories stand in the order of owner and name. An unknown ``sort:`` is ignored, as GitHub
ignores it. A word with a colon that is no qualifier of GitHub's is text, and so found in no name.
A value that is none of its qualifier is an error, as it is there. So is, here alone, a qualifier
that GitHub has and these data cannot answer, where an answer would look right and be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from gqlnb.errors import QueryError, plain
from gqlnb.github.data import seconds

__all__ = [
    "PAGE",
    "REACH",
    "Clause",
    "Expression",
    "Known",
    "Named",
    "Range",
    "Test",
    "parse",
]

PAGE = 100
"""Most results of one page. Source: GitHub documentation, "Node limit"."""
REACH = 1000
"""Most results of one search, whatever its count. Source: GitHub documentation, "search"."""

_TERM = re.compile(
    r"""
    (?P<minus>-?)
    (?P<text>
        (?: (?P<name> [a-z][a-z-]* ) : )?
        (?: " (?P<quoted> [^"]* ) "? | (?P<bare> [^\s"]+ ) )
    )
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
# Fifteen digits: more stars than there will be, and a number every JSON reader keeps exact.
_NUMBER = re.compile(r"(?P<sign>[<>]=?|)(?P<number>\d{1,15})", re.ASCII)
_RANGE = re.compile(r"(?P<low>\d{1,15}|\*)\.\.(?P<high>\d{1,15}|\*)", re.ASCII)
_DATE = r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d))?"
_MOMENT = re.compile(rf"(?P<sign>[<>]=?|)(?P<moment>{_DATE})", re.ASCII | re.IGNORECASE)
_SPAN = re.compile(rf"(?P<low>{_DATE}|\*)\.\.(?P<high>{_DATE}|\*)", re.ASCII | re.IGNORECASE)
_SORT = re.compile(r"(?P<key>stars|forks|updated)(?:-(?P<way>asc|desc))?")

# Qualifiers of GitHub's repository search for which there are no facts here.
_UNANSWERED = frozenset(
    {
        *("custom", "followers", "good-first-issues", "has", "help-wanted-issues", "license"),
        *("mirror", "no", "size", "template", "topic", "topics", "visibility"),
    }
)


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
        ``"language"``, ``"owner"`` or ``"repository"`` (owner and name with a slash between), which
        are equal to the text; ``"name"``, which holds it.
    text
        The text, in lower case.
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


@dataclass(frozen=True, slots=True)
class Clause:
    """A condition: one of its tests holds; or none of them does, where it is negated."""

    tests: tuple[Test, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Expression:
    """A search expression that has been read.

    Attributes
    ----------
    clauses
        What must hold of a repository, all of it.
    sort
        What to sort by: ``"stars"``, ``"forks"`` or ``"updated"``.
    descending
        Whether the largest comes first.
    """

    clauses: tuple[Clause, ...]
    sort: str = "stars"
    descending: bool = True


def parse(text: str) -> Expression:
    """Read a search expression.

    Raises
    ------
    QueryError
        If a value is none that its qualifier takes, or GitHub has a qualifier of that name and
        these data cannot answer it.

    Examples
    --------
    >>> parse("stars:>1000 sort:forks-asc").sort
    'forks'
    """
    clauses: list[Clause] = []
    either: dict[str, list[Test]] = {"owner": [], "language": []}
    sort, descending, denied = "stars", True, False
    for match in _TERM.finditer(text):
        if match["text"] == "NOT" and not match["minus"]:
            denied = True
            continue
        name, value = (match["name"] or "").lower(), _value(match)
        if name == "sort":
            sort, descending = _order(value, (sort, descending))
            continue
        negated, denied = denied or bool(match["minus"]), False
        test = _test(name, value, match["text"])
        if name in _GROUPS and not negated:
            either[_GROUPS[name]].append(test)
        else:
            clauses.append(Clause((test,), negated))
    clauses.extend(Clause(tuple(group)) for group in either.values() if group)
    return Expression(tuple(clauses), sort, descending)


def _value(match: re.Match[str]) -> str:
    """Return what stands after the colon of a term, or the term itself."""
    return match["bare"] if match["quoted"] is None else match["quoted"]


def _order(value: str, now: tuple[str, bool]) -> tuple[str, bool]:
    """Return key and direction of a ``sort:`` term; what it does not know changes nothing."""
    match = _SORT.fullmatch(value.lower())
    return (match["key"], match["way"] != "asc") if match else now


def _test(name: str, value: str, text: str) -> Test:
    """Return what one term asks of a repository."""
    if name in _TESTS:
        return _TESTS[name](value, text)
    lone = text[:-1].lower() if text.endswith(":") else ""
    if lone in _TESTS or lone == "sort":
        msg = f"Search term {_cut(text)} has no value. Write it without a space after it."
        raise QueryError(msg)
    if name in _UNANSWERED:
        msg = (
            f"Search term {_cut(text)} asks what the data here do not hold. "
            f"They can be searched by {', '.join(_TESTS)} and words of the name."
        )
        raise QueryError(msg)
    return Named("name", (text if name else value).replace('"', "").lower())


def _number(column: str) -> Callable[[str, str], Test]:
    """Return a maker of tests of one number."""
    return lambda value, text: Range(column, *_bounds(value, text))


def _bounds(value: str, text: str) -> tuple[int | None, int | None]:
    """Return the lowest and highest number of a term, both included; None for no bound."""
    if match := _RANGE.fullmatch(value):
        low, high = match["low"], match["high"]
        return None if low == "*" else int(low), None if high == "*" else int(high)
    if match := _NUMBER.fullmatch(value):
        number = int(match["number"])
        return _compared(match["sign"], number, number)
    msg = (
        f"Search term {_cut(text)} has no number that can be read. "
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
    """Return the first and the last second of a day in UTC, or of a second."""
    if "T" not in moment.upper():
        first = seconds(f"{moment}T00:00:00Z")
        return first, first + 86_399
    return (seconds(moment.upper()),) * 2


def _named(column: str) -> Callable[[str, str], Test]:
    return lambda value, _text: Named(column, value.lower())


def _archived(value: str, text: str) -> Test:
    return Known("archived", _choice(value, text, {"true": True, "false": False}))


def _fork(value: str, text: str) -> Test:
    return Known("all", _choice(value, text, {"true": True, "false": True, "only": False}))


def _is(value: str, text: str) -> Test:
    return Known("all", _choice(value, text, {"public": True, "private": False}))


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
    msg = f"Search term {_cut(text)} is not known. Write {known}."
    raise QueryError(msg)


def _in(value: str, text: str) -> Test:
    if value.lower() != "name":
        msg = (
            f"Search term {_cut(text)} asks for texts that the data here do not hold. "
            "Words are looked for in names: in:name."
        )
        raise QueryError(msg)
    return Known("all", wanted=True)


def _cut(text: str) -> str:
    return repr(plain(text, 80))


_TESTS: dict[str, Callable[[str, str], Test]] = {
    "stars": _number("stars"),
    "forks": _number("forks"),
    "created": _moment("created"),
    "pushed": _moment("pushed"),
    "language": _named("language"),
    "user": _named("owner"),
    "org": _named("owner"),
    "repo": _named("repository"),
    "archived": _archived,
    "fork": _fork,
    "is": _is,
    "in": _in,
}
_GROUPS = {"user": "owner", "org": "owner", "repo": "owner", "language": "language"}
