"""`gqlnb lab`: a working copy of the notebooks, and JupyterLab on it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gqlnb.cli.lab import (
    FIRST_NOTEBOOK,
    build_command,
    build_environment,
    copy_notebooks,
    find_notebooks,
)
from gqlnb.errors import GqlnbError


@pytest.fixture
def source(tmp_path):
    """Return a folder of two notebooks and what does not belong to them."""
    folder = tmp_path / "source"
    (folder / ".ipynb_checkpoints").mkdir(parents=True)
    for name in (FIRST_NOTEBOOK, "02_more.ipynb", ".hidden"):
        (folder / name).write_text(f"shipped {name}")
    return folder


def test_copying_creates_the_folder(source, tmp_path):
    """Notebooks are copied into a new folder; checkpoints and hidden files are not."""
    folder = tmp_path / "deep" / "work"
    assert copy_notebooks(source, folder) == ([FIRST_NOTEBOOK, "02_more.ipynb"], [])
    assert sorted(path.name for path in folder.iterdir()) == [FIRST_NOTEBOOK, "02_more.ipynb"]


def test_copying_keeps_existing_files(source, tmp_path):
    """Only missing files are copied."""
    folder = tmp_path / "work"
    copy_notebooks(source, folder)
    (folder / FIRST_NOTEBOOK).write_text("mine")
    (folder / "02_more.ipynb").unlink()
    assert copy_notebooks(source, folder) == (["02_more.ipynb"], [FIRST_NOTEBOOK])
    assert (folder / FIRST_NOTEBOOK).read_text() == "mine"


def test_a_file_is_not_a_valid_working_folder(source, tmp_path):
    """The error names the file and the option."""
    (tmp_path / "work").write_text("")
    with pytest.raises(GqlnbError, match=r"work is a file. Name a folder with: --dir FOLDER"):
        copy_notebooks(source, tmp_path / "work")


def test_notebooks_are_found_in_the_package_or_beside_it(tmp_path):
    """A wheel has them in the package, a checkout beside it; otherwise the error gives advice."""
    package = tmp_path / "gqlnb"
    with pytest.raises(GqlnbError, match="Install it again from its checkout or wheel"):
        find_notebooks(package)
    for folder in (tmp_path / "notebooks", package / "notebooks"):
        folder.mkdir(parents=True)
        (folder / FIRST_NOTEBOOK).write_text("")
        assert find_notebooks(package) == folder


def test_the_command_listens_on_loopback_only(tmp_path):
    """JupyterLab starts with this interpreter, without news and update checks."""
    line = build_command(tmp_path, port=None, browser=True, rest=[])
    assert line[:3] == [sys.executable, "-m", "jupyterlab"]
    assert {
        f"--ServerApp.root_dir={tmp_path}",
        "--ServerApp.ip=127.0.0.1",
        f"--LabApp.default_url=/lab/tree/{FIRST_NOTEBOOK}",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    } <= set(line)
    assert "--no-browser" not in line


def test_the_command_passes_extra_arguments_to_jupyterlab(tmp_path):
    """They are last and override the defaults."""
    rest = ["--ip=127.0.0.2", "--LabApp.default_url", "/lab", "--ServerApp.token=abc"]
    line = build_command(tmp_path, port=9999, browser=False, rest=rest)
    assert line[-4:] == rest
    assert "--ServerApp.port=9999" in line
    assert "--no-browser" in line
    assert [it for it in line if "ServerApp.ip" in it or "default_url=" in it] == []


def test_the_environment_keeps_configured_folders():
    """Our folder of defaults precedes the configured ones."""
    before = {"HOME": "h", "JUPYTER_CONFIG_PATH": "mine"}
    ours, mine = build_environment(before)["JUPYTER_CONFIG_PATH"].split(os.pathsep)
    assert (Path(ours) / "labconfig" / "default_setting_overrides.json").is_file()
    assert mine == "mine"
    assert build_environment({})["JUPYTER_CONFIG_PATH"] == ours
    assert build_environment(before)["HOME"] == "h"


@pytest.mark.skipif(os.name != "posix", reason="Only POSIX has a superuser")
def test_root_is_allowed(tmp_path, monkeypatch):
    """Jupyter refuses root by default, which is often the only user in a container."""
    for user, expected in ((0, 1), (1000, 0)):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        line = build_command(tmp_path, port=None, browser=False, rest=[])
        assert line.count("--allow-root") == expected


def test_a_missing_jupyterlab_is_explained(gqlnb, tmp_path):
    """One sentence with the installation command, and no traceback."""
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['jupyterlab'] = None")
    done = gqlnb("lab", "--no-browser", env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.returncode == 1
    assert "pip install jupyterlab" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "gqlnb-notebooks").exists()


@pytest.mark.slow  # tests/browser/test_hello.py starts it too, where there is Chromium
def test_lab_starts_and_serves_notebooks(background, patient, tmp_path):
    """A real JupyterLab on a free port serves its page and the copied notebooks."""
    lab = background("lab", "--no-browser", "--port", "0", "--dir", "work", cwd=tmp_path)
    url, token = lab.wait_for(r"(http://127\.0\.0\.1:\d+)/lab/tree/\S*\?token=(\w+)").groups()
    assert patient.get(f"{url}/lab?token={token}", timeout=20).status_code == 200
    found = patient.get(f"{url}/api/contents?token={token}", timeout=20).json()["content"]
    assert FIRST_NOTEBOOK in {file["name"] for file in found}
    assert lab.output.startswith("Copied to work: 01_hello.ipynb")
    lab.stop()
    assert (tmp_path / "work" / FIRST_NOTEBOOK).is_file()
