"""KACA: classes merged by the weighted hierarchical distance until each has k rows (TC section 3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from hierdata.engines.base import Engine, Mended, StepInput

if TYPE_CHECKING:
    from hierdata.forest.partition import Partition


class KACA(Engine):
    """While a class lacks something it takes a stub of the nearest class, or merges with it.

    After Li, Wong, Fu and Pei (DaWaK 2006; TKDE 20(9), 2008); we could read neither, so the formulas are
    those of the literature, and what they leave open is our choice.

    Generalizing a value from depth p to depth q of a hierarchy, 0 at the root and h at the leaves, costs
    WHD(p, q) = sum over d = q+1..p of w(d), divided by the sum over d = 1..h. The step between the depths
    d - 1 and d has the weight w(d) = 1 / d^beta: 1 for ``beta`` 0, larger near the top for larger ones. h is
    that of the deepest leaf at or below the node, so that on ragged trees too any leaf costs 1 on its way to
    the root. A missing value is a leaf right below the root.

    A class is published by the least node above all its rows at each quasi-identifier. The distance of two
    classes is what both lose on the way to their closest common generalization: WHD summed over
    quasi-identifiers, times the rows of each class.

    The steps: (i) rows with equal quasi-identifiers form a class, or the classes of the step before are taken
    as they are. (ii) Of the classes that fail a constraint the smallest is taken, of equal ones the one with
    the first row. Its partner is the nearest class; of equally near ones the smaller, then the one with the
    first row. With k for the least size that the models allow: if the class C has fewer than k rows and both
    have at least 2k, the k - |C| rows of the partner that are nearest to C, each by itself, move to it as a
    stub; the trunk that stays is published by the least nodes above its own rows. Under other models than
    k-anonymity only if each of the two still satisfies every constraint that it satisfied before. Else both
    merge. (iii) When no class is left that fails and has a partner, those that fail are dissolved, and all
    rows without a class join the nearest class that accepts them (``rows.leftovers``) or are suppressed.

    Three kinds of classes are no partners: those with a row of the same record; those with which a group of
    values would have more rows than a model ever allows (``ShareCaps.most``); and those that satisfy all
    constraints and would not any more, which under k-anonymity alone there are none. A class asks the 256
    nearest; if none will do it waits for another to take it in. Integers decide which class is
    nearest, exactly; only where the common denominator times the rows passes 2^62, with deep ragged trees
    and beta above 0, is each WHD rounded once.

    After ``msb`` the classes are groups of l rows that differ in their sensitive values, drawn without regard
    to quasi-identifiers, and merging keeps their l-diversity. That costs much loss against classes by
    quasi-identifiers alone, as in TC, whose sensitive tables have groups and ids of their own: the price of
    one group id for all, by whose combination no row can be singled out.

    O(c^2 q) for c classes at the start and q quasi-identifiers, in compiled code.
    """

    goes_on: ClassVar[bool] = True
    mends: ClassVar[frozenset[Mended]] = frozenset({"size"})

    kind: Literal["kaca"] = "kaca"
    beta: Annotated[int, Field(strict=True, ge=0, le=8)] = Field(
        default=0, description="how much more a step near the top of a hierarchy costs"
    )

    def find_classes(self, given: StepInput) -> Partition:
        """Partition the rows of the scope, from single rows or from the classes of an earlier step."""
        from hierdata.engines.kaca.run import kaca

        return kaca(given, self.beta)
