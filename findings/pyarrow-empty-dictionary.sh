#!/usr/bin/env bash
# Versions: pyarrow 26.0.1, pandas 3.1.1, Python 3.11.
#
# A table without rows has a dictionary column with the values B and A. One would expect that the
# values travel with the table, as its types do: pyarrow keeps them in memory, and to_pandas() of
# the table has both categories.
#
# What happens: over the Arrow C stream, through Feather and through Parquet the column comes back
# with no categories at all, without an error. A stream of one explicit empty record batch keeps
# them, so it is the empty table that is written as no batch, and dictionaries are in batches.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pyarrow==26.0.1 pandas==3.1.1

"$folder/venv/bin/python" - <<'PYTHON'
import io

import pandas as pd
import pyarrow as pa
from pyarrow import feather, parquet

values = pa.DictionaryArray.from_arrays(pa.array([], pa.int32()), pa.array(["B", "A"]))
table = pa.table({"level": values})
batch = pa.record_batch([values], ["level"])


class Stream:
    """An object that has an Arrow stream and nothing else."""

    def __init__(self, source):
        self.source = source

    def __arrow_c_stream__(self, requested_schema=None):
        return self.source.__arrow_c_stream__(requested_schema)


def list_categories(frame):
    return frame["level"].cat.categories.tolist()


def read_back(write, read):
    file = io.BytesIO()
    write(table, file)
    file.seek(0)
    return list_categories(read(file))


found = {
    "memory": list_categories(table.to_pandas()),
    "stream": list_categories(pa.table(Stream(table)).to_pandas()),
    "stream of an empty batch": list_categories(
        pa.table(Stream(pa.RecordBatchReader.from_batches(batch.schema, [batch]))).to_pandas()
    ),
    "feather": read_back(feather.write_feather, pd.read_feather),
    "parquet": read_back(parquet.write_table, pd.read_parquet),
}
assert found == {
    "memory": ["B", "A"],
    "stream": [],
    "stream of an empty batch": ["B", "A"],
    "feather": [],
    "parquet": [],
}, found
print(f"categories of an empty table: {found}")
PYTHON
