"""The kernel's side of the panel in JupyterLab: one function per question, without secrets.

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

from gqlnb import background
from gqlnb.client import connections
from gqlnb.client.client import Client
from gqlnb.client.credentials import is_secret_name, redact_url
from gqlnb.document.scalar_values import format_short_age
from gqlnb.errors import GqlnbError, TargetError, format_count, sanitize_text
from gqlnb.github.builtin_connections import DEMO, register_connections
from gqlnb.notebook.cell_edits import extract_fragment, find_place, rename_at
from gqlnb.notebook.magic_options import write_cell
from gqlnb.notebook.notebook_state import describe_target, list_targets
from gqlnb.notebook.operation_writer import find_paths, write_operation, write_selection
from gqlnb.notebook.schema_docs import SchemaDocs, get_deprecation_reason
from gqlnb.notebook.schema_search import (
    describe_element,
    describe_kind,
    get_index,
    get_members,
    list_own_types,
    split_search_words,
)
from gqlnb.notebook.subcommands import run_use
from gqlnb.result.list_verdicts import choose_weakest
from gqlnb.result.result import Result
from gqlnb.server.page import BUNDLE_FOLDER, MISSING_BUNDLE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from graphql import GraphQLSchema

    from gqlnb.client.connections import NamedConnection
    from gqlnb.notebook.notebook_state import NotebookState
    from gqlnb.notebook.saved_cells import HistoryEntry

__all__ = ["Panel"]

HITS = 50
SHOWN = 50  # operations of the history, and entries of a section of documentation
SAMPLE = 5  # rows
NEWEST = 64  # answers of threads that wait for the panel to ask again
FORMATTER = "prettier.js.gz"
PROBE = "{ __typename }"
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
        self._jobs: dict[str, Answer | None] = {}  # None while it runs
        self._docs: SchemaDocs | None = None

    def answer(self, text: str) -> Answer:
        """Answer a question: JSON with ``do``, the name of a function below, and its arguments."""
        try:
            message = json.loads(text)
            word, job = message.pop("do"), message.pop("job", "")
            register_connections()
            if word in LOCAL:
                return LOCAL[word](self, **message)
            if job not in self._jobs:
                for old in [*self._jobs][:-NEWEST]:
                    del self._jobs[old]
                self._jobs[job] = None
                background.start_thread(lambda: self._work(job, word, message), "gqlnb-panel")
            return self._jobs[job] or {"waiting": True}
        except Exception as error:  # noqa: BLE001 - the panel is the only place to report it
            return describe_failure(error)

    def _work(self, job: str, word: str, message: Answer) -> None:
        try:
            self._jobs[job] = REMOTE[word](self, **message)
        except Exception as error:  # noqa: BLE001 - as above
            self._jobs[job] = describe_failure(error)

    def _open(self, name: str) -> Client:
        """Return the client of an endpoint; it is not opened if that would ask for a token."""
        if connections.is_known(name) and not (
            connections.is_open(name) or connections.can_open_unattended(name)
        ):
            msg = f"{name} asks for its token. Press Connect: a cell asks for it."
            raise TargetError(msg)
        return self._state.clients.open(name).client

    def _get_schema(self, name: str) -> GraphQLSchema:
        """Return a schema that is known already; nothing is sent."""
        is_closed = connections.is_known(name) and not connections.is_open(name)
        schema = None if is_closed else peek_schema(self._open(name))
        if schema is None:
            msg = f"The schema of {name} is not loaded."
            raise TargetError(msg)
        return schema

    # Each of these answers at once, from what the kernel has.

    def list_state(self) -> Answer:
        """Return endpoints, history and snippets."""
        state = self._state
        current = connections.get_current_name() or ""
        found = [self._describe_connection(it) for it in connections.list_connections()]
        names = {it["name"] for it in found}
        objects = state.shell.user_ns
        found += [
            self._describe_object(name, objects[name])
            for name in list_targets(objects)
            if name not in names
        ]
        named = {id(value) for value in objects.values()}
        found += [
            {"name": it.url, "about": "a server", "where": "this process", "local": True}
            for it in background.servers.list_open()
            if id(it) not in named
        ]
        _, fault = connections.read_connection_files()
        return {
            "endpoints": found,
            "current": current,
            "default": current or DEMO,
            "fault": fault,
            "variables": sorted(name for name in os.environ if is_secret_name(name)),
            "history": [describe_entry(it) for it in state.history.iterate_latest()][:SHOWN],
            "snippets": [
                {"name": name, "cell": f"%%graphql\n{state.snippets.get_text(name)}"}
                for name in reversed(state.snippets.get_names())
            ],
        }

    def _describe_connection(self, connection: NamedConnection) -> Answer:
        make: Any = connection.make_client
        name, options = connection.name, dict(getattr(make, "options", ()))
        address = getattr(make, "url", "")
        about: Answer = {
            "name": name,
            "about": redact_url(address) if address else connection.description,
            "token": options.get("token", ""),
            "where": connection.location,
            "editable": name in connections.read_connection_files()[0],
            "asks": not connections.can_open_unattended(name),
            "local": name == DEMO,
        }
        if connections.is_open(name):  # its client is there, so nothing is opened here
            about |= {**describe_client(connections.get_client(name)), "asks": False}
        return about

    def _describe_object(self, name: str, value: object) -> Answer:
        about = {"name": name, "about": describe_target(value), "where": "the notebook"}
        client = describe_client(value) if isinstance(value, Client) else {}
        return {**about, "local": not isinstance(value, Client), **client}

    def use(self, name: str) -> Answer:
        """Make an endpoint the current one; nothing is sent."""
        run_use(self._state, self._state.shell.user_ns, name)
        return self.list_state()

    def add(self, name: str, url: str, token: str) -> Answer:
        """Save an endpoint in the user's file; the token is a source, never a text of the page."""
        sources = {"", "prompt", f"keyring:{name}", *(f"env:{it}" for it in os.environ)}
        if token not in sources:
            msg = "Choose the source of the token from the list."
            raise TargetError(msg)
        connections.save_connection(name, url, token, {})
        return self.list_state()

    def change(self, name: str, new_name: str | None) -> Answer:
        """Rename an endpoint in its file; None removes it."""
        connections.change_connection(name, new_name)
        return self.list_state()

    def list_children(self, target: str, path: Sequence[str]) -> Answer:
        """Return the rows of the tree below a path; below none the root types."""
        schema = self._get_schema(target)
        if not path:
            kinds = (schema.query_type, schema.mutation_type, schema.subscription_type)
            roots = [kind for kind in kinds if kind is not None]
            return {"rows": [describe_row(it.name, it, opens=True) for it in roots]}
        from graphql import get_named_type, is_abstract_type, is_composite_type

        owner, _, name = path[-1].partition(".")
        kind: Any = schema.type_map[owner]
        if name:
            kind = get_named_type(get_members(kind)[name].type)  # type: ignore[union-attr]
        rows = [
            describe_row(
                f"{kind.name}.{name}", field, opens=is_composite_type(get_named_type(field.type))
            )
            for name, field in getattr(kind, "fields", {}).items()
        ]
        if is_abstract_type(kind):
            members = schema.get_possible_types(kind)
            rows += [describe_row(it.name, it, opens=True) for it in members]
        return {"rows": rows}

    def search(self, target: str, text: str) -> Answer:
        """Search names and descriptions."""
        index, words = get_index(self._get_schema(target)), split_search_words(text[:200])
        hits, total = index.search(words, HITS)
        near = [] if hits or not words else index.suggest_names(words[-1])
        rows = [
            {
                "place": it.place,
                "type": it.type,
                "about": it.description,
                "deprecated": "Deprecated:" in it.description,
            }
            for it in hits
        ]
        return {"rows": rows, "total": total, "near": near}

    def document(self, target: str, place: str) -> Answer:
        """Return the documentation of a place as escaped HTML."""
        schema = self._get_schema(target)
        if self._docs is None or self._docs.schema is not schema:
            self._docs = SchemaDocs(schema)
        return {"html": self._docs.build_page(place).to_html(SHOWN, SHOWN)}

    def insert(self, target: str, path: Sequence[str]) -> Answer:
        """Return a field with its required arguments and a first selection."""
        return {"text": write_selection(self._get_schema(target), strip_argument(path)[-1])}

    def write(self, target: str, path: Sequence[str]) -> Answer:
        """Return a cell that selects a field, with variables for the required arguments."""
        operation = write_operation(self._get_schema(target), strip_argument(path))
        return {"cell": write_cell(operation.text, operation.variables, target)}

    def find_paths(self, target: str, place: str) -> Answer:
        """Return the shortest paths to a type, or to the type of a field."""
        schema, kind = self._get_schema(target), strip_argument([place])[0].partition(".")[0]
        paths = find_paths(schema, kind)
        rows = [
            {
                "path": path,
                "text": " / ".join(step.partition(".")[2] or f"on {step}" for step in path),
            }
            for path in paths
        ]
        return {"kind": kind, "rows": rows}

    def edit(self, action: str, code: str, start: int, end: int, name: str = "") -> Answer:
        """Return a cell after an edit, or the place of the name at the cursor."""
        find_schema = self._find_cell_schema
        if action == "fragment":
            return {"code": extract_fragment(find_schema, code, start, end, name)}
        if action == "rename":
            return {"code": rename_at(code, start, name)}
        target, place = find_place(find_schema, code, start)
        return {"target": target, "place": place}

    def _find_cell_schema(self, target: str | None) -> tuple[str, GraphQLSchema]:
        name = target or connections.get_current_name() or DEMO
        return name, self._get_schema(name)

    def load_formatter(self) -> Answer:
        """Return Prettier with its plugin for GraphQL, as a JavaScript module."""
        try:
            return {"text": gzip.decompress((BUNDLE_FOLDER / FORMATTER).read_bytes()).decode()}
        except FileNotFoundError:
            raise TargetError(MISSING_BUNDLE.replace("GraphiQL", "Prettier", 1)) from None

    # These wait for an endpoint, in a thread.

    def load(self, target: str) -> Answer:
        """Load a schema, and build its index, before the first key stroke."""
        schema = self._open(target).schema
        get_index(schema)
        return {"types": len(list_own_types(schema))}

    def test(self, target: str) -> Answer:
        """Send the smallest operation; return whether the endpoint answers, and how fast."""
        client, start = self._open(target), perf_counter()
        client.execute(PROBE, validate=False)
        return {"text": f"Answered in {(perf_counter() - start) * 1e3:,.0f} ms."}

    def sample(self, target: str, path: Sequence[str]) -> Answer:
        """Send one query; return the first rows as an HTML table."""
        schema = self._get_schema(target)
        operation = write_operation(schema, strip_argument(path))
        if not operation.text.startswith("query"):
            msg = "Only a query is sent for a sample: nothing may change."
            raise TargetError(msg)
        result = self._open(target).execute(operation.text, operation.variables)
        preview = next(iter(result.previews(SAMPLE).values()), None)
        frame = result.frame() if preview is None else preview.frame
        notes = [str(it) for it in result.errors]
        return {"html": frame.head(SAMPLE).to_html(index=False, border=0), "notes": notes}


