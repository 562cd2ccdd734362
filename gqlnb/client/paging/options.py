"""The options of paging and their validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from gqlnb.errors import OptionError
from gqlnb.option_checks import check_boolean, check_whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROLES = frozenset({"page", "offset", "size", "cursor", "filter"})


class PagingLimits(msgspec.Struct, frozen=True):
    """The limits of paging, checked, with the meaning of :class:`PagingOptions`."""

    page_size: int | None = None
    max_results: int | None = None
    max_requests: int | None = None
    experiments: bool = True
    paging: dict[str, str] = msgspec.field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PagingOptions:
    """The options of paging, as given.

    Attributes
    ----------
    path
        Dotted name of the list to follow, together with the lists around it and in it; None for
        all lists.
    page_size
        Items per page; None for the size in the query, or else 100, growing on long lists.
    max_results
        Most items of an outermost list; None for all.
    max_requests
        Most requests; None for no limit.
    experiments
        Whether to find by experiments how lists are paged that no convention tells.
    follow
        The dotted names of lists of which all items are requested although the text has `last`
        for them, or, in the rows of another list, a size below 10; ``"all"`` for all lists.
    paging
        The role of arguments that experiments cannot tell, by name: ``"page"``, ``"offset"``,
        ``"size"``, ``"cursor"`` or ``"filter"``.
    """

    path: str | None = None
    page_size: int | None = None
    max_results: int | None = None
    max_requests: int | None = None
    experiments: bool = True
    follow: str | Sequence[str] = ()
    paging: Mapping[str, str] | None = None

    def check(self) -> PagingLimits:
        """Return the limits.

        Raises
        ------
        OptionError
            If a value is invalid, also of `path`.
        """
        limits = {
            name: check_whole_number(name, value, least=1, or_none=True)
            for name in ("page_size", "max_results", "max_requests")
            if (value := getattr(self, name)) is not None
        }
        if not isinstance(self.path, str | None):
            msg = f"path= takes the dotted name of a list; got {type(self.path).__name__}."
            raise OptionError(msg)
        experiments = check_boolean("experiments", self.experiments)
        return PagingLimits(**limits, experiments=experiments, paging=self._read_roles())

    def _read_roles(self) -> dict[str, str]:
        """Return the roles of arguments; raise OptionError for other ones."""
        roles = self.paging or {}
        if isinstance(roles, dict) and ROLES.issuperset(roles.values()):
            return {str(name): role for name, role in roles.items()}
        names = ", ".join(sorted(ROLES))
        msg = f"paging= takes roles of arguments by name, such as {{'season': 'page'}}: {names}."
        raise OptionError(msg)

    def read_follow(self) -> str | tuple[str, ...]:
        """Return ``"all"``, or the names of the lists to follow; raise OptionError for neither."""
        follow = self.follow or ()
        if isinstance(follow, str):
            return "all" if follow == "all" else (follow,)
        if isinstance(follow, (list, tuple, set)) and all(isinstance(it, str) for it in follow):
            return tuple(follow)
        msg = f"follow= takes names of lists, or 'all'; got {type(follow).__name__}."
        raise OptionError(msg)
