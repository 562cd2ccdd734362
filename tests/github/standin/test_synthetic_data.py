"""A synthetic GitHub has the counts that are known, and nothing impossible."""

import numpy as np
import pytest

from gqlnb import OptionError, github
from gqlnb.github.standin.synthetic_data import STAR_ANCHORS, population


@pytest.mark.parametrize("year", STAR_ANCHORS)
def test_measured_star_counts_are_exact(year):
    """Each known number of stars has as many repositories as in the table."""
    made = population(60_000, seed=5, year=year)
    for stars, count in STAR_ANCHORS[year]:
        assert int((made.stars >= stars).sum()) == min(count, 60_000)
    assert made[0].stars == STAR_ANCHORS[year][-1][0]


def test_ties_have_the_measured_size():
    """If N repositories have s stars or more, about N / s have exactly s."""
    stars = population(400_000, seed=1).stars
    for s in (100, 200, 500):
        around = [int((stars == each).sum()) for each in range(s - 5, s + 6)]
        share = np.mean(around) * s / int((stars >= s).sum())
        assert 0.6 < share < 1.3
        assert len(set(around)) > 3  # uneven, as drawn by chance


def test_a_seed_determines_the_population():
    """Another seed gives different data with the same distribution."""
    one, same, other = population(5_000, 1), population(5_000, 1), population(5_000, 2)
    for name, column in one._iter_arrays():
        assert (column == getattr(same, name)).all()
    assert [one[row] for row in range(9)] == [same[row] for row in range(9)]
    assert (one.stars != other.stars).any()
    assert (one.stars >= 66_480).sum() == (other.stars >= 66_480).sum() == 100


def test_a_larger_population_has_the_same_top():
    """Its highest star counts are those of the smaller one."""
    assert (population(5_000).stars == population(50_000).stars[:5_000]).all()


@pytest.mark.parametrize("n", [1, 2, 3, 100, 5_000])
def test_a_population_is_consistent(n):
    """Names are unique, ids resolve, and times are in order, at any size."""
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


def test_a_population_takes_under_a_hundred_bytes_per_repository():
    """Columns, names and indexes of a large one stay within the bound."""
    made = population(300_000)
    assert made.nbytes < 100 * len(made)


def test_the_repr_names_size_shape_and_seed():
    """So does the source name; the rules are listed."""
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
def test_a_size_or_year_out_of_range_is_refused(wrong, said):
    """A size larger than any year's, and a year without a distribution."""
    with pytest.raises(OptionError, match=said):
        population(**wrong)
