#!/usr/bin/env bash
# tomlkit: a table that is added beside dotted keys takes the keys that follow.
#
# One would expect: after `document["a"]["new"] = {...}` the file has the new table, and all of its
# other values as before.
# What happens: with `a.b.x = 1` and `a.c.x = 2` in the file, the header of the new table is written
# between these two lines, so that `a.c.x` is a key of the new table when the file is read again.
# tomlkit reports no error, and its own document still has the right values.
# Versions: tomlkit 0.15.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q tomlkit==0.15.2 2>/dev/null
"$folder/venv/bin/python" - <<'PY'
import sys
import tomllib

import tomlkit

document = tomlkit.parse("a.b.x = 1\na.c.x = 2\n")
document["a"]["new"] = {"y": 3}
text = tomlkit.dumps(document)
print(text)
print("read again:", tomllib.loads(text))
wrong = {"a": {"b": {"x": 1}, "new": {"y": 3, "a": {"c": {"x": 2}}}}}
right = {"a": {"b": {"x": 1}, "c": {"x": 2}, "new": {"y": 3}}}
sys.exit(0 if tomllib.loads(text) == wrong and document.unwrap() == right else 1)
PY
