"""Front ends without a browser: programs that run or convert notebooks, and terminals."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING

import nbformat
import pexpect
import pytest

from tests.frontends.conftest import CELLS, write_notebook

if TYPE_CHECKING:
    from pathlib import Path

    from tests.frontends.conftest import FrontEnds

QUERY = '{ search(query: "stars:>300000", type: REPOSITORY, first: 3) { repositoryCount } }'
SECONDS = 60
PROMPT = r"In \[(?:\x1b\S*?m)?{}"
# nbconvert has no option for a Chromium that playwright did not download.
CONVERT_TO_PDF = """
import sys
from nbconvert.nbconvertapp import main
from playwright.async_api import BrowserType
path, launch = sys.argv.pop(1), BrowserType.launch
BrowserType.launch = lambda *place, **options: launch(*place, executable_path=path, **options)
main()
"""
# Runs cells, and asks the widgets of the last one as their views do.
ASK_KERNEL = """
import json, sys
from subprocess import DEVNULL
from jupyter_client.manager import start_new_kernel
quiet = {"stdout": DEVNULL, "stderr": DEVNULL}
manager, client = start_new_kernel(kernel_name="xpython", startup_timeout=60, **quiet)
shown, comms = [], []
def run(code):
    def note(message):
        content = message["content"]
        if message["msg_type"] == "comm_open":
            comms.append((content["data"]["state"].get("_anywidget_id"), content["comm_id"]))
        elif message["msg_type"] == "error":
            shown.append("\\n".join(content["traceback"]))
        elif "data" in content:
            shown.append(content["data"].get("text/plain", ""))
    client.execute_interactive(code, output_hook=note, timeout=60)
try:
    for code in json.loads(sys.argv[1]):
        run(code)
    for name, identifier in [it for it in comms if it[0]]:
        data = {"method": "custom", "content": {"kind": "hello"}}
        message = client.session.msg("comm_msg", {"comm_id": identifier, "data": data})
        client.shell_channel.send(message)
        while (answer := client.get_iopub_msg(timeout=60))["msg_type"] != "comm_msg":
            pass
        shown.append(name.rpartition(".")[2] + " " + answer["content"]["data"]["content"]["kind"])
    cell = "%%graphql here\\n{ hel"
    shown.append(client.complete(cell, len(cell), reply=True, timeout=60)["content"]["matches"])
    print(json.dumps(shown))
finally:  # also after an answer that does not come
    client.stop_channels()
    manager.shutdown_kernel(now=True)
