"""Hostile names and values in all views: nothing runs, and the notebook keeps its layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.acting import expect_saved_html, photograph, save, theme

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.browser.conftest import Lab, Notebook

pytestmark = pytest.mark.browser

# A request to that host would fail the test, by the fixture `page`.
MARKUP = (
    '"><img src="https://evil.invalid/" onerror="window.hacked = 1">'
    "<script>window.hacked = 1</script><style>* { display: none }</style>"
)
SETUP = (
    f"markup = {MARKUP!r}\n"
    + r"""
import gqlnb, pandas as pd

texts = [
    markup,
    "[link](javascript:window.hacked=1) ![](https://evil.invalid/)",
    "javascript:window.hacked=1",
    r"$\href{https://evil.invalid/}{x}$ $$\sum_i x$$ \(y^2\)",
    "\u202egnp.exe\u2066 \u200f\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "before\0after\x1b[31m\r\n\n\n\u2028line",
    "wide " * 200_000,
    "W" * 1_000_000,
    "\u0e01\u0e49\u0e49\u0e49\u0e49\u0e49" + "e\u0301\u0301\u0301" * 50,
]
number = 10**39 + 7
names = [f"c{i}" for i in range(76)]
schema = gqlnb.Schema(
    "scalar Any type Query { rows: [Row] } type Row { number: Any any: Any list: [Any] text: String"
    + " ".join(f" {name}: String" for name in names) + " }"
)
rows = [
    {"number": number, "any": {text[:200]: [text]}, "list": [number, text], "text": text,
     **dict.fromkeys(names, text[:2000])}
    for text in texts
]
fields = " ".join(["number any list text", *names])
result = schema.execute("{ rows { " + fields + " } }", root={"rows": rows})
frame = pd.DataFrame({text[:100_000]: texts for text in texts})

plain = "\n\n".join(texts[:6]).translate({0: None, 27: None, 13: None})
docs = '\"\"\"' + plain + "w" * 10_000 + '\"\"\"'
types = gqlnb.Schema(
    docs + " type Query { " + docs + " hostile(" + docs + ' text: String = "$x$ <b>"): Hostile '
    '@deprecated(reason: "<img src=https://evil.invalid/ onerror=window.hacked=1> $x$") } '
    + docs + " enum Hostile { " + docs + " A }"
)

stars = gqlnb.Schema('''
    type Query { search(query: String!, type: Kind!, first: Int!, after: String): Hits! }
    enum Kind { REPOSITORY }
    type Hits { repositoryCount: Int! pageInfo: Info! edges: [Edge!]! }
    type Info { hasNextPage: Boolean! endCursor: String }
    type Edge { node: Repository }
    type Repository { name: String! owner: Owner! stargazers: Stars! }
    type Owner { login: String! }
    type Stars { totalCount: Int! }
''')

@stars.resolver("Query.search")
def search(root, args, context):
    count = {"totalCount": 2000}
    nodes = [{"name": text, "owner": {"login": text}, "stargazers": count} for text in texts]
    info = {"hasNextPage": False, "endCursor": None}
    return {"repositoryCount": 9, "pageInfo": info, "edges": [{"node": node} for node in nodes]}
"""
)
VIEWS = {  # and what shows that a view has its data
    "result": "table",
    "gqlnb.ResultView(result)": ".gqlnb-grid [role=gridcell]",
    "gqlnb.ResultView(frame)": ".gqlnb-grid [role=gridcell]",
    "gqlnb.SchemaView(types)": ".gqlnb-schema",
    "gqlnb.SchemaView(types, 'Hostile')": ".gqlnb-schema",
    "gqlnb.StarSearch('>1000', limit=9, client=stars)": ".gqlnb-stars [role=gridcell]",
}
# Outputs that are wider than their cell, or that make the notebook scroll sideways; typeset text.
WRONG = r"""() => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    const scroller = notebook.node.querySelector(".jp-WindowedPanel-outer");
    const wrong = [];
    if (scroller.scrollWidth > scroller.clientWidth) wrong.push("the notebook scrolls sideways");
    for (const [at, { node }] of notebook.widgets.entries()) {
        const edge = node.getBoundingClientRect();
        for (const output of node.querySelectorAll(".jp-OutputArea-output, .gqlnb-widget")) {
            const { left, right, height } = output.getBoundingClientRect();
            const out = left < edge.left || right > edge.right + 1;
            if (output.checkVisibility() && out) wrong.push(`${at}: from ${left} to ${right}`);
            if (height > 3000) wrong.push(`${at}: ${height} pixels high`);
        }
        for (const body of node.querySelectorAll(".gqlnb-schema .gqlnb-body"))
            if (body.scrollWidth > body.clientWidth) wrong.push(`${at}: scrolls sideways`);
        for (const row of node.querySelectorAll(".gqlnb-grid [role=row]"))
            if (row.getBoundingClientRect().height > 100) wrong.push(`${at}: a high row`);
        for (const part of node.querySelectorAll("mjx-container, .MathJax, img, script"))
            if (part.closest(".jp-OutputArea-output")) wrong.push(`${at}: ${part.outerHTML}`);
        for (const { href } of node.querySelectorAll(".jp-OutputArea-output a[href]"))
            if (/^javascript:|evil/.test(href)) wrong.push(`${at}: ${href}`);
    }
    return wrong;
}"""


def expect_harmless(notebook: Notebook, name: str, shown: Sequence[str]) -> None:
    """Check the page at every output, one after the other, once it is shown."""
    wrong = []
    for at, selector in enumerate(shown, 1):
        expect(notebook.cell(at).locator(selector).first).to_be_visible()
        wrong += notebook.page.evaluate(WRONG)
        photograph(notebook.page, f"hostile-{name}-{at}")
    assert wrong == []
    assert notebook.page.evaluate("window.hacked") is None


def test_hostile_data_are_text_and_keep_the_layout(
    open_notebook: Callable[[str], Notebook],
    write_notebook: Callable[[list[str]], str],
    lab: Lab,
) -> None:
    """In live views, in both themes, and in the saved notebook, whose file stays small."""
    name = write_notebook([SETUP, *VIEWS])
    notebook = open_notebook(name)
    notebook.run_all()
    try:
        for each in ("Dark", "Light"):
            theme(notebook.page, each)
            expect_harmless(notebook, f"live-{each}", [*VIEWS.values()])
    finally:
        theme(notebook.page, "Light")
    expect_saved_html(notebook.page, len(VIEWS), "9 of the 9")
    save(notebook.page)
    assert (lab.folder / name).stat().st_size < 1_000_000
    notebook.page.evaluate("window.jupyterapp.serviceManager.sessions.shutdownAll()")
    notebook = open_notebook(name)
    expect_harmless(notebook, "saved", [".gqlnb"] * len(VIEWS))
