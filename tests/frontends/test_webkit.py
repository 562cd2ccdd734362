"""JupyterLab in WebKitGTK: the engine of Safari, driven over WebDriver on a display of its own."""

from __future__ import annotations

import base64
import os
import shutil
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
import requests

from tests.browser.conftest import READY, RUN, SECONDS, lab
from tests.frontends.conftest import write_notebook
from tests.ports import find_free_port, wait_for_port

__all__ = ["lab"]  # a fixture

pytestmark = pytest.mark.browser

PATIENCE = 3 * SECONDS  # it draws without a GPU, beside the browsers of other tests
CLICK_SECONDS = 20
PROGRAMS = ("WebKitWebDriver", "Xvfb")
BROWSERS = "*/webkit2gtk-4.*/MiniBrowser"  # below /usr/lib
POLL = """const tell = arguments[arguments.length - 1];
const look = () => (CONDITION)(...arguments) ? tell(true) : setTimeout(look, 50);
look();"""
# On a busy machine JupyterLab may show the notebook without making it the current widget.
ACTIVE_AND_READY = f"""path => {{
    const shell = window.jupyterapp?.shell;
    const shown = [...(shell?.widgets("main") ?? [])].find(it => it.context?.path === path);
    if (shown && shown !== shell.currentWidget) shell.activateById(shown.id);
    return ({READY})(path);
}}"""
HOLDS = """(selector, text) => document.querySelector(selector)
    ?.textContent.replaceAll("\\u00a0", " ").includes(text)"""  # as in editors
REMEMBER_ERRORS = """window.told = [];
addEventListener("error", (event) => told.push(`${event.message} ${event.error?.stack}`));
addEventListener("unhandledrejection", ({ reason }) => told.push(`${reason} ${reason?.stack}`));"""


class Session:
    """A session of a WebDriver: one window.

    Parameters
    ----------
    url
        The address of the driver.
    capabilities
        The capabilities of the browser.
    """

    def __init__(self, url: str, **capabilities: Any) -> None:
        self.url = f"{url}/session"
        made = self.post("", capabilities={"alwaysMatch": capabilities})
        self.url += f"/{made['sessionId']}"

    def post(self, command: str, **parameters: Any) -> Any:
        """Send a command, and return its answer."""
        return self._read(requests.post(self.url + command, json=parameters, timeout=2 * PATIENCE))

    def _read(self, response: requests.Response) -> Any:
        value = response.json()["value"]
        assert response.ok, value
        return value

    def run(self, script: str, *arguments: object) -> Any:
        """Run a script in the page, and return its result."""
        return self.post("/execute/sync", script=script, args=arguments)

    def wait(self, condition: str, *arguments: object) -> None:
        """Wait until a function of the page returns true."""
        script = POLL.replace("CONDITION", condition)
        self.post("/execute/async", script=script, args=arguments)

    def act(self, selector: str, action: str, **parameters: Any) -> None:
        """Do something to an element, such as to click it."""
        element = self.post("/element", using="css selector", value=selector)
        (identifier,) = element.values()
        self.post(f"/element/{identifier}/{action}", **parameters)

    def click_until(self, selector: str, condition: str, *arguments: object) -> None:
        """Click an element until a function of the page returns true.

        On a busy machine a click can be lost; a person clicks again after a while, too.
        """
        end = monotonic() + PATIENCE
        while monotonic() < end:
            self.act(selector, "click")
            again = monotonic() + CLICK_SECONDS
            while monotonic() < again:
                if self.run(f"return Boolean(({condition})(...arguments))", *arguments):
                    return
                sleep(0.1)
        raise AssertionError(condition, arguments)

    def photograph(self) -> bytes:
        """Return a picture of the window."""
        response = requests.get(f"{self.url}/screenshot", timeout=SECONDS)
        return base64.b64decode(self._read(response))

    def close(self) -> None:
        """Close the window."""
        self._read(requests.delete(self.url, timeout=SECONDS))


@pytest.fixture
def webkit(background, tmp_path):
    """Open a window of WebKitGTK; skip where it cannot be driven."""
    browser = next(Path("/usr/lib").glob(BROWSERS), None)
    driver, display = map(shutil.which, PROGRAMS)
    if not (browser and driver and display):
        pytest.skip("No WebKitGTK on this machine (Debian: webkit2gtk-driver and xvfb)")
    shown = background(
        *("-displayfd", "1", "-screen", "0", "1400x2500x24", "-nolisten", "tcp"),
        program=(display,),
        cwd=tmp_path,
    )
    number = shown.wait_for(r"(?m)^(\d+)$").group(1)
    port = find_free_port()
    env = os.environ | {"DISPLAY": f":{number}", "HOME": str(tmp_path)}
    background(f"--port={port}", program=(driver,), cwd=tmp_path, env=env)
    wait_for_port(port)
    options = {"binary": str(browser), "args": ["--automation"]}
    session = Session(f"http://127.0.0.1:{port}", **{"webkitgtk:browserOptions": options})
    session.post("/timeouts", script=PATIENCE * 1000, pageLoad=PATIENCE * 1000)
    session.post("/window/rect", width=1300, height=2400)
    yield session
    if folder := os.environ.get("WIDGET_PICTURES"):
        Path(folder, "webkit.png").write_bytes(session.photograph())
    session.close()


@pytest.mark.front_end(
    "WebKitGTK (engine of Safari), JupyterLab 4.6", cells="yes", widgets="yes", explorer="yes"
)
@pytest.mark.usefixtures("bundled")
def test_webkit(lab, webkit):
    """WebKit runs the cells, and its widgets answer to clicks."""
    path = write_notebook(lab.folder / "webkit.ipynb")
    webkit.post("/url", url=f"{lab.url}/lab/tree/{path.name}?reset&token={lab.token}")
    webkit.wait(ACTIVE_AND_READY, path.name)
    webkit.run(REMEMBER_ERRORS)
    webkit.run(f"({RUN})('notebook:run-all-cells')")
    webkit.wait("() => window.gqlnbRan")
    webkit.wait(HOLDS, ".gqlnb table", "build-your-own-x")
    webkit.wait(HOLDS, ".gqlnb-stars .gqlnb-grid", "public-apis")
    webkit.act(".gqlnb-of-limit input", "clear")
    webkit.act(".gqlnb-of-limit input", "value", text="2")
    webkit.act(".gqlnb-stars button[type=submit]", "click")
    webkit.wait(HOLDS, ".gqlnb-stars", "2 rows in 1 page")
    webkit.wait(HOLDS, ".gqlnb-schema", "A fixed greeting")
    webkit.wait(HOLDS, ".gqlnb-explorer .view-lines", "hello")  # nothing to execute before
    shown = (HOLDS, ".gqlnb-explorer .result-window", "Hello world!")
    webkit.click_until(".graphiql-execute-button", *shown)
    assert [error for error in webkit.run("return told") if "gqlnb" in error.lower()] == []
