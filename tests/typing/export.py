"""Write rows to files and other libraries."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

from gqlnb import Client


def export(client: Client, text: str, folder: Path) -> None:
    """Write all forms."""
    result = client.execute_all(text, max_results=500)
    result.to_parquet(folder / "rows.parquet")
    result.to_excel(folder / "rows.xlsx")
    assert_type(result.to_csv(), str | None)
    result.to_csv(folder / "rows.csv", strict=False)
