"""The options of a cell, each in a real shell."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from IPython.utils.capture import capture_output

import gqlnb
from gqlnb.http.messages import Response
from gqlnb.result.result import Result
from tests.client.faults import Endpoint, Wire, json_answer
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
        ("pandas", lambda value: isinstance(value, pd.DataFrame) and value["n"].dtype == "Int64"),
        ("polars", lambda value: value.schema == {"n": pl.Int64} and value["n"].sum() == 3),
        ("raw", lambda value: json.loads(value) == {"data": {"rows": [{"n": 1}, {"n": 2}]}}),
    ],
)
@pytest.mark.parametrize("where", ["schema", "server"])
def test_a_cell_returns_each_kind_of_value(shell, where, kind, check):
    """In process and over HTTP."""
    with gqlnb.serve(shell.user_ns["schema"], port=0) as server:
        shell.user_ns["server"] = server
        assert check(run(shell, f"%%graphql {where} -t {kind}\n{ROWS}"))
        run(shell, f"%%graphql {where} -t {kind} -o kept\n{ROWS}")
        assert check(shell.user_ns["kept"])


@pytest.mark.parametrize(
    "kind", ["frame", "frames", "json", "arrow", "polars", "raw", "result -o kept"]
)
def test_errors_of_a_partial_response_are_shown(shell, kind):
    """Errors are shown in orange with the line of the field in the cell."""
    cell = f"%%graphql schema -t {kind}\n{{\n  rows {{ n\n    bad }}\n}}"
    (note,) = beside(shell, cell)[:1]
    first, second = note["text/plain"].splitlines()
    assert first == "Partial answer, 2 errors:"
    assert re.fullmatch(r"  rows\[0..1\]\.bad: ZeroDivisionError: .* \(cell line 4\)", second)
    assert "border-left:4px solid #f59e0b" in note["text/html"]


def test_a_result_shows_its_errors_with_cell_lines(shell):
    """Also for a fragment, and under an alias."""
    text = "query {\n  ...F\n}\nfragment F on Query {\n  other: fail }"
    shown = repr(run(shell, f"%%graphql schema\n{text}"))
    assert "other: ZeroDivisionError" in shown
    assert shown.endswith("(cell line 6)")


def test_a_partial_response_can_raise(shell):
    """For notebooks used as tests; the result stays available."""
    run(shell, "%config GraphQLMagic.partial = 'raise'")
    shown = failure(shell, "%%graphql schema -o kept\n{ hello fail }")
    assert shown.startswith("PartialError: The answer is partial: 1 error.")
    assert shell.user_ns["kept"]["hello"] == "Hello world!"


@pytest.mark.parametrize(
    ("suffix", "read"),
    [
        ("csv", lambda path: pd.read_csv(path)["n"].tolist() == [1, 2]),
        (
            "parquet",
            lambda path: pd.read_parquet(path)["n"].equals(pd.Series([1, 2], dtype="Int64")),
        ),
        ("json", lambda path: json.loads(path.read_text()) == {"rows": [{"n": 1}, {"n": 2}]}),
        ("graphql", lambda path: path.read_text() == f"{ROWS}\n"),
    ],
)
def test_a_response_is_written_to_a_file(shell, suffix, read):
    """The suffix selects the format; the value of the cell is unchanged."""
    assert run(shell, f"%%graphql schema --export-to out.{suffix} -t json\n{ROWS}")
    assert read(Path(f"out.{suffix}"))
    said = beside(shell, f"%%graphql schema -t json --export-to out.{suffix}\n{ROWS}")
    assert said[0]["text/plain"].endswith(f"to out.{suffix}.")
    assert list(Path().glob(".out*")) == []


@pytest.mark.parametrize(
    ("options", "text", "message"),
    [
        ("--export-to out.xls", ROWS, "must end in .csv, .parquet, .xlsx, .json, .graphql"),
        ("--export-to no/out.csv", ROWS, "there is no folder 'no'"),
        ("--dry-run --explain", ROWS, "--dry-run and --explain cannot be combined"),
        ("--dry-run --export-to out.csv", ROWS, "there is no answer to write"),
        ("-c demo", ROWS, "two connections are given, 'schema' and 'demo'"),
        ("-S a-b", ROWS, "-S/--save takes a Python name, not 'a-b'"),
        ("-f none.graphql", "", "--file none.graphql cannot be read: No such file"),
        ("-f none.graphql", ROWS, "the cell has a text of its own"),
        ("--operation Nope", "", "no saved cell has an operation of that name"),
        ("--operation Nope", "query A { hello }", "Unknown operation named 'Nope'"),
        ("--zzz", ROWS, "--record, --replay, --interact, --no-execute"),
        ("hello", ROWS, "'hello' is one word too many"),
        ("-o a b <<", ROWS, "two names for the output, 'b' and 'a'"),
        ("--export", ROWS, "Did you mean '--export-to'?"),
        ("--interact a", "mutation ($a: Int!) { put(a: $a) }", "accepts a query, not a mutation"),
        ("--interact b", "query ($a: Int = 1) { add(a: $a) }", "declares no such variable"),
        ("--interact o", "query ($o: [Order!]) { sort(only: $o) }", "there is no control for"),
        ("--interact w", "query ($w: Where) { sort(where: $w) }", "there is no control for"),
    ],
)
def test_an_invalid_option_is_one_clear_error(shell, options, text, message):
    """The error is raised before any request."""
    shown = failure(shell, f"%%graphql schema {options}\n{text}\n#")
    assert message in shown
    assert len(shown.splitlines()) <= 8
    assert not Path("out.csv").exists()


def test_a_failed_write_leaves_the_existing_file_unchanged(shell):
    """A response with two lists cannot become CSV; the error has the result."""
    Path("out.csv").write_text("mine")
    failure(shell, "%%graphql schema --export-to out.csv -o kept\n{ a: rows { n } b: rows { n } }")
    assert Path("out.csv").read_text() == "mine"
    assert len(shell.user_ns["kept"]["a"]) == 2


def test_a_document_is_read_from_a_file(shell):
    """From a line, or a cell of comments; an error names file and line."""
    Path("hello.graphql").write_text("{ hello }")
    assert run(shell, "%graphql -c schema -f hello.graphql").data == {"hello": "Hello world!"}
    assert run(shell, "%%graphql schema -f hello.graphql\n# its text\n").data
    Path("hello.graphql").write_text("{\n  helo\n}")
    shown = failure(shell, "%graphql -c schema -f hello.graphql").splitlines()
    assert shown[1:3] == ["  hello.graphql line 2, column 3", "     2 |   helo"]


def test_the_named_operation_is_run(shell):
    """One of several in the document."""
    text = "query A { hello }\nquery B { add(a: 1) }"
    assert run(shell, f"%%graphql schema --operation B\n{text}").data == {"add": 1}


def test_later_cells_spread_saved_fragments(shell):
    """From a cell of fragments or of an operation, with the fragments that they spread."""
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
def test_only_valid_documents_are_saved(shell, text, option):
    """An invalid document does not replace the saved one."""
    run(shell, "%%graphql schema -S kept -N\nquery Kept { hello }")
    failure(shell, f"%%graphql schema -S kept {option}\n{text}")
    assert run(shell, "%graphql snippets kept") == "query Kept { hello }"


def test_an_error_in_a_saved_fragment_names_no_line_of_the_cell(shell):
    """The fragment may be invalid in another schema."""
    run(shell, "%%graphql schema -S one\nfragment One on Query { hello }")
    run(shell, "%%graphql schema -S two\nfragment Two on Query {\n  add(a: 1)\n}")
    shell.user_ns["other"] = gqlnb.Schema("type Query { hello: String }")
    shown = failure(shell, "%%graphql other\n{ ...One ...Two }").splitlines()
    assert shown == [
        "QueryError: In the saved fragment Two: Cannot query field 'add' on type 'Query'.",
        "  Query has: hello.",
    ]


def test_a_field_error_in_a_saved_fragment_names_the_fragment(shell):
    """It has no line of the cell; an error in the cell itself has one."""
    run(shell, "%%graphql schema -S frag\nfragment F on Row { n\n  bad }")
    shown = repr(run(shell, "%%graphql schema\n{ rows { ...F }\n  fail }"))
    assert "rows[0..1].bad: " in shown
    assert shown.count("(saved fragment F)") == 1
    assert shown.count("(cell line 3)") == 1


def test_a_document_is_validated_without_execution(shell):
    """Document and variables are checked; no request is sent."""
    run(shell, "asked = []\nschema.resolver('Query.hello')(lambda *_: asked.append(1))")
    assert run(shell, "%%graphql schema -N\n{ hello }") is None
    run(shell, "%%graphql schema --dry-run\n{ hello }")
    assert "Cannot query" in failure(shell, "%%graphql schema -N\n{ helo }")
    text = "query ($a: Int!) { add(a: $a) }"
    assert "was not provided" in failure(shell, f"%%graphql schema -N\n{text}")
    assert "Int cannot represent" in failure(shell, f"%%graphql schema -N -p a='x'\n{text}")
    assert shell.user_ns["asked"] == []


def test_a_dry_run_shows_the_request_and_its_complexity(shell):
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


def test_a_dry_run_shows_large_integers_as_they_are_sent(shell):
    """Over HTTP as text, except in JSON values; in process as numbers."""
    schema = gqlnb.Schema(
        "scalar BigInt scalar JSON scalar Odd "
        "type Query { f(big: BigInt, any: JSON, odd: Odd): JSON }",
        {"Query": {"f": lambda _root, args, _context: args}},
    )
    text = "query ($big: BigInt, $any: JSON, $odd: Odd) { f(big: $big, any: $any, odd: $odd) }"
    shell.user_ns |= {"here": schema, "big": 2**60 + 1, "any": [2**70], "odd": 2**64}
    assert run(shell, f"%%graphql here --dry-run\n{text}").variables == {
        "big": 2**60 + 1,
        "any": [2**70],
        "odd": 2**64,
    }
    with gqlnb.serve(schema, port=0) as server:
        shell.user_ns["far"] = gqlnb.Client(server.url)
        dry = run(shell, f"%%graphql far --dry-run\n{text}")
        assert f'$big: BigInt = "{2**60 + 1}"' in repr(dry)
        answer = run(shell, f"%%graphql far\n{text}")
        assert answer.response is not None
        assert dry.variables == dict(answer.variables)


def test_only_in_process_operations_are_explained_and_profiled(shell):
    """For a remote endpoint, the error says so."""
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


def test_the_rate_limit_is_read_from_headers():
    """GitHub sends these headers."""
    from gqlnb.notebook.output_options import format_stats

    headers = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "4987"}
    told = Response(200, headers={**headers, "X-RateLimit-Reset": "1893456000"})
    line = "2.000 s, 1 row, budget 4,987 of 5,000 left until 00:00 UTC"
    assert format_stats(Result({}, response=told), 2) == line
    assert format_stats(Result({}, response=Response(200)), 2) == "2.000 s, 1 row"


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
    """It runs at each change with the new value; the result is also stored under its name."""
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
    """The initial value is the notebook's variable, else the default."""
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


