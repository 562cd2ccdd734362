"""Writing how compiled code counts the fields it executes, and when it looks at the clock.

An object is counted as a whole when it is begun. Where every row of a list takes the same number
of fields, which is known when the code is written, the list is counted instead, in a few steps;
what turns out to be no such object is given back. A function is called after a look at the clock:
in a list once for each row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphql import get_nullable_type, is_abstract_type, is_leaf_type, is_list_type

from gqlnb.engine.lines import Lines

if TYPE_CHECKING:
    from gqlnb.engine.plan import FieldPlan, Plan, Selection

__all__ = ["Counting"]

DEEP = 3  # levels of objects in one function
WIDE = 40  # fields of an object that is written into the function of its parent
LOOK = "if b.clock() > b.deadline: b.look()"


class Counting(Lines):
    """The part of a writer that counts, in a plan with a budget; else it writes nothing.

    Parameters
    ----------
    plan
        The plan it is part of.
    dicts
        Whether to write for sources that are dicts, rather than for other objects.

    Attributes
    ----------
    each
        The fields of a row, in a function whose list is counted as a whole; else 0.
    """

    def __init__(self, plan: Plan, *, dicts: bool) -> None:
        super().__init__()
        self.plan = plan
        self.dicts = dicts
        self.each = 0
        self._loop: int | None = None  # the first line of the loop over rows
        self._called = False

    def below(self, kind: Any, field: FieldPlan) -> Selection | None:
        """Return the selection below a field; a writer of values says how."""
        raise NotImplementedError

    def opened(self) -> None:
        """Write what a function begins with."""
        if self.plan.metered:
            self.add("b = x.budget")

    def count(self, selection: Selection) -> None:
        """Write that an object is begun."""
        if self.plan.metered and not self.each:
            self.add(f"b.left -= {len(selection.fields)}")
            self.add("if b.left < 0: b.look()")

    def give_back(self, kind: Any, field: FieldPlan, level: int) -> None:
        """Write that an object which was counted is not begun here."""
        if self.each and (fields := self.fixed(kind, field, level)):
            self.add(f"b.left += {fields}")

    def look(self) -> None:
        """Write that a function is called next."""
        if not self.plan.metered:
            return
        if self._loop is None:
            self.add(LOOK)
        self._called = True

    def rows_counted(self, field: FieldPlan, item: Any) -> str:
        """Write that a list is begun; return the text of what to iterate over."""
        self.each = self.fixed(item, field, 0) or 0 if self.plan.metered else 0
        if not self.each:
            return "s"
        self.add(f"b.left -= len(s) * {self.each}")
        self.add(f"r = s if b.left >= 0 else b.rows(s, {self.each}, {self.dicts})")
        return "r"

    def row_begins(self) -> None:
        """Note where the lines of a row begin."""
        self._loop = len(self.lines)

    def row_ends(self) -> None:
        """Write a look at the clock where the row began, if it calls functions."""
        if self._called and self._loop is not None:
            self.lines.insert(self._loop, f"{' ' * self.depth}{LOOK}")
        self._loop = None

    def fixed(self, kind: Any, field: FieldPlan, level: int) -> int | None:
        """Return how many fields a value of a field takes; None where that is not known yet."""
        inner = get_nullable_type(kind)
        if is_leaf_type(inner):
            return 0
        if is_list_type(inner) or is_abstract_type(inner):
            return None
        selection = self.inlined(inner, field, level)
        if selection is None:
            return None
        total = len(selection.fields)
        for each in selection.fields:
            found = self.fixed(each.type, each, level + 1)
            # What a function returns may be an error instead of an object.
            if found is None or (found and not each.direct):
                return None
            total += found
        return total

    def inlined(self, kind: Any, field: FieldPlan, level: int) -> Selection | None:
        """Return the selection of an object, if it is written into the function of its parent."""
        selection = None if kind.is_type_of is not None else self.below(kind, field)
        if selection is None or level >= DEEP or len(selection.fields) > WIDE:
            return None
        return selection
