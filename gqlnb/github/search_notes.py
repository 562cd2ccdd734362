"""Notes about a search for repositories: terms without effect, and reasons for no results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gqlnb.errors import QueryError, find_similar
from gqlnb.github.search_syntax import (
    IS_TESTS,
    LANGUAGE_NAMES,
    NameTest,
    RangeTest,
    parse_expression,
    quote_term,
)

if TYPE_CHECKING:
    from gqlnb.github.search_syntax import QualifierTest

__all__ = ["list_search_notes"]

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
    # The table has only the more common languages, so a name without a similar one may be right.
    if name == "language" and test.text not in LANGUAGE_NAMES:
        near = find_similar(test.text, sorted(LANGUAGE_NAMES), 0.75)
        if near is not None:
            return f"{quote_term(test.text)} is not a known language. Did you mean {near!r}?"
    return ""
