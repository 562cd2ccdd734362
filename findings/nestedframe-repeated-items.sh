#!/usr/bin/env bash
# nestedframe: a frame that is nested again has each repeated item once, and lists for objects.
#
# Guessed before: `from_records`, `explode` and `to_nested(group_by="_root_id")` give the first records
# again, with all items of their lists and each owner as one object.
# What happens: equal items of a list are one: of 411 line items of 137 orders, of which each has two of one
# kind, 274 come back, and the sum of the quantities is 274 instead of 411. Each owner, which is an object,
# is a list of one, and an order without items has one whose fields are all missing. No warning says so.
# Versions: nestedframe 0.1.1, pandas 2.2.3, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  nestedframe==0.1.1 pandas==2.2.3 2>/dev/null
cat >"$folder/main.py" <<'PY'
from nestedframe import NestedFrame

items = [{"sku": "a", "quantity": 1}, {"sku": "a", "quantity": 1}, {"sku": "b", "quantity": 1}]
orders = [{"id": n, "owner": {"login": f"u{n}"}, "items": items} for n in range(137)]


def nest(records):
    return NestedFrame.from_records(records).explode("items").to_nested(group_by="_root_id")


nested = nest(orders)
empty = nest([*orders, {"id": 137, "owner": {"login": "u137"}, "items": []}])[-1]
found = [
    f"orders: {len(nested)}",
    f"items: {sum(len(order['items']) for order in nested)} of {sum(len(o['items']) for o in orders)}",
    f"quantities: {sum(item['quantity'] for order in nested for item in order['items'])}",
    f"owner: {nested[1]['owner']}",
    f"empty: {[sorted(item.items()) for item in empty['items']]}",
]
print("\n".join(found))
assert found == [
    "orders: 137",
    "items: 274 of 411",
    "quantities: 274",
    "owner: [{'login': 'u1'}]",
    "empty: [[('quantity', nan), ('sku', nan)]]",
], found
PY
"$folder/venv/bin/python" "$folder/main.py"
