"""The subcommands of ``%graphql``: each reads its words and calls one function."""

from __future__ import annotations

import difflib
import shlex
import sys
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gqlnb.errors import OptionError, TargetError, sanitize_text
from gqlnb.notebook.display import Listing, Note, Text, show
from gqlnb.notebook.magic_options import build_parser, read_line, split_words

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator, Mapping

    from gqlnb.client.schema_diff import SchemaChanges
    from gqlnb.notebook.clients import CellTarget
    from gqlnb.notebook.magic import GraphQLMagic

__all__ = ["REPLAYABLE", "SUBCOMMANDS", "describe_target", "run_subcommand", "suggest_subcommand"]


def run_subcommand(magic: GraphQLMagic, word: str, line: str) -> Any:
    """Run ``%graphql WORD LINE``."""
    from gqlnb.github.builtin_connections import register_connections

    register_connections()
    return SUBCOMMANDS[word](magic, line)


def run_connections(magic: GraphQLMagic, line: str) -> Any:
    """Return what can be asked: the connections by name, and what the notebook holds."""
    from gqlnb.client import connections as known
    from gqlnb.client.connections import find_listing_fault

    read_line(build_parser("connections"), line)
    current = known.get_current_name()
    rows = [
        (it.name, it.description, it.location, it.name == current)
        for it in known.list_connections()
    ]
    names = {row[0] for row in rows}
    held = [
        (name, about, "the notebook", False)
        for name, value in magic.names.items()
        if name not in names and name[:1] != "_" and (about := describe_target(value))
    ]
    note = (
        ""
        if current
        else f"No connection is the current one: a bare cell asks {describe_default_target()}."
    )
    if fault := find_listing_fault():
        note = f"{fault} {note}".rstrip()
    return Listing(["name", "about", "where", "current"], [*rows, *held], note)


def describe_default_target() -> str:
    """Return what a cell asks that names nothing, where no connection is the current one."""
    from gqlnb.client import connections as known
    from gqlnb.client.urls import redact_url

    target, _ = known.resolve_default_target()
    return redact_url(target) if isinstance(target, str) else "the newest server of this notebook"


def describe_target(value: Any) -> str:
    """Return what an object of the notebook is, if it can be asked; else nothing."""
    from gqlnb.client.client import Client
    from gqlnb.engine.schema import Schema
    from gqlnb.engine.schema_adapters import is_schema

    if isinstance(value, Client):
        return f"a client of {value.source}"
    if isinstance(value, Schema):
        return "a schema"
    if isinstance(value, type):
        return ""
    if is_schema(value):
        return f"a schema of {type(value).__module__.partition('.')[0]}"
    return "a server" if type(value).__module__ == "gqlnb.server.background_server" else ""


def run_connect(magic: GraphQLMagic, line: str) -> Any:
    """Enter a connection under a name and make it the current one."""
    from gqlnb.client import connections as known
    from gqlnb.client.auth_headers import parse_header_options
    from gqlnb.client.client import Client

    options = read_line(build_parser("connect"), line)
    headers = parse_header_options(options.header)
    names = magic.names
    if options.target is None and (headers or options.token or options.keep):
        msg = (
            "%graphql connect: --token, --header and --keep need an address: "
            "connect NAME ADDRESS ..."
        )
        raise OptionError(msg)
    if options.target is None and options.name in names and not known.is_known(options.name):
        options.target = options.name
    if options.target is None:
        client = magic.clients.open(options.name, names=names).client
        known.use_connection(options.name)
        return client
    target = names.get(options.target, options.target)

    def make_client(**given: Any) -> Client:
        return Client(target, **{"token": options.token, "headers": headers, **given})

    client = make_client()  # now, so that a wrong address or a missing token is said here
    if options.keep:
        keep_connection(options, target, headers)
    known.register_connection(options.name, make_client, client.source, client)
    known.use_connection(options.name)
    return client


def keep_connection(options: Namespace, target: Any, headers: Mapping[str, str]) -> None:
    """Add a connection to the user's own file, and say so.

    Raises
    ------
    OptionError
        If it is no address, or the file has one of that name.
    """
    from gqlnb.client.connections import save_connection

    if not (isinstance(target, str) and "://" in target):
        msg = f"%graphql connect --keep: {sanitize_text(options.target, 40)!r} is no address to be kept."
        raise OptionError(msg)
    show(Note([f"Kept in {save_connection(options.name, target, options.token, headers)}."]))


def run_use(magic: GraphQLMagic, line: str) -> None:
    """Make a connection, or an object of the notebook, the current one."""
    from gqlnb.client import connections as known

    name = parse_name("use", line)
    if name in magic.names and not known.is_known(name):
        run_connect(magic, name)
    else:
        known.use_connection(name)


def run_close(_magic: GraphQLMagic, line: str) -> None:
    """Close a connection; if it was the current one, none is then."""
    from gqlnb.client import connections as known

    known.close_client(parse_name("close", line))


@contextmanager
def open_client(magic: GraphQLMagic, options: Namespace) -> Iterator[CellTarget]:
    """Open the client that a line means, and close it if it was made for this line alone."""
    from gqlnb.client.auth_headers import parse_header_options

    headers = parse_header_options(options.header)
    found = magic.clients.open(options.connection, headers, names=magic.names)
    try:
        yield found
    finally:
        if found.single_use:
            found.client.close()


