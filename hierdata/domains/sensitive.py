"""The domain of one sensitive attribute: its values, and the sensitivity level of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from hierdata.document import Scalar
from hierdata.domains.base import Uncovered, memoized
from hierdata.domains.number import Number, canonical, identity
from hierdata.domains.scales import LevelScale


@dataclass(frozen=True)
class SensitiveDomain:
    """The distinct values of a sensitive attribute: ``values[code]``, codes 0..n-1, missing left out.

    ``levels[code]`` is the sensitivity level, 1 (least) .. ``level_count`` (most sensitive); None when the
    policy gives the attribute no levels. Numbers that are equal are one value, however they are spelled;
    with ``number`` text is read as a number too.
    """

    path: str
    values: tuple[Scalar, ...]
    levels: tuple[int, ...] | None = None
    level_count: int = 5
    number: bool = False

    @classmethod
    def build(
        cls, path: str, values: Iterable[Scalar], scale: LevelScale | None = None, number: bool = False
    ) -> SensitiveDomain:
        """The domain of these values; what has no level, or is no number where one is due, is left out.

        Codes do not depend on the order of ``values``: numbers ascending, then text.
        """
        number = number or (scale is not None and scale.reads_numbers)
        levels: dict[str | Number, int] = {}
        for value in values:
            if value is None:
                continue
            try:
                key = identity(value, number)
                if key not in levels and (scale is None or scale.covers(value)):
                    levels[key] = scale.level(value) if scale else 0
            except Uncovered:
                continue
        keys = sorted(levels, key=lambda key: (isinstance(key, str), key))
        return cls(
            path,
            tuple(key if isinstance(key, str) else canonical(key) for key in keys),
            tuple(levels[key] for key in keys) if scale else None,
            scale.count if scale else 5,
            number,
        )

    @cached_property
    def code_of(self) -> Callable[[Scalar], int]:
        """Turns a value into its code, fast; raises Uncovered for a value that is none of the domain's."""
        codes = {identity(value, self.number): code for code, value in enumerate(self.values)}

        def find(value: Scalar) -> int:
            code = None if value is None else codes.get(identity(value, self.number))
            if code is None:
                raise Uncovered
            return code

        return memoized(find)


build = SensitiveDomain.build
