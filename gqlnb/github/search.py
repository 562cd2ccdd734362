"""Search expressions: ``stars:>1000 language:python -user:google vim sort:forks``.

What an expression can say, in any case:

==============================  ================================================================
``stars:N`` ``forks:N``         the number; also ``>N``, ``>=N``, ``<N``, ``<=N``, ``N..M``,
                                ``N..*``, ``*..N``
``created:DATE`` ``pushed:``    when it was made, the last push: a day as ``2026-08-22``, a month
                                or a year as its beginning, or a second as
                                ``2026-08-22T04:07:00Z`` (or ``+02:00``; UTC without a zone); in
                                the same forms
``language:NAME``               the language, by any of its names (``golang``, ``c++``, ``js``);
                                quoted if it holds a space; several mean any of them
``user:LOGIN`` ``org:LOGIN``    the owner, ``@me`` for who asks; several, with ``repo:`` among
                                them, mean any of them
``repo:OWNER/NAME``             the one repository
``archived:true``               closed for changes, also ``is:archived``; ``false`` the others
``fork:true``                   all, with ``false`` too, for there are no forks here; ``only`` and
                                ``is:fork`` none
``is:public``                   all, also ``visibility:public``; ``private``, ``internal`` none
``mirror:`` ``template:``       ``false`` all, ``true`` none
``size:N`` ``topics:N``         a number as above, which is 0 for all; also ``followers:``,
                                ``good-first-issues:``, ``help-wanted-issues:``
``topic:`` ``license:``         none, for none is known; also ``has:``
``in:name``                     where words are looked for; ``description``, ``readme`` and
                                ``topics`` are empty here; several with commas
``word`` ``"two words"``        is part of the name
``AND`` ``OR`` ``NOT``          between words, in capitals: NOT binds most closely, OR least
``-...``                        what follows, word or qualifier, does not hold
``sort:stars``                  the order; also ``forks``, ``updated`` (the last push); each also
                                with ``-asc`` or ``-desc``
==============================  ================================================================

All conditions hold together, except where the table says any. An expression without conditions
finds everything.

Notes
-----
Source: GitHub documentation, "Searching for repositories", "Understanding the search syntax" and
"Troubleshooting search queries". GitHub documents no order for its default, "best match": here it
is most stars first. Equal repositories stand in the order of owner and name. An unknown ``sort:``
is ignored, as GitHub ignores it, and so is a qualifier of its other searches (``is:issue``,
``author:``) beside one of this. A word with a colon that is no qualifier of GitHub's is text, and
so found in no name; a word without a letter or a digit asks for nothing, and nor do parentheses.

A search that is refused is an error of the field, as at GitHub. In GitHub's words, known from its
REST API: words of more than 256 characters, too many operators or nothing but operators, qualifiers
that all belong to other searches; further a value that its qualifier does not take. Refused here
alone are an operator beside a qualifier or with parentheses, where an answer would look right and
be wrong, and an expression of more than 16,384 characters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gqlnb.errors import QueryError
from gqlnb.github.qualifiers import FIELDS, GROUPS, Known, Test, asked, cut, is_qualifier
from gqlnb.github.words import Token, Word, alternatives

__all__ = ["KEYS", "LONGEST", "PAGE", "REACH", "Clause", "Expression", "parse"]

PAGE = 100
"""Most results of one page. Source: GitHub documentation, "Node limit"."""
REACH = 1000
"""Most results of one search, whatever its count. Source: GitHub documentation, "search"."""
LONGEST = 16_384
"""Most characters of an expression with its qualifiers: room for some hundred of ``repo:``. How
many GitHub takes is not public."""

_TERM = re.compile(
    r"""
    (?P<minus>-?)
    (?:
        (?P<group> [()] )
        | (?P<text>
            (?: (?P<name> [a-z][a-z.-]* ) : )?
            (?: " (?P<quoted> [^"]* ) "? | (?P<bare> [^\s"()]+ ) )
        )
    )
    """,
    re.VERBOSE | re.IGNORECASE,  # not ASCII: all that looks like a space is one
)
KEYS = ("stars", "forks", "updated")
"""What a search is sorted by."""
_SORT = re.compile(rf"(?P<key>{'|'.join(KEYS)})(?:-(?P<way>asc|desc))?")

_OPERATORS = frozenset({"AND", "OR", "NOT"})
_GROUPED = (
    "Parentheses group nothing in a search for repositories, as far as GitHub documents it: only "
    "its code search has them. Write it without, AND binds more closely than OR; or ask several "
    "searches."
)
_NONE_APPLY = "None of the search qualifiers apply to this search type."


@dataclass(frozen=True, slots=True)
class Clause:
    """A condition: at least one of its tests holds; if negated, none of them."""

    tests: tuple[Test, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Expression:
    """A search expression that has been read.

    Attributes
    ----------
    clauses
        What must hold of a repository, all of it, each once.
    words
        What its name must be like: all words of one of these alternatives. Empty for any name.
    sort
        What to sort by: ``"stars"``, ``"forks"`` or ``"updated"``.
    descending
        Whether the largest comes first.
    """

    clauses: tuple[Clause, ...]
    words: tuple[tuple[Word, ...], ...] = ()
    sort: str = "stars"
    descending: bool = True


def parse(text: str, viewer: str | None = None) -> Expression:
    """Read a search expression.

    Parameters
    ----------
    text
        The expression.
    viewer
        The login that ``@me`` stands for; without one it is nobody.

    Raises
    ------
    QueryError
        If the expression is longer than :data:`LONGEST`, if a qualifier does not take its value,
        or if operators or qualifiers stand where they say nothing.

    Examples
    --------
    >>> parse("stars:>1000 sort:forks-asc").sort
    'forks'
    """
    if len(text) > LONGEST:
        msg = (
            f"The search has {len(text):,} characters, qualifiers included; {LONGEST:,} are the "
            "most. Ask for a part of it at a time."
        )
        raise QueryError(msg)
    reading = _Reading(viewer or "@me")
    for match in _TERM.finditer(text):
        reading.take(match)
    return reading.expression()


class _Reading:
    """What has been read of an expression."""

    def __init__(self, viewer: str) -> None:
        self._viewer = viewer
        self._clauses: dict[Clause, None] = {}
        self._either: dict[str, dict[Test, None]] = {"owner": {}, "language": {}}
        self._tokens: list[Token] = []
        self._fields: set[str] = set()
        self._order = ("stars", True)
        self._applied, self._ignored, self._grouped = False, False, False

    def take(self, match: re.Match[str]) -> None:
        """Read one term."""
        if match["group"]:
            self._grouped = True
            self._tokens.extend(["NOT"] if match["minus"] else [])
            return
        text, negated = match["text"], bool(match["minus"])
        name = (match["name"] or "").lower()
        value = match["bare"] if match["quoted"] is None else match["quoted"]
        if text in _OPERATORS and not negated:
            self._tokens.append(text)
        elif is_qualifier(name):
            self._tokens.append("")
            self._qualifier(name, value, text, negated=negated)
        else:
            _refuse_lone(text)
            self._word(text.replace('"', "") if name else value, negated=negated)

    def expression(self) -> Expression:
        """Return all of it.

        Raises
        ------
        QueryError
            If operators or qualifiers say nothing.
        """
        if self._grouped and _OPERATORS.intersection(self._tokens):
            raise QueryError(_GROUPED)
        words = alternatives(self._tokens)
        if self._ignored and not words and not self._applied:
            raise QueryError(_NONE_APPLY)
        clauses = [*self._clauses]
        clauses.extend(Clause(tuple(group)) for group in self._either.values() if group)
        if words and self._fields and "name" not in self._fields:
            # What is looked at is empty: only what asks for the absence of words holds.
            empty = any(all(word.negated for word in alternative) for alternative in words)
            clauses.append(Clause((Known("all", empty),)))
            words = ()
        return Expression(tuple(clauses), words, *self._order)

    def _word(self, text: str, *, negated: bool) -> None:
        """Read a word; one that is nothing but signs asks for nothing."""
        if any(map(str.isalnum, text)):
            self._tokens.append(Word(text.lower(), negated))

    def _qualifier(self, name: str, value: str, text: str, *, negated: bool) -> None:
        if name == "sort":
            self._order = _order(value, self._order)
        elif name == "in":
            self._ignored = True
            self._in(value, negated=negated)
        elif (test := self._test(name, value, text, negated=negated)) is None:
            self._ignored = True
        else:
            self._applied = True
            self._hold(name, test, negated=negated and name != "fork")

    def _test(self, name: str, value: str, text: str, *, negated: bool) -> Test | None:
        """Return what a qualifier asks of a repository; None for nothing."""
        if name in {"user", "org"} and value.lower() == "@me":
            value = self._viewer
        return asked("-fork" if negated and name == "fork" else name, value, text)

    def _in(self, value: str, *, negated: bool) -> None:
        """Read where words are looked for; what is no such place changes nothing."""
        named = FIELDS & set(value.lower().split(","))
        self._fields |= (FIELDS - {"readme"} - named) if negated and named else named

    def _hold(self, name: str, test: Test, *, negated: bool) -> None:
        """Ask for a test."""
        if name in GROUPS and not negated:
            self._either[GROUPS[name]][test] = None
        else:
            self._clauses[Clause((test,), negated)] = None


def _refuse_lone(text: str) -> None:
    """Refuse a qualifier with a space behind its colon.

    Raises
    ------
    QueryError
        If it is one.
    """
    if text.endswith(":") and is_qualifier(text[:-1].lower()):
        msg = f"Search term {cut(text)} has no value. Write it without a space after it."
        raise QueryError(msg)


def _order(value: str, now: tuple[str, bool]) -> tuple[str, bool]:
    """Return key and direction of a ``sort:`` term; what it does not know changes nothing."""
    match = _SORT.fullmatch(value.lower())
    return (match["key"], match["way"] != "asc") if match else now
