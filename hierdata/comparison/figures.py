"""What one policy makes of a collection, in figures: measured in a worker process, without a record."""

from __future__ import annotations

from time import process_time
from typing import Any

from hierdata.executors.points import JSON
from hierdata.ground.errors import GateError, PolicyError, PromiseError, VerificationError
from hierdata.pipeline.anonymize import anonymize
from hierdata.pipeline.resources import Resources
from hierdata.policy.load import from_data


def measure_policy(
    source: object, key: bytes | None, *, policy: dict[str, Any], folder: str, seed: str
) -> JSON:
    """Return the figures of a release under a policy; of one that cannot be made, the reason.

    Shares are exact, as texts such as "1/3". The release itself is removed.
    """
    started = process_time()
    try:
        stated = from_data(policy, folder)
        release = anonymize(source, stated, seed=bytes.fromhex(seed), key=key, resources=Resources("serial"))
    except (GateError, PolicyError, PromiseError, VerificationError) as error:
        return {"refused": str(error), "seconds": process_time() - started}
    report = release.report
    total = report.kept.total
    return {
        "refused": None,
        "records": report.counts.records.input,
        "published": report.counts.records.published,
        "classes": report.counts.classes,
        "smallest": report.counts.smallest_class,
        "kept": None if total is None else str(total.kept.fraction),
        "kept_fields": {path: str(own.kept.fraction) for path, own in report.kept.fields.items()},
        "worst_guess": {path: str(guess.fraction) for path, guess in report.worst_guess.items()},
        "seconds": process_time() - started,
    }
