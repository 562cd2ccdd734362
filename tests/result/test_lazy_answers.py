"""Answers whose data wait: what comes of them is what comes of answers that are decoded at once."""

import copy
import gc
import json
import pickle
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import deepcopy
from unittest import mock

import pytest
from graphql import build_schema
from hypothesis import given, settings
from hypothesis import strategies as st

import gqlnb
from gqlnb import errors
from gqlnb.document import scalars
from gqlnb.document.document import Document
from gqlnb.http import response_parser
from gqlnb.http.messages import Response
from gqlnb.http.response_parser import ResponseContext, parse_response
from gqlnb.result import checked_decoder, table_reader, tables
from gqlnb.result.checked_decoder import LARGE_BODY, get_decoder
from gqlnb.result.decoder import NEWEST_TREES, Envelope
from gqlnb.result.result import Result
from gqlnb.tokens import Token
from tests.examples import count_examples
from tests.result.test_checked_decoder import DATA as ANYTHING
from tests.result.test_checked_decoder import SCHEMA as MIXED
from tests.result.test_checked_decoder import shaped

SCHEMA = build_schema("""
type Query { page: Page! beside: Int tags: [String!]! grid: [[Int!]!] search: Search! }
type Page { total: Int! items: [Thing] }
union Thing = Book | Person
type Book { id: ID! title: String! price: Float kind: Kind! by: Person! meta: JSON notes: [Note!]! }
type Person { id: ID! name: String! }
type Note { text: String }
enum Kind { A B }
scalar JSON
type Search { total: Int! edges: [Edge] }
type Edge { cursor: String! node: Book }
""")
TEXT = """{ beside tags grid page { n: total items { __typename
  ... on Book { id title price kind by { name } meta notes { text } }
  ... on Person { id who: name } } } }"""
SEARCH = "{ beside search { total edges { cursor node { id title price kind by { name } } } } }"
DEEP = 450  # a row of the second piece


def book(n):
    """Return a row, with a null here and there and a member that nobody asked for."""
    return {
        "__typename": "Book",
        "id": n,
        "title": f'T {n} é 🙂 "\n',
        "price": 1.5 if n % 2 else None,
        "kind": "NEW" if n % 7 == 0 else "A",
        "by": {"name": "x"},
        "meta": {"big": 2**70, "any": [None, 1.5, {}]},
        "notes": [{"text": None}] * (n % 3),
        "left out": "not asked for",
    }


def things(size=600):
    """Return data with rows of two types, and lists of several kinds beside them."""
    person = {"__typename": "Person", "id": "p", "who": "w"}
    items = [book(n) if n % 5 else person for n in range(size)]
    items[3] = None
    page = {"n": size, "items": items}
    return {"beside": 1, "tags": ["a", "é"], "grid": [[1], []], "page": page, "more": 1}


def edges(size=600):
    """Return the data of a search: one list of plain columns."""
    found = [{"cursor": "c", "node": book(n) if n % 9 else None} for n in range(size)]
    found[3] = None
    return {"beside": 1, "search": {"total": size, "edges": found}}


THINGS, EDGES = things(), edges()
DATA = {TEXT: THINGS, SEARCH: EDGES}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Decode some hundred rows at a time, so that a few hundred are several pieces."""
    monkeypatch.setattr(checked_decoder, "CHECKED_CHUNK", 200)
    monkeypatch.setattr(table_reader, "CHUNK_BYTES", 1 << 13)
    monkeypatch.setattr(table_reader, "CHUNK_COLUMN_BYTES", 1)


def asked_of(text=TEXT, **members):
    """Return what was asked by a text whose schema is known."""
    document = Document.parse(text, SCHEMA)
    expected = get_decoder(document, {})
    return ResponseContext(document, "here", expected=expected, variables={}, **members)


def response_of(body, status=200, media="application/json"):
    """Return a response with this body, or these members."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Response(status, {"content-type": media}, body)


def at_once():
    """Decode all answers when they come."""
    return mock.patch.object(response_parser, "read_lazily", return_value=None)


def outcome(response, asked):
    """Return what comes of an answer: its members, or the words of the error."""
    try:
        result = parse_response(response, asked)
    except errors.GqlnbError as error:
        return type(error), str(error), error.result and error.result.data
    members = (result.errors, result.extensions, result.source, result.variables, result.document)
    return result.data, json.dumps(result.data), members, result.response is response


