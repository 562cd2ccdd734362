"""Benchmark of tokens: ``python -m tests.benchmarks.harvest_tokens [rows]``.

Each token has its own account, and an endpoint of its own in a process of its own, which answers
each request 200 ms late and does little else: answers are put together from rows encoded before,
as the stand-in's GraphQL would otherwise be measured. The harvest is run with one token and with
four, and must bring the same rows.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np

from gqlnb import Client, github
from tests.github.harvester.search_simulator import Changes, SearchSimulator

LATE = 0.2
TOKENS = 4


class LightEndpoint:
    """An ASGI application that answers the requests of a harvest, and no others.

    Parameters
    ----------
    rows
        Number of repositories.
    login
        Login of its account.
    """

    def __init__(self, rows: int, login: str) -> None:
        self.login = login
        simulator = SearchSimulator(rows, 1, Changes(), seed=1)
        nodes = simulator._show_rows(list(range(len(simulator.live))))
        self.nodes = [
            b'{"harvest_id":"%b","harvest_nameWithOwner":"o/%b",'
            b'"harvest_stargazerCount":%d,"harvest_createdAt":"%b"}'
            % (row.id.encode(), row.name.encode(), row.stars, time_text(row.created))
            for row in nodes
            if row is not None
        ]
        self.simulator = simulator

        @lru_cache(maxsize=64)
        def search(text: str) -> tuple[list[int], np.ndarray]:
            found, _ = simulator._search(text, simulator.index, simulator.exists)
            return found[:1000].tolist(), np.array([len(found)])

        self.search = search

    def answer(self, body: bytes) -> bytes:
        """Return the body of an answer."""
        asked = msgspec.json.decode(body)
        variables = asked.get("variables")
        if "viewer" in asked["query"]:
            text = b'{"data":{"viewer":{"login":"%b"},"search":{"repositoryCount":%d}}}'
            return text % (self.login.encode(), len(self.nodes))
        parts = []
        for number in range(len(variables) // 3):
            found, (total,) = self.search(variables[f"q{number}"])
            after = variables[f"a{number}"]
            start = self.simulator._find_start(after, np.empty((0, 2)))
            end = min(start + variables[f"n{number}"], len(found))
            cursor = self.simulator._format_cursor(end, np.empty((0, 2))).encode()
            info = b'{"hasNextPage":%b,"endCursor":"%b"}'
            info %= b"true" if end < len(found) else b"false", cursor
            shown = b",".join([self.nodes[row] for row in found[start:end]])
            page = b'"p%d":{"repositoryCount":%d,"pageInfo":%b,"nodes":[%b]}'
            parts.append(page % (number, total, info, shown))
        return b'{"data":{%b}}' % b",".join(parts)

    async def __call__(self, _scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        started = time.monotonic()
        body, more = b"", True
        while more:
            message = await receive()
            body += message["body"]
            more = message.get("more_body", False)
        answer = self.answer(body)
        await asyncio.sleep(LATE - (time.monotonic() - started))
        # GitHub's header, from which a client knows that it may send one request at a time.
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(answer)),
            (b"x-github-media-type", b"github.v4"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})


def time_text(seconds: int | None) -> bytes:
    """Return a time as GitHub writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)).encode()


def serve(rows: int, login: str) -> None:
    """Serve an endpoint, and print its address."""
    import uvicorn

    endpoint = LightEndpoint(rows, login)
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(64)
    say(f"http://127.0.0.1:{listening.getsockname()[1]}/graphql")
    config = uvicorn.Config(endpoint, log_level="error", lifespan="off")
    uvicorn.Server(config).run([listening])


def measure(urls: list[str]) -> tuple[float, float, set[str]]:
    """Return rows per second with so many accounts, the share of processor time, and the ids."""
    with ExitStack() as stack:
        clients = [stack.enter_context(Client(url, token="env:BENCH_TOKEN")) for url in urls]
        started, worked = time.perf_counter(), time.process_time()
        made = github.harvest(">=1", clients=clients, progress=False)
        seconds = time.perf_counter() - started
        share = (time.process_time() - worked) / seconds
    assert made.complete
    say(
        f"  {len(urls)} accounts: {seconds:.1f} s, {made.requests} requests, "
        f"{made.coverage.pages} pages, {[each.requests for each in made.identities]}"
    )
    return len(made) / seconds, share, set(made.arrow()["id"].to_pylist())


def main(rows: int = 200_000) -> None:
    """Print rows per second and the speed-up."""
    os.environ["BENCH_TOKEN"] = "t" * 40
    module = "tests.benchmarks.harvest_tokens"
    servers = [
        subprocess.Popen(
            [sys.executable, "-m", module, str(rows), f"user{number}"],
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(TOKENS)
    ]
    try:
        urls = [server.stdout.readline().strip() for server in servers if server.stdout]
        one, alone, ids = measure(urls[:1])
        four, together, same = measure(urls)
    finally:
        for server in servers:
            server.kill()
    assert ids == same
    say(
        f"{rows:,} rows: 1 token {one:,.0f}/s ({alone:.0%} of a core), {TOKENS} tokens "
        f"{four:,.0f}/s ({together:.0%}), {four / one:.2f} x"
    )


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        serve(int(sys.argv[1]), sys.argv[2])
    else:
        main(*map(int, sys.argv[1:]))
