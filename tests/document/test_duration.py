"""Lengths of time: texts of ISO 8601 and Python's objects are the same nanoseconds."""

import datetime

import numpy as np
import pandas as pd
import pytest

from gqlnb.document import scalar_values


@pytest.mark.parametrize(
    ("value", "nanoseconds"),
    [
        ("PT90S", 90 * 10**9),
        ("P1DT2H3M4.5S", 93_784_500_000_000),
        ("-P1W", -7 * 86_400 * 10**9),
        ("+PT0,000000001S", 1),
        (datetime.timedelta(days=-1, microseconds=1), -86_400 * 10**9 + 1000),
        (pd.Timedelta(-1501, "ns"), -1501),
        (np.timedelta64(-1501, "ns"), -1501),
        (np.timedelta64(10**12, "s"), 10**21),
    ],
)
def test_durations_are_exact_in_nanoseconds(value, nanoseconds):
    """Also beyond 64 bits; the text form is parsed to an equal value."""
    assert scalar_values.to_nanoseconds(value) == nanoseconds
    assert scalar_values.parse_duration(scalar_values.format_duration(nanoseconds)) == nanoseconds


@pytest.mark.parametrize("value", ["", "P", "PT", "P1M", "P1Y", "90", "PT1.0000000001S", "P1D "])
def test_a_duration_without_a_fixed_length_is_refused(value):
    """A month and a year have none."""
    with pytest.raises(ValueError, match=r"^$"):
        scalar_values.to_nanoseconds(value)


@pytest.mark.parametrize("value", [90, 1.5, None, datetime.time(1), np.int64(5)])
def test_a_number_is_not_a_duration(value):
    """Its unit would be a guess."""
    with pytest.raises(TypeError):
        scalar_values.to_nanoseconds(value)
