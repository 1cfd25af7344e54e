"""What verify checks in a release: the frozen facts, and the claims of release.json."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from hierdata.documents.document import Scalar
from hierdata.documents.limits import regular_bytes
from hierdata.domains.base import Uncovered
from hierdata.domains.derived import LabelPair
from hierdata.domains.levels import Levels, LevelScale, scale_from_facts
from hierdata.domains.number import canonical, exact, plain
from hierdata.domains.scales import FrequencyScale
from hierdata.ground.errors import VerificationError, file_error
from hierdata.ground.escaping import quote
from hierdata.policy.checks.sensitive import Readings
from hierdata.policy.plan.compared import LabelsKnown, References, digest_population, semantics
from hierdata.policy.plan.plan import many_keys, references
from hierdata.policy.policy import Policy
from hierdata.privacy.base import SensitiveReading
from hierdata.release.layout import CODEBOOK_FILE, FACTS_FILE, RELEASE_FILE, SUMMARY_FILE
from hierdata.release.report import models
from hierdata.release.report.page import render_summary
from hierdata.release.report.parts import Promise, PublishedFile
from hierdata.release.witness import digest_files

if TYPE_CHECKING:
    from hierdata.judge import Keys, Verdict
    from hierdata.policy.plan.plan import Prepared
    from hierdata.privacy import PrivacyModel


@dataclass(frozen=True)
class Facts:
    """The facts that were frozen at publication, read and checked against the policy."""

    file: models.Verification
    scales: Mapping[Keys, LevelScale | None]
    references: References
    readings: Readings
    labels: LabelsKnown

    @property
    def vertices(self) -> frozenset[Keys]:
        """The paths of the vertex types below the root."""
        return frozenset(self.file.vertices)

    @property
    def drawn_by(self) -> bytes | None:
        """The key of what the shape of records drew at random, None if it drew nothing."""
        return None if self.file.drawn_by is None else bytes.fromhex(self.file.drawn_by)

    def are_of(self, prepared: Prepared) -> bool:
        """Return whether a collection gives the same facts."""
        known = {"sensitive", "quasi", "vertices", "population", "derived"}
        fresh = freeze(prepared, self.file.version)
        return self.file.model_dump(mode="json", include=known) == fresh.model_dump(
            mode="json", include=known
        )

    def check_files(self, files: Sequence[PublishedFile]) -> None:
        """Raise VerificationError unless the facts were frozen for these published files."""
        if self.file.public != digest_files(files).hex():
            raise VerificationError(
                "the frozen facts are of another release, or the published files were changed",
                path=str(FACTS_FILE),
            )

    def check_tables(self, policy: Policy, verdict: Verdict) -> None:
        """Raise VerificationError unless the sensitive tables are those that were published."""
        if not _describes(self.file.tables, verdict.tables, policy):
            raise VerificationError("sensitive values are divided into other tables than were published")


def fingerprint(policy: Policy) -> str:
    """Return the SHA-256 of a policy's promise: models, recoding and all fields but plain quasi-identifiers.

    The facts do not depend on how the policy is written, where the input is and how values are generalized.
    """
    promise = {
        "models": [model.model_dump(mode="json") for model in policy.models],
        "recoding": policy.recoding,
        **({} if policy.table_division is None else {"sensitive_tables": policy.table_division}),
        **policy.model_dump(mode="json", include={"individual", "control"}, exclude_none=True),
        **({} if not policy.shape else {"shape": [spec.model_dump(mode="json") for spec in policy.shape]}),
        "population": None if policy.population is None else policy.population.columns,
        "fields": {
            "/".join(keys): rule.model_dump(mode="json", exclude_defaults=True, exclude={"weight", "label"})
            for keys, (_, rule) in policy.rules_by_keys.items()
            if keys not in policy.quasi or rule.action is not None
        },
    }
    return hashlib.sha256(json.dumps(promise, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def freeze(
    prepared: Prepared, version: str, tables: Mapping[str, tuple[str, ...]] | None = None
) -> models.Verification:
    """Collect what verify needs besides policy and published files; ``tables`` are the publication's."""
    policy = prepared.policy
    sensitive = {}
    taxonomies, known, readings = semantics(policy), references(prepared), prepared.readings
    for keys, rule in policy.sensitive.items():
        scale, taxonomy, reference = prepared.scales[keys], taxonomies[keys], known.get(keys)
        sensitive[policy.spell_path(keys)] = models.SensitiveFacts(
            scale=None if scale is None else scale.facts(),
            number=rule.reads_numbers,
            taxonomy=None if taxonomy is None else taxonomy.codebook,
            reference=None if reference is None else _freeze_reference(reference),
            asks=readings[keys].asks,
            within=readings[keys].within,
        )
    return models.Verification(
        version=version,
        dataset=policy.dataset,
        policy=fingerprint(policy),
        sensitive=sensitive,
        quasi=prepared.codebooks,
        vertices=tuple(sorted(many_keys(prepared.schema))),
        population=_population(policy),
        tables=dict(tables or {}),
        derived={policy.spell_path(keys): _freeze_labels(pairs) for keys, pairs in prepared.labels.items()},
    )