def same(response, asked):
    """Return what comes of an answer, which is the same on both roads."""
    with at_once():
        wanted = outcome(response, asked)
    found = outcome(response, asked)
    assert found == wanted
    return found


def waits(result):
    """Tell whether the data have not been decoded."""
    return "data" not in vars(result)


@pytest.mark.parametrize("text", [TEXT, SEARCH])
def test_a_large_response_is_decoded_on_first_access(text):
    """Errors and extensions are available before."""
    members = {"data": DATA[text], "extensions": {"cost": 1}, "errors": [{"message": "m"}]}
    response, asked = response_of(members), asked_of(text)
    result = parse_response(response, asked)
    assert result.extensions == {"cost": 1}
    assert result.errors == ({"message": "m"},)
    assert result.response is response
    assert waits(result)
    data = result.data
    assert not waits(result)
    assert result.data is data
    assert data == same(response, asked)[0]


def test_lazily_decoded_data_are_exact():
    """Integers of any size, and no fields that were not selected."""
    result = parse_response(response_of({"data": THINGS}), asked_of())
    item = result["page"]["items"][1]
    assert item["meta"]["big"] == 2**70
    assert "left out" not in item
    assert list(result.data) == ["beside", "tags", "grid", "page"]


@pytest.mark.parametrize(("text", "path"), [(TEXT, "page.items"), (SEARCH, None)])
def test_frames_are_equal_before_and_after_the_first_access(text, path):
    """From the bytes, from the bytes again, and from the dicts."""
    response, asked = response_of({"data": DATA[text]}), asked_of(text)
    result = parse_response(response, asked)
    with at_once():
        wanted = parse_response(response, asked).frame(path)
    found = [result.frame(path), result.frame(path)]
    assert waits(result)
    assert result.data
    for frame in [*found, result.frame(path)]:
        assert frame.equals(wanted)
        assert list(frame.dtypes) == list(wanted.dtypes)
        assert frame.attrs == wanted.attrs


def test_frames_do_not_share_their_values():
    """Values read during validation belong to the first frame."""
    result = parse_response(response_of({"data": EDGES}), asked_of(SEARCH))
    first = result.frame()
    first.loc[0, "price"] = 77.0
    first.loc[0, "title"] = "changed"
    assert result.frame().loc[0, "title"] == book(1)["title"]
    assert result.frame().loc[0, "price"] == 1.5


def test_tidy_frames_arrow_and_previews_do_not_need_the_dicts():
    """All of them are read from the bytes."""
    result = parse_response(response_of({"data": EDGES}), asked_of(SEARCH))
    rows = sum(1 for edge in EDGES["search"]["edges"] if edge and edge["node"])
    assert result.preview(5).rows > 0
    assert result.arrow().num_rows == rows
    assert len(result.frames["search"]) == rows
    assert len(result.frame(strict=False)) == rows
    assert waits(result)


def test_the_frame_that_was_read_last_is_read_during_validation():
    """Also with the lists in its rows; each of them has the same rows as before."""
    things = [{"id": n, "notes": [{"text": "t" * 400}] * (n % 7)} for n in range(99)]
    schema = build_schema(
        """type Query { things: [Thing!]! } type Thing { id: ID! notes: [Note!]! }
        type Note { text: String }"""
    )
    document = Document.parse("{ things { id notes { text } } }", schema)
    expected = get_decoder(document, {})
    asked = ResponseContext(document, "here", expected=expected, variables={})
    response = response_of({"data": {"things": things}})
    for read in (lambda it: it.frame(explode="notes"), lambda it: it.frames["things.notes"]):
        first = parse_response(response, asked)
        assert waits(first)
        frame = read(first)
        assert len(frame) >= sum(len(it["notes"]) for it in things)
        second = parse_response(response, asked)
        with mock.patch("gqlnb.result.table_reader.get_row_decoders", side_effect=AssertionError):
            assert read(second).equals(frame)
        assert second.data == {"things": things}
    things[DEEP % 99]["notes"] = None
    (error,) = parse_response(response_of({"data": {"things": things}}), asked).errors
    assert error["path"] == ["things", DEEP % 99, "notes"]


