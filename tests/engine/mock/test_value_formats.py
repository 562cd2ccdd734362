"""Mocks of every scalar that is known by name are values that frames take."""

import warnings

import pytest
from graphql.language import parse

import gqlnb
from gqlnb.document.scalars import KNOWN_SCALARS

FIVE = {"Int", "Float", "Boolean", "String", "ID"}


def schema_of(definition):
    """Return SDL with a list of rows that have one field of a scalar."""
    name = parse(definition).definitions[0].name.value
    return f"{definition} type Query {{ rows: [Row!]! }} type Row {{ value: {name} }}"


@pytest.mark.parametrize("name", sorted(set(KNOWN_SCALARS) - FIVE))
@pytest.mark.parametrize("seed", [1, 2])
def test_mocked_values_fit_their_column(name, seed):
    """Of every scalar, without a warning, and with the dtype of an empty column."""
    schema = gqlnb.Schema.mock(schema_of(f"scalar {name}"), seed=seed, lengths=(20, 20))
    result = schema.execute("{ rows { value } }")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = result.frame()
        result.arrow()
    empty = gqlnb.Result({"rows": []}, document=result.document).frame()
    kind = KNOWN_SCALARS[name]
    dtype = "timedelta64[us]" if kind.arrow == "span" else empty["value"].dtype
    assert frame["value"].dtype == dtype
    assert frame["value"].notna().any() == (name != "Void")


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
    schema = gqlnb.Schema.mock(schema_of(definition), lengths=(20, 20))
    frame = schema.execute("{ rows { value } }").frame()
    assert frame["value"].dtype == dtype
    assert frame["value"].notna().any()
