"""Star searches walk the pages and return a frame."""

import json
import warnings

import pandas as pd
import pytest
from graphql import GraphQLError

from gqlnb import (
    AnswerError,
    Client,
    PartialError,
    QueryError,
    Schema,
    Token,
    connect,
    github,
    reference_schema,
    stars,
)
from gqlnb.github.repositories import load_snapshot
from gqlnb.github.star_results import FALLBACK_STARS_QUERY, STARS_QUERY, collect_stars
from tests.client.faults import Endpoint, json_answer

# ---------------------------------------------------------------- the frame


def test_stars_returns_names_owners_and_counts():
    """The frame has the three columns with their dtypes, in the order of the answer."""
    frame = stars(">400000")
    assert list(frame.columns) == ["name", "owner", "stargazers"]
    assert frame.dtypes.astype(str).tolist() == ["string", "string", "Int64"]
    assert frame.to_numpy().tolist() == [
        [row.name, row.owner.login, row.stars] for row in load_snapshot() if row.stars > 400000
    ]


def test_attrs_are_serializable_as_json():
    """They include count, source and query."""
    attrs = stars(">100000", limit=1).attrs
    assert json.loads(json.dumps(attrs)) == attrs
    assert attrs == {
        "total_count": 119,
        "source": "demo: embedded snapshot of 2026-08-22",
        "query": "stars:>100000",
        "order": "stars-desc",
        "notes": [],
        "completeness": "more: `repositoryCount` counts 119",
        "caption": "1 of 119 rows; limit=None fetches all",
        "partial": True,
        "all_rows": 119,
    }


@pytest.mark.parametrize("limit", [5, None])
@pytest.mark.parametrize(
    ("given", "order"),
    [("", "stars-desc"), (" sort:stars", "stars-desc"), (" sort:stars-asc", "stars-asc")],
)
def test_the_order_is_stated(given, order, limit):
    """By default it is that of stars, the most first; the rows are in this order."""
    frame = stars(f">200000{given}", limit=limit)
    assert frame.attrs["order"] == order
    found = frame["stargazers"].tolist()
    assert found == sorted(found, reverse=order == "stars-desc")


@pytest.mark.parametrize(
    ("query", "test"),
    [
        ("<100", lambda count: count < 100),
        ("<=600", lambda count: count <= 600),
        ("300000..*", lambda count: count >= 300_000),
        ("*..600", lambda count: count <= 600),
    ],
)
@pytest.mark.parametrize("limit", [100, None])
def test_a_threshold_may_be_open_at_either_end(query, test, limit):
    """All forms of GitHub's ranges select their repositories, in one search or in several."""
    frame = stars(query, limit=limit)
    wanted = sum(test(row.stars) for row in load_snapshot())
    assert frame.attrs["total_count"] == wanted > 0
    assert len(frame) == min(wanted, limit or wanted)
    assert all(map(test, frame["stargazers"]))


def test_an_empty_search_keeps_columns_and_dtypes():
    """Nothing found gives an empty frame of the same columns and dtypes."""
    frame = stars(">1_000_000")
    assert frame.empty
    assert frame.dtypes.equals(stars(">400000").dtypes)
    assert frame.attrs["total_count"] == 0


@pytest.mark.parametrize(("limit", "rows"), [(1, 1), (100, 100), (250, 250), (1000, 1000)])
def test_a_limit_can_exceed_one_page(limit, rows):
    """All requested rows are returned in the fewest pages, without a warning."""
    with warnings.catch_warnings(action="error"):
        frame = stars(">1000", limit=limit)
    assert frame["name"].tolist() == [row.name for row in load_snapshot()[:rows]]


def test_a_limit_can_exceed_one_search():
    """More than a thousand rows take the fewest searches."""
    with warnings.catch_warnings(action="error"):
        frame = stars(">1000", limit=2000)
        few = stars("1000..2000 sort:stars-asc", limit=1200)
        all_there_are = stars(">1000", limit=5000)
    assert frame["name"].tolist() == [row.name for row in load_snapshot()[:2000]]
    assert frame.attrs["total_count"] == 3024
    assert frame.attrs["coverage"]["complete"]
    assert 2000 <= frame.attrs["coverage"]["got"] < 2200
    every = stars("1000..2000", limit=None)
    assert few["stargazers"].tolist() == sorted(every["stargazers"])[:1200]
    assert few.attrs["total_count"] == len(every)
    pd.testing.assert_frame_equal(all_there_are, stars(">1000", limit=None))


def test_a_warning_counts_rows_beyond_the_limit_of_a_search():
    """In an order other than by stars, one search is the maximum."""
    with pytest.warns(UserWarning, match=r"2,024 more are left out\. Without that order, more"):
        frame = stars(">1000 sort:forks", limit=2000)
    assert len(frame) == 1000
    assert frame.attrs["total_count"] == 3024