def test_a_custom_scalar_is_parsed_when_its_frame_is_made(monkeypatch):
    """The user's parser does not run in `execute`."""
    monkeypatch.setattr(scalars, "_REGISTERED", {})
    monkeypatch.setattr(scalars, "_version", scalars.get_version() + 1)
    seen = []
    scalars.scalar("ID", parse=lambda value: seen.append(value) or str(value), dtype="string")
    result = parse_response(response_of({"data": EDGES}), asked_of(SEARCH))
    assert waits(result)
    assert seen == []
    assert result.frame()["id"][0] == "1"


def test_a_value_out_of_its_column_range_is_an_error_of_the_frame():
    """Its JSON type is valid by query and schema."""
    found = [{"node": {"total": n if n != DEEP else 2**40, "id": f"{n:0100}"}} for n in range(600)]
    schema = build_schema(
        "type Query { edges: [E!]! } type E { node: N! } type N { total: Int! id: ID! }"
    )
    document = Document.parse("{ edges { node { total id } } }", schema)
    asked = ResponseContext(document, "here", expected=get_decoder(document, {}), variables={})
    result = parse_response(response_of({"data": {"edges": found}}), asked)
    assert waits(result)
    with pytest.raises(errors.FrameError, match=f"{DEEP}"):
        result.frame()
    kept = parse_response(response_of({"data": {"edges": found}}), asked).frame(strict=False)
    assert kept.iloc[DEEP, 0] == 2**40


def test_a_small_response_is_decoded_immediately():
    """So is one whose items are long strings, since dicts are cheap in comparison."""
    small = response_of({"data": things(5)})
    assert len(small.body) < LARGE_BODY
    assert not waits(parse_response(small, asked_of()))
    text = {**things(50), "tags": ["x" * LARGE_BODY]}
    assert not waits(parse_response(response_of({"data": text}), asked_of()))


def test_copies_and_pickles_contain_the_data():
    """The lazy decoder is not copied."""
    result = parse_response(response_of({"data": EDGES}), asked_of(SEARCH))
    result.frame()
    state = result.__getstate__()
    assert state["data"] == result.data
    assert "_lazy_data" not in state
    assert copy.copy(result).data is result.data
    plain = ResponseContext(Document.parse("{ a }"), "here", variables={})
    again = pickle.loads(pickle.dumps(parse_response(response_of({"data": {"a": 1}}), plain)))
    assert again.data == {"a": 1}


def test_the_decoder_is_released_after_decoding():
    """So are the pieces that frames are read from."""
    result = parse_response(response_of({"data": EDGES}), asked_of(SEARCH))
    came = vars(result)["_lazy_data"]
    known = weakref.ref(came.make_data)
    assert result.data
    gc.collect()
    assert known() is None
    assert came.body == b""
    assert came.prepared is None
    assert type(came.outline) is not dict


def test_secrets_in_extensions_and_errors_are_masked_immediately():
    """As in a response that is decoded on arrival."""
    members = {
        "data": EDGES,
        "extensions": {"a": "canary-77"},
        "errors": [{"message": "canary-77"}],
    }
    result = parse_response(
        response_of(members), asked_of(SEARCH, redact=Token("canary-77").redact)
    )
    assert waits(result)
    assert "canary" not in f"{result.extensions}{result.errors}"


WRONG = [
    (("page", "items", DEEP + 1, "title"), None),
    (("page", "items", DEEP + 1, "title"), 1),
    (("page", "items", DEEP + 1, "price"), "1.5"),
    (("page", "items", DEEP + 1, "by", "name"), None),
    (("page", "items", DEEP + 1, "notes"), [None]),
    (("page", "items", DEEP + 1, "title"), ...),
    (("page", "items", DEEP + 1, "__typename"), ...),
    (("page", "items", DEEP, "who"), ...),
    (("page", "items", DEEP), 1),
    (("page", "items"), {}),
    (("page", "n"), 1.0),
    (("page",), None),
    (("beside",), ...),
    (("tags", 1), None),
    (("grid", 0, 0), None),
    (("search", "edges", DEEP + 1), 1),
    (("search", "edges", DEEP + 1, "cursor"), None),
    (("search", "edges", DEEP + 1, "node"), ...),
    (("search", "edges", DEEP + 1, "node", "title"), ...),
    (("search", "total"), None),
]


