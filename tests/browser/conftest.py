"""A real JupyterLab, started by ``gqlnb lab``, in a real browser."""

from __future__ import annotations

import os
import secrets
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import requests
    from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page

FAILED = pytest.StashKey[bool]()
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # Even a page that wanted to could reach nothing but our own server.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
SECONDS = 60
expect.set_options(timeout=SECONDS * 1000)  # other tests run meanwhile
# The execution indicator says idle before there is a kernel, so ask the session itself.
READY = """path => {
    const widget = window.jupyterapp?.shell?.currentWidget;
    const session = widget?.sessionContext;
    return widget?.context?.path === path && widget.context.isReady && session?.isReady
        && session.kernelDisplayStatus === 'idle';
}"""
ALIVE = """async () => {
    await window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestKernelInfo();
}"""
RUN = """command => {
    window.gqlnbRan = false;
    window.jupyterapp.commands.execute(command).finally(() => { window.gqlnbRan = true; });
}"""
START = "() => void window.jupyterapp.commands.execute('notebook:run-all-cells')"
IDLE = (
    """() => window.jupyterapp.shell.currentWidget.sessionContext.kernelDisplayStatus === 'idle'"""
)


@dataclass
class Lab:
    """A running JupyterLab.

    Attributes
    ----------
    url
        Its address, without a slash at the end.
    token
        What it asks for.
    folder
        The folder it shows.
    """

    url: str
    token: str
    folder: Path

    @property
    def headers(self) -> dict[str, str]:
        """What a request to its API needs."""
        return {"Authorization": f"token {self.token}"}


@dataclass
class Notebook:
    """A notebook open in the browser, its kernel ready.

    Attributes
    ----------
    page
        The page, for everything these few methods do not do.
    """

    page: Page

    def run_all(self, seconds: float = SECONDS) -> None:
        """Run every cell and wait until the last one has ended."""
        self.page.evaluate(RUN, "notebook:run-all-cells")
        self.page.wait_for_function("window.gqlnbRan", timeout=seconds * 1000)
        self.wait_idle(seconds)

    def start_all(self) -> None:
        """Begin to run every cell, and wait for nothing."""
        self.page.evaluate(START)

    def rerun(self, index: int) -> None:
        """Run one cell as a person does, and wait for nothing."""
        self.cell(index).locator(".cm-content").click()
        self.page.keyboard.press("Shift+Enter")

    def wait_idle(self, seconds: float = SECONDS) -> None:
        """Wait until the kernel has nothing to do."""
        self.page.wait_for_function(IDLE, timeout=seconds * 1000)

    def cell(self, index: int) -> Locator:
        """Return a cell, the first being 0, scrolled into view."""
        cell = self.page.locator(f'.jp-Notebook .jp-Cell[data-windowed-list-index="{index}"]')
        cell.scroll_into_view_if_needed(timeout=SECONDS * 1000)
        return cell

    def outputs(self, index: int) -> Locator:
        """Return the outputs of a cell."""
        return self.cell(index).locator(".jp-OutputArea-output")


@dataclass
class Pipe:
    """What a line of the kernel waits for until it is let go.

    Attributes
    ----------
    path
        Where it is.
    """

    path: Path

    @property
    def cell(self) -> str:
        """A cell that keeps the main thread busy."""
        return f"print('holding', flush=True)\nprint(open({str(self.path)!r}).read())"

    def let_go(self) -> None:
        """Let the line go on; it reads "let go"."""
        self.path.write_text("let go")


@dataclass
class Watch:
    """What a page did behind the scenes: errors of its scripts, hosts it asked."""

    errors: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    def follow(self, page: Page) -> None:
        """Begin to watch a page."""
        page.set_default_timeout(SECONDS * 1000)
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.hosts.add(urlsplit(request.url).hostname or ""))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Any:
    """Remember whether a test failed, for the screenshot."""
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the path of the browser; without one, skip."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("No Chromium on this machine")
    return str(found)


