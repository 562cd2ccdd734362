"""``gqlnb github`` serves the stand-in until it is told to end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
import requests

from gqlnb import OptionError
from gqlnb.cli.main import main
from gqlnb.cli.serve_command import parse_simulation
from gqlnb.github.standin.simulation import Simulation

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from tests.conftest import Background

    Run = Callable[..., subprocess.CompletedProcess[str]]
    Start = Callable[..., Background]

QUERY = {"query": '{ viewer { login } search(query: "", type: REPOSITORY) { repositoryCount } }'}


def test_the_command_serves_a_population_with_faults_and_a_token(background, tmp_path):
    """Every option reaches the service, and SIGTERM ends it with exit code 0."""
    options = ["--port", "0", "--token", "env:STANDIN", "--viewer", "mona", "--seed", "4"]
    more = ["--population", "2_000", "--simulate", "restricted", "--simulate", "budget=7"]
    process = background(
        "github", *options, *more, cwd=tmp_path, env={**os.environ, "STANDIN": "open-sesame"}
    )
    line = process.wait_for(r"Serving on (\S+): (.+) \(Ctrl-C stops it\)")
    assert line[2] == "synthetic GitHub of 2,000 repositories, shape of 2023, seed 4"
    answer = requests.post(
        line[1], json=QUERY, headers={"Authorization": "bearer open-sesame"}, timeout=20
    )
    assert answer.json()["data"] == {
        "viewer": {"login": "mona"},
        "search": {"repositoryCount": 2_000},
    }
    assert answer.headers["x-ratelimit-remaining"] == "6"
    assert requests.post(line[1], json=QUERY, timeout=20).status_code == 401
    assert process.stop() == 0


def test_the_command_serves_another_schema_in_spite_of_a_mistake(background, tmp_path):
    """With sample facts for matching fields, and generated values for the others.

    The mistake is that of GitHub's own schema: a field that is defined twice.
    """
    sdl = (
        "type Query { viewer: User! moon: Int! moon: Int! } type User { login: String! size: Int! }"
    )
    (tmp_path / "other.graphql").write_text(sdl)
    process = background("github", "--port", "0", "--schema", "other.graphql", cwd=tmp_path)
    url = process.wait_for(r"Serving on (\S+): ")[1]
    process.wait_for(r"in spite of a mistake in it: Field 'Query\.moon' can only be defined once")
    text = "{ moon viewer { login size } }"
    answer = requests.post(url, json={"query": text}, timeout=20).json()
    assert answer["data"]["viewer"]["login"] == "demo"
    assert isinstance(answer["data"]["viewer"]["size"], int)
    assert answer["extensions"]["standIn"] == {
        "Query.moon": "generated",
        "User.size": "generated",
    }
    assert process.stop() == 0


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--schema", "missing.graphql"], 1, "missing.graphql"),
        (["--simulate", "nonsense=1"], 2, "write NAME=VALUE with one of restricted, ties"),
        (["--population", "0"], 2, "from 1 to 13,000,000"),
        (["--population", "many"], 2, "'many' is not a number of repositories"),
        (["--token", "ghp_literal"], 2, "--token takes env:NAME"),
    ],
)
def test_an_invalid_option_is_reported(options, code, said, capsys):
    """The command ends with one sentence."""
    assert main(["github", "--port", "0", *options]) == code
    errors = capsys.readouterr().err
    assert said in errors
    assert "ghp_literal" not in errors


def test_faults_are_parsed_by_type():
    """A name alone is true; shares, numbers and switches are parsed by the fault's type."""
    texts = ["ties", "restricted=false", "gateway=0.25", "drift=3", "budget=5000"]
    assert parse_simulation(texts, seed=2) == Simulation(
        seed=2, ties=True, gateway=0.25, drift=3, budget=5000
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("clock=1", "write NAME=VALUE"),
        ("seed=1", "write NAME=VALUE"),
        ("", "write NAME=VALUE"),
        ("budget", "write NAME=VALUE"),
        ("budget=1.5", "a whole number"),
        ("ties=maybe", "true or false"),
        ("gateway=often", "a share"),
        ("gateway=2", "a number from 0 to 1"),
    ],
)
def test_an_invalid_fault_is_reported(text, said):
    """The error names the fault and its valid values."""
    with pytest.raises(OptionError, match=said):
        parse_simulation([text])
