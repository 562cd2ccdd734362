"""Schemas over DataFrames: columns become fields, and queries run on whole columns.

**Names.** A frame called ``repositories`` has rows of type ``Repository``: the singular in
PascalCase, found by the ending (ies, ches, shes, sses, xes, s); a name without such an ending gets
``Row`` (``data``: ``DataRow``, looked up by ``dataRow``). A field has the label of its column.
Accents are dropped, every run of characters that are invalid in a name becomes one underscore
(nothing at the ends), a digit at the start gets an underscore before it and ``true``, ``false``,
``null``, ``and``, ``or`` and ``not`` one behind; the label then stands in the field's description.
Two labels that become one name are an error. A named index is served as columns. A resolver,
``schema.resolver("Repository.name")``, finds all columns of its row in ``root``, by these names.

**Types.** bool: Boolean. Whole numbers: Int, or BigInt where one has more than 32 bits. Floats:
Float; NaN and infinity are null, for the filters too. Text: String. Categories: an enum where all
are names, else their values; texts that are ordered (``pd.cut``) keep their order. Moments with a
time zone: DateTime, in UTC. Moments without one: LocalDateTime, which can't be compared with an
offset. Days, times, time deltas: Date, Time, Duration. Decimals, whole ones too: Decimal. UUIDs:
UUID. Lists, dictionaries and mixed values: JSON, which can't be ordered, and filtered by ``isNull``
only. A field is non-null where its dtype has no null. dtypes decide, not values; only objects and
64 bit numbers are looked at. No digit is lost in a result, nor when ``Result.frame`` reads it: see
:func:`gqlnb.scalar`.

**Filters** have the names of Hot Chocolate: ``eq``, ``neq``, ``in``, ``nin``, ``gt``, ``gte``,
``lt``, ``lte``, ``contains``, ``startsWith``, ``endsWith``, and ``and`` and ``or`` to join them;
``not`` and ``isNull`` are added. Conditions beside each other all hold; of ``or: []`` none does.
Each row fulfils either a condition or its opposite: a missing value fulfils ``neq``, ``nin`` and
``not``, ``isNull: true`` and ``eq: null``, and nothing else. Any other null is an error, so that a
forgotten variable does not disable a filter. Text is compared by code points, upper and lower case
apart; categories that are ordered compare in their order.

**Orders** are GitHub's ``{field, direction}``, the first counting most, with ``nulls``: missing
values are last in either direction unless ``FIRST``. Categories are in their own order, and equal
rows stand as in the frame.

**Pages.** A cursor names a row: ``after`` selects the rows behind it in the requested order, also
if the cursor comes from another filter or order. It holds for every schema over the same rows in
the same order. ``totalCount`` counts the rows that match the filter, and ``hasNextPage`` and
``hasPreviousPage`` are always exact.

**Changes.** A schema shows the frames as they were. From pandas 3 on it shares their memory, which
pandas copies when it is written to; with older versions it holds a copy. It also needs eight bytes
a row for each of the latest orders.

**Relations** lead from floats to whole numbers too, because pandas makes floats of whole numbers of
which one is missing, and between units of time. They are followed for all rows of a page at once. A
connection of the rows that refer to one row is made from an index, without looking at the other
rows.
"""
