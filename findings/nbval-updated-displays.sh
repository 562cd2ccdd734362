#!/usr/bin/env bash
# nbval: a cell that updates its display is compared by what it showed first.
#
# Guessed before: nbval compares what a notebook holds after it was run and saved, which is the last
# content of a display that was updated (a progress line, a table that grows).
# What happens: the update is not looked at. The notebook as Jupyter saves it fails; one whose saved
# output is the first content, which no reader ever sees, passes, and so does any wrong update.
# Versions: nbval 0.11.0, ipykernel 7.4.0, nbclient 0.11.0, pytest 9.2.0, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet nbval==0.11.0 ipykernel==7.4.0 nbclient==0.11.0 pytest==9.2.0 \
  2>/dev/null
cat >run.py <<'PYTHON'
import copy
import subprocess
import sys

import nbclient
import nbformat

code = "shown = display('started', display_id='progress')\nshown.update('finished')"
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python", "language": "python"}
nbclient.NotebookClient(notebook).execute()
output = notebook.cells[0].outputs[0]
texts = {"as saved": output.data["text/plain"], "first content": "'started'"}
found = {}
for name, text in texts.items():
    changed = copy.deepcopy(notebook)
    changed.cells[0].outputs[0].data["text/plain"] = text
    nbformat.write(changed, "run.ipynb")
    command = [sys.executable, "-m", "pytest", "--nbval", "-q", "run.ipynb"]
    found[name] = text, subprocess.run(command, capture_output=True).returncode
print(found)
assert found == {"as saved": ("'finished'", 1), "first content": ("'started'", 0)}, found
PYTHON
venv/bin/python run.py
