"""Models of the files of a release: the published ones, and the steward's.

No model has a field for a raw value, a seed, an input path or a time.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, Field, SerializerFunctionWrapHandler, model_serializer

from hierdata.domains.bounds import ShortText
from hierdata.ground.escaping import escape_json
from hierdata.ground.recodings import traits_of
from hierdata.release.report import parts
from hierdata.release.report.shape import ShapeFigure

Label = bool | int | str
"""A published value in a file about a release; numbers that are no integers are spelled as texts."""


class _Sparse(parts.Plain):
    """A model of which the fields of ``_optional`` are left out where they are empty, as in most releases."""

    _optional: ClassVar[tuple[str, ...]] = ()

    @model_serializer(mode="wrap")
    def _leave_out(self, handler: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def]  # a return type would become the schema
        return {name: value for name, value in handler(self).items() if name not in self._optional or value}


class PluginUse(parts.Plain):
    """A plug-in that was used: its family and name, and the name and version of its distribution."""

    family: ShortText
    name: ShortText
    distribution: ShortText
    version: ShortText


class Outcome(_Sparse):
    """What both the recipients and the steward are told of a release.

    ``version`` is hierdata's; ``plugins`` are the plug-ins that the policy names. ``format`` is that of the
    records, ``files`` are the published files in ``public/``. ``tables`` lists, for each part other than the
    records, the sensitive attributes whose values share its rows. ``worst_guess`` is by sensitive path the
    largest share of a class's records that show one value anywhere. ``group_ids`` is what the group ids of a
    record tell, where each table has groups of its own, else left out. ``limitations`` say what is not
    promised. ``labels`` are the names that the policy gives fields for people, by path, left out without any.
    """

    _optional: ClassVar[tuple[str, ...]] = ("plugins", "group_ids", "labels", "shape", "safe_harbor")

    version: str
    plugins: tuple[PluginUse, ...] = ()
    dataset: parts.Shown
    recoding: str
    format: str
    files: tuple[parts.PublishedFile, ...]
    tables: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    passed: bool
    promises: tuple[parts.Promise, ...]
    worst_guess: dict[str, parts.Exact] = Field(default={})
    group_ids: parts.GroupIds | None = None
    limitations: tuple[parts.Shown, ...]
    labels: dict[str, parts.Shown] = Field(default={})

    @property
    def groups_persons(self) -> bool:
        """Whether the classes are groups of persons; False where the recoding is not installed here."""
        try:
            return traits_of(self.recoding).partitions_each_type
        except KeyError:
            return False


class ReleaseFile(Outcome):
    """``public/release.json``, for recipients: a function of the public files, policy and build alone.

    ``counts`` are those of the published records, ``fineness`` tells by quasi-identifier
    how fine its published values are.
    ``metrics`` are over the published values, ``gates`` the policy's limits, which all passed.
    """

    counts: parts.PublicCounts
    fineness: dict[str, parts.PublishedValues] = Field(default={})
    metrics: dict[str, parts.Measure]
    gates: tuple[parts.PublicGate, ...] = ()


class SafeHarborRow(parts.Plain):
    """One of the 18 identifiers of HIPAA's Safe Harbor: what the policy does with the fields that hold it.

    ``fields`` has what is published by path; it is empty where the policy says that there are none.
    """

    letter: ShortText
    what: ShortText
    fields: dict[str, parts.Shown]


class StewardReport(Outcome):
    """``steward/report.json``: what was found against the original, which only the steward may know.

    ``class_size`` is the smallest class that the models allow together. ``kept`` is the metric of this name
    by vertex type and field. ``attackers`` has the risk figures of each attacker of the policy, by metric.
    ``gates`` have the figures that were judged. ``loss_exact`` is false where losses had to be rounded.
    ``shape`` is what its steps met in the input; it is left out without any. ``fields`` tells
    by path what happens to a field, ``costs`` are the engine's, ``levels`` are the tables of levels by
    sensitive path, ``safe_harbor`` has the 18 identifiers of HIPAA where the policy names them, else it is
    left out; ``reasons`` say by vertex type why no more could be published, if an engine knows,
    ``warnings`` are about the domains and the policy. ``fingerprints`` say what the release was made from,
    ``pictures`` are the counts that the page draws; both are null in a report that was not written by a run.
    """

    class_size: Annotated[int, Field(ge=1)]
    counts: parts.Counts
    metrics: dict[str, parts.Measure]
    kept: parts.KeptShares = Field(default=parts.KeptShares())
    attackers: dict[str, dict[str, parts.Measure]] = Field(default={})
    gates: tuple[parts.GateVerdict, ...] = ()
    loss_exact: bool
    shape: tuple[ShapeFigure, ...] = ()
    fields: dict[str, parts.Shown]
    costs: dict[str, parts.Cost]
    levels: dict[str, parts.LevelTable]
    safe_harbor: tuple[SafeHarborRow, ...] = ()
    reasons: dict[str, parts.Shown]
    warnings: tuple[parts.Shown, ...]
    fingerprints: parts.Fingerprints | None = None
    pictures: parts.Pictures | None = None


class CodebookField(_Sparse):
    """A field of the input.

    ``domain`` describes the values of a quasi-identifier (its ``kind`` and the rest); ``missing`` lists the
    spellings that were read as missing, in addition to null and absence; ``exempt`` is the policy's reason
    for publishing a field outside the promise. ``action`` names what was done to the values before anything
    else; ``same`` lists what made texts one value: ``trim``, ``nfkc`` or ``fold``. A field of role
    ``derived`` follows from the field ``source``; ``labels`` are its values by the published values of that
    field, left out where these are published as they are. ``form`` says how a sensitive field was
    made coarser.
    """

    _optional: ClassVar[tuple[str, ...]] = ("source", "labels", "form")

    path: str
    role: str
    published: bool
    domain: dict[str, Any] | None = None
    missing: tuple[str, ...] = ()
    exempt: parts.Shown | None = None
    action: str | None = None
    same: tuple[str, ...] = ()
    source: str | None = None
    labels: tuple[tuple[Label, Label], ...] = ()
    form: str | None = None


class Codebook(_Sparse):
    """``public/codebook.json``: how to read the published values, from these values and the policy alone.

    ``shape`` says how the records of the input were shaped before; it is left out if they were not.
    """

    _optional: ClassVar[tuple[str, ...]] = ("shape",)

    version: str
    dataset: parts.Shown
    recoding: str
    shape: tuple[parts.Shown, ...] = ()
    fields: tuple[CodebookField, ...]
    generalized: str = (
        "A category by the label of its node, a number or date by its interval or period; * is any value."
    )
    groups: str | None = None
    missing: str = "A missing value is absent."
    suppressed: str = "A suppressed record or vertex is absent, with everything below it."


class Reference(parts.Plain):
    """How often each value of an attribute occurs: texts as they are, numbers by their shortest spelling."""

    texts: dict[str, Annotated[int, Field(ge=0)]]
    numbers: dict[str, Annotated[int, Field(ge=0)]]


class FrozenNumber(parts.Plain):
    """A number of the original, by its shortest spelling."""

    number: str


Frozen = bool | str | FrozenNumber
"""A value of the original in a file of facts."""


class SensitiveFacts(parts.Plain):
    """What fixes the judgement of a sensitive attribute.

    ``scale`` is what LevelScale.facts() gives, null without levels; ``number`` tells that texts are read as
    numbers; ``taxonomy`` holds the tree of the values, child to parent, null without one; ``reference`` is
    how often each value occurs in the original collection, null where no model compares with it. ``asks`` and
    ``within`` say how the attribute is read.
    """

    scale: dict[str, Any] | None
    number: bool
    taxonomy: dict[str, Any] | None = None
    reference: Reference | None = None
    asks: Literal["value", "presence"] = "value"
    within: Literal["place", "record"] = "place"


class Verification(_Sparse):
    """``steward/verification.json``: the facts frozen at publication, by which ``verify`` judges.

    ``policy`` is the SHA-256 of what the policy promises; ``quasi`` holds by path what was taken from the
    collection for a domain, as min and max; ``vertices`` are the paths of the vertex types below the root,
    which XML alone does not show; ``population`` is the SHA-256 of the population table, null without one;
    ``tables`` are those of release.json; ``drawn_by`` is the key of what the shape of records drew at random,
    left out where it drew nothing. ``derived`` has by derived field each value of its source with its label,
    left out without such fields. ``public`` is the digest of the names and SHA-256 of the published files,
    left out where there are none, as on a server.
    """

    _optional: ClassVar[tuple[str, ...]] = ("drawn_by", "derived", "public")

    version: str
    dataset: parts.Shown
    policy: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    sensitive: dict[str, SensitiveFacts]
    quasi: dict[str, dict[str, Any]]
    vertices: tuple[tuple[str, ...], ...]
    population: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None
    tables: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    drawn_by: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None
    derived: dict[str, tuple[tuple[Frozen, Frozen], ...]] = Field(default_factory=dict)
    public: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None


FILES: dict[str, type[BaseModel]] = {
    "release": ReleaseFile,
    "codebook": Codebook,
    "verification": Verification,
    "report": StewardReport,
}
"""The models of the files, by the name of the schema."""


def dump(model: BaseModel) -> bytes:
    """Return the bytes of a file: indented JSON in the model's order, with one line feed at the end.

    Characters that are not seen as themselves are escaped, as JSON does it, so the file is safe to print.
    """
    text = _indent(model.model_dump(mode="json"))
    shown = text.replace("\n", "")
    if escape_json(shown) != shown:
        text = "\n".join(map(escape_json, text.split("\n")))
    return f"{text}\n".encode()


def _indent(value: Any, line: str = "\n") -> str:
    """Return what ``json.dumps(value, ensure_ascii=False, indent=2)`` returns, many times faster.

    With ``indent`` json encodes in Python: a codebook with 300,000 codes would take seconds. ``line``
    begins a line outside of the value.
    """
    if isinstance(value, str):
        return encode_basestring(value)
    if type(value) is int:
        return str(value)
    if not value or not isinstance(value, dict | list | tuple):
        return _ENCODER.encode(value)
    inner = f"{line}  "
    if isinstance(value, dict):
        text = f",{inner}".join(
            [f"{encode_basestring(key)}: {_indent(item, inner)}" for key, item in value.items()]
        )
        return f"{{{inner}{text}{line}}}"
    text = f",{inner}".join([_indent(item, inner) for item in value])
    return f"[{inner}{text}{line}]"


_ENCODER = json.JSONEncoder()


def json_schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of each file (draft 2020-12), by its name."""
    return {
        name: {"$schema": "https://json-schema.org/draft/2020-12/schema"}
        | model.model_json_schema(mode="serialization")
        for name, model in FILES.items()
    }
