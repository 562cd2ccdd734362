"""Tab and Shift-Tab in cells of GraphQL: what IPython and its kernel ask, answered."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from IPython.core.completer import CompletionContext, SimpleCompletion, context_matcher

from gqlnb.notebook.completion.cells import Here, here

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphql import GraphQLSchema
    from IPython.core.interactiveshell import InteractiveShell

    from gqlnb.notebook.completion.cursor import Completion
    from gqlnb.notebook.completion.lines import Words
    from gqlnb.notebook.completion.proposal import Proposal

__all__ = ["Completing", "Knowledge"]

_log = logging.getLogger("gqlnb")
MATCHER = "gqlnb"


@dataclass(frozen=True)
class Knowledge:
    """What completion asks of the notebook; nothing of it waits for anything.

    Attributes
    ----------
    schema
        From the line of a magic to the schema that its operation is for, if it is known by now.
    fragments
        The type conditions of saved fragments, by name.
    words
        From a line, and whether it is a cell's, to what its words can be, and how many characters
        of it stand before them.
    """

    schema: Callable[[str], GraphQLSchema | None]
    fragments: Callable[[], Mapping[str, str]]
    words: Callable[[str, bool], tuple[Words, int]]


class Sure(list[SimpleCompletion]):
    """Completions that are all there are: IPython asks for others where this had no length."""

    def __len__(self) -> int:
        return max(1, super().__len__())


class Completing:
    """Answers Tab and Shift-Tab in a shell, until it is told to leave.

    Parameters
    ----------
    shell
        The shell; its kernel, if it has one, is asked for documentation.
    learn
        Gives what is known; called when it is first asked, so that loading us stays cheap.
    """

    def __init__(self, shell: InteractiveShell, learn: Callable[[], Knowledge]) -> None:
        self.shell = shell
        self._learn = learn
        self._inspect: Any = None

        @context_matcher(identifier=MATCHER, priority=1000)  # type: ignore[untyped-decorator]
        def matcher(context: CompletionContext) -> Any:
            return self._matches(context)

        self.matcher = matcher

    @cached_property
    def knowledge(self) -> Knowledge:
        """What is known."""
        return self._learn()

    def enter(self) -> None:
        """Begin to answer."""
        self.shell.Completer.custom_matchers.append(self.matcher)
        kernel = getattr(self.shell, "kernel", None)
        if kernel is None:
            return
        # There is no hook for this: IPython hands on a word, not the cell that it stands in.
        self._inspect = kernel.do_inspect
        kernel.do_inspect = self._inspected

    def leave(self) -> None:
        """Answer no more."""
        matchers = self.shell.Completer.custom_matchers
        matchers[:] = [it for it in matchers if it is not self.matcher]
        kernel = getattr(self.shell, "kernel", None)
        if kernel is not None and getattr(kernel, "do_inspect", None) == self._inspected:
            del kernel.do_inspect

    def _matches(self, context: CompletionContext) -> Any:
        """Answer Tab; in GraphQL nobody else does, elsewhere we have nothing to say."""
        lines = context.full_text.split("\n")[: context.cursor_line]
        offset = sum(len(line) + 1 for line in lines) + context.cursor_position
        place = here(context.full_text, offset)
        if place is None:
            return {"completions": []}
        try:
            typed, proposals = self.completion(place)
            shown = Sure(SimpleCompletion(it.name, type=column(it)) for it in proposals)
        except Exception:  # whatever a schema holds: the kernel must live on
            _log.debug("completion failed", exc_info=True)
            typed, shown = 0, Sure()  # names of Python would be wrong here in any case
        return {
            "completions": shown,
            "suppress": True,
            "matched_fragment": context.full_text[offset - typed : offset],
            "ordered": True,
        }

    def completion(self, place: Here) -> Completion:
        """Return what may stand at a place."""
        from gqlnb.notebook.completion.cursor import complete
        from gqlnb.notebook.completion.lines import complete_line

        if place.inside:
            schema, saved = self.knowledge.schema(place.line), self.knowledge.fragments()
            return complete(schema, place.text, place.offset, saved)
        words, start = self.knowledge.words(place.line, place.cell)
        return complete_line(words, place.line[start:], max(0, place.offset - start))

    def documented(self, place: Here) -> Proposal | None:
        """Return what stands at a place, if it is known."""
        from gqlnb.notebook.completion.cursor import at
        from gqlnb.notebook.completion.lines import option_at

        if place.inside:
            schema, saved = self.knowledge.schema(place.line), self.knowledge.fragments()
            return at(schema, place.text, place.offset, saved)
        words, start = self.knowledge.words(place.line, place.cell)
        return option_at(words, place.line[start:], max(0, place.offset - start))

    def _inspected(self, code: str, cursor_pos: int, *args: Any, **options: Any) -> Any:
        """Answer Shift-Tab in a cell of GraphQL; elsewhere the kernel does as before."""
        place = here(code, cursor_pos)
        data: dict[str, str] = {}
        try:
            found = None if place is None else self.documented(place)
            data = {} if found is None else shown_of(found)
        except Exception:  # whatever a schema holds: the kernel must live on
            _log.debug("inspection failed", exc_info=True)
        # A field may be called as a function of Python is: `id` in an operation is none.
        if data or (place is not None and place.inside):
            return {"status": "ok", "found": bool(data), "data": data, "metadata": {}}
        return self._inspect(code, cursor_pos, *args, **options)


def column(found: Proposal) -> str:
    """Return what stands beside a name in the list: its type, or what it is."""
    described = found.kind in ("option", "keyword", "name")  # by a sentence, too long for a list
    return found.kind if described or not found.detail else found.detail


def shown_of(found: Proposal) -> dict[str, str]:
    """Return the documentation of a name by media type."""
    from gqlnb.notebook.completion.documentation import markdown

    return {"text/plain": plain_text(found), "text/markdown": markdown(found)}


def plain_text(found: Proposal) -> str:
    """Return the documentation of a name for a place without Markdown."""
    from gqlnb.notebook.completion.documentation import signature

    return f"{signature(found)}\n\n{getattr(found.thing, 'description', None) or ''}".rstrip()
