"""Star searches as people write them: one reader, thresholds and terms in any order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gqlnb import QueryError
from gqlnb.github.harvester.scope import Scope
from gqlnb.github.star_query import normalize_typed_query, parse_star_query, spell_out_thresholds


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
        ("<100", "<100"),
        ("<= 1_600", "<=1600"),
        ("100..*", "100..*"),
        ("* .. 1,600", "*..1600"),
        ("stars:<5", "<5"),
        ("stars:5..*", "5..*"),
        (">=10 sort:stars", ">=10 sort:stars"),
        ("language:python", "language:python"),
        ("forks:>9 created:2024-01-01..2024-06-30", "forks:>9 created:2024-01-01..2024-06-30"),
        (">5 NOT vim", ">5 NOT vim"),
        (">50000\u00a0language:python", ">50000 language:python"),
        ("> 50000\u3000language:python", ">50000 language:python"),
    ],
)
def test_a_search_has_one_normalized_form(query, expected):
    """For any order and spelling; parsing the form returns it unchanged."""
    found = parse_star_query(query)
    assert str(found) == expected
    assert parse_star_query(str(found)) == found
    if found.threshold:
        assert found.expression == f"stars:{expected}"
        assert str(parse_star_query(found.expression)) == expected
    else:
        assert found.expression == expected


@pytest.mark.parametrize(
    ("query", "threshold"),
    [(">1 <9", "2..8"), ("<=9 python >=1", "1..9"), ("stars:>1 stars:<3", "2..2")],
)
def test_a_lower_and_an_upper_threshold_are_a_range(query, threshold):
    """As in a harvest."""
    assert parse_star_query(query).threshold == threshold
    assert Scope.parse(query).low == int(threshold[0])
    assert Scope.parse(query).high == int(threshold[-1])


def test_quoted_words_before_a_number_are_words():
    """A name may hold them."""
    assert parse_star_query('"more than" 5').expression == 'stars:5 "more than"'
    assert parse_star_query('"over 9000" >5').expression == 'stars:>5 "over 9000"'


BAD = (
    *("", "many", ">", "<", "5..", "..5", "*..*", ">>5", "=5", "1,00", "1_0", "1,000_000"),
    *("-5", ">-5", -5, 1.5, "1.5", 1e6, True, np.True_, None, [1000], b">5", "\uff11\uff10"),
    *("9" * 16, 10**16, "vim sort:stars"),
)


@pytest.mark.parametrize("query", BAD, ids=repr)
def test_the_error_of_an_invalid_search_shows_the_valid_forms(query):
    """One message shows the value and the forms."""
    with pytest.raises(QueryError) as caught:
        parse_star_query(query)
    message = str(caught.value)
    assert all(form in message for form in ("'>N'", "'>=N'", "'<N'", "'N..M'", "'N'"))
    assert repr(query)[:40] in message
    assert len(message) < 300


@pytest.mark.parametrize(
    ("query", "proposal"),
    [
        ("1k", "'1000'"),
        (">1k", "'>1000'"),
        (">=2.5K", "'>=2500'"),
        ("<1m", "'<1000000'"),
        ("100000.0", "'100000'"),
        (">1000.0", "'>1000'"),
        (100000.0, "'>100000'"),
        (np.float64(7), "'>7'"),
        ("1.5", "for example '>1000'"),
        (1.5, "for example '>1000'"),
        (float("nan"), "for example '>1000'"),
    ],
    ids=repr,
)
def test_the_error_of_a_rounded_number_proposes_the_whole_one(query, proposal):
    """Thousands as ``k``, and floats, are refused with the spelling to use instead."""
    with pytest.raises(QueryError) as caught:
        parse_star_query(query)
    assert f"Write {proposal}." in str(caught.value)


WORDS_OF_NAMES = (
    *("4k", "c++", "C#", "c++11", ".net", "node.js", "24-7", "python 3.12", "ipv4.6.0"),
    "star-wars",
    *("k8s", "1+1", "es2015..es2020", "a=b", "std::vector", "node:test", "todo:", "github stars"),
    *('"stars"', '"lang:python"', '"1000+"', "'3'"),
)


@pytest.mark.parametrize("words", WORDS_OF_NAMES)
@pytest.mark.parametrize("form", ["{words} forks:>0 >100", ">100 forks:>0 {words}"])
def test_words_of_names_are_searched(words, form):
    """Numbers, signs and colons in a name are not taken for thresholds or qualifiers."""
    query = form.format(words=words)
    assert words in parse_star_query(query).terms
    assert words in Scope.parse(query).text


@pytest.mark.parametrize(
    ("term", "said"),
    [
        ("50k..60k", r"not one of '>N'.*Write '50000\.\.60000'"),
        ("2k..1k", r"Write '1000\.\.2000'"),
        ("1k..*", r"Write '1000\.\.\*'"),
        (">1k..2k", "Write for example '>1000'"),
        ("1000+", "Write '>=1000'"),
        ("stars>50000", "not one of '>N'"),
        ("\u226550000", "not one of '>N'"),
        ("50000+", "not one of '>N'"),
        ("50000\u201360000", "not one of '>N'"),
        ("~1000", "not one of '>N'"),
        (">1k", "Write '>1000'"),
        ("1k", "Write '1000'"),
        ("-5", "not one of '>N'"),
        ("3.12", "A number of a name is written in quotes"),
        ("stars >50000", "'stars' beside a threshold is a word to search for"),
        (">50000 STARS", "'STARS' beside a threshold is a word to search for"),
        ("language=python", "Write 'language:python'"),
        ("-language=python", "Write '-language:python'"),
        ("language\uff1apython", "Write 'language:python'"),
        ("owner:google", "Did you mean 'user:'"),
        ("order:stars", "Did you mean 'sort:'"),
        ("lang:python", "Did you mean 'language:'"),
        ("topic:", "'topic:' has no value"),
        ("python 3 >50000", "two thresholds.*a number of a name in quotes"),
    ],
)
@pytest.mark.parametrize("parse", [parse_star_query, Scope.parse, spell_out_thresholds])
def test_a_misspelled_threshold_or_qualifier_is_refused(term, said, parse):
    """GitHub would search for it as a word; searches and harvests say what to write instead."""
    with pytest.raises(QueryError, match=said) as caught:
        parse(f"{term} forks:>0")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("query", "expression"),
    [
        ("> 50000 language:python", "stars:>50000 language:python"),
        ("language:python 50,000", "language:python stars:50000"),
        ("50 .. 60\u00a0vim", "stars:50..60 vim"),
        (">5 <9", "stars:>5 stars:<9"),
        ("stars:5 stars:>3", "stars:5 stars:>3"),
        ('"a > 5"', '"a > 5"'),
    ],
)
def test_thresholds_of_a_harvest_are_those_of_a_search(query, expression):
    """With ``stars:`` before each."""
    assert spell_out_thresholds(query) == expression


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("20..10", r"Write '10\.\.20'"),
        ("> 1 000", "two thresholds"),
        ("5 6", "two thresholds"),
        (">1 <9 5", "two thresholds.*such as '2..8'"),
        (">=1 <=9 <5", "two thresholds"),
        ("more than 50,000", "'more than' before a number is text.*Write '>50000'"),
        ("python over 1000 stars", "'over' before a number is text.*Write '>1000'"),
        ("At least 5", "'At least' before a number is text.*Write '>=5'"),
        ("up to 5", "'up to' before a number is text.*Write '<=5'"),
        (">9 <1", "two thresholds.*such as '>1000'"),
        (
            ">1000 langauge:python",
            r"'langauge:python' is not a qualifier\. Did you mean 'language:'",
        ),
        (">1000 forks:many", "'forks:many' has no number"),
        (
            ">1000 sort:size",
            r"'sort:size' is not an order\. Write one of sort:stars, sort:stars-asc",
        ),
        ("in:name", "None of the search qualifiers apply"),
        (">1 " + "user:someone " * 2000, "are the most"),
    ],
)
def test_an_invalid_search_is_explained(query, said):
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
def test_any_text_is_parsed_or_refused(text):
    """Only QueryError is raised; a parsed text has a stable normalized form."""
    try:
        found = parse_star_query(text)
    except QueryError:
        return
    assert parse_star_query(str(found)) == parse_star_query(found.expression) == found


def test_a_number_in_a_shell_means_above():
    """Typed where all is text, a number without a sign means above it."""
    assert normalize_typed_query("1000") == ">1000"
    assert normalize_typed_query(" 1,000 language:python") == ">1,000 language:python"
    assert normalize_typed_query("1000..2000") == "1000..2000"
    assert normalize_typed_query("1000 .. 2000") == "1000 .. 2000"
    assert normalize_typed_query("1000\u00a0vim") == ">1000\u00a0vim"
    assert normalize_typed_query("language:python 1000") == "language:python 1000"
