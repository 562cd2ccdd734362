"""The kernel's side of the panel in JupyterLab: one method per question, without secrets.

The panel asks by completion requests (a prefix and JSON): they wait behind a running cell, as its
actions shall, and need no comm that a restart would break. What waits for an endpoint runs in a
thread, and the panel asks again until it is done, so that cells run meanwhile.
"""

from __future__ import annotations

import gzip
import json
import os
from contextlib import suppress
from time import perf_counter
from typing import TYPE_CHECKING, Any

from graphql import get_named_type, is_abstract_type, is_composite_type, parse

from gqlnb import background
from gqlnb.client import connections
from gqlnb.client.client import Client
from gqlnb.client.credentials import is_secret_name, redact_url
from gqlnb.document.scalar_values import format_short_age
from gqlnb.errors import GqlnbError, TargetError, format_count, sanitize_text
from gqlnb.github.builtin_connections import DEMO, register_connections
from gqlnb.notebook import schema_search
from gqlnb.notebook.cell_edits import (
    extract_fragment,
    find_paths,
    find_place,
    rename_at,
    write_operation,
    write_selection,
)
from gqlnb.notebook.magic_options import write_cell
from gqlnb.notebook.notebook_state import describe_target, list_targets
from gqlnb.notebook.schema_docs import SchemaDocs, get_deprecation_reason
from gqlnb.notebook.subcommands import run_use
from gqlnb.result.list_verdicts import choose_weakest
from gqlnb.result.result import Result
from gqlnb.server.page import BUNDLE_FOLDER, MISSING_BUNDLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphql import GraphQLSchema

    from gqlnb.client.connections import NamedConnection
    from gqlnb.notebook.notebook_state import HistoryEntry, NotebookState

HITS = 50
SHOWN = 50  # operations of the history, and entries of a section of documentation
SAMPLE = 5  # rows
NEWEST = 64  # answers of threads that wait for the panel to ask again
REMOTE = ("load", "test", "sample")  # questions that wait for an endpoint
FORMATTER = "prettier.js.gz"
COMPLETENESS = {"complete": "complete", "more": "more exist", "unknown": "perhaps more"}
Answer = dict[str, Any]


