"""Read a second release of the same fields, to see what both tell together."""

from __future__ import annotations

import os
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from hierdata.documents.limits import regular_bytes
from hierdata.ground.errors import InputError, PolicyError, VerificationError, file_error
from hierdata.ground.progress import Progress, count_items
from hierdata.ground.recodings import is_built_in, traits_of
from hierdata.pipeline.release_files import read_published
from hierdata.policy.policy import Policy
from hierdata.release.layout import CODEBOOK_FILE, Released, find_release_files
from hierdata.release.public import describe_form
from hierdata.release.report.models import Codebook
from hierdata.release.report.shape import describe_steps
from hierdata.sources.open import fetch_source

if TYPE_CHECKING:
    from hierdata.forest.forest import Forest
    from hierdata.measurement.release import Rebuilt
    from hierdata.policy.plan.plan import Prepared

NOT_TIED = (
    "two releases are attacked together by values that lie in the records: both must have recoding "
    "generalization or full_domain"
)
OTHER_FIELDS = (
    "the other release has other fields than the policy ({count} differ in role or published form, or are in "
    "one of them only): give a release of the same fields"
)
OTHER_SHAPE = "the records of the other release were shaped in another way: give one of the same `shape`"
_HERE = "; this is in the other release"


def require_tied(policy: Policy) -> None:
    """Raise PolicyError where the published records do not have their own values."""
    if policy.recoding_traits.shows_members or not policy.recoding_traits.ties_values:
        raise PolicyError(NOT_TIED)


def read_other(other: object, prepared: Prepared, original: Forest, progress: Progress) -> Rebuilt:
    """Read a release that another policy, or the same at another time, made of the same fields.

    ``other`` is its folder, or its records; nothing of its original or its steward is read. Values that the
    original lacks may be in it. Raises PolicyError where it has other fields, InputError for records that do
    not fit.
    """
    from hierdata.measurement.release.data import read_data

    with fetch_source(other, prepared.policy, published=True) as hand:
        files = _find_files(hand.source, hand.policy)
        counted, _ = read_published(hand.source, files, hand.policy)
        documents = chain.from_iterable(repeat(document, count) for document, count in counted)
        try:
            return read_data(
                count_items(documents, "reading the other release", None, progress), prepared, original
            )
        except InputError as error:
            raise InputError(
                f"{error.message}{_HERE}", record=error.record, path=error.path, revealed=error.revealed
            ) from None


def _find_files(other: object, policy: Policy) -> Released | None:
    """Find the files of a folder that has the same fields; None for records that are no files."""
    if not isinstance(other, str | os.PathLike):
        return None
    for folder in (Path(other) / "public", Path(other)):
        if (codebook := folder / CODEBOOK_FILE).exists():
            _require_alike(codebook, policy)
    return find_release_files(Path(other), policy)


def _require_alike(file: Path, policy: Policy) -> None:
    """Raise PolicyError where a codebook has other fields, in another form, than the policy."""
    try:
        codebook = Codebook.model_validate_json(regular_bytes(file))
    except OSError as error:
        raise file_error(error, f"cannot be read ({error.strerror})", path=str(file)) from None
    except ValidationError:
        raise VerificationError("this is not the codebook of a release", path=str(file)) from None
    traits = traits_of(codebook.recoding) if is_built_in(codebook.recoding) else None
    if traits is None or traits.shows_members or not traits.ties_values:
        raise PolicyError(NOT_TIED)
    if codebook.shape != describe_steps(policy):
        raise PolicyError(OTHER_SHAPE)
    theirs = {
        field.path: (field.role, field.form)
        for field in codebook.fields
        if field.role in _READ and field.published
    }
    ours = {
        str(path): (str(rule.role), describe_form(policy, keys))
        for keys, (path, rule) in policy.rules_by_keys.items()
        if rule.role in _READ and rule.published_as is not None
    }
    differing = {*ours.items()} ^ {*theirs.items()}
    if differing:
        raise PolicyError(OTHER_FIELDS.format(count=len({path for path, _ in differing})))


_READ = ("quasi", "sensitive")
"""The roles of fields that an adversary compares."""
