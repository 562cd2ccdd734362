"""Recordings of earlier releases are replayed."""

from pathlib import Path

import gqlnb

RECORDING = Path(__file__).with_name("recording_v1.jsonl")
QUERY = "{ rows { id price when } }"


def test_a_recording_of_version_1_is_replayed():
    """Schema, data and dtypes are read from a file of the first format."""
    with gqlnb.Client("https://api.example.com/graphql", recording=RECORDING, mode="replay") as it:
        frame = it.frame(QUERY)
    assert frame.dtypes.astype(str).to_dict() == {
        "id": "string",
        "price": "Float64",
        "when": "datetime64[us, UTC]",
    }
    assert frame["id"].tolist() == ["1", "2"]
    assert frame["price"].isna().tolist() == [False, True]