class Panel:
    """Answers the panel.

    Parameters
    ----------
    state
        The state of the notebook.
    """

    def __init__(self, state: NotebookState) -> None:
        self._state = state
        self._jobs: dict[str, Answer] = {}

    def answer(self, text: str) -> Answer:
        """Answer a question: JSON with ``do``, the name of a method below, and its arguments."""
        message = json.loads(text)
        word, job = message.pop("do"), message.pop("job", "")

        def work() -> None:
            try:
                self._jobs[job] = getattr(self, f"do_{word}")(**message)
            except Exception as error:  # noqa: BLE001 - the panel is the only place to report it
                kind = "" if isinstance(error, GqlnbError) else f"{type(error).__name__}: "
                self._jobs[job] = {"error": f"{kind}{sanitize_text(error, 1000)}"}

        register_connections()
        if job not in self._jobs:
            for old in [*self._jobs][:-NEWEST]:
                del self._jobs[old]
            self._jobs[job] = {"waiting": True}
            if word in REMOTE:
                background.start_thread(work, "gqlnb-panel")
            else:
                work()
        return self._jobs[job]

    def _open(self, name: str) -> Client:
        """Return the client of an endpoint; it is not opened if that would ask for a token."""
        if is_closed(name) and not connections.can_open_unattended(name):
            msg = f"{name} asks for its token. Press Connect: a cell asks for it."
            raise TargetError(msg)
        return self._state.clients.open(name).client

    def _get_schema(self, name: str) -> GraphQLSchema:
        """Return a schema that is known already; nothing is sent."""
        schema = None if is_closed(name) else peek_schema(self._open(name))
        if schema is None:
            msg = f"The schema of {name} is not loaded."
            raise TargetError(msg)
        return schema

    def do_state(self) -> Answer:
        """Return endpoints, history and saved cells; nothing is opened or sent."""
        current, objects = connections.get_current_name() or "", self._state.shell.user_ns
        found = [describe_connection(it) for it in connections.list_connections()]
        names = {it["name"] for it in found}
        found += [
            {
                "name": name,
                "where": "the notebook",
                "about": describe_target(value),
                **(describe_client(value) if isinstance(value, Client) else {"local": True}),
            }
            for name in list_targets(objects)
            if name not in names and (value := objects[name]) is not None
        ]
        found += [
            {"name": it.url, "where": "this process", "about": "a server"}
            for it in background.servers.list_open()
            if not any(it is value for value in objects.values())
        ]
        snippets = self._state.snippets
        return {
            "endpoints": found,
            "current": current,
            "default": current or DEMO,
            "fault": connections.read_connection_files()[1],
            "variables": sorted(name for name in os.environ if is_secret_name(name)),
            "history": [describe_entry(it) for it in self._state.history.iterate_latest()][:SHOWN],
            "snippets": [
                {"name": name, "cell": f"%%graphql\n{snippets.get_text(name)}"}
                for name in reversed(snippets.get_names())
            ],
        }

    def do_use(self, name: str) -> Answer:
        """Make an endpoint the current one; nothing is sent."""
        run_use(self._state, self._state.shell.user_ns, name)
        return {}

    def do_add(self, name: str, url: str, token: str) -> Answer:
        """Save an endpoint in the user's file; the token is a source, never a text of the page."""
        if token not in {"", "prompt", f"keyring:{name}", *(f"env:{it}" for it in os.environ)}:
            msg = "Choose the source of the token from the list."
            raise TargetError(msg)
        return {"path": connections.save_connection(name, url, token, {})}

    def do_change(self, name: str, new_name: str | None) -> Answer:
        """Rename an endpoint in its file; None removes it."""
        return {"path": connections.change_connection(name, new_name)}

    def do_children(self, target: str, path: Sequence[str]) -> Answer:
        """Return the rows of the tree below a path; below none the root types."""
        schema = self._get_schema(target)
        if not path:
            roots = (schema.query_type, schema.mutation_type, schema.subscription_type)
            return {"rows": [describe_row(it.name, it, it) for it in roots if it]}
        owner, _, name = path[-1].partition(".")
        kind: Any = schema.type_map[owner]
        kind = get_named_type(kind.fields[name].type) if name else kind
        rows = [
            describe_row(f"{kind.name}.{name}", field, get_named_type(field.type))
            for name, field in getattr(kind, "fields", {}).items()
        ]
        members = schema.get_possible_types(kind) if is_abstract_type(kind) else ()
        return {"rows": rows + [describe_row(it.name, it, it) for it in members]}

    def do_search(self, target: str, text: str) -> Answer:
        """Search names and descriptions."""
        index = schema_search.get_index(self._get_schema(target))
        words = schema_search.split_search_words(text[:200])
        hits, total = index.search(words, HITS)
        near = [] if hits or not words else index.suggest_names(words[-1])
        return {"rows": [it._asdict() for it in hits], "total": total, "near": near}

    def do_document(self, target: str, place: str) -> Answer:
        """Return the documentation of a place as escaped HTML."""
        page = SchemaDocs(self._get_schema(target)).build_page(place)
        return {"html": page.to_html(SHOWN, SHOWN)}

    def do_insert(self, target: str, path: Sequence[str]) -> Answer:
        """Return a field with its required arguments and a first selection."""
        return {"text": write_selection(self._get_schema(target), path[-1])}

    def do_write(self, target: str, path: Sequence[str]) -> Answer:
        """Return a cell that selects a field, with variables for the required arguments."""
        return {"cell": write_cell(*write_operation(self._get_schema(target), path), target)}

    def do_paths(self, target: str, place: str) -> Answer:
        """Return the shortest paths to a type, or to the type that has a field."""
        kind = place.partition(".")[0]
        rows = [
            {"path": path, "text": " / ".join(it.partition(".")[2] or f"on {it}" for it in path)}
            for path in find_paths(self._get_schema(target), kind)
        ]
        return {"kind": kind, "rows": rows}

    def do_edit(self, action: str, code: str, start: int, end: int, name: str = "") -> Answer:
        """Return a cell after an edit, or the place of the name at the cursor."""

        def find_schema(target: str | None) -> tuple[str, GraphQLSchema]:
            named = target or connections.get_current_name() or DEMO
            return named, self._get_schema(named)

        if action == "document":
            target, place = find_place(find_schema, code, start)
            return {"target": target, "place": place}
        if action == "rename":
            return {"code": rename_at(code, start, name)}
        return {"code": extract_fragment(find_schema, code, start, end, name)}

    def do_formatter(self) -> Answer:
        """Return Prettier with its plugin for GraphQL, as a JavaScript module."""
        try:
            return {"text": gzip.decompress((BUNDLE_FOLDER / FORMATTER).read_bytes()).decode()}
        except FileNotFoundError:
            raise TargetError(MISSING_BUNDLE.replace("GraphiQL", "Prettier", 1)) from None

    def do_compare(self, text: str, formatted: str) -> Answer:
        """Refuse a formatted operation that says something else than it did before.

        Prettier 3.10 takes the spaces away that end the lines of a block string.
        """
        if parse(text, no_location=True) != parse(formatted, no_location=True):
            msg = (
                "Formatting would change the text between three quotes (spaces at the ends of its "
                "lines), so the cell stays as it was. Write the text as a variable."
            )
            raise TargetError(msg)
        return {}

    def do_load(self, target: str) -> Answer:
        """Load a schema, and build its index, before the first key stroke."""
        schema = self._open(target).schema
        schema_search.get_index(schema)
        return {"types": len(schema_search.list_own_types(schema))}

    def do_test(self, target: str) -> Answer:
        """Send the smallest operation; return whether the endpoint answers, and how fast."""
        client, start = self._open(target), perf_counter()
        client.execute("{ __typename }", validate=False)
        return {"text": f"Answered in {(perf_counter() - start) * 1e3:,.0f} ms."}

    def do_sample(self, target: str, path: Sequence[str]) -> Answer:
        """Send one query; return the first rows as an HTML table."""
        text, variables = write_operation(self._get_schema(target), path)
        if not text.startswith("query"):
            msg = "Only a query is sent for a sample: nothing may change."
            raise TargetError(msg)
        result = self._open(target).execute(text, variables)
        preview = next(iter(result.previews(SAMPLE).values()), None)
        frame = (result.frame() if preview is None else preview.frame).head(SAMPLE)
        html = frame.astype(object).map(shorten_value).to_html(index=False, border=0)
        return {"html": html, "notes": [str(it) for it in result.errors]}


