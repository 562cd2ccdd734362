"""``%%graphql`` in a real shell."""

import re

import pandas as pd
import pytest

import gqlnb
from gqlnb import background
from gqlnb.result.result import Result
from tests.notebook.cells import SECRET, beside, failure, run


@pytest.mark.parametrize("line", ["-c schema", "--connection schema", "schema -t json", "schema"])
def test_a_connection_can_be_given_by_option(shell, line):
    """As the first word, or with `-c`."""
    value = run(shell, f"%%graphql {line}\n{{ hello }}")
    assert (value if isinstance(value, dict) else value.data) == {"hello": "Hello world!"}


@pytest.mark.parametrize(
    "line", ["schema out <<", "out << -c schema", "-o out schema", "schema --output out"]
)
def test_an_assigned_result_is_not_displayed(shell, line):
    """`name <<` and `-o` store the Result."""
    assert run(shell, f"%%graphql {line}\n{{ hello }}") is None
    assert isinstance(shell.user_ns["out"], Result)
    assert shell.user_ns["out"]["hello"] == "Hello world!"


def test_variables_are_taken_by_name(shell):
    """Declared variables take the values of notebook names."""
    shell.user_ns |= {"a": 2, "b": pd.Series([5]).iloc[0]}
    text = "query ($a: Int!, $b: Int) { add(a: $a, b: $b) }"
    assert run(shell, f"%%graphql schema\n{text}").data == {"add": 7}
    assert run(shell, f"%%graphql schema -p a=a*10\n{text}").data == {"add": 25}
    shell.user_ns["given"] = {"a": 100}
    assert run(shell, f"%%graphql schema -v given\n{text}").data == {"add": 105}
    assert run(shell, f"%%graphql schema -v given -p b=1\n{text}").data == {"add": 101}


def test_braces_and_dollars_on_the_line_are_not_expanded(shell):
    """IPython would replace {hello} and $a by Python values."""
    shell.user_ns |= {"hello": "octocat", "a": 3}
    assert run(shell, "%graphql -c schema {hello}").data == {"hello": "Hello world!"}
    assert run(shell, "%graphql -c schema query ($a: Int!) {add(a: $a)}").data == {"add": 3}


def test_a_semicolon_or_silent_suppresses_the_output(shell):
    """`;` is removed, since it is not valid GraphQL."""
    assert run(shell, "%%graphql schema\n{ hello };") is None
    assert run(shell, "%%graphql schema -q\n{ hello }") is None


def test_a_mutation_is_recognised_by_its_operation(shell):
    """No option is needed."""
    assert run(shell, "%%graphql schema\nmutation { put(a: 4) }").data == {"put": 4}


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%%graphql schema\n{ hello", "Syntax Error: Expected Name, found <EOF>."),
        ("%%graphql schema\n\n", "The query is empty"),
        ("%%graphql schema\n# hello\n", "The query is empty"),
        ("%%graphql schema\nSELECT n FROM rows", "This is SQL."),
        ("%%graphql schema\nhello", "Braces around the fields are missing: { hello }"),
        ("%%graphql schema --interact n=1:50\nquery ($n: Int) { add(a: 1, b: $n) }",
         "n = (1, 50) for a slider"),
        ("%%graphql shema\n{ hello }", "No connection is called 'shema'. Did you mean 'schema'?"),
        ("%%graphql schema -t table\n{ hello }",
         "-t/--type takes one of result, frame, frames, json, arrow, pandas, polars, raw; "
         "got 'table'."),
        ("%%graphql schema -t fram\n{ hello }", "got 'fram'. Did you mean 'frame'?"),
        ("%%graphql schema -o\n{ hello }", "-o/--output takes a value; %%graphql --help"),
        ("%graphql history abc", "number takes a whole number, not 'abc'"),
        ("%%graphql schema -o a-b\n{ hello }", "takes a Python name, not 'a-b'"),
        ("%%graphql schema -v nope\n{ hello }", "--vars takes the name of a mapping"),
        ("%%graphql schema -p nope\n{ hello }", "--param takes NAME=EXPRESSION"),
        ("%%graphql schema 'open\n{ hello }", "no closing quotation"),
        ("%graphql frobnicate", "'frobnicate' is neither an operation"),
        ("%graphql use nope", "No connection is called 'nope'"),
        ("%graphql use", "takes one name"),
        ("%graphql serve nope", "no schema called 'nope'"),
        ("%graphql stop", "No server of this notebook is open"),
        ("%graphql stars many", "Star threshold 'many'"),
        ("%%graphql\n{ hello }", "POST http://127.0.0.1:9/graphql: Nothing listens there."),
    ],
)  # fmt: skip
def test_invalid_input_is_one_clear_error(shell, monkeypatch, cell, message):
    """Every mistake is a short error of ours."""
    monkeypatch.setenv("GQLNB_URL", "http://127.0.0.1:9/graphql")
    shown = failure(shell, cell)
    assert message in shown
    assert "Traceback" not in shown
    assert len(shown.splitlines()) <= 8


