"""Threads, clients and coroutines with the same budget share one rate limiter (simulated clock)."""

import asyncio
import gc
import os
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial

import pytest

from gqlnb import Client, Limits, RateLimited, Token, TransportError, github
from gqlnb.client.credentials import Credentials
from gqlnb.client.http_transport import HttpTransport
from gqlnb.client.rate_limiter import Clock, RateLimiter, RequestQueue, get_queue
from gqlnb.github.standin.simulation import Simulation
from gqlnb.http.messages import Response
from gqlnb.http.rate_limit_rules import DEFAULT_LIMIT_WAIT, GITHUB_MAX_CONCURRENT, MAX_CONCURRENT
from gqlnb.result.result import Result
from tests.client.faults import Endpoint, json_answer

SOURCE = "http://here/graphql"
SECRET = "canary-5c1e"
RATE = "{ rateLimit { cost limit remaining resetAt } viewer { login } }"
OK = {"data": {"hello": "Hi"}}
BUCKET = {"throttleStatus": {"maximumAvailable": 1000, "currentlyAvailable": 0, "restoreRate": 0.1}}


class Hands(Clock):
    """A clock that the tests move: whoever waits for a time finds that it has passed."""

    def __init__(self):
        self.at = time.time()
        self.waited = []
        self._lock = threading.Lock()

    def now(self):
        """Return the time."""
        return self.at

    def wait(self, event, seconds):
        """Let the time pass, unless there is news."""
        if seconds is None:
            assert event.wait(20), "nobody woke this turn"
        elif not event.is_set():
            self.sleep(seconds)

    async def await_(self, event, seconds):
        """Do the same for a coroutine."""
        if seconds is None:
            await asyncio.wait_for(event.wait(), 20)
        elif not event.is_set():
            self.sleep(seconds)

    def sleep(self, seconds):
        """Let the time pass."""
        with self._lock:
            self.at += seconds
            self.waited.append(seconds)


class Counter:
    """Counts how many are inside at once."""

    def __init__(self):
        self.running = self.most = 0
        self._lock = threading.Lock()

    def enter(self):
        """Enter, let others run, and leave."""
        with self._lock:
            self.running += 1
            self.most = max(self.most, self.running)
        os.sched_yield()
        with self._lock:
            self.running -= 1


@pytest.fixture
def hands(monkeypatch):
    """Return the clock, which is that of the whole process while the test runs."""
    made = Hands()
    monkeypatch.setattr(Clock, "now", lambda _: made.now())
    monkeypatch.setattr(Clock, "wait", lambda _, event, seconds: made.wait(event, seconds))
    monkeypatch.setattr(Clock, "await_", lambda _, event, seconds: made.await_(event, seconds))
    monkeypatch.setattr("gqlnb.client.request_sender.time.time", made.now)
    monkeypatch.setattr("gqlnb.client.request_sender.time.sleep", made.sleep)
    return made


def answered(left=None, limit=5000, reset=None, **headers):
    """Return an answer that tells of a budget."""
    said = {"x-ratelimit-limit": str(limit), "x-ratelimit-remaining": str(left)}
    said |= {"x-ratelimit-reset": str(int(reset or 0))}
    return Result({}, response=Response(200, (said if left is not None else {}) | headers))


def paced(hands, wait=None, **options):
    """Return a pace and its gate, which one answer without headers has opened."""
    gate = RequestQueue(clock=hands, **options)
    pace = RateLimiter(gate, SOURCE, wait)
    pace.record_outcome(answered())
    return pace, gate


# -- turns


def test_parallel_requests_are_limited(hands):
    """One until the first answer, then as many as the endpoint allows."""
    for headers, width in (
        ({}, MAX_CONCURRENT),
        ({"x-github-media-type": "github.v4"}, GITHUB_MAX_CONCURRENT),
    ):
        pace, counter = RateLimiter(RequestQueue(clock=hands), SOURCE, None), Counter()

        def work(_, pace=pace, counter=counter, headers=headers):
            with pace.queue_request():
                counter.enter()
                pace.record_outcome(answered(**headers))

        assert pace.concurrency == 1
        with ThreadPoolExecutor(12) as threads:
            list(threads.map(work, range(60)))
        assert pace.concurrency == width
        assert counter.most <= width


