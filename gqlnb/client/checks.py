"""What a client looks at before it asks: targets, variables, and where a mistake was made."""

from __future__ import annotations

import difflib
import inspect
import os
import ssl
from dataclasses import replace
from math import isfinite
from numbers import Real
from operator import is_
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gqlnb.errors import PROBLEMS_SHOWN, KeywordError, QueryError, plain
from gqlnb.model.limits import Limits
from gqlnb.model.upload import is_file
from gqlnb.wire.json import faults

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["check_json", "check_keywords", "is_asgi", "locate", "unusable"]

KEYWORDS = ("token", "headers", "schema", "timeout", "limits", "verify", "recording", "mode")


def is_asgi(target: Any) -> bool:
    """Tell whether something is called as an ASGI application: (scope, receive, send)."""
    if not callable(target):
        return False
    called = target if inspect.isroutine(target) else target.__call__
    if not inspect.iscoroutinefunction(called):
        return False
    return len(inspect.signature(target).parameters) == 3


def check_json(variables: Mapping[str, Any]) -> bool:
    """Check that variables can be written as JSON, but for files, for every transport alike.

    Returns
    -------
    bool
        Whether there are files among them.

    Raises
    ------
    QueryError
        If one cannot: the message names the variable and the place in it, never the value.
    """
    files = False
    for name, value in variables.items():
        fault = next(faults(value, ()), None)
        if fault is not None:  # only then a look for files is worth its time
            rest = without_files(value)
            files, fault = files or rest is not value, next(faults(rest, ()), None)
        if fault is not None:
            msg = f"Variable '${name}': {fault}"
            raise QueryError(msg)
    return files


def without_files(value: Any) -> Any:
    """Return a value with null for each file in it; the very value where there is none."""
    if is_file(value):
        return None
    if isinstance(value, dict):
        made = {key: without_files(item) for key, item in value.items()}
        return value if all(made[key] is value[key] for key in made) else made
    if isinstance(value, list):
        rows = list(map(without_files, value))
        return value if all(map(is_, rows, value)) else rows
    return value


def check_keywords(function: str, given: Mapping[str, Any]) -> None:
    """Check that keyword arguments are options of a client.

    Raises
    ------
    KeywordError
        If one is not; the message names it, what it is like, and all that there are, no value.
    """
    unknown = [name for name in given if name not in KEYWORDS]
    if not unknown:
        return
    near = difflib.get_close_matches(unknown[0], KEYWORDS, 1)
    guess = f" Did you mean {near[0]}=?" if near else ""
    listed = ", ".join(f"{name}=" for name in KEYWORDS)
    msg = f"{function}() has no argument {plain(unknown[0], 40)}=.{guess} It takes {listed}."
    raise KeywordError(msg)


def locate(error: QueryError, whence: str) -> None:
    """Add to an error how the endpoint was chosen, where the caller did not name one."""
    if not whence:
        return
    said = f"Asked of {whence}."
    if not error.problems:
        error.args = (f"{error.args[0]} {said}",)
        return
    last = min(len(error.problems), PROBLEMS_SHOWN) - 1
    shown = error.problems[last]
    hint = f"{shown.hint}\n  {said}" if shown.hint else said
    error.problems = (
        *error.problems[:last],
        replace(shown, hint=hint),
        *error.problems[last + 1 :],
    )


def unusable(timeout: object, limits: object, verify: object) -> str:
    """Say what is wrong with options of a client; nothing if they can be used."""
    number = isinstance(timeout, Real) and not isinstance(timeout, bool)
    if not number or not isfinite(timeout) or timeout <= 0:  # type: ignore[arg-type, operator]
        return f"timeout= takes a number of seconds above 0, not {plain(repr(timeout), 40)}."
    if limits is not None and not isinstance(limits, Limits):
        return f"limits= takes Limits(answer=..., wait=...), not {type(limits).__name__}."
    if verify is None or isinstance(verify, (bool, ssl.SSLContext)):
        return ""
    if not isinstance(verify, (str, os.PathLike)):
        return (
            "verify= takes True, False, the path of a CA bundle or an ssl.SSLContext, not "
            f"{type(verify).__name__}."
        )
    return "" if Path(verify).exists() else f"verify= names no file: {plain(verify, 80)!r}."
