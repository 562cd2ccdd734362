"""GitHub's failures, in all of its spellings, through every call that reads a search."""

from __future__ import annotations

import json
import re
import warnings
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from gqlnb import (
    AnswerError,
    AuthError,
    Client,
    GqlnbError,
    Limits,
    PartialError,
    QueryError,
    RateLimited,
    Result,
    Slice,
    TransportError,
    github,
    stars,
)
from gqlnb.github.repositories import Owner, Repository
from gqlnb.github.star_results import STARS_QUERY
from gqlnb.http.rate_limit_rules import MAX_ATTEMPTS
from gqlnb.server.app import App
from tests.asgi import read_body, receive_again, send_answer
from tests.examples import select_combinations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROWS = 119  # repositories of the stand-in with more than 100,000 stars
DOCS = "https://docs.github.com/graphql"
WENT_WRONG = (
    "Something went wrong while executing your query. This may be the result of a timeout, or it "
    "could be a GitHub bug. Please include `A:1` when reporting this issue."
)
TOO_SLOW = "We couldn't respond to your request in time. Sorry about that."
SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
)
ABUSE = "You have triggered an abuse detection mechanism. Please wait a few minutes."
RESOURCES = "Resource limits for this query exceeded."
NODES = "This query requests up to 2,010,050 possible nodes which exceeds the maximum of 500,000."
SAML = "Resource protected by organization SAML enforcement. You must grant your token access."
SSO = "required; url=https://github.com/orgs/o/sso?authorization_request=A"
SCOPES = "Your token has not been granted the required scopes to execute this query."
NULLS = object()  # data in which every root field is null
EMPTY = object()  # data in which every search has no results
VALIDATION = "Timeout on validation of query"
UNAVAILABLE = "The service is unavailable"


class Fault(NamedTuple):
    """A response in place of the right one.

    Attributes
    ----------
    body
        JSON members, or a page; ``NULLS`` stands for data whose fields are null, ``EMPTY`` for
        searches without results.
    error
        The error that a call ends with if the fault persists.
    words
        A part of its message.
    status, headers
        Of the response.
    """

    body: Any
    error: type[GqlnbError]
    words: str
    status: int = 200
    headers: dict[str, str] = {}  # noqa: RUF012 - never changed


def fail(message: str, **members: Any) -> dict[str, Any]:
    """Return the members of a response with one error."""
    return {"errors": [{**members, "message": message}]}


def limited(status: int, message: str, **headers: str) -> Fault:
    """Return a refusal for the rate of requests."""
    body = {"message": message, "documentation_url": DOCS}
    return Fault(body, RateLimited, message, status, headers)


