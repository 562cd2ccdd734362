"""The JupyterLab extension: its files, and a build of its source.

The builder is installed once, by hand or by CI::

    npm install --prefix FOLDER --ignore-scripts --no-package-lock   # FOLDER has our package.json
    JUPYTERLAB_BUILDER=FOLDER pytest tests/notebook/test_labextension.py
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jupyter_core.paths import jupyter_path
from jupyterlab_server.config import get_federated_extensions, get_page_config

import gqlnb

HERE = Path(__file__).with_name("labextension")
SHIPPED = Path(gqlnb.__file__).parent / "notebook" / "labextension"


def package(folder: Path) -> dict:
    """Read the package.json of a folder."""
    return json.loads((folder / "package.json").read_text())


def test_the_files_of_the_extension_exist():
    """JupyterLab's entry file is there, and all versions are that of the package."""
    shipped = package(SHIPPED)
    assert (SHIPPED / shipped["jupyterlab"]["_build"]["load"]).is_file()
    assert shipped["version"] == package(HERE)["version"] == gqlnb.__version__


def test_jupyterlab_finds_the_extension():
    """In the environment, enabled, as `jupyter labextension list` shows it."""
    folders = jupyter_path("labextensions")
    assert get_federated_extensions(folders)["gqlnb"]["version"] == gqlnb.__version__
    assert "gqlnb" not in get_page_config(folders).get("disabledExtensions", ())


def test_jupyters_builder_builds_the_extension(tmp_path):
    """`jupyter-builder build` compiles it from its source."""
    builder = os.environ.get("JUPYTERLAB_BUILDER", str(HERE))
    if not (Path(builder) / "node_modules" / "@jupyter" / "builder").is_dir():
        pytest.skip("npm's @jupyter/builder is not installed; JUPYTERLAB_BUILDER says where it is")
    folder = tmp_path / "extension"
    folder.mkdir()
    shipped = [it for it in (SHIPPED / "static").glob("*.js") if it.name != "remoteEntry.js"]
    for path in (*HERE.glob("*.js*"), *shipped):
        shutil.copy(path, folder)
    (folder / "node_modules").symlink_to(Path(builder) / "node_modules")
    subprocess.run(
        [str(Path(sys.executable).with_name("jupyter-builder")), "build", str(folder)],
        check=True,
        timeout=120,
        capture_output=True,
    )
    built = package(folder / "built")["jupyterlab"]["_build"]
    assert (folder / "built" / built["load"]).is_file()
    code = "".join(path.read_text() for path in (folder / "built" / "static").glob("*.js"))
    assert "data-gqlnb" in code
