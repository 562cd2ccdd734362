"""PostGraphile processes on a database, and what the tests ask of them."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import requests

from tests.servers.install import NPM_SERVERS
from tests.servers.processes import LoggedProcess, find_packages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers.postgraphile.postgres import Postgres


class Request(NamedTuple):
    """A request that a server answered: its body, and the HTTP status of the answer."""

    body: str
    status: int


@dataclass(frozen=True)
class PostGraphile:
    """A running PostGraphile server.

    Attributes
    ----------
    url
        Address of its GraphQL endpoint.
    """

    url: str

    def query(self, text: str, **variables: Any) -> Any:
        """Return the data of a query, sent without gqlnb."""
        payload = {"query": text, "variables": variables}
        answer = requests.post(self.url, json=payload, timeout=60).json()
        assert "errors" not in answer, answer["errors"]
        return answer["data"]

    def take_requests(self) -> list[Request]:
        """Return the requests answered since the last call, those for the schema excluded."""
        answered = requests.get(self.url.replace("/graphql", "/requests"), timeout=60).json()
        return [Request(**one) for one in answered if "__schema" not in one["body"]]


@contextmanager
def run_postgraphile(
    database: Postgres, version: str, *variants: str
) -> Iterator[dict[str, PostGraphile]]:
    """Run variants of one version of PostGraphile in one process; stop it at the end.

    Parameters
    ----------
    database
        The cluster with the tests' tables.
    version
        ``"v4"`` or ``"v5"``.
    *variants
        Names from ``VARIANTS`` in that version's ``server.js``.

    Yields
    ------
    dict of str to PostGraphile
        The servers by the names of their variants.

    Raises
    ------
    LookupError
        If this version is not installed.
    """
    name = f"postgraphile-{version}"
    node, packages = find_packages(name)
    arguments = (str(packages), database.url, ",".join(variants))
    with LoggedProcess([node, str(NPM_SERVERS[name] / "server.js"), *arguments]) as process:
        urls = json.loads(process.wait_for(r'^\{".*\}$')[0])
        yield {name: PostGraphile(url) for name, url in urls.items()}
