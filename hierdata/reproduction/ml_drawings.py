"""Figures 1, 2 and 4 of ML: a record and its schema, a class that is attacked, and two records made alike."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.pipeline.anonymize import anonymize
from hierdata.pipeline.look_over import look_over, read_policy
from hierdata.pipeline.trees import mlev_anonytree, show_tree
from hierdata.privacy import FrequencyLDiversity, LevelAlphaK
from hierdata.privacy.base import ClassView
from hierdata.reproduction.exhibit import Cell, Exhibit, Grid, read_printed
from hierdata.reproduction.ml_tables import level_of, loss_of

_SEED = bytes(16)


def figure_1() -> list[Exhibit]:
    """Return Figure 1: (a) a student's record, (b) the schema that the policy gives it."""
    data = read_printed("ML")
    return [
        Exhibit(
            "Figure 1 (a)",
            "a student's record",
            "A drawing. The text names the major, the year of birth, the GPA, both courses, the number of"
            " evaluations and the book; grades, scores and names of instructors are ours.",
            drawing=_show(data["figure 1"], data["policy"]),
        ),
        Exhibit(
            "Figure 1 (b)",
            "the schema of education data",
            "A drawing of the vertex types, from students over courses to evaluations and books.",
            drawing="\n".join(_schema_lines(data["figure 1"], data["policy"])),
        ),
    ]


def _show(record: Mapping[str, Any], policy: dict[str, Any]) -> str:
    text = io.StringIO()
    show_tree(record, policy, file=text)
    return text.getvalue().rstrip("\n")


def _schema_lines(record: Mapping[str, Any], policy: dict[str, Any]) -> Iterator[str]:
    with look_over([record], read_policy(policy), None, None, None, None) as looked:
        types = looked.prepared.schema.types
    for kind in types:
        attributes = (f"{'.'.join(each.steps)} ({each.role.value})" for each in kind.attributes)
        yield f"{kind.path}: {', '.join(attributes)}"


def draw_document(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each value of a document, and for each document in it with what it has.

    >>> print("\\n".join(draw_document({"gpa": ["1", "2"], "courses": [{"code": "CS"}]})))
    ├── gpa: {1, 2}
    └── courses[*]
        └── code: CS
    """
    below: list[tuple[str, list[str]]] = []
    for key, value in document.items():
        if isinstance(value, list) and value and isinstance(value[0], Mapping):
            below += [(f"{key}[*]", [*draw_document(child)]) for child in value]
        else:
            shown = f"{{{', '.join(map(str, value))}}}" if isinstance(value, list) else str(value)
            below.append((f"{key}: {shown}", []))
    for number, (line, inner) in enumerate(below, 1):
        last = number == len(below)
        yield ("└── " if last else "├── ") + line
        yield from (("    " if last else "│   ") + inner_line for inner_line in inner)


def figure_2() -> Exhibit:
    """Return Figure 2: a class representative that satisfies 3-diversity, judged by both models."""
    data = read_printed("ML")
    representative, size = data["figure 2"]["representative"], data["figure 2"]["l"]
    rows = tuple(_judge(path, values, size, data["policy"]) for path, values in _sensitive(representative))
    broken = [str(row[0]) for row in rows if row[-1] == "no"]
    diverse = all(isinstance(row[2], Fraction) and row[2] >= size for row in rows)
    return Exhibit(
        "Figure 2",
        "a class representative that satisfies 3-diversity, and is attacked by similarity",
        "A drawing of three records in one class. In the text each sensitive value occurs once, and yet all"
        " GPAs, grades and scores are bad. Major and year of birth are ours.",
        ours=Grid(
            ("sensitive attribute", "values", "l by frequency", "levels", "(alpha, 3)-anonymous"),
            rows,
        ),
        drawing="\n".join(draw_document(representative)),
        differs=(
            f"The class {'is' if diverse else 'is not'} {size}-diverse; (alpha_lev, {size})-anonymity"
            f" {'refuses it at ' + ', '.join(broken) if broken else 'allows it'}."
        ),
        errata=("ML-16",),
    )


def _sensitive(node: Mapping[str, Any], path: str = "$") -> Iterator[tuple[str, list[str]]]:
    """Yield the sensitive values of a representative by path: its lists of texts."""
    for key, value in node.items():
        if isinstance(value, list):
            if isinstance(value[0], Mapping):
                for child in value:
                    yield from _sensitive(child, f"{path}.{key}[*]")
            else:
                yield f"{path}.{key}", value


def _judge(path: str, values: Sequence[str], size: int, policy: Mapping[str, Any]) -> tuple[Cell, ...]:
    """Judge the values of a vertex by frequency l-diversity and by (alpha_lev, k)-anonymity."""
    levels = [level_of(policy["fields"][path], value) for value in values]
    domain = SensitiveDomain(path, tuple(values), levels=tuple(levels), level_count=5)
    view = ClassView(size, dict.fromkeys(range(len(values)), 1))
    achieved = FrequencyLDiversity(l=size).bind(domain).achieved_parameters(view)["l"]
    holds = LevelAlphaK(k=size).bind(domain).holds(view)
    shown = ", ".join(map(str, levels))
    return path, ", ".join(values), achieved, shown, "yes" if holds else "no"


def figure_4() -> Exhibit:
    """Return Figure 4: two records, what is published of them, and their representative."""
    data = read_printed("ML")
    policy, records = data["policy"], [data["figure 1"], data["figure 4"]["partner"]]
    aligned = mlev_anonytree(records[0], records[1], policy)
    representative, loss = aligned.representative or {}, aligned.loss
    by_formula = loss_of(records, representative, policy)
    published = [*anonymize(records, policy, seed=_SEED).records()]
    parts = (
        *(("(a) raw record", _show(record, policy).splitlines()) for record in records),
        *(("(b) published record", ["$", *draw_document(record)]) for record in published),
        ("(c) class representative", ["$", *draw_document(representative)]),
    )
    columns = ("class", "information loss of both records")
    return Exhibit(
        "Figure 4",
        "two records before and after Algorithm 1, and their representative",
        "A drawing of two records, the anonymous results and the class representative, under (alpha_lev, 2)-"
        "anonymity. The text has none of their values: these two records are ours, the first is Figure 1's.",
        derived=Grid(columns, (("the two records", by_formula),)),
        ours=Grid(columns, (("the two records", loss),)),
        drawing="\n\n".join("\n".join((heading, *lines)) for heading, lines in parts),
        differs="" if by_formula == loss else f"Equation 5 gives {by_formula}, we get {loss}.",
        errata=("ML-4", "ML-5", "ML-9", "ML-10"),
    )
