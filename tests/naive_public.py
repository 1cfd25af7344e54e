"""Twin of what is published beside records: release.json from JSON, CSV or XML and the policy, slowly."""

from __future__ import annotations

import csv
import datetime
import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from hierdata.ground.version import __version__
from hierdata.privacy import MODELS
from hierdata.release.report.sentences import (
    certain_sentences,
    limitations,
    suppression_sentences,
    unlimited_sentences,
)

Record = dict[str, Any]
Place = tuple[str, ...]


def release_bytes(public: Path, policy: Mapping[str, Any]) -> bytes:
    """The bytes of release.json, from the records beside it and the policy."""
    files = sorted(
        path
        for path in public.iterdir()
        if path.name not in ("release.json", "codebook.json", "summary.html")
    )
    records = read(files[0])
    models = [MODELS[stated["kind"]](**stated) for stated in policy["models"]]
    sensitive = [path for path, rule in policy["fields"].items() if rule.get("role") == "sensitive"]
    unlimited = [
        path
        for path in sensitive
        if not any(model.per_attribute and path in (model.on or [path]) for model in models)
    ]
    if policy.get("recoding") == "representatives":
        classes = [Class(own["records"], [own["representative"]]) for own in records]
        records = [own.members[0] for own in classes for _ in range(own.size)]
    else:
        classes = group(records, policy)
    told = {
        "version": __version__,
        "dataset": "records",
        "recoding": policy.get("recoding", "generalization"),
        "format": files[0].suffix.removeprefix("."),
        "files": [
            {"name": file.name, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()} for file in files
        ],
        "tables": {},
        "passed": True,
        "promises": [
            promise(model, stated, classes, sensitive)
            for model, stated in zip(models, policy["models"], strict=True)
        ],
        "worst_guess": {path: exact(worst_guess(classes, path)) for path in sensitive},
        "limitations": [
            *limitations(models, policy.get("recoding", "generalization"), {}),
            *unlimited_sentences(unlimited, tables=False),
            *certain_sentences(
                [path for path in sensitive if worst_guess(classes, path) == 1 and path not in unlimited]
            ),
            *suppression_sentences(
                judged=any("alpha" in own or "l" in own or "t" in own for own in policy["models"]),
                guarded=policy.get("suppressed", "guarded") == "guarded",
                each_type=policy.get("recoding") == "anatomy",
            ),
        ],
        "counts": {
            "classes": len(classes),
            "smallest_class": min(own.size for own in classes),
            "largest_class": max(own.size for own in classes),
            "k_raw": min(Counter(repr(stripped(record, sensitive)) for record in records).values()),
            "k_exempt": None,
            "records": len(records),
        },
        "fineness": fineness(records, policy),
        "metrics": metrics(records, policy),
        "gates": [],
    }
    return (json.dumps(told, ensure_ascii=False, indent=2) + "\n").encode()


class Class(NamedTuple):
    """A class: how many records it has, and these; of representatives the one that stands for them."""

    size: int
    members: list[Record]

    def most(self, path: str) -> int:
        """How many of the records show the value that most of them show, or could."""
        if len(self.members) == 1:  # its lists do not tell whose the values are
            listed = Counter(value for value in at(self.members[0], steps(path)) if value is not None)
            return min(max(listed.values(), default=0), self.size)
        return max(
            Counter(value for record in self.members for value in shown(record, path)).values(), default=0
        )


def read(file: Path) -> list[Record]:
    """The records of a file; cells without text, and elements that are not there, are missing."""
    if file.suffix == ".json":
        found: list[Record] = json.loads(file.read_bytes(), parse_float=Decimal)
        return found
    if file.suffix == ".csv":
        with file.open(newline="", encoding="utf-8") as stream:
            return [{key: cell for key, cell in row.items() if cell} for row in csv.DictReader(stream)]

    def element(node: ElementTree.Element) -> Record:
        inside: Record = {f"@{name}": value for name, value in node.attrib.items()}
        for child in node:
            inside.setdefault(child.tag, []).append(element(child))
        return inside

    return [element(node) for node in ElementTree.parse(file).getroot()]


