"""`gqlnb stars --all` as a process: into a folder, killed and run again; and its exit codes."""

from __future__ import annotations

import json
import signal
from random import Random
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from gqlnb import github, serve
from gqlnb.cli.main import main
from gqlnb.github.harvester.requests import PAGES_PER_REQUEST
from gqlnb.github.repositories import Owner, Repository
from tests.github.harvester.logging_standin import Listening, rows

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., subprocess.CompletedProcess[str]]

KILLS = 3


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, and return it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_a_killed_harvest_goes_on(background: Any, gqlnb: Run, tmp_path: Path) -> None:
    """Killed at random moments and run again, it brings the same rows, and asks little again."""
    people = github.population(20_000, seed=4)
    standin, chance = Listening(people), Random()
    with serve(standin, port=0) as server:
        command = ("stars", ">=1", "--all", "--parquet", "out", "--client", server.url)
        for _ in range(KILLS):
            target = len(standin.asked) + chance.randint(1, 6)
            running = background(*command, cwd=tmp_path)
            assert standin.wait_for(target), running.output
            running.process.send_signal(signal.SIGKILL)
            assert running.process.wait(20) == -signal.SIGKILL
        done = gqlnb(*command)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("20,000 repositories of 'stars:>=1', complete\n")
    assert rows(pd.read_parquet(tmp_path / "out")) == rows(people.frame())
    searches = standin.searches()
    assert len(searches) - len(set(searches)) <= KILLS * PAGES_PER_REQUEST


def test_a_harvest_is_quiet_and_is_not_repeated(gqlnb: Run, tmp_path: Path) -> None:
    """Nothing goes to stderr where nobody watches; run again, it says the same."""
    command = ("stars", "1000", "--all", "--parquet", "out")
    done, again = gqlnb(*command), gqlnb(*command)
    assert (done.returncode, done.stderr) == (0, "")
    assert again.stdout == done.stdout
    assert len(pd.read_parquet(tmp_path / "out")) == 3024


def test_another_harvest_in_the_folder_is_refused_until_told(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another query says what is there, and --anew replaces it."""
    assert main(["stars", "20000", "--all", "--parquet", "out"]) == 0
    assert main(["stars", "30000", "--all", "--parquet", "out"]) == 1
    told = capsys.readouterr().err
    assert "is the log of 'stars:>=20001'" in told
    assert "start again with --anew" in told
    assert main(["stars", "30000", "--all", "--parquet", "out", "--anew"]) == 0
    assert pd.read_parquet(here / "out")["stargazers"].min() > 30_000


@pytest.mark.parametrize("how", [["--all"], ["--limit", "all"]])
def test_everything_can_be_printed(how: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Without a folder all rows are printed, past a thousand."""
    assert main(["stars", "1000", *how, "--json"]) == 0
    printed, told = capsys.readouterr()
    assert (len(json.loads(printed)), told) == (3024, "")


def test_a_dry_run_says_what_it_would_take(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One count, and nothing is written."""
    assert main(["stars", "1000", "--all", "--parquet", "out", "--dry-run"]) == 0
    assert "31 to 33 pages of 100" in capsys.readouterr().out
    assert not (here / "out").exists()


def test_what_is_not_complete_ends_with_3(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """More than a thousand of equal stars in one second cannot be had: said, and the exit code."""
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


def test_anew_without_a_folder_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """There is nothing to remove."""
    assert main(["stars", "1000", "--all", "--anew"]) == 1
    assert "--all --parquet FOLDER" in capsys.readouterr().err
