"""What may stand on the line of a magic: options and their values, connections, subcommands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gqlnb.notebook.completion.cursor import Completion
from gqlnb.notebook.completion.proposal import Proposal

if TYPE_CHECKING:
    from argparse import Action, ArgumentParser

__all__ = ["Names", "Words", "actions_of", "complete_line", "option_at"]

Names = Callable[[], Iterable[tuple[str, str]]]  # names, each with what it is


@dataclass(frozen=True)
class Words:
    """What the words of a line can be.

    Attributes
    ----------
    parser
        The parser of the line.
    names
        What the value of a destination can be, by the parser's destinations.
    subcommands
        What the first word can be, each with what it does.
    """

    parser: ArgumentParser
    names: Mapping[str, Names] = field(default_factory=dict)
    subcommands: Mapping[str, str] = field(default_factory=dict)


def complete_line(words: Words, line: str, offset: int) -> Completion:
    """Return what may stand at the cursor on a line.

    Parameters
    ----------
    words
        What its words can be.
    line
        The line behind the name of the magic, or behind a subcommand.
    offset
        Where the cursor is in it, in characters.
    """
    *given, word = _words(line[:offset])
    name, equals, value = word.partition("=")
    if word.startswith("--") and equals:
        found = _values(words, _action(words.parser, name))
        return Completion(len(value), _begin(found, value))
    return Completion(len(word), _begin(_after(words, given, word), word))


def _words(text: str) -> list[str]:
    """Return the words of a text; the last is empty where none is begun."""
    return text.split() if text and not text[-1].isspace() else [*text.split(), ""]


def _after(words: Words, given: list[str], word: str) -> Iterator[Proposal]:
    """Yield what may stand behind the words that are given."""
    action = _action(words.parser, given[-1]) if given else None
    if action is not None and action.nargs != 0:
        yield from _values(words, action)
        return
    if word.startswith("-"):
        yield from _options(words.parser, given)
        return
    if not given:
        yield from (Proposal(one, "keyword", about) for one, about in words.subcommands.items())
    for positional in _left(words.parser, given):
        yield from _values(words, positional)
    if not word:
        yield from _options(words.parser, given)


def _values(words: Words, action: Action | None) -> Iterator[Proposal]:
    if action is None:
        return
    for choice in action.choices or ():
        yield Proposal(str(choice), "value", action.dest)
    names = words.names.get(action.dest)
    for name, about in names() if names is not None else ():
        yield Proposal(name, "name", about)


def _options(parser: ArgumentParser, given: list[str]) -> Iterator[Proposal]:
    for action in actions_of(parser):
        once = action.__class__.__name__ != "_AppendAction"
        if action.option_strings and not (once and {*action.option_strings} & {*given}):
            yield Proposal(action.option_strings[-1], "option", action.help or "", "", action)


def _left(parser: ArgumentParser, given: list[str]) -> list[Action]:
    """Return what the next word can be that is no option."""
    taken, before = 0, ""
    for word in given:
        action = _action(parser, before)
        valued = action is not None and action.nargs != 0
        if word == "<<":  # the word before it is a name of the notebook
            taken -= 1
        elif not (valued or word.startswith("-") or word.endswith("<<")):
            taken += 1
        before = word
    found = [action for action in actions_of(parser) if not action.option_strings]
    return [it for it in found[-1:] if it.nargs == "+"] or found[max(0, taken) :][:1]


def _action(parser: ArgumentParser, option: str) -> Action | None:
    return next((it for it in actions_of(parser) if option in it.option_strings), None)


def actions_of(parser: ArgumentParser) -> Sequence[Action]:
    """Return what a parser takes: its options and positional arguments."""
    return parser._actions  # noqa: SLF001 - argparse tells it nowhere else


def _begin(found: Iterable[Proposal], word: str) -> list[Proposal]:
    return [one for one in found if one.name.startswith(word)]


def option_at(words: Words, line: str, offset: int) -> Proposal | None:
    """Return the option or subcommand that the cursor is on; None if it is on neither."""
    start = offset - len(_words(line[:offset])[-1])
    word = _words(line[start:])[0].partition("=")[0]
    if word in words.subcommands:
        return Proposal(word, "keyword", words.subcommands[word])
    action = _action(words.parser, word)
    return None if action is None else Proposal(word, "option", action.help or "", "", action)
