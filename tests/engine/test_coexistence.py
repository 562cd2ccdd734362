"""Other GraphQL libraries in the same process: they stay as they are, and may be wrapped."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import graphql
import pytest

# Every name of the libraries' modules and classes, with what it refers to.
COMPARE = """
import importlib, sys, types
LIBRARIES = ("graphql", "strawberry", "ariadne", "graphene", "graphql_relay")
for name in LIBRARIES:
    try:
        importlib.import_module(name)
    except ImportError:
        pass

def take_snapshot():
    found, classes = {}, {}
    for name, module in list(sys.modules.items()):
        if module is None or name.partition(".")[0] not in LIBRARIES:
            continue
        for key, value in list(vars(module).items()):
            found[name, key] = value
            if isinstance(value, type) and value.__module__.partition(".")[0] in LIBRARIES:
                classes[value] = True
    for kind in classes:
        for key, value in list(vars(kind).items()):
            found[kind.__module__, kind.__qualname__, key] = value
        found[kind.__module__, kind.__qualname__, "bases"] = kind.__bases__
    return found

SKIPPED = {"__warningregistry__", "_abc_impl", "__subclasshook__"}
before = take_snapshot()
import graphql, gqlnb, gqlnb.engine
USE
after = take_snapshot()
changed = [key for key, value in before.items()
           if key[-1] not in SKIPPED and (key not in after or after[key] is not value
           and not isinstance(value, (tuple, classmethod, staticmethod)))]
assert not changed, changed
assert len(before) > 5000, len(before)
"""
USE = """
core = graphql.build_schema("type Query { a: Int } type Subscription { n: Int }")
schema = gqlnb.Schema.adopt(core)
for _ in range(4):
    assert schema.execute("{ a }", root={"a": 1}).data == {"a": 1}
    assert gqlnb.engine.execute(core, graphql.parse("{ a }"), {"a": 2}).data == {"a": 2}
if "strawberry" in sys.modules:
    import strawberry
    @strawberry.type
    class Query:
        @strawberry.field
        def a(self) -> int:
            return 3
    theirs = strawberry.Schema(Query)
    for _ in range(4):
        assert gqlnb.Schema.adopt(theirs).execute("{ a }").data == {"a": 3}
    assert theirs.execute_sync("{ a }").data == {"a": 3}
with gqlnb.serve(core, port=0) as server:
    assert gqlnb.Client(server.url).execute("{ __typename }")
"""
WRAP = """
import graphql, graphql.execution, sys
calls = []

def wrap(function):
    def wrapper(*args, **kwargs):  # as tracing libraries do, without functools.wraps
        calls.append(function.__name__)
        return function(*args, **kwargs)
    return wrapper

for name in ("execute", "subscribe"):
    wrapped = wrap(getattr(graphql, name))
    for module in ("graphql", "graphql.execution", "graphql.graphql", f"graphql.execution.{name}",
                   "graphql.execution.execute"):
        if hasattr(sys.modules.get(module), name):
            setattr(sys.modules[module], name, wrapped)
import asyncio, inspect
import gqlnb, gqlnb.engine

def tick(root, args, context):
    yield from (1, 2)

sdl = "type Query { a(n: Int): Int } type Subscription { n: Int }"
schema = gqlnb.Schema(sdl, {"Query": {"a": lambda root, args, *_: args.get("n", 1)},
                            "Subscription": {"n": tick}})
for _ in range(3):
    assert schema.execute("query ($n: Int) { a(n: $n) }", {"n": 5}).data == {"a": 5}
assert [it["n"] for it in schema.subscribe("subscription { n }")] == [1, 2]
assert not calls

def pass_on(following, *given, **options):
    return following(*given, **options)

adopted = gqlnb.Schema.adopt(schema.graphql, middleware=[pass_on])
assert adopted.execute("{ a }").data == {"a": 1}
assert calls == ["execute"]  # whatever graphql-core executes is traced
document = graphql.parse("{ a }")
assert gqlnb.engine.execute(schema.graphql, document, field_resolver=None).data == {"a": 1}
assert list(inspect.signature(gqlnb.engine.execute).parameters)[:2] == ["schema", "document"]
"""


def run(code: str) -> None:
    """Run code in a process of its own, in which gqlnb was not imported before."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr


def test_nothing_of_other_libraries_is_replaced():
    """After an import, executions and a server: each module and class holds the same objects."""
    run(COMPARE.replace("USE", USE))


def test_a_wrapped_executor_works():
    """A tracing library may replace graphql-core's functions before gqlnb is imported."""
    run(WRAP)


PLUGIN = """
import os, sys, gqlnb, gqlnb.engine, graphql
for _ in range(3):
    assert gqlnb.reference_schema().execute("{ hello }").data
if os.environ.get("REPLACE_EXECUTE"):
    sys.modules["graphql.graphql"].execute = graphql.execute = gqlnb.engine.execute
"""


@pytest.mark.slow
@pytest.mark.skipif(
    graphql.version_info[:2] >= (3, 3),
    reason="Graphene needs graphql-core before 3.3; .ci/run tests it with 3.2.",
)
def test_graphenes_own_tests_give_the_same_results(tmp_path):
    """Without gqlnb, with it in the process, and with its executor in place of graphql-core's.

    ``GRAPHENE_SOURCE`` is the unpacked source release, the only one of the three that holds tests.
    """
    source = os.environ.get("GRAPHENE_SOURCE")
    if source is None:
        pytest.skip("GRAPHENE_SOURCE does not name Graphene's source release")
    shutil.copytree(source, tmp_path, dirs_exist_ok=True)
    (tmp_path / "graphene/tests/__init__.py").touch()  # the release lacks it
    (tmp_path / "gqlnb_plugin.py").write_text(PLUGIN)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "graphene/tests"]
    root = str(Path(__file__).resolve().parents[2])
    counts = []
    for options, replace in (((), ""), (("-p", "gqlnb_plugin"), ""), (("-p", "gqlnb_plugin"), "1")):
        path = os.pathsep.join([str(tmp_path), root, os.environ.get("PYTHONPATH", "")])
        environ = {**os.environ, "PYTHONPATH": path, "REPLACE_EXECUTE": replace}
        done = subprocess.run(
            [*command, *options], capture_output=True, text=True, env=environ, check=False,
            timeout=300, cwd=tmp_path,
        )  # fmt: skip
        counts.append(re.sub(r" in .*", "", done.stdout.strip().splitlines()[-1]))
    assert len(set(counts)) == 1, json.dumps(counts)
    assert re.match(r"\d+ passed", counts[0]), counts
