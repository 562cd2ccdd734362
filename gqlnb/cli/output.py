"""Advice that is written for a notebook, in the words of a shell."""

from __future__ import annotations

from gqlnb.auth import LITERAL_TOKEN_REFUSED
from gqlnb.client.paging.pager import ADVICE as PAGES
from gqlnb.client.urls import SERVE_HINT

__all__ = ["translate_for_shell"]

_SHELL_ADVICE = (
    (PAGES, "They were printed."),
    (
        "Look at client.schema once to have all of them followed",
        "Nested ones are followed where the query asks for the id of what they stand in",
    ),
    (SERVE_HINT, "To serve the reference schema there: gqlnb serve"),
    (
        LITERAL_TOKEN_REFUSED,
        "--token takes env:NAME, keyring:NAME, file:PATH or prompt: a token typed into a command "
        "would be saved in the shell's history.",
    ),
    ("token='env:NAME' or 'prompt'", "--token env:NAME or --token prompt"),
    ("token='env:NAME'", "--token env:NAME"),
    ("token='prompt'", "--token prompt"),
    ("with resume=False", "with --anew"),
    ("Access(origins=['http://localhost:5173'])", "--origin http://localhost:5173"),
    ("Access(origins='*')", "--origin '*'"),
    ("Access(origins=...)", "--origin"),
    ("Access(hosts=...)", "--allow-host"),
    ("token= and headers= would", "--token and --header would"),
    ("token= would", "--token would"),
    ("headers= would", "--header would"),
    (" before Jupyter starts", ""),
    ("Try again, or pass a longer timeout=.", "Try again."),
)


def translate_for_shell(text: str) -> str:
    """Return an error's text with the advice for a notebook put as advice for a shell."""
    for notebook, shell in _SHELL_ADVICE:
        text = text.replace(notebook, shell)
    return text
