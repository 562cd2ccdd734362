"""A synthetic GitHub has the counts that are known, and nothing impossible."""

from itertools import product

import numpy as np
import pytest

from gqlnb import OptionError, github
from gqlnb.github.standin.repository_columns import make_login_key
from gqlnb.github.standin.synthetic_data import _ADJECTIVES, _NOUNS, STAR_ANCHORS, population


@pytest.mark.parametrize("year", STAR_ANCHORS)
def test_counts_are_exact_where_they_are_known(year):
    """As many repositories have each known number of stars as the table says."""
    made = population(60_000, seed=5, year=year)
    for stars, count in STAR_ANCHORS[year]:
        assert int((made.stars >= stars).sum()) == min(count, 60_000)
    assert made[0].stars == STAR_ANCHORS[year][-1][0]


def test_ties_are_as_large_as_real_ones():
    """Of N repositories with s stars or more about N / s have s, as it was measured."""
    stars = population(400_000, seed=1).stars
    for s in (100, 200, 500):
        around = [int((stars == each).sum()) for each in range(s - 5, s + 6)]
        share = np.mean(around) * s / int((stars >= s).sum())
        assert 0.6 < share < 1.3
        assert len(set(around)) > 3  # uneven, as drawn by chance


def test_a_seed_is_a_population_for_ever():
    """The same seed gives the same one, another seed another one of the same shape."""
    one, same, other = population(5_000, 1), population(5_000, 1), population(5_000, 2)
    for name, column in one._iter_arrays():
        assert (column == getattr(same, name)).all()
    assert [one[row] for row in range(9)] == [same[row] for row in range(9)]
    assert (one.stars != other.stars).any()
    assert (one.stars >= 66_480).sum() == (other.stars >= 66_480).sum() == 100


def test_the_top_is_the_same_in_a_larger_one():
    """The stars of a smaller population are those of the top of a larger one."""
    assert (population(5_000).stars == population(50_000).stars[:5_000]).all()


@pytest.mark.parametrize("n", [1, 2, 3, 100, 5_000])
def test_nothing_is_impossible(n):
    """Names are unique, ids lead back, times follow each other, at any size."""
    made = population(n, seed=n)
    rows = [made[row] for row in range(n)]
    assert len({row.full_name.lower() for row in rows}) == n
    assert [(-row.stars, row.full_name.lower()) for row in rows] == sorted(
        (-row.stars, row.full_name.lower()) for row in rows
    )
    assert all("2008-04-10" <= row.created_at <= row.pushed_at < "2023-08-02" for row in rows)
    assert all(row.forks >= 0 for row in rows)
    assert all(made.find_row(row.full_name) == place for place, row in enumerate(rows[:200]))
    by_rank = sorted(range(n), key=lambda place: int(made.rank[place]))
    assert [rows[place].full_name for place in by_rank] == sorted(row.full_name for row in rows)


def test_logins_stand_in_the_order_that_they_are_found_by():
    """No login is the beginning of another one, so that words and numbers sort as the texts do."""
    pairs = [f"{first}-{second}-" for first, second in product(_ADJECTIVES, sorted(_NOUNS))]
    assert pairs == sorted(pairs)
    keys = [make_login_key(owner.login) for owner in population(20_000).owners]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)


def test_owners_have_one_or_many():
    """Most owners have one repository or two, and a few have many."""
    counts = np.diff(population(100_000).starts)
    assert np.median(counts[counts > 0]) <= 2
    assert counts.max() > 20


def test_languages_and_archives_are_mixed():
    """A few languages are the most part, some repositories have none, some are archived."""
    made = population(20_000)
    shares = np.bincount(made.language) / len(made)
    assert 0.1 < shares[0] < 0.15
    assert shares[1] == max(shares[1:]) > 2 * shares[10] > 0
    assert 0 < made.archived.mean() < 0.5


def test_it_takes_less_than_a_hundred_bytes_a_repository():
    """Columns, names and indexes of a large one stay within the bound."""
    made = population(300_000)
    assert made.nbytes < 100 * len(made)


def test_it_says_what_it_is():
    """Its repr and its source name size, shape and seed; its rules are listed."""
    made = population(1_000, seed=3)
    assert made.source == "synthetic GitHub of 1,000 repositories, shape of 2023, seed 3"
    assert repr(made).startswith("<Population: 1,000 repositories")
    service = github.service(population=made)
    assert service.source == made.source
    assert set(service.synthetic) > {"stargazerCount", "createdAt", "name", "viewer"}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"n": 0}, "^n= takes a whole number from 1 to 13,000,000; got 0"),
        ({"n": 13_000_001}, "^n= takes a whole number from 1 to 13,000,000"),
        *(({"n": n}, "^n= takes") for n in (1e4, "5", True, None, float("nan"))),
        *(({"n": 5, "seed": seed}, "^seed= takes") for seed in (-1, 1.5, "x", None)),
        *(({"n": 5, "year": year}, "2020, 2023, 2026") for year in (2021, "2023", None, [])),
    ],
)
def test_what_is_out_of_range_is_said(wrong, said):
    """A size that no year had, and a year without a shape, are refused in a sentence."""
    with pytest.raises(OptionError, match=said):
        population(**wrong)


def test_the_service_answers_from_it():
    """The documented query, an account and a node are answered from the population."""
    made = population(3_000, seed=9)
    service = github.service(population=made)
    search = service.execute(
        """{ search(query: "stars:>1000", type: REPOSITORY, first: 2) { repositoryCount
          edges { node { ... on Repository { name owner { login } stargazers { totalCount }
            createdAt isArchived isInOrganization } } } } }"""
    )["search"]
    assert search["repositoryCount"] == 3_000
    first = made[0]
    assert search["edges"][0]["node"] == {
        "name": first.name,
        "owner": {"login": first.owner.login},
        "stargazers": {"totalCount": 371_119},
        "createdAt": first.created_at,
        "isArchived": first.archived,
        "isInOrganization": first.owner.kind == "Organization",
    }
    again = service.execute(
        "query ($id: ID!, $login: String!) { node(id: $id) { ... on Repository { name } }"
        " repositoryOwner(login: $login) { repositories(first: 1,"
        " orderBy: {field: STARGAZERS, direction: DESC}) { nodes { name } } } }",
        {"id": first.node_id, "login": first.owner.login},
    )
    assert again["node"] == {"name": first.name}
    assert again["repositoryOwner"]["repositories"]["nodes"] == [{"name": first.name}]