def shorten_value(value: object) -> object:
    """Return a value for a cell of a sample; of inner rows the first member of each."""
    if not isinstance(value, list):
        return value
    return ", ".join(
        str(next(iter(it.values()), "") if isinstance(it, dict) else it) for it in value
    )


def is_closed(name: str) -> bool:
    """Return whether a name is that of a connection without a client."""
    return connections.is_known(name) and not connections.is_open(name)


def peek_schema(client: Client) -> GraphQLSchema | None:
    """Return the schema of a client if it is known; nothing is sent, nor begun in a thread."""
    local = client._local_schema
    return local.graphql if local is not None else client._schema_store.schema  # noqa: SLF001


def describe_connection(connection: NamedConnection) -> Answer:
    """Describe a connection: address, source of its token, file; more if it is open."""
    name, make = connection.name, connection.make_client
    address, client = getattr(make, "url", ""), connections.get_open_client(name)
    return {
        "name": name,
        "about": redact_url(address) if address else connection.description,
        "token": dict(getattr(make, "options", ())).get("token", ""),
        "where": connection.location,
        "editable": name in connections.read_connection_files()[0],
        "asks": client is None and not connections.can_open_unattended(name),
        "local": name == DEMO,
        **(describe_client(client) if client is not None else {}),
    }


def describe_client(client: Client) -> Answer:
    """Describe an open client: address, the sources of its secrets, schema, rate limit."""
    tokens = client._endpoint.credentials.tokens  # noqa: SLF001 - no value of them is shown
    schema, age = peek_schema(client), client._schema_store.age  # noqa: SLF001
    size = "" if schema is None else format_count(len(schema_search.list_own_types(schema)), "type")
    return {
        "about": client.source,
        "token": ", ".join(it.where or "set in the kernel" for it in tokens),
        "schema": size if age is None or not size else f"{size}, {format_short_age(age)} old",
        "budget": str(client.budget),
        "local": client._local_schema is not None,
    }


def describe_row(place: str, definition: Any, kind: object) -> Answer:  # noqa: ANN401 - of a schema
    """Describe a definition as a row of the tree, which opens if it has fields."""
    return {
        "place": place,
        "type": schema_search.describe_kind(definition),
        "description": schema_search.describe_element(definition, 200),
        "deprecated": get_deprecation_reason(definition) is not None,
        "opens": is_composite_type(kind),
    }


def describe_entry(entry: HistoryEntry) -> Answer:
    """Describe an operation of the history, and its rows if its value still exists."""
    value: Any = entry.value()
    rows, state = "", ""
    with suppress(GqlnbError):
        if isinstance(value, Result):
            verdicts = {it.verdict: 1 for it in value.previews(0).values() if it.verdict}
            state = str(choose_weakest(verdicts, "lists") or "")
            rows = format_count(len(value), "row")
            state = value.report.verdict if value.report else state
        elif type(value).__name__ == "DataFrame":
            rows = format_count(len(value), "row")
            state = value.attrs.get("completeness", "")
    fault = "" if entry.outcome == "data" else entry.outcome
    time = "" if entry.seconds is None else f"{entry.seconds * 1e3:.0f} ms"
    parts = (entry.connection, fault, rows, COMPLETENESS.get(state.partition(":")[0]), time)
    return {
        "operation": entry.operation,
        "about": " · ".join(filter(None, parts)),
        "cell": f"%%graphql {entry.connection}\n{entry.text}",
        "text": sanitize_text(entry.text, 120),
    }
