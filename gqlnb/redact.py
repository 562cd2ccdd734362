"""What secrets look like in text: known ones in any spelling, unknown ones by their shape.

A server that echoes a token may percent-encode it, escape it as JSON or HTML does, or put it into
base64; a notebook file escapes what its cells hold. So text is searched as it stands and as it
reads once such spellings are undone, and what was found is told as a place in the text as it
stands. No pattern is made from a secret: patterns are cached, and shown.
"""

from __future__ import annotations

import os
import re
from base64 import b64decode, b64encode
from bisect import bisect_right
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, NamedTuple, ParamSpec, TypeVar

__all__ = [
    "MASK",
    "SecretMatch",
    "abbreviate_secret",
    "find_known_secrets",
    "find_secrets",
    "has_secret",
    "has_token_prefix",
    "hide_locals",
    "redact_text",
    "replace_secrets",
    "seal_text",
    "strip_traceback",
    "widen_to_json_values",
]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    SpanMapper = Callable[[int, int], tuple[int, int]]  # from a start and an end to those in a text

MASK = "***"
KNOWN_KIND = "known token"
MIN_ESCAPED_LENGTH = 8  # characters; the spellings of a shorter word are found in half of all texts
MAX_DECODE_ROUNDS = (
    4  # spellings inside each other: an HTML page quotes JSON that quotes an address
)

# The spellings of one character, and the colours that IPython puts around words.
ESCAPE_PATTERN = re.compile(
    r"""%(?:25)*([0-9A-Fa-f]{2})
    |\\+u00([0-9A-Fa-f]{2})
    |\\+x([0-9A-Fa-f]{2})
    |&\#[xX]0*([0-9A-Fa-f]{1,2});
    |&\#0*([0-9]{1,3});
    |&(amp|lt|gt|quot|apos);
    |\\+([/"'\\nrtbf])
    |\x1b\[[0-9;]*m""",
    re.VERBOSE,
)
NAMED_ESCAPES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
NAMED_ESCAPES |= {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
# Of ASCII alone: str.lower() makes two characters of some others, and places would shift.
ASCII_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
TO_URL_SAFE, FROM_URL_SAFE = str.maketrans("+/", "-_"), str.maketrans("-_", "+/")
BASE64_PATTERN = re.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}")

JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
JSON_BARE = re.compile(r"[\w.+-]*")  # a number, or a word such as true

# A run of base64 as long as an image's: letters in the middle of it spell no prefix.
LONG_BASE64_PATTERN = re.compile(r"[A-Za-z0-9+/]{400,}")


class TokenPattern(NamedTuple):
    """What secrets of one kind look like.

    Attributes
    ----------
    kind
        What they are, in a few words.
    prefixes
        How all of them begin; to look for these first is a hundred times faster.
    pattern
        The whole of it from there on; a group, where only a part of it is secret.
    """

    kind: str
    prefixes: tuple[str, ...]
    pattern: re.Pattern[str]


def _build_pattern(kind: str, begins: str, rest: str) -> TokenPattern:
    words = tuple(begins.split())
    either = "|".join(map(re.escape, words))
    return TokenPattern(kind, words, re.compile(f"(?:{either}){rest}"))


