"""``gqlnb lab``: JupyterLab on a working copy of the shipped notebooks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import click

from gqlnb.cli.options import PORT
from gqlnb.errors import GqlnbError
from gqlnb.optional_imports import import_optional

DEFAULT_FOLDER = "gqlnb-notebooks"
FIRST_NOTEBOOK = "01_hello.ipynb"
_PACKAGE_FOLDER = Path(__file__).resolve().parents[1]

# Option of JupyterLab -> its value and the option's other spelling. An option given by the user
# replaces ours: traitlets takes no option twice.
_LAB_DEFAULTS = {
    "--ServerApp.ip": ("127.0.0.1", "--ip"),
    "--LabApp.default_url": (f"/lab/tree/{FIRST_NOTEBOOK}", None),
    "--LabApp.news_url": ("None", None),  # by default Lab reads a feed on jupyterlab.github.io
    "--LabApp.check_for_updates_class": ("jupyterlab.NeverCheckForUpdate", None),
}


@click.command(context_settings={"ignore_unknown_options": True})
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path),
    default=DEFAULT_FOLDER,
    show_default=True,
    metavar="FOLDER",
    help="Working folder. Missing notebooks are copied there; existing ones are not overwritten.",
)
@click.option(
    "--port", type=PORT, help="TCP port (default: 8888, or the next free one; 0: any free one)."
)
@click.option("--no-browser", is_flag=True, help="Open no web browser.")
@click.argument("rest", metavar="[JUPYTERLAB ARGUMENTS]...", nargs=-1, type=click.UNPROCESSED)
def lab(folder: Path, *, port: int | None, no_browser: bool, rest: tuple[str, ...]) -> int:
    """Open JupyterLab on the notebooks.

    Every further argument goes to JupyterLab.
    """
    if find_spec("jupyterlab") is None:  # importing it takes as long as starting it
        import_optional("jupyterlab", "jupyterlab", "open the notebooks")
    copied, kept = copy_notebooks(find_notebooks(), folder)
    if copied:
        click.echo(f"Copied to {folder}: {', '.join(copied)}")
    if kept:
        click.echo(f"Already in {folder}, not overwritten: {', '.join(kept)}")
    line = build_command(folder, port=port, browser=not no_browser, rest=rest)
    environment = build_environment(os.environ)
    if os.name == "posix":  # one process, so that Ctrl-C and signals reach JupyterLab itself
        os.execve(line[0], line, environment)  # noqa: S606
    return subprocess.call(line, env=environment)  # noqa: S603


def find_notebooks(package: Path = _PACKAGE_FOLDER) -> Path:
    """Return the folder of the shipped notebooks: in the package, or beside it in a checkout.

    Raises
    ------
    GqlnbError
        If there are none.
    """
    for folder in (package / "notebooks", package.parent / "notebooks"):
        if (folder / FIRST_NOTEBOOK).is_file():
            return folder
    msg = (
        f"The notebooks are missing from this installation of gqlnb ({package}). "
        "Install it again from its checkout or wheel."
    )
    raise GqlnbError(msg)


def copy_notebooks(source: Path, folder: Path) -> tuple[list[str], list[str]]:
    """Copy the files of `source` that `folder` does not have yet.

    Parameters
    ----------
    source
        The folder of the shipped notebooks.
    folder
        The working folder; created if it is missing. Existing files are never changed: they may
        hold the user's work.

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
        The working folder.
    port
        TCP port; 0 lets the system choose, None leaves it to JupyterLab (8888 or the next free).
    browser
        Whether to open the system's web browser.
    rest
        Further arguments of JupyterLab; they override ours.
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
    is_superuser = hasattr(os, "geteuid") and os.geteuid() == 0
    if is_superuser and "--allow-root" not in given:
        # Jupyter refuses the superuser by default, often the only user of a container. We listen on
        # loopback, behind Jupyter's own token.
        line.append("--allow-root")
    return [*line, *rest]


def build_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of JupyterLab, with our folder of default settings."""
    # The folder `labconfig` beside this file holds defaults of JupyterLab's settings: it does not
    # ask whether to fetch news. The user's own settings override them.
    name = "JUPYTER_CONFIG_PATH"  # a list of folders, searched after the user's own
    paths = [str(Path(__file__).parent), *filter(None, [variables.get(name)])]
    return {**variables, name: os.pathsep.join(paths)}
