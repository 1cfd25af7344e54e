"""What worker processes do for a study: survey and draft, preview, compare, release."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from hierdata.ground.progress import Progress
from hierdata.studio.sampling import as_json, compare_policies, prepare_preview, preview_release
from hierdata.studio.study import POLICY, StudyFolder

if TYPE_CHECKING:
    from hierdata.documents.document import Document, Scalar
    from hierdata.documents.formats.kinds import Keys
    from hierdata.drafting.draft import Draft, Drafted
    from hierdata.drafting.fhir.draft import FhirDraft
    from hierdata.policy.policy import Policy

MOST_VALUES = 200
"""Different values of a field that are kept for the pages that show data."""
EXAMPLES = 200
"""Records from which values are taken of fields with too many to count."""


def survey_collection(study: StudyFolder, arguments: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Read the collection once, draft a policy, and keep figures and values of each field."""
    from hierdata.pipeline.draft import init
    from hierdata.pipeline.draft_fhir import find_patients

    if (patients := find_patients(study.source, progress=progress, weighed=False)) is not None:
        return _survey_patients(study, patients, progress)
    draft = init(study.source, progress=progress)
    values = _list_values(draft, _take_examples(study.source, draft.confirmed()))
    study.keep_figures("values", values)
    if not study.has_policy:
        study.change(None, str(draft), "drafted")
    return describe_draft(draft)


def _survey_patients(study: StudyFolder, draft: FhirDraft, progress: Progress) -> dict[str, Any]:
    """Read the patients as the draft's policy joins them, with figures and values of what it publishes."""
    from hierdata.drafting.build import build_draft
    from hierdata.drafting.fhir.draft import QUESTIONS
    from hierdata.drafting.fields import Notation
    from hierdata.ground.progress import count_items
    from hierdata.pipeline.look_over import open_shaped
    from hierdata.policy.load import from_data

    policy = draft.confirmed()
    loaded = from_data(policy)
    with open_shaped(study.source, loaded) as (documents, _):
        counted = count_items(documents, "looking at values", draft.records, progress)
        patients = build_draft(counted, Notation(), {}, paths=loaded.paths)
    rules = policy["fields"]
    fields = tuple(drafted for drafted in patients.fields if drafted.path in rules)
    patients = replace(patients, fields=fields, pairs=())
    study.keep_figures("values", _list_values(patients, _take_examples(study.source, policy)))
    if not study.has_policy:
        study.change(None, str(draft), "drafted")
    said = {path: why for path, _, why, _ in draft.list_roles()}
    survey = describe_draft(patients)
    for field in survey["fields"]:
        above = max((path for path in said if _is_below(field["path"], path)), key=len, default="")
        rule = as_json(rules[field["path"]])
        role, reason = rule.get("role", "derived"), said.get(above, "")
        field |= {"rule": rule, "role": role, "reason": reason, "confirm": ""}
    return {
        **survey,
        "vertices": [
            kind for kind in survey["vertices"] if any(_is_below(path, kind["path"]) for path in rules)
        ],
        "promises": [{"model": each.model, "why": each.why, "open": False} for each in draft.promises],
        "questions": list(QUESTIONS),
    }


def describe_draft(draft: Draft) -> dict[str, Any]:
    """Return what a draft says, without a value of the data."""
    from hierdata.drafting.persons import describe_persons

    persons = draft.persons
    return {
        "records": draft.records,
        "vertices": [asdict(vertex) for vertex in draft.vertices],
        "fields": [_describe_field(drafted, draft) for drafted in draft.fields],
        "promises": [
            {"model": as_json(promise.model), "why": promise.why, "open": promise.is_open}
            for promise in draft.promises
        ],
        "pairs": [
            {"paths": draft.paths([pair.first, pair.second]), **asdict(pair.risk)} for pair in draft.pairs[:5]
        ],
        "persons": None
        if persons is None
        else describe_persons(persons, united="individual" in draft.stated).removeprefix("CONFIRM: "),
        "tables": "tables" in draft.stated,
        "questions": [],
    }


