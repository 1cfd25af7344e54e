"""What a release says of the shape of its records: sentences for all readers, figures for the steward."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hierdata.ground.escaping import quote
from hierdata.policy.spec.shape import NoIndividual
from hierdata.records.shape import ShapeStep
from hierdata.records.shape.base import ShapeTally
from hierdata.release.report.parts import Plain, Shown, Whole

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy

_UNITED = (
    "Records of the input with the same value at {path} were united, and count as one. A person with several "
    "such values is several individuals here."
)
_NOT_UNITED = (
    "Each record counts as one person, although what names or keys a person may repeat: someone with several "
    "records may be all of a group. Reason given: {reason}"
)
_SHAPED = (
    "Lists were shaped before anything else was done, as codebook.json says, and the promise is about the "
    "shaped records. Items that were left out there are in no figure, and what it tells that they are absent "
    "is not limited."
)


class ShapeFigure(Plain):
    """What a step of the shape met: the lists at ``path``, their items, and how many of these it left."""

    step: str
    path: Shown
    lists: Whole
    items: Whole
    used: Whole


class ShapeFacts(NamedTuple):
    """What a run knows of its shape: what the steps met, and the key of what was drawn, None without any."""

    figures: tuple[ShapeFigure, ...] = ()
    drawn_by: str | None = None


def gather_facts(policy: Policy, met: ShapeTally, secret: bytes) -> ShapeFacts:
    """Return what the steward's files say of the shape."""
    steps = [spec.step for spec in policy.shape]
    figures = tuple(
        ShapeFigure(step=step.kind, path=step.source, lists=tally.lists, items=tally.before, used=tally.after)
        for step, tally in zip(steps, met.steps, strict=True)
    )
    return ShapeFacts(figures, secret.hex() if draws_at_random(policy) else None)


def draws_at_random(policy: Policy) -> bool:
    """Return whether a key decides what is published of the input: its items, or its individuals."""
    return policy.control is not None or any(spec.step.needs_secret for spec in policy.shape)


def limit_individuals(policy: Policy) -> tuple[str, ...]:
    """Return what is not promised where records count as persons by the policy's word."""
    if not isinstance(policy.individual, NoIndividual):
        return ()
    return (_NOT_UNITED.format(reason=quote(policy.individual.none)),)


def describe_steps(policy: Policy) -> tuple[str, ...]:
    """Describe for the codebook how records were shaped, one sentence a step."""
    individual = policy.individual_rule
    united: tuple[str, ...] = ()
    if individual is not None:
        united = (_UNITED.format(path=" and ".join(map(quote, individual.fields))),)
        if individual.nest is not None:
            united += (_describe_nest(individual.nest, individual.own),)
    return united + tuple(spec.step.describe() for spec in policy.shape)


def _describe_nest(nest: str, kept_fields: Sequence[str]) -> str:
    """Describe where the content of united records was put."""
    kept = f" but {', '.join(map(quote, kept_fields))}" if kept_fields else ""
    return f"Each of them was made an item of {quote(nest)}, with all that it had{kept}."


def limit_shape(steps: Iterable[ShapeStep]) -> Iterator[str]:
    """Yield what is not promised where lists were shaped."""
    listed = list(steps)
    if any(step.changes_lists for step in listed):
        yield _SHAPED
    yield from (step.limitation for step in listed if step.limitation is not None)
