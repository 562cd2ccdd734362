"""Values as text and HTML: escaped, static, and the same on every run."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

from gqlnb.errors import GqlnbError, blame, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from gqlnb.model.shape import Shape

__all__ = ["dotted", "error_line", "frame_html", "result_html", "result_text"]

ROWS_SHOWN = 20  # a screenful; the frame has the rest
CHARACTERS_SHOWN = 4000  # of JSON; more is seen better as a frame
VALUE_SHOWN = 200  # characters of a value beside the table; the data have the rest

NOTE = "border-left:4px solid #f59e0b;padding:2px 10px;margin:4px 0"


class Answer(Protocol):
    """What is shown of a result."""

    @property
    def data(self) -> Any:
        """The data."""

    @property
    def errors(self) -> Sequence[Mapping[str, Any]]:
        """The errors beside it."""

    @property
    def causes(self) -> Sequence[BaseException | None]:
        """The exceptions behind the errors."""

    def shape(self) -> Shape | None:
        """Return the shape of the data, if it is known."""


def result_text(result: Answer) -> str:
    """Return a result as text: a table of its rows, else indented JSON; errors below."""
    found = _table(result)
    if found is None:
        body = [_json(result.data)]
    else:
        frame, others = found
        body = [*_beside_lines(others), _frame_text(frame)]
    return "\n".join([*body, *_error_lines(result)])


def result_html(result: Answer) -> str:
    """Return a result as HTML that holds in an untrusted notebook; all values escaped."""
    found = _table(result)
    if found is None:
        body = f"<pre>{escape(_json(result.data))}</pre>"
    else:
        frame, others = found
        named = "<br>".join(escape(line) for line in _beside_lines(others))
        above = f'<p style="margin:2px 0">{named}</p>' if named else ""
        body = f"{above}{frame_html(frame)}"
    lines = "<br>".join(escape(line) for line in _error_lines(result))
    note = f'<div style="{NOTE}">{lines}</div>' if lines else ""
    return f'<div class="gqlnb tex2jax_ignore">{note}{body}</div>'


def frame_html(frame: pd.DataFrame, caption: str = "") -> str:
    """Return the first rows of a frame as an escaped HTML table, with what is left out below."""
    table = _shown(frame).to_html(escape=True, border=0)
    note = escape(caption or _caption(frame))
    return f'{table}<p style="opacity:.7;margin:2px 0">{note}</p>'


def _table(result: Answer) -> tuple[pd.DataFrame, dict[str, Any]] | None:
    """Return the rows and what stands beside them, for an answer of one list of objects."""
    from gqlnb.model.frame import beside, choose, frame_of
    from gqlnb.model.shape import inferred

    shape = result.shape() or inferred(result.data)
    try:
        found = choose(result.data, shape, None)
        if found is None or not found.row.children:
            return None
        return frame_of(result.data, shape), beside(result.data, shape)
    except GqlnbError:  # several lists, or values that fit no column: JSON shows them all
        return None


def _beside_lines(others: Mapping[str, Any]) -> list[str]:
    """Return what was asked for beside the rows, a line ``name: value`` each."""
    shown = [f"{plain(name, 120)}: {_value(value)}" for name, value in others.items()]
    more = len(shown) - ROWS_SHOWN
    return [*shown[:ROWS_SHOWN], f"… and {more} more values"] if more > 0 else shown


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return plain(text, VALUE_SHOWN)


def _frame_text(frame: pd.DataFrame) -> str:
    return f"{_shown(frame).to_string(max_colwidth=60)}\n{_caption(frame)}"


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the first rows, their text cleaned; inner lists are shown by repr, which escapes."""
    shown = frame.head(ROWS_SHOWN)
    texts = {
        str(name): shown[name].map(plain, na_action="ignore")
        for name, kind in shown.dtypes.items()
        if str(kind).startswith(("str", "category"))
    }
    return shown.assign(**texts).rename(columns=plain)


def _caption(frame: pd.DataFrame) -> str:
    rows = "1 row" if len(frame) == 1 else f"{len(frame):,} rows"
    return f"{rows}, the first {ROWS_SHOWN} shown" if len(frame) > ROWS_SHOWN else rows


def _json(value: Any) -> str:
    text = json.dumps(value, indent=2, ensure_ascii=False, default=repr)
    lines = "\n".join(plain_line(line) for line in text[:CHARACTERS_SHOWN].split("\n"))
    return lines if len(text) <= CHARACTERS_SHOWN else f"{lines}\n… {len(text):,} characters in all"


def plain_line(line: str) -> str:
    """Return a line cleaned like :func:`gqlnb.errors.plain`, its indentation kept."""
    indent = len(line) - len(line.lstrip(" "))
    return " " * indent + plain(line, CHARACTERS_SHOWN)


def error_line(error: Mapping[str, Any]) -> str:
    """Return an error of an answer as one line: where it happened, and what."""
    where = where_of(error)
    message = plain(error.get("message", "no message"))
    return f"{where}: {message}" if where else message


def where_of(error: Mapping[str, Any]) -> str | None:
    """Return the dotted path of an error; None where the endpoint sent none, or no list."""
    path = error.get("path")
    return dotted(path) if isinstance(path, (list, tuple)) and path else None


def dotted(path: Any) -> str:
    """Return a response path as text: ``a.b[0].c``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return plain(text.removeprefix("."), 120)


def _error_lines(result: Answer) -> list[str]:
    if not result.errors:
        return []
    count = "1 error" if len(result.errors) == 1 else f"{len(result.errors)} errors"
    causes = [*result.causes, *[None] * len(result.errors)]
    lines = [
        f"  {error_line(error if cause is None else {**error, 'message': blame(cause)})}"
        for error, cause in zip(result.errors[:10], causes, strict=False)
    ]
    return [f"Partial answer, {count}:", *lines]
