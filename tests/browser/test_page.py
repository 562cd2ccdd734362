"""The page a browser gets at the endpoint: GraphiQL, and our own where that was not built."""

from __future__ import annotations

import re
import time
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from gqlnb.engine.schema import Schema
from gqlnb.server import page as pages_module
from gqlnb.server.background_server import Server, serve
from tests.browser.acting import fill_editor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
SDL = """
scalar Anything
type Query {
  "EVIL ![p](http://192.0.2.1/p.png)"
  hello: String
  same(value: Anything): Anything
}
type Subscription { ticks(from: Int!): Int }
"""
EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script>"


@pytest.fixture
def waiting() -> Iterator[Event]:
    """Return what a subscription waits for behind its last event; it is let go at the end."""
    event = Event()
    yield event
    event.set()


@pytest.fixture
def schema(waiting: Event) -> Schema:
    """Return a schema whose answers are hostile."""

    def ticks(_root: object, args: dict[str, int], _context: object) -> Iterator[int]:
        yield from range(args["from"], 0, -1)
        waiting.wait(60)

    query = {
        "hello": lambda *_: EVIL,
        "same": lambda _root, args, _context: args["value"],
    }
    sdl = SDL.replace("EVIL", EVIL)
    return Schema(sdl, {"Query": query, "Subscription": {"ticks": ticks}})