LOCAL: dict[str, Callable[..., Answer]] = {
    "state": Panel.list_state,
    "use": Panel.use,
    "add": Panel.add,
    "change": Panel.change,
    "children": Panel.list_children,
    "search": Panel.search,
    "document": Panel.document,
    "insert": Panel.insert,
    "write": Panel.write,
    "paths": Panel.find_paths,
    "edit": Panel.edit,
    "formatter": Panel.load_formatter,
}
REMOTE: dict[str, Callable[..., Answer]] = {
    "load": Panel.load,
    "test": Panel.test,
    "sample": Panel.sample,
}


def describe_failure(error: Exception) -> Answer:
    """Return the text of an error: of the package's own as is, of others with the type."""
    text = str(error) if isinstance(error, GqlnbError) else f"{type(error).__name__}: {error}"
    return {"error": sanitize_text(text, 1000)}


def strip_argument(path: Sequence[str]) -> list[str]:
    """Return a path whose last place is a field, also where it is an argument of it."""
    return [*path[:-1], path[-1].partition("(")[0]]


def peek_schema(client: Client) -> GraphQLSchema | None:
    """Return the schema of a client if it is known; nothing is sent, nor begun in a thread."""
    local = client._local_schema
    return local.graphql if local is not None else client._schema_store.schema  # noqa: SLF001


