"""Progress bars of paging, and where none is shown."""

import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import nbformat
import pytest

from gqlnb import OptionError, RateLimited
from gqlnb.client.progress import PROGRESS_VARIABLE, TESTING_VARIABLES, Progress, render_bar
from gqlnb.http.rate_limit_rules import Budget
from gqlnb.lists.accounts import announce_pause
from tests.client.paging.lists import build_client, build_page, build_rows

BUDGET = Budget(5000, 4987, datetime(2027, 1, 15, 8, 1, tzinfo=UTC), 1)


@pytest.fixture
def person(monkeypatch):
    """Have somebody watch, outside of any test."""
    for module in ("interactive", "client.progress"):
        monkeypatch.setattr(f"gqlnb.{module}.is_interactive", lambda: True)
    monkeypatch.setattr(
        "gqlnb.client.progress.TESTING_VARIABLES", ()
    )  # pytest sets them again and again


class Ticks:
    """A clock that goes on by so many seconds each time it is looked at."""

    def __init__(self, seconds):
        self.at, self.seconds = 0.0, seconds

    def __call__(self):
        """Return the time."""
        self.at += self.seconds
        return self.at


def shown(capsys):
    """Return the last state of what stands on stderr, and nothing may stand on stdout."""
    seen = capsys.readouterr()
    assert seen.out == ""
    drawn = [part.strip("\x1b[A ") for part in re.split(r"[\r\n]", seen.err)]
    return [part for part in drawn if part]


def test_a_bar_shows_rows_requests_budget_and_estimate(capsys):
    """On stderr; it is removed at the end."""
    with Progress(True, "Pages", clock=Ticks(10)) as progress:
        for page in (1, 2, 3):
            progress(100 * page, 1000, page, BUDGET)
        last = shown(capsys)[-1]
    assert last.startswith("Pages:  30%|")
    assert "300/1000" in last
    assert re.search(
        r"\[00:\d\d<0\d:\d\d, .* rows/s, 3 requests, 4,987 of 5,000 left until 08:01 U", last
    )
    assert shown(capsys) == []


def test_a_notebook_shows_rate_and_remaining_time():
    """As words beside a bar, which has no end while the number of rows is unknown."""
    state = {"n": 1300, "initial": 1000, "total": 2500, "elapsed": 3.0, "postfix": "3 requests"}
    html = render_bar("Pages: ", state)
    assert 'aria-label="Pages"' in html
    assert 'value="1300" max="2500"' in html
    assert "1,300 of 2,500 rows, 100 rows/s, 00:12 left, 3 requests" in html
    assert render_bar("Pages: ", {**state, "postfix": None}).endswith(" left</div>")
    unknown = render_bar("Pages: ", {**state, "total": None, "postfix": "<b>"})
    assert "value=" not in unknown
    assert "1,300 rows, 100 rows/s, &lt;b&gt;" in unknown


def test_the_bar_follows_a_changing_total(capsys):
    """Unknown at first, then higher, then lower."""
    with Progress(True) as progress:
        for got, wanted in ((10, None), (20, 100), (30, 40)):
            progress(got, wanted, 1)
            last = shown(capsys)[-1]
            assert (f"{got}/{wanted}" if wanted else f"{got} rows") in last
        assert "1 request" in last


@pytest.mark.usefixtures("person")
def test_short_runs_show_no_bar(capsys):
    """No number of requests within a second; after it, the first one does."""
    with Progress(clock=Ticks(0.009)) as progress:
        for number in range(100):
            progress(number, 100, number + 1, BUDGET)
    assert shown(capsys) == []
    with Progress(clock=Ticks(0.6)) as progress:
        progress(1, 100, 1)
        assert shown(capsys) == []
        progress(2, 100, 1)
        assert "2/100" in shown(capsys)[-1]


@pytest.mark.usefixtures("person")
def test_a_bar_is_shown_before_the_first_answer(capsys, monkeypatch):
    """Of a slow endpoint; rows of an earlier run do not count for the rate."""
    monkeypatch.setattr("gqlnb.client.progress.MIN_SECONDS", 0.05)
    with Progress() as progress:
        progress._timer.join(20)
        assert "waiting for the first answer" in shown(capsys)[-1]
        progress(900_000, 901_000, 1)
        time.sleep(0.15)
        progress(900_100, 901_000, 2)
        last = shown(capsys)[-1]
    assert "900100/901000" in last
    assert 1 <= float(re.search(r"([\d.]+) rows/s", last)[1]) <= 700, last
    assert shown(capsys) == []


@pytest.mark.usefixtures("person")
def test_a_bar_is_shown_in_time_between_two_reports(capsys, monkeypatch):
    """The first answer came soon, and the second does not."""
    monkeypatch.setattr("gqlnb.client.progress.MIN_SECONDS", 0.2)
    with Progress() as progress:
        progress(100, 900, 1)
        assert shown(capsys) == []
        progress._timer.join(20)
        assert "100/900" in shown(capsys)[-1]


def test_the_bar_says_what_further_requests_are_for(capsys):
    """All rows are there, and nothing has proved it yet."""
    with Progress(True) as progress:
        progress(90, 100, 1)
        assert "no row is missing" not in shown(capsys)[-1]
        progress(100, 100, 2)
        assert "2 requests, checking that no row is missing" in shown(capsys)[-1]
        progress(100, 100, 2, unproved="books")
        assert "2 requests, checking that no row of books is missing" in shown(capsys)[-1]


