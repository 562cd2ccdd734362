"""``Client.map``: one operation for many inputs, as one frame."""

from __future__ import annotations

import asyncio
import datetime
import json
import pickle
import signal
import threading
import warnings
from collections import Counter
from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import gqlnb
from gqlnb import Client, FrameError, OptionError, QueryError, Schema, TransportError
from gqlnb.http.messages import Response
from tests.client.faults import Wire
from tests.client.paging.lists import build_client, fail

SDL = """
enum Kind { BIG SMALL }
type User { id: ID! login: String! stars: Int kind: Kind joined: DateTime
  repos: [Repo!]! words: [String] grid: [[Int]] }
type Repo { name: String! }
scalar DateTime
input NewUser { login: String! stars: Int }
type Query {
  user(id: ID!): User
  users(first: Int!, kind: Kind): [User!]!
}
type Mutation { add(rows: [NewUser!]!): [User!]! put(row: NewUser!): User }
"""
USER = "query($id: ID!) { user(id: $id) { login stars kind joined } }"
ABSENT = frozenset({7, 90, 173, 256, 339, 422})


class Site:
    """A schema that counts the calls of its resolvers."""

    def __init__(self):
        self.asked, self.added = Counter(), []
        put = {"put": lambda r, a, c: self.add(r, {"rows": [a["row"]]}, c)[0]}
        query = {"user": self.user, "users": self.users}
        self.schema = Schema(SDL, {"Query": query, "Mutation": {"add": self.add, **put}})

    def user(self, root, args, context):
        """Return a user; some do not exist."""
        number = int(args["id"])
        self.asked[number] += 1
        if number in ABSENT:
            fail(f"no user {number}")
        return {
            "id": args["id"],
            "login": f"u{number}",
            "stars": number,
            "kind": "BIG" if number > 250 else "SMALL",
            "joined": "2026-01-02T03:04:05Z",
            "repos": [{"name": f"r{at}"} for at in range(number % 3)],
            "words": [f"r{at}" for at in range(number % 3)],
            "grid": [[at + 1] for at in range(number % 3)],
        }

    def users(self, root, args, context):
        """Return the first users."""
        return [self.user(root, {"id": str(at)}, context) for at in range(args["first"])]

    def add(self, root, args, context):
        """Insert rows."""
        self.added += args["rows"]
        return [{"id": row["login"], "login": row["login"], "repos": []} for row in args["rows"]]


@pytest.fixture
def site():
    """Return a new site."""
    return Site()


@pytest.fixture(params=["in process", "http"])
def client(request, site):
    """Return a client of the site, in process and over HTTP."""
    if request.param == "in process":
        yield Client(site.schema)
        return
    with gqlnb.serve(site.schema, port=0) as server, Client(server.url) as made:
        yield made


def test_five_hundred_ids_become_one_typed_frame(client):
    """Each row stands beside its input; errors of fields are listed with theirs."""
    ids = [str(number) for number in range(500)]
    with pytest.warns(
        UserWarning, match="6 of 500 inputs have errors: 0 have no answer, 6 a"
    ) as caught:
        frame = client.map(USER, ids, short=True)
    assert caught[0].filename == __file__
    assert list(frame.columns) == ["id", "login", "stars", "kind", "joined"]
    assert list(frame["id"]) == ids
    assert frame["login"].notna().sum() == 494
    assert frame["stars"].dtype == "Int64"
    assert list(frame["kind"].cat.categories) == ["BIG", "SMALL"]
    assert str(frame["joined"].dtype) == "datetime64[us, UTC]"
    assert set(frame.errors["id"]) == set(map(str, ABSENT))
    assert set(frame.errors["kind"]) == {"partial"}
    assert set(frame.errors["path"]) == {"user"}
    assert list(frame.errors["input"]) == sorted(ABSENT)
    assert (frame.attrs["inputs"], frame.attrs["partial"]) == (500, True)


def test_a_list_in_each_answer_gives_its_rows(client):
    """With the input's columns repeated, in their dtypes and order; an empty list has one row."""
    inputs = pd.DataFrame({"first": [2, 0, 1], "label": pd.Categorical(["a", "b", "a"])})
    frame = client.map("query($first: Int!) { users(first: $first) { login } }", inputs)
    assert list(frame.columns) == ["first", "label", "login"]
    assert list(frame["first"]) == [2, 2, 0, 1]
    assert list(frame["login"].fillna("-")) == ["u0", "u1", "-", "u0"]
    assert isinstance(frame["label"].dtype, pd.CategoricalDtype)
    text = "query($first: Int!) { users(first: $first) { login repos { name } } }"
    exploded = client.map(text, [3], path="users", explode="repos")
    assert list(exploded["repos.name"].fillna("-")) == ["-", "r0", "r0", "r1"]
    inner = client.map(text, [3, 0], path="users.repos")
    assert list(inner["name"]) == ["r0", "r0", "r1"]
    with pytest.raises(FrameError, match="explode='repo': the rows of 'users' have 'repos'"):
        client.map(text, [3], explode="repo")


