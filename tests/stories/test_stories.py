"""Each story gives the same with every library, and takes the fewest lines with this one.

Run ``python -m tests.stories.test_stories`` for the table of lines. The stories of sgqlc and
ariadne-codegen run where these are installed; the latter needs graphql-core 3.2.
"""

from __future__ import annotations

import ast
import gc
import importlib
import subprocess
import sys
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import gqlnb
from gqlnb import github
from gqlnb.client import response_cache
from tests.stories.site import SDL, Site, build_payment

FOLDER = Path(__file__).parent
LIBRARIES = {"gqlnb": "gqlnb", "gql": "gql", "sgqlc": "sgqlc", "codegen": "ariadne_codegen"}
# The title of each story, and the lines of its operation for a generated client.
STORIES = {
    "read_table": ("A list as a typed table", 1),
    "read_all_pages": ("All pages of a list", 3),
    "read_nested_rows": ("A row for each item of a nested list", 1),
    "read_tidy_tables": ("Nested lists as tables with keys", 1),
    "read_many_ids": ("Fifty ids, with the errors of two", 1),
    "extend_polars_frame": ("A Polars frame, with the answer beside each row", 1),
    "insert_rows": ("A thousand rows inserted in batches", 1),
    "read_partial_answer": ("A partial answer, and the rows of its errors", 1),
    "read_exact_amounts": ("Exact amounts and days", 1),
    "concat_endpoints": ("Answers of two endpoints as one table", 1),
    "write_parquet": ("All pages to Parquet", 3),
    "write_excel": ("Two sheets for Excel", 1),
    "query_sql": ("SQL over an answer", 1),
    "join_endpoints": ("Answers of two endpoints joined", 2),
    "remember_answer": ("An answer remembered for an hour", 1),
    "resume_pages": ("Pages after a failure", 3),
    "replay_answer": ("A test offline, by a recording", 1),
    "follow_events": ("The next events of a subscription as a table", 1),
    "search_stars": ("The repositories with the most stars", 5),
    "search_schema": ("All of a schema about a word", 0),
}
ROWS = pd.DataFrame({"name": [f"n{at}" for at in range(1000)], "age": pd.array([1, None] * 500)})
IDS = [str(number) for number in range(50)]
# The packages that ariadne-codegen generates: name, operations, and whether it is for asyncio,
# which subscriptions need.
PACKAGES = [
    ("story_client", "operations.graphql", "false"),
    ("event_client", "events.graphql", "true"),
    ("star_client", "stars.graphql", "false"),
]
CODEGEN_SETTINGS = """
[tool.ariadne-codegen]
schema_path = "schema.graphql"
queries_path = "{operations}"
target_package_name = "{name}"
async_client = {is_async}
[tool.ariadne-codegen.scalars]
DateTime = {{ type = "datetime.datetime" }}
Date = {{ type = "datetime.date" }}
Decimal = {{ type = "decimal.Decimal" }}
"""


def count_lines(library: str) -> dict[str, int]:
    """Return the lines of code of each story, without blank lines."""
    text = (FOLDER / f"with_{library}.py").read_text()
    lines = text.splitlines()
    # Clients of other tests leave tasks that log when they are collected, with a traceback that is
    # parsed: within the call below that is a SystemError in Python 3.11.
    gc.collect()
    counts = {
        node.name: sum(bool(line.strip()) for line in lines[node.lineno : node.end_lineno])
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
    }
    if library == "codegen":
        # Each operation counts as it stands in its file.
        counts = {name: count + STORIES[name][1] for name, count in counts.items()}
    return counts


def describe_lines() -> pd.DataFrame:
    """Return the table of lines, with the share of the best other library."""
    table = pd.DataFrame({library: count_lines(library) for library in LIBRARIES})
    table.loc["all"] = table.sum()
    table["share"] = table["gqlnb"] / table.drop(columns="gqlnb").min(axis=1)
    return table


def format_lines() -> str:
    """Return the table of lines in Markdown."""
    lines = ["| Story | gqlnb | gql | sgqlc | ariadne-codegen |", "|---|--:|--:|--:|--:|"]
    for name, row in describe_lines().iterrows():
        counts = " | ".join(f"{row[library]:.0f}" for library in LIBRARIES)
        lines.append(f"| {STORIES[name][0] if name in STORIES else 'All'} | {counts} |")
    return "\n".join(lines)


# ariadne-codegen takes graphql-core 3.2 alone: these are installed where the tests run with it.
PARAMETERS = [
    pytest.param(it, marks=pytest.mark.skipif(find_spec(name) is None, reason=f"needs {name}"))
    for it, name in LIBRARIES.items()
]
USER_KINDS = ["string", "string", "category", "datetime64[us, UTC]", "Int64"]


@pytest.fixture(scope="module", params=PARAMETERS, ids=LIBRARIES)
def stories(request, tmp_path_factory):
    """Return the stories of one library."""
    if request.param == "codegen":
        folders = [generate_client(tmp_path_factory.mktemp("codegen"), *it) for it in PACKAGES]
        sys.path[:0] = folders
        yield importlib.import_module("tests.stories.with_codegen")
        sys.path[:] = [it for it in sys.path if it not in folders]
        return
    yield importlib.import_module(f"tests.stories.with_{request.param}")


