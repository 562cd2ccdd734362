"""The variables of a cell: from the names of the notebook, and from its options."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, MutableMapping, Sized
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from graphql import NamedTypeNode, NonNullTypeNode

from gqlnb.errors import OptionError, Problem, QueryError, blame, plain
from gqlnb.notebook.options import NAME
from gqlnb.notebook.scope import evaluation_names

if TYPE_CHECKING:
    from argparse import Namespace

    from graphql import VariableDefinitionNode

    from gqlnb.model.document import Document

__all__ = ["checked", "gathered", "hinted", "similar_names"]

BUILT_IN = frozenset({"Int", "Float", "String", "Boolean", "ID"})
SIMILAR = 0.75  # of difflib: "only" for "onyl" has this, "name" for "names" more
Scopes = tuple[dict[str, Any], MutableMapping[str, Any]]
MISSING = re.compile(r"Variable '\$(\w+)' of required type '.*' was not provided\.")


def gathered(
    options: Namespace,
    document: Document,
    names: MutableMapping[str, Any],
    *,
    by_name: bool,
    global_ns: dict[str, Any],
) -> dict[str, Any]:
    """Return the Python values of a cell's variables.

    Parameters
    ----------
    options
        Those of the cell: ``--vars``, and ``--param``, which goes before it.
    document
        What declares them.
    names
        The names that the cell sees.
    by_name
        Whether a name of the notebook is a variable's value, without being told to.
    global_ns
        The globals that expressions see.

    Raises
    ------
    OptionError
        If an option holds no mapping, or an expression that fails, or a variable that the
        operation does not declare.
    """
    found = {name: names[name] for name in document.variables if name in names} if by_name else {}
    given = params(options.param, evaluation_names(global_ns, names))
    for name in given:
        if name not in document.variables:
            refuse_param(name, document)
    return found | mapping(options.vars, names) | given


def refuse_param(name: str, document: Document) -> NoReturn:
    """Refuse a value for a variable that is not declared.

    Raises
    ------
    OptionError
        Always.
    """
    near = difflib.get_close_matches(name, document.variables, 1)
    listed = ", ".join(f"${it}" for it in document.variables) or "no variables"
    meant = f"Did you mean {near[0]}?" if near else f"It declares {listed}."
    msg = f"--param {plain(name, 40)}: the operation does not declare ${plain(name, 40)}. {meant}"
    raise OptionError(msg)


def similar_names(
    document: Document,
    given: Collection[str],
    names: Mapping[str, Any],
    hidden: Collection[str],
) -> list[str]:
    """Return a line for each optional variable without a value whose name is like one there is.

    Such a variable is left out of the request, which a misspelled name is not meant to do.

    Parameters
    ----------
    document
        What declares the variables.
    given
        Those that have a value.
    names
        The names that the cell sees.
    hidden
        Those that IPython put there.
    """
    mine = [name for name in names if name[:1] != "_" and name not in hidden]
    lines = []
    for name, node in document.variables.items():
        if name in given or (isinstance(node.type, NonNullTypeNode) and not node.default_value):
            continue
        free = [it for it in mine if it not in document.variables and is_plausible(names[it], node)]
        near = difflib.get_close_matches(name, free, 1, SIMILAR)
        if near:
            instead = "its default is used" if node.default_value else "it is left out (null)"
            lines.append(
                f"${name} has no value, so {instead}. Did you mean {near[0]}? "
                f"Rename one of them, or give -p {name}={near[0]}."
            )
    return lines


def is_plausible(value: Any, node: VariableDefinitionNode) -> bool:
    """Return whether a value may be meant for a variable: no function, no list for a number."""
    if callable(value) or isinstance(value, ModuleType):
        return False
    scalar = isinstance(node.type, NamedTypeNode) and node.type.name.value in BUILT_IN
    return not scalar or isinstance(value, (str, bytes)) or not isinstance(value, Sized)


def checked(document: Document, given: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    """Return the JSON-like values of variables.

    Raises
    ------
    QueryError
        If one is missing or does not fit; where the notebook has a name that is like a missing
        one, it is told.
    """
    from gqlnb.model.variables import bind, check, check_names

    try:
        check_names(document, given)
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


def params(given: list[str], scopes: Scopes) -> dict[str, Any]:
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
        found[name.strip()] = value(name.strip(), expression.strip(), scopes)
    return found


def value(name: str, expression: str, scopes: Scopes) -> Any:
    """Return the value of an expression of the user's.

    Raises
    ------
    OptionError
        If it fails.
    """
    try:
        return eval(expression, *scopes)  # noqa: S307 - the user's own code
    except Exception as error:  # whatever the user's code raises
        reason = blame(error)
    msg = f"--param {name}={plain(expression, 80)}: {reason}"
    raise OptionError(msg)