def test_a_wait_over_the_limit_raises_immediately(hands):
    """The error has the reset time; no request is sent."""
    pace, gate = paced(hands, wait=60)
    pace.record_outcome(answered(0, reset=hands.now() + 600))
    turn = pace.queue_request()
    with pytest.raises(RateLimited) as caught, turn:
        pytest.fail("it went")
    until = datetime.fromtimestamp(int(hands.now() + 600), UTC)
    assert str(caught.value) == (
        f"{SOURCE}: The budget is used up until {until:%Y-%m-%d %H:%M:%S} UTC. The next request "
        f"is allowed in {caught.value.wait:.0f} s, but the maximum wait is 60 s. "
        "To wait longer, pass limits=Limits(wait=...)."
    )
    assert 600 <= caught.value.wait <= 601
    assert (len(gate._waiting), gate.flow.in_flight, hands.waited) == (0, 0, [])


def test_a_patient_waiter_does_not_delay_impatient_ones(hands):
    """Behind a wait of an hour, waiters with a shorter limit get their error immediately."""
    pace, gate = paced(hands)
    pace.record_outcome(answered(0, reset=hands.now() + 3600))
    patient, entered, go = pace.queue_request(), threading.Event(), threading.Event()
    hands.wait = lambda event, seconds: (entered.set(), go.wait(20), hands.sleep(seconds))
    thread = threading.Thread(target=lambda: [patient.__enter__(), patient.__exit__(None)])
    thread.start()
    assert entered.wait(20)
    with pytest.raises(RateLimited), RateLimiter(gate, SOURCE, 60).queue_request():
        pytest.fail("it went")
    go.set()
    thread.join(20)
    assert (len(gate._waiting), gate.flow.in_flight) == (0, 0)


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (lambda now: answered(0, reset=now + 900), r"The budget is used up until \S+ \S+ UTC\."),
        (lambda _: RateLimited("m", wait=90), r"The endpoint requested a delay\."),
        (
            lambda _: Result({}, extensions={"cost": BUCKET}, response=Response(200)),
            r"The budget has 0 points, too few for the request\.",
        ),
    ],
)
def test_the_reason_for_a_wait_is_shown(hands, monkeypatch, capsys, caplog, told, reason):
    """Once, in the log and on an interactive screen; the wait can be interrupted."""
    monkeypatch.setattr("gqlnb.interactive.is_interactive", lambda: True)
    pace, _ = paced(hands)
    pace.record_outcome(told(hands.now()))
    with caplog.at_level("WARNING", "gqlnb"), pace.queue_request():
        pass
    (said,) = caplog.messages
    assert re.fullmatch(rf"{SOURCE}: {reason} Retrying in \d+\.\d s\.", said)
    assert capsys.readouterr().err == f"{said} Interrupt to stop waiting.\n"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_wait_releases_its_turn(hands, error):
    """The next waiter proceeds."""
    pace, gate = paced(hands)
    pace.record_outcome(answered(0, reset=hands.now() + 600))

    def interrupted(_event, _seconds):
        raise error

    hands.wait = interrupted
    with pytest.raises(error), pace.queue_request():
        pytest.fail("it went")
    assert (len(gate._waiting), gate.flow.in_flight) == (0, 0)
    hands.at += 700
    with pace.queue_request():
        assert gate.flow.in_flight == 1
    assert not gate.lock.locked()


@pytest.mark.parametrize(
    ("error", "left"),
    [
        (RateLimited("m", wait=0), 10),
        (TransportError("m", status=502), 9),
        (TransportError("m", broken=True), 9),
        (TransportError("m", status=404), 10),
    ],
)
def test_a_failure_inside_a_turn_ends_it(hands, error, left):
    """Unanswered requests count as charged, refused ones do not."""
    pace, gate = paced(hands)
    pace.record_outcome(answered(10, reset=hands.now() + 600))
    with pytest.raises(type(error)), pace.queue_request():
        raise pace.record_outcome(error)
    assert (pace.budget.remaining, gate.flow.in_flight) == (left, 0)


