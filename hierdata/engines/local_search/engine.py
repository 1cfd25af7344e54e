"""Local search over classes of trees: exchange and move records as long as that lowers the loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from hierdata.domains.bounds import Compared, Passes
from hierdata.engines.base import WIDE, Constraints, Engine, StepInput

if TYPE_CHECKING:
    from hierdata.engines.compiler.ahead import KernelCall
    from hierdata.forest.forest import Forest
    from hierdata.forest.partition import Partition


class LocalSearch(Engine):
    """Exchange records between near classes of the previous step, one exchange at a time.

    The search lowers the LM cost of all records, which counts suppressed vertices and records in full. Each
    of the ``passes`` visits every record once, in order. A visit considers these exchanges:

    - the record is aligned again as the last of its own class;
    - it swaps with a record of one of the ``near`` classes nearest to it;
    - it moves into one of these classes, if its own class stays large enough.

    A suppressed record may join a class, or replace a record that is suppressed instead; so the number of
    suppressed records never rises. The nearest classes are those that would lose least by taking the record
    in, by ``lower_bounds``; ties go to the first. A record that replaces another is aligned last, after the
    alignment of the others in their order. A move must lower the loss with the class as it is, and then with
    both classes aligned again. Exchanges that cannot lower the loss by the bounds are skipped. The exchange
    that lowers the loss most is made, if any does. Ties go to the better bound, then to the first in this
    order: the new alignment, then class by class, a move before the swaps. ``pairing`` is the method of
    matching children, as in ``clustree``.

    Several records may be able to join a class that a single one may not, such as many equal records of one
    level. If none of its own exchanges is made, a suppressed record joins a near class together with other
    suppressed records: those that may save most with it by the bounds, the first of equal ones. They are
    aligned one after the other to the class as it is (a record whose root does not fit is skipped), as many
    as save most, the fewest of equal numbers. The class where that saves most is used, of equal ones the
    nearest, if the loss is lower with all records aligned again.

    Frequency caps are kept in each class at its new size. Other models are checked for both classes aligned
    again, and vertices below the root that fail are suppressed in all members, which counts as loss. If all
    of them have a closeness, this loss is known before, from the values that may join each vertex
    (``kernel_closeness``), and vertices that no value may join do not count in the bounds. Otherwise a visit
    tries up to 20 exchanges that lower the loss without the other models, the best first, until one still
    does.
    No exchange raises the loss. An exchange considered at a record's last visit is not considered again until
    one of the two classes has changed. The search ends when a pass changes nothing, as further passes would
    not either.

    If suppressed records would be a risk, they can be taken in afterwards (``take_in``), one by one, each by
    the class that loses least by it with all records aligned again, the first of equal ones.

    A class may grow to twice the size of the largest class of the previous step. Classes of more than 64
    records are not changed, nor classes whose loss times the scale may not fit into 64 bits.
    """

    aligns: ClassVar[bool] = True
    begins: ClassVar[bool] = False
    goes_on: ClassVar[bool] = True

    kind: Literal["local-search"] = "local-search"
    on: None = None
    passes: Passes = Field(
        default=3, description="passes over all records, with exchanges that lower the loss"
    )
    near: Compared | None = Field(
        default=None,
        description="number of nearest classes considered for each record; "
        "10 by default, 5 for records of over 64 vertices on average",
    )
    pairing: Literal["greedy", "benefit", "optimal"] = "optimal"

    def estimate_work(self, records: int, vertices: int, constraints: Constraints) -> float:
        """Return about how many pairs are aligned: as counted on records of 100 vertices, in three passes."""
        return records * (10 + 4 * self.passes * self._classes_near(records, vertices))

    def _classes_near(self, records: int, vertices: int) -> int:
        return self.near or (5 if vertices > WIDE * records else 10)

    def find_classes(self, step: StepInput) -> Partition:
        """Exchange records between the classes of the previous step."""
        if not (self.passes and step.previous.class_count):
            return step.previous
        from hierdata.engines.local_search.run import descend_partition

        forest, scope, _ = step.problem
        vertices = int((forest.roots[scope.records + 1] - forest.roots[scope.records]).sum())
        near = min(self._classes_near(len(scope.records), vertices), step.previous.class_count)
        return descend_partition(*step.problem, step.previous, self.passes, near, self.pairing, step.progress)

    def calls(self, forest: Forest, constraints: Constraints) -> list[KernelCall]:
        """Return calls of the kernels that take longest to compile."""
        from hierdata.engines.local_search.run import calls_of

        return calls_of(forest, constraints, self.pairing) if self.passes else []

    def take_in(self, step: StepInput) -> Partition | None:
        """Let each suppressed record join the class that loses least by it, even at a loss."""
        from hierdata.engines.local_search.run import take_in_suppressed

        return take_in_suppressed(*step.problem, step.previous, self.pairing)
