"""Variables of cells: locals of functions, similar names, tables; in a shell and a real kernel."""

from __future__ import annotations

import pandas as pd
import pytest

import gqlnb
from tests.notebook.cells import beside, failure, run
from tests.notebook.kernel import run_kernel

ADD = "query ($a: Int!, $b: Int) { add(a: $a, b: $b) }"
MAGICS = {
    "line": f'get_ipython().run_line_magic("graphql", "schema {ADD}")',
    "cell": f'get_ipython().run_cell_magic("graphql", "schema", "{ADD}")',
    "percent": f"%graphql schema {ADD}",
}


@pytest.mark.parametrize("magic", MAGICS.values(), ids=MAGICS)
def test_a_magic_in_a_function_uses_its_locals(shell, magic):
    """Locals take precedence over the names of the notebook."""
    code = f"a, b = 100, 1\ndef f(a):\n    return {magic}\nfound = f(2)"
    if magic.startswith("%"):
        code = f"a, b = 100, 1\ndef f(a):\n    r = {magic}\n    return r\nfound = f(2)"
    run(shell, code)
    assert shell.user_ns["found"].data == {"add": 3}
    assert run(shell, f"%graphql schema {ADD}").data == {"add": 101}


@pytest.mark.parametrize("magic", [MAGICS["line"], MAGICS["cell"]], ids=["line", "cell"])
def test_a_magic_in_a_comprehension_uses_enclosing_names(shell, magic):
    """The loop's variable, and the locals of the enclosing function."""
    run(shell, f"def f(b):\n    return [{magic}.data['add'] for a in range(3)]\nfound = f(10)")
    assert shell.user_ns["found"] == [10, 11, 12]
    assert run(shell, f"[{magic}.data['add'] for a in range(2) for b in (5,)]") == [5, 6]


def test_options_use_locals(shell):
    """The connection, --vars, and --param expressions with comprehensions."""
    run(
        shell,
        "names = [1]\n"
        "def f(names, values, inner):\n"
        f"    r = %graphql inner -v values -p a=sum([n for n in names]) {ADD}\n"
        "    return r\n"
        "found = f([2, 3], {'b': 4}, schema)",
    )
    assert shell.user_ns["found"].data == {"add": 9}
    assert "inner" not in shell.user_ns


def test_locals_do_not_outlive_the_function(shell):
    """A later cell does not use them."""
    run(shell, f"def f():\n    a = 1\n    return {MAGICS['line']}\nf()")
    assert "The notebook has no a." in failure(shell, f"%%graphql schema\n{ADD}")


def test_an_error_in_a_function_names_a_local(shell):
    """A missing variable is compared with the names that the function has."""
    line = "%graphql schema query ($only: Int!) { add(a: $only) }"
    shown = failure(shell, f"def f(onyl):\n    r = {line}\n    return r\nf(1)")
    assert "Did you mean onyl?" in shown


NULLABLE = "query ($onyl: Int) { add(a: 1, b: $onyl) }"


