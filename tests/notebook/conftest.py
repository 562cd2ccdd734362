"""A shell with the extension loaded."""

from __future__ import annotations

import gc

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import gqlnb
from gqlnb.client import connections
from tests.named_connections import forget_connection

SDL = """
"What can be asked."
type Query {
  "Greets whoever asks."
  hello: String
  "Adds two numbers."
  add("The first." a: Int!, "The second." b: Int = 0): Int
  rows: [Row]
  fail: Int
  sort(by: Order = ASC, only: [Order!], where: Where): String
  say(s: String!): String
}
"A row of a table."
type Row { n: Int bad: Int @deprecated(reason: "It fails.") }
enum Order { "Small ones first." ASC DESC }
input Where { least: Int day: Date }
scalar Date
type Mutation { put(a: Int!): Int }
"""


def fail(*_):
    """Fail as a resolver of a person's own."""
    return 1 / 0


def resolvers():
    """Return the functions of the schema."""
    return {
        "Query": {
            "hello": lambda *_: "Hello world!",
            "add": lambda root, args, context: args["a"] + args.get("b", 0),
            "rows": lambda *_: [{"n": 1}, {"n": 2}],
            "fail": fail,
            "sort": lambda root, args, context: repr(sorted(args.items())),
            "say": lambda root, args, context: args["s"],
        },
        "Row": {"bad": fail},
        "Mutation": {"put": lambda root, args, context: args["a"]},
    }


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Yield a shell with the extension loaded and a schema in its namespace."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    # IPython collects garbage when a shell ends: 80 ms with all that the first test imported.
    # The garbage of earlier shells was collected then.
    gc.freeze()
    InteractiveShell.clear_instance()
    made = InteractiveShell.instance(config=Config(HistoryManager={"hist_file": ":memory:"}))
    made.run_line_magic("load_ext", "gqlnb")
    made.user_ns["schema"] = gqlnb.Schema(SDL, resolvers())
    yield made
    if "gqlnb" in made.extension_manager.loaded:
        made.run_line_magic("unload_ext", "gqlnb")
    connections.use_connection(None)
    for name in ("mine", "schema"):
        forget_connection(name)
    made._atexit_once()  # while its history can still be written
    InteractiveShell.clear_instance()
