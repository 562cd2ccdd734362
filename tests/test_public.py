"""The public names: exactly these, each documented, each typed."""

from __future__ import annotations

import inspect
import pkgutil
import shutil
import subprocess
import sys
from operator import attrgetter
from typing import TYPE_CHECKING

import pytest

import gqlnb

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [
    "Access",
    "AnswerError",
    "AuthError",
    "BatchError",
    "Client",
    "Explorer",
    "FrameError",
    "GqlnbError",
    "Limits",
    "LiveFrame",
    "MissingExtraError",
    "OptionError",
    "PartialError",
    "PortInUseError",
    "QueryError",
    "RangeEstimate",
    "RangeHarvest",
    "RateLimited",
    "ReplayError",
    "Result",
    "ResultView",
    "Schema",
    "SchemaError",
    "SchemaView",
    "Server",
    "ServerError",
    "Slice",
    "StarSearch",
    "TargetError",
    "Token",
    "TokenBox",
    "TransportError",
    "Upload",
    "cached",
    "concat",
    "connect",
    "diff",
    "engine",
    "github",
    "load_ipython_extension",
    "recorded",
    "reference_schema",
    "scalar",
    "scrub",
    "serve",
    "stars",
    "unload_ipython_extension",
    "unused_fields",
]


def test_the_package_exports_exactly_its_public_names() -> None:
    """`__all__`, `dir()` and a star import agree with the list above."""
    assert gqlnb.__all__ == NAMES
    assert set(dir(gqlnb)) - {"__version__"} == set(NAMES)
    taken: dict[str, object] = {}
    exec("from gqlnb import *", taken)
    assert taken.keys() - {"__builtins__"} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_public_name_has_a_docstring(name: str) -> None:
    """And so has each public method."""
    thing = getattr(gqlnb, name)
    assert thing.__doc__
    if inspect.isclass(thing):
        own = [it for name, it in vars(thing).items() if name[0] != "_" and inspect.isroutine(it)]
        assert [it for it in own if not inspect.getdoc(it)] == []


ROOMS = {"engine": gqlnb.engine.__all__, "github": gqlnb.github.__all__}
QUALIFIED = [*NAMES, *(f"{room}.{name}" for room, names in ROOMS.items() for name in names)]


@pytest.mark.parametrize("name", QUALIFIED)
def test_each_public_name_has_an_example(name: str) -> None:
    """`test_docs.py` runs them."""
    assert ">>> " in inspect.getdoc(attrgetter(name)(gqlnb))


def test_an_unknown_name_raises_attribute_error() -> None:
    """Like in any module, with the name."""
    with pytest.raises(AttributeError, match="has no attribute 'Clinet'"):
        gqlnb.Clinet  # noqa: B018


def test_no_submodule_has_the_name_of_a_function() -> None:
    """A public name does not depend on earlier imports."""
    functions = {name for name in NAMES if inspect.isroutine(getattr(gqlnb, name))}
    assert "serve" in functions
    assert functions & {module.name for module in pkgutil.iter_modules(gqlnb.__path__)} == set()


def checked(file: Path, root: Path) -> subprocess.CompletedProcess[str]:
    """Run mypy on a file as a project that uses gqlnb would, from its own folder."""
    cache = root / ".mypy_cache" / "users"
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cache), file.name],
        capture_output=True,
        check=False,
        cwd=file.parent,
        text=True,
        timeout=300,
    )


def test_public_types_are_correct_for_users(root: Path, tmp_path: Path) -> None:
    """Mypy accepts the asserted types and rejects each call marked as wrong."""
    file = tmp_path / "usage.py"
    shutil.copy(root / "tests" / "typing" / "usage.py", file)
    done = checked(file, root)
    assert done.returncode == 0, done.stdout
    wrong = tmp_path / "wrong.py"
    wrong.write_text(file.read_text().replace("(server.url, str)", "(server.url, int)"))
    assert 'Expression is of type "str", not "int"' in checked(wrong, root).stdout
