"""The public names: exactly these, each documented, each typed."""

from __future__ import annotations

import asyncio
import inspect
import pkgutil
import subprocess
import sys
from inspect import signature
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import pytest

import gqlnb

if TYPE_CHECKING:
    pass

NAMES = gqlnb.__all__  # tests/public_api.txt has them


def test_the_package_exports_exactly_its_public_names():
    """`dir()` and a star import agree with `__all__`."""
    assert set(dir(gqlnb)) - {"__version__"} == set(NAMES)
    taken: dict[str, object] = {}
    exec("from gqlnb import *", taken)
    assert taken.keys() - {"__builtins__"} == set(NAMES)


ROOMS = {"engine": gqlnb.engine.__all__, "github": gqlnb.github.__all__}
QUALIFIED = [*NAMES, *(f"{room}.{name}" for room, names in ROOMS.items() for name in names)]


@pytest.mark.parametrize("name", QUALIFIED)
def test_each_public_name_has_an_example(name):
    """`test_docs.py` runs them."""
    assert ">>> " in inspect.getdoc(attrgetter(name)(gqlnb))


def find_callables() -> dict[str, Any]:
    """Return the public functions, constructors and methods without ``**options``, by name."""
    found: dict[str, Any] = {}
    for name in QUALIFIED:
        thing = attrgetter(name)(gqlnb)
        if inspect.isclass(thing) and issubclass(thing, Exception):
            continue  # raised by the package
        if name.endswith("_ipython_extension") or name.startswith("engine."):
            continue  # called by IPython; with the signatures of graphql-core
        found[name] = thing
        # Methods of widgets' base classes are not ours.
        owners = [it for it in getattr(thing, "__mro__", ()) if it.__module__.startswith("gqlnb")]
        for method in dict.fromkeys(it for owner in owners for it in vars(owner)):
            function = getattr(thing, method)
            if not method.startswith("_") and inspect.isroutine(function):
                found[f"{name}.{method}"] = function
    kinds = {name: signature(it).parameters.values() for name, it in found.items() if callable(it)}
    return {
        name: found[name]
        for name, parameters in kinds.items()
        if all(it.kind is not it.VAR_KEYWORD for it in parameters)
    }


def test_unknown_keywords_of_all_callables_are_explained():
    """The error names a similar one and lists all; it is an OptionError and a TypeError."""
    found = find_callables()
    assert {"Limits", "Result.frame", "Client.close", "github.stars", "Token.from_env"} <= {*found}
    for name, function in found.items():
        parameters = signature(function).parameters.values()
        names = [
            it.name for it in parameters if it.kind in {it.POSITIONAL_OR_KEYWORD, it.KEYWORD_ONLY}
        ]
        known = [it for it in names if it not in {"self", "cls"} and not it.startswith("_")]
        with pytest.raises(gqlnb.OptionError) as caught:  # noqa: PT012 - the coroutine's
            called = function(surely_unknown=1)
            asyncio.run(called)
        assert isinstance(caught.value, TypeError)
        listed = ", ".join(f"{it}=" for it in known)
        assert str(caught.value) == (
            f"{function.__name__}() has no argument surely_unknown=. "
            f"It takes {listed or 'no keywords'}."
        ), name


DEMO = gqlnb.connect("demo")
MISTAKES = {
    "Limits(max_depth": (lambda: gqlnb.Limits(max_depth=5), "depth", ["body", "wait"]),
    "stars": (lambda: gqlnb.stars("x", limt=1), "limit", ["query", "client"]),
    "serve": (lambda: gqlnb.serve(gqlnb.reference_schema(), prot=0), "port",
        ["schema", "host", "access", "uds"]),
    "connect": (lambda: gqlnb.connect("demo", tokn="x"), "token", ["target", "schema", "viewer"]),
    "Client": (lambda: gqlnb.Client("http://h/", tiemout=1), "timeout", ["target", "token", "uds"]),
    "execute": (lambda: DEMO.execute("{ a }", operation_name="A"), "operation",
        ["text", "variables", "token", "timeout"]),
    "subscribe": (lambda: DEMO.subscribe("subscription { a }", reconect=1), "reconnect",
        ["text", "transport", "init", "headers"]),
    "pages": (lambda: list(DEMO.pages("{ a }", page_sise=1)), "page_size",
        ["progress", "max_results"]),
    "map": (lambda: DEMO.map("{ a }", [1], bach_size=1), "batch_size", ["inputs", "path"]),
    "aexecute": (lambda: asyncio.run(DEMO.aexecute("{ a }", tokn="x")), "token",
        ["text", "operation"]),
    "harvest": (lambda: gqlnb.github.harvest("stars:>1", ouput="x"), "out",
        ["query", "width", "twice"]),
    "frame": (lambda: gqlnb.Result({"a": 1}).frame(pth="x"), "path", ["short", "explode"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_misspelled_keywords_are_corrected(name):
    """Also where a part of the arguments comes by ``**options``: the list has all of them."""
    call, meant, others = MISTAKES[name]
    with pytest.raises(gqlnb.OptionError, match=f"Did you mean {meant}=\\?") as caught:
        call()
    assert isinstance(caught.value, TypeError)
    listed = str(caught.value).partition(" It takes ")[2]
    assert {meant, *others} <= {it.strip(" =.") for it in listed.split(",")}


def test_no_submodule_has_the_name_of_a_function():
    """A public name does not depend on earlier imports."""
    for package in (gqlnb, gqlnb.engine, gqlnb.github):
        functions = {it for it in package.__all__ if inspect.isroutine(getattr(package, it))}
        assert functions
        assert functions & {it.name for it in pkgutil.iter_modules(package.__path__)} == set()


@pytest.mark.slow  # without a cache, mypy reads all dependencies
def test_public_types_are_correct_for_users(root, tmp_path):
    """Mypy accepts the asserted types and rejects each call marked as wrong.

    It runs as in a project that uses gqlnb, from that project's folder.
    """
    text = (root / "tests" / "typing" / "usage.py").read_text()
    (tmp_path / "usage.py").write_text(text)
    (tmp_path / "wrong.py").write_text(text.replace("(server.url, str)", "(server.url, int)"))
    cache = root / ".mypy_cache" / "users"
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, "usage.py", "wrong.py"],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        text=True,
        timeout=300,
    )
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert len(errors) == 1, done.stdout
    assert errors[0].startswith("wrong.py:")
    assert 'Expression is of type "str", not "int"' in errors[0]
