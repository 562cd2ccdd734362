"""Build a JupyterLite site, in which gqlnb runs in the browser: ``python docs/build_lite.py``.

The site is written to docs/_lite; serve it with ``python -m http.server -d docs/_lite``. Needed are
npm and ``pip install '.[lite]'``.

The site holds Pyodide's core and all packages but numpy, pandas and pyarrow, of which PyPI has no
build for the browser. Without them answers are shown as JSON, and neither the demo data nor the
widgets with tables work. With ``--pyodide https://.../full/``, the address of a whole Pyodide
distribution of the same version, the browser loads them from there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).resolve().parents[1]
PYODIDE = "314.0.7"
# Python 3.11 has filters since 3.11.4.
UNPACK_OPTIONS = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
PLATFORM = "pyemscripten_2026_0_wasm32"  # of that Pyodide, with Python 3.14
OWN = (
    *("anywidget", "click", "comm", "graphql-core", "ipython", "ipywidgets", "msgspec"),
    *("platformdirs", "requests", "tomlkit", "tqdm", "traitlets", "urllib3"),
)
TABLES = ("numpy", "pandas", "pyarrow")
# What these need, beside what Pyodide's own lock file says.
NEEDS = {
    "gqlnb": OWN,
    "anywidget": ("ipywidgets", "psygnal", "typing-extensions"),
    "ipywidgets": ("comm", "ipython", "jupyterlab-widgets", "traitlets", "widgetsnbextension"),
}
REQUIREMENTS = (
    *("anywidget", "asttokens", "certifi", "charset-normalizer", "click", "comm", "decorator"),
    *("executing", "graphql-core>=3.3,<3.4", "idna", "ipython>=9", "ipython-pygments-lexers"),
    *("ipywidgets", "jedi", "jupyterlab-widgets", "matplotlib-inline", "micropip", "msgspec>=0.22"),
    *("packaging", "parso", "platformdirs", "prompt-toolkit", "psygnal", "pure-eval", "pygments"),
    *("requests", "six", "stack-data", "tomlkit", "tqdm", "traitlets", "typing-extensions"),
    *("urllib3>=2.7,<3", "wcwidth", "widgetsnbextension"),
)
EXTENSIONS = (
    "@jupyter-widgets/jupyterlab-manager",
    "@jupyterlite/pyodide-kernel-extension",
    "anywidget",
)
CELLS = (
    "# GraphQL in a notebook, in this browser tab\n\n"
    "Nothing is installed: Python itself runs in the tab. Run the cells with Shift+Enter; the "
    "first one takes some seconds.",
    "import gqlnb\n\n%load_ext gqlnb",
    "A schema with its data:",
    'BOOKS = [{"title": "Emma", "pages": 474}, {"title": "Persuasion", "pages": 249}]\n'
    'SDL = """\ntype Query { books(shorterThan: Int): [Book!]! }\n'
    'type Book { title: String!  pages: Int }\n"""\n\n\n'
    "def books(root, args, context):\n"
    '    limit = args.get("shorterThan")\n'
    '    return [book for book in BOOKS if limit is None or book["pages"] < limit]\n\n\n'
    'library = gqlnb.Schema(SDL, {"Query": {"books": books}})',
    "A query. `$most` is a variable of the notebook; Tab completes the names of the schema:",
    "most = 300",
    "%%graphql library\nquery ($most: Int) { books(shorterThan: $most) { title pages } }",
    "Its documentation, by clicks:",
    "gqlnb.SchemaView(library)",
    "An editor for queries, GraphiQL:",
    'gqlnb.Explorer(library, query="{ books { title } }")',
)