PASSING = {
    "went wrong, data null": Fault({"data": None, **fail(WENT_WRONG)}, TransportError, WENT_WRONG),
    "went wrong, no data": Fault(fail(WENT_WRONG), TransportError, WENT_WRONG),
    "went wrong, nulls": Fault({"data": NULLS, **fail(WENT_WRONG)}, TransportError, WENT_WRONG),
    'went wrong, "null"': Fault({"data": "null", **fail(WENT_WRONG)}, TransportError, WENT_WRONG),
    "timedout": Fault({"data": NULLS, **fail("timedout")}, TransportError, "failed: timedout."),
    "INTERNAL": Fault({"data": NULLS, **fail("An error occurred", type="INTERNAL")}, TransportError,
        "An error"),
    "validation": Fault({"data": None, **fail(VALIDATION)}, TransportError, VALIDATION),
    "SERVICE_UNAVAILABLE": Fault({"data": NULLS, **fail(UNAVAILABLE, type="SERVICE_UNAVAILABLE")},
        TransportError, UNAVAILABLE),
    "null alone": Fault({"data": None}, TransportError, "'data' is null, and there are no errors"),
    '"null" alone': Fault({"data": "null"}, TransportError, "'data' is the text"),
    "502 HTML": Fault("<html><title>502 Bad Gateway</title>", TransportError, "Bad Gateway", 502),
    "502 JSON": Fault({"data": None, **fail(WENT_WRONG)}, TransportError, WENT_WRONG, 502),
    "504 HTML": Fault("<!DOCTYPE html><title>Unicorn!</title>", TransportError, "Unicorn!", 504),
    "504 JSON": Fault({"message": TOO_SLOW}, TransportError, TOO_SLOW, 504),
    "secondary 200": limited(200, SECONDARY),
    "secondary 200, errors": Fault(fail(SECONDARY), RateLimited, SECONDARY),
    "secondary 403": limited(403, SECONDARY),
    "secondary 403, wait": limited(403, SECONDARY, **{"retry-after": "0"}),
    "secondary 429": limited(429, SECONDARY, **{"retry-after": "0"}),
    "abuse 403": limited(403, ABUSE),
    "RATE_LIMITED": Fault(fail("exceeded for user", type="RATE_LIMITED"), RateLimited, "exceeded"),
    "RATE_LIMITED, nulls": Fault({"data": NULLS, **fail("exceeded for user", type="RATE_LIMITED")},
        RateLimited, "exceeded"),
    "RATE_LIMIT": Fault(fail("already exceeded", type="RATE_LIMIT", code="graphql_rate_limit"),
        RateLimited, "already exceeded"),
}  # fmt: skip
TOO_LARGE = {
    "resources, nulls": Fault(
        {"data": NULLS, **fail(RESOURCES, type="RESOURCE_LIMITS_EXCEEDED")}, PartialError, RESOURCES
    ),
    "resources, data null": Fault(
        {"data": None, **fail(RESOURCES, type="RESOURCE_LIMITS_EXCEEDED")}, PartialError, RESOURCES
    ),
    "resources, another page": Fault(
        {"data": None, **fail(RESOURCES, type="RESOURCE_LIMITS_EXCEEDED", path=["p1", "nodes"])},
        PartialError,
        RESOURCES,
    ),
    "resources, no data": Fault(
        fail(RESOURCES, type="RESOURCE_LIMITS_EXCEEDED"), QueryError, RESOURCES
    ),
    "nodes": Fault(fail(NODES, type="MAX_NODE_LIMIT_EXCEEDED"), QueryError, NODES),
}
# Proxies cut and replace answers; nothing is known about the next one.
DAMAGED = {
    "another page": Fault("<html><title>Hello</title>", AnswerError, "HTML page titled 'Hello'"),
    "empty": Fault("", AnswerError, "empty"),
    "cut": Fault('{"data": {"search": {', AnswerError, "incomplete"),
}
# An index that gives up in the middle of a search has neither rows nor a count that prove anything.
UNPROVED = {
    "went wrong at an unknown field": Fault(
        {"data": EMPTY, **fail(WENT_WRONG, path=["elsewhere"])}, TransportError, WENT_WRONG
    ),
    "went wrong, empty": Fault({"data": EMPTY, **fail(WENT_WRONG)}, TransportError, WENT_WRONG),
    "validation, empty": Fault({"data": EMPTY, **fail(VALIDATION)}, TransportError, VALIDATION),
    "INTERNAL, empty": Fault(
        {"data": EMPTY, **fail("An error occurred", type="INTERNAL")}, TransportError, "An error"
    ),
}
LIMITED_EMPTY = Fault(
    {"data": EMPTY, **fail("exceeded for user", type="RATE_LIMITED")},
    RateLimited,
    "exceeded",
    headers={"retry-after": "0"},
)
# GitHub does not say for how long cursors are valid.
EXPIRED = Fault(
    {"data": None, **fail("`abc` is not valid.", type="INVALID_CURSOR_ARGUMENTS", path=["p0"])},
    PartialError,
    "not valid",
)
REFUSED = {
    "SAML": Fault({"message": SAML}, AuthError, SSO[14:], 403, {"x-github-sso": SSO}),
    "fine-grained": Fault({"message": "Resource not accessible by personal access token"},
        AuthError, "these permissions: metadata=read", 403,
        {"x-accepted-github-permissions": "metadata=read"}),
    "IP list": Fault({"message": "The `o` organization has an IP allow list enabled"}, AuthError,
        "IP allow", 403),
    "SAML, last request": Fault({"message": SAML}, AuthError, SSO[14:], 403,
        {"x-github-sso": SSO, "x-ratelimit-remaining": "0", "x-ratelimit-reset": "9999999999"}),
    "scopes": Fault(fail(SCOPES, type="INSUFFICIENT_SCOPES"), AuthError, SCOPES),
    "bad credentials": Fault({"message": "Bad credentials"}, AuthError, "Bad credentials", 401),
}  # fmt: skip


