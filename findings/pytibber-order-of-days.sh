#!/usr/bin/env bash
# pyTibber: more than 31 days of consumption come as the newest ones, and behind them the oldest.
#
# Guessed before: `get_historic_data` pages backwards (`last:`, `before:`) and returns the rows in
# the order of their times, as it does for one page.
# What happens: pages are joined in the order in which they were requested, each sorted by itself.
# Of 70 days, the newest 31 stand first, then the 31 before them, then the oldest 8. Of hours the
# break is behind the 744th; years, of which a page has one, come backwards. The last row is not the
# newest, and differences between neighbours, sums up to a row and lines in a plot are wrong.
# Versions: pytibber 0.39.1, graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pytibber==0.39.1 graphql-core==3.3.2 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import asyncio

from graphql import build_schema, graphql_sync
from tibber.home import TibberHome

schema = build_schema("""
type Query { viewer: Viewer }
type Viewer { home(id: ID!): Home }
type Home { consumption(resolution: Resolution!, last: Int, before: String): Connection }
enum Resolution { HOURLY DAILY ANNUAL }
type Connection { pageInfo: PageInfo!  nodes: [Consumption!]! }
type PageInfo { hasPreviousPage: Boolean  startCursor: String }
type Consumption {
  from: String  unitPrice: Float  totalCost: Float  cost: Float  consumption: Float
}
""")


class Home:
    def consumption(self, info: object, resolution: str, last: int, before: str) -> dict:
        end = int(before) if before else 1000
        rows = [{"from": str(number)} for number in range(max(0, end - last), end)]
        page_info = {"hasPreviousPage": end > last, "startCursor": rows[0]["from"]}
        return {"pageInfo": page_info, "nodes": rows}


class Control:
    async def execute(self, document: str) -> dict:
        result = graphql_sync(schema, document, {"viewer": {"home": lambda info, id: Home()}})
        assert not result.errors, result.errors
        return result.data


def fetch(count: int, resolution: str) -> list:
    home = TibberHome("home", Control())
    return [int(row["from"]) for row in asyncio.run(home.get_historic_data(count, resolution))]


one_page = fetch(31, "DAILY")
days = fetch(70, "DAILY")
hours = fetch(800, "HOURLY")
years = fetch(3, "ANNUAL")
print(days, years)
assert one_page == list(range(969, 1000)), one_page
assert days == [*range(969, 1000), *range(938, 969), *range(930, 938)], days
assert hours == [*range(256, 1000), *range(200, 256)], hours
assert years == [999, 998, 997], years
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
