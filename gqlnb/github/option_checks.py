"""Checks of the options of stand-ins and harvests."""

from __future__ import annotations

import operator
from numbers import Real
from typing import NoReturn, SupportsIndex, cast

from gqlnb.errors import OptionError, sanitize_text

__all__ = ["check_boolean", "check_share", "check_whole_number", "raise_option_error"]


def check_whole_number(name: str, value: object, *, least: int = 0, most: int | None = None) -> int:
    """Return an option that is a whole number within bounds, or raise OptionError."""
    # operator.index takes the integers of NumPy and pandas too, and no floats.
    upto = "up" if most is None else f"to {most:,}"
    try:
        number = (
            least - 1 if isinstance(value, bool) else operator.index(cast(SupportsIndex, value))
        )
    except TypeError:
        number = least - 1
    if number < least or (most is not None and number > most):
        raise_option_error(name, value, f"a whole number from {least:,} {upto}")
    return number


def check_share(name: str, value: object) -> float:
    """Return an option that is a number from 0 to 1, or raise OptionError."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise_option_error(name, value, "a share, which is a number from 0 to 1")
    return float(value)


def check_boolean(name: str, value: object) -> bool:
    """Return an option that is True or False, or raise OptionError."""
    if not isinstance(value, bool):
        raise_option_error(name, value, "True or False")
    return value


def raise_option_error(name: str, value: object, expected: str) -> NoReturn:
    """Raise an OptionError with the name of an option, its valid values, and the value given."""
    message = f"{name}= takes {expected}; got {sanitize_text(repr(value), 80)}."
    raise OptionError(message)
