"""The loop of a harvest, with answers of a simulated search instead of requests."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, Any

import pytest

from gqlnb import Client, TransportError, github
from gqlnb.errors import AuthError
from gqlnb.github.harvester.own_fields import OwnFields, RowShape
from gqlnb.github.harvester.requests import FetchOutcome, HarvestRunner, PortableClient
from gqlnb.github.harvester.scope import Scope
from gqlnb.github.harvester.storage import RepositoryStore
from gqlnb.http.rate_limit_rules import Budget
from gqlnb.lists.accounts import Account, AccountPool
from gqlnb.lists.store import LogHeader
from gqlnb.lists.window_harvest import Page, WindowHarvest
from tests.github.harvester.search_simulator import Changes, SearchSimulator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gqlnb.github.harvester.requests import SearchRequest

LOW = 20
OWN = OwnFields("forkCount", RowShape(children={"forkCount": RowShape("Int", field="forkCount")}))


class SearchExecutor(Executor):
    """Answers each request at once.

    Parameters
    ----------
    search
        Answers a request for one page.
    width
        Requests that the endpoint accepts at once.

    Attributes
    ----------
    sent
        The searches of each request.
    """

    def __init__(self, search: SearchSimulator, width: int = 1) -> None:
        self.search, self.width = search, width
        self.sent: list[Sequence[SearchRequest]] = []

    def submit(self, _fetch: Any, /, *args: Any, **_options: Any) -> Future[Any]:
        """Answer the pages of a request."""
        client, asks, fields, ids = args
        assert not ids
        self.sent.append(asks)
        future: Future[FetchOutcome] = Future()
        try:
            pages = self.answer_pages(client, asks, fields)
        except AuthError as error:
            future.set_exception(error)
        else:
            future.set_result(FetchOutcome(pages, self.width, Budget(), 0.01))
        return future

    def answer_pages(
        self, _client: PortableClient, asks: Sequence[SearchRequest], fields: str
    ) -> list[Page]:
        """Return the pages, with own fields if they are requested."""
        return [self.answer_page(ask, fields) for ask in asks]

    def answer_page(self, ask: SearchRequest, fields: str) -> Page:
        """Return one page."""
        page = self.search(ask)
        data = '{"forkCount": 1}' if fields else None
        rows = [row and row._replace(data=data) for row in page.rows]
        return page._replace(rows=tuple(rows))


class HeavyExecutor(SearchExecutor):
    """The first page is too large where several are requested together."""

    def answer_pages(
        self, client: PortableClient, asks: Sequence[SearchRequest], fields: str
    ) -> list[Page]:
        """Return the pages."""
        pages = super().answer_pages(client, asks, fields)
        if len(pages) > 1:
            pages[0] = Page(pages[0].total, heavy=True)
        return pages


class TokenExecutor(SearchExecutor):
    """Refuses the requests of some clients after the first ones.

    Attributes
    ----------
    refused
        The clients.
    """

    refused: Sequence[PortableClient] = ()

    def answer_pages(
        self, client: PortableClient, asks: Sequence[SearchRequest], fields: str
    ) -> list[Page]:
        """Return the pages, or raise AuthError."""
        if client in self.refused and len(self.sent) > 3:
            msg = "Bad credentials"
            raise AuthError(msg)
        return super().answer_pages(client, asks, fields)


def run_harvest(
    executor: SearchExecutor,
    *,
    fields: OwnFields | None = None,
    width: int = 1,
    identity: Account[PortableClient] | None = None,
) -> tuple[HarvestRunner, WindowHarvest, set[str]]:
    """Harvest all repositories; return the runner, what it ran, and the ids."""
    scope = Scope("", LOW, None)
    harvest = WindowHarvest(scope.build_source())
    header = LogHeader() if fields is None else LogHeader(fields=fields.text, shape=fields.shape)
    storage = RepositoryStore(header=header)
    sender = identity or Account("ann", [PortableClient(Client(github.service()))])
    pool = AccountPool([sender])
    runner = HarvestRunner(scope, harvest, storage, pool, executor, width, lambda *_: True)
    runner.run()
    return runner, harvest, set(storage.load_table()["id"].to_pylist())


def test_a_page_beside_one_that_is_too_large_is_kept():
    """The page that is too large is requested again, and no other one is lost."""
    search = SearchSimulator(3_000, LOW, Changes(), seed=1)
    executor = HeavyExecutor(search)
    _, harvest, ids = run_harvest(executor, fields=OWN)
    assert ids == search.required
    assert harvest.state.build_coverage(0).complete


@pytest.mark.parametrize("width", [1, 4])
def test_the_next_token_of_an_account_replaces_a_refused_one(width):
    """Also if several requests of the first one are refused at the same time."""
    search = SearchSimulator(3_000, LOW, Changes(), seed=1)
    executor = TokenExecutor(search, width)
    identity = Account("ann", [PortableClient(Client(github.service())) for _ in range(2)])
    executor.refused = identity.clients[:1]
    runner, harvest, ids = run_harvest(executor, width=width, identity=identity)
    assert ids == search.required
    assert harvest.state.build_coverage(0).complete
    assert not identity.refusal
    notes = [note for note in runner._pool.notes if "refused" in note]
    assert notes == ["A token of ann is refused; its next one continues: Bad credentials"]


class BrokenExecutor(SearchExecutor):
    """Accepts a few requests, and no further ones, as a pool that lost a process."""

    def submit(self, fetch: Any, /, *args: Any, **options: Any) -> Future[Any]:
        """Answer, or raise RuntimeError."""
        if len(self.sent) == 3:
            msg = "cannot schedule new futures"
            raise RuntimeError(msg)
        return super().submit(fetch, *args, **options)


def test_an_executor_that_accepts_no_more_requests_is_a_transport_error():
    """The rows so far are stored."""
    executor = BrokenExecutor(SearchSimulator(3_000, LOW, Changes(), seed=1))
    with pytest.raises(TransportError, match=r"accepts no more requests: .*cannot schedule new"):
        run_harvest(executor)
