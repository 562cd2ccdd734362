"""A value that does not fit its column has a way out wherever a frame is asked for."""

import pytest

import gqlnb

SDL = """
type Query { rows: [Row] }
type Row { n: Odd owner: Owner tags: [String] }
type Owner { login: String }
scalar Odd @specifiedBy(url: "https://scalars.graphql.org/x/positive-int")
"""
ROWS = [
    {"n": 1, "owner": {"login": "a"}, "tags": ["x", "y"]},
    {"n": "many", "owner": None, "tags": []},
]
TEXT = "{ rows { n owner { login } tags } }"
FACT = r"Column 'n' of 'rows' does not hold values of type Odd: row 1 is 'many'"


@pytest.fixture
def client():
    """Return a client of a schema with a value that does not fit."""
    return gqlnb.Client(gqlnb.Schema(SDL, {"Query": {"rows": lambda *_: ROWS}}))


def test_the_frame_of_a_client_takes_the_options_of_the_frame_of_a_result(client):
    """`strict`, `short` and `explode`, in one call."""
    with pytest.raises(gqlnb.FrameError, match=rf"{FACT}.*Pass strict=False to keep"):
        client.frame(TEXT)
    frame = client.frame(TEXT, strict=False, short=True, explode="tags")
    assert list(frame.columns) == ["n", "login", "tags"]
    assert frame["n"].tolist() == [1, 1, "many"]
    assert frame["tags"].dropna().tolist() == ["x", "y"]


def test_all_pages_take_them_too(client):
    """Beside the options of paging."""
    frame = client.frame(TEXT, pages="all", max_requests=3, strict=False, short=True)
    assert frame["n"].tolist() == [1, "many"]
    with pytest.raises(gqlnb.FrameError, match=FACT):
        client.frame(TEXT, pages="all")


@pytest.mark.parametrize("view", ["frame", "to_pandas", "arrow", "to_csv"])
def test_every_view_of_a_result_takes_strict(client, view):
    """And the error names it."""
    result = client.execute(TEXT)
    with pytest.raises(gqlnb.FrameError, match=rf"{FACT}.*Pass strict=False to keep"):
        getattr(result, view)()
    assert getattr(result, view)(strict=False) is not None


def test_frames_and_libraries_that_read_a_result_name_theirs(client):
    """They take no arguments, so the error says what to write instead."""
    result = client.execute(TEXT)
    with pytest.raises(gqlnb.FrameError, match=rf"{FACT}.*Take result.tables\(strict=False\)"):
        result.frames["rows"]
    assert result.tables(strict=False)["rows"]["n"].tolist() == [1, "many"]
    with pytest.raises(gqlnb.FrameError, match=rf"{FACT}.*Pass result.arrow\(strict=False\)"):
        result.__arrow_c_stream__()
