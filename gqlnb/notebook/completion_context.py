"""What is known when a person asks for completion: nothing here waits for an endpoint."""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from gqlnb.errors import GqlnbError, OptionError
from gqlnb.notebook.completion.ipython_completer import CompletionSources
from gqlnb.notebook.completion.magic_line import LineVocabulary, NameSource, get_actions
from gqlnb.notebook.magic_options import build_parser, get_cell_parser, read_line
from gqlnb.notebook.subcommands import SUBCOMMANDS, describe_target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from graphql import GraphQLSchema

    from gqlnb.client.client import Client
    from gqlnb.notebook.magic import GraphQLMagic

__all__ = ["CompletionProvider"]

# Whom a line asks: named by an option, else by its first word.
_NAMED = re.compile(r"(?:^|\s)(?:-c|--connection)(?:\s+|=)(\S+)")
_FIRST = re.compile(r"\s*(?!-)(\S+)")
# A line of the magic's help: an option, its value, what it does.
_HELP = re.compile(r"^ +(?:-\w, )?(--[\w-]+)(?: [A-Z][\w=:]*)? +([a-z].*)$", re.MULTILINE)

MAPPING = ("keys", "__getitem__")
OPENED_WITHIN = 0.15  # seconds that a key waits, once: enough for the stand-in to be made


class CompletionProvider:
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
    def sources(self) -> CompletionSources:
        """What completion asks."""
        return CompletionSources(self.find_schema, self.get_fragments, self.get_vocabulary)

    def find_schema(self, line: str) -> GraphQLSchema | None:
        """Return the schema that a cell of this line is for, if it is known by now."""
        client = self._find_client(parse_target(line))
        return None if client is None else self._peek_schema(client)

    def _peek_schema(self, client: Client) -> GraphQLSchema | None:
        """Return the schema of a client; where it is not known yet, begin to load it."""
        if client.local_schema is not None:
            return client.schema
        return client.peek_schema() if self.magic.introspect == "ask" else None

    def _find_client(self, target: str | None) -> Client | None:
        """Return the client that a cell means, if it is there or needs nobody to be made."""
        from gqlnb.client import connections
        from gqlnb.github.builtin_connections import register_connections

        register_connections()
        try:
            name = connections.resolve_default_target()[0] if target is None else target
            if isinstance(name, str) and name not in self.magic.shell.user_ns:
                ready = self._open_in_background(name)
                if connections.is_known(name) and not ready:
                    return None
            return self.magic.clients.open(target).client
        except GqlnbError:  # the cell will say it when it runs
            return None

    def _open_in_background(self, name: str) -> bool:
        """Tell whether a connection is open; if not, begin to open it where nobody is asked."""
        from gqlnb.client import connections

        if connections.is_open(name):
            return True
        if name not in self._opening and connections.can_open_unattended(name):
            self._opening.add(name)
            load_in_background(lambda: connections.get_client(name)).join(OPENED_WITHIN)
        return connections.is_open(name)

    def get_fragments(self) -> Mapping[str, str]:
        """Return the type conditions of saved fragments."""
        return self.magic.snippets.get_type_conditions()

    def get_vocabulary(self, line: str, cell: bool) -> tuple[LineVocabulary, int]:
        """Return what the words of a line can be, and where they begin."""
        names: dict[str, NameSource] = {
            "connection": self.list_targets,
            "target": self.list_targets,
            "output": self.list_results,
            "vars": self.list_mappings,
        }
        first = _FIRST.match(line)
        word = first[1] if first and first.end() < len(line) else ""
        if cell or word not in SUBCOMMANDS:
            subcommands = {} if cell else {n: get_summary(f) for n, f in SUBCOMMANDS.items()}
            return LineVocabulary(get_documented_parser(), names, subcommands), 0
        assert first is not None  # noqa: S101 - a word of it was found
        named: dict[str, NameSource] = {
            "connect": self.list_connections,
            "use": self.list_connections,
            "close": self.list_connections,
            "serve": self.list_schemas,
            "snippets": self.list_snippets,
        }
        if word in named:
            names["name"] = named[word]
        if word == "schema":
            names["type"] = lambda: self.list_types(line)
        return LineVocabulary(build_parser(word), names), first.end()

    def list_targets(self) -> Iterator[tuple[str, str]]:
        """Yield whom a cell can ask by name."""
        yield from self.list_connections()
        for name, value in self._iterate_namespace():
            if about := describe_target(value):
                yield name, about

    def list_connections(self) -> Iterator[tuple[str, str]]:
        """Yield the connections by name."""
        from gqlnb.client import connections
        from gqlnb.github.builtin_connections import register_connections

        register_connections()
        with suppress(GqlnbError):  # a settings file that can't be read
            yield from ((it.name, it.description) for it in connections.list_connections())

    def list_results(self) -> Iterator[tuple[str, str]]:
        """Yield the results and frames of the notebook, whose names may be taken anew."""
        for name, value in self._iterate_namespace():
            if type(value).__name__ in ("Result", "DataFrame", "Frames", "LiveFrame", "Table"):
                yield name, type(value).__name__

    def list_mappings(self) -> Iterator[tuple[str, str]]:
        """Yield the mappings of the notebook."""
        for name, value in self._iterate_namespace():
            # Of its type: an object may answer to any name, or ask someone first.
            if not isinstance(value, type) and all(hasattr(type(value), it) for it in MAPPING):
                yield name, type(value).__name__

    def list_schemas(self) -> Iterator[tuple[str, str]]:
        """Yield the schemas of the notebook."""
        for name, value in self._iterate_namespace():
            if "schema" in describe_target(value):
                yield name, "a schema"

    def list_snippets(self) -> Iterator[tuple[str, str]]:
        """Yield the names of saved cells."""
        yield from ((name, "a saved cell") for name in self.magic.snippets.get_names())

    def list_types(self, line: str) -> Iterator[tuple[str, str]]:
        """Yield the types of the schema that a line is about."""
        found = _NAMED.search(line)
        schema = self.find_schema(f"-c {found[1]}" if found else "")
        for name in schema.type_map if schema is not None else ():
            yield name, "type"

    def _iterate_namespace(self) -> Iterator[tuple[str, Any]]:
        shell = self.magic.shell
        for name, value in [*shell.user_ns.items()]:
            if not name.startswith("_") and name not in shell.user_ns_hidden:
                yield name, value


def load_in_background(load: Callable[[], object]) -> threading.Thread:
    """Do something in the background; what goes wrong there, a cell will say when it runs."""

    def run_load() -> None:
        with suppress(Exception):
            load()

    thread = threading.Thread(target=run_load, name="gqlnb-schema", daemon=True)
    thread.start()
    return thread


def parse_target(line: str) -> str | None:
    """Return whom a magic line names, as the magic reads it; None if it names nobody."""
    with suppress(OptionError, ValueError):  # a line that is still being written
        options = read_line(get_cell_parser(), line)
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


def get_summary(function: Any) -> str:
    """Return what a subcommand does."""
    return str(function.__doc__ or "").partition("\n")[0].removesuffix(".")


@cache
def get_documented_parser() -> Any:
    """Return the parser of a cell's line, its options with what the help says of them."""
    from gqlnb.notebook.magic import GraphQLMagic

    helps = dict(_HELP.findall(GraphQLMagic.graphql.__doc__ or ""))
    made = get_cell_parser()
    for action in get_actions(made):
        for option in action.option_strings:
            action.help = action.help or helps.get(option)
    return made
