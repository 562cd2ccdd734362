"""Sessions in environments of their own: other Pythons, graphql-core 3.2, long property runs."""

from __future__ import annotations

import tempfile
from pathlib import Path

import nox

nox.options.default_venv_backend = "venv"
nox.options.sessions = ["lint", "tests"]
CORE32_TESTS = ["contract", "document", "engine", "http", "property", "result", "stories"]
# Examples of each property test; see the tests for the defaults.
MANY_EXAMPLES = {
    "COMPLETION_CASES": "20000",
    "ENGINE_CASES": "20000",
    "FRAMES_CASES": "5000",
    "FRAME_CASES": "5000",
    "HARVEST_CASES": "1000",
    "MOCK_CASES": "10000",
    "MODEL_CASES": "10000",
    "SEARCH_CASES": "20000",
}
COPY_NOTEBOOKS = """
from pathlib import Path
from gqlnb.cli.lab import copy_notebooks, find_notebooks
copy_notebooks(find_notebooks(), Path("notebooks"))
"""


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, types, declared dependencies and the JavaScript."""
    session.install("-e", ".[test]")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("mypy")
    session.run("deptry", ".")
    session.run("codespell")
    session.run("npx", "--yes", "oxlint@1.94.0", "--deny-warnings", "gqlnb", "tests", external=True)


@nox.session(python=["3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    """Run the tests that are not slow, on each Python that is installed."""
    session.install("-e", ".[test]")
    session.run("pytest", *session.posargs)


@nox.session
def slow(session: nox.Session) -> None:
    """Run the slow suites: property tests, third-party servers, the browser, benchmarks."""
    session.install("-e", ".[test]")
    session.run("pytest", "-m", "slow", *session.posargs)


@nox.session
def core32(session: nox.Session) -> None:
    """Run the tests that depend on graphql-core with version 3.2, which Graphene needs."""
    session.install("-e", ".[core32]", "graphql-core==3.2.14")
    session.run("pytest", "-q", "-m", "", *(f"tests/{name}" for name in CORE32_TESTS))


@nox.session(python=["3.12", "3.13", "3.14"])
def other_pythons(session: nox.Session) -> None:
    """Run tests without a browser and servers, on each newer Python that is installed."""
    session.install("-e", ".[core32]")
    session.run("pytest", "-q", "tests/document", "tests/http", "tests/result")


@nox.session
def wheel(session: nox.Session) -> None:
    """Install the wheel alone, and run notebooks and a command with it."""
    folder = tempfile.mkdtemp(prefix="gqlnb-wheel-")
    session.install("build", "twine")
    session.run(
        "python", "-m", "build", "--outdir", folder, ".", silent=True, env={"GQLNB_RELEASE": "1"}
    )
    session.run("twine", "check", "--strict", *map(str, Path(folder).iterdir()))
    session.install(f"{next(Path(folder).glob('*.whl'))}[lab]")
    session.chdir(folder)
    session.run("python", "-c", COPY_NOTEBOOKS)
    names = ("01_hello", "03_github_stars", "10_widgets")
    session.run("jupyter", "execute", *(f"notebooks/{name}.ipynb" for name in names))
    session.run("gqlnb", "stars", ">300000", "--limit", "3")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation with its own dependencies alone; a warning is an error."""
    session.install("-e", ".[docs]")
    session.run("sphinx-build", "-W", "-q", "-b", "html", "docs", "docs/_build/html")


@nox.session
def everything(session: nox.Session) -> None:
    """Run every test, property tests with many more examples. Takes hours."""
    session.install("-e", ".[test]")
    session.run("pytest", "-m", "", *session.posargs, env=MANY_EXAMPLES)
