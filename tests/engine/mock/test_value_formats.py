"""Mocks of every scalar that is known by name are values that frames take."""

import warnings

import pytest

import gqlnb
from gqlnb.document.scalars import KNOWN_SCALARS

FIVE = {"Int", "Float", "Boolean", "String", "ID"}


def test_mocked_values_fit_their_columns():
    """Of every scalar, without a warning, and with the dtype of an empty column."""
    names = sorted(set(KNOWN_SCALARS) - FIVE)
    sdl = "type Query { rows: [Row!]! } type Row {" + " ".join(f"{it}_: {it}" for it in names) + "}"
    sdl += " ".join(f"scalar {name}" for name in names)
    text = f"{{ rows {{ {' '.join(f'{name}_' for name in names)} }} }}"
    for seed in (1, 2):
        result = gqlnb.Schema.mock(sdl, seed=seed, lengths=(20, 20)).execute(text)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            frame = result.frame()
            result.arrow()
        empty = gqlnb.Result({"rows": []}, document=result.document).frame()
        for name in names:
            column = frame[f"{name}_"]
            is_span = KNOWN_SCALARS[name].arrow == "span"
            assert column.dtype == ("timedelta64[us]" if is_span else empty[f"{name}_"].dtype), name
            assert column.notna().any() == (name != "Void")


@pytest.mark.parametrize(
    ("definition", "dtype"),
    [
        ('scalar When @specifiedBy(url: "https://scalars.graphql.org/andimarek/date-time")',
         "datetime64[us, UTC]"),
        ('"Time represented in ISO 8601. For example: \\"2021-03-09T14:58:50+00:00\\"" scalar Time',
         "datetime64[us, UTC]"),
        ('"Duration, represented as a fractional number of seconds" scalar Duration',
         "timedelta64[us]"),
        ('"The number of milliseconds from start of UNIX epoch." scalar Timestamp',
         "datetime64[us, UTC]"),
    ],
)  # fmt: skip
def test_specifiedby_and_descriptions_determine_mocked_scalars(definition, dtype):
    """As they do for frames."""
    name = definition.partition(" @")[0].rpartition("scalar ")[2]
    sdl = f"{definition} type Query {{ rows: [Row!]! }} type Row {{ value: {name} }}"
    frame = gqlnb.Schema.mock(sdl, lengths=(20, 20)).execute("{ rows { value } }").frame()
    assert frame["value"].dtype == dtype
    assert frame["value"].notna().any()
