"""Star searches as people write them: one reader, thresholds and terms in any order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gqlnb import QueryError, stars
from gqlnb.github.repositories import load_snapshot
from gqlnb.github.star_query import normalize_typed_query, parse_star_query


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (1000, ">1000"),
        (0, ">0"),
        (np.int64(7), ">7"),
        (">1000", ">1000"),
        (" >= 20 ", ">=20"),
        ("1000", "1000"),
        ("10..20", "10..20"),
        ("10 .. 10", "10..10"),
        ("1,000..20,000", "1000..20000"),
        (">1_000_000", ">1000000"),
        ("007", "7"),
        ("stars:>5", ">5"),
        ("STARS:5..9", "5..9"),
        (">1000 language:python", ">1000 language:python"),
        ("  language:Python\t> 1,000 ", ">1000 language:Python"),
        ('language:"objective c" >5 -user:google', '>5 language:"objective c" -user:google'),
        ('>1 "2048" vim', '>1 "2048" vim'),
        ('>1 "a  >5  b"', '>1 "a  >5  b"'),
        (">1 sort:forks-ASC language:c", ">1 language:c sort:forks-asc"),
        (">1 sort:stars-desc", ">1 sort:stars"),
        ("stars:<5", "stars:<5"),
        ("stars:5..*", "stars:5..*"),
        ("language:python", "language:python"),
        ("forks:>9 created:2024-01-01..2024-06-30", "forks:>9 created:2024-01-01..2024-06-30"),
        (">5 NOT vim", ">5 NOT vim"),
    ],
)
def test_a_search_is_written_in_one_way(query, expected):
    """Whatever the order and the spelling, text and expression are in one form, read as itself."""
    found = parse_star_query(query)
    assert str(found) == expected
    assert parse_star_query(str(found)) == found
    if found.threshold:
        assert found.expression == f"stars:{expected}"
        assert str(parse_star_query(found.expression)) == expected
    else:
        assert found.expression == expected


BAD = (
    *("", "many", ">", "<5", "5..", "..5", "5..*", ">>5", "1,00", "1_0", "1,000_000"),
    *("-5", ">-5", -5, 1.5, "1.5", 1e6, True, np.True_, None, [1000], b">5", "\uff11\uff10"),
    *("9" * 16, 10**16, "vim sort:stars"),
)


@pytest.mark.parametrize("query", BAD, ids=repr)
def test_what_is_no_search_shows_the_four_forms(query):
    """Whatever holds neither threshold nor qualifier gets one sentence with value and forms."""
    with pytest.raises(QueryError) as caught:
        parse_star_query(query)
    message = str(caught.value)
    assert all(form in message for form in ("'>N'", "'>=N'", "'N..M'", "'N'"))
    assert repr(query)[:40] in message
    assert len(message) < 300


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("20..10", r"Write '10\.\.20'"),
        ("> 1 000", "two thresholds"),
        ("5 6", "two thresholds"),
        (">1 <9", "two thresholds"),
        (">1 stars:<9", "two thresholds"),
        (
            ">1000 langauge:python",
            r"'langauge:python' is not a qualifier\. Did you mean 'language:'",
        ),
        (">1000 lang:python", "Did you mean 'language:'"),
        (">1000 language: python", "'language:' has no value"),
        (">1000 forks:many", "'forks:many' has no number"),
        (">1000 created:yesterday", '"yesterday" is not a recognized date'),
        (">1000 archived:perhaps", "Write archived:true or archived:false"),
        (
            ">1000 sort:size",
            r"'sort:size' is not an order\. Write one of sort:stars, sort:stars-asc",
        ),
        ("in:name", "None of the search qualifiers apply"),
        (">1000 (vim OR emacs)", "Parentheses group nothing"),
        (">1 " + "user:someone " * 2000, "are the most"),
    ],
)
def test_what_is_wrong_is_said(query, said):
    """The message names the term and what to write instead, on one short line."""
    with pytest.raises(QueryError, match=said) as caught:
        parse_star_query(query)
    assert len(str(caught.value)) < 300


@given(st.integers(0, 10**15 - 1), st.integers(0, 10**15 - 1))
def test_grouping_changes_nothing(low, high):
    """Numbers grouped by commas or underscores mean the plain numbers."""
    low, high = sorted((low, high))
    assert parse_star_query(f"{low:,}..{high:_}") == parse_star_query(f"{low}..{high}")
    assert parse_star_query(f"{low:,}..{high:_}").threshold == f"{low}..{high}"


WORDS = st.text(st.sampled_from('ab1> ".:,-<()\t\u00e4\u2003'), max_size=24)


@given(WORDS)
def test_any_text_is_read_or_refused(text):
    """Nothing but a QueryError comes of any text, and what is read reads as itself."""
    try:
        found = parse_star_query(text)
    except QueryError:
        return
    assert parse_star_query(str(found)) == parse_star_query(found.expression) == found


def test_a_shell_has_no_numbers():
    """Typed where all is text, a number without a sign means above it."""
    assert normalize_typed_query("1000") == ">1000"
    assert normalize_typed_query(" 1,000 language:python") == ">1,000 language:python"
    assert normalize_typed_query("1000..2000") == "1000..2000"
    assert normalize_typed_query("language:python 1000") == "language:python 1000"


def test_stars_takes_expressions():
    """`gqlnb.stars` gives what matches all terms, in the order asked for."""
    found = stars(">50000 language:python sort:stars-asc", limit=5)
    wanted = [
        row.name
        for row in reversed(load_snapshot())
        if row.stars > 50000 and row.language is not None and row.language.name == "Python"
    ]
    assert found["name"].tolist() == wanted[:5]
    assert found.attrs["query"] == "stars:>50000 language:python sort:stars-asc"
