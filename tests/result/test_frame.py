"""Frames: rows, columns and dtypes from the schema, or inferred where there is none."""

import io
import json
import pickle

import pandas as pd
import pytest
from graphql import build_schema

from gqlnb.document.document import Document
from gqlnb.errors import FrameError
from gqlnb.result.result import Result

SCHEMA = build_schema(
    """
    scalar DateTime
    enum Level { LOW HIGH }
    type Query { search: Search repos: [Repo] one: Repo names: [String!]! }
    type Search { total: Int! edges: [Edge] pageInfo: Info! }
    type Info { hasNextPage: Boolean! }
    type Edge { cursor: String! node: Repo }
    type Repo {
      id: ID! name: String! stars: Int score: Float old: Boolean at: DateTime level: Level
      owner: Owner topics: [String!] languages: Languages
    }
    type Owner { login: String! }
    type Languages { total: Int! nodes: [Language] }
    type Language { name: String! }
    """
)


def result(text, data, **more):
    """Return a result with a checked document."""
    return Result(data, document=Document.parse(text, SCHEMA), **more)


def test_of_several_lists_one_must_be_chosen():
    """The error lists the paths with their row counts; each path gives its frame."""
    answer = result("{ repos { name } names }", {"repos": [{"name": "a"}], "names": []})
    with pytest.raises(FrameError, match=r"'repos' \(1 row\), 'names' \(0 rows\)"):
        answer.frame()
    assert answer.frame("repos")["name"].tolist() == ["a"]
    with pytest.raises(FrameError, match="no list at 'repo'"):
        answer.frame("repo")


def test_without_a_schema_the_values_show_the_types():
    """Int with a null stays an integer column; text is text."""
    data = {
        "repos": [{"name": "a", "stars": 1, "owner": {"login": "o"}}, {"name": "b", "stars": None}]
    }
    frame = Result(data, document=Document.parse("{ repos { name stars } }")).frame()
    assert list(frame.columns) == ["name", "stars", "owner.login"]
    assert frame["stars"].dtype == "Int64"
    assert frame["owner.login"].isna().tolist() == [False, True]


def test_without_a_schema_text_and_integers_are_not_converted():
    """Timestamps are text, with a zone or without; integers beyond 32 bits are integers."""
    rows = [{"at": "2026-01-02T03:04:05", "n": 2**60}, {"at": None, "n": None}]
    frame = Result({"rows": rows}, document=Document.parse("{ rows { at n } }")).frame()
    assert frame.dtypes.astype(str).tolist() == ["string", "Int64"]
    assert frame["n"][0] == 2**60


def test_fields_next_to_the_list_are_in_attrs():
    """Scalars of the root and of the connection, by dotted name; copies preserve them."""
    text = "{ one { name } search { total pageInfo { hasNextPage } edges { node { name } } } }"
    data = {
        "one": {"name": "o"},
        "search": {"total": 119, "pageInfo": {"hasNextPage": True}, "edges": []},
    }
    frame = result(text, data).frame()
    assert frame.attrs["beside"] == {
        "one.name": "o",
        "search.total": 119,
        "search.pageInfo.hasNextPage": True,
    }
    assert frame.head().attrs["beside"]["search.total"] == 119


def test_other_lists_are_excluded_next_to_a_chosen_list():
    """They have frames of their own."""
    data = {"repos": [{"name": "a"}], "names": ["x"], "search": {"total": 1, "edges": []}}
    text = "{ repos { name } names search { total edges { node { name } } } }"
    answer = result(text, data)
    assert answer.frame("repos").attrs["beside"] == {}
    assert answer.frame("search").attrs["beside"] == {"search.total": 1}


def test_a_null_list_differs_from_an_empty_one():
    """Neither has rows; the null is reported."""
    assert result("{ repos { name } }", {"repos": None}).frame().attrs["beside"] == {"repos": None}
    assert result("{ repos { name } }", {"repos": []}).frame().attrs["beside"] == {}


def test_values_next_to_the_list_are_json():
    """Other values become text, so that `attrs` can be written to Parquet."""
    at = pd.Timestamp("2026-01-02", tz="UTC")
    frame = Result({"at": at, "repos": [{"name": "a"}]}).frame()
    assert frame.attrs["beside"] == {"at": "2026-01-02 00:00:00+00:00"}


