"""Local search over classes of trees: records are exchanged and moved as long as that lowers the loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from hierdata.engines.base import Engine, StepInput

if TYPE_CHECKING:
    from hierdata.forest.partition import Partition


class LocalSearch(Engine):
    """Exchange records between near classes of the step before, one exchange after the other.

    What is lowered is the LM cost of all records, suppressed vertices and records in full. In each of
    ``passes`` every record is visited once, in order. At its visit these exchanges are weighed:

    - it is aligned anew as the last of its own class;
    - it changes places with a record of one of the ``near`` classes nearest to it;
    - it moves into one of them, where its own class stays large enough.

    A record that was suppressed may join a class, or take the place of one that is suppressed instead; so no
    more records are suppressed than before. Near are the classes that would lose least by taking the record
    in, by ``lower_bounds``; of equals the first. A newcomer that takes a place is aligned
    last, with the alignment of the others in their order; a move must pay with the class as it stands and
    then with both classes aligned anew. Exchanges of which the bounds promise nothing are passed over. The
    one that lowers the loss most is made, if any does; of equals the one of which the bounds promise more,
    then the first: aligned anew, then class by class, a move before the others. ``pairing`` tells how
    children are matched, as in ``clustree``.

    Several may do what one alone may not, such as many equal records of one level. Where none of its own
    exchanges is made, a suppressed record joins a near class together with others that are suppressed: those
    that may save most with it by the bounds, of equals the first, aligned one after the other to the class as
    it stands (whose root does not fit is passed over), as many as save most, the fewest of equals. The class
    where that saves most is taken, of equals the nearest, if it pays with all aligned anew.

    Share caps are kept in each class at its new size. Other models are asked about both classes aligned
    anew, and what fails below the root is suppressed in all members, which counts: up to 20 exchanges that
    pay without these models are tried at a visit, the best first, until one still pays. No exchange raises
    the loss. What was weighed at a record's last visit is not weighed again until one of the two classes has
    changed, and the search ends when a pass has changed nothing: further passes never would.

    A class takes in records up to twice the size of the largest that the step before has made. Classes of
    more than 64 records stay as they are, and so do those whose loss times the scale may not fit into 64
    bits.
    """

    aligns: ClassVar[bool] = True
    begins: ClassVar[bool] = False
    goes_on: ClassVar[bool] = True

    kind: Literal["local-search"] = "local-search"
    on: None = None
    passes: Annotated[int, Field(strict=True, ge=0)] = Field(
        default=3, description="passes over all records by exchanges that lower the loss"
    )
    near: Annotated[int, Field(strict=True, ge=1)] = Field(
        default=10, description="classes that are looked at for each record, the nearest"
    )
    pairing: Literal["greedy", "benefit", "optimal"] = "optimal"

    def find_classes(self, given: StepInput) -> Partition:
        """Exchange records between the classes of the step before; see the class."""
        if not (self.passes and given.previous.class_count):
            return given.previous
        from hierdata.engines.local_search.run import descend_partition

        return descend_partition(
            *given.problem, given.previous, self.passes, self.near, self.pairing, given.progress
        )
