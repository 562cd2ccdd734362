"""GraphiQL in a notebook, for any target of a client.

Requests of the browser are sent over the comm to the kernel, where a client executes them: tokens
never reach the browser, the endpoint needs no CORS headers, and a schema of this process needs no
server. The bundle, 2 MB, is sent once per page as the binary parts of one message: notebooks save
widget state, but not messages.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from html import escape
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any

import traitlets
from graphql import GraphQLSchema, introspection_from_schema
from IPython.core.getipython import get_ipython

from gqlnb import background
from gqlnb.client import connections
from gqlnb.client.client import Client, connect
from gqlnb.document.json_codec import JSONError, dump_json, load_json
from gqlnb.document.variables import describe_unset, find_unset_variables
from gqlnb.engine.schema import get_adapter
from gqlnb.errors import GqlnbError, OptionError, TextError, sanitize_text
from gqlnb.http.handler import replace_unserializable
from gqlnb.notebook.magic_options import write_cell
from gqlnb.notebook.widgets.base import Widget, describe_error, get_notebook_names
from gqlnb.option_checks import explain_keywords, raise_option_error
from gqlnb.result.renderer import render_bundle
from gqlnb.result.result import Result, collect_members
from gqlnb.server.page import BUNDLE_FILES, MISSING_BUNDLE, load_bundle, read_checksum
from gqlnb.tokens import Token

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd

    from gqlnb.document.document import Document
    from gqlnb.engine.subscription import Stream
    from gqlnb.notebook.widgets.base import Message


HEIGHTS = range(320, 4001)  # pixels; the editors overlap in a smaller view
EVENT_INTERVAL = 0.05  # seconds; JupyterLab refuses more than 1,000 messages per second
MAX_ANSWER_BYTES = 4_000_000  # an editor in the browser shows larger answers with a delay


@dataclass(slots=True, eq=False)
class ExplorerOperation:
    """A running operation of a view.

    Attributes
    ----------
    ident
        Its identifier, chosen by the view.
    cancel
        Ends the request or the subscription.
    stopped
        Whether the view has stopped it.
    waiting
        The newest event that has not been sent.
    sent
        The time of the last sent event, in seconds of the monotonic clock.
    note
        A line about variables without a value, above the editors; empty for none.
    """

    ident: str
    cancel: Callable[[], object] = bool
    stopped: bool = False
    waiting: bytes | None = None
    sent: float = 0.0
    note: str = ""


@explain_keywords
class Explorer(Widget):
    """Explore a schema with GraphiQL: completion, documentation, variables, history.

    Events of a subscription, and the parts of an answer with ``@defer`` or ``@stream``, are shown
    as they arrive; a schema of this process answers at once.

    Parameters
    ----------
    target
        A client, or anything that :class:`gqlnb.Client` accepts: a schema, the name of a
        connection, an address; None for the current connection. It stays in the kernel.
    query
        The initial text.
    variables
        The initial variables by name, as JSON values.
    height
        The height of the view in pixels, 320 to 4,000.

    Attributes
    ----------
    client : Client
        The client of the target.

    Raises
    ------
    TargetError, AuthError
        If no client can be created for `target`, or there is no token for it.
    OptionError
        If `height` or `variables` is not valid.

    Examples
    --------
    >>> import gqlnb
    >>> explorer = gqlnb.Explorer(gqlnb.reference_schema(), query="{ hello }")
    >>> explorer.run()["hello"]
    'Hello world!'
    """

    _view = "explorer.js"

    _bundle = traitlets.Unicode().tag(sync=True)  # its checksum

    def __init__(
        self,
        target: object = None,
        *,
        query: str = "",
        variables: Mapping[str, Any] | None = None,
        height: int = 480,
    ) -> None:
        self._operations: dict[str, ExplorerOperation] = {}
        if isinstance(height, bool) or height not in HEIGHTS:
            raise_option_error("height", height, "320 to 4,000 pixels")
        self.client: Client = target if isinstance(target, Client) else connect(target)
        self._target = target
        self._height = height
        self._query, self._variables = query, _format_variables(variables)
        self._result: Result | None = None
        self._error: str | None = None
        self._failure: bytes | None = None  # of the last run(), as an answer
        self._introspection: tuple[Any, bytes] | None = None  # a schema and its introspection
        # A lock of its own: sending may block, and state must stay readable meanwhile.
        self._answer_lock = Lock()
        super().__init__(_bundle=read_checksum() or "")
        self._twin = f"{self!r}: run this notebook to explore it."

    @property
    def query(self) -> str:
        """The text in the editor."""
        return self._query

    @property
    def variables(self) -> dict[str, Any]:
        """The variables in the editor, by name.

        Raises
        ------
        GqlnbError
            If the text is not a JSON object.
        """
        return parse_variables(self._variables)

    @property
    def result(self) -> Result | None:
        """The last result, or the last event of a subscription; None before the first."""
        return self._result

    @property
    def frame(self) -> pd.DataFrame | None:
        """The rows of the last result; None before the first."""
        result = self._result
        return None if result is None else result.frame()

    @property
    def error(self) -> str | None:
        """The error of the last operation as text; None if it succeeded."""
        return self._error

    @property
    def cell_text(self) -> str:
        """The ``%%graphql`` cell for the contents of the editors.

        Raises
        ------
        GqlnbError
            If the variables are not a JSON object, or have a value that looks like a token.
        """
        with self._lock:
            query, variables = self._query, self._variables
        return write_cell(query, parse_variables(variables), self._find_target_name())

    def run(self, *, operation: str | None = None) -> Result:
        """Execute the contents of the editors and return the result.

        Parameters
        ----------
        operation
            The name of the operation to run; None if there is only one.

        Returns
        -------
        Result
            The result, which is also in :attr:`result`.

        Raises
        ------
        GqlnbError
            If the operation is wrong, or no usable answer came.
        """
        with self._lock:
            query, text = self._query, self._variables
        try:
            variables = parse_variables(text)
            result = self.client.execute(query, variables, operation=operation)
        except Exception as error:
            self._error, self._failure = describe_error(error), encode_error(error)
            self.send({"kind": "ran"}, [self._failure])
            raise
        self._store_result(result)
        note = describe_missing_values(result.document, variables)
        self.send({"kind": "ran", "note": note}, [encode_result(result)])
        return result

    def close(self) -> None:
        """Stop all operations and close all views."""
        # Without any if the arguments were wrong: Python closes the object that was not finished.
        for ident in list(getattr(self, "_operations", ())):
            self._stop(ident)
        super().close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.client.name or self.client.source!r})"

    def _build_html(self) -> str:
        parts = [f"<p>{escape(repr(self))}: run this notebook to explore it.</p>"]
        if self._query.strip():
            text = escape(self._query.strip())
            parts.append(f'<pre style="white-space:pre-wrap"><code>{text}</code></pre>')
        if self._result is not None:
            parts.append(render_bundle(self._result)[0]["text/html"])
        return "".join(parts)

    def _handle_view_message(self, message: Message, /) -> Message | None:
        match message:
            case {"kind": "hello"}:
                self.send(self._build_state(), self._encode_last_answer())
            case {"kind": "bundle"}:
                self._run_in_thread(self._send_bundle)
            case {"kind": "run", "run": str() as ident}:
                running = ExplorerOperation(ident)
                with self._lock:
                    self._operations[ident] = running
                self._run_in_thread(lambda: self._run_operation(running, message))
            case {"kind": "stop", "run": str() as ident}:
                self._stop(ident)
            case {"kind": "edited" | "cell", "query": str() as query, "variables": str() as text}:
                with self._lock:
                    self._query, self._variables = query, text
                if message["kind"] == "cell":
                    text = self.cell_text
                    return {"kind": "cell", "text": text, "entered": load_magic()}
        return None

    def _build_state(self) -> Message:
        client = self.client
        is_local = client.name is None and client._local_schema is not None
        source = "a schema of this notebook" if is_local else client.name or client.source
        with self._lock:
            return {
                "kind": "state",
                "source": source,
                "checksum": read_checksum(),
                "missing": MISSING_BUNDLE,
                "query": self._query,
                "variables": self._variables,
                "height": self._height,
                "headers": describe_headers(client),
            }

    def _encode_last_answer(self) -> list[bytes]:
        if self._failure is not None:
            return [self._failure]
        return [] if self._result is None else [encode_result(self._result)]

    def _send_bundle(self) -> None:
        bundle = load_bundle()
        if bundle is None:
            raise GqlnbError(MISSING_BUNDLE)
        message = {"kind": "bundle", "checksum": bundle.checksum, "names": list(BUNDLE_FILES)}
        self.send(message, [bundle.files[name] for name in BUNDLE_FILES])

    def _run_operation(self, running: ExplorerOperation, message: Message) -> None:
        """Run an operation; an exception becomes its last answer."""
        work = self._introspect if message.get("introspection") else self._execute
        try:
            work(running, message)
        except Exception as error:  # noqa: BLE001 - the view waits for an answer
            if not (running.stopped or message.get("introspection")):
                self._error = describe_error(error)
            self._send_answer(running, encode_error(error), done=True)
        finally:
            with self._lock:
                self._operations.pop(running.ident, None)

    def _execute(self, running: ExplorerOperation, message: Message) -> None:
        text = str(message.get("query", ""))
        variables = parse_variables(str(message.get("variables", "")))
        name = message.get("operationName")
        document = self.client.parse_document(text, name)
        running.note = describe_missing_values(document, variables)
        # Without @defer and @stream a single response is enough.
        local = self.client._local_schema
        in_parts = document.incremental_directives and (
            local is None or get_adapter(local).delivers_parts
        )
        if in_parts or document.kind == "subscription":
            self._follow(running, self.client.subscribe(text, variables, operation=name))
            return
        if local is not None:
            result = self.client.execute(text, variables, operation=name)
        else:
            request = background.start(self.client.aexecute(text, variables, operation=name))
            running.cancel = request.cancel
            if running.stopped:  # before there was a request
                request.cancel()
            result = request.result()
        if not running.stopped:
            self._store_result(result)
        self._send_answer(running, encode_result(result), done=True)

    def _follow(self, running: ExplorerOperation, events: Stream) -> None:
        with events as stream:
            running.cancel = stream.close
            if running.stopped:  # before the stream was stored
                return
            for result in stream:
                if running.stopped:
                    return
                self._store_result(result)
                self._send_answer(running, encode_result(result))
        self._send_answer(running, None, done=True)

    def _introspect(self, running: ExplorerOperation, message: Message) -> None:
        """Send the schema of the client; the endpoint is asked if the view asks again."""
        again = message.get("again") is True
        schema = self.client.refresh_schema() if again else self.client.schema
        if self._introspection is None or self._introspection[0] is not schema:
            self._introspection = schema, encode_introspection(schema)
        self._send_answer(running, self._introspection[1], done=True)

    def _stop(self, ident: str) -> None:
        with self._lock:
            running = self._operations.pop(ident, None)
        if running is not None:
            running.stopped = True
            running.cancel()

    def _store_result(self, result: Result) -> None:
        with self._lock:
            self._result, self._error, self._failure = result, None, None

    def _send_answer(
        self,
        running: ExplorerOperation,
        answer: bytes | None,
        *,
        done: bool = False,
        late: bool = False,
    ) -> None:
        """Send an answer; of several within an interval the newest, at its end (`late`)."""
        with self._answer_lock:
            if running.stopped or (late and running.waiting is None):
                return
            wait = running.sent + EVENT_INTERVAL - time.monotonic()
            if not (done or late) and wait > 0:
                if running.waiting is None:
                    timer = Timer(wait, self._send_answer, [running, None], {"late": True})
                    timer.daemon = True
                    timer.start()
                running.waiting = answer
                return
            answer = answer if answer is not None else running.waiting
            running.waiting, running.sent = None, time.monotonic()
            message = {"kind": "answer", "run": running.ident, "done": done}
            if running.note:
                message["note"] = running.note
            self.send(message, None if answer is None else [answer])

    def _find_target_name(self) -> str | None:
        """Return the word that names the target behind ``%%graphql``, or None."""
        target = self._target
        if isinstance(target, str) and connections.is_known(target):
            return target
        names = sorted(
            name
            for name, value in get_notebook_names().items()
            if (value is target or value is self.client) and name.isidentifier() and name[0] != "_"
        )
        if target is not None and names:
            return names[0]
        source = self.client.source
        return source if source.startswith(("http://", "https://")) else None


def describe_headers(client: Client) -> str:
    """Write the headers of a client as JSON: names and where the values come from, no values."""
    credentials = client._endpoint.credentials  # noqa: SLF001 - no value of them is shown
    values = {**credentials.headers}
    if credentials.token is not None:
        values = {"Authorization": credentials.token, **values}
    sources = {
        name: (value.where if isinstance(value, Token) else None) or "set in the notebook"
        for name, value in values.items()
    }
    return json.dumps(sources, indent=2)


def load_magic() -> bool:
    """Load the extension that a ``%%graphql`` cell needs; return False if it was loaded."""
    shell: Any = get_ipython()
    if shell is None or shell.find_cell_magic("graphql") is not None:
        return False
    shell.extension_manager.load_extension("gqlnb")
    return True


def _format_variables(variables: Mapping[str, Any] | None) -> str:
    try:
        return "" if not variables else json.dumps(dict(variables), indent=2, allow_nan=False)
    except (TypeError, ValueError) as error:
        reason = sanitize_text(error, 120)
    msg = f"variables= takes JSON values by name: {reason}."
    raise OptionError(msg)


def parse_variables(text: str) -> dict[str, Any]:
    """Parse the variables of the editor: a JSON object or no text."""
    if not text.strip():
        return {}
    fault = "they are not an object"
    try:
        variables = load_json(text.encode())
    except (JSONError, UnicodeEncodeError) as error:
        fault = str(error)
    else:
        if isinstance(variables, dict):
            return variables
        if variables is None:
            return {}
    msg = f'The variables are not JSON such as {{"name": 1}}: {fault}.'
    raise GqlnbError(msg)


def describe_missing_values(document: Document | None, given: Mapping[str, Any]) -> str:
    """Return a line about optional variables that are left out; empty for none."""
    unset = [] if document is None else find_unset_variables(document, given)
    return f"{describe_unset(unset)} Set it in the variables." if unset else ""


def encode_result(result: Result) -> bytes:
    """Encode a result as a response; values that JSON cannot represent become errors."""
    try:
        return limit_size(dump_json(collect_members(result)))
    except (JSONError, TypeError, ValueError):
        faults: list[dict[str, Any]] = []
        data = replace_unserializable(result.data, (), faults)
        # Extensions of errors may be the values that failed, so only the messages are kept.
        errors = [{"message": str(error.get("message", ""))} for error in result.errors]
        return limit_size(dump_json({"errors": [*errors, *faults], "data": data}))


def limit_size(answer: bytes) -> bytes:
    """Return an answer, or an error in its place if it is too large to show."""
    if len(answer) <= MAX_ANSWER_BYTES:
        return answer
    message = (
        f"The answer has {len(answer) / 1e6:,.1f} MB, more than is shown here. It is in the "
        "notebook: .result and .frame of this explorer have all of it."
    )
    return dump_json({"errors": [{"message": message}]})


def encode_error(error: Exception) -> bytes:
    """Encode an exception as the errors of a response, with positions and hints."""
    kind = type(error).__name__
    if isinstance(error, TextError) and error.problems:
        errors = [problem.formatted for problem in error.problems]
        for formatted in errors:
            formatted["extensions"] = {"type": kind, **formatted.get("extensions", {})}
        return dump_json({"errors": errors})
    own = {"message": describe_error(error), "extensions": {"type": kind}}
    partial = getattr(error, "result", None)
    if partial is None or partial.data is None:
        return dump_json({"errors": [own]})
    return limit_size(
        dump_json({"errors": [own], "data": replace_unserializable(partial.data, (), [])})
    )


def encode_introspection(schema: GraphQLSchema) -> bytes:
    """Encode a schema as the answer to GraphiQL's introspection query."""
    data = introspection_from_schema(
        schema,
        specified_by_url=True,
        directive_is_repeatable=True,
        schema_description=True,
        input_value_deprecation=True,
    )
    return dump_json({"data": data})