def test_every_field_of_a_nested_connection_is_kept():
    """Fields of its edges and of pageInfo are in the cell and in columns."""
    data = {
        "repos": [
            {
                "languages": {
                    "pageInfo": {"hasNextPage": False},
                    "edges": [{"size": 5, "node": {"name": "C"}}, None],
                }
            }
        ]
    }
    frame = Result(data).frame()
    assert frame.loc[0, "languages"] == [{"size": 5, "name": "C"}]
    assert not frame.loc[0, "languages.pageInfo.hasNextPage"]


def test_objects_of_an_edge_are_columns():
    """Also lists beside the node, such as the matches of a search."""
    edge = {"match": {"text": "t"}, "all": [{"text": "t"}], "node": {"name": "a"}}
    frame = Result({"search": {"edges": [edge]}}).frame()
    assert list(frame.columns) == ["name", "match.text", "all"]
    assert frame.loc[0, "all"] == [{"text": "t"}]


def test_large_integers_in_json_values_are_exact():
    """In data, cells, `attrs`, Arrow, files and pickles, beyond 64 bits too."""
    schema = build_schema("scalar JSON type Query { rows: [Row] any: JSON } type Row { j: JSON }")
    value = {"a": [2**53 + 1, -(2**70)], "b": 1.5}
    body = json.dumps({"data": {"rows": [{"j": value}, {"j": 2**64}], "any": 2**100}}).encode()
    document = Document.parse("{ rows { j } any }", schema)
    for result in (
        Result.from_bytes(body, document),
        pickle.loads(pickle.dumps(Result.from_bytes(body, document))),
        Result(json.loads(body)["data"], document=document),
    ):
        frame = result.frame()
        assert frame["j"].tolist() == [value, 2**64]
        assert frame.attrs["beside"] == {"any": 2**100}
        texts = result.arrow()["j"].to_pylist()
        assert [json.loads(text) for text in texts] == [value, 2**64]
        file = io.BytesIO()
        result.to_parquet(file)
        assert pd.read_parquet(file)["j"].tolist() == texts
        assert pd.read_csv(io.StringIO(result.to_csv()))["j"].tolist() == texts
        assert f"any: {2**100}" in repr(result)


PLAIN = build_schema(
    """
    scalar BigInt scalar DateTime scalar Decimal enum Level { LOW HIGH }
    type Query { rows: [Row] }
    type Row { s: String n: Int big: BigInt x: Float b: Boolean e: Level at: DateTime d: Decimal }
    """
)
PLAIN_ROW = {"s": "a", "n": 1, "big": 2**53, "x": 0.5, "b": True, "e": "LOW",
             "at": "2026-01-02T03:04:05Z", "d": "1.10"}  # fmt: skip
TEXT_DTYPE = "str" if pd.__version__ >= "3" else "object"


@pytest.mark.parametrize(
    ("rows", "dtypes"),
    [
        ([PLAIN_ROW], ["int64", "int64", "float64", "bool"]),
        ([PLAIN_ROW, dict.fromkeys(PLAIN_ROW)], ["float64", "float64", "float64", "object"]),
        ([dict.fromkeys(PLAIN_ROW)], ["float64", "float64", "float64", "object"]),
        ([], ["int64", "int64", "float64", "bool"]),
    ],
    ids=["full", "some nulls", "nulls", "empty"],
)
@pytest.mark.filterwarnings("error")
def test_frames_without_nullable_dtypes_are_of_numpy(rows, dtypes):
    """Missing values are NaN and NaT, in columns of objects too."""
    document = Document.parse(f"{{ rows {{ {' '.join(PLAIN_ROW)} }} }}", PLAIN)
    answer = Result({"rows": rows}, document=document)
    frame = answer.to_pandas(nullable=False)
    assert frame[["n", "big", "x", "b"]].dtypes.astype(str).tolist() == dtypes
    assert frame["s"].dtype == TEXT_DTYPE
    assert frame[["e", "at"]].dtypes.equals(answer.frame()[["e", "at"]].dtypes)
    assert frame.attrs == answer.frame().attrs
    assert frame.isna().equals(answer.frame().isna())
    assert not any(value is None or value is pd.NA for value in frame.to_numpy().ravel())
    if len(rows) == 2:
        assert frame["big"].tolist()[0] == 2**53


