"""The sentences of a release under bounded knowledge: what is not promised, with figures of this release."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hierdata.ground.recodings import TOGETHER

if TYPE_CHECKING:
    from hierdata.judge.rules import ToldApart
    from hierdata.privacy import BoundedKnowledge

_KNOWN = (
    "The promise holds against a reader who knows that a person is in the collection, and no more "
    "quasi-identifier values of hers than it says. It does not hold against one who knows a sensitive value."
)
_KNOWN_VALUES = (
    "The promise holds against a reader who knows that a person is in the collection, and no more values of "
    "the person than it says."
)
_TOGETHER = (
    "A published record keeps its own sensitive values together. Someone who knows more of a person than the "
    "promise says may find the record and read the others."
)
_LEFT_OUT_VALUES = (
    "A sensitive value that somebody may know is not there where it is missing or was left out. That does "
    "not tell that the person has none."
)
_PRESENT_VALUES = (
    "Each sensitive attribute is judged by itself, on the values that are present: what a missing value "
    "tells, or several values together, is not limited."
)
_LEFT_OUT = (
    "A value that is missing, or was left out, is {form}, and vertices of lists were left out with"
    " all below them. That a record lacks something does not tell that the person does."
)
MORE_MAY_FIND = "Someone who knows more may find a person's record."
_MORE_FACTS = (
    MORE_MAY_FIND + " Of {persons} sampled from the published file, {one} by "
    "themselves with {m} of the values that are published for them{root}, and {two} with {more}."
)
_COUNTS = (
    "How often something occurs is not among the facts{beyond}. Of the same persons, {share} by themselves "
    "with {m}{root} and the number of vertices of each type that is published for them."
)
_LACK = (
    "That a person lacks a value is not among the facts, unless a vertex is known to have none. Of the same "
    "persons, {share} by themselves with {m}{root} and one fact that another such record shows and theirs "
    "does not."
)
_ORDER = (
    "What comes first is not among the facts. Whoever knows the order of two dates at different vertices, "
    "or that one value is greater than another, may find a record by it."
)
_SIBLINGS = (
    "What siblings have to do with each other is not among the facts. A number may count the vertices of a"
    " person, or no two of them may have a value in common. That may tell what was left out, and whose "
    "record it is."
)
_ONE_PATTERN = (
    "alpha bounds the share of a value among the records that agree with one published pattern. Whoever "
    "allows for values that were left out has several patterns in mind. The share among the records that "
    "agree with any of them is not bounded."
)
_GONE = (
    "Where whole entries of a list were left out, alpha counts those that are left. Whoever knows that a "
    "person has one more entry may know more of its value."
)
_BY_ROOT = "To somebody who knows the values of the record itself and nothing below it: {promise}"

KNOWLEDGE = (_KNOWN, _KNOWN_VALUES)
"""Whom a promise of bounded knowledge holds against, and no further."""
READ_BY = {
    "missing": "A missing value, and one that was left out, is *.",
    "suppressed": "No record is left out. A vertex of a list may be, with everything below it.",
}
"""What the codebook says instead of its usual sentences."""


def knowledge_bounds(model: BoundedKnowledge, form: str) -> tuple[str, str, str]:
    """Return whom the promise holds against, what it is about, and what the form of the release tells.

    They take the place of the usual sentences; ``form`` is what the recoding says. Where sensitive values are
    among the facts, one of them alone leads to nobody.
    """
    if model.facts == "quasi":
        return _KNOWN, _PRESENT_VALUES, form
    return _KNOWN_VALUES, _PRESENT_VALUES, form.replace(TOGETHER, _TOGETHER)


def read_missing(model: BoundedKnowledge) -> dict[str, str]:
    """Return what the codebook says of what is not there instead of its usual sentences."""
    if model.facts == "quasi":
        return READ_BY
    return READ_BY | {"missing": f"{READ_BY['missing']} {_LEFT_OUT_VALUES}"}


def state_by_root(promise: str) -> str:
    """Return the promise of another model, which is judged of the records with the same root values."""
    return _BY_ROOT.format(promise=promise)


def knowledge_sentences(
    model: BoundedKnowledge, told_apart: ToldApart | None, form: str = "published as *"
) -> Iterator[str]:
    """Yield what bounded knowledge does not promise, with the shares of sampled persons.

    ``form`` is how a value is published that was left out.
    """
    yield _LEFT_OUT.format(form=form)
    if model.facts != "quasi":
        yield _LEFT_OUT_VALUES
    sampled = 0 if told_apart is None else len(told_apart.persons)
    if told_apart is not None and sampled:
        one_more, two_more, counts, lack = (_share(count, sampled) for count in told_apart.counts())
        root = " beside the record's own values" if model.root == "known" else ""
        persons = "1 person" if sampled == 1 else f"{sampled} persons"
        m = _facts(model.m)
        yield _MORE_FACTS.format(
            persons=persons, one=one_more, m=model.m + 1, root=root, two=two_more, more=model.m + 2
        )
        beyond = ", beyond the stated bins of counts" if model.counts else ""
        yield _COUNTS.format(beyond=beyond, share=counts, m=m, root=root)
        yield _LACK.format(share=lack, m=m, root=root)
    yield _ORDER
    yield _SIBLINGS
    if model.alpha is not None:
        yield _ONE_PATTERN
        if model.facts != "quasi":
            yield _GONE


def _share(count: int, sampled: int) -> str:
    """Return a share in whole percents, rounded up, so that nobody is left out of it."""
    percent = -(-100 * count // sampled)
    return "none are" if not count else f"{percent} % are"


def _facts(number: int) -> str:
    return "1 fact" if number == 1 else f"{number} facts"
