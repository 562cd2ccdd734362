"""One tidy frame per list level, rows joined on request, names cut on request."""

import json
import warnings

import pandas as pd
import pytest
from graphql import build_schema

from gqlnb.document.document import Document
from gqlnb.errors import FrameError
from gqlnb.result.result import Result

SCHEMA = build_schema(
    """
    type Query {
      viewer: User repos: [Repo] search: Search grid: [[Int]] deep: [[[Cell]]] one: Repo
    }
    type User { login: String! repositories: Repos }
    type Repos { totalCount: Int! nodes: [Repo] facets: [Facet] }
    type Facet { name: String! }
    type Search { repositoryCount: Int! edges: [Edge] pageInfo: Page! }
    type Page { hasNextPage: Boolean! }
    type Edge { cursor: String! node: Item }
    union Item = Repo | User
    type Repo {
      id: ID! key: ID name: String! owner: User forkOf: Repo topics: [String]
      languages: Languages people: [User!]
    }
    type Languages { totalCount: Int! edges: [LanguageEdge] }
    type LanguageEdge { size: Int! node: Language! }
    type Language { id: ID! name: String! tags: [String!] }
    type Cell { n: Int }
    """
)
REPOS = [
    {"id": "R1", "name": "a", "topics": ["x", None],
     "languages": {"totalCount": 2, "edges": [{"size": 5,
     "node": {"id": "L1", "name": "C", "tags": ["old"]}}, None,
     {"size": 6, "node": {"id": "L2", "name": "D", "tags": []}}]}},
    None,
    {"id": "R2", "name": "b", "topics": None, "languages": None},
    {"id": "R3", "name": "c", "topics": ["z"], "languages": {"totalCount": 0, "edges": []}},
]  # fmt: skip
TEXT = "{ repos { %s name topics languages { totalCount edges { size node { id name tags } } } } }"


def result(text, data, **more):
    """Return a result with a checked document."""
    return Result(data, document=Document.parse(text, SCHEMA), **more)


def records(frame):
    """Return the rows of a frame as tuples, None for what is missing."""
    return [tuple(None if v is pd.NA else v for v in row) for row in frame.itertuples(index=False)]


@pytest.mark.parametrize("selected", ["key", "id: key"])
def test_an_id_that_may_be_null_is_no_key(selected):
    """Nor is another field by that name."""
    name = selected.partition(":")[0]
    rows = [{name: None, "topics": ["x"]}]
    frames = result(f"{{ repos {{ {selected} topics }} }}", {"repos": rows}).frames
    assert list(frames["repos.topics"].columns) == ["repos_index", "topics"]


def test_a_list_beside_a_connections_rows_is_a_list_of_its_own():
    """It is neither lost nor mixed with the rows."""
    text = "{ viewer { repositories { totalCount nodes { name } facets { name } } } }"
    repositories = {"totalCount": 9, "nodes": [{"name": "a"}, None], "facets": [{"name": "f"}]}
    answer = result(text, {"viewer": {"repositories": repositories}})
    assert list(answer.frames) == ["viewer.repositories", "viewer.repositories.facets"]
    attrs = answer.frame("viewer.repositories").attrs
    assert attrs["total_count"] == 9
    assert attrs["dropped"] == 1
    assert answer.frames["viewer.repositories.facets"]["name"].tolist() == ["f"]


def test_conflicting_list_names_are_numbered():
    """A list beside the rows, one in an edge and one in a node, all called `tags`."""
    schema = build_schema(
        "type Query { all: Conn } type Conn { edges: [Edge] tags: [Int] } "
        "type Edge { tags: [Int] node: Node } type Node { tags: [Int] }"
    )
    text = "{ all { edges { tags node { tags } } tags } }"
    data = {"all": {"edges": [{"tags": [1], "node": {"tags": [2]}}], "tags": [3]}}
    frames = Result(data, document=Document.parse(text, schema)).frames
    assert list(frames) == ["all", "all.tags", "all.tags_2", "all.tags_3"]
    assert sorted(frames[name].iloc[0].tolist()[-1] for name in list(frames)[1:]) == [1, 2, 3]


