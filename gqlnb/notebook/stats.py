"""``--stats``: what an answer took."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gqlnb.errors import plain
from gqlnb.notebook.shown import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.model.result import Result

__all__ = ["budget", "stats"]


def stats(result: Result, seconds: float) -> str:
    """Return time, bytes, rows and what is left of a budget, on one line.

    Parameters
    ----------
    result
        The answer.
    seconds
        From asking to having it.
    """
    parts = [f"{seconds:.3f} s" if seconds >= 1 else f"{seconds * 1e3:.1f} ms"]
    body = getattr(result.response, "body", b"")
    if body:
        parts.append(f"{len(body):,} bytes")
    parts.append(counted(len(result), "row"))
    left = budget(result)
    return ", ".join([*parts, left] if left else parts)


def budget(result: Result) -> str:
    """Return what is left of the endpoint's budget; "" where it does not say.

    Read from the field ``rateLimit``, else from the headers ``x-ratelimit-*``.
    """
    meter = result.data.get("rateLimit") if isinstance(result.data, dict) else None
    if isinstance(meter, dict) and "remaining" in meter:
        left, most, until = (meter.get(key) for key in ("remaining", "limit", "resetAt"))
    else:
        headers: Mapping[str, Any] = getattr(result.response, "headers", None) or {}
        low = {name.lower(): value for name, value in headers.items()}
        left, most, until = (
            low.get(f"x-ratelimit-{word}") for word in ("remaining", "limit", "reset")
        )
    if left is None:
        return ""
    of = f" of {number(most)}" if most is not None else ""
    again = f" until {moment(until)}" if until is not None else ""
    return f"budget {number(left)}{of} left{again}"


def number(value: Any) -> str:
    """Return a number with its thousands apart; anything else as it came."""
    text = plain(value, 20)
    return f"{int(text):,}" if text.isascii() and text.isdecimal() else text


def moment(value: Any) -> str:
    """Return the time of day in UTC; of seconds since 1970 or of ISO 8601 text."""
    text = plain(value, 40)
    try:
        if text.isascii() and text.isdecimal():
            when = datetime.fromtimestamp(int(text), UTC)
        else:
            when = datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return text
    return f"{when:%H:%M} UTC"
