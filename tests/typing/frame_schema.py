"""Serve a DataFrame."""

from __future__ import annotations

from typing import assert_type

import pandas as pd

import gqlnb
from gqlnb import Schema

books = pd.DataFrame({"title": ["Emma"], "pages": [474]})
schema = Schema.from_frame(books=books)
assert_type(schema, Schema)
assert_type(schema.sdl, str)
assert_type(schema.execute("{ books { nodes { title } } }").df, pd.DataFrame)
assert_type(gqlnb.concat([books, books]), pd.DataFrame)
Schema.from_frame(books, kys={})  # type: ignore[arg-type]
