"""Results of bytes: nothing is decoded before it is looked at, and frames need no dicts."""

import json

import pandas as pd
import pytest
from graphql import build_schema

from gqlnb.document.document import Document
from gqlnb.errors import AnswerError, FrameError, OptionError
from gqlnb.result import decoder, table_reader
from gqlnb.result.result import Result

SCHEMA = build_schema(
    """
    enum Level { LOW HIGH }
    type Query { search: Search repos: [Repo!] one: Repo }
    type Search { total: Int edges: [Edge] }
    type Edge { node: Repo }
    type Repo {
      id: ID! name: String stars: Int score: Float level: Level owner: Repo tags: [String]
    }
    """
)


def of_bytes(text, body, **more):
    """Return the result of a response, given as JSON or as a value."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Result.from_bytes(body, Document.parse(text, SCHEMA), **more)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"errors": []}',
        b'{"data": 5}',
        b'{"data": [], "errors": []}',
        b'{"data": {}, "errors": 5}',
        b'{"data": {}, "errors": [5]}',
        b'{"data": {"one": {"name": "\xff"}}}',
        b'{"data": {"x": "\xff"}}',
        b'{"data": {} ',
        b"[" * 100_000,
    ],
)
def test_invalid_responses_are_refused_immediately(body):
    """Invalid UTF-8 too, also in fields that are never read."""
    with pytest.raises(AnswerError, match="Not a GraphQL response"):
        of_bytes("{ one { name } }", body)


def test_a_byte_order_mark_is_skipped():
    """It is none of JSON's, and some servers send it."""
    answer = of_bytes("{ one { name } }", b'\xef\xbb\xbf{"data": {"one": {"name": "\xc3\xa4"}}}')
    assert answer.frame()["one.name"].tolist() == ["ä"]
    assert answer.data == {"one": {"name": "ä"}}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"stars": "many"}, "row 1 is 'many'"),
        ({"stars": 2**31}, r"row 1 is 2147483648 \(it does not fit into 32 bits\)"),
        ({"stars": 1.5}, "row 1 is 1.5"),
        ({"stars": True}, "row 1 is True"),
        ({"score": "1"}, "row 1 is '1'"),
        ({"name": 5}, "row 1 is 5"),
        ({"name": {"a": 1}}, "row 1 is {'a': 1}"),
        ({"owner": []}, "'owner' in row 1 of 'repos' is"),
        ("text", "row 1 of 'repos' is 'text', not an object"),
    ],
    ids=str,
)
def test_values_of_another_type_are_named_with_their_path(row, said):
    """Bytes fall back to the road of data in process, and both say the same."""
    text = "{ repos { name stars score owner { name } } }"
    rows = [{"name": "a", "stars": 1, "score": 0.5, "owner": None}, row]
    for answer in (of_bytes(text, {"data": {"repos": rows}}),
                   Result({"repos": rows}, document=Document.parse(text, SCHEMA))):  # fmt: skip
        with pytest.raises(FrameError, match=said):
            answer.frame()
        frame = answer.frame(strict=False)
        assert len(frame) == 2
        if isinstance(row, dict) and "owner" not in row:
            (name,) = row
            assert frame[name].tolist() == [rows[0][name], row[name]]


def test_equivalent_json_numbers_are_accepted():
    """1.0 is an Int in JSON, 1 a Float, and a number may be an ID."""
    rows = [{"id": 1, "stars": 1.0, "score": 1}, {"id": "b", "stars": 2, "score": 2.5}]
    frame = of_bytes("{ repos { id stars score } }", {"data": {"repos": rows}}).frame()
    assert frame["id"].tolist() == ["1", "b"]
    assert frame["stars"].tolist() == [1, 2]
    assert frame["score"].tolist() == [1.0, 2.5]


def test_members_and_values_the_schema_does_not_know_are_no_errors():
    """A newer server may send more fields and other values of an enum."""
    rows = [{"level": "MEDIUM", "new": [1]}, {"level": "LOW"}]
    answer = of_bytes("{ repos { level } }", {"data": {"repos": rows, "new": {}}, "new": 1})
    assert answer.frame()["level"].tolist() == ["MEDIUM", "LOW"]
    assert list(answer.frame()["level"].cat.categories) == ["LOW", "HIGH", "MEDIUM"]


@pytest.mark.parametrize("repos", [{}, "x", 5, [[]]], ids=str)
def test_data_that_contradict_the_schema_are_an_error_with_a_path(repos):
    """The data remain accessible."""
    answer = of_bytes("{ repos { name } }", {"data": {"repos": repos}})
    with pytest.raises(FrameError, match="repos"):
        answer.frame()
    assert answer.data == {"repos": repos}


