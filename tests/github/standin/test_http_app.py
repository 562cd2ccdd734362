"""Over HTTP the stand-in answers as GitHub does: each body and status that is known."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from gqlnb import AuthError, Limits, OptionError, connect, github
from gqlnb.github.standin.simulation import Simulation
from gqlnb.tokens import Token
from tests.github.standin.exchange import VIEWER, post

AGENT = {"User-Agent": "tests"}


@pytest.fixture(scope="module")
def app():
    """Return an application that asks for a token."""
    return github.app(token=Token("open-sesame"))


def simulated(**faults):
    """Return an application with faults."""
    return github.app(github.service(simulation=Simulation(**faults)))


# ---------------------------------------------------------------- who asks


DOCS = "https://docs.github.com/graphql"
LOGIN = f"{DOCS}/guides/forming-calls-with-graphql#authenticating-with-graphql"


@pytest.mark.parametrize(
    ("given", "status", "message", "url"),
    [
        ({"token": None}, 401, "This endpoint requires you to be authenticated.", LOGIN),
        ({"token": "stale"}, 401, "Bad credentials", DOCS),
        *(
            ({"body": body}, 400, "Problems parsing JSON", DOCS)
            for body in (b"", b"{", b"query=1", b"\xff", b'{"query": NaN}')
        ),
    ],
)
def test_a_refused_request_has_the_documentation_url(app, given, status, message, url):
    """Without a token, with a wrong one, and with a body that is not JSON."""
    answer = post(app, **given)
    assert answer.status == status
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert answer.json == {"message": message, "documentation_url": url, "status": str(status)}


@pytest.mark.parametrize("word", ["bearer", "Bearer", "token", "TOKEN"])
def test_every_authentication_scheme_of_github_is_accepted(app, word):
    """Those that GitHub accepts before a token."""
    assert post(app, authorization=f"{word} open-sesame").status == 200


def test_an_application_without_a_token_accepts_any_request():
    """With or without a token."""
    free = github.app()
    assert post(free, token=None).status == post(free, token="whatever").status == 200


@pytest.mark.parametrize("agent", [None, "", "  "])
def test_a_request_without_a_user_agent_is_forbidden(app, agent):
    """403 with plain text."""
    answer = post(app, user_agent=agent)
    assert (answer.status, answer.headers["content-type"]) == (403, "text/html; charset=utf-8")
    assert answer.body.startswith(
        b"Request forbidden by administrative rules. Please make sure your request has a "
        b"User-Agent header ("
    )


def test_the_client_raises_an_error_for_each_refusal(app):
    """Each refusal has its own error class."""
    with pytest.raises(AuthError, match="Bad credentials"):
        connect(app, token=Token("stale"), headers=AGENT).execute("{ viewer { login } }")
    with pytest.raises(AuthError, match="requires you to be authenticated"):
        connect(app, headers=AGENT).execute("{ viewer { login } }")
    client = connect(app, token=Token("open-sesame"), headers=AGENT)
    assert client.execute("{ viewer { login } }").data == {"viewer": {"login": "demo"}}


# ---------------------------------------------------------------- what is asked


@pytest.mark.parametrize(
    "body",
    [{}, [], None, {"query": None}, {"query": ""}, {"query": 1}, {"variables": {}}, [VIEWER]],
)
def test_a_body_without_a_query_is_refused(app, body):
    """One error without type and path."""
    answer = post(app, body)
    assert answer.status == 200
    assert answer.json == {
        "errors": [{"message": "A query attribute must be specified and must be a string."}]
    }


def test_a_body_over_the_limit_has_no_query(app):
    """It is truncated, whatever its content."""
    long = {"query": "{ viewer { login } } #" + "x" * 2**21}
    for body in (long, json.dumps(VIEWER).encode() + b" " * (2**20 + 10), b"{" * 2**21):
        answer = post(app, body, parts=40)
        assert answer.status == 200
        assert "query attribute" in answer.json["errors"][0]["message"]


def test_the_media_type_of_a_body_does_not_matter(app):
    """JSON is read with any media type and in any number of chunks."""
    for kind in (None, "text/plain", "application/x-www-form-urlencoded"):
        assert post(app, content_type=kind, parts=5).json["data"] == {"viewer": {"login": "demo"}}


DEEP = """{ viewer { repositories(first: 100) { nodes { owner { repositories(first: 100) {
  nodes { owner { repositories(first: 100) { totalCount } } } } } } } } }"""


def test_too_many_nodes(app):
    """200, no data, no path, type MAX_NODE_LIMIT_EXCEEDED."""
    answer = post(app, {"query": DEEP})
    assert answer.status == 200
    assert answer.json == {
        "errors": [
            {
                "type": "MAX_NODE_LIMIT_EXCEEDED",
                "message": "This query requests up to 1,010,100 possible nodes which exceeds the "
                "maximum limit of 500,000.",
            }
        ]
    }


SEARCH = '{ search(query: "stars:>1", type: REPOSITORY%s) { nodes { __typename } } }'


@pytest.mark.parametrize(
    ("query", "kind", "message"),
    [
        (SEARCH % "", "MISSING_PAGINATION_BOUNDARIES",
         "You must provide a `first` or `last` value to properly paginate the `search` "
         "connection."),
        (SEARCH % ", first: 101", "EXCESSIVE_PAGINATION",
         "Requesting 101 records on the `search` connection exceeds the `first` limit of 100 "
         "records."),
        (SEARCH % ", last: 1000", "EXCESSIVE_PAGINATION",
         "Requesting 1000 records on the `search` connection exceeds the `last` limit of 100 "
         "records."),
        (SEARCH % ', first: 1, after: "x"', "INVALID_CURSOR_ARGUMENTS",
         "`x` does not appear to be a valid cursor."),
        ('{ repository(owner: "o", name: "r") { id } }', "NOT_FOUND",
         "Could not resolve to a Repository with the name 'o/r'."),
        ('{ user(login: "o-") { id } }', "NOT_FOUND",
         "Could not resolve to a User with the login of 'o-'."),
        ('{ organization(login: "torvalds") { id } }', "NOT_FOUND",
         "Could not resolve to an Organization with the login of 'torvalds'."),
        ('{ node(id: "D_x") { id } }', "NOT_FOUND",
         "Could not resolve to a node with the global id of 'D_x'"),
        ("{ nodes(ids: [%s]) { id } }" % ('"x" ' * 101), "ARGUMENT_LIMIT",
         "You may not provide more than 100 node ids; you provided 101."),
        (SEARCH.replace("stars:>1", "created:>yesterday") % ", first: 1", "UNPROCESSABLE",
         '"yesterday" is not a recognized date/time format. Please provide an ISO 8601 '
         "date/time value, such as YYYY-MM-DD."),
    ],
)  # fmt: skip
def test_an_error_of_a_field(app, query, kind, message):
    """200, the field is null, and the error has type, path, locations and message in this order."""
    answer = post(app, {"query": query})
    assert answer.status == 200
    (error,) = answer.json["errors"]
    assert list(error) == ["type", "path", "locations", "message"]
    assert (error["type"], error["message"]) == (kind, message)
    (field,) = error["path"]
    assert answer.json["data"] == ({field: None} if kind == "NOT_FOUND" else None)
    assert query.startswith(f"{{ {field}(")


@pytest.mark.parametrize("kind", ["ISSUE", "DISCUSSION"])
def test_a_search_of_another_type_is_empty(app, kind):
    """An empty page without an error, and ``extensions`` give the reason."""
    query = f"""{{ search(query: "a", type: {kind}, first: 5) {{
      issueCount userCount codeCount discussionCount wikiCount repositoryCount
      edges {{ cursor }} pageInfo {{ hasNextPage }} }} }}"""
    answer = post(app, {"query": query}).json
    assert "errors" not in answer
    search = answer["data"]["search"]
    assert {value for name, value in search.items() if name.endswith("Count")} == {0}
    assert (search["edges"], search["pageInfo"]) == ([], {"hasNextPage": False})


# ---------------------------------------------------------------- headers and budgets


def test_every_charged_response_has_rate_limit_headers(app):
    """They include the remaining budget and the request id."""
    answer = post(app)
    headers = answer.headers
    assert headers["x-ratelimit-limit"] == "5000"
    assert headers["x-ratelimit-remaining"] == "4999"
    assert headers["x-ratelimit-used"] == "1"
    assert headers["x-ratelimit-resource"] == "graphql"
    assert int(headers["x-ratelimit-reset"]) > 1_700_000_000
    assert headers["x-github-media-type"] == "github.v4; format=json"
    assert headers["x-github-request-id"].count(":") == 4
    assert headers["x-github-request-id"] != post(app).headers["x-github-request-id"]


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self):
        self.now = 1_790_000_000.0

    def __call__(self):
        """Return the moment."""
        return self.now


RATE = {"query": "{ viewer { login } rateLimit { limit cost remaining used resetAt } }"}


def test_a_budget_is_used_up_and_resets():
    """Each query costs points; headers and field agree; after an hour the budget is full."""
    clock = Clock()
    app = simulated(budget=3, clock=clock)
    seen = []
    for _ in range(3):
        answer = post(app, RATE)
        rate = answer.json["data"]["rateLimit"]
        assert rate["limit"] == int(answer.headers["x-ratelimit-limit"]) == 3
        assert rate["remaining"] == int(answer.headers["x-ratelimit-remaining"])
        assert rate["used"] == int(answer.headers["x-ratelimit-used"])
        assert rate["resetAt"] == "2026-09-21T15:13:20Z"
        seen.append(rate["remaining"])
    assert seen == [2, 1, 0]
    assert "data" not in post(app).json
    assert "data" in post(app, token="another").json  # each token has a budget of its own
    clock.now += 3_600
    assert post(app, RATE).json["data"]["rateLimit"]["remaining"] == 2


def test_a_token_has_one_budget_for_all_schemes():
    """The scheme is not part of the token."""
    app = simulated(budget=1)
    assert "data" in post(app).json
    for line in ("Bearer open-sesame", "token open-sesame", "BEARER  open-sesame"):
        assert "data" not in post(app, token=None, authorization=line).json


def test_an_exhausted_budget_has_two_error_types():
    """200 with RATE_LIMITED; or RATE_LIMIT, with headers that report remaining points."""
    app = simulated(budget=0)
    answers = [post(app) for _ in range(20)]
    assert {answer.status for answer in answers} == {200}
    assert {answer.headers["x-ratelimit-resource"] for answer in answers} == {"graphql"}
    errors = {answer.json["errors"][0]["type"]: answer for answer in answers}
    assert set(errors) == {"RATE_LIMITED", "RATE_LIMIT"}
    first, second = errors["RATE_LIMITED"], errors["RATE_LIMIT"]
    assert first.json["errors"][0]["message"].startswith("API rate limit exceeded for user ID ")
    assert first.headers["x-ratelimit-remaining"] == "0"
    assert second.json["errors"][0]["message"].startswith("API rate limit already exceeded for ")
    assert second.json["errors"][0]["code"] == "graphql_rate_limit"
    assert second.headers["x-ratelimit-remaining"] == "1"


@pytest.mark.parametrize("first", ["x", 10**11, -(10**40), None])
def test_an_invalid_variable_costs_nothing(first):
    """A query that is not executed is not charged; its error describes the variable."""
    app = simulated(budget=5)
    text = """query($n: Int!) {
      rateLimit { cost } search(query: "x", type: REPOSITORY, first: $n) { repositoryCount } }"""
    answer = post(app, {"query": text, "variables": {"n": first}})
    (error,) = answer.json["errors"]
    assert error["message"] == "Variable $n of type Int! was provided invalid value"
    assert answer.headers["x-ratelimit-used"] == "0"


COSTLY = """{ search(query: "stars:>1000", type: REPOSITORY, first: 100) { nodes {
  ... on Repository { owner { repositories(first: %s) { totalCount nodes { name } } } } } } }"""


def test_a_budget_is_never_exceeded():
    """A query that costs more than the remaining points is not executed."""
    app = simulated(budget=5)
    query = {"query": COSTLY % 1}
    used = [int(post(app, query).headers["x-ratelimit-used"]) for _ in range(5)]
    assert used == [1, 2, 3, 4, 5]
    # one request, a hundred, and ten thousand: 101 points
    inner = "repositories(first: 1) { totalCount }"
    for _ in range(2):
        inner = f"repositories(first: 100) {{ nodes {{ owner {{ {inner} }} }} }}"
    dear = f"{{ viewer {{ {inner} }} }}"
    app = simulated(budget=50, seed=3)
    answer = post(app, {"query": dear})
    assert answer.json["errors"][0]["type"] in {"RATE_LIMITED", "RATE_LIMIT"}
    assert answer.headers["x-ratelimit-used"] == "0"
    assert int(answer.headers["x-ratelimit-remaining"]) >= 50
    assert "data" in post(app).json


def overlapping(app):
    """Return the answers to a request, and to one that came while the first was executed."""
    entered, leave = threading.Event(), threading.Event()

    @app.schema.resolver("Query.viewer")
    def viewer(_root, _args, _context):
        entered.set()
        assert leave.wait(20)

    with ThreadPoolExecutor(1) as thread:
        first = thread.submit(post, app)
        assert entered.wait(20)
        second = post(app)
        leave.set()
        return first.result(20), second


def test_a_running_request_is_already_charged():
    """Another request cannot spend its points."""
    app = simulated(budget=1)
    first, second = overlapping(app)
    assert "data" not in second.json
    assert "data" in first.json


def test_a_refused_request_costs_nothing():
    """Neither an invalid query nor one with too many nodes is charged."""
    app = simulated(budget=5)
    for text in ("{", "{ nope }", DEEP):
        assert post(app, {"query": text}).headers["x-ratelimit-remaining"] == "5"


def test_a_timeout_costs_points():
    """Each has an additional charge, limited to the remaining points."""
    app = simulated(budget=25, timeouts=1.0, penalty=10)
    answers = [post(app) for _ in range(4)]
    assert [a.headers["x-ratelimit-remaining"] for a in answers] == ["15", "5", "0", "0"]
    assert [a.headers["x-ratelimit-used"] for a in answers] == ["10", "20", "25", "25"]
    assert post(simulated(timeouts=1.0)).headers["x-ratelimit-limit"] == "5000"


HASTY = {
    "documentation_url": f"{DOCS}/overview/"
    "rate-limits-and-query-limits-for-the-graphql-api#secondary-rate-limits",
    "message": "You have exceeded a secondary rate limit. Please wait a few minutes before "
    "you try again.",
}


def test_requests_above_the_rate_per_minute_are_refused():
    """With GitHub's message; after the minute requests are accepted again."""
    clock = Clock()
    app = simulated(pace=2, clock=clock)
    assert ["data" in post(app).json for _ in range(3)] == [True, True, False]
    clock.now += 20
    answers = [post(app) for _ in range(60)]
    assert all(answer.json == HASTY for answer in answers)
    assert {answer.headers.get("retry-after") for answer in answers} == {"40", None}
    clock.now += 40
    assert "data" in post(app).json


