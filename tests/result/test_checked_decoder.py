"""What an answer must hold, checked in two ways that agree."""

import json

import pytest
from graphql import build_schema
from hypothesis import given, settings
from hypothesis import strategies as st

from gqlnb.document.document import Document
from gqlnb.document.json_codec import load_json
from gqlnb.result.checked_decoder import SMALL_BODY, get_decoder, iter_misfits
from tests.examples import count_examples

SCHEMA = build_schema("""
directive @defer on FRAGMENT_SPREAD | INLINE_FRAGMENT
type Query { node: Node nodes: [[Node!]]! any: Thing item: Item! n: Int! names: [String] }
union Thing = Item | Other
interface Node { id: ID! }
interface Sized { size: Float }
type Item implements Node & Sized { id: ID! size: Float kind: Kind! next: Item owner: Other! }
type Other implements Node & Sized { id: ID! size: Float on: Boolean! next: Other free: Free }
enum Kind { A B }
scalar Free
""")
TEXTS = [
    "{ n names item { id kind next { size } } }",
    "{ node { id } any { __typename } }",
    "{ node { ... on Item { size kind } ... on Other { size on } } }",
    "{ node { __typename ... on Item { size kind } ... on Other { size on } } }",
    "{ nodes { id ... on Sized { size } ... on Item { owner { free } } } }",
    "{ any { ... on Node { id } ... on Item { kind } } }",
    "{ any { ...A ...B } } fragment A on Item { next { id } } fragment B on Item { next { size } }",
    "{ any { ... on Item { x: next { id } } ... on Other { x: next { size } } } }",
    "query ($s: Boolean!) { n @skip(if: $s) item { id @include(if: $s) kind } }",
    "{ class: n item { __typename def: id } }",
    '{ __type(name: "Item") { name fields { name type { kind ofType { name } } } } }',
    "{ node { ... on Item @defer { size kind } } }",
]
KEYS = ["id", "size", "kind", "on", "next", "x", "n", "names", "item", "__typename", "class", "def"]
LEAVES = st.sampled_from([None, True, 0, 2**70, 1.5, "text", "A", "Item", "Other", "New", []])
DATA = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner),
)


def shaped(shape, draw, level=0):
    """Draw data that fits a shape, but for a part here and there."""
    if draw(st.integers(0, 60)) == 0:
        return draw(DATA)
    if shape.is_nullable_at(level) and draw(st.integers(0, 6)) == 0:
        return None
    if level < shape.lists:
        return [shaped(shape, draw, level + 1) for _ in range(draw(st.integers(0, 3)))]
    if shape.composite:
        chosen = set()
        for names in shape.fragments.values():
            chosen |= names if draw(st.booleans()) else set()
        made = {
            name: shaped(child, draw)
            for name, child in shape.children.items()
            if child.is_required or name in chosen
        }
        if "__typename" in made:
            made["__typename"] = draw(st.sampled_from(["Item", "Other", "New"]))
        return made
    if shape.json_types is None:
        return draw(DATA)
    values = {str: "A", int: 5, float: 0.5, bool: True}
    return values[draw(st.sampled_from(sorted(shape.json_types, key=str)))]


def known(shape, value, level=0):
    """Return a value without the members that were not asked for."""
    if isinstance(value, list) and level < shape.lists:
        return [known(shape, item, level + 1) for item in value]
    if isinstance(value, dict) and shape.composite:
        return {n: known(child, value[n]) for n, child in shape.children.items() if n in value}
    return value


@pytest.mark.parametrize("text", TEXTS)
@settings(max_examples=count_examples(150))
@given(data=st.data(), skip=st.booleans())
def test_typed_and_untyped_decoding_agree(text, data, skip):
    """Typed decoding succeeds exactly if there is no misfit, with equal values."""
    typed = get_decoder(Document.parse(text, SCHEMA), {"s": skip})
    made = shaped(typed.shape, data.draw)
    body = (
        json.dumps({"data": made}).encode() + b" " * SMALL_BODY
    )  # small first answers are not decoded
    members = typed.decode_response(body)
    found = list(iter_misfits(typed.shape, made))
    assert (members is None) == (made is None or found != [])
    if members is not None:
        assert members == {"data": known(typed.shape, made)}


def test_typed_decoding_equals_json_decoding():
    """Exact integers, no conversion between types, errors and extensions included."""
    typed = get_decoder(Document.parse("{ n item { size kind } }", SCHEMA), {})
    members = {
        "data": {"n": 2**70, "item": {"size": 3, "kind": "NEW"}},
        "errors": [{"message": "m", "path": ["a", 1]}],
        "extensions": {"cost": 1},
    }
    body = json.dumps(members).encode() + b" " * SMALL_BODY
    assert typed.decode_response(body) == members
    assert type(typed.decode_response(body)["data"]["item"]["size"]) is int
    assert typed.decode_response(b"\xef\xbb\xbf" + body) == members


@pytest.mark.parametrize(
    "body",
    [
        b'{"data": {"n": 1, "left out": "\xff"}}',
        b'{"data": {"n": 1}',
        b'{"data": {"n": NaN}}',
        b'{"data": null}',
        b'{"errors": []}',
        b'{"data": {"n": 1}, "errors": {}}',
        b"[]",
        b'{"data": {"n": 1}} {"data": {"n": 1}}',
        b'{"data": {"n": 1, "x": ' + b"[" * 9999,
    ],
)
def test_responses_that_do_not_match_are_left_to_the_untyped_decoder(body):
    """Including bad UTF-8 in fields that were not selected."""
    typed = get_decoder(Document.parse("{ n }", SCHEMA), {})
    assert typed.decode_response(b" " * SMALL_BODY + body) is None


def test_a_default_decides_like_a_value():
    """A variable that was not given has its default; one that is unknown leaves both open."""
    text = "query ($s: Boolean = true) { n @skip(if: $s) names }"
    document = Document.parse(text, SCHEMA)
    assert list(get_decoder(document, {}).shape.children) == ["names"]
    found = get_decoder(document, {"s": False}).shape.children
    assert {name: child.is_required for name, child in found.items()} == {"n": True, "names": True}
    found = get_decoder(document, {"s": None}).shape.children
    assert {name: child.is_required for name, child in found.items()} == {"n": False, "names": True}
    assert get_decoder(document, {}) is get_decoder(document, {"s": True})


def test_misfits_contain_types_and_no_values():
    """A value could be anything."""
    typed = get_decoder(Document.parse("{ n names }", SCHEMA), {})
    (found,) = iter_misfits(typed.shape, load_json(b'{"n": "canary", "names": null}'))
    assert found == (("n",), "Int!", "text", False)