def test_an_unknown_attribute_is_an_attribute_error():
    """Decoding on first sight hides no mistakes."""
    with pytest.raises(AttributeError, match="no attribute 'dta'"):
        Result.from_bytes(b'{"data": {}}').dta  # noqa: B018


def test_the_text_of_a_query_is_no_document():
    with pytest.raises(OptionError, match=r"client.parse_document\(text\)"):
        Result.from_bytes(b'{"data": {}}', "{ rows { n } }")


def test_many_rows_are_read_in_pieces_that_join():
    """More rows than are decoded at a time, one of them of another type than declared."""
    rows = [{"name": f"n{n}", "stars": n, "tags": [str(n)] * (n % 3)} for n in range(10_000)]
    rows[7_777]["stars"] = 7777.0
    answer = of_bytes("{ repos { name stars tags } }", {"data": {"repos": rows}})
    frame = answer.frame()
    assert frame["stars"].tolist() == list(range(10_000))
    assert frame["name"].iloc[9_999] == "n9999"
    tags = answer.frames["repos.tags"]
    assert tags["repos_index"].tolist() == [n for n in range(10_000) for _ in range(n % 3)]
    assert tags["tags"].tolist() == [str(n) for n in range(10_000) for _ in range(n % 3)]
    local = Result({"repos": rows}, document=answer.document)
    pd.testing.assert_frame_equal(local.frame(), frame)


def test_rows_with_long_lists_are_decoded_a_few_at_a_time(monkeypatch):
    """By their bytes, not by their number, so that memory does not grow with the lists."""
    sizes, decode = [], decoder.RowDecoders.decode_items

    def decode_items(self, table, pieces):
        sizes.append(sum(map(len, map(memoryview, pieces))))
        return decode(self, table, pieces)

    monkeypatch.setattr(decoder.RowDecoders, "decode_items", decode_items)
    rows = [{"name": f"n{n}", "tags": ["a tag"] * 1_000} for n in range(200)]
    answer = of_bytes("{ repos { name tags } }", {"data": {"repos": rows}})
    assert answer.frame(explode="tags").shape == (200_000, 2)
    assert sum(sizes) > 4 * table_reader.CHUNK_BYTES
    assert max(sizes) < 1.1 * table_reader.CHUNK_BYTES


def test_a_chunk_of_a_wide_table_has_many_rows(monkeypatch):
    """Each column takes some microseconds for a chunk, whatever the number of its rows."""
    counts, decode = [], decoder.RowDecoders.decode_items

    def decode_items(self, table, pieces):
        counts.append(len(pieces))
        return decode(self, table, pieces)

    monkeypatch.setattr(decoder.RowDecoders, "decode_items", decode_items)
    monkeypatch.setattr(table_reader, "CHUNK_BYTES", 1 << 14)  # 18 rows: of 100 columns, more
    names = [f"f{n}" for n in range(100)]
    schema = build_schema(
        f"type Query {{ rows: [Row] }} type Row {{ {': Int '.join(names)}: Int }}"
    )
    document = Document.parse(f"{{ rows {{ {' '.join(names)} }} }}", schema)
    rows = [{name: n * row for n, name in enumerate(names)} for row in range(700)]
    body = json.dumps({"data": {"rows": rows}}).encode()
    pd.testing.assert_frame_equal(
        Result.from_bytes(body, document).frame(), Result({"rows": rows}, document=document).frame()
    )
    assert sum(counts) == 700
    assert min(counts[:-1]) > 100


@pytest.mark.parametrize("chunk", [1, 90, 1 << 18])
def test_a_kept_column_does_not_depend_on_chunking(monkeypatch, chunk):
    """Its values are those of the response in each decoder, without mixed types."""
    monkeypatch.setattr(table_reader, "CHUNK_BYTES", chunk)
    monkeypatch.setattr(table_reader, "CHUNK_COLUMN_BYTES", 1)
    schema = build_schema(
        "scalar Decimal scalar BigInt type Query { rows: [Row] } "
        "type Row { price: Decimal big: BigInt score: Float }"
    )
    document = Document.parse("{ rows { price big score } }", schema)
    rows = [{"price": "1.50", "big": "7", "score": 1}, {"price": "zz", "big": {}, "score": "x"}]
    data = {"rows": [rows[0], rows[1], rows[0]]}
    here = Result(data, document=document)
    there = Result.from_bytes(json.dumps({"data": data}).encode(), document)
    frame = there.frame(strict=False)
    assert frame.to_dict("records") == data["rows"]
    pd.testing.assert_frame_equal(frame, here.frame(strict=False))
    table = there.arrow(strict=False)
    assert table.equals(here.arrow(strict=False))
    assert table.to_pydict() == {
        "price": ["1.50", "zz", "1.50"],
        "big": ["7", "{}", "7"],
        "score": ["1", "x", "1"],
    }
    assert {str(field.type) for field in table.schema} == {"large_string"}
