"""The subcommands of ``%graphql``: each reads its words and calls one function."""

from __future__ import annotations

import difflib
import shlex
import sys
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gqlnb.errors import OptionError, TargetError, plain
from gqlnb.notebook.options import read_line, words
from gqlnb.notebook.parsers import parser
from gqlnb.notebook.shown import Listing, Note, Text, show

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator, Mapping

    from gqlnb.client.drift import SchemaChanges
    from gqlnb.notebook.clients import Opened
    from gqlnb.notebook.magic import GraphQLMagic

__all__ = ["ASKING", "SUBCOMMANDS", "askable", "meant", "run_subcommand"]


def run_subcommand(magic: GraphQLMagic, word: str, line: str) -> Any:
    """Run ``%graphql WORD LINE``."""
    from gqlnb.github.entry import enter

    enter()
    return SUBCOMMANDS[word](magic, line)


def connections(magic: GraphQLMagic, line: str) -> Any:
    """Return what can be asked: the connections by name, and what the notebook holds."""
    from gqlnb.client import connections as known
    from gqlnb.client.listed import listing_fault

    read_line(parser("connections"), line)
    current = known.current()
    rows = [(it.name, it.about, it.place, it.name == current) for it in known.known()]
    names = {row[0] for row in rows}
    held = [
        (name, about, "the notebook", False)
        for name, value in magic.names.items()
        if name not in names and name[:1] != "_" and (about := askable(value))
    ]
    note = "" if current else f"No connection is the current one: a bare cell asks {bare()}."
    if fault := listing_fault():
        note = f"{fault} {note}".rstrip()
    return Listing(["name", "about", "where", "current"], [*rows, *held], note)


def bare() -> str:
    """Return what a cell asks that names nothing, where no connection is the current one."""
    from gqlnb.client import connections as known
    from gqlnb.client.addresses import shown

    target, _ = known.chosen()
    return shown(target) if isinstance(target, str) else "the newest server of this notebook"


def askable(value: Any) -> str:
    """Return what an object of the notebook is, if it can be asked; else nothing."""
    from gqlnb.client.client import Client
    from gqlnb.engine.adopting import is_schema
    from gqlnb.engine.schema import Schema

    if isinstance(value, Client):
        return f"a client of {value.source}"
    if isinstance(value, Schema):
        return "a schema"
    if isinstance(value, type):
        return ""
    if is_schema(value):
        return f"a schema of {type(value).__module__.partition('.')[0]}"
    return "a server" if type(value).__module__ == "gqlnb.server.thread" else ""


def connect(magic: GraphQLMagic, line: str) -> Any:
    """Enter a connection under a name and make it the current one."""
    from gqlnb.client import connections as known
    from gqlnb.client.client import Client
    from gqlnb.client.secrets import headers_of

    options = read_line(parser("connect"), line)
    headers = headers_of(options.header)
    names = magic.names
    if options.target is None and (headers or options.token or options.keep):
        msg = (
            "%graphql connect: --token, --header and --keep need an address: "
            "connect NAME ADDRESS ..."
        )
        raise OptionError(msg)
    if options.target is None and options.name in names and not known.exists(options.name):
        options.target = options.name
    if options.target is None:
        client = magic.clients.open(options.name, names=names).client
        known.use(options.name)
        return client
    target = names.get(options.target, options.target)

    def make(**given: Any) -> Client:
        return Client(target, **{"token": options.token, "headers": headers, **given})

    client = make()  # now, so that a wrong address or a missing token is said here
    if options.keep:
        kept(options, target, headers)
    known.register(options.name, make, client.source, client)
    known.use(options.name)
    return client


def kept(options: Namespace, target: Any, headers: Mapping[str, str]) -> None:
    """Add a connection to the user's own file, and say so.

    Raises
    ------
    OptionError
        If it is no address, or the file has one of that name.
    """
    from gqlnb.client.listed import keep

    if not (isinstance(target, str) and "://" in target):
        msg = f"%graphql connect --keep: {plain(options.target, 40)!r} is no address to be kept."
        raise OptionError(msg)
    show(Note([f"Kept in {keep(options.name, target, options.token, headers)}."]))


def use(magic: GraphQLMagic, line: str) -> None:
    """Make a connection, or an object of the notebook, the current one."""
    from gqlnb.client import connections as known

    name = one_name("use", line)
    if name in magic.names and not known.exists(name):
        connect(magic, name)
    else:
        known.use(name)