def steps(path: str) -> list[str]:
    """The keys of a path such as ``$.courses[*].code`` or ``/students/student/course/@code``."""
    if path.startswith("/"):
        return path.split("/")[3:]
    return path.removeprefix("$.").replace("[*]", "").split(".")


def repeats(path: str) -> bool:
    """Whether a person may have several values at a path."""
    return "[*]" in path or (path.startswith("/") and len(steps(path)) > 1)


def at(value: Any, keys: Sequence[str]) -> Iterator[Any]:
    """Every single value at the keys."""
    if isinstance(value, list):
        for item in value:
            yield from at(item, keys)
    elif not keys:
        yield value
    elif keys[0] in value:
        yield from at(value[keys[0]], keys[1:])


def stripped(record: Record, sensitive: Sequence[str]) -> Any:
    """The record as it is written, without sensitive values."""
    hidden = [steps(path) for path in sensitive]

    return without(hidden, record, [])


def without(hidden: Sequence[list[str]], value: Any, here: list[str]) -> Any:
    """A value at the keys ``here`` without what is at the hidden keys."""
    if isinstance(value, list):
        return [without(hidden, item, here) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: without(hidden, item, [*here, key]) for key, item in value.items() if [*here, key] not in hidden
    }


def form(value: Any) -> Any:
    """What can be compared of a stripped value: siblings in no order."""
    if isinstance(value, list):
        return ("list", tuple(sorted(map(form, value), key=repr)))
    if isinstance(value, dict):
        return ("object", tuple(sorted((key, form(item)) for key, item in value.items())))
    return (type(value).__name__, value)


def group(records: Sequence[Record], policy: Mapping[str, Any]) -> list[Class]:
    """The classes: records of one form."""
    sensitive = [path for path, rule in policy["fields"].items() if rule.get("role") == "sensitive"]
    found: defaultdict[Any, list[Record]] = defaultdict(list)
    for record in records:
        found[form(stripped(record, sensitive))].append(record)
    return [Class(len(own), own) for own in found.values()]


def places(record: Record, path: str, sensitive: Sequence[str]) -> Iterator[tuple[Any, Any]]:
    """Each value at a sensitive path, with the forms of all vertices that lead to it."""
    hidden = [steps(own) for own in sensitive]

    def walk(
        value: Any, keys: list[str], here: list[str], forms: tuple[Any, ...]
    ) -> Iterator[tuple[Any, Any]]:
        if not keys:
            listed = value if isinstance(value, list) else [value]
            yield from ((forms, one) for one in listed if one is not None)
        elif isinstance(value, list):
            for item in value:
                own = form(without(hidden, item, here))
                yield from walk(item, keys, here, (*forms, own))
        elif keys[0] in value:
            yield from walk(value[keys[0]], keys[1:], [*here, keys[0]], forms)

    yield from walk(record, steps(path), [], ())


def tallies(
    classes: Sequence[Class], path: str, sensitive: Sequence[str]
) -> Iterator[tuple[int, Counter[Any]]]:
    """The size of each class, and the values at each of its places."""
    for size, members in classes:
        found: defaultdict[Any, Counter[Any]] = defaultdict(Counter)
        for record in members:
            for place, value in places(record, path, sensitive):
                found[place][value] += 1
        for counted in found.values():
            yield size, counted


def worst_guess(classes: Sequence[Class], path: str) -> Fraction:
    """The largest share of the records of a class that show one value anywhere."""
    return max(Fraction(own.most(path), own.size) for own in classes)


def shown(record: Record, path: str) -> set[Any]:
    return {value for value in at(record, steps(path)) if value is not None}


def exact(number: Fraction) -> dict[str, Any]:
    return {"exact": str(number), "value": float(number)}


