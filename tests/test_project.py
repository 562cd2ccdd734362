"""What is built and installed: dependencies, the wheel, the environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from zipfile import ZipFile

import pytest

import gqlnb

REQUIREMENT = re.compile(r"(?P<name>[\w.-]+(?:\[[\w,]+\])?)\s*(?P<version>.*)")


@pytest.fixture(scope="module")
def project(root):
    """Return the table `project` of pyproject.toml."""
    return tomllib.loads((root / "pyproject.toml").read_text())["project"]


def requirements(lines: list[str]) -> dict[str, str]:
    """Return versions by name, without markers: conda's environment is for Linux."""
    requirements = [line.partition(";")[0].strip() for line in lines]
    return dict(REQUIREMENT.fullmatch(line).group("name", "version") for line in requirements)


def conda_requirements(text: str) -> list[str]:
    """Return the entries of a conda environment, those for pip too."""
    dependencies = text.partition("dependencies:")[2]
    return re.findall(r"^ +- (.+[^:\n])$", dependencies, re.MULTILINE)


def test_conda_and_pip_dependencies_agree(project, root):
    """environment.yml and pyproject.toml have the same names and versions."""
    lines = conda_requirements((root / "environment.yml").read_text())
    assert [line for line in lines if line.startswith("-e")] == ["-e .[test]"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["lab"]]
    assert requirements([line for line in lines if line[0] != "-"]) == {
        **requirements(wanted),
        "python": project["requires-python"],
        "pip": "",
    }


def test_the_version_is_defined_once(project):
    """The package's version equals the installed one."""
    from importlib.metadata import version

    assert "version" not in project
    assert gqlnb.__version__ == version("gqlnb")


@pytest.fixture(scope="module")
def wheel(root, tmp_path_factory):
    """Build the wheel with what is installed."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-x", "-o", str(folder)]
    offline = {**os.environ, "npm_config_offline": "true"}  # GraphiQL is built when installing
    subprocess.run([*command, str(root)], check=True, capture_output=True, timeout=120, env=offline)
    return next(folder.glob("*.whl"))


@pytest.mark.slow  # a build takes longer than any other test
def test_the_wheel_is_complete(wheel, root):
    """It has code, data, types, notebooks and licence, and no other files."""
    names = set(ZipFile(wheel).namelist())
    package = {
        path.relative_to(root).as_posix()
        for path in (root / "gqlnb").rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and "server/graphiql/" not in path.as_posix()  # what the bundle is built from
    }
    notebooks = {f"gqlnb/notebooks/{path.name}" for path in (root / "notebooks").glob("*.ipynb")}
    assert "gqlnb/py.typed" in package
    assert notebooks
    data = f"gqlnb-{gqlnb.__version__}.data/data/share/jupyter/labextensions/gqlnb"
    source = "gqlnb/notebook/labextension"
    lab = {name.replace(source, data) for name in package if name.startswith(source)}
    assert len(lab) > 3
    info = {name for name in names if ".dist-info/" in name}
    assert {name for name in names - info if "checkpoints" not in name} == package | notebooks | lab
    assert any(name.endswith("licenses/LICENSE") for name in info)


@pytest.mark.slow
def test_the_wheel_works_without_the_checkout(wheel, tmp_path):
    """Unpacked elsewhere, it can be imported and run queries."""
    ZipFile(wheel).extractall(tmp_path / "site")
    code = """
import sys; sys.path.insert(0, sys.argv[1])
import gqlnb
from pathlib import Path
from gqlnb.cli.lab import copy_notebooks, find_notebooks
assert gqlnb.__file__.startswith(sys.argv[1])
print(len(copy_notebooks(find_notebooks(), Path("work"))[0]))
print(gqlnb.reference_schema().execute("{ hello }").data["hello"])
print(len(gqlnb.stars(">100000", limit=3)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "site")],
        check=True,
        capture_output=True,
        cwd=tmp_path,
        text=True,
        timeout=60,
    )
    copied, *rest = done.stdout.split("\n")
    assert int(copied) == len(list((tmp_path / "work").iterdir())) > 0
    assert rest == ["Hello world!", "3", ""]
