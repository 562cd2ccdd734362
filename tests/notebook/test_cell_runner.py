"""The options of a cell, each in a real shell."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from IPython.utils.capture import capture_output

import gqlnb
from gqlnb.http.messages import Response
from tests.notebook.cells import SECRET, beside, failure, run

ROWS = "{ rows { n } }"


@pytest.mark.parametrize(
    ("kind", "check"),
    [
        ("result", lambda value: value.data == {"rows": [{"n": 1}, {"n": 2}]}),
        ("frame", lambda value: value["n"].dtype == "Int64"),
        ("frames", lambda value: list(value) == ["rows"] and len(value["rows"]) == 2),
        ("json", lambda value: value == {"rows": [{"n": 1}, {"n": 2}]}),
        ("arrow", lambda value: value.schema.field("n").type == pa.int64()),
        ("raw", lambda value: json.loads(value) == {"data": {"rows": [{"n": 1}, {"n": 2}]}}),
    ],
)
@pytest.mark.parametrize("where", ["schema", "server"])
def test_each_kind_of_value(shell, where, kind, check):
    """In process and over HTTP."""
    with gqlnb.serve(shell.user_ns["schema"], port=0) as server:
        shell.user_ns["server"] = server
        assert check(run(shell, f"%%graphql {where} -t {kind}\n{ROWS}"))
        run(shell, f"%%graphql {where} -t {kind} -o kept\n{ROWS}")
        assert check(shell.user_ns["kept"])


@pytest.mark.parametrize("kind", ["frame", "frames", "json", "arrow", "raw", "result -o kept"])
def test_errors_of_a_partial_answer_are_shown_beside_any_value(shell, kind):
    """Errors are shown in orange with the line of the field in the cell."""
    cell = f"%%graphql schema -t {kind}\n{{\n  rows {{ n\n    bad }}\n}}"
    (note,) = beside(shell, cell)[:1]
    first, second, _ = note["text/plain"].splitlines()
    assert first == "Partial answer, 2 errors:"
    assert re.fullmatch(r"  rows\[0\]\.bad: ZeroDivisionError: .* \(cell line 4\)", second)
    assert "border-left:4px solid #f59e0b" in note["text/html"]


def test_a_result_shows_its_own_errors_with_the_line_of_the_cell(shell):
    """Also of a fragment, and under an alias."""
    text = "query {\n  ...F\n}\nfragment F on Query {\n  other: fail }"
    shown = repr(run(shell, f"%%graphql schema\n{text}"))
    assert "other: ZeroDivisionError" in shown
    assert shown.endswith("(cell line 6)")


def test_a_partial_answer_may_be_made_an_error(shell):
    """For notebooks that are tests; the answer is kept."""
    run(shell, "%config GraphQLMagic.partial = 'raise'")
    shown = failure(shell, "%%graphql schema -o kept\n{ hello fail }")
    assert shown.startswith("PartialError: The answer is partial: 1 error.")
    assert shell.user_ns["kept"]["hello"] == "Hello world!"


@pytest.mark.parametrize(
    ("suffix", "read"),
    [
        ("csv", lambda path: pd.read_csv(path)["n"].tolist() == [1, 2]),
        ("parquet", lambda path: pq.read_table(path).column("n").to_pylist() == [1, 2]),
        ("json", lambda path: json.loads(path.read_text()) == {"rows": [{"n": 1}, {"n": 2}]}),
        ("graphql", lambda path: path.read_text() == f"{ROWS}\n"),
    ],
)
def test_an_answer_is_written_to_a_file(shell, suffix, read):
    """The suffix selects the format; the value of the cell is unchanged."""
    assert run(shell, f"%%graphql schema --export-to out.{suffix} -t json\n{ROWS}")
    assert read(Path(f"out.{suffix}"))
    said = beside(shell, f"%%graphql schema -t json --export-to out.{suffix}\n{ROWS}")
    assert said[0]["text/plain"].endswith(f"to out.{suffix}.")
    assert list(Path().glob(".out*")) == []


@pytest.mark.parametrize(
    ("options", "text", "message"),
    [
        ("--export-to out.xls", ROWS, "must end in .csv, .parquet, .json, .graphql"),
        ("--export-to no/out.csv", ROWS, "there is no folder 'no'"),
        ("--dry-run --explain", ROWS, "--dry-run and --explain exclude each other"),
        ("--dry-run --export-to out.csv", ROWS, "there is no answer to write"),
        ("-c demo", ROWS, "two connections are named, 'schema' and 'demo'"),
        ("-S a-b", ROWS, "argument -S/--save: 'a-b' is not a Python name"),
        ("-f none.graphql", "", "--file none.graphql cannot be read: No such file"),
        ("-f none.graphql", ROWS, "the cell has a text of its own"),
        ("--operation Nope", "", "no saved cell has an operation of that name"),
        ("--operation Nope", "query A { hello }", "Unknown operation named 'Nope'"),
        ("--paginat", ROWS, "unknown option '--paginat'"),
        ("--zzz", ROWS, "--record, --replay, --interact, --no-execute"),
        ("hello", ROWS, "'hello' is one word too many"),
        ("-o a b <<", ROWS, "two names for the answer, 'b' and 'a'"),
        ("--export", ROWS, "Did you mean '--export-to'?"),
        ("--interact a", "mutation ($a: Int!) { put(a: $a) }", "it takes no mutation"),
        ("--interact b", "query ($a: Int = 1) { add(a: $a) }", "declares no such variable"),
        ("--interact o", "query ($o: [Order!]) { sort(only: $o) }", "there is no control for"),
        ("--interact w", "query ($w: Where) { sort(where: $w) }", "there is no control for"),
    ],
)
def test_a_wrong_option_is_one_clear_error(shell, options, text, message):
    """Before anything is asked."""
    shown = failure(shell, f"%%graphql schema {options}\n{text}\n#")
    assert message in shown
    assert len(shown.splitlines()) <= 8
    assert not Path("out.csv").exists()


def test_a_file_that_was_there_stays_when_nothing_can_be_written(shell):
    """An answer of two lists is no CSV; it is kept in the error, and the old file as it was."""
    Path("out.csv").write_text("mine")
    failure(shell, "%%graphql schema --export-to out.csv -o kept\n{ a: rows { n } b: rows { n } }")
    assert Path("out.csv").read_text() == "mine"
    assert len(shell.user_ns["kept"]["a"]) == 2


def test_a_text_comes_from_a_file(shell):
    """On a line, or in a cell of comments; an error names file and line."""
    Path("hello.graphql").write_text("{ hello }")
    assert run(shell, "%graphql -c schema -f hello.graphql").data == {"hello": "Hello world!"}
    assert run(shell, "%%graphql schema -f hello.graphql\n# its text\n").data
    Path("hello.graphql").write_text("{\n  helo\n}")
    shown = failure(shell, "%graphql -c schema -f hello.graphql").splitlines()
    assert shown[1:3] == ["  hello.graphql line 2, column 3", "     2 |   helo"]


def test_one_of_several_operations_is_run(shell):
    """By its name."""
    text = "query A { hello }\nquery B { add(a: 1) }"
    assert run(shell, f"%%graphql schema --operation B\n{text}").data == {"add": 1}


def test_saved_fragments_are_spread_by_later_cells(shell):
    """Those of a cell of fragments, those of an operation, and those that they spread."""
    assert run(shell, "%%graphql schema -S row\nfragment RowBits on Row { n }") is None
    run(shell, "%%graphql schema -S all\nfragment All on Query { rows { ...RowBits } }")
    assert run(shell, "%%graphql schema\n{ ...All }").data == {"rows": [{"n": 1}, {"n": 2}]}
    sent = run(shell, "%%graphql schema --dry-run\n{ ...All }").text
    assert sent.count("fragment") == 2
    mine = "{ rows { ...RowBits } }\nfragment RowBits on Row { m: n }"
    assert run(shell, f"%%graphql schema\n{mine}").data == {"rows": [{"m": 1}, {"m": 2}]}
    listed = run(shell, "%graphql snippets").frame().set_index("name")
    assert listed.loc["all", "fragments"] == "All"
    assert run(shell, "%graphql snippets row") == "fragment RowBits on Row { n }"


def test_a_saved_operation_is_run_again(shell):
    """By the name of the cell, or its own, with other variables."""
    run(shell, "%%graphql schema -S sum -p a=1\nquery Sum($a: Int!) { add(a: $a) }")
    assert run(shell, "%graphql -c schema --operation Sum -p a=5").data == {"add": 5}
    assert run(shell, "%%graphql schema --operation sum -p a=6\n# again").data == {"add": 6}


@pytest.mark.parametrize(
    "text",
    [
        "fragment A on Row { m }",
        "fragment A on Rwo { n }",
        "fragment A on Row { n",
        "query A { helo }",
        "query A($a: Int!) { add(a: $a) }",
    ],
)
@pytest.mark.parametrize("option", ["", "-N", "--dry-run"])
def test_only_what_is_valid_is_saved(shell, text, option):
    """A refused text does not replace the saved one."""
    run(shell, "%%graphql schema -S kept -N\nquery Kept { hello }")
    failure(shell, f"%%graphql schema -S kept {option}\n{text}")
    assert run(shell, "%graphql snippets kept") == "query Kept { hello }"


def test_a_mistake_in_a_saved_fragment_is_told_as_one(shell):
    """On another schema it need not be valid; no line of the cell is blamed."""
    run(shell, "%%graphql schema -S one\nfragment One on Query { hello }")
    run(shell, "%%graphql schema -S two\nfragment Two on Query {\n  add(a: 1)\n}")
    shell.user_ns["other"] = gqlnb.Schema("type Query { hello: String }")
    shown = failure(shell, "%%graphql other\n{ ...One ...Two }").splitlines()
    assert shown == [
        "QueryError: In the saved fragment Two: Cannot query field 'add' on type 'Query'."
    ]


def test_an_error_of_a_field_of_a_saved_fragment_names_the_fragment(shell):
    """It has no line of the cell; one beside it has."""
    run(shell, "%%graphql schema -S frag\nfragment F on Row { n\n  bad }")
    shown = repr(run(shell, "%%graphql schema\n{ rows { ...F }\n  fail }"))
    assert shown.count("(saved fragment F)") == 2
    assert shown.count("(cell line 3)") == 1


def test_what_is_not_executed_is_checked(shell):
    """Text and variables; nothing is asked."""
    run(shell, "asked = []\nschema.resolver('Query.hello')(lambda *_: asked.append(1))")
    assert run(shell, "%%graphql schema -N\n{ hello }") is None
    run(shell, "%%graphql schema --dry-run\n{ hello }")
    assert "Cannot query" in failure(shell, "%%graphql schema -N\n{ helo }")
    text = "query ($a: Int!) { add(a: $a) }"
    assert "was not provided" in failure(shell, f"%%graphql schema -N\n{text}")
    assert "Int cannot represent" in failure(shell, f"%%graphql schema -N -p a='x'\n{text}")
    assert shell.user_ns["asked"] == []


def test_a_dry_run_tells_what_is_sent_and_what_it_asks_for(shell):
    """The text, the variables as JSON, depth, fields, nodes and points."""
    text = (
        'query Top($n: Int!) {\n  search(query: "stars:>1", type: REPOSITORY, first: $n) {\n'
        "    nodes { ... on Repository { issues(first: 50) { totalCount } } } } }"
    )
    text = text.replace("issues(first: 50) { totalCount }", "stargazers(first: 50) { totalCount }")
    dry = run(shell, f"%%graphql demo --dry-run -p n=100\n{text}")
    assert (dry.depth, dry.fields, dry.nodes, dry.points) == (4, 4, 100 + 100 * 50, 1)
    assert dry.variables == {"n": 100}
    assert repr(dry).splitlines()[:4] == [
        "Not sent: query Top to demo: embedded snapshot of 2026-08-22.",
        "  4 levels deep, 4 fields, up to 5,100 nodes",
        "  1 point of the budget for an hour",
        "  $n: Int! = 100",
    ]
    assert "<script>" not in dry._repr_html_()
    assert run(shell, "%%graphql schema --dry-run\n{ hello }").points is None
    assert run(shell, "%%graphql schema --dry-run -o kept\n{ hello }") is None
    assert shell.user_ns["kept"].text == "{ hello }"


def test_a_dry_run_escapes_and_masks(shell):
    """The output is text without tokens."""
    shell.user_ns["s"] = "<b>" + "ghp_" + "canary0123456789" * 2
    dry = run(shell, "%%graphql schema --dry-run\nquery ($s: String!) { say(s: $s) }")
    assert "canary" not in repr(dry) + dry._repr_html_()
    assert "&lt;b&gt;" in dry._repr_html_()


def test_an_operation_is_explained_and_profiled_where_it_is_executed(shell):
    """By the engine of this process; elsewhere the error says so."""
    assert "Query.hello: String" in repr(run(shell, "%%graphql schema --explain\n{ hello }"))
    profile = run(shell, "%%graphql schema --profile\n{ hello }")
    assert profile.frame()["field"].tolist() == ["Query.hello"]
    assert profile.result.data == {"hello": "Hello world!"}
    with gqlnb.serve(shell.user_ns["schema"], port=0) as server:
        shell.user_ns["server"] = server
        for option in ("--explain", "--profile"):
            shown = failure(shell, f"%%graphql server {option}\n{{ hello }}")
            assert "executes elsewhere" in shown


def test_stats_are_one_line(shell):
    """Time, bytes, rows, budget."""
    with gqlnb.serve(shell.user_ns["schema"], port=0) as server:
        shell.user_ns["server"] = server
        (shown,) = beside(shell, f"%%graphql server --stats -q\n{ROWS}")
        assert re.fullmatch(r"[\d.,]+ m?s, 35 bytes, 2 rows", shown["text/plain"])
    text = "{ rateLimit { limit remaining resetAt } viewer { login } }"
    (shown,) = beside(shell, f"%%graphql demo --stats -q\n{text}")
    told = r"[\d.]+ m?s, 1 row, budget [\d,]+ of 5,000 left until \d\d:\d\d UTC"
    assert re.fullmatch(told, shown["text/plain"])
    run(shell, "%config GraphQLMagic.stats = True")
    assert beside(shell, "%%graphql schema -q\n{ hello }")[0]["text/plain"].endswith("1 row")


def test_a_budget_is_read_from_headers():
    """As GitHub sends them."""
    from gqlnb.notebook.output_options import format_budget
    from gqlnb.result.result import Result

    headers = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "4987"}
    told = Response(200, headers={**headers, "X-RateLimit-Reset": "86400"})
    assert format_budget(Result({}, response=told)) == "budget 4,987 of 5,000 left until 00:00 UTC"
    assert format_budget(Result({}, response=Response(200))) == ""


@pytest.mark.parametrize(
    ("declared", "given", "moved", "answer"),
    [
        ("$a: Int! = 3", {}, 5, {"add": 5}),
        ("$a: Int!", {"a": 3}, 6, {"add": 6}),
        ("$a: Int!", {"a": (0, 10, 2)}, 8, {"add": 8}),
        ("$a: Int!", {"a": [1, 7]}, 7, {"add": 7}),
    ],
)
def test_a_control_runs_the_operation_again(shell, declared, given, moved, answer):
    """Whenever it is moved, with its value; the answer is also kept under its name."""
    shell.user_ns |= given
    cell = f"%%graphql schema --interact a -t json -o kept\nquery ({declared}) {{ add(a: $a) }}"
    shown = beside(shell, cell)
    assert "application/vnd.jupyter.widget-view+json" in shown[0]
    control = widget("$a")
    control.value = moved
    assert shell.user_ns["kept"] == answer


def widget(description):
    """Return the control that was made last under a description."""
    from ipywidgets.widgets.widget import _instances

    return [it for it in _instances.values() if getattr(it, "description", None) == description][-1]


@pytest.mark.parametrize(
    ("text", "given", "kind", "value"),
    [
        ("query ($by: Order = DESC) { sort(by: $by) }", None, "Dropdown", "DESC"),
        ("query ($s: String!) { say(s: $s) }", "hi", "Text", "hi"),
        ("query ($f: Float = 0.5) { __typename @include(if: true) }", None, "FloatSlider", 0.5),
        ("query ($t: Boolean!) { hello @include(if: $t) }", True, "Checkbox", True),
        ("query ($first: Int = 30) { add(a: $first) }", None, "IntSlider", 30),
        ("query ($a: Int = -3) { add(a: $a) }", None, "IntSlider", -3),
    ],
)
def test_a_control_fits_the_declared_type(shell, text, given, kind, value):
    """The initial value is that of the notebook, else the default."""
    from gqlnb.document.document import Document
    from gqlnb.notebook.cell_variables import build_control

    document = Document.parse(
        text, shell.user_ns["schema"].graphql if kind != "FloatSlider" else None
    )
    (name,) = document.variables
    made = build_control(document, name, given)
    assert (type(made).__name__, made.value) == (kind, value)
    if name == "first":
        assert (made.min, made.max) == (1, 100)


def test_a_mistake_while_a_control_moves_is_shown_in_its_place(shell):
    """And the next move works again."""
    shell.user_ns["s"] = "fine"
    refuse = "def say(root, args, context):\n    if args['s'] == 'bad': raise ValueError('no')"
    run(shell, f"{refuse}\n    return args['s']\nschema.resolver('Query.say')(say)")
    run(shell, "%config GraphQLMagic.partial = 'raise'")
    beside(
        shell,
        "%%graphql schema --interact s -t json -o kept\nquery ($s: String!) { say(s: $s) }",
    )
    for moved in ("bad", "good"):
        widget("$s").value = moved
    assert shell.user_ns["kept"] == {"say": "good"}


def test_errors_of_a_partial_answer_stay_in_the_place_of_the_answer(shell):
    """A control that is moved often leaves no heap of notes."""
    text = "query ($t: Boolean = false) { hello fail @include(if: $t) }"
    beside(shell, f"%%graphql schema --interact t -t json\n{text}")
    with capture_output() as captured:
        widget("$t").value = True
    (shown,) = captured.outputs
    assert "fail: ZeroDivisionError" in shown.data["text/plain"]


def test_nothing_is_remembered_of_an_endpoint_on_demand(shell):
    """Its schema is asked for again; without the option it is not."""
    with gqlnb.serve(shell.user_ns["schema"], port=0) as server:
        shell.user_ns["server"] = server
        for _ in range(2):
            run(shell, "%%graphql server -q\n{ hello }")
        assert len(server.log) == 3
        run(shell, "%%graphql server -q --no-cache\n{ hello }")
        assert len(server.log) == 5
        run(shell, "%graphql connect mine server")
        run(shell, "%%graphql mine -q --no-cache\n{ hello }")
        assert len(server.log) == 7
        run(shell, "%%graphql mine -q\n{ hello }")
        assert len(server.log) == 8


def test_a_client_with_headers_is_kept_as_long_as_they_stay(shell, monkeypatch):
    """Its endpoint is not asked for its schema in every cell; another value is another client."""
    monkeypatch.setenv("MY_HEADER", f"Bearer {SECRET}")
    token = gqlnb.Token(SECRET)
    with gqlnb.serve(shell.user_ns["schema"], port=0, token=token) as server:
        for _ in range(3):
            run(shell, f"%%graphql {server.url} -q -H Authorization=env:MY_HEADER\n{{ hello }}")
        assert len(server.log) == 4
        monkeypatch.setenv("MY_HEADER", "Bearer wrong-canary-1")
        cell = f"%%graphql {server.url} -q -H Authorization=env:MY_HEADER\n{{ hello }}"
        assert "401" in failure(shell, cell)


def test_a_server_that_was_started_anew_is_asked_for_its_schema_again(shell):
    """Before a text is refused that may be right by now; once."""
    first = gqlnb.serve(shell.user_ns["schema"], port=0)
    run(shell, f"%%graphql {first.url} -q\n{{ hello }}")
    first.close()
    other = gqlnb.Schema("type Query { fresh: Int }", {"Query": {"fresh": lambda *_: 1}})
    with gqlnb.serve(other, port=first.port) as server:
        assert run(shell, f"%%graphql {server.url}\n{{ fresh }}").data == {"fresh": 1}
        assert "'frsh'" in failure(shell, f"%%graphql {server.url}\n{{ frsh }}")
        assert len(server.log) == 3


def test_a_text_is_checked_before_it_is_sent(shell):
    """Ten mistakes at most are shown; the endpoint is asked for its schema alone."""
    with gqlnb.serve(shell.user_ns["schema"], port=0) as server:
        shell.user_ns["server"] = server
        fields = "\n".join(f"  nope{number}" for number in range(12))
        shown = failure(shell, f"%%graphql server\n{{\n{fields}\n}}")
        assert shown.count("Cannot query field") == 10
        assert "... and 2 more." in shown
        assert "  cell line 3, column 3" in shown
        assert server.log["operation"].tolist() == ["IntrospectionQuery"]


def test_an_endpoint_that_does_not_tell_its_schema_is_asked_without(shell):
    """The endpoint reports errors itself, and they have a line of the cell."""
    silent = gqlnb.Access(introspection=False)
    with gqlnb.serve(shell.user_ns["schema"], port=0, access=silent) as server:
        shell.user_ns["server"] = server
        for _ in range(2):
            assert run(shell, "%%graphql server\n{ hello }").data == {"hello": "Hello world!"}
        shown = failure(shell, "%%graphql server\n{\n  helo }").splitlines()
        assert shown[1] == "  cell line 3, column 3"
        assert len(server.log) == 4


def test_that_an_endpoint_does_not_tell_its_schema_is_said_once(shell):
    """By the first cell that may speak, by the name it was asked with; each endpoint by itself."""
    silent = gqlnb.Access(introspection=False)
    with gqlnb.serve(shell.user_ns["schema"], port=0, access=silent) as server:
        shell.user_ns.update(server=server, address=server.url)
        assert beside(shell, "%%graphql server -q\n{ hello }") == []
        (note,) = beside(shell, "%%graphql server\n{ hello }")
        assert note["text/plain"].startswith("server refuses introspection: GraphQL intro")
        assert "pass schema= the path of its SDL" in note["text/plain"]
        assert beside(shell, "%%graphql server\n{ hello }") == []
        assert beside(shell, "%%graphql server --no-cache\n{ hello }") == []
        with gqlnb.serve(shell.user_ns["schema"], port=0, access=silent) as other:
            (note,) = beside(shell, f"%%graphql {other.url}\n{{ hello }}")
        assert note["text/plain"].startswith(f"{other.url} refuses introspection")
    shell.user_ns["server"] = gqlnb.serve(shell.user_ns["schema"], port=0)
    with shell.user_ns["server"]:
        assert beside(shell, "%%graphql server\n{ hello }") == []


def test_an_endpoint_may_be_left_unasked(shell):
    """`introspect = 'never'`."""
    run(shell, "%config GraphQLMagic.introspect = 'never'")
    with gqlnb.serve(shell.user_ns["schema"], port=0) as server:
        shell.user_ns["server"] = server
        assert run(shell, "%%graphql server\n{ hello }").document.schema is None
        assert len(server.log) == 1
        assert run(shell, "%%graphql schema\n{ hello }").document.schema is not None


def test_a_path_says_which_line_selected_what_an_endpoint_refused(shell):
    """Where the endpoint gives no line itself, as GitHub with rules of its own."""
    shell.user_ns["strict"] = Strict()
    shown = failure(shell, "%%graphql strict -o kept\n{\n  rows {\n    n } }").splitlines()
    assert shown.pop(0).startswith("strict refuses introspection: Too much.")
    assert shown == [
        "QueryError: Too much.",
        "  cell line 4, column 5",
        "     4 |     n } }",
        "             ^",
    ]
    assert shell.user_ns["kept"].errors[0]["path"] == ["rows", 0, "n"]


class Strict:
    """A transport whose endpoint refuses every request."""

    source = "strict"

    def send(self, request):
        """Answer with an error that has a path alone."""
        error = {"message": "Too much.", "path": ["rows", 0, "n"]}
        return Response(200, members={"errors": [error]})

    async def asend(self, request):
        """Answer in the same way."""
        return self.send(request)

    def close(self):
        """Do nothing."""


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ({"repo": 1, "number": 2}, "The notebook has no num. Did you mean number?"),
        ({}, "The notebook has no num. Set it in the notebook: num = ..., or on the line: -p num="),
        ({"numb": len}, "The notebook has no num. Set it"),
    ],
)
def test_a_missing_variable_is_told_with_what_is_near(shell, names, told):
    """Its name, its type, and the notebook's names that are like it."""
    shell.user_ns |= names
    shown = failure(shell, "%%graphql schema\nquery ($num: Int!) { add(a: $num) }")
    assert "Variable '$num' of required type 'Int!' was not provided." in shown
    assert told in shown


