"""A widget to enter a token.

The token is sent to the kernel as the binary part of one custom message. It is not a trait, so it
is never in widget state or in a notebook saved with it. It is not in the JSON of the message
either, which the kernel keeps as the parent of its next messages and writes to its debug log.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import traitlets

from gqlnb.errors import AuthError, sanitize_text
from gqlnb.notebook.widgets.base import Widget
from gqlnb.option_checks import explain_keywords
from gqlnb.tokens import Token

if TYPE_CHECKING:
    from gqlnb.notebook.widgets.base import Message

_HERE = Path(__file__).parent


@explain_keywords
class TokenBox(Widget):
    """Enter a token in a notebook without saving it there.

    The box shows dots and is emptied when Enter is pressed. The token exists only in the memory of
    the kernel: not in the notebook, its outputs, widget state or history. Pass the box to a client:
    ``gqlnb.connect("github", token=box)``.

    Parameters
    ----------
    label
        The label of the box.
    scheme
        The authentication scheme in the header, as for :class:`gqlnb.Token`.

    Attributes
    ----------
    label : str
        The label of the box.

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
        # Set before the comm opens: its first message may arrive in another thread.
        self._held: Token | None = None
        self._scheme = scheme
        super().__init__(label=label)

    @property
    def token(self) -> Token:
        """The token that was entered last.

        Raises
        ------
        AuthError
            If no token has been entered yet.
        """
        held = self._held
        if held is None:
            label = sanitize_text(self.label, 40)
            advice = "Type it there and press Enter, then run this cell again."
            msg = f"No token was entered in the box {label!r} yet. {advice}"
            raise AuthError(msg)
        return held

    def forget(self) -> None:
        """Forget the token; clients that were created with it keep it."""
        self._hold_token(None)

    def close(self) -> None:
        """Forget the token and close all views."""
        self._held = None
        super().close()

    def __repr__(self) -> str:
        filled = "empty" if self._held is None else repr(self._held)
        return f"{type(self).__name__}({self.label!r}, {filled})"

    def _build_html(self) -> str:
        return f"<p>{escape(self.label)}: run this notebook to type one.</p>"

    def _handle_view_message(self, message: Message, /) -> None:
        match message:
            case {"kind": "hello"}:
                self._send_status()
            case {"kind": "token", "buffers": [typed_bytes, *_]}:
                try:
                    typed = Token(bytes(typed_bytes).decode("utf-8", "replace"), self._scheme)
                except AuthError as error:
                    self._send_status(str(error))  # the former token stays
                else:
                    self._hold_token(typed)

    def _hold_token(self, token: Token | None) -> None:
        with self._lock:
            self._held = token
            self._send_status()

    def _send_status(self, error: str = "") -> None:
        """Send to all views whether there is a token, and the error of the last input."""
        self.send({"kind": "state", "held": self._held is not None, "error": error})
