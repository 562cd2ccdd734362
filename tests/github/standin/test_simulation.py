"""A simulation shows the faults of GitHub that it is asked for, the same ones for the same seed."""

from collections import Counter
from itertools import pairwise

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


def test_a_simulation_without_faults_changes_nothing(population):
    """Results equal those without a simulation."""
    truth = walk(github.service(population=population))
    assert truth == walk(github.service(population=population, simulation=Simulation(seed=9)))
    assert len(truth) == len(set(truth)) == 1000


def test_the_order_of_ties_depends_on_the_query(population):
    """The same query has the same order; the order by stars is unchanged."""
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


def test_dropped_items_are_missing_but_counted(population):
    """Cursors, count and the last page are unchanged."""
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


def test_a_duplicate_replaces_another_item(population):
    """As many are missing as are repeated, each near its first position."""
    service = github.service(population=population, simulation=Simulation(duplicated=0.05))
    truth, found = walk(github.service(population=population)), walk(service)
    twice = [row for row, count in Counter(found).items() if count > 1]
    assert len(found) == 1000
    assert 20 < len(twice) < 80
    assert len(set(truth) - set(found)) == 1000 - len(set(found)) > 0
    for row in twice:
        places = [place for place, each in enumerate(found) if each == row]
        assert places[-1] - places[0] <= 200


def test_stars_drift_between_pages(population):
    """Pages of one search disagree and drift persists; the population is unchanged."""
    simulation = Simulation(seed=3, drift=400)
    service = github.service(population=population, simulation=simulation)
    truth = dict(walk(github.service(population=population)))
    found = walk(service)
    gained = [stars - truth[name] for name, stars in found if name in truth]
    assert sum(change > 0 for change in gained) > sum(change < 0 for change in gained) > 0
    assert len(set(dict(found))) < len(found)  # some came twice
    assert walk(github.service(population=population, simulation=simulation)) == found
    assert dict(walk(github.service(population=population))) == truth


def test_stars_do_not_drift_below_zero():
    """For a repository without stars."""
    from gqlnb.github.repositories import Owner, Repository
    from gqlnb.github.standin.simulation import DataFaults

    rows = [Repository("a", Owner("o", "User"), 0, 0, None, "2020-01-01T00:00:00Z")]
    faults = DataFaults(github.Population.from_repositories(rows), Simulation(seed=2, drift=1))
    seen = [faults.find_repositories("stars:<1").total for _ in range(3)]
    assert min(faults.population.stars) >= 0
    assert seen[-1] in {0, 1}


def test_an_expensive_page_is_partial(population):
    """Nodes over the limit are null, each with an error; smaller pages are complete."""
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


def test_the_restricted_option_is_shared_with_the_service():
    """Either one makes stargazers forbidden."""
    text = '{ repository(owner: "git", name: "git") { stargazers { totalCount } } }'
    for service in (
        github.service(restricted=True),
        github.service(simulation=Simulation(restricted=True)),
        github.service(restricted=True, simulation=Simulation(ties=True)),
    ):
        assert service.execute(text).errors[0]["type"] == "FORBIDDEN"
    assert github.service(simulation=Simulation(ties=True)).execute(text).errors == ()


def test_stargazers_of_the_viewers_repositories_are_returned():
    """The restriction is for repositories of others."""
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
        {"drift": -1},
        {"seed": None},
        {"dropped": True},
        {"drift": 1.5},
        {"resources": 2.0},
        {"budget": True},
        {"pace": "1"},
        {"restricted": 1},
        {"ties": "yes"},
        {"clock": 5},
    ],
    ids=str,
)
def test_an_invalid_share_number_or_switch_is_refused(wrong):
    """The error has name and value."""
    ((name, value),) = wrong.items()
    with pytest.raises(OptionError, match=f"^{name}= takes ") as caught:
        Simulation(**wrong)
    assert str(caught.value).endswith(f"; got {value!r}.")


def test_the_repr_is_the_call_with_the_chosen_options():
    """Evaluating it gives an equal simulation."""
    assert repr(Simulation()) == "Simulation()"
    made = Simulation(seed=2, ties=True, gateway=0.25, budget=7)
    assert repr(made) == "Simulation(seed=2, ties=True, gateway=0.25, budget=7)"
    assert eval(repr(made)) == made
