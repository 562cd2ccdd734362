"""Where the cursor is in a cell: on the line of a magic, in an operation, or in something else."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from IPython.core.completer import CompletionContext, SimpleCompletion, context_matcher

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphql import GraphQLSchema
    from IPython.core.interactiveshell import InteractiveShell

    from gqlnb.notebook.completion.language_service import Completion
    from gqlnb.notebook.completion.magic_line import LineVocabulary
    from gqlnb.notebook.completion.proposals import Proposal

__all__ = ["CompletionSources", "CursorPosition", "TabCompleter", "locate_cursor"]

MAGIC_NAME = r"(?:graphql|gql)\b"
_CELL_MAGIC = re.compile(rf"\s*%%{MAGIC_NAME}(?P<line>[^\n]*)(?P<newline>\n?)")
_LINE_MAGIC = re.compile(rf"\s*(?:[^\W\d]\w*\s*=\s*)?%{MAGIC_NAME}(?P<line>.*)")
_INLINE_OPERATION = re.compile(r"(?:^|\s)(?=\{|(?:query|mutation|subscription)\b)")


class CursorPosition(NamedTuple):
    """Where the cursor is.

    Attributes
    ----------
    line
        The line of the magic behind its name; of a line magic up to the operation.
    text
        The operation.
    inside
        Whether the cursor is in the operation, not on the line.
    offset
        Where it is in that, in characters.
    cell
        Whether it is a cell magic.
    """

    line: str
    text: str
    inside: bool
    offset: int
    cell: bool


def locate_cursor(source: str, offset: int) -> CursorPosition | None:
    """Return where the cursor is in the source of a cell; None if it is nowhere in GraphQL.

    Parameters
    ----------
    source
        The whole cell.
    offset
        Where the cursor is, in characters.
    """
    match = _CELL_MAGIC.match(source)
    if match is None:
        return _locate_on_line(source, offset)
    if offset < match.start("line"):
        return None
    line, text = match["line"], source[match.end() :]
    if offset <= match.end("line"):
        return CursorPosition(
            line, text, inside=False, offset=offset - match.start("line"), cell=True
        )
    return CursorPosition(line, text, inside=True, offset=offset - match.end(), cell=True)


def _locate_on_line(source: str, offset: int) -> CursorPosition | None:
    begin = source.rfind("\n", 0, offset) + 1
    end = source.find("\n", offset)
    match = _LINE_MAGIC.match(source, begin, len(source) if end < 0 else end)
    if match is None or offset < match.start("line"):
        return None
    line, at = match["line"], offset - match.start("line")
    inline = _INLINE_OPERATION.search(line)
    start = inline.end() if inline else len(line) + 1
    if at < start:
        return CursorPosition(line[:start], line[start:], inside=False, offset=at, cell=False)
    return CursorPosition(line[:start], line[start:], inside=True, offset=at - start, cell=False)


_log = logging.getLogger("gqlnb")
MATCHER = "gqlnb"


@dataclass(frozen=True)
class CompletionSources:
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
    words: Callable[[str, bool], tuple[LineVocabulary, int]]


class FinalCompletions(list[SimpleCompletion]):
    """Completions that are all there are: IPython asks for others where this had no length."""

    def __len__(self) -> int:
        return max(1, super().__len__())


class TabCompleter:
    """Answers Tab and Shift-Tab in a shell, until it is told to leave.

    Parameters
    ----------
    shell
        The shell; its kernel, if it has one, is asked for documentation.
    learn
        Gives what is known; called when it is first asked, so that loading us stays cheap.
    """

    def __init__(self, shell: InteractiveShell, learn: Callable[[], CompletionSources]) -> None:
        self.shell = shell
        self._load_sources = learn
        self._original_inspect: Any = None

        @context_matcher(identifier=MATCHER, priority=1000)  # type: ignore[untyped-decorator]
        def matcher(context: CompletionContext) -> Any:
            return self._answer_completion(context)

        self.matcher = matcher

    @cached_property
    def sources(self) -> CompletionSources:
        """What is known."""
        return self._load_sources()

    def install(self) -> None:
        """Begin to answer."""
        self.shell.Completer.custom_matchers.append(self.matcher)
        kernel = getattr(self.shell, "kernel", None)
        if kernel is None:
            return
        # There is no hook for this: IPython hands on a word, not the cell that it stands in.
        self._original_inspect = kernel.do_inspect
        kernel.do_inspect = self._answer_inspection

    def uninstall(self) -> None:
        """Answer no more."""
        matchers = self.shell.Completer.custom_matchers
        matchers[:] = [it for it in matchers if it is not self.matcher]
        kernel = getattr(self.shell, "kernel", None)
        if kernel is not None and getattr(kernel, "do_inspect", None) == self._answer_inspection:
            del kernel.do_inspect

    def _answer_completion(self, context: CompletionContext) -> Any:
        """Answer Tab; in GraphQL nobody else does, elsewhere we have nothing to say."""
        lines = context.full_text.split("\n")[: context.cursor_line]
        offset = sum(len(line) + 1 for line in lines) + context.cursor_position
        place = locate_cursor(context.full_text, offset)
        if place is None:
            return {"completions": []}
        try:
            typed, proposals = self.complete_at(place)
            shown = FinalCompletions(
                SimpleCompletion(it.name, type=get_type_label(it)) for it in proposals
            )
        except Exception:  # whatever a schema holds: the kernel must live on
            _log.debug("completion failed", exc_info=True)
            typed, shown = 0, FinalCompletions()  # names of Python would be wrong here in any case
        return {
            "completions": shown,
            "suppress": True,
            "matched_fragment": context.full_text[offset - typed : offset],
            "ordered": True,
        }

    def complete_at(self, place: CursorPosition) -> Completion:
        """Return what may stand at a place."""
        from gqlnb.notebook.completion.language_service import complete_at_cursor
        from gqlnb.notebook.completion.magic_line import complete_line

        if place.inside:
            schema, saved = self.sources.schema(place.line), self.sources.fragments()
            return complete_at_cursor(schema, place.text, place.offset, saved)
        words, start = self.sources.words(place.line, place.cell)
        return complete_line(words, place.line[start:], max(0, place.offset - start))

    def find_documentation(self, place: CursorPosition) -> Proposal | None:
        """Return what stands at a place, if it is known."""
        from gqlnb.notebook.completion.language_service import find_at_cursor
        from gqlnb.notebook.completion.magic_line import find_option

        if place.inside:
            schema, saved = self.sources.schema(place.line), self.sources.fragments()
            return find_at_cursor(schema, place.text, place.offset, saved)
        words, start = self.sources.words(place.line, place.cell)
        return find_option(words, place.line[start:], max(0, place.offset - start))

    def _answer_inspection(self, code: str, cursor_pos: int, *args: Any, **options: Any) -> Any:
        """Answer Shift-Tab in a cell of GraphQL; elsewhere the kernel does as before."""
        place = locate_cursor(code, cursor_pos)
        data: dict[str, str] = {}
        try:
            found = None if place is None else self.find_documentation(place)
            data = {} if found is None else build_documentation_bundle(found)
        except Exception:  # whatever a schema holds: the kernel must live on
            _log.debug("inspection failed", exc_info=True)
        # A field may be called as a function of Python is: `id` in an operation is none.
        if data or (place is not None and place.inside):
            return {"status": "ok", "found": bool(data), "data": data, "metadata": {}}
        return self._original_inspect(code, cursor_pos, *args, **options)


def get_type_label(found: Proposal) -> str:
    """Return what stands beside a name in the list: its type, or what it is."""
    described = found.kind in ("option", "keyword", "name")  # by a sentence, too long for a list
    return found.kind if described or not found.detail else found.detail


def build_documentation_bundle(found: Proposal) -> dict[str, str]:
    """Return the documentation of a name by media type."""
    from gqlnb.notebook.completion.language_service import render_markdown

    return {"text/plain": format_plain_text(found), "text/markdown": render_markdown(found)}


def format_plain_text(found: Proposal) -> str:
    """Return the documentation of a name for a place without Markdown."""
    from gqlnb.notebook.completion.language_service import write_signature

    return f"{write_signature(found)}\n\n{getattr(found.thing, 'description', None) or ''}".rstrip()