def test_an_error_after_a_control_change_replaces_the_output(shell):
    """The next change works again."""
    shell.user_ns["s"] = "fine"
    refuse = "def say(root, args, context):\n    if args['s'] == 'bad': raise ValueError('no')"
    run(shell, f"{refuse}\n    return args['s']\nschema.resolver('Query.say')(say)")
    run(shell, "%config GraphQLMagic.partial = 'raise'")
    beside(
        shell, "%%graphql schema --interact s -t json -o kept\nquery ($s: String!) { say(s: $s) }"
    )
    for moved in ("bad", "good"):
        widget("$s").value = moved
    assert shell.user_ns["kept"] == {"say": "good"}


def test_partial_errors_replace_the_previous_output(shell):
    """Frequent changes of a control do not accumulate notes."""
    text = "query ($t: Boolean = false) { hello fail @include(if: $t) }"
    beside(shell, f"%%graphql schema --interact t -t json\n{text}")
    with capture_output() as captured:
        widget("$t").value = True
    (shown,) = captured.outputs
    assert "fail: ZeroDivisionError" in shown.data["text/plain"]


def test_an_option_disables_the_schema_cache(shell):
    """The schema is requested again; without the option it is not."""
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


def test_a_client_is_reused_while_its_headers_are_equal(shell, monkeypatch):
    """The schema is not requested in every cell; another value creates another client."""
    monkeypatch.setenv("MY_HEADER", f"Bearer {SECRET}")
    token = gqlnb.Token(SECRET)
    with gqlnb.serve(shell.user_ns["schema"], port=0, token=token) as server:
        for _ in range(3):
            run(shell, f"%%graphql {server.url} -q -H Authorization=env:MY_HEADER\n{{ hello }}")
        assert len(server.log) == 4
        monkeypatch.setenv("MY_HEADER", "Bearer wrong-canary-1")
        cell = f"%%graphql {server.url} -q -H Authorization=env:MY_HEADER\n{{ hello }}"
        assert "401" in failure(shell, cell)


