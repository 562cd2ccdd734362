"""Other names of languages, as ``language:`` of a search takes them: ``golang`` is Go."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from gqlnb.errors import QueryError, sanitize_text
from gqlnb.github.repositories import parse_timestamp

__all__ = [
    "MAX_EXPRESSION_LENGTH",
    "MAX_OPERATORS",
    "MAX_PAGE_SIZE",
    "MAX_SEARCH_RESULTS",
    "MAX_WORD_CHARACTERS",
    "QUALIFIER_GROUPS",
    "QUALIFIER_NAMES",
    "SORT_KEYS",
    "WORD_FIELDS",
    "Clause",
    "FlagTest",
    "NameTest",
    "QualifierTest",
    "RangeTest",
    "SearchExpression",
    "Word",
    "check_words",
    "is_qualifier",
    "normalize_language",
    "parse_alternatives",
    "parse_expression",
    "parse_qualifier",
    "quote_term",
]

_ALIASES_BY_LANGUAGE: Mapping[str, tuple[str, ...]] = {
    "ActionScript": ("actionscript 3", "actionscript3", "as3"),
    "Assembly": ("asm", "nasm"),
    "Batchfile": ("bat", "batch", "dosbatch", "winbatch"),
    "C#": ("csharp", "cake", "cakescript"),
    "C++": ("cpp",),
    "CoffeeScript": ("coffee", "coffee-script"),
    "Common Lisp": ("lisp",),
    "D": ("dlang",),
    "DM": ("byond",),
    "Dockerfile": ("containerfile",),
    "Emacs Lisp": ("elisp", "emacs"),
    "F#": ("fsharp",),
    "Go": ("golang",),
    "HCL": ("hashicorp configuration language", "opentofu", "terraform"),
    "HTML": ("xhtml",),
    "JavaScript": ("js", "node"),
    "Jupyter Notebook": ("ipython notebook",),
    "MATLAB": ("octave",),
    "Makefile": ("bsdmake", "make", "mf"),
    "Markdown": ("md", "pandoc"),
    "Nix": ("nixos",),
    "Objective-C": ("obj-c", "objc", "objectivec"),
    "Objective-C++": ("obj-c++", "objc++", "objectivec++"),
    "PHP": ("inc",),
    "Pascal": ("delphi", "objectpascal"),
    "Perl": ("cperl",),
    "PowerShell": ("posh", "pwsh"),
    "Protocol Buffer": ("proto", "protobuf", "protocol buffers"),
    "Python": ("py", "py3", "python3", "rusthon"),
    "R": ("rscript", "splus"),
    "Raku": ("perl6", "perl-6"),
    "Ruby": ("jruby", "macruby", "rake", "rb", "rbx"),
    "Rust": ("rs",),
    "Shell": ("sh", "shell-script", "bash", "zsh", "envrc"),
    "Starlark": ("bazel", "bzl"),
    "TeX": ("latex",),
    "TypeScript": ("ts",),
    "V": ("vlang",),
    "Vim Script": ("vim", "viml", "nvim", "vimscript"),
    "Visual Basic .NET": ("visual basic", "vbnet", "vb .net", "vb.net"),
    "WebAssembly": ("wast", "wasm"),
    "XML": ("rss", "xsd", "wsdl"),
    "YAML": ("yml",),
    "reStructuredText": ("rst",),
}

LANGUAGE_ALIASES: Mapping[str, str] = MappingProxyType(
    {
        other.replace(" ", "-"): name.lower().replace(" ", "-")
        for name, others in _ALIASES_BY_LANGUAGE.items()
        for other in others
    }
)
"""What each other name stands for, in lower case and with hyphens for spaces.

