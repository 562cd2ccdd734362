"""Record and replay; remember answers; mock a schema."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import gqlnb
from gqlnb import Client, Schema

with gqlnb.recorded(Path("answers.jsonl"), mode="replay") as recording:
    client = Client("github", recording=recording)
    assert_type(recording.path, Path)
assert_type(gqlnb.connect("demo", recording="answers.jsonl", mode="auto"), Client)
with gqlnb.cached("7d"):
    client.frame("{ viewer { login } }")
mock = Schema.mock("schema.graphql", seed=3, nulls=0.5)
assert_type(mock, Schema)
Schema.mock("schema.graphql", nuls=0.5)  # type: ignore[call-arg]
gqlnb.recorded("answers.jsonl", mode="play")  # type: ignore[arg-type]
gqlnb.connect("demo", recording="answers.jsonl", mode="play")  # type: ignore[arg-type]
