"""Completion of a magic line: options and their values, connections, subcommands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gqlnb.notebook.completion.completion_list import Completion
from gqlnb.notebook.completion.proposals import Proposal, find_similar_names

if TYPE_CHECKING:
    from argparse import Action, ArgumentParser

__all__ = ["LineVocabulary", "NameSource", "complete_line", "find_option", "get_actions"]

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
        found = _propose_values(words, _find_action(words.parser, name))
        return Completion(len(value), _filter_by_word(found, value))
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
    found = [action for action in get_actions(parser) if not action.option_strings]
    return [it for it in found[-1:] if it.nargs in ("+", "*")] or found[max(0, taken) :][:1]


def _find_action(parser: ArgumentParser, option: str) -> Action | None:
    return next((it for it in get_actions(parser) if option in it.option_strings), None)


def get_actions(parser: ArgumentParser) -> Sequence[Action]:
    """Return the options and positional arguments of a parser."""
    return parser._actions  # noqa: SLF001 - argparse has no public attribute for it


def _filter_by_word(found: Iterable[Proposal], word: str) -> list[Proposal]:
    """Return the proposals that begin with a word; without one, those that resemble it."""
    proposals = list(found)
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
