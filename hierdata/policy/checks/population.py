"""Checks of the population table for k-map and delta-presence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hierdata.ground.errors import PolicyError
from hierdata.policy.problems import Problem

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy


def problems(policy: Policy) -> Iterator[Problem]:
    """Yield where table and models do not match, or a column belongs to no quasi-identifier."""
    asking = [index for index, model in enumerate(policy.models) if model.needs_population]
    if policy.population is None:
        for index in asking:
            kind = policy.models[index].kind
            yield ("models", index), f"{kind} needs a population table: name its file under population"
        return
    if not asking:
        yield ("population",), "no model asks for a population table: leave it out"
    for text in policy.population.columns or ():
        try:
            known = policy.path(text).keys in policy.quasi
        except PolicyError as error:
            yield ("population", "columns"), str(error)
        else:
            if not known:
                yield ("population", "columns"), f"{text} is not a quasi-identifier"
