"""All steps to measure a table or trees without a release, and a release from its files and the original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hierdata.domains.semantic_partition import SemanticPartition
from hierdata.ground.errors import PolicyError
from hierdata.ground.progress import Progress, silent
from hierdata.pipeline.look_over import PolicySource, look_over, read_policy
from hierdata.pipeline.read_release import read_release
from hierdata.policy.load import from_data
from hierdata.policy.policy import Policy
from hierdata.sources.open import fetch_source

if TYPE_CHECKING:
    from hierdata.measurement.release.measuring import ReleaseMeasurement
    from hierdata.measurement.table import Goal, Measurement


_READING = ("format", "namespaces", "records", "tables", "csv", "individual", "shape")
"""The keys of a policy that say how records are read."""


def measure(
    source: object,
    *,
    keys: Sequence[str],
    sensitive: str,
    partition: str | Path | Mapping[str, Any] | SemanticPartition | None = None,
    root: str | Path | None = None,
    originals: Mapping[str, str] | None = None,
    policy: PolicySource | None = None,
    format: str | None = None,
    progress: Progress = silent,
) -> Measurement:
    """Measure the discrimination rates of a table or of trees: how far each key reveals ``sensitive``.

    A flat table is a path (CSV, JSON, JSON Lines, Parquet), a DataFrame, an Arrow table or an iterable of
    dicts; keys and ``sensitive`` are names of columns. Where these are paths, such as ``$.courses[*].grade``
    or ``/students/student/course/@code``, or with a ``policy``, the source is anything that ``anonymize``
    takes. The ``policy`` then says how it is read: its ``tables``, ``records``, ``namespaces``, ``format``,
    ``csv``, ``individual`` and ``shape``, and ``map``, ``vertex``, ``missing``, ``number`` and ``same`` of
    its fields. In trees persons count, not items: X is the value of one item of the person, each with the
    same probability, and keys must be at the vertex of ``sensitive`` or above it.

    With a ``partition`` the sensitive attribute is the block of its value (SeDR): a file, or the content of
    one (``blocks``, ``depth`` with ``taxonomy``, or ``levels``); a taxonomy that the file names must be below
    ``root``, by default the folder above its own. ``originals`` names for a key of a flat table the column
    that it generalizes: then identity risk and skewness are measured too. A missing value of a key is a
    value; rows without a sensitive value are left out. Rates are no promise and judge no release.

    Raises PolicyError for columns, paths and partitions that do not fit, InputError for broken input.

    >>> people = [{"age": "2*", "illness": "flu"}, {"age": "2*", "illness": "flu"}]
    >>> people += [{"age": "3*", "illness": "flu"}, {"age": "3*", "illness": "cold"}]
    >>> found = measure(people, keys=["age"], sensitive="illness")
    >>> round(found.entropy, 3), round(float(found.keys[0].rate), 3), found.keys[0].values["v1"].refinement
    (0.811, 0.384, Fraction(1, 1))
    """
    from hierdata.measurement.table import check_names, load_goal, measure_table
    from hierdata.sources.flat_tables import open_table

    check_names(keys, sensitive, originals or {})
    names = (*keys, sensitive)
    if policy is not None or any(name.startswith(("$", "/")) for name in names):
        if originals:
            raise PolicyError("an original of a key belongs to flat tables: name columns, not paths")
        stated = None if policy is None else read_policy(policy)
        goal = None if partition is None else load_goal(partition, root)
        return _measure_trees(source, keys, sensitive, goal, stated, format, progress)
    with open_table(source, format) as table:
        return measure_table(
            table,
            keys=keys,
            sensitive=sensitive,
            partition=partition,
            root=root,
            originals=originals,
            progress=progress,
        )


def _measure_trees(
    source: object,
    keys: Sequence[str],
    sensitive: str,
    goal: tuple[Goal, Path] | None,
    policy: Policy | None,
    format: str | None,
    progress: Progress,
) -> Measurement:
    from hierdata.measurement.trees import measure_trees
    from hierdata.pipeline.encode import encode_whole

    asked = _reading_policy(keys, sensitive, policy, format)
    with (
        fetch_source(source, asked) as hand,
        look_over(hand.source, hand.policy, None, None, None, progress, again=True) as looked,
    ):
        forest = encode_whole(looked)
    return measure_trees(forest, keys, sensitive, goal)


def _reading_policy(keys: Sequence[str], sensitive: str, policy: Policy | None, format: str | None) -> Policy:
    """Return a policy that reads the keys and the sensitive attribute, and nothing else."""
    stated: dict[str, Any] = {"version": 1, "unlisted": "drop", "models": [{"kind": "k-anonymity", "k": 2}]}
    fields: dict[str, dict[str, Any]] = {key: {"role": "quasi", "flat": True} for key in keys}
    fields[sensitive] = {"role": "sensitive"}
    if policy is not None:
        reading = policy.model_dump(include=set(_READING), exclude_none=True)
        stated |= {key: reading[key] for key in _READING if reading.get(key)}
        for path, rule in policy.fields.items():
            for key in ("map", "vertex"):
                if getattr(rule, key):
                    fields.setdefault(path, {key: True, "optional": True})
        for name, asked in fields.items():
            stated_rule = policy.rules_by_keys.get(policy.path(name).keys)
            if stated_rule is not None and "role" in asked:
                spelled = {"missing"} if asked["role"] == "quasi" else {"missing", "number", "same"}
                asked |= stated_rule[1].model_dump(include=spelled, exclude_defaults=True)
    if format is not None:
        stated["format"] = format
    return from_data(stated | {"fields": fields})


def measure_release(
    published: object,
    policy: PolicySource,
    *,
    original: object,
    key: bytes | None = None,
    progress: Progress | None = None,
) -> ReleaseMeasurement:
    """Measure every metric of a release, from the published records and the original alone.

    ``published`` is a release folder, a file, or an iterable of dicts or lxml elements; ``original`` is the
    input, as for ``anonymize``. Neither report nor seed is needed, and no record is linked to its original:
    records that only the original has were suppressed. ``key`` is the key of the release, needed if dates
    were moved; where the policy's shape draws items at random, ``published`` must be the folder with the
    steward's files. Nothing is judged: see ``verify``.

    Raises VerificationError if the release does not belong to this original and policy, InputError for
    records that do not fit, PolicyError for attackers that do not fit.
    """
    from hierdata.measurement.release.measuring import measure_rebuilt

    read = read_release(published, policy, original=original, key=key, progress=progress)
    return measure_rebuilt(read.rebuilt, read.prepared)