# A field that may be null stays beside the error, so for `execute` it is a result.
REFUSED_FIELD = Fault(
    {"data": NULLS, **fail(SAML, type="FORBIDDEN")},
    AuthError,
    f"{SAML} Authorize the token at {SSO[14:]}",
    200,
    {"x-github-sso": SSO},
)


class FaultyGitHub:
    """The stand-in, with a fault in place of some of its answers.

    Parameters
    ----------
    fault
        The fault.
    is_hit
        Returns whether a request fails, for its number, from 0, and its page size.
    """

    def __init__(self, fault: Fault, is_hit: Callable[[int, int], bool]) -> None:
        self._app = App(get_service())
        self._fault, self._is_hit = fault, is_hit
        self.requests = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        text = await read_body(receive)
        request = json.loads(text)
        is_counted = "__schema" not in request["query"]
        self.requests += is_counted
        if not (is_counted and self._is_hit(self.requests - 1, read_page_size(request))):
            await self._app(scope, receive_again(text), send)
            return
        content, kind = self._build_content(request["query"])
        headers = {"content-type": kind, **self._fault.headers}
        await send_answer(send, content, self._fault.status, headers)

    def _build_content(self, query: str) -> tuple[Any, str]:
        body = self._fault.body
        if isinstance(body, str):
            return body.encode(), "text/html"
        names = re.findall(r"(\w+): search\(", query) or ["search"]
        if body.get("data") is EMPTY:
            rows = "edges" if "edges" in query else "nodes"
            info = {"hasNextPage": False, "endCursor": None}
            page = {"repositoryCount": 0, "pageInfo": info, rows: []}
            body = {**body, "data": dict.fromkeys(names, page)}
        if body.get("data") is NULLS:
            paths = [{**error, "path": [name]} for error in body["errors"] for name in names]
            body = {"data": dict.fromkeys(names), "errors": paths}
        return body, "application/json"


@lru_cache
def get_service() -> Any:
    """Return the stand-in."""
    return github.service()


def read_page_size(members: dict[str, Any]) -> int:
    """Return the largest page size in a request."""
    variables = members.get("variables") or {}
    sizes = [size for name, size in variables.items() if re.fullmatch(r"first|n\d+", name)]
    literals = re.findall(r"\bfirst: ?(\d+)", members["query"])
    return max((*sizes, *map(int, literals)), default=0)


ALL_PAGES = STARS_QUERY.replace(", $after: String", "").replace(", after: $after", "")
RANGES = """query ($q: String!) {
  search(query: $q, type: REPOSITORY, first: 50) { repositoryCount nodes { ... on Repository {
    id stargazerCount
  } } }
}"""
STARS = Slice(
    column="stargazerCount", low="q", template="stars:{low}..{high}", least=100_001, cap=1000
)
VARIABLES = {"query": "stars:>100000 sort:stars-desc", "first": 100}


def count_nodes(result: Result) -> int:
    """Return the number of repositories in a result; raise its errors."""
    return len(result.raise_for_errors().data["search"]["edges"])


