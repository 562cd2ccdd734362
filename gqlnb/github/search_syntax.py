"""The syntax of GitHub's repository search: words, operators, qualifiers and their values.

Sources: GitHub documentation, "Understanding the search syntax" and "Searching for repositories".
Words beside each other are joined as by AND, which binds more closely than OR. Conditions are
joined by AND too, but several of ``user:``, ``org:`` and ``repo:``, or of ``language:``, match any
of them.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from gqlnb.errors import QueryError, find_similar, sanitize_text
from gqlnb.github.repositories import parse_timestamp, read_languages


@cache
def map_languages() -> dict[str, str]:
    """Return the name of each language by its names and aliases, as GitHub searches by them.

    They are in lower case, with hyphens for spaces.
    """
    return {
        text.lower().replace(" ", "-"): name.lower().replace(" ", "-")
        for name, (_, *aliases) in read_languages().items()
        for text in (name, *aliases)
    }


def normalize_language(text: str) -> str:
    """Return a language's name in lower case and with hyphens, also for its aliases.

    Examples
    --------
    >>> [normalize_language(text) for text in ("GoLang", "objc", "Jupyter Notebook", "Zig")]
    ['go', 'objective-c', 'jupyter-notebook', 'zig']
    """
    name = text.lower().replace(" ", "-")
    return map_languages().get(name, name)


#: Most characters of the words of a search. Source: GitHub documentation, "Troubleshooting search
#: queries" and the REST API's "Search": operators and qualifiers do not count.
MAX_WORD_CHARACTERS = 256
#: Most of AND, OR and NOT in a search. Source: the same.
MAX_OPERATORS = 5


@dataclass(frozen=True, slots=True)
class Word:
    """A word or a quoted text that a name must contain, or must not.

    Attributes
    ----------
    text
        The text, in lower case.
    negated
        Whether the name must not contain it.
    """

    text: str
    negated: bool = False


#: A word, an operator, or an empty text in the place of a qualifier.
WordOrOperator = Word | str


def parse_alternatives(tokens: Sequence[WordOrOperator]) -> tuple[tuple[Word, ...], ...]:
    """Return the alternatives of OR, each with its unique words.

    AND binds more closely than OR, and NOT more closely than both.

    Raises
    ------
    QueryError
        If :func:`check_words` refuses the tokens.
    """
    check_words(tokens)
    groups: list[dict[Word, None]] = [{}]
    is_denied = False
    for item in tokens:
        if item == "OR":
            groups.append({})
        elif item == "NOT":
            is_denied = not is_denied
        elif isinstance(item, Word):
            groups[-1][Word(item.text, item.negated != is_denied)] = None
            is_denied = False
    return tuple(dict.fromkeys(tuple(group) for group in groups if group))


def check_words(tokens: Sequence[WordOrOperator]) -> None:
    """Check the limits of words and operators, and that operators stand between words.

    Raises
    ------
    QueryError
        With GitHub's message if there are too many characters or operators, or only operators; with
        our own if OR has no word on both sides, or NOT none behind it.
    """
    words = [item.text for item in tokens if isinstance(item, Word)]
    operators = [item for item in tokens if isinstance(item, str) and item]
    if len(" ".join(words)) > MAX_WORD_CHARACTERS:
        msg = f"The search is longer than {MAX_WORD_CHARACTERS} characters."
        raise QueryError(msg)
    if len(operators) > MAX_OPERATORS:
        msg = "More than five AND / OR / NOT operators were used."
        raise QueryError(msg)
    if operators and not words:
        msg = (
            "The search contains only logical operators (AND / OR / NOT) without any search terms."
        )
        raise QueryError(msg)
    has_word, waiting = False, ""  # the operator that has no word behind it so far
    for item in (*tokens, "") if operators else ():
        if isinstance(item, Word):
            has_word, waiting = True, ""
        elif (waiting and item != "NOT") or (item == "OR" and not has_word):
            msg = (
                f"{waiting or item} is about words, and GitHub takes qualifiers out before it "
                "reads them. Put a minus before a qualifier to negate it; several of language:, or "
                "of user:, org: and repo:, mean any of them."
            )
            raise QueryError(msg)
        elif item in {"NOT", "OR"}:
            waiting = item


# Fifteen digits: more than any count, and exact in every JSON reader. Negative numbers are read
# because ``stars:>-1`` is a common way to search all repositories.
_NUMBER_TERM = re.compile(r"(?P<sign>[<>]=?|)(?P<number>-?\d{1,15})", re.ASCII)
_NUMBER_RANGE = re.compile(r"(?P<low>\d{1,15}|\*)\.\.(?P<high>\d{1,15}|\*)", re.ASCII)
_TIME_PATTERN = r"T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
_DATE_PATTERN = rf"\d{{4}}(?:-\d\d(?:-\d\d(?:{_TIME_PATTERN})?)?)?"
_DATE_TERM = re.compile(rf"(?P<sign>[<>]=?|)(?P<moment>{_DATE_PATTERN})", re.ASCII | re.IGNORECASE)
_DATE_RANGE = re.compile(
    rf"(?P<low>{_DATE_PATTERN}|\*)\.\.(?P<high>{_DATE_PATTERN}|\*)", re.ASCII | re.IGNORECASE
)
_SECOND_FRACTION = re.compile(r"\.(\d+)", re.ASCII)

#: Qualifiers of GitHub's other searches, which a search for repositories ignores.
_OTHER_SEARCH_QUALIFIERS = frozenset(
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

#: The values of ``in:``; the default is all but the readme.
WORD_FIELDS = frozenset({"name", "description", "readme", "topics"})


@dataclass(frozen=True, slots=True)
class RangeTest:
    """Test whether a number lies within bounds.

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
class NameTest:
    """Test whether a name is equal to a text.

    Attributes
    ----------
    column
        ``"language"``, ``"owner"`` or ``"repository"`` (``owner/name``).
    text
        The text, in lower case; of a language the result of :func:`normalize_language`.
    """

    column: str
    text: str