def test_a_cancelled_coroutine_leaves_the_queue(hands):
    """The next waiter proceeds."""
    pace, gate = paced(hands, width=1)

    async def waiting():
        async with pace.queue_request():
            return True

    async def main():
        async with pace.queue_request():
            first, second = asyncio.create_task(waiting()), asyncio.create_task(waiting())
            while len(gate._waiting) < 2:
                await asyncio.sleep(0)
            first.cancel()
        return await asyncio.gather(first, second, return_exceptions=True)

    first, second = asyncio.run(main())
    assert isinstance(first, asyncio.CancelledError)
    assert second is True
    assert (len(gate._waiting), gate.flow.in_flight) == (0, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_a_forked_child_has_its_own_limiter(hands):
    """It does not wait for locks that a thread of the parent had acquired."""
    pace, gate = paced(hands, width=1)
    with gate.lock:
        child = os.fork()
        if not child:
            with pace.queue_request():
                os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


# -- who shares


def transport(url, *tokens):
    """Return a transport with these secrets."""
    headers = {f"x-{number}": token for number, token in enumerate(tokens)}
    return HttpTransport(url, Credentials(None, headers))


def test_clients_of_one_endpoint_and_token_share_a_limiter():
    """For any number of clients, and any scheme before the token."""
    url, other = "https://api.example/graphql", "https://other.example/graphql"
    gate = get_queue(transport(url, Token(SECRET)))
    assert get_queue(transport(url + "/v2", Token(SECRET, "token"))) is gate
    assert get_queue(transport(url, Token("another-token"))) is not gate
    assert get_queue(transport(other, Token(SECRET))) is not gate
    assert get_queue(transport(url)) is not gate
    called = Token(lambda: SECRET)
    mine = get_queue(transport(url, called))
    assert get_queue(transport(url, called)) is mine
    assert get_queue(transport(url, Token(lambda: SECRET))) is not mine


def test_limiters_without_a_token_are_per_address_except_localhost():
    """A local server may be restarted at any time."""
    away, here = "https://api.example/graphql", "http://127.0.0.1:4000/graphql"
    gate = get_queue(transport(away))
    assert get_queue(transport(away)) is gate
    assert get_queue(transport(here)) is not get_queue(transport(here))


def test_a_limiter_is_released_with_its_clients():
    """No registry grows, and none contains a token."""
    key = "https://forgotten.example/graphql"
    get_queue(transport(key, Token(SECRET))).flow.record_limit(1000, time.time())
    gc.collect()
    assert get_queue(transport(key, Token(SECRET))).flow.blocked_until == 0


# -- ordinary requests


def headers(left, hands, **more):
    """Return the headers of a budget, as names of arguments."""
    return {
        "X_RateLimit_Limit": "5000",
        "X_RateLimit_Remaining": str(left),
        "X_RateLimit_Reset": str(int(hands.now()) + 600),
        **more,
    }


def test_the_client_exposes_the_budget_of_the_last_response(hands):
    """Before the first request there is no budget."""
    with Endpoint(json_answer(OK, **headers(4321, hands))) as server, Client(server.url) as client:
        assert not client.budget
        client.execute("{ hello }")
        reset = datetime.fromtimestamp(int(hands.now()) + 600, UTC)
        known = client.budget
        assert (known.limit, known.remaining, known.reset, known.cost) == (5000, 4321, reset, None)


def test_a_budget_in_the_data_is_read():
    """From the field ``rateLimit``, in process, without headers."""
    client = Client("demo")
    assert not client.budget
    client.execute("{ viewer { login } }")
    assert not client.budget
    data = client.execute(RATE)["rateLimit"]
    known = client.budget
    assert (known.limit, known.remaining, known.cost) == (
        data["limit"],
        data["remaining"],
        data["cost"],
    )
    assert f"{known.reset:%Y-%m-%dT%H:%M:%SZ}" == data["resetAt"]


def test_a_single_request_is_sent_with_an_empty_budget(hands):
    """An exhausted budget delays no single request: the endpoint decides."""
    with Endpoint(json_answer(OK, **headers(0, hands))) as server, Client(server.url) as client:
        for _ in range(3):
            client.execute("{ hello }")
        assert (len(server.requests), hands.waited) == (3, [])


def test_no_query_is_sent_before_the_given_retry_time(hands):
    """Queries wait within the client's limit; otherwise, RateLimited is raised."""
    slow = json_answer({"message": "Slow"}, "429 No", Retry_After="50")
    with Endpoint(slow, json_answer(OK)) as server:
        client = Client(server.url, limits=Limits(wait=40))
        with pytest.raises(RateLimited, match=r"Wait 50 s\."):
            client.execute("{ hello }")
        for text in ("{ hello }", "mutation { put }"):
            with pytest.raises(RateLimited, match="asked to wait 50 s more") as caught:
                client.execute(text)
            assert caught.value.wait == 50
        assert len(server.requests) == 1
        hands.sleep(20)
        assert client.execute("{ hello }").data == OK["data"]
        assert hands.waited == [20, 30]


def test_a_limit_without_a_time_does_not_block_single_requests(hands):
    """It delays queued turns only."""
    limit = json_answer({"message": "You have exceeded a secondary rate limit."}, "403 No")
    with Endpoint(limit, json_answer(OK)) as server:
        client = Client(server.url, limits=Limits(wait=1))
        with pytest.raises(RateLimited):
            client.execute("{ hello }")
        assert client.execute("{ hello }").data == OK["data"]
        assert hands.waited == []


SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes."


@pytest.mark.parametrize("status", ["200 OK", "403 Forbidden", "429 Too Many Requests"])
@pytest.mark.parametrize("after", [None, "75"])
@pytest.mark.parametrize(
    "body",
    [{"message": SECONDARY}, {"errors": [{"message": SECONDARY}]}],
    ids=["message", "errors"],
)
def test_a_secondary_limit_delays_requests(hands, status, after, body):
    """By its Retry-After or a minute, never until the budget resets."""
    limit = json_answer(body, status, Retry_After=after, **headers(4999, hands))
    with Endpoint(limit, json_answer(OK)) as server, Client(server.url) as client:
        made = Client(server.url, limits=Limits(wait=100))
        assert made.execute("{ hello }").data == OK["data"]
        assert hands.waited == [75 if after else DEFAULT_LIMIT_WAIT]
        assert not client.budget


@pytest.mark.parametrize("kind", ["RATE_LIMITED", "RATE_LIMIT"])
@pytest.mark.parametrize("left", [0, 12])
def test_both_rate_limit_error_types_delay_requests(hands, kind, left):
    """Until the reset, even if points are left."""
    body = {"errors": [{"type": kind, "message": "API rate limit exceeded for user ID 1."}]}
    limit = json_answer(body, **headers(left, hands))
    with Endpoint(limit, json_answer(OK)) as server:
        made = Client(server.url, limits=Limits(wait=None))
        assert made.execute("{ hello }").data == OK["data"]
        (waited,) = hands.waited
        assert 600 <= waited <= 601


def test_requests_wait_for_the_shopify_bucket(hands):
    """Until it has enough points for the request."""
    status = {"maximumAvailable": 1000, "currentlyAvailable": 100, "restoreRate": 50}
    cost = {"cost": {"requestedQueryCost": 700, "throttleStatus": status}}
    error = {"message": "Throttled", "extensions": {"code": "THROTTLED"}}
    limit = json_answer({"errors": [error], "extensions": cost})
    good = {"cost": {"actualQueryCost": 46, "throttleStatus": status}}
    with Endpoint(limit, json_answer(OK | {"extensions": good})) as server:
        made = Client(server.url)
        assert made.execute("{ hello }").data == OK["data"]
        assert hands.waited == [12]
        assert repr(made.budget) == "Budget(limit=1000, remaining=100, cost=46, restored=50)"


# -- the stand-in for GitHub, with its limits


def served(hands, **limits):
    """Serve the stand-in with limits, on the test's clock."""
    standin = github.service(simulation=Simulation(clock=hands.now, **limits))
    return github.serve(standin, port=0)


def test_clients_of_one_token_share_the_budget_of_the_stand_in(hands):
    """Eight clients with 12 points: 12 requests are answered, and none is refused."""
    with served(hands, budget=12) as server:
        clients = [Client(server.url, token=Token(SECRET)) for _ in range(8)]
        refused = []

        def work(client):
            while True:
                try:
                    with client._rate_limiter.queue_request():
                        client.execute(RATE)
                except RateLimited as error:
                    refused.append(error)
                    return

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(work, clients))
        assert all("The budget is used up until" in str(error) for error in refused)
        assert len(server.log) == 12
        known = clients[0].budget
        assert (known.limit, known.remaining, known.cost) == (12, 0, 1)
        assert known == clients[7].budget
        hands.sleep(3602)
        assert clients[0].budget.remaining == 12
        with clients[0]._rate_limiter.queue_request():
            assert clients[0].execute(RATE)["rateLimit"]["remaining"] == 11


