"""The documentation as a site: built without a warning, searched and looked at in a browser."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import quote_plus

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Page

pytestmark = pytest.mark.slow
# What a newcomer types into the search box, and the page that answers it.
QUESTIONS = {
    "timeout": "timeouts",
    "proxy": "proxies-and-certificates",
    "company certificate": "proxies-and-certificates",
    "retry": "retries",
    "basic login": "logins",
    "cookie": "logins",
    "headers": "headers",
    "Book! ID": "types-and-lists",
    "include skip": "fragments",
    "load extension every notebook": "install",
    "database resolver": "database",
    "async": "async",
    "custom scalar": "custom-scalars",
    "Excel": "csv-excel-parquet",
    "clear cache": "install",
    "upgrade": "install",
    "uninstall": "install",
    "GITHUB_TOKEN": "github-token",
    "Windows token": "github-token",
    "before Jupyter starts": "github-token",
    "JupyterHub": "hub-and-docker",
    "Docker": "hub-and-docker",
    "remote kernel": "hub-and-docker",
    "public endpoint": "own-endpoint",
    "own endpoint": "own-endpoint",
    "exceptions catch": "exceptions",
    "... on Repository": "fragments",
    "execute_many": "many-queries",
    "CSV": "csv-excel-parquet",
    "nested lists": "nested-lists",
    "DuckDB": "polars-duckdb-arrow",
    "variables": "variables",
    "token source": "tokens",
    "all pages": "all-pages",
    "offline test": "test-offline",
    "stop server": "serve",
    "mutation": "mutations",
    "subscription": "subscriptions",
    "star search": "star-search",
    # in the words of someone who knows pandas and no GraphQL
    "read graphql into dataframe": "dataframe",
    "what is graphql": "graphql-for-pandas",
    "401 unauthorized": "tokens",
    "SSL certificate verify failed": "proxies-and-certificates",
    "what columns does the api have": "schema-docs",
    "list all fields": "schema-docs",
    "filter rows by date": "dates-and-times",
    "only first 100 results": "all-pages",
    "loop over ids": "many-inputs",
    "join two tables": "nested-lists",
    "null values missing": "partial-answers",
    "rate limit exceeded": "retries",
    "query is slow": "slow-queries",
    "repositories with more than 1000 stars": "star-search",
    "more than 1000 results": "harvest",
    "resume download": "harvest",
    "append new data": "run-a-script",
    "run every day script": "run-a-script",
    "command line": "command-line",
    "what is a fragment": "fragments",
    "what does ! mean": "types-and-lists",
    "create my own api": "serve",
    "convert rest to graphql": "from-rest",
    "no internet": "test-offline",
    "autocomplete": "complete-names",
    "plot chart": "plot",
    "remove secrets from notebook": "remove-a-token",
    "cancel a running query": "stop-a-query",
    "progress bar": "stop-a-query",
    "timezone dates": "dates-and-times",
    "explode nested json": "nested-lists",
    "parallel requests": "many-queries",
    "vscode": "hub-and-docker",
    "install without internet": "teach",
    "jwt expired refresh": "logins",
    "google colab": "hub-and-docker",
    "cors": "serve",
    "list all types in the schema": "schema-docs",
    "rename a field": "fragments",
    "save result as json": "csv-excel-parquet",
    "two endpoints in one notebook": "connections",
    "deprecated fields": "schema-docs",
    "mock data": "test-offline",
    "websocket": "subscriptions",
    "pass a python list as variable": "variables",
    "503 service unavailable": "retries",
    "n+1 problem": "data-loader",
    "offset limit pagination": "all-pages",
    "production deployment": "behind-a-proxy",
    "students exercise": "teach",
    "decimal money precision": "custom-scalars",
    "query depth limit": "limit-clients",
    "ids rounded big numbers": "custom-scalars",
    "login required for my api": "context-and-jwt",
    "ssl error self signed": "proxies-and-certificates",
    "type hints for results": "typed-models",
    "enum values": "schema-docs",
    "rename column": "fragments",
    "django": "own-endpoint",
    "introspection disabled": "schema-docs",
    "sort by stars": "star-search",
    "delete a record": "mutations",
    "sqlalchemy": "database",
    "sidebar": "side-panel",
    "share notebook without token": "remove-a-token",
    "pydantic": "typed-models",
    "graphiql": "explorer",
    "write query without knowing graphql": "side-panel",
    "stale cached answer": "remember-answers",
    "how many requests will it take": "harvest",
    "api key": "headers",
    "date range": "dates-and-times",
    "logging requests": "debug-requests",
    "upload a file": "mutations",
    "the answer is too large": "slow-queries",
}
SEARCH_IS_OVER = re.compile("Search finished|did not match any")


class QuietHandler(SimpleHTTPRequestHandler):
    """A handler without a log."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build the site under a path prefix, and serve it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html"]
    subprocess.run([*command, str(root / "docs"), str(folder / "gqlnb")], check=True, timeout=300)
    handler = partial(QuietHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/gqlnb"
        server.shutdown()


# The hits of each question, best last; to show a page for each, with excerpts, takes two minutes.
SEARCH = """questions => questions.map(words => {
  const [query, terms, excluded, , objects] = Search._parseQuery(words);
  return Search._performSearch(query, terms, excluded, new Set(), objects).map(hit => hit[0]);
})"""


def test_questions_are_answered_by_the_first_three_hits(page: Page, site: str) -> None:
    """The search box finds the page for each question."""
    words = next(iter(QUESTIONS))
    page.goto(f"{site}/search.html?q={quote_plus(words)}")
    page.locator(".search-summary", has_text=SEARCH_IS_OVER).wait_for()
    links = page.locator("#search-results .search > li > a").all()[:3]
    shown = [(link.get_attribute("href") or "").partition(".html")[0] for link in links]
    hits = dict(zip(QUESTIONS, page.evaluate(SEARCH, list(QUESTIONS)), strict=True))
    best = {words: found[:-4:-1] for words, found in hits.items()}
    assert best[words] == shown
    missed = {
        words: best[words]
        for words, name in QUESTIONS.items()
        if not any(f"/{hit}".endswith(f"/{name}") for hit in best[words])
    }
    assert missed == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    "path",
    ["index", "start", "howto/index", "howto/all-pages", "reference/api/gqlnb.Client",
     "reference/cell-options", "tutorials/01_hello", "tutorials/03_github_stars"],
)  # fmt: skip
def test_pages_are_accessible(
    page: Page, site: str, axe: Callable[[Page, str], None], path: str, theme: str
) -> None:
    """In both themes, and without a request to another host."""
    page.emulate_media(color_scheme=theme)
    page.goto(f"{site}/{path}.html")
    page.wait_for_load_state("networkidle")
    axe(page, "main")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_front_page_fits_one_screen(page: Page, site: str, theme: str) -> None:
    """The sentence, the cell with all of its table, the install line and three links."""
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": 1000, "height": 800})
    page.goto(f"{site}/index.html")
    article, front = page.locator("article.bd-article"), page.locator(".front")
    assert article.locator(".front").count() == 1
    assert article.locator("pre", has_text="pip install").count() == 1
    links = article.locator("ul a").all()
    assert len(links) == 3
    assert all((box := link.bounding_box()) and box["y"] + box["height"] < 800 for link in links)
    assert front.locator("tbody tr").count() >= 5
    assert "items in 1 request" in front.inner_text()
    table, room = front.locator("table").bounding_box(), front.bounding_box()
    assert table
    assert room
    assert table["x"] + table["width"] <= room["x"] + room["width"]
    code = front.locator("pre").bounding_box()
    assert code
    assert code["x"] + code["width"] <= table["x"]  # beside each other
    bars = front.locator("tbody td:last-child")
    lengths = bars.evaluate_all("cells => cells.map(cell => [cell.scrollWidth, cell.clientWidth])")
    assert all(needed <= given for needed, given in lengths)


def test_the_navigation_is_one_line(page: Page, site: str) -> None:
    """At 1000 pixels, with all sections of the site."""
    page.set_viewport_size({"width": 1000, "height": 800})
    page.goto(f"{site}/howto/index.html")
    links = [link for link in page.locator(".bd-header .nav-link").all() if link.is_visible()]
    names = [link.inner_text().strip() for link in links]
    assert {"Start", "Tutorials", "How to", "Reference", "Explanation", "Comparison"} <= {*names}
    assert len({round(box["y"]) for link in links[:6] if (box := link.bounding_box())}) == 1


def test_pages_fit_a_telephone(page: Page, site: str) -> None:
    """Nothing but tables and code scrolls sideways."""
    page.set_viewport_size({"width": 390, "height": 800})
    for path in ("index", "howto/tokens", "reference/statuses", "tutorials/01_hello"):
        page.goto(f"{site}/{path}.html")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
