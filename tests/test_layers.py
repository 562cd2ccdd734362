"""Rules for the source: import layers, import cycles, lazy imports.

Each rule is a function from source texts to violations, so that the tests below can also pass it
a source that violates the rule.
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
LAYERS = {
    "errors": 0,
    "tokens": 1,
    "background": 1,
    "config": 1,
    "interactive": 1,
    "limits": 1,
    "option_checks": 1,
    "optional_imports": 1,
    "redact": 0,
    "document": 2,
    "result": 2,
    "engine": 3,
    "http": 3,
    "lists": 3,
    "client": 4,
    "server": 4,
    "github": 5,
    "cli": 6,
    "notebook": 6,
    "__init__": 7,
    "__main__": 7,
}
# Single modules of one layer may import each other.
MODULES = {
    "tokens",
    "background",
    "config",
    "limits",
    "option_checks",
    "optional_imports",
    "redact",
}
# A result is read by its document, so these two share a layer, in this direction only.
SAME_LAYER = {("result", "document"), ("errors", "redact"), ("lists", "http")}
HEAVY = {"anywidget", "graphql", "ipywidgets", "pandas", "pyarrow", "requests", "starlette"} | {
    "uvicorn"
}


def read_sources() -> dict[str, str]:
    """Read the package."""
    return {
        ".".join(("gqlnb", *path.relative_to(PACKAGE).with_suffix("").parts)): path.read_text()
        for path in sorted(PACKAGE.rglob("*.py"))
    }


@cache
def parse(text: str) -> ast.Module:
    """Parse a module once: the rules look at most of them again and again."""
    return ast.parse(text)


def get_package(module: str) -> str:
    """Return the first part of a module's name below ``gqlnb``."""
    return [*module.split("."), "__init__"][1]


def iterate_imports(text: str) -> Iterator[tuple[ast.stmt | ast.expr, str, list[str], int]]:
    """Yield every import: its node, its module, the names taken from it, its level of dots."""
    for node in ast.walk(parse(text)):
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


def is_own(module: str) -> bool:
    """Return whether a module is one of the package's."""
    return module.partition(".")[0] == "gqlnb"


def resolve(module: str, texts: Sources) -> str:
    """Return the key of a module in `texts`: a folder is its ``__init__``."""
    return f"{module}.__init__" if f"{module}.__init__" in texts else module


def find_wrong_imports(texts: Sources) -> list[str]:
    """Find imports that are relative, point upward, or to another package of the same layer."""
    found = []
    for module, text in texts.items():
        for node, package, names, level in iterate_imports(text):
            where = f"{module}:{node.lineno}"
            if level:
                found.append(f"{where} imports relatively")
            elif is_own(package):
                found += [
                    f"{where} imports {target}, {wrong}"
                    for target in filter_submodules(package, names, texts) or [package]
                    if (wrong := explain_misplaced_import(module, target))
                ]
    return found


def explain_misplaced_import(module: str, target: str) -> str | None:
    """Return the reason why one of our modules may not import another, or None."""
    if get_package(module) == get_package(target):
        return None
    if not {get_package(module), get_package(target)} <= LAYERS.keys():
        return "and one of the two belongs to no layer"
    packages = get_package(module), get_package(target)
    difference = LAYERS[packages[0]] - LAYERS[packages[1]]
    is_allowed = MODULES.issuperset(packages) or packages in SAME_LAYER
    if difference > 0 or (difference == 0 and is_allowed):
        return None
    return "which is not in a lower layer"


def list_submodules(package: str, texts: Sources) -> list[str]:
    """Return the modules below a package, their names without the package's."""
    start = f"{package}."
    return [name.removeprefix(start) for name in texts if name.startswith(start)]


def filter_submodules(package: str, names: list[str], texts: Sources) -> list[str]:
    """Return the modules among the names taken from a package."""
    known = {name.partition(".")[0] for name in list_submodules(package, texts)}
    return [f"{package}.{name}" for name in names if name in known]


