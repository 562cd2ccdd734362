"""A box to type a token into, in a notebook.

What is typed goes to the kernel as the binary part of one custom message. It is in no trait, so
that no widget state, and no notebook saved with it, ever holds it; and not in the JSON of the
message either, which the kernel keeps as the parent of what it sends next and writes to its log
when it logs in detail.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import traitlets

from gqlnb.auth import Token
from gqlnb.errors import AuthError, sanitize_text
from gqlnb.notebook.widgets.base import Widget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gqlnb.notebook.widgets.base import Message

__all__ = ["TokenBox"]

_HERE = Path(__file__).parent


class TokenBox(Widget):
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
        self._held: Token | None = None
        self._scheme = scheme
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
                f"Nothing was typed into the box {sanitize_text(self.label, 40)!r} yet. Type the token "
                "there and press Enter, then run this cell again."
            )
            raise AuthError(msg)
        return held

    def forget(self) -> None:
        """Empty the box; clients that were made with its token keep it."""
        self._hold_token(None)

    def close(self) -> None:
        """Forget the token and take the widget out of all its views."""
        self._held = None
        super().close()

    def __repr__(self) -> str:
        filled = "empty" if self._held is None else repr(self._held)
        return f"{type(self).__name__}({self.label!r}, {filled})"

    def _build_html(self) -> str:
        return f"<p>{escape(self.label)}: run this notebook to type one.</p>"

    def _handle_view_message(self, message: Message, buffers: Sequence[memoryview], /) -> None:
        """Do what the front end asks, in whichever thread its message came."""
        match message:
            case {"kind": "hello"}:
                self._send_status()
            case {"kind": "token"} if buffers:
                try:
                    typed = Token(bytes(buffers[0]).decode("utf-8", "replace"), self._scheme)
                except AuthError as error:
                    self._send_status(str(error))  # what was held before is held still
                else:
                    self._hold_token(typed)

    def _hold_token(self, token: Token | None) -> None:
        with self._lock:
            self._held = token
            self._send_status()

    def _send_status(self, error: str = "") -> None:
        """Send every view whether there is a token, and what was wrong with the last one typed."""
        self.send({"kind": "state", "held": self._held is not None, "error": error})
