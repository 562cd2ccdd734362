"""A query is parsed to a scope, formatted as the search expressions of its windows."""

import pytest

from gqlnb.errors import QueryError
from gqlnb.github.harvester.scope import Scope
from gqlnb.lists.window_harvest import Window


@pytest.mark.parametrize(
    ("query", "expression"),
    [
        (1000, "stars:>=1001 sort:stars-desc"),
        (">= 1,000", "stars:>=1000 sort:stars-desc"),
        ("100", "stars:100..100 sort:stars-desc"),
        ("10..50", "stars:10..50 sort:stars-desc"),
        ("stars:<5", "stars:0..4 sort:stars-desc"),
        ("stars:>-1", "stars:>=0 sort:stars-desc"),
        ("language:python", "language:python stars:>=0 sort:stars-desc"),
        (">1000 language:go", "language:go stars:>=1001 sort:stars-desc"),
        ("> 1,000 language:go", "language:go stars:>=1001 sort:stars-desc"),
        ("100 language:go", "language:go stars:100..100 sort:stars-desc"),
        (">999999999999999", "stars:>=999999999999999 sort:stars-desc"),
        ("stars:>=10 -user:ann stars:<20", "-user:ann stars:10..19 sort:stars-desc"),
        ('vim "two words" stars:>5', 'vim "two words" stars:>=6 sort:stars-desc'),
        ("-stars:5..6 stars:>3 sort:stars", "-stars:5..6 stars:>=4 sort:stars-desc"),
        (
            "created:2020 stars:>1 created:>2020-02-28",
            "stars:>=2 created:2020-02-29T00:00:00Z..2020-12-31T23:59:59Z sort:stars-desc",
        ),
    ],
)
def test_a_query_is_parsed_and_formatted(query, expression):
    """Thresholds and expressions become a star range, a time range and other qualifiers."""
    scope = Scope.parse(query)
    assert scope.format_expression() == expression
    assert Scope.parse(expression) == scope


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "not one of '>N'"),
        (True, "not one of '>N'"),
        (-5, "not one of '>N'"),
        ("stars:many", "no number that can be read"),
        ("stars:>5 stars:<3", "nothing can match"),
        ("stars:<0", "nothing can match"),
        ("created:>2021 created:<2020", "nothing can match"),
        ("created:soon stars:>5", "not a recognized date"),
        ("stars: >5", "without a space"),
        ("sort:forks stars:>5", "sort the frame"),
        ("sort:stars-asc stars:>5", "sort the frame"),
        ("one OR two stars:>5", "each of the alternatives"),
    ],
)
def test_an_unsupported_query_raises(query, said):
    """The message has the reason and a remedy."""
    with pytest.raises(QueryError, match=said):
        Scope.parse(query)


def test_windows_are_parts_of_the_search():
    """Their ends are those of the query, or open, at the ends of the whole."""
    scope = Scope.parse("language:go stars:3..9 created:>=2020-01-01")
    low, high, _ = scope.build_source().whole
    first, last = Window(low, 1_600_000_000), Window(1_600_000_000, high)
    begin = "language:go stars:3..9 created:2020-01-01T00:00:00Z..2020-09-13T12:26:39Z"
    assert scope.format_window(first, "") == begin
    end = "language:go stars:3..9 created:>=2020-09-13T12:26:40Z sort:forks-desc"
    assert scope.format_window(last, "forks-desc") == end
    inner = scope.format_window(Window(1_600_000_000, 1_600_000_001, (3, 5)), "")
    assert inner == "language:go stars:3..4 created:2020-09-13T12:26:40Z..2020-09-13T12:26:40Z"
    assert Scope.parse(">=3").format_window(Window(0, 2**31), "") == "stars:>=3"
