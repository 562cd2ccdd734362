"""Points and nodes are counted as GitHub's documentation counts them."""

import pytest

from gqlnb import QueryError, github
from gqlnb.document.document import Document
from gqlnb.github.query_cost import compute_cost

# The documentation's own examples, of fields that the stand-in does not have.
SCORE = """{ viewer { login repositories(first: 100) { edges { node { id
  issues(first: 50) { edges { node { id
    labels(first: 60) { edges { node { id } } } } } } } } } } }"""
NODES = """{ viewer {
  repositories(first: 50) { edges { repository: node { name
    pullRequests(first: 20) { edges { pullRequest: node { title
      comments(first: 10) { edges { comment: node { bodyHTML } } } } } }
    issues(first: 20) { totalCount edges { issue: node { title
      comments(first: 10) { edges { comment: node { bodyHTML } } } } } } } } }
  followers(first: 10) { edges { follower: node { login } } } } }"""
SIMPLE = """{ viewer { repositories(first: 50) { edges { repository: node { name
  issues(first: 10) { totalCount edges { node { title bodyHTML } } } } } } } }"""


def priced(text, variables=None):
    """Return points and nodes of a text."""
    return tuple(compute_cost(Document.parse(text), variables or {}))


def test_the_documented_score():
    """The documentation's example needs 5,101 requests, which are 51 points."""
    assert priced(SCORE) == (51, 100 + 100 * 50 + 100 * 50 * 60)


@pytest.mark.parametrize(("text", "nodes"), [(SIMPLE, 550), (NODES, 22_060)])
def test_the_documented_nodes(text, nodes):
    """Both examples of the documentation are counted as it counts them."""
    assert priced(text)[1] == nodes


PAGE = "repositories(%s) { nodes { id } }"


@pytest.mark.parametrize(
    ("text", "variables", "expected"),
    [
        ("{ viewer { login } }", {}, (1, 0)),
        ("{ rateLimit { cost } }", {}, (0, 0)),
        ("{ __typename rateLimit { cost } }", {}, (0, 0)),
        ("{ viewer { repositories { totalCount } } }", {}, (1, 0)),
        ("{ viewer { " + PAGE % "first: 7" + " } }", {}, (1, 7)),
        ("{ viewer { " + PAGE % "last: 7" + " } }", {}, (1, 7)),
        ("{ viewer { " + PAGE % "first: null, last: 3" + " } }", {}, (1, 3)),
        ("query ($n: Int) { viewer { " + PAGE % "first: $n" + " } }", {"n": 9}, (1, 9)),
        ("query ($n: Int) { viewer { " + PAGE % "first: $n" + " } }", {"n": None}, (1, 0)),
        ("query ($n: Int = 8) { viewer { " + PAGE % "first: $n" + " } }", {}, (1, 8)),
        ("query ($n: Int = 8) { viewer { " + PAGE % "first: $n" + " } }", {"n": 2}, (1, 2)),
        ("{ viewer { a: %s b: %s } }" % ((PAGE % "first: 4",) * 2), {}, (1, 8)),
        ("{ viewer { %s %s } }" % ((PAGE % "first: 4",) * 2), {}, (1, 4)),
        ("{ viewer { ...f ...f } } fragment f on User { %s }" % (PAGE % "first: 4"), {}, (1, 4)),
        ("{ viewer { ... on User { %s } } }" % (PAGE % "first: 4"), {}, (1, 4)),
        ("{ viewer { ... @skip(if: true) { %s } } }" % (PAGE % "first: 4"), {}, (1, 0)),
        (
            "query ($y: Boolean!) { viewer { ...f @include(if: $y) } } fragment f on User { %s }"
            % (PAGE % "first: 4"),
            {"y": True},
            (1, 4),
        ),
        (
            "query ($y: Boolean = true) { viewer { ...f @skip(if: $y) } } fragment f on User { %s }"
            % (PAGE % "first: 4"),
            {},
            (1, 0),
        ),
    ],
)
def test_connections_with_a_page_size_are_counted(text, variables, expected):
    """At any depth and for any form of the size; `totalCount` alone is free."""
    assert priced(text, variables) == expected


