"""What lint foresees beside what is released, and what changes of the policy help.

``python -m tests.benchmarks.foresee [NAME ...]``. A forecast searches at most 400 records, a
release all. Then each collection is searched as a whole with one change of its policy at a time:
``sets_and_ranges``, all values read one by one or by presence, and weight 5 on the deepest values.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import hierdata
from hierdata.ground.errors import PolicyError
from hierdata.pipeline import foresee
from hierdata.pipeline.look_over import open_shaped, survey_collection
from hierdata.policy.load import add_unlisted, load, without_required_fields
from hierdata.release.report.wording import percent, share
from tests.benchmarks.engine import header, row
from tests.benchmarks.real_collections import COLLECTIONS
from tests.benchmarks.worth import BUNDLED, inputs

NAMES = (*BUNDLED, "diabetes130", "travel_survey", "oulad")
FORECAST = ("collection", "", "records", "published by type", "kept in all", "CPU s")
CHANGES = ("collection", "change", "published by type", "kept by type", "kept in all", "mean loss of QI")


def searched(source: Path, file: Path, most: int | None) -> foresee.Searched:
    """A search of a sample as lint makes it, or of ``most`` records at once whatever that takes."""
    policy = load(file)
    found, hints = survey_collection(source, policy)
    stated = without_required_fields(add_unlisted(policy, found.shape, hints))
    sample, longest = (foresee.SAMPLE, foresee._SECONDS) if most is None else (most, 1e9)
    with (
        patch.multiple(foresee, SAMPLE=sample, _SECONDS=longest),
        open_shaped(source, policy) as (documents, _),
    ):
        records = foresee.take_sample(documents, found.records)
        return foresee.search_sample(records, stated, hints, found, found.records)


def compared(name: str, source: Path, file: Path) -> Iterator[tuple[object, ...]]:
    """The lines of a forecast and of the release."""
    start = time.process_time()
    found = searched(source, file, None)
    published = (percent(*counts) for counts in found.published.values())
    yield name, "foreseen", found.records, ", ".join(published), kept(found), f"{seconds(start):.1f}"
    start = time.process_time()
    resources = hierdata.Resources("serial")
    report = hierdata.anonymize(source, file, seed=bytes(16), resources=resources).report
    published = (percent(tally.published, tally.input) for tally in report.counts.vertices.values())
    total = share(report.metrics["kept"].total)
    yield name, "released", report.counts.records.input, ", ".join(published), total, f"{seconds(start):.1f}"


def changed(stated: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The policy, and the policy with each change."""
    sensitive = [
        path
        for path, rule in stated["fields"].items()
        if rule.get("role") == "sensitive" and "action" not in rule
    ]
    deepest = max(sensitive, key=lambda path: path.count("[*]"))
    yield "none", stated
    yield "`recoding: sets_and_ranges`", {**stated, "recoding": "sets_and_ranges"}
    for asks in ("value", "presence"):
        yield f"`asks: {asks}`", with_rules(stated, {path: {"asks": asks} for path in sensitive})
    yield f"`weight: 5` on `{deepest}`", with_rules(stated, {deepest: {"weight": 5}})


def with_rules(stated: dict[str, Any], more: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The policy with more in some of its rules."""
    return {
        **stated,
        "fields": {path: {**rule, **more.get(path, {})} for path, rule in stated["fields"].items()},
    }


def helped(name: str, source: Path, file: Path, stated: dict[str, Any]) -> Iterator[tuple[object, ...]]:
    """A line for each change."""
    for what, policy in changed(stated):
        file.write_text(json.dumps(policy, default=str))
        try:
            found = searched(source, file, sys.maxsize)
        except PolicyError:  # no model here reads values by presence
            yield name, what, "refused", *("" for _ in CHANGES[3:])
            continue
        lost = [1 - float(found.shares.fields[path].kept) for path in found.quasi]
        yield (
            *(name, what, ", ".join(percent(*counts) for counts in found.published.values())),
            ", ".join(share(float(own.kept)) for own in found.shares.vertices.values()),
            *(kept(found), f"{sum(lost) / max(1, len(lost)):.3f}"),
        )


def kept(found: foresee.Searched) -> str:
    """What is kept in all."""
    return "" if found.shares.total is None else share(float(found.shares.total.kept))


def seconds(start: float) -> float:
    return time.process_time() - start


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    options.add_argument("--records", type=int, help="only the first of each real collection")
    options.add_argument("--no-changes", action="store_true", help="only forecasts and releases")
    return options


def main(argv: list[str] | None = None) -> None:
    asked = parser().parse_args(argv)
    found: list[tuple[object, ...]] = []
    header("Foreseen and released", *FORECAST)
    for name in asked.names or NAMES:
        if name in COLLECTIONS and not COLLECTIONS[name].is_there():
            row(name, "skipped: it does not lie beside the repository", *("" for _ in FORECAST[2:]))
            continue
        with tempfile.TemporaryDirectory() as temporary:
            target = Path(temporary) / name
            target.mkdir()
            source, stated = inputs(name, target, asked.records)
            file = target / "policy.yaml"
            file.write_text(json.dumps(stated, default=str))
            for cells in compared(name, source, file):
                row(*cells)
            sys.stdout.flush()
            if not asked.no_changes:
                found += helped(name, source, file, stated)
    header("What helps", *CHANGES)
    for cells in found:
        row(*cells)


if __name__ == "__main__":
    main()
