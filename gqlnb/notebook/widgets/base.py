"""What every widget of ours is: one anywidget with one comm, and front-end code from the kernel.

A widget is two files: a class in Python and a JavaScript module of this folder, which imports what
it shares with others (``common.js``, ``grid.js``) and may have a style sheet of its name beside
it::

    class Counter(Widget):
        _view = "counter.js"

        def __init__(self) -> None:
            self._clicks = 0  # before the comm opens
            super().__init__()

        def _heard(self, message, buffers):
            if message["kind"] == "click":
                with self._lock:
                    self._clicks += 1
            self.send({"kind": "state", "clicks": self._clicks})  # to all views

        def _html(self):
            return f"<p>{self._clicks} clicks</p>"

and ``counter.js``::

    import { connect, keepKeys, make } from "./common.js";

    function render({ model, el }) {
      const button = make("button", { type: "button" });
      const root = make("div", { class: "gqlnb-widget gqlnb-counter" }, button);
      const kernel = connect(model, root, {
        state: ({ clicks }) => (button.textContent = `${clicks} clicks`),
      });
      button.addEventListener("click", () => kernel.send({ kind: "click" }));
      el.append(root);
      keepKeys(root);
      kernel.hello();
      return kernel.close;
    }
    export default { render };

The rules behind it:

- ``_esm`` and ``_css`` are widget state, and saved with a notebook that stores it. So ``_esm`` is
  one small loader for all; a widget's own code comes as a message, once per page (`fronts`).
- Results are no state either. A view asks for what it shows; what it needs when the kernel is
  gone is the HTML beside the view (:meth:`Widget._build_html`) and, where widget state is stored and
  hides that HTML, a short text (:attr:`Widget._twin`).
- A message may be read in any thread, and two at once: change what is shared under ``_lock``.
- What takes longer than a moment goes into a thread of its own (:meth:`Widget._run_in_thread`): the
  messages of all widgets of a page wait in one line.
- No exception is lost: it is told to the view, in words (``failed`` in the front end).
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from pathlib import Path
from threading import RLock, Thread
from typing import TYPE_CHECKING, Any, ClassVar

import anywidget
import traitlets

from gqlnb.errors import GqlnbError, sanitize_text
from gqlnb.redact import hide_locals
from gqlnb.result.renderer import HTML_CLASSES

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Widget", "describe_error", "forget_route", "get_notebook_names", "load_front_end"]

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Message = Mapping[str, Any]

_HERE = Path(__file__).parent
WORDS = 2000  # characters of an error that a view shows
TWIN = 4000  # characters of the text that is stored with the widget


class Widget(anywidget.AnyWidget):
    """One view, one comm; see the top of this file.

    A subclass names its module in ``_view`` and writes :meth:`_handle_view_message` and :meth:`_build_html`. It sets
    its own attributes before it calls ``super().__init__``, which opens the comm: the first
    message may come at once, in another thread.
    """

    _esm = _HERE / "loader.js"
    _view: ClassVar[str] = ""

    _front = traitlets.Unicode().tag(sync=True)
    _twin = traitlets.Unicode().tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        self._lock = RLock()
        self.on_msg(self._receive)
        if self._view:
            traits["_front"] = load_front_end(self._view)["hash"]
        super().__init__(**traits)

    @traitlets.validate("_twin")
    def _shorten_twin(self, proposal: Mapping[str, Any]) -> str:
        text: str = proposal["value"]
        return text if len(text) <= TWIN else f"{text[:TWIN]} …"

    def _handle_view_message(
        self, message: Message, buffers: Sequence[memoryview], /
    ) -> Message | None:
        """Do what a view asks, in whichever thread its message came.

        Parameters
        ----------
        message
            What the view sent: a mapping, by convention with ``kind``. ``{"kind": "hello"}`` is
            said once by each view, and again until it hears something.
        buffers
            Its binary parts.

        Returns
        -------
        dict or None
            The answer, if it is known now. It goes to all views; the one that used ``ask`` knows
            it by the ``id`` that is put into it. Everything else is sent by ``self.send``.
        """
        raise NotImplementedError

    def _build_html(self) -> str:
        """Return what a viewer without a kernel shows: escaped HTML without script and style."""
        raise NotImplementedError

    def _build_text(self) -> str:
        """Return what a terminal shows."""
        return repr(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the view, and beside it what a viewer without a kernel shows."""
        bundle: tuple[dict[str, Any], dict[str, Any]] | None = super()._repr_mimebundle_(**kwargs)
        if bundle is not None:
            bundle[0]["text/html"] = f'<div class="{HTML_CLASSES}">{self._build_html()}</div>'
            bundle[0]["text/plain"] = self._build_text()
        return bundle

    def open(self) -> None:
        """Open the comm to the front end, once."""
        super().open()
        forget_route(self.comm)

    def _send(self, msg: dict[str, Any], buffers: Any = None) -> None:
        super()._send(msg, buffers)
        forget_route(self.comm)

    @hide_locals
    def _receive(self, _widget: object, message: Any, buffers: Sequence[memoryview] | None) -> None:
        """Answer a message of a view; whatever goes wrong is an answer too."""
        if not isinstance(message, dict):
            return
        to = message.get("id")
        self._send_result_or_error(lambda: self._answer_message(message, buffers or ()), to)

    def _answer_message(self, message: Message, buffers: Sequence[memoryview]) -> Message | None:
        if message.get("kind") == "front" and self._view:
            return {"kind": "front", **load_front_end(self._view)}
        return self._handle_view_message(message, buffers)

    def _run_in_thread(self, work: Callable[[], Message | None], to: Message | None = None) -> None:
        """Do something in a thread of its own, and send what it returns as the answer to `to`."""
        ident = None if to is None else to.get("id")
        name = f"gqlnb-{type(self).__name__}"
        Thread(
            target=self._send_result_or_error, args=[work, ident], name=name, daemon=True
        ).start()

    def _send_result_or_error(self, work: Callable[[], Message | None], to: object) -> None:
        """Send what `work` returns, or in words why it did not."""
        address = {"id": to} if isinstance(to, str) else {}
        try:
            answer = work()
            if answer is not None:
                self.send({**answer, **address})
        except Exception as error:  # whatever it is: there is nobody else to tell
            self.send({"kind": "failed", "text": describe_error(error), **address})


