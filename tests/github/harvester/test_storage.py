"""An interrupted harvest is continued, and other files are left alone."""

from __future__ import annotations

import json
import shutil
from random import Random

import pandas as pd
import pytest

from gqlnb import Client, GqlnbError, OptionError, github
from gqlnb.lists.store import LOG_NAME
from tests.github.harvester.logging_standin import Listening, rows

EVERYTHING = ">=1"
PART = 1_500
FAILS = 15  # of the requests, of which a harvest takes some more


@pytest.fixture
def broken(tmp_path, people):
    """Return a folder with a harvest that failed midway."""
    standin = Listening(people)
    standin.fails = FAILS
    with pytest.raises(GqlnbError, match="run the same call again"):
        github.harvest(EVERYTHING, client=Client(standin), out=tmp_path / "out", part=PART)
    return tmp_path / "out"


def test_a_failed_harvest_is_continued(broken, client, standin, truth):
    """The rows are the same as without the failure, and no search is repeated."""
    before = [json.loads(line) for line in (broken / LOG_NAME).read_bytes().splitlines()]
    assert before[1]["type"] == "checkpoint"
    made = github.harvest(EVERYTHING, client=client, out=broken, part=PART)
    assert rows(made.frame()) == rows(pd.read_parquet(broken)) == truth
    assert made.complete
    assert made.requests == FAILS - 1 + len(standin.asked)
    searches = standin.searches()
    assert len(set(searches)) == len(searches)


def test_a_harvest_resumes_from_a_log_truncated_anywhere(broken, tmp_path, people, truth):
    """Also in the middle of a line; every row is returned once."""
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


def test_a_part_without_a_checkpoint_is_written_again(broken, client, truth):
    """As after a process was killed between the part and its line in the log."""
    parts = sorted(broken.glob("part-*.parquet"))
    shutil.copy(parts[-1], broken / f"part-{len(parts):05}.parquet")
    (broken / ".part-00001.parquet.a1").touch()  # not renamed yet
    github.harvest(EVERYTHING, client=client, out=broken, part=PART)
    assert rows(pd.read_parquet(broken)) == truth
    assert not [*broken.glob(".part*")]


def test_a_finished_harvest_sends_no_request(tmp_path, client, standin, truth):
    """It is returned as it is."""
    first = github.harvest(EVERYTHING, client=client, out=tmp_path, part=PART)
    asked = len(standin.asked)
    again = github.harvest(EVERYTHING, client=client, out=tmp_path, part=PART)
    assert len(standin.asked) == asked
    assert again.coverage == first.coverage
    assert rows(again.frame()) == truth


def test_a_harvest_without_resume_restarts(broken, client, standin, truth):
    """An earlier harvest in the folder is removed, also of another query."""
    github.harvest(">=2000", client=client, out=broken, resume=False)
    assert rows(pd.read_parquet(broken)) == {row for row in truth if row[2] >= 2000}
    github.harvest(EVERYTHING, client=client, out=broken, resume=False, part=PART)
    assert rows(pd.read_parquet(broken)) == truth


def test_the_log_of_another_harvest_is_refused(broken, client):
    """The error names both queries, or both endpoints."""
    with pytest.raises(OptionError, match=r"is the log of 'stars:>=1' .* is 'stars:>=2000' from"):
        github.harvest(">=2000", client=client, out=broken)
    with pytest.raises(OptionError, match="and this harvest is 'stars:>=1' from demo"):
        github.harvest(EVERYTHING, client="demo", out=broken)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda lines: [b'{"gqlnb":"harvest","version":9}', *lines[1:]], "format 9.* Update gqlnb"),
        (lambda lines: [b'{"gqlnb":"harvest","version":2}', *lines[1:]], "format 2.* Harvest"),
        (lambda lines: [b"name,stars", *lines[1:]], "not the log of a harvest"),
        (lambda lines: [*lines[:2], b'{"type":"closed"}', *lines[2:]], "line 3 is broken"),
    ],
)
def test_an_unreadable_log_is_refused(broken, client, change, reason):
    """A log of another format or with an invalid line raises, and is not changed."""
    text = b"\n".join(change((broken / LOG_NAME).read_bytes().splitlines())) + b"\n"
    (broken / LOG_NAME).write_bytes(text)
    with pytest.raises(OptionError, match=reason):
        github.harvest(EVERYTHING, client=client, out=broken)
    assert (broken / LOG_NAME).read_bytes() == text
    if reason.startswith("format 2"):
        with pytest.raises(OptionError, match="is a log of format 2, and this version of gqlnb"):
            github.open(broken)


def test_a_folder_with_other_parquet_files_is_refused(tmp_path, client, standin):
    """They would be read as rows of the harvest."""
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "mine.parquet")
    with pytest.raises(OptionError, match=r"holds 'mine\.parquet'"):
        github.harvest(EVERYTHING, client=client, out=tmp_path)
    assert standin.asked == []


def test_a_file_is_not_a_folder(tmp_path, client, standin):
    """As after the same name was used for the result of one search."""
    (tmp_path / "stars.parquet").write_bytes(b"mine")
    with pytest.raises(OptionError, match=r"stars\.parquet is a file\. A harvest writes a folder"):
        github.harvest(EVERYTHING, client=client, out=tmp_path / "stars.parquet")
    assert (tmp_path / "stars.parquet").read_bytes() == b"mine"
    assert standin.asked == []


@pytest.mark.parametrize("is_finished", [True, False])
def test_a_lost_part_is_an_error(broken, client, truth, is_finished):
    """The log does not contain its rows; a folder without it is not complete."""
    if is_finished:
        github.harvest(EVERYTHING, client=client, out=broken, part=PART)
    part = broken / "part-00000.parquet"
    content = part.read_bytes()
    part.unlink()
    opened = github.open(broken)
    assert not opened.complete
    assert "not complete, part-00000.parquet is missing" in repr(opened)
    with pytest.raises(OptionError, match=r"part-00000\.parquet is missing, a part of this"):
        github.harvest(EVERYTHING, client=client, out=broken, part=PART)
    part.write_bytes(content[: len(content) // 2])
    assert "not complete, part-00000.parquet is damaged" in repr(opened)
    with pytest.raises(OptionError, match=r"part-00000\.parquet is damaged, a part of this"):
        github.harvest(EVERYTHING, client=client, out=broken, part=PART)
    for read in (opened.arrow, opened.frame, opened.dataset):
        with pytest.raises(OptionError, match=r"part-00000\.parquet is damaged\. Put it back"):
            read()
    middle = len(content) // 4
    part.write_bytes(content[:middle] + bytes(200) + content[middle + 200 :])
    with pytest.raises(OptionError, match=r"part-00000\.parquet is damaged \("):
        opened.frame()
    part.unlink()
    with pytest.raises(OptionError, match=r"part-00000\.parquet is missing\. Put it back"):
        opened.arrow()
    part.write_bytes(content)
    made = github.harvest(EVERYTHING, client=client, out=broken, part=PART)
    assert made.complete
    assert github.open(broken).complete
    assert rows(made.frame()) == truth


def test_parts_without_their_log_are_refused(broken, client):
    """It is unknown which rows are missing."""
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
