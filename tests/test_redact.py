"""Secrets are found in text however they are spelled, and what is none is left alone."""

import base64
import html
import json
from urllib.parse import quote

import pytest

from gqlnb.redact import (
    CONTEXT_PATTERNS,
    TOKEN_PATTERNS,
    abbreviate_secret,
    find_secrets,
    has_secret,
    redact_text,
    replace_secrets,
)

WORD = "cAn/ary+91=ab_Zq"  # every spelling of it differs from it


def coded(data):
    """Return data as base64 of both alphabets."""
    return base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode()


SPELLINGS = {
    "as it is": WORD,
    "percent": quote(WORD, safe=""),
    "percent in small digits": "".join(f"%{ord(c):02x}" for c in WORD),
    "percent twice": quote(quote(WORD, safe=""), safe=""),
    "JSON": json.dumps(WORD).replace("A", r"\u0041").replace("/", r"\/"),
    "JSON in JSON": json.dumps(json.dumps(WORD).replace("A", r"\u0041")),
    "HTML": html.escape(WORD).replace("A", "&#65;").replace("r", "&#x72;"),
    "Python": "".join(f"\\x{ord(c):02x}" for c in WORD),
    "capitals": WORD.upper(),
    "hexadecimal": WORD.encode().hex().upper(),
    "base64": coded(WORD.encode())[0],
    "base64 of a header": coded(f"Bearer {WORD}".encode())[1],
    "base64 of a pair": coded(f"me:{WORD}:x".encode())[0],
    "percent of base64": quote(coded(f"Bearer {WORD}".encode())[0], safe=""),
    "colours": f"{WORD[:5]}\x1b[0m\x1b[31m{WORD[5:]}",
    "JSON of colours": json.dumps(f"\x1b[31m{WORD[:5]}\x1b[0m{WORD[5:]}"),
}


@pytest.mark.parametrize("spelled", SPELLINGS.values(), ids=SPELLINGS)
def test_a_known_secret_is_masked_in_any_encoding(spelled):
    """The rest of the text is unchanged, except for adjoining base64."""
    clean = redact_text(f"before {spelled} after", [WORD])
    assert clean.startswith("before ")
    assert clean.endswith(" after")
    assert "***" in clean
    left = clean.removeprefix("before ").removesuffix(" after").replace("***", "")
    assert len(left) <= 14 or "%" in left  # what stood around it: quotes, colours, "Bearer"
    assert WORD not in clean


def test_masking_is_idempotent():
    """Masked text contains no secret."""
    text = " ".join(SPELLINGS.values())
    clean = redact_text(text, [WORD])
    assert redact_text(clean, [WORD]) == clean


@pytest.mark.parametrize("text", ["", "canary", "%", "\\", "&;", "100 % \\u12 \\x", "é\u0130%C3"])
def test_text_without_secrets_is_unchanged(text):
    """Including invalid escape sequences."""
    assert redact_text(text, [WORD]) == text
    assert replace_secrets(text, find_secrets(text, [WORD])) == (text, [])


def test_a_short_secret_is_masked_only_literally():
    """Its encodings occur in too many texts."""
    assert redact_text("a=dark DARK 6461726b", ["dark"]) == "a=*** DARK 6461726b"


SHAPES = {
    "ghp_abcdefgh1234": "GitHub token",
    "github_pat_11ABCDEFG0123456789": "GitHub token",
    "gho_abcdefgh1234": "GitHub token",
    "glpat-abcdefghij1234": "GitLab token",
    "xoxb-1234567890-abcdef": "Slack token",
    "AKIAIOSFODNN7EXAMPLE": "AWS key",
    "AIza" + "Sy0123456789abcdefghijklmnopqrstuv": "Google key",
    "sk_live_0123456789abcdef": "Stripe key",
    "sk-proj-0123456789abcdefghij": "API key",
    "hf_abcdefghijklmnopqrstuvwx": "Hugging Face token",
    "npm_" + "a1" * 18: "package index token",
    "lin_api_0123456789abcdefghij": "service token",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl": "JSON Web Token",
}


@pytest.mark.parametrize("text", ["{}", "token = '{}'", r"\n{}\n", "%20{}", "({})", '"{}",'])
@pytest.mark.parametrize(("word", "kind"), SHAPES.items())
def test_tokens_of_services_are_recognised_by_prefix(word, kind, text):
    """Also after an escape sequence that ends in a letter."""
    around = text.format(word)
    clean, leaks = replace_secrets(around, find_secrets(around))
    assert (clean, [leak.kind for leak in leaks]) == (text.format("***"), [kind])
    assert has_secret(around)
    assert len(abbreviate_secret(word, kind)) < len(word)
    assert abbreviate_secret(word, "known token") == "***"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Authorization: Bearer abc123xyz", "Authorization: Bearer ***"),
        ("{'Authorization': 'token abc123xyz'}", "{'Authorization': 'token ***'}"),
        ('{"Authorization":["Basic dTpwYXNzMQ=="]}', '{"Authorization":["Basic ***"]}'),
        ("Authorization:\n      - Bearer abc123xyz", "Authorization:\n      - Bearer ***"),
        ("X-Api-Key: abc123xyz", "X-Api-Key: ***"),
        ("-H 'Private-Token: abc123xyz'", "-H 'Private-Token: ***'"),
        ("https://me:pass@host/x", "https://me:***@host/x"),
        ("http://h/g?a=1&access_token=abc&b=2", "http://h/g?a=1&access_token=***&b=2"),
        (f"Basic {coded(b'me:ghp_abcdefgh1234')[0]}", f"Basic {coded(b'me:***')[0]}"),
    ],
)
def test_other_tokens_are_recognised_by_context(text, clean):
    """Headers, URLs, and base64 of a user and password."""
    assert replace_secrets(text, find_secrets(text))[0] == clean


@pytest.mark.parametrize(
    "text",
    [
        "token='env:GITHUB_TOKEN'",
        "Authorization: Bearer YOUR_TOKEN_HERE",
        "Authorization: Bearer ***",
        '{"X-Api-Key": "env:MY_KEY_2"}',
        "headers={'Authorization': Token(***)}",
        "https://host:4000/graphql @me",
        "see ghp_ and sk-learn, eyes.open, key.value",
        "the authorization: required",
        "AKIA, ASIA; hf_hub_download(repo_id)",
    ],
)
def test_harmless_text_is_not_masked(text):
    """Documentation, URLs of token settings, ordinary words."""
    assert replace_secrets(text, find_secrets(text))[0] == text


def test_a_token_prefix_inside_base64_is_not_masked():
    """Long base64 contains every short prefix eventually."""
    image = "iVBORw0KGgo" + "A" * 200 + "AKIAIOSFODNN7EXAMPL0" + "/" * 3 + "B" * 300
    assert replace_secrets(image, find_secrets(image))[1] == []


def test_overlapping_secrets_become_one_mask():
    """A known token may also match a prefix."""
    text = "x ghp_abcdefgh1234-more y"
    assert replace_secrets(text, find_secrets(text, ["abcdefgh1234-more"]))[0] == "x *** y"


def test_no_prefix_shadows_a_longer_one():
    """The search stops at the first prefix that matches."""
    for table in (TOKEN_PATTERNS, CONTEXT_PATTERNS):
        prefixes = {prefix for pattern in table for prefix in pattern.prefixes}
        assert not [(a, b) for a in prefixes for b in prefixes if a != b and a.startswith(b)]
