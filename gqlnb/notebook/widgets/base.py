"""The base class of the widgets: one anywidget with one comm, and front-end code from the kernel.

A widget consists of a Python class and a JavaScript module in this folder. The module imports
shared code (``common.js``, ``grid.js``) and may have a style sheet of the same name::

    class Counter(Widget):
        _view = "counter.js"

        def __init__(self) -> None:
            self._clicks = 0  # before the comm opens
            super().__init__()

        def _handle_view_message(self, message):
            if message["kind"] == "click":
                with self._lock:
                    self._clicks += 1
            self.send({"kind": "state", "clicks": self._clicks})  # to all views

        def _build_html(self):
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

Rules:

- ``_esm`` and ``_css`` are widget state, which a notebook may save. So ``_esm`` is one small loader
  for all widgets; the code of a widget is sent as a message once per page (`load_front_end`).
- Results are not widget state. A view requests the data it shows. Without a kernel, the output
  shows HTML (:meth:`Widget._build_html`), or a short text (:attr:`Widget._twin`) where saved widget
  state hides the HTML.
- Messages may arrive in any thread, and two at once: change shared attributes under ``_lock``.
- Long work runs in a thread of its own (:meth:`Widget._run_in_thread`), because the messages of all
  widgets of a page share one queue.
- Every exception is sent to the view as text (``failed`` in the front end).
"""

from __future__ import annotations

import hashlib
import re
import sys
from functools import lru_cache, partial
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar

import anywidget
import traitlets
from IPython.core.getipython import get_ipython

from gqlnb import background
from gqlnb.errors import GqlnbError, sanitize_text
from gqlnb.interactive import is_unattended
from gqlnb.notebook.display import build_view_bundle
from gqlnb.option_checks import explain_keywords
from gqlnb.redact import hide_locals
from gqlnb.result.renderer import wrap_html

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Message = Mapping[str, Any]

_HERE = Path(__file__).parent
MAX_ERROR_LENGTH = 2000  # characters of an error in a view
IN_BROWSER = sys.platform == "emscripten"  # in Pyodide
NAMES_FOR_PEOPLE = ("close", "layout", "observe", "unobserve")  # of a widget of ipywidgets
TWIN = 4000  # characters of the text that is stored with the widget