def test_nested_fragments_are_counted_in_linear_time():
    """The exponentially many nodes are all in the count."""
    depth = 40
    fragments = "\n".join(
        f"fragment f{k} on User {{ a: {PAGE % 'first: 1'} "
        f"b: x {{ ...f{k + 1} }} c: x {{ ...f{k + 1} }} }}"
        for k in range(depth)
    )
    text = f"{{ viewer {{ ...f0 }} }} {fragments} fragment f{depth} on User {{ id }}"
    assert priced(text)[1] == 2**depth - 1


DEEP = """{ rateLimit(dryRun: %s) { cost nodeCount remaining used limit }
  viewer { repositories(first: 100) { nodes { owner { repositories(first: 100) { nodes {
    owner { repositories(first: %d) { totalCount } } } } } } } } }"""


def test_rate_limit_has_the_cost_of_the_query():
    """And the points that remain after it."""
    result = github.service().execute(DEEP % ("false", 40))
    assert result["rateLimit"] == {
        "cost": 101,
        "nodeCount": 100 + 100 * 100 + 100 * 100 * 40,
        "remaining": 4_899,
        "used": 101,
        "limit": 5_000,
    }


def test_a_dry_run_returns_only_the_cost():
    """The data have ``rateLimit`` alone, nothing is charged, and pages are not checked."""
    result = github.service().execute(DEEP % ("true", 40))
    assert result.data == {
        "rateLimit": {
            "cost": 101,
            "nodeCount": 410_100,
            "remaining": 5_000,
            "used": 0,
            "limit": 5_000,
        }
    }
    text = '{ l: rateLimit(dryRun: true) { cost } search(query: "", type: REPOSITORY) { %s } }'
    assert github.service().execute(text % "nodes { __typename }").data == {"l": {"cost": 1}}


@pytest.mark.parametrize(("given", "dry"), [({}, True), ({"d": False}, False), ({"d": True}, True)])
def test_a_dry_run_can_be_a_variable(given, dry):
    """Its default value applies too."""
    text = "query Q($d: Boolean = true) { viewer { login } ...f } fragment f on Query {%s}"
    result = github.service().execute(text % " rateLimit(dryRun: $d) { cost } ", given)
    assert ("viewer" in result.data) is not dry
    assert result["rateLimit"] == {"cost": 1}


def test_an_integral_float_is_counted_as_an_integer():
    """JSON's 100.0 is a valid Int; it does not bypass the limit."""
    text = """query ($n: Int!, $m: Int!) { rateLimit { nodeCount }
      viewer { repositories(first: $n) { nodes { owner { repositories(first: $m) { nodes {
        owner { repositories(first: $m) { totalCount } } } } } } } } }"""
    result = github.service().execute(text, {"n": 2.0, "m": 3.0})
    assert result["rateLimit"]["nodeCount"] == 2 + 2 * 3 + 2 * 3 * 3
    with pytest.raises(QueryError, match="1,010,100 possible nodes"):
        github.service().execute(text, {"n": 100.0, "m": 100.0})


@pytest.mark.parametrize("sizes", [(1, 100), (100, 1)])
def test_the_largest_page_of_a_response_key_counts(sizes):
    """Fragments on different types may have different sizes, in any order."""
    user, organization = (f"{{ {PAGE % f'first: {size}'} }}" for size in sizes)
    text = f"{{ owner {{ ... on User {user} ... on Organization {organization} }} }}"
    assert priced(text) == (1, 100)


def test_the_reset_time_is_in_the_future():
    """Without a simulated budget, every query begins a new one."""
    text = "{ rateLimit { resetAt } }"
    (moment,) = github.service().execute(text)["rateLimit"].values()
    assert moment.endswith("Z")
    assert moment > "2026-01-01"
