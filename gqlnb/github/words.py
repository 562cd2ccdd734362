"""The words of a search expression: what is left of it when the qualifiers are taken out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gqlnb.errors import QueryError

__all__ = ["LETTERS", "OPERATORS", "Word", "alternatives", "checked"]

LETTERS = 256
"""Most characters of the words of a search. Source: GitHub documentation, "Troubleshooting search
queries" and the REST API's "Search", which says that operators and qualifiers do not count."""
OPERATORS = 5
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


Token = Word | str
"""A word, an operator, or an empty text for the place where a qualifier stood."""


def alternatives(tokens: Sequence[Token]) -> tuple[tuple[Word, ...], ...]:
    """Return the alternatives that OR leaves, each with the words that it is about, each once.

    Words side by side are joined as by AND, which binds more closely than OR, and NOT more closely
    than both. Without words there is no alternative.

    Raises
    ------
    QueryError
        As :func:`checked` does.
    """
    checked(tokens)
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


def checked(tokens: Sequence[Token]) -> None:
    """Refuse what GitHub refuses, and an operator that is not about words.

    Raises
    ------
    QueryError
        In GitHub's words if there are too many characters or operators, or nothing but operators;
        in ours if OR has no word on both sides, or NOT none behind it.
    """
    words = [token.text for token in tokens if isinstance(token, Word)]
    operators = [token for token in tokens if isinstance(token, str) and token]
    if len(" ".join(words)) > LETTERS:
        msg = f"The search is longer than {LETTERS} characters."
        raise QueryError(msg)
    if len(operators) > OPERATORS:
        msg = "More than five AND / OR / NOT operators were used."
        raise QueryError(msg)
    if operators and not words:
        msg = (
            "The search contains only logical operators (AND / OR / NOT) without any search terms."
        )
        raise QueryError(msg)
    if operators:
        _joining(tokens)


def _joining(tokens: Iterable[Token]) -> None:
    """Refuse OR and NOT where a qualifier, or nothing, stands in the place of a word."""
    read, waiting = False, ""
    for each in (*tokens, ""):
        if isinstance(each, Word):
            read, waiting = True, ""
        elif waiting and each != "NOT":
            raise _misplaced(waiting)
        elif each == "NOT" or (each == "OR" and read):
            waiting = each
        elif each == "OR":
            raise _misplaced(each)


def _misplaced(operator: str) -> QueryError:
    """Return the refusal of an operator that is not about words."""
    return QueryError(
        f"{operator} is about words, and GitHub takes qualifiers out before it reads them. Put a "
        "minus before a qualifier to negate it; several of language:, or of user:, org: and "
        "repo:, mean any of them."
    )
