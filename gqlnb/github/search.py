"""Search expressions: ``stars:>1000 language:python -user:google vim sort:forks``.

What an expression can say, in any case:

==========================  ====================================================================
``stars:N`` ``forks:N``     the number; also ``>N``, ``>=N``, ``<N``, ``<=N``, ``N..M``, ``N..*``,
                            ``*..N``
``pushed:DATE``             the last push: a day as ``2026-08-22``, or a second as
                            ``2026-08-22T04:07:00Z`` (or ``+02:00``); in the same forms
``language:NAME``           the language; quoted if it holds a space; several mean any of them
``user:LOGIN`` ``org:``     the owner; several, with ``repo:`` among them, mean any of them
``repo:OWNER/NAME``         the one repository
``is:public``               all; ``is:private`` none
``in:name``                 says what holds anyway: words are looked for in names
``word`` ``"two words"``    is part of the name
``-...`` ``NOT ...``        what follows does not hold
``sort:stars``              the order; also ``forks``, ``updated`` (the last push); each also with
                            ``-asc`` or ``-desc``
==========================  ====================================================================

All conditions hold together, except where the table says any. An expression without conditions
finds everything.

Notes
-----
Source: GitHub documentation, "Searching for repositories" and "Understanding the search syntax".
GitHub documents no order for its default, "best match": here it is most stars first. Equal
repositories stand in the order of owner and name. An unknown ``sort:`` is ignored, as GitHub
ignores it. A word with a colon that is no qualifier of GitHub's is text, and so found in no name.
A qualifier that GitHub has and these data cannot answer, or a value that is none, is refused with a
sentence, where an answer would look right and be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gqlnb.errors import QueryError, plain

if TYPE_CHECKING:
    from gqlnb.github.data import Repository

__all__ = ["PAGE", "REACH", "Expression", "find", "order_by", "parse"]

PAGE = 100
"""Most results of one page. Source: GitHub documentation, "Node limit"."""
REACH = 1000
"""Most results of one search, whatever its count. Source: GitHub documentation, "search"."""

Test = Callable[["Repository"], bool]

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
_EVER = ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z")
_SORT = re.compile(r"(?P<key>stars|forks|updated)(?:-(?P<way>asc|desc))?")

# Qualifiers of GitHub's repository search for which the snapshot has no facts.
_UNANSWERED = frozenset(
    {
        *("archived", "created", "custom", "followers", "fork", "good-first-issues", "has"),
        *("help-wanted-issues", "license", "mirror", "no", "size", "template", "topic"),
        *("topics", "visibility"),
    }
)
_KEYS: dict[str, Callable[[Repository], Any]] = {
    "stars": lambda row: row.stars,
    "forks": lambda row: row.forks,
    "updated": lambda row: row.pushed_at,
    "name": lambda row: row.name.lower(),
}


@dataclass(frozen=True, slots=True)
class Expression:
    """A search expression that has been read.

    Attributes
    ----------
    tests
        What must hold of a repository, all of it.
    sort
        What to sort by: ``"stars"``, ``"forks"`` or ``"updated"``.
    descending
        Whether the largest comes first.
    """

    tests: tuple[Test, ...]
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
    tests: list[Test] = []
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
        if negated:
            tests.append(_not(test))
        else:
            either.get(_GROUPS.get(name, ""), tests).append(test)
    tests.extend(_any(group) for group in either.values() if group)
    return Expression(tuple(tests), sort, descending)


def find(rows: Iterable[Repository], expression: Expression) -> tuple[Repository, ...]:
    """Return the repositories of which `expression` holds, in its order.

    Parameters
    ----------
    rows
        In the order of :class:`~gqlnb.github.data.Repositories`: most stars first.
    expression
        What to look for.
    """
    tests = expression.tests
    found = [row for row in rows if all(test(row) for test in tests)]
    if (expression.sort, expression.descending) == ("stars", True):
        return tuple(found)
    return order_by(found, expression.sort, descending=expression.descending)


def order_by(rows: Iterable[Repository], key: str, *, descending: bool) -> tuple[Repository, ...]:
    """Return the repositories sorted by `key`, equal ones by owner and name.

    Parameters
    ----------
    rows
        Repositories in any order.
    key
        ``"stars"``, ``"forks"``, ``"updated"`` or ``"name"``.
    descending
        Whether the largest comes first; equal ones keep their order.
    """
    named = sorted(rows, key=lambda row: row.full_name.lower())
    return tuple(sorted(named, key=_KEYS[key], reverse=descending))


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
            f"Search term {_cut(text)} asks what the embedded snapshot does not hold. "
            f"It can be searched by {', '.join(_TESTS)} and words of the name."
        )
        raise QueryError(msg)
    word = (text if name else value).replace('"', "").lower()
    return lambda row: word in row.name.lower()


def _number(read: Callable[[Repository], int]) -> Callable[[str, str], Test]:
    """Return a maker of tests of one number."""

    def make(value: str, text: str) -> Test:
        low, high = _bounds(value, text)
        return lambda row: low <= read(row) and (high is None or read(row) <= high)

    return make


def _bounds(value: str, text: str) -> tuple[int, int | None]:
    """Return the lowest and highest number of a term, both included; None for no upper end."""
    if match := _RANGE.fullmatch(value):
        low, high = match["low"], match["high"]
        return 0 if low == "*" else int(low), None if high == "*" else int(high)
    if match := _NUMBER.fullmatch(value):
        number = int(match["number"])
        return {
            "": (number, number),
            ">": (number + 1, None),
            ">=": (number, None),
            "<": (0, number - 1),
            "<=": (0, number),
        }[match["sign"]]
    msg = (
        f"Search term {_cut(text)} has no number that can be read. "
        "Write N, >N, >=N, <N, <=N, N..M, N..* or *..N."
    )
    raise QueryError(msg)


def _pushed(value: str, text: str) -> Test:
    try:
        low, high = _span(value)
    except (ValueError, OverflowError):  # no such day; a zone that leads out of all years
        msg = (
            f"Search term {_cut(text)} has no date that can be read. Write a day such as "
            "2026-08-22, or a second such as 2026-08-22T04:07:00Z, "
            "as D, >D, >=D, <D, <=D, D..D, D..* or *..D."
        )
        raise QueryError(msg) from None
    return lambda row: low <= row.pushed_at <= high


def _span(value: str) -> tuple[str, str]:
    """Return the first and the last second of a span of time, as the table writes them.

    Raises
    ------
    ValueError, OverflowError
        If it is none.
    """
    if match := _SPAN.fullmatch(value):
        low, high = match["low"], match["high"]
        return (
            _EVER[0] if low == "*" else _seconds(low)[0],
            _EVER[1] if high == "*" else _seconds(high)[1],
        )
    match = _MOMENT.fullmatch(value)
    if match is None:
        raise ValueError(value)
    first, last = _seconds(match["moment"])
    return {
        "": (first, last),
        ">": (f"{last}~", _EVER[1]),  # behind everything that begins with it
        ">=": (first, _EVER[1]),
        "<": (_EVER[0], first.removesuffix("Z")),  # before everything that begins with it
        "<=": (_EVER[0], last),
    }[match["sign"]]


def _seconds(moment: str) -> tuple[str, str]:
    """Return the first and the last second of a day, or of a second, in UTC."""
    if "T" not in moment.upper():
        datetime.fromisoformat(moment)
        return f"{moment}T00:00:00Z", f"{moment}T23:59:59Z"
    second = datetime.fromisoformat(moment.upper()).astimezone(UTC)
    return (f"{second.replace(tzinfo=None).isoformat(timespec='seconds')}Z",) * 2


def _language(value: str, _text: str) -> Test:
    wanted = value.lower()
    return lambda row: row.language is not None and row.language.name.lower() == wanted


def _owner(value: str, _text: str) -> Test:
    wanted = value.lower()
    return lambda row: row.owner.login.lower() == wanted


def _repo(value: str, _text: str) -> Test:
    wanted = value.lower()
    return lambda row: row.full_name.lower() == wanted


def _is(value: str, text: str) -> Test:
    if value.lower() not in {"public", "private"}:
        msg = f"Search term {_cut(text)} is not known. Write is:public or is:private."
        raise QueryError(msg)
    public = value.lower() == "public"
    return lambda _row: public


def _in(value: str, text: str) -> Test:
    if value.lower() != "name":
        msg = (
            f"Search term {_cut(text)} asks for texts that the embedded snapshot does not hold. "
            "Words are looked for in names: in:name."
        )
        raise QueryError(msg)
    return lambda _row: True


def _not(test: Test) -> Test:
    return lambda row: not test(row)


def _any(tests: list[Test]) -> Test:
    return lambda row: any(test(row) for test in tests)


def _cut(text: str) -> str:
    return repr(plain(text, 80))


_TESTS: dict[str, Callable[[str, str], Test]] = {
    "stars": _number(lambda row: row.stars),
    "forks": _number(lambda row: row.forks),
    "pushed": _pushed,
    "language": _language,
    "user": _owner,
    "org": _owner,
    "repo": _repo,
    "is": _is,
    "in": _in,
}
_GROUPS = {"user": "owner", "org": "owner", "repo": "owner", "language": "language"}
