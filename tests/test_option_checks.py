"""Tests of the checks of the values of options."""

from __future__ import annotations

import numpy as np
import pytest

from gqlnb.errors import OptionError
from gqlnb.option_checks import check_whole_number, raise_option_error, read_whole_number


@pytest.mark.parametrize(
    ("value", "number"), [(3, 3), (np.int64(3), 3), (True, None), (3.0, None), ("3", None)]
)
def test_only_integers_are_whole_numbers(value, number):
    """NumPy's are; booleans, floats and text are not."""
    assert read_whole_number(value) == number


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ({}, "from 0 up"),
        ({"least": 1}, "above 0"),
        ({"least": 1, "or_none": True}, "above 0, or None"),
        ({"least": 1, "most": 2_000}, "from 1 to 2,000"),
    ],
)
def test_the_message_has_the_bounds(bounds, text):
    """And the value."""
    with pytest.raises(OptionError) as caught:
        check_whole_number("n", -1, **bounds)
    assert str(caught.value) == f"n= takes a whole number {text}; got -1."
    assert check_whole_number("n", 2, **bounds) == 2


def test_the_message_names_the_class_of_an_option():
    """As it is written in a call."""
    with pytest.raises(OptionError, match=r"^Access\(page=\.\.\.\) takes True or False; got 'no'"):
        raise_option_error("page", "no", "True or False", owner="Access")
