#!/usr/bin/env bash
# GeoPandas: in GeoJSON an object becomes Python's text for it, and a text becomes a list.
#
# One would expect: GeoJSON is JSON, so a column of objects is written as objects, or all of them as
# texts, and a column of texts is texts.
# What happens: each value is written as Python prints it, and what looks like JSON is written as
# such. {"n": 1} stays an object, and {"n": null} beside it is the text "{'n': None}", which no
# program but Python reads; [null] likewise. The title "[1]" is a list, "[draft]" is a text.
# Versions: geopandas 1.2.0, pyogrio 0.13.0 (GDAL 3.12.4), shapely 2.2.0, pandas 3.1.1, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet geopandas==1.2.0 pyogrio==0.13.0 shapely==2.2.0 \
  pandas==3.1.1 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import json
import sys
from pathlib import Path

import geopandas
from shapely.geometry import Point

path = Path(sys.argv[1], "places.geojson")
columns = {
    "objects": [{"n": 1}, {"n": None}],
    "lists": [[1], [None]],
    "texts": ["[1]", "[draft]"],
}
geometry = [Point(0, 0), Point(1, 1)]
geopandas.GeoDataFrame(columns, geometry=geometry, crs=4326).to_file(path)
features = json.loads(path.read_text())["features"]
found = {name: [feature["properties"][name] for feature in features] for name in columns}
print(found)
expected = {
    "objects": [{"n": 1}, "{'n': None}"],
    "lists": [[1], "[None]"],
    "texts": [[1], "[draft]"],
}
assert found == expected, found
PYTHON
"$folder/venv/bin/python" "$folder/run.py" "$folder"
