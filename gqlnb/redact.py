"""Find and replace secrets in text, and keep them out of tracebacks."""

from __future__ import annotations

import os
import re
from base64 import b64decode, b64encode
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property, wraps
from typing import TYPE_CHECKING, NamedTuple, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    SpanMapper = Callable[[int, int], tuple[int, int]]  # from a start and an end to those in a text

MASK = "***"
KNOWN_KIND = "known token"
# Characters; the encodings of a shorter word occur by chance in half of all texts.
MIN_ESCAPED_LENGTH = 8
MAX_DECODE_ROUNDS = 4  # nested encodings: an HTML page quotes JSON that quotes a URL

# The escapes of one character, and the colour codes that IPython puts around words.
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
# ASCII only: str.lower() maps some other characters to two, and positions would shift.
ASCII_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
TO_URL_SAFE, FROM_URL_SAFE = str.maketrans("+/", "-_"), str.maketrans("-_", "+/")
BASE64_PATTERN = re.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}")

JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
JSON_BARE = re.compile(r"[\w.+-]*")  # a number, or a word such as true

# Base64 as long as an image: a prefix in the middle of it occurs by chance.
LONG_BASE64_PATTERN = re.compile(r"[A-Za-z0-9+/]{400,}")


class TokenPattern(NamedTuple):
    """The form of one kind of secret.

    Attributes
    ----------
    kind
        A short description.
    prefixes
        The possible first characters. No prefix of a table begins with another of that table.
    pattern
        A regular expression of the whole secret, or of its context with the secret as a group.
    """

    kind: str
    prefixes: tuple[str, ...]
    pattern: str


def _build_pattern(kind: str, prefixes: str, rest: str) -> TokenPattern:
    words = tuple(prefixes.split())
    either = "|".join(map(re.escape, words))
    return TokenPattern(kind, words, f"(?:{either}){rest}")


# The prefixes that services give their tokens, from their documentation.
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
# The context of tokens of any kind, in lower case. A word without a digit and without base64
# padding is a placeholder in documentation.
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
        Its position, in characters from 0; `end` is exclusive.
    kind
        A short description.
    replacement
        The text to replace it by.
    """

    start: int
    end: int
    kind: str
    replacement: str = MASK


# Known secrets are found in any encoding, unknown ones by the prefixes and contexts of tokens. A
# server that echoes a token may percent-encode it, escape it for JSON or HTML, or encode it in
# base64; a notebook file escapes the contents of its cells. The text is therefore searched as it is
# and decoded, and the positions are mapped back. No regular expression is compiled from a secret,
# because compiled patterns are cached and appear in reprs.
# The alternatives are factored into a trie: on a notebook cell that is three times as fast as a
# `str.find` for each of the 70 prefixes, and five times as fast as a plain alternation on 1 MB.
class PrefixTable:
    """Token patterns with one compiled search for all their prefixes."""

    def __init__(self, patterns: Iterable[TokenPattern]) -> None:
        self._patterns = tuple(patterns)

    # Compiled when first used: most programs never search a text, and all import this module.
    @cached_property
    def _searches(self) -> tuple[re.Pattern[str], dict[str, list[tuple[str, re.Pattern[str]]]]]:
        by_prefix: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
        for kind, prefixes, pattern in self._patterns:
            compiled = re.compile(pattern)
            for prefix in prefixes:
                by_prefix.setdefault(prefix, []).append((kind, compiled))
        return re.compile(_factor_prefixes(by_prefix)), by_prefix

    def find(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and kind of each match in a text."""
        prefix, patterns = self._searches
        match = prefix.search(text)
        while match is not None:
            for kind, pattern in patterns[match[0]]:
                found = pattern.match(text, match.start())
                if found is not None:
                    yield *found.span(pattern.groups), kind
            match = prefix.search(text, match.start() + 1)


def _factor_prefixes(words: Iterable[str]) -> str:
    """Return a regular expression for any of the words, common first characters factored out."""
    by_first: dict[str, list[str]] = {}
    for word in words:
        by_first.setdefault(word[:1], []).append(word[1:])
    if "" in by_first:
        return ""
    parts = [re.escape(first) + _factor_prefixes(rest) for first, rest in by_first.items()]
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


_TOKENS, _CONTEXTS = PrefixTable(TOKEN_PATTERNS), PrefixTable(CONTEXT_PATTERNS)