def test_a_cell_without_a_target_uses_the_newest_server(shell):
    """Serve in one cell, query in the next."""
    run(shell, "server = __import__('gqlnb').serve(schema, port=0)")
    try:
        assert run(shell, "%%graphql\n{ hello }").data == {"hello": "Hello world!"}
    finally:
        run(shell, "%graphql stop")
    assert background.servers.get_newest() is None


def test_a_connection_is_entered_used_listed_and_closed(shell, monkeypatch):
    """By name, with the source of its token and never the token."""
    monkeypatch.setenv("MY_TOKEN", SECRET)
    with gqlnb.serve(shell.user_ns["schema"], port=0, token=gqlnb.Token(SECRET)) as server:
        run(shell, f"%graphql connect mine {server.url} --token env:MY_TOKEN")
        assert run(shell, "%%graphql\n{ hello }").data == {"hello": "Hello world!"}
        listed = run(shell, "%graphql connections").frame().set_index("name")
        assert bool(listed.loc["mine", "current"])
        assert SECRET not in listed.to_string()
        run(shell, "%graphql use demo")
        assert "viewer" in run(shell, "%graphql { viewer { login } }").data
        run(shell, "%graphql close mine")


def test_the_serve_subcommand_starts_a_server(shell):
    """Its value is the server."""
    server = run(shell, "%graphql serve schema --port 0")
    with server:
        assert gqlnb.Client(server).execute("{ hello }").data == {"hello": "Hello world!"}


def test_the_schema_of_a_connection_is_shown(shell):
    """The whole schema or one type, as documentation or as SDL."""
    told = repr(run(shell, "%graphql schema Mutation -c schema --sdl"))
    assert told == "type Mutation {\n  put(a: Int!): Int\n}"
    assert "type Query" in run(shell, "%graphql schema -c schema --sdl")
    assert "hello: String" in repr(run(shell, "%graphql schema -c schema"))


def test_stars_shows_a_frame(shell):
    """Name, owner and stars from the stand-in, with a note of the source."""
    frame = run(shell, "%graphql stars >200000 --limit 3")
    assert list(frame.columns) == ["name", "owner", "stargazers"]
    assert len(frame) == 3
    assert (frame["stargazers"] > 200000).all()
    assert "demo" in frame.attrs["source"]
    assert run(shell, "%graphql stars 100000..200000 -o kept") is None
    assert shell.user_ns["kept"]["stargazers"].between(100000, 200000).all()


def test_a_bare_number_means_more_than_that_many_stars(shell):
    """As in Python and in the shell."""
    frame = run(shell, "%graphql stars 300000 --limit 3")
    assert frame.attrs["query"] == "stars:>300000"
    frame = run(shell, "%graphql stars 300_000 language:python")
    assert frame.attrs["query"] == "stars:>300000 language:python"


def test_stars_accepts_search_terms(shell):
    """As in `gqlnb.stars`: quotes within a term are preserved, a negated term is not an option."""
    line = '%graphql stars language:"objective c" > 50 -user:google sort:forks --limit all'
    frame = run(shell, line)
    assert frame.attrs["query"] == 'stars:>50 language:"objective c" -user:google sort:forks'
    assert len(frame) == frame.attrs["total_count"] == 100
    quoted = run(shell, "%graphql stars '>50000 language:python -user:google'")
    assert quoted.attrs["query"] == "stars:>50000 language:python -user:google"
    assert "Did you mean 'language:'" in failure(shell, "%graphql stars >1 langauge:c")


