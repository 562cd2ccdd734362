"""Loading and unloading of the extension: magics, completion with Tab, project settings.

Everything imported here is imported by ``%load_ext gqlnb``: the standard library, IPython, and
modules that need no other library.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from IPython.core.completer import CompletionContext, SimpleCompletion, context_matcher
from traitlets import TraitError

from gqlnb import background
from gqlnb.config import load_project_settings
from gqlnb.errors import GqlnbError, OptionError, sanitize_text, suggest_or_list
from gqlnb.notebook.magic import GraphQLMagic
from gqlnb.notebook.magic_options import CursorPosition, locate_cursor
from gqlnb.result.renderer import FRAMES_ATTRIBUTE, TABLE, FrameDisplay, render_lines

if TYPE_CHECKING:
    from graphql import GraphQLSchema
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.lib.pretty import RepresentationPrinter
    from traitlets.config import Configurable

    from gqlnb.notebook.completion.completion_context import CompletionProvider
    from gqlnb.notebook.panel import Panel


MATCHER = "gqlnb"
PANEL_PREFIX = "%%gqlnb-panel\n"  # no magic: a kernel without the extension answers nothing of ours

_log = logging.getLogger("gqlnb")


class FinalCompletions(list[SimpleCompletion]):
    """Completions with a length of at least 1: IPython asks other matchers after an empty list."""

    def __len__(self) -> int:
        return max(1, super().__len__())


class TabCompleter:
    """Completes and documents GraphQL in a shell.

    Parameters
    ----------
    shell
        The shell.
    magic
        The magic, with the state of the notebook.
    """

    def __init__(self, shell: InteractiveShell, magic: GraphQLMagic) -> None:
        self.shell = shell
        self._magic = magic
        self._original_inspect: Any = None
        self._original_complete: Any = None
        self._replaced: dict[str, Any] = {}  # our methods by the names of the kernel's

        # A high priority and "suppress" keep Python names out of GraphQL.
        @context_matcher(identifier=MATCHER, priority=1000)  # type: ignore[untyped-decorator]
        def matcher(context: CompletionContext) -> object:
            return self._answer_completion(context)

        self.matcher = matcher

    # Made on first use, so that loading the extension stays cheap.
    @cached_property
    def _provider(self) -> CompletionProvider:
        from gqlnb.notebook.completion.completion_context import CompletionProvider

        return CompletionProvider(self._magic.state, self._magic.graphql.__doc__ or "")  # type: ignore[misc]

    @cached_property
    def _panel(self) -> Panel:
        from gqlnb.notebook.panel import Panel

        return Panel(self._magic.state)

    def install(self) -> None:
        """Add the completer to the shell, and to its kernel if it has one."""
        self.shell.Completer.custom_matchers.append(self.matcher)
        kernel = getattr(self.shell, "kernel", None)
        if kernel is None:
            return
        # IPython passes on a word for inspection, without the cell around it, and completes with
        # no more than a name and a type; JupyterLab's extension shows more.
        self._original_inspect = self._replace_method(kernel, "inspect", self._answer_inspection)
        self._original_complete = self._replace_method(
            kernel, "complete", self._answer_kernel_completion
        )
        # In a thread, because these imports take longer than a key press may: graphql-core alone
        # takes 0.1 s. The notebook's own cells run meanwhile.
        background.start_thread(self._prepare, "gqlnb-import")

    def _prepare(self) -> None:
        """Complete an empty line and an empty operation once, for their imports."""
        with suppress(Exception):  # a foreign schema of the notebook
            self._provider.complete_at(CursorPosition("", "", inside=False, offset=0, cell=True))
            self._provider.preload_demo()

    def uninstall(self) -> None:
        """Remove the completer."""
        matchers = self.shell.Completer.custom_matchers
        matchers[:] = [it for it in matchers if it is not self.matcher]
        kernel = getattr(self.shell, "kernel", None)
        for name, answer in self._replaced.items():
            # Another extension may have replaced the method since.
            if getattr(kernel, name, None) == answer:
                delattr(kernel, name)
        self._replaced.clear()

    def _replace_method(self, kernel: Any, name: str, answer: Callable[..., object]) -> Any:  # noqa: ANN401 - any kernel
        """Replace a method of the kernel, and return the original; None if there is none."""
        # ipykernel's names have a prefix, those of JupyterLite's kernel have none.
        for own_name in (f"do_{name}", name):
            original = getattr(kernel, own_name, None)
            if original is not None:
                self._replaced[own_name] = answer
                setattr(kernel, own_name, answer)
                return original
        return None

    def _answer_completion(self, context: CompletionContext) -> object:
        """Answer Tab: in GraphQL without other matchers, elsewhere with nothing."""
        lines = context.full_text.split("\n")[: context.cursor_line]
        offset = sum(len(line) + 1 for line in lines) + context.cursor_position
        place = locate_cursor(context.full_text, offset)
        if place is None:
            return {"completions": []}
        try:
            typed, proposals = self._provider.complete_at(place)
            completions = FinalCompletions(
                SimpleCompletion(it.name, type=it.type_label) for it in proposals
            )
        except Exception:  # noqa: BLE001 - a foreign schema must not break the kernel
            _log.debug("completion failed", exc_info=True)
            typed, completions = 0, FinalCompletions()  # Python names would be wrong here
        return {
            "completions": completions,
            "suppress": True,
            "matched_fragment": context.full_text[offset - typed : offset],
            "ordered": True,
        }

    def _answer_kernel_completion(self, code: str, cursor_pos: int | None) -> object:
        """Answer a completion request: in GraphQL with rich entries, elsewhere as the kernel."""
        # The questions of JupyterLab's panel are such requests too.
        if code.startswith(PANEL_PREFIX):
            answer = self._panel.answer(code.removeprefix(PANEL_PREFIX))
            empty = {"matches": [], "cursor_start": 0, "cursor_end": 0}
            return {"status": "ok", **empty, "metadata": {"gqlnb": answer}}
        offset = len(code) if cursor_pos is None else cursor_pos
        place = locate_cursor(code, offset)
        if place is None:
            return self._original_complete(code, cursor_pos)
        typed, items, loading = 0, [], ""
        try:
            typed, proposals = self._provider.complete_at(place)
            items = self._provider.describe_entries(proposals, code[offset:])
            if place.inside:
                loading = self._provider.get_loading_target(place.line)
        except Exception:  # noqa: BLE001 - a foreign schema must not break the kernel
            _log.debug("completion failed", exc_info=True)
        start = offset - typed
        types = [
            {"start": start, "end": offset, "text": it["name"], "type": it["type"], "signature": ""}
            for it in items
        ]
        return {
            "status": "ok",
            "matches": [it["name"] for it in items],
            "cursor_start": start,
            "cursor_end": offset,
            "metadata": {
                "_jupyter_types_experimental": types,
                "gqlnb": {"items": items, "loading": loading},
            },
        }

    def _answer_inspection(
        self, code: str, cursor_pos: int, *args: object, **options: object
    ) -> object:
        """Answer Shift-Tab: in GraphQL from the schema, elsewhere by the kernel's own method."""
        place = locate_cursor(code, cursor_pos)
        data: dict[str, str] = {}
        try:
            data = {} if place is None else self._provider.document_name(place)
        except Exception:  # noqa: BLE001 - a foreign schema must not break the kernel
            _log.debug("inspection failed", exc_info=True)
        # A field may share its name with a Python function: `id` in an operation is a field.
        if data or (place is not None and place.inside):
            return {"status": "ok", "found": bool(data), "data": data, "metadata": {}}
        return self._original_inspect(code, cursor_pos, *args, **options)