class DecodedText:
    """A text with the escapes of single characters decoded, one round.

    Parameters
    ----------
    source
        The text with escapes.

    Attributes
    ----------
    text
        The decoded text.
    """

    def __init__(self, source: str) -> None:
        parts: list[str] = []
        self._positions: list[int] = []  # of each escape: its position in the decoded text,
        self._escapes: list[tuple[int, int, int]] = []  # its decoded length, its span in the source
        at = length = 0
        for match in ESCAPE_PATTERN.finditer(source):
            start, end = match.span()
            character = decode_escape(match)
            parts += (source[at:start], character)
            length += start - at
            self._positions.append(length)
            self._escapes.append((len(character), start, end))
            length += len(character)
            at = end
        self.text = "".join([*parts, source[at:]])

    def map_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the source for a span in the decoded text."""
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
    """Return the character of an escape; "" for a colour code."""
    number = match.lastindex
    if number is None:
        return ""
    code = match[number]
    if number <= 4:
        return chr(int(code, 16))
    return chr(int(code)) if number == 5 else NAMED_ESCAPES.get(code, code)


def iterate_decodings(text: str) -> Iterator[tuple[str, SpanMapper]]:
    """Yield a text as it is, then decoded up to four times, with functions that map spans back."""

    def chain(inner: SpanMapper, outer: SpanMapper) -> SpanMapper:
        return lambda start, end: outer(*inner(start, end))

    map_back: SpanMapper = lambda start, end: (start, end)  # noqa: E731
    yield text, map_back
    for _ in range(MAX_DECODE_ROUNDS):
        if ESCAPE_PATTERN.search(text) is None:
            return
        decoded = DecodedText(text)
        text, map_back = decoded.text, chain(decoded.map_span, map_back)
        yield text, map_back


def find_secrets(
    text: str, words: Iterable[str] = (), *, patterns: bool = True
) -> Iterator[SecretMatch]:
    """Yield the secrets in a text, in any order; some may overlap.

    Parameters
    ----------
    text
        The text.
    words
        Known secrets, found in any encoding; those below eight characters only as they are.
    patterns
        Whether to find unknown secrets too: by the prefixes and contexts of tokens, in base64 too.

    Yields
    ------
    SecretMatch
        A secret with its position in `text`.
    """
    words = list(words)
    for word in words:
        yield from (SecretMatch(*span, KNOWN_KIND) for span in find_occurrences(text, word))
    long = [word for word in words if len(word) >= MIN_ESCAPED_LENGTH]
    if not long and not patterns:
        return
    decodings = list(iterate_decodings(text))
    for decoded, map_back in decodings if long else ():
        low = lower_text(decoded)
        for word in long:
            spellings = {lower_text(spelling) for spelling, _ in iterate_decodings(word)}
            spans = [
                *(s for w in (*spellings, word.encode().hex()) for s in find_occurrences(low, w)),
                *(s for w in encode_in_base64(word) for s in find_occurrences(decoded, w)),
            ]
            yield from (SecretMatch(*map_back(*span), KNOWN_KIND) for span in spans)
    if not patterns:
        return
    decoded, map_back = decodings[-1]  # decoded: in "\\nghp_" a letter stands before the token
    images = [match.span() for match in LONG_BASE64_PATTERN.finditer(decoded)]
    for start, end, kind in (*_TOKENS.find(decoded), *_CONTEXTS.find(lower_text(decoded))):
        if not any(first < start < last for first, last in images):
            yield SecretMatch(*map_back(start, end), kind)
    for match in BASE64_PATTERN.finditer(decoded):
        replacement = _redact_base64(match[0], words)
        if replacement is not None:
            yield SecretMatch(*map_back(*match.span()), "token in base64", replacement)


def lower_text(text: str) -> str:
    """Return a text of the same length in lower case."""
    low = text.lower()
    return low if len(low) == len(text) else text.translate(ASCII_LOWER)


def find_occurrences(text: str, word: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of a word in a text."""
    start = text.find(word)
    while start >= 0:
        yield start, start + len(word)
        start = text.find(word, start + len(word))


