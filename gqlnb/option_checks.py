"""Checks of the values of options, with one message each."""

from __future__ import annotations

import operator
from numbers import Real
from typing import NoReturn, SupportsIndex, cast

from gqlnb.errors import OptionError, sanitize_text

__all__ = [
    "check_boolean",
    "check_share",
    "check_whole_number",
    "raise_option_error",
    "read_whole_number",
]


def read_whole_number(value: object) -> int | None:
    """Return the value of an integer, also of NumPy and pandas; None for any other object."""
    try:
        return None if isinstance(value, bool) else operator.index(cast(SupportsIndex, value))
    except TypeError:
        return None


def check_whole_number(
    name: str, value: object, *, least: int = 0, most: int | None = None, or_none: bool = False
) -> int:
    """Return an option that is a whole number within bounds, or raise OptionError.

    Parameters
    ----------
    name, value
        The option.
    least, most
        The bounds, both included; None for no upper one.
    or_none
        Whether the option may be None too, which the caller has handled; for the message.
    """
    number = read_whole_number(value)
    if number is None or number < least or (most is not None and number > most):
        upto = "up" if most is None else f"to {most:,}"
        bounds = "above 0" if least == 1 and most is None else f"from {least:,} {upto}"
        raise_option_error(name, value, f"a whole number {bounds}{', or None' if or_none else ''}")
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


def raise_option_error(name: str, value: object, expected: str, *, owner: str = "") -> NoReturn:
    """Raise an OptionError with the name of an option, its valid values, and the value given.

    Parameters
    ----------
    name, value, expected
        The option, and a noun phrase for its valid values.
    owner
        The class that takes the option, for those whose instances are options themselves.
    """
    option = f"{owner}({name}=...)" if owner else f"{name}="
    message = f"{option} takes {expected}; got {sanitize_text(repr(value), 80)}."
    raise OptionError(message)