def test_a_similar_name_is_noted_once(shell):
    """The variable is left out, and one note says so."""
    shell.user_ns["only"] = 5
    (note,) = beside(shell, f"%%graphql schema -o r\n{NULLABLE}")
    assert note["text/plain"].startswith("$onyl has no value, so it is left out (null). Did you")
    assert "Did you mean only?" in note["text/plain"]
    assert "-p onyl=only" in note["text/plain"]
    assert shell.user_ns["r"].data == {"add": 1}


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ({"other": 5}, NULLABLE),
        ({"only": len, "onlyy": [1]}, NULLABLE),
        (
            {"only": 5},
            "query ($onyl: Int, $only: Int) { a: add(a: 1, b: $onyl) b: add(a: 1, b: $only) }",
        ),
    ],
    ids=["unlike", "no number", "declared"],
)
def test_a_variable_without_a_value_is_noted_without_a_similar_name(shell, names, text):
    """A filter without a value lets all rows pass; other names are not of its type."""
    shell.user_ns |= names
    (note,) = beside(shell, f"%%graphql schema -o r\n{text}")
    assert note["text/plain"] == (
        "$onyl has no value, so it is left out (null). To set it: onyl = ... in a cell above, or "
        "-p onyl=..."
    )


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("-p onyl=2", NULLABLE),
        ("-p onyl=None", NULLABLE),
        ("-v given", NULLABLE),
        ("--interact onyl", NULLABLE),
        ("--map rows", NULLABLE),
        ("-q", NULLABLE),
        ("", "query ($onyl: Int = 3) { add(a: 1, b: $onyl) }"),
        ("", "query ($onyl: Int = null) { add(a: 1, b: $onyl) }"),
    ],
)
def test_no_note_on_variables_with_a_value_or_a_default(shell, line, text):
    """Of the notebook, an option, a control, the inputs or the document."""
    shell.user_ns |= {"given": {"onyl": 2}, "rows": [{"onyl": 1}, {"onyl": 2}]}
    shown = beside(shell, f"%%graphql schema -o r {line}\n{text}")
    assert not [it for it in shown if "has no value" in it["text/plain"]]


def test_a_note_names_all_variables_without_a_value(shell):
    """One line in each mode; if only given variables count, names of the notebook do not."""
    fields = "add(a: 1, b: $x) sort(by: $only) b: add(a: 2, b: $y)"
    text = f"query ($x: Int, $only: Order, $y: Int) {{ {fields} }}"
    shell.user_ns["rows"] = [{"x": 1}]
    for line, expected in {
        "": "$x, $only, $y have no value, so they are left out (null).",
        "-N": "$x, $only, $y have no value, so they are left out (null).",
        "--map rows": "$only, $y have no value, so they are left out (null).",
        "--interact x": "$only, $y have no value, so they are left out (null).",
    }.items():
        shown = beside(shell, f"%%graphql schema -o r {line}\n{text}")
        notes = [it["text/plain"] for it in shown if "left out" in it["text/plain"]]
        assert [note.startswith(expected) for note in notes] == [True], line
    shell.run_line_magic("config", "GraphQLMagic.variables = 'given'")
    shell.user_ns["y"] = 1
    (note,) = beside(shell, f"%%graphql schema -o r\n{text}")
    assert note["text/plain"].endswith("(null). To set it: -p x=...")


def test_a_note_says_that_a_default_is_used(shell):
    """The misspelled variable has a default, which is sent instead of the similar name's value."""
    shell.user_ns["only"] = 5
    (note,) = beside(shell, "%%graphql schema -o r\nquery ($onyl: Int = 3) { add(a: $onyl) }")
    assert "its default is used" in note["text/plain"]


@pytest.mark.parametrize("option", ["-p onyl=5", "-v given"])
def test_an_option_for_an_undeclared_variable_is_an_error(shell, option):
    """It would be ignored, and the operation would run without it."""
    shell.user_ns["given"] = {"onyl": 5}
    text = "query ($only: Int) { add(a: 1, b: $only) }"
    shown = failure(shell, f"%%graphql schema {option}\n{text}")
    assert "the operation does not declare $onyl" in shown.replace("The op", "the op")
    assert "only" in shown
    assert "the operation does not declare $onyl" in failure(
        shell, f"%%graphql schema -N {option}\n{text}"
    ).replace("The op", "the op")


