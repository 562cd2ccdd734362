"""``gqlnb lab``: JupyterLab on a working copy of the shipped notebooks."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from gqlnb.errors import GqlnbError
from gqlnb.optional_imports import import_optional

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "DEFAULT_FOLDER",
    "FIRST_NOTEBOOK",
    "build_command",
    "build_environment",
    "copy_notebooks",
    "find_notebooks",
    "start_lab",
]

DEFAULT_FOLDER = "gqlnb-notebooks"
FIRST_NOTEBOOK = "01_hello.ipynb"
_PACKAGE_FOLDER = Path(__file__).resolve().parents[1]

# Option of JupyterLab -> its value and the other spelling a person may give it in; what a person
# gives wins, and must then stand alone: traitlets takes no option twice.
_LAB_DEFAULTS = {
    "--ServerApp.ip": ("127.0.0.1", "--ip"),
    "--LabApp.default_url": (f"/lab/tree/{FIRST_NOTEBOOK}", None),
    "--LabApp.news_url": ("None", None),  # by default Lab reads a feed on jupyterlab.github.io
    "--LabApp.check_for_updates_class": ("jupyterlab.NeverCheckForUpdate", None),
}


def find_notebooks(package: Path = _PACKAGE_FOLDER) -> Path:
    """Return the folder of the shipped notebooks: in the package, or beside it in a checkout.

    Raises
    ------
    GqlnbError
        If there is neither.
    """
    for folder in (package / "notebooks", package.parent / "notebooks"):
        if (folder / FIRST_NOTEBOOK).is_file():
            return folder
    msg = (
        f"The notebooks are missing from this installation of gqlnb ({package}). "
        "Install it again with: pip install --force-reinstall gqlnb"
    )
    raise GqlnbError(msg)


def copy_notebooks(source: Path, folder: Path) -> tuple[list[str], list[str]]:
    """Copy the files of `source` that `folder` does not have yet.

    Parameters
    ----------
    source
        The folder of the shipped notebooks.
    folder
        The working folder; made if it is missing. A file that is there is never touched: it may
        hold a person's work.

    Returns
    -------
    (list of str, list of str)
        Names of the files copied and of those kept, each in alphabetical order.

    Raises
    ------
    GqlnbError
        If `folder` is a file.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        msg = f"{folder} is a file. Name a folder with: --dir FOLDER"
        raise GqlnbError(msg) from error
    copied: list[str] = []
    kept: list[str] = []
    for path in sorted(source.iterdir()):
        if not path.is_file() or path.name.startswith("."):
            continue
        try:
            with (folder / path.name).open("xb") as file:  # x: fails rather than overwrite
                file.write(path.read_bytes())
        except FileExistsError:
            kept.append(path.name)
        else:
            copied.append(path.name)
    return copied, kept


def build_command(
    folder: Path, *, port: int | None, browser: bool, rest: Sequence[str]
) -> list[str]:
    """Return the command that starts JupyterLab, for the interpreter that runs us.

    Parameters
    ----------
    folder
        The working folder, which JupyterLab shows.
    port
        TCP port; 0 lets the system choose, None leaves it to JupyterLab (8888 or the next free).
    browser
        Whether to open the system's web browser.
    rest
        Further arguments of JupyterLab; they win over ours.
    """
    line = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder.resolve()}"]
    given = {argument.partition("=")[0] for argument in rest}
    for option, (value, other) in _LAB_DEFAULTS.items():
        if given.isdisjoint({option, other}):
            line.append(f"{option}={value}")
    if port is not None:
        line.append(f"--ServerApp.port={port}")
    if not browser:
        line.append("--no-browser")
    if _is_superuser() and "--allow-root" not in given:
        # Jupyter refuses the superuser unless told. In a container there is often nobody else; we
        # listen on loopback, behind Jupyter's own token.
        line.append("--allow-root")
    return [*line, *rest]


def build_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables JupyterLab starts with: those given, and where our defaults are.

    The folder ``labconfig`` beside this file holds defaults of JupyterLab's settings: it does not
    ask whether to fetch news. What a person has chosen in the settings wins.
    """
    name = "JUPYTER_CONFIG_PATH"  # a list of folders, searched after the person's own
    paths = [str(Path(__file__).parent), *filter(None, [variables.get(name)])]
    return {**variables, name: os.pathsep.join(paths)}


def _is_superuser() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def start_lab(
    folder: Path, *, port: int | None = None, browser: bool = True, rest: Sequence[str] = ()
) -> int:
    """Copy the notebooks and become JupyterLab; return its exit code where that is impossible.

    Raises
    ------
    MissingExtraError
        If JupyterLab is not installed for this interpreter.
    GqlnbError
        If the notebooks cannot be copied.
    """
    if find_spec("jupyterlab") is None:  # to import it would take as long as to start it
        import_optional("jupyterlab", "lab", "open the notebooks")
    copied, kept = copy_notebooks(find_notebooks(), folder)
    if copied:
        sys.stdout.write(f"Copied to {folder}: {', '.join(copied)}\n")
    if kept:
        sys.stdout.write(f"Kept as they are in {folder}: {', '.join(kept)}\n")
    sys.stdout.flush()
    line = build_command(folder, port=port, browser=browser, rest=rest)
    if os.name == "posix":  # one process, so that Ctrl-C and signals reach JupyterLab itself
        os.execve(line[0], line, build_environment(os.environ))  # noqa: S606
    return subprocess.call(line, env=build_environment(os.environ))  # noqa: S603
