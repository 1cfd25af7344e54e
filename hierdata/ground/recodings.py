"""What other packages need to know of a recoding: its traits, by the name that a policy gives it.

The recodings themselves, which write documents, are in ``hierdata.release.recodings``. A module that depends
on the recoding asks for a trait instead of comparing names. Only the judge keeps names, since it shares no
code with what it judges (``RecodingTraits.judged_as``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hierdata.ground import plugins
from hierdata.ground.errors import PolicyError

Unit = Literal["record", "vertex type", "table"]
Home = Literal["record", "class", "group"]
Label = Literal["node", "depth", "set", "finest"]


@dataclass(frozen=True)
class RecodingTraits:
    """The answers of a recoding to the questions that decide what other modules do, and its sentences.

    What is partitioned, where sensitive values are published, and how quasi-identifiers are: the properties
    follow from these three answers.
    """

    judged_as: str
    """The name by which the judge knows this form; a built-in recoding has its own."""
    limitation: str
    """What the recoding does not protect against, for the report."""
    unit: Unit = "record"
    """What is partitioned: whole records; the vertices of each type independently, which makes groups of
    persons who share their sensitive values; or the records once, and once more for each sensitive table."""
    values: Home = "record"
    """Where sensitive values are published: in the record that has them; in a document that stands for its
    class, as lists of values; or in tables of their own, joined to the records by group."""
    labels: Label = "node"
    """How quasi-identifiers are published: by nodes of their hierarchies, each value for itself; by nodes of
    one depth for all records; by sets and ranges, which are no nodes; or in the finest form."""
    quasi_identifiers: str = "generalized ({kind})"
    """What happens to a quasi-identifier, for the steward's report; ``kind`` is that of its domain."""
    generalized: str | None = None
    """How to read published values, for the codebook; None where the domains suffice."""
    groups: str | None = None
    """How groups lead to sensitive values, for the codebook; None where there are no groups."""

    @property
    def separates_values(self) -> bool:
        """Whether sensitive values are published in tables of their own, joined to the records by group."""
        return self.values == "group"

    @property
    def publishes_classes(self) -> bool:
        """Whether a published document is a class with lists of values, not a record."""
        return self.values == "class"

    @property
    def ties_values(self) -> bool:
        """Whether the file ties sensitive values to the records that have them."""
        return self.values == "record"

    @property
    def partitions_each_type(self) -> bool:
        """Whether each vertex type has a partition: a class is then a group of persons, who may differ."""
        return self.unit == "vertex type"

    @property
    def groups_each_table(self) -> bool:
        """Whether each sensitive table has groups of its own, so that a record has one id for each table."""
        return self.unit == "table"

    @property
    def takes_sensitive_tables(self) -> bool:
        """Whether the policy may state which sensitive attributes share a table (``sensitive_tables``)."""
        return self.separates_values and not self.partitions_each_type

    @property
    def uses_one_depth(self) -> bool:
        """Whether all values of a quasi-identifier are generalized to the same depth of its hierarchy."""
        return self.labels == "depth"

    @property
    def publishes_value_sets(self) -> bool:
        """Whether quasi-identifiers are published as sets and ranges, which are not nodes of hierarchies."""
        return self.labels == "set"

    @property
    def shows_members(self) -> bool:
        """Whether values of single records are published in their finest form, alone or in sets."""
        return self.labels in ("set", "finest")

    @property
    def generalizes_each_value(self) -> bool:
        """Whether a document is a record with its own values, each generalized to a node of its own.

        Only then can blocks be clustered one by one, and can bounded knowledge be promised.
        """
        return (self.unit, self.values, self.labels) == ("record", "record", "node")


TOGETHER = (
    "A published record keeps its own sensitive values together. Someone who knows one of them may pick out "
    "the record within its class and read the others."
)

DEFAULT = "generalization"
"""The recoding of a policy that names none."""

