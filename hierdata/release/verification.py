"""What verify finds in a release: the frozen facts, and what release.json claims (DECISIONS 1 and 2)."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from hierdata.documents.document import Scalar
from hierdata.domains.base import Uncovered
from hierdata.domains.levels import Levels, LevelScale, scale_from_facts
from hierdata.domains.number import canonical, exact, plain
from hierdata.domains.scales import FrequencyScale
from hierdata.errors import TargetError, VerificationError
from hierdata.policy.plan.plan import References, many_keys, references, semantics
from hierdata.policy.policy import Policy
from hierdata.privacy import population
from hierdata.release.gates import agree
from hierdata.release.layout import published_files
from hierdata.release.report.models import Promise, Reference, ReleaseFile, SensitiveFacts, Verification

if TYPE_CHECKING:
    from hierdata.judge import Keys, Verdict
    from hierdata.policy.plan.plan import Prepared
    from hierdata.privacy import PrivacyModel


@dataclass(frozen=True)
class Facts:
    """What was frozen at publication, read and found fit for the policy."""

    file: Verification
    scales: Mapping[Keys, LevelScale | None]
    references: References

    @property
    def vertices(self) -> frozenset[Keys]:
        """The keys down to what is many."""
        return frozenset(self.file.vertices)

    def are_of(self, prepared: Prepared) -> bool:
        """Whether the same facts come out of a collection."""
        known = {"sensitive", "quasi", "vertices", "population"}
        fresh = freeze(prepared, self.file.version)
        return self.file.model_dump(mode="json", include=known) == fresh.model_dump(
            mode="json", include=known
        )

    def check_tables(self, policy: Policy, verdict: Verdict) -> None:
        """Raise VerificationError unless the sensitive tables are those that were published."""
        if not _describes(self.file.tables, verdict.tables, policy):
            raise VerificationError("sensitive values stand in other tables than were published")


def fingerprint(policy: Policy) -> str:
    """The SHA-256 of a policy's promise: models, recoding and every field that is no plain quasi-identifier.

    How the policy is written down, where the input lies and how values are generalized do not matter to the
    facts.
    """
    promise = {
        "models": [model.model_dump(mode="json") for model in policy.models],
        "recoding": policy.recoding,
        **({} if policy.divided is None else {"sensitive_tables": policy.divided}),
        "population": None if policy.population is None else policy.population.columns,
        "fields": {
            "/".join(keys): rule.model_dump(mode="json", exclude_defaults=True)
            for keys, (_, rule) in policy.by_keys.items()
            if keys not in policy.quasi or rule.action is not None
        },
    }
    return hashlib.sha256(json.dumps(promise, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def freeze(
    prepared: Prepared, version: str, tables: Mapping[str, tuple[str, ...]] | None = None
) -> Verification:
    """What verify must know beside the policy and the published file; ``tables`` are the publication's."""
    policy = prepared.policy
    sensitive = {}
    taxonomies, known = semantics(policy), references(prepared)
    for keys, rule in policy.sensitive.items():
        scale, taxonomy, reference = prepared.scales[keys], taxonomies[keys], known.get(keys)
        sensitive[str(policy.by_keys[keys][0])] = SensitiveFacts(
            scale=None if scale is None else scale.facts(),
            number=rule.number,
            taxonomy=None if taxonomy is None else taxonomy.codebook,
            reference=None if reference is None else _frozen(reference),
        )
    return Verification(
        version=version,
        dataset=policy.dataset,
        policy=fingerprint(policy),
        sensitive=sensitive,
        quasi=prepared.codebooks,
        vertices=tuple(sorted(many_keys(prepared.schema))),
        population=_population(policy),
        tables=dict(tables or {}),
    )


def read_facts(file: Path | None, policy: Policy) -> Facts | None:
    """The frozen facts; None where there is no file.

    Raises VerificationError for a file that is none, belongs to another policy, or contradicts it.
    """
    if file is None:
        return None
    try:
        facts = Verification.model_validate_json(file.read_bytes())
    except OSError as error:
        raise TargetError(f"the frozen facts cannot be read ({error.strerror})", path=str(file)) from None
    except ValidationError:
        raise VerificationError(
            "this is no file of frozen facts, or it was changed", path=str(file)
        ) from None
    _check_belongs(facts, policy, file)
    scales = {}
    counted = {}
    taxonomies = semantics(policy)
    for keys, rule in policy.sensitive.items():
        path = str(policy.by_keys[keys][0])
        try:
            found = facts.sensitive[path]
            scales[keys] = scale = None if found.scale is None else scale_from_facts(found.scale)
            if found.reference is not None:
                counted[keys] = _thawed(found.reference)
        except (KeyError, TypeError, ValueError, ArithmeticError, Uncovered):
            raise VerificationError(
                "these are no facts of this field, or they were changed", path=path
            ) from None
        if not _agrees(scale, rule.levels):
            raise VerificationError("the frozen levels are not those of the policy", path=path)
        taxonomy = taxonomies[keys]
        if found.taxonomy != (None if taxonomy is None else taxonomy.codebook):
            raise VerificationError("the frozen taxonomy is not that of the policy", path=path)
    return Facts(facts, scales, counted)


