"""Values that do not match their column: the `strict` option in all functions that build frames."""

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


def test_client_frames_accept_the_options_of_result_frames(client):
    """`strict`, `short` and `explode`, in one call."""
    with pytest.raises(gqlnb.FrameError, match=rf"{FACT}.*Pass strict=False to keep"):
        client.frame(TEXT)
    frame = client.frame(TEXT, strict=False, short=True, explode="tags")
    assert list(frame.columns) == ["n", "login", "tags"]
    assert frame["n"].tolist() == [1, 1, "many"]
    assert frame["tags"].dropna().tolist() == ["x", "y"]


def test_all_pages_accept_frame_options(client):
    """Together with the options of paging."""
    frame = client.frame(TEXT, pages="all", max_requests=3, strict=False, short=True)
    assert frame["n"].tolist() == [1, "many"]
    with pytest.raises(gqlnb.FrameError, match=FACT):
        client.frame(TEXT, pages="all")


@pytest.mark.parametrize("view", ["frame", "to_pandas", "arrow", "to_csv"])
def test_every_view_of_a_result_accepts_strict(client, view):
    """The error names the option."""
    result = client.execute(TEXT)
    with pytest.raises(gqlnb.FrameError, match=rf"{FACT}.*Pass strict=False to keep"):
        getattr(result, view)()
    assert getattr(result, view)(strict=False) is not None


def test_protocols_without_arguments_name_the_method_to_call(client):
    """The error states the call that accepts `strict`."""
    result = client.execute(TEXT)
    with pytest.raises(gqlnb.FrameError, match=rf"{FACT}.*Use result.tables\(strict=False\)"):
        result.frames["rows"]
    assert result.tables(strict=False)["rows"]["n"].tolist() == [1, "many"]
    with pytest.raises(gqlnb.FrameError, match=rf"{FACT}.*Pass result.to_arrow\(strict=False\)"):
        result.__arrow_c_stream__()