def encode_in_base64(word: str) -> Iterator[str]:
    """Yield the base64 forms of a word within longer data, without the characters at its ends."""
    # Three bytes become four characters, so a word has three forms, by its offset modulo three.
    data = word.encode()
    for before in range(3):
        whole = b64encode(bytes(before) + data).decode()
        core = whole[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        yield core
        yield core.translate(TO_URL_SAFE)


def _redact_base64(text: str, words: Iterable[str]) -> str | None:
    """Return base64 data with the secrets in it masked; None if it has none."""
    data = text.rstrip("=").translate(FROM_URL_SAFE)
    try:
        inner = b64decode(data + "=" * (-len(data) % 4)).decode()
    except ValueError:  # not base64, or an image
        return None
    clean = redact_text(redact_text(inner, words))
    if clean == inner:
        return None
    encoded = b64encode(clean.encode()).decode()
    return encoded.translate(TO_URL_SAFE) if "-" in text or "_" in text else encoded


def has_token_prefix(text: str) -> bool:
    """Return whether a text contains a token with a known prefix."""
    return next(_TOKENS.find(text), None) is not None


def has_secret(text: str) -> bool:
    """Return whether a text contains a token, by its prefix or its context."""
    return next(find_secrets(text), None) is not None


def abbreviate_secret(text: str, kind: str) -> str:
    """Return the known prefix of a secret, followed by ``***``."""
    prefixes = (p for pattern in TOKEN_PATTERNS if pattern.kind == kind for p in pattern.prefixes)
    return next((prefix for prefix in prefixes if text.startswith(prefix)), "") + MASK


def replace_secrets(text: str, leaks: Iterable[SecretMatch]) -> tuple[str, list[SecretMatch]]:
    """Return a text without its secrets, and the secrets that were replaced.

    Overlapping secrets become one, with the kind of the first.

    Parameters
    ----------
    text
        The text.
    leaks
        The secrets in it, in any order.

    Returns
    -------
    (str, list of SecretMatch)
        The text, and the merged secrets in the order of their positions.
    """
    merged: list[SecretMatch] = []
    for leak in sorted(set(leaks), key=lambda leak: (leak.start, -leak.end)):
        if not merged or leak.start >= merged[-1].end:
            merged.append(leak)
        elif leak.end > merged[-1].end:
            merged[-1] = merged[-1]._replace(end=leak.end, replacement=MASK)
    parts: list[str] = []
    at = 0
    for leak in merged:
        parts += (text[at : leak.start], leak.replacement)
        at = leak.end
    return "".join([*parts, text[at:]]), merged


def widen_to_json_values(text: str, leaks: Iterable[SecretMatch]) -> list[SecretMatch]:
    """Return secrets in a JSON text widened so that the text stays JSON without them.

    A secret in a string stays as it is; one in a number covers the whole number, and its
    replacement is a string.

    Parameters
    ----------
    text
        The JSON text.
    leaks
        The secrets in it, in any order.

    Returns
    -------
    list of SecretMatch
        The secrets, in the given order.
    """
    leaks = list(leaks)
    strings = [match.span() for match in JSON_STRING.finditer(text)] if leaks else []
    widened = []
    for leak in leaks:
        number = bisect_right(strings, (leak.start, len(text))) - 1
        after = strings[number][1] if number >= 0 else 0
        if leak.start < after:
            widened.append(leak)
            continue
        before = max(after, *(text.rfind(mark, 0, leak.start) + 1 for mark in "{[:, \n"))
        bare = JSON_BARE.match(text, before)
        end = max(leak.end, bare.end() if bare else 0)
        widened.append(leak._replace(start=before, end=end, replacement=f'"{MASK}"'))
    return widened


def redact_text(text: str, words: Iterable[str] | None = None) -> str:
    """Return a text with its secrets masked.

    Parameters
    ----------
    text
        The text.
    words
        The secrets, masked in any encoding; None for tokens with a known prefix.

    Returns
    -------
    str
        The text with ``***`` for each secret.
    """
    if words is None:
        return replace_secrets(text, (SecretMatch(*found) for found in _TOKENS.find(text)))[0]
    fitting = [word for word in words if len(word) <= len(text)]  # an encoding is never shorter
    if not fitting:
        return text
    return replace_secrets(text, find_secrets(text, fitting, patterns=False))[0]


E = TypeVar("E", bound=BaseException)
P = ParamSpec("P")
R = TypeVar("R")


def strip_traceback(error: E) -> E:
    """Remove the traceback, cause and context of an exception, as their locals hold secrets.

    Raise it outside of any ``except`` block, from a frame without secrets.

    Returns
    -------
    BaseException
        The exception itself.
    """
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


# Public functions that take a secret are decorated with this, so that tracebacks do not show it.
# Patterns are never compiled from a secret: the module `re` caches them.
def hide_locals(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function so that tracebacks do not show its arguments and locals.

    Returns
    -------
    function
        A function with the same signature.
    """
    # Debuggers, `%xmode Verbose`, `pytest --showlocals` and error-tracking services show the locals
    # of each frame of a traceback.

    @wraps(function)
    def call_hidden(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except BaseException as error:  # noqa: BLE001 - raised again below
            failure = strip_traceback(error)
        del args, kwargs  # this frame is part of the traceback
        raise failure

    return call_hidden


def seal_text(value: str) -> Callable[[], str]:
    """Return a function that returns a text, and keeps it unreadable in memory.

    Returns
    -------
    function
        It takes no arguments and returns the text.
    """
    # The text is stored as two random numbers, so that a debugger, a walk over attributes and a
    # memory dump do not show it.
    data = value.encode()
    size = len(data)
    pad = int.from_bytes(os.urandom(size))
    other = int.from_bytes(data) ^ pad
    return lambda: (other ^ pad).to_bytes(size).decode()