@pytest.mark.parametrize(("path", "value"), WRONG)
def test_a_misfit_is_reported_at_once(path, value):
    """At any position, as by the decoder that makes dicts: what the document allows has data."""
    text = SEARCH if path[0] == "search" else TEXT
    data = deepcopy(DATA[text])
    inner = data
    for step in path[:-1]:
        inner = inner[step]
    if value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    response = response_of({"data": data})
    found = same(response, asked_of(text))
    untyped = Document.parse(text)
    expected = get_decoder(untyped, {})
    before = outcome(response, ResponseContext(untyped, "here", expected=expected, variables={}))
    assert (found[0] is errors.AnswerError) == (before[0] is errors.AnswerError)
    if found[0] is errors.AnswerError:
        assert "does not fit its query" in found[1]
        return
    assert all(it["extensions"] == {"code": "SCHEMA_VIOLATION"} for it in found[2][0])
    assert any(it["path"][: len(path)] == list(path) for it in found[2][0])


def test_a_non_null_field_may_be_null_with_an_error():
    """The response is accepted."""
    data = deepcopy(EDGES)
    data["search"]["edges"][DEEP + 1]["node"]["title"] = None
    path = ["search", "edges", DEEP + 1, "node", "title"]
    members = {"data": data, "errors": [{"message": "m", "path": path}]}
    assert len(same(response_of(members), asked_of(SEARCH))) == 4


BODY = json.dumps({"data": THINGS}, ensure_ascii=False).encode()
LIST = json.dumps(THINGS["page"]["items"]).encode()


def doubled(name, value, body=BODY):
    """Return an answer in which a member has another value first."""
    return body.replace(b'"%b":' % name, b'"%b": %b, "%b":' % (name, value, name), 1)


@pytest.mark.parametrize(
    "body",
    [
        BODY,
        BODY.replace(b"not asked for", b"\xff", 1),
        BODY.replace(b"not asked for", b"\\ud800", 1),
        BODY.replace(b"T 451", b"\\ud800", 1),
        BODY.replace(b"T 451", b"\xff", 1),
        BODY.replace(b'"beside": 1', b'"beside": NaN', 1),
        BODY.replace(b"1.5, {}", b"NaN, {}", 1),
        BODY[:-100],
        BODY + b"{}",
        b"[" * 99999,
        b'{"data": {"x": ' + b"[" * 99999,
        b"\xef\xbb\xbf" + BODY,
        BODY.replace(b'"items": [', b'"items" :\n[\t ', 1).replace(b"}]}", b"} \r\n ] }", 1),
        doubled(b"page", b"null"),
        doubled(b"items", b"[]"),
        doubled(b"items", LIST.replace(b"T 451", b"\\ud800")),
        doubled(b"items", LIST.replace(b'"title"', b'"tilte"', 1)),
        doubled(b"items", b'[{"title": NaN}]'),
        doubled(b"it\\u0065ms", b"[1]").replace(b'"it\\u0065ms": [{', b'"items": [{', 1),
        doubled(b"data", b"null"),
        doubled(b"title", b"null"),
        doubled(b"meta", b"NaN"),
        doubled(b"left out", b'"\xff"'),
        BODY[:-1] + b', "errors": {}}',
        BODY[:-1] + b', "errors": null}',
        BODY[:-1] + b', "errors": [], "errors": [{"message": "m"}], "extensions": 5}',
        BODY[:-1] + b', "data": null}',
    ],
)
def test_lazy_decoding_accepts_the_same_json(body):
    """Bad UTF-8, invalid numbers, truncation, depth, white space and duplicate keys."""
    same(response_of(body), asked_of())


@pytest.mark.parametrize(("status", "media"), [(500, "application/json"), (200, "text/html")])
def test_status_and_media_type_have_the_same_effect(status, media):
    """Data are a response under any status, but not in an HTML page."""
    same(response_of(BODY, status, media), asked_of())


