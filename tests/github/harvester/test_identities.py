"""Several tokens share a harvest; each account has its own budget and one request in flight."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from multiprocessing import get_context

import pytest

from gqlnb import Client, OptionError, github, serve
from gqlnb.github.harvester.harvests import group_clients
from gqlnb.github.standin.simulation import Simulation
from tests.asgi import run_app, send_answer
from tests.github.harvester.logging_standin import rows

pytestmark = pytest.mark.usefixtures("spawning")
EVERYTHING = ">=1"
SAML = {
    "type": "FORBIDDEN",
    "path": ["p0"],
    "extensions": {"saml_failure": True},
    "message": "Resource protected by organization SAML enforcement. Grant your token access.",
}
REFUSALS = [(401, {"message": "Bad credentials"}), (200, {"data": None, "errors": [SAML]})]


class Accounts:
    """GitHub with several accounts: a stand-in for each token, over the same population.

    Parameters
    ----------
    people
        The population.
    logins
        The account of each token.
    late
        Seconds before each answer.
    simulation
        The faults of each account, by its login.
    """

    def __init__(self, people, logins, late=0.0, simulation=None):
        self.apps = {
            login: github.app(
                github.service(
                    viewer=login,
                    population=people,
                    simulation=(simulation or {}).get(login) or Simulation(),
                )
            )
            for login in set(logins.values())
        }
        self.logins, self.late = logins, late
        self.asked, self.most, self.flying = Counter(), Counter(), Counter()
        self.refused: dict[str, int] = {}  # number of requests after which a token is refused
        self.refusal = 401, {"message": "Bad credentials"}

    async def __call__(self, scope, receive, send):
        """Answer with the stand-in of the token's account."""
        headers = dict(scope["headers"])
        token = headers.get(b"authorization", b"").decode().partition(" ")[2]
        login = self.logins[token]
        self.asked[token] += 1
        if self.asked[token] > self.refused.get(token, 10**9):
            status, body = self.refusal
            await send_answer(send, body, status)
            return
        is_page = self.asked[token] > 1  # after the request for the login
        self.flying[login] += is_page
        self.most[login] = max(self.most[login], self.flying[login])
        try:
            if self.late:
                await asyncio.sleep(self.late)
            await self.apps[login](scope, receive, send)
        finally:
            self.flying[login] -= is_page


@pytest.fixture
def tokens(monkeypatch):
    """Set tokens in the environment, and return their values by source."""
    values = {f"env:T{number}": f"t{number}-{'x' * 20}" for number in range(5)}
    for source, value in values.items():
        monkeypatch.setenv(source.partition(":")[2], value)
    return values


def test_each_account_has_one_request_in_flight(people, truth, tokens):
    """Two tokens of one account share its budget; two accounts send at the same time."""
    values = [*tokens.values()]
    accounts = Accounts(people, dict(zip(values, ["ann", "ann", "bob"], strict=False)), late=0.01)
    with run_app(accounts) as url:
        made = github.harvest(EVERYTHING, client=url, tokens=[*tokens][:3])
    assert rows(made.frame()) == truth
    assert made.complete
    assert accounts.most == {"ann": 1, "bob": 1}
    assert accounts.asked[values[1]] == 1  # who it is
    assert {each.name for each in made.identities} == {"ann", "bob"}
    assert min(each.requests for each in made.identities) > 3
    assert "bob: " in repr(made)


@pytest.mark.parametrize("refusal", REFUSALS, ids=["401", "200"])
def test_a_refused_token_does_not_end_a_harvest(people, truth, tokens, refusal):
    """Its account's other token goes on, or the other account."""
    values = [*tokens.values()]
    logins = dict(zip(values, ["ann", "ann", "bob", "cid"], strict=False))
    accounts = Accounts(people, logins)
    accounts.refused, accounts.refusal = {values[0]: 3, values[2]: 4, values[3]: 0}, refusal
    with run_app(accounts) as url:
        made = github.harvest(EVERYTHING, client=url, tokens=[*tokens][:4])
    assert rows(made.frame()) == truth
    assert made.complete
    assert accounts.asked[values[1]] > 5
    found = {each.name: each.refusal for each in made.identities}
    assert not found["ann"]
    reason = refusal[1].get("message", SAML["message"])
    assert reason in found["bob"]
    assert any("bob is refused" in note for note in made.notes)
    if refusal[0] == 401:
        assert any("Client 4 is not used" in note for note in made.notes)
    else:  # it could not say its account
        assert reason in found["client 4"]


