"""The variables of a cell: from names of the notebook, from options, and from controls."""

from __future__ import annotations

import difflib
import re
from collections import ChainMap
from collections.abc import Callable, Collection, Mapping, MutableMapping, Sequence, Sized
from dataclasses import replace
from functools import partial
from html import escape
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING, Any

import ipywidgets
from graphql import GraphQLEnumType, GraphQLInputObjectType, NamedTypeNode, NonNullTypeNode
from graphql.utilities import value_from_ast_untyped
from IPython.display import display
from ipywidgets import VBox

from gqlnb.document.document import format_variable_type
from gqlnb.document.variables import (
    bind_variables,
    check_variable_names,
    describe_unset,
    find_unset_variables,
)
from gqlnb.document.variables import check_variables as check_declared_variables
from gqlnb.errors import (
    GqlnbError,
    OptionError,
    Problem,
    QueryError,
    describe_exception,
    find_similar,
    sanitize_text,
    suggest,
)
from gqlnb.interactive import is_unattended
from gqlnb.notebook.display import Note, build_view_bundle
from gqlnb.notebook.magic_options import NAME
from gqlnb.result.renderer import wrap_html

if TYPE_CHECKING:
    from argparse import Namespace

    from graphql import VariableDefinitionNode

    from gqlnb.document.document import Document

CONTROL_STYLE = {"description_width": "initial"}
BUILT_IN = frozenset({"Int", "Float", "String", "Boolean", "ID"})
SIMILARITY_CUTOFF = 0.75  # of difflib: "only" and "onyl" have this, "name" and "names" more
PAGE_RANGE = (1, 100)  # of `first` and `last`: the usual limits of a page
LEAST_MAXIMUM = 10  # the smallest upper end of a slider
Scopes = tuple[dict[str, object], MutableMapping[str, object]]
MISSING_VARIABLE = re.compile(r"Variable '\$(\w+)' of required type '.*' was not provided\.")


def collect_variables(
    options: Namespace,
    document: Document,
    names: MutableMapping[str, object],
    *,
    by_name: bool,
    global_ns: dict[str, object],
) -> dict[str, object]:
    """Collect the Python values of a cell's variables.

    Parameters
    ----------
    options
        The options of the cell: ``--vars``, and ``--param``, which takes precedence.
    document
        The document that declares the variables.
    names
        The names that the cell sees.
    by_name
        Whether a name of the notebook is the value of the variable of that name.
    global_ns
        The globals of expressions.

    Raises
    ------
    OptionError
        If an option names no mapping, an expression fails, or ``--param`` sets a variable that the
        operation does not declare.
    """
    values = {name: names[name] for name in document.variables if name in names} if by_name else {}
    if options.vars is not None:
        values |= _read_variable_mapping(options.vars, names)
    if options.param:
        # In a function both scopes are one dict, since a comprehension only sees the globals.
        scopes: Scopes = (global_ns, names)
        if isinstance(names, ChainMap):
            merged = {**global_ns, **names}
            scopes = (merged, merged)
        params = _read_params(options.param, scopes)
        for name in params if document.is_parsed else ():
            if name not in document.variables:
                label = sanitize_text(name, 40)
                declared = ", ".join(f"${it}" for it in document.variables) or "no variables"
                similar = find_similar(name, document.variables)
                hint = f"Did you mean {similar}?" if similar else f"It declares {declared}."
                msg = f"--param {label}: the operation does not declare ${label}. {hint}"
                raise OptionError(msg)
            check_braces(name, params[name], document)
        values |= params
    return values


def describe_missing_values(
    document: Document, given: Collection[str], names: Mapping[str, object], hidden: Collection[str]
) -> tuple[list[str], bool]:
    """Return lines about optional variables without a value, and whether one may be misspelled.

    Parameters
    ----------
    document
        The document that declares the variables.
    given
        The variables that have a value.
    names
        The names that the cell sees; none if variables are not taken by name.
    hidden
        The names that IPython defines.

    Returns
    -------
    (list of str, bool)
        A line for each variable that resembles a name of the notebook, and one for the others. A
        default of the document is a value, unless there is such a name.
    """
    # Such a variable is left out of the request, and a filter without a value lets all rows pass.
    # The names of the notebook are only listed if a variable has no value, which is rare.
    unset = find_unset_variables(document, given)
    defaulted = [
        it for it, node in document.variables.items() if node.default_value and it not in given
    ]
    if not (unset or defaulted):
        return [], False
    own = [name for name in names if name[:1] != "_" and name not in hidden]
    lines = []
    for name in (*unset, *defaulted):
        node = document.variables[name]
        free = [it for it in own if it not in document.variables and is_plausible(names[it], node)]
        similar = find_similar(name, free, SIMILARITY_CUTOFF)
        if similar:
            before = (
                describe_unset([name])
                if name in unset
                else f"${name} has no value, so its default is used."
            )
            lines.append(
                f"{before} Did you mean {similar}? Rename one of them, or give -p {name}={similar}."
            )
            unset = [it for it in unset if it != name]
    is_doubtful = bool(lines)
    if unset:
        assignment = f"{unset[0]} = ... in a cell above, or " if names else ""
        lines.append(f"{describe_unset(unset)} To set it: {assignment}-p {unset[0]}=...")
    return lines, is_doubtful