def run_schema(magic: GraphQLMagic, line: str) -> Any:
    """Return the documentation of a schema, a type or a field; or its SDL, or its changes."""
    from gqlnb.notebook.schema_docs import SchemaDocs

    options = read_line(build_parser("schema"), line)
    with open_client(magic, options) as found:
        if options.changes:
            return compare_schema(magic, options, found)
        made = SchemaDocs(found.client.schema).build_page(options.type or "")
    return Text(made.sdl) if options.sdl else made


def compare_schema(magic: GraphQLMagic, options: Namespace, found: CellTarget) -> SchemaChanges:
    """Return what has changed in a schema and may break queries, this notebook's first.

    Raises
    ------
    OptionError
        If the line asks for something else beside it.
    """
    if options.type or options.sdl:
        msg = "%graphql schema --changes [FILE] takes no type and no --sdl: it is about all of it."
        raise OptionError(msg)
    since = None if options.changes is True else options.changes
    texts = map(magic.snippets.add_fragments, magic.history.get_texts(found.name))
    made = found.client.schema_changes(since, documents=texts)
    return replace(made, source=found.name)


def run_search(magic: GraphQLMagic, line: str) -> Any:
    """Return what a schema has about some words."""
    from gqlnb.notebook.schema_search import search_schema

    options = read_line(build_parser("search"), line)
    with open_client(magic, options) as found:
        return search_schema(found.client.schema, options.words, max(1, options.limit))


def run_history(magic: GraphQLMagic, line: str) -> Any:
    """Return the operations of this session, or the text of one."""
    options = read_line(build_parser("history"), line)
    if options.number is None:
        return magic.history.build_listing()
    return magic.history.get_text(options.number)


def run_snippets(magic: GraphQLMagic, line: str) -> Any:
    """Return the saved cells, or the text of one."""
    options = read_line(build_parser("snippets"), line)
    if options.name is None:
        return magic.snippets.build_listing()
    return magic.snippets.get_text(options.name)


def run_stars(magic: GraphQLMagic, line: str) -> Any:
    """Return the repositories above a number of stars as a DataFrame."""
    from gqlnb.github.star_query import normalize_typed_query
    from gqlnb.github.star_results import collect_stars

    options = read_line(build_parser("stars"), quote_qualifiers(line))
    client = magic.clients.open(options.connection).client
    query = normalize_typed_query(" ".join(options.query))
    frame = collect_stars(query, limit=options.limit, client=client)
    for note in frame.attrs.get("notes", ()):
        sys.stderr.write(f"{note}\n")
    if options.output is None:
        return frame
    magic.shell.user_ns[options.output] = frame
    return None


def quote_qualifiers(line: str) -> str:
    """Return the line of a search with quotes around its terms.

    Those of ``language:"objective c"`` belong to it, and ``-user:google`` is no option.
    """
    from gqlnb.github.search_syntax import is_qualifier

    def quote_word(word: str) -> str:
        name, colon, _ = word.removeprefix("-").partition(":")
        # The space tells argparse that this is no option.
        return shlex.quote(f" {word}") if colon and is_qualifier(name.lower()) else word

    return " ".join(quote_word(word) for _, word, _ in split_words(line, "%graphql stars"))


def run_serve(magic: GraphQLMagic, line: str) -> Any:
    """Serve a schema of the notebook on ``/graphql``."""
    from gqlnb.server.background_server import serve as start

    options = read_line(build_parser("serve"), line)
    if options.name not in magic.names:
        msg = f"The notebook has no schema called {sanitize_text(options.name, 40)!r}."
        raise TargetError(msg)
    return start(magic.names[options.name], port=options.port)


def run_stop(_magic: GraphQLMagic, line: str) -> None:
    """Close the newest server of this notebook."""
    from gqlnb import background

    read_line(build_parser("stop"), line)
    server = background.servers.get_newest()
    if server is None:
        msg = "No server of this notebook is open."
        raise TargetError(msg)
    server.close()


def parse_name(word: str, line: str) -> str:
    """Read a line of one name.

    Raises
    ------
    OptionError
        If it holds none or more.
    """
    names = line.split()
    if len(names) != 1:
        msg = f"%graphql {word} takes one name; %graphql connections lists them."
        raise OptionError(msg)
    return names[0]


def suggest_subcommand(word: str) -> str:
    """Return which subcommand may have been meant."""
    near = difflib.get_close_matches(word, SUBCOMMANDS, 1)
    return f" Did you mean {near[0]!r}?" if near else ""


SUBCOMMANDS: dict[str, Callable[[GraphQLMagic, str], Any]] = {
    "connections": run_connections,
    "connect": run_connect,
    "use": run_use,
    "close": run_close,
    "schema": run_schema,
    "search": run_search,
    "stars": run_stars,
    "history": run_history,
    "serve": run_serve,
    "stop": run_stop,
    "snippets": run_snippets,
}
REPLAYABLE = frozenset({"schema", "search", "stars"})  # those that a recording may answer
