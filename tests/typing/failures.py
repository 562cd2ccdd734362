"""Handle each kind of error."""

from __future__ import annotations

from typing import assert_type

import pandas as pd

import gqlnb
from gqlnb import Client, PartialError, Result


def ask(client: Client, text: str) -> Result:
    """Return what there is."""
    try:
        return client.execute(text).raise_for_errors()
    except PartialError as error:
        assert_type(error.result, Result)
        assert_type(error.result.df, pd.DataFrame)
        return error.result
    except gqlnb.RateLimited as error:
        assert_type(error.wait, float | None)
        raise
    except gqlnb.TransportError as error:
        assert_type(error.status, int | None)
        raise
    except gqlnb.QueryError as error:
        for problem in error.problems:
            assert_type(problem.line, int | None)
            assert_type(problem.message, str)
        raise
    except gqlnb.GqlnbError as error:
        print(error)
        raise
