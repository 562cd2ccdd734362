"""`gqlnb stars --all` as a process: into a folder, killed and run again; and its exit codes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from graphql import build_schema, introspection_from_schema

from gqlnb import github, serve
from gqlnb.cli.main import main
from gqlnb.github.repositories import Owner, Repository
from tests.client.faults import Endpoint, json_answer
from tests.github.harvester.logging_standin import Listening

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Work in an empty folder, and return it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_another_harvest_in_the_folder_needs_anew(here, capsys):
    """The error describes the existing harvest, and --anew replaces it."""
    assert main(["stars", "20000", "--all", "--parquet", "out"]) == 0
    assert main(["stars", "30000", "--all", "--parquet", "out"]) == 2
    told = capsys.readouterr().err
    assert "is the log of 'stars:>=20001'" in told
    assert "in this one with --anew" in told
    assert main(["stars", "30000", "--all", "--parquet", "out", "--anew"]) == 0
    assert pd.read_parquet(here / "out")["stargazers"].min() > 30_000


@pytest.mark.parametrize("how", [["--all"], ["--limit", "all"]])
def test_a_harvest_without_a_folder_prints_all_rows(how, capsys):
    """Also more than a thousand."""
    assert main(["stars", "1000", *how, "--json"]) == 0
    printed, told = capsys.readouterr()
    assert (len(json.loads(printed)), told) == (3024, "")


def test_a_dry_run_estimates_the_harvest(here, capsys):
    """It sends one count query and writes nothing."""
    assert main(["stars", "1000", "--all", "--parquet", "out", "--dry-run"]) == 0
    printed = capsys.readouterr().out
    assert "31 to 36 pages of 100" in printed
    assert "1 minute at GitHub's limits" in printed
    assert not (here / "out").exists()


def test_an_incomplete_harvest_exits_with_3(here, capsys):
    """No search can return over a thousand rows with equal stars and creation time."""
    owner, moment = Owner("mona", "User"), "2020-01-01T00:00:00Z"
    made = [Repository(f"r{n:04}", owner, 7, 0, None, moment, moment) for n in range(1200)]
    with serve(
        Listening(github.Population.from_repositories(made, source="a crowd")), port=0
    ) as server:
        code = main(["stars", ">=1", "--all", "--parquet", "out", "--client", server.url])
    printed = capsys.readouterr().out
    assert code == 3
    assert "not complete" in printed
    assert "expected 1,200, got 1,000" in printed


def test_anew_without_a_folder_is_refused(capsys):
    """There is no folder to clear."""
    assert main(["stars", "1000", "--all", "--anew"]) == 2
    assert "--all and --parquet FOLDER" in capsys.readouterr().err


def test_everything_is_read_twice(tmp_path, capsys):
    """A folder that was read once is refused."""
    assert main(["stars", ">400000", "--twice"]) == 2
    assert "--twice requires --all" in capsys.readouterr().err
    once, twice = str(tmp_path / "once"), str(tmp_path / "twice")
    assert main(["stars", ">400000", "--all", "--twice", "--parquet", twice]) == 0
    assert "everything was read twice" in capsys.readouterr().out
    assert main(["stars", ">400000", "--all", "--parquet", once]) == 0
    assert "read twice" not in capsys.readouterr().out
    assert main(["stars", ">400000", "--all", "--twice", "--parquet", once]) == 2
    assert "a harvest without --twice. Name another folder" in capsys.readouterr().err


def test_own_fields_are_columns(capsys):
    """As CSV with lists as JSON, as JSON, in an estimate; not in a single search."""
    fields = ["--fields", "forkCount languages(first: 1) { nodes { name } }"]
    assert main(["stars", ">400000", "--all", *fields, "--csv"]) == 0
    head, first, *_ = capsys.readouterr().out.splitlines()
    assert head == "name,owner,stargazers,created_at,id,forkCount,languages"
    assert first.endswith('51112,"[{""name"":""Markdown""}]"')
    assert main(["stars", ">400000", "--all", *fields, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["languages"] == [{"name": "Markdown"}]
    assert main(["stars", ">400000", "--dry-run", *fields]) == 0
    assert "1 point per page with fields=" in capsys.readouterr().out
    assert main(["stars", ">400000", *fields]) == 2
    assert "--fields requires --all" in capsys.readouterr().err
    assert main(["stars", ">400000", "--all", "--fields", "forkCont"]) == 1
    assert "Did you mean 'forkCount'" in capsys.readouterr().err


def test_warnings_of_the_endpoint_are_printed(capsys):
    """Once, beside the notes of the search."""
    page = {
        "repositoryCount": 1,
        "pageInfo": {"hasNextPage": False, "endCursor": None},
        "edges": [
            {"node": {"name": "b", "owner": {"login": "a"}, "stargazers": {"totalCount": 9}}}
        ],
    }
    warning = {"type": "DEPRECATION", "message": "The search is deprecated."}
    members = {"data": {"search": page}, "extensions": {"warnings": [warning]}}
    with Endpoint(json_answer(members)) as endpoint:
        assert main(["stars", ">5 is:archive", "--csv", "--client", endpoint.url]) == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[1:] == ["b,a,9"]
    assert told.err.count("The search is deprecated.") == 1
    assert told.err.count("Probably without effect: 'is:archive'") == 1


def test_a_search_that_finds_nothing_is_explained(here, capsys):
    """With and without ``--all``."""
    for options in ([], ["--all"], ["--all", "--parquet", "out"]):
        assert main(["stars", "language:pyhton", *options]) == 0
        told = capsys.readouterr()
        assert "Did you mean 'python'?" in told.out + told.err


@pytest.mark.parametrize("form", ["--json", "--table"])
def test_query_lets_the_endpoint_decide(here, capsys, form):
    """With --no-validate: about a text that the schema, or the parser, refuses."""
    described = introspection_from_schema(build_schema("type Query { hello: Int }"))
    for text in ("{ extra }", "{ extra! }"):
        answers = [json_answer({"data": described})] if form == "--table" else []
        with Endpoint(*answers, json_answer({"data": {"extra": 1}})) as endpoint:
            assert main(["query", text, "-c", endpoint.url, form, "--no-validate"]) == 0
            assert json.loads(endpoint.requests[-1].partition(b"\r\n\r\n")[2])["query"] == text
        assert "extra" in capsys.readouterr().out


SEARCH = """query ($q: String = "stars:>1000", $n: Int = 2, $after: String, $last: Int,
    $topics: Int) {
  search(query: $q, type: REPOSITORY, first: $n, after: $after, last: $last) {
    nodes { ... on Repository { name repositoryTopics(first: $topics) { totalCount } } }
  }
}"""


@pytest.mark.parametrize(
    ("words", "noted"),
    [
        ([], "$last, $topics have no value, so they are left out (null). To set it, add: last="),
        (["topics=2"], "$last has no value, so it is left out (null). To set it, add: last="),
        (["--variables", '{"topics": 2, "last": null}'], ""),
        (["--max-results", "2", "topics=2"], "$last has no value, so it is left out (null)."),
    ],
    ids=["none", "one", "all", "pages"],
)
def test_variables_without_a_value_are_noted(words, noted, capsys):
    """On stderr: a filter without a value filters nothing; a cursor without one is page one."""
    assert main(["query", SEARCH, "-c", "demo", *words]) == 0
    told = capsys.readouterr().err
    assert ("no value" in told) is bool(noted)
    assert noted in told


@pytest.mark.parametrize(
    ("form", "is_named"), [("--table", True), ("--csv", True), ("--json", False)]
)
def test_a_first_page_is_named(form, is_named, capsys):
    """Rows look like all rows; JSON shows the count itself."""
    search = 'search(query: "stars:>20000", type: REPOSITORY, first: 3)'
    text = f"{{ {search} {{ repositoryCount nodes {{ ... on Repository {{ name }} }} }} }}"
    assert main(["query", text, "-c", "demo", form]) == 0
    told = capsys.readouterr().err
    assert ("3 of 1,067 rows; --paginate fetches all" in told) == is_named
