"""The data set of the described servers: 2,350 rows of known values, as one JSON file."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["COUNT", "make_rows", "write_rows"]

COUNT = 2350
LONG_PARTS = 150  # items of the nested list of the first row
FIRST_DAY, FIRST_MOMENT = date(1999, 12, 30), datetime(2001, 2, 3, 4, 5, 6, tzinfo=UTC)


def make_rows() -> list[dict[str, Any]]:
    """Return the rows, with text for the values that JSON has no form for.

    ``day`` is a date, ``local`` a timestamp without a zone, ``moment`` one with it, ``price`` a
    decimal of 18 digits, ``big`` an integer above 2**53; every eleventh is null.
    """
    rows = []
    for n in range(1, COUNT + 1):
        moment = FIRST_MOMENT + timedelta(hours=n, milliseconds=n)
        row = {
            "id": n,
            "name": f"Row {n}",
            "day": (FIRST_DAY + timedelta(days=n)).isoformat(),
            "local": moment.replace(tzinfo=None).isoformat(timespec="milliseconds"),
            "moment": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "price": str(Decimal(10**17 + n) / 10000),
            "big": str(2**60 + n),
            "ratio": n / 8,
            "extra": {"n": n, "tags": ["a", "b"]},
        }
        if n % 11 == 0:
            row |= dict.fromkeys(("day", "local", "moment", "price", "big", "ratio", "extra"))
        parts = LONG_PARTS if n == 1 else n % 3
        row["parts"] = [{"id": n * 1000 + k, "label": f"Part {k} of {n}"} for k in range(parts)]
        rows.append(row)
    return rows


def write_rows(path: Path) -> Path:
    """Write the rows as JSON, and return the path."""
    path.write_text(json.dumps(make_rows()), encoding="utf-8")
    return path