@dataclass(frozen=True, slots=True)
class FlagTest:
    """Test whether a flag is set.

    Attributes
    ----------
    column
        ``"archived"``, or ``"all"`` for a flag that is set for every repository.
    wanted
        Whether it must be set.
    """

    column: str
    wanted: bool


@dataclass(frozen=True, slots=True)
class UnknownTest:
    """A test of GitHub's that the stand-in cannot make, because its data lack the values.

    Attributes
    ----------
    column
        The qualifier, such as ``"topic"``.
    """

    column: str


QualifierTest = RangeTest | NameTest | FlagTest | UnknownTest


def is_qualifier(name: str) -> bool:
    """Return whether GitHub has a qualifier of that name."""
    # ``props.`` begins the names of an organization's custom properties.
    known = name in _QUALIFIER_PARSERS or name in _OTHER_SEARCH_QUALIFIERS or name in {"sort", "in"}
    return known or name.startswith("props.")


def parse_qualifier(name: str, value: str, text: str) -> QualifierTest | None:
    """Return the test of a qualifier, or None if it is one of another search.

    Parameters
    ----------
    name
        The name; ``"-fork"`` for a negated ``fork:``, whose meaning is not just the opposite.
    value
        The text behind the colon.
    text
        The whole term, for messages.

    Raises
    ------
    QueryError
        If the value is not valid.
    """
    return _QUALIFIER_PARSERS[name](value, text) if name in _QUALIFIER_PARSERS else None


def quote_term(text: str) -> str:
    """Return a term quoted for a message."""
    return repr(sanitize_text(text, 80))


def _make_number_parser(column: str) -> Callable[[str, str], QualifierTest]:
    return lambda value, text: RangeTest(column, *_parse_number_bounds(value, text))


