"""Tables I and II of TC: the example, and the classes that it calls t-close."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from hierdata.engines import Engine
from hierdata.engines.kaca.engine import KACA
from hierdata.engines.reassignment.swap import Swap
from hierdata.engines.reassignment.swarm import Swarm
from hierdata.pipeline.anonymize import anonymize
from hierdata.privacy import TCloseness
from hierdata.privacy.base import ClassView
from hierdata.privacy.wording import number
from hierdata.reproduction.exhibit import Exhibit, Grid
from hierdata.reproduction.tc.printed import disease_domain, diseases, facts, printed_table

_SEED = bytes(16)
Split = tuple[tuple[int, ...], ...]


def table_one() -> Exhibit:
    """Table I: the original."""
    printed = printed_table("table I")
    found = len({(row[1], row[2]) for row in printed.rows})
    return Exhibit(
        "Table I",
        "six records with weight, age and disease",
        "The table that is anonymized. Weight and age are quasi-identifiers, the disease is sensitive.",
        printed=printed,
        ours=Grid(
            ("of the table", "number"),
            (
                ("records", len(printed.rows)),
                ("combinations of weight and age", found),
                ("different diseases", len({*diseases()})),
            ),
        ),
    )


def table_two() -> Exhibit:
    """Table II: the classes called t-close, beside all other splits, and what our engine finds."""
    printed_split = _split_as_printed()
    distances = {split: _distance(split) for split in _halves(len(diseases()))}
    own = distances[printed_split]
    nearer = sum(distance < own for distance in distances.values())
    rows = [
        (" | ".join(_names(rows) for rows in split), distance, "printed" if split == printed_split else "")
        for split, distance in sorted(distances.items(), key=lambda item: (-item[1], item[0]))
    ]
    best = min(distances.values())
    found = {"swaps": _search(best, Swap()), "a swarm": _search(best, Swarm())}
    rows += [
        (f"by {name}: {' | '.join(map(_names, split))}", t, "found") for name, (split, t) in found.items()
    ]
    return Exhibit(
        "Table II",
        "two classes of three that are called t-close",
        "The classes of the records 1, 3, 4 and 2, 5, 6. The text has 1/2 as the distance of the first.",
        printed=printed_table("table II"),
        ours=Grid(("classes", "largest distance", ""), tuple(rows)),
        differs=f"{nearer} of the {len(distances)} splits into three and three are nearer to the table "
        f"than the "
        f"printed one, which has {number(own)}; the best have {number(min(distances.values()))}."
        if nearer
        else "",
        errata=("TC-2", "TC-4", "TC-6"),
    )


def _split_as_printed() -> Split:
    classes: dict[str, list[int]] = {}
    for own, *_, disease in printed_table("table II").rows:
        classes.setdefault(str(own), []).append(diseases().index(str(disease)))
    return tuple(tuple(sorted(rows)) for rows in classes.values())


def _halves(records: int) -> Iterator[Split]:
    """Yield every split into two classes of equal size, the first with the first record."""
    for first in combinations(range(records), records // 2):
        if first[0] == 0:
            yield first, tuple(row for row in range(records) if row not in first)


def _distance(split: Sequence[Sequence[int]]) -> Fraction:
    """Return the largest distance of a class, as our model has it."""
    bound = TCloseness(t=Fraction(1)).bind(disease_domain())
    return max(bound.achieved_parameters(ClassView(len(rows), dict.fromkeys(rows, 1)))["t"] for rows in split)


def _search(t: Fraction, step: Engine) -> tuple[Split, Fraction]:
    """Return the classes that a run of two steps publishes, and the largest distance that it states."""
    names = ("ID", "Weight", "Age", "Disease")
    records = [dict(zip(names, row, strict=True)) for row in printed_table("table I").rows]
    policy = {
        "version": 1,
        "suppressed": "as_published",
        "models": [{"kind": "k-anonymity", "k": 3}, {"kind": "t-closeness", "t": str(t)}],
        "engine": {"steps": [KACA(), step]},
        "fields": {
            "$.ID": {"role": "insensitive", "exempt": "the page shows which record is where"},
            "$.Weight": {"role": "quasi", "interval": {"steps": [10, 20], "domain": [50, 90]}},
            "$.Age": {"role": "quasi", "interval": {"steps": [10, 20], "domain": [40, 80]}},
            "$.Disease": {"role": "sensitive", "taxonomy": {"tree": facts()["tree"]}},
        },
    }
    release = anonymize(records, policy, seed=_SEED)
    classes: dict[tuple[str, str], list[int]] = {}
    for record in release.records():
        shown = str(record["Weight"]), str(record["Age"])
        classes.setdefault(shown, []).append(int(str(record["ID"])) - 1)
    (close,) = (own for own in release.report.promises if "t" in own.achieved)
    split = tuple(sorted(tuple(sorted(rows)) for rows in classes.values()))
    return split, close.achieved["t"].fraction


def _names(rows: Sequence[int]) -> str:
    """Return the records of a class by their IDs."""
    return ", ".join(str(row + 1) for row in rows)