"""
READ_PDF = """
import sys
from pypdf import PdfReader
print(*(page.extract_text() for page in PdfReader(sys.argv[1]).pages))
"""


def read_html(path: Path) -> list[str]:
    """Return the HTML of the outputs of each cell that has some."""
    outputs = [cell.outputs for cell in nbformat.read(path, 4).cells]
    return ["".join(it.data.get("text/html", "") for it in each) for each in outputs if each]


def check_outputs(path: Path) -> None:
    """Check the outputs of a notebook that was run without a person: HTML, and no view."""
    table, stars, schema, explorer = read_html(path)
    assert "build-your-own-x" in table
    assert "run this notebook to search" in stars
    assert "hello" in schema
    assert "explore" in explorer
    assert "widget-view" not in path.read_text()
    assert "widgets" not in nbformat.read(path, 4).metadata


@pytest.mark.front_end(
    "nbclient", "jupyter execute, nbclient", cells="yes", widgets="as HTML", saved="yes"
)
def test_jupyter_execute(front_ends, notebook):
    """`jupyter execute` saves tables and the HTML of widgets, and nothing random."""
    front_ends.run("jupyter", "execute", "--inplace", str(notebook), cwd=notebook.parent)
    check_outputs(notebook)


@pytest.mark.front_end("papermill", cells="yes", widgets="as HTML", saved="yes")
def test_papermill(front_ends, notebook):
    """Papermill writes the same outputs, and passes parameters to the variables of a query."""
    made = notebook.with_name("made.ipynb")
    front_ends.run("papermill", str(notebook), str(made), cwd=notebook.parent)
    check_outputs(made)
    query = (
        CELLS[1]
        .replace("first: 3", "first: $rows")
        .replace("{ search", "query ($rows: Int) { search")
    )
    source = write_notebook(notebook.with_name("source.ipynb"), (CELLS[0], query))
    arguments = ("-p", "rows", "2", "--no-progress-bar")
    front_ends.run("papermill", *arguments, str(source), str(made), cwd=notebook.parent)
    (table,) = read_html(made)
    assert "awesome" in table
    assert "public-apis" not in table


@pytest.mark.front_end(
    "jupytext", "Python file, Jupytext", cells="yes", widgets="as HTML", saved="yes"
)
def test_jupytext(front_ends, notebook):
    """With the option of the how-to, a notebook in a Python file is Python, and runs from it."""
    script, made = notebook.with_suffix(".py"), notebook.with_name("made.ipynb")
    option = ("--opt", "custom_cell_magics=graphql")
    front_ends.run("jupytext", "--to", "py:percent", *option, str(notebook), cwd=notebook.parent)
    ast.parse(script.read_text("utf-8"))
    front_ends.run("jupytext", "--execute", "--output", str(made), str(script), cwd=notebook.parent)
    check_outputs(made)


@pytest.mark.front_end(
    "nbconvert", "HTML page, nbconvert", cells="as saved", widgets="as HTML", saved="yes"
)
def test_nbconvert_html(front_ends, notebook):
    """A page of a notebook has its tables and the HTML of its widgets, in each theme."""
    arguments = ("nbconvert", "--to", "html", "--execute", "--output", "page")
    for theme in ("light", "dark"):
        front_ends.run(
            "jupyter", *arguments, f"--theme={theme}", str(notebook), cwd=notebook.parent
        )
        text = notebook.with_name("page.html").read_text("utf-8")
        assert "build-your-own-x" in text
        assert "run this notebook to search" in text
        assert "application/vnd.jupyter.widget-view+json" not in text


@pytest.mark.front_end(
    "nbconvert", "PDF, nbconvert --to webpdf,", cells="as saved", widgets="as HTML", saved="yes"
)
def test_nbconvert_webpdf(front_ends, notebook, chromium):
    """Chromium prints the tables and the HTML of widgets."""
    arguments = ("--to=webpdf", "--execute", "--disable-chromium-sandbox", "--output=page")
    front_ends.run(
        *("python", "-c", CONVERT_TO_PDF, chromium, *arguments, str(notebook)), cwd=notebook.parent
    )
    text = front_ends.run("python", "-c", READ_PDF, "page.pdf", cwd=notebook.parent)
    for words in ("build-your-own-x", "run this notebook to search", "greeting, to check"):
        assert words in text


@pytest.mark.front_end(
    "ipython", "Terminal, IPython", cells="yes", completion="yes", widgets="as text"
)
def test_ipython(front_ends, tmp_path):
    """Cells show tables as text, mistakes with a caret, and widgets as text."""
    options = ("--simple-prompt", "--no-banner", "--no-confirm-exit", "--colors=NoColor")
    check_terminal(start_terminal(front_ends, "ipython", *options, folder=tmp_path))
    check_tab(start_terminal(front_ends, "ipython", *options[1:], folder=tmp_path))


@pytest.mark.front_end(
    "jupyter-console", "jupyter console", cells="yes", completion="yes", widgets="as text"
)
def test_jupyter_console(front_ends, tmp_path):
    """The terminal in front of a kernel shows tables as text, and widgets as text."""
    options = ("console", "--simple-prompt", "--no-confirm-exit")
    check_terminal(start_terminal(front_ends, "jupyter", *options, folder=tmp_path))
    options = ("console", "--no-confirm-exit")
    check_tab(start_terminal(front_ends, "jupyter", *options, folder=tmp_path))


@pytest.mark.front_end("xeus-python", cells="yes", completion="yes", widgets="yes", explorer="yes")
def test_xeus_python(front_ends, tmp_path):
    """A kernel with comms of its own: cells, widgets that answer their views, and controls."""
    cells = (
        *CELLS,
        "gqlnb.ResultView(gqlnb.connect('demo').execute('{ viewer { login } }'))",
        "n = 2",
        f"%%graphql demo --interact n\nquery ($n: Int) {QUERY.replace('first: 3', 'first: $n')}",
    )
    printed = front_ends.run("python", "-c", ASK_KERNEL, json.dumps(cells), cwd=tmp_path)
    shown = json.loads(next(line for line in printed.splitlines() if line.startswith("[")))
    text = "\n".join(shown[:-1])
    assert "build-your-own-x" in text
    assert "$n = 2" in text
    assert "Error" not in text
    assert shown[-5:] == [
        *(f"{name} state" for name in ("StarSearch", "SchemaView", "Explorer", "ResultView")),
        ["hello"],
    ]


def start_terminal(
    front_ends: FrontEnds, name: str, *arguments: str, folder: Path
) -> pexpect.spawn[str]:
    """Start a program in a terminal, and wait for its prompt."""
    env = front_ends.env | {"TERM": "xterm", "NO_COLOR": "1", "PROMPT_TOOLKIT_NO_CPR": "1"}
    child = pexpect.spawn(
        front_ends.find(name),
        list(arguments),
        cwd=str(folder),
        env=env,
        encoding="utf-8",
        timeout=SECONDS,
        dimensions=(50, 120),
    )
    child.expect(PROMPT.format(1))
    return child


def check_terminal(child: pexpect.spawn[str]) -> None:
    """Check a query, a mistake and a widget, and leave."""
    child.sendline("%load_ext gqlnb")
    child.expect(r"In \[2\]: ")
    child.sendline("import gqlnb")
    child.expect(r"In \[3\]: ")
    child.sendline(f"gqlnb.connect('demo').execute({json.dumps(QUERY)})")
    child.expect_exact('"repositoryCount": 11')
    child.expect(r"In \[4\]: ")
    child.sendline("gqlnb.StarSearch('>300000', limit=3)")
    child.expect(r"(Out\[4\]: |\n)StarSearch\('>300000', limit=3")
    child.expect(r"In \[5\]: ")
    child.sendline("get_ipython().run_cell_magic('graphql', 'demo', '{ viewr { login } }')")
    child.expect_exact("Did you mean 'viewer'")
    child.expect(r"In \[6\]: ")
    child.sendline("exit")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def check_tab(child: pexpect.spawn[str]) -> None:
    """Check that Tab completes a name of a schema, and end the program."""
    child.send("%load_ext gqlnb\r")
    child.expect(PROMPT.format(2))
    child.send("import gqlnb; here = gqlnb.reference_schema()\r")
    child.expect(PROMPT.format(3))
    child.send("%%graphql here\r")
    child.expect_exact("...:")
    child.send("{ he\t")
    child.expect_exact("llo")  # what was not typed
    child.send(" }\x1b\r")
    child.expect_exact("Hello world!")
    child.close(force=True)
