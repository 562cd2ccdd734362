"""Limits: bounds that are bounds."""

from __future__ import annotations

from dataclasses import fields

import pytest

from gqlnb.document.limits import Limits
from gqlnb.errors import OptionError

NAMES = [field.name for field in fields(Limits)]


@pytest.mark.parametrize("name", NAMES)
def test_each_can_be_switched_off(name: str) -> None:
    """None stands for no bound."""
    assert getattr(Limits(**{name: None}), name) is None


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [0, -1, "many", True, float("nan")])
def test_what_is_no_bound_is_refused(name: str, value: object) -> None:
    """The message names the limit and what it got."""
    with pytest.raises(OptionError, match=rf"Limits\({name}=.*{value!r}"):
        Limits(**{name: value})  # type: ignore[arg-type]
