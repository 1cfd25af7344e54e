"""Vertex types as the judge's rules tell them: what each shows, and which sensitive values it has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hierdata.judge.rules import JudgeRules, Keys


@dataclass(frozen=True)
class VertexTypes:
    """The vertex types of records, the root first, parents before children.

    ``types`` are their paths, ``parents`` the number of the type above (-1 for the root). ``quasi`` are by
    type the quasi-identifiers, as numbers in ``JudgeRules.quasi``; ``sensitive`` the sensitive attributes, as
    numbers in ``JudgeRules.sensitive``.
    """

    types: tuple[Keys, ...]
    parents: tuple[int, ...]
    quasi: tuple[tuple[int, ...], ...]
    sensitive: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, rules: JudgeRules) -> VertexTypes:
        """Return the types that the rules' vertices make."""
        types = ((), *sorted(rules.vertices - {()}, key=lambda keys: (len(keys), keys)))
        number = {keys: at for at, keys in enumerate(types)}

        def innermost(keys: Keys) -> int:
            return next(number[keys[:end]] for end in range(len(keys), -1, -1) if keys[:end] in number)

        def list_by_type(own: Iterable[Keys]) -> tuple[tuple[int, ...], ...]:
            found: list[list[int]] = [[] for _ in types]
            for index, keys in enumerate(own):
                found[innermost(keys)].append(index)
            return tuple(map(tuple, found))

        return cls(
            types,
            (-1, *(innermost(keys[:-1]) for keys in types[1:])),
            list_by_type(rule.keys for rule in rules.quasi),
            list_by_type(rule.keys for rule in rules.sensitive),
        )

    def is_above(self, one: int, other: int) -> bool:
        """Return whether a type is another one, or an ancestor of it."""
        while other > one:
            other = self.parents[other]
        return one == other

    def depth(self, kind: int) -> int:
        """Return how many types are above one."""
        return 0 if kind == 0 else 1 + self.depth(self.parents[kind])