def generate_client(folder, name, operations, is_async):
    """Generate a client in a folder, and return the folder."""
    settings = CODEGEN_SETTINGS.format(name=name, operations=operations, is_async=is_async)
    (folder / "pyproject.toml").write_text(settings)
    schema = github.schema().sdl if name == "star_client" else SDL
    (folder / "schema.graphql").write_text(schema)
    (folder / operations).write_text((FOLDER / operations).read_text())
    command = [sys.executable, "-m", "ariadne_codegen"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120)
    return str(folder)


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Serve the site, with a cache folder of this test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    response_cache._open_path.cache_clear()
    site = Site()
    with gqlnb.serve(site.schema, port=0) as server:
        site.url, site.server = server.url, server
        yield site


@pytest.fixture
def other_site():
    """Serve another site."""
    with gqlnb.serve(Site().schema, port=0) as server:
        yield server.url


def list_kinds(frame):
    """Return the names of the dtypes of a frame."""
    return [str(dtype) for dtype in frame.dtypes]


def test_a_list_becomes_a_typed_table(stories, site):
    """With text, enums, times and numbers with gaps."""
    frame = stories.read_table(site.url)
    assert list_kinds(frame) == USER_KINDS
    assert frame.iloc[4].tolist()[:3] == ["4", "user 4", "FREE"]
    assert pd.isna(frame["age"][4])


def test_all_pages_become_one_table(stories, site):
    """Of 250 users, a hundred at once."""
    frame = stories.read_all_pages(site.url)
    assert list(frame["id"]) == [str(number) for number in range(250)]
    assert list_kinds(frame) == USER_KINDS


def test_nested_rows_are_joined(stories, site):
    """One row for each order, and one for a user without."""
    frame = stories.read_nested_rows(site.url)
    assert list(frame.columns) == ["name", "orders.id", "orders.total"]
    assert list_kinds(frame) == ["string", "string", "Float64"]
    assert frame["orders.total"].sum() == 10.5 * 6
    assert len(frame) == 26


def test_nested_lists_become_tables_with_keys(stories, site):
    """The id of the user stands in each row of an order."""
    frames = stories.read_tidy_tables(site.url)
    users, orders = frames["users"], frames["users.orders"]
    assert list_kinds(users) == ["string", "string"]
    assert list_kinds(orders) == ["string", "string", "Float64"]
    assert list(orders["users.id"].unique()) == [str(it) for it in range(20) if it % 3]
    assert orders["id"].iloc[1:3].tolist() == ["2-0", "2-1"]


@pytest.mark.filterwarnings("ignore:2 of 50 inputs")
def test_many_ids_become_one_table_with_their_errors(stories, site):
    """All of them, also those that cannot be read."""
    frame, errors = stories.read_many_ids(site.url, IDS)
    assert list(frame["id"]) == IDS
    assert list_kinds(frame) == ["string", "string", "category", "Int64"]
    assert frame["name"].notna().sum() == 48
    assert list(errors["id"]) == ["7", "40"]


def test_a_polars_frame_is_extended(stories, site):
    """By the columns of an answer for each of its rows."""
    people = pl.DataFrame({"id": ["3", "5", "8"], "team": ["red", "blue", "red"]})
    frame = stories.extend_polars_frame(site.url, people)
    assert list(frame.columns) == ["id", "team", "name", "plan", "joined"]
    assert isinstance(frame.schema["joined"], pl.Datetime)
    assert frame.schema["joined"].time_zone == "UTC"
    assert isinstance(frame.schema["plan"], (pl.Categorical, pl.Enum))
    assert frame.drop("joined").rows() == [
        ("3", "red", "user 3", "PRO"),
        ("5", "blue", "user 5", "FREE"),
        ("8", "red", "user 8", "FREE"),
    ]


def test_a_thousand_rows_are_inserted(stories, site):
    """In five requests, with nulls where values are missing."""
    frame = stories.insert_rows(site.url, ROWS)
    assert [row["name"] for row in site.added] == list(ROWS["name"])
    assert site.added[1]["age"] is None
    assert list_kinds(frame) == ["string", "string"]
    assert len(frame) == 1000


@pytest.mark.filterwarnings("ignore:The answer is partial")
def test_the_errors_of_a_partial_answer_name_their_rows(stories, site):
    """The other rows are complete."""
    frame, errors = stories.read_partial_answer(site.url)
    assert list_kinds(frame) == ["string", "Float64"]
    assert frame["balance"].isna().to_numpy().nonzero()[0].tolist() == [7, 40]
    assert errors["row"].tolist() == [7, 40]
    assert errors["message"].tolist() == ["balance of 7 is not yours", "balance of 40 is not yours"]


