#!/usr/bin/env bash
# plotnine: missing texts have a bar of their own with one dtype of text and none with the other.
#
# Guessed before: a bar chart of a column of texts shows missing values in the same way whether the
# column is `str`, pandas' default, or `string`, its older dtype with NA.
# What happens: with `str` (and for categories) the missing values are a third bar, with `string`
# they are taken out as "non-finite", with a warning. Converting a column changes the number of
# bars.
# Versions: plotnine 0.15.9, pandas 3.1.1, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet plotnine==0.15.9 pandas==3.1.1 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import warnings

import matplotlib
import pandas as pd
from plotnine import aes, geom_bar, ggplot

matplotlib.use("Agg")
warnings.simplefilter("ignore")
found = {}
for dtype in ("str", "string", "category"):
    frame = pd.DataFrame({"language": pd.Series(["C", None, "D", None], dtype=dtype)})
    figure = (ggplot(frame, aes("language")) + geom_bar()).draw()
    found[dtype] = len(figure.axes[0].collections[0].get_paths())
print(found)
assert found == {"str": 3, "string": 2, "category": 3}, found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