Source: the table of languages of GitHub Linguist, by whose names and aliases GitHub searches; of
it the languages of the embedded snapshot and some more that are often asked for.
"""


def normalize_language(text: str) -> str:
    """Return what all names of one language have in common, whatever their case.

    Spaces and hyphens are the same, as in the aliases that Linguist makes of names.

    Examples
    --------
    >>> spoken("GoLang"), spoken("objc"), spoken("Jupyter Notebook"), spoken("Zig")
    ('go', 'objective-c', 'jupyter-notebook', 'zig')
    """
    name = text.lower().replace(" ", "-")
    return LANGUAGE_ALIASES.get(name, name)


MAX_WORD_CHARACTERS = 256
"""Most characters of the words of a search. Source: GitHub documentation, "Troubleshooting search
queries" and the REST API's "Search", which says that operators and qualifiers do not count."""
MAX_OPERATORS = 5
"""Most of AND, OR and NOT in a search. Source: the same."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word or a quoted text that is part of the name, or is not.

    Attributes
    ----------
    text
        The text, in lower case.
    negated
        Whether it shall not be there.
    """

    text: str
    negated: bool = False


WordOrOperator = Word | str
"""A word, an operator, or an empty text for the place where a qualifier stood."""


def parse_alternatives(tokens: Sequence[WordOrOperator]) -> tuple[tuple[Word, ...], ...]:
    """Return the alternatives that OR leaves, each with the words that it is about, each once.

    Words side by side are joined as by AND, which binds more closely than OR, and NOT more closely
    than both. Without words there is no alternative.

    Raises
    ------
    QueryError
        As :func:`check_words` does.
    """
    check_words(tokens)
    groups: list[dict[Word, None]] = [{}]
    denied = False
    for each in tokens:
        if each == "OR":
            groups.append({})
        elif each == "NOT":
            denied = not denied
        elif isinstance(each, Word):
            groups[-1][Word(each.text, each.negated != denied)] = None
            denied = False
    return tuple(dict.fromkeys(tuple(group) for group in groups if group))


def check_words(tokens: Sequence[WordOrOperator]) -> None:
    """Refuse what GitHub refuses, and an operator that is not about words.

    Raises
    ------
    QueryError
        In GitHub's words if there are too many characters or operators, or nothing but operators;
        in ours if OR has no word on both sides, or NOT none behind it.
    """
    words = [token.text for token in tokens if isinstance(token, Word)]
    operators = [token for token in tokens if isinstance(token, str) and token]
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
    if operators:
        _check_operators(tokens)


def _check_operators(tokens: Iterable[WordOrOperator]) -> None:
    """Refuse OR and NOT where a qualifier, or nothing, stands in the place of a word."""
    read, waiting = False, ""
    for each in (*tokens, ""):
        if isinstance(each, Word):
            read, waiting = True, ""
        elif waiting and each != "NOT":
            raise _make_operator_error(waiting)
        elif each == "NOT" or (each == "OR" and read):
            waiting = each
        elif each == "OR":
            raise _make_operator_error(each)


def _make_operator_error(operator: str) -> QueryError:
    """Return the refusal of an operator that is not about words."""
    return QueryError(
        f"{operator} is about words, and GitHub takes qualifiers out before it reads them. Put a "
        "minus before a qualifier to negate it; several of language:, or of user:, org: and "
        "repo:, mean any of them."
    )


# Fifteen digits: more stars than there will be, and a number every JSON reader keeps exact. Below
# zero, for those who ask for all with ``stars:>-1``.
_NUMBER_TERM = re.compile(r"(?P<sign>[<>]=?|)(?P<number>-?\d{1,15})", re.ASCII)
_NUMBER_RANGE = re.compile(r"(?P<low>\d{1,15}|\*)\.\.(?P<high>\d{1,15}|\*)", re.ASCII)
_TIME_PATTERN = r"T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
_DATE_PATTERN = rf"\d{{4}}(?:-\d\d(?:-\d\d(?:{_TIME_PATTERN})?)?)?"
_DATE_TERM = re.compile(rf"(?P<sign>[<>]=?|)(?P<moment>{_DATE_PATTERN})", re.ASCII | re.IGNORECASE)
_DATE_RANGE = re.compile(
    rf"(?P<low>{_DATE_PATTERN}|\*)\.\.(?P<high>{_DATE_PATTERN}|\*)", re.ASCII | re.IGNORECASE
)
_SECOND_FRACTION = re.compile(r"\.(\d+)", re.ASCII)

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
"""Qualifiers of GitHub's searches for other things."""

