"""Completion of magic lines, with the names and schemas of a notebook; nothing waits for I/O."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gqlnb import background
from gqlnb.client import connections
from gqlnb.client.credentials import redact_url
from gqlnb.errors import GqlnbError, OptionError
from gqlnb.github.builtin_connections import DEMO, open_standin, register_connections
from gqlnb.notebook.completion.completion_list import (
    Completion,
    build_documentation,
    complete_at_cursor,
    describe_entry,
    find_at_cursor,
)
from gqlnb.notebook.completion.cursor_parser import Proposal, find_similar_names
from gqlnb.notebook.magic_options import CursorPosition, build_parser, get_cell_parser, read_line
from gqlnb.notebook.notebook_state import NotebookState, describe_target
from gqlnb.notebook.subcommands import SUBCOMMANDS

if TYPE_CHECKING:
    from argparse import Action, ArgumentParser

    from graphql import GraphQLSchema


NameSource = Callable[[], Iterable[tuple[str, str]]]  # pairs of a name and its description


@dataclass(frozen=True)
class LineVocabulary:
    """The vocabulary of a line.

    Attributes
    ----------
    parser
        The parser of the line.
    names
        The possible values by destination of the parser.
    subcommands
        The possible first words with their descriptions.
    """

    parser: ArgumentParser
    names: Mapping[str, NameSource] = field(default_factory=dict)
    subcommands: Mapping[str, str] = field(default_factory=dict)


def complete_line(words: LineVocabulary, line: str, offset: int) -> Completion:
    """Complete the word at the cursor on a line.

    Parameters
    ----------
    words
        The vocabulary of the line.
    line
        The line behind the name of the magic, or behind a subcommand.
    offset
        The position of the cursor, in characters.
    """
    *given, word = _split_words(line[:offset])
    name, equals, value = word.partition("=")
    if word.startswith("--") and equals:
        proposals = _propose_values(words, _find_action(words.parser, name))
        return Completion(len(value), _filter_by_word(proposals, value))
    return Completion(len(word), _filter_by_word(_propose_after(words, given, word), word))


def _split_words(text: str) -> list[str]:
    """Split a text into words; the last one is empty after white space."""
    return text.split() if text and not text[-1].isspace() else [*text.split(), ""]


def _propose_after(words: LineVocabulary, given: list[str], word: str) -> Iterator[Proposal]:
    action = _find_action(words.parser, given[-1]) if given else None
    if action is not None and action.nargs != 0:
        yield from _propose_values(words, action)
        return
    if word.startswith("-"):
        yield from _propose_options(words.parser, given)
        return
    if not given:
        yield from (Proposal(name, "keyword", about) for name, about in words.subcommands.items())
    for positional in _find_next_positionals(words.parser, given):
        yield from _propose_values(words, positional)
    if not word:
        yield from _propose_options(words.parser, given)


def _propose_values(words: LineVocabulary, action: Action | None) -> Iterator[Proposal]:
    if action is None:
        return
    for choice in action.choices or ():
        yield Proposal(str(choice), "value", action.dest)
    names = words.names.get(action.dest)
    for name, about in names() if names is not None else ():
        yield Proposal(name, "name", about)


def _propose_options(parser: ArgumentParser, given: list[str]) -> Iterator[Proposal]:
    for action in get_actions(parser):
        once = action.__class__.__name__ != "_AppendAction"
        if action.option_strings and not (once and {*action.option_strings} & {*given}):
            yield Proposal(action.option_strings[-1], "option", action.help or "", "", action)


def _find_next_positionals(parser: ArgumentParser, given: list[str]) -> list[Action]:
    """Return the positional arguments that the next word may be."""
    taken, before = 0, ""
    for word in given:
        action = _find_action(parser, before)
        valued = action is not None and action.nargs != 0
        if word == "<<":  # the word before it is the name of the output
            taken -= 1
        elif not (valued or word.startswith("-") or word.endswith("<<")):
            taken += 1
        before = word
    places = [action for action in get_actions(parser) if not action.option_strings]
    return [last for last in places[-1:] if last.nargs in ("+", "*")] or places[max(0, taken) :][:1]


def _find_action(parser: ArgumentParser, option: str) -> Action | None:
    return next((action for action in get_actions(parser) if option in action.option_strings), None)


def get_actions(parser: ArgumentParser) -> Sequence[Action]:
    """Return the options and positional arguments of a parser."""
    return parser._actions  # noqa: SLF001 - argparse has no public attribute for it


def _filter_by_word(given: Iterable[Proposal], word: str) -> list[Proposal]:
    """Return the proposals that begin with a word; without one, those that resemble it."""
    proposals = list(given)
    names = [proposal for proposal in proposals if proposal.name.startswith(word)]
    return names or find_similar_names(proposals, word)


def find_option(words: LineVocabulary, line: str, offset: int) -> Proposal | None:
    """Return the option or subcommand at the cursor, or None."""
    start = offset - len(_split_words(line[:offset])[-1])
    word = _split_words(line[start:])[0].partition("=")[0]
    if word in words.subcommands:
        return Proposal(word, "keyword", words.subcommands[word])
    action = _find_action(words.parser, word)
    return None if action is None else Proposal(word, "option", action.help or "", "", action)


# The target of a line: the value of an option, else its first word.
_NAMED = re.compile(r"(?:^|\s)(?:-c|--connection)(?:\s+|=)(\S+)")
_FIRST = re.compile(r"\s*(?!-)(\S+)")
# An entry of the magic's help: an option, its value, its description, which may continue below.
_HELP = re.compile(
    r"^ +(?:-\w, )?(--[\w-]+)(?: [A-Z][\w=:]*)? +([a-z].*(?:\n {20,}\S.*)*)$", re.MULTILINE
)

MAPPING_METHODS = ("keys", "__getitem__")
RESULT_TYPES = ("Result", "DataFrame", "Frames", "LiveFrame", "Table")
INPUT_TYPES = ("DataFrame", "Series", "Table", "list", "tuple", "ndarray")
LOADING_TIME = 10.0  # seconds; then a schema is taken to be unavailable
TAB_TIMEOUT = 0.3  # seconds that Tab waits for a schema; only JupyterLab's extension asks again
LONGEST_WAIT = 1.5  # seconds for one target altogether: a slow endpoint must not slow each Tab
DEMO_WAIT = 3.0  # seconds for the embedded schema, which is sure to come
POLL_INTERVAL = 0.01


class CompletionProvider:
    """Looks up names and schemas for completion in a notebook.

    Parameters
    ----------
    state
        The state of the notebook.
    help_text
        The help of the magic, from which the options of a cell are described.
    """

    def __init__(self, state: NotebookState, help_text: str) -> None:
        self._state = state
        self._help_text = help_text
        self._opening: set[str] = set()
        self._waited: dict[str, float] = {}  # seconds, by target
        self._load_started: dict[str, float] = {}

    def complete_at(self, place: CursorPosition) -> Completion:
        """Return the completions at a position."""
        if place.inside:
            schema = self.load_schema(place.line)
            return complete_at_cursor(
                schema, place.text, place.offset, self._state.snippets.get_type_conditions()
            )
        words, start = self.get_vocabulary(place.line, cell=place.cell)
        return complete_line(words, place.line[start:], max(0, place.offset - start))

    def describe_entries(self, proposals: list[Proposal], following: str) -> list[dict[str, Any]]:
        """Return the entries of the list before the text behind the cursor."""
        return [describe_entry(proposal, following) for proposal in proposals]

    def document_name(self, place: CursorPosition) -> dict[str, str]:
        """Return the documentation of the name at a position by MIME type; empty if unknown."""
        if place.inside:
            schema = self.find_schema(place.line)
            proposal = find_at_cursor(
                schema, place.text, place.offset, self._state.snippets.get_type_conditions()
            )
        else:
            words, start = self.get_vocabulary(place.line, cell=place.cell)
            proposal = find_option(words, place.line[start:], max(0, place.offset - start))
        return {} if proposal is None else build_documentation(proposal)

    def get_loading_target(self, line: str) -> str:
        """Return the target of a line if its schema is being loaded, else "".

        An endpoint that does not provide its schema counts as loading for a few seconds.
        """
        name = parse_target(line)
        if name is None:
            default, chosen_by = connections.resolve_default_target()
            name = default if chosen_by else ""  # else a server that may not be there
        if self.find_schema(line) is not None:
            self._load_started.pop(name, None)
            return ""
        if self._state.settings.introspect == "never" or not self._can_have_schema(name):
            return ""
        started = self._load_started.setdefault(name, time.monotonic())
        return redact_url(name) if time.monotonic() - started < LOADING_TIME else ""

    def _can_have_schema(self, name: str) -> bool:
        if name in self._state.shell.user_ns or "/" in name:
            return True
        with suppress(GqlnbError):
            return connections.is_known(name)
        return False

    def load_schema(self, line: str) -> GraphQLSchema | None:
        """Return the schema for a cell with this line; wait a moment if it is being loaded."""
        target = parse_target(line) or ""
        started, waited = time.monotonic(), self._waited.get(target, 0.0)
        is_demo = (target or connections.resolve_default_target()[0]) == DEMO
        most, total = (DEMO_WAIT, DEMO_WAIT) if is_demo else (TAB_TIMEOUT, LONGEST_WAIT)
        end = started + min(most, total - waited)
        schema = self.find_schema(line)
        while schema is None and time.monotonic() < end and self.get_loading_target(line):
            time.sleep(POLL_INTERVAL)
            schema = self.find_schema(line)
        self._waited[target] = waited + time.monotonic() - started
        return schema

    def preload_demo(self) -> None:
        """Build the embedded schema, which takes longer than Tab waits; opens no connection."""
        open_standin()

    def find_schema(self, line: str) -> GraphQLSchema | None:
        """Return the schema for a cell with this line, if it is already known."""
        register_connections()
        target = parse_target(line)
        try:
            name = connections.resolve_default_target()[0] if target is None else target
            if isinstance(name, str) and name not in self._state.shell.user_ns:
                is_open = self._open_in_background(name)
                if connections.is_known(name) and not is_open:
                    return None
            client = self._state.clients.open(target).client
        except GqlnbError:  # the cell reports it when it runs
            return None
        if client._local_schema is not None:
            return client.schema
        # This starts to load an unknown schema.
        return client.peek_schema() if self._state.settings.introspect == "ask" else None

    def _open_in_background(self, name: str) -> bool:
        """Return whether a connection is open; if not, start to open it unless it prompts."""
        if connections.is_open(name):
            return True
        # Once per name: a failed attempt is not repeated at every key press.
        if name not in self._opening and connections.can_open_unattended(name):

            def open_client() -> None:
                with suppress(Exception):  # the cell reports it when it runs
                    connections.get_client(name)

            self._opening.add(name)
            background.start_thread(open_client, "gqlnb-schema")
        return connections.is_open(name)

    def get_vocabulary(self, line: str, *, cell: bool) -> tuple[LineVocabulary, int]:
        """Return the vocabulary of a line and the position from which it applies.

        Parameters
        ----------
        line
            The line behind the name of the magic.
        cell
            Whether it belongs to a cell magic.
        """
        names: dict[str, NameSource] = {
            "connection": self._list_targets,
            "target": self._list_targets,
            # An output may replace a result.
            "output": lambda: self._list_names(lambda it: describe_type(it, *RESULT_TYPES)),
            "vars": lambda: self._list_names(describe_mapping),
            "map": lambda: self._list_names(lambda it: describe_type(it, *INPUT_TYPES)),
            "resume": lambda: self._list_names(lambda it: describe_type(it, *RESULT_TYPES)),
        }
        first = _FIRST.match(line)
        word = first[1] if first and first.end() < len(line) else ""
        if first is None or cell or word not in SUBCOMMANDS:
            summaries = {
                name: str(function.__doc__ or "").partition("\n")[0].removesuffix(".")
                for name, function in SUBCOMMANDS.items()
            }
            return LineVocabulary(self._get_cell_parser(), names, {} if cell else summaries), 0
        named: dict[str, NameSource] = {
            "connect": self._list_connections,
            "use": self._list_connections,
            "close": self._list_connections,
            "endpoint": self._list_targets,
            "serve": lambda: self._list_names(
                lambda it: "a schema" if "schema" in describe_target(it) else ""
            ),
            "snippets": lambda: ((it, "a saved cell") for it in self._state.snippets.saved),
        }
        if word in named:
            names["name"] = named[word]
        if word == "schema":
            names["words"] = lambda: [*self._list_types(line), *self._list_targets()]
        if word == "search":
            names["words"] = self._list_targets
        return LineVocabulary(build_parser(word), names), first.end()

    def _get_cell_parser(self) -> ArgumentParser:
        """Return the parser of a cell's line with the descriptions of the magic's help."""
        parser = get_cell_parser()
        descriptions = {
            option: " ".join(text.split()) for option, text in _HELP.findall(self._help_text)
        }
        for action in get_actions(parser):
            for option in action.option_strings:
                action.help = action.help or descriptions.get(option)
        return parser

    def _list_targets(self) -> Iterator[tuple[str, str]]:
        yield from self._list_connections()
        yield from self._list_names(describe_target)

    def _list_connections(self) -> Iterator[tuple[str, str]]:
        register_connections()
        with suppress(GqlnbError):  # a settings file that cannot be read
            yield from ((it.name, it.description) for it in connections.list_connections())

    def _list_names(self, describe: Callable[[object], str]) -> Iterator[tuple[str, str]]:
        """Yield the names of the notebook whose values have a description."""
        shell = self._state.shell
        # A copy: a cell may add names in another thread meanwhile.
        for name, value in [*shell.user_ns.items()]:
            if not name.startswith("_") and name not in shell.user_ns_hidden:
                about = describe(value)
                if about:
                    yield name, about

    def _list_types(self, line: str) -> Iterator[tuple[str, str]]:
        """Yield the types of the named target's schema."""
        named = _NAMED.search(line)
        targets = {name for name, _ in self._list_targets()}
        given = [named[1]] if named else [it for it in line.split()[1:2] if it in targets]
        schema = self.find_schema(f"-c {given[0]}" if given else "")
        for name in schema.type_map if schema is not None else ():
            yield name, "type"


def describe_type(value: object, *types: str) -> str:
    """Return the name of a value's type, if it is one of these."""
    name = type(value).__name__
    return name if name in types else ""


def describe_mapping(value: object) -> str:
    """Return the name of the type of a mapping; empty for another value."""
    # The type is checked because __getattr__ of an object may accept any name, or block.
    is_mapping = all(hasattr(type(value), method) for method in MAPPING_METHODS)
    return type(value).__name__ if is_mapping and not isinstance(value, type) else ""


def parse_target(line: str) -> str | None:
    """Return the target that a magic line names, None if it names none."""
    with suppress(OptionError, ValueError):  # an unfinished line
        options = read_line(get_cell_parser(), line)
        target: str | None = options.connection or options.target
        return target
    named = _NAMED.search(line)
    if named is not None:
        return named[1]
    first = _FIRST.match(line)
    if first is None:
        return None
    rest = line[first.end() :].lstrip()
    if rest.startswith("<<"):  # the first word is the name of the output
        first = _FIRST.match(rest.removeprefix("<<"))
    return first[1] if first is not None else None
