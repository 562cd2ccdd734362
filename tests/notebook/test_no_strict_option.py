"""``--no-strict``: values that do not fit their column, in a real shell."""

import pandas as pd
import pytest

import gqlnb
from tests.notebook.cells import failure, run

CELL = "%%graphql api {}\n{{ rows {{ n }} }}"


@pytest.fixture
def odd(shell):
    """Return a shell with a schema of which one value does not fit."""
    schema = gqlnb.Schema(
        "type Query { rows: [Row] } type Row { n: PositiveInt } scalar PositiveInt",
        {"Query": {"rows": lambda *_: [{"n": 1}, {"n": "many"}]}},
    )
    shell.user_ns["api"] = schema
    return shell


@pytest.mark.parametrize("kind", ["frame", "arrow", "polars"])
def test_no_strict_keeps_values_that_do_not_fit_their_type(odd, kind):
    """Without the option the error names it; for each typed kind of value."""
    said = failure(odd, CELL.format(f"-q -t {kind} -o got"))
    assert "row 1 is 'many'" in said
    assert "Add --no-strict to keep values of other types unchanged." in said
    run(odd, CELL.format(f"-q -t {kind} --no-strict -o got"))
    got = odd.user_ns["got"]
    values = got["n"].to_pylist() if kind == "arrow" else list(got["n"])
    assert values in ([1, "many"], ["1", "many"])


def test_no_strict_applies_to_frames(odd):
    """Frames are built later, on access."""
    run(odd, CELL.format("-q -t frames --no-strict -o got"))
    assert odd.user_ns["got"]["rows"]["n"].tolist() == [1, "many"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_no_strict_writes_files_with_all_values(odd, suffix, tmp_path):
    """Without the option no file is written."""
    path = tmp_path / f"rows.{suffix}"
    assert "Add --no-strict" in failure(odd, CELL.format(f"-q --export-to {path}"))
    assert not path.exists()
    run(odd, CELL.format(f"-q --no-strict --export-to {path}"))
    read = pd.read_csv if suffix == "csv" else pd.read_parquet
    assert read(path)["n"].astype(str).tolist() == ["1", "many"]
