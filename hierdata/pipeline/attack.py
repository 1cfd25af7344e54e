"""All steps to attack a release: read it and its original, draw victims, look for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property, reduce
from operator import add
from typing import TYPE_CHECKING, Any

from hierdata.ground.errors import PolicyError
from hierdata.ground.progress import Progress, silent
from hierdata.pipeline.look_over import PolicySource
from hierdata.pipeline.read_release import read_release
from hierdata.pipeline.resources import Resources
from hierdata.policy.checks.sensitive import class_size

if TYPE_CHECKING:
    from hierdata.forest.forest import Forest
    from hierdata.measurement.adversary.attack import Adversary, Attacked, Findings
    from hierdata.measurement.adversary.forms import Forms
    from hierdata.measurement.adversary.knowledge import Knowledge

MOST_FACTS = 6
"""Of each victim: the ways to lay facts into a record are tried for every set of them."""
MOST_VICTIMS = 1_000_000
_TOGETHER = 1_000
"""Victims of one task; every process prepares the publication for itself."""
LARGEST_DRAW = 2**31 - 1


@dataclass(frozen=True)
class Attack:
    """What an adversary found in a release, and in the original with only its identifiers dropped.

    ``victims`` of ``records`` were drawn, with ``facts`` facts each; ``least`` is the smallest class that the
    policy promises. ``persons`` is how many persons the records are of, None if each counts as one. With
    ``by_facts`` values of the root are among the facts. Nothing in it is a value of the data.
    """

    records: int
    victims: int
    facts: int
    counts: bool
    negative: bool
    least: int
    release: Attacked
    identifiers_dropped: Attacked
    persons: int | None = None
    by_facts: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def attack(
    published: object,
    policy: PolicySource,
    *,
    original: object,
    facts: int,
    victims: int = 1000,
    counts: bool = False,
    negative: bool = False,
    draw: int = 1,
    person: str | None = None,
    key: bytes | None = None,
    resources: Resources | None = None,
    progress: Progress | None = None,
) -> Attack:
    """Run an adversary against a release, with victims and what is known of them drawn from the original.

    Of each victim the adversary knows all quasi-identifiers of the root, and 0 to ``facts`` (1 to 6) facts:
    single quasi-identifier values at vertices below it, and how these vertices hang together. Under bounded
    knowledge with ``root: counted`` values of the root are among the facts instead. With ``counts``
    also how many vertices of each type the person has, with ``negative`` as many values that the person does
    not have. ``person`` is the path of the value that says whose a record of the original is, for a policy
    without ``individual``: then persons are counted, and one record of each victim is known, for which the
    folder of the release must have its witness. ``victims`` is their number, ``draw`` chooses them. With many
    victims several processes search, as ``resources`` say; the findings are the same. The other parameters
    are those of ``measure_release``, and so are the errors; PolicyError for numbers out of range.

    Candidates are the published records that agree with the most of what is known. The code shares nothing
    with engines and judge. The same attack on the original, identifiers dropped, is the comparison.
    """
    from hierdata.measurement.adversary.attack import draw_victims
    from hierdata.measurement.adversary.forms import Forms
    from hierdata.measurement.adversary.knowledge import Curiosity

    _require("facts", facts, 1, MOST_FACTS)
    _require("victims", victims, 1, MOST_VICTIMS)
    _require("draw", draw, 0, LARGEST_DRAW)
    read = read_release(published, policy, original=original, key=key, person=person, progress=progress)
    whose, shown = (None, None) if read.persons is None else read.persons
    model = read.prepared.policy.knowledge
    by_facts = model is not None and model.root == "counted"
    known = draw_victims(read.original, victims, Curiosity(facts, counts, negative, by_facts), draw, whose)
    least = class_size(read.prepared.policy)
    parts = [known[first : first + _TOGETHER] for first in range(0, len(known), _TOGETHER)]
    with (resources or Resources()).open_context(len(parts), None, progress or silent) as spread:
        held = spread.executor.hold(parts)

        def run(stage: str, forms: Forms) -> Attacked:
            inner, watch = spread.progress_callbacks(stage, len(known), len(parts))
            search = AttackPart(read.original, forms, facts, lambda done: inner(stage, done, len(known)))
            return reduce(add, held.map(search, watch).collect()).summarize(least)

        release = run(
            "attacking the release",
            Forms.of(read.rebuilt.forest, read.rebuilt.publication, read.rebuilt.form, shown),
        )
        dropped = run("attacking the original", Forms.of_original(read.original, whose))
    persons = None if whose is None else len(set(whose.tolist()))
    asked = len(known), facts, counts, negative, least
    return Attack(read.original.record_count, *asked, release, dropped, persons, by_facts)


@dataclass(frozen=True)
class AttackPart:
    """Attack some victims in a publication; ``progress`` receives the number of victims done."""

    original: Forest
    forms: Forms
    facts: int
    progress: Callable[[int], object]

    @cached_property
    def adversary(self) -> Adversary:
        """The adversary with its index, which every process makes once."""
        from hierdata.measurement.adversary.attack import Adversary

        return Adversary(self.original, self.forms)

    def __call__(self, victims: list[Knowledge]) -> Findings:
        """Return what was found."""
        return self.adversary.attack(victims, self.facts, self.progress)


def _require(name: str, number: int, least: int, most: int) -> None:
    if not least <= number <= most:
        raise PolicyError(f"{name} must be a number from {least} to {most:,}")