def forget_route(comm: object) -> None:
    """Let the front end choose the thread that reads its next message on a comm.

    ipykernel 7.4 notes which of its threads sent last on a comm and hands the front end's messages
    to that one: to the main thread, behind a running cell, if a cell sent last; to nobody, if the
    thread went with the page that had asked for it. Any thread will do here. Other versions keep
    no such note.
    """
    if comm is not None:
        vars(comm).pop("_reply_subshell_id", None)


def get_notebook_names() -> dict[str, Any]:
    """Return what the names of the notebook mean now; nothing outside of IPython."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    return {} if shell is None else dict(shell.user_ns)


def describe_error(error: BaseException) -> str:
    """Return what a person reads of an error: our own as they are, others with their type."""
    if isinstance(error, GqlnbError):
        return str(error)
    return f"{type(error).__name__}: {sanitize_text(error, WORDS)}"


FRONT_END_FOLDER = Path(__file__).parent
IMPORT_LINE = re.compile(r'\bfrom "\./([\w-]+\.js)";')  # as loader.js reads it


@lru_cache(maxsize=64)
def load_front_end(entry: str, folder: Path = FRONT_END_FOLDER) -> dict[str, Any]:
    """Return what the loader needs to show a widget.

    Parameters
    ----------
    entry
        The file of the widget's module: ``"result_view.js"``.
    folder
        Where it is, with all that it imports.

    Returns
    -------
    dict
        ``hash`` of all of it, and ``files``: for each module its ``name``, ``text``, ``css`` and
        ``hash`` (of itself and of what it imports), each after those it imports.
    """
    files: dict[str, dict[str, str]] = {}
    for name, text, css in _walk_modules(entry, folder, ()):
        if name not in files:
            parts = [text, css, *(files[other]["hash"] for other in IMPORT_LINE.findall(text))]
            made = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
            files[name] = {"name": name, "hash": made, "text": text, "css": css}
    return {"hash": files[entry]["hash"], "files": list(files.values())}


def _walk_modules(
    name: str, folder: Path, inside: tuple[str, ...]
) -> Iterator[tuple[str, str, str]]:
    """Yield name, text and style sheet of a module and of all it imports, those first."""
    if name in inside:
        msg = f"{' imports '.join([*inside, name])}: modules in a circle cannot be linked."
        raise ValueError(msg)
    file = folder / name
    text, sheet = file.read_text(encoding="utf-8"), file.with_suffix(".css")
    for other in IMPORT_LINE.findall(text):
        yield from _walk_modules(other, folder, (*inside, name))
    yield name, text, sheet.read_text(encoding="utf-8") if sheet.is_file() else ""
