"""KACA: classes merged by the weighted hierarchical distance until each has k rows (TC section 3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from hierdata.engines.base import Engine, Mended, StepInput

if TYPE_CHECKING:
    from hierdata.forest.partition import Partition


class KACA(Engine):
    """Merge each class that violates a constraint with the nearest class, or move rows of that class to it.

    After Li, Wong, Fu and Pei (DaWaK 2006; TKDE 20(9), 2008). Neither paper was available to us, so the
    formulas are taken from later literature, and what they leave open is our choice.

    Generalizing a value from depth p to depth q of a hierarchy, 0 at the root and h at the leaves, costs
    WHD(p, q) = sum over d = q+1..p of w(d), divided by the sum over d = 1..h. The step between the depths
    d - 1 and d has the weight w(d) = 1 / d^beta: 1 for ``beta`` 0; with a larger ``beta``, steps near the
    root weigh more. h is the depth of the deepest leaf at or below the node, so that on ragged trees, too, a
    leaf costs 1 on its way to the root. A missing value is a leaf directly below the root.

    A class is published, at each quasi-identifier, by the lowest node above all its rows. The distance of two
    classes is the cost of generalizing both to their lowest common generalization: WHD summed over the
    quasi-identifiers, times the rows of each class.

    The steps: (i) Rows with equal quasi-identifiers form a class, or the classes of the previous step are
    used. (ii) The smallest class that violates a constraint is processed next, of equal ones the one with the
    first row. Its partner is the nearest class; of equally near ones the smaller, then the one with the first
    row. Let k be the least size that the models allow. If the class C has fewer than k rows, and both classes
    together have at least 2k, then the k - |C| rows of the partner that are nearest to C, each by itself,
    move to C as a stub; the remaining trunk is published by the lowest nodes above its own rows. This is done
    only if each of the two still satisfies every constraint that it satisfied before, which is always so
    under k-anonymity. Otherwise both classes merge. (iii) When no violating class has a partner, the
    violating classes are dissolved, and all rows without a class join the nearest class that accepts them
    (``rows.leftovers``) or are suppressed.

    Three kinds of classes cannot be partners: those with a row of the same record; those with which a group
    of values would have more rows than a model ever allows (``FrequencyCaps.most``); and those that satisfy
    all constraints and would violate one after the merge (none under k-anonymity alone). A class tries the
    256 nearest classes; if none is possible, it waits until another class merges with it. Distances are exact
    integers. Only if the common denominator times the rows exceeds 2^62, with deep ragged trees and beta
    above 0, is each WHD rounded once.

    After ``msb`` the classes are groups of l rows with different sensitive values, drawn without regard to
    quasi-identifiers, and merging keeps their l-diversity. This loses much more than classes by
    quasi-identifiers alone, as in TC, where each sensitive table has its own groups and ids. In return there
    is one group id for all tables, and no row can be singled out by combining ids.

    O(c^2 q) for c classes at the start and q quasi-identifiers, in compiled code.
    """

    goes_on: ClassVar[bool] = True
    mends: ClassVar[frozenset[Mended]] = frozenset({"size"})

    kind: Literal["kaca"] = "kaca"
    beta: Annotated[int, Field(strict=True, ge=0, le=8)] = Field(
        default=0, description="how much more a step near the top of a hierarchy costs"
    )

    def find_classes(self, step: StepInput) -> Partition:
        """Partition the rows of the scope, starting from equal rows or the classes of an earlier step."""
        from hierdata.engines.kaca.run import kaca

        return kaca(step, self.beta)
