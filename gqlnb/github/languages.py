"""Other names of languages, as ``language:`` of a search takes them: ``golang`` is Go."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["spoken"]

_NAMES: Mapping[str, tuple[str, ...]] = {
    "ActionScript": ("actionscript 3", "actionscript3", "as3"),
    "Assembly": ("asm", "nasm"),
    "Batchfile": ("bat", "batch", "dosbatch", "winbatch"),
    "C#": ("csharp", "cake", "cakescript"),
    "C++": ("cpp",),
    "CoffeeScript": ("coffee", "coffee-script"),
    "Common Lisp": ("lisp",),
    "D": ("dlang",),
    "DM": ("byond",),
    "Dockerfile": ("containerfile",),
    "Emacs Lisp": ("elisp", "emacs"),
    "F#": ("fsharp",),
    "Go": ("golang",),
    "HCL": ("hashicorp configuration language", "opentofu", "terraform"),
    "HTML": ("xhtml",),
    "JavaScript": ("js", "node"),
    "Jupyter Notebook": ("ipython notebook",),
    "MATLAB": ("octave",),
    "Makefile": ("bsdmake", "make", "mf"),
    "Markdown": ("md", "pandoc"),
    "Nix": ("nixos",),
    "Objective-C": ("obj-c", "objc", "objectivec"),
    "Objective-C++": ("obj-c++", "objc++", "objectivec++"),
    "PHP": ("inc",),
    "Pascal": ("delphi", "objectpascal"),
    "Perl": ("cperl",),
    "PowerShell": ("posh", "pwsh"),
    "Protocol Buffer": ("proto", "protobuf", "protocol buffers"),
    "Python": ("py", "py3", "python3", "rusthon"),
    "R": ("rscript", "splus"),
    "Raku": ("perl6", "perl-6"),
    "Ruby": ("jruby", "macruby", "rake", "rb", "rbx"),
    "Rust": ("rs",),
    "Shell": ("sh", "shell-script", "bash", "zsh", "envrc"),
    "Starlark": ("bazel", "bzl"),
    "TeX": ("latex",),
    "TypeScript": ("ts",),
    "V": ("vlang",),
    "Vim Script": ("vim", "viml", "nvim", "vimscript"),
    "Visual Basic .NET": ("visual basic", "vbnet", "vb .net", "vb.net"),
    "WebAssembly": ("wast", "wasm"),
    "XML": ("rss", "xsd", "wsdl"),
    "YAML": ("yml",),
    "reStructuredText": ("rst",),
}

ALIASES: Mapping[str, str] = MappingProxyType(
    {
        other.replace(" ", "-"): name.lower().replace(" ", "-")
        for name, others in _NAMES.items()
        for other in others
    }
)
"""What each other name stands for, in lower case and with hyphens for spaces.

Source: the table of languages of GitHub Linguist, by whose names and aliases GitHub searches; of
it the languages of the embedded snapshot and some more that are often asked for.
"""


def spoken(text: str) -> str:
    """Return what all names of one language have in common, whatever their case.

    Spaces and hyphens are the same, as in the aliases that Linguist makes of names.

    Examples
    --------
    >>> spoken("GoLang"), spoken("objc"), spoken("Jupyter Notebook"), spoken("Zig")
    ('go', 'objective-c', 'jupyter-notebook', 'zig')
    """
    name = text.lower().replace(" ", "-")
    return ALIASES.get(name, name)
