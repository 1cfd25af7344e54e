"""The forms in which models speak to engines, computed from their definitions."""

from __future__ import annotations

from collections.abc import Mapping

from hierdata.privacy.base import FrequencyCaps


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
