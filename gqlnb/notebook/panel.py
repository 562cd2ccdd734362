"""The kernel's side of the panel in JupyterLab: one method per question, without secrets.

The panel asks by completion requests (a prefix and JSON): they wait behind a running cell, as its
actions shall, and need no comm that a restart would break. What waits for an endpoint runs in a
thread, and the panel repeats the question until it is answered, so that cells run meanwhile.
"""

from __future__ import annotations

import gzip
import json
import os
from argparse import Namespace
from base64 import b64encode
from contextlib import suppress
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any

from graphql import OperationType, get_named_type

from gqlnb import background
from gqlnb.client import connections
from gqlnb.client.client import Client
from gqlnb.client.credentials import is_secret_name
from gqlnb.document.scalar_values import format_short_age
from gqlnb.errors import GqlnbError, TargetError, format_count, sanitize_text
from gqlnb.github.builtin_connections import DEMO, register_connections
from gqlnb.notebook import cell_edits, schema_search
from gqlnb.notebook.completion.completion_context import parse_target
from gqlnb.notebook.magic_options import write_cell
from gqlnb.notebook.notebook_state import is_listed_connection, list_targets
from gqlnb.notebook.schema_docs import SchemaDocs
from gqlnb.notebook.subcommands import run_connections, run_use
from gqlnb.result.list_verdicts import choose_weakest
from gqlnb.result.renderer import MORE_WORDS, render_note
from gqlnb.result.result import Result
from gqlnb.server.page import BUNDLE_FOLDER, MISSING_BUNDLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graphql import GraphQLSchema

    from gqlnb.notebook.notebook_state import HistoryEntry, NotebookState

