"""The command line as real processes: what they print, and how they end."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pandas as pd
import pytest
import requests
from graphql import build_client_schema, build_schema, parse, print_schema

from gqlnb import Access, Limits, reference_schema, serve

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., subprocess.CompletedProcess[str]]


def test_help_names_every_command(gqlnb):
    """`gqlnb --help` lists the commands."""
    done = gqlnb("--help")
    assert done.returncode == 0
    assert all(name in done.stdout for name in ("lab", "serve", "query", "schema", "stars"))


def test_version_is_that_of_the_package(gqlnb):
    """`gqlnb --version` prints name and version."""
    import gqlnb as package

    assert gqlnb("--version").stdout == f"gqlnb {package.__version__}\n"


def test_the_installed_script_equals_the_module(gqlnb, tmp_path):
    """`gqlnb` and `python -m gqlnb` are the same program."""
    script = Path(sysconfig.get_path("scripts"), "gqlnb")
    done = subprocess.run(
        [script, "--help"], capture_output=True, check=True, cwd=tmp_path, text=True, timeout=60
    )
    assert done.stdout == gqlnb("--help").stdout


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("star", "1"), "No such command 'star'. Did you mean 'stars'?"),
        (("stars",), "Missing argument 'QUERY'"),
        (("stars", "1", "--limit", "none"), "'none' is not a limit"),
        (("stars", "1", "--csv", "--json"), "--csv is not allowed with --json"),
        (("stars", "1", "--csv", "--parquet", "f"), "--csv is not allowed with --parquet"),
        (("query", "{ a }", "--table", "--csv"), "--table is not allowed with --csv"),
        (("stars", "1", "--lim", "3"), "'--limit'"),
        (("--verson",), "Did you mean '--version'?"),
        (("query",), "Missing argument 'OPERATION'"),
        (("stars", "1", "2"), "unexpected extra argument"),
        (("serve", "--port", "65536"), "65536 is not in the range 0<=x<=65535"),
        (("serve", "--profile", "strict"), "'strict' is not one of 'audit', 'draft'"),
    ],
)
def test_invalid_arguments_exit_with_2(gqlnb, arguments, reason):
    """The error and the usage go to stderr."""
    done = gqlnb(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Usage: gqlnb")
    assert reason in done.stderr


def test_main_returns_2_for_invalid_arguments(capsys):
    """A caller in this process gets no SystemExit."""
    from gqlnb.cli.main import main

    assert main(["star"]) == 2
    assert "No such command 'star'" in capsys.readouterr().err


def test_stars_prints_a_table_and_its_source(gqlnb):
    """A table of three columns, and a last line with the count and the source."""
    done = gqlnb("stars", ">100000", "--limit", "3")
    header, *rows, empty, caption = done.stdout.splitlines()
    assert header.split() == ["name", "owner", "stargazers"]
    assert len(rows) == 3
    assert empty == ""
    assert caption.startswith("3 of ")
    assert "demo" in caption


def test_stars_reports_an_empty_result(gqlnb):
    """An empty result is not an error."""
    done = gqlnb("stars", ">900000000")
    assert done.returncode == 0
    assert done.stdout.startswith("0 of 0 repositories, from ")


def test_stars_has_equal_rows_in_every_format(gqlnb, tmp_path):
    """CSV, JSON and Parquet; stdout has only the data."""
    query = ("stars", "100000..150000", "--limit", "150")
    rows = list(csv.DictReader(io.StringIO(gqlnb(*query, "--csv").stdout)))
    values = json.loads(gqlnb(*query, "--json").stdout)
    wrote = gqlnb(*query, "--parquet", "stars.parquet")
    frame = pd.read_parquet(tmp_path / "stars.parquet")
    assert wrote.stdout.startswith(f"Wrote {len(frame)} of ")
    assert len(values) > 1
    assert [{**it, "stargazers": int(it["stargazers"])} for it in rows] == values
    assert frame.to_dict(orient="records") == values
    assert str(frame.dtypes["stargazers"]) == "Int64"


def test_rows_left_out_by_an_order_are_noted_on_stderr(gqlnb):
    """The data on stdout are unchanged."""
    done = gqlnb("stars", ">1000 sort:forks", "--limit", "2000", "--csv")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 1001
    assert done.stderr.startswith("gqlnb: ")
    assert "2,024 more are left out. Without that order, more come." in done.stderr
    assert ".py" not in done.stderr


FAILURES = [
    (("stars", "9", "--client", "nowhere"), "'nowhere'"),
    (("stars", "9", "-c", "github"), "personal access token"),
    (("stars", ">400000", "--parquet", "no/such/folder.parquet"), "no/such"),
    (("query", "{ hello"), "Syntax"),
    (("query", "{ hello }", "-c", "http://127.0.0.1:9/graphql"), "127.0.0.1:9"),
    (("serve", "json:loads"), "Schema"),
]
INVALID_VALUES = [
    (("stars", "many"), "Star threshold 'many'"),
    (("stars", ">1 langauge:c"), "Did you mean 'language:'"),
    (("stars", ">400000", "--parquet", "."), ". is a folder. Name a file, or take all of it"),
    (("query", "{ hello }", "--variables", "[1]"), "--variables takes a JSON object"),
    (("query", "{ hello }", "--variables", "{"), "--variables takes a JSON object"),
    (("serve", "schema"), "does not name a schema"),
    (("serve", "shop.py:schema"), "Write MODULE:NAME, for example shop:schema"),
    (("serve", "nowhere:schema"), "no module 'nowhere'"),
    (("serve", "json:schema"), "has no name 'schema'"),
    (("serve", "--limit", "depth"), "write NAME=VALUE with one of body, text"),
    (("serve", "--limit", "answer=3"), "write NAME=VALUE"),
    (("serve", "--limit", "depth=deep"), "the value must be a number above 0, or off"),
    (("serve", "--limit", "depth=0"), "--limit depth takes a whole number above 0, or off"),
    (("serve", "--origin", "*"), "--origin '*' would let every page"),
    (("serve", "--origin", "localhost"), "--origin takes origins such as"),
    (("serve", "--allow-host", "a:80"), "--allow-host takes names without a port"),
]


@pytest.mark.parametrize(
    ("arguments", "reason", "code"),
    [*((*row, 1) for row in FAILURES), *((*row, 2) for row in INVALID_VALUES)],
)
def test_an_error_has_no_traceback(gqlnb, arguments, reason, code):
    """A sentence on stderr, nothing on stdout; the code is 2 where the arguments are wrong."""
    done = gqlnb(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("gqlnb: ")
    assert "gqlnb: gqlnb" not in done.stderr
    assert reason in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (("query", "{ hello }", "--token", "env:NOT_SET"), "pass --token prompt"),
        (("stars", "9", "--client", "github"), "pass --token prompt"),
        (("stars", "9", "--client", "github", "--token", "env:NOT_SET"), "NOT_SET is not set"),
    ],
)
def test_advice_names_shell_options(gqlnb, arguments, advice):
    """Errors do not mention cells, notebooks or Python arguments."""
    done = gqlnb(*arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert advice in done.stderr
    assert not any(word in done.stderr for word in ("token=", "Jupyter", "cell"))


def test_a_token_as_text_is_refused_and_not_repeated(gqlnb):
    """As an invalid value, with the sources that a shell can name."""
    done = gqlnb("query", "{ hello }", "--token", "s3cret")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--token takes env:NAME, keyring:NAME" in done.stderr
    assert not any(word in done.stderr for word in ("token=", "Jupyter", "cell", "s3cret"))


def test_serve_has_options_for_deployment_and_monitoring(background, gqlnb, tmp_path):
    """Another path, health, metrics, and the access log on the terminal."""
    options = ("--path", "/api/gql", "--health", "--metrics", "--log")
    server = background("serve", "--port", "0", *options, cwd=tmp_path)
    url = server.wait_for(r"http://127\.0\.0\.1:\d+/api/gql").group()
    assert requests.post(url, json={"query": "{ hello }"}, timeout=20).json()["data"]
    server.wait_for(r'"POST /api/gql HTTP/1\.1" 200 \d+')
    base = url.removesuffix("/api/gql")
    assert requests.get(f"{base}/health", timeout=20).json() == {"status": "ok"}
    assert "gqlnb_requests_total" in requests.get(f"{base}/metrics", timeout=20).text
    refused = gqlnb("serve", "--certfile", "missing.pem", cwd=tmp_path)
    assert refused.returncode != 0
    assert "missing.pem': No such file or directory" in refused.stderr


def test_advice_on_servers_and_tokens_names_shell_options():
    """The client's advice for notebooks is rephrased."""
    from gqlnb.cli.output import translate_for_shell
    from gqlnb.client.credentials import SERVE_HINT
    from gqlnb.http.response_parser import TOKEN_ADVICE

    assert translate_for_shell(f"Nothing listens there. {SERVE_HINT}").endswith(": gqlnb serve")
    assert "--token env:NAME or --token prompt" in translate_for_shell(TOKEN_ADVICE)


