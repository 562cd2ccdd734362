"""Harvests of issues with several accounts: each reads one range at a time."""

from __future__ import annotations

import asyncio
import random
import re
import warnings
from collections import Counter
from functools import partial
from typing import Any

import pytest

from gqlnb import AuthError, Client, OptionError, github
from gqlnb.server.app import App
from tests.asgi import read_body, receive_again, send_answer
from tests.github.harvester.github_search import Search
from tests.github.harvester.test_node_harvest import make_rows

LIMIT = 5_000
REFUSALS = {
    "401": (401, {"message": "Bad credentials"}, {}),
    "saml": (
        200,
        {"data": None, "errors": [{"type": "FORBIDDEN", "message": "Protected by SAML."}]},
        {},
    ),
    "limit": (403, {"message": "API rate limit exceeded"}, {"retry-after": "3600"}),
}


class AccountApp:
    """GitHub for one token, as an ASGI application over a simulated search.

    Parameters
    ----------
    search
        The search.
    login
        The account; None for a token without a viewer.
    flying, most
        The requests in flight by account, and the most so far; shared by all tokens.
    """

    def __init__(
        self, search: Search, login: str | None, flying: Counter[str], most: Counter[str]
    ) -> None:
        self.app, self.login, self.search = App(search.build_schema()), login, search
        self.flying, self.most = flying, most
        self.answers = 0
        self.refused_after: int | None = None
        self.refusal = REFUSALS["401"]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        name = self.login or str(id(self))
        is_page = self.answers > 0  # after the request for the login
        self.flying[name] += is_page
        self.most[name] = max(self.most[name], self.flying[name])
        await asyncio.sleep(0.002)
        try:
            self.answers += 1
            body = await read_body(receive)
            if self.refused_after is not None and self.answers > self.refused_after:
                await answer(send, *self.refusal)
            elif b"viewer" in body and self.login:
                found = {"issueCount": len(self.search.rows)}
                data = {"viewer": {"login": self.login}, "search": found}
                await answer(send, 200, {"data": data})
            else:
                left = LIMIT - self.answers
                await self.app(scope, receive_again(body), partial(send_as_github, send, left))
        finally:
            self.flying[name] -= is_page


async def send_as_github(send: Any, left: int, message: Any) -> None:
    """Send with the budget, and the header that means one request at a time."""
    if message["type"] == "http.response.start":
        headers = [
            (b"x-github-media-type", b"github.v4"),
            (b"x-ratelimit-limit", b"%d" % LIMIT),
            (b"x-ratelimit-remaining", b"%d" % left),
        ]
        message = {**message, "headers": [*message["headers"], *headers]}
    await send(message)


async def answer(send: Any, status: int, members: Any, headers: Any = None) -> None:
    """Send JSON as GitHub does."""
    named = {"x-github-media-type": "github.v4"} | (headers or {})
    await send_answer(send, members, status, named)


class Accounts:
    """A search with several tokens.

    Parameters
    ----------
    search
        The search.
    logins
        The account of each token.
    """

    def __init__(self, search: Search, *logins: str | None) -> None:
        self.most = Counter[str]()
        flying = Counter[str]()
        self.apps = [AccountApp(search, login, flying, self.most) for login in logins]
        self.clients = [Client(app) for app in self.apps]

    def harvest(self, **options: Any) -> Any:
        """Harvest all issues."""
        return github.harvest_nodes("x", type="ISSUE", clients=self.clients, **options)


@pytest.mark.parametrize("column", ["created", "updated"])
def test_accounts_share_the_ranges(column):
    """Every row comes once, each account works, and has one request in flight."""
    search = Search(make_rows(4_000))
    accounts = Accounts(search, "ann", "ann", "bob", None)
    found = accounts.harvest(slice=column)
    assert found.complete
    assert sorted(found.frame()["id"]) == sorted(search.rows)
    assert set(accounts.most.values()) == {1}
    assert accounts.apps[1].answers == 1  # its account
    assert min(accounts.apps[number].answers for number in (0, 2, 3)) > 5


@pytest.mark.parametrize("others", [1_500, 1_499])
def test_accounts_that_see_different_rows_are_a_doubt(others):
    """A page may be without the rows that its account does not see."""
    accounts = Accounts(Search(make_rows(1_500)), "ann", "bob", "cid")
    accounts.apps[1].search = Search(make_rows(others))
    found = accounts.harvest()
    assert found.complete == (others == 1_500)
    assert len(found) == 1_500
    if not found.complete:
        (gap,) = found.coverage.gaps
        assert "(ann: 1,500, bob: 1,499, cid: 1,500)" in gap.why