SHOWN = 50  # hits, operations of the history, entries of a section of documentation
SAMPLE = 5  # rows
REMOTE = ("load", "test", "sample")  # questions that wait for an endpoint
PATIENCE = 0.1  # seconds: what needs no endpoint is answered at once
COMPLETENESS = {"complete": "complete", **MORE_WORDS}
Answer = dict[str, Any]
WAITING: Answer = {"waiting": True}


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
        word, _ = message.pop("do"), message.pop("job")  # which tells it from an equal question

        def work() -> None:
            try:
                self._jobs[text] = getattr(self, f"do_{word}")(**message)
            except Exception as error:  # noqa: BLE001 - the panel is the only place to report it
                kind = "" if isinstance(error, GqlnbError) else f"{type(error).__name__}: "
                self._jobs[text] = {"error": f"{kind}{sanitize_text(error, 1000)}"}

        register_connections()
        if text not in self._jobs:
            self._jobs[text] = WAITING
            if word not in REMOTE:
                work()
            elif (thread := background.start_thread(work, "gqlnb-panel")) is not None:
                thread.join(PATIENCE)
        return WAITING if self._jobs[text] is WAITING else self._jobs.pop(text)

    def _open(self, name: str) -> Client:
        """Return the client of an endpoint; it is not opened if that would ask for a token."""
        can_open = connections.is_open(name) or connections.can_open_unattended(name)
        if connections.is_known(name) and not can_open:
            msg = f"{name} asks for its token. Press Connect: a cell asks for it."
            raise TargetError(msg)
        return self._state.clients.open(name).client

    def _get_schema(self, name: str) -> GraphQLSchema:
        """Return a schema that is known already; nothing is sent."""
        known = connections.is_known(name)
        client = connections.get_open_client(name) if known else self._open(name)
        schema = None if client is None else peek_schema(client)
        if schema is None:
            msg = f"The schema of {name} is not loaded."
            raise TargetError(msg)
        return schema

    def do_state(self) -> Answer:
        """Return endpoints, history and saved cells; nothing is opened or sent."""
        objects = self._state.shell.user_ns
        listing, snippets = run_connections(self._state, objects, Namespace()), self._state.snippets
        endpoints = [
            {"name": name, "about": about, "where": where, **describe_endpoint(name, objects)}
            for name, about, where, _ in listing
        ]
        endpoints += [
            {"name": it.url, "about": "a server", "where": "this process"}
            for it in background.servers.list_open()
            if not any(it is value for value in objects.values())
        ]
        return {
            "endpoints": endpoints,
            "note": listing.note,
            "current": connections.get_current_name(),
            "variables": sorted(name for name in os.environ if is_secret_name(name)),
            "history": [
                describe_entry(it) for it in islice(reversed(self._state.history.entries), SHOWN)
            ],
            "snippets": [
                {"name": name, "cell": f"%%graphql\n{snippets.get_text(name)}"}
                for name in reversed(snippets.saved)
            ],
        }

    def do_use(self, name: str) -> Answer:
        """Make an endpoint the current one; nothing is sent."""
        run_use(self._state, self._state.shell.user_ns, Namespace(name=name))
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
        roots = filter(None, map(schema.get_root_type, OperationType))
        steps: dict[str, Any] = {it.name: it for it in roots}
        if path:
            owner, _, name = path[-1].partition(".")
            kind: Any = schema.type_map[owner]
            kind = get_named_type(kind.fields[name].type) if name else kind
            steps = cell_edits.list_steps(schema, kind)
        return {"rows": [schema_search.build_hit(*it)._asdict() for it in steps.items()]}

    def do_search(self, target: str, text: str) -> Answer:
        """Search names and descriptions; of no hits, return similar names."""
        index = schema_search.get_index(self._get_schema(target))
        hits, total, near = index.search_text(text[:200], SHOWN)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        note = f"{format_count(total, 'hit')}.{hint}"
        return {"rows": [it._asdict() for it in hits], "note": note}

    def do_document(self, target: str, place: str) -> Answer:
        """Return the documentation of a place as escaped HTML."""
        page = SchemaDocs(self._get_schema(target)).build_page(place)
        return {"html": page.to_html(SHOWN, SHOWN)}

    def do_insert(self, target: str, path: Sequence[str]) -> Answer:
        """Return a field with its required arguments and a first selection."""
        return {"text": cell_edits.write_selection(self._get_schema(target), path[-1])}

    def do_write(self, target: str, path: Sequence[str]) -> Answer:
        """Return a cell that selects a field, with variables for the required arguments."""
        text, variables = cell_edits.write_operation(self._get_schema(target), path)
        return {"cell": write_cell(text, variables, target)}

    def do_paths(self, target: str, path: Sequence[str]) -> Answer:
        """Return the shortest paths to a type, or to the type that has a field."""
        kind = path[-1].partition(".")[0]
        rows = [
            {"path": path, "text": " / ".join(it.partition(".")[2] or f"on {it}" for it in path)}
            for path in cell_edits.find_paths(self._get_schema(target), kind)
        ]
        return {"kind": kind, "rows": rows}

    def do_edit(self, action: str, code: str, start: int, end: int, text: str = "") -> Answer:
        """Return a cell after an edit, or the place of the name at the cursor."""
        if action == "format":
            return {"code": cell_edits.check_format(code, text)}
        if action == "rename":
            return {"code": cell_edits.rename_at(code, start, text)}
        line = cell_edits.locate_operation(code, start).line
        objects, default = self._state.shell.user_ns, connections.resolve_default_target()[0]
        names = (it for it in list_targets(objects) if objects[it] is default)
        target = parse_target(line) or next(names, getattr(default, "url", default))
        schema = self._get_schema(target)
        if action == "document":
            return {"target": target, "place": cell_edits.find_place(schema, code, start)}
        return {"code": cell_edits.extract_fragment(schema, code, start, end, text)}

    def do_formatter(self) -> Answer:
        """Return Prettier with its plugin for GraphQL, as the address of a JavaScript module."""
        try:
            code = gzip.decompress((BUNDLE_FOLDER / "prettier.js.gz").read_bytes())
        except FileNotFoundError:
            raise TargetError(MISSING_BUNDLE.replace("GraphiQL", "Prettier", 1)) from None
        return {"url": f"data:text/javascript;base64,{b64encode(code).decode()}"}

    def do_load(self, target: str) -> Answer:
        """Load a schema, and build its index, before the first key stroke."""
        schema = self._open(target).schema
        schema_search.get_index(schema)
        return {"size": describe_size(schema)}

    def do_test(self, target: str) -> Answer:
        """Send the smallest operation; return whether the endpoint answers, and how fast."""
        client, start = self._open(target), perf_counter()
        client.execute("{ __typename }", validate=False)
        return {"text": f"Answered in {(perf_counter() - start) * 1e3:,.0f} ms."}

    def do_sample(self, target: str, path: Sequence[str]) -> Answer:
        """Send one query; return the first rows as an HTML table."""
        text, variables = cell_edits.write_operation(self._get_schema(target), path)
        if not text.startswith("query"):
            msg = "Only a query is sent for a sample: nothing may change."
            raise TargetError(msg)
        result = self._open(target).execute(text, variables)
        preview = next(iter(result.previews(SAMPLE).values()), None)
        frame = (result.frame() if preview is None else preview.frame).head(SAMPLE)
        html = frame.astype(object).map(shorten_value).to_html(index=False, border=0)
        return {"html": html + render_note([str(it) for it in result.errors])}