def promise(
    model: Any, stated: Mapping[str, Any], classes: Sequence[Class], sensitive: Sequence[str]
) -> dict[str, Any]:
    """A promise: words by the policy, what was achieved by the records; no t, which needs the original."""
    kind = stated["kind"]
    smallest = Fraction(min(own.size for own in classes))
    by_path: dict[str, dict[str, Fraction]] = {}
    if kind != "k-anonymity":
        for path in sensitive:
            found = list(tallies(classes, path, sensitive))
            by_path[path] = {}
            if kind == "alpha-k":
                by_path[path]["k"] = smallest
                if found:
                    by_path[path]["alpha"] = max(Fraction(max(own.values()), own.total()) for _, own in found)
            elif kind == "frequency-l-diversity" and found:
                by_path[path]["l"] = min(
                    min(Fraction(own.total(), max(own.values())), Fraction(size)) for size, own in found
                )
            elif kind == "distinct-l-diversity" and found:
                by_path[path]["l"] = min(Fraction(min(len(own), size)) for size, own in found)
            else:
                assert kind == "t-closeness" or not found
    achieved = {"k": smallest} if kind == "k-anonymity" else {}
    for own in by_path.values():
        for letter, value in own.items():
            worse = max if letter == "alpha" else min
            achieved[letter] = worse(achieved.get(letter, value), value)
    return {
        "kind": kind,
        "statement": statement(model, list(by_path), classes),
        "finding": finding(model),
        "parameters": model.model_dump(mode="json", exclude={"kind", "on"}),
        "on": None,
        "paths": list(by_path),
        "held": True,
        "achieved": {letter: exact(value) for letter, value in achieved.items()},
        "failing_classes": 0,
        "reason": "",
        "by_path": {
            path: {
                "held": True,
                "achieved": {letter: exact(value) for letter, value in own.items()},
                "failing_classes": 0,
            }
            for path, own in by_path.items()
        },
    }


def distances(model: Any, paths: Sequence[str], classes: Sequence[Class]) -> dict[str, list[str]]:
    """The paths by the sentence on them: t-closeness has another distance for numbers than for texts."""
    told: dict[str, list[str]] = {}
    for path in paths:
        values = {value for own in classes for record in own.members for value in shown(record, path)}
        own_model = model
        if model.kind == "t-closeness" and values:
            numbers = all(isinstance(value, int | Decimal) for value in values)
            own_model = model.model_copy(update={"distance": "ordered" if numbers else "equal"})
        told.setdefault(own_model.promise(apart=False), []).append(path)
    return told


def statement(model: Any, paths: Sequence[str], classes: Sequence[Class]) -> str:
    """The sentence of the model; where a person may have several values, what it is not about.

    Here all lists have quasi-identifiers, and so values are counted.
    """
    told = distances(model, paths, classes) or {model.promise(apart=False): []}
    plain, exactly = [], []
    for sentence, own in told.items():
        where = f"At {' and '.join(own)}: " if len(told) > 1 else ""
        one, _, other = sentence.partition(" Exactly: ")
        plain.append(f"{where}{one}")
        exactly += [f"{where}{other}"] if other else []
    said = " ".join(plain)
    if several := [path for path in paths if repeats(path)]:
        where = " and ".join(several)
        if model.kind in ("alpha-k", "frequency-l-diversity"):
            said += (
                f" Where a person may have several values at {where}, this is said of one of the values, not "
                "of the person. All people of one group may have one value in common."
            )
        else:
            said += (
                f" Where a person may have several values at {where}, all people of one group may "
                "have one of them in common."
            )
    return f"{said} Exactly: {' '.join(exactly)}" if exactly else said


def finding(model: Any) -> str:
    """The sentence on who could find a person."""
    others = "1 other" if getattr(model, "k", 0) == 2 else f"{getattr(model, 'k', 1) - 1} others"
    if model.kind not in ("k-anonymity", "alpha-k"):
        return ""
    return f"Every record looks like at least {others} in everything that others may know."


def fineness(records: Sequence[Record], policy: Mapping[str, Any]) -> dict[str, Any]:
    """How many published values of each quasi-identifier are as they were, coarser, or ``*``."""
    found = {}
    for path, rule in policy["fields"].items():
        if rule.get("role") == "quasi":
            labels = [value for record in records for value in at(record, steps(path)) if value is not None]
            anything = sum(label == "*" for label in labels)
            exact_ones = sum(label != "*" and lost(label, labels, rule) == 0 for label in labels)
            coarser = len(labels) - exact_ones - anything
            found[path] = {"exact": exact_ones, "coarser": coarser, "any": anything}
    return found