def is_plausible(value: object, node: VariableDefinitionNode) -> bool:
    """Return whether a value may be meant for a variable: not a function, no list for a number."""
    if callable(value) or isinstance(value, ModuleType):
        return False
    scalar = isinstance(node.type, NamedTypeNode) and node.type.name.value in BUILT_IN
    return not scalar or isinstance(value, (str, bytes)) or not isinstance(value, Sized)


def check_variables(
    document: Document, given: Mapping[str, object], names: Mapping[str, object]
) -> dict[str, object]:
    """Check variables and convert them to JSON values.

    Raises
    ------
    QueryError
        If one is missing or does not fit; the message suggests a similar name of the notebook.
    """
    try:
        check_variable_names(document, given)
        values = bind_variables(document, given)
        check_declared_variables(document, values)
    except QueryError as error:
        error.problems = tuple(
            add_missing_variable_hint(problem, given, names) for problem in error.problems
        )
        raise
    return values


def add_missing_variable_hint(
    problem: Problem, given: Mapping[str, object], names: Mapping[str, object]
) -> Problem:
    """Add a hint to a problem about a missing variable."""
    match = MISSING_VARIABLE.fullmatch(problem.message)
    if match is None:
        return problem
    name = match[1]
    # Functions, private names and IPython's lists of inputs and outputs are hardly meant as values.
    own = [
        it for it in names if it[:1] != "_" and it not in {"In", "Out"} and not callable(names[it])
    ]
    near = difflib.get_close_matches(name, [*given, *own], 3)
    meant = f" Did you mean {' or '.join(dict.fromkeys(near))}?" if near else ""
    advice = f"Set it in the notebook: {name} = ..., or on the line: -p {name}=..."
    return replace(problem, hint=f"The notebook has no {name}.{meant} {advice}")


def check_braces(name: str, value: object, document: Document) -> None:
    """Refuse a set for a variable that is not a list: ``-p to={name}`` is not a template."""
    node = document.variables[name].type
    inner = node.type if isinstance(node, NonNullTypeNode) else node
    if isinstance(value, (set, frozenset)) and isinstance(inner, NamedTypeNode):
        msg = (
            f"--param {name}={{...}} is a Python set, because of the braces, and ${name} is not a "
            f"list. Write the expression without them: -p {name}=..."
        )
        raise OptionError(msg)


def _read_variable_mapping(name: str, names: Mapping[str, object]) -> dict[str, object]:
    value: Any = names.get(name)
    if not hasattr(value, "keys"):
        reason = "no such name" if name not in names else type(value).__name__
        hint = suggest(name, [it for it in names if hasattr(names[it], "keys")])
        msg = f"--vars takes the name of a mapping; {sanitize_text(name, 40)!r} is {reason}.{hint}"
        raise OptionError(msg)
    return dict(value)


def _read_params(params: Sequence[str], scopes: Scopes) -> dict[str, object]:
    values = {}
    for text in params:
        name, equals, expression = (part.strip() for part in text.partition("="))
        if not equals or not NAME.fullmatch(name):
            msg = (
                f"--param takes NAME=EXPRESSION without white space, other than in quotes or "
                f"brackets; got {sanitize_text(text, 40)!r}."
            )
            raise OptionError(msg)
        try:
            values[name] = eval(expression, *scopes)  # noqa: S307 - the user's own code
            continue
        except Exception as error:  # noqa: BLE001 - the user's own code
            reason = describe_exception(error)
        msg = f"--param {name}={sanitize_text(expression, 80)}: {reason}"
        raise OptionError(msg)
    return values