def test_a_line_names_the_fields_that_the_stand_in_has_no_data_for(shell):
    """At most three, with their outcomes, once; none for derived values, nor in a silent cell."""
    text = '{ repository(owner: "torvalds", name: "linux") { name updatedAt %s } }'

    def shown(options, fields):
        return [
            bundle["text/plain"]
            for bundle in beside(shell, f"%%graphql demo {options}\n{text % fields}")
            if "Not in the data" in bundle["text/plain"]
        ]

    note = (
        "Not in the data of the stand-in: "
        "Repository.description (null), Repository.isTemplate (false)."
    )
    rows = "rows = [{'owner': 'torvalds', 'name': 'linux'}]\n"
    for options in ("-t frame", "-t json", "-o r", "out <<"):
        assert shown(options, "description isTemplate") == [note]
    assert shown("", "description isTemplate") == []
    result = run(shell, f"%%graphql demo\n{text % 'description isTemplate'}")
    assert repr(result).splitlines()[-1] == note
    assert result._repr_mimebundle_()[0]["text/html"].count(note) == 1
    run(shell, rows)
    mapped = (
        "query ($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { %s } }"
    )
    assert [
        it["text/plain"]
        for it in beside(
            shell, f"%%graphql demo --map rows -o r\n{mapped % 'description isTemplate'}"
        )
    ] == [note]
    (line,) = shown("out <<", "description isTemplate diskUsage homepageUrl isMirror")
    assert line.endswith("Repository.diskUsage (null) and 2 more.")
    assert shown("", "stargazerCount") == []
    assert shown("-q", "description") == []


def test_loading_twice_is_loading_once(shell):
    """Unloading restores the former magics."""
    from gqlnb.notebook.extension import load_ipython_extension, unload_ipython_extension

    mine = shell.magics_manager.magics["cell"]["graphql"]
    load_ipython_extension(shell)
    assert shell.magics_manager.magics["cell"]["graphql"] is mine
    unload_ipython_extension(shell)
    unload_ipython_extension(shell)
    for kind in ("line", "cell"):
        assert not {"graphql", "gql"} & set(shell.magics_manager.magics[kind])
    shell.register_magic_function(len, "cell", "gql")
    load_ipython_extension(shell)
    assert shell.magics_manager.magics["cell"]["gql"] is len
    assert "graphql" in shell.magics_manager.magics["line"]
    unload_ipython_extension(shell)
    assert shell.magics_manager.magics["cell"]["gql"] is len


def test_the_help_names_every_option_and_subcommand(shell):
    """`%%graphql?` shows the docstring."""
    from gqlnb.notebook.magic_options import get_cell_parser
    from gqlnb.notebook.subcommands import SUBCOMMANDS

    text = shell.magics_manager.magics["cell"]["graphql"].__doc__
    options = [o for action in get_cell_parser()._actions for o in action.option_strings]
    assert [option for option in options if option not in text] == []
    alone = text.partition("Without a cell")[2]
    assert [word for word in SUBCOMMANDS if not re.search(rf"(%graphql|\|) {word}\b", alone)] == []


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("s='hello'", "hello"),
        ('s="a b"', "a b"),
        ("s=hello", "HIJACKED"),
        ("s=str(len('a b'))", "3"),
        ("s=str({'a': 1})", "{'a': 1}"),
        ("s='it\\'s'", "it's"),
        ("s='''a \"b\" c'''", 'a "b" c'),
        ("s=', '.join(['a', 'b'])", "a, b"),
        ("s=str((1 + one << 2))", "8"),
        ("s='x out << y'", "x out << y"),
        ("s='-q'", "-q"),
        ("s=str([{ 'a': 1 }])", "[{'a': 1}]"),
    ],
)
@pytest.mark.parametrize("option", ["-p ", "-p", "--param ", "--param="])
def test_an_expression_keeps_its_quotes(shell, option, written, value):
    """Quoted text is a Python string, and a bare name is a variable."""
    shell.user_ns |= {
        "hello": "HIJACKED",
        "one": 1,
        "say": gqlnb.Schema(
            "type Query { say(s: String!): String }",
            {"Query": {"say": lambda root, args, context: args["s"]}},
        ),
    }
    text = "query ($s: String!) { say(s: $s) }"
    assert run(shell, f"%%graphql say {option}{written}\n{text}").data == {"say": value}
    assert run(shell, f"%%graphql {option}{written} say\n{text}").data == {"say": value}
    assert run(shell, f"%graphql say {option}{written} {text}").data == {"say": value}
    assert run(shell, f"%%graphql say {option}{written} kept <<\n{text}") is None
    assert shell.user_ns["kept"].data == {"say": value}


