"""The page a browser gets at the endpoint, used as a person uses it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from gqlnb.engine.schema import Schema
from gqlnb.server.thread import Server, serve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
SDL = """
scalar Anything
type Query {
  hello: String
  same(value: Anything): Anything
}
"""
EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script>"


@pytest.fixture
def server() -> Iterator[Server]:
    """Serve a schema on a free port."""
    query = {
        "hello": lambda *_: EVIL,
        "same": lambda _root, args, _context: args["value"],
    }
    with serve(Schema(SDL, {"Query": query}), port=0) as made:
        yield made


def ask(page: Page, query: str, variables: str = "") -> str:
    """Type a query, run it with the keyboard, and return the answer shown."""
    page.fill("#query", query)
    page.fill("#variables", variables)
    page.press("#query", "Control+Enter")
    # Not wait_for_function: it evaluates text in the page, which the page's policy forbids.
    expect(page.locator("#status")).to_have_text(re.compile("^HTTP "))
    return page.inner_text("#answer")


def test_a_query_is_run_by_a_click(server: Server, page: Page) -> None:
    """The page as it opens asks for the type's name, and shows status and answer."""
    page.goto(server.url)
    page.click("#run")
    expect(page.locator("#status")).to_have_text("HTTP 200")
    assert page.inner_text("#answer") == '{\n  "data": {\n    "__typename": "Query"\n  }\n}'


def test_an_answer_is_text_and_never_markup(server: Server, page: Page) -> None:
    """What a resolver returns is shown, not run."""
    page.goto(server.url)
    assert EVIL in ask(page, "{ hello }")
    assert page.locator("#answer *").count() == 0


def test_numbers_are_shown_and_sent_exactly(server: Server, page: Page) -> None:
    """JavaScript would round these on the way; the page does not let it."""
    page.goto(server.url)
    query = "query ($value: Anything) { same(value: $value) }"
    shown = ask(page, query, '{"value": [18446744073709551617, {}, [], "a,b:{\\"[", 1.50]}')
    assert "18446744073709551617" in shown
    assert '"a,b:{\\"["' in shown
    assert "{},\n" in shown


def test_wrong_variables_are_not_sent(server: Server, page: Page) -> None:
    """Text that is no JSON is explained beside the button."""
    page.goto(server.url)
    page.fill("#variables", "{value: 1}")
    page.click("#run")
    assert page.inner_text("#status").startswith("The variables are not JSON")


def test_a_server_that_is_gone_is_said(server: Server, page: Page) -> None:
    """A request that fails is said beside the button, which can be pressed again."""
    page.goto(server.url)
    # As fetch fails when nothing answers, without the browser's own line in the console.
    page.evaluate("() => { window.fetch = async () => { throw new TypeError('Failed'); }; }")
    page.click("#run")
    expect(page.locator("#status")).to_contain_text("Is it still running?")
    expect(page.locator("#run")).to_be_enabled()