def test_a_resumed_harvest_keeps_the_doubt_about_earlier_accounts(tmp_path):
    """Its first rows may be without those that only one of the accounts sees."""
    accounts = Accounts(Search(make_rows(1_500)), "ann", "bob")
    accounts.apps[1].search = Search(make_rows(1_499))
    assert accounts.harvest(out=tmp_path, progress=lambda *_: False).coverage.stopped
    del accounts.clients[1]
    found = accounts.harvest(out=tmp_path)
    assert not found.complete
    assert any("(ann: 1,500, bob: 1,499)" in gap.why for gap in found.coverage.gaps)
    assert accounts.harvest(out=tmp_path, resume=False).complete


@pytest.mark.parametrize("kind", REFUSALS)
def test_the_others_continue_for_a_refused_account(kind):
    """Its other token, or the other accounts, read its ranges."""
    search = Search(make_rows(3_000))
    accounts = Accounts(search, "ann", "ann", "bob")
    accounts.apps[0].refused_after = accounts.apps[2].refused_after = 5
    for app in accounts.apps:
        app.refusal = REFUSALS[kind]
    if kind == "limit":  # of the account
        accounts.apps[0].refused_after = None
    found = accounts.harvest()
    assert found.complete
    assert sorted(found.frame()["id"]) == sorted(search.rows)
    if kind != "limit":
        assert accounts.apps[1].answers > 10
        notes = "\n".join(found.notes)
        assert "A token of ann is refused; its next one continues: " in notes
        assert "bob is refused; the others continue: " in notes


def test_the_progress_has_the_budget_of_each_account():
    """And of all together; a refused account is named."""
    accounts, seen = Accounts(Search(make_rows(3_000)), "ann", "bob", "cid"), []
    accounts.apps[2].refused_after = 4
    accounts.harvest(progress=lambda *it: seen.append(it))
    budget = seen[-1][3]
    shown = re.fullmatch(
        r"([\d,]+) of 10,000 left \(ann ([\d,]+), bob ([\d,]+), cid refused\)", str(budget)
    )
    total, ann, bob = (int(number.replace(",", "")) for number in shown.groups())
    assert total == ann + bob == budget.remaining
    # A few requests, which compare the counts, follow.
    assert total - 20 < sum(LIMIT - app.answers for app in accounts.apps[:2]) < total


def test_the_progress_of_one_client_has_its_budget():
    """There is no account to name."""
    accounts, seen = Accounts(Search(make_rows(1_500)), "ann"), []
    accounts.harvest(progress=lambda *it: seen.append(it))
    assert str(seen[0][3]) == f"{seen[0][3].remaining:,.0f} of 5,000 left"


def test_the_last_refused_account_ends_the_harvest(tmp_path):
    """The rows so far are kept, and another call continues; a finished one sends nothing."""
    search = Search(make_rows(4_000))
    accounts = Accounts(search, "ann", "bob")
    for app in accounts.apps:
        app.refused_after = 9
    with pytest.raises(AuthError, match="run the same call again") as caught:
        accounts.harvest(out=tmp_path)
    assert "resume()" not in str(caught.value)  # which would continue one range
    with pytest.raises(AuthError):  # all are refused before the first range
        accounts.harvest(out=tmp_path)
    accounts = Accounts(search, "ann", "bob")
    found = accounts.harvest(out=tmp_path)
    assert found.complete
    assert sorted(found.frame()["id"]) == sorted(search.rows)
    sent = [app.answers for app in accounts.apps]
    assert accounts.harvest(out=tmp_path).complete
    assert [app.answers for app in accounts.apps] == sent


@pytest.mark.parametrize(
    ("seed", "touched"),
    [(0, 1), (2, 0.1), *(pytest.param(seed, 0.1, marks=pytest.mark.slow) for seed in (1, 3, 4))],
)
def test_no_row_is_lost_while_rows_change(seed, touched):
    """Rows are touched and deleted; a harvest by `updated` that says complete has all others."""
    generator = random.Random(seed)
    search = Search(make_rows(1_200, seed))
    left = set(search.rows)
    latest = max(row["updated"] for row in search.rows.values())

    def drift() -> None:
        nonlocal latest
        if generator.random() < touched:
            latest += 1
            search.rows[generator.choice(list(search.rows))]["updated"] = latest
        if generator.random() < 0.05:
            gone = generator.choice(list(search.rows))
            del search.rows[gone]
            left.discard(gone)

    search.drift = drift
    accounts = Accounts(search, "ann", "bob", "cid")
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        found = accounts.harvest(slice="updated")
    ids = set(found.arrow()["id"].to_pylist())
    assert len(ids) == len(found)
    assert left <= ids or not found.complete
    assert found.complete or seed != 2  # one row is touched, and one is deleted


def test_wrong_accounts_are_refused():
    """Before any request."""
    with pytest.raises(OptionError, match="not both"):
        github.harvest_nodes("x", type="ISSUE", clients=["demo"], tokens=["env:A"])
    with pytest.raises(OptionError, match="takes a list"):
        github.harvest_nodes("x", type="ISSUE", clients=[])
