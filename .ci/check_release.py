"""Check that a tag, the version, the changelog and the distributions belong together.

    python .ci/check_release.py v0.1.0 dist

The version is written once, in ``gqlnb/__init__.py``, and a tag has to agree with it. A plugin that
takes it from the tags would need git and all tags wherever the package is built: a clone without
them, an archive of the source and a copy of the folder would have another version.
"""

from __future__ import annotations

import re
import sys
import tarfile
from email.parser import BytesParser
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
IN_WHEEL = (
    "gqlnb/py.typed",
    "gqlnb/notebooks/01_hello.ipynb",
    "gqlnb/server/static/graphiql/graphiql.js.gz",
    "gqlnb/server/static/graphiql/NOTICES.txt",
)
IN_SDIST = ("pyproject.toml", "docs/index.md", "tests/conftest.py", "notebooks/01_hello.ipynb")


def read_version(root: Path = ROOT) -> str:
    """Return the version of the source."""
    text = (root / "gqlnb" / "__init__.py").read_text(encoding="utf-8")
    match = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    return match[1] if match else ""


def check_tag(tag: str, version: str) -> list[str]:
    """Return the reason why a tag does not fit the version, in a list, or none."""
    if tag == f"v{version}":
        return []
    return [f"The tag {tag!r} is not 'v{version}', which gqlnb/__init__.py has."]


def check_changelog(text: str, version: str) -> list[str]:
    """Return the reasons why the newest section of the changelog does not fit the version."""
    match = re.search(r"^## (\S+) \((.*)\)$", text, re.MULTILINE)
    newest, date = match.groups() if match else ("", "")
    faults = []
    if newest != version:
        faults.append(f"The newest section of CHANGELOG.md is {newest!r}, not {version!r}.")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        faults.append(f"The newest section of CHANGELOG.md has the date {date!r}.")
    return faults


def check_distributions(folder: Path, version: str) -> list[str]:
    """Return the faults of the wheel and the sdist in a folder."""
    wheels, sdists = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if [it.name for it in (*wheels, *sdists)] != [
        f"gqlnb-{version}-py3-none-any.whl",
        f"gqlnb-{version}.tar.gz",
    ]:
        return [f"{folder} has {[it.name for it in folder.iterdir()]}, not a wheel and an sdist."]
    with ZipFile(wheels[0]) as wheel:
        names = set(wheel.namelist())
        metadata = BytesParser().parsebytes(wheel.read(f"gqlnb-{version}.dist-info/METADATA"))
    with tarfile.open(sdists[0]) as sdist:
        sources = {name.partition("/")[2] for name in sdist.getnames()}
    faults = [f"The wheel has no {name}." for name in IN_WHEEL if name not in names]
    faults += [f"The sdist has no {name}." for name in IN_SDIST if name not in sources]
    if metadata["Version"] != version:
        faults.append(f"The metadata have the version {metadata['Version']!r}.")
    return faults


def main(tag: str, folder: str) -> int:
    """Print the faults of a release; return 1 if there are any."""
    version = read_version()
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    faults = [
        *check_tag(tag, version),
        *check_changelog(changelog, version),
        *check_distributions(Path(folder), version),
    ]
    print(*faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
