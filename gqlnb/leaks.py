"""What secrets look like in text: known ones in any spelling, unknown ones by their shape.

A server that echoes a token may percent-encode it, escape it as JSON or HTML does, or put it into
base64; a notebook file escapes what its cells hold. So text is searched as it stands and as it
reads once such spellings are undone, and what was found is told as a place in the text as it
stands. No pattern is made from a secret: patterns are cached, and shown.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Place = Callable[[int, int], tuple[int, int]]  # from a start and an end to those in a text

__all__ = [
    "MASK",
    "Leak",
    "found",
    "known",
    "looks_secret",
    "masked",
    "prefixed",
    "quoted",
    "replaced",
    "telling",
]

MASK = "***"
KNOWN = "known token"
LONG = 8  # characters; the spellings of a shorter word are found in half of all texts
ROUNDS = 4  # spellings inside each other: an HTML page quotes JSON that quotes an address

# The spellings of one character, and the colours that IPython puts around words.
SPELLED = re.compile(
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
NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
NAMED |= {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
# Of ASCII alone: str.lower() makes two characters of some others, and places would shift.
LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
URL_SAFE, STANDARD = str.maketrans("+/", "-_"), str.maketrans("-_", "+/")
BASE64 = re.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}")

JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
JSON_BARE = re.compile(r"[\w.+-]*")  # a number, or a word such as true

# A run of base64 as long as an image's: letters in the middle of it spell no prefix.
IMAGE = re.compile(r"[A-Za-z0-9+/]{400,}")


class Shape(NamedTuple):
    """What secrets of one kind look like.

    Attributes
    ----------
    kind
        What they are, in a few words.
    begins
        How all of them begin; to look for these first is a hundred times faster.
    pattern
        The whole of it from there on; a group, where only a part of it is secret.
    """

    kind: str
    begins: tuple[str, ...]
    pattern: re.Pattern[str]


def _shape(kind: str, begins: str, rest: str) -> Shape:
    words = tuple(begins.split())
    either = "|".join(map(re.escape, words))
    return Shape(kind, words, re.compile(f"(?:{either}){rest}"))


ALONE = "(?<![A-Za-z0-9_-])"  # before it stands no letter or digit
# What the services that issue them write before their tokens.
PREFIXED = (
    _shape("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"\w{8,}"),
    _shape(
        "GitLab token",
        "glpat- gloas- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- glffct-",
        r"[\w.=-]{10,}",
    ),
    _shape("Slack token", "xoxa- xoxb- xoxc- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", r"[\w-]{8,}"),
    _shape("Slack address", "hooks.slack.com/services/", r"[\w/]{20,}"),
    _shape("AWS key", "AKIA ASIA ABIA ACCA", r"(?<!\w....)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _shape("Google key", "AIza", r"(?<!\w....)[\w-]{30,}"),
    _shape("Google token", "ya29. GOCSPX-", r"[\w-]{20,}"),
    _shape("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", r"\w{10,}"),
    _shape("API key", "sk-", r"(?<![\w-]...)(?=[\w-]*\d)[\w-]{20,}"),
    _shape("Hugging Face token", "hf_", r"(?<!\w...)[A-Za-z0-9]{20,}"),
    _shape("package index token", "npm_ pypi- rubygems_", r"[\w-]{30,}"),
    _shape("SendGrid key", "SG.", r"(?<!\w...)[\w-]{16,}\.[\w-]{16,}"),
    _shape("Shopify token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),
    _shape(
        "service token",
        "lin_api_ lin_oauth_ dop_v1_ hvs. figd_ glsa_ dckr_pat_ ntn_ PMAK- CFPAT- sntrys_ ATATT3",
        r"[\w+/=-]{20,}",
    ),
    _shape("Databricks token", "dapi", r"(?<!\w....)[0-9a-f]{32}"),
    _shape("JSON Web Token", "ey", r"(?<![\w-]..)[\w-]{9,}\.[\w-]{8,}(?:\.[\w-]*)?"),
)
# What stands around tokens of any kind, in small letters. Words without a digit and without the end
# of base64 are those of documentation.
VALUE = r"(?=[^\s\"'<>]*[\d=])([A-Za-z0-9._~+/=-]{8,})"
QUOTED = r"""["']?\s*[:=]\s*(?:-\s+)?[\[("']*\s*(?:(?:bearer|token|basic)\s+)?["']?"""
AROUND = (
    _shape("bearer token", "bearer", rf"\s+{VALUE}"),
    _shape(
        "secret header",
        "authorization x-api-key api-key x-apikey apikey private-token x-auth-token",
        rf"{QUOTED}{VALUE}",
    ),
    _shape(
        "token in a URL",
        "?access_token= &access_token= ?token= &token= ?api_key= &api_key= ?apikey= &apikey= "
        "?password= &password= ?secret= &secret=",
        r"([^\s&\"'<>*]+)",
    ),
    _shape("password in a URL", "://", r"""[^\s/?#'"<>:@]*:([^\s/?#'"<>@*]+)@"""),
    _shape("token in a URL", "://", r"""(?=[^@]*\d)([^\s/?#'"<>:@*]{16,})@"""),
)


