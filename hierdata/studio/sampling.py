"""Works on a sample of the collection: a preview of the release, and policies compared."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from hierdata.ground.errors import HierdataError, InputError
from hierdata.ground.progress import Progress, silent
from hierdata.studio.policy_view import build_policy, read_plain
from hierdata.studio.study import StudyFolder

if TYPE_CHECKING:
    from hierdata.documents.document import Document, Value
    from hierdata.policy.policy import Policy
    from hierdata.release.release import Release

MOST_VERTICES = 4000
"""Objects of all records of a preview together: a search of as many takes some seconds."""
FEWEST = 100
_VICTIMS, _FACTS = 60, 2
"""Attacks of each sort, and facts that each attacker knows."""
_SEED = bytes(16)
"""A preview of the same policy is the same preview; a release draws its own seed."""
_UNMEASURED = "the attacks have not ended, or were stopped"
_SHOWN = 5
"""Records that are shown before and after."""
_LOW_PRIORITY = 10
_FIRST = 400
"""Records that are read to compile for a preview."""
_OF_INPUT = frozenset({
    "draft", "shape", "tables", "records", "individual", "format", "encoding", "csv", "namespaces",
    "schema", "standard", "control", "gates", "attackers", "population",
})  # fmt: skip
"""Keys of a policy that speak of the input as it comes; the sample is shaped already."""


@dataclass(frozen=True)
class _SampledRecords:
    documents: list[Document]
    total: int
    policy: Policy


def preview_release(study: StudyFolder, arguments: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Make a release of a sample, measure it, and keep some of its records before and after."""
    started = time.monotonic()
    study.keep_figures("records", [])
    sample = _take(study, progress)
    preview: dict[str, Any] = {
        "version": arguments["version"],
        "sampled": len(sample.documents),
        "records": sample.total,
    }
    try:
        release = _release_sample(sample)
    except HierdataError as error:
        return {**preview, "refused": str(error), "seconds": time.monotonic() - started}
    study.keep_figures("records", list(_pair_records(release, sample.documents)))
    preview |= {"refused": None, **_describe(release), "seconds": time.monotonic() - started}
    # What is kept can be read while attacks go on, and stays if they are stopped.
    unmeasured = {"risks": [], "not_measured": [_UNMEASURED], "facts": _FACTS}
    study.keep_figures("preview", {**preview, **unmeasured})
    progress("measuring risks; what is kept is there already: load the page again", 0, None)
    return {**preview, **_attack(release, sample), "seconds": time.monotonic() - started}


def prepare_preview(study: StudyFolder, arguments: Mapping[str, Any], progress: Progress) -> None:
    """Compile what a preview will need, while the first pages are read; nothing is kept of it.

    It releases and attacks a sample by the policy as it is, then what searches under other promises need.
    """
    from hierdata.pipeline.warm_up import keeps_code, warm_up

    if not keeps_code():
        return
    if hasattr(os, "nice"):
        os.nice(_LOW_PRIORITY)
    sample = _take(study, progress, _FIRST)
    with suppress(HierdataError):  # its policy may not be one yet
        _attack(_release_sample(sample), sample)
    warm_up(progress=progress)


