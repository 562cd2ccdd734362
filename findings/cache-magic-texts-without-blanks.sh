#!/usr/bin/env bash
# cache-magic: %cache takes the blanks out of texts in the expression, and asks for something else.
#
# Guessed before: `%cache cached = search("good first issue")` evaluates that expression once.
# What happens: the line is split at its blanks and joined without them, so that `search` is called with
# "goodfirstissue": of 137 rows, 46 match the text that was written, and none comes. The empty list
# is stored and given again later. The two words `query Issues` of a GraphQL document are
# one word, too. No error says so; the same expression without the magic is right.
# Versions: cache-magic 1.0.4, IPython 8.37.0, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  cache-magic==1.0.4 ipython==8.37.0 2>/dev/null
cat >"$folder/main.py" <<'PY'
import contextlib
import io

from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
shell.starting_dir = "."
sent = []
rows = [{"title": f"good first issue {n}" if n % 3 == 0 else f"issue {n}"} for n in range(137)]


def search(text):
    sent.append(text)
    return [row for row in rows if text in row["title"]]


shell.user_ns["search"] = search
with contextlib.redirect_stdout(io.StringIO()):
    import cache_magic

    shell.register_magics(cache_magic.CacheMagic)
    shell.run_cell('%cache cached = search("good first issue")')
    shell.run_cell('%cache document = "query Issues { issues }"')
    shell.run_cell('plain = search("good first issue")')
found = [
    f"sent: {sent}",
    f"rows: {len(shell.user_ns['cached'])} and {len(shell.user_ns['plain'])}",
    f"document: {shell.user_ns['document']}",
]
print("\n".join(found))
assert found == [
    "sent: ['goodfirstissue', 'good first issue']",
    "rows: 0 and 46",
    "document: queryIssues{issues}",
]
PY
cd "$folder" && IPYTHONDIR="$folder/ipython" venv/bin/python main.py
