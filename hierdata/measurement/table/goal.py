"""The goal of an attacker: a semantic partition of a sensitive attribute, in a file of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from hierdata.documents.document import Scalar
from hierdata.documents.limits import require_confined
from hierdata.domains.base import Uncovered
from hierdata.domains.levels import Levels
from hierdata.domains.semantic_partition import SemanticCover, SemanticPartition
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.domains.taxonomy import Taxonomy
from hierdata.ground.errors import PolicyError
from hierdata.policy.load import root_of
from hierdata.policy.load.yaml import read
from hierdata.policy.problems import mistakes


class Goal(SemanticCover):
    """A semantic partition (DR definition 5): ``blocks``, a ``depth`` of a ``taxonomy``, bins, or ``levels``.

    With ``levels``, stated as in a policy, each sensitivity level is a block. Bins are made of the numbers
    in the table.

    >>> Goal(levels={"by": {"A": 1, "B": 2, "C": 2}}).blocks_of("grade", {"A": 4, "B": 1, "C": 7}, Path())
    {'A': 1, 'B': 2, 'C': 2}
    """

    taxonomy: Taxonomy | None = Field(default=None, description="the tree that depth cuts")
    levels: Levels | None = Field(  # type: ignore[assignment]  # a policy states them at the attribute
        default=None, description="the sensitivity level of each value"
    )

    @model_validator(mode="after")
    def _with_its_tree(self) -> Goal:
        if (self.depth is None) != (self.taxonomy is None):
            raise ValueError("depth and taxonomy must be stated together")
        return self

    def blocks_of(self, path: str, counts: Mapping[Scalar, int], folder: Path) -> dict[Scalar, int]:
        """Return the number of the block of each value; file names are relative to ``folder``.

        Raises PolicyError where a value is in no block, or in more than one unless blocks may overlap.
        """
        scale = self.levels.compile(counts) if self.levels else None
        taxonomy = self.taxonomy.compile(counts, folder) if self.taxonomy else None
        domain = SensitiveDomain.build(path, counts, scale, number=self.of_original, taxonomy=taxonomy)
        codes: dict[Scalar, int] = {}
        missed = []
        for value in counts:
            try:
                codes[value] = domain.code_of(value)
            except Uncovered:
                missed.append(str(value))
        if missed:
            message = (
                f"bins need numbers, but {len(missed)} of the {len(counts)} values are not numbers: "
                "state blocks"
                if self.of_original
                else f"the partition must have each of the {len(counts)} values in one block: "
                f"{len(missed)} in none"
            )
            raise PolicyError(message, path=path, revealed=missed)
        blocks = domain.levels if self.levels else self.block_of(domain)
        assert blocks is not None
        return {value: blocks[code] for value, code in codes.items()}


def load_goal(
    partition: str | Path | Mapping[str, Any] | SemanticPartition, root: str | Path | None = None
) -> tuple[Goal, Path]:
    """Load the partition of a YAML or JSON file or of plain data, and the folder its files are relative to.

    Files that it names must be below ``root``, by default the folder above the file's own. Raises PolicyError
    with every problem, one per line, TargetError for a file that cannot be opened.
    """
    if isinstance(partition, str | Path):
        file = Path(partition)
        data, folder = read(file), file.parent
        root = root_of(file) if root is None else root
    elif isinstance(partition, SemanticPartition):
        data, folder = partition.model_dump(exclude_none=True), Path()
    else:
        data, folder = partition, Path()
    try:
        goal = Goal.model_validate(data)
    except ValidationError as error:
        raise PolicyError("\n".join(map(str, mistakes(error, Goal, data)))) from None
    named = None if goal.taxonomy is None else goal.taxonomy.named_file
    if root is not None and named is not None:
        require_confined(named, folder, Path(root))
    return goal, folder
