"""A result: the data and errors of one answer, and the views of it that people want."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gqlnb.errors import PartialError
from gqlnb.model.render import error_line, result_html, result_text, where_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from gqlnb.model.document import Document
    from gqlnb.model.shape import Shape

__all__ = ["Result"]

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The answer to one operation.

    ``result["viewer"]`` is the field of that name, ``len(result)`` the number of rows, iteration
    goes over the rows: the items of the answer's one list, or the data itself where it has none.

    Attributes
    ----------
    data
        The data as mappings and lists; None where a null reached the top.
    errors
        The errors beside the data, as mappings with ``message``, ``path``, ``locations``,
        ``extensions`` and whatever else the endpoint sent; empty if all went well.
    extensions
        What the endpoint sent beside data and errors.
    document
        The document that was executed.
    response
        The response it was read from, None for none.
    source
        A word that says where the data are from: an endpoint, or a schema in this process.
    causes
        For errors that arose in this process: the exception behind each, in the same order.
    profile
        Where the time went, if :meth:`gqlnb.Schema.profile` executed it; else None.
    """

    data: Any
    errors: tuple[Mapping[str, Any], ...] = ()
    extensions: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    document: Document | None = None
    response: Any = None
    source: str | None = None
    causes: tuple[BaseException | None, ...] = ()
    profile: Any = None

    @classmethod
    def whole(cls, data: Any, document: Document, source: str) -> Result:
        """Return the result of an execution in which nothing failed, in a third of the time."""
        made = cls.__new__(cls)
        members = made.__dict__  # the other members are as the class declares them
        members["data"] = data
        members["extensions"] = _NOTHING
        members["document"] = document
        members["source"] = source
        return made

    def __getitem__(self, key: str) -> Any:
        if not isinstance(self.data, Mapping):
            raise KeyError(key)
        return self.data[key]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.data) if isinstance(self.data, Mapping) else []

    def __len__(self) -> int:
        return len(self.dicts())

    def __bool__(self) -> bool:
        return True  # an answer with no rows is an answer

    def __iter__(self) -> Iterator[Any]:
        return iter(self.dicts())

    def frame(self, path: str | None = None) -> pd.DataFrame:
        """Return the answer as a DataFrame with the dtypes of the schema.

        Parameters
        ----------
        path
            The list to take, as dotted response names without ``edges``, ``node`` and ``nodes``;
            None where the answer holds at most one.

        Returns
        -------
        DataFrame
            One row per item. ``attrs`` holds JSON values only: ``source``, ``partial`` and
            ``beside``, a mapping of what was asked for beside the list, by dotted name
            (``"search.repositoryCount"``).

        Raises
        ------
        FrameError
            If `path` names no list, or is needed; the message lists the paths.

        Notes
        -----
        Where no schema is known the dtypes are inferred from the values. Errors beside the data
        are announced by one warning and marked in ``attrs["partial"]``.
        """
        from gqlnb.model.frame import beside, frame_of
        from gqlnb.model.shape import inferred

        shape = self.shape() or inferred(self.data)
        made = frame_of(self.data, shape, path)
        others = beside(self.data, shape, path)
        made.attrs.update(source=self.source, partial=bool(self.errors), beside=others)
        if self.errors:
            warnings.warn(
                f"The answer is partial: {self._count()}. See result.errors_frame().", stacklevel=2
            )
        return made

    to_pandas = frame

    def dicts(self) -> list[Any]:
        """Return the rows as plain mappings; with more than one list, the data as one row."""
        from gqlnb.model.frame import rows_of
        from gqlnb.model.shape import inferred, levels

        found = list(levels(self.shape() or inferred(self.data)))
        if len(found) == 1:
            return rows_of(self.data, found[0])
        return [self.data] if self.data is not None else []

    def errors_frame(self) -> pd.DataFrame:
        """Return the errors as a DataFrame: message, dotted path, line and column."""
        import pandas as pd

        rows = [_error_row(error) for error in self.errors]
        made = pd.DataFrame(rows, columns=["message", "path", "line", "column"])
        return made.astype(
            {"message": "string", "path": "string", "line": "Int64", "column": "Int64"}
        )

    def raise_for_errors(self) -> Result:
        """Return this result, or raise if it came with errors.

        Raises
        ------
        PartialError
            With this result as ``.result``; the exception of a resolver that ran in this process
            is its ``__cause__``.
        """
        if not self.errors:
            return self
        lines = [error_line(error) for error in self.errors[:10]]
        more = [f"... and {len(self.errors) - 10} more."] if len(self.errors) > 10 else []
        message = "\n  ".join([f"The answer is partial: {self._count()}.", *lines, *more])
        cause = next((cause for cause in self.causes if cause is not None), None)
        raise PartialError(message, result=self) from cause

    def _count(self) -> str:
        return "1 error" if len(self.errors) == 1 else f"{len(self.errors)} errors"

    def shape(self) -> Shape | None:
        """Return the shape of the answer; None where no schema is known."""
        from gqlnb.model.shape import shape_of

        return shape_of(self.document) if self.document is not None else None

    def __repr__(self) -> str:
        return result_text(self)

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": result_text(self), "text/html": result_html(self)}


def _error_row(error: Mapping[str, Any]) -> tuple[Any, ...]:
    places = error.get("locations")
    first = places[0] if isinstance(places, (list, tuple)) and places else None
    place = first if isinstance(first, Mapping) else {}
    said = error.get("message", "no message")
    numbers = [_number(place.get(name)) for name in ("line", "column")]
    return str(said), where_of(error), *numbers


def _number(value: Any) -> int | None:
    """Return a line or column; None for what an endpoint may send instead."""
    return value if isinstance(value, int) and 0 < value < 2**31 else None