def test_the_secondary_limit_has_every_known_form():
    """Mostly 403, also 200 (documented) and 429 (observed); ``retry-after`` is optional."""
    app = simulated(pace=0)
    seen = [(a.status, a.headers.get("retry-after")) for a in (post(app) for _ in range(200))]
    statuses = [status for status, _ in seen]
    assert statuses.count(403) > statuses.count(200) > 20 < statuses.count(429)
    for status in (200, 403, 429):
        assert {wait is None for got, wait in seen if got == status} == {True, False}


def test_a_request_over_the_concurrency_limit_is_refused():
    """It has no other effect."""
    app = simulated(concurrency=1, seed=1)
    first, second = overlapping(app)
    assert second.json == HASTY
    assert second.headers.get("retry-after") in {"60", None}
    assert first.status == 200
    assert post(app, {"query": "{ __typename }"}).status == 200


# ---------------------------------------------------------------- what is between


def test_gateway_failures_are_html_pages():
    """502 and 504, with nginx's pages and GitHub's own."""
    app = simulated(gateway=1.0)
    answers = [post(app) for _ in range(30)]
    assert {answer.status for answer in answers} == {502, 504}
    assert {answer.headers["content-type"] for answer in answers} == {"text/html; charset=utf-8"}
    assert {b"nginx" in answer.body for answer in answers} == {True, False}
    assert {b"Unicorn!" in answer.body for answer in answers} == {True, False}