MAGIC_NAMES = ("graphql", "gql")
CONNECTIONS_TABLE = "connections"  # a table of [tool.gqlnb] that the client reads
HELP_CELL = re.compile(r"\s*%%(?:graphql|gql)\s+(?:--help|-h)\s*")
SCHEMA_CLASS = ("graphql.type.schema", "GraphQLSchema")  # the class need not be imported for it
_ATTRIBUTE = "_gqlnb"  # the attribute of the shell that holds a LoadedExtension


class LoadedExtension(NamedTuple):
    """The changes that loading made.

    Attributes
    ----------
    magic
        The magic.
    replaced
        The former magics by kind and name; None where there was none.
    completer
        The completer of Tab and Shift-Tab.
    frames
        The display of frames.
    """

    magic: GraphQLMagic
    replaced: dict[tuple[str, str], Any]
    completer: TabCompleter
    frames: FrameDisplay


def load_ipython_extension(ipython: InteractiveShell) -> None:
    """Register ``%%graphql`` and ``%graphql``, and ``gql`` for both unless that name is taken.

    ``%load_ext gqlnb`` calls this function. A second call has no effect. The defaults come from
    ``[tool.gqlnb]`` in the nearest ``pyproject.toml``; invalid settings raise a warning.

    Parameters
    ----------
    ipython
        The shell.

    Examples
    --------
    >>> import gqlnb
    >>> from IPython.core.interactiveshell import InteractiveShell
    >>> shell = InteractiveShell()
    >>> gqlnb.load_ipython_extension(shell)
    >>> "graphql" in shell.magics_manager.magics["cell"]
    True
    """
    if getattr(ipython, _ATTRIBUTE, None) is not None:
        return
    magics = ipython.magics_manager.magics
    replaced: dict[tuple[str, str], Any] = {}
    magic = GraphQLMagic(ipython)
    try:
        apply_project_settings(magic)
    except GqlnbError as error:
        warnings.warn(str(error), stacklevel=2)
    run: Any = magic.graphql  # type: ignore[misc]
    for name in MAGIC_NAMES:
        if name != MAGIC_NAMES[0] and any(name in magics[kind] for kind in magics):
            continue
        for kind in magics:
            # Not register_magic_function(): it cannot tell what it replaces.
            replaced[kind, name] = magics[kind].get(name)
            magics[kind][name] = run

    completer = TabCompleter(ipython, magic)
    completer.install()
    ipython.input_transformers_cleanup.insert(0, move_help_to_line)
    for mime, show_summary in SCHEMA_FORMATS.items():
        get_formatter(ipython, mime).for_type_by_name(*SCHEMA_CLASS, show_summary)
    frames = FrameDisplay(ipython, lambda: magic.frames == TABLE)
    frames.install()
    setattr(ipython, FRAMES_ATTRIBUTE, frames)
    setattr(ipython, _ATTRIBUTE, LoadedExtension(magic, replaced, completer, frames))


