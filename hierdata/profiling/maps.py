"""Objects that are used as maps: their keys are data, such as ids or dates, and no names of fields."""

from __future__ import annotations

import re

from hierdata.records.survey import Shape

_FEW = 8
_MANY = 200
_LIKE_DATA = re.compile(
    r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2}.*)?|[0-9]+|[0-9A-Fa-f-]{24,36}|(?=.*[0-9]{3})[\w.:-]+|[^@\s]+@[^@\s]+",
    re.DOTALL,
)


def has_dynamic_keys(shape: Shape) -> bool:
    """Whether the keys of an object are data: many, each in few of the objects, most like ids or dates.

    Very many keys in few objects each need not look like anything.

    >>> from hierdata.records.survey import survey
    >>> records = [{"of": {f"2001-01-{day:02}": 1}, "at": {"x": 1}} for day in range(1, 20)]
    >>> [has_dynamic_keys(shape) for shape in survey(records).shape.children.values()]
    [True, False]
    """
    keys = len(shape.children)
    if keys < _FEW:
        return False
    present = sum(below.occurrences for below in shape.children.values())
    if keys >= _MANY and 20 * present <= keys * shape.objects:
        return True
    like_data = sum(_LIKE_DATA.fullmatch(key) is not None for key in shape.children)
    return 2 * present <= keys * shape.objects and 10 * like_data >= 9 * keys