@pytest.mark.parametrize(("query", "rows"), [(">100000", 119), (">1000", 3024), (">1000000", 0)])
def test_no_limit_returns_all_rows(query, rows):
    """More than one search can return, in the same order and dtypes."""
    with warnings.catch_warnings(action="error"):
        frame = stars(query, limit=None)
    assert frame["name"].tolist() == [row.name for row in load_snapshot()[:rows]]
    assert frame.dtypes.equals(stars(">400000").dtypes)
    assert frame.attrs["query"] == f"stars:{query}"
    assert frame.attrs["coverage"]["complete"]
    assert len(frame) == frame.attrs["total_count"] == rows
    assert json.loads(json.dumps(frame.attrs)) == frame.attrs


@pytest.mark.parametrize("limit", [0, -1, 1.5, "10", True, [1]])
def test_a_bad_limit_is_refused(limit):
    """A limit that is not a number of rows gets one sentence."""
    with pytest.raises(QueryError, match=r"^Limit .* is not a number of rows"):
        stars(1000, limit=limit)


def test_a_client_may_be_a_name_a_client_or_a_target():
    """Connection names, clients and client targets return the same rows."""
    rows = stars(">300000")
    with Client(github.service()) as client:
        for given_client in ("demo", connect("demo"), client, github.service()):
            pd.testing.assert_frame_equal(stars(">300000", client=given_client), rows)


# ---------------------------------------------------------------- progress and stopping


def test_each_page_is_reported_to_the_callback():
    """With rows so far, rows expected, and matches."""
    heard = []
    collect_stars(">1000", limit=150, on_page=lambda *page: heard.append(page))
    assert heard == [(100, 150, 3024), (150, 150, 3024)]
    heard.clear()
    collect_stars(">1000", limit=None, on_page=lambda *page: heard.append(page))
    assert heard[-1] == (3024, 3024, 3024)
    assert heard == sorted(heard)
    heard.clear()
    collect_stars(">1000", limit=1500, on_page=lambda *page: heard.append(page))
    assert heard[-1] == (1500, 1500, 3024)


@pytest.mark.parametrize("limit", [1000, None])
def test_a_callback_may_stop_the_search(limit):
    """False from the callback ends the search and keeps the rows, without a note."""
    frame = collect_stars(">1000", limit=limit, on_page=lambda got, wanted, total: got < 200)
    assert 200 <= len(frame) < (3024 if limit is None else 201)
    assert frame.attrs["notes"] == []


# ---------------------------------------------------------------- endpoints that misbehave


@pytest.fixture(scope="module")
def endpoint():
    """Return a function that lets the search of a GitHub-shaped schema answer ``answer(args)``."""
    kind = {"__resolveType": lambda value, context: "Repository"}
    owner = {"__resolveType": lambda value, context: "User"}
    search = {"search": lambda root, args, context: answers[-1](args)}
    schema = Schema(
        github.schema().sdl, {"Query": search, "SearchResultItem": kind, "RepositoryOwner": owner}
    )
    answers = []

    def let_answer(answer):
        answers.append(answer)
        return schema

    return let_answer


def connection(*names, after="", more=False, total=0):
    """Return a page of repositories named ``owner/name/stars``; None is a null edge."""
    return {
        "repositoryCount": total or len(names),
        "pageInfo": {"hasNextPage": more, "hasPreviousPage": False, "endCursor": after},
        "edges": [name and {"cursor": "", "node": node(name)} for name in names],
    }


def node(text):
    """Return one repository."""
    if text == "null":
        return None
    owner, name, count = text.split("/")
    return {
        "name": name,
        "owner": {"login": owner},
        "stargazers": {"totalCount": int(count)},
        "stargazerCount": int(count),
    }


SENT = "stars:>5 sort:stars-desc"


def test_the_documented_query_is_sent(endpoint):
    """It has ``stars:>N``, the order of stars, and the cursor of the page before."""
    sent = []

    def answer(args):
        sent.append(args)
        if len(sent) > 1:
            return connection("a/c/8")
        return connection(*["a/b/9"] * 70, after="c1", more=True)

    stars(">5", limit=70, client=endpoint(answer))
    assert sent == [
        {"query": SENT, "type": "REPOSITORY", "first": 70, "after": None},
        {"query": SENT, "type": "REPOSITORY", "first": 69, "after": "c1"},
    ]
    assert "stargazers { totalCount }" in STARS_QUERY
    assert "stargazerCount" in FALLBACK_STARS_QUERY