def test_requests_refused_at_the_same_time_are_sent_with_the_next_token(standin, truth, tokens):
    """Of the same account, whose endpoint takes several requests at once; it is noted once."""
    first, asked = next(iter(tokens.values())), Counter()

    def verify(token):
        asked[token] += 1
        return token != first or asked[token] < 4 or None

    with serve(standin, port=0, token=verify) as server:
        made = github.harvest(EVERYTHING, client=server.url, tokens=[*tokens][:2], width=4)
    assert rows(made.frame()) == truth
    assert made.complete
    (note,) = [it for it in made.notes if "refused" in it]
    assert note.startswith("A token of demo is refused; its next one continues: ")


def test_another_account_continues_the_work_of_a_limited_one(people, truth, tokens):
    """The other account does not wait for the next hour of the first."""
    values = [*tokens.values()]
    accounts = Accounts(
        people,
        dict(zip(values, ["ann", "bob"], strict=False)),
        simulation={"ann": Simulation(budget=4)},
    )
    started = time.monotonic()
    with run_app(accounts) as url:
        made = github.harvest(EVERYTHING, client=url, tokens=[*tokens][:2])
    assert rows(made.frame()) == truth
    assert time.monotonic() - started < 60
    ann, bob = sorted(made.identities, key=lambda each: each.name)
    assert ann.requests <= 5 < bob.requests


def test_a_dry_run_has_the_budget_of_all_accounts(people, tokens):
    """A token that is refused is not among them, also if it is the first."""
    values = [*tokens.values()]
    accounts = Accounts(people, dict(zip(values, ["cid", "ann", "bob"], strict=False)))
    accounts.refused = {values[0]: 0}
    with run_app(accounts) as url:
        estimate = github.estimate(EVERYTHING, client=url, tokens=[*tokens][:3])
    assert estimate.accounts == 2
    assert estimate.budget.limit == 10_000
    assert re.search(r"budget: 9,9\d\d of 10,000 left .*\(ann 4,99\d, bob 4,99\d\)", repr(estimate))


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_executors_send_requests_of_several_accounts(people, truth, tokens, kind):
    """Threads and processes, with one request in flight for each account."""
    values = [*tokens.values()]
    accounts = Accounts(people, dict(zip(values, ["ann", "bob"], strict=False)), late=0.01)
    options = {"mp_context": get_context("spawn")} if kind is ProcessPoolExecutor else {}
    with run_app(accounts) as url, kind(3, **options) as pool:
        made = github.harvest(EVERYTHING, client=url, tokens=[*tokens][:2], executor=pool)
    assert rows(made.frame()) == truth
    assert accounts.most == {"ann": 1, "bob": 1}


@pytest.mark.parametrize("is_stopped", [True, False])
def test_a_resumed_harvest_keeps_the_doubt_about_earlier_accounts(people, tmp_path, is_stopped):
    """Its first rows may be without those that only one of the accounts sees."""

    def watch(*_):
        if is_stopped:
            return False
        raise KeyboardInterrupt  # after which the log has no checkpoint

    with ExitStack() as stack:
        services = [github.service(viewer="user", population=people)]
        services.append(github.service(viewer="other", population=github.population(900)))
        clients = [stack.enter_context(Client(service)) for service in services]
        with suppress(KeyboardInterrupt):
            github.harvest(EVERYTHING, clients=clients, out=tmp_path, progress=watch)
        with pytest.warns(UserWarning, match="The accounts see different numbers of results"):
            found = github.harvest(EVERYTHING, client=clients[0], out=tmp_path)
        assert not found.complete
        assert github.harvest(EVERYTHING, client=clients[0], out=tmp_path, resume=False).complete


def test_clients_without_a_viewer_are_separate_accounts(people):
    """It is unknown whether they share a budget."""
    with ExitStack() as stack:
        service = github.service(population=people)
        clients = [stack.enter_context(Client(service)) for _ in range(2)]
        assert [each.name for each in group_clients(clients, "x").accounts] == ["demo"]
        assert [each.name for each in group_clients(clients[:1], "x").accounts] == ["client 1"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"tokens": "env:T1"}, "tokens= takes a list"),
        ({"clients": []}, "clients= takes a list"),
        ({"clients": ["demo"], "tokens": ["env:T1"]}, "not both"),
        ({"client": Client(github.service()), "tokens": ["env:T1"]}, "tokens= needs the endpoint"),
    ],
)
def test_wrong_options_are_refused(options, reason):
    """Before any request."""
    with pytest.raises(OptionError, match=reason):
        github.harvest(EVERYTHING, **options)
