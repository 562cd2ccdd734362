"""The subcommands of ``%graphql``; :mod:`gqlnb.notebook.magic_options` reads their words."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from gqlnb import background
from gqlnb.client import connections
from gqlnb.client.client import Client
from gqlnb.client.credentials import parse_header_options, redact_url
from gqlnb.client.response_cache import open_response_cache
from gqlnb.document.scalar_values import format_short_age
from gqlnb.errors import OptionError, TargetError, TransportError, format_count, sanitize_text
from gqlnb.github.builtin_connections import register_connections
from gqlnb.github.search_syntax import is_qualifier
from gqlnb.github.star_query import normalize_typed_query
from gqlnb.notebook.display import HelpText, Listing, Note, Text, add_error_lines, show
from gqlnb.notebook.magic_options import build_parser, read_line, split_words
from gqlnb.notebook.notebook_state import CellTarget, NotebookState, describe_target, list_targets
from gqlnb.notebook.schema_docs import SchemaDocs, SchemaPage
from gqlnb.notebook.schema_search import search_schema
from gqlnb.server.background_server import Server, serve

if TYPE_CHECKING:
    from argparse import Namespace

    import pandas as pd

    from gqlnb.client.endpoint_report.report import EndpointReport
    from gqlnb.client.schema_diff import SchemaChanges

TARGETS_LISTED = 5
Names: TypeAlias = MutableMapping[str, object]


def run_subcommand(state: NotebookState, names: Names, word: str, line: str) -> object:
    """Run ``%graphql WORD LINE``."""
    register_connections()
    if word in {"use", "close"} and len(line.split()) != 1:
        msg = f"%graphql {word} takes one name; %graphql connections lists them."
        raise OptionError(msg)
    options = read_line(build_parser(word), quote_qualifiers(line) if word == "stars" else line)
    return SUBCOMMANDS[word](state, names, options)


def describe_subcommand(word: str) -> HelpText:
    """Return the help of a subcommand."""
    return HelpText(f"{SUBCOMMANDS[word].__doc__}\n\n{build_parser(word).format_help()}")


def list_subcommands(state: NotebookState) -> Listing:
    """List the subcommands and their summaries."""
    rows = [
        (f"%graphql {name}", str(function.__doc__).partition("\n")[0])
        for name, function in SUBCOMMANDS.items()
    ]
    current = connections.get_current_name()
    asks = f"The current connection is {current}. " if current else ""
    ran = state.history.count
    count = f"{format_count(ran, 'operation')} in %graphql history. " if ran else ""
    note = f"{asks}{count}An operation: %graphql {{ hello }}. All options: %%graphql --help"
    return Listing(["command", "about"], rows, note)


def run_connections(_state: NotebookState, names: Names, _options: Namespace) -> Listing:
    """List the connections, and the objects of the notebook that can be queried."""
    current = connections.get_current_name()
    rows = [
        (it.name, it.description, it.location, it.name == current)
        for it in connections.list_connections()
    ]
    listed = {row[0] for row in rows}
    rows += [
        (name, describe_target(names[name]), "the notebook", False)
        for name in list_targets(names)
        if name not in listed
    ]
    note = ""
    if not current:
        target, _ = connections.resolve_default_target()
        default = "the newest server of this notebook"
        if isinstance(target, str):
            default = redact_url(target)
        note = f"No connection is the current one: a bare cell asks {default}."
    _, fault = connections.read_connection_files()
    if fault:
        # A fault in a settings file must not hide the connections of the other.
        note = f"{fault} {note}".rstrip()
    return Listing(["name", "about", "where", "current"], rows, note)


def run_connect(state: NotebookState, names: Names, options: Namespace) -> Client:
    """Register a connection under a name and make it the current one."""
    headers = parse_header_options(options.header)
    if options.target is None and (headers or options.token or options.keep):
        msg = (
            "%graphql connect: --token, --header and --keep need an address: "
            "connect NAME ADDRESS ..."
        )
        raise OptionError(msg)
    if options.target is None and options.name in names and not connections.is_known(options.name):
        options.target = options.name
    if options.target is None and options.name.startswith(("http://", "https://")):
        msg = "%graphql connect: an address needs a name before it: connect NAME ADDRESS"
        raise OptionError(msg)
    if options.target is None:
        client = state.clients.open(options.name, names=names).client
        connections.use_connection(options.name)
        return client
    target = names.get(options.target, options.target)

    def create_client(**overrides: object) -> Client:
        return Client(target, **{"token": options.token, "headers": headers, **overrides})

    client = create_client()  # now, to report a wrong address or a missing token at once
    if options.keep:
        if not (isinstance(target, str) and "://" in target):
            label = sanitize_text(options.target, 40)
            msg = f"%graphql connect --keep: {label!r} is not an address that can be saved."
            raise OptionError(msg)
        path = connections.save_connection(options.name, target, options.token, headers)
        show(Note([f"Kept in {path}."]))
    connections.register_connection(options.name, create_client, client.source, client)
    connections.use_connection(options.name)
    return client


def run_use(state: NotebookState, names: Names, options: Namespace) -> None:
    """Make a connection, or an object of the notebook, the current one."""
    if options.name in names and not connections.is_known(options.name):
        run_connect(state, names, read_line(build_parser("connect"), options.name))
    else:
        connections.use_connection(options.name)


def run_close(_state: NotebookState, _names: Names, options: Namespace) -> None:
    """Close a connection; the current one is then unset."""
    connections.close_client(options.name)


@contextmanager
def open_client(state: NotebookState, names: Names, options: Namespace) -> Iterator[CellTarget]:
    """Open the client of a line, and close it if it was created for this line alone."""
    headers = parse_header_options(options.header)
    target = state.clients.open(options.connection, headers, names=names)
    try:
        yield target
    except TransportError as error:
        if options.connection is None:  # another one may be meant
            known = list_targets(names)
            listed = ", ".join(known[:TARGETS_LISTED])
            choice = f"; this notebook has: {listed}" if known else ", such as -c demo"
            use = f"%graphql use {known[0] if known else 'demo'}"
            add_error_lines(error, f"Or choose one with -c NAME{choice}. For all cells: {use}")
        raise
    finally:
        if target.single_use:
            target.client.close()


def run_schema(
    state: NotebookState, names: Names, options: Namespace
) -> SchemaPage | SchemaChanges | Text:
    """Show the documentation, the SDL or the changes of a schema."""
    read_schema_words(names, options)
    with open_client(state, names, options) as target:
        if options.changes:
            return find_changes(state, options, target)
        page = SchemaDocs(target.client.schema).build_page(options.type or "")
    return Text(page.sdl) if options.sdl else page


def read_schema_words(names: Names, options: Namespace) -> None:
    """Set the connection and the type of ``[CONNECTION] [TYPE]``, each of which may be missing.

    They may stand in the other order too.
    """
    words = options.words
    if words[:1] == ["search"] and len(words) > 1:
        msg = f"To search in a schema: %graphql search {sanitize_text(words[1], 40)}"
        raise OptionError(msg)
    if len(words) == 2 and not is_target(names, words[0]) and is_target(names, words[1]):
        words = words[::-1]
    # The first word may be either: a type may bear the name of a connection, which then counts.
    if options.connection is None and (len(words) > 1 or (words and is_target(names, words[0]))):
        options.connection, *words = words
    if len(words) > 1:
        msg = "%graphql schema takes a connection and a type, such as: %graphql schema demo User"
        raise OptionError(msg)
    options.type = words[0] if words else None


def is_target(names: Names, word: str) -> bool:
    """Return whether a word names a connection, or an object of the notebook to be queried."""
    return connections.is_known(word) or bool(describe_target(names.get(word)))


def find_changes(state: NotebookState, options: Namespace, target: CellTarget) -> SchemaChanges:
    """Find the changes of a schema that may break queries, those of this notebook first."""
    if options.type or options.sdl:
        msg = "%graphql schema --changes [FILE] takes no type and no --sdl: it is about all of it."
        raise OptionError(msg)
    since = None if options.changes is True else options.changes
    # With their saved fragments: the history holds the texts as they stand in the cells.
    entries = [it for it in state.history.entries if it.connection == target.name]
    texts = (state.snippets.add_fragments(it.text)[0] for it in entries)
    changes = target.client.schema_changes(since, documents=texts)
    return replace(changes, source=target.name)


def run_search(state: NotebookState, names: Names, options: Namespace) -> Listing:
    """Search the names and descriptions of a schema."""
    words = options.words
    if options.connection is None and len(words) > 1 and is_target(names, words[0]):
        options.connection, *options.words = words
    with open_client(state, names, options) as target:
        return search_schema(target.client.schema, options.words, max(1, options.limit))


def run_endpoint(state: NotebookState, names: Names, options: Namespace) -> EndpointReport:
    """Find out by experiment how an endpoint behaves."""
    options.connection = options.connection or options.name
    with open_client(state, names, options) as target:
        return target.client.describe(
            options.list,
            max_requests=options.max_requests,
            dry_run=options.dry_run,
            keep=options.keep,
        )


def run_cache(_state: NotebookState, _names: Names, options: Namespace) -> Listing | Text:
    """List the remembered answers, or remove them with: cache clear."""
    cache = open_response_cache()
    if options.action == "clear":
        return Text(f"Removed {format_count(cache.clear(), 'answer')}.")
    entries, now = cache.list_entries(), time.time()
    rows = [
        (it.source, it.title, f"{format_short_age(now - it.created)} ago", it.size)
        for it in entries
    ]
    total = sum(it.size for it in entries)
    note = (
        f"{format_count(len(rows), 'answer')}, {total:,} bytes. %graphql cache clear removes them."
    )
    return Listing(["endpoint", "operation", "cached", "bytes"], rows, note)


def run_history(state: NotebookState, _names: Names, options: Namespace) -> Listing | Text:
    """List the operations of the session, or show the text of one."""
    number = options.number
    return state.history.build_listing() if number is None else state.history.get_text(number)


def run_snippets(state: NotebookState, _names: Names, options: Namespace) -> Listing | Text:
    """List the saved cells, or show the text of one."""
    name = options.name
    return state.snippets.build_listing() if name is None else state.snippets.get_text(name)


def run_stars(state: NotebookState, _names: Names, options: Namespace) -> pd.DataFrame | None:
    """Search repositories above a number of stars."""
    from gqlnb.github.star_results import collect_stars  # loads numpy

    client = state.clients.open(options.connection).client
    query = normalize_typed_query(" ".join(options.query))
    frame = collect_stars(query, limit=options.limit, client=client)
    for note in frame.attrs.get("notes", ()):
        sys.stderr.write(f"{note}\n")
    if options.output is None:
        return frame
    state.shell.user_ns[options.output] = frame
    return None


def quote_qualifiers(line: str) -> str:
    """Quote the qualifiers of a search for the shell-like parser."""
    # The quotes in `language:"objective c"` are part of the term, and `-user:google` is not an
    # option.
    words = []
    for _, word, _ in split_words(line, "%graphql stars"):
        name, colon, _ = word.removeprefix("-").partition(":")
        # A word that starts with a space is not an option to argparse.
        is_term = colon and is_qualifier(name.lower())
        words.append(shlex.quote(f" {word}") if is_term else word)
    return " ".join(words)


def run_serve(_state: NotebookState, names: Names, options: Namespace) -> Server:
    """Serve a schema of the notebook on /graphql."""
    if options.name not in names:
        msg = f"The notebook has no schema called {sanitize_text(options.name, 40)!r}."
        raise TargetError(msg)
    return serve(names[options.name], port=options.port)


def run_stop(_state: NotebookState, names: Names, options: Namespace) -> Note:
    """Close a server of this notebook: by its variable, port or address, or else the newest."""
    word = options.server
    servers = background.servers.list_open()
    if not servers:
        msg = "No server of this notebook is open."
        raise TargetError(msg)
    addresses = [it.url for it in servers]
    matches = [
        it
        for it in servers
        if not word
        or it is names.get(word)
        or word.rstrip("/") in (it.url, str(urlsplit(it.url).port))
    ]
    if not matches:
        msg = f"No open server is {sanitize_text(word, 80)!r}. Open: {', '.join(addresses)}."
        raise TargetError(msg)
    matches[-1].close()
    addresses.remove(matches[-1].url)
    others = f" Still open: {', '.join(addresses)}." if addresses else ""
    return Note([f"Closed {matches[-1].url}.{others}"])


# The first line of a docstring is shown by ``%graphql`` and by completion.
SUBCOMMANDS: Mapping[str, Callable[[NotebookState, Names, Namespace], object]] = {
    "connections": run_connections,
    "connect": run_connect,
    "use": run_use,
    "close": run_close,
    "schema": run_schema,
    "search": run_search,
    "endpoint": run_endpoint,
    "stars": run_stars,
    "cache": run_cache,
    "history": run_history,
    "serve": run_serve,
    "stop": run_stop,
    "snippets": run_snippets,
}
REPLAYABLE = frozenset({"schema", "search", "stars"})  # subcommands that a recording can answer
