"""Harvests on threads, processes and a cluster, with lost workers."""

from __future__ import annotations

import logging
import os
import pickle
import signal
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

from gqlnb import (
    Client,
    Limits,
    OptionError,
    TargetError,
    Token,
    TransportError,
    github,
    recorded,
    serve,
)
from gqlnb.github.harvester.requests import PortableClient, SearchRequest, fetch_pages
from tests.github.harvester.logging_standin import rows

pytestmark = pytest.mark.usefixtures("spawning")
EVERYTHING = ">=1"
SECRET = "ghp_" + "Zx9Qw3Er7Ty1Ui5Op2As8Df4Gh6Jk0LzXcVb"


@pytest.fixture
def guarded(standin, monkeypatch):
    """Yield a server that needs a token, which is in the environment."""
    monkeypatch.setenv("HARVEST_TOKEN", SECRET)
    with serve(standin, port=0, token=Token(SECRET)) as server:
        yield server


def test_a_width_alone_is_a_pool_of_threads(standin, truth):
    """Without an executor, `width` threads run as many searches."""
    with serve(standin, port=0) as server, Client(server) as client:
        estimate = github.estimate(EVERYTHING, client=client)
        made = github.harvest(EVERYTHING, client=client, width=3)
    assert rows(made.frame()) == truth
    assert estimate.least <= made.coverage.pages <= estimate.most


def test_a_recording_is_not_for_other_processes(guarded, tmp_path):
    """That of a ``with`` block would be left behind, and real requests sent."""
    with Client(guarded.url, token="env:HARVEST_TOKEN") as client:
        with recorded(tmp_path / "a.json"), pytest.raises(TargetError, match="recording"):
            pickle.dumps(PortableClient(client))
        assert pickle.loads(pickle.dumps(PortableClient(client)))


def test_processes_return_the_same_rows(guarded, truth):
    """Each process reads the token from its source."""
    with (
        Client(guarded.url, token="env:HARVEST_TOKEN") as client,
        ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool,
    ):
        made = github.harvest(EVERYTHING, client=client, executor=pool)
    assert rows(made.frame()) == truth


# ---------------------------------------------------------------- pickling


def test_the_pickle_has_no_secret(guarded, spelled):
    """Pickle and repr of a task name the source of the token."""
    options = {"token": "env:HARVEST_TOKEN", "headers": {"X-Api-Key": "env:HARVEST_TOKEN"}}
    with Client(guarded.url, timeout=7, limits=Limits(wait=3), **options) as client:
        data = pickle.dumps((fetch_pages, PortableClient(client), [SearchRequest("stars:>5", 100)]))
        assert b"env:HARVEST_TOKEN" in data
        shown = repr(PortableClient(client))
        assert not [form for form in spelled(SECRET) if form in data or form in shown.encode()]
    _, asker, asks = pickle.loads(data)
    assert fetch_pages(asker, asks).answers[0].total > 0
    assert asker.client.source == client.source
    assert pickle.loads(data)[1].client is asker.client


@pytest.mark.parametrize(
    "options",
    [{"token": Token(SECRET)}, {"headers": {"X-Api-Key": Token(SECRET)}}],
    ids=["token", "header"],
)
def test_a_token_given_by_value_is_not_pickled(guarded, options, spelled):
    """It is refused before any request, with a remedy."""
    with Client(guarded.url, **options) as client, ProcessPoolExecutor(1) as pool:
        with pytest.raises(TargetError, match="token='env:NAME'") as caught:
            github.harvest(EVERYTHING, client=client, executor=pool)
        assert not [form for form in spelled(SECRET) if form in str(caught.value).encode()]
    assert len(guarded.log) == 0


def test_a_schema_of_this_process_is_not_pickled(client):
    """Other processes do not have it."""
    with (
        ProcessPoolExecutor(1) as pool,
        pytest.raises(TargetError, match="Serve it, and ask its address"),
    ):
        github.harvest(EVERYTHING, client=client, executor=pool)


# ---------------------------------------------------------------- a cluster


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_returns_the_same_rows(guarded, standin, truth, spelled):
    """On Dask, with a worker process killed midway."""
    distributed = pytest.importorskip("distributed")
    heard = []
    handler = logging.Handler()
    handler.emit = lambda record: heard.append(record.getMessage())
    logging.getLogger("distributed").addHandler(handler)
    killed = []

    def watch(got, _wanted, requests, _budget):
        if got > 3000 and not killed:
            nanny = next(iter(cluster.workers.values()))
            killed.append(nanny.process.pid)
            os.kill(killed[0], signal.SIGKILL)

    with (
        Client(guarded.url, token="env:HARVEST_TOKEN") as client,
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, env={"HARVEST_TOKEN": SECRET}
        ) as cluster,
        distributed.Client(cluster) as dask,
    ):
        made = github.harvest(
            EVERYTHING, client=client, executor=dask.get_executor(), width=4, progress=watch
        )
    logging.getLogger("distributed").removeHandler(handler)
    assert killed
    assert rows(made.frame()) == truth
    assert made.complete
    assert not [form for form in spelled(SECRET) if form in "\n".join(heard).encode()]


def test_a_cluster_sends_repeated_requests(guarded, standin):
    """Dask must not reuse the answer from before a pause."""
    distributed = pytest.importorskip("distributed")
    asks = [SearchRequest("stars:>5", 100)]
    with (
        Client(guarded.url, token="env:HARVEST_TOKEN") as client,
        distributed.LocalCluster(
            n_workers=1, processes=False, protocol="tcp", host="127.0.0.1", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as dask,
    ):
        executor = dask.get_executor()
        held = [executor.submit(fetch_pages, PortableClient(client), asks) for _ in range(2)]
        first, second = (each.result() for each in held)
        assert first.answers == second.answers
        assert len(standin.searches()) == 2
        with pytest.raises(OptionError, match=r"not .*Client.*get_executor\(\)"):
            github.harvest(EVERYTHING, client=client, executor=dask)


def test_an_executor_that_accepts_no_more_requests_is_a_transport_error(client, standin):
    """As a pool that lost a process."""

    class BrokenPool(ThreadPoolExecutor):
        def submit(self, *args, **options):
            if len(standin.asked) == 3:
                msg = "cannot schedule new futures"
                raise RuntimeError(msg)
            return super().submit(*args, **options)

    with (
        BrokenPool(1) as pool,
        pytest.raises(TransportError, match=r"no more requests: .*cannot schedule new"),
    ):
        github.harvest(EVERYTHING, client=client, executor=pool)


@pytest.mark.parametrize("given", [4, ThreadPoolExecutor], ids=["number", "class"])
def test_other_objects_are_not_executors(client, given, standin):
    """The error comes before any request, and names the remedy."""
    with pytest.raises(OptionError, match=r"takes an executor of .*Give .*ThreadPoolExecutor\(4\)"):
        github.harvest(EVERYTHING, client=client, executor=given)
    assert standin.asked == []
