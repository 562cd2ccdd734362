"""Values that do not match their column: the `strict` option in all functions that build frames."""

import pytest

import gqlnb
from tests.client.paging.lists import build_client, build_page

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


PAGED = """
rows(first: Int, after: String): Nodes one(id: Int): Row
type Row { id: ID n: Odd size: uint8 } scalar Odd scalar uint8
"""


def build_paged_client(values):
    """Return a client of a connection with one of the values on each page."""
    rows = [{"id": str(at), "n": value, "size": at} for at, value in enumerate(values)]
    fields = {
        "rows": lambda args: build_page(rows, args.get("after"), 1),
        "one": lambda args: rows[args["id"]] | {"size": 5},
    }
    return build_client(PAGED, fields)


@pytest.mark.filterwarnings("ignore:The scalar 'Odd' is not known")
@pytest.mark.parametrize(
    ("values", "dtype"), [([1, None, 2], "Int64"), ([1, "a"], "object"), ([None, True], "boolean")],
    ids=["integers", "mixed", "booleans"],
)  # fmt: skip
def test_the_dtype_of_an_unknown_scalar_does_not_change_between_pages(values, dtype):
    """All rows decide in one frame; frames of pages keep values as received."""
    client = build_paged_client(values)
    text = (
        "query($after: String) { rows(first: 1, after: $after) "
        "{ nodes { id n size } pageInfo { hasNextPage endCursor } } }"
    )
    pages = [page.frame() for page in client.pages(text)]
    assert [page["n"].dtype for page in pages] == ["object"] * len(values)
    assert [page["size"].dtype for page in pages] == ["Int64"] * len(values)
    assert gqlnb.concat(pages)["n"].tolist() == values
    whole = client.execute_all(text).frame()["n"]
    mapped = client.map(
        "query($id: Int!) { one(id: $id) { n } }", [{"id": at} for at in range(len(values))]
    )
    for column in (whole, mapped["one.n"]):
        assert column.dtype == dtype
        assert column.astype(object).where(column.notna(), None).tolist() == values
    assert mapped.to_polars()["one.n"].null_count() == values.count(None)


@pytest.mark.filterwarnings("ignore")
def test_a_harvest_keeps_values_that_do_not_fit_as_text_in_all_parts():
    """Of a scalar whose name is a hint; unknown scalars are text in each part."""
    sdl = """rows(low: Int, high: Int): [Row] scalar uint8 scalar Odd
    type Row { n: Int size: uint8 odd: Odd sizes: [uint8] }"""
    sizes = [1, 2, "big", None, True, 0.5]

    def read_rows(args):
        span = range(max(args.get("low") or 0, 0), min(args.get("high", 19), 19) + 1)
        return [
            {"n": n, "size": n if n < 5 else sizes[n % 6], "odd": n if n < 9 else "x",
             "sizes": [1] if n < 5 else ["y"]}
            for n in span
        ][:5]  # fmt: skip

    harvest = build_client(sdl, read_rows).harvest(
        "query($low: Int, $high: Int) { rows(low: $low, high: $high) { n size odd sizes } }",
        slice=gqlnb.Slice(column="n", cap=5, step=1),
        progress=False,
    )
    frame = harvest.frame().sort_values("n")
    assert frame["size"].tolist()[:9] == ["0", "1", "2", "3", "4", "0.5", "1", "2", "big"]
    assert frame["odd"].tolist()[7:11] == ["7", "8", "x", "x"]
    assert frame["sizes"].tolist()[4:6] == ["[1]", '["y"]']
    assert harvest.arrow().to_pandas()["n"].dtype == "Int64"
