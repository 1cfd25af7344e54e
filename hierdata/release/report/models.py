"""The files of a release as models: what is given out, and what the steward keeps (DECISIONS 1, 2, 7, 17).

No model has a place for a raw value, a seed, an input path or a time.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, Field, SerializerFunctionWrapHandler, model_serializer

from hierdata.recodings import traits_of
from hierdata.release.report.parts import (
    Cost,
    Counts,
    Exact,
    GateVerdict,
    LevelRow,
    LevelTable,
    Measure,
    MembershipRow,
    Plain,
    Promise,
    PublishedFile,
    Reached,
    Tally,
    costs,
    figures,
    guarded,
)
from hierdata.release.report.sentences import GUARDED_COUNTS, limitations, on_identifiers

__all__ = [
    "FILES",
    "Codebook",
    "CodebookField",
    "Cost",
    "Counts",
    "Exact",
    "GateVerdict",
    "LevelRow",
    "LevelTable",
    "Measure",
    "MembershipRow",
    "Outcome",
    "Promise",
    "PublishedFile",
    "Reached",
    "Reference",
    "ReleaseFile",
    "SensitiveFacts",
    "StewardReport",
    "Tally",
    "Verification",
    "costs",
    "dump",
    "figures",
    "guarded",
    "json_schemas",
    "limitations",
    "on_identifiers",
]


Told = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f-\x9f]{1,200}$")]
"""A text that a message may show: no control characters, and not long."""


class PluginUse(Plain):
    """A member of a family that is not built in, with name and version of its distribution."""

    family: Told
    name: Told
    distribution: Told
    version: Told


class Outcome(Plain):
    """What a release promises, achieved and lost.

    ``version`` is hierdata's; ``plugins`` are the members of other distributions that the policy names.
    ``format`` is that of the records, ``files`` what lies in ``public/`` of them.
    ``tables`` names for each part beside the records the sensitive attributes whose values share its rows.
    ``class_size`` is the smallest class that the models allow together; smaller cells are guarded in public.
    ``attackers`` has by the policy's names the risks that each of them is, by metric.
    ``gates`` are the policy's limits on figures, which all passed. ``loss_exact`` is false where losses had
    to be rounded (DECISIONS 17). ``limitations`` say what is not promised.
    """

    version: str
    plugins: tuple[PluginUse, ...] = ()
    dataset: str
    recoding: str
    format: str
    files: tuple[PublishedFile, ...]
    tables: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    passed: bool
    class_size: Annotated[int, Field(ge=1)]
    promises: tuple[Promise, ...]
    counts: Counts
    metrics: dict[str, Measure]
    attackers: dict[str, dict[str, Measure]] = Field(default={})
    gates: tuple[GateVerdict, ...] = ()
    loss_exact: bool
    limitations: tuple[str, ...]

    @property
    def groups_persons(self) -> bool:
        """Whether the classes are groups of persons; False where the recoding is not installed here."""
        try:
            return traits_of(self.recoding).groups_persons
        except KeyError:
            return False

    @model_serializer(mode="wrap")
    def _without_plugins(self, handler: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def]  # a return type would become the schema
        """Leave ``plugins`` out where all is built in, as in the files of most releases."""
        data = handler(self)
        if not self.plugins:
            del data["plugins"]
        return data


class ReleaseFile(Outcome):
    """``public/release.json``: what is promised, achieved and lost, for those who get the records."""


class StewardReport(Outcome):
    """``steward/report.json``: the same with plain counts, and what the steward must know beside it.

    ``fields`` tells by path what becomes of a field, ``costs`` are the engine's, ``levels`` by sensitive
    path, ``reasons`` say by vertex type why no more could be published, where an engine knows, ``warnings``
    are the domains' and the policy's.
    """

    fields: dict[str, str]
    costs: dict[str, Cost]
    levels: dict[str, LevelTable]
    reasons: dict[str, str]
    warnings: tuple[str, ...]

    def public(self) -> ReleaseFile:
        """What of it is given out, small cells guarded."""
        counts = self.counts.guarded(self.class_size)
        shared = {name: getattr(self, name) for name in Outcome.model_fields}
        hint = (GUARDED_COUNTS,) if counts.is_guarded else ()
        return ReleaseFile(**(shared | {"counts": counts, "limitations": (*self.limitations, *hint)}))


class CodebookField(Plain):
    """A field of the input.

    ``domain`` describes the values of a quasi-identifier (its ``kind`` and the rest); ``missing`` lists the
    spellings that were read as missing, beside null and absence; ``exempt`` is the policy's reason for
    publishing a field outside the promise. ``action`` names what was done to the values before anything else.
    """

    path: str
    role: str
    published: bool
    domain: dict[str, Any] | None = None
    missing: tuple[str, ...] = ()
    exempt: str | None = None
    action: str | None = None


class Codebook(Plain):
    """``public/codebook.json``: how to read the published values. No counts, nothing only the data tell."""

    version: str
    dataset: str
    recoding: str
    fields: tuple[CodebookField, ...]
    generalized: str = (
        "A category by the label of its node, a number or date by its interval or period; * is any value."
    )
    groups: str | None = None
    missing: str = "A missing value is absent."
    suppressed: str = "A suppressed record or vertex is absent, with everything below it."


class Reference(Plain):
    """How often each value of an attribute occurs: texts as they are, numbers by their shortest spelling."""

    texts: dict[str, Annotated[int, Field(ge=0)]]
    numbers: dict[str, Annotated[int, Field(ge=0)]]


class SensitiveFacts(Plain):
    """What fixes the judgement of a sensitive attribute.

    ``scale`` is what LevelScale.facts() gives, null without levels; ``number`` tells that texts are read as
    numbers; ``taxonomy`` holds the tree of the values, child to parent, null without one; ``reference`` is
    how often each value occurs in the original collection, null where no model compares with it.
    """

    scale: dict[str, Any] | None
    number: bool
    taxonomy: dict[str, Any] | None = None
    reference: Reference | None = None


class Verification(Plain):
    """``steward/verification.json``: the facts frozen at publication, by which ``verify`` judges.

    ``policy`` is the SHA-256 of what the policy promises; ``quasi`` holds by path what the collection told
    of a domain, as min and max; ``vertices`` are the keys down to what is many, which XML alone cannot tell;
    ``population`` is the SHA-256 of the population table, null without one; ``tables`` are those of
    release.json.
    """

    version: str
    dataset: str
    policy: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    sensitive: dict[str, SensitiveFacts]
    quasi: dict[str, dict[str, Any]]
    vertices: tuple[tuple[str, ...], ...]
    population: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None
    tables: dict[str, tuple[str, ...]] = Field(default_factory=dict)


FILES: dict[str, type[BaseModel]] = {
    "release": ReleaseFile,
    "codebook": Codebook,
    "verification": Verification,
    "report": StewardReport,
}
"""The models of the files, by the name of file and schema."""


def dump(model: BaseModel) -> bytes:
    """The bytes of a file: JSON in the model's order, indented, one line feed at the end."""
    return (json.dumps(model.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n").encode()


def json_schemas() -> dict[str, dict[str, Any]]:
    """The JSON Schema of each file (draft 2020-12), by its name."""
    return {
        name: {"$schema": "https://json-schema.org/draft/2020-12/schema"}
        | model.model_json_schema(mode="serialization")
        for name, model in FILES.items()
    }