WORD_FIELDS = frozenset({"name", "description", "readme", "topics"})
"""Where GitHub looks for words; without ``in:`` not in the readme."""


@dataclass(frozen=True, slots=True)
class RangeTest:
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
class NameTest:
    """A text is what it should be.

    Attributes
    ----------
    column
        ``"language"``, ``"owner"`` or ``"repository"`` (owner and name with a slash between).
    text
        The text, in lower case; of a language what :func:`~gqlnb.github.search_syntax.normalize_language` makes.
    """

    column: str
    text: str


@dataclass(frozen=True, slots=True)
class FlagTest:
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


QualifierTest = RangeTest | NameTest | FlagTest


def is_qualifier(name: str) -> bool:
    """Tell whether GitHub has a qualifier of that name; ``props.`` is one of organizations."""
    known = name in _QUALIFIER_PARSERS or name in _OTHER_SEARCH_QUALIFIERS or name in {"sort", "in"}
    return known or name.startswith("props.")


def parse_qualifier(name: str, value: str, text: str) -> QualifierTest | None:
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
    return _QUALIFIER_PARSERS[name](value, text) if name in _QUALIFIER_PARSERS else None


def quote_term(text: str) -> str:
    """Return a term as messages show it."""
    return repr(sanitize_text(text, 80))


def _make_number_parser(column: str) -> Callable[[str, str], QualifierTest]:
    """Return a maker of tests of one number."""
    return lambda value, text: RangeTest(column, *_parse_number_bounds(value, text))


def _parse_unknown_number(value: str, text: str) -> QualifierTest:
    """Return a test of a number that is not known of any repository, and so is 0."""
    low, high = _parse_number_bounds(value, text)
    return FlagTest("all", (low is None or low <= 0) and (high is None or high >= 0))


def _parse_number_bounds(value: str, text: str) -> tuple[int | None, int | None]:
    """Return the lowest and highest number of a term, both included; None for no bound."""
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
    """Return what a sign before something that goes from `first` to `last` leaves."""
    return {
        "": (first, last),
        ">": (last + 1, None),
        ">=": (first, None),
        "<": (None, first - 1),
        "<=": (None, last),
    }[sign]


def _make_date_parser(column: str) -> Callable[[str, str], QualifierTest]:
    """Return a maker of tests of one moment."""

    def parse_date_test(value: str, _text: str) -> QualifierTest:
        try:
            return RangeTest(column, *_parse_date_bounds(value))
        except (ValueError, OverflowError):  # no such day; a zone that leads out of all years
            shown = sanitize_text(value.lstrip("<>="), 80)
        msg = (
            f'"{shown}" is not a recognized date/time format. '
            "Please provide an ISO 8601 date/time value, such as YYYY-MM-DD."
        )
        raise QueryError(msg)

    return parse_date_test


def _parse_date_bounds(value: str) -> tuple[int | None, int | None]:
    """Return the first and the last second of a span of time, both included.

    Raises
    ------
    ValueError, OverflowError
        If it is none.
    """
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
    """Return the first and the last second of a year, month or day in UTC, or of a second.

    What lies between two seconds has none: the second after it is its first, that before its last.
    """
    if len(moment) > len("2026-08-22"):
        return _parse_second(moment.upper())
    year, month, day = (*map(int, moment.split("-")), 0, 0)[:3]
    last = day or monthrange(year, month or 12)[1]
    return (
        parse_timestamp(f"{year:04}-{month or 1:02}-{day or 1:02}T00:00:00Z"),
        parse_timestamp(f"{year:04}-{month or 12:02}-{last:02}T23:59:59Z"),
    )


def _parse_second(moment: str) -> tuple[int, int]:
    """Return a second twice, or the two around a fraction."""
    fraction = _SECOND_FRACTION.search(moment)
    date, _, time = _SECOND_FRACTION.sub("", moment).partition("T")
    zone = "" if len(time) > len("04:07:00") else "Z"
    at = parse_timestamp(f"{date}T{time}{zone}")
    return at + (fraction is not None and int(fraction[1]) > 0), at


def _parse_owner(value: str, _text: str) -> QualifierTest:
    return NameTest("owner", value.lower())