ALONE = "(?<![A-Za-z0-9_-])"  # before it stands no letter or digit
# What the services that issue them write before their tokens.
TOKEN_PATTERNS = (
    _build_pattern("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"\w{8,}"),
    _build_pattern(
        "GitLab token",
        "glpat- gloas- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- glffct-",
        r"[\w.=-]{10,}",
    ),
    _build_pattern(
        "Slack token", "xoxa- xoxb- xoxc- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", r"[\w-]{8,}"
    ),
    _build_pattern("Slack address", "hooks.slack.com/services/", r"[\w/]{20,}"),
    _build_pattern("AWS key", "AKIA ASIA ABIA ACCA", r"(?<!\w....)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _build_pattern("Google key", "AIza", r"(?<!\w....)[\w-]{30,}"),
    _build_pattern("Google token", "ya29. GOCSPX-", r"[\w-]{20,}"),
    _build_pattern("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", r"\w{10,}"),
    _build_pattern("API key", "sk-", r"(?<![\w-]...)(?=[\w-]*\d)[\w-]{20,}"),
    _build_pattern("Hugging Face token", "hf_", r"(?<!\w...)[A-Za-z0-9]{20,}"),
    _build_pattern("package index token", "npm_ pypi- rubygems_", r"[\w-]{30,}"),
    _build_pattern("SendGrid key", "SG.", r"(?<!\w...)[\w-]{16,}\.[\w-]{16,}"),
    _build_pattern("Shopify token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),
    _build_pattern(
        "service token",
        "lin_api_ lin_oauth_ dop_v1_ hvs. figd_ glsa_ dckr_pat_ ntn_ PMAK- CFPAT- sntrys_ ATATT3",
        r"[\w+/=-]{20,}",
    ),
    _build_pattern("Databricks token", "dapi", r"(?<!\w....)[0-9a-f]{32}"),
    _build_pattern("JSON Web Token", "ey", r"(?<![\w-]..)[\w-]{9,}\.[\w-]{8,}(?:\.[\w-]*)?"),
)
# What stands around tokens of any kind, in small letters. Words without a digit and without the end
# of base64 are those of documentation.
TOKEN_VALUE = r"(?=[^\s\"'<>]*[\d=])([A-Za-z0-9._~+/=-]{8,})"  # noqa: S105
BEFORE_VALUE = r"""["']?\s*[:=]\s*(?:-\s+)?[\[("']*\s*(?:(?:bearer|token|basic)\s+)?["']?"""
CONTEXT_PATTERNS = (
    _build_pattern("bearer token", "bearer", rf"\s+{TOKEN_VALUE}"),
    _build_pattern(
        "secret header",
        "authorization x-api-key api-key x-apikey apikey private-token x-auth-token",
        rf"{BEFORE_VALUE}{TOKEN_VALUE}",
    ),
    _build_pattern(
        "token in a URL",
        "?access_token= &access_token= ?token= &token= ?api_key= &api_key= ?apikey= &apikey= "
        "?password= &password= ?secret= &secret=",
        r"([^\s&\"'<>*]+)",
    ),
    _build_pattern("password in a URL", "://", r"""[^\s/?#'"<>:@]*:([^\s/?#'"<>@*]+)@"""),
    _build_pattern("token in a URL", "://", r"""(?=[^@]*\d)([^\s/?#'"<>:@*]{16,})@"""),
)


class SecretMatch(NamedTuple):
    """A secret in a text.

    Attributes
    ----------
    start, end
        Where, in characters from 0; `end` is behind it.
    kind
        What it is, in a few words.
    instead
        What to write there.
    """

    start: int
    end: int
    kind: str
    instead: str = MASK


class DecodedText:
    """A text as it reads once the spellings of single characters in it are undone, once.

    Parameters
    ----------
    text
        The text as it stands.
    """

    def __init__(self, text: str) -> None:
        parts: list[str] = []
        self._positions: list[int] = []  # of each spelling: where it is in the reading,
        self._escapes: list[tuple[int, int, int]] = []  # its length there, its start and end here
        at = length = 0
        for match in ESCAPE_PATTERN.finditer(text):
            start, end = match.span()
            said = decode_escape(match)
            parts += (text[at:start], said)
            length += start - at
            self._positions.append(length)
            self._escapes.append((len(said), start, end))
            length += len(said)
            at = end
        self.text = "".join([*parts, text[at:]])

    def map_span(self, start: int, end: int) -> tuple[int, int]:
        """Return which part of the text as it stands reads as a part of this."""
        return self._map_index(start)[0], self._map_index(end - 1)[1]

    def _map_index(self, index: int) -> tuple[int, int]:
        number = bisect_right(self._positions, index) - 1
        if number < 0:
            return index, index + 1
        place, (length, start, end) = self._positions[number], self._escapes[number]
        if index < place + length:
            return start, end
        at = end + index - place - length
        return at, at + 1


def decode_escape(match: re.Match[str]) -> str:
    """Return the character that a spelling stands for; nothing for a colour."""
    number = match.lastindex
    if number is None:
        return ""
    said = match[number]
    if number <= 4:
        return chr(int(said, 16))
    return chr(int(said)) if number == 5 else NAMED_ESCAPES.get(said, said)


def iterate_decodings(text: str) -> Iterator[tuple[str, SpanMapper]]:
    """Yield a text as it stands and as it reads, each with what turns places back into its own."""
    back: SpanMapper = _keep_span
    yield text, back
    for _ in range(MAX_DECODE_ROUNDS):
        if ESCAPE_PATTERN.search(text) is None:
            return
        reading = DecodedText(text)
        text, back = reading.text, _chain_mappers(reading.map_span, back)
        yield text, back


def _keep_span(start: int, end: int) -> tuple[int, int]:
    return start, end


def _chain_mappers(inner: SpanMapper, outer: SpanMapper) -> SpanMapper:
    return lambda start, end: outer(*inner(start, end))


def find_known_secrets(text: str, words: Iterable[str]) -> Iterator[SecretMatch]:
    """Yield where known secrets stand in a text, in whatever spelling.

    Parameters
    ----------
    text
        The text.
    words
        The secrets. Those below eight characters are found as they are alone.
    """
    words = [word for word in words if len(word) <= len(text)]  # no spelling is shorter
    for word in words:
        yield from (SecretMatch(*place, KNOWN_KIND) for place in find_occurrences(text, word))
    if any(len(word) >= MIN_ESCAPED_LENGTH for word in words):
        yield from _find_escaped_secrets(iterate_decodings(text), words)


def _find_escaped_secrets(
    read: Iterable[tuple[str, SpanMapper]], words: Iterable[str]
) -> Iterator[SecretMatch]:
    long = [word for word in words if len(word) >= MIN_ESCAPED_LENGTH]
    for said, back in read if long else ():
        low = lower_text(said)
        for word in long:
            spelled = {lower_text(reading) for reading, _ in iterate_decodings(word)}
            for needle in (*spelled, word.encode().hex()):
                yield from (
                    SecretMatch(*back(*place), KNOWN_KIND)
                    for place in find_occurrences(low, needle)
                )
            for needle in encode_in_base64(word):
                yield from (
                    SecretMatch(*back(*place), KNOWN_KIND)
                    for place in find_occurrences(said, needle)
                )


def lower_text(text: str) -> str:
    """Return a text in small letters, each in its place."""
    low = text.lower()
    return low if len(low) == len(text) else text.translate(ASCII_LOWER)


def find_occurrences(text: str, word: str) -> Iterator[tuple[int, int]]:
    """Yield where a word stands in a text."""
    start = text.find(word)
    while start >= 0:
        yield start, start + len(word)
        start = text.find(word, start + len(word))


def encode_in_base64(word: str) -> Iterator[str]:
    """Yield what base64 makes of a word within longer data, without the characters at its ends.

    Three bytes become four characters, so there are three ways in which a word may begin.
    """
    data = word.encode()
    for before in range(3):
        whole = b64encode(bytes(before) + data).decode()
        core = whole[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        yield core
        yield core.translate(TO_URL_SAFE)


def find_secrets(text: str, words: Iterable[str] = ()) -> Iterator[SecretMatch]:
    """Yield the secrets in a text: the known ones, and what looks like one; in base64 too.

    Parameters
    ----------
    text
        The text.
    words
        The known secrets.
    """
    words = list(words)
    yield from find_known_secrets(text, [word for word in words if len(word) < MIN_ESCAPED_LENGTH])
    read = list(iterate_decodings(text))
    yield from _find_escaped_secrets(read, words)
    said, back = read[-1]  # spellings undone: before, "\\n" would put a letter before a token
    images = [match.span() for match in LONG_BASE64_PATTERN.finditer(said)]
    for start, end, kind in (
        *match_patterns(said, TOKEN_PATTERNS),
        *match_patterns(lower_text(said), CONTEXT_PATTERNS),
    ):
        if not any(first < start < last for first, last in images):
            yield SecretMatch(*back(start, end), kind)
    for match in BASE64_PATTERN.finditer(said):
        instead = _redact_base64(match[0], words)
        if instead is not None:
            yield SecretMatch(*back(*match.span()), "token in base64", instead)


def match_patterns(text: str, shapes: Iterable[TokenPattern]) -> Iterator[tuple[int, int, str]]:
    """Yield what in a text has one of these shapes: its start, its end, its kind."""
    for kind, begins, pattern in shapes:
        for begin in begins:
            for start, _ in find_occurrences(text, begin):
                match = pattern.match(text, start)
                if match is not None:
                    yield *match.span(pattern.groups), kind


def _redact_base64(text: str, words: Iterable[str]) -> str | None:
    """Return base64 with the secrets in what it holds masked; None if there are none."""
    data = text.rstrip("=").translate(FROM_URL_SAFE)
    try:
        inner = b64decode(data + "=" * (-len(data) % 4)).decode()
    except ValueError:  # no base64, or an image
        return None
    clean = redact_text(redact_text(inner, words))
    if clean == inner:
        return None
    made = b64encode(clean.encode()).decode()
    return made.translate(TO_URL_SAFE) if "-" in text or "_" in text else made


def has_token_prefix(text: str) -> bool:
    """Tell whether there is what begins as the tokens of some service do in a text."""
    return next(match_patterns(text, TOKEN_PATTERNS), None) is not None


def has_secret(text: str) -> bool:
    """Tell whether there is what looks like a secret in a text."""
    return next(find_secrets(text), None) is not None


def abbreviate_secret(text: str, kind: str) -> str:
    """Return how a secret of a service begins, and no more of it, as reports show it."""
    begins = (begin for shape in TOKEN_PATTERNS if shape.kind == kind for begin in shape.prefixes)
    return next((begin for begin in begins if text.startswith(begin)), "") + MASK


def replace_secrets(text: str, leaks: Iterable[SecretMatch]) -> tuple[str, list[SecretMatch]]:
    """Return a text without its secrets, and those that were replaced.

    Of secrets that overlap the one that begins first stands for all.

    Parameters
    ----------
    text
        The text.
    leaks
        Where they are, in any order.
    """
    merged: list[SecretMatch] = []
    for leak in sorted(set(leaks), key=lambda leak: (leak.start, -leak.end)):
        if not merged or leak.start >= merged[-1].end:
            merged.append(leak)
        elif leak.end > merged[-1].end:
            merged[-1] = merged[-1]._replace(end=leak.end, instead=MASK)
    parts: list[str] = []
    at = 0
    for leak in merged:
        parts += (text[at : leak.start], leak.instead)
        at = leak.end
    return "".join([*parts, text[at:]]), merged


def widen_to_json_values(text: str, leaks: Iterable[SecretMatch]) -> list[SecretMatch]:
    """Return the secrets in a text of JSON so that it is JSON without them: a number is one whole.

    Parameters
    ----------
    text
        The text.
    leaks
        Where they are, in any order.
    """
    leaks = list(leaks)
    strings = [match.span() for match in JSON_STRING.finditer(text)] if leaks else []
    made = []
    for leak in leaks:
        number = bisect_right(strings, (leak.start, len(text))) - 1
        after = strings[number][1] if number >= 0 else 0
        if leak.start < after:
            made.append(leak)
            continue
        before = max(after, *(text.rfind(mark, 0, leak.start) + 1 for mark in "{[:, \n"))
        bare = JSON_BARE.match(text, before)
        end = max(leak.end, bare.end() if bare else 0)
        made.append(leak._replace(start=before, end=end, instead=f'"{MASK}"'))
    return made


def redact_text(text: str, words: Iterable[str] | None = None) -> str:
    """Return a text without known secrets, however they are spelled in it.

    Parameters
    ----------
    text
        The text.
    words
        The secrets; None for whatever begins as services let their tokens begin.
    """
    if words is not None:
        return replace_secrets(text, find_known_secrets(text, words))[0]
    return replace_secrets(
        text, (SecretMatch(*place) for place in match_patterns(text, TOKEN_PATTERNS))
    )[0]


E = TypeVar("E", bound=BaseException)
P = ParamSpec("P")
R = TypeVar("R")


def strip_traceback(error: E) -> E:
    """Return an exception without its frames and those it came from, whose locals hold secrets.

    Raise it where no other exception is being handled, and from a frame that holds none.
    """
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def hide_locals(function: Callable[P, R]) -> Callable[P, R]:
    """Keep the arguments and locals of a function out of the tracebacks of what it raises.

    Debuggers, ``%xmode Verbose``, ``pytest --showlocals`` and services that collect errors show
    the locals of each frame that an exception went through. A mistyped option is an exception too.
    """

    @wraps(function)
    def call_hidden(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            failure = strip_traceback(error)
        del args, kwargs  # this frame is shown
        raise failure

    return call_hidden


def seal_text(value: str) -> Callable[[], str]:
    """Return a function that gives a text which nothing else shows.

    The text is kept as two random numbers, so that neither a debugger that opens objects,
    nor a walk over attributes, nor a dump of the memory between two requests reads it.
    """
    data = value.encode()
    size = len(data)
    pad = int.from_bytes(os.urandom(size))
    other = int.from_bytes(data) ^ pad
    return lambda: (other ^ pad).to_bytes(size).decode()
