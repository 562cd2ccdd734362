"""``gqlnb github`` serves the stand-in until it is told to end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
import requests

from gqlnb import OptionError
from gqlnb.cli.standin_command import parse_simulation
from gqlnb.github.standin.simulation import Simulation

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Background

    Run = Callable[..., subprocess.CompletedProcess[str]]
    Start = Callable[..., Background]

QUERY = {"query": '{ viewer { login } search(query: "", type: REPOSITORY) { repositoryCount } }'}


def test_it_serves_a_population_with_faults_and_a_token(background: Start, tmp_path: Path) -> None:
    """Every option reaches the service, and SIGTERM ends it well."""
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


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--simulate", "nonsense=1"], 1, "write NAME=VALUE with one of restricted, ties"),
        (["--population", "0"], 1, "from 1 to 13,000,000"),
        (["--population", "many"], 2, "'many' is not a number of repositories"),
        (["--token", "ghp_literal"], 1, "--token takes env:NAME"),
    ],
)
def test_a_wrong_option_is_said(gqlnb: Run, options: list[str], code: int, said: str) -> None:
    """What is wrong ends the command with one sentence and no traceback."""
    done = gqlnb("github", "--port", "0", *options)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "ghp_literal" not in done.stderr


def test_faults_are_read_by_their_kinds() -> None:
    """A name alone switches on; shares, numbers and switches are read as such."""
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
def test_a_wrong_fault_is_said(text: str, said: str) -> None:
    """Each mistake names the fault and what would be right."""
    with pytest.raises(OptionError, match=said):
        parse_simulation([text])
