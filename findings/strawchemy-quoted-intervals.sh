#!/usr/bin/env bash
# Strawchemy: an interval is a JSON text within a text, in answers and in variables.
#
# One would expect: the scalar `Interval` has durations as ISO 8601 has them, `PT1S`, as its
# description and its `@specifiedBy` say.
# What happens: the answer has `"PT1S"` with its quotation marks as part of the text, as the
# serializer encodes the duration as JSON and the response is JSON again. A variable with `PT1S` is
# refused as malformed JSON; `"PT1S"` with marks in the text is taken.
# Versions: strawchemy 0.24.0, strawberry-graphql 0.341.2, graphql-core 3.3.2, msgspec 0.23.0,
# SQLAlchemy 2.1.9, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet strawchemy==0.24.0 strawberry-graphql==0.341.2 \
  graphql-core==3.3.2 msgspec==0.23.0 SQLAlchemy==2.1.9 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import logging
from datetime import timedelta

import strawberry
from strawchemy.schema.scalars import Interval

logging.disable()


@strawberry.type
class Query:
    @strawberry.field
    def later(self, by: timedelta = timedelta()) -> timedelta:
        return by + timedelta(seconds=1)


schema = strawberry.Schema(Query, scalar_overrides={timedelta: Interval})
query = "query ($by: Interval!) { later(by: $by) }"


def ask(value):
    answer = schema.execute_sync(query, {"by": value})
    return answer.data["later"] if answer.data else "malformed" in answer.errors[0].message


found = [schema.execute_sync("{ later }").data["later"], ask("PT1S"), ask('"PT1S"')]
print(found)
assert found == ['"PT1S"', True, '"PT2S"'], found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