@pytest.mark.parametrize("limits", [{"budget": 4}, {"concurrency": 1}], ids=repr)
def test_batches_are_rate_limited(hands, limits):
    """Sync and async, from two clients with one token: no request is refused."""
    with served(hands, **limits) as server:
        one, other = (
            Client(server.url, token=Token(SECRET), limits=Limits(wait=None)) for _ in range(2)
        )
        documents = ["{ viewer { login } }"] * 9
        found = []
        ways = (
            lambda: one.execute_many(documents, concurrency=8),
            lambda: asyncio.run(other.aexecute_many(documents, concurrency=8)),
        )
        threads = [
            threading.Thread(target=lambda way=way: found.extend(way()), daemon=True)
            for way in ways
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)  # who is refused waits for an hour of the real clock
        assert [result["viewer"]["login"] for result in found] == ["demo"] * 18
        assert len(server.log) == 18
        assert bool(hands.waited) == ("budget" in limits)  # hours, on the test's clock


SEARCH = """{ search(query: "stars:>60000 sort:stars", type: REPOSITORY, first: 20) {
  repositoryCount nodes { ... on Repository { nameWithOwner } } } }"""


@pytest.fixture(scope="module")
def names():
    """Return what the search finds, without limits."""
    text = SEARCH.replace("first: 20", "first: 100")
    found = Client(github.service()).execute_all(text, progress=False)["search"]["nodes"]
    assert len(found) > 100
    return [each["nameWithOwner"] for each in found]


