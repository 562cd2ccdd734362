"""Check that PyPI has wheels of all dependencies for macOS and Windows; install nothing."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
# By system: the variables of markers, and the tags of wheels.
SYSTEMS = {
    "macOS": ({"sys_platform": "darwin", "os_name": "posix"}, ["macosx_14_0_arm64"]),
    "Windows": ({"sys_platform": "win32", "os_name": "nt"}, ["win_amd64"]),
}
PYTHONS = ("3.11", "3.14")  # the lowest and the newest that is supported


def list_requirements(python: str, variables: dict[str, str]) -> list[str]:
    """Return what `gqlnb[lab]` requires on a system, without markers."""
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    lines = [*project["dependencies"], *project["optional-dependencies"]["lab"]]
    found = []
    for requirement in map(Requirement, lines):
        marker, requirement.marker = requirement.marker, None
        if marker is None or marker.evaluate({"python_version": python, **variables}):
            found.append(str(requirement))
    return found


def main() -> None:
    """Resolve the dependencies for each system and Python; end with pip's error if one fails."""
    # pip evaluates the markers of indirect dependencies for the system that it runs on.
    for python in PYTHONS:
        for name, (variables, tags) in SYSTEMS.items():
            with tempfile.TemporaryDirectory() as folder:
                command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run"]
                command += ["--ignore-installed", "--only-binary=:all:", f"--target={folder}"]
                command += [f"--python-version={python}", *(f"--platform={tag}" for tag in tags)]
                done = subprocess.run(  # noqa: S603 - no input of others
                    [*command, *list_requirements(python, variables)], check=False
                )
            if done.returncode:
                sys.exit(f"Not all dependencies have wheels for {name}, Python {python}.")
            print(f"{name}, Python {python}: all dependencies have wheels")


if __name__ == "__main__":
    main()