TRAITS: dict[str, RecodingTraits] = {
    "generalization": RecodingTraits(
        judged_as="generalization",
        limitation=TOGETHER,
    ),
    "representatives": RecodingTraits(
        judged_as="representatives",
        limitation="Sensitive values are published by class and vertex, so that nobody can tell which of "
        "them belong to one record. Whoever knows one can still leave it out and guess among the rest.",
        values="class",
    ),
    "full_domain": RecodingTraits(
        judged_as="full_domain",
        limitation=TOGETHER,
        labels="depth",
        generalized="Each field is generalized to one depth of its domain for all records: a category by the "
        "label of its node, a number or date by its interval or period; * is any value.",
    ),
    "sets_and_ranges": RecodingTraits(
        judged_as="sets_and_ranges",
        limitation=f"{TOGETHER} Values in sets, and both ends of ranges, belong to some record in the "
        "class, in the finest form that the policy allows. A reader learns that no record in the class has a "
        "value outside the set or range.",
        labels="set",
        quasi_identifiers="published by the values of its class ({kind})",
        generalized="What the records of a class have, each value in its finest form: a number or date by "
        "its interval or period of the first step, a code by its first prefix, a category by its finest "
        "label. Of categories the set {a, b}; of numbers and dates the range from the beginning of the least "
        "to the end of the greatest: [least, greatest] with both ends included, [least, greatest) without "
        "the last. A value alone stands in its finest form; a text that begins with { is always a set. In a "
        "set null is a missing value, and a text in quotes is spelled as in JSON.",
    ),
    "anatomy": RecodingTraits(
        judged_as="anatomy",
        limitation="Quasi-identifiers are published in the finest form that the policy allows, whatever the "
        "groups. Whoever knows enough of a person finds the record, learns that the person is in it, "
        "and reads all its quasi-identifiers. What is promised is that the person's sensitive values "
        "cannot be told from those of their group. k counts the persons of a group, not records that "
        "look alike. Whoever knows values of others in the group can strike them out.",
        unit="vertex type",
        values="group",
        labels="finest",
        quasi_identifiers="published in its finest form ({kind})",
        groups="Sensitive values lie apart. The group of a vertex leads to the rows of the same group in the "
        "file that belongs to its type, where count says how many vertices of the group have the values of "
        "the row.",
    ),
    "slicing": RecodingTraits(
        judged_as="slicing",
        limitation="Sensitive values are published in tables, by group. Nothing ties the rows of two tables "
        "to each other, so relations between sensitive values of different tables are lost. Values that "
        "share a table are in the same rows: whoever knows one of them may read the others. Whoever "
        "knows values of others in the group can strike them out.",
        values="group",
        groups="Sensitive values lie apart. The group of a vertex leads to the rows of the same group in "
        "each file that belongs to its type, where count says how many vertices of the group have the values "
        "of the row. release.json names the sensitive fields of each file; nothing ties rows of two files "
        "together.",
    ),
    "slicing_by_table": RecodingTraits(
        judged_as="slicing_by_table",
        limitation="Sensitive values are published in tables, and each table has groups of its own: a record "
        "has one group id for each table. k counts records that agree in their quasi-identifiers. The ids "
        "of a record may single it out among them. Values that share a table are in the same rows: "
        "whoever knows one of them may read the others. Whoever knows values of others in a group can "
        "strike them out. Whoever learns an id of a person knows which values are in that group. "
        "Relations between sensitive values of different tables are lost.",
        unit="table",
        values="group",
        groups="Sensitive values lie apart. group_1 of a record leads to the rows of the same group in "
        "sensitive-1, group_2 to those in sensitive-2, and so on; count says how many records of the group "
        "have the values of the row. release.json names the sensitive fields of each file; the groups of one "
        "file have nothing to do with those of another.",
    ),
}
"""The built-in recodings, in the order of the policy's JSON Schema."""


def is_built_in(name: str) -> bool:
    """Return whether a recoding belongs to hierdata itself."""
    return name in TRAITS


def traits_of(name: str) -> RecodingTraits:
    """Return the traits of a recoding by its name in a policy: built in, or of another distribution.

    Raises PolicyError for one that cannot be imported or has no valid traits, KeyError for an unknown name.
    """
    if name in TRAITS:
        return TRAITS[name]
    traits: object = getattr(plugins.load("recodings", name, object), "traits", None)
    if not isinstance(traits, RecodingTraits) or traits.judged_as not in TRAITS:
        raise PolicyError(
            f"{plugins.find('recodings', name)} must state `traits`, with a judged_as of {', '.join(TRAITS)}"
        )
    return traits
