"""A query is parsed to a scope, formatted as a search expression, and split without gaps."""

from itertools import pairwise
from random import Random

import msgspec
import pytest

from gqlnb.errors import QueryError
from gqlnb.github.harvester.query_range import (
    Scope,
    count_slices,
    join_ranges,
    merge_ranges,
    split_by_stars,
    split_by_time,
)
from gqlnb.github.harvester.search_windows import RepositoryRow, list_exclusions
from gqlnb.github.search_syntax import FlagTest, parse_expression


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
        ("1k", "Write '1000'"),
        ("stars:>5 lang:go", "Did you mean 'language:'"),
        ("one OR two stars:>5", "each of the alternatives"),
    ],
)
def test_an_unsupported_query_raises(query, said):
    """The message has the reason and a remedy."""
    with pytest.raises(QueryError, match=said):
        Scope.parse(query)


def test_the_stand_in_understands_formatted_expressions():
    """Each part of an expression becomes a condition of the stand-in's parser."""
    scope = Scope("language:go", 3, 9, 1_300_000_000, None, ("ann/one", "bob/two"))
    read = parse_expression(scope.format_expression("forks-asc"))
    assert (read.sort, read.descending, read.words) == ("forks", False, ())
    assert len(read.clauses) == 5
    assert not any(isinstance(test, FlagTest) for clause in read.clauses for test in clause.tests)
    assert sorted(clause.negated for clause in read.clauses) == [False] * 3 + [True] * 2


def test_a_scope_survives_json():
    """JSON and back gives the same scope."""
    scope = Scope.parse("language:go stars:3..9 created:>2020")
    assert msgspec.json.decode(msgspec.json.encode(scope), type=Scope) == scope


def covers(scope, parts):
    """Assert that slices follow each other from the start of the scope to its end."""
    assert (parts[0].begin, parts[-1].end) == (scope.begin, scope.end)
    for before, behind in pairwise(parts):
        assert behind.begin == before.end + 1
    assert all(None in (each.begin, each.end) or each.begin <= each.end for each in parts)


@pytest.mark.parametrize("seed", range(20))
def test_slices_of_time_cover_all(seed):
    """For any sample and scope; each slice is shorter than the scope."""
    chance = Random(seed)
    begin = chance.choice([None, 1_300_000_000])
    end = chance.choice([None, 1_300_000_000 + chance.choice([1, 2, 60, 10**8])])
    scope = Scope("", 0, 5, begin, end)
    sample = [1_300_000_000 + chance.randrange(chance.choice([1, 3, 10**8])) for _ in range(300)]
    parts = split_by_time(scope, sample[: chance.choice([0, 5, 300])], chance.randint(1, 40))
    covers(scope, parts)
    assert len(parts) > 1


def test_a_second_is_not_divided():
    """A second is the shortest slice."""
    scope = Scope("", 0, 5, 1_300_000_000, 1_300_000_000)
    assert split_by_time(scope, [1_300_000_000] * 50, 4) == [scope]


def test_slices_are_about_equal():
    """They are quantiles of the sample, as many as its size allows."""
    sample = [1_300_000_000 + place**2 for place in range(1000)]
    parts = split_by_time(Scope(), sample, 5)
    counts = [sum(part.is_in_time_range(each) for each in sample) for part in parts]
    assert counts == pytest.approx([200] * 5, abs=2)
    assert len(split_by_time(Scope(), sample[:100], 50)) == 10


def test_a_second_with_many_repositories_gets_its_own_slice():
    """It does not enlarge its neighbours."""
    sample = [1_300_000_000] * 60 + [1_300_000_000 + place for place in range(1, 41)]
    parts = split_by_time(Scope(), sample, 2)
    assert [part.begin == part.end == 1_300_000_000 for part in parts] == [False, True, False]


def test_a_range_of_stars_is_halved():
    """Down to one star count, also with an open end."""
    assert split_by_stars(Scope("", 4, 9), [5]) == [Scope("", 7, 9), Scope("", 4, 6)]
    assert split_by_stars(Scope("", 4), [11, 4]) == [Scope("", 8), Scope("", 4, 7)]
    assert split_by_stars(Scope("", 4, 4), [4]) == [Scope("", 4, 4)]


def test_ranges_with_many_equal_stars_are_split():
    """Few equal ones are cheaper to fetch twice than another slice."""
    assert count_slices(2_000_000, 21, 30_000, 2) == 500
    assert count_slices(20_000, 1_000, 30_000, 2) == 1
    assert count_slices(1_000, 9, 9, 10_000) == 1
    assert count_slices(3_000, 9, 9, 2_000) == 4
    assert count_slices(100_000, 1_000, 30_000, 50_000) == 25  # more equal ones than usual


def test_few_repeated_repositories_are_excluded_by_name():
    """Only those where the search ended, if they are few and have valid names."""
    rows = [RepositoryRow("a", 9, None, "one", "ann"), RepositoryRow("b", 8, None, "two", "bob")]
    assert list_exclusions(rows, 8) == ("bob/two",)
    assert list_exclusions(rows[:1] * 4, 9) == ()
    assert (
        list_exclusions([RepositoryRow("c", 8)], 8)
        == list_exclusions([RepositoryRow("d", 8, None, "x y", "ann")], 8)
        == ()
    )


def test_overlapping_ranges_are_merged():
    """Within a time slice, most stars first."""
    ranges = [Scope("", 3, 5), Scope("", 9, None), Scope("", 5, 7), Scope("", 3, 9, 7, 8)]
    assert merge_ranges(ranges) == [Scope("", 3, 9, 7, 8), Scope("", 9, None), Scope("", 3, 7)]


def test_joined_ranges_do_not_overlap_in_time():
    """A range above several slices is cut as they are; equal neighbours become one."""
    ranges = [Scope("", 9, None), Scope("", 3, 9, None, 5), Scope("", 3, 8, 6), Scope("", 5, 7, 6)]
    assert join_ranges(ranges) == [Scope("", 3)]
    ranges = [Scope("", 9, None), Scope("", 3, 9, None, 5)]
    assert join_ranges(ranges) == [Scope("", 3, None, None, 5), Scope("", 9, None, 6)]
    assert join_ranges([Scope("", 1, 2, 3, 4)]) == [Scope("", 1, 2, 3, 4)]