def test_an_unknown_frame_name_lists_the_available_ones():
    """With the number of their rows; `get` and `in` do not raise."""
    frames = result(TEXT % "id", {"repos": REPOS}).frames
    with pytest.raises(
        FrameError, match=r"no list at 'repo'. It has: 'repos' \(3 rows\), 'repos.t"
    ):
        frames["repo"]
    assert frames._ipython_key_completions_() == list(frames)
    assert "repo" not in frames
    assert frames.get("repo") is None
    assert "repos.topics" in repr(frames)


def test_skipped_fields_are_no_columns():
    """Where the variables are known; where they are not, they are there and empty."""
    text = "query ($a: Boolean!) { repos { name key @include(if: $a) ... @skip(if: $a) { id } } }"
    answer = result(text, {"repos": [{"name": "a", "id": "1"}]}, variables={"a": False})
    assert list(answer.frame().columns) == ["name", "id"]
    unknown = result(text, {"repos": [{"name": "a", "id": "1"}]})
    assert list(unknown.frame().columns) == ["name", "key", "id"]


def test_short_names_are_the_shortest_that_only_one_column_has():
    """A name that two would have stays as it is."""
    text = "{ repos { name owner { login } forkOf { name owner { login } topics } } }"
    frame = result(text, {"repos": []}).frame(short=True)
    names = ["name", "repos", "forkOf.name", "forkOf.owner.login", "topics"]
    assert list(frame.columns) == ["name", "owner.login", *names[2:]]
    assert frame.attrs["dropped"] == 0


def test_explode_gives_each_item_of_one_list_a_row():
    """Rows without items appear once; other lists remain in their cells."""
    answer = result(TEXT % "id", {"repos": REPOS})
    frame = answer.frame(explode="topics")
    assert frame["topics"].tolist() == ["x", pd.NA, pd.NA, "z"]
    assert frame["name"].tolist() == ["a", "a", "b", "c"]
    assert frame.loc[1, "languages"] == frame.loc[0, "languages"] != None  # noqa: E711
    languages = answer.frame(explode="languages")
    assert languages["languages.name"].tolist() == ["C", "D", pd.NA, pd.NA]
    assert languages["languages.size"].dtype == "Int64"
    assert languages["topics"].tolist()[0] == ["x", None]


def test_explode_accepts_nested_lists():
    """The columns of the outer lists are included."""
    answer = result(TEXT % "id", {"repos": REPOS})
    frame = answer.frame(explode="languages.tags")
    pd.testing.assert_frame_equal(answer.frame(explode="repos.languages.tags"), frame)
    assert frame["id"].tolist() == ["R1", "R1", "R2", "R3"]
    assert frame["languages.id"].tolist() == ["L1", "L2", pd.NA, pd.NA]
    assert frame["languages.tags"].tolist() == ["old", pd.NA, pd.NA, pd.NA]


def test_explode_puts_none_in_object_columns_without_items():
    """NaN would be a float among the objects."""
    rows = [
        {"v": 1, "inner": [{"at": {"x": [1]}, "grid": [[1], None]}]},
        {"v": 2, "inner": []},
        {"v": 3, "inner": None},
    ]
    schema = build_schema(
        "scalar Decimal scalar JSON type Query { rows: [Row] }"
        "type Row { v: Int inner: [Inner] } type Inner { at: JSON price: Decimal grid: [[Int]] }"
    )
    document = Document.parse("{ rows { v inner { at price grid } } }", schema)
    frame = Result({"rows": rows}, document=document).frame(explode="inner")
    assert frame["inner.at"].tolist() == [{"x": [1]}, None, None]
    assert frame["inner.price"].tolist() == [None, None, None]
    assert frame["inner.grid"].tolist() == [[[1], None], None, None]


