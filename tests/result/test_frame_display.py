"""Frames as the value of a cell: our table, still DataFrames, and pandas' own view on request."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell

import gqlnb
from gqlnb.result.renderer import FRAMES_ATTRIBUTE, register_frame_display

WORDS = "3 of 406 rows; limit=None fetches all"


@pytest.fixture
def shell():
    """Yield a shell that `get_ipython` returns, without the extension."""
    shell = InteractiveShell.instance()
    yield shell
    if hasattr(shell, "_gqlnb"):
        shell.run_line_magic("unload_ext", "gqlnb")
    if hasattr(shell, FRAMES_ATTRIBUTE):
        getattr(shell, FRAMES_ATTRIBUTE).uninstall()
        delattr(shell, FRAMES_ATTRIBUTE)
    InteractiveShell.clear_instance()


def show(shell: InteractiveShell, value: object) -> dict[str, Any]:
    """Return the display of a value."""
    return shell.display_formatter.format(value)[0]


def test_stars_and_a_harvest_are_shown_as_tables(shell):
    """Without the extension, too: text left, numbers right, bars, and the number of all rows."""
    found = gqlnb.stars(">50000", limit=3)
    shown = show(shell, found)
    assert type(found) is pd.DataFrame
    assert shown["text/plain"].splitlines()[0].split() == ["name", "owner", "stargazers"]
    assert shown["text/plain"].splitlines()[-1] == WORDS
    assert WORDS in shown["text/html"]
    assert '<th style="text-align:left">name</th>' in shown["text/html"]
    harvest = gqlnb.github.harvest(">200000", progress=False)
    assert "26 rows, the first 20 shown" in show(shell, harvest.frame())["text/html"]


@pytest.mark.parametrize("change", ["set_index", "describe", "max_rows", "own"])
def test_other_frames_are_shown_by_pandas(shell, change):
    """Those with labels of their own, or not of the package; and all, with more rows wanted."""
    found, rows = gqlnb.stars(">50000", limit=3), 60
    match change:
        case "set_index":
            found = found.set_index("name")
        case "describe":
            found = found.describe()
        case "max_rows":
            rows = None
        case "own":
            found = pd.DataFrame({"a": [1]})
    with pd.option_context("display.max_rows", rows):
        assert show(shell, found) == {"text/plain": repr(found), "text/html": found._repr_html_()}


def test_a_list_of_frames_is_printed_as_by_pandas(shell):
    """The caption would stand within the list."""
    assert "rows" not in show(shell, [gqlnb.stars(">50000", limit=3)])["text/plain"]


def test_one_option_leaves_frames_to_pandas(shell):
    """In a cell, at once; and unloading removes what was registered."""
    shell.run_line_magic("load_ext", "gqlnb")
    found = gqlnb.stars(">50000", limit=3)
    assert WORDS in show(shell, found)["text/html"]
    shell.run_line_magic("config", "GraphQLMagic.frames = 'pandas'")
    assert show(shell, found)["text/html"] == found._repr_html_()
    shell.run_line_magic("unload_ext", "gqlnb")
    forms = shell.display_formatter.formatters
    assert forms["text/html"].for_type("pandas.DataFrame") is None


def test_a_project_leaves_frames_to_pandas_without_the_extension(shell, tmp_path, monkeypatch):
    """As ``[tool.gqlnb]`` says."""
    (tmp_path / "pyproject.toml").write_text('[tool.gqlnb]\nframes = "pandas"\n')
    monkeypatch.chdir(tmp_path)
    found = gqlnb.stars(">50000", limit=3)
    assert show(shell, found)["text/html"] == found._repr_html_()


def test_a_formatter_of_another_library_stays(shell):
    """Such as that of an interactive table."""
    form = shell.display_formatter.formatters["text/html"]
    form.for_type(pd.DataFrame, lambda _: "their table")
    register_frame_display()
    assert show(shell, gqlnb.stars(">50000", limit=3))["text/html"] == "their table"
