"""Objects by column: all values of one key together, so that what is done with them runs in compiled code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from operator import itemgetter

from hierdata.document import Document, Value


def columns(objects: Sequence[Document]) -> Iterator[tuple[str, Sequence[Value], Sequence[int]]]:
    """Each key by first appearance, with its values and the places of the objects that have it.

    >>> list(columns([{"a": 1, "b": 2}, {"b": 3}]))
    [('a', [1], [0]), ('b', [2, 3], range(0, 2))]
    """
    keys = list(objects[0]) if objects else []
    places = range(len(objects))
    if len(keys) > 1 and set(map(len, objects)) == {len(keys)}:
        try:
            rows = list(map(itemgetter(*keys), objects))
        except KeyError:
            pass  # as many keys, but others
        else:
            for key, column in zip(keys, zip(*rows, strict=True), strict=True):
                yield key, column, places
            return
    for key in dict.fromkeys(chain.from_iterable(objects)):
        try:
            whole = list(map(itemgetter(key), objects))
        except KeyError:
            pass  # some have it not
        else:
            yield key, whole, places
            continue
        there = [place for place in places if key in objects[place]]
        yield key, [objects[place][key] for place in there], there