CALLS: dict[str, Callable[[Client], int]] = {
    "stars(limit=300)": lambda client: len(stars(">100000", limit=300, client=client)),
    "stars(limit=None)": lambda client: len(stars(">100000", limit=None, client=client)),
    "harvest": lambda client: len(github.harvest("stars:>100000", client=client).frame()),
    "client.harvest": lambda client: len(client.harvest(RANGES, slice=STARS)),
    "execute": lambda client: count_nodes(client.execute(STARS_QUERY, VARIABLES)),
    "execute_all": lambda client: count_nodes(client.execute_all(ALL_PAGES, VARIABLES)),
}
RECOVERING = ["stars(limit=None)", "harvest", "client.harvest"]
SEARCHES = ["stars(limit=300)", "stars(limit=None)", "harvest"]
EXPECTED = dict.fromkeys(CALLS, ROWS) | {"execute": 100}
PAGING = [name for name in CALLS if name != "execute"]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Wait a thousandth of the usual time between attempts."""
    for name, value in fast_waits():
        monkeypatch.setattr(name, value)


def fast_waits() -> Iterator[tuple[str, float]]:
    """Yield the constants that set the waits and their number, with small values."""
    yield "gqlnb.http.rate_limit_rules.FIRST_BACKOFF", 0.0005
    yield "gqlnb.http.rate_limit_rules.DEFAULT_LIMIT_WAIT", 0.001
    yield "gqlnb.lists.accounts.MAX_RATE_LIMITS", 1
    yield "gqlnb.lists.accounts.DEFAULT_LIMIT_WAIT", 0.001
    yield "gqlnb.github.harvester.requests.OVERLOAD_PAUSE", 0.001


def run_call(call: str, endpoint: FaultyGitHub) -> int:
    """Return the number of rows of a call; it must not warn."""
    with (
        Client(endpoint, limits=Limits(wait=1)) as client,
        warnings.catch_warnings(action="error", category=UserWarning),
    ):
        return CALLS[call](client)


@pytest.mark.parametrize(
    ("fault", "call", "number"),
    [
        (fault, call, 0 if call == "execute" else (at // 2 + place) % 2)
        for (at, fault), (place, call) in select_combinations(enumerate(PASSING), enumerate(CALLS))
    ],
)
def test_a_call_recovers_from_a_temporary_fault(fault, call, number):
    """Every row is returned without a warning, for a fault in either request."""
    endpoint = FaultyGitHub(PASSING[fault], lambda at, _size: at == number)
    assert run_call(call, endpoint) == EXPECTED[call]
    assert endpoint.requests > number


@pytest.mark.parametrize(("fault", "call"), select_combinations(PASSING, CALLS))
def test_a_permanent_fault_raises_githubs_message(fault, call):
    """It is never an error about the schema, and never an empty frame."""
    _, error, words, *_ = PASSING[fault]
    with pytest.raises(error, match=re.escape(words)) as caught:
        run_call(call, FaultyGitHub(PASSING[fault], lambda *_: True))
    assert "GitHub-shaped" not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        *product(RECOVERING, DAMAGED),
        *product(["stars(limit=300)", "execute", "execute_all"], ["empty", "cut"]),
    ],
)
@pytest.mark.parametrize("number", [0, 1])
def test_a_call_recovers_from_a_damaged_answer(call, fault, number):
    """Every row is returned; an endpoint whose answers are all damaged is an error."""
    endpoint = FaultyGitHub(DAMAGED[fault], lambda at, _size: at == number)
    assert run_call(call, endpoint) == EXPECTED[call]
    assert call == "execute" or endpoint.requests > number
    _, error, words, *_ = DAMAGED[fault]
    endpoint = FaultyGitHub(DAMAGED[fault], lambda *_: True)
    with pytest.raises(error, match=re.escape(words)):
        run_call(call, endpoint)
    assert endpoint.requests == MAX_ATTEMPTS


@pytest.mark.parametrize(
    ("fault", "call", "number"), select_combinations(UNPROVED, SEARCHES, [0, 1])
)
def test_an_empty_page_beside_a_failure_is_repeated(fault, call, number):
    """It never makes a search complete; an endpoint that has only such pages is an error."""
    endpoint = FaultyGitHub(UNPROVED[fault], lambda at, _size: at == number)
    assert run_call(call, endpoint) == ROWS
    assert endpoint.requests > number
    _, error, words, *_ = UNPROVED[fault]
    with pytest.raises(error, match=re.escape(words)):
        run_call(call, FaultyGitHub(UNPROVED[fault], lambda *_: True))


@pytest.mark.parametrize("call", [*SEARCHES, "client.harvest", "execute_all"])
@pytest.mark.parametrize("number", [0, 1])
def test_a_rate_limit_beside_an_empty_page_is_waited_for(call, number):
    """Its page proves nothing, and no request follows at once."""
    endpoint = FaultyGitHub(LIMITED_EMPTY, lambda at, _size: at == number)
    assert run_call(call, endpoint) == ROWS
    with pytest.raises(RateLimited, match="exceeded for user") as caught:
        run_call(call, FaultyGitHub(LIMITED_EMPTY, lambda *_: True))
    assert caught.value.wait == 0.0  # as Retry-After says


@pytest.mark.parametrize("call", ["stars(limit=None)", "harvest"])
@pytest.mark.parametrize("number", [0, 1])
def test_a_harvest_repeats_a_page_with_any_error(call, number):
    """An empty page proves nothing, whatever the error says."""
    fault = Fault({"data": EMPTY, **fail("Shard 7 is missing")}, AnswerError, "Shard 7 is missing")
    endpoint = FaultyGitHub(fault, lambda at, _size: at == number)
    assert run_call(call, endpoint) == ROWS
    with pytest.raises(AnswerError, match="Shard 7 is missing"):
        run_call(call, FaultyGitHub(fault, lambda *_: True))


def test_an_empty_page_of_a_search_beside_an_error_raises():
    """It would look like a search without results."""
    fault = Fault({"data": EMPTY, **fail("Shard 7 is missing")}, PartialError, "Shard 7")
    with pytest.raises(PartialError, match="Shard 7 is missing"):
        run_call("stars(limit=300)", FaultyGitHub(fault, lambda *_: True))


@pytest.mark.parametrize("call", SEARCHES)
def test_an_empty_page_beside_a_refusal_names_the_endpoint(call):
    """The token is refused, so no repetition helps."""
    message = "Resource protected by organization SAML"
    fault = Fault({"data": EMPTY, **fail(message, type="FORBIDDEN")}, AuthError, message)
    endpoint = FaultyGitHub(fault, lambda *_: True)
    with pytest.raises(AuthError, match=rf"^.+: {message}"):
        run_call(call, endpoint)
    assert endpoint.requests == 1


def test_a_failing_harvest_into_a_folder_is_not_complete(tmp_path):
    """The next call continues it."""
    fault = UNPROVED["went wrong, empty"]
    with (
        Client(FaultyGitHub(fault, lambda *_: True), limits=Limits(wait=1)) as client,
        pytest.raises(TransportError, match="Something went wrong"),
    ):
        github.harvest(">100000", client=client, out=tmp_path)
    with Client(FaultyGitHub(fault, lambda *_: False)) as client:
        found = github.harvest(">100000", client=client, out=tmp_path)
    assert found.complete
    assert len(found) == ROWS


def test_a_search_is_repeated_when_its_cursor_expires():
    """Repositories of one second come in pages; the third request has the cursor of the second."""
    owner, moment = Owner("mona", "User"), "2020-01-01T00:00:00Z"
    rows = [Repository(f"r{n}", owner, 100_001, 0, None, moment, moment) for n in range(150)]
    crowd = github.Population.from_repositories(rows, source="a crowd")
    endpoint = FaultyGitHub(EXPIRED, lambda at, _size: at == 2)
    endpoint._app = App(github.service(population=crowd))
    with Client(endpoint) as client:
        found = github.harvest(f"created:{moment}..{moment}", client=client)
    assert found.complete
    assert len(found) == 150
    assert endpoint.requests > 5


@pytest.mark.parametrize(
    ("fault", "call", "most"), select_combinations(TOO_LARGE, PAGING, [25, 50])
)
def test_pages_are_halved_until_they_are_accepted(fault, call, most):
    """The endpoint refuses pages above a size; every row is returned."""
    endpoint = FaultyGitHub(TOO_LARGE[fault], lambda _at, size: size > most)
    assert run_call(call, endpoint) == ROWS


@pytest.mark.parametrize(("fault", "call"), select_combinations(TOO_LARGE, [*SEARCHES, "execute"]))
def test_a_refusal_of_every_page_size_raises_githubs_message(fault, call):
    """Down to pages of one row."""
    _, error, words, *_ = TOO_LARGE[fault]
    with pytest.raises(error, match=re.escape(words)):
        run_call(call, FaultyGitHub(TOO_LARGE[fault], lambda *_: True))


@pytest.mark.parametrize(("fault", "call"), select_combinations(REFUSED, CALLS))
def test_a_refused_token_is_an_auth_error_without_retries(fault, call):
    """The message has the reason and a remedy."""
    _, error, words, *_ = REFUSED[fault]
    endpoint = FaultyGitHub(REFUSED[fault], lambda *_: True)
    with pytest.raises(error, match=re.escape(words)):
        run_call(call, endpoint)
    assert endpoint.requests == 1


@pytest.mark.parametrize("call", SEARCHES)
def test_a_refused_search_is_an_auth_error(call):
    """With status 200, too; the message has the address in the header."""
    endpoint = FaultyGitHub(REFUSED_FIELD, lambda *_: True)
    with pytest.raises(REFUSED_FIELD.error, match=re.escape(REFUSED_FIELD.words)):
        run_call(call, endpoint)
    assert endpoint.requests == 1