def close(_magic: GraphQLMagic, line: str) -> None:
    """Close a connection; if it was the current one, none is then."""
    from gqlnb.client import connections as known

    known.close(one_name("close", line))


@contextmanager
def opened(magic: GraphQLMagic, options: Namespace) -> Iterator[Opened]:
    """Open the client that a line means, and close it if it was made for this line alone."""
    from gqlnb.client.secrets import headers_of

    headers = headers_of(options.header)
    found = magic.clients.open(options.connection, headers, names=magic.names)
    try:
        yield found
    finally:
        if found.own:
            found.client.close()


def schema(magic: GraphQLMagic, line: str) -> Any:
    """Return the documentation of a schema, a type or a field; or its SDL, or its changes."""
    from gqlnb.notebook.schemadocs import page

    options = read_line(parser("schema"), line)
    with opened(magic, options) as found:
        if options.changes:
            return changes(magic, options, found)
        made = page(found.client.schema, options.type)
    return Text(made.sdl) if options.sdl else made


def changes(magic: GraphQLMagic, options: Namespace, found: Opened) -> SchemaChanges:
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
    texts = map(magic.snippets.completed, magic.history.texts(found.name))
    made = found.client.schema_changes(since, documents=texts)
    return replace(made, source=found.name)


def search(magic: GraphQLMagic, line: str) -> Any:
    """Return what a schema has about some words."""
    from gqlnb.notebook.searching import search as look

    options = read_line(parser("search"), line)
    with opened(magic, options) as found:
        return look(found.client.schema, options.words, max(1, options.limit))


def history(magic: GraphQLMagic, line: str) -> Any:
    """Return the operations of this session, or the text of one."""
    options = read_line(parser("history"), line)
    if options.number is None:
        return magic.history.listing()
    return magic.history.text(options.number)


def snippets(magic: GraphQLMagic, line: str) -> Any:
    """Return the saved cells, or the text of one."""
    options = read_line(parser("snippets"), line)
    if options.name is None:
        return magic.snippets.listing()
    return magic.snippets.text(options.name)


def stars(magic: GraphQLMagic, line: str) -> Any:
    """Return the repositories above a number of stars as a DataFrame."""
    from gqlnb.github.expressions import typed
    from gqlnb.github.starsearch import collect

    options = read_line(parser("stars"), kept_whole(line))
    client = magic.clients.open(options.connection).client
    query = typed(" ".join(options.query))
    frame = collect(query, limit=options.limit, client=client)
    for note in frame.attrs.get("notes", ()):
        sys.stderr.write(f"{note}\n")
    if options.output is None:
        return frame
    magic.shell.user_ns[options.output] = frame
    return None


def kept_whole(line: str) -> str:
    """Return the line of a search with quotes around its terms.

    Those of ``language:"objective c"`` belong to it, and ``-user:google`` is no option.
    """
    from gqlnb.github.qualifiers import is_qualifier

    def whole(word: str) -> str:
        name, colon, _ = word.removeprefix("-").partition(":")
        # The space tells argparse that this is no option.
        return shlex.quote(f" {word}") if colon and is_qualifier(name.lower()) else word

    return " ".join(whole(word) for _, word, _ in words(line, "%graphql stars"))


def serve(magic: GraphQLMagic, line: str) -> Any:
    """Serve a schema of the notebook on ``/graphql``."""
    from gqlnb.server.thread import serve as start

    options = read_line(parser("serve"), line)
    if options.name not in magic.names:
        msg = f"The notebook has no schema called {plain(options.name, 40)!r}."
        raise TargetError(msg)
    return start(magic.names[options.name], port=options.port)


def stop(_magic: GraphQLMagic, line: str) -> None:
    """Close the newest server of this notebook."""
    from gqlnb import runtime

    read_line(parser("stop"), line)
    server = runtime.servers.newest()
    if server is None:
        msg = "No server of this notebook is open."
        raise TargetError(msg)
    server.close()


def one_name(word: str, line: str) -> str:
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


def meant(word: str) -> str:
    """Return which subcommand may have been meant."""
    near = difflib.get_close_matches(word, SUBCOMMANDS, 1)
    return f" Did you mean {near[0]!r}?" if near else ""


SUBCOMMANDS: dict[str, Callable[[GraphQLMagic, str], Any]] = {
    "connections": connections,
    "connect": connect,
    "use": use,
    "close": close,
    "schema": schema,
    "search": search,
    "stars": stars,
    "history": history,
    "serve": serve,
    "stop": stop,
    "snippets": snippets,
}
ASKING = frozenset({"schema", "search", "stars"})  # those that a recording may answer