@pytest.fixture
def server(schema: Schema, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Serve the schema on a free port, without GraphiQL."""
    monkeypatch.setattr(pages_module, "load_bundle", lambda: None)
    pages_module.build_pages.cache_clear()
    with serve(schema, port=0) as made:
        yield made
    pages_module.build_pages.cache_clear()


@pytest.fixture
def graphiql(schema: Schema, page: Page, bundled: None) -> Page:
    """Serve the schema with GraphiQL, and open its page."""
    del bundled
    pages_module.build_pages.cache_clear()
    page.goto(serve(schema, port=0).url)  # closed with the test, as all servers are
    begun = time.monotonic()
    expect(page.locator(".graphiql-query-editor .view-line").first).to_be_visible()
    print(f"shown after {time.monotonic() - begun:.2f} s")  # noqa: T201 - by -s
    return page


def write(page: Page, text: str, editor: str = ".graphiql-query-editor") -> None:
    """Replace what stands in an editor of GraphiQL."""
    fill_editor(page.locator(f"{editor} .monaco-editor").first, text)


def ask(page: Page, query: str, variables: str = "") -> str:
    """Type a query, run it with the keyboard, and return the answer shown."""
    page.fill("#query", query)
    page.fill("#variables", variables)
    page.press("#query", "Control+Enter")
    # Not wait_for_function: it evaluates text in the page, which the page's policy forbids.
    expect(page.locator("#status")).to_have_text(re.compile("^HTTP "))
    return page.inner_text("#answer")


def test_a_query_is_run_by_a_click(server: Server, page: Page) -> None:
    """The default query asks for the type's name; status and response are shown."""
    page.goto(server.url)
    page.click("#run")
    expect(page.locator("#status")).to_have_text("HTTP 200")
    assert page.inner_text("#answer") == '{\n  "data": {\n    "__typename": "Query"\n  }\n}'


def test_a_response_is_shown_as_text(server: Server, page: Page) -> None:
    """Markup returned by a resolver is not rendered."""
    page.goto(server.url)
    assert EVIL in ask(page, "{ hello }")
    assert page.locator("#answer *").count() == 0


def test_numbers_are_shown_and_sent_exactly(server: Server, page: Page) -> None:
    """JavaScript numbers would round them."""
    page.goto(server.url)
    query = "query ($value: Anything) { same(value: $value) }"
    shown = ask(page, query, '{"value": [18446744073709551617, {}, [], "a,b:{\\"[", 1.50]}')
    assert "18446744073709551617" in shown
    assert '"a,b:{\\"["' in shown
    assert "{},\n" in shown


def test_invalid_variables_are_not_sent(server: Server, page: Page) -> None:
    """The JSON error is shown beside the button."""
    page.goto(server.url)
    page.fill("#variables", "{value: 1}")
    page.click("#run")
    assert page.inner_text("#status").startswith("The variables are not JSON")


def test_a_stopped_server_is_reported(server: Server, page: Page) -> None:
    """The error is shown beside the button, which can be pressed again."""
    page.goto(server.url)
    # As fetch fails when nothing answers, without the browser's own line in the console.
    page.evaluate("() => { window.fetch = async () => { throw new TypeError('Failed'); }; }")
    page.click("#run")
    expect(page.locator("#status")).to_contain_text("Is it still running?")
    expect(page.locator("#run")).to_be_enabled()


# -- GraphiQL. What its policy forbids would be an error in the page, which fails the test.


def test_graphiql_runs_a_query(graphiql: Page, axe: Callable[[Page, Any], None]) -> None:
    """The default query, by a click, and with completion from the schema."""
    answer = graphiql.locator(".result-window .view-lines")
    graphiql.click(".graphiql-execute-button")
    expect(answer).to_contain_text('"__typename": "Query"')
    # A tab of GraphiQL holds its own closing button, which it should not (nested-interactive).
    axe(graphiql, {"include": [["body"]], "exclude": [[".graphiql-tab"]]})
    write(graphiql, "{ hel")
    graphiql.keyboard.press("Control+Space")
    expect(graphiql.locator(".suggest-widget")).to_contain_text("hello")
    graphiql.keyboard.press("Enter")
    graphiql.keyboard.type(" }")
    graphiql.keyboard.press("Control+Enter")
    expect(answer).to_contain_text("<script>alert(2)")
    assert graphiql.locator("img").count() == 0
    assert graphiql.evaluate("JSON.stringify({...localStorage})") == "{}"


@pytest.mark.parametrize("path", ["/api/v1/gql", "/"])
def test_graphiql_asks_at_another_path(
    schema: Schema, page: Page, bundled: None, path: str
) -> None:
    """The page finds its files and its endpoint by their place relative to it."""
    del bundled
    pages_module.build_pages.cache_clear()
    page.goto(serve(schema, port=0, path=path).url)
    page.click(".graphiql-execute-button")
    expect(page.locator(".result-window .view-lines")).to_contain_text('"__typename": "Query"')


def test_graphiql_shows_descriptions_as_text(graphiql: Page) -> None:
    """Markup in the schema is not rendered."""
    graphiql.get_by_role("button", name="Show Documentation Explorer").click()
    docs = graphiql.locator(".graphiql-doc-explorer")
    docs.get_by_role("link", name="Query", exact=True).click()
    expect(docs).to_contain_text("<img src=x onerror=alert(1)>")
    expect(docs).to_contain_text("![p](http://192.0.2.1/p.png)")
    assert docs.locator("img, script").count() == 0


def test_graphiql_keeps_numbers_exact(graphiql: Page) -> None:
    """In variables and in responses."""
    write(graphiql, "query ($value: Anything) { same(value: $value) }")
    write(graphiql, '{"value": [18446744073709551617, 1.50]}', ".graphiql-editor-tool")
    graphiql.click(".graphiql-execute-button")
    answer = graphiql.locator(".result-window .view-lines")
    expect(answer).to_contain_text("18446744073709551617")
    expect(answer).to_contain_text("1.5")


def test_graphiql_subscribes_and_stops(graphiql: Page) -> None:
    """Events are shown; after a stop the next operation runs; a stopped server is reported."""
    answer, button = (
        graphiql.locator(".result-window"),
        graphiql.locator(".graphiql-execute-button"),
    )
    write(graphiql, "subscription { ticks(from: 3) }")
    button.click()
    expect(answer).to_contain_text('"ticks": 1')
    expect(button).to_have_attribute("aria-label", re.compile("Stop"))
    button.click()
    expect(button).to_have_attribute("aria-label", re.compile("Execute"))
    write(graphiql, "{ __typename }")
    button.click()
    expect(answer).to_contain_text('"Query"')
    graphiql.evaluate("() => { window.fetch = async () => { throw new TypeError('Failed'); }; }")
    button.click()
    expect(answer).to_contain_text("Is it still running?")


def test_the_format_button_formats_query_and_variables(graphiql: Page) -> None:
    """Comments and long numbers are preserved."""
    write(graphiql, "query($value:Anything){same(value:$value)} # why")
    write(graphiql, '{"value":[18446744073709551617,{"a":1}]} // kept', ".graphiql-editor-tool")
    graphiql.get_by_role("button", name="Prettify").click()
    wanted = {
        ".graphiql-query-editor": "query ($value: Anything) {|  same(value: $value)|} # why|",
        ".graphiql-editor-tool": """{|  "value": [|    18446744073709551617,|    {|      "a": 1|"""
        "    }|  ]|} // kept",
    }
    for editor, text in wanted.items():
        lines = text.split("|")
        shown = graphiql.locator(f"{editor} .monaco-editor").first.locator(".view-line")
        expect(shown).to_have_count(len(lines))
        # They are placed, not in order; a space there is one that does not break.
        assert {line.replace("\xa0", " ") for line in shown.all_inner_texts()} == set(lines)