class Leak(NamedTuple):
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


class Reading:
    """A text as it reads once the spellings of single characters in it are undone, once.

    Parameters
    ----------
    text
        The text as it stands.
    """

    def __init__(self, text: str) -> None:
        parts: list[str] = []
        self._places: list[int] = []  # of each spelling: where it is in the reading,
        self._ends: list[tuple[int, int, int]] = []  # its length there, its start and end here
        at = length = 0
        for match in SPELLED.finditer(text):
            start, end = match.span()
            said = meant(match)
            parts += (text[at:start], said)
            length += start - at
            self._places.append(length)
            self._ends.append((len(said), start, end))
            length += len(said)
            at = end
        self.text = "".join([*parts, text[at:]])

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return which part of the text as it stands reads as a part of this."""
        return self._place(start)[0], self._place(end - 1)[1]

    def _place(self, index: int) -> tuple[int, int]:
        number = bisect_right(self._places, index) - 1
        if number < 0:
            return index, index + 1
        place, (length, start, end) = self._places[number], self._ends[number]
        if index < place + length:
            return start, end
        at = end + index - place - length
        return at, at + 1


def meant(match: re.Match[str]) -> str:
    """Return the character that a spelling stands for; nothing for a colour."""
    number = match.lastindex
    if number is None:
        return ""
    said = match[number]
    if number <= 4:
        return chr(int(said, 16))
    return chr(int(said)) if number == 5 else NAMED.get(said, said)


def readings(text: str) -> Iterator[tuple[str, Place]]:
    """Yield a text as it stands and as it reads, each with what turns places back into its own."""
    back: Place = _unchanged
    yield text, back
    for _ in range(ROUNDS):
        if SPELLED.search(text) is None:
            return
        reading = Reading(text)
        text, back = reading.text, _after(reading.span, back)
        yield text, back


def _unchanged(start: int, end: int) -> tuple[int, int]:
    return start, end


def _after(inner: Place, outer: Place) -> Place:
    return lambda start, end: outer(*inner(start, end))


def known(text: str, words: Iterable[str]) -> Iterator[Leak]:
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
        yield from (Leak(*place, KNOWN) for place in places(text, word))
    if any(len(word) >= LONG for word in words):
        yield from _spelled(readings(text), words)


def _spelled(read: Iterable[tuple[str, Place]], words: Iterable[str]) -> Iterator[Leak]:
    long = [word for word in words if len(word) >= LONG]
    for said, back in read if long else ():
        low = lowered(said)
        for word in long:
            spelled = {lowered(reading) for reading, _ in readings(word)}
            for needle in (*spelled, word.encode().hex()):
                yield from (Leak(*back(*place), KNOWN) for place in places(low, needle))
            for needle in in_base64(word):
                yield from (Leak(*back(*place), KNOWN) for place in places(said, needle))


def lowered(text: str) -> str:
    """Return a text in small letters, each in its place."""
    low = text.lower()
    return low if len(low) == len(text) else text.translate(LOWER)


def places(text: str, word: str) -> Iterator[tuple[int, int]]:
    """Yield where a word stands in a text."""
    start = text.find(word)
    while start >= 0:
        yield start, start + len(word)
        start = text.find(word, start + len(word))


def in_base64(word: str) -> Iterator[str]:
    """Yield what base64 makes of a word within longer data, without the characters at its ends.

    Three bytes become four characters, so there are three ways in which a word may begin.
    """
    data = word.encode()
    for before in range(3):
        whole = b64encode(bytes(before) + data).decode()
        core = whole[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        yield core
        yield core.translate(URL_SAFE)


def found(text: str, words: Iterable[str] = ()) -> Iterator[Leak]:
    """Yield the secrets in a text: the known ones, and what looks like one; in base64 too.

    Parameters
    ----------
    text
        The text.
    words
        The known secrets.
    """
    words = list(words)
    yield from known(text, [word for word in words if len(word) < LONG])
    read = list(readings(text))
    yield from _spelled(read, words)
    said, back = read[-1]  # spellings undone: before, "\\n" would put a letter before a token
    images = [match.span() for match in IMAGE.finditer(said)]
    for start, end, kind in (*shaped(said, PREFIXED), *shaped(lowered(said), AROUND)):
        if not any(first < start < last for first, last in images):
            yield Leak(*back(start, end), kind)
    for match in BASE64.finditer(said):
        instead = _in_data(match[0], words)
        if instead is not None:
            yield Leak(*back(*match.span()), "token in base64", instead)


def shaped(text: str, shapes: Iterable[Shape]) -> Iterator[tuple[int, int, str]]:
    """Yield what in a text has one of these shapes: its start, its end, its kind."""
    for kind, begins, pattern in shapes:
        for begin in begins:
            for start, _ in places(text, begin):
                match = pattern.match(text, start)
                if match is not None:
                    yield *match.span(pattern.groups), kind


def _in_data(text: str, words: Iterable[str]) -> str | None:
    """Return base64 with the secrets in what it holds masked; None if there are none."""
    data = text.rstrip("=").translate(STANDARD)
    try:
        inner = b64decode(data + "=" * (-len(data) % 4)).decode()
    except ValueError:  # no base64, or an image
        return None
    clean = masked(masked(inner, words))
    if clean == inner:
        return None
    made = b64encode(clean.encode()).decode()
    return made.translate(URL_SAFE) if "-" in text or "_" in text else made


def prefixed(text: str) -> bool:
    """Tell whether there is what begins as the tokens of some service do in a text."""
    return next(shaped(text, PREFIXED), None) is not None


def looks_secret(text: str) -> bool:
    """Tell whether there is what looks like a secret in a text."""
    return next(found(text), None) is not None


def telling(text: str, kind: str) -> str:
    """Return how a secret of a service begins, and no more of it, as reports show it."""
    begins = (begin for shape in PREFIXED if shape.kind == kind for begin in shape.begins)
    return next((begin for begin in begins if text.startswith(begin)), "") + MASK


def replaced(text: str, leaks: Iterable[Leak]) -> tuple[str, list[Leak]]:
    """Return a text without its secrets, and those that were replaced.

    Of secrets that overlap the one that begins first stands for all.

    Parameters
    ----------
    text
        The text.
    leaks
        Where they are, in any order.
    """
    merged: list[Leak] = []
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


def quoted(text: str, leaks: Iterable[Leak]) -> list[Leak]:
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


def masked(text: str, words: Iterable[str] | None = None) -> str:
    """Return a text without known secrets, however they are spelled in it.

    Parameters
    ----------
    text
        The text.
    words
        The secrets; None for whatever begins as services let their tokens begin.
    """
    if words is not None:
        return replaced(text, known(text, words))[0]
    return replaced(text, (Leak(*place) for place in shaped(text, PREFIXED)))[0]
