"""What a policy states about the form in which a sensitive field is published: ``publish: {round: 0.5}``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from hierdata.domains.base import Hierarchy
from hierdata.domains.interval import Interval
from hierdata.domains.number import Exact, decimals
from hierdata.domains.scales import LevelScale
from hierdata.domains.sensitive_forms import BinForm, DepthForm, LevelForm, RoundForm, SensitiveForm, prune


class Publish(BaseModel):
    """The form in which a sensitive field is published: in exactly one of four ways.

    - ``interval: 0.5``: the bin of the number, as a quasi-identifier's first step would be spelled;
    - ``round: 0.5``: the nearest multiple, which stays a number; halves go up;
    - ``levels``: the sensitivity level, ``level 3``;
    - ``depth: 2``: the ancestor of the value in its taxonomy, so many steps below the root.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    interval: Exact | None = Field(default=None, description="the width of the bins that numbers fall into")
    decimals: bool = Field(
        default=False, description="numbers may have decimal places although the interval is whole: [0, 5)"
    )
    round: Exact | None = Field(default=None, description="numbers become the nearest multiple of this one")
    levels: Literal[True] | None = Field(default=None, description="values become their sensitivity level")
    depth: Annotated[int, Field(strict=True, ge=1, le=1000)] | None = Field(
        default=None, description="values become their ancestor so many steps below the taxonomy's root"
    )

    @model_validator(mode="before")
    @classmethod
    def _name_levels(cls, spec: Any) -> Any:
        return {"levels": True} if spec == "levels" else spec

    @model_validator(mode="after")
    def _one_way(self) -> Publish:
        ways = {"interval": self.interval, "round": self.round, "levels": self.levels, "depth": self.depth}
        stated = [name for name, value in ways.items() if value is not None]
        if len(stated) != 1:
            raise ValueError(f"state exactly one of {', '.join(ways)}")
        step = self.interval or self.round
        if {"interval", "round"} & {*stated} and (not step or step <= 0 or decimals(step) is None):
            raise ValueError(f"{stated[0]} must be a positive decimal number, such as 0.5")
        if self.decimals and self.interval is None:
            raise ValueError("decimals belongs to interval")
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Allow the word ``levels`` alone."""
        return {"anyOf": [{"const": "levels"}, handler(core)]}

    def compile(self, scale: LevelScale | None, taxonomy: Hierarchy | None) -> SensitiveForm:
        """Build the form; ``scale`` are levels that the policy states, ``taxonomy`` is that of the values.

        The rule of the field has checked that what the form needs is there.
        """
        if self.interval is not None:
            return BinForm(scale, Interval(steps=(self.interval,), decimals=self.decimals))
        if self.round is not None:
            return RoundForm(scale, self.round)
        if self.levels:
            assert scale is not None, "a rule that publishes levels states them"
            return LevelForm(scale)
        assert taxonomy is not None, "a rule that publishes a depth has a taxonomy"
        return DepthForm(scale, taxonomy, prune(taxonomy, self.depth or 1))