def _take(study: StudyFolder, progress: Progress, most_read: int | None = None) -> _SampledRecords:
    """Take records evenly from the whole collection, as many as can be searched in some seconds.

    With ``most_read`` from so many first records, which takes no time for a large collection.
    """
    from hierdata.pipeline.foresee import take_sample
    from hierdata.pipeline.look_over import open_shaped
    from hierdata.policy.checks.records import needs_key
    from hierdata.policy.load import from_data

    text = study.policy_text()
    exact = build_policy(study, text)
    survey = study.figures("survey")
    if survey is None:
        raise InputError("the collection was not read yet: read it on the first page")
    progress("reading", 0, None)
    with open_shaped(study.source, exact) as (documents, _):
        records = survey["records"] if most_read is None else min(most_read, survey["records"])
        taken = take_sample(islice(documents, most_read), records)
    each = sum(_count_objects(document) for document in taken) / max(1, len(taken))
    most = max(FEWEST, int(MOST_VERTICES / max(1.0, each)))
    stated = read_plain(text)
    # Paths of XML begin with that of the records, and use the prefixes of namespaces.
    of_paths = {"records", "namespaces"} if any(path.startswith("/") for path in exact.fields) else set()
    plain = {key: value for key, value in stated.items() if key not in _OF_INPUT - of_paths}
    # Pseudonyms of a sample are forgotten with it.
    keyless = {"key": "per-run"} if needs_key(exact) else {}
    step = -(-len(taken) // most)
    policy = from_data({**plain, **keyless}, study.folder, study.folder)
    return _SampledRecords(taken[::step], survey["records"], policy)


def _count_objects(value: Value) -> int:
    if isinstance(value, Mapping):
        return 1 + sum(map(_count_objects, value.values()))
    return sum(map(_count_objects, value)) if isinstance(value, list) else 0


def _release_sample(sample: _SampledRecords) -> Release:
    from hierdata.pipeline.anonymize import anonymize
    from hierdata.pipeline.resources import Resources

    return anonymize(sample.documents, sample.policy, seed=_SEED, resources=Resources("serial"))


def _describe(release: Release) -> dict[str, Any]:
    report = release.report
    kept = report.kept
    return {
        "published": report.counts.records.published,
        "classes": report.counts.classes,
        "smallest": report.counts.smallest_class,
        "kept": None if kept.total is None else kept.total.kept.value,
        "kept_types": {path: share.kept.value for path, share in kept.vertices.items()},
        "kept_fields": {path: share.kept.value for path, share in kept.fields.items()},
        "worst_guess": {path: guess.value for path, guess in report.worst_guess.items()},
        "promises": [promise.statement for promise in report.promises],
        "warnings": list(report.warnings),
    }


def _attack(release: Release, sample: _SampledRecords) -> dict[str, Any]:
    """Measure the three risks; what cannot be measured is said with the reason."""
    from hierdata.pipeline.attack import attack
    from hierdata.pipeline.resources import Resources

    try:
        attacked = attack(
            release,
            sample.policy,
            original=sample.documents,
            facts=_FACTS,
            victims=min(_VICTIMS, len(sample.documents)),
            resources=Resources("serial"),
            progress=silent,
        )
    except HierdataError as error:
        return {"risks": [], "not_measured": str(error).split("\n"), "facts": _FACTS}
    risks = [
        {"risk": risk.risk, "by": risk.by, "on": risk.on, "facts": risk.facts, "value": risk.value,
         "low": risk.ci[0], "high": risk.ci[1], "attacks": risk.n_attacks,
         "chance": None if risk.baseline_rate is None else risk.baseline_rate.value}
        for risk in attacked.risks
    ]  # fmt: skip
    return {"risks": risks, "not_measured": list(attacked.not_measured), "facts": _FACTS}


def _pair_records(release: Release, documents: Sequence[Document]) -> Iterator[list[Any]]:
    """Yield some published records, each with its original, by the witness of the release."""
    from hierdata.ground.recodings import traits_of
    from hierdata.release.witness import ROOT_WORDS, WITNESS_FILE, read_witness

    if not traits_of(release.report.recoding).ties_values:
        return
    witness = read_witness(release.folder / WITNESS_FILE, release.report.files)
    position = 0
    for after in islice(release.records(), _SHOWN):
        ordinal = int(witness.read(position, 1)[0])
        yield [as_json(documents[ordinal]), as_json(after)]
        position += ROOT_WORDS + _count_objects(after) - 1


def as_json(value: Any) -> Any:
    """Return a value as JSON has it; decimals are whole numbers where they can be, else texts."""
    if isinstance(value, Mapping):
        return {key: as_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def compare_policies(study: StudyFolder, arguments: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Compare the policy with others: other numbers of people to hide among, and without each other model."""
    from hierdata.comparison.compare import compare

    sample = _take(study, progress)
    kinds = [model.kind for model in sample.policy.models]
    comparison = compare(
        sample.documents,
        sample.policy,
        grid={"k": arguments["k"]},
        without=list(dict.fromkeys(kinds[1:])) if arguments["without"] else (),
        workers=1,
        progress=progress,
    )
    return {
        "version": arguments["version"],
        "sampled": len(sample.documents),
        "records": sample.total,
        "rows": [{**row.as_row(), "models": row.policy["models"]} for row in comparison],
    }