def test_the_schema_of_a_restarted_server_is_reloaded(shell):
    """It is reloaded once, before a document is rejected by an outdated schema."""
    first = gqlnb.serve(shell.user_ns["schema"], port=0)
    run(shell, f"%%graphql {first.url} -q\n{{ hello }}")
    first.close()
    other = gqlnb.Schema("type Query { fresh: Int }", {"Query": {"fresh": lambda *_: 1}})
    with gqlnb.serve(other, port=first.port) as server:
        assert run(shell, f"%%graphql {server.url}\n{{ fresh }}").data == {"fresh": 1}
        assert "'frsh'" in failure(shell, f"%%graphql {server.url}\n{{ frsh }}")
        assert len(server.log) == 3


def test_a_document_is_validated_before_it_is_sent(shell):
    """At most ten errors are shown; the only request is for the schema."""
    with gqlnb.serve(shell.user_ns["schema"], port=0) as server:
        shell.user_ns["server"] = server
        fields = "\n".join(f"  nope{number}" for number in range(12))
        shown = failure(shell, f"%%graphql server\n{{\n{fields}\n}}")
        assert shown.count("Cannot query field") == 10
        assert "... and 2 more." in shown
        assert "  cell line 3, column 3" in shown
        assert server.log["operation"].tolist() == ["IntrospectionQuery"]


