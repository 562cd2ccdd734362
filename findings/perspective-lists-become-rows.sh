#!/usr/bin/env bash
# Perspective: a row whose list has two items becomes two rows, and sums count it twice.
#
# One would expect: a column of lists is shown as text, or refused as durations are; a table of two
# records has two rows.
# What happens: the table has three rows. The other columns of the record are repeated beside each
# item, so that 10 and 20 stars add up to 50, and nothing says that rows were added. An empty list
# leaves one row with a null, as a missing list does.
# Versions: perspective-python 5.6.1, pandas 3.1.1, pyarrow 25.0.1, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet perspective-python==5.6.1 pandas==3.1.1 pyarrow==25.0.1 \
  2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import json

import pandas as pd
import perspective

frame = pd.DataFrame({"stars": [10, 20], "topics": [["lists"], ["lists", "rows"]]})
table = perspective.Server().new_local_client().table(frame)
view = table.view(columns=["stars"], group_by=["stars"], aggregates={"stars": "sum"})
total = json.loads(view.to_json_string())[0]["stars"]
found = {"records": len(frame), "rows": table.size(), "sum": total}
print(found)
assert found == {"records": 2, "rows": 3, "sum": 50}, found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
