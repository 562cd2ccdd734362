#!/usr/bin/env bash
# grommet: a null among the objects of a list has a type name, and may be an object of nulls.
#
# Guessed before: for `[Row]` the second of [row, None, row] is null, and there is no error.
# What happens: the fields of the null are resolved. `__typename` alone says "Row"; a nullable field
# makes it an object, {"part": null}; a non-null one makes it null. Each attribute that None lacks
# is an error, without a path and with the words of Python: for a field of an object that is null,
# too. A variable without a value is null where its argument has the default 1.5.
# Versions: grommet 0.1.0, Python 3.13.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
PYENV_VERSION=3.13 python3.13 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet grommet==0.1.0 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import asyncio
from dataclasses import dataclass

import grommet


@grommet.type
@dataclass
class Part:
    size: int


@grommet.type
@dataclass
class Row:
    id: int
    part: Part | None = None


@grommet.type
@dataclass
class Query:
    @grommet.field
    async def rows(self) -> list[Row | None]:
        return [Row(id=1), None, Row(id=3)]

    @grommet.field
    async def echo(self, number: float | None = 1.5) -> str:
        return str(number)


async def ask() -> dict:
    schema = grommet.Schema(query=Query)
    found = {}
    for selection in ("__typename", "part { size }", "id"):
        answer = await schema.execute("{ rows { %s } }" % selection)
        errors = [(error.get("path"), error["message"][:14]) for error in answer.errors or ()]
        found[selection] = answer.data["rows"][1], errors
    answer = await schema.execute("query ($x: Float) { echo(number: $x) }", variables={})
    found["variable"] = answer.data["echo"]
    return found


found = asyncio.run(ask())
print(found)
assert found == {
    "__typename": ({"__typename": "Row"}, []),
    "part { size }": ({"part": None}, [(None, "AttributeError")] * 3),
    "id": (None, [(None, "AttributeError")]),
    "variable": "None",
}, found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