def test_an_endpoint_without_introspection_is_queried(shell):
    """The endpoint reports errors itself, with their lines in the cell."""
    silent = gqlnb.Access(introspection=False)
    with gqlnb.serve(shell.user_ns["schema"], port=0, access=silent) as server:
        shell.user_ns["server"] = server
        for _ in range(2):
            assert run(shell, "%%graphql server\n{ hello }").data == {"hello": "Hello world!"}
        shown = failure(shell, "%%graphql server\n{\n  helo }").splitlines()
        assert shown[1] == "  cell line 3, column 3"
        assert len(server.log) == 4


def test_disabled_introspection_is_reported_once(shell):
    """By the first cell with output, under the name used there; once for each endpoint."""
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


def test_introspection_can_be_disabled(shell):
    """`introspect = 'never'`."""
    run(shell, "%config GraphQLMagic.introspect = 'never'")
    with gqlnb.serve(shell.user_ns["schema"], port=0) as server:
        shell.user_ns["server"] = server
        assert run(shell, "%%graphql server\n{ hello }").document.schema is None
        assert len(server.log) == 1
        assert run(shell, "%%graphql schema\n{ hello }").document.schema is not None


def test_an_error_path_is_mapped_to_a_line_of_the_cell(shell):
    """For errors without locations, such as those of GitHub's own rules."""
    error = {"message": "Too much.", "path": ["rows", 0, "n"]}
    shell.user_ns["strict"] = Wire(lambda _: Response(200, members={"errors": [error]}))
    shown = failure(shell, "%%graphql strict -o kept\n{\n  rows {\n    n } }").splitlines()
    assert shown.pop(0).startswith("strict refuses introspection: Too much.")
    assert shown == [
        "QueryError: Too much.",
        "  cell line 4, column 5",
        "     4 |     n } }",
        "             ^",
    ]
    assert shell.user_ns["kept"].errors[0]["path"] == ["rows", 0, "n"]


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ({"repo": 1, "number": 2}, "The notebook has no num. Did you mean number?"),
        ({}, "The notebook has no num. Set it in the notebook: num = ..., or on the line: -p num="),
        ({"numb": len}, "The notebook has no num. Set it"),
    ],
)
def test_a_missing_variable_error_suggests_similar_names(shell, names, told):
    """It has the variable's name, its type, and similar names of the notebook."""
    shell.user_ns |= names
    shown = failure(shell, "%%graphql schema\nquery ($num: Int!) { add(a: $num) }")
    assert "Variable '$num' of required type 'Int!' was not provided." in shown
    assert told in shown


def test_lists_of_ipython_are_not_suggested_for_a_missing_variable(shell):
    """`In` is similar to `n`, and never meant."""
    shell.user_ns["In"] = []
    shown = failure(shell, "%%graphql schema\nquery ($n: Int!) { add(a: $n) }")
    assert "The notebook has no n. Set it" in shown


