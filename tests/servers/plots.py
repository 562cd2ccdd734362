"""Plot and fit frames of a result with each library that the documentation names.

Usage: ``python tests/servers/plots.py`` writes a JSON object to stdout: for each library the
message of its error with nullable dtypes and with those of NumPy, empty if there is none.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import plotly.express as px
import statsmodels.formula.api as smf
from matplotlib import pyplot as plt

import gqlnb

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

SDL = """
scalar DateTime
enum Level { LOW HIGH }
type Query { rows: [Row] }
type Row { name: String n: Int k: Int x: Float old: Boolean level: Level at: DateTime }
"""
ROWS = [
    {"name": name, "n": n, "k": k, "x": x, "old": old, "level": level, "at": at}
    for name, n, k, x, old, level, at in (
        ("a", 1, 5, 0.5, True, "LOW", "2026-01-02T00:00:00Z"),
        ("b", 2, 6, 1.5, False, "HIGH", "2026-01-03T00:00:00Z"),
        (None, None, 7, None, None, None, None),
        ("a", 4, 9, 2.0, True, "LOW", "2026-01-05T00:00:00Z"),
    )
]


def build_frame(*, nullable: bool) -> pd.DataFrame:
    """Return the rows as a frame."""
    schema = gqlnb.Schema(SDL)
    return schema.execute("{ rows { name n k x old level at } }", root={"rows": ROWS}).frame(
        nullable=nullable
    )


def draw_seaborn(frame: pd.DataFrame) -> object:
    """Draw with colours by text, by Booleans and by numbers."""
    import seaborn as sns

    for hue in ("name", "old", "n"):
        sns.scatterplot(frame, x="k", y="x", hue=hue, ax=plt.figure().add_subplot())
    return sns.boxplot(frame, x="name", y="x", ax=plt.figure().add_subplot())


def draw_altair(frame: pd.DataFrame) -> object:
    """Draw with types that are inferred."""
    import altair

    chart = altair.Chart(frame).mark_point().encode(x="n", y="at", color="old", shape="name")
    return chart.to_json()


def fit_encoders(frame: pd.DataFrame) -> object:
    """Fit the encoders of scikit-learn, and a model."""
    from sklearn.linear_model import LinearRegression
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

    OneHotEncoder().fit_transform(frame[["name", "level"]])
    OrdinalEncoder().fit_transform(frame[["name"]])
    StandardScaler().fit_transform(frame[["n", "x"]])
    whole = frame.dropna()
    return LinearRegression().fit(whole[["n", "x"]], whole["k"])


def draw_plotly(frame: pd.DataFrame) -> object:
    """Draw with colours by each kind of column, all rows if text has no missing value."""
    for color in ("old", "level", "n"):
        px.scatter(frame, x="k", y="x", color=color).to_json()
    figure = px.scatter(frame.fillna({"name": "none"}), x="k", y="x", color="name")
    assert sum(len(trace.x) for trace in figure.data) == len(ROWS)
    return px.bar(frame, x="name", y="n").to_json()


LIBRARIES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame.plot.barh(x="name", y="n"),
    "matplotlib": lambda frame: plt.barh(frame.dropna()["name"], frame.dropna()["n"]),
    "plotly": draw_plotly,
    "seaborn": draw_seaborn,
    "altair": draw_altair,
    "scikit-learn": fit_encoders,
    "statsmodels": lambda frame: smf.ols("k ~ x + C(name) + C(old)", frame).fit(),
}


def run(library: str, frame: pd.DataFrame) -> str:
    """Return the error of a library; empty if there is none."""
    try:
        LIBRARIES[library](frame)
    except Exception as error:  # noqa: BLE001 - of any library
        return f"{type(error).__name__}: {error}"[:200]
    return ""


def main() -> None:
    """Run all libraries."""
    mpl.use("Agg")
    warnings.simplefilter("ignore")
    outcomes = {
        name: [run(name, build_frame(nullable=nullable)) for nullable in (True, False)]
        for name in LIBRARIES
    }
    json.dump(outcomes, sys.stdout)


if __name__ == "__main__":
    main()