def main() -> None:
    """Build the site."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "_lite")
    parser.add_argument("--pyodide", metavar="URL", help="address of a whole Pyodide distribution")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        build_site(Path(folder), options.output.resolve(), options.pyodide)


def build_site(folder: Path, output: Path, distribution: str | None = None) -> None:
    """Build the site in `output`; `folder` is for files that are needed meanwhile.

    Raises
    ------
    subprocess.CalledProcessError
        If npm, pip or JupyterLite fails.
    """
    pack = ["npm", "pack", "--silent", f"pyodide@{PYODIDE}"]
    packed = subprocess.run(pack, check=True, cwd=folder, stdout=subprocess.PIPE, text=True)
    shutil.unpack_archive(folder / packed.stdout.split()[-1], folder, **UNPACK_OPTIONS)
    pyodide, wheels = folder / "package", folder / "wheels"
    download_wheels(wheels)
    add_wheels(pyodide, wheels, distribution)
    with tarfile.open(folder / "pyodide.tar.bz2", "w:bz2", compresslevel=1) as archive:
        archive.add(pyodide, "pyodide")
    contents = folder / "contents"
    contents.mkdir()
    nbformat.write(build_notebook(), contents / "start.ipynb")
    shared = Path(sys.prefix, "share", "jupyter", "labextensions")
    extensions = [shared / name for name in EXTENSIONS]
    extensions.append(ROOT / "gqlnb" / "notebook" / "labextension")
    kernel = {"loadPyodideOptions": {"packages": ["gqlnb"]}}
    plugins = {"@jupyterlite/pyodide-kernel-extension:kernel": kernel}
    data = {"appName": "gqlnb", "litePluginSettings": plugins}
    lite = {"jupyter-lite-schema-version": 0, "jupyter-config-data": data}
    (folder / "jupyter-lite.json").write_text(json.dumps(lite), "utf-8")
    build_config = {
        "contents": [str(contents)],
        "federated_extensions": [str(each) for each in extensions],
        "ignore_sys_prefix": ["federated_extensions"],
        "no_sourcemaps": True,
        "output_dir": str(output),
    }
    addon = {"pyodide_url": str(folder / "pyodide.tar.bz2")}
    config = {"LiteBuildConfig": build_config, "PyodideAddon": addon}
    (folder / "jupyter_lite_config.json").write_text(json.dumps(config), "utf-8")
    shutil.rmtree(output, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "jupyter", "lite", "build"], check=True, cwd=folder)


def download_wheels(wheels: Path) -> None:
    """Download the packages, and build that of this checkout."""
    pip = [sys.executable, "-m", "pip"]
    tags = [f"--platform={it}" for it in ("any", PLATFORM)]
    tags += ["--python-version=3.14", "--implementation=cp", "--abi=cp314", "--abi=none"]
    download = ["download", "--quiet", "--no-deps", "--only-binary=:all:", *tags]
    subprocess.run([*pip, *download, "--dest", str(wheels), *REQUIREMENTS], check=True)
    own = [*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", str(wheels), str(ROOT)]
    subprocess.run(own, check=True)


def add_wheels(pyodide: Path, wheels: Path, distribution: str | None) -> None:
    """Copy the packages to Pyodide, and enter them into its lock file.

    Packages of the lock file that are not copied are loaded from `distribution`, if it is given.
    """
    path = pyodide / "pyodide-lock.json"
    lock = json.loads(path.read_text("utf-8"))
    packages: dict[str, dict[str, Any]] = lock["packages"]
    if distribution is not None:
        for entry in packages.values():
            entry["file_name"] = f"{distribution.rstrip('/')}/{entry['file_name']}"
    for wheel in wheels.glob("*.whl"):
        name, version = wheel.name.split("-")[:2]
        name = re.sub(r"[-_.]+", "-", name).lower()
        needs = NEEDS.get(name, packages.get(name, {}).get("depends", []))
        if name == "gqlnb" and distribution is not None:
            needs = (*needs, *TABLES)
        packages[name] = {
            "name": name,
            "version": version,
            "file_name": wheel.name,
            "install_dir": "site",
            "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
            "package_type": "package",
            "imports": list_modules(wheel),
            "depends": list(needs),
        }
        shutil.copy(wheel, pyodide)
    path.write_text(json.dumps(lock), "utf-8")


def list_modules(wheel: Path) -> list[str]:
    """Return the top-level modules of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
    return sorted(it.removesuffix(".py") for it in tops if not it.endswith((".dist-info", ".data")))


def build_notebook() -> nbformat.NotebookNode:
    """Return the first notebook of the site; cells of text alternate with cells of code."""
    is_text = re.compile(r"# GraphQL|An? |Its ").match
    cells = [
        nbformat.v4.new_markdown_cell(it) if is_text(it) else nbformat.v4.new_code_cell(it)
        for it in CELLS
    ]
    kernel = {"name": "python", "display_name": "Python (Pyodide)"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


if __name__ == "__main__":
    main()