@pytest.mark.parametrize("number", [2**53 + 1, -(2**60)])
def test_integers_that_floats_round_stay_integers(number):
    """As objects, with a warning at the line of the caller."""
    document = Document.parse("{ rows { big n } }", PLAIN)
    answer = Result({"rows": [{"big": number, "n": 1}, {"big": None, "n": 2}]}, document=document)
    with pytest.warns(UserWarning, match=r"columns are objects: 'big'\.") as caught:
        frame = answer.frame(nullable=False)
    assert caught[0].filename == __file__
    assert frame["big"].tolist()[0] == number
    assert frame["n"].dtype == "int64"


ALIASED = build_schema(
    """
    scalar Decimal
    type Query { repo(name: String): Repo repos: [Repo] owner: Owner count: Int }
    type Owner { repo(name: String): Repo login: String }
    type Repo { name: String stars: Int tags: [String] owner: Owner price: Decimal field: Int }
    """
)
EXACT = "12345678901234567890.123456789012345678"


def aliased(text, data):
    """Return results of data of this process and of bytes."""
    document = Document.parse(text, ALIASED)
    body = json.dumps({"data": data}).replace(f'"{EXACT}"', EXACT).encode()
    return [Result(data, document=document), Result.from_bytes(body, document)]


def test_aliases_of_one_type_are_rows():
    """A column has the alias, a null object is a row, and numbers are exact."""
    fields = "{ name stars owner { login } price }"
    text = f'{{ a: repo(name: "x") {fields} b: repo(name: "y") {fields} count }}'
    row = {"name": "x", "stars": 1, "owner": {"login": "o"}, "price": EXACT}
    for answer in aliased(text, {"a": row, "b": None, "count": 7}):
        frame = answer.frame("*")
        assert list(frame.columns) == ["field", "name", "stars", "owner.login", "price"]
        assert frame["field"].tolist() == ["a", "b"]
        assert frame.dtypes[["name", "stars"]].tolist() == ["string", "Int64"]
        assert frame["stars"].isna().tolist() == [False, True]
        assert str(frame["price"][0]) == EXACT
        assert frame.attrs["beside"] == {"count": 7}
        assert answer.to_arrow("*").column_names == list(frame.columns)
        assert answer.to_csv(path="*").startswith("field,name,stars,owner.login,price\na,x,1,o,")


def test_aliases_may_select_other_fields_be_lists_or_stand_below_a_field():
    """A name that is selected too keeps its column."""
    text = "{ a: repo { name tags field } b: repo { name: stars tags } }"
    data = {"a": {"name": "x", "tags": ["t", "u"], "field": 5}, "b": {"name": 2, "tags": None}}
    for answer in aliased(text, data):
        with pytest.warns(UserWarning, match="'name' holds values of several types"):
            frame = answer.frame("*", explode="tags")
        assert frame["parent.field"].tolist() == ["a", "a", "b"]
        assert frame["name"].tolist() == ["x", "x", 2]
        assert frame["tags"].fillna("-").tolist() == ["t", "u", "-"]
    data = {"a": [{"name": "x"}, None, {"name": "y"}], "b": [], "c": None}
    for answer in aliased("{ a: repos { name } b: repos { name } c: repos { name } }", data):
        assert answer.frame("*").to_dict("list") == {"field": ["a", "a"], "name": ["x", "y"]}
    data = {"owner": {"login": "o", "a": {"name": "x"}, "b": {"name": "y"}}}
    for answer in aliased("{ owner { login a: repo { name } b: repo { name } } }", data):
        assert answer.frame("owner.*")["field"].tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ("{ repo { name } owner { login } }", "*", "'repo' of type Repo; 'owner' of type Owner"),
        ("{ count }", "*", "no object"),
        ("{ repo { name } }", "other.*", "no object"),
    ],
)
def test_a_path_without_aliases_of_one_type_is_an_error(text, path, message):
    """It lists the types there are."""
    for answer in aliased(text, {}):
        with pytest.raises(FrameError, match=message):
            answer.frame(path)
