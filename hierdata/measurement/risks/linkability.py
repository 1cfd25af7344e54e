"""Linkability: two readers who know different fields of a person, and whether both find one record."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hierdata.measurement.risks.columns import LabelColumn
from hierdata.measurement.risks.evidence import Evidence
from hierdata.measurement.risks.rates import MeasuredRisk


def measure_linkability(
    evidence: Evidence,
    readers: tuple[Sequence[int], Sequence[int]],
    by: str,
    facts: int,
    victims: int,
    draw: int,
) -> list[MeasuredRisk]:
    """Let two readers look for each victim, with 1 to ``facts`` facts each (Giomi 2023, section 4.2).

    ``readers`` are the numbers of the attributes that each knows, without common ones. Each picks one of the
    published records that agree with most of what is known, all equally likely; the attack is right if both
    pick the same. There is no guess where no published record agrees with anything that a reader knows.
    Chance: two records at random.
    """
    rng = np.random.default_rng([draw, 2])
    rights, guessed = _link(evidence, evidence.original, evidence.counts[1], readers, facts, victims, rng)
    control = None
    if evidence.control is not None:
        control, _ = _link(evidence, evidence.control, evidence.counts[2], readers, facts, victims, rng)
    records = evidence.counts[0]
    risks = []
    for count in range(facts):
        same = rng.integers(records, size=rights.shape[1]) == rng.integers(records, size=rights.shape[1])
        risks.append(
            MeasuredRisk(
                "linkability",
                by,
                count + 1,
                rights.shape[1],
                int(rights[count].sum()),
                int(same.sum()),
                None if control is None else float(control[count].sum()),
                0 if control is None else control.shape[1],
                n_refused=int((~guessed[count]).sum()),
            )
        )
    return risks


def _link(
    evidence: Evidence,
    columns: Sequence[LabelColumn],
    records: int,
    readers: tuple[Sequence[int], Sequence[int]],
    facts: int,
    victims: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return by number of facts and victim whether both readers pick the same record, and can pick one."""
    chosen = rng.permutation(records)[:victims].tolist()
    same = np.zeros((facts, len(chosen)), np.bool_)
    guessed = np.ones_like(same)
    for number, victim in enumerate(chosen):
        known = [draw_values(columns, attributes, victim, facts, rng) for attributes in readers]
        scores = [np.zeros(evidence.counts[0], np.int16) for _ in readers]
        for count in range(facts):
            picked = []
            for score, values in zip(scores, known, strict=True):
                for attribute, code in values[count : count + 1]:
                    score[agree(evidence, attribute, code)] += 1
                most = score.max()
                guessed[count, number] &= most > 0
                best = np.flatnonzero(score == most)
                picked.append(best[int(rng.integers(len(best)))])
            same[count, number] = picked[0] == picked[1]
    return same & guessed, guessed


def draw_values(
    columns: Sequence[LabelColumn],
    attributes: Sequence[int],
    record: int,
    facts: int,
    rng: np.random.Generator,
) -> list[tuple[int, int]]:
    """Draw values that a record of the input has: (attribute, code), in random order."""
    every = [(attribute, code) for attribute in attributes for code in columns[attribute].of_record(record)]
    return [every[number] for number in rng.permutation(len(every))[:facts].tolist()]


def agree(evidence: Evidence, attribute: int, code: int) -> NDArray[np.int64]:
    """Return the published records that may be of a person with this value."""
    labels = evidence.labels[attribute].list_covering(code)
    labels = labels[labels < len(evidence.published[attribute].counts)]
    return evidence.published[attribute].find(labels) if len(labels) else np.zeros(0, np.int64)