def test_query_timeouts_are_json():
    """502 and 504 with null data, or the text "null"."""
    app = simulated(timeouts=1.0)
    answers = [post(app) for _ in range(30)]
    assert {answer.status for answer in answers} == {502, 504}
    assert {answer.json["data"] for answer in answers} == {None, "null"}
    for answer in answers:
        (error,) = answer.json["errors"]
        assert error["message"].startswith(
            "Something went wrong while executing your query. This may be the result of a "
            "timeout, or it could be a GitHub bug. Please include `"
        )


def test_a_seed_makes_faults_reproducible():
    """Same faults, same order; their share is about the requested one."""
    one, same, other = (
        [post(app).status for _ in range(100)]
        for app in (
            simulated(gateway=0.3, seed=1),
            simulated(gateway=0.3, seed=1),
            simulated(gateway=0.3, seed=2),
        )
    )
    assert one == same != other
    assert 15 < sum(status != 200 for status in one) < 45


# ---------------------------------------------------------------- the application around it


def test_foreign_pages_are_refused(app):
    """Other hosts and origins are refused as by all our servers."""
    assert post(app, host="evil.example").status == 403
    assert post(app, origin="https://evil.example").status == 403
    assert post(app, method="GET", sec_fetch_site="cross-site").status == 403


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
def test_another_path_is_not_found(app, method):
    """404 with GitHub's message, for any client and any body."""
    for token, body in (("open-sesame", VIEWER), (None, b"{"), ("stale", b"")):
        answer = post(app, body, path="/elsewhere", token=token, method=method)
        assert answer.status == 404
        assert answer.json == {
            "message": "Not Found",
            "documentation_url": "https://docs.github.com/rest",
            "status": "404",
        }


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS"])
def test_every_method_needs_a_user_agent_and_a_token(app, method):
    """Who does not say what it is, or has no token, is told so whatever the method is."""
    assert post(app, b"", method=method, user_agent=None).status == 403
    assert post(app, b"", method=method, token=None).json["message"].startswith("This endpoint")
    assert post(app, b"", method=method, token="stale").json["message"] == "Bad credentials"
    if method != "GET":
        assert post(app, b"", method=method).status == 405