def _make_unknown_parser(
    column: str, check: Callable[[str, str], object] = lambda _value, _text: None
) -> Callable[[str, str], QualifierTest]:
    """Return a parser of a qualifier without data; `check` refuses values that are not valid."""

    def parse_unknown(value: str, text: str) -> QualifierTest:
        check(value, text)
        return UnknownTest(column)

    return parse_unknown


def _parse_number_bounds(value: str, text: str) -> tuple[int | None, int | None]:
    """Return the bounds of a number, both included; None for no bound."""
    if match := _NUMBER_RANGE.fullmatch(value):
        low, high = match["low"], match["high"]
        return None if low == "*" else int(low), None if high == "*" else int(high)
    if match := _NUMBER_TERM.fullmatch(value):
        number = int(match["number"])
        return _apply_comparison(match["sign"], number, number)
    msg = (
        f"Search term {quote_term(text)} has no number that can be read. "
        "Write N, >N, >=N, <N, <=N, N..M, N..* or *..N."
    )
    raise QueryError(msg)


def _apply_comparison(sign: str, first: int, last: int) -> tuple[int | None, int | None]:
    """Return the bounds of a comparison with a range from `first` to `last`."""
    return {
        "": (first, last),
        ">": (last + 1, None),
        ">=": (first, None),
        "<": (None, first - 1),
        "<=": (None, last),
    }[sign]


def _make_date_parser(column: str) -> Callable[[str, str], QualifierTest]:
    def parse_date_test(value: str, _text: str) -> QualifierTest:
        try:
            return RangeTest(column, *_parse_date_bounds(value))
        except (
            ValueError,
            OverflowError,
        ):  # OverflowError: a zone that leads beyond year 1 or 9999
            shown = sanitize_text(value.lstrip("<>="), 80)
        msg = (
            f'"{shown}" is not a recognized date/time format. '
            "Please provide an ISO 8601 date/time value, such as YYYY-MM-DD."
        )
        raise QueryError(msg)

    return parse_date_test


def _parse_date_bounds(value: str) -> tuple[int | None, int | None]:
    """Return the bounds of a time in seconds, both included; None for no bound."""
    if match := _DATE_RANGE.fullmatch(value):
        low, high = match["low"], match["high"]
        return (
            None if low == "*" else _parse_moment(low)[0],
            None if high == "*" else _parse_moment(high)[1],
        )
    match = _DATE_TERM.fullmatch(value)
    if match is None:
        raise ValueError(value)
    return _apply_comparison(match["sign"], *_parse_moment(match["moment"]))


def _parse_moment(moment: str) -> tuple[int, int]:
    """Return the first and the last second of a year, month or day in UTC, or of a second."""
    if len(moment) > len("2026-08-22"):  # a time of day
        return _parse_second(moment.upper())
    year, month, day = (*map(int, moment.split("-")), 0, 0)[:3]
    last = day or monthrange(year, month or 12)[1]
    return (
        parse_timestamp(f"{year:04}-{month or 1:02}-{day or 1:02}T00:00:00Z"),
        parse_timestamp(f"{year:04}-{month or 12:02}-{last:02}T23:59:59Z"),
    )


def _parse_second(moment: str) -> tuple[int, int]:
    """Return a second twice; of a fraction the second after it, and the one before it."""
    fraction = _SECOND_FRACTION.search(moment)
    date, _, time = _SECOND_FRACTION.sub("", moment).partition("T")
    zone = "" if len(time) > len("04:07:00") else "Z"
    at = parse_timestamp(f"{date}T{time}{zone}")
    return at + (fraction is not None and int(fraction[1]) > 0), at


def _make_name_parser(
    column: str, normalize: Callable[[str], str] = str.lower
) -> Callable[[str, str], QualifierTest]:
    return lambda value, _text: NameTest(column, normalize(value))


