"""A harvest that was ended goes on where it was, and what is not its own is left alone."""

from __future__ import annotations

import json
import shutil
from random import Random

import pandas as pd
import pytest

from gqlnb import Client, GqlnbError, OptionError, github
from gqlnb.github.harvester.storage import LOG_NAME
from tests.github.harvester.logging_standin import Listening, rows

EVERYTHING = ">=1"
PART = 5_000
FAILS = 12  # of the requests, of which a harvest takes some more


@pytest.fixture
def broken(tmp_path, people):
    """Return a folder with a harvest that failed midway, and how many pages it had got."""
    standin = Listening(people)
    standin.fails = FAILS
    with pytest.raises(GqlnbError, match="run the same again"):
        github.harvest(EVERYTHING, client=Client(standin), out=tmp_path / "out", part=PART)
    return tmp_path / "out"


def test_it_goes_on_where_it_failed(broken, client, standin, truth):
    """The same rows come as without the failure, and nothing is asked twice."""
    before = [json.loads(line) for line in (broken / LOG_NAME).read_bytes().splitlines()]
    assert before[1]["type"] == "checkpoint"
    made = github.harvest(EVERYTHING, client=client, out=broken, part=PART)
    assert rows(made.frame()) == rows(pd.read_parquet(broken)) == truth
    assert made.complete
    assert made.requests == FAILS - 1 + len(standin.asked)
    searches = standin.searches()
    assert len(set(searches)) == len(searches)


def test_a_log_that_was_cut_anywhere_is_gone_on_from(broken, tmp_path, people, truth):
    """Wherever the log ends, in the middle of a line too, all rows come, once each."""
    whole = (broken / LOG_NAME).read_bytes()
    begun = len(b"".join(whole.splitlines(keepends=True)[:2]))
    chance = Random(7)
    for number in range(5):
        folder = tmp_path / str(number)
        shutil.copytree(broken, folder)
        with (folder / LOG_NAME).open("r+b") as log:
            log.truncate(chance.randint(begun, len(whole)))
        github.harvest(EVERYTHING, client=Client(Listening(people)), out=folder, part=PART)
        assert rows(pd.read_parquet(folder)) == truth


def test_a_part_that_the_log_does_not_know_is_written_anew(broken, client, truth):
    """A process that was killed between a part and its line leaves one the log still has."""
    parts = sorted(broken.glob("part-*.parquet"))
    shutil.copy(parts[-1], broken / f"part-{len(parts):05}.parquet")
    github.harvest(EVERYTHING, client=client, out=broken, part=PART)
    assert rows(pd.read_parquet(broken)) == truth


def test_a_harvest_that_is_over_asks_nothing(tmp_path, client, standin, truth):
    """Run again, it is handed over as it is."""
    first = github.harvest(EVERYTHING, client=client, out=tmp_path, part=PART)
    asked = len(standin.asked)
    again = github.harvest(EVERYTHING, client=client, out=tmp_path, part=PART)
    assert len(standin.asked) == asked
    assert again.coverage == first.coverage
    assert rows(again.frame()) == truth


def test_without_resuming_it_begins_anew(broken, client, standin, truth):
    """What an earlier run has left is removed, whatever it was of."""
    github.harvest(">=2000", client=client, out=broken, resume=False)
    assert rows(pd.read_parquet(broken)) == {row for row in truth if row[2] >= 2000}
    github.harvest(EVERYTHING, client=client, out=broken, resume=False, part=PART)
    assert rows(pd.read_parquet(broken)) == truth


def test_anothers_log_is_refused(broken, client):
    """A folder is of one query and one endpoint; both are named."""
    with pytest.raises(OptionError, match=r"is the log of 'stars:>=1' .* is 'stars:>=2000' from"):
        github.harvest(">=2000", client=client, out=broken)
    with pytest.raises(OptionError, match="and this harvest is 'stars:>=1' from demo"):
        github.harvest(EVERYTHING, client="demo", out=broken)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda lines: [b'{"gqlnb":"harvest","version":9}', *lines[1:]], "of format 9"),
        (lambda lines: [b"name,stars", *lines[1:]], "not the log of a harvest"),
        (lambda lines: [*lines[:2], b'{"type":"answered"}', *lines[2:]], "line 3 is broken"),
    ],
)
def test_a_log_that_cannot_be_read_is_refused(broken, client, change, reason):
    """A log of another format, or with a broken line, says so and is left as it is."""
    text = b"\n".join(change((broken / LOG_NAME).read_bytes().splitlines())) + b"\n"
    (broken / LOG_NAME).write_bytes(text)
    with pytest.raises(OptionError, match=reason):
        github.harvest(EVERYTHING, client=client, out=broken)
    assert (broken / LOG_NAME).read_bytes() == text


def test_a_folder_with_other_parquet_files_is_refused(tmp_path, client, standin):
    """Whoever reads the folder would read them as rows of the harvest."""
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "mine.parquet")
    with pytest.raises(OptionError, match=r"holds 'mine\.parquet'"):
        github.harvest(EVERYTHING, client=client, out=tmp_path)
    assert standin.asked == []


def test_a_file_is_no_folder(tmp_path, client, standin):
    """As where the same name held the result of one search."""
    (tmp_path / "stars.parquet").write_bytes(b"mine")
    with pytest.raises(OptionError, match=r"stars\.parquet is a file\. A harvest writes a folder"):
        github.harvest(EVERYTHING, client=client, out=tmp_path / "stars.parquet")
    assert (tmp_path / "stars.parquet").read_bytes() == b"mine"
    assert standin.asked == []


def test_parts_without_their_log_are_refused(broken, client):
    """Nobody knows what is missing from them."""
    (broken / LOG_NAME).unlink()
    with pytest.raises(OptionError, match=r"whose log _harvest\.jsonl is gone"):
        github.harvest(EVERYTHING, client=client, out=broken, resume=False)
    assert list(broken.glob("*.parquet"))


def test_two_harvests_do_not_write_to_one_folder(tmp_path, client):
    """While one runs another one is refused; afterwards it is not."""
    refused = []

    def watch(*_: object) -> None:
        if not refused:
            with pytest.raises(OptionError, match="Another harvest is writing"):
                github.harvest(EVERYTHING, client="demo", out=tmp_path)
            refused.append(True)

    github.harvest(EVERYTHING, client=client, out=tmp_path, progress=watch)
    assert refused
    github.harvest(EVERYTHING, client=client, out=tmp_path)
