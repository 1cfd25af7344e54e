"""Semantic partitions: blocks of values that count as one because their difference does not matter."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr, model_validator

from hierdata.documents.document import Scalar
from hierdata.domains.base import Uncovered
from hierdata.domains.bounds import MOST_COUNTED, MOST_ENTRIES, Name, StatedDecimal, StatedWhole
from hierdata.domains.number import Number, canonical, exact, plain
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.ground.errors import PolicyError

StatedValue = StrictBool | StatedWhole | StatedDecimal | Annotated[StrictStr, Field(max_length=10_000)]
"""A value as stated in a policy."""


Block = Annotated[tuple[StatedValue, ...], Field(min_length=1, max_length=MOST_ENTRIES)]
Bins = Annotated[int, Field(strict=True, ge=2, le=MOST_COUNTED)]


class SemanticPartition(BaseModel):
    """A partition of an attribute's values: listed as named ``blocks``, or derived by a rule.

    With ``depth`` all values below one node of the taxonomy at that depth are a block (1: the nodes directly
    below the root); a value above that depth is a block of its own. With ``levels`` each sensitivity level is
    a block. Numbers match by value, even in a format that has only text.

    Continuous values are discretized by n bins of the original collection (TC section 3.1 says that it is
    done, but not how: erratum TC-10). ``equal_width``: bins of equal width from the least number to the
    greatest. The lower end belongs to a bin, the upper end only to the last bin; bins without a value are not
    blocks. ``equal_frequency``: from the least number on, each bin takes numbers until its share of the
    values is nearest to an equal share of the values left for it and the later bins, but leaves each of those
    at least one number. Equal numbers are never split, and with fewer than n different numbers each is a bin.
    A release shows only values of the original. If another value turns up, it has no bin, and no model that
    counts by bins passes.

    >>> partition = SemanticPartition(blocks={"lungs": ["flu", "asthma"], "skin": ["rash"]})
    >>> partition.block_of(SensitiveDomain("$.a", ("asthma", "rash", "flu")))
    (0, 1, 0)
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    blocks: dict[Name, Block] | None = Field(
        default=None, min_length=1, max_length=MOST_ENTRIES, description="the values of each block"
    )
    depth: Annotated[int, Field(strict=True, ge=1, le=1000)] | None = Field(
        default=None, description="one block for each node of the taxonomy at this depth"
    )

    equal_width: Bins | None = Field(
        default=None, description="number of bins of equal width, from the least to the greatest number"
    )
    equal_frequency: Bins | None = Field(
        default=None, description="number of bins that hold about equally many values"
    )
    levels: Literal[True] | None = Field(default=None, description="one block for each sensitivity level")

    @model_validator(mode="after")
    def _consistent(self) -> SemanticPartition:
        forms = ("blocks", "depth", "equal_width", "equal_frequency", "levels")
        if sum(getattr(self, form) is not None for form in forms) != 1:
            raise ValueError(f"state a partition by exactly one of {', '.join(forms)}")
        return self

    def __hash__(self) -> int:
        """Hash the partition: models are hashable and may hold one."""
        rules = (self.depth, self.equal_width, self.equal_frequency, bool(self.levels))
        return hash((frozenset((self.blocks or {}).items()), *rules))

    @property
    def of_original(self) -> bool:
        """Whether the blocks depend on how often each value occurs in the original collection."""
        return self.equal_width is not None or self.equal_frequency is not None

    @property
    def is_ordered(self) -> bool:
        """Whether the blocks are in an order of their own: bins and levels."""
        return self.of_original or self.levels is not None

    def block_of(self, domain: SensitiveDomain) -> tuple[int, ...]:
        """Return the block number of each value, by code.

        Listed blocks are numbered in their order, those of a depth as they first occur, bins and levels in
        ascending order. Blocks may list values that the domain does not have. Raises PolicyError if a value
        of the domain is in no block or in more than one, or if the domain lacks what a rule needs: a
        taxonomy, levels, numbers, or the counts of the original.
        """
        if self.blocks is not None:
            return self._assign_listed_blocks(self.blocks, domain)
        if self.of_original:
            return self._assign_bins(domain)
        if self.levels is not None:
            if domain.levels is None:
                raise PolicyError(
                    "a partition by levels needs 'levels' on this sensitive attribute", path=domain.path
                )
            return tuple(level - 1 for level in domain.levels)
        if domain.paths is None:
            raise PolicyError(
                "a partition by depth needs 'taxonomy' on this sensitive attribute", path=domain.path
            )
        numbers: dict[int, int] = {}
        nodes = (path[min(self.depth or 0, len(path) - 1)] for path in domain.paths)
        return tuple(numbers.setdefault(node, len(numbers)) for node in nodes)

    def _assign_listed_blocks(
        self, blocks: dict[str, tuple[StatedValue, ...]], domain: SensitiveDomain
    ) -> tuple[int, ...]:
        listed = [code for stated in blocks.values() for value in stated for code in _codes(value, domain)]
        repeated = sum(count > 1 for count in Counter(listed).values())
        missed = len(domain.values) - len(set(listed))
        if missed or repeated:
            raise PolicyError(
                f"the partition must have each of the {len(domain.values)} values in one block: "
                f"{missed} in none, {repeated} repeated",
                path=domain.path,
            )
        return tuple(block for (block,) in _blocks_holding(blocks, domain))

    def _assign_bins(self, domain: SensitiveDomain) -> tuple[int, ...]:
        counts = _originals(domain)
        ordered = sorted(counts)
        if self.equal_width is not None:
            bins = _bin_by_width(ordered, self.equal_width)
        else:
            bins = _bin_by_frequency([counts[number] for number in ordered], self.equal_frequency or 1)
        bin_of = dict(zip(ordered, bins, strict=True))
        return tuple(bin_of[number] for number in domain.numbers or ())


