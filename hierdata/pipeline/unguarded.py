"""Why the suppressed cannot satisfy the models as a whole, for the message of exit code 3."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from hierdata.engines.guarding.contents import GroupContents
from hierdata.policy.plan.plan import Prepared
from hierdata.privacy.base import ClassView, Constraint
from hierdata.privacy.presence import GroupPresence, PresenceConstraint
from hierdata.privacy.wording import describe_achieved, number
from hierdata.records.schema import Role


def explain_unguarded(prepared: Prepared, whole: GroupContents) -> str:
    """Say which models all records together break, and how to accept that; ``whole`` is what they hold."""
    found = dict.fromkeys(_excesses(prepared, whole))
    return (
        "records must be suppressed, and no choice that was tried satisfies the models as a whole"
        f"{': ' if found else ''}{'; '.join(found)}; ask for less, or write `suppressed: as_published` to "
        "promise something about published records only"
    )


def _excesses(prepared: Prepared, whole: GroupContents) -> Iterator[str]:
    """Yield for each constraint that all records together break: attribute, share and limit."""
    for kind, held, attributes in zip(
        prepared.schema.types, whole.held, prepared.constraints.on_values, strict=True
    ):
        for attribute, values, bound in zip(kind.of_role(Role.SENSITIVE), held, attributes, strict=True):
            view = ClassView(whole.records, values.counts, sets=values.sets)
            for constraint in bound:
                if not constraint.holds(view):
                    yield f"{attribute.path}: {_describe_excess(constraint, view)}"


def _describe_excess(constraint: Constraint, view: ClassView) -> str:
    """Name the share of a group that exceeds its limit the most, and the limit, where the model has these."""
    whose, (sizes, total) = "values are", _sizes(constraint, view)
    if isinstance(constraint, GroupPresence):
        whose, (sizes, total) = "records show one", constraint.count_records(view)
    shares = {} if constraint.caps is None else dict(enumerate(constraint.caps.share))
    over = {own: Fraction(size, total) - shares[own] for own, size in sizes.items() if own in shares}
    own = max(over, key=over.__getitem__, default=-1)
    if own < 0 or over[own] <= 0:
        reached = describe_achieved(constraint.achieved_parameters(view))
        return f"all records together reach {reached}" if reached else "all records together break a model"
    share, limit = number(Fraction(sizes[own], total)), number(shares[own])
    return f"{share} of all {whose} of one value or group of values, and {limit} is allowed"


def _sizes(constraint: Constraint, view: ClassView) -> tuple[dict[int, int], int]:
    """Return the number of values of each group of the caps, and of all; empty without such groups."""
    caps = constraint.caps
    if caps is None or caps.reach is not None or isinstance(constraint, PresenceConstraint):
        return {}, 1
    sizes: dict[int, int] = {}
    for code, count in view.counts.items():
        sizes[caps.group_of[code]] = sizes.get(caps.group_of[code], 0) + count
    return sizes, view.present