def _describe_field(drafted: Drafted, draft: Draft) -> dict[str, Any]:
    from hierdata.drafting.draft import kinds

    attribute = drafted.field.attribute
    above = (below.path for below in draft.vertices if _is_below(drafted.path, below.path))
    return {
        "path": drafted.path,
        "vertex": max(above, key=len, default=""),
        "role": drafted.proposal.role,
        "rule": as_json(drafted.proposal.rule),
        "reason": drafted.proposal.reason,
        "confirm": drafted.proposal.confirm,
        "kinds": "" if attribute is None else kinds(attribute.looks),
        "presence": drafted.field.presence,
        "distinct": None if attribute is None else attribute.values.distinct,
        "exact": attribute is None or attribute.values.exact,
        "unique": None if drafted.risk is None else drafted.risk.unique,
        "small": None if drafted.risk is None else drafted.risk.small,
        "domain": as_json(_propose_domain(drafted)),
    }


def _propose_domain(drafted: Drafted) -> dict[str, Any]:
    """Return a domain for the field should it become a quasi-identifier: as drafted, or by its values."""
    from hierdata.domains import DOMAINS
    from hierdata.drafting.proposal import domain_of_looks

    stated = {key: value for key, value in drafted.proposal.rule.items() if key in DOMAINS}
    if stated or drafted.field.attribute is None:
        return stated or {"flat": True}
    return domain_of_looks(drafted.field.attribute.looks)


def _is_below(path: str, above: str) -> bool:
    return path == above or path.startswith((f"{above}.", f"{above}[", f"{above}/"))


def _take_examples(source: str, policy: Mapping[str, Any]) -> list[Document]:
    """Return the first records, shaped as the policy says; empty where they do not fit it."""
    from hierdata.ground.errors import HierdataError
    from hierdata.pipeline.look_over import open_shaped
    from hierdata.policy.load import from_data

    try:
        loaded = from_data(policy)
        with open_shaped(source, loaded) as (documents, _):
            return list(islice(loaded.mixed_keys.separate(documents), EXAMPLES))
    except HierdataError:
        return []


def _list_values(draft: Draft, examples: list[Document]) -> dict[str, dict[str, Any]]:
    """Return by path the values of a field with their numbers, and the records they were counted in."""
    from hierdata.drafting.profile import walk

    counts: dict[Keys, Counter[Scalar]] = {}
    for keys, values, _ in walk(examples, ()):
        counts.setdefault(keys, Counter()).update(values)
    described = {}
    for drafted in draft.fields:
        attribute = drafted.field.attribute
        whole = None if attribute is None else attribute.categories
        counted = counts.get(drafted.field.keys, Counter()) if whole is None else whole
        described[drafted.path] = {
            "of": len(examples) if whole is None else draft.records,
            "all": whole is not None and len(whole) <= MOST_VALUES,
            "values": as_json(counted.most_common(MOST_VALUES)),
        }
    return described


def load_policy(study: StudyFolder) -> Policy:
    """Load the policy of a study; its files must be in the study. Raises PolicyError, TargetError."""
    from hierdata.policy.load import load

    return load(study.folder / POLICY, root=study.folder)


def publish_release(study: StudyFolder, arguments: Mapping[str, Any], progress: Progress) -> None:
    """Make a release under the next number, and verify it against the original."""
    from hierdata.pipeline.anonymize import anonymize
    from hierdata.pipeline.verify import verify

    policy, text = load_policy(study), study.policy_text()
    number = f"{len(study.releases()) + 1:04}"
    out = study.folder / "releases" / number
    key = _key_of(policy)
    anonymize(study.source, policy, out=out, key=key, staging=out.parent, progress=progress)
    verdict = verify(out, policy, original=study.source, key=key, progress=progress)
    study.keep_figures(
        f"release-{number}",
        {"version": arguments["version"], "verified": verdict.passed, "policy": text},
    )


def _key_of(policy: Policy) -> bytes | None:
    """Return the key for pseudonyms and shifted dates from the environment, as the command line does."""
    from hierdata.ground.secrets import from_text
    from hierdata.policy.checks.records import needs_key

    if "HIERDATA_KEY" not in os.environ or not needs_key(policy) or policy.key is not None:
        return None
    return from_text(os.environ["HIERDATA_KEY"], "HIERDATA_KEY")


Task = Callable[[StudyFolder, Mapping[str, Any], Progress], "dict[str, Any] | None"]
TASKS: dict[str, Task] = {
    "survey": survey_collection,
    "prepare": prepare_preview,
    "preview": preview_release,
    "compare": compare_policies,
    "release": publish_release,
}
"""The works by name; the result of each is kept in the study under this name."""
