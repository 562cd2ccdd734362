#!/usr/bin/env bash
# df-file-interchange: after CSV, flags with a null among them are texts, and "False" counts as true.
#
# Guessed before: the frame that is read is the one that was written, as the README promises; where a
# type cannot be restored, writing or reading fails.
# What happens: of 137 repositories, 27 are archived and one is unknown. Read back, the column holds the
# texts "True" and "False": `== True` finds none, and as truth values all 136 are archived. Lists are texts
# as well, and an empty text beside a null survives. The type is `object` before and after, so that the
# stored types agree. Without the null, all is right; Parquet keeps the flags, too.
# Versions: df-file-interchange 0.0.16a0, pandas 2.2.3, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  df-file-interchange==0.0.16a0 pandas==2.2.3 >/dev/null
cat >"$folder/main.py" <<'PY'
import pathlib
import tempfile

import df_file_interchange
import pandas as pd


def store(flags, suffix):
    frame = pd.DataFrame({"isArchived": flags, "topics": [["a", "b"]] * len(flags)})
    path = pathlib.Path(tempfile.mkdtemp()) / f"rows.{suffix}"
    frame, _ = df_file_interchange.read_df(df_file_interchange.write_df_to_file(frame, path))
    flags = frame["isArchived"]
    truths = flags.dropna().astype(bool).sum()
    return f"{suffix}: {(flags == True).sum()} True, {truths} true, topics {type(frame.topics[0]).__name__}"  # noqa: E712


flags = [number % 5 == 0 for number in range(1, 137)]
found = [store([*flags, None], "csv"), store(flags, "csv"), store([*flags, None], "parquet")]
print("\n".join(found))
assert found == [
    "csv: 0 True, 136 true, topics str",
    "csv: 27 True, 27 true, topics str",
    "parquet: 27 True, 27 true, topics ndarray",
]
PY
"$folder/venv/bin/python" "$folder/main.py" 2>/dev/null
