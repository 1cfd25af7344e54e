"""The slow, obvious twin of the steps of a shape, for JSON, written from the reference alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from decimal import Decimal
from typing import Any


def keys_of(path: str) -> list[str]:
    return path.removeprefix("$.").replace("[*]", "").split(".")


def shape(documents: Sequence[dict[str, Any]], steps: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Shape a collection by all steps but those that draw at random."""
    found = deepcopy(list(documents))
    for step in steps:
        ((kind, stated),) = step.items()
        if kind == "drop_below":
            found = drop_below(found, stated)
        else:
            found = [globals()[kind](document, stated) for document in found]
    return found


def lift(document: dict[str, Any], stated: dict[str, Any]) -> dict[str, Any]:
    source, target = keys_of(stated["from"]), keys_of(stated["to"])
    for holder in objects(document, target[:-1]):
        lifted, lists = [], 0
        for passed in ways(holder, source[len(target) - 1 : -1]):
            if passed[-1].get(source[-1]) is None:
                continue
            lists += 1
            for item in passed[-1].pop(source[-1]):
                for name in stated.get("carry", ()):
                    for one in passed[1:]:
                        if one.get(name) is not None:
                            item = {**item, name: one[name]}
                lifted.append(item)
        if lists:
            holder[target[-1]] = lifted
    return document


def listed(document: dict[str, Any], path: str) -> dict[str, Any]:
    keys = keys_of(path)
    for holder in objects(document, keys[:-1]):
        value = holder.get(keys[-1])
        if value is not None and not isinstance(value, list):
            holder[keys[-1]] = [value]
    return document


def cap(document: dict[str, Any], stated: dict[str, Any]) -> dict[str, Any]:
    for holder, key in lists(document, stated["path"]):
        holder[key] = holder[key][: stated["n"]]
    return document


def distinct(document: dict[str, Any], stated: dict[str, Any]) -> dict[str, Any]:
    for holder, key in lists(document, stated["path"]):
        fields = stated.get("fields", ())
        groups: dict[str, list[Any]] = {}
        for item in holder[key]:
            compared = [item.get(name) for name in fields] if fields else item
            groups.setdefault(content(compared), []).append(item)
        # Any of the equal items may stay: the twin does not say which.
        holder[key] = [{"any of": sorted(map(content, own)), "times": len(own)} for own in groups.values()]
    return document


def take(document: dict[str, Any], stated: dict[str, Any]) -> dict[str, Any]:
    for holder, key in lists(document, stated["path"]):
        number = stated.get("first") or stated.get("last")
        ordered = sorted(
            holder[key], key=lambda item: item[stated["by"]], reverse=stated.get("last") is not None
        )
        # Of items with equal values any may be taken: the twin gives the values.
        holder[key] = sorted(item[stated["by"]] for item in ordered[:number])
    return document


def count(document: dict[str, Any], stated: dict[str, Any]) -> dict[str, Any]:
    number = sum(len(holder[key]) for holder, key in lists(document, stated["path"]))
    if "bins" not in stated:
        return document | {stated["to"].removeprefix("$."): number}
    below = [edge for edge in stated["bins"] if edge <= number]
    above = [edge for edge in stated["bins"] if edge > number]
    first = max(below, default=0)
    if not above:
        told = f"{first} or more"
    else:
        told = str(first) if min(above) - 1 == first else f"[{first}, {min(above) - 1}]"
    return document | {stated["to"].removeprefix("$."): told}


def drop_below(documents: list[dict[str, Any]], stated: dict[str, Any]) -> list[dict[str, Any]]:
    def value(item: Any) -> str:
        return content(item.get(stated["by"]) if "by" in stated else item)

    def having(wanted: str) -> int:
        return sum(
            any(
                value(item) == wanted
                for holder, key in lists(document, stated["path"])
                for item in holder[key]
            )
            for document in before
        )

    before = deepcopy(documents)
    for document in documents:
        for holder, key in lists(document, stated["path"]):
            holder[key] = [item for item in holder[key] if having(value(item)) >= stated["k"]]
    return documents


def unite(documents: Sequence[dict[str, Any]], identity: str) -> list[dict[str, Any]]:
    """Unite the documents of each individual; they agree in all scalars."""
    whole: dict[Any, dict[str, Any]] = {}
    for document in deepcopy(list(documents)):
        own = whole.setdefault(str(document[identity]), {})
        for key, value in document.items():
            own[key] = own[key] + value if isinstance(value, list) and key in own else value
    return list(whole.values())


def lists(document: dict[str, Any], path: str) -> list[tuple[dict[str, Any], str]]:
    *way, last = keys_of(path)
    return [(holder, last) for holder in objects(document, way) if holder.get(last) is not None]


def objects(document: dict[str, Any], way: Sequence[str]) -> list[dict[str, Any]]:
    return [passed[-1] for passed in ways(document, way)]


def ways(document: dict[str, Any], way: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
    """Yield the objects that are passed on each way, the document itself first."""
    if not way:
        yield [document]
        return
    below = document.get(way[0])
    for child in below if isinstance(below, list) else [below]:
        if isinstance(child, dict):
            for rest in ways(child, way[1:]):
                yield [document, *rest]


def content(value: Any) -> str:
    """Return a text that is equal for equal content, whatever the order of keys and items."""
    if isinstance(value, dict):
        return (
            "{"
            + ",".join(
                sorted(json.dumps(key) + content(own) for key, own in value.items() if own is not None)
            )
            + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(sorted(map(content, value))) + "]"
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return f"number {Decimal(value).normalize():f}"
    return json.dumps(value)