def test_nulls_are_left_out_with_a_note(endpoint):
    """Null edges and nodes give no row, and one warning."""
    with pytest.warns(UserWarning, match="2 of the repositories were null"):
        frame = stars(5, client=endpoint(lambda args: connection("a/b/9", None, "null", "a/c/8")))
    assert frame["name"].tolist() == ["b", "c"]
    assert frame.attrs["notes"] == ["2 of the repositories were null and are left out."]


def test_duplicates_are_dropped(endpoint):
    """A repository that is repeated, in any case, is one row."""
    found = connection("a/b/9", "A/B/9", "a/c/8", total=2)
    with warnings.catch_warnings(action="error"):
        frame = stars(5, client=endpoint(lambda args: found))
    assert frame["name"].tolist() == ["b", "c"]


@pytest.mark.parametrize(
    ("faults", "limit", "said"),
    [
        ({"dropped": 0.05}, 1000, r"Expected 1,000 repositories, got 9\d\d: "),
        (
            {"duplicated": 0.05},
            1000,
            r"Expected 1,000 repositories, got 9\d\d \(\d\d were returned twice\): ",
        ),
    ],
)
def test_missing_rows_are_noted(faults, limit, said):
    """Pages that leave repositories out, or repeat them, get a warning with both numbers."""
    population = github.population(5_000, seed=4)
    service = github.service(population=population, simulation=github.Simulation(**faults))
    with pytest.warns(UserWarning, match=said):
        frame = stars(0, limit=limit, client=service)
    short = [note for note in frame.attrs["notes"] if note.startswith("Expected")]
    assert len(short) == 1
    assert f"got {len(frame):,}" in short[0]


def test_a_limit_that_is_reached_has_no_note():
    """No requested row is missing, although more repositories match."""
    simulation = github.Simulation(duplicated=0.05)
    service = github.service(population=github.population(5_000), simulation=simulation)
    frame = collect_stars(0, limit=250, client=service)
    assert (len(frame), frame.attrs["notes"]) == (250, [])


def test_pages_that_are_always_cut_short_are_noted():
    """Rows between those that came are missing, even if the limit is reached."""
    simulation = github.Simulation(dropped=0.05)
    service = github.service(population=github.population(5_000), simulation=simulation)
    frame = collect_stars(0, limit=250, client=service)
    assert len(frame) == 250
    (note,) = frame.attrs["notes"]
    assert note.startswith("3 pages had fewer rows than requested although more followed")


@pytest.mark.parametrize("lost", ["edges", "rows"])
def test_a_page_cut_short_once_is_requested_again(lost, endpoint):
    """No row is missing, and nothing is noted."""
    service = github.service()
    expected = stars(">50000", limit=300, client=service)
    sent = []

    def answer(args):
        sent.append(args)
        result = Client(service).execute(STARS_QUERY, {**args, "type": None}).data["search"]
        if len(sent) != 2:
            return result
        return {**result, "edges": None if lost == "edges" else result["edges"][:10]}

    frame = stars(">50000", limit=300, client=endpoint(answer))
    assert frame.equals(expected)
    assert frame.attrs["notes"] == []
    assert len(sent) == 4


def test_rows_that_stay_null_cost_no_request_each(endpoint):
    """The last pages are not as small as the number of rows that are left."""
    sent = []

    def answer(args):
        sent.append(args)
        first, start = args["first"], int(args["after"] or 0)
        names = [f"a/{number}/9" for number in range(start + 1, start + first)]
        return connection("null", *names, after=str(start + first), more=True, total=900)

    frame = collect_stars(5, limit=300, client=endpoint(answer))
    assert len(frame) == 300
    assert len(sent) == 4


def test_a_page_larger_than_requested_is_truncated(endpoint):
    """The frame has only the requested rows."""
    assert (
        len(stars(5, limit=2, client=endpoint(lambda args: connection("a/b/9", "a/c/8", "a/d/7"))))
        == 2
    )


def test_a_repeated_cursor_ends_the_search(endpoint):
    """No further request is sent."""
    pages = []

    def answer(args):
        pages.append(args)
        return connection(*[f"a/{len(pages)}/9"] * 100, after="same", more=True, total=50)

    with pytest.warns(UserWarning, match="Expected 50 repositories, got 2"):
        assert len(stars(5, client=endpoint(answer))) == 2
    assert len(pages) == 2


def test_an_endless_search_is_stopped(endpoint):
    """With new cursors and the same repository, after a thousand results."""
    pages = []

    def answer(args):
        pages.append(args)
        names = [f"a/{n}/9" for n in range(args["first"])]
        return connection(*names, after=f"c{len(pages)}", more=True)

    assert len(stars(5, limit=150, client=endpoint(answer))) == 100
    assert len(pages) < 30