# The saved state of a widget is a loader of about 3 kB. Its modules are sent once per page,
# identified by their hashes, so that kernels of different versions can share a page. Results are
# not part of the state; saved notebooks contain static HTML instead.
@explain_keywords
class Widget(anywidget.AnyWidget):
    """A widget with one comm; the docstring of this module has an example.

    A subclass names its JavaScript module in ``_view`` and implements :meth:`_handle_view_message`
    and :meth:`_build_html`. It sets its own attributes before it calls ``super().__init__``, which
    opens the comm: the first message may arrive at once, in another thread.
    """

    _esm = _HERE / "loader.js"
    _view: ClassVar[str] = ""
    _waits_for_view = False

    _front = traitlets.Unicode().tag(sync=True)
    _twin = traitlets.Unicode().tag(sync=True)

    def __init__(self, **traits: object) -> None:
        # Reentrant: a handler that holds it may call methods of the widget that take it.
        self._lock = RLock()
        self.on_msg(self._receive)
        if self._view:
            traits["_front"] = load_front_end(self._view)["hash"]
        super().__init__(**traits)

    @traitlets.validate("_twin")
    def _shorten_twin(self, proposal: Mapping[str, Any]) -> str:
        text: str = proposal["value"]
        return text if len(text) <= TWIN else f"{text[:TWIN]} …"

    def _handle_view_message(self, message: Message, /) -> Message | None:
        """Handle a message of a view, in any thread.

        Parameters
        ----------
        message
            A mapping, by convention with ``kind``, and with ``buffers`` if it has binary parts.
            Each view sends ``{"kind": "hello"}`` once, and again until it receives a message.

        Returns
        -------
        dict or None
            The answer if it is known now. It goes to all views; the one that used ``ask``
            recognises it by its ``id``. Other messages are sent with ``self.send``.
        """
        raise NotImplementedError

    def _build_html(self) -> str:
        """Render the widget for viewers without a kernel: escaped HTML without script and style."""
        raise NotImplementedError

    def _build_text(self) -> str:
        """Render the widget for a terminal."""
        return repr(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __dir__(self) -> list[str]:
        """List our names for Tab, of ipywidgets' 50 only those that a person may need."""
        own = [cls for cls in type(self).__mro__ if cls.__module__.startswith("gqlnb.")]
        names = {*vars(self), *NAMES_FOR_PEOPLE, *(name for cls in own for name in vars(cls))}
        return sorted(names - {"comm", "model_id", "open"})

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:  # noqa: ANN401 - as anywidget declares them
        """Return the view, with the HTML for viewers without a kernel."""
        html = wrap_html(self._build_html())
        metadata: dict[str, Any] = {}

        def get_view() -> dict[str, Any]:
            view, about = super(Widget, self)._repr_mimebundle_(**kwargs) or ({}, {})
            metadata.update(about)  # in Colab: which widget manager loads the view
            return view

        return build_view_bundle(get_view, self._build_text(), html), metadata

    def open(self) -> None:
        """Open the comm to the front end, once; later if there is none yet."""
        # nbclient saves the state of every widget with an open comm, under its random identifier.
        self._waits_for_view = self.comm is None and is_unattended()
        if not self._waits_for_view:
            self._open_comm()

    @property
    def model_id(self) -> str:
        """The identifier of the comm, which is opened if it waits for a view."""
        if self._waits_for_view:
            self._waits_for_view = False
            self._open_comm()
        identifier: str = super().model_id
        return identifier

    def _open_comm(self) -> None:
        super().open()
        keep_route(self.comm)

    @hide_locals
    def _handle_msg(self, msg: dict[str, Any]) -> None:
        if IN_BROWSER:
            msg["content"]["data"] = restore_nulls(msg["content"]["data"])
        super()._handle_msg(msg)

    @hide_locals
    def _receive(
        self, _widget: object, message: object, buffers: Sequence[memoryview] | None
    ) -> None:
        if not isinstance(message, dict):
            return

        def answer() -> Message | None:
            if message.get("kind") == "front" and self._view:
                return {"kind": "front", **load_front_end(self._view)}
            # What the page itself calls so is no binary part.
            content = {key: value for key, value in message.items() if key != "buffers"}
            parts = {"buffers": buffers} if buffers else {}
            return self._handle_view_message({**content, **parts})

        self._send_result_or_error(answer, message)

    def _run_in_thread(self, work: Callable[[], Message | None], to: Message | None = None) -> None:
        """Run `work` in a thread of its own, and send its result as the answer to `to`."""
        name = f"gqlnb-{type(self).__name__}"
        background.start_thread(partial(self._send_result_or_error, work, to), name)

    def _send_result_or_error(self, work: Callable[[], Message | None], to: Message | None) -> None:
        """Send the result of `work`, or its exception as text."""
        ident = None if to is None else to.get("id")
        address = {"id": ident} if isinstance(ident, str) else {}
        # Uncaught exceptions would only appear in a log, while the view waits for an answer.
        try:
            answer = work()
            if answer is not None:
                self.send({**answer, **address})
        except Exception as error:  # noqa: BLE001 - the view is the only place to report it
            self.send({"kind": "failed", "text": describe_error(error), **address})


def restore_nulls(value: object) -> object:
    """Return a message of the front end with None for each null, which Pyodide does not convert."""
    if isinstance(value, dict):
        return {key: restore_nulls(each) for key, each in value.items()}
    if isinstance(value, list):
        return [restore_nulls(each) for each in value]
    return None if type(value).__name__ == "JsNull" else value


def keep_route(comm: object) -> None:
    """Let the thread that the front end names receive its messages on a comm.

    Parameters
    ----------
    comm
        The comm of a widget; None does nothing.
    """
    # ipykernel 7.4 passes a message of the front end to the thread that sent last on the comm: to
    # the main thread, behind a running cell, if a cell sent last; to no thread at all, if it ended
    # with its page. Other versions choose nothing; a comm of another kernel, such as xeus-python,
    # may have no attributes of its own.
    if hasattr(comm, "_reply_subshell_for"):
        vars(comm)["_reply_subshell_for"] = lambda _data, subshell_id: subshell_id


def get_notebook_names() -> dict[str, Any]:
    """Return a copy of the names of the notebook; empty outside of IPython."""
    shell = get_ipython()
    return {} if shell is None else dict(shell.user_ns)


def describe_error(error: BaseException) -> str:
    """Return the text of an error: of the package's own as is, of others with the type."""
    if isinstance(error, GqlnbError):
        return str(error)
    return f"{type(error).__name__}: {sanitize_text(error, MAX_ERROR_LENGTH)}"


FRONT_END_FOLDER = _HERE
IMPORT_LINE = re.compile(r'\bfrom "\./([\w-]+\.js)";')  # as loader.js reads it


@lru_cache(maxsize=64)
def load_front_end(entry: str, folder: Path = FRONT_END_FOLDER) -> dict[str, Any]:
    """Load the front-end code of a widget for the loader.

    Parameters
    ----------
    entry
        The file of the widget's module, such as ``"result_view.js"``.
    folder
        The folder of this file and its imports.

    Returns
    -------
    dict
        ``hash`` of the whole, and ``files``: for each module its ``name``, ``text``, ``css`` and
        ``hash`` (of itself and its imports). A module follows those it imports.
    """
    files: dict[str, dict[str, str]] = {}

    def add_module(name: str) -> None:
        if name in files:
            return
        file = folder / name
        text, sheet = file.read_text(encoding="utf-8"), file.with_suffix(".css")
        css = sheet.read_text(encoding="utf-8") if sheet.is_file() else ""
        imports = IMPORT_LINE.findall(text)
        for other in imports:
            add_module(other)
        parts = [text, css, *(files[other]["hash"] for other in imports)]
        digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
        files[name] = {"name": name, "hash": digest, "text": text, "css": css}

    add_module(entry)
    return {"hash": files[entry]["hash"], "files": list(files.values())}