def _parse_repository(value: str, _text: str) -> QualifierTest:
    return NameTest("repository", value.lower())


def _parse_language(value: str, _text: str) -> QualifierTest:
    return NameTest("language", normalize_language(value))


def _parse_unknown_text(_value: str, _text: str) -> QualifierTest:
    """Return a test of what is not known of any repository: it has none."""
    return FlagTest("all", wanted=False)


def _make_choice_parser(
    choices: dict[str, bool], column: str = "all"
) -> Callable[[str, str], QualifierTest]:
    """Return a maker of tests of something that is one of some words."""
    return lambda value, text: FlagTest(column, _parse_choice(value, text, choices))


def _parse_choice(value: str, text: str, choices: dict[str, bool]) -> bool:
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
    msg = f"Search term {quote_term(text)} is not known. Write {known}."
    raise QueryError(msg)


def _parse_is_term(value: str, _text: str) -> QualifierTest | None:
    """Return what ``is:`` asks for; nothing, where it is of another search."""
    return _IS_TESTS.get(value.lower())


_VISIBILITIES = {"public": True, "private": False, "internal": False}
_ALWAYS_FALSE = {"true": False, "false": True}
_IS_TESTS: dict[str, QualifierTest] = {
    **{word: FlagTest("all", wanted) for word, wanted in _VISIBILITIES.items()},
    **{
        word: FlagTest("all", wanted=False)
        for word in ("fork", "mirror", "template", "sponsorable")
    },
    "archived": FlagTest("archived", wanted=True),
}
_QUALIFIER_PARSERS: dict[str, Callable[[str, str], QualifierTest | None]] = {
    "stars": _make_number_parser("stars"),
    "forks": _make_number_parser("forks"),
    "created": _make_date_parser("created"),
    "pushed": _make_date_parser("pushed"),
    "language": _parse_language,
    "user": _parse_owner,
    "org": _parse_owner,
    "repo": _parse_repository,
    "archived": _make_choice_parser({"true": True, "false": False}, "archived"),
    "fork": _make_choice_parser({"true": True, "false": True, "only": False}),
    "-fork": _make_choice_parser({"true": True, "false": False, "only": True}),
    "is": _parse_is_term,
    "visibility": _make_choice_parser(_VISIBILITIES),
    "mirror": _make_choice_parser(_ALWAYS_FALSE),
    "template": _make_choice_parser(_ALWAYS_FALSE),
    **dict.fromkeys(("size", "followers", "topics"), _parse_unknown_number),
    **dict.fromkeys(("good-first-issues", "help-wanted-issues"), _parse_unknown_number),
    **dict.fromkeys(("topic", "license", "has", "custom"), _parse_unknown_text),
}
QUALIFIER_NAMES = frozenset({*_QUALIFIER_PARSERS, "sort", "in"} - {"-fork"})
"""The qualifiers of a search for repositories, and where it looks and how it sorts."""
QUALIFIER_GROUPS = {"user": "owner", "org": "owner", "repo": "owner", "language": "language"}
"""Qualifiers of which several mean any of them, with others of the same group."""