def patiently(client):
    """Ask for all pages, and go on after each failure."""
    going = partial(client.execute_all, SEARCH, page_size=20, progress=False)
    for _ in range(20):
        try:
            return going()
        except TransportError as error:
            again = error if error.result is not None else None
            going = partial(client.resume, again, progress=False) if again else going
    return pytest.fail("it never ends")


@pytest.mark.parametrize(
    "limits",
    [
        {"budget": 3},
        {"pace": 2},
        {"budget": 4, "pace": 3},
        {"concurrency": 1},
        {"gateway": 0.3, "seed": 2},
        {"timeouts": 0.3, "seed": 1},
        {"resources": 15},
        {"resources": 15, "budget": 7, "pace": 3, "gateway": 0.2, "seed": 5},
    ],
    ids=repr,
)
def test_paging_the_stand_in_completes_despite_its_limits(hands, monkeypatch, names, limits):
    """Each repository once, in order; it takes hours of simulated time."""
    monkeypatch.setattr("gqlnb.http.rate_limit_rules.FIRST_BACKOFF", 0.0005)
    standin = github.service(simulation=Simulation(clock=hands.now, **limits))
    app = github.app(standin)  # without a socket: a server would tell the real time beside
    client = Client(app, headers={"User-Agent": "test"}, limits=Limits(wait=None))
    result = patiently(client)
    assert [each["nameWithOwner"] for each in result["search"]["nodes"]] == names
    assert result.report.complete
    if "budget" in limits:
        hours = result.report.requests / limits["budget"] + 1
        assert 3600 < sum(hands.waited) <= 3660 * hours
        assert client.budget.limit == limits["budget"]
    if limits.keys() <= {"budget", "concurrency"}:
        assert result.report.requests == -(-len(names) // 20)
