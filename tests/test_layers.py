"""The house: who may import whom, what loads when, how long things may be.

Each rule is a function from source texts to breaches, so that the tests below can also feed it
a source that breaks the rule.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import gqlnb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Sources = Mapping[str, str]  # dotted module name, a folder ending in .__init__, to its text
    Rule = Callable[[Sources], list[str]]

PACKAGE = Path(gqlnb.__file__).parent
STOREYS = {
    "errors": 0,
    "runtime": 1,
    "token": 1,
    "extras": 1,
    "leaks": 1,
    "sealing": 1,
    "model": 2,
    "engine": 3,
    "wire": 3,
    "client": 4,
    "server": 4,
    "github": 5,
    "notebook": 6,
    "cli": 6,
    "__init__": 7,
    "__main__": 7,
}
FILES = {
    "runtime",
    "token",
    "extras",
    "leaks",
    "sealing",
}  # of one storey and one folder: they may know each other
HEAVY = {"anywidget", "graphql", "ipywidgets", "pandas", "pyarrow", "requests", "starlette"} | {
    "uvicorn"
}
LINES_OF_MODULE = 800
LINES_OF_FUNCTION = 60
ARGUMENTS = 7
MANY_ARGUMENTS = {
    "gqlnb.engine.compiled_execution.execute"
}  # takes the arguments of graphql-core's execute


def sources() -> dict[str, str]:
    """Read the package."""
    return {
        ".".join(("gqlnb", *path.relative_to(PACKAGE).with_suffix("").parts)): path.read_text()
        for path in sorted(PACKAGE.rglob("*.py"))
    }


@cache
def parsed(text: str) -> ast.Module:
    """Parse a module once: the rules look at most of them again and again."""
    return ast.parse(text)


def room(module: str) -> str:
    """Return the first part of a module's name below ``gqlnb``."""
    return [*module.split("."), "__init__"][1]


def imports(
    text: str, *, types: bool = True
) -> Iterator[tuple[ast.stmt | ast.expr, str, list[str], int]]:
    """Yield every import: its node, its module, the names taken from it, its level of dots.

    Those for annotations alone are left out where `types` is false.
    """
    for node in nodes(parsed(text), types=types):
        match node:
            case ast.Import(names=names):
                yield from ((node, name.name, [], 0) for name in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                yield node, module or "", [name.name for name in names], level
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield node, name, [], 0


def nodes(tree: ast.AST, *, types: bool) -> Iterator[ast.AST]:
    """Walk over a tree, past the blocks for type checkers alone where `types` is false."""
    for node in ast.iter_child_nodes(tree):
        if not types and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        yield from nodes(node, types=types)


def ours(module: str) -> bool:
    """Tell whether a module is one of the package's."""
    return module.partition(".")[0] == "gqlnb"


def resolve(module: str, texts: Sources) -> str:
    """Return the key of a module in `texts`: a folder is its ``__init__``."""
    return f"{module}.__init__" if f"{module}.__init__" in texts else module


def wrong_imports(texts: Sources) -> list[str]:
    """Find imports that are relative, go up, or go to a neighbour."""
    found = []
    for module, text in texts.items():
        for node, package, names, level in imports(text):
            where = f"{module}:{node.lineno}"
            if level:
                found.append(f"{where} imports relatively")
            elif ours(package):
                found += [
                    f"{where} imports {target}, {wrong}"
                    for target in submodules(package, names, texts) or [package]
                    if (wrong := misplaced(module, target))
                ]
    return found


def misplaced(module: str, target: str) -> str | None:
    """Say what is wrong with one of our modules importing another."""
    if room(module) == room(target):
        return None
    if not {room(module), room(target)} <= STOREYS.keys():
        return "and one of the two is on no storey"
    height = STOREYS[room(module)] - STOREYS[room(target)]
    in_one_folder = {module.count("."), target.count(".")} == {1} and room(target) in FILES
    return None if height > 0 or (height == 0 and in_one_folder) else "which is not below"


def borrowed_names(texts: Sources) -> list[str]:
    """Find names imported from a file that does not define them, a folder's door above all."""
    found = []
    for module, text in texts.items():
        for node, target, names, _ in imports(text):
            if not ours(target) or target == "gqlnb":
                continue
            key = resolve(target, texts)
            tree = parsed(texts.get(key, ""))
            known = {*definitions(tree), *exported(tree)} if key == target else set[str]()
            modules = submodules(target, names, texts)
            found += [
                f"{module}:{node.lineno} imports {name}, which {target} does not define"
                for name in names
                if name not in known and f"{target}.{name}" not in modules
            ]
    return found


def below(package: str, texts: Sources) -> list[str]:
    """Return the modules below a package, their names without the package's."""
    start = f"{package}."
    return [name.removeprefix(start) for name in texts if name.startswith(start)]


def submodules(package: str, names: list[str], texts: Sources) -> list[str]:
    """Return the modules among the names taken from a package."""
    known = {name.partition(".")[0] for name in below(package, texts)}
    return [f"{package}.{name}" for name in names if name in known]


def exported(tree: ast.Module) -> list[str]:
    """Return a module's ``__all__`` where it is written out."""
    for node in tree.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id="__all__")], value=value)
                | ast.AnnAssign(target=ast.Name(id="__all__"), value=ast.expr() as value)
            ):
                return [str(it.value) for it in ast.walk(value) if isinstance(it, ast.Constant)]
    return []


