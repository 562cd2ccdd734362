"""The npm packages of tests/github/octokit, which are installed outside the repository.

By hand or by CI::

    npm install --prefix FOLDER --ignore-scripts --no-package-lock   # FOLDER has our package.json
    OCTOKIT_PACKAGES=FOLDER pytest -m slow tests/github

Without the variable they are looked for in ``tests/github/octokit``.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gqlnb.engine.schema_builder import load_sdl


@pytest.fixture(scope="session")
def octokit():
    """Return the folder that the packages are installed in, or skip."""
    folder = Path(os.environ.get("OCTOKIT_PACKAGES", Path(__file__).with_name("octokit")))
    if not (folder / "node_modules" / "@octokit" / "graphql-schema").is_dir():
        pytest.skip("npm's @octokit packages are not installed; OCTOKIT_PACKAGES says where")
    return folder


@pytest.fixture(scope="session")
def public_sdl(octokit):
    """Return the SDL of GitHub's whole public schema."""
    package = octokit / "node_modules" / "@octokit" / "graphql-schema"
    return (package / "schema.graphql").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def theirs(public_sdl):
    """Return GitHub's whole public schema, read leniently: two of its fields are there twice."""
    return load_sdl(public_sdl, "GitHub's schema").graphql
