"""The front-end code of a widget: its module, the modules it imports, and their style sheets.

A module imports another of this folder by a line that ends in ``from "./name.js";``. Beside
``name.js`` may stand ``name.css``. Nothing is bundled: the loader (``loader.js``) makes each text
a module of its own, once per page, and links it to those it imports.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["front_of"]

HERE = Path(__file__).parent
IMPORTED = re.compile(r'\bfrom "\./([\w-]+\.js)";')  # as loader.js reads it


@lru_cache(maxsize=64)
def front_of(entry: str, folder: Path = HERE) -> dict[str, Any]:
    """Return what the loader needs to show a widget.

    Parameters
    ----------
    entry
        The file of the widget's module: ``"result_view.js"``.
    folder
        Where it is, with all that it imports.

    Returns
    -------
    dict
        ``hash`` of all of it, and ``files``: for each module its ``name``, ``text``, ``css`` and
        ``hash`` (of itself and of what it imports), each after those it imports.
    """
    files: dict[str, dict[str, str]] = {}
    for name, text, css in _walk(entry, folder, ()):
        if name not in files:
            parts = [text, css, *(files[other]["hash"] for other in IMPORTED.findall(text))]
            made = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
            files[name] = {"name": name, "hash": made, "text": text, "css": css}
    return {"hash": files[entry]["hash"], "files": list(files.values())}


def _walk(name: str, folder: Path, inside: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """Yield name, text and style sheet of a module and of all it imports, those first."""
    if name in inside:
        msg = f"{' imports '.join([*inside, name])}: modules in a circle cannot be linked."
        raise ValueError(msg)
    file = folder / name
    text, sheet = file.read_text(encoding="utf-8"), file.with_suffix(".css")
    for other in IMPORTED.findall(text):
        yield from _walk(other, folder, (*inside, name))
    yield name, text, sheet.read_text(encoding="utf-8") if sheet.is_file() else ""
