"""Values of GraphQL cells in JupyterLab: tables, errors, and what the extension adds to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.acting import photograph, save, theme

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from tests.browser.conftest import Lab

pytestmark = pytest.mark.browser

SETUP = """%load_ext gqlnb
import gqlnb
sdl = '''
type Query { repos: [Repo] people: [Repo] one: Repo none: [Repo] }
type Repo { name: String share: Float langs: [Lang] }
type Lang { size: Int }'''
rows = [{"name": f"r{n}", "share": n / 3, "langs": [{"size": n}] * n} for n in range(4)]
root = {"repos": rows, "people": rows[:1], "one": rows[2]}
schema = gqlnb.Schema(sdl, {"Query": {name: lambda *_, v=v: v for name, v in root.items()}})"""
LISTS = "%%graphql schema\n{ repos { name share langs { size } } people { name } }"
OBJECT = "%%graphql schema\n{ one { name share } none { name } }"
SERVER = "server = gqlnb.serve(schema, port=0)\nserver"
WRONG = f"%%graphql schema\n{{ repos {{ {'name ' * 30} bad {'name ' * 30} }} }}"


@pytest.fixture
def values(show: Callable[..., Any]) -> Any:
    """Open a notebook with a result of two lists, one object, and a server; run it."""
    return show(SETUP, LISTS, OBJECT, SERVER)


def read_saved(notebook: Any, lab: Any) -> str:
    """Save the notebook and return the text of its file."""
    save(notebook.page)
    saved = notebook.page.evaluate("window.jupyterapp.shell.currentWidget.context.path")
    return (lab.folder / saved).read_text()


def test_each_list_has_a_table_and_nested_lists_unfold(values: Any) -> None:
    """With its name and number of rows; floats have the same decimals."""
    output = values.outputs(1)
    expect(output.locator("b")).to_have_text(["repos", "people"])
    expect(output).to_contain_text('4 rows; nested lists: .frames["repos.langs"]')
    expect(output).to_contain_text("0.333333")
    expect(output).to_contain_text("1.000000")
    unfolding = output.locator("details").nth(2)
    expect(unfolding.locator("table")).to_be_hidden()
    unfolding.get_by_text("3 items").click()
    expect(unfolding.locator("td")).to_have_text(["3", "3", "3"])
    for width in (600, 1000, 1600):
        values.page.set_viewport_size({"width": width, "height": 1600})
        for name in ("Light", "Dark"):
            theme(values.page, name)
            photograph(values.page, f"values-{width}-{name}")
    theme(values.page, "Light")


def test_one_object_has_a_table_of_two_columns(values: Any) -> None:
    """Null is told from a list without rows."""
    rows = values.outputs(2).locator("tr")
    expect(rows).to_have_text(["one.namer2", "one.share0.666667", "nonenull"])


def test_a_server_on_a_chosen_port_shows_its_address(values: Any, lab: Any) -> None:
    """As a link in the page; the saved notebook is the same on every run."""
    link = values.outputs(3).get_by_role("link")
    address = link.inner_text()
    assert address.startswith("http://127.0.0.1:")
    assert link.get_attribute("href") == address
    saved = read_saved(values, lab)
    assert "Server(port=0)" in saved
    assert address not in saved


def test_a_quoted_line_fits_a_window_of_600_pixels(show: Callable[..., Any]) -> None:
    """No line wraps, so that the caret is below its column."""
    notebook = show(SETUP, WRONG)
    notebook.page.set_viewport_size({"width": 600, "height": 1600})
    notebook.page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
    error = notebook.outputs(1).locator("pre")
    expect(error).to_contain_text("Repo has: name, share, langs.")
    lines = error.inner_text().rstrip().splitlines()
    caret = next(line for line in lines if line.strip() == "^")
    quoted = lines[lines.index(caret) - 1]
    assert quoted[caret.index("^") :].startswith("bad")
    step = "e => parseFloat(getComputedStyle(e).lineHeight)"
    expect(error).to_be_visible()
    notebook.page.wait_for_function("innerWidth === 600")
    assert round(error.bounding_box()["height"] / error.evaluate(step)) == len(lines)
    photograph(notebook.page, "error-600")


def test_the_fields_of_a_type_scroll_and_are_filtered(show: Any, axe: Any) -> None:
    """All of them are there; the filter is in the page alone."""
    notebook = show("%load_ext gqlnb", "%graphql schema Repository -c demo")
    output = notebook.outputs(1)
    box = output.locator(".gqlnb-box")
    row = box.locator(":scope > div", has_text="stargazerCount")
    expect(row).to_have_count(1)
    assert box.evaluate("it => it.scrollHeight > it.clientHeight && it.clientHeight < 500")
    output.get_by_label("Filter Fields").fill("stargazer count")
    expect(row).to_be_in_viewport()
    expect(box.locator(":scope > div").first).to_be_hidden()
    for theme_name in ("Dark", "Light"):
        theme(notebook.page, theme_name)
        axe(notebook.page, ".jp-OutputArea-executeResult")
    photograph(notebook.page, "schema-filter")


QUERY = """%%graphql demo
{ search(query: "stars:>100000 sort:stars", type: REPOSITORY, first: 40) {
    nodes { ... on Repository { name stargazerCount } } } }"""
STARS = "import gqlnb\ngqlnb.stars('>20000', limit=30)"
OPEN, CLOSE = "Open as grid", "Close the grid"


def test_a_result_is_opened_as_a_grid_from_its_own_output(
    open_notebook: Any, write_notebook: Any, lab: Lab, axe: Any
) -> None:
    """In place of the table, which comes back; the saved notebook is the same as before."""
    name = write_notebook(["%load_ext gqlnb", QUERY, "%graphql connections", STARS])
    notebook = open_notebook(name)
    notebook.run_all()
    page, output = notebook.page, notebook.outputs(1)
    expect(output.get_by_role("button", name=OPEN)).to_be_visible()
    expect(notebook.outputs(2).get_by_role("button", name=OPEN)).to_have_count(0)  # not a result
    save(page)
    before = (lab.folder / name).read_bytes()
    output.get_by_role("button", name=OPEN).click()
    grid = output.get_by_role("grid")
    expect(grid).to_have_attribute("aria-rowcount", "41")
    expect(output.locator("table")).to_be_hidden()
    grid.get_by_role("columnheader", name="name").click()
    first = grid.locator(".gqlnb-row[aria-rowindex='2']")
    expect(first).to_contain_text("996.ICU")
    for theme_name in ("Dark", "Light"):
        theme(page, theme_name)
        axe(page, ".gqlnb-grid-open")
    photograph(page, "open-as-grid")
    output.get_by_role("button", name=CLOSE).click()
    expect(output.locator("table")).to_be_visible()
    expect(grid).to_be_hidden()
    output.get_by_role("button", name=OPEN).click()
    stars = notebook.outputs(3)  # the last value, after another grid was opened
    stars.get_by_role("button", name=OPEN).click()
    expect(stars).to_contain_text("30 of 1,067 rows; limit=None fetches all")
    notebook.cell(1)
    expect(first).to_contain_text("996.ICU")  # still sorted
    save(page)
    assert (lab.folder / name).read_bytes() == before


def test_a_result_above_an_error_is_opened_too(show: Callable[..., Any]) -> None:
    """The kernel drops what waits when a cell fails, also the question about the result."""
    notebook = show(SETUP, LISTS, "1 / 0")
    expect(notebook.outputs(1).get_by_role("button", name=OPEN)).to_be_visible()


def test_a_result_that_the_kernel_lost_is_not_opened(
    open_notebook: Any, write_notebook: Any, page: Page
) -> None:
    """After a restart, when another value may have its number, and without a kernel."""
    name = write_notebook(["%load_ext gqlnb", "import gqlnb", QUERY])
    notebook = open_notebook(name)
    notebook.run_all()
    button = notebook.outputs(2).get_by_role("button", name=OPEN)
    expect(button).to_be_visible()
    kernel = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"
    page.evaluate(f"{kernel}.restart()")
    notebook.wait_idle()
    other = "import gqlnb; 1; gqlnb.Result({'a': [{'b': 2}]})"
    run = f"code => {kernel}.requestExecute({{ code }}).done"
    for code in ("import gqlnb", "1", other):  # the third is number 3, as the result was
        page.evaluate(run, code)
    button.click()
    lost = notebook.outputs(2).get_by_text("The kernel does not have this result any more.")
    expect(lost).to_be_visible()
    expect(notebook.outputs(2).locator("table")).to_be_visible()
    page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    expect(page.get_by_text("No Kernel").first).to_be_visible()
    button.click()
    expect(notebook.outputs(2).get_by_text("There is no kernel.")).to_be_visible()


BROKEN_WORDS = """text => {
    const range = document.createRange();
    const words = [];
    for (const { index, 0: word } of text.textContent.matchAll(/\\S+/g)) {
        range.setStart(text.firstChild, index);
        range.setEnd(text.firstChild, index + word.length);
        if (range.getClientRects().length > 1) words.push(word);
    }
    return words;
}"""


def test_the_lines_of_our_errors_are_broken_between_words(show: Callable[..., Any]) -> None:
    """JupyterLab breaks them anywhere, as it goes on to do with what others write."""
    long = "x" * 300  # longer than a line, so that it is broken in any case
    words = f"'{'some words ' * 40}' + '{long}'"
    notebook = show(
        f"import sys\n_ = sys.stderr.write({words})",
        f"try:\n    raise ValueError({words})\nexcept ValueError:\n"
        "    get_ipython().showtraceback()",
        f"import gqlnb\nraise gqlnb.QueryError({words})",  # the last: it ends the run
    )
    for cell, breaking in enumerate(["break-all", "break-all", "normal"]):
        text = notebook.outputs(cell).locator("pre")
        expect(text).to_have_css("word-break", breaking)
        assert text.evaluate("pre => pre.scrollWidth <= pre.clientWidth")
    assert notebook.outputs(2).locator("pre").evaluate(BROKEN_WORDS) == [long]


IS_BESIDE = """([one, other, wanted]) =>
    (other.getBoundingClientRect().x > one.getBoundingClientRect().right) === wanted"""


def test_a_description_is_below_its_signature_in_a_narrow_window(show: Callable[..., Any]) -> None:
    """Beside it in a wide one; no part of a page of a schema is out of sight."""
    sdl = 'type Query { "What it is." aFieldWithAName(argument: String, another: String): Int }'
    notebook = show(SETUP, f"schema = gqlnb.Schema({sdl!r})", "%graphql schema schema")
    code = notebook.outputs(2).locator("code").nth(1)
    about = notebook.outputs(2).get_by_text("What it is.")
    for width, is_beside in ((600, False), (1600, True)):
        notebook.page.set_viewport_size({"width": width, "height": 1600})
        elements = [code.element_handle(), about.element_handle(), is_beside]
        notebook.page.wait_for_function(IS_BESIDE, arg=elements)
        expect(about).to_be_in_viewport(ratio=1)


NARROW = """%load_ext gqlnb
import gqlnb
sdl = "type Query { rows: [Row!]! } type Row { word: String! size: Int! }"
rows = [{"word": "b" * 200, "size": size} for size in (8, 1)]
schema = gqlnb.Schema(sdl, {"Query": {"rows": lambda *_: rows}})"""


def test_bars_and_long_words_fit_a_narrow_page(show: Any) -> None:
    """At 600 pixels a word of 200 characters breaks, and the longest bar is whole beside it."""
    notebook = show(NARROW, "%%graphql schema\n{ rows { word size } }")
    page = notebook.page
    page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
    page.set_viewport_size({"width": 600, "height": 900})
    table = notebook.outputs(1).locator("table")
    expect(table).to_contain_text("█" * 20)
    room = table.evaluate("e => e.closest('.jp-OutputArea-output').clientWidth - e.offsetWidth")
    assert room >= 0
