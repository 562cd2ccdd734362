"""What is known when a person asks for completion: nothing here waits for an endpoint."""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from gqlnb.errors import GqlnbError, OptionError
from gqlnb.notebook.completing import Knowledge
from gqlnb.notebook.completion.lines import Names, Words, actions_of
from gqlnb.notebook.options import cell_parser, read_line
from gqlnb.notebook.parsers import parser
from gqlnb.notebook.subcommands import SUBCOMMANDS, askable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from graphql import GraphQLSchema

    from gqlnb.client.client import Client
    from gqlnb.notebook.magic import GraphQLMagic

__all__ = ["Knowing"]

# Whom a line asks: named by an option, else by its first word.
_NAMED = re.compile(r"(?:^|\s)(?:-c|--connection)(?:\s+|=)(\S+)")
_FIRST = re.compile(r"\s*(?!-)(\S+)")
# A line of the magic's help: an option, its value, what it does.
_HELP = re.compile(r"^ +(?:-\w, )?(--[\w-]+)(?: [A-Z][\w=:]*)? +([a-z].*)$", re.MULTILINE)

MAPPING = ("keys", "__getitem__")
OPENED_WITHIN = 0.15  # seconds that a key waits, once: enough for the stand-in to be made


class Knowing:
    """Answers completion's questions about a notebook.

    Parameters
    ----------
    magic
        The magic of the notebook.
    """

    def __init__(self, magic: GraphQLMagic) -> None:
        self.magic = magic
        self._opening: set[str] = set()

    @property
    def knowledge(self) -> Knowledge:
        """What completion asks."""
        return Knowledge(self.schema, self.fragments, self.words)

    def schema(self, line: str) -> GraphQLSchema | None:
        """Return the schema that a cell of this line is for, if it is known by now."""
        client = self._client(target_of(line))
        return None if client is None else self._known(client)

    def _known(self, client: Client) -> GraphQLSchema | None:
        """Return the schema of a client; where it is not known yet, begin to load it."""
        if client.local is not None:
            return client.schema
        return client.peek_schema() if self.magic.introspect == "ask" else None

    def _client(self, target: str | None) -> Client | None:
        """Return the client that a cell means, if it is there or needs nobody to be made."""
        from gqlnb.client import connections
        from gqlnb.github.entry import enter

        enter()
        try:
            name = connections.chosen()[0] if target is None else target
            if isinstance(name, str) and name not in self.magic.shell.user_ns:
                ready = self._ready(name)
                if connections.exists(name) and not ready:
                    return None
            return self.magic.clients.open(target).client
        except GqlnbError:  # the cell will say it when it runs
            return None

    def _ready(self, name: str) -> bool:
        """Tell whether a connection is open; if not, begin to open it where nobody is asked."""
        from gqlnb.client import connections

        if connections.opened(name):
            return True
        if name not in self._opening and connections.asks_nobody(name):
            self._opening.add(name)
            begin(lambda: connections.named(name)).join(OPENED_WITHIN)
        return connections.opened(name)

    def fragments(self) -> Mapping[str, str]:
        """Return the type conditions of saved fragments."""
        return self.magic.snippets.conditions()

    def words(self, line: str, cell: bool) -> tuple[Words, int]:
        """Return what the words of a line can be, and where they begin."""
        names: dict[str, Names] = {
            "connection": self.targets,
            "target": self.targets,
            "output": self.held,
            "vars": self.mappings,
        }
        first = _FIRST.match(line)
        word = first[1] if first and first.end() < len(line) else ""
        if cell or word not in SUBCOMMANDS:
            subcommands = {} if cell else {n: summary(f) for n, f in SUBCOMMANDS.items()}
            return Words(documented_parser(), names, subcommands), 0
        assert first is not None  # noqa: S101 - a word of it was found
        named: dict[str, Names] = {
            "connect": self.connections,
            "use": self.connections,
            "close": self.connections,
            "serve": self.schemas,
            "snippets": self.saved,
        }
        if word in named:
            names["name"] = named[word]
        if word == "schema":
            names["type"] = lambda: self.types(line)
        return Words(parser(word), names), first.end()

    def targets(self) -> Iterator[tuple[str, str]]:
        """Yield whom a cell can ask by name."""
        yield from self.connections()
        for name, value in self._namespace():
            if about := askable(value):
                yield name, about

    def connections(self) -> Iterator[tuple[str, str]]:
        """Yield the connections by name."""
        from gqlnb.client import connections
        from gqlnb.github.entry import enter

        enter()
        with suppress(GqlnbError):  # a settings file that can't be read
            yield from ((it.name, it.about) for it in connections.known())

    def held(self) -> Iterator[tuple[str, str]]:
        """Yield the results and frames of the notebook, whose names may be taken anew."""
        for name, value in self._namespace():
            if type(value).__name__ in ("Result", "DataFrame", "Frames", "LiveFrame", "Table"):
                yield name, type(value).__name__

    def mappings(self) -> Iterator[tuple[str, str]]:
        """Yield the mappings of the notebook."""
        for name, value in self._namespace():
            # Of its type: an object may answer to any name, or ask someone first.
            if not isinstance(value, type) and all(hasattr(type(value), it) for it in MAPPING):
                yield name, type(value).__name__

    def schemas(self) -> Iterator[tuple[str, str]]:
        """Yield the schemas of the notebook."""
        for name, value in self._namespace():
            if "schema" in askable(value):
                yield name, "a schema"

    def saved(self) -> Iterator[tuple[str, str]]:
        """Yield the names of saved cells."""
        yield from ((name, "a saved cell") for name in self.magic.snippets.names())

    def types(self, line: str) -> Iterator[tuple[str, str]]:
        """Yield the types of the schema that a line is about."""
        found = _NAMED.search(line)
        schema = self.schema(f"-c {found[1]}" if found else "")
        for name in schema.type_map if schema is not None else ():
            yield name, "type"

    def _namespace(self) -> Iterator[tuple[str, Any]]:
        shell = self.magic.shell
        for name, value in [*shell.user_ns.items()]:
            if not name.startswith("_") and name not in shell.user_ns_hidden:
                yield name, value


def begin(load: Callable[[], object]) -> threading.Thread:
    """Do something in the background; what goes wrong there, a cell will say when it runs."""

    def work() -> None:
        with suppress(Exception):
            load()

    thread = threading.Thread(target=work, name="gqlnb-schema", daemon=True)
    thread.start()
    return thread


def target_of(line: str) -> str | None:
    """Return whom a magic line names, as the magic reads it; None if it names nobody."""
    with suppress(OptionError, ValueError):  # a line that is still being written
        options = read_line(cell_parser(), line)
        found: str | None = options.connection or options.target
        return found
    named = _NAMED.search(line)
    if named is not None:
        return named[1]
    first = _FIRST.match(line)
    if first is None or line[first.end() :].lstrip().startswith("<<"):
        rest = line[first.end() :].lstrip().removeprefix("<<") if first is not None else ""
        first = _FIRST.match(rest)
    return first[1] if first is not None else None


def summary(function: Any) -> str:
    """Return what a subcommand does."""
    return str(function.__doc__ or "").partition("\n")[0].removesuffix(".")


@cache
def documented_parser() -> Any:
    """Return the parser of a cell's line, its options with what the help says of them."""
    from gqlnb.notebook.magic import GraphQLMagic

    helps = dict(_HELP.findall(GraphQLMagic.graphql.__doc__ or ""))
    made = cell_parser()
    for action in actions_of(made):
        for option in action.option_strings:
            action.help = action.help or helps.get(option)
    return made
