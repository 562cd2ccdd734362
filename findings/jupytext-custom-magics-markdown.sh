#!/usr/bin/env bash
# Jupytext: the option for the cell magics of extensions turns their cells into text in Markdown.
#
# Guessed before: with custom_cell_magics a cell that begins with `%%graphql` comes back from every
# format as it was.
# What happens: it does so from py:percent, py:light, md:myst and Rmd. From the format md it comes
# back as a Markdown cell, since it is written as a block of the language `graphql` and the reader
# knows only the languages of Jupytext's own list; two such cells become one. Without the option md
# keeps the cells, but a py:percent file is no Python: the query stands in it as it is.
# Versions: jupytext 1.19.6, nbformat 5.10.4, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet jupytext==1.19.6 nbformat==5.10.4 2>/dev/null
cat >run.py <<'PYTHON'
import ast

import jupytext
from nbformat import v4

CELLS = ["import os", "%%graphql\nquery { first }", "%%graphql\nquery { second }"]
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
FORMATS = ("py:percent", "py:light", "md:myst", "Rmd", "md")


def write(text_format, option):
    notebook = v4.new_notebook(cells=[v4.new_code_cell(source) for source in CELLS])
    notebook.metadata["kernelspec"] = KERNEL
    notebook.metadata["jupytext"] = {"custom_cell_magics": "graphql"} if option else {}
    return jupytext.writes(notebook, fmt=text_format)


def read(text_format, option):
    notebook = jupytext.reads(write(text_format, option), fmt=text_format)
    return [(cell.cell_type, cell.source) for cell in notebook.cells]


def is_python(text):
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


code = [("code", source) for source in CELLS]
kept = {option: [name for name in FORMATS if read(name, option) == code] for option in (True, False)}
print("kept:", kept)
print("md:", read("md", True))
python = {option: is_python(write("py:percent", option)) for option in (True, False)}
print("py:percent is Python:", python)
block = "```graphql\nquery { first }\n```\n\n```graphql\nquery { second }\n```"
assert kept == {True: ["py:percent", "py:light", "md:myst", "Rmd"], False: [*FORMATS]}, kept
assert read("md", True) == [("code", "import os"), ("markdown", block)]
assert python == {True: True, False: False}, python
PYTHON
venv/bin/python run.py