@pytest.mark.parametrize(
    ("access", "limits", "request_options", "advice"),
    [
        (Access(), Limits(aliases=1), {"json": {"query": "{ a: hello b: hello }"}},
         "--limit aliases=2"),
        (Access(batch=1), None, {"json": [{"query": "{ hello }"}] * 2}, "gqlnb serve --batch 2."),
    ],
)  # fmt: skip
def test_advice_of_a_server_names_options_of_serve(access, limits, request_options, advice):
    """The answer of a real server, as the shell shows it."""
    from gqlnb.cli.output import translate_for_shell

    with serve(reference_schema(), port=0, access=access, limits=limits) as server:
        answer = requests.post(server.url, timeout=10, **request_options)
    text = translate_for_shell(answer.text)
    assert advice in text
    assert "serve(" not in text


def test_stars_sends_a_token(background, gqlnb, tmp_path, monkeypatch):
    """`--token` goes to the endpoint of `--client`, which may be an address."""
    monkeypatch.setenv("MY_TOKEN", "s3cret")
    (tmp_path / "app.py").write_text(
        "from gqlnb.github.standin.github_schema import service\n\nschema = service()\n"
    )
    server = background(
        "serve", "app:schema", "--port", "0", "--token", "env:MY_TOKEN", cwd=tmp_path
    )
    url = server.wait_for(r"http://127\.0\.0\.1:\d+/graphql").group()
    refused = gqlnb("stars", "400000", "--client", url)
    assert (refused.returncode, "401" in refused.stderr) == (1, True)
    done = gqlnb("stars", "400000", "--client", url, "--token", "env:MY_TOKEN")
    assert done.returncode == 0, done.stderr
    assert url in done.stdout