def _make_choice_parser(
    choices: Mapping[str, bool], column: str = "all"
) -> Callable[[str, str], QualifierTest]:
    def parse_choice(value: str, text: str) -> QualifierTest:
        if value.lower() in choices:
            return FlagTest(column, choices[value.lower()])
        name = text.partition(":")[0].lower()
        known = " or ".join(f"{name}:{word}" for word in choices)
        msg = f"Search term {quote_term(text)} is not known. Write {known}."
        raise QueryError(msg)

    return parse_choice


_VISIBILITIES = {"public": True, "private": False, "internal": False}
#: The values of ``is:`` in a search for repositories.
IS_TESTS: dict[str, QualifierTest] = {
    **{word: FlagTest("all", wanted) for word, wanted in _VISIBILITIES.items()},
    **{word: UnknownTest(word) for word in ("mirror", "template", "sponsorable")},
    "fork": FlagTest("all", wanted=False),
    "archived": FlagTest("archived", wanted=True),
}
_QUALIFIER_PARSERS: dict[str, Callable[[str, str], QualifierTest | None]] = {
    "stars": _make_number_parser("stars"),
    "forks": _make_number_parser("forks"),
    "created": _make_date_parser("created"),
    "pushed": _make_date_parser("pushed"),
    "language": _make_name_parser("language", normalize_language),
    "user": _make_name_parser("owner"),
    "org": _make_name_parser("owner"),
    "repo": _make_name_parser("repository"),
    "archived": _make_choice_parser({"true": True, "false": False}, "archived"),
    "fork": _make_choice_parser({"true": True, "false": True, "only": False}),
    "-fork": _make_choice_parser({"true": True, "false": False, "only": True}),
    "is": lambda value, _text: IS_TESTS.get(value.lower()),
    "visibility": _make_choice_parser(_VISIBILITIES),
    # Numbers, flags and texts that the data of the stand-in lack.
    **{
        name: _make_unknown_parser(name, _parse_number_bounds)
        for name in ("size", "followers", "topics", "good-first-issues", "help-wanted-issues")
    },
    **{
        name: _make_unknown_parser(name, _make_choice_parser({"true": True, "false": False}))
        for name in ("mirror", "template")
    },
    **{name: _make_unknown_parser(name) for name in ("topic", "license", "has", "custom")},
}
#: The qualifiers of a search for repositories, with ``in:`` and ``sort:``.
QUALIFIER_NAMES = frozenset({*_QUALIFIER_PARSERS, "sort", "in"} - {"-fork"})
#: Qualifiers of which several match any of them, by group.
QUALIFIER_GROUPS = {"user": "owner", "org": "owner", "repo": "owner", "language": "language"}

#: Most results of one page. Source: GitHub documentation, "Node limit".
MAX_PAGE_SIZE = 100
#: Most results of one search. Source: GitHub documentation, "search".
MAX_SEARCH_RESULTS = 1000
#: Most characters of an expression with its qualifiers, enough for some hundred of ``repo:``.
#: GitHub's own limit is not public.
MAX_EXPRESSION_LENGTH = 16_384

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
    re.VERBOSE | re.IGNORECASE,  # not ASCII: every Unicode space separates terms
)
#: The keys of ``sort:``.
SORT_KEYS = ("stars", "forks", "updated")
_SORT_VALUE = re.compile(rf"(?P<key>{'|'.join(SORT_KEYS)})(?:-(?P<way>asc|desc))?")

_BOOLEAN_OPERATORS = frozenset({"AND", "OR", "NOT"})
_PARENTHESES_REFUSED = (
    "Parentheses group nothing in a search for repositories, as far as GitHub documents it: only "
    "its code search has them. Write it without, AND binds more closely than OR; or ask several "
    "searches."
)
_NO_QUALIFIER_APPLIES = "None of the search qualifiers apply to this search type."


