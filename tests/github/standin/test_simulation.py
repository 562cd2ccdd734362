"""A simulation shows the faults of GitHub that it is asked for, the same ones for the same seed."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from gqlnb import OptionError, github
from gqlnb.github.standin.simulation import Simulation

TEXT = """query ($q: String!, $n: Int = 100, $after: String) {
  search(query: $q, type: REPOSITORY, first: $n, after: $after) {
    repositoryCount
    edges { cursor node { ... on Repository { nameWithOwner stargazerCount } } }
    pageInfo { endCursor hasNextPage } } }"""


@pytest.fixture(scope="module")
def population():
    """Return a population with many repositories of equal stars."""
    return github.population(30_000, seed=4)


def walk(service, query="stars:<=2000"):
    """Return names and stars of all pages of a search, in order."""
    found, after, more = [], None, True
    while more:
        search = service.execute(TEXT, {"q": query, "after": after}).data["search"]
        nodes = [edge["node"] for edge in search["edges"]]
        found += [(node["nameWithOwner"], node["stargazerCount"]) for node in nodes]
        after, more = search["pageInfo"]["endCursor"], search["pageInfo"]["hasNextPage"]
    return found


def test_without_faults_a_walk_is_the_truth(population):
    """A simulation without faults, and none at all, change nothing."""
    truth = walk(github.service(population=population))
    assert truth == walk(github.service(population=population, simulation=Simulation(seed=9)))
    assert len(truth) == len(set(truth)) == 1000


def test_ties_stand_in_another_order_for_another_text(population):
    """The same text has the same order, another text another one; stars still fall."""
    service = github.service(population=population, simulation=Simulation(ties=True))
    one, same = walk(service), walk(service)
    other = walk(service, "stars:<=2000 is:public")
    assert one == same
    assert one != other
    for found in (one, other):
        assert len(set(found)) == 1000
        assert all(a[1] >= b[1] for a, b in pairwise(found))
    # Above the last group, which the cap divides by chance, both hold the same.
    last = one[-1][1]
    assert {row for row in one if row[1] > last} == {row for row in other if row[1] > last}


def test_dropped_items_are_missing_and_still_counted(population):
    """Some places of the pages are empty; cursors, count and the end of the walk stay."""
    service = github.service(population=population, simulation=Simulation(dropped=0.05))
    truth = walk(github.service(population=population))
    found = walk(service)
    assert 900 < len(found) < 990
    assert set(found) < set(truth)
    assert found == walk(service)
    search = service.execute(TEXT, {"q": "stars:<=2000"})["search"]
    cursors = [edge["cursor"] for edge in search["edges"]]
    assert len(cursors) < 100
    assert search["pageInfo"]["endCursor"] == "Y3Vyc29yOjEwMA=="
    assert search["repositoryCount"] > 1000
    again = set(walk(service, "stars:<=2000 is:public"))
    assert len(set(truth) - set(found) - again) < len(set(truth) - set(found))


def test_a_duplicate_takes_the_place_of_another(population):
    """As many are missing as come twice, and each is near where it came first."""
    service = github.service(population=population, simulation=Simulation(duplicated=0.05))
    truth, found = walk(github.service(population=population)), walk(service)
    twice = [row for row, count in Counter(found).items() if count > 1]
    assert len(found) == 1000
    assert 20 < len(twice) < 80
    assert len(set(truth) - set(found)) == 1000 - len(set(found)) > 0
    for row in twice:
        places = [place for place, each in enumerate(found) if each == row]
        assert places[-1] - places[0] <= 200


def test_stars_drift_while_one_pages(population):
    """Pages of one walk disagree, and what has drifted stays; the population itself does not."""
    simulation = Simulation(seed=3, drift=400)
    service = github.service(population=population, simulation=simulation)
    truth = dict(walk(github.service(population=population)))
    found = walk(service)
    gained = [stars - truth[name] for name, stars in found if name in truth]
    assert sum(change > 0 for change in gained) > sum(change < 0 for change in gained) > 0
    assert len(set(dict(found))) < len(found)  # some came twice
    assert walk(github.service(population=population, simulation=simulation)) == found
    assert dict(walk(github.service(population=population))) == truth


def test_rows_that_drift_stay_sorted_and_whole(population):
    """After many moves every repository is where its stars belong, and found by its name."""
    from gqlnb.github.standin.simulation import DataFaults

    faults = DataFaults(population, Simulation(seed=1, drift=300))
    for _ in range(20):
        faults.find_repositories("stars:<=1200")
    now = faults.population
    assert all(a >= b for a, b in pairwise(now.stars.tolist()))
    names = {now[row].full_name for row in range(0, len(now), 3)}
    assert len(names) == 10_000
    for row in range(20_000, 21_000, 7):
        assert now.find_row(now[row].full_name) == row
        assert row in now.find_owned_rows(int(now.owner[row]))
    assert sorted(now.rank) == list(range(len(now)))


def test_a_star_is_not_taken_from_who_has_none():
    """Stars do not fall below zero."""
    from gqlnb.github.repositories import Owner, Repository
    from gqlnb.github.standin.simulation import DataFaults

    rows = [Repository("a", Owner("o", "User"), 0, 0, None, "2020-01-01T00:00:00Z")]
    faults = DataFaults(github.Population.from_repositories(rows), Simulation(seed=2, drift=1))
    seen = [faults.find_repositories("stars:<1").total for _ in range(3)]
    assert min(faults.population.stars) >= 0
    assert seen[-1] in {0, 1}


def test_too_heavy_a_page_comes_in_part(population):
    """Nodes beyond the strength are null, each with an error of its own; fewer are whole."""
    service = github.service(population=population, simulation=Simulation(resources=25))
    result = service.execute(TEXT, {"q": "stars:>1", "n": 27})
    edges = result.data["search"]["edges"]
    assert [edge["node"] is None for edge in edges] == [False] * 25 + [True] * 2
    assert [(e["type"], e["path"], e["message"]) for e in result.errors] == [
        (
            "RESOURCE_LIMITS_EXCEEDED",
            ["search", "edges", place, "node"],
            "Resource limits for this query exceeded.",
        )
        for place in (25, 26)
    ]
    assert service.execute(TEXT, {"q": "stars:>1", "n": 25}).errors == ()
    nodes = '{ search(query: "", type: REPOSITORY, first: 26) { nodes { __typename } } }'
    assert service.execute(nodes).errors[0]["path"] == ["search", "nodes", 25]


def test_stargazers_are_refused_either_way():
    """``restricted`` of the service and of the simulation are one switch."""
    text = '{ repository(owner: "git", name: "git") { stargazers { totalCount } } }'
    for service in (
        github.service(restricted=True),
        github.service(simulation=Simulation(restricted=True)),
        github.service(restricted=True, simulation=Simulation(ties=True)),
    ):
        assert service.execute(text).errors[0]["type"] == "FORBIDDEN"
    assert github.service(simulation=Simulation(ties=True)).execute(text).errors == ()


def test_who_owns_a_repository_sees_its_stargazers():
    """The restriction is for others' repositories: the viewer's own are answered."""
    text = """{ mine: repository(owner: "Torvalds", name: "linux") { stargazers { totalCount } }
      theirs: repository(owner: "git", name: "git") { stargazers { totalCount } }
      viewer { login repositories(first: 1) { totalCount nodes { isInOrganization } } } }"""
    result = github.service(viewer="TORVALDS", restricted=True).execute(text)
    assert result.data["mine"]["stargazers"]["totalCount"] > 200_000
    assert [(e["type"], e["path"]) for e in result.errors] == [
        ("FORBIDDEN", ["theirs", "stargazers"])
    ]
    assert result.data["viewer"]["login"] == "torvalds"  # as it is written there
    assert result.data["viewer"]["repositories"]["totalCount"] > 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"dropped": -0.1},
        {"duplicated": 1.1},
        {"gateway": float("nan")},
        {"timeouts": 2},
        {"drift": -1},
        {"budget": -5},
        {"seed": -1},
        {"seed": None},
        {"dropped": "0.1"},
        {"dropped": True},
        {"dropped": None},
        {"gateway": float("inf")},
        {"drift": 1.5},
        {"drift": "many"},
        {"drift": float("nan")},
        {"penalty": -1},
        {"resources": 2.0},
        {"budget": True},
        {"pace": "1"},
        {"concurrency": float("nan")},
        {"restricted": 1},
        {"ties": "yes"},
        {"clock": 5},
    ],
    ids=str,
)
def test_what_is_no_share_and_no_number_is_refused(wrong):
    """What is no share, no number from 0 up and no switch gets a sentence with name and value."""
    ((name, value),) = wrong.items()
    with pytest.raises(OptionError, match=f"^{name}= takes ") as caught:
        Simulation(**wrong)
    assert str(caught.value).endswith(f"; got {value!r}.")


def test_numbers_of_other_libraries_are_numbers():
    """A NumPy number is as good as Python's."""
    made = Simulation(seed=np.int64(3), dropped=np.float64(0.5), budget=np.int32(7))
    assert made == Simulation(seed=3, dropped=0.5, budget=7)


def test_it_shows_what_was_chosen():
    """Its repr is the call that makes it."""
    assert repr(Simulation()) == "Simulation()"
    made = Simulation(seed=2, ties=True, gateway=0.25, budget=7)
    assert repr(made) == "Simulation(seed=2, ties=True, gateway=0.25, budget=7)"
    assert eval(repr(made)) == made


def test_chance_is_as_frequent_as_asked():
    """A share is met by about so many, by all or by none."""
    simulation = Simulation(seed=8)
    for share in (0.0, 0.1, 0.5, 1.0):
        hits = sum(simulation.is_triggered(share, "x", number) for number in range(2000))
        assert abs(hits / 2000 - share) < 0.03
