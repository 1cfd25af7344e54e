"""The facts frozen at publication, and the files of a release as verify finds them (DECISIONS 1 and 2)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from hierdata.errors import PolicyError, TargetError, VerificationError
from hierdata.policy import Policy
from hierdata.report.models import SensitiveFacts, Verification

if TYPE_CHECKING:
    from hierdata.prepare import Prepared

FACTS_FILE = Path("steward") / "verification.json"


def fingerprint(policy: Policy) -> str:
    """The SHA-256 of a policy's promise: models, recoding and every field that is no quasi-identifier.

    How the policy is written down, where the input lies and how values are generalized do not matter to the
    facts.
    """
    promise = {
        "models": [model.model_dump(mode="json") for model in policy.models],
        "recoding": policy.recoding,
        "fields": {
            "/".join(keys): rule.model_dump(mode="json", exclude_defaults=True)
            for keys, (_, rule) in policy.by_keys.items()
            if keys not in policy.quasi
        },
    }
    return hashlib.sha256(json.dumps(promise, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def freeze(prepared: Prepared, version: str) -> Verification:
    """What verify must know beside the policy and the published file."""
    policy = prepared.policy
    sensitive = {}
    for keys, rule in policy.sensitive.items():
        scale = prepared.scales[keys]
        sensitive[str(policy.by_keys[keys][0])] = SensitiveFacts(
            scale=None if scale is None else scale.facts(), number=rule.number
        )
    return Verification(
        version=version,
        dataset=policy.dataset,
        policy=fingerprint(policy),
        sensitive=sensitive,
        quasi=prepared.codebooks,
    )


def read_facts(file: Path | None, policy: Policy) -> Mapping[str, Any] | None:
    """The frozen facts by sensitive path; None where there is no file.

    Raises VerificationError for a file that is none, or belongs to another policy.
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
    if facts.policy != fingerprint(policy):
        raise VerificationError("the facts were frozen under another policy", path=str(file))
    return {path: own.model_dump() for path, own in facts.sensitive.items()}


def released_files(published: Path) -> tuple[Path, Path | None]:
    """The file of records of a release folder (or the file given), and its frozen facts if any."""
    if not published.is_dir():
        return published, None
    folder = published / "public" if (published / "public").is_dir() else published
    records = sorted(folder.glob("records.*"))
    if len(records) != 1:
        raise PolicyError(
            "this folder is no release: there is not one file public/records.*", path=str(published)
        )
    facts = folder.parent / FACTS_FILE
    return records[0], facts if facts.is_file() else None