MAX_PAGE_SIZE = 100
"""Most results of one page. Source: GitHub documentation, "Node limit"."""
MAX_SEARCH_RESULTS = 1000
"""Most results of one search, whatever its count. Source: GitHub documentation, "search"."""
MAX_EXPRESSION_LENGTH = 16_384
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
SORT_KEYS = ("stars", "forks", "updated")
"""What a search is sorted by."""
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
    """A condition: at least one of its tests holds; if negated, none of them."""

    tests: tuple[QualifierTest, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class SearchExpression:
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


def parse_expression(text: str, viewer: str | None = None) -> SearchExpression:
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
        If the expression is longer than :data:`MAX_EXPRESSION_LENGTH`, if a qualifier does not take its value,
        or if operators or qualifiers stand where they say nothing.

    Examples
    --------
    >>> parse("stars:>1000 sort:forks-asc").sort
    'forks'
    """
    if len(text) > MAX_EXPRESSION_LENGTH:
        msg = (
            f"The search has {len(text):,} characters, qualifiers included; {MAX_EXPRESSION_LENGTH:,} are the "
            "most. Ask for a part of it at a time."
        )
        raise QueryError(msg)
    reading = _ExpressionParser(viewer or "@me")
    for match in _TERM.finditer(text):
        reading.add_term(match)
    return reading.build_expression()


class _ExpressionParser:
    """What has been read of an expression."""

    def __init__(self, viewer: str) -> None:
        self._viewer = viewer
        self._clauses: dict[Clause, None] = {}
        self._alternatives: dict[str, dict[QualifierTest, None]] = {"owner": {}, "language": {}}
        self._tokens: list[WordOrOperator] = []
        self._fields: set[str] = set()
        self._order = ("stars", True)
        self._has_applicable, self._has_ignored, self._has_parentheses = False, False, False

    def add_term(self, match: re.Match[str]) -> None:
        """Read one term."""
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
            _check_qualifier_value(text)
            self._add_word(text.replace('"', "") if name else value, negated=negated)

    def build_expression(self) -> SearchExpression:
        """Return all of it.

        Raises
        ------
        QueryError
            If operators or qualifiers say nothing.
        """
        if self._has_parentheses and _BOOLEAN_OPERATORS.intersection(self._tokens):
            raise QueryError(_PARENTHESES_REFUSED)
        words = parse_alternatives(self._tokens)
        if self._has_ignored and not words and not self._has_applicable:
            raise QueryError(_NO_QUALIFIER_APPLIES)
        clauses = [*self._clauses]
        clauses.extend(Clause(tuple(group)) for group in self._alternatives.values() if group)
        if words and self._fields and "name" not in self._fields:
            # What is looked at is empty: only what asks for the absence of words holds.
            empty = any(all(word.negated for word in alternative) for alternative in words)
            clauses.append(Clause((FlagTest("all", empty),)))
            words = ()
        return SearchExpression(tuple(clauses), words, *self._order)

    def _add_word(self, text: str, *, negated: bool) -> None:
        """Read a word; one that is nothing but signs asks for nothing."""
        if any(map(str.isalnum, text)):
            self._tokens.append(Word(text.lower(), negated))

    def _add_qualifier(self, name: str, value: str, text: str, *, negated: bool) -> None:
        if name == "sort":
            self._order = _parse_sort(value, self._order)
        elif name == "in":
            self._has_ignored = True
            self._add_word_fields(value, negated=negated)
        elif (test := self._parse_test(name, value, text, negated=negated)) is None:
            self._has_ignored = True
        else:
            self._has_applicable = True
            self._add_clause(name, test, negated=negated and name != "fork")

    def _parse_test(
        self, name: str, value: str, text: str, *, negated: bool
    ) -> QualifierTest | None:
        """Return what a qualifier asks of a repository; None for nothing."""
        if name in {"user", "org"} and value.lower() == "@me":
            value = self._viewer
        return parse_qualifier("-fork" if negated and name == "fork" else name, value, text)

    def _add_word_fields(self, value: str, *, negated: bool) -> None:
        """Read where words are looked for; what is no such place changes nothing."""
        named = WORD_FIELDS & set(value.lower().split(","))
        self._fields |= (WORD_FIELDS - {"readme"} - named) if negated and named else named

    def _add_clause(self, name: str, test: QualifierTest, *, negated: bool) -> None:
        """Ask for a test."""
        if name in QUALIFIER_GROUPS and not negated:
            self._alternatives[QUALIFIER_GROUPS[name]][test] = None
        else:
            self._clauses[Clause((test,), negated)] = None


def _check_qualifier_value(text: str) -> None:
    """Refuse a qualifier with a space behind its colon.

    Raises
    ------
    QueryError
        If it is one.
    """
    if text.endswith(":") and is_qualifier(text[:-1].lower()):
        msg = f"Search term {quote_term(text)} has no value. Write it without a space after it."
        raise QueryError(msg)


def _parse_sort(value: str, now: tuple[str, bool]) -> tuple[str, bool]:
    """Return key and direction of a ``sort:`` term; what it does not know changes nothing."""
    match = _SORT_VALUE.fullmatch(value.lower())
    return (match["key"], match["way"] != "asc") if match else now
