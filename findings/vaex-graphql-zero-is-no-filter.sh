#!/usr/bin/env bash
# vaex-graphql: a comparison with 0 or an empty text filters nothing.
#
# Guessed before: `where: {k: {_eq: 0}}` gives the rows whose k is 0, as `{_gte: 0, _lte: 0}` does.
# What happens: `_eq` and `_neq` are left out where their value is falsy in Python, so that all rows
# come and are counted, as if no filter were given; `_eq: 1` filters, and so do the other operators.
# Versions: vaex-graphql 0.3.0, vaex-core 4.19.0, graphene 2.1.9, graphql-core 2.3.2, NumPy 2.4.6,
# Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet vaex-graphql==0.3.0 vaex-core==4.19.0 graphene==2.1.9 \
  graphql-core==2.3.2 numpy==2.4.6 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import numpy
import vaex

rows = numpy.arange(70)
frame = vaex.from_arrays(k=rows % 7, name=numpy.array(["", "a"] * 35))
filters = ["k: {_eq: 1}", "k: {_eq: 0}", "k: {_gte: 0, _lte: 0}", "k: {_neq: 0}"]
filters += ['name: {_eq: "a"}', 'name: {_eq: ""}']
found = {}
for text in filters:
    result = frame.graphql.execute(f"{{ df(where: {{{text}}}) {{ count }} }}")
    assert not result.errors, result.errors
    found[text] = result.data["df"]["count"]
    print(text, found[text])
assert [*found.values()] == [10, 70, 10, 70, 35, 70], found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
