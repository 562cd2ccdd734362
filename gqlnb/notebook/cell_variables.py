"""The variables of a cell: from the names of the notebook, and from its options."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Mapping, MutableMapping, Sequence, Sized
from dataclasses import replace
from functools import partial
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    ListTypeNode,
    NamedTypeNode,
    NonNullTypeNode,
)
from graphql.utilities import value_from_ast_untyped

from gqlnb.document.document import format_variable_type
from gqlnb.errors import (
    GqlnbError,
    OptionError,
    Problem,
    QueryError,
    describe_exception,
    sanitize_text,
)
from gqlnb.notebook.cell_errors import require_query
from gqlnb.notebook.display import Note
from gqlnb.notebook.magic_options import NAME
from gqlnb.notebook.namespace import build_evaluation_names

if TYPE_CHECKING:
    from argparse import Namespace

    from graphql import VariableDefinitionNode

    from gqlnb.document.document import Document

__all__ = [
    "Interaction",
    "add_missing_variable_hint",
    "build_controls",
    "check_interact_variables",
    "check_variables",
    "collect_variables",
    "suggest_similar_names",
]

BUILT_IN = frozenset({"Int", "Float", "String", "Boolean", "ID"})
SIMILARITY_CUTOFF = 0.75  # of difflib: "only" for "onyl" has this, "name" for "names" more
Scopes = tuple[dict[str, Any], MutableMapping[str, Any]]
MISSING_VARIABLE = re.compile(r"Variable '\$(\w+)' of required type '.*' was not provided\.")


def collect_variables(
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
    given = read_params(options.param, build_evaluation_names(global_ns, names))
    for name in given:
        if name not in document.variables:
            refuse_param(name, document)
    return found | read_variable_mapping(options.vars, names) | given


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
    msg = f"--param {sanitize_text(name, 40)}: the operation does not declare ${sanitize_text(name, 40)}. {meant}"
    raise OptionError(msg)


def suggest_similar_names(
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
        near = difflib.get_close_matches(name, free, 1, SIMILARITY_CUTOFF)
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


def check_variables(document: Document, given: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    """Return the JSON-like values of variables.

    Raises
    ------
    QueryError
        If one is missing or does not fit; where the notebook has a name that is like a missing
        one, it is told.
    """
    from gqlnb.document.variables import bind_variables, check_variable_names, check_variables

    try:
        check_variable_names(document, given)
        values = bind_variables(document, given)
        check_variables(document, values)
    except QueryError as error:
        error.problems = tuple(
            add_missing_variable_hint(problem, given, names) for problem in error.problems
        )
        raise
    return values


def add_missing_variable_hint(
    problem: Problem, given: Mapping[str, Any], names: Mapping[str, Any]
) -> Problem:
    """Return a problem with what to do about a variable that is missing."""
    match = MISSING_VARIABLE.fullmatch(problem.message)
    if match is None:
        return problem
    name = match[1]
    mine = [it for it in names if it[:1] != "_" and not callable(names[it])]
    near = difflib.get_close_matches(name, [*given, *mine], 3)
    meant = f" Did you mean {' or '.join(dict.fromkeys(near))}?" if near else ""
    advice = f"Set it in the notebook: {name} = ..., or on the line: -p {name}=..."
    return replace(problem, hint=f"The notebook has no {name}.{meant} {advice}")


def read_variable_mapping(name: str | None, names: Mapping[str, Any]) -> dict[str, Any]:
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
        msg = f"--vars takes the name of a mapping; {sanitize_text(name, 40)!r} is {found}.{meant}"
        raise OptionError(msg)
    return dict(value)


def read_params(given: list[str], scopes: Scopes) -> dict[str, Any]:
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
                f"brackets; got {sanitize_text(text, 40)!r}."
            )
            raise OptionError(msg)
        found[name.strip()] = evaluate_expression(name.strip(), expression.strip(), scopes)
    return found


def evaluate_expression(name: str, expression: str, scopes: Scopes) -> Any:
    """Return the value of an expression of the user's.

    Raises
    ------
    OptionError
        If it fails.
    """
    try:
        return eval(expression, *scopes)  # noqa: S307 - the user's own code
    except Exception as error:  # whatever the user's code raises
        reason = describe_exception(error)
    msg = f"--param {name}={sanitize_text(expression, 80)}: {reason}"
    raise OptionError(msg)


PAGE_RANGE = (1, 100)  # of `first` and `last`, by the usual limit of a page
LEAST_MAXIMUM = 10  # a slider goes at least this far


class Interaction:
    """Controls, and the answer below them.

    Callbacks may come in any thread, and one control's while another's waits: each brings the value
    of its own control, so that the last one to come has them all.

    Parameters
    ----------
    found
        The controls by the names of their variables.
    ask
        Runs the operation with the values of the controls and returns what to show.
    """

    def __init__(self, found: Mapping[str, Any], ask: Callable[[Mapping[str, Any]], Any]) -> None:
        self.controls = found
        self._ask = ask
        self._values = {name: control.value for name, control in found.items()}
        self._lock = Lock()
        self._turn = 0
        self._handle: Any = None

    def show(self) -> None:
        """Run once, and show the controls with the answer.

        Raises
        ------
        GqlnbError
            If the operation fails with the values that it begins with.
        """
        from IPython.display import display
        from ipywidgets import VBox

        first = self._ask(dict(self._values))
        display(VBox(list(self.controls.values())))  # type: ignore[no-untyped-call]
        self._handle = display(first, display_id=True)  # type: ignore[no-untyped-call]
        for name, control in self.controls.items():
            control.observe(partial(self._on_change, name), names="value")

    def _on_change(self, name: str, change: Mapping[str, Any]) -> None:
        self._values[name] = change["new"]
        self._turn += 1
        turn = self._turn
        with self._lock:
            if turn == self._turn:  # else a later change is on its way
                self._handle.update(self._run_query())

    def _run_query(self) -> Any:
        try:
            return self._ask(dict(self._values))
        except GqlnbError as error:
            return Note(f"{type(error).__name__}: {error}".splitlines(), wrong=True)


def check_interact_variables(document: Document, wanted: Sequence[str]) -> None:
    """Check that variables of an operation can be bound to controls.

    Raises
    ------
    OptionError
        If it changes something, or declares no such variable.
    """
    require_query("--interact", document)
    for name in wanted:
        if name not in document.variables:
            near = difflib.get_close_matches(name, document.variables, 1)
            known = ", ".join(document.variables) or "none"
            told = f"Did you mean {near[0]!r}?" if near else f"Declared: {known}."
            msg = f"--interact {sanitize_text(name, 40)}: the operation declares no such variable. {told}"
            raise OptionError(msg)


def build_controls(
    document: Document, wanted: Sequence[str], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a control for each variable.

    Parameters
    ----------
    document
        What declares them.
    wanted
        Their names, without the ``$``.
    given
        What the notebook holds under these names: a value to begin with; a tuple ``(lowest,
        highest)`` or ``(lowest, highest, step)`` for the range of a slider; a list or a mapping of
        values to choose from.

    Raises
    ------
    OptionError
        If there is no control for the type of one.
    """
    return {name: build_control(document, name, given.get(name)) for name in wanted}


