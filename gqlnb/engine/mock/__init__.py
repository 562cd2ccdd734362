"""Mock schemas: generated data for a schema without resolvers, and its guarantees.

**Seeded.** A value depends on the seed and on its position: an object's type and id, or the path to
the object, then the field and its arguments. It does not depend on the process, the version of
Python, the order of execution, or the other fields of the query. Nothing is stored. Of the query,
only its fragments matter: an object of an interface or a union has one of the types that they name
there, where it may, so that ``node(id:)`` with ``... on User`` is a user.

**One id, one object.** Objects of one type with one id have the same values in every field, however
they were reached: in a list, on a page, through ``user(id:)``, ``node(id:)`` or ``nodes(ids:)``. An
id of type ``ID`` or ``String`` names the type, ``User:1734``, so that ``node(id:)`` knows it; any
other id belongs to any type that the field may return and the fragments name. An object that was
looked up by its fields, ``user(login: "ada")``, has these values; its id contains them,
``User:{"login":"ada"}``, so that a look-up by the id finds them again. An id that is a number or a
UUID can't contain them: the object then has values of the seed.

**Right by type, right by format.** Enums hold one of their values, interfaces and unions an object
of one of their types. Scalars that are known by name (``DateTime``, ``Date``, ``Time``,
``Decimal``, ``BigInt``, ``JSON``, ``UUID``, ``URI``, ``EmailAddress`` and many more, in all usual
spellings) have valid values; an unknown scalar has text, its name and a number, unless ``scalars=``
gives a format. Names of fields are considered: a ``login`` looks like one, ``createdAt`` is before
``updatedAt``, a ``latitude`` is between -90 and 90, name, login and e-mail of a person agree, and
``authorId`` is the id of the ``author`` beside it.

**Null.** A nullable field below the root is null at the rate of ``nulls``; root fields, items of
lists and the parts of a connection never are. An interface without object types has no value: null.

**Lists.** A list has ``lengths`` items. A connection (``edges`` or ``nodes`` beside ``pageInfo``)
and a list that takes ``first``, ``limit``, ``offset`` or ``skip`` has ``sizes`` items in all, a
fixed number for each: pages, cursors, ``pageInfo`` and ``totalCount`` agree. Further arguments,
such as filters, choose other items; ordering (``orderBy``, ``sort``) changes nothing. ``ids:``
returns one object for each id, and ``type: REPOSITORY`` returns objects of that type, unless the
fragments name only others.

**Mutations** return their input's values in fields of the same name and type: in the returned
object, in objects below it if it has no id itself, and by ``id`` or ``userId`` for a ``User``.
Nothing is stored: a later query does not see the change.

**Subscriptions** are streams of three events.

**Resolvers** take precedence. They may return a part of an object: a mapping's keys and an object's
attributes are its fields, and the other fields are generated, by its id if it has one. The `root`
of such a function is an object with generated fields, ``root["name"]``.
"""
