"""A box to type a token into, in a notebook.

What is typed goes to the kernel as the binary part of one custom message. It is in no trait, so
that no widget state, and no notebook saved with it, ever holds it; and not in the JSON of the
message either, which the kernel keeps as the parent of what it sends next and writes to its log
when it logs in detail.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from gqlnb.errors import AuthError, plain
from gqlnb.notebook.widgets.star_search import forget_route
from gqlnb.sealing import unseen
from gqlnb.token import Token

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["TokenBox"]

_HERE = Path(__file__).parent


class TokenBox(anywidget.AnyWidget):
    """Type a token into a notebook without leaving it there.

    The box shows dots, empties itself when Enter is pressed, and hands the token to the kernel, in
    whose memory alone it is: not in the notebook, its outputs, the state of its widgets or the
    history. Give the box to a client: ``gqlnb.connect("github", token=box)``.

    Parameters
    ----------
    label
        The words before the box.
    scheme
        The word before the token in the header, as for :class:`gqlnb.Token`.

    Examples
    --------
    >>> box = TokenBox("GitHub token")
    >>> box
    TokenBox('GitHub token', empty)
    """

    _esm = _HERE / "token_box.js"
    _css = _HERE / "token_box.css"

    label = traitlets.Unicode().tag(sync=True)

    def __init__(self, label: str = "Token", *, scheme: str = "Bearer") -> None:
        # All of it before the comm opens: its first message may come in another thread.
        self._lock = Lock()
        self._held: Token | None = None
        self._scheme = scheme
        self.on_msg(self._receive)
        super().__init__(label=label)

    @property
    def token(self) -> Token:
        """What was typed last.

        Raises
        ------
        AuthError
            If nothing was typed yet.
        """
        held = self._held
        if held is None:
            msg = (
                f"Nothing was typed into the box {plain(self.label, 40)!r} yet. Type the token "
                "there and press Enter, then run this cell again."
            )
            raise AuthError(msg)
        return held

    def forget(self) -> None:
        """Empty the box; clients that were made with its token keep it."""
        self._take(None)

    def open(self) -> None:
        """Open the comm to the front end, once."""
        super().open()
        forget_route(self.comm)

    def close(self) -> None:
        """Forget the token and take the widget out of all its views."""
        self._held = None
        super().close()

    def __repr__(self) -> str:
        filled = "empty" if self._held is None else repr(self._held)
        return f"{type(self).__name__}({self.label!r}, {filled})"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the view, and beside it a sentence for a viewer without a kernel."""
        bundle: tuple[dict[str, Any], dict[str, Any]] | None = super()._repr_mimebundle_(**kwargs)
        if bundle is not None:
            said = f"{escape(self.label)}: run this notebook to type one."
            bundle[0]["text/html"] = f'<div class="gqlnb tex2jax_ignore"><p>{said}</p></div>'
            bundle[0]["text/plain"] = repr(self)
        return bundle

    @unseen
    def _receive(self, _widget: object, content: Any, buffers: Sequence[memoryview] | None) -> None:
        """Do what the front end asks, in whichever thread its message came."""
        match content:
            case {"kind": "hello"}:
                self._tell()
            case {"kind": "token"} if buffers:
                try:
                    typed = Token(bytes(buffers[0]).decode("utf-8", "replace"), self._scheme)
                except AuthError as error:
                    self._tell(str(error))  # what was held before is held still
                else:
                    self._take(typed)

    def _take(self, token: Token | None) -> None:
        with self._lock:
            self._held = token
            self._tell()

    def _tell(self, error: str = "") -> None:
        """Send every view whether there is a token, and what was wrong with the last one typed."""
        self.send({"kind": "state", "held": self._held is not None, "error": error})

    def _send(self, msg: dict[str, Any], buffers: Any = None) -> None:
        super()._send(msg, buffers)
        forget_route(self.comm)
