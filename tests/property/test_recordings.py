"""Whatever is asked and answered comes back from a recording, and no secret with it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from gqlnb import Client, Schema, Token
from gqlnb.client.recording.cassette import mask_secrets
from gqlnb.redact import find_secrets, replace_secrets, widen_to_json_values

SDL = "type Query { a(b: JSON, c: JSON): JSON }\nscalar JSON"
SECRET = "s3cret/+-Zq"
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3)
)
KEYS = ("authorization", "api-key", "Bearer ", "?token=")
WORDS = st.sampled_from([*KEYS, SECRET, 12345678, "12345678a", "\\", '"', "a"])
LEAKY = st.recursive(
    WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS.map(str), inner, max_size=3),
)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=4))
def test_recorded_responses_are_replayed(asked):
    """Any values, including several responses to one request, in order."""
    answers = iter([answer for _, answer in asked])
    text = "query ($b: JSON) { a(b: $b) }"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "it.jsonl")
        schema = Schema(SDL, {"Query": {"a": lambda *_: next(answers)}})
        client = Client(schema, recording=path, mode="record")
        live = [client.execute(text, {"b": value}).data for value, _ in asked]
        client.close()
        again = Client(Schema(SDL), recording=path, mode="replay")
        assert [again.execute(text, {"b": value}).data for value, _ in asked] == live


@settings(deadline=None, max_examples=300)
@given(LEAKY)
def test_redacted_json_is_valid_json(value):
    """With secrets in keys, strings and numbers at any position."""
    token = Token(SECRET)
    text = json.dumps(value, separators=(",", ":"))
    clean = json.loads(mask_secrets(text.encode()))
    assert SECRET not in json.dumps(clean)
    assert type(clean) is type(value) or clean == "***"
    masked, leaks = replace_secrets(text, widen_to_json_values(text, find_secrets(text)))
    json.loads(masked)
    assert bool(leaks) == (masked != text)
    assert token
