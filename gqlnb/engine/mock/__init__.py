"""A schema that answers with made-up data: what it answers, and what may be relied on.

**Seeded.** A value depends on the seed and on what it is the value of: an object's type and id, or
the way that leads to it, then the field and its arguments. It does not depend on the process, the
version of Python, the order of execution, or what else is asked for. Nothing is stored.

**One id, one object.** Objects of one type with one id have the same values in every field, however
they were reached: in a list, on a page, through ``user(id:)``, ``node(id:)`` or ``nodes(ids:)``. An
id of type ``ID`` or ``String`` names the type, ``User:1734``, so that ``node(id:)`` knows it; an id
that is no such text, one's own, belongs to any type that may be asked for. An object that was
looked up by its fields, ``user(login: "ada")``, has these values; its id holds them,
``User:{"login":"ada"}``, so they are found by the id again. An id that is a number or a UUID cannot
hold them: found by it, the object has values of the seed.

**Right by type, right by format.** Enums hold one of their values, interfaces and unions an object
of one of their types. Scalars that are known by name (``DateTime``, ``Date``, ``Time``,
``Decimal``, ``BigInt``, ``JSON``, ``UUID``, ``URI``, ``EmailAddress`` and many more, in all usual
spellings) hold valid values; a scalar that is not known holds text, its name and a number, unless
``scalars=`` says better. Names of fields guide: a ``login`` looks like one, ``createdAt`` is before
``updatedAt``, a ``latitude`` is between -90 and 90, name, login and e-mail of a person agree, and
``authorId`` is the id of the ``author`` beside it.

**Null.** A nullable field below the root is null at the rate of ``nulls``; root fields, items of
lists and the parts of a connection never are. An interface without object types has no value: null.

**Lists.** A list has ``lengths`` items. A connection (``edges`` or ``nodes`` beside ``pageInfo``)
and a list that takes ``first``, ``limit``, ``offset`` or ``skip`` has ``sizes`` items in all, a
fixed number for each: pages, cursors, ``pageInfo`` and ``totalCount`` agree. Further arguments,
filters say, choose other items; how they are ordered (``orderBy``, ``sort``) changes nothing.
``ids:`` are answered one by one, and ``type: REPOSITORY`` asks for objects of that type.

**Mutations** return their input's values in fields of the same name and type, in the object they
return, in what it holds where it has no id itself, and by ``id`` or ``userId`` for a ``User``.
Nothing is remembered: a later query does not see the change.

**Subscriptions** are streams of three events.

**Resolvers of one's own** come before all this. They may return a part of an object: a mapping's
keys and an object's attributes are its fields, and what they leave out is made up, by its id where
it has one. Such a function finds in `root` an object whose made-up fields are ``root["name"]``.
"""