def test_a_get_request_returns_the_schema(app):
    """As GitHub documents; it costs as much as other queries."""
    answer = post(app, b"", method="GET")
    assert answer.status == 200
    assert answer.json["data"]["__schema"]["queryType"]["name"] == "Query"
    assert answer.headers["x-ratelimit-used"] == "1"
    assert post(app, b"", method="GET", path="/graphql?query={viewer{login}}").status == 405


def test_a_browser_gets_a_page_if_no_token_is_required():
    """A request for HTML; with a token there is no page."""
    page = post(github.app(), b"", method="GET", accept="text/html", token=None)
    assert page.status == 200
    assert page.headers["content-type"].startswith("text/html")
    guarded = github.app(token=Token("open-sesame"))
    assert post(guarded, b"", method="GET", accept="text/html", token=None).status != 200


def test_every_response_is_logged():
    """Including refusals and faults."""
    app = github.app(github.service(simulation=Simulation(timeouts=0.5)), token=Token("one"))
    statuses = [post(app, token=token).status for token in (None, *["one"] * 12)]
    assert statuses[0] == 401
    assert {200, 401} < set(statuses)
    assert app.request_log.build_frame()["status"].tolist() == statuses


# ---------------------------------------------------------------- our own limits


@pytest.mark.parametrize(
    "text",
    [
        "{ " + " ".join(f"a{n}: viewer {{ login }}" for n in range(200)) + " }",
        "{ " + "x" * 300 + ": viewer { login } }",
        "{ viewer { login } } #" + "x" * 200_000,
        "{ viewer { "
        + "repositories(first: 1) { nodes { owner { " * 15
        + "login"
        + " } } }" * 15
        + " } }",
    ],
    ids=["aliases", "name", "text", "depth"],
)
def test_requests_that_github_accepts_are_accepted(text):
    """Limits that our servers have and GitHub does not are off."""
    assert "errors" not in post(github.app(), {"query": text}).json