def test_a_closed_pipe_is_not_an_error(tmp_path):
    """`gqlnb stars ... | head -n 1` prints its line and no error."""
    command = f"{sys.executable} -m gqlnb stars 1000 --limit 1000 --csv"
    with subprocess.Popen(
        ["/bin/sh", "-c", f"{command}; echo ended with $? >&2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == "ended with 141\n"


@pytest.mark.skipif(sys.platform != "linux", reason="The files of other systems differ.")
@pytest.mark.parametrize(
    ("command", "code", "reason"),
    [
        *(
            (f"{command} >&-", 1, "Standard output is closed, so nothing can be printed.")
            for command in ("stars '>1000'", "--help", "--version", "completion bash", "serve")
        ),
        *(
            (f"{command} >/dev/full", 1, "No space left on device")
            for command in ("stars '>1000'", "--help", "--version", "completion bash")
        ),
        *(
            (f"stars '>1000' --parquet {end}", 2, "is not a file of its own, which Parquet needs")
            for end in ("/dev/stdout | cat", "/dev/stdout >x", "/dev/fd/1 >x", "x >>x", "/dev/null")
        ),
        ("stars '>1000' --all --parquet /dev/stdout | cat", 2, "is not a file of its own"),
        ("query - -c demo <&-", 2, "Standard input is closed"),
    ],
)
def test_output_that_cannot_be_written_is_one_sentence(tmp_path, command, code, reason):
    """And no traceback, nor a file that cannot be read."""
    sdl = "type Query { a: Int }"
    (tmp_path / "schema.graphql").write_text(sdl)
    (tmp_path / "x").touch()
    done = subprocess.run(
        ["/bin/bash", "-o", "pipefail", "-c", f"{sys.executable} -m gqlnb {command}"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        input="query A { a }",
    )
    assert (done.returncode, done.stdout) == (code, "")
    assert re.fullmatch(r"gqlnb: .*\n", done.stderr)
    assert reason in done.stderr
    assert not (tmp_path / "x").read_bytes()


def test_query_prints_json(gqlnb):
    """The output has the members of a GraphQL response."""
    text = (
        "query Q($q: String!) { search(query: $q, type: REPOSITORY, first: 1) { repositoryCount } }"
    )
    done = gqlnb("query", text, "-c", "demo", "--variables", '{"q": "stars:>400000"}')
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["data"]["search"]["repositoryCount"] > 0
    assert gqlnb("query", "{ viewer { login } }", "-c", "demo", "--json").stdout.startswith("{")


def test_query_reads_stdin_and_chooses_the_operation(gqlnb):
    """`-` reads the document from standard input."""
    text = "query A { viewer { login } } query B { viewer { id } }"
    done = gqlnb("query", "-", "-c", "demo", "--operation", "A", input=text)
    assert json.loads(done.stdout) == {"data": {"viewer": {"login": "demo"}}}


OWN_REPOSITORIES = """query Mine($owner: String!, $first: Int = 1, $field: RepositoryOrderField!) {
  repositoryOwner(login: $owner) { login }
  viewer { repositories(first: $first, orderBy: {field: $field, direction: ASC}) { totalCount } }
}"""


@pytest.mark.parametrize("how", [("q.graphql",), ("--file", "q.graphql"), ("-f", "-"), ("-",)])
def test_query_reads_a_file_and_its_variables(gqlnb, tmp_path, how):
    """Text, numbers and enum values by the types that the operation declares."""
    (tmp_path / "q.graphql").write_text(OWN_REPOSITORIES)
    variables = ("owner=torvalds", "first=2", "field=NAME")
    done = gqlnb("query", *how, *variables, "-c", "demo", input=OWN_REPOSITORIES)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["data"]["repositoryOwner"] == {"login": "torvalds"}


@pytest.mark.parametrize(
    ("argument", "reason"),
    [
        ("first=two", "'first=two': the value must be a whole number."),
        ("frist=2", "one of owner, first, field. Did you mean 'first'?"),
        ("first", "'first': write NAME=VALUE"),
        ("field=[", "the value must be valid JSON, as for RepositoryOrderField."),
    ],
)
def test_a_wrong_variable_exits_with_2(gqlnb, tmp_path, argument, reason):
    """The message shows the argument and what is right."""
    (tmp_path / "q.graphql").write_text(OWN_REPOSITORIES)
    done = gqlnb("query", "q.graphql", argument, "-c", "demo")
    assert (done.returncode, done.stdout) == (2, "")
    assert reason in done.stderr


def test_a_bare_call_prints_the_help(gqlnb):
    """`gqlnb` alone is not an error."""
    done = gqlnb()
    assert (done.returncode, done.stdout, done.stderr) == (0, gqlnb("--help").stdout, "")


def test_the_help_has_the_first_sentence_of_each_command():
    """The help of all commands imports none of them, so it repeats their sentences."""
    from gqlnb.cli.command_group import command_line
    from gqlnb.cli.help import COMMANDS, HELP

    context = click.Context(command_line)
    for name, (_, about) in COMMANDS.items():
        found = command_line.get_command(context, name)
        assert found.help.partition("\n")[0] == about
    options = [parameter.get_help_record(context) for parameter in command_line.get_params(context)]
    assert all(text in HELP for record in options for text in record)


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_the_help_and_the_version_import_nothing_large(tmp_path, argument):
    """Neither click nor `typing`, which take longer than the start of the interpreter."""
    code = (
        "import sys; from gqlnb.cli.main import main; "
        f"main([{argument!r}]); print('click' in sys.modules, 'typing' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        text=True,
        timeout=60,
    )
    assert done.stdout.endswith("False False\n")


def test_a_module_that_fails_is_shown_without_our_frames(gqlnb, tmp_path):
    """The traceback begins in the module."""
    (tmp_path / "broken.py").write_text("schema = 1 / 0\n")
    done = gqlnb("serve", "broken:schema")
    assert done.returncode == 1
    assert done.stderr.count('File "') == 1
    assert "ZeroDivisionError" in done.stderr
    assert done.stderr.endswith(
        "gqlnb: Module 'broken' could not be imported: see the traceback above.\n"
    )


SEARCH = (
    '{ search(query: "stars:>57000", type: REPOSITORY, first: 100) '
    "{ repositoryCount nodes { ... on Repository { id } } } }"
)


REPOSITORIES = """{
  search(query: "stars:>300000", type: REPOSITORY, first: 3) {
    nodes { ... on Repository { name stargazerCount } }
  }
}"""


def test_query_prints_rows(gqlnb):
    """As a table for people, or as CSV for other programs."""
    done = gqlnb("query", REPOSITORIES, "-c", "demo", "--table")
    assert done.returncode == 0, done.stderr
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["name", "stargazerCount"],
        ["build-your-own-x", "541915"],
        ["awesome", "498692"],
        ["public-apis", "468096"],
    ]
    csv = gqlnb("query", REPOSITORIES, "-c", "demo", "--csv").stdout
    assert csv.splitlines()[:2] == ["name,stargazerCount", "build-your-own-x,541915"]
    nested = """{ organization(login: "google") { repositories(first: 1) { nodes {
      languages(first: 1) { nodes { name } } } } } }"""
    lists = gqlnb("query", nested, "-c", "demo", "--csv").stdout
    assert lists == 'languages\n"[{""name"":""HTML""}]"\n'


def test_a_partial_response_prints_rows_and_errors(gqlnb):
    """Rows go to stdout, errors to stderr, and the exit code is not 0."""
    text = '{ repository(owner: "no", name: "such") { name } viewer { login } }'
    done = gqlnb("query", text, "-c", "demo", "--csv")
    assert done.returncode == 1
    assert done.stdout == "repository.name,viewer.login\n,demo\n"
    assert done.stderr == (
        "gqlnb: repository: Could not resolve to a Repository with the name 'no/such'.\n"
    )


NO_FISH = pytest.mark.skipif(shutil.which("fish") is None, reason="No fish on this machine")
NO_ZSH = pytest.mark.skipif(shutil.which("zsh") is None, reason="No zsh on this machine")


@pytest.mark.parametrize(
    "shell", ["bash", pytest.param("zsh", marks=NO_ZSH), pytest.param("fish", marks=NO_FISH)]
)
def test_the_completion_script_completes_commands(gqlnb, shell, tmp_path):
    """A shell can load it."""
    script = tmp_path / "completion"
    script.write_text(gqlnb("completion", shell).stdout)
    program = shutil.which(shell)
    subprocess.run([program, "-n", script], check=True, timeout=20)
    if shell != "bash":
        return
    command = tmp_path / "gqlnb"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gqlnb "$@"\n')
    command.chmod(0o755)
    for words, found in {
        "gqlnb sta": ["stars"],
        "gqlnb stars --par": ["--parquet"],
        "gqlnb query -c d": ["demo"],
    }.items():
        line = (
            f"source {script}; COMP_WORDS=({words}); COMP_CWORD={len(words.split()) - 1}; "
            f'_gqlnb_completion "{command}"; echo ${{COMPREPLY[*]}}'
        )
        done = subprocess.run(
            [program, "-c", line], check=True, capture_output=True, text=True, timeout=60
        )
        assert done.stdout.split() == found


def test_query_merges_all_pages(gqlnb):
    """`--paginate` follows connections; the paging report goes to stderr."""
    done = gqlnb("query", SEARCH, "-c", "demo", "--paginate")
    found = json.loads(done.stdout)["data"]["search"]
    assert len({each["id"] for each in found["nodes"]}) == found["repositoryCount"] > 300
    assert (
        done.stderr
        == f"gqlnb: Pages: {len(found['nodes'])} of {len(found['nodes'])} items in 4 requests\n"
    )
    assert gqlnb("query", SEARCH, "-c", "demo", "--max-results", "all").stdout == done.stdout
    few = gqlnb("query", SEARCH, "-c", "demo", "--paginate", "--max-results", "120")
    assert len(json.loads(few.stdout)["data"]["search"]["nodes"]) == 120
    assert few.returncode == 0


def test_query_prints_the_pages_before_a_failure(background, gqlnb, tmp_path):
    """The error on stderr names shell options."""
    server = background("github", "--port", "0", "--simulate", "budget=3", cwd=tmp_path)
    url = server.wait_for(r"http://127\.0\.0\.1:\d+/graphql").group()
    done = gqlnb("query", SEARCH, "-c", url, "--paginate")
    assert done.returncode == 1
    assert len(json.loads(done.stdout)["data"]["search"]["nodes"]) == 200
    assert "200 items were received before. They were printed.\n" in done.stderr


def test_schema_prints_single_types(gqlnb):
    """In the order given; a wrong name gets a suggestion."""
    printed = gqlnb("schema", "Repository", "SearchType", "-c", "demo").stdout
    assert printed.index("\ntype Repository ") < printed.index("\nenum SearchType {")
    assert "type User " not in printed
    wrong = gqlnb("schema", "Repositry", "-c", "demo")
    assert "The schema has no type 'Repositry'. Did you mean 'Repository'?" in wrong.stderr
    assert wrong.returncode == 1


def test_schema_prints_single_fields_and_values(gqlnb):
    """Within their type; a wrong name gets a suggestion."""
    printed = gqlnb("schema", "Query.search", "SearchType.USER", "-c", "demo").stdout
    query, _ = parse(printed).definitions
    assert [field.name.value for field in query.fields] == ["search"]
    assert printed.endswith("  USER\n}\n")
    wrong = gqlnb("schema", "Query.serch", "-c", "demo")
    assert "Query has no member 'serch'. Did you mean 'search'?" in wrong.stderr


def test_schema_prints_introspection_as_json(gqlnb):
    """graphql-core builds the same schema of it."""
    described = json.loads(gqlnb("schema", "-c", "demo", "--json").stdout)
    built = build_client_schema(described)
    assert print_schema(build_schema(gqlnb("schema", "-c", "demo").stdout)) == print_schema(built)


@pytest.mark.parametrize(("end", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_serve_runs_until_a_signal(background, tmp_path, end, code):
    """Ctrl-C exits with 130, SIGTERM with 0."""
    server = background("serve", "--port", "0", cwd=tmp_path)
    url = server.wait_for(r"http://127\.0\.0\.1:\d+/graphql").group()
    answer = requests.post(url, json={"query": "{ hello }"}, timeout=10)
    assert (answer.status_code, answer.json()) == (200, {"data": {"hello": "Hello world!"}})
    server.process.send_signal(end)
    assert server.process.wait(20) == code
    assert "Traceback" not in server.output
    with pytest.raises(requests.ConnectionError):
        requests.post(url, json={"query": "{ hello }"}, timeout=10)


def test_serve_loads_a_schema_from_the_working_folder(background, gqlnb, tmp_path):
    """`gqlnb serve app:schema` loads app.py; `gqlnb query` and `schema` query it."""
    (tmp_path / "app.py").write_text(
        "import gqlnb\n"
        "resolvers = {'Query': {'answer': lambda *_: 42}}\n"
        "schema = gqlnb.Schema('type Query { answer: Int }', resolvers)\n"
    )
    server = background("serve", "app:schema", "--port", "0", cwd=tmp_path)
    url = server.wait_for(r"http://127\.0\.0\.1:\d+/graphql").group()
    assert json.loads(gqlnb("query", "{ answer }", "-c", url).stdout) == {"data": {"answer": 42}}
    assert "answer: Int" in gqlnb("schema", "--connection", url).stdout
    wrong = gqlnb("query", "{ anser }", "-c", url)
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert "Did you mean 'answer'?" in wrong.stderr


def test_serve_requires_its_token(background, gqlnb, tmp_path, monkeypatch):
    """With `--token env:NAME`, requests without that token are refused."""
    monkeypatch.setenv("MY_TOKEN", "s3cret")
    server = background("serve", "--port", "0", "--token", "env:MY_TOKEN", cwd=tmp_path)
    url = server.wait_for(r"http://127\.0\.0\.1:\d+/graphql").group()
    refused = gqlnb("query", "{ hello }", "-c", url)
    assert refused.returncode == 1
    assert "401" in refused.stderr
    answered = gqlnb("query", "{ hello }", "-c", url, "--token", "env:MY_TOKEN")
    assert json.loads(answered.stdout) == {"data": {"hello": "Hello world!"}}
    assert "s3cret" not in server.output + refused.stderr + answered.stderr


def test_stars_queries_a_named_endpoint(gqlnb):
    """An environment variable does not decide between sample and real data."""
    import os

    done = gqlnb("stars", "400000", env={**os.environ, "GQLNB_URL": "http://127.0.0.1:9/graphql"})
    assert "demo" in done.stdout.splitlines()[-1]


def test_serve_has_options_for_limits_and_access(background, tmp_path):
    """Every setting of the server has its option."""
    server = background(
        *("serve", "--port", "0", "--origin", "http://localhost:5173", "--allow-host", "lab"),
        *("--limit", "body=60", "--limit", "depth=off", "--limit", "seconds=2.5"),
        *("--get", "--no-page", "--no-introspection", "--no-hints", "--profile", "draft"),
        cwd=tmp_path,
    )
    url = server.wait_for(r"http://127\.0\.0\.1:\d+/graphql").group()

    def ask(query: str, **headers: str) -> requests.Response:
        return requests.post(url, json={"query": query}, headers=headers, timeout=20)

    asked = ask("{ hello }", Origin="http://localhost:5173", Host="lab:80")
    assert (asked.status_code, asked.headers["vary"]) == (200, "Origin")
    assert ask("{ hello }" + " " * 60).status_code == 413
    assert requests.get(url, params={"query": "{ hello }"}, timeout=20).json()["data"]
    browser = {"Accept": "text/html, application/json;q=0.5"}
    assert requests.get(url, headers=browser, timeout=20).status_code == 422
    wrong = ask("{ helo }")
    assert (wrong.status_code, "mean" in wrong.text) == (422, False)
    assert ask("{ __schema { __typename } }").status_code == 422
