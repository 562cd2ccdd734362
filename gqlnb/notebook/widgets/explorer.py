"""GraphiQL in a notebook, on whatever a client can ask.

What is asked in the browser goes over the comm to the kernel and out through a client there: tokens
never reach the browser, an endpoint need not let other pages ask it, and a schema of this process
needs no server. The bundle, 2 MB, is sent once per page as the binary parts of one message: widget
state is saved with notebooks, and messages are not.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from html import escape
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any

import traitlets

from gqlnb.client.client import Client
from gqlnb.client.factory import connect
from gqlnb.errors import GqlnbError, OptionError, plain
from gqlnb.model.render import result_bundle
from gqlnb.notebook.widgets.base import Widget, in_words, names_of_the_notebook
from gqlnb.notebook.widgets.exploring import (
    answer_of,
    cell_of,
    failure_of,
    introspection_of,
    variables_of,
)
from gqlnb.server.bundle import MISSING, NAMES, bundle, checksum

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd

    from gqlnb.engine.streaming import Stream
    from gqlnb.model.result import Result
    from gqlnb.notebook.widgets.base import Message

__all__ = ["Explorer"]

HEIGHTS = range(320, 4001)  # pixels; below, the editors cut each other off
BETWEEN = 0.05  # seconds between two events shown; JupyterLab refuses more than 1,000 messages


@dataclass(slots=True, eq=False)
class Running:
    """An operation under way for a view.

    Attributes
    ----------
    ident
        Its name, given by the view.
    stream
        The subscription, if it is one.
    stopped
        Whether nobody waits for it any more.
    waiting
        The newest event that was not sent yet.
    sent
        When the last one was sent, in seconds of the monotonic clock.
    """

    ident: str
    stream: Stream | None = None
    stopped: bool = False
    waiting: bytes | None = None
    sent: float = 0.0


class Explorer(Widget):
    """Explore a schema with GraphiQL: completion, documentation, variables, history.

    Events of a subscription, and the parts of an answer with ``@defer`` or ``@stream``, are shown
    as they come; a schema of this process answers at once.

    Parameters
    ----------
    target
        What to ask: a client, or whatever :class:`gqlnb.Client` takes, as a schema, the name of a
        connection or an address; None for the current connection. It stays in the kernel.
    query
        The text to begin with.
    variables
        Values to begin with, by name; JSON values.
    height
        Of the view, in pixels, 320 to 4,000.

    Attributes
    ----------
    client : Client
        What is asked.

    Raises
    ------
    TargetError, AuthError
        If `target` is nothing that can be asked, or there is no token for it.
    OptionError
        If `height` or `variables` is none.

    Examples
    --------
    >>> import gqlnb
    >>> explorer = gqlnb.Explorer(gqlnb.reference_schema(), query="{ hello }")
    >>> explorer.run()["hello"]
    'Hello world!'
    """

    _view = "explorer.js"

    _bundle = traitlets.Unicode().tag(sync=True)  # its checksum: a view asks for it at once

    def __init__(
        self,
        target: Any = None,
        *,
        query: str = "",
        variables: Mapping[str, Any] | None = None,
        height: int = 480,
    ) -> None:
        self._running: dict[str, Running] = {}
        if isinstance(height, bool) or height not in HEIGHTS:
            msg = f"height= takes 320 to 4,000 pixels; got {plain(repr(height), 40)}."
            raise OptionError(msg)
        self.client: Client = target if isinstance(target, Client) else connect(target)
        self._target = target
        self._height = height
        self._query, self._variables = query, typed(variables)
        self._result: Result | None = None
        self._error: str | None = None
        self._told: tuple[Any, bytes] | None = None  # a schema and its introspection
        self._telling = Lock()
        super().__init__(_bundle=checksum() or "")
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
            If what stands there is no JSON object.
        """
        return variables_of(self._variables)

    @property
    def result(self) -> Result | None:
        """The last result: of a subscription its last event; None before the first."""
        return self._result

    @property
    def frame(self) -> pd.DataFrame | None:
        """The rows of the last result; None before the first."""
        result = self._result
        return None if result is None else result.frame()

    @property
    def error(self) -> str | None:
        """Why the last operation gave no result, in words; None if it gave one."""
        return self._error

    @property
    def cell_text(self) -> str:
        """The ``%%graphql`` cell that asks what stands in the editors.

        Raises
        ------
        GqlnbError
            If the variables are no JSON object, or hold what looks like a token.
        """
        with self._lock:
            query, variables = self._query, self._variables
        return cell_of(query, variables_of(variables), self._word())

    def run(self, *, operation: str | None = None) -> Result:
        """Execute what stands in the editors, here and now.

        Parameters
        ----------
        operation
            The name of the operation to run; None where there is only one.

        Raises
        ------
        GqlnbError
            As :meth:`Client.execute` does.
        """
        with self._lock:
            query, variables = self._query, self._variables
        result = self.client.execute(query, variables_of(variables), operation=operation)
        self._note(result)
        return result

    def close(self) -> None:
        """Stop what runs and take the widget out of all its views."""
        for ident in list(self._running):
            self._stop(ident)
        super().close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.client.name or self.client.source!r})"

    @property
    def _shown(self) -> str:
        """What is asked, as people read it."""
        client = self.client
        if client.name is None and client.local is not None:
            return "a schema of this notebook"
        return client.name or client.source

    def _html(self) -> str:
        parts = [f"<p>{escape(repr(self))}: run this notebook to explore it.</p>"]
        if self._query.strip():
            text = escape(self._query.strip())
            parts.append(f'<pre style="white-space:pre-wrap"><code>{text}</code></pre>')
        if self._result is not None:
            shown = result_bundle(self._result)
            data = shown[0] if isinstance(shown, tuple) else shown
            parts.append(data["text/html"])
        return "".join(parts)

    def _heard(self, message: Message, _buffers: Sequence[memoryview], /) -> Message | None:
        match message:
            case {"kind": "hello"}:
                return self._state()
            case {"kind": "bundle"}:
                self._apart(self._send_bundle)
            case {"kind": "run", "run": str() as ident}:
                self._begin(Running(ident), message)
            case {"kind": "stop", "run": str() as ident}:
                self._stop(ident)
            case {"kind": "edited" | "cell", "query": str() as query, "variables": str() as text}:
                with self._lock:
                    self._query, self._variables = query, text
                if message["kind"] == "cell":
                    text = self.cell_text
                    return {"kind": "cell", "text": text, "entered": magic_entered()}
        return None

    def _state(self) -> Message:
        with self._lock:
            return {
                "kind": "state",
                "source": self._shown,
                "checksum": checksum(),
                "missing": MISSING,
                "query": self._query,
                "variables": self._variables,
                "height": self._height,
            }

    def _send_bundle(self) -> None:
        found = bundle()
        if found is None:
            raise GqlnbError(MISSING)
        message = {"kind": "bundle", "checksum": found.checksum, "names": list(NAMES)}
        self.send(message, [found.files[name] for name in NAMES])

    # -- operations, each in a thread of its own

    def _begin(self, running: Running, message: Message) -> None:
        with self._lock:
            self._running[running.ident] = running
        work: Callable[[Running, Message], None] = self._execute
        if message.get("introspection"):
            work = self._introspect
        self._apart(lambda: self._carry_out(work, running, message))

    def _carry_out(
        self, work: Callable[[Running, Message], None], running: Running, message: Message
    ) -> None:
        """Carry out an operation; what goes wrong is its last answer."""
        try:
            work(running, message)
        except Exception as error:  # whatever it is: the view waits for an answer
            if not (running.stopped or message.get("introspection")):
                self._error = in_words(error)
            self._say(running, failure_of(error), done=True)
        finally:
            with self._lock:
                self._running.pop(running.ident, None)

    def _execute(self, running: Running, message: Message) -> None:
        text, variables = asked(message)
        name = message.get("operationName")
        document = self.client.document(text, name)
        in_parts = document.incremental and self.client.local is None
        if in_parts or document.kind == "subscription":
            self._follow(running, self.client.subscribe(text, variables, operation=name))
            return
        result = self.client.execute(text, variables, operation=name)
        if not running.stopped:
            self._note(result)
        self._say(running, answer_of(result), done=True)

    def _follow(self, running: Running, events: Stream) -> None:
        with events as stream:
            running.stream = stream
            if running.stopped:  # meanwhile
                return
            for result in stream:
                if running.stopped:
                    return
                self._note(result)
                self._say(running, answer_of(result))
        self._say(running, None, done=True)

    def _introspect(self, running: Running, message: Message) -> None:
        """Tell the schema that the client knows; to a view that asks again, the endpoint's."""
        again = message.get("again") is True
        schema = self.client.refresh_schema() if again else self.client.schema
        if self._told is None or self._told[0] is not schema:
            self._told = schema, introspection_of(schema)
        self._say(running, self._told[1], done=True)

    def _stop(self, ident: str) -> None:
        with self._lock:
            running = self._running.pop(ident, None)
        if running is not None:
            running.stopped = True
            if running.stream is not None:
                running.stream.close()

    def _note(self, result: Result) -> None:
        with self._lock:
            self._result, self._error = result, None

    def _say(self, running: Running, answer: bytes | None, *, done: bool = False) -> None:
        """Send an answer; events that come too fast are passed over, but for the last."""
        with self._telling:
            if running.stopped:
                return
            wait = running.sent + BETWEEN - time.monotonic()
            if not done and wait > 0:
                if running.waiting is None:
                    timer = Timer(wait, self._send_waiting, [running])
                    timer.daemon = True
                    timer.start()
                running.waiting = answer
                return
            answer = answer if answer is not None else running.waiting
            self._tell(running, answer, done=done)

    def _send_waiting(self, running: Running) -> None:
        with self._telling:
            if running.waiting is not None and not running.stopped:
                self._tell(running, running.waiting)

    def _tell(self, running: Running, answer: bytes | None, *, done: bool = False) -> None:
        running.waiting, running.sent = None, time.monotonic()
        message = {"kind": "answer", "run": running.ident, "done": done}
        self.send(message, None if answer is None else [answer])

    # -- the cell

    def _word(self) -> str | None:
        """Return the word that names what is asked behind ``%%graphql``; None without one."""
        from gqlnb.client import connections

        target = self._target
        if isinstance(target, str) and connections.exists(target):
            return target
        held = names_of_the_notebook().items()
        found = [name for name, it in held if it is target or it is self.client]
        names = sorted(name for name in found if name.isidentifier() and name[0] != "_")
        if target is not None and names:
            return names[0]
        source = self.client.source
        return source if source.startswith(("http://", "https://")) else None


def asked(message: Message) -> tuple[str, dict[str, Any]]:
    """Return the text and the variables of a message."""
    return str(message.get("query", "")), variables_of(str(message.get("variables", "")))


def magic_entered() -> bool:
    """Enter ``%%graphql``, which the cell needs; return whether it was not there before."""
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    if shell is None or shell.find_cell_magic("graphql") is not None:
        return False
    shell.extension_manager.load_extension("gqlnb")
    return True


def typed(variables: Mapping[str, Any] | None) -> str:
    """Return variables as a person types them.

    Raises
    ------
    OptionError
        If they have no JSON form.
    """
    import json

    try:
        return "" if not variables else json.dumps(dict(variables), indent=2, allow_nan=False)
    except (TypeError, ValueError) as error:
        reason = plain(error, 120)
    msg = f"variables= takes JSON values by name: {reason}."
    raise OptionError(msg)
