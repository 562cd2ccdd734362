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
  gone is the HTML beside the view (:meth:`Widget._html`) and, where widget state is stored and
  hides that HTML, a short text (:attr:`Widget._twin`).
- A message may be read in any thread, and two at once: change what is shared under ``_lock``.
- What takes longer than a moment goes into a thread of its own (:meth:`Widget._apart`): the
  messages of all widgets of a page wait in one line.
- No exception is lost: it is told to the view, in words (``failed`` in the front end).
"""

from __future__ import annotations

from pathlib import Path
from threading import RLock, Thread
from typing import TYPE_CHECKING, Any, ClassVar

import anywidget
import traitlets

from gqlnb.errors import GqlnbError, plain
from gqlnb.model.render import CLASSES
from gqlnb.notebook.widgets.fronts import front_of
from gqlnb.sealing import unseen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Message = Mapping[str, Any]

__all__ = ["Widget", "forget_route", "in_words", "names_of_the_notebook"]

_HERE = Path(__file__).parent
WORDS = 2000  # characters of an error that a view shows
TWIN = 4000  # characters of the text that is stored with the widget


class Widget(anywidget.AnyWidget):
    """One view, one comm; see the top of this file.

    A subclass names its module in ``_view`` and writes :meth:`_heard` and :meth:`_html`. It sets
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
            traits["_front"] = front_of(self._view)["hash"]
        super().__init__(**traits)

    @traitlets.validate("_twin")
    def _short(self, proposal: Mapping[str, Any]) -> str:
        text: str = proposal["value"]
        return text if len(text) <= TWIN else f"{text[:TWIN]} …"

    def _heard(self, message: Message, buffers: Sequence[memoryview], /) -> Message | None:
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

    def _html(self) -> str:
        """Return what a viewer without a kernel shows: escaped HTML without script and style."""
        raise NotImplementedError

    def _text(self) -> str:
        """Return what a terminal shows."""
        return repr(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the view, and beside it what a viewer without a kernel shows."""
        bundle: tuple[dict[str, Any], dict[str, Any]] | None = super()._repr_mimebundle_(**kwargs)
        if bundle is not None:
            bundle[0]["text/html"] = f'<div class="{CLASSES}">{self._html()}</div>'
            bundle[0]["text/plain"] = self._text()
        return bundle

    def open(self) -> None:
        """Open the comm to the front end, once."""
        super().open()
        forget_route(self.comm)

    def _send(self, msg: dict[str, Any], buffers: Any = None) -> None:
        super()._send(msg, buffers)
        forget_route(self.comm)

    @unseen
    def _receive(self, _widget: object, message: Any, buffers: Sequence[memoryview] | None) -> None:
        """Answer a message of a view; whatever goes wrong is an answer too."""
        if not isinstance(message, dict):
            return
        to = message.get("id")
        self._carefully(lambda: self._answer(message, buffers or ()), to)

    def _answer(self, message: Message, buffers: Sequence[memoryview]) -> Message | None:
        if message.get("kind") == "front" and self._view:
            return {"kind": "front", **front_of(self._view)}
        return self._heard(message, buffers)

    def _apart(self, work: Callable[[], Message | None], to: Message | None = None) -> None:
        """Do something in a thread of its own, and send what it returns as the answer to `to`."""
        ident = None if to is None else to.get("id")
        name = f"gqlnb-{type(self).__name__}"
        Thread(target=self._carefully, args=[work, ident], name=name, daemon=True).start()

    def _carefully(self, work: Callable[[], Message | None], to: object) -> None:
        """Send what `work` returns, or in words why it did not."""
        address = {"id": to} if isinstance(to, str) else {}
        try:
            answer = work()
            if answer is not None:
                self.send({**answer, **address})
        except Exception as error:  # whatever it is: there is nobody else to tell
            self.send({"kind": "failed", "text": in_words(error), **address})


def forget_route(comm: object) -> None:
    """Let the front end choose the thread that reads its next message on a comm.

    ipykernel 7.4 notes which of its threads sent last on a comm and hands the front end's messages
    to that one: to the main thread, behind a running cell, if a cell sent last; to nobody, if the
    thread went with the page that had asked for it. Any thread will do here. Other versions keep
    no such note.
    """
    if comm is not None:
        vars(comm).pop("_reply_subshell_id", None)


def names_of_the_notebook() -> dict[str, Any]:
    """Return what the names of the notebook mean now; nothing outside of IPython."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    return {} if shell is None else dict(shell.user_ns)


def in_words(error: BaseException) -> str:
    """Return what a person reads of an error: our own as they are, others with their type."""
    if isinstance(error, GqlnbError):
        return str(error)
    return f"{type(error).__name__}: {plain(error, WORDS)}"
