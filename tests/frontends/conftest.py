"""Front ends of third parties: their programs, one Jupyter server for those that it serves."""

from __future__ import annotations

import os
import secrets
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

from tests.browser.conftest import (
    FAILED,
    SECONDS,
    Lab,
    Watch,
    browser,
    chromium,
    pytest_runtest_makereport,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


__all__ = ["browser", "chromium", "pytest_runtest_makereport"]  # fixtures and a hook

VARIABLE = "GQLNB_FRONTENDS"
HOMES = ("HOME", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
CELLS = (
    "%load_ext gqlnb\nimport gqlnb\nhere = gqlnb.reference_schema()",
    '%%graphql demo\n{ search(query: "stars:>300000", type: REPOSITORY, first: 3) {\n'
    "  nodes { ... on Repository { name stargazerCount } } } }",
    "gqlnb.StarSearch('>300000', limit=3)",
    "gqlnb.SchemaView(here)",
    "gqlnb.Explorer(here, query='{ hello }')",
)
WRONG = "%%graphql demo\n{ viewr { login } }"


@dataclass(frozen=True)
class FrontEnds:
    """Where the front ends are installed.

    Attributes
    ----------
    folder
        The folder that ``install.py`` filled.
    env
        The environment of their processes, with empty settings.
    """

    folder: Path
    env: dict[str, str]

    def find(self, name: str, environment: str = "newest") -> str:
        """Return the path of a program."""
        return str(self.folder / environment / "bin" / name)

    def run(
        self, name: str, *arguments: str, cwd: Path, environment: str = "newest", **options: Any
    ) -> str:
        """Run a program to its end, and return what it printed; fail if it fails."""
        done = subprocess.run(
            [self.find(name, environment), *arguments],
            **{"cwd": cwd, "env": self.env, "timeout": 120, "text": True} | options,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout


@pytest.fixture(scope="session")
def front_ends(tmp_path_factory):
    """Return the front ends that are installed; without the variable, skip."""
    if VARIABLE not in os.environ:
        pytest.skip(f"{VARIABLE} is not set: see tests/frontends/install.py")
    folder, home = Path(os.environ[VARIABLE]), tmp_path_factory.mktemp("home")
    paths = f"{folder / 'newest' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    env = os.environ | {name: str(home) for name in HOMES} | {"PATH": paths}
    env["JUPYTER_PATH"] = str(folder / "newest" / "share" / "jupyter")
    env.pop("PYTHONPATH", None)
    return FrontEnds(folder, env)


@pytest.fixture
def notebook(tmp_path):
    """Return a new notebook: a query, and three widgets."""
    return write_notebook(tmp_path / "notebook.ipynb")


def write_notebook(path: Path, sources: Sequence[str] = CELLS) -> Path:
    """Write the notebook that front ends run."""
    nbformat.write(build_notebook(sources), path)
    return path


def build_notebook(sources: Sequence[str]) -> nbformat.NotebookNode:
    """Return a notebook of code cells."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


@pytest.fixture(scope="module")
def start_server(front_ends, background, patient, tmp_path_factory):
    """Return a function that starts JupyterLab's server with its extensions, once for each name."""
    running: dict[str, Lab] = {}

    def start(environment: str) -> Lab:
        if environment not in running:
            folder, token = tmp_path_factory.mktemp(environment), secrets.token_hex(16)
            program = (front_ends.find("jupyter", environment), "lab", "--allow-root")
            server = background(
                *("--no-browser", "--port=0", "--ServerApp.ip=127.0.0.1"),
                *(f"--ServerApp.root_dir={folder}", f"--IdentityProvider.token={token}"),
                *(f"--{it}.expose_app_in_browser=True" for it in ("LabApp", "JupyterNotebookApp")),
                "--LabApp.news_url=None",
                "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
                program=program,
                cwd=folder,
                env=front_ends.env,
            )
            url = server.wait_for(r"(http://127\.0\.0\.1:\d+)/lab").group(1)
            assert patient.get(f"{url}/api/status?token={token}", timeout=SECONDS).ok
            running[environment] = Lab(url, token, folder)
        return running[environment]

    return start


@pytest.fixture
def watch():
    """Return the errors of the page."""
    return Watch()


@pytest.fixture
def page(browser, watch, request, tmp_path):
    """Open a page and close it; errors that name our package or our files fail the test."""
    page = browser.new_page()
    page.set_viewport_size({"width": 1280, "height": 2400})  # for the whole notebook
    watch.follow(page)
    yield page
    if request.node.stash.get(FAILED, False):
        page.screenshot(path=tmp_path / "page.png")
        print(f"Screenshot: {tmp_path / 'page.png'}\nErrors in the page: {watch.errors}")  # noqa: T201
    page.close()
    assert [error for error in watch.errors if "gqlnb" in error.lower()] == []