def find_cycles(texts: Sources) -> list[str]:
    """Find import cycles, imports inside functions included.

    Imports for type checking count: a reader has to follow them, too.
    """
    graph = {
        module: {
            resolve(file, texts)
            for _, target, names, _ in iterate_imports(text)
            for file in filter_submodules(target, names, texts) or [target]
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


RULES = [find_wrong_imports, find_cycles]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_package_follows_the_layer_rules(rule):
    """No module violates a rule."""
    violations = rule(read_sources())
    assert not violations, "\n".join(violations)


FRONT = {"gqlnb.__init__": ""}
BROKEN = {
    case: (rule, texts)
    for rule, cases in {
        find_wrong_imports: {
            "upward": {"gqlnb.document.a": "import gqlnb.http.b"},
            "upward inside a function": {
                "gqlnb.document.a": "def f():\n from gqlnb.cli.b import c"
            },
            "upward for types only": {
                "gqlnb.errors": "if TYPE_CHECKING:\n from gqlnb.result.result import Result"
            },
            "upward by name": {"gqlnb.document.a": "importlib.import_module('gqlnb.client.b')"},
            "the top-level package": {"gqlnb.cli.a": "from gqlnb import Client"},
            "a package of the same layer": {"gqlnb.engine.a": "from gqlnb.http.b import c"},
            "a package from a single module": {"gqlnb.optional_imports": "import gqlnb.document"},
            "a relative import": {"gqlnb.document.a": "from .b import c"},
            "a package without a layer": {"gqlnb.other": "import gqlnb.errors"},
        },
        find_cycles: {
            "a cycle": {
                "gqlnb.document.a": "import gqlnb.document.b",
                "gqlnb.document.b": "def f():\n import gqlnb.document.c",
                "gqlnb.document.c": "from gqlnb.document.a import A",
            }
        },
    }.items()
    for case, texts in cases.items()
}


@pytest.mark.parametrize("case", BROKEN)
def test_each_rule_detects_its_violation(case):
    """A source that violates a rule is reported once."""
    rule, texts = BROKEN[case]
    assert len(rule(FRONT | texts)) == 1


def list_loaded_modules(code: str, tmp_path: Path) -> set[str]:
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


def test_import_loads_no_third_party_module(tmp_path):
    """In a new process, after `import gqlnb`."""
    extra = list_loaded_modules("import gqlnb", tmp_path) - list_loaded_modules("pass", tmp_path)
    assert "gqlnb" in extra
    assert extra - set(sys.stdlib_module_names) == {"gqlnb"}


def test_load_ext_loads_no_heavy_library(tmp_path):
    """`%load_ext gqlnb` loads none of the heavy libraries."""
    shell = "from IPython.core.interactiveshell import InteractiveShell as S\nshell = S.instance()"
    code = f"""{shell}
shell.run_line_magic('load_ext', 'gqlnb')
assert 'graphql' in shell.magics_manager.magics['cell']"""
    assert list_loaded_modules(code, tmp_path) & HEAVY == set()
    assert "pandas" in list_loaded_modules(f"{code}\nimport pandas", tmp_path)


def test_a_cell_runs_where_no_data_library_is_installed(tmp_path):
    """As in JupyterLite's kernel before a table is asked for; the answer is shown as JSON."""
    code = """import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"numpy", "pandas", "pyarrow", "requests", "uvicorn"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "gqlnb")
shell.run_cell("import gqlnb; hello = gqlnb.reference_schema()").raise_error()
shell.run_cell("%%graphql hello\\n{ hello }").raise_error()
shell.run_cell("%%graphql hello -t raw\\n{ hello }").raise_error()
shell.run_cell("%graphql schema Query -c hello").raise_error()
text = "%%graphql hello\\n{ he"
from IPython.core.completer import provisionalcompleter
with provisionalcompleter():
    assert "hello" in [it.text for it in shell.Completer.completions(text, len(text))]"""
    assert "gqlnb" in list_loaded_modules(code, tmp_path)


STEPS = """import sys
from dataclasses import make_dataclass
import gqlnb
from gqlnb import Client

DATA = {"attrs", "numpy", "pandas", "polars", "pyarrow", "pydantic"}
LIBRARIES = {"ariadne", "graphene", "strawberry"}

def check(*names):
    loaded = {*sys.modules} & {*names}
    assert not loaded, loaded

def list_rows(*_):
    return [{"a": n} for n in range(3000)]

client = Client("http://127.0.0.1:9/graphql")
assert "gqlnb.client.http_transport" in sys.modules
check(*DATA, "gqlnb.engine", "requests", "urllib3", "uvicorn")
from gqlnb import Schema, TargetError, github
check("gqlnb.github.rest", "uvicorn")
assert gqlnb.reference_schema().execute("{ hello }").models().hello == "Hello world!"
check(*DATA)
schema = Schema("type Query { f(r: R): Int } input R { n: Int }")
schema.execute("query ($r: R) { f(r: $r) }", {"r": make_dataclass("Row", ["n"])(1)})
check(*DATA)
from graphql import build_schema
Schema.adopt(build_schema("type Query { a: Int }")).execute("{ a }")
try:
    Client(5)
except TargetError:
    check(*DATA, *LIBRARIES)
import urllib.request
from gqlnb.server.app import App
with gqlnb.serve(schema, port=0) as server:
    headers = {"content-type": "application/json"}
    asked = urllib.request.Request(server.url, b'{"query": "{ f }"}', headers)
    urllib.request.urlopen(asked, timeout=20).read()
    check("pandas", "requests")
    rows = Schema("type Query { n: [Row] } type Row { a: ID }", {"Query": {"n": list_rows}})
    answer = Client(App(rows), schema=rows).execute("{ n { a } }")
    assert "data" not in vars(answer) and len(answer.data["n"]) == 3000
    check("pandas", "pyarrow")
    assert len(server.log) == 1 and "pandas" in sys.modules
import gqlnb.client.http_route"""


def test_what_needs_no_library_loads_none(tmp_path):
    """Clients, models, values of variables, adopted schemas and servers, one after the other."""
    assert "requests" in list_loaded_modules(STEPS, tmp_path)