def describe_client(client: Client) -> Answer:
    """Describe an open client: address, the sources of its secrets, schema, rate limit."""
    credentials = client._endpoint.credentials  # noqa: SLF001 - no value of them is shown
    schema, age = peek_schema(client), client._schema_store.age  # noqa: SLF001
    size = "" if schema is None else format_count(len(list_own_types(schema)), "type")
    return {
        "about": client.source,
        "token": ", ".join(it.where or "set in the kernel" for it in credentials.tokens),
        "schema": size if age is None or not size else f"{size}, {format_short_age(age)} old",
        "budget": str(client.budget),
        "local": client._local_schema is not None,
    }


def describe_row(place: str, definition: Any, *, opens: bool) -> Answer:  # noqa: ANN401 - of a schema
    """Describe a definition as a row of the tree."""
    return {
        "place": place,
        "type": describe_kind(definition),
        "about": describe_element(definition, 200),
        "deprecated": get_deprecation_reason(definition) is not None,
        "opens": opens,
    }


def describe_entry(entry: HistoryEntry) -> Answer:
    """Describe an operation of the history, and its rows if its value still exists."""
    value = entry.value()
    rows, complete = None, ""
    with suppress(GqlnbError):
        if isinstance(value, Result):
            rows = len(value)
            verdicts = {it.verdict: 1 for it in value.previews(0).values() if it.verdict}
            verdict = choose_weakest(verdicts, "lists")
            complete = "" if verdict is None else verdict.state
            if value.report is not None:
                complete = value.report.verdict
        elif type(value).__name__ == "DataFrame":
            rows, complete = len(value), value.attrs.get("completeness", "")  # type: ignore[attr-defined, arg-type]
    return {
        "operation": entry.operation,
        "connection": entry.connection,
        "outcome": entry.outcome,
        "rows": rows,
        "ms": None if entry.seconds is None else round(entry.seconds * 1e3),
        "complete": str(complete).partition(":")[0],
        "cell": f"%%graphql {entry.connection}\n{entry.text}",
        "text": sanitize_text(entry.text, 120),
    }