def read_facts(file: Path | None, policy: Policy) -> Facts | None:
    """Read the frozen facts; None without a file.

    Raises TargetError for a file that cannot be read, VerificationError for one that is not a file of facts,
    belongs to another policy, or contradicts the policy.
    """
    if file is None:
        return None
    try:
        facts = models.Verification.model_validate_json(regular_bytes(file))
    except OSError as error:
        raise file_error(
            error, f"the frozen facts cannot be read ({error.strerror})", path=str(file)
        ) from None
    except ValidationError:
        raise VerificationError(
            "this is not a file of frozen facts, or it was changed", path=str(file)
        ) from None
    _check_belongs(facts, policy, file)
    scales = {}
    counted = {}
    readings = {}
    taxonomies = semantics(policy)
    for keys, rule in policy.sensitive.items():
        path = policy.spell_path(keys)
        try:
            frozen = facts.sensitive[path]
            scales[keys] = scale = None if frozen.scale is None else scale_from_facts(frozen.scale)
            if frozen.reference is not None:
                counted[keys] = _thaw_reference(frozen.reference)
        except (KeyError, TypeError, ValueError, ArithmeticError, Uncovered):
            raise VerificationError(
                "these are not facts of this field, or they were changed", path=path
            ) from None
        if not _agrees(scale, rule.levels):
            raise VerificationError("the frozen levels differ from the policy's", path=path)
        scales[keys] = rule.scale_of(scale, policy.folder)
        taxonomy = taxonomies[keys]
        if frozen.taxonomy != (None if taxonomy is None else taxonomy.codebook):
            raise VerificationError("the frozen taxonomy differs from the policy's", path=path)
        readings[keys] = SensitiveReading(frozen.asks, frozen.within)
        if rule.asks not in (None, frozen.asks) or rule.within not in (None, frozen.within):
            raise VerificationError("the frozen reading differs from the policy's", path=path)
    return Facts(facts, scales, counted, readings, _thaw_labels(facts, policy))


def _check_belongs(facts: models.Verification, policy: Policy, file: Path) -> None:
    """Raise VerificationError unless the facts were frozen under this policy and its population table."""
    if facts.policy != fingerprint(policy):
        raise VerificationError("the facts were frozen under another policy", path=str(file))
    if facts.population != _population(policy):
        raise VerificationError(
            "the population table differs from the one that the release was made with; restore that one",
            path=str(file),
        )


def _population(policy: Policy) -> str | None:
    """Return the fingerprint of the population table, None where the policy names none."""
    return None if policy.population is None else digest_population(policy.folder / policy.population.file)


def _freeze_reference(reference: Mapping[Scalar, int]) -> models.Reference:
    texts = {value: count for value, count in reference.items() if isinstance(value, str)}
    numbers = {plain(exact(value)): count for value, count in reference.items() if not isinstance(value, str)}
    return models.Reference(texts=texts, numbers=numbers)


def _thaw_reference(reference: models.Reference) -> dict[Scalar, int]:
    known: dict[Scalar, int] = {canonical(exact(text)): count for text, count in reference.numbers.items()}
    known.update(reference.texts)
    return known


def _freeze_labels(pairs: Iterable[LabelPair]) -> tuple[tuple[models.Frozen, models.Frozen], ...]:
    """Return pairs of a value and its label, in an order that does not depend on that of the input."""
    frozen = [(_freeze_value(value), _freeze_value(label)) for value, label in pairs]
    return tuple(sorted(frozen, key=repr))


def _freeze_value(value: Scalar) -> models.Frozen:
    if isinstance(value, str | bool):
        return value if isinstance(value, bool) else str(value)
    try:
        return models.FrozenNumber(number=plain(exact(value)))
    except Uncovered:  # NaN, an infinity
        return models.FrozenNumber(number=str(value))


def _thaw_labels(facts: models.Verification, policy: Policy) -> LabelsKnown:
    """Return the frozen labels. Raises VerificationError if they are not those of the policy's fields."""
    labels = {}
    for keys in policy.derived_fields:
        path = policy.spell_path(keys)
        if path not in facts.derived:
            raise VerificationError("these are not facts of this field, or they were changed", path=path)
        labels[keys] = tuple((_thaw_value(value), _thaw_value(label)) for value, label in facts.derived[path])
    return labels