@pytest.mark.parametrize(
    "text",
    [
        "{ " + "viewer { login } " * 6_000 + "}",
        "{ a " * 300 + "}" * 300,
        "{ nodes(ids: %s) { id } }" % ("[" * 300 + "]" * 300),
    ],
    ids=["long", "deep", "deep in a value"],
)
def test_an_oversized_request_has_githubs_message(text):
    """Without advice about our servers; what is too deep is not reported as a syntax error."""
    answer = post(github.app(), {"query": text})
    assert answer.status == 200
    assert answer.json == {
        "errors": [{"locations": [], "message": "This query is too large to execute."}]
    }


def test_limits_are_configurable():
    """The messages are still GitHub's."""
    strict = github.app(limits=Limits(aliases=1, body=200))
    two = "{ a: viewer { login } b: viewer { login } }"
    assert post(strict, {"query": two}).json["errors"][0]["message"].startswith("This query is too")
    assert post(strict, {"query": "{ viewer { login } }" + " " * 300}).json["errors"]
    with pytest.raises(OptionError, match="limits="):
        github.app(limits={"aliases": 1})


def test_a_slow_execution_times_out():
    """Our time limit gives GitHub's timeout error, which costs points."""
    service = github.service(simulation=Simulation(budget=100))
    app = github.app(service, limits=Limits(fields=10))
    answer = post(app, {"query": COSTLY % 1})
    assert answer.status in {502, 504}
    assert answer.json["errors"][0]["message"].startswith("Something went wrong while executing")
    assert answer.headers["x-ratelimit-used"] == "11"


def test_every_error_of_a_page_is_returned():
    """A page of a hundred refusals has a hundred errors, after its data."""
    query = """{ search(query: "stars:>1000", type: REPOSITORY, first: 100) { nodes {
      ... on Repository { stargazers { totalCount } } } } }"""
    answer = post(simulated(restricted=True), {"query": query}).json
    assert list(answer) == ["data", "errors"]
    assert len(answer["errors"]) == 100


def test_a_schema_that_is_not_a_stand_in_is_refused():
    """The error says how to create a stand-in."""
    for made in (github.schema(), "demo"):
        with pytest.raises(OptionError, match=r"standin= takes a stand-in that github\.service"):
            github.app(made)


def test_another_stand_in_can_replace_the_served_one():
    """The new one has its own token."""
    made = github.app(token=Token("one"))
    made.switch_to(github.app(token=Token("two")))
    assert (post(made, token="one").status, post(made, token="two").status) == (401, 200)
