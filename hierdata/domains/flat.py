"""Values without structure: ``flat: true``. A value is published unchanged, or not at all."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, ClassVar

from pydantic import GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from hierdata.documents.document import Scalar
from hierdata.domains.base import (
    ROOT_LABEL,
    Hierarchy,
    LabelLoss,
    Labels,
    Observed,
    QuasiDomain,
    Uncovered,
    finder,
    group_observed,
    loss_of,
)
from hierdata.domains.number import Number, canonical, exact, identity
from hierdata.domains.published import leaf_losses


class Flat(QuasiDomain):
    """The observed values directly below the root. The text ``*`` is not covered: it would read as the root.

    Equal numbers are one value. Other values of different types are different values, such as true and
    ``"true"``, so that how a value is published does not depend on other records.

    >>> sexes = Flat().compile({"f": 10, "m": 12}, Path())
    >>> sexes.labels[sexes.join(sexes.node_of("f"), sexes.node_of("m"))]
    '*'
    """

    called: ClassVar[str] = "flat domain"

    @model_validator(mode="before")
    @classmethod
    def _true(cls, spec: Any) -> Any:
        if spec is True:
            return {}
        if spec is False:
            raise ValueError("flat must be true: to generalize the field, state another domain")
        return spec

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Describe the domain as a policy writes it: ``flat: true``."""
        return {"const": True, "description": "values without structure: published as they are, or as *"}

    def compile(self, observed: Observed, folder: Path) -> Hierarchy:
        """Build the hierarchy over the observed values; equal numbers are one value."""
        originals = group_observed(observed, _key)
        keys = sorted(originals)
        nodes = {key: node for node, key in enumerate(keys, 1)}
        missing = len(keys) + 1
        return Hierarchy(
            (ROOT_LABEL, *(_label(originals[key][0]) for key in keys), None),
            ((0, -1), *[(0, node) for node in range(1, missing + 1)]),
            (loss_of(len(keys), len(keys)), *[loss_of(1, len(keys))] * (len(keys) + 1)),
            finder(nodes, _key, missing),
            {"kind": "flat"},
            len(keys),
            typed=True,
        )

    def labels(self, folder: Path) -> Labels:
        """Return all values: there is nothing between a value and the root."""
        return _FlatLabels()

    def published_losses(self, labels: Collection[Scalar], folder: Path, *, sets: bool) -> LabelLoss:
        """See QuasiDomain.published_losses; a set of n loses (n - 1) / (all published values - 1)."""
        return leaf_losses(labels, sets)


class _FlatLabels(Labels):
    def is_finest(self, label: Scalar) -> bool:
        return True

    def is_coarser(self, label: Scalar) -> bool:
        return False

    def extent(self, label: Scalar) -> tuple[Any, Any]:
        key = _key(label)
        return key, key


def _key(value: Scalar) -> tuple[str, Number | str]:
    """Return the key that equal values share: the type, but one for all numbers, and the value."""
    key = identity(value)
    if key == ROOT_LABEL:
        raise Uncovered
    return (type(value).__name__, key) if isinstance(key, str) else ("", key)


def _label(value: Scalar) -> Scalar:
    """Return the one value that is published for all equal values."""
    return value if isinstance(value, str | bool) else canonical(exact(value))