def metrics(records: Sequence[Record], policy: Mapping[str, Any]) -> dict[str, Any]:
    """What is lost and kept of the published quasi-identifier values."""
    total, values = Fraction(0), 0
    for path, rule in policy["fields"].items():
        if rule.get("role") == "quasi":
            labels = [value for record in records for value in at(record, steps(path)) if value is not None]
            values += len(labels)
            total += sum((lost(label, labels, rule) for label in labels), Fraction(0))
    share = total / max(values, 1)
    unit = "published quasi-identifier values"
    return {
        "published_lm_cost": {
            "exact": {
                "total": str(total),
                "per_record": str(total / len(records)),
                "per_value": str(share),
            },
            "unit": {"total": unit, "per_record": unit, "per_value": "share"},
            "low": {"total": 0, "per_record": 0, "per_value": 0},
            "high": {"total": values, "per_record": None, "per_value": 1},
            "better": "lower",
            "total": float(total),
            "per_record": float(total / len(records)),
            "per_value": float(share),
        },
        "published_kept": {
            "exact": {"per_value": str(1 - share)},
            "unit": {"per_value": "share"},
            "low": {"per_value": 0},
            "high": {"per_value": 1},
            "better": "higher",
            "per_value": float(1 - share),
        },
    }


def lost(label: Any, labels: Sequence[Any], rule: Mapping[str, Any]) -> Fraction:
    """LM' of a published label by the definitions in docs/reference/release.md."""
    if label == "*":
        return Fraction(1)
    if "interval" in rule:
        ends = [bounds(own) for own in labels if own != "*"]
        low, high = rule["interval"].get("domain") or (min(a for a, _ in ends), max(b for _, b in ends))
        return width(bounds(label), low, high)
    if "date" in rule:
        days = [period(own) for own in labels if own != "*"]
        return width(period(label), min(a for a, _ in days), max(b for _, b in days))
    if "prefix" in rule:
        return Fraction(str(label).count("*"), len(str(label)))
    if "taxonomy" in rule:
        tree = rule["taxonomy"]["tree"]["*"]
        return Fraction(len(below(label, tree)) - 1, len(below(None, tree)) - 1)
    return Fraction(0)


def width(own: tuple[Any, Any], low: Any, high: Any) -> Fraction:
    if own[0] == own[1]:
        return Fraction(0)
    return min(Fraction(own[1] - own[0]) / Fraction(high - low), Fraction(1)) if high != low else Fraction(1)


def bounds(label: Any) -> tuple[Fraction, Fraction]:
    numbers = re.findall(r"-?[0-9]+(?:\.[0-9]+)?", str(label))
    return Fraction(numbers[0]), Fraction(numbers[-1])


def period(label: str) -> tuple[int, int]:
    """The first and last day of ``2001``, ``2001-03``, ``2001-03-04`` or ``[2001-01-01, 2009-12-31]``."""
    found = re.findall(r"([0-9]{4})(?:-([0-9]{2}))?(?:-([0-9]{2}))?", label)
    (year, month, day), (last_year, last_month, last_day) = found[0], found[-1]
    first = datetime.date(int(year), int(month or 1), int(day or 1))
    if last_day:
        last = datetime.date(int(last_year), int(last_month), int(last_day))
    elif last_month:
        last = datetime.date(
            int(last_year) + int(last_month) // 12, int(last_month) % 12 + 1, 1
        ) - datetime.timedelta(1)
    else:
        last = datetime.date(int(last_year), 12, 31)
    return first.toordinal(), last.toordinal()


def below(label: Any, tree: Mapping[str, Any], inside: bool = False) -> list[str]:
    """The leaves under a label of a nested tree, of the whole tree for None."""
    found = []
    for name, inner in tree.items():
        here = inside or label is None or name == str(label)
        if inner:
            found += below(label, inner, here)
        elif here:
            found.append(name)
    return found