@pytest.mark.parametrize(
    ("fields", "short", "columns"),
    [
        ("login repos { name }", False, ["id", "user.login", "name"]),
        ("login repos { name }", True, ["id", "login", "name"]),
        ("name: login repos { name }", False, ["id", "user.name", "name"]),
        ("login words", False, ["id", "user.login", "words"]),
        ("login words", True, ["id", "login", "words"]),
        ("login grid", False, ["id", "user.login", "grid"]),
    ],
)
def test_values_beside_a_list_are_kept(site, fields, short, columns):
    """In each of its rows; and in one row if the list is empty, or null with its object."""
    text = f"query($id: ID!) {{ user(id: $id) {{ {fields} }} }}"
    with pytest.warns(UserWarning, match="1 of 3 inputs"):
        frame = Client(site.schema).map(text, ["2", "3", "7"], short=short)
    assert list(frame.columns) == columns
    assert list(frame["id"]) == ["2", "2", "3", "7"]
    assert list(frame.iloc[:, 1].fillna("-")) == ["u2", "u2", "u3", "-"]
    items = [[1], [2]] if "grid" in fields else ["r0", "r1"]
    assert [*frame.iloc[:, 2]][:2] == items
    assert frame.iloc[2:, 2].isna().all()


class Row(NamedTuple):
    """A row of inputs."""

    first: int