@pytest.fixture(scope="session")
def lab(
    chromium: str,
    background: Callable[..., Any],
    patient: requests.Session,
    tmp_path_factory: pytest.TempPathFactory,
) -> Lab:
    """Start `gqlnb lab` once, on a new folder, with empty settings and a random token."""
    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("lab")
    token = secrets.token_hex(16)
    names = ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    server = background(
        *("lab", "--dir", str(folder), "--no-browser", "--port", "0"),
        f"--IdentityProvider.token={token}",
        *(f"--{app}.expose_app_in_browser=True" for app in ("LabApp", "JupyterNotebookApp")),
        cwd=folder,
        env={**os.environ, **{name: str(home / name) for name in names}},
    )
    url = server.wait_for(r"(http://127\.0\.0\.1:\d+)/lab").group(1)
    assert patient.get(f"{url}/api/status?token={token}", timeout=SECONDS).status_code == 200
    return Lab(url, token, folder)


@pytest.fixture(scope="module")
def browser(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """Open the browser for one module.

    Not for the session: until it is closed, playwright keeps an event loop running in this thread,
    and no other test could call ``asyncio.run``.
    """
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("browser"),
            executable_path=chromium,
            args=FLAGS,
            chromium_sandbox=False,
            viewport={"width": 1280, "height": 1600},
        )
        yield context
        context.close()


@pytest.fixture
def page(browser: BrowserContext, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Page]:
    """Open a page, and close it; if the test fails, leave a screenshot in its folder.

    A page whose scripts fail, or that asks another host than this machine, fails the test.
    """
    page, watch = browser.new_page(), Watch()
    watch.follow(page)
    yield page
    if request.node.stash.get(FAILED, False):
        picture = tmp_path / "page.png"
        page.screenshot(path=picture)
        print(f"Screenshot: {picture}\nErrors in the page: {watch.errors}")  # noqa: T201
    page.close()
    assert watch.errors == []
    assert watch.hosts <= {"127.0.0.1", ""}


@pytest.fixture(scope="session")
def axe() -> Callable[[Page, str], None]:
    """Return a function that fails on what keeps people from using a part of a page.

    What axe-core calls serious or critical: names that are missing, text too faint, parts that no
    keyboard reaches.
    """

    def check(page: Page, selector: str) -> None:
        # Without `preload`, which requests style sheets again, from wrong addresses.
        found = Axe().run(page, selector, options={"preload": False}).response["violations"]
        grave = [
            f"{it['id']}: {it['help']}: {node['html'][:200]}: {node['failureSummary']}"
            for it in found
            if it["impact"] in {"serious", "critical"}
            for node in it["nodes"]
        ]
        assert grave == [], "\n".join(grave)

    return check


@pytest.fixture
def stop_kernels(lab: Lab, patient: requests.Session) -> Iterator[None]:
    """Stop all kernels after a test: those of a whole run would need 15 GB of memory."""
    yield
    url = f"{lab.url}/api/kernels"
    for kernel in patient.get(url, headers=lab.headers).json():
        patient.delete(f"{url}/{kernel['id']}", headers=lab.headers)


@pytest.fixture
def pipe(tmp_path: Path) -> Pipe:
    """Return a pipe that holds who reads it."""
    os.mkfifo(tmp_path / "pipe")
    return Pipe(tmp_path / "pipe")


@pytest.fixture
def open_notebook(lab: Lab, stop_kernels: None, page: Page) -> Callable[[str], Notebook]:
    """Return a function that opens a notebook of the lab's folder and waits for its kernel."""

    def open_it(name: str) -> Notebook:
        page.goto(f"{lab.url}/lab/tree/{name}?reset&token={lab.token}")
        page.wait_for_function(READY, arg=name)
        page.evaluate(ALIVE)
        return Notebook(page)

    return open_it


@pytest.fixture
def write_notebook(lab: Lab, tmp_path: Path) -> Callable[[Sequence[str]], str]:
    """Return a function that writes a notebook of code cells into the lab's folder."""

    def write(cells: Sequence[str]) -> str:
        name = f"{tmp_path.name}.ipynb"
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(source) for source in cells],
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        )
        nbformat.write(notebook, lab.folder / name)
        return name

    return write


@pytest.fixture
def show(
    open_notebook: Callable[[str], Notebook], write_notebook: Callable[[Sequence[str]], str]
) -> Callable[..., Notebook]:
    """Return a function that opens a notebook of cells and runs it; with `wait`, to its end."""

    def show_it(*cells: str, wait: bool = True) -> Notebook:
        notebook = open_notebook(write_notebook(cells))
        if wait:
            notebook.run_all()
        else:
            notebook.start_all()
        return notebook

    return show_it