def test_an_expression_may_be_quoted_as_a_whole(shell):
    """As for arguments in a shell."""
    text = "query ($a: Int!) { add(a: $a) }"
    assert run(shell, f"%%graphql schema -p 'a = 1 + 2'\n{text}").data == {"add": 3}


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("1/0", "--param a=1/0: ZeroDivisionError: division by zero"),
        ("nope", "--param a=nope: NameError: name 'nope' is not defined"),
        ("1+", "--param a=1+: SyntaxError"),
        ("bad()", "--param a=bad(): KeyError: 'x', in bad, line 2: return {}['x']"),
    ],
)
def test_a_failing_expression_is_a_one_line_error(shell, expression, reason):
    """The error of the expression is named, without our stack frames."""
    run(shell, "def bad():\n    return {}['x']")
    shown = failure(shell, f"%%graphql schema -p a={expression}\nquery ($a: Int!) {{ add(a: $a) }}")
    assert shown.startswith(f"OptionError: {reason}")
    assert len(shown.splitlines()) == 1


@pytest.mark.parametrize(
    "cell",
    [
        "%graphql {word}",
        "%graphql use {word}",
        "%graphql close {word}",
        '%graphql schema {{ add(a: "{word}") }}',
        "%graphql schema -p a='{word}' {{ hello }}",
        "%%graphql {word}\n{{ hello }}",
        '%%graphql schema\n{{ add(a: "{word}") }}',
    ],
)
@pytest.mark.parametrize("word", ["ghp_canary0123456789", "github_pat_canary0123456789"])
def test_a_token_anywhere_on_the_line_is_refused(shell, cell, word):
    """It is refused before the line is parsed, and not repeated."""
    shown = failure(shell, cell.format(word=word))
    assert "looks like a token" in shown
    assert "canary" not in shown


@pytest.mark.parametrize(
    "address",
    [
        "http://user:canary@127.0.0.1:9/graphql",
        "https://canary@127.0.0.1:9/graphql",
        "http://127.0.0.1:9/graphql?access_token=canary",
        "http://127.0.0.1:9/graphql?a=1&token=canary",
    ],
)
def test_a_password_in_an_address_is_refused(shell, address):
    """It would be saved with the notebook."""
    for cell in (f"%graphql connect mine {address}", f"%%graphql {address}\n{{ hello }}"):
        shown = failure(shell, cell)
        assert "looks like a token or a password" in shown
        assert "canary" not in shown


@pytest.mark.parametrize(
    "cell", ["%graphql say {{ say(s: {text}) }}", "%%graphql say\n{{ say(s: {text}) }}"]
)
@pytest.mark.parametrize(
    "text", ['"a@b.example"', '"http://h:1/x", t: "c@d"', '"ssh://git@host/a"', '"stars:>1 user:a"']
)
def test_ordinary_text_is_not_refused_as_a_secret(shell, cell, text):
    """Addresses, e-mail addresses and search words."""
    shell.user_ns["say"] = gqlnb.Schema("type Query { say(s: String, t: String): Int }")
    assert run(shell, cell.format(text=text)).data == {"say": None}


def test_an_interrupt_is_shown_without_our_frames(shell):
    """Its name, and the interrupted line of the user's code."""
    run(shell, "import signal\ndef slow(*_):\n    signal.raise_signal(signal.SIGINT)")
    run(shell, "schema.resolver('Query.hello')(slow)")
    shown = failure(shell, "%%graphql schema\n{ hello }")
    assert shown.splitlines() == [
        "KeyboardInterrupt",
        "  in slow, line 3: signal.raise_signal(signal.SIGINT)",
    ]
    with pytest.raises(KeyboardInterrupt) as caught:
        run(shell, "%graphql -c schema { hello }")
    assert type(caught.value).__name__ == "KeyboardInterrupt"
    assert caught.value.__context__ is None


