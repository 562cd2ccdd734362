"""Reading a response: which of them are answers, and what the others mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gqlnb.errors import (
    AnswerError,
    AuthError,
    GqlnbError,
    QueryError,
    RateLimited,
    TransportError,
    plain,
)
from gqlnb.model.document import problems
from gqlnb.model.result import Result
from gqlnb.token import bare
from gqlnb.wire.json import JSONError, load

if TYPE_CHECKING:
    from gqlnb.model.document import Document
    from gqlnb.wire.response import Response

__all__ = ["Asked", "read"]

# GitHub spells it both ways, and neither with an HTTP status of its own.
LIMITED = frozenset({"RATE_LIMITED", "RATE_LIMIT"})
# The statuses under which servers say that the query itself is wrong (GraphQL over HTTP).
ABOUT_THE_QUERY = frozenset({200, 400, 422})
ADVICE = "Pass a token the endpoint knows: token='env:NAME' or 'prompt'."
EXCERPT = 80  # characters of a foreign body worth showing
SEARCHED = 1 << 16  # bytes of a foreign body in which secrets are hidden before it is cut
DEEP = 32  # levels of an error that are kept; GitHub's have four
ESCAPED = re.compile(r"\\u00([2-7][0-9a-fA-F])|\\(/)")  # printable ASCII that need not be escaped


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked, to say where an error belongs.

    Attributes
    ----------
    document
        The document that was sent.
    source
        Where the answer is from: the address without secrets, or a word for this process.
    hide
        Replaces known secrets in text that the other side made.
    now
        Seconds since the epoch, to turn a reset time into a wait.
    """

    document: Document
    source: str
    hide: Callable[[str], str] = str
    now: float = 0.0

    def clean(self, text: object, limit: int = 400) -> str:
        """Return text of the other side without secrets, control characters and excess length."""
        return plain(self.hide(str(text)), limit)

    def excerpt(self, body: bytes) -> str:
        """Return the beginning of a foreign body without secrets, however JSON spells them."""
        text = body[:SEARCHED].decode("utf-8", "replace")
        return self.clean(ESCAPED.sub(unescaped, text), EXCERPT)

    def masked(self, value: Any, depth: int = 0) -> Any:
        """Return a JSON-like value of the other side with the secrets hidden in its texts."""
        if isinstance(value, str):
            return self.hide(value)
        if depth > DEEP and isinstance(value, (dict, list)):
            return "…"
        if isinstance(value, dict):
            return {self.hide(k): self.masked(v, depth + 1) for k, v in value.items()}
        return [self.masked(v, depth + 1) for v in value] if isinstance(value, list) else value


def read(response: Response, asked: Asked) -> Result:
    """Return the result that a response holds.

    Raises
    ------
    QueryError
        If the endpoint says that the text or the variables are wrong.
    AuthError, RateLimited, TransportError
        If it refused, asks to wait, or failed.
    AnswerError
        If what came is no GraphQL response.
    """
    try:
        return _read(response, asked)
    except GqlnbError as error:
        failure = bare(error)
    del response  # a traceback may show these locals, and a foreign body may hold our token
    raise failure


def _read(response: Response, asked: Asked) -> Result:
    members = response.members if response.members is not None else _members(response, asked)
    result = _result(members, response, asked)
    if "data" in members:
        return result
    result = replace(
        result,
        extensions=asked.masked(result.extensions),
        response=replace(response, headers=asked.masked(dict(response.headers)), body=b""),
    )
    _refused(response, asked, _limited(members["errors"]))
    if response.status not in ABOUT_THE_QUERY:
        reason = "; ".join(asked.clean(e.get("message", "")) for e in result.errors[:3])
        msg = f"{asked.source}: HTTP {response.status}: {reason}"
        raise TransportError(msg, status=response.status, result=result)
    raise QueryError(text=asked.document.text, problems=problems(result.errors), result=result)


