"""The forms in which models speak to engines: least class sizes and caps, checked by their definitions."""

from __future__ import annotations

from collections.abc import Mapping

from hierdata.privacy.base import Constraint, FrequencyCaps
from hierdata.testing.contract import require, send_to_worker


def check_constraint(name: str, constraint: Constraint) -> None:
    """Check that a constraint, called ``name`` in messages, has a least class size and survives pickling."""
    require(send_to_worker(constraint) is not None, f"the constraint of {name} must survive pickling")
    least = constraint.min_class_size
    require(
        isinstance(least, int) and least >= 1,
        f"min_class_size of {name} must be a whole number from 1 on, not {least}",
    )


def check_caps(name: str, caps: FrequencyCaps, counts: Mapping[int, int], holds: bool) -> None:
    """Check that caps are sufficient and necessary, as they state, where a constraint ``holds`` or not."""
    within = is_within(caps, counts)
    require(
        holds or not within or not caps.sufficient,
        f"caps of {name} allow {dict(counts)}, where it does not hold; they are not sufficient",
    )
    require(
        within or not holds or not caps.necessary,
        f"caps of {name} forbid {dict(counts)}, where it holds; they are not necessary",
    )


def is_within(caps: FrequencyCaps, counts: Mapping[int, int]) -> bool:
    """Return whether counts satisfy caps, computed from the definition in FrequencyCaps."""
    groups = [0] * len(caps.share)
    for code, count in counts.items():
        groups[caps.group_of[code]] += count
    present = sum(groups)
    for group, count in enumerate(groups):
        low, high = caps.reach[group] if caps.reach else (group, group)
        together = sum(groups[low : high + 1])
        if count and (together > caps.share[group] * present or (caps.most and together > caps.most)):
            return False
    return True