def test_the_help_explains_a_bare_number_of_stars(shell):
    """More than that many; and the form for exactly that many."""
    text = shell.magics_manager.magics["cell"]["graphql"].__doc__
    assert "1000\n" in text
    assert "means >1000, 1000..1000 exactly 1000" in text


@pytest.fixture
def guarded(shell, monkeypatch):
    """Serve the schema to requests with a secret header; return the address."""
    monkeypatch.setenv("MY_HEADER", f"Bearer {SECRET}")
    with gqlnb.serve(shell.user_ns["schema"], port=0, token=gqlnb.Token(SECRET)) as server:
        yield server.url


@pytest.mark.parametrize(
    "option",
    [
        "-H Authorization=env:MY_HEADER",
        "-HAuthorization=env:MY_HEADER",
        "--header Authorization=env:MY_HEADER",
        "--header=Authorization=env:MY_HEADER -H X-Other=env:MY_HEADER",
        "-H  'Authorization=env:MY_HEADER'",
    ],
)
def test_a_header_is_sent_from_the_environment(shell, guarded, option):
    """For an address; on a cell and on a line."""
    assert "401" in failure(shell, f"%%graphql {guarded}\n{{ hello }}")
    cells = [
        f"%%graphql {guarded} {option}\n{{ hello }}",
        f"%graphql {guarded} {option} {{ hello }}",
    ]
    for cell in cells:
        assert run(shell, cell).data == {"hello": "Hello world!"}


def test_a_connection_keeps_its_header(shell, guarded):
    """`connect` stores it; the schema request sends it, too."""
    run(shell, f"%graphql connect mine {guarded} -H Authorization=env:MY_HEADER")
    assert run(shell, "%%graphql\n{ hello }").data == {"hello": "Hello world!"}
    assert "type Query" in run(shell, "%graphql schema --sdl")
    option = f"-c {guarded} -H Authorization=env:MY_HEADER"
    assert "hello: String" in run(shell, f"%graphql schema Query {option} --sdl")


@pytest.mark.parametrize(
    "option",
    [
        "-H X-Api-Key=canary",
        "-HX-Api-Key=canary",
        "-H X-Other=canary",
        "--header X-Api-Key=canary",
        "--header=X-Api-Key=canary",
        "-H 'X-Api-Key: canary'",
        "-H 'Authorization: token canary'",
        "-H X-Api-Key:canary",
        "-H X-Api-Key: canary",
        "-H X-Api-Key=environ:canary",
        "--token canary",
        "--token=canary",
        "--token 'canary'",
    ],
)
@pytest.mark.parametrize(
    "cell",
    [
        "%%graphql http://127.0.0.1:9/ {}\n{{ hello }}",
        "%%graphql {} schema\n{{ hello }}",
        "%graphql connect mine http://127.0.0.1:9/graphql {}",
        "%graphql -c schema {} {{ hello }}",
        "%graphql schema {}",
    ],
)
def test_a_literal_secret_is_refused_and_never_repeated(shell, cell, option):
    """Secrets of any form are refused, since the notebook would save them."""
    shown = failure(shell, cell.format(option))
    assert "looks like a token or a password" in shown
    assert "--token env:NAME, -H X-Api-Key=env:NAME" in shown
    assert "canary" not in shown


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%%graphql schema -H X-Key=env:\n{ hello }", "--header takes NAME=env:VAR"),
        ("%%graphql schema -H X-Key=env:A_A\n{ hello }", "variable A_A is not set"),
        ("%%graphql schema -H X-Key=env:MY_KEY\n{ hello }", "headers= would have no effect"),
        ("%graphql connect mine -H X-Key=env:MY_KEY", "need an address"),
        ("%graphql connect mine --token env:MY_KEY", "need an address"),
    ],
)
def test_an_invalid_header_is_refused(shell, monkeypatch, cell, message):
    """The message names the valid forms."""
    monkeypatch.setenv("MY_KEY", SECRET)
    shown = failure(shell, cell)
    assert message in shown
    assert SECRET not in shown
