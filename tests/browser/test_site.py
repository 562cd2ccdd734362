"""The documentation as a site: built without a warning, searched and looked at in a browser."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING
from urllib.parse import quote_plus

import pytest

from tests.browser.acting import serve_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Page

pytestmark = pytest.mark.slow
# Each page, and what finds it, as a newcomer types it, or someone who knows pandas and no GraphQL.
PAGES = {
    "all-pages": ["all pages", "only first 100 results", "offset limit pagination"],
    "async": ["async"],
    "behind-a-proxy": ["production deployment"],
    "command-line": ["command line"],
    "complete-names": ["autocomplete"],
    "connections": ["two endpoints in one notebook"],
    "context-and-jwt": ["login required for my api"],
    "csv-excel-parquet": ["Excel", "CSV", "save result as json"],
    "custom-scalars": ["custom scalar", "decimal money precision", "ids rounded big numbers"],
    "data-loader": ["n+1 problem"],
    "database": ["database resolver", "sqlalchemy"],
    "dataframe": ["read graphql into dataframe"],
    "dates-and-times": ["filter rows by date", "timezone dates", "date range"],
    "debug-requests": ["logging requests"],
    "exceptions": ["exceptions catch"],
    "explorer": ["graphiql"],
    "fragments": ["include skip", "... on Repository", "what is a fragment", "rename a field",
     "rename column"],
    "from-rest": ["convert rest to graphql"],
    "github-token": ["GITHUB_TOKEN", "Windows token", "before Jupyter starts"],
    "graphql-for-pandas": ["what is graphql"],
    "harvest": ["more than 1000 results", "resume download"],
    "harvest-any-list": ["deep paging", "highest offset"],
    "harvest-at-scale": ["how many requests will it take", "dask cluster"],
    "headers": ["headers", "api key"],
    "hub-and-docker": ["JupyterHub", "Docker", "remote kernel", "vscode", "google colab"],
    "install": ["load extension every notebook", "clear cache", "upgrade", "uninstall"],
    "limit-clients": ["query depth limit"],
    "logins": ["basic login", "cookie", "jwt expired refresh"],
    "many-inputs": ["loop over ids"],
    "many-queries": ["execute_many", "parallel requests"],
    "mutations": ["mutation", "delete a record", "upload a file"],
    "nested-lists": ["nested lists", "join two tables", "explode nested json"],
    "own-endpoint": ["public endpoint", "own endpoint", "django"],
    "partial-answers": ["null values missing"],
    "plot": ["plot chart"],
    "polars-duckdb-arrow": ["DuckDB"],
    "proxies-and-certificates": ["proxy", "company certificate", "SSL certificate verify failed",
     "ssl error self signed"],
    "remember-answers": ["stale cached answer"],
    "remove-a-token": ["remove secrets from notebook", "share notebook without token"],
    "retries": ["retry", "rate limit exceeded", "503 service unavailable"],
    "run-a-script": ["append new data", "run every day script"],
    "schema-docs": ["what columns does the api have", "list all fields",
     "list all types in the schema", "deprecated fields", "enum values", "introspection disabled"],
    "serve": ["stop server", "create my own api", "cors"],
    "side-panel": ["sidebar", "write query without knowing graphql"],
    "slow-queries": ["query is slow", "the answer is too large"],
    "star-search": ["star search", "repositories with more than 1000 stars", "sort by stars"],
    "stop-a-query": ["cancel a running query", "progress bar"],
    "subscriptions": ["subscription", "websocket"],
    "teach": ["install without internet", "students exercise"],
    "test-offline": ["offline test", "no internet", "mock data"],
    "timeouts": ["timeout"],
    "tokens": ["token source", "401 unauthorized"],
    "typed-models": ["type hints for results", "pydantic"],
    "types-and-lists": ["Book! ID", "what does ! mean"],
    "variables": ["variables", "pass a python list as variable"],
}  # fmt: skip
QUESTIONS = {question: page for page, questions in PAGES.items() for question in questions}
SEARCH_IS_OVER = re.compile("Search finished|did not match any")


@pytest.fixture(scope="module")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build the site under a path prefix, and serve it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html"]
    subprocess.run([*command, str(root / "docs"), str(folder / "gqlnb")], check=True, timeout=300)
    with serve_files(folder) as url:
        yield f"{url}/gqlnb"


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
