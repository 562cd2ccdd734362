"""Options of the stand-in, checked where they are given."""

from __future__ import annotations

import operator
from numbers import Real
from typing import Any, NoReturn

from gqlnb.errors import OptionError, sanitize_text

__all__ = ["check_boolean", "check_share", "check_whole_number", "raise_option_error"]


def check_whole_number(name: str, value: Any, *, least: int = 0, most: int | None = None) -> int:
    """Return an option that is a whole number, of whatever library, within bounds.

    Raises
    ------
    OptionError
        If it is none, or out of them; the message names the option and shows the value.
    """
    upto = "up" if most is None else f"to {most:,}"
    try:
        number = least - 1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = least - 1
    if number < least or (most is not None and number > most):
        raise_option_error(name, value, f"a whole number from {least:,} {upto}")
    return number


def check_share(name: str, value: Any) -> float:
    """Return an option that is a share, 0 to 1.

    Raises
    ------
    OptionError
        If it is none; the message names the option and shows the value.
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise_option_error(name, value, "a share, which is a number from 0 to 1")
    return float(value)


def check_boolean(name: str, value: Any) -> bool:
    """Return an option that is on or off.

    Raises
    ------
    OptionError
        If it is neither; the message names the option and shows the value.
    """
    if not isinstance(value, bool):
        raise_option_error(name, value, "True or False")
    return value


def raise_option_error(name: str, value: Any, right: str) -> NoReturn:
    """Raise the error that says what an option takes.

    Raises
    ------
    OptionError
        Always.
    """
    message = f"{name}= takes {right}; got {sanitize_text(repr(value), 80)}."
    raise OptionError(message)
