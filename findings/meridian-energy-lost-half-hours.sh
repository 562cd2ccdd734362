#!/usr/bin/env bash
# meridian-energy: the second half of an hour is never in the sum, and an error is an export of zero.
#
# Guessed before: the running sum of `build_incremental_statistics`, continued with its cursor after
# each `get_usage`, reaches the sum of all half-hourly readings; an error in an answer is raised.
# What happens: readings are added up by the hour, and an hour that was once in the sum is not looked
# at again. Where a call came between the two readings of an hour, its second reading is left out:
# of 137 readings of 0.5 kWh, 68.5 in all, the sum has 67.5 after calls at two half hours. If the
# answer for the export has `errors`, `get_usage` has 0.0 for it and does not raise, though the
# server has 137 readings of it; the same answer for the import raises MeridianApiError.
# Versions: meridian-energy 0.1.5, httpx 0.28.1, pydantic 2.12.4, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet meridian-energy==0.1.5 httpx==0.28.1 \
  pydantic==2.12.4 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import asyncio
import json
from datetime import UTC, date, datetime, timedelta

import httpx
from meridian_energy.api import MeridianEnergyApi
from meridian_energy.errors import MeridianApiError
from meridian_energy.models import build_incremental_statistics

midnight = datetime(2026, 6, 1, tzinfo=UTC)
readable = 137  # the number of half hours that the meter has sent
failing = None  # the direction whose answer has an error


def answer(request: httpx.Request) -> httpx.Response:
    variables = json.loads(request.content)["variables"]
    filters = variables["utilityFilters"][0]["electricityFilters"]
    direction = filters["readingDirection"]
    if direction == failing:
        return httpx.Response(200, json={"data": None, "errors": [{"message": "timeout"}]})
    first = int(variables.get("after") or 0)
    last = min(first + variables["first"], readable)
    edges = []
    for number in range(first, last):
        start = midnight + number * timedelta(minutes=30)
        end = start + timedelta(minutes=30)
        node = {"value": "0.5", "unit": "kWh", "source": "meter", "readAt": end.isoformat()}
        node.update(startAt=start.isoformat(), endAt=end.isoformat())
        node["metaData"] = {
            "utilityFilters": {**filters, "readingQuality": "ACTUAL"},
            "statistics": [],
        }
        edges.append({"cursor": str(number + 1), "node": node})
    page_info = {"hasNextPage": last < readable, "endCursor": str(last)}
    measurements = {"edges": edges, "pageInfo": page_info}
    account = {"id": "1", "properties": [{"id": "2", "measurements": measurements}]}
    return httpx.Response(200, json={"data": {"account": account}})


async def main() -> None:
    global failing, readable
    client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    api = MeridianEnergyApi(httpx.Auth(), client)
    sums, cursor = [], None
    for readable in (21, 51, 137):
        usage = await api.get_usage("A-1", end_on=date(2026, 6, 4))
        _, cursor = build_incremental_statistics(usage.hourly, kind="import", cursor=cursor)
        sums.append((usage.import_kwh, cursor.sum))
    print(sums, usage.export_kwh)
    assert sums == [(10.5, 10.5), (25.5, 25.0), (68.5, 67.5)], sums
    assert usage.export_kwh == 68.5

    failing = "GENERATION"
    usage = await api.get_usage("A-1", end_on=date(2026, 6, 4))
    print(usage.import_kwh, usage.export_kwh)
    assert (usage.import_kwh, usage.export_kwh) == (68.5, 0.0)
    failing = "CONSUMPTION"
    try:
        await api.get_usage("A-1", end_on=date(2026, 6, 4))
    except MeridianApiError as error:
        print(repr(error))
    else:
        raise AssertionError("the error of the import is not raised")
    await client.aclose()


asyncio.run(main())
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
