"""What a policy says about the shape of records: whose a document is, steps of ``shape``, and counts.

One step is a mapping with one key. Bounded knowledge may declare counts: for each vertex type a new field of
the record with the bin of their number, made by a step of the shape.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import Field, ValidationError, model_validator

from hierdata.domains.bounds import MOST_PARTS, PathName, Reason
from hierdata.domains.number import Exact
from hierdata.ground.errors import PolicyError
from hierdata.policy.spec.families import OneMember, with_keys
from hierdata.policy.spec.values import PolicyPart
from hierdata.records.path import Path, Step, depth_of, jsonpath, parse, xpath
from hierdata.records.shape import STEPS, CountItems, ShapeStep


class _StepSpec(OneMember):
    """A step of the shape: its key, and what it needs."""

    members = STEPS

    @property
    def step(self) -> ShapeStep:
        """The step."""
        return cast("ShapeStep", self.member)


if TYPE_CHECKING:
    StepSpec = _StepSpec
else:
    StepSpec = with_keys(_StepSpec, STEPS)


COUNT_RULE: dict[str, Any] = {"role": "quasi", "flat": True, "weight": 0}
"""The rule of such a field. It is always published, so that its weight would tell nothing of a search."""


def name_count(path: Path) -> str:
    """Return the path of the field that has the count of the vertices at a path.

    >>> name_count(parse("$.visits[*].tests[*]")), name_count(parse("/people/person/visit"))
    ('$.visits_tests_count', '/people/person/visit_count')
    """
    space, _, _ = path.keys[-1].rpartition("}")
    words = (re.sub(r"\W", "_", key.rpartition("}")[2]) for key in path.keys)
    name = f"{'_'.join(words)}_count"
    if path.place:
        return xpath(path.place, [f"{space}}}{name}" if space else name])
    return jsonpath([Step(name, None)]) if path.text.startswith("$") else name


def with_counts(data: Any) -> Any:
    """Return a policy's data with what counts add: a step of the shape that counts, and a rule.

    What cannot be read is left as it is: the checks of the policy report it.
    """
    if not isinstance(data, dict) or not isinstance(data.get("fields"), Mapping):
        return data
    models, shape = data.get("models"), data.get("shape", ())
    if not isinstance(models, list | tuple) or not isinstance(shape, list | tuple):
        return data
    steps, fields = list(shape), dict(data["fields"])
    for path, edges in _stated_counts(models):
        try:
            namespaces = data.get("namespaces", {})
            field = name_count(parse(path, namespaces, depth_of(data.get("records"), namespaces)))
            step = CountItems(path=path, to=field, bins=edges, optional=True)
        except (PolicyError, ValidationError, AttributeError, IndexError, TypeError):
            continue
        if field not in fields:
            steps.append({step.kind: step.model_dump(exclude_defaults=True)})
            fields[field] = dict(COUNT_RULE)
    return {**data, "shape": steps, "fields": fields} if len(fields) > len(data["fields"]) else data


def _stated_counts(models: list[Any] | tuple[Any, ...]) -> list[tuple[str, Any]]:
    """Return the paths with edges that bounded knowledge states, whatever form the models have."""
    for model in models:
        counts = model.get("counts") if isinstance(model, Mapping) else getattr(model, "counts", None)
        if isinstance(counts, Mapping):
            return list(counts.items())
    return []


class IndividualRule(PolicyPart):
    """The value that says whose a document is, and which of the rest is the person's own."""

    by: PathName | Annotated[tuple[PathName, ...], Field(min_length=2, max_length=MOST_PARTS)] = Field(
        description="the value that says whose a document is, or the values that do so together"
    )
    nest: PathName | None = Field(
        default=None, description="a new list of the person, with an item for each document"
    )
    own: Annotated[tuple[PathName, ...], Field(max_length=MOST_PARTS)] = Field(
        default=(), description="with nest: fields of the person, which all of its documents agree in"
    )

    @property
    def fields(self) -> tuple[str, ...]:
        """The paths of what says whose a document is."""
        return (self.by,) if isinstance(self.by, str) else self.by

    @model_validator(mode="after")
    def _complete(self) -> IndividualRule:
        if self.own and self.nest is None:
            raise ValueError("`own` has no meaning without `nest`: the name of the list for all else")
        return self


class NoIndividual(PolicyPart):
    """Each record counts as one person, whatever repeats; the release states the reason."""

    none: Reason = Field(description="why each record counts as one person although its name or key repeats")


class ControlRule(PolicyPart):
    """A part of the individuals who are kept out of the release, to measure the risk of those in it."""

    share: Exact = Field(
        description="share of the individuals, above 0 and at most 1/2, drawn by a keyed hash"
    )

    @model_validator(mode="after")
    def _in_range(self) -> ControlRule:
        if not 0 < self.share <= Fraction(1, 2):
            raise ValueError("`share` must be above 0 and at most 1/2")
        return self


def read_individual(stated: str | IndividualRule | NoIndividual | None) -> IndividualRule | None:
    """Return what a policy states as a rule; a path alone names the value that says whose a document is."""
    if isinstance(stated, NoIndividual):
        return None
    return IndividualRule(by=stated) if isinstance(stated, str) else stated