class SemanticCover(SemanticPartition):
    """A partition for what an attacker wants to learn, whose listed blocks may overlap.

    With ``overlapping`` a value may be in several blocks. What the attacker learns of it is then in which of
    them it is: sX = {D in SP: x in D} in DR equation 6, so values in the same blocks count as one. The paper
    supposes disjoint blocks, for which this is its definition. Each value must be in a block all the same.

    >>> cover = SemanticCover(blocks={"lungs": ["flu", "tb"], "endemic": ["tb", "ebola"]}, overlapping=True)
    >>> cover.block_of(SensitiveDomain("$.a", ("ebola", "flu", "tb")))
    (0, 1, 2)
    """

    overlapping: Literal[True] | None = Field(
        default=None,
        description="values may be in several blocks: X is the set of blocks that hold the value",
    )

    @model_validator(mode="after")
    def _of_blocks(self) -> SemanticCover:
        if self.overlapping and self.blocks is None:
            raise ValueError("overlapping belongs to blocks")
        return self

    def __hash__(self) -> int:
        """Hash the partition: models are hashable and may hold one."""
        return hash((super().__hash__(), self.overlapping))

    def _assign_listed_blocks(
        self, blocks: dict[str, tuple[StatedValue, ...]], domain: SensitiveDomain
    ) -> tuple[int, ...]:
        if not self.overlapping:
            return super()._assign_listed_blocks(blocks, domain)
        held = _blocks_holding(blocks, domain)
        if missed := sum(not holding for holding in held):
            raise PolicyError(
                f"the partition must have each of the {len(domain.values)} values in a block: "
                f"{missed} in none",
                path=domain.path,
            )
        numbers = {holding: number for number, holding in enumerate(dict.fromkeys(held))}
        return tuple(numbers[holding] for holding in held)


def _blocks_holding(
    blocks: dict[str, tuple[StatedValue, ...]], domain: SensitiveDomain
) -> tuple[tuple[int, ...], ...]:
    """Return the numbers of the blocks that hold each value, by code."""
    holding: list[dict[int, None]] = [{} for _ in domain.values]
    for number, stated in enumerate(blocks.values()):
        for code in (code for value in stated for code in _codes(value, domain)):
            holding[code][number] = None
    return tuple(map(tuple, holding))


def _originals(domain: SensitiveDomain) -> dict[Number, int]:
    """Return how often each number occurs in the original. Raises PolicyError if that gives no bins."""
    if domain.numbers is None:
        raise PolicyError(
            "bins need numbers: state `number: true` for this sensitive attribute, and give it only numbers",
            path=domain.path,
        )
    if domain.reference is None:
        raise PolicyError(
            "bins depend on the original collection: provide its frozen facts, or the original",
            path=domain.path,
        )
    if strangers := sum(not count for count in domain.reference):
        raise PolicyError(
            f"bins depend on the original collection, which lacks {strangers} of the values",
            path=domain.path,
        )
    return dict(zip(domain.numbers, domain.reference, strict=True))


def _bin_by_width(ordered: list[Number], bins: int) -> list[int]:
    """Return the bin of each number; empty bins are not counted.

    >>> _bin_by_width([0, 1, 2, 9, 10], 5)
    [0, 0, 1, 2, 2]
    """
    if not ordered:
        return []
    low, width = ordered[0], ordered[-1] - ordered[0]
    bin_numbers = [min(bins - 1, (number - low) * bins // width) if width else 0 for number in ordered]
    dense = {bin: number for number, bin in enumerate(sorted(set(bin_numbers)))}
    return [dense[bin] for bin in bin_numbers]


def _bin_by_frequency(counts: list[int], bins: int) -> list[int]:
    """Return the bin of each number in ascending order, from the numbers' counts.

    >>> _bin_by_frequency([1, 1, 1, 1, 1, 1], 3), _bin_by_frequency([10, 1, 1], 3)
    ([0, 0, 1, 1, 2, 2], [0, 1, 2])
    """
    bin_of: list[int] = []
    bin, held, remaining, to_fill = 0, 0, sum(counts), min(bins, len(counts))
    for position, count in enumerate(counts):
        others = to_fill - bin - 1  # the bins after this one
        # Take the number if that brings the bin nearer to remaining / (others + 1), and one is left for each
        # of the others.
        nearer = (others + 1) * (2 * held + count) < 2 * remaining
        if held and others and (not nearer or len(counts) - position <= others):
            bin, held, remaining = bin + 1, 0, remaining - held
        held += count
        bin_of.append(bin)
    return bin_of


def _codes(stated: StatedValue, domain: SensitiveDomain) -> set[int]:
    """Return the codes of a stated value, and of the text or number that it spells: XML has only text."""
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
