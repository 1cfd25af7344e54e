"""Measure the risks of published records: all attacks, for 1 to Q facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hierdata.measurement.adversary.attack import Attacked
from hierdata.measurement.risks.downcoding import measure_downcoding
from hierdata.measurement.risks.evidence import Evidence
from hierdata.measurement.risks.facts import Ints
from hierdata.measurement.risks.linkability import measure_linkability
from hierdata.measurement.risks.rates import MeasuredRisk
from hierdata.measurement.risks.singling_out import measure_singling_out

NO_READERS = (
    "linkability: name two `attackers` with disjoint `keys`, since all quasi-identifiers are at one vertex "
    "type"
)
NO_WITNESS = "downcoding: no witness says which values were generalized"
BY_CANDIDATES = "the most frequent value among the candidates"


@dataclass(frozen=True)
class Readers:
    """Two readers with disjoint fields, and how they are called."""

    by: str
    first: tuple[str, ...]
    second: tuple[str, ...]


def measure_risks(
    evidence: Evidence,
    readers: Readers | None,
    true: Sequence[Ints | None] | None,
    facts: int,
    attacks: int,
    draw: int,
) -> list[MeasuredRisk]:
    """Measure singling out, linkability and downcoding.

    ``readers`` and ``true`` (see ``measure_downcoding``) are None where a risk cannot be measured.
    """
    risks = []
    for count in range(1, facts + 1):
        risks += measure_singling_out(evidence, count, attacks, np.random.default_rng([draw, 1, count]))
    if readers is not None:
        known = tuple(
            [number for number in evidence.quasi if evidence.attributes[number].path in paths]
            for paths in (readers.first, readers.second)
        )
        risks += measure_linkability(evidence, (known[0], known[1]), readers.by, facts, attacks, draw)
    if true is not None:
        risks.append(measure_downcoding(evidence, true, attacks, draw))
    return risks


def split_readers(evidence: Evidence) -> Readers | None:
    """Return a reader of the root and one of what is below it; None where one would know nothing."""
    paths: tuple[list[str], list[str]] = [], []
    for number in evidence.quasi:
        attribute = evidence.attributes[number]
        paths[attribute.kind > 0].append(attribute.path)
    return Readers("root and lists", tuple(paths[0]), tuple(paths[1])) if all(paths) else None


def list_inferences(attacked: Attacked, control: Attacked | None) -> Iterator[MeasuredRisk]:
    """Yield the guesses of an adversary as inference risks (Giomi 2023, section 4.3).

    A guess is right if it is a value of the victim there; chance is the most frequent value of the release.
    There is no guess where no candidate shows a value.
    """
    others = attacked.guesses if control is None else control.guesses
    for guess, other in zip(attacked.guesses, others, strict=True):
        if guess.asked:
            yield MeasuredRisk(
                "inference",
                BY_CANDIDATES,
                guess.facts,
                guess.asked,
                round(guess.right * guess.asked),
                round(guess.prior * guess.asked),
                None if control is None else float(round(other.right * other.asked)),
                0 if control is None else other.asked,
                guess.path,
                round(guess.refused * guess.asked),
            )
