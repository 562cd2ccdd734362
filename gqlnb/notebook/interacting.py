"""``--interact``: a control for a variable; whenever it is moved the operation runs again."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

from graphql import GraphQLEnumType, GraphQLInputObjectType, ListTypeNode, NonNullTypeNode
from graphql.utilities import value_from_ast_untyped

from gqlnb.errors import GqlnbError, OptionError, plain
from gqlnb.model.document import type_text
from gqlnb.notebook.paging import only_queries
from gqlnb.notebook.shown import Note

if TYPE_CHECKING:
    from gqlnb.model.document import Document

__all__ = ["Interaction", "controls", "interactive"]

PAGE = (1, 100)  # of `first` and `last`, by the usual limit of a page
WIDE = 10  # a slider goes at least this far


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
            control.observe(partial(self._changed, name), names="value")

    def _changed(self, name: str, change: Mapping[str, Any]) -> None:
        self._values[name] = change["new"]
        self._turn += 1
        turn = self._turn
        with self._lock:
            if turn == self._turn:  # else a later change is on its way
                self._handle.update(self._answer())

    def _answer(self) -> Any:
        try:
            return self._ask(dict(self._values))
        except GqlnbError as error:
            return Note(f"{type(error).__name__}: {error}".splitlines(), wrong=True)


def interactive(document: Document, wanted: Sequence[str]) -> None:
    """Check that variables of an operation can be bound to controls.

    Raises
    ------
    OptionError
        If it changes something, or declares no such variable.
    """
    only_queries("--interact", document)
    for name in wanted:
        if name not in document.variables:
            near = difflib.get_close_matches(name, document.variables, 1)
            known = ", ".join(document.variables) or "none"
            told = f"Did you mean {near[0]!r}?" if near else f"Declared: {known}."
            msg = f"--interact {plain(name, 40)}: the operation declares no such variable. {told}"
            raise OptionError(msg)


def controls(document: Document, wanted: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
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
    return {name: control(document, name, given.get(name)) for name in wanted}


def control(document: Document, name: str, given: Any) -> Any:
    """Return the control of one variable."""
    import ipywidgets

    node = document.variables[name]
    kind: Any = node.type.type if isinstance(node.type, NonNullTypeNode) else node.type
    known = None
    if document.schema is not None and not isinstance(kind, ListTypeNode):
        known = document.schema.type_map.get(kind.name.value)
    if isinstance(kind, ListTypeNode) or isinstance(known, GraphQLInputObjectType):
        msg = f"--interact {name}: there is no control for a variable of type {type_text(node)}."
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
    return leaf(kind.name.value, name, given, common)


def leaf(kind: str, name: str, given: Any, common: Mapping[str, Any]) -> Any:
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
        lowest, highest = PAGE if name in {"first", "last"} else (min(0, 2 * value), 3 * value)
        highest = max(number(highest), value, number(WIDE))
    more = {"step": step[0]} if step else {}
    return made(value=value, min=lowest, max=highest, continuous_update=False, **more, **common)