def test_variables_come_by_name_or_not(shell):
    """`variables = 'given'`: from the line alone."""
    shell.user_ns["a"] = 4
    text = "query ($a: Int = 1) { add(a: $a) }"
    assert run(shell, f"%%graphql schema\n{text}").data == {"add": 4}
    run(shell, "%config GraphQLMagic.variables = 'given'")
    assert run(shell, f"%%graphql schema\n{text}").data == {"add": 1}
    assert run(shell, f"%%graphql schema -p a=a+1\n{text}").data == {"add": 5}


def test_no_secret_is_in_any_output_of_a_failing_cell(shell, monkeypatch):
    """Of any mode of tracebacks, also where our own code is at fault."""
    monkeypatch.setenv("MY_TOKEN", SECRET)
    with gqlnb.serve(shell.user_ns["schema"], port=0, token=gqlnb.Token(SECRET)) as server:
        run(shell, f"%graphql connect mine {server.url} --token env:MY_TOKEN")
        run(shell, "%%graphql mine -o kept\n{ hello }")
        monkeypatch.setattr("gqlnb.notebook.cell_runner.convert_result", lambda *_: 1 / 0)
        for mode in ("Context", "Verbose", "Plain"):
            shell.run_line_magic("xmode", mode)
            for cell in (
                "%%graphql mine\n{ hello }",
                "%%graphql mine\n{ helo }",
                f"%%graphql {server.url} -H Authorization=env:MY_TOKEN\n{{ hello }}",
            ):
                assert SECRET not in failure(shell, cell)
    shell.run_line_magic("xmode", "Context")
