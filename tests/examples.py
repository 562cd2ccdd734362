"""How many examples Hypothesis generates: all of them in CI, a quarter elsewhere."""

import os

IS_THOROUGH = "CI" in os.environ


def count_examples(most: int) -> int:
    """Return the number of examples of a test that has at most so many."""
    return most if IS_THOROUGH else most // 4