def unload_ipython_extension(ipython: InteractiveShell) -> None:
    """Remove the magics, restore the former ones, and close all clients.

    ``%unload_ext gqlnb`` calls this function.

    Parameters
    ----------
    ipython
        The shell.

    Examples
    --------
    >>> import gqlnb
    >>> from IPython.core.interactiveshell import InteractiveShell
    >>> shell = InteractiveShell()
    >>> gqlnb.load_ipython_extension(shell)
    >>> gqlnb.unload_ipython_extension(shell)
    >>> "graphql" in shell.magics_manager.magics["cell"]
    False
    """
    loaded: LoadedExtension | None = getattr(ipython, _ATTRIBUTE, None)
    if loaded is None:
        return
    run: Any = loaded.magic.graphql  # type: ignore[misc]
    for (kind, name), before in loaded.replaced.items():
        names = ipython.magics_manager.magics[kind]
        if names.get(name) != run:
            continue  # replaced by another extension
        del names[name]
        if before is not None:
            names[name] = before
    configurables: list[Any] = ipython.configurables
    configurables[:] = [it for it in configurables if it is not loaded.magic]
    loaded.magic.close()
    loaded.completer.uninstall()
    loaded.frames.uninstall()
    delattr(ipython, FRAMES_ATTRIBUTE)
    ipython.input_transformers_cleanup.remove(move_help_to_line)
    for mime in SCHEMA_FORMATS:
        # Imported meanwhile, it was moved from the names to the classes.
        get_formatter(ipython, mime).pop(".".join(SCHEMA_CLASS), None)
    delattr(ipython, _ATTRIBUTE)


def move_help_to_line(lines: list[str]) -> list[str]:
    """Turn a cell ``%%graphql --help`` into a line: IPython refuses a cell magic without a body."""
    if len(lines) == 1 and HELP_CELL.fullmatch(lines[0]):
        return [lines[0].lstrip().removeprefix("%")]
    return lines


def get_formatter(ipython: InteractiveShell, mime: str) -> Any:  # noqa: ANN401 - no types
    """Return IPython's formatter for a MIME type."""
    return ipython.display_formatter.formatters[mime]  # type: ignore[union-attr]


def summarize_schema(schema: GraphQLSchema) -> str:
    """Return the size and the root fields of a schema, which graphql-core shows as an address."""
    from gqlnb.notebook import schema_docs

    return schema_docs.summarize_schema(schema)


def print_schema_summary(schema: GraphQLSchema, printer: RepresentationPrinter, _: object) -> None:
    """Print the summary of a schema."""
    printer.text(summarize_schema(schema))  # type: ignore[no-untyped-call]


def render_schema_summary(schema: GraphQLSchema) -> str:
    """Render the same as HTML."""
    return render_lines(summarize_schema(schema))


SCHEMA_FORMATS = {"text/plain": print_schema_summary, "text/html": render_schema_summary}


def apply_project_settings(magic: Configurable) -> None:
    """Set the traits of the magic from ``[tool.gqlnb]``, except those in IPython's own config.

    Parameters
    ----------
    magic
        The magic.

    Raises
    ------
    OptionError
        If the file is not valid TOML, or has unknown settings or invalid values; the valid ones
        have been applied.
    """
    settings = load_project_settings()
    if settings is None:
        return
    traits = magic.traits(config=True)
    personal = magic.config.get(type(magic).__name__, {})
    faults = []
    for name, value in settings.values.items():
        if name == CONNECTIONS_TABLE or name in personal:
            continue
        if name not in traits:
            known = [*traits, CONNECTIONS_TABLE]
            faults.append(
                f"{settings.locate_key(name)}: no setting {name!r}.{suggest_or_list(name, known)}"
            )
            continue
        try:
            setattr(magic, name, value)
        except TraitError:
            faults.append(
                f"{settings.locate_key(name)}: {name} = {sanitize_text(value, 40)!r} is not valid: "
                f"{traits[name].info()} is expected."
            )
    if faults:
        raise OptionError("\n".join(faults))