def build_control(document: Document, name: str, given: Any) -> Any:
    """Return the control of one variable."""
    import ipywidgets

    node = document.variables[name]
    kind: Any = node.type.type if isinstance(node.type, NonNullTypeNode) else node.type
    known = None
    if document.schema is not None and not isinstance(kind, ListTypeNode):
        known = document.schema.type_map.get(kind.name.value)
    if isinstance(kind, ListTypeNode) or isinstance(known, GraphQLInputObjectType):
        msg = f"--interact {name}: there is no control for a variable of type {format_variable_type(node)}."
        raise OptionError(msg)
    if given is None and node.default_value is not None:
        given = value_from_ast_untyped(node.default_value)
    common = {"description": f"${name}", "style": {"description_width": "initial"}}
    if isinstance(given, (list, Mapping)):
        return ipywidgets.Dropdown(options=given, **common)
    if isinstance(known, GraphQLEnumType):
        chosen = getattr(given, "name", given)
        options = list(known.values)
        value = chosen if chosen in options else options[0]
        return ipywidgets.Dropdown(options=options, value=value, **common)
    return build_scalar_control(kind.name.value, name, given, common)


def build_scalar_control(kind: str, name: str, given: Any, common: Mapping[str, Any]) -> Any:
    """Return the control of a variable of a scalar type."""
    import ipywidgets

    if kind == "Boolean":
        return ipywidgets.Checkbox(value=bool(given), **common)
    if kind not in {"Int", "Float"}:
        text = "" if given is None else str(given)
        return ipywidgets.Text(value=text, continuous_update=False, **common)
    made = ipywidgets.IntSlider if kind == "Int" else ipywidgets.FloatSlider
    number = int if kind == "Int" else float
    if isinstance(given, tuple):
        lowest, highest, *step = map(number, given)
        value = number((lowest + highest) / 2)
    else:
        value = number(given if given is not None else 1)
        step = []
        lowest, highest = (
            PAGE_RANGE if name in {"first", "last"} else (min(0, 2 * value), 3 * value)
        )
        highest = max(number(highest), value, number(LEAST_MAXIMUM))
    more = {"step": step[0]} if step else {}
    return made(value=value, min=lowest, max=highest, continuous_update=False, **more, **common)
