#!/usr/bin/env bash
# apischema: no row has the price 0.1, although the answer says that one has.
#
# Guessed before: a Decimal passes as a text or with its digits, and a filter by a price that was
# read finds the row it was read from.
# What happens: Decimal is `Float!` in the schema. In an argument, 0.1 becomes Decimal(0.1), which
# has 55 digits and does not equal Decimal("0.1"): the filter finds nothing, and `max: 0.3` leaves
# out the row at 0.3. 0.5 and 0.25 are found. In answers 12345678901234567.89 is 12345678901234568.
# Versions: apischema 0.19.0, graphql-core 3.2.14, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet apischema==0.19.0 graphql-core==3.2.14 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
from dataclasses import dataclass
from decimal import Decimal

from apischema.graphql import graphql_schema
from graphql import graphql_sync

prices = [Decimal(text) for text in ("0.1", "0.25", "0.3", "0.5", "12345678901234567.89")]


@dataclass
class Item:
    price: Decimal


def items(price: Decimal | None = None, max: Decimal | None = None) -> list[Item]:
    return [
        Item(each)
        for each in prices
        if (price is None or each == price) and (max is None or each <= max)
    ]


schema = graphql_schema(query=[items])


def ask(arguments: str = "") -> list:
    answer = graphql_sync(schema, "{ items%s { price } }" % arguments)
    assert not answer.errors, answer.errors
    return [row["price"] for row in answer.data["items"]]


everything = ask()
found = [ask("(price: %s)" % price) for price in ("0.1", "0.25", "0.3", "0.5")]
below = ask("(max: 0.3)")
print(schema.type_map["Item"].fields["price"].type, everything, found, below)
assert str(schema.type_map["Item"].fields["price"].type) == "Float!"
assert everything == [0.1, 0.25, 0.3, 0.5, 12345678901234568.0], everything
assert found == [[], [0.25], [], [0.5]], found
assert below == [0.1, 0.25], below
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
