"""A one-line definition of each term of a report, for readers who did not write the policy."""

from __future__ import annotations

from collections.abc import Iterator

from hierdata.release.report.models import StewardReport

WORDS = {
    "record": "All that is known of one individual: a tree of vertices.",
    "vertex": "An object of a record: the record itself, one of its courses, a book of that course.",
    "vertex type": "All vertices at one path ($ is the record itself); only these are ever compared.",
    "quasi-identifier": "A field by which somebody could be recognised, alone or with others.",
    "sensitive attribute": "A field whose value must not be learned about a person.",
    "class": "Published records that are equal in structure and in all quasi-identifiers; with recoding "
    "anatomy a group; under bounded knowledge the records with equal values of the record itself.",
    "group": "With recoding anatomy or slicing: vertices of one type, each of another person, that share "
    "their sensitive values, so that nobody can tell whose is which. With slicing_by_table each sensitive "
    "table has groups of its own.",
    "sensitive table": "With both kinds of slicing: a file with the values of some sensitive attributes by "
    "group; nothing ties a row of one to a row of another.",
    "place": "A vertex of a class, with those that cannot be told from it; under bounded knowledge all "
    "vertices of a type.",
    "worst guess": "The largest share of the records of a class that show one value anywhere: how sure a "
    "reader can be, who finds the class of a person, that the person has that value. Where the release does "
    "not tie values to records, the largest share that could.",
    "generalize": "To publish a broader category, an interval or a period for a value; * is any value.",
    "suppress": "To leave a vertex, with everything below it, or a whole record out of what is published.",
    "sensitivity level": "How sensitive a value is, from 1 (least) upwards, as the policy says.",
    "exempt": "A field that is published as it stands, outside the promise, for a reason the policy gives.",
    "gate": "A limit on a figure of the release: where it is not kept, nothing is published.",
}


def glossary(report: StewardReport) -> Iterator[tuple[str, str]]:
    """Return the terms of a report, the letters of its models, and its metrics, each with its meaning."""
    from hierdata.ground.plugins import find
    from hierdata.metrics import metric_named
    from hierdata.privacy import MODELS, model_named

    yield from WORDS.items()
    for kind in dict.fromkeys(promise.kind for promise in report.promises):
        known = kind in MODELS or find("models", kind) is not None
        for letter, meaning in model_named(kind).letters.items() if known else ():
            yield f"{letter}, of {kind}", f"{meaning[0].upper()}{meaning[1:]}."
    for name in report.metrics:
        yield name, metric_named(name).explanation
    for name in dict.fromkeys(risk for risks in report.attackers.values() for risk in risks):
        yield name, metric_named(name).explanation
