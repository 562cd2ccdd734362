"""Completion with Tab and documentation with Shift-Tab in IPython.

This module is imported with the extension, so it imports only the standard library and IPython.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from IPython.core.completer import CompletionContext, SimpleCompletion, context_matcher

from gqlnb import background
from gqlnb.notebook.magic_options import CursorPosition, locate_cursor

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from gqlnb.notebook.completion.completion_context import CompletionProvider

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
    create_provider
        Creates the source of names and schemas on first use, so that loading stays cheap.
    create_panel
        Creates the function that answers JupyterLab's panel, on first use too.
    """

    def __init__(
        self,
        shell: InteractiveShell,
        create_provider: Callable[[], CompletionProvider],
        create_panel: Callable[[], Callable[[str], object]],
    ) -> None:
        self.shell = shell
        self._create_provider, self._create_panel = create_provider, create_panel
        self._original_inspect: Any = None
        self._original_complete: Any = None
        self._replaced: dict[str, Any] = {}  # our methods by the names of the kernel's

        # A high priority and "suppress" keep Python names out of GraphQL.
        @context_matcher(identifier=MATCHER, priority=1000)  # type: ignore[untyped-decorator]
        def matcher(context: CompletionContext) -> object:
            return self._answer_completion(context)

        self.matcher = matcher

    @cached_property
    def _provider(self) -> CompletionProvider:
        return self._create_provider()

    @cached_property
    def _answer_panel(self) -> Callable[[str], object]:
        return self._create_panel()

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
        """Answer a completion request: in GraphQL with rich entries, elsewhere as the kernel.

        The questions of JupyterLab's panel are such requests too.
        """
        if code.startswith(PANEL_PREFIX):
            answer = self._answer_panel(code.removeprefix(PANEL_PREFIX))
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