# Callbacks may arrive in any thread, and one while another one waits. Each brings the value of its
# own control, so that the last one to arrive sees them all.
class Interaction:
    """Controls with the answer below them.

    Parameters
    ----------
    controls
        The controls by the names of their variables.
    run
        Runs the operation with the values of the controls and returns the value to show.
    """

    def __init__(
        self, controls: Mapping[str, Any], run: Callable[[Mapping[str, object]], object]
    ) -> None:
        self.controls = controls
        self._run = run
        self._values = {name: control.value for name, control in controls.items()}
        self._lock = Lock()
        self._turn = 0
        self._handle: Any = None

    def show(self) -> None:
        """Run the operation once and show the controls with the answer.

        Raises
        ------
        GqlnbError
            If the operation fails with the initial values.
        """
        first = self._run(dict(self._values))
        text = ", ".join(f"${name} = {value!r}" for name, value in self._values.items())

        def get_view() -> dict[str, Any]:
            view: dict[str, Any] = VBox(list(self.controls.values()))._repr_mimebundle_()
            return view

        controls = build_view_bundle(get_view, text, wrap_html(f"<p>{escape(text)}</p>"))
        display(controls, raw=True)  # type: ignore[no-untyped-call]
        self._handle = display(first, display_id=True)  # type: ignore[no-untyped-call]
        for name, control in self.controls.items():
            control.observe(partial(self._on_change, name), names="value")

    def _on_change(self, name: str, change: Mapping[str, object]) -> None:
        self._values[name] = change["new"]
        self._turn += 1
        turn = self._turn
        with self._lock:
            if turn == self._turn:  # else a later change follows
                try:
                    output = self._run(dict(self._values))
                except GqlnbError as error:
                    output = Note(f"{type(error).__name__}: {error}".splitlines(), wrong=True)
                self._handle.update(output)


def require_query(option: str, document: Document) -> None:
    """Check that an operation may be run more than once.

    Raises
    ------
    OptionError
        If it is not a query.
    """
    if document.kind != "query":
        msg = (
            f"{option} may send an operation several times, so it accepts a query, not a "
            f"{document.kind}."
        )
        raise OptionError(msg)


def check_interact_variables(document: Document, controlled: Sequence[str]) -> None:
    """Check that an operation is a query and declares the variables of ``--interact``.

    Raises
    ------
    OptionError
        If it is not, or does not declare one of them.
    """
    require_query("--interact", document)
    for name in controlled:
        if name not in document.variables:
            if not NAME.fullmatch(name):
                word = re.match(r"\$?(\w*)", name)[1] or "n"  # type: ignore[index]
                msg = (
                    f"--interact {sanitize_text(name, 40)}: give the name of a variable alone. Its "
                    f"range or its choices are a value of the notebook: {word} = (1, 50) for a "
                    f"slider, {word} = ['a', 'b'] for a list; then --interact {word}."
                )
                raise OptionError(msg)
            listed = f" Declared: {', '.join(document.variables) or 'none'}."
            msg = (
                f"--interact {sanitize_text(name, 40)}: the operation declares no such variable."
                f"{suggest(name, document.variables) or listed}"
            )
            raise OptionError(msg)


def build_control(document: Document, name: str, given: object) -> object:
    """Build the control of one variable.

    Parameters
    ----------
    document
        The document that declares the variable.
    name
        Its name, without the ``$``.
    given
        The value of the notebook: the initial value; a tuple ``(lowest, highest)`` or ``(lowest,
        highest, step)`` for the range of a slider; a list or a mapping of values to choose from.

    Returns
    -------
    ipywidgets.DOMWidget
        Typed as Any: ipywidgets has no types.

    Raises
    ------
    OptionError
        If there is no control for the variable's type.
    """
    node = document.variables[name]
    kind = node.type.type if isinstance(node.type, NonNullTypeNode) else node.type
    type_name = kind.name.value if isinstance(kind, NamedTypeNode) else None
    known = None
    if document.schema is not None and type_name is not None:
        known = document.schema.type_map.get(type_name)
    if type_name is None or isinstance(known, GraphQLInputObjectType):
        declared = format_variable_type(node)
        msg = f"--interact {name}: there is no control for a variable of type {declared}."
        raise OptionError(msg)
    if given is None and node.default_value is not None:
        given = value_from_ast_untyped(node.default_value)
    # Without a view there is no comm and no style, whose state would be saved with the notebook.
    common: dict[str, object] = {"description": f"${name}"}
    if is_unattended():
        from comm import DummyComm  # not in xeus-python, which has a `comm` of its own

        common["comm"] = DummyComm()
    else:
        common["style"] = CONTROL_STYLE
    if isinstance(given, (list, Mapping)):
        return ipywidgets.Dropdown(options=given, **common)
    if isinstance(known, GraphQLEnumType):
        selected = getattr(given, "name", given)
        options = list(known.values)
        value = selected if selected in options else options[0]
        return ipywidgets.Dropdown(options=options, value=value, **common)
    if type_name == "Boolean":
        return ipywidgets.Checkbox(value=bool(given), **common)
    common["continuous_update"] = False
    if type_name in {"Int", "Float"}:
        return build_slider(type_name, name, given, common)
    return ipywidgets.Text(value="" if given is None else str(given), **common)


def build_slider(
    kind: str,
    name: str,
    given: Any,  # noqa: ANN401 - any value of the notebook that int() or float() takes
    common: Mapping[str, object],
) -> object:
    """Build the slider of a number: of a given range, else around the given value."""
    slider = ipywidgets.IntSlider if kind == "Int" else ipywidgets.FloatSlider
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
    return slider(value=value, min=lowest, max=highest, **more, **common)