def written(value, draw):
    """Write a value as JSON with white space, and now and then with a member twice."""
    gap = draw(st.sampled_from(["", "", " ", "\n\t"]))
    if isinstance(value, list):
        return f"[{gap}{f'{gap},'.join(written(each, draw) for each in value)}{gap}]"
    if not isinstance(value, dict):
        return json.dumps(value)
    members = []
    for name, inner in value.items():
        if draw(st.integers(0, 20)) == 0:
            members.append((name, draw(st.just(inner) | ANYTHING)))
        members.append((name, inner))
    texts = (f"{json.dumps(name)}{gap}:{written(inner, draw)}" for name, inner in members)
    return f"{gap}{{{','.join(texts)}{gap}}}{gap}"


LISTED = [
    (SEARCH, SCHEMA),
    ("{ n names nodes { id } }", MIXED),
    ("{ names }", MIXED),
    ("{ class: nodes { def: id } item { id kind } }", MIXED),
    ("{ nodes { id ... on Sized { size } ... on Item { owner { free } } } }", MIXED),
    ("{ nodes { __typename ... on Item { size kind } ... on Other { size on } } }", MIXED),
    ('{ __type(name: "Item") { name fields { name type { kind ofType { name } } } } }', MIXED),
]


@pytest.mark.parametrize(("text", "schema"), LISTED)
@settings(max_examples=count_examples(100))
@given(data=st.data())
def test_lazy_and_immediate_decoding_agree(text, schema, data):
    """For generated data and both validators."""
    document = Document.parse(text, schema)
    typed = get_decoder(document, {})
    typed.decode_response(b"")  # small first answers are not decoded
    asked = ResponseContext(document, "here", expected=typed, variables={})
    if data.draw(st.booleans()):  # an answer before was read as tidy frames
        tables.record_plan(tables.get_read_plan(typed.shape))
    members = {"data": shaped(typed.shape, data.draw)}
    if data.draw(st.booleans()):
        members["errors"] = [{"message": "m"}]
    body = written(members, data.draw).encode()
    with mock.patch.multiple(
        checked_decoder, LARGE_BODY=0, MAX_ITEM_BYTES=1 << 30, CHECKED_CHUNK=2
    ):
        same(response_of(body), asked)
        with mock.patch.object(checked_decoder, "check_and_read", return_value=False):
            same(response_of(body), asked)


def test_the_data_are_decoded_once_for_all_threads():
    """Two threads that read them at once get the same object."""
    result = gqlnb.Result.from_bytes(b'{"data": {"a": [1]}}')
    both, decode = threading.Barrier(2), Envelope.decode_data

    def decode_slowly(envelope):
        with suppress(threading.BrokenBarrierError):
            both.wait(0.2)  # for another thread that decodes, if there may be one
        return decode(envelope)

    with (
        mock.patch.object(Envelope, "decode_data", decode_slowly),
        ThreadPoolExecutor(2) as threads,
    ):
        first, second = threads.map(lambda _: result.data, range(2))
    assert first is second


# -- answers of some kilobytes, whose data are decoded at once and freed after newer ones


def read_and_pass(asked, *, use=repr):
    """Return a result that was used, and is followed by newer ones."""
    response = response_of({"data": edges(100)})
    first = parse_response(response, asked)
    use(first)
    for _ in range(NEWEST_TREES):
        parse_response(response, asked)
    gc.collect()
    return first


def count_dicts():
    """Return the number of nodes that are in memory."""
    return sum(type(it) is dict and "kind" in it and "by" in it for it in gc.get_objects())


@pytest.mark.parametrize("use", [Result.frame, Result._repr_mimebundle_, Result.previews])
def test_the_data_of_older_small_answers_are_freed(use):
    """Also if a frame was made of them, or they were shown; they are decoded again when read."""
    asked = asked_of(SEARCH)
    wanted = same(response_of({"data": edges(100)}), asked)[0]
    read_and_pass(asked)
    before = count_dicts()
    results = [read_and_pass(asked, use=use) for _ in range(3)]
    assert count_dicts() == before
    for result in results:
        frame = result.frame()
        assert result.data == wanted
        assert result.data is result.data
        assert result.frame().equals(frame)


def test_changed_data_of_older_small_answers_stay():
    """The user of a result may change its data, and frames show it."""

    def change(result):
        result["search"]["edges"][1]["node"]["title"] = "changed"

    result = read_and_pass(asked_of(SEARCH), use=change)
    assert result["search"]["edges"][1]["node"]["title"] == "changed"
    assert result.frame()["title"][0] == "changed"