def _check_belongs(facts: Verification, policy: Policy, file: Path) -> None:
    """Raise VerificationError unless the facts were frozen under this policy and its population table."""
    if facts.policy != fingerprint(policy):
        raise VerificationError("the facts were frozen under another policy", path=str(file))
    if facts.population != _population(policy):
        raise VerificationError(
            "the population table is not the one that the release was made with; the promise was about that",
            path=str(file),
        )


def _population(policy: Policy) -> str | None:
    """The fingerprint of the population table, where the policy names one."""
    return (
        None if policy.population is None else population.fingerprint(policy.folder / policy.population.file)
    )


def _frozen(reference: Mapping[Scalar, int]) -> Reference:
    texts = {value: count for value, count in reference.items() if isinstance(value, str)}
    numbers = {plain(exact(value)): count for value, count in reference.items() if not isinstance(value, str)}
    return Reference(texts=texts, numbers=numbers)


def _thawed(reference: Reference) -> dict[Scalar, int]:
    known: dict[Scalar, int] = {canonical(exact(text)): count for text, count in reference.numbers.items()}
    known.update(reference.texts)
    return known


def _agrees(scale: LevelScale | None, levels: Levels | None) -> bool:
    """Whether frozen levels are what the policy says of them; only counts come from the collection."""
    if scale is None or levels is None:
        return scale is None and levels is None
    if levels.by == "frequency":
        return isinstance(scale, FrequencyScale) and scale.rare == (levels.sensitive == "rare")
    return scale.facts() == levels.compile({}).facts()


def promises(policy: Policy, verdict: Verdict) -> tuple[Promise, ...]:
    """The judgements of each model; the judge answers model by model, at one attribute after the other."""
    judged = iter(verdict.judgements)
    return tuple(
        Promise.of(
            model, islice(judged, _places(policy, model, scope)), apart=policy.recoding_traits.groups_persons
        )
        for model, scope in policy.scoped_models
    )


def _places(policy: Policy, model: PrivacyModel, scope: frozenset[Keys] | None) -> int:
    if not model.per_attribute:
        return 1
    return len(policy.sensitive) if scope is None else len(scope)


def confirm(file: Path, policy: Policy, verdict: Verdict) -> None:
    """Raise VerificationError unless ``release.json`` promises what was judged, and no more than was found.

    The files must be those that it names, byte by byte: what it says is about no others. Loss figures and
    the counts of the input cannot be seen in the published records, so they are not judged.
    Gates are not measured again: they must be those of the policy, each with a figure that keeps its limit.
    """
    try:
        stated = ReleaseFile.model_validate_json(file.read_bytes())
    except OSError as error:
        raise TargetError(f"cannot be read ({error.strerror})", path=str(file)) from None
    except ValidationError:
        raise VerificationError("this is no release.json, or it was changed", path=str(file)) from None
    counts = stated.counts
    found = (verdict.records, verdict.classes, verdict.k, verdict.largest_class, verdict.k_exempt)
    claimed = (
        counts.records.published,
        counts.classes,
        counts.smallest_class,
        counts.largest_class,
        counts.k_exempt,
    )
    if not _describes(stated.tables, verdict.tables, policy):
        raise VerificationError("it names other sensitive tables than there are", path=str(file))
    if stated.files != published_files(file.parent):
        raise VerificationError("the files beside it are not those that it was written for", path=str(file))
    if claimed != found or stated.promises != promises(policy, verdict) or not agree(stated.gates, policy):
        raise VerificationError("it claims other than the judge found in the records", path=str(file))


def _describes(
    stated: Mapping[str, tuple[str, ...]], found: Mapping[str, tuple[str, ...]], policy: Policy
) -> bool:
    """Whether tables are those that were found; where all values are missing nobody sees an attribute."""
    known = Counter(str(policy.by_keys[keys][0]) for keys in policy.sensitive)
    return (
        stated.keys() == found.keys()
        and all(set(found[part]) <= set(paths) for part, paths in stated.items())
        and Counter(path for paths in stated.values() for path in paths) <= known
    )