def test_taking_variables_by_name_can_be_disabled(shell):
    """With `variables = 'given'`, only the line gives variables."""
    shell.user_ns["a"] = 4
    text = "query ($a: Int = 1) { add(a: $a) }"
    assert run(shell, f"%%graphql schema\n{text}").data == {"add": 4}
    run(shell, "%config GraphQLMagic.variables = 'given'")
    assert run(shell, f"%%graphql schema\n{text}").data == {"add": 1}
    assert run(shell, f"%%graphql schema -p a=a+1\n{text}").data == {"add": 5}


def test_no_secret_is_in_any_output_of_a_failing_cell(shell, monkeypatch):
    """In any traceback mode, also if our own code fails."""
    monkeypatch.setenv("MY_TOKEN", SECRET)
    with gqlnb.serve(shell.user_ns["schema"], port=0, token=gqlnb.Token(SECRET)) as server:
        run(shell, f"%graphql connect mine {server.url} --token env:MY_TOKEN")
        run(shell, "%%graphql mine -o kept\n{ hello }")
        monkeypatch.setattr("gqlnb.notebook.cell_runner.locate_in_cell", lambda *_: 1 / 0)
        for mode in ("Context", "Verbose", "Plain"):
            shell.run_line_magic("xmode", mode)
            for cell in (
                "%%graphql mine\n{ hello }",
                "%%graphql mine\n{ helo }",
                f"%%graphql {server.url} -H Authorization=env:MY_TOKEN\n{{ hello }}",
            ):
                assert SECRET not in failure(shell, cell)
    shell.run_line_magic("xmode", "Context")


def test_a_variable_hidden_by_a_connection_is_reported_once(shell):
    """`%%graphql demo` uses the connection, whatever the variable `demo` holds."""
    shell.user_ns["demo"] = shell.user_ns["schema"]
    cell = "%%graphql demo\n{ viewer { login } }"
    (note, *_) = beside(shell, cell)
    assert note["text/plain"].startswith(
        "The connection 'demo' is used, not your variable 'demo': names of connections come first."
    )
    assert beside(shell, cell) == []


@pytest.mark.parametrize("make", [lambda: gqlnb.connect("demo"), str], ids=["itself", "text"])
def test_a_variable_that_hides_nothing_is_not_reported(shell, make):
    """The connection itself, and values that are not targets."""
    shell.user_ns["demo"] = make()
    assert beside(shell, "%%graphql demo\n{ viewer { login } }") == []


def test_the_error_of_a_connection_names_the_hidden_variable(shell, monkeypatch):
    """A client with a token is in the variable, and the connection has no token."""
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    monkeypatch.delenv("GH_TOKEN", raising=False)
    with gqlnb.connect("github", token=gqlnb.Token(SECRET)) as client:
        shell.user_ns["github"] = client
        shown = failure(shell, "%%graphql github\n{ viewer { login } }")
    assert shown.startswith("AuthError: ")
    assert "not your variable 'github'" in shown
    assert SECRET not in shown


@pytest.mark.parametrize(
    ("options", "text", "data"),
    [
        ("", "{ hello extra }", {"hello": "a", "extra": 1}),
        ("-t frame", "{ hello extra }", None),
        ("--paginate", "{ hello extra }", {"hello": "a", "extra": 1}),
        ("-p name='x'", "query ($name: Kind) { hello(name: $name) }", {"hello": "a", "extra": 1}),
        ("-p name='x'", "{ hello! }", {"hello": "a", "extra": 1}),
        ("-t frame --map names", "query ($name: Kind) { hello(name: $name) }", None),
    ],
)
@pytest.mark.filterwarnings("ignore:The schema of", "ignore:The result may be")
def test_no_validate_sends_what_the_schema_refuses(shell, options, text, data):
    """The endpoint decides, also about the variables."""
    sdl = "type Query { hello(name: Kind): String } enum Kind { A }"
    answer = json_answer({"data": {"hello": "a", "extra": 1}})
    with Endpoint(answer) as endpoint:
        shell.user_ns["api"] = gqlnb.Client(endpoint.url, schema=sdl)
        shell.user_ns["names"] = ["x"]
        failure(shell, f"%%graphql api {options}\n{text}")
        assert not endpoint.requests
        value = run(shell, f"%%graphql api {options} --no-validate\n{text}")
        assert value.data == data if data else value["hello"].tolist() == ["a"]
        sent = json.loads(endpoint.requests[0].partition(b"\r\n\r\n")[2])
        assert text in sent["query"]
        assert sent.get("variables", {}) == (
            {"name": "x"} if "x" in options or "map" in options else {}
        )
