"""Install the servers of tests/servers that come from npm, outside the repository.

Usage: ``python tests/servers/install.py FOLDER``; then
``GQLNB_SERVERS=FOLDER pytest tests/servers``.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["NPM_SERVERS", "install_servers"]

HERE = Path(__file__).resolve().parent
NPM_SERVERS = ("apollo", "yoga", "mercurius")
# No scripts of packages; the lock files name versions and checksums, and no registry.
NPM_CI = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


def install_servers(folder: Path) -> None:
    """Install each server into a subfolder of its name, as its lock file says.

    Parameters
    ----------
    folder
        Is made if it is missing.

    Raises
    ------
    subprocess.CalledProcessError
        If npm, or the installation of PostGraphile, fails.
    """
    for name in NPM_SERVERS:
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        for file in ("package.json", "package-lock.json"):
            shutil.copyfile(HERE / name / file, place / file)
        subprocess.run(NPM_CI, cwd=place, check=True)
    postgraphile = HERE / "postgraphile" / "install.py"
    if postgraphile.exists():
        subprocess.run([sys.executable, str(postgraphile), str(folder)], check=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    install_servers(Path(sys.argv[1]).resolve())