def test_amounts_are_exact(stories, site):
    """A float does not hold them; days are times."""
    frame = stories.read_exact_amounts(site.url)
    assert frame["amount"].sum() == sum(
        Decimal(str(it["amount"])) for it in map(build_payment, range(20))
    )
    assert list_kinds(frame)[::2] == ["string", "datetime64[us]"]


def test_answers_of_two_endpoints_are_one_table(stories, site, other_site):
    """With the categories of the enum."""
    frame = stories.concat_endpoints([site.url, other_site])
    assert list_kinds(frame) == USER_KINDS
    assert list(frame["plan"].cat.categories) == ["FREE", "PRO"]
    assert list(frame["id"]) == [str(it) for it in range(20)] * 2


def test_all_pages_are_written_to_parquet(stories, site, tmp_path):
    """With the same types."""
    stories.write_parquet(site.url, tmp_path / "users.parquet")
    frame = pd.read_parquet(tmp_path / "users.parquet")
    assert list_kinds(frame) == USER_KINDS
    assert len(frame) == 250


def test_two_sheets_are_written_for_excel(stories, site, tmp_path):
    """With times, which Excel has without a zone."""
    stories.write_excel(site.url, tmp_path / "users.xlsx")
    sheets = pd.read_excel(tmp_path / "users.xlsx", sheet_name=None, dtype={"id": str})
    assert list(sheets) == ["users", "users.orders"]
    assert sheets["users"]["joined"][3] == pd.Timestamp("2026-01-01 03:00")
    assert list(sheets["users.orders"].columns) == ["users.id", "id", "total"]
    assert sheets["users.orders"]["total"].sum() == 10.5 * 6


def test_an_answer_is_queried_in_sql(stories, site):
    """The sum of nested rows, by an enum."""
    assert stories.query_sql(site.url)[0] == ("FREE", 10.5 * 6)


def test_answers_of_two_endpoints_are_joined(stories, site, other_site):
    """By the id of the user."""
    frame = stories.join_endpoints(site.url, other_site)
    assert list(frame.columns) == ["userId", "amount", "day", "id", "name", "plan", "joined"]
    kinds = list_kinds(frame)
    assert kinds[0] == kinds[3] == kinds[4] == "string"
    assert (kinds[2], *kinds[5:]) == ("datetime64[us]", "category", "datetime64[us, UTC]")
    assert all(isinstance(it, Decimal) for it in frame["amount"])
    assert frame["name"].tolist()[:8] == [f"user {it % 7}" for it in range(8)]


def test_an_answer_is_remembered(stories, site):
    """The second time nothing is sent."""
    for _ in range(2):
        assert len(stories.remember_answer(site.url)) == 20
    assert site.calls == 1


@pytest.mark.filterwarnings("ignore:.*:UserWarning")  # that the result lacks a page
def test_pages_are_resumed_after_a_failure(stories, site):
    """The pages before it are not requested again."""
    site.broken_page = 100

    def wait():
        site.calls_before, site.broken_page = site.calls, None

    frame = stories.resume_pages(site.url, wait)
    assert list(frame["id"]) == [str(number) for number in range(250)]
    assert list_kinds(frame) == ["string", "string", "category"]
    assert site.calls_before >= 2
    assert site.calls == site.calls_before + 2


def test_an_answer_is_replayed_offline(stories, site, tmp_path):
    """After the server is gone."""
    file = str(tmp_path / "recording.yaml")
    first = stories.replay_answer(site.url, file)
    site.server.close()
    second = stories.replay_answer(site.url, file)
    assert list_kinds(second) == USER_KINDS
    assert first.equals(second)


def test_events_become_a_table(stories, site):
    """The first five of a stream without an end."""
    frame = stories.follow_events(site.url)
    assert list_kinds(frame) == USER_KINDS
    assert list(frame["id"]) == ["0", "1", "2", "3", "4"]


def test_repositories_are_found_by_stars(stories):
    """In pages, of the search that has more."""
    with github.serve(port=0) as server:
        frame = stories.search_stars(server.url)
    assert list(frame.columns) == ["name", "owner", "stargazers"]
    assert list_kinds(frame) == ["string", "string", "Int64"]
    assert len(frame) == 250
    assert frame["stargazers"].is_monotonic_decreasing


def test_a_schema_is_searched_by_a_word(stories, site):
    """In names and descriptions."""
    frame = stories.search_schema(site.url)
    assert set(frame["place"]) == {"Date", "Payment.day"}
    assert "The day of the payment." in list(frame["description"])


def test_our_stories_take_a_third_of_the_lines():
    """Of those of the best other library, each of them but one, whose work is in the SQL."""
    share = describe_lines()["share"].drop("query_sql")
    assert (share <= 1 / 3).all(), share


def test_the_documentation_has_the_table_of_lines():
    """As ``python -m tests.stories.test_stories`` prints it."""
    assert format_lines() in (FOLDER.parents[1] / "docs" / "comparison.md").read_text()


if __name__ == "__main__":
    print(format_lines())  # noqa: T201 - the table of docs/comparison.md