def definitions(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a module defines at its top, also below ``if`` and ``try``."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.Assign() | ast.AnnAssign():
                yield from (
                    name.id
                    for name in ast.walk(node)
                    if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
                )
            case ast.If() | ast.Try():
                yield from definitions(node)


def circles(texts: Sources) -> list[str]:
    """Find modules that import each other, directly or around a corner, now or when called.

    Annotations do not count: nothing runs in a wrong order because of them.
    """
    graph = {
        module: {
            resolve(file, texts)
            for _, target, names, _ in imports(text, types=False)
            for file in submodules(target, names, texts) or [target]
        }
        & texts.keys()
        for module, text in texts.items()
    }
    found: list[str] = []
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        if module in path:
            found.append(" -> ".join((*path[path.index(module) :], module)))
        elif module not in done:
            for target in sorted(graph[module]):
                visit(target, (*path, module))
            done.add(module)

    for module in sorted(graph):
        visit(module, ())
    return found


def shadows(texts: Sources) -> list[str]:
    """Find submodules that bear a public name of their package.

    The front door is left to its own test: its ``github`` is a submodule, and no function.
    """
    found = []
    for package in sorted(name.removesuffix(".__init__") for name in texts if "__init__" in name):
        tree = parsed(texts[f"{package}.__init__"])
        taken = {*definitions(tree), *exported(tree)} if package != "gqlnb" else set[str]()
        children = {name.partition(".")[0] for name in below(package, texts)}
        found += [f"{package}.{name} bears a public name" for name in sorted(children & taken)]
    return found


def heavy_at_the_door(texts: Sources) -> list[str]:
    """Find third-party imports that ``import gqlnb`` would run."""
    found: list[str] = []
    seen: set[str] = set()
    waiting = ["gqlnb.__init__"]
    while waiting:
        module = waiting.pop()
        if module in seen or module not in texts:
            continue
        seen.add(module)
        for node in eager(parsed(texts[module])):
            for _, target, _, _ in imports(ast.unparse(node)):
                if ours(target):
                    waiting += [resolve(target, texts)]
                elif target.partition(".")[0] not in sys.stdlib_module_names:
                    found.append(f"{module}:{node.lineno} imports {target}")
    return found


def eager(tree: ast.AST) -> Iterator[ast.stmt]:
    """Yield the import statements that run when a module is imported."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.Import() | ast.ImportFrom():
                yield node
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=rest):
                yield from eager(ast.Module(rest, []))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                pass
            case _:
                yield from eager(node)


def too_large(texts: Sources) -> list[str]:
    """Find modules and functions that are too long, and functions with too many arguments."""
    found = []
    for module, text in texts.items():
        lines = len(text.splitlines())
        if lines > LINES_OF_MODULE:
            found.append(f"{module} has {lines} lines")
        for node in ast.walk(parsed(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found += [f"{module}:{node.lineno} {node.name} has {it}" for it in excess(node)]
    return [breach for breach in found if not allowed(breach)]


def excess(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """Yield what a function has too much of."""
    first = node.body[0]
    text = first if ast.get_docstring(node, clean=False) is not None else None
    docstring = text.end_lineno - text.lineno + 1 if text else 0
    lines = node.end_lineno - node.lineno + 1 - docstring
    if lines > LINES_OF_FUNCTION:
        yield f"{lines} lines"
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    count = len([it for it in every if it.arg not in {"self", "cls"}])
    if count > ARGUMENTS:
        yield f"{count} arguments"


def allowed(breach: str) -> bool:
    """Tell whether a breach is the one exception."""
    place, name, *_ = [*breach.split(), ""]
    return f"{place.partition(':')[0]}.{name}" in MANY_ARGUMENTS and "arguments" in breach


RULES = [wrong_imports, borrowed_names, circles, shadows, heavy_at_the_door, too_large]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_package_keeps_the_rule(rule: Rule) -> None:
    """The source breaks no rule of the house."""
    breaches = rule(sources())
    assert not breaches, "\n".join(breaches)


FRONT = {"gqlnb.__init__": ""}
LONG = "def f():\n" + "    pass\n" * LINES_OF_FUNCTION
BROKEN = {
    "upward": (wrong_imports, {"gqlnb.document.a": "import gqlnb.http.b"}),
    "upward inside a function": (
        wrong_imports,
        {"gqlnb.document.a": "def f():\n from gqlnb.cli.b import c"},
    ),
    "upward for types only": (
        wrong_imports,
        {"gqlnb.errors": "if TYPE_CHECKING:\n from gqlnb.result.result import Result"},
    ),
    "upward by name": (
        wrong_imports,
        {"gqlnb.document.a": "importlib.import_module('gqlnb.client.b')"},
    ),
    "the front door": (wrong_imports, {"gqlnb.cli.a": "from gqlnb import Client"}),
    "a neighbour": (wrong_imports, {"gqlnb.engine.a": "from gqlnb.http.b import c"}),
    "a neighbouring file": (wrong_imports, {"gqlnb.optional_imports": "import gqlnb.document"}),
    "a relative import": (wrong_imports, {"gqlnb.document.a": "from .b import c"}),
    "a name of a folder's door": (
        borrowed_names,
        {
            "gqlnb.document.__init__": "def b(): ...",
            "gqlnb.client.a": "from gqlnb.document import b",
        },
    ),
    "no storey": (wrong_imports, {"gqlnb.attic": "import gqlnb.errors"}),
    "a borrowed name": (
        borrowed_names,
        {
            "gqlnb.document.a": "from gqlnb.errors import plain",
            "gqlnb.errors": "from x import plain",
        },
    ),
    "a circle": (
        circles,
        {
            "gqlnb.document.a": "import gqlnb.document.b",
            "gqlnb.document.b": "def f():\n import gqlnb.document.c",
            "gqlnb.document.c": "from gqlnb.document.a import A",
        },
    ),
    "a shadow": (
        shadows,
        {"gqlnb.engine.__init__": "def execute(): ...", "gqlnb.engine.execute": ""},
    ),
    "a shadow of a lazy name": (
        shadows,
        {
            "gqlnb.github.__init__": "__all__ = ['service']\ndef __getattr__(name): ...",
            "gqlnb.github.service.a": "",
        },
    ),
    "pandas at the door": (heavy_at_the_door, {"gqlnb.__init__": "import pandas as pd"}),
    "graphql behind the door": (
        heavy_at_the_door,
        {
            "gqlnb.__init__": "try:\n from gqlnb.document.a import x\nexcept ImportError: pass",
            "gqlnb.document.a": "class A:\n from graphql import parse",
        },
    ),
    "a long module": (too_large, {"gqlnb.document.a": "pass\n" * (LINES_OF_MODULE + 1)}),
    "a long function": (too_large, {"gqlnb.document.a": LONG}),
    "a long method": (
        too_large,
        {"gqlnb.document.a": "class A:\n" + "".join(f" {line}\n" for line in LONG.splitlines())},
    ),
    "many arguments": (too_large, {"gqlnb.document.a": "def f(a, b, c, d, *, e, f, g, h): ..."}),
}


@pytest.mark.parametrize("what", BROKEN)
def test_each_rule_finds_its_breach(what: str) -> None:
    """A source that breaks a rule is found, once."""
    rule, texts = BROKEN[what]
    assert len(rule(FRONT | texts)) == 1


def test_rules_let_good_code_pass() -> None:
    """What the rules ask for breaks none of them."""
    good = {
        "gqlnb.__init__": "import sys\nif TYPE_CHECKING:\n import pandas\ndef f():\n import pandas",
        "gqlnb.engine.compiled_execution": (
            "from gqlnb.document.a import A\ndef execute(a, b, c, d, e, f, g, h): ...\n"
        ),
        "gqlnb.auth": "from gqlnb.optional_imports import need\nfrom gqlnb import errors",
        "gqlnb.optional_imports": "def need(): ...",
        "gqlnb.errors": "if TYPE_CHECKING:\n from gqlnb.errors import A\nclass A: ...",
        "gqlnb.client.a": "from gqlnb.document import a\nfrom gqlnb.document.a import A, B",
        "gqlnb.document.__init__": "",
        "gqlnb.document.a": f"__all__ = ['A', 'B']\nfrom x import B\n"
        f'class A:\n def f(self, a, b, c, d, e, f, g):\n  """{LONG}"""\n',
    }
    assert [breach for rule in RULES for breach in rule(good)] == []


def loaded_by(code: str, tmp_path: Path) -> set[str]:
    """Return the top-level modules that a fresh interpreter holds after running `code`."""
    code = f"{code}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        cwd=tmp_path,
        env=environment,
        timeout=60,
    )
    return {name.partition(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}


def test_import_loads_nothing_of_others(tmp_path: Path) -> None:
    """`import gqlnb` loads no third-party module."""
    extra = loaded_by("import gqlnb", tmp_path) - loaded_by("pass", tmp_path)
    assert "gqlnb" in extra
    assert extra - set(sys.stdlib_module_names) == {"gqlnb"}


def test_load_ext_stays_cheap(tmp_path: Path) -> None:
    """`%load_ext gqlnb` loads none of the heavy libraries."""
    shell = "from IPython.core.interactiveshell import InteractiveShell as S\nshell = S.instance()"
    code = f"""{shell}
shell.run_line_magic('load_ext', 'gqlnb')
assert 'graphql' in shell.magics_manager.magics['cell']"""
    assert loaded_by(code, tmp_path) & HEAVY == set()
    assert "pandas" in loaded_by(f"{code}\nimport pandas", tmp_path)