def _members(response: Response, asked: Asked) -> Mapping[str, Any]:
    """Return the members of a GraphQL response, or raise what the body means instead."""
    try:
        members = load(response.body)
        reason = "JSON that is no object"
    except JSONError as error:
        members, reason = None, f"no JSON ({error})"
    if isinstance(members, dict) and ("data" in members or isinstance(members.get("errors"), list)):
        return members
    said = members.get("message") if isinstance(members, dict) else None
    _refused(response, asked, limited=False, said=said)
    said = said if isinstance(said, str) else None
    if isinstance(members, dict):
        reason = repr(asked.clean(said, 200)) if said else "JSON with neither 'data' nor 'errors'"
    where = f"{asked.source}: HTTP {response.status}"
    excerpt = asked.excerpt(response.body)
    if not 200 <= response.status < 300:
        shown = asked.clean(said, 200) if said else repr(excerpt)
        msg = f"{where}. Expected a GraphQL response, got {shown}"
        raise TransportError(msg, status=response.status)
    msg = (
        f"{where}, and the answer is {reason}: {excerpt!r}. "
        "Is this the address of a GraphQL endpoint?"
    )
    raise AnswerError(msg)


def _result(members: Mapping[str, Any], response: Response, asked: Asked) -> Result:
    data, errors = members.get("data"), members.get("errors")
    errors = [] if errors is None else errors
    fault = None
    if data is not None and not isinstance(data, Mapping):
        fault = f"'data' is a {type(data).__name__}, not an object"
    elif not isinstance(errors, (list, tuple)) or not all(isinstance(e, Mapping) for e in errors):
        fault = "'errors' is no list of objects"
    elif "data" not in members and not errors:
        fault = "there is no 'data', and 'errors' is empty"
    if fault and not 200 <= response.status < 300:
        msg = f"{asked.source}: HTTP {response.status}. Not a GraphQL response: {fault}."
        raise TransportError(msg, status=response.status)
    if fault:
        msg = f"{asked.source}: not a GraphQL response: {fault}."
        raise AnswerError(msg)
    extensions = members.get("extensions")
    return Result(
        data=data,
        errors=tuple(errors if response.members is not None else map(asked.masked, errors)),
        extensions=extensions if isinstance(extensions, Mapping) else {},
        document=asked.document,
        response=response,
        source=asked.source,
        causes=response.causes,
    )


def unescaped(match: re.Match[str]) -> str:
    """Return the character that an escape sequence of JSON stands for."""
    return chr(int(match[1], 16)) if match[1] else str(match[2])


def _limited(errors: Sequence[Mapping[str, Any]]) -> bool:
    return any(error.get("type") in LIMITED for error in errors)


def _refused(response: Response, asked: Asked, limited: bool, said: object = None) -> None:
    """Raise if the endpoint refused the token or asks to wait."""
    if said is None and response.body:
        said = _said(response.body)
    words = asked.clean(said, 200) if said and isinstance(said, str) else "no reason given"
    where = f"{asked.source}: HTTP {response.status}"
    wait = _wait(response.headers, asked.now, limited)
    limited = limited or response.status == 429
    limited = limited or (response.status == 403 and ("rate limit" in words or wait is not None))
    if limited:
        pause = f" Wait {wait:.0f} s." if wait is not None else ""
        msg = f"{where}, rate limit reached: {words}.{pause}"
        raise RateLimited(msg, wait=wait, status=response.status)
    if response.status == 401:
        msg = f"{where}: {words.rstrip('.')}. {ADVICE}"
        raise AuthError(msg, status=401)


def _said(body: bytes) -> object:
    try:
        members = load(body)
    except JSONError:
        return None
    if not isinstance(members, dict):
        return None
    errors = members.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else None
    return members.get("message") or (first.get("message") if isinstance(first, dict) else None)


def _wait(headers: Mapping[str, str], now: float, limited: bool) -> float | None:
    """Return the seconds an endpoint asks to wait: Retry-After, else GitHub's reset time.

    The reset counts where nothing remains, and where the errors say that the limit is reached:
    x-ratelimit-remaining may be above 0 then (yanyongyu/githubkit#271).
    """
    after, reset = headers.get("retry-after", ""), headers.get("x-ratelimit-reset", "")
    if after.isdecimal():
        return float(after)
    if reset.isdecimal() and (limited or headers.get("x-ratelimit-remaining") == "0"):
        return max(0.0, float(reset) + 1 - now)  # one second for clocks that differ
    return None
