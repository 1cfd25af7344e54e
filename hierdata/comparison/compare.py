"""Compare policies on one collection: what each keeps, and what can be guessed.

What one policy makes of the collection is measured in a worker process, in figures, without a record.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

from hierdata.comparison.comparison import PolicyComparison, build_comparison
from hierdata.comparison.page import write_json, write_page
from hierdata.comparison.variants import Variant, list_variants
from hierdata.ground.errors import (
    GateError,
    InputError,
    PolicyError,
    PromiseError,
    TargetError,
    VerificationError,
    file_error,
)
from hierdata.ground.private_folder import PrivateFolder
from hierdata.ground.progress import Progress, silent
from hierdata.pipeline.anonymize import anonymize
from hierdata.pipeline.look_over import PolicySource
from hierdata.pipeline.points import JSON, Points, digest_file, digest_folder
from hierdata.pipeline.resources import Resources
from hierdata.pipeline.risks import attacked_figures
from hierdata.pipeline.seeds import seed_of
from hierdata.policy.load import from_data

PAGE, DATA = "comparison.html", "comparison.json"
_MARK, _FIGURES = ".comparison.json", "figures"

_SEED = bytes(16)


def compare(
    source: object,
    policy: PolicySource,
    *,
    grid: Mapping[str, Sequence[Any]] | None = None,
    policies: Mapping[str, PolicySource] | Sequence[str | os.PathLike[str]] = (),
    without: Sequence[str] = (),
    out: str | os.PathLike[str] | None = None,
    seed: bytes | None = None,
    key: bytes | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> PolicyComparison:
    """Make a release under each of several policies, and compare what they keep and let be guessed.

    ``source`` is a file, a folder, a pattern, or records as ``anonymize`` takes them from Python. Compared
    are the ``policy``; the same with every combination of the values in ``grid`` (``{"k": [2, 5]}``: a
    parameter of its models, ``alpha-k.k`` of one of them, or a key of the policy); ``policies``, by name or
    as files; and the policy ``without`` each of these models. No release is kept.

    With ``out`` the figures, but no record, are kept in this folder, which is yours alone (0700): another
    comparison of the same input measures only what is missing. ``comparison.html`` there is the page.
    ``seed`` is by default the same in all comparisons; releases draw their own. ``workers`` is the number of
    processes, by default one for each processor.

    Raises PolicyError for keys and models that the policy lacks, InputError if the input changes or is not
    that of the comparison in ``out``, TargetError if ``out`` is another folder.
    """
    named = policies if isinstance(policies, Mapping) else {Path(file).name: file for file in policies}
    if len(named) < len(policies):
        raise PolicyError("two of the policies have files of the same name; give each a name")
    variants = list_variants(policy, grid or {}, named, without)
    source = list(source) if isinstance(source, Iterator) else source
    digest = digest_input(source)
    with _folder(out, digest) as folder:
        with Resources("processes", workers=workers).open_context(len(variants), None, silent) as context:
            points = Points(folder / _FIGURES, context.executor, progress or silent)
            figures = points.measure(
                f"{measure_policy.__module__}.{measure_policy.__qualname__}",
                partial(measure_policy, source, key),
                [
                    {"policy": each.policy, "folder": str(each.folder), "seed": seed_of(seed or _SEED).hex()}
                    for each in variants
                ],
                json.dumps([digest, _digest_files(variants), _digest_key(key)]),
                words="comparing policies",
            )
        if digest_input(source) != digest:
            raise InputError("the input changed while policies were compared: compare again")
        compared = build_comparison(variants, figures)
        if out is not None:
            _write(folder / PAGE, write_page(compared, compared.costs))
            _write(folder / DATA, write_json(compared, compared.costs))
    return compared


def digest_input(source: object) -> str:
    """Return a digest of the input's bytes, or of objects of Python. Raises TargetError, PolicyError."""
    if not isinstance(source, str | os.PathLike):
        try:
            return hashlib.sha256(pickle.dumps(source)).hexdigest()
        except (TypeError, pickle.PicklingError, AttributeError):
            raise PolicyError("these records cannot be sent to worker processes: name a file") from None
    if "://" in str(source):
        raise PolicyError("a comparison reads its input many times, and a store may change: name a file")
    path = Path(source)
    try:
        if path.is_dir():
            return digest_folder(path)
        files = [path] if path.exists() else sorted(path.parent.glob(path.name))
        if not files:
            raise TargetError("there is no such file", path=str(source))
        return hashlib.sha256(b"".join(map(digest_file, files))).hexdigest()
    except OSError as error:
        raise file_error(error, f"cannot be read ({error.strerror})", path=str(source)) from None


def _digest_files(variants: Sequence[Variant]) -> str:
    """Return a digest of the files that the policies name, taxonomies for example."""
    policies = [from_data(variant.policy, variant.folder) for variant in variants]
    files = {policy.folder / name for policy in policies for _, name in policy.files()}
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(str(file).encode() + (digest_file(file) if file.is_file() else b""))
    return digest.hexdigest()


def _digest_key(key: bytes | None) -> str:
    return "" if key is None else hashlib.sha256(b"hierdata compare" + key).hexdigest()


@contextmanager
def _folder(out: str | os.PathLike[str] | None, digest: str) -> Iterator[Path]:
    """Open the folder of a comparison, or a private one that is removed."""
    if out is None:
        with PrivateFolder(None, "figures of a comparison") as private:
            (private / _FIGURES).mkdir()
            yield private
        return
    folder = Path(out)
    mark = folder / _MARK
    label = json.dumps({"comparison": digest})
    try:
        if not folder.exists() and not folder.is_symlink():
            folder.mkdir(mode=0o700)
            (folder / _FIGURES).mkdir()
            _write(mark, label)
        elif not mark.is_file():
            raise TargetError("exists, and is no folder of a comparison: name a new one", path=str(out))
        elif mark.read_text("utf-8") != label:
            raise InputError(
                "the input is not that of the comparison in this folder, or it has changed: name a new folder"
            )
    except OSError as error:
        raise file_error(error, f"cannot be created ({error.strerror})", path=str(out)) from None
    yield folder


def _write(file: Path, text: str) -> None:
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(file)


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
        "kept_fields": {path: str(share.kept.fraction) for path, share in report.kept.fields.items()},
        "worst_guess": {path: str(guess.fraction) for path, guess in report.worst_guess.items()},
        "risks": attacked_figures(report),
        "seconds": process_time() - started,
    }