def test_explode_lists_the_available_names_in_its_error():
    """Several lists at a time would be a cross product, which is not supported."""
    with pytest.raises(
        FrameError, match=r"'topic': the rows of 'repos' have 'topics', 'languages'"
    ):
        result(TEXT % "id", {"repos": REPOS}).frame(explode="topic")


def test_rows_as_plain_mappings_by_path():
    """Null items are left out."""
    answer = result(TEXT % "id", {"repos": REPOS})
    assert [row["id"] for row in answer.dicts()] == ["R1", "R2", "R3"]
    assert [row["name"] for row in answer.dicts("repos.languages")] == ["C", "D"]
    assert answer.dicts("repos.topics") == ["x", None, "z"]
    with pytest.raises(FrameError, match="no list at 'x'"):
        answer.dicts("x")


def test_errors_are_keyed_by_the_row_they_are_about():
    """The row in the frame of the innermost list; missing where the error has made it null."""
    at = [
        ["repos", 2, "name"],
        ["repos", 1],
        ["repos", 0, "languages", "edges", 2, "node", "name"],
        ["repos", 0, "topics", 1],
        ["viewer"],
        ["repos", 9, "name"],
    ]
    errors = tuple({"message": "no", "path": path} for path in at)
    frame = result(TEXT % "id", {"repos": REPOS}, errors=errors).errors_frame()
    assert frame["frame"].tolist() == [
        "repos", pd.NA, "repos.languages", "repos.topics", pd.NA, pd.NA,
    ]  # fmt: skip
    assert frame["row"].tolist() == [1, pd.NA, 1, 1, pd.NA, pd.NA]


def test_a_partial_response_warns_once():
    """Frame, frames and Arrow share one warning."""
    answer = result("{ repos { name } }", {"repos": []}, errors=({"message": "no"},))
    with pytest.warns(UserWarning, match="partial: 1 error") as caught:
        answer.frame()
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert answer.frames["repos"].attrs["partial"]
        answer.arrow()


def test_attrs_are_json_and_preserved(tmp_path):
    """By Parquet and by concat."""
    frame = result("{ repos { name } }", {"repos": [{"name": "a"}, None]}, source="here").frame()
    expected = {
        "source": "here", "partial": False, "total_count": None, "dropped": 1, "beside": {},
        "completeness": "complete: no sign suggests that rows are missing",
    }  # fmt: skip
    assert frame.attrs == expected
    frame.to_parquet(tmp_path / "a.parquet")
    assert pd.read_parquet(tmp_path / "a.parquet").attrs == expected
    assert pd.concat([frame, frame]).attrs == expected


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"repos": {"name": "a"}}, "'repos' is {'name': 'a'}, not a list"),
        ({"repos": ["a"]}, "an item in row 0 of 'repos' is 'a', not an object"),
        ({"repos": [{"name": "a", "owner": 5}]}, "'owner' in row 0 of 'repos' is 5, not an object"),
        ({"repos": [{"topics": "x"}]}, "Column 'topics' of 'repos' .* row 0 is 'x', not a list"),
        ([1], r"an item is \[1\], not an object"),
    ],
    ids=str,
)
def test_a_response_of_another_shape_is_an_error_with_a_path(data, said):
    """With strict=False the value is null or kept."""
    answer = result("{ repos { name owner { login } topics } }", data)
    with pytest.raises(FrameError, match=said):
        answer.frame()
    frame = answer.frame(strict=False)
    assert list(frame.columns) == ["name", "owner.login", "topics"]


def test_introspection_is_typed_too():
    """Meta fields have their types."""
    answer = result(
        "{ __schema { types { kind name fields { name } } } __typename }",
        {
            "__schema": {"types": [{"kind": "OBJECT", "name": "A", "fields": [{"name": "x"}]}]},
            "__typename": "Query",
        },
    )
    assert answer.frame().dtypes["kind"] == "category"
    assert answer.frame().attrs["beside"] == {"__typename": "Query"}
    assert answer.frames["__schema.types.fields"]["name"].tolist() == ["x"]