def _thaw_value(value: models.Frozen) -> Scalar:
    if not isinstance(value, models.FrozenNumber):
        return value
    with suppress(Uncovered):
        return canonical(exact(value.number))
    return Decimal(value.number)


def _agrees(scale: LevelScale | None, levels: Levels | None) -> bool:
    """Return whether frozen levels agree with the policy; only counts come from the collection."""
    if scale is None or levels is None:
        return scale is None and levels is None
    if levels.by == "frequency":
        return isinstance(scale, FrequencyScale) and scale.rare == (levels.sensitive == "rare")
    return scale.facts() == levels.compile({}).facts()


def promises(policy: Policy, verdict: Verdict) -> tuple[Promise, ...]:
    """Group the verdict's judgements, which are sorted by model and then by attribute, by model."""
    traits = policy.recoding_traits
    judgements = iter(verdict.judgements)
    return tuple(
        Promise.of(
            model,
            islice(judgements, _count_judgements(policy, model, scope)),
            apart=traits.partitions_each_type,
            ids=traits.groups_each_table,
            by_root=policy.knowledge not in (None, model),
        )
        for model, scope in policy.scoped_models
    )


def _count_judgements(policy: Policy, model: PrivacyModel, scope: frozenset[Keys] | None) -> int:
    if not model.per_attribute:
        return 1
    return len(policy.sensitive) if scope is None else len(scope)


def confirm(folder: Path, release: models.ReleaseFile, codebook: models.Codebook) -> None:
    """Raise VerificationError unless the public ``folder`` says what follows from its files.

    ``release`` and ``codebook`` are computed from the published files and the policy; the files must equal
    them byte by byte.
    """
    stated = _read_release_file(folder / RELEASE_FILE)
    file = str(folder / RELEASE_FILE)
    if stated.version != release.version:
        raise VerificationError(
            "it was written by another version of hierdata, and only that version can compute it again",
            path=file,
        )
    if stated.tables != release.tables:
        raise VerificationError("it names other sensitive tables than the release has", path=file)
    if stated.files != release.files:
        raise VerificationError(
            f"the files next to it differ from those that it names: {_name_changed(stated, release)}",
            path=file,
        )
    contents = {
        RELEASE_FILE: models.dump(release),
        CODEBOOK_FILE: models.dump(codebook),
        SUMMARY_FILE: render_summary(release).encode(),
    }
    for name, computed in contents.items():
        if _read_bytes(folder / name) != computed:
            where = _find_difference(stated, release) if name == RELEASE_FILE else ""
            raise VerificationError(
                f"its claims differ from what the judge found in the records{where and f' ({where})'}",
                path=str(folder / name),
            )


def _name_changed(stated: models.ReleaseFile, claimed: models.ReleaseFile) -> str:
    """Name the first file that differs, with both digests."""
    digests = [{file.name: file.sha256 for file in release.files} for release in (stated, claimed)]
    named, there = digests
    name = min(name for name in {**named, **there} if named.get(name) != there.get(name))
    expected, is_now = (by_name.get(name, "no such file") for by_name in digests)
    return f"{quote(name)} has SHA-256 {is_now}, and {expected} is stated"


def _find_difference(stated: BaseModel, computed: BaseModel) -> str:
    """Return the name of the first field that differs, such as ``counts.k_raw``; empty if only bytes do."""
    for name in type(computed).model_fields:
        claimed, right = getattr(stated, name), getattr(computed, name)
        if claimed != right:
            inner = _find_difference(claimed, right) if isinstance(right, BaseModel) else ""
            return f"{name}.{inner}" if inner else name
    return ""


def _read_release_file(file: Path) -> models.ReleaseFile:
    try:
        return models.ReleaseFile.model_validate_json(_read_bytes(file))
    except ValidationError:
        raise VerificationError("this is not a release.json, or it was changed", path=str(file)) from None


def _read_bytes(file: Path) -> bytes:
    try:
        return regular_bytes(file)
    except OSError as error:
        raise file_error(error, f"cannot be read ({error.strerror})", path=str(file)) from None


def _describes(
    stated: Mapping[str, tuple[str, ...]], stated_tables: Mapping[str, tuple[str, ...]], policy: Policy
) -> bool:
    """Return whether the tables agree; an attribute with only missing values is not found in any table."""
    known = Counter(map(policy.spell_path, policy.sensitive))
    return (
        stated.keys() == stated_tables.keys()
        and all(set(stated_tables[part]) <= set(paths) for part, paths in stated.items())
        and Counter(path for paths in stated.values() for path in paths) <= known
    )