@dataclass(frozen=True, slots=True)
class Clause:
    """A condition: at least one of its tests holds, or none if it is negated."""

    tests: tuple[QualifierTest, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class SearchExpression:
    """A parsed search expression.

    Attributes
    ----------
    clauses
        The conditions, of which all must hold.
    words
        The alternatives for the name: it must contain all words of one. Empty for any name.
    sort
        The sort key: ``"stars"``, ``"forks"`` or ``"updated"``; ``"match"``, the default, sorts by
        the words, which is nothing to sort by without words: then most stars come first.
    descending
        Whether the largest comes first.
    ignored
        Qualifiers of GitHub's other searches, as written, which have no effect.
    """

    clauses: tuple[Clause, ...]
    words: tuple[tuple[Word, ...], ...] = ()
    sort: str = "match"
    descending: bool = True
    ignored: tuple[str, ...] = ()


def parse_expression(text: str, viewer: str | None = None) -> SearchExpression:
    """Parse a search expression.

    Parameters
    ----------
    text
        The expression.
    viewer
        The login that ``@me`` stands for; without one it matches nobody.

    Returns
    -------
    SearchExpression
        Conditions, words and order.

    Raises
    ------
    QueryError
        If the expression is longer than ``MAX_EXPRESSION_LENGTH``, a value is not valid, or an
        operator or a qualifier has no effect.

    Examples
    --------
    >>> parse_expression("stars:>1000 sort:forks-asc").sort
    'forks'
    """
    if len(text) > MAX_EXPRESSION_LENGTH:
        msg = (
            f"The search has {len(text):,} characters, qualifiers included; "
            f"{MAX_EXPRESSION_LENGTH:,} are the most. Split it into several searches."
        )
        raise QueryError(msg)
    parser = _ExpressionParser(viewer or "@me")
    for match in _TERM.finditer(text):
        parser.add_term(match)
    return parser.build_expression()


class _ExpressionParser:
    """Collects the terms of an expression."""

    def __init__(self, viewer: str) -> None:
        self._viewer = viewer
        self._clauses: dict[Clause, None] = {}
        self._alternatives: dict[str, dict[QualifierTest, None]] = {"owner": {}, "language": {}}
        self._tokens: list[WordOrOperator] = []
        self._fields: set[str] = set()
        self._order = ("match", True)
        self._has_applicable = self._has_ignored = self._has_parentheses = False
        self._has_property = False
        self._ignored: list[str] = []

    def add_term(self, match: re.Match[str]) -> None:
        if match["group"]:
            self._has_parentheses = True
            self._tokens.extend(["NOT"] if match["minus"] else [])
            return
        text, negated = match["text"], bool(match["minus"])
        name = (match["name"] or "").lower()
        value = match["bare"] if match["quoted"] is None else match["quoted"]
        if text in _BOOLEAN_OPERATORS and not negated:
            self._tokens.append(text)
        elif is_qualifier(name):
            self._tokens.append("")
            self._add_qualifier(name, value, text, negated=negated)
        else:
            if text.endswith(":") and is_qualifier(text[:-1].lower()):
                shown = quote_term(text)
                msg = f"Search term {shown} has no value. Write it without a space after it."
                raise QueryError(msg)
            word = text.replace('"', "") if name else value
            if any(map(str.isalnum, word)):  # GitHub ignores words of punctuation
                self._tokens.append(Word(word.lower(), negated))

    def build_expression(self) -> SearchExpression:
        # Parentheses around plain words are harmless; with operators they would change the meaning.
        if self._has_parentheses and _BOOLEAN_OPERATORS.intersection(self._tokens):
            raise QueryError(_PARENTHESES_REFUSED)
        words = parse_alternatives(self._tokens)
        if self._has_ignored and not words and not self._has_applicable:
            raise QueryError(_NO_QUALIFIER_APPLIES)
        clauses = [*self._clauses]
        clauses.extend(Clause(tuple(group)) for group in self._alternatives.values() if group)
        if words and self._fields and "name" not in self._fields:
            clauses.append(Clause((UnknownTest("in"),)))
        # GitHub ignores custom properties but in a search of a single organization.
        if self._has_property and len(self._alternatives["owner"]) == 1:
            clauses.append(Clause((UnknownTest("props"),)))
        return SearchExpression(tuple(clauses), words, *self._order, tuple(self._ignored))

    def _add_qualifier(self, name: str, value: str, text: str, *, negated: bool) -> None:
        if name == "sort":
            match = _SORT_VALUE.fullmatch(value.lower())
            if match is not None:  # GitHub ignores unknown orders
                self._order = (match["key"], match["way"] != "asc")
            return
        if name == "in":
            self._has_ignored = True
            named = WORD_FIELDS & set(value.lower().split(","))
            self._fields |= (WORD_FIELDS - {"readme"} - named) if negated and named else named
            return
        if name in {"user", "org"} and value.lower() == "@me":
            value = self._viewer
        is_fork = name == "fork"
        test = parse_qualifier("-fork" if negated and is_fork else name, value, text)
        if test is None:  # a qualifier of another search, which GitHub ignores beside others
            self._has_ignored = True
            if name.startswith("props."):
                self._has_property = True
            else:
                self._ignored.append(f"-{text}" if negated else text)
            return
        self._has_applicable = True
        if name in QUALIFIER_GROUPS and not negated:
            self._alternatives[QUALIFIER_GROUPS[name]][test] = None
        else:
            self._clauses[Clause((test,), negated and not is_fork)] = None


TERMS_SHOWN = 3


def list_search_notes(expression: str, *, is_empty: bool) -> list[str]:
    """Return notes about a search, a sentence each.

    Parameters
    ----------
    expression
        The search, in GitHub's syntax.
    is_empty
        Whether it found nothing; then the terms are named that are likely to be the reason.

    Examples
    --------
    >>> list_search_notes("stars:1000", is_empty=True)
    ["'1000' means exactly 1,000 stars; write '>1000' for above."]
    """
    try:
        parsed = parse_expression(expression)
    except QueryError:  # the endpoint accepted it
        return []
    notes = _explain_ignored(parsed.ignored) if parsed.ignored else []
    if is_empty:
        tests = [test for clause in parsed.clauses if not clause.negated for test in clause.tests]
        notes += filter(None, map(_explain_empty_test, tests))
    return notes


def _explain_ignored(terms: tuple[str, ...]) -> list[str]:
    shown = ", ".join(map(quote_term, terms[:TERMS_SHOWN]))
    more = " and others" if len(terms) > TERMS_SHOWN else ""
    note = f"Probably without effect: {shown}{more}. Searches for repositories have no such filter."
    if any(term.lower().lstrip("-").startswith("is:") for term in terms):
        note += f" Their values of is: are {', '.join(IS_TESTS)}."
    return [note]


def _explain_empty_test(test: QualifierTest) -> str:
    """Return a note about a test that hardly matches anything; empty for others."""
    if isinstance(test, RangeTest) and test.column == "stars" and test.low == test.high is not None:
        return f"'{test.low}' means exactly {test.low:,} stars; write '>{test.low}' for above."
    if not isinstance(test, NameTest) or test.column not in {"language", "owner"}:
        return ""
    name = "language" if test.column == "language" else "user"
    if "," in test.text:
        terms = " ".join(f"{name}:{part}" for part in test.text.split(",") if part)
        return f"{quote_term(f'{name}:{test.text}')} is one value. Write {terms} for either."
    # The table lacks some languages, so a name without a similar one may be right.
    if name == "language" and test.text not in map_languages():
        near = find_similar(test.text, sorted(map_languages()), 0.75)
        if near is not None:
            return f"{quote_term(test.text)} is not a known language. Did you mean {near!r}?"
    return ""