@pytest.mark.parametrize(
    "inputs",
    [
        [1, 2],
        (1, 2),
        range(1, 3),
        (number for number in (1, 2)),
        np.array([1, 2]),
        pd.Series([1, 2]),
        pl.Series([1, 2]),
        pd.DataFrame({"first": [1, 2]}),
        pl.DataFrame({"first": [1, 2]}),
        pa.table({"first": [1, 2]}),
        [{"first": 1}, {"first": 2}],
        [Row(1), Row(2)],
    ],
    ids=[
        *("list", "tuple", "range", "generator", "array", "Series", "Polars Series"),
        *("DataFrame", "Polars frame", "Arrow table", "dicts", "named tuples"),
    ],
)
def test_inputs_are_rows_records_or_values(site, inputs):
    """Of every usual library."""
    text = "query($first: Int!, $kind: Kind) { users(first: $first, kind: $kind) { login } }"
    frame = Client(site.schema).map(text, inputs, {"kind": "BIG"})
    assert list(frame["first"]) == [1, 2, 2]
    assert list(frame["login"]) == ["u0", "u0", "u1"]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ("17", "a list of values for the operation's only variable; not '17'"),
        (17, "; not 17"),
        ({"id": ["1"]}, r"For a dict of columns: pandas.DataFrame\(columns\)"),
        (pl.LazyFrame({"id": ["1"]}), r"A LazyFrame is not computed yet: collect\(\)"),
        ([{"idd": "1"}], r"Input 0 has no value for \$id: ID!. Its columns are: 'idd'"),
        (pd.DataFrame([[1, 2]], columns=["id", "id"]), "more than one column 'id'"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(site, inputs, message):
    """Before anything is sent, with the value and the choices."""
    with pytest.raises(OptionError, match=message):
        Client(site.schema).map(USER, inputs)
    assert not site.asked


def test_the_variables_of_all_inputs_are_checked_before_the_first_is_sent(client, site):
    """The error has the number of the input, and the place of the variable."""
    with pytest.raises(QueryError, match=r"Input 2: Variable '\$first'") as caught:
        client.map("query($first: Int!) { users(first: $first) { login } }", [1, 2, "x", 4])
    assert not site.asked
    assert caught.value.problems[0].line == 1
    with pytest.raises(QueryError, match="Cannot query field 'logn'"):
        client.map("query($id: ID!) { user(id: $id) { logn } }", ["1"])


def test_options_are_checked(site):
    """Their names and values."""
    client = Client(site.schema)
    with pytest.raises(TypeError, match="Did you mean batch_size="):
        client.map(USER, ["1"], batchsize=3)
    with pytest.raises(OptionError, match="needs one variable that is a list"):
        client.map(USER, ["1"], batch_size=3)
    text = "mutation($rows: [NewUser!]!) { add(rows: $rows) { id } }"
    with pytest.raises(
        OptionError, match="batch_size= takes a whole number above 0, or None; got 0"
    ):
        client.map(text, [{"login": "a"}], batch_size=0)
    with pytest.raises(OptionError, match="a whole number from 1 to 256; got 0"):
        client.map(USER, ["1"], concurrency=0)
    with pytest.raises(OptionError, match="the error that ended it, not a list"):
        client.map(USER, ["1"], resume=[])
    with pytest.raises(OptionError, match="has 1 inputs, and there are 2 now"):
        client.map(USER, ["1", "2"], resume=client.map(USER, ["1"]))
    with pytest.raises(OptionError, match="is one value, and the operation declares"):
        client.map("query($a: Int!, $b: ID!) { users(first: $a) { id } user(id: $b) { id } }", [1])


def test_no_inputs_give_an_empty_typed_frame(client):
    """With the columns of the answer, and of the variables."""
    frame = client.map(USER, [], short=True)
    assert frame.empty
    assert list(frame.columns) == ["id", "login", "stars", "kind", "joined"]
    assert frame["stars"].dtype == "Int64"


def test_a_thousand_rows_are_inserted_in_batches(client, site):
    """Each row once; the numbers of the rows stand beside the answers."""
    rows = pd.DataFrame({"login": [f"n{at}" for at in range(1000)], "stars": range(1000)})
    text = "mutation($rows: [NewUser!]!) { add(rows: $rows) { id } }"
    frame = client.map(text, rows, batch_size=300)
    assert [row["login"] for row in site.added] == list(rows["login"])
    assert list(frame["id"]) == list(rows["login"])
    assert frame.iloc[[0, 999]][["first_row", "last_row"]].to_numpy().tolist() == [
        [0, 299],
        [900, 999],
    ]


def test_a_batch_is_named_by_its_rows():
    """A refused one beside others, which have columns for what is beside their rows, as of Hasura.

    A wrong row is named before anything is sent.
    """
    calls = []

    def insert(root, args, context):
        calls.append(args)
        names = fail("no b") if "b" in args["names"] else args["names"]
        return {"affected_rows": len(names), "returning": names}

    sdl = """type Query { x: Int } type Mutation { insert(names: [String!]!): Inserted }
        type Inserted { affected_rows: Int! returning: [String!]! }"""
    schema = Schema(sdl, {"Mutation": {"insert": insert}})
    text = "mutation($names: [String!]!) { insert(names: $names) { affected_rows returning } }"
    with pytest.warns(UserWarning, match="1 of 2 inputs"):
        frame = Client(schema).map(text, ["a", "b", "c"], batch_size=2)
    assert frame.to_dict("records") == [
        {"first_row": 2, "last_row": 2, "insert.affected_rows": 1, "returning": "c"}
    ]
    with pytest.raises(QueryError, match=r"Batch 1, whose \[0\] is row 2: .*at \[1\]"):
        Client(schema).map(text, ["a", "b", "c", 3.5], batch_size=2)
    assert len(calls) == 2


def test_rows_may_be_input_objects(client, site):
    """If the only variable is one, and no column has its name."""
    rows = pd.DataFrame({"login": ["a", "b"], "stars": [1, None]})
    frame = client.map("mutation($row: NewUser!) { put(row: $row) { id } }", rows, short=True)
    assert list(frame.columns) == ["login", "stars", "id"]
    assert [row["login"] for row in site.added] == ["a", "b"]


def test_answers_of_different_shapes_keep_their_dtypes(site):
    """Variables of ``@include`` decide about columns."""
    text = "query($id: ID!, $all: Boolean!) { user(id: $id) { stars login @include(if: $all) } }"
    rows = [{"id": str(at), "all": at % 2 == 0} for at in range(5)]
    frame = Client(site.schema).map(text, rows, short=True)
    assert list(frame["stars"]) == [0, 1, 2, 3, 4]
    assert frame["stars"].dtype == "Int64"
    assert list(frame["login"].fillna("-")) == ["u0", "-", "u2", "-", "u4"]


def test_answers_with_different_lists_have_a_row_each(site):
    """Not some of them a row for each item."""
    text = "query($id: ID!, $all: Boolean!) { user(id: $id) { words grid @include(if: $all) } }"
    rows = [{"id": str(at), "all": at % 2 == 0} for at in range(4)]
    frame = Client(site.schema).map(text, rows, short=True)
    assert list(frame["id"]) == ["0", "1", "2", "3"]
    assert list(frame["words"]) == [[], ["r0"], ["r0", "r1"], []]
    assert frame.to_arrow()["grid"].to_pylist() == [[], None, [[1], [2]], None]


class Failing(Wire):
    """A transport that fails or stops at one request."""

    def __init__(self, schema, number, instead):
        self.schema, self.number, self.instead = schema, number, instead
        self.sent, self.lock = 0, threading.Lock()

    def send(self, request):
        """Answer, or call the substitute from one request on."""
        with self.lock:
            self.sent += 1
            fails = self.instead is not None and self.sent >= self.number
        if fails:
            return self.instead()
        result = self.schema.execute(request.query, request.variables)
        members = {"data": result.data}
        if result.errors:
            members["errors"] = list(result.errors)
        return Response(200, members=members)


def refuse():
    """Answer that the token is wrong."""
    return Response(401, body=b'{"message": "Bad credentials"}')


def break_connection():
    """Fail as a broken connection does."""
    msg = "The connection broke."
    raise TransportError(msg)


@pytest.mark.parametrize(("instead", "sent"), [(refuse, 3), (break_connection, 7)])
def test_an_endpoint_that_refuses_is_given_up(site, instead, sent):
    """At once for a token, else after five failures; the answers are in the error, and reused."""
    wire = Failing(site.schema, 3, instead)
    client = Client(wire, schema=SDL)
    ids = [str(at) for at in range(20)]
    with pytest.raises(TransportError) as caught:
        client.map(USER, ids, concurrency=1)
    assert wire.sent == sent
    assert list(caught.value.result["user.login"]) == ["u0", "u1"]
    assert set(caught.value.result.errors["kind"]) == {type(caught.value).__name__}
    assert "2 of 20 inputs were answered" in caught.value.__notes__[0]
    wire.instead = None
    with warnings.catch_warnings(record=True):
        frame = client.map(USER, ids, resume=caught.value)
    assert list(frame["id"]) == ids
    assert site.asked[0] == site.asked[1] == site.asked[19] == 1


class Hanging(Failing):
    """A transport that never answers from one request on."""

    async def asend(self, request):
        """Call the substitute, then wait for ever."""
        if self.instead is not None and self.sent == self.number - 1:
            self.instead()
            await asyncio.Event().wait()
        return self.send(request)


def test_an_interrupt_keeps_the_answers(site):
    """Of Ctrl-C, and of a cancelled task; ``resume`` sends the others only."""
    main, ids = threading.main_thread().ident, ["0", "1", "2", "3", "4"]
    wire = Hanging(site.schema, 4, lambda: signal.pthread_kill(main, signal.SIGINT))
    client = Client(wire, schema=SDL)
    with pytest.raises(KeyboardInterrupt) as caught:
        client.map(USER, ids, concurrency=1)
    assert list(caught.value.result["id"]) == ["0", "1", "2"]
    assert "3 of 5 inputs were answered" in caught.value.__notes__[0]

    async def run_and_cancel():
        task = asyncio.ensure_future(client.amap(USER, ids, concurrency=1, resume=caught.value))
        wire.instead, wire.number = task.cancel, 5
        await task

    with pytest.raises(asyncio.CancelledError) as cancelled:
        asyncio.run(run_and_cancel())
    assert list(cancelled.value.result["id"]) == ["0", "1", "2", "3"]
    wire.instead = None
    frame = asyncio.run(client.amap(USER, ids, resume=cancelled.value.result))
    assert list(frame["user.login"]) == ["u0", "u1", "u2", "u3", "u4"]
    assert site.asked == Counter(range(5))


def test_a_mutation_is_never_sent_twice(site):
    """Neither after a broken connection, which may have hidden its success, nor by ``resume``."""
    calls = []

    def lose():
        calls.append(1)
        return break_connection()

    wire = Failing(site.schema, 2, lose)
    client = Client(wire, schema=SDL)
    text = "mutation($row: NewUser!) { put(row: $row) { id } }"
    rows = [{"login": f"n{at}"} for at in range(9)]
    with pytest.raises(TransportError) as caught:
        client.map(text, rows)
    assert len(calls) == 5
    wire.instead = None
    with pytest.warns(UserWarning, match="5 of 9 inputs have errors: 5 have no answer"):
        frame = client.map(text, rows, resume=caught.value)
    assert [row["login"] for row in site.added] == ["n0", "n6", "n7", "n8"]
    assert list(frame.errors["login"]) == ["n1", "n2", "n3", "n4", "n5"]
    assert set(frame.errors["kind"]) == {"TransportError"}


def test_a_refused_input_does_not_stop_the_others(site):
    """Its error is listed, and it has no row."""
    texts = []

    class Picky(Failing):
        def send(self, request):
            texts.append(request.variables)
            if request.variables["id"] == "1":
                return Response(400, body=b'{"errors": [{"message": "id 1 is reserved"}]}')
            return super().send(request)

    client = Client(Picky(site.schema, 0, None), schema=SDL)
    with pytest.warns(UserWarning, match="1 have no answer"):
        frame = client.map(USER, ["0", "1", "2"])
    assert list(frame["id"]) == ["0", "2"]
    assert frame.errors[["id", "kind", "message"]].to_numpy().tolist() == [
        ["1", "QueryError", "id 1 is reserved"]
    ]


def test_a_value_that_does_not_fit_loses_no_answers(site):
    """``strict=False`` builds the frame from the answers in the error, without requests."""

    class Wrong(Failing):
        def send(self, request):
            self.sent += 1
            return Response(200, body=b'{"data": {"user": {"stars": 9999999999}}}')

    wire = Wrong(site.schema, 0, None)
    client = Client(wire, schema=SDL)
    text = "query($id: ID!) { user(id: $id) { stars } }"
    with pytest.raises(gqlnb.GqlnbError) as kept:
        client.map(text, ["1", "2"])
    sent = wire.sent
    frame = client.map(text, ["1", "2"], resume=kept.value, strict=False)
    assert wire.sent == sent == 2
    assert list(frame["user.stars"]) == [9999999999] * 2


def test_the_end_of_a_long_message_is_kept(site):
    """Where Directus has the reason, after its SQL; without the lines of the document."""
    message = f"{'insert ' * 99}- no such id"
    error = {"message": message, "locations": [{"line": 1, "column": 2}]}
    body = json.dumps({"errors": [error]}).encode()
    wire = Failing(site.schema, 1, lambda: Response(400, body=body))
    with pytest.warns(UserWarning, match="1 of 1 inputs"):
        frame = Client(wire, schema=SDL).map(USER, ["7"])
    assert list(frame.errors["message"]) == [message]


def test_the_frame_is_a_plain_frame_in_use(site):
    """Selections are DataFrames; the frame can be pickled with its errors."""
    with pytest.warns(UserWarning, match="1 of 3 inputs"):
        frame = Client(site.schema).map(USER, ["1", "7", "2"])
    assert type(frame[frame["id"] != "7"]) is pd.DataFrame
    again = pickle.loads(pickle.dumps(frame))
    assert list(again.errors["id"]) == ["7"]
    assert again.equals(frame)


@pytest.mark.parametrize("root", ["", "id(n: $n)"])
def test_rows_stand_beside_their_own_input(root):
    """Also after an input whose answer has no data, and where the query selects an `id` itself."""

    def rows(root, args, context):
        return fail("no") if args["n"] == 1 else [{"name": f"{args['n']}-{at}"} for at in range(2)]

    sdl = "type Query { id(n: Int!): ID! rows(n: Int!): [Row!]! } type Row { name: String! }"
    schema = Schema(sdl, {"Query": {"id": lambda r, a, c: str(7 - a["n"]), "rows": rows}})
    text = f"query($n: Int!) {{ {root} rows(n: $n) {{ name }} }}"
    with gqlnb.serve(schema, port=0) as server:
        for target in (schema, server.url):
            with pytest.warns(UserWarning, match="1 of 4 inputs"):
                frame = Client(target).map(text, [0, 1, 2, 3])
            assert frame["n"].tolist() == [0, 0, 2, 2, 3, 3]
            assert [name[0] for name in frame["name"]] == ["0", "0", "2", "2", "3", "3"]
            assert frame.errors["n"].tolist() == [1]


def test_a_mapped_frame_has_the_arrow_types_of_an_answer():
    """Also of dates and of JSON values of several kinds, which pandas does not tell apart."""
    sdl = """row(id: Int!): Row scalar Date scalar JSON enum Kind { A B }
    type Row { day: Date any: JSON kind: Kind words: [String] sizes: [Int] }"""
    client = build_client(sdl, lambda args: ROWS.get(args["id"]))
    text = """query($id: Int!, $all: Boolean!) {
      row(id: $id) { day any kind @include(if: $all) sizes words } }"""
    inputs = [{"id": at, "all": at != 2, "note": [1, "x"][at % 2]} for at in range(4)]
    frame = client.map(text, inputs, short=True)
    table = frame.to_arrow()
    assert table.column_names == list(frame.columns)
    assert table["id"].to_pylist() == [0, 1, 2, 3]
    assert table.to_pandas().dtypes[["id", "kind"]].equals(frame.dtypes[["id", "kind"]])
    assert table["note"].to_pylist() == ["1", "x", "1", "x"]
    assert table["day"].to_pylist() == [datetime.date(2026, 1, 2), None, None, None]
    assert table["any"].to_pylist() == ['{"a":1}', '"x"', "3", None]
    assert table["words"].to_pylist() == [["a", None], [], None, None]
    assert frame.to_polars().schema["day"] == pl.Date
    assert frame.to_polars()["kind"].to_list() == ["A", "B", None, None]
    for changed in (frame.assign(x=1), pickle.loads(pickle.dumps(frame))):
        with pytest.raises((AttributeError, FrameError), match="to_arrow"):
            changed.to_arrow()
    frame.drop(index=0, inplace=True)
    with pytest.raises(FrameError, match="as map\\(\\) returned it"):
        frame.to_arrow()


ROWS = {
    0: {"day": "2026-01-02", "any": {"a": 1}, "kind": "A", "words": ["a", None], "sizes": [1]},
    1: {"any": "x", "kind": "B", "words": []},
    2: {"any": 3, "kind": "A", "sizes": []},
}


def test_an_index_with_the_name_of_a_variable_is_mentioned(site):
    """It is no column, as people may expect after set_index()."""
    indexed = pd.DataFrame({"x": [1]}, index=pd.Index(["7"], name="id"))
    with pytest.raises(OptionError, match=r"The index has that name: give frame\.reset_index"):
        Client(site.schema).map(USER, indexed)


def test_a_pickled_frame_is_not_resumed(site):
    """Its outcomes are not in it; the error says how to go on."""
    with pytest.warns(UserWarning, match="1 of 2 inputs"):
        frame = Client(site.schema).map(USER, ["1", "7"])
    again = pickle.loads(pickle.dumps(frame))
    with pytest.raises(OptionError, match=r"outcomes: they are not pickled\..*with cache= the"):
        Client(site.schema).map(USER, ["1", "7"], resume=again)


@pytest.mark.parametrize("is_async", [False, True])
def test_a_progress_function_stops_a_map(site, is_async):
    """Requests on their way are answered, and ``resume`` sends the others."""
    client, ids = Client(Failing(site.schema, 0, None), schema=SDL), ["0", "7", "2", "3", "4"]

    def run(**options):
        if is_async:
            return asyncio.run(client.amap(USER, ids, concurrency=1, **options))
        return client.map(USER, ids, concurrency=1, **options)

    with pytest.warns(UserWarning, match="of 5 inputs") as caught:
        part = run(progress=lambda got, *_: got < 3)
    assert [str(it.message)[:46] for it in caught] == [
        "2 of 5 inputs were not sent: the map was stopp",
        "1 of 5 inputs have errors: 0 have no answer, 1",
    ]
    assert list(part["id"]) == ["0", "7", "2"]
    assert part.attrs["partial"]
    assert (part.attrs["answered"], part.attrs["failed"]) == (3, 0)
    with pytest.warns(UserWarning, match="1 of 5 inputs have errors"):
        whole = run(resume=part)
    assert list(whole["id"]) == ids
    assert set(site.asked.values()) == {1}


def test_inputs_without_columns_have_a_row_each(site):
    """Where the operation declares no variables."""
    frame = Client(site.schema).map("{ users(first: 1) { login } }", [{}, {}])
    assert list(frame["login"]) == ["u0", "u0"]


@pytest.mark.parametrize(
    "inputs",
    [
        pd.Series(["a", None]),
        pd.Series(["a", None], dtype="category"),
        pd.Series(["a", None], dtype="str").to_frame("v"),
        [pa.scalar("a"), pa.scalar(None, pa.string())],
        pa.array(["a", None]),
    ],
    ids=["text", "category", "frame", "scalars", "array"],
)
def test_missing_inputs_are_null(inputs):
    """NaN in a column of text, and the null of Arrow."""
    client = build_client("f(v: String): String", lambda args: repr(args["v"]))
    frame = client.map("query($v: String) { f(v: $v) }", inputs)
    assert frame["f"].tolist() == ["'a'", "None"]