SETUP = """%load_ext gqlnb
import dataclasses, gqlnb, numpy as np, pandas as pd
schema = gqlnb.Schema('''
type Query { add(rows: [Row!]!): JSON  one(row: Row, only: Int): JSON  list(xs: [Int]): JSON }
input Row { n: Int!  name: String  when: DateTime }
scalar JSON scalar DateTime
''', {"Query": dict.fromkeys(("add", "one", "list"), lambda root, args, context: args)})
@dataclasses.dataclass
class Row:
    n: int
    name: str | None = None
df = pd.DataFrame({"n": [1.0, 2.0], "name": ["a", None]})
%graphql connect schema
"""
ROWS = "query ($rows: [Row!]!) { add(rows: $rows) }"
SITUATIONS = {
    "frame": (f"rows = df\n%graphql -t json {ROWS}",
     "{'n': 1, 'name': 'a'}, {'n': 2, 'name': None}"),
    "option": (f"%graphql -t json -p rows=df[df.n>1] {ROWS}", "[{'n': 2, 'name': None}]"),
    "loop": (
        "for _, row in df.iterrows():\n"
        "    r = %graphql -t json query ($row: Row) { one(row: $row) }\n"
        "    print(r)",
        "{'n': 2, 'name': None}",
    ),
    "function": (
        "def ask(rows):\n    r = %graphql -t json " + ROWS + "\n    return r\nask(df.head(1))",
        "[{'n': 1, 'name': 'a'}]",
    ),
    "dataclass": (f"rows = [Row(5), Row(6, 'b')]\n%graphql -t json {ROWS}", "'n': 6, 'name': 'b'"),
    "records": (f"rows = df.to_dict('records')\n%graphql -t json {ROWS}", "{'n': 1, 'name': 'a'}"),
    "column": ("xs = df['n']\n%graphql -t json query ($xs: [Int]) { list(xs: $xs) }", "[1, 2]"),
    "gap": ("xs = pd.Series([1, None])\n%graphql -t json query ($xs: [Int]) { list(xs: $xs) }",
     "[1, None]"),
    "array": ("xs = np.arange(3)\n%graphql -t json query ($xs: [Int]) { list(xs: $xs) }",
     "[0, 1, 2]"),
    "row": ("row = df.loc[0]\n%graphql -t json query ($row: Row) { one(row: $row) }",
     "{'n': 1, 'name': 'a'}"),
    "moment": (
        "row = dict(n=1, when=pd.Timestamp('2026-01-02', tz='UTC'))\n"
        "%graphql -t json query ($row: Row) { one(row: $row) }",
        "2026-01-02T00:00:00+00:00",
    ),
    "similar": ("only = 5\n%graphql -t json query ($onyl: Int) { one(only: $onyl) }",
     "Did you mean only?"),
    "columns": (f"rows = df.assign(naem='x')\n%graphql {ROWS}", 'df[["n", "name"]]'),
    "empty": (f"rows = df.head(0)\n%graphql -t json {ROWS}", "{'add': {'rows': []}}"),
    "cell": (
        "def ask(rows):\n"
        f"    return get_ipython().run_cell_magic('graphql', '-t json', '{ROWS}')\n"
        "ask(df.tail(1))",
        "[{'n': 2, 'name': None}]",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def kernel():
    """Yield a kernel with a schema."""
    with run_kernel() as kernel:
        kernel.run(SETUP)
        yield kernel


@pytest.mark.parametrize(("code", "expected"), SITUATIONS.values(), ids=SITUATIONS)
def test_common_variable_types_in_a_kernel(kernel, code, expected):
    """Each Python value is sent as its declared type, or the error gives advice."""
    assert expected in kernel.show(code)


def test_sending_a_frame_does_not_change_it(shell):
    """Nothing is written into the user's own frame."""
    sdl = "type Query { f(rows: [R]): Int } input R { a: Float b: String }"
    shell.user_ns["tables"] = gqlnb.Schema(sdl)
    frame = pd.DataFrame({"a": [1.0, None], "b": ["x", None]})
    shell.user_ns["rows"] = frame
    before = frame.copy()
    run(shell, "%graphql tables query ($rows: [R]) { f(rows: $rows) }")
    pd.testing.assert_frame_equal(frame, before)


def test_braces_around_an_expression_are_explained(shell):
    """`{name}` is a set in Python, not a template; a list variable takes it."""
    shell.user_ns["name"] = "x"
    cell = "%%graphql schema -p s={name}\nquery ($s: String!) { say(s: $s) }"
    assert "is a Python set, because of the braces" in failure(shell, cell)
    cell = "%%graphql schema -p o={'ASC'}\nquery ($o: [Order!]) { sort(only: $o) }"
    assert "ASC" in str(run(shell, cell).data)