def test_an_empty_page_ends_the_search(endpoint):
    """Even if ``hasNextPage`` is true."""
    assert stars(5, client=endpoint(lambda args: connection(after="x", more=True))).empty


def test_star_counts_replace_forbidden_stargazers():
    """The frame is the same by ``stargazerCount``, with one warning."""
    with pytest.warns(UserWarning, match="'stargazerCount' was requested instead") as caught:
        frame = stars(">1000", limit=250, client=github.service(restricted=True))
    assert len(caught) == 1
    pd.testing.assert_frame_equal(frame, stars(">1000", limit=250))


def test_a_failing_page_leaves_the_rows_before_it(endpoint):
    """If a page fails midway the error carries the rows of the pages before it."""

    def answer(args):
        if args["after"]:
            msg = "Something went wrong."
            raise GraphQLError(msg, extensions={"type": "INTERNAL"})
        return connection("a/b/9", "a/c/8", after="c", more=True)

    with pytest.raises(PartialError, match="Something went wrong") as caught:
        stars(5, client=endpoint(answer))
    assert caught.value.result.dicts() == [
        {"name": "b", "owner": "a", "stargazers": 9},
        {"name": "c", "owner": "a", "stargazers": 8},
    ]
    assert caught.value.result.frame()["stargazers"].tolist() == [9, 8]


def test_an_error_with_partial_data_is_a_warning(endpoint):
    """One warning has the messages of all errors."""

    def answer(args):
        return connection("a/b/9") | {
            "edges": [{"node": node("a/b/9")}, GraphQLError("Too heavy.")]
        }

    with pytest.warns(UserWarning, match=r"1 of the repositories were null.*Too heavy"):
        assert len(stars(5, client=endpoint(answer))) == 1


def test_a_page_that_counts_nothing_does_not_change_the_total(endpoint):
    """A failing index counts 0 for a later page."""
    pages = {
        None: connection("a/b/9", after="c", more=True, total=2),
        "c": {**connection(after=""), "repositoryCount": 0},
    }
    with pytest.warns(UserWarning, match="Expected 2 repositories, got 1"):
        frame = stars(5, client=endpoint(lambda args: pages[args["after"]]))
    assert frame.attrs["total_count"] == 2


def test_an_error_beside_all_rows_is_noted():
    """It does not say that rows were null."""
    members = {"data": {"search": connection("a/b/9")}, "errors": [{"message": "No page."}]}
    with (
        Endpoint(json_answer(members)) as server,
        pytest.warns(UserWarning, match=r"^The endpoint reported an error: No page\.$"),
    ):
        assert len(stars(5, client=server.url)) == 1


NAMES = [f"r{n}" for n in range(100)]


FIRST = json_answer(
    {
        "data": {
            "search": connection(*(f"a/{it}/9" for it in NAMES), after="x", more=True, total=101)
        }
    }
)


@pytest.mark.parametrize("limit", [101, None])
def test_a_partial_error_names_the_endpoint(limit):
    """Without the token and the key in its address; the rows before are kept."""
    failed = {"data": {"search": None}, "errors": [{"message": "Shard 7", "path": ["search"]}]}
    if limit is None:
        failed = {
            "data": dict.fromkeys(("p0", "p1", "p2", "p3")),
            "errors": [{"message": "Shard 7", "path": ["p0"]}],
        }
    with Endpoint(*[FIRST] * bool(limit), json_answer(failed)) as server:
        secret = Token("canary-77")
        client = Client(f"{server.url}?key=canary-78", token=secret)
        with client, pytest.raises(PartialError) as caught:
            stars(5, limit=limit, client=client)
    message = str(caught.value)
    assert message.startswith(f"{client.source}: The answer is partial: 1 error.\n")
    assert server.url in message
    assert message.endswith("Shard 7")
    assert "canary" not in message
    if limit:
        assert len(caught.value.result.data["repositories"]) == 100


def test_an_endpoint_with_a_different_search_is_refused():
    """With a one-sentence error, after the search was repeated: its answer may have been lost."""
    sdl = github.schema().sdl.replace(
        "): SearchResultItemConnection!", "): SearchResultItemConnection"
    )
    calls = []
    other = Schema(sdl, {"Query": {"search": lambda *_: calls.append(1)}})
    with pytest.raises(AnswerError, match="'search' of the answer is null, without an error"):
        stars(5, client=other)
    assert len(calls) == 3


def test_a_schema_with_a_different_search_is_refused():
    """One sentence names the endpoint, without an excerpt of our query."""
    with pytest.raises(QueryError) as caught:
        stars(">1", client=reference_schema())
    assert str(caught.value) == (
        "The schema of in-process is not GitHub-shaped: "
        "Cannot query field 'search' on type 'Query'."
    )
    assert caught.value.__context__ is None
