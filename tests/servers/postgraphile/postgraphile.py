"""PostGraphile processes on a database, and what the tests ask of them."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import requests

from tests.servers.postgraphile.install import find_node, installed_folder
from tests.servers.postgraphile.process import LoggedProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers.postgraphile.postgres import Postgres

HERE = Path(__file__).resolve().parent
VARIABLE = "GQLNB_SERVERS"
INSTALL = "python tests/servers/postgraphile/install.py FOLDER"


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


def find_missing(version: str) -> str | None:
    """Return a sentence naming what is not installed and how to install it, or None."""
    folder = os.environ.get(VARIABLE)
    if folder is None:
        return (
            f"Environment variable {VARIABLE} is not set, so PostGraphile cannot be found. Install "
            f"it with {INSTALL!r}, and set {VARIABLE} to that folder."
        )
    if not (installed_folder(Path(folder), version) / "node_modules" / "postgraphile").is_dir():
        return f"PostGraphile {version} is not in {folder}. Install it with {INSTALL!r}."
    if find_node(Path(folder), version) is None:
        return f"Node is missing or too old for PostGraphile {version}. Run {INSTALL!r}."
    return None


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
    """
    folder = Path(os.environ[VARIABLE]).resolve()
    node = find_node(folder, version)
    assert node is not None
    packages = installed_folder(folder, version)
    arguments = (str(packages), database.url, ",".join(variants))
    process = LoggedProcess([node, str(HERE / version / "server.js"), *arguments])
    try:
        urls = json.loads(process.wait_for(r'^\{".*\}$')[0])
        yield {name: PostGraphile(url) for name, url in urls.items()}
    finally:
        process.stop()
