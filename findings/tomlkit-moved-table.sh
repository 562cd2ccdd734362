#!/usr/bin/env bash
# tomlkit: a file that is read and written again, unchanged, has another order of tables.
#
# One would expect: "dumps(parse(text)) == text", as tomlkit preserves comments, whitespace and
# order.
# What happens: an array of tables that stands between two tables of the same parent, [a.b] and
# [a.c], is written behind the second. With [x] in place of [[x]] the order stays. The values are
# the same; a tool that renames one key of such a file also moves a table that is none of its own.
# Versions: tomlkit 0.15.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q tomlkit==0.15.2 2>/dev/null
"$folder/venv/bin/python" - <<'PY'
import sys

import tomlkit

between = "[a.b]\n{}\nk = 1\n[a.c]\nk = 1\n"
behind = "[a.b]\n[a.c]\nk = 1\n{}\nk = 1\n"
written = {name: tomlkit.dumps(tomlkit.parse(between.format(name))) for name in ("[x]", "[[x]]")}
print(written)
expected = {"[x]": between.format("[x]"), "[[x]]": behind.format("[[x]]")}
sys.exit(0 if written == expected else 1)
PY