def shorten_value(value: object) -> object:
    """Return a value for a cell of a sample; of inner rows the first member of each."""
    if not isinstance(value, list):
        return value
    items = [next(iter(it.values()), "") if isinstance(it, dict) else it for it in value]
    return ", ".join(map(str, items))


def peek_schema(client: Client) -> GraphQLSchema | None:
    """Return the schema of a client if it is known; nothing is sent, nor begun in a thread."""
    local = client._local_schema
    return local.graphql if local is not None else client._schema_store.schema  # noqa: SLF001


def describe_size(schema: GraphQLSchema) -> str:
    """Return the number of types of a schema, as text."""
    return format_count(len(schema_search.list_own_types(schema)), "type")


def describe_endpoint(name: str, objects: Mapping[str, object]) -> Answer:
    """Describe an endpoint; if its client is open, with the sources of its secrets and more."""
    is_connection = is_listed_connection(name)
    client = connections.get_open_client(name) if is_connection else objects[name]
    answer: Answer = {"editable": name in connections.read_connection_files()[0]}
    if not isinstance(client, Client):
        can_open = not is_connection or connections.can_open_unattended(name)
        return {**answer, "asks": not can_open, "local": name == DEMO or not is_connection}
    schema, age = peek_schema(client), client._schema_store.age  # noqa: SLF001
    tokens = client._endpoint.credentials.tokens  # noqa: SLF001 - no value of them is shown
    size = "" if schema is None else describe_size(schema)
    return {
        **answer,
        "about": client.source,
        "token": ", ".join(it.where or "set in the kernel" for it in tokens),
        "schema": size if age is None or not size else f"{size}, {format_short_age(age)} old",
        "budget": str(client.budget),
        "local": client._local_schema is not None,
    }


def describe_entry(entry: HistoryEntry) -> Answer:
    """Describe an operation of the history, and its rows if its value still exists."""
    value: Any = entry.value()
    state, rows = "", ""
    with suppress(GqlnbError):
        if isinstance(value, Result):
            verdicts = {it.verdict: 1 for it in value.previews(0).values() if it.verdict}
            weakest = choose_weakest(verdicts, "lists")
            state = value.report.verdict if value.report else str(weakest or "")
        elif type(value).__name__ == "DataFrame":
            state = value.attrs.get("completeness", "")
        else:
            value = None
        rows = "" if value is None else format_count(len(value), "row")
    fault = "" if entry.outcome == "data" else entry.outcome
    time = "" if entry.seconds is None else f"{entry.seconds * 1e3:.0f} ms"
    parts = (entry.connection, fault, rows, COMPLETENESS.get(state.partition(":")[0]), time)
    return {
        "name": entry.operation,
        "about": " · ".join(filter(None, parts)),
        "cell": f"%%graphql {entry.connection}\n{entry.text}",
        "text": sanitize_text(entry.text, 120),
    }
