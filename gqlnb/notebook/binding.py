"""The variables of a cell: from the names of the notebook, and from its options."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gqlnb.errors import OptionError, Problem, QueryError, blame, plain
from gqlnb.notebook.options import NAME

if TYPE_CHECKING:
    from argparse import Namespace

    from IPython.core.interactiveshell import InteractiveShell

    from gqlnb.model.document import Document

__all__ = ["checked", "gathered"]

MISSING = re.compile(r"Variable '\$(\w+)' of required type '.*' was not provided\.")


def gathered(
    options: Namespace, document: Document, shell: InteractiveShell, *, by_name: bool
) -> dict[str, Any]:
    """Return the Python values of a cell's variables.

    Parameters
    ----------
    options
        Those of the cell: ``--vars``, and ``--param``, which goes before it.
    document
        What declares them.
    shell
        Whose names they are.
    by_name
        Whether a name of the notebook is a variable's value, without being told to.

    Raises
    ------
    OptionError
        If an option holds no mapping, or an expression that fails.
    """
    names = shell.user_ns
    found = {name: names[name] for name in document.variables if name in names} if by_name else {}
    return found | mapping(options.vars, names) | params(options.param, shell)


def checked(document: Document, given: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    """Return the JSON-like values of variables.

    Raises
    ------
    QueryError
        If one is missing or does not fit; where the notebook has a name that is like a missing
        one, it is told.
    """
    from gqlnb.model.variables import bind, check

    try:
        values = bind(document, given)
        check(document, values)
    except QueryError as error:
        error.problems = tuple(hinted(problem, given, names) for problem in error.problems)
        raise
    return values


def hinted(problem: Problem, given: Mapping[str, Any], names: Mapping[str, Any]) -> Problem:
    """Return a problem with what to do about a variable that is missing."""
    match = MISSING.fullmatch(problem.message)
    if match is None:
        return problem
    name = match[1]
    mine = [it for it in names if it[:1] != "_" and not callable(names[it])]
    near = difflib.get_close_matches(name, [*given, *mine], 3)
    meant = f" Did you mean {' or '.join(dict.fromkeys(near))}?" if near else ""
    advice = f"Set it in the notebook: {name} = ..., or on the line: -p {name}=..."
    return replace(problem, hint=f"The notebook has no {name}.{meant} {advice}")


def mapping(name: str | None, names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of a mapping of the notebook.

    Raises
    ------
    OptionError
        If there is no mapping of that name.
    """
    if name is None:
        return {}
    value: Any = names.get(name)
    if not hasattr(value, "keys"):
        found = "no such name" if name not in names else type(value).__name__
        near = difflib.get_close_matches(name, [n for n in names if hasattr(names[n], "keys")], 1)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        msg = f"--vars takes the name of a mapping; {plain(name, 40)!r} is {found}.{meant}"
        raise OptionError(msg)
    return dict(value)


def params(given: list[str], shell: InteractiveShell) -> dict[str, Any]:
    """Return the variables of ``--param``.

    Raises
    ------
    OptionError
        If one is no ``NAME=EXPRESSION``, or the expression fails.
    """
    found = {}
    for text in given:
        name, equals, expression = text.partition("=")
        if not equals or not NAME.fullmatch(name.strip()):
            msg = (
                f"--param takes NAME=EXPRESSION without white space, other than in quotes or "
                f"brackets; got {plain(text, 40)!r}."
            )
            raise OptionError(msg)
        found[name.strip()] = value(name.strip(), expression.strip(), shell)
    return found


def value(name: str, expression: str, shell: InteractiveShell) -> Any:
    """Return the value of an expression of the user's.

    Raises
    ------
    OptionError
        If it fails.
    """
    try:
        return eval(expression, shell.user_global_ns, shell.user_ns)  # noqa: S307 - the user's own code
    except Exception as error:  # whatever the user's code raises
        reason = blame(error)
    msg = f"--param {name}={plain(expression, 80)}: {reason}"
    raise OptionError(msg)
