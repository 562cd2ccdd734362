"""Limits: bounds that are bounds."""

from __future__ import annotations

from dataclasses import fields

import pytest

from gqlnb.errors import OptionError
from gqlnb.limits import Limits

NAMES = [field.name for field in fields(Limits)]


@pytest.mark.parametrize("name", NAMES)
def test_each_limit_can_be_disabled(name):
    """With None."""
    assert getattr(Limits(**{name: None}), name) is None


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [0, -1, "many", True, float("nan")])
def test_an_invalid_limit_is_rejected(name, value):
    """The message has the name of the limit and the value."""
    with pytest.raises(OptionError, match=rf"Limits\({name}=.*{value!r}"):
        Limits(**{name: value})  # type: ignore[arg-type]
