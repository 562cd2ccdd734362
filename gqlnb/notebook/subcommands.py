"""The subcommands of ``%graphql``: each reads its words and calls one function."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from gqlnb.errors import OptionError, TargetError, plain
from gqlnb.notebook.options import Parser, add_header, read_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb.notebook.magic import GraphQLMagics

__all__ = ["SUBCOMMANDS", "run_subcommand"]


def run_subcommand(magics: GraphQLMagics, word: str, line: str) -> Any:
    """Run ``%graphql WORD LINE``."""
    from gqlnb.github.entry import enter

    enter()
    return SUBCOMMANDS[word](magics, line)


def connections(_magics: GraphQLMagics, line: str) -> Any:
    """Return the connections as a DataFrame: name, what it is, whether it is the current one."""
    import pandas as pd

    from gqlnb.client import connections as known

    read_line(Parser("%graphql connections"), line)
    rows = [(c.name, c.about, c.name == known.current()) for c in known.known()]
    return pd.DataFrame(rows, columns=["name", "about", "current"])


def connect(magics: GraphQLMagics, line: str) -> Any:
    """Enter a connection under a name and make it the current one."""
    from gqlnb.client import connections as known
    from gqlnb.client.client import Client
    from gqlnb.client.secrets import headers_of

    parser = Parser("%graphql connect")
    parser.add_argument("name")
    parser.add_argument("target", nargs="?")
    parser.add_argument("--token")
    add_header(parser)
    options = read_line(parser, line)
    headers = headers_of(options.header)
    if options.target is None and (headers or options.token):
        msg = "%graphql connect: --token and --header need an address: connect NAME ADDRESS ..."
        raise OptionError(msg)
    client = magics.client(options.name) if options.target is None else None
    if options.target is not None:
        target = magics.shell.user_ns.get(options.target, options.target)

        def make(**given: Any) -> Client:
            return Client(target, **{"token": options.token, "headers": headers, **given})

        client = make()  # now, so that a wrong address or a missing token is said here
        known.register(options.name, make, client.source)
    known.use(options.name)
    return client


def use(_magics: GraphQLMagics, line: str) -> None:
    """Make a connection the current one."""
    from gqlnb.client import connections as known

    known.use(one_name("use", line))


def close(_magics: GraphQLMagics, line: str) -> None:
    """Close a connection; if it was the current one, none is then."""
    from gqlnb.client import connections as known

    known.close(one_name("close", line))


def schema(magics: GraphQLMagics, line: str) -> Any:
    """Return the schema of a connection, or one type of it, as SDL."""
    from graphql import print_schema, print_type

    from gqlnb.client.secrets import headers_of

    parser = Parser("%graphql schema")
    parser.add_argument("type", nargs="?")
    parser.add_argument("-c", "--connection")
    add_header(parser)
    options = read_line(parser, line)
    headers = headers_of(options.header)
    client = magics.client(options.connection, headers)
    try:
        found = client.schema
    finally:
        if headers:  # it was made for this line
            client.close()
    if options.type is None:
        return Text(print_schema(found))
    kind = found.type_map.get(options.type)
    if kind is None:
        msg = f"The schema has no type {plain(options.type, 40)!r}."
        raise TargetError(msg)
    return Text(print_type(kind))


def stars(magics: GraphQLMagics, line: str) -> Any:
    """Return the repositories above a number of stars as a DataFrame."""
    from gqlnb.github.starsearch import collect

    parser = Parser("%graphql stars")
    parser.add_argument("query", nargs="+")
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("-c", "--connection", default="demo")
    parser.add_argument("-o", "--output")
    options = read_line(parser, line)
    client = magics.client(options.connection)
    query = " ".join(options.query)
    asked = int(query) if query.isdecimal() else query  # 1000 means ">1000", as in Python
    frame = collect(asked, limit=options.limit, client=client)
    for note in frame.attrs.get("notes", ()):
        sys.stderr.write(f"{note}\n")
    if options.output is None:
        return frame
    magics.shell.user_ns[options.output] = frame
    return None


def serve(magics: GraphQLMagics, line: str) -> Any:
    """Serve a schema of the notebook on ``/graphql``."""
    from gqlnb.server.thread import serve as start

    parser = Parser("%graphql serve")
    parser.add_argument("name")
    parser.add_argument("--port", type=int, default=4000)
    options = read_line(parser, line)
    if options.name not in magics.shell.user_ns:
        msg = f"The notebook has no schema called {plain(options.name, 40)!r}."
        raise TargetError(msg)
    return start(magics.shell.user_ns[options.name], port=options.port)


def stop(_magics: GraphQLMagics, line: str) -> None:
    """Close the newest server of this notebook."""
    from gqlnb import runtime

    read_line(Parser("%graphql stop"), line)
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


class Text(str):
    """Text that a notebook shows as it is, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


SUBCOMMANDS: dict[str, Callable[[GraphQLMagics, str], Any]] = {
    "connections": connections,
    "connect": connect,
    "use": use,
    "close": close,
    "schema": schema,
    "stars": stars,
    "serve": serve,
    "stop": stop,
}
