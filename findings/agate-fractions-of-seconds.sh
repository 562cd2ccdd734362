#!/usr/bin/env bash
# agate: a time with a space between day and time loses its fraction of a second.
#
# Guessed before: the times of a CSV file are read as they are, whichever separator stands between
# the day and the time; pandas writes a space, most APIs write a T.
# What happens: 03:04:05.250 with a T is read with its fraction, and with a space it is 03:04:05,
# without an error. Two events of one second are then equal, and their difference is zero. The text
# with a space is read by another library, parsedatetime, which drops what follows the seconds.
# Versions: agate 1.14.2, parsedatetime 2.6, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet agate==1.14.2 parsedatetime==2.6 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import io

import agate


def read(separator):
    rows = [f"2026-01-02{separator}03:04:05.{fraction}" for fraction in ("250", "750")]
    table = agate.Table.from_csv(io.StringIO("at\n" + "\n".join(rows) + "\n"))
    first, second = table.columns["at"].values()
    return type(table.columns["at"].data_type).__name__, (second - first).total_seconds()


found = read("T"), read(" ")
print(found)
assert found == (("DateTime", 0.5), ("DateTime", 0.0)), found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
