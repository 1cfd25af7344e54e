"""Values in semantic domains: what counts as one where a reader would not care for the difference."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, model_validator

from hierdata.document import Scalar
from hierdata.domains.base import Uncovered
from hierdata.domains.number import canonical, exact, plain
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.errors import PolicyError

StatedValue = StrictBool | StrictInt | Decimal | StrictStr
"""A value as a policy states it."""


class SemanticPartition(BaseModel):
    """A partition of an attribute's values: written out as named ``blocks``, or cut from its taxonomy.

    With ``depth`` all values below one node at that depth are a block (1: the nodes right below the root); a
    value that lies higher is a block of its own. Numbers match by value, also where a format knows text only.

    >>> partition = SemanticPartition(blocks={"lungs": ["flu", "asthma"], "skin": ["rash"]})
    >>> partition.block_of(SensitiveDomain("$.a", ("asthma", "rash", "flu")))
    (0, 1, 0)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    blocks: dict[str, Annotated[tuple[StatedValue, ...], Field(min_length=1)]] | None = Field(
        default=None, min_length=1, description="the values of each block"
    )
    depth: Annotated[int, Field(strict=True, ge=1)] | None = Field(
        default=None, description="one block for each node of the taxonomy at this depth"
    )

    @model_validator(mode="after")
    def _one_form(self) -> SemanticPartition:
        if (self.blocks is None) == (self.depth is None):
            raise ValueError("a partition is given by blocks or by depth")
        return self

    def __hash__(self) -> int:
        """Models are hashable, and hold one."""
        return hash((frozenset((self.blocks or {}).items()), self.depth))

    def block_of(self, domain: SensitiveDomain) -> tuple[int, ...]:
        """The number of the block that each value is in, by code.

        Blocks that are written out are numbered in their order, those of a depth as they first occur. Values
        that the domain does not have may be stated. Raises PolicyError where a value of the domain is in no
        block or in more than one, and for a depth without a taxonomy.
        """
        if self.blocks is not None:
            return self._written_out(self.blocks, domain)
        if domain.paths is None:
            raise PolicyError(
                "a partition by depth needs 'taxonomy' on this sensitive attribute", path=domain.path
            )
        numbers: dict[int, int] = {}
        nodes = (path[min(self.depth or 0, len(path) - 1)] for path in domain.paths)
        return tuple(numbers.setdefault(node, len(numbers)) for node in nodes)

    def _written_out(
        self, blocks: dict[str, tuple[StatedValue, ...]], domain: SensitiveDomain
    ) -> tuple[int, ...]:
        found: dict[int, int] = {}
        repeated: set[int] = set()
        for number, stated in enumerate(blocks.values()):
            for code in (code for value in stated for code in _codes(value, domain)):
                if code in found:
                    repeated.add(code)
                found[code] = number
        missed = len(domain.values) - len(found)
        if missed or repeated:
            raise PolicyError(
                f"the partition must have each of the {len(domain.values)} values in one block: "
                f"{missed} in none, {len(repeated)} repeated",
                path=domain.path,
            )
        return tuple(found[code] for code in range(len(domain.values)))


def _codes(stated: StatedValue, domain: SensitiveDomain) -> set[int]:
    """The codes of a stated value, and of the text or the number that it spells: XML knows text only."""
    spellings: list[Scalar] = [stated]
    if not isinstance(stated, bool):
        with suppress(Uncovered):
            number = exact(stated)
            spellings.append(canonical(number) if isinstance(stated, str) else plain(number))
    codes = set()
    for spelling in spellings:
        with suppress(Uncovered):
            codes.add(domain.code_of(spelling))
    return codes