def test_a_missing_schema_warns_once_for_each_source():
    """Dtypes are inferred where all values agree."""
    document = Document.parse("{ a { b } }")
    data = {"a": [{"b": 1, "c": [{"d": 2**40}], "e": [[1], [2]]}, {"b": None, "f": {}, "g": 1.5}]}
    answer = Result(data, document=document, source="nowhere")
    with pytest.warns(UserWarning, match="No schema is known for nowhere: the dtypes"):
        frame = answer.frames["a"]
    assert list(answer.frames) == ["a", "a.c", "a.e", "a.e[]"]
    assert frame.dtypes.astype(str).to_dict() == {"b": "Int64", "f": "object", "g": "Float64"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Result(data, document=document, source="nowhere").frame()


def test_a_missing_document_warns_and_suggests_a_fix():
    """The bytes of a saved response alone are typed by their values as well."""
    answer = Result.from_bytes(b'{"data": {"rows": [{"v": 1}]}}', source="a file")
    with pytest.warns(UserWarning, match=r"No schema is known for a file.*client\.schema"):
        assert answer.frame().dtypes["v"] == "Int64"


@pytest.mark.parametrize(
    "values",
    [[1, "a"], [[1], 2], [{"x": 1}, 2], [[{"x": 1}], {"x": 1}], [2**70], [True, 1], [None], [{}]],
    ids=str,
)
def test_mixed_values_are_kept_unchanged(values):
    """Without a schema there is no error; a warning names the mixed columns."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = Result({"rows": [{"v": value} for value in values]}).frame()
    said = [str(each.message) for each in caught if "Column 'v' holds" in str(each.message)]
    assert len(said) == (len(values) > 1)
    assert frame["v"].tolist() == values
    assert frame["v"].dtype == "object"


THINGS = build_schema(
    """
    type Query { things: Things list: [Row] mat: [[Int]] }
    type Things { nodes: [Thing] }
    union Thing = Repo | Org
    type Repo { id: ID! tags: [String!] }
    type Org { id: ID! title: String people: [Person] }
    type Person { id: ID! login: String tags: [String!] }
    type Row { id: ID! matrix: [[Int]] }
    """
)
NODES = [{"id": "R", "tags": ["t"]}, {"id": "O", "title": "o", "people": [{"login": "p"}]}]


def things(text, data, variables=None):
    """Return a result of the bytes of an answer."""
    body = json.dumps({"data": data}).encode()
    return Result.from_bytes(body, Document.parse(text, THINGS), variables=variables)


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ("... on Repo { id tags } ... on Org { title people { login } }", "things_index"),
        ("... on Repo { id tags } ... on Org { id title people { login } }", "things.id"),
        ("... on Org { id title people { login } }", "things.id"),
        ("... on Org { id @include(if: $a) people { login } }", "things_index"),
        ("... on Org { id } ... on Org { people { login } }", "things.id"),
    ],
)
def test_an_id_present_in_every_parent_row_is_the_key(fields, key):
    """Otherwise the key is the row number of the parent."""
    head = "query($a: Boolean!)" if "$a" in fields else ""
    text = f"{head} {{ things {{ nodes {{ {fields} }} }} }}"
    asked = [{k: v for k, v in node.items() if k != "id"} for node in NODES]
    found = things(text, {"things": {"nodes": NODES if key == "things.id" else asked}})
    for frame in (found.frames["things.people"], found.frame("things.people")):
        assert list(frame.columns) == [key, "login"]
        assert records(frame) == [("O" if key == "things.id" else 1, "p")]


def test_an_id_missing_from_one_of_the_merged_lists_is_not_the_key():
    """Lists of one name are merged, and only one selection includes the id."""
    schema = build_schema(
        """
        type Query { nodes: [Node] }
        union Node = A | B
        type A { people: [Person] }
        type B { people: [Person] }
        type Person { id: ID! tags: [String] }
        """
    )
    text = "{ nodes { ... on A { people { id } } ... on B { people { tags } } } }"
    data = {"nodes": [{"people": [{"id": "1"}]}, {"people": [{"tags": ["x"]}]}]}
    found = Result(data, document=Document.parse(text, schema))
    assert records(found.frames["nodes.people.tags"]) == [(1, 1, "x")]


def test_exploding_a_list_of_lists_gives_one_row_for_each_inner_list():
    """No value is lost, and deeper levels can be named."""
    data = {"list": [{"id": "1", "matrix": [[1, 2], None]}, {"id": "2", "matrix": None}]}
    found = things("{ list { id matrix } }", data)
    frame = found.frame(explode="matrix")
    assert frame["id"].tolist() == ["1", "1", "2"]
    assert frame["matrix"].iloc[0] == [1, 2]
    assert frame["matrix"].isna().tolist()[1:] == [True, True]
    assert records(found.frame(explode="matrix[]"))[:2] == [("1", 1), ("1", 2)]


def test_rows_that_are_lists_are_selected_by_their_path():
    """The message gives the path."""
    found = things("{ mat }", {"mat": [[1]]})
    for name in ("mat", "[]"):
        with pytest.raises(FrameError, match=r"rows of 'mat' are lists. Take path='mat\[\]'"):
            found.frame("mat", explode=name)
    assert records(found.frame("mat[]")) == [(0, 1)]


REPEATED = [
    {"id": "1", "tags": ["a"]}, {"id": "2", "tags": []}, {"id": "1", "tags": ["b", "c"]},
]  # fmt: skip


def test_repeated_ids_are_not_a_key():
    """A join on them would multiply rows; one warning names the replacement key."""
    document = Document.parse("{ list: things { nodes { ... on Repo { id tags } } } }", THINGS)
    answer = Result({"list": {"nodes": REPEATED}}, document=document)
    with pytest.warns(UserWarning, match="Ids in a list of .list. repeat.*'list_index'") as caught:
        frame = answer.frames["list.tags"]
    assert caught[0].filename == __file__
    assert records(frame) == [(0, "a"), (2, "b"), (2, "c")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(answer.frame("list.tags").columns) == ["list_index", "tags"]
        assert answer.arrow("list.tags").column_names == ["list_index", "tags"]
    joined = answer.frames["list"].merge(frame, left_index=True, right_on="list_index")
    assert len(joined) == 3


def test_an_id_that_is_null_against_its_schema_is_no_key():
    """It would name no row."""
    with pytest.warns(UserWarning, match="'repos_index'"):
        frame = result("{ repos { id topics } }", {"repos": [{"topics": ["x"]}]}).tables(
            strict=False
        )["repos.topics"]
    assert records(frame) == [(0, "x")]


@pytest.mark.parametrize("road", ["bytes", "data"])
def test_an_invalid_list_does_not_affect_other_frames(road):
    """Only its own frame is an error; with strict=False it keeps the value."""
    data = {"list": [{"id": "1", "matrix": [[1]]}], "mat": [[2**31]]}
    found = things("{ list { id matrix } mat }", data)
    found = found if road == "bytes" else Result(data, document=found.document)
    assert records(found.frames["list"]) == [("1",)]
    assert records(found.frames["list.matrix[]"]) == [("1", 0, 1)]
    wrong = r"Column 'mat' of 'mat\[\]'.* row 0 is 2147483648 .*32 bits.* at mat\[0\]\[0\]\."
    with pytest.raises(FrameError, match=f"{wrong} .*Use result.tables\\(strict=False\\)"):
        found.frames["mat[]"]
    assert records(found.tables(strict=False)["mat[]"]) == [(0, 2**31)]


@pytest.mark.parametrize("road", ["bytes", "data"])
@pytest.mark.parametrize(
    ("text", "data", "path"),
    [
        ("{ repos { languages { edges { size node { name } } } } }",
         {"repos": [None, {"languages": {"edges": [None, {"size": "x", "node": {}}]}}]},
         r"repos\[1\].languages.edges\[1\].size"),
        ("{ repos { languages { edges { n: node { name } } } } }",
         {"repos": [None, {"languages": {"edges": [{"n": None}, {"n": {"name": 5}}]}}]},
         r"repos\[1\].languages.edges\[1\].n.name"),
        ("{ viewer { repositories { nodes { owner { login } } } } }",
         {"viewer": {"repositories": {"nodes": [None, {"owner": {"login": 1}}]}}},
         r"viewer.repositories.nodes\[1\].owner.login"),
        ("{ one { owner { login } } }", {"one": {"owner": {"login": 1}}}, "one.owner.login"),
        ("{ grid }", {"grid": [None, [1, 2**40]]}, r"grid\[1\]\[1\]"),
    ],
    ids=["edge", "node", "nodes", "data", "grid"],
)  # fmt: skip
def test_an_invalid_value_is_named_with_its_response_path(road, text, data, path):
    """As in GraphQL errors; null items count as positions, not as rows."""
    document = Document.parse(text, SCHEMA)
    found = Result(data, document=document)
    if road == "bytes":
        found = Result.from_bytes(json.dumps({"data": data}).encode(), document)
    with pytest.raises(FrameError, match=rf"row \d .* ?at {path}\. Use result.tables"):
        list(found.frames.values())


@pytest.mark.parametrize(("fields", "key"), [("id", "all.id"), ("size", "all_index")])
def test_an_edge_list_needs_an_id_of_all_node_types_as_its_key(fields, key):
    """The parent of an edge list may be any member of a union."""
    schema = build_schema(
        "type Query { top: [Top] } union Top = A | B type A { id: ID! all: All } "
        "type B { id: ID! size: Int } type All { edges: [Edge] } "
        "type Edge { tags: [Int] node: Top }"
    )
    node = f"... on A {{ id }} ... on B {{ {fields} }}"
    text = f"{{ top {{ ... on A {{ all {{ edges {{ tags node {{ {node} }} }} }} }} }} }}"
    edges = [{"tags": [1], "node": {"id": "N"}}, {"tags": [], "node": {}}]
    found = Result({"top": [{"all": {"edges": edges}}]}, document=Document.parse(text, schema))
    frame = found.frames["top.all.tags"]
    assert list(frame.columns) == ["top_index", key, "tags"]


def test_without_a_schema_ids_that_are_there_and_differ_are_keys():
    """Each list is looked at for itself."""
    one = Result({"rows": [{"id": 1, "of": [5]}, {"id": 2, "of": [6]}]})
    assert records(one.frames["rows.of"]) == [(1, 5), (2, 6)]
    same = Result({"rows": [{"id": 1, "of": [5]}, {"id": 1, "of": [6]}]})
    with pytest.warns(UserWarning, match="Ids in a list of 'rows' repeat"):
        assert records(same.frames["rows.of"]) == [(0, 5), (1, 6)]


def test_keys_of_lists_of_one_name_have_distinct_names():
    """The nearest list uses the name itself, the one above it is the parent's."""
    schema = build_schema("type Query { kids: [Kid] } type Kid { n: Int kids: [Kid] }")
    document = Document.parse("{ kids { n kids { kids { n kids_index: n } } } }", schema)
    kids = [{"n": 0}, {"kids": [{"kids": []}, {}, {"kids": [{"n": 5, "kids_index": 6}]}]}]
    frame = Result({"kids": kids}, document=document).frames["kids.kids.kids"]
    names = ["parent.parent.kids_index", "parent.kids_index", "n", "kids_index"]
    assert list(frame.columns) == names
    assert records(frame) == [(1, 2, 5, 6)]
