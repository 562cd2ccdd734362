#!/usr/bin/env bash
# sgqlc: the fraction of a second in a DateTime is read as a whole number of microseconds.
#
# Guessed before: ".5" is half a second, as in ISO 8601 and RFC 3339, and nine digits are cut.
# What happens: ".5" becomes 5 microseconds and ".123", as most servers write milliseconds, 123
# microseconds, both without an error. Only six digits are read as meant; nine, as Go and Java
# servers write them, are a ValueError for the whole row.
# Versions: sgqlc 18, graphql-core 3.2.14, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet sgqlc==18 graphql-core==3.2.14 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
from sgqlc.operation import Operation
from sgqlc.types import Field, Type
from sgqlc.types.datetime import DateTime


class Query(Type):
    at = Field(DateTime)


def read(text):
    operation = Operation(Query)
    operation.at()
    try:
        return (operation + {"data": {"at": text}}).at.microsecond
    except ValueError:
        return "ValueError"


fractions = ("5", "123", "123000", "123456789")
found = {text: read(f"2026-01-02T03:04:05.{text}Z") for text in fractions}
print(f"microseconds by fraction: {found}")
raise SystemExit(list(found.values()) != [5, 123, 123000, "ValueError"])
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