def test_the_bar_names_the_lists_that_go_on(capsys):
    """Both authors are there, and their books are not."""
    sdl = """authors(first: Int, after: String): Authors! author(id: ID!): Row
      type Authors { totalCount: Int! nodes: [Row!]! pageInfo: PageInfo! }
      type Row { id: ID! books(first: Int!, after: String): Books! } type Book { title: String! }
      type Books { nodes: [Book!]! pageInfo: PageInfo! }"""

    def list_books(_root, args, _context):
        return build_page([{"title": str(number)} for number in range(5)], args.get("after"), 2)

    authors = {"totalCount": 2, "nodes": build_rows(2), "pageInfo": {"hasNextPage": False}}
    fields = {"authors": lambda _: authors, "author": lambda args: args}
    text = "{ authors { totalCount nodes { id books(first: 2) { nodes { title } } } } }"
    with build_client(sdl, fields, {"Row": {"books": list_books}}) as client:
        client.execute_all(text, follow="all", progress=True)
    assert "1 request, checking that no row of authors.books is missing" in shown(capsys)[1]


@pytest.mark.usefixtures("person")
@pytest.mark.parametrize(
    ("show", "variable", "bar"),
    [
        ("auto", None, True),
        ("auto", "", True),
        ("auto", "0", False),
        ("auto", "1", True),
        (True, None, True),
        (True, "off", False),
        (False, None, False),
        (False, "1", False),
    ],
)
def test_the_option_and_the_variable_control_the_bar(capsys, monkeypatch, show, variable, bar):
    """The variable can disable all bars."""
    if variable is not None:
        monkeypatch.setenv(PROGRESS_VARIABLE, variable)
    with Progress(show, clock=Ticks(10)) as progress:
        progress(1, 100, 3)
        assert bool(shown(capsys)) == bar


def test_no_bar_is_shown_in_tests_or_without_a_terminal(capsys, monkeypatch):
    """Unless the option is True."""
    for watching, testing in ((True, TESTING_VARIABLES), (False, ())):
        monkeypatch.setattr("gqlnb.client.progress.is_interactive", lambda said=watching: said)
        monkeypatch.setattr("gqlnb.client.progress.TESTING_VARIABLES", testing)
        with Progress(clock=Ticks(10)) as progress:
            progress(1, 100, 3)
        assert shown(capsys) == []


@pytest.mark.parametrize("show", ["always", 1, None, []])
def test_an_invalid_option_is_refused(show):
    """With the valid ones."""
    with pytest.raises(OptionError, match="takes 'auto', True, False or a function; got"):
        Progress(show)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_the_bar_closes_on_error_and_interrupt(capsys, error):
    """It is removed, and no output follows."""
    progress = Progress(True)
    progress(1, 100, 1)
    assert shown(capsys)
    with pytest.raises(error), progress:
        raise error
    progress(2, 100, 2)
    progress.close()
    assert shown(capsys) == []


def test_a_failure_to_draw_the_bar_is_ignored(monkeypatch):
    """A closed stderr does not stop the paging."""
    with open(os.devnull, "w") as gone:
        monkeypatch.setattr(sys, "stderr", gone)
    with Progress(True) as progress:
        progress(1, 100, 1)
        progress(2, 100, 2)


def test_many_threads_may_report_progress(capsys):
    """No thread of the bar is left."""
    before = {*threading.enumerate()}  # threads of other tests may end meanwhile
    with Progress(True) as progress:
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda n: progress(n, 200, n), range(200)))
        progress(200, 200, 200)
        assert "200/200" in shown(capsys)[-1]
        assert {*threading.enumerate()} <= before


CELL = """import gqlnb.client.progress as p
from gqlnb.http.rate_limit_rules import Budget
with p.Progress(clock=iter(range(0, 900, 9)).__next__) as progress:
    for page in range(1, 9):
        progress(page, 9, page, Budget(5, 4))
"""


@pytest.mark.slow
def test_notebooks_under_nbval_show_no_bar(tmp_path):
    """The kernel detects the test run, so saved outputs stay the same."""
    cell = nbformat.v4.new_code_cell(CELL, execution_count=1, outputs=[])
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    book = nbformat.v4.new_notebook(cells=[cell], metadata=kernel)
    nbformat.write(book, tmp_path / "bar.ipynb")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["--nbval", "--nbval-current-env", "bar.ipynb"]
    kept = {name: value for name, value in os.environ.items() if name not in TESTING_VARIABLES}
    done = subprocess.run(
        command, cwd=tmp_path, env=kept, capture_output=True, text=True, check=False, timeout=100
    )
    assert "1 passed" in done.stdout, done.stdout


def test_a_pause_of_a_harvest_is_announced_without_advice(caplog):
    """The harvest waits longer than a call, so that the advice of the error does not apply."""
    error = RateLimited(
        "https://api.github.com/graphql: HTTP 403: You have exceeded a secondary rate limit. The "
        "maximum total wait is 5 s. To wait longer, pass limits=Limits(wait=...).",
        status=403,
    )
    with caplog.at_level("WARNING", "gqlnb"):
        announce_pause(error, 60)
    (record,) = caplog.records
    assert record.message == (
        "https://api.github.com/graphql: rate limit reached. The harvest goes on by itself in 60 s."
    )
