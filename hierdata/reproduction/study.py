"""What exhibits are measured with: an effort, points on worker processes, and the table Adult.

Adult is the census income table of UCI that LE, DL and TC use: from a folder, else synthetic, of its shape.
Each point is kept, so that an interrupted run resumes.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TypeVar

from hierdata.ground.errors import InputError, TargetError
from hierdata.pipeline.points import JSON, Points

COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country",
    "salary-class",
)  # fmt: skip
"""The columns in the order of ``adult.data``. The last has several names: see ``_OTHER_NAMES``."""
NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
MISSING = "?"
"""How the table writes a missing value."""
ROWS = 32_561
_FILES = ("adult.data", "adult.csv")
_OTHER_NAMES = {"income": "salary-class", "class": "salary-class", "salary": "salary-class"}
_MOST_BYTES = 1 << 28

Value = str | int
Setting = TypeVar("Setting")


@dataclass(frozen=True)
class Adult:
    """The rows of the table, and in one sentence where they are from. Numbers are whole, the rest is text."""

    origin: str
    rows: tuple[tuple[Value, ...], ...]

    @cached_property
    def digest(self) -> str:
        """A digest of the rows."""
        lines = "\n".join("\t".join(map(str, row)) for row in self.rows)
        return sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()

    def draw(
        self, columns: Sequence[str], count: int | None = None, seed: int = 0, *, complete: bool = False
    ) -> list[dict[str, Value]]:
        """Return rows as dicts of some columns: all, or ``count`` drawn without replacement by a seed.

        With ``complete`` rows that miss a value in one of the columns are left out first. Where there are
        fewer than ``count``, all are returned. The order is that of the table.
        """
        places = [COLUMNS.index(name) for name in columns]
        rows: Sequence[tuple[Value, ...]] = self.rows
        if complete:
            rows = [row for row in rows if MISSING not in (row[place] for place in places)]
        if count is not None and count < len(rows):
            chosen = sorted(random.Random(seed).sample(range(len(rows)), count))  # noqa: S311
            rows = [rows[number] for number in chosen]
        return [{name: row[place] for name, place in zip(columns, places, strict=True)} for row in rows]


def read_adult(folder: Path) -> Adult:
    """Read ``adult.data`` of UCI, or ``adult.csv`` with a header. Raises TargetError and InputError."""
    if not folder.is_dir():
        raise TargetError("there is no such folder with the table Adult", path=str(folder))
    file = next((folder / name for name in _FILES if (folder / name).is_file()), None)
    if file is None:
        raise TargetError(f"the folder has neither {' nor '.join(_FILES)}", path=str(folder))
    if file.stat().st_size > _MOST_BYTES:
        raise InputError("the file is too large for the table Adult", path=str(file))
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            rows = tuple(_read_rows(stream, file))
    except (UnicodeDecodeError, csv.Error):
        raise InputError("the file is no CSV in UTF-8", path=str(file)) from None
    if not rows:
        raise InputError("the table has no rows", path=str(file))
    return Adult(f"Adult, {len(rows):,} rows, read from {file.name}.", rows)


def _read_rows(stream: Iterable[str], file: Path) -> Iterator[tuple[Value, ...]]:
    lines = csv.reader(stream, skipinitialspace=True)
    names = (
        COLUMNS if file.suffix == ".data" else tuple(_OTHER_NAMES.get(name, name) for name in next(lines, []))
    )
    if lost := [name for name in COLUMNS if name not in names]:
        raise InputError(f"the table lacks the columns {', '.join(lost)}", path=str(file))
    places = {name: names.index(name) for name in COLUMNS}
    for number, cells in enumerate(lines, 1):
        if not cells:
            continue
        if len(cells) != len(names):
            raise InputError(f"the row does not have {len(names)} cells", record=number, path=str(file))
        try:
            yield tuple(_value(name, cells[place].strip()) for name, place in places.items())
        except ValueError:
            message = f"one of {', '.join(NUMBERS)} is no whole number"
            raise InputError(message, record=number, path=str(file)) from None


def _value(name: str, cell: str) -> Value:
    if name not in NUMBERS:
        return cell
    if len(cell) > 12:
        raise ValueError
    return int(cell)


EDUCATION = {
    "HS-grad": 10501, "Some-college": 7291, "Bachelors": 5355, "Masters": 1723, "Assoc-voc": 1382,
    "11th": 1175, "Assoc-acdm": 1067, "10th": 933, "7th-8th": 646, "Prof-school": 576, "9th": 514,
    "12th": 433, "Doctorate": 413, "5th-6th": 333, "1st-4th": 168, "Preschool": 51,
}  # fmt: skip
"""How often each value of education occurs in the 32,561 rows of Adult."""
_YEARS = (
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college",
    "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
)  # fmt: skip
"""Education in the order of education-num, from 1."""
_SHARES: dict[str, dict[str, float]] = {
    "workclass": {
        "Private": 70, "Self-emp-not-inc": 8, "Local-gov": 6, MISSING: 6, "State-gov": 4, "Self-emp-inc": 3,
        "Federal-gov": 3, "Without-pay": 0.04, "Never-worked": 0.02,
    },
    "marital-status": {
        "Married-civ-spouse": 46, "Never-married": 33, "Divorced": 14, "Separated": 3, "Widowed": 3,
        "Married-spouse-absent": 1.3, "Married-AF-spouse": 0.07,
    },
    "occupation": {
        "Prof-specialty": 12.7, "Craft-repair": 12.6, "Exec-managerial": 12.5, "Adm-clerical": 11.6,
        "Sales": 11.2, "Other-service": 10.1, "Machine-op-inspct": 6.1, MISSING: 5.7, "Transport-moving": 4.9,
        "Handlers-cleaners": 4.2, "Farming-fishing": 3.1, "Tech-support": 2.9, "Protective-serv": 2,
        "Priv-house-serv": 0.5, "Armed-Forces": 0.03,
    },
    "relationship": {
        "Husband": 40, "Not-in-family": 26, "Own-child": 16, "Unmarried": 11, "Wife": 5, "Other-relative": 3,
    },
    "race": {
        "White": 85.4, "Black": 9.6, "Asian-Pac-Islander": 3.2, "Amer-Indian-Eskimo": 1, "Other": 0.8,
    },
    "sex": {"Male": 67, "Female": 33},
    "native-country": {
        "United-States": 90, "Mexico": 2, MISSING: 2, "Philippines": 0.6, "Germany": 0.4, "Canada": 0.4,
        "Puerto-Rico": 0.4, "El-Salvador": 0.3, "India": 0.3, "Cuba": 0.3, "England": 0.3, "Jamaica": 0.2,
        "South": 0.2, "China": 0.2, "Italy": 0.2, "Dominican-Republic": 0.2, "Vietnam": 0.2, "Guatemala": 0.2,
        "Japan": 0.2, "Poland": 0.2, "Columbia": 0.2,
    },
    "salary-class": {"<=50K": 76, ">50K": 24},
}  # fmt: skip
"""Shares of the values, in percent, rounded."""


def synthesize_adult(rows: int = ROWS) -> Adult:
    """Make a synthetic table of Adult's shape: its columns and about its shares, columns independent.

    Only education-num follows from education. Education has the very counts of Adult.
    """
    rng = random.Random(1996)  # noqa: S311  # the same table each time
    values: dict[str, list[Value]] = {
        name: [*rng.choices(list(shares), list(shares.values()), k=rows)] for name, shares in _SHARES.items()
    }
    education = [value for value, count in EDUCATION.items() for _ in range(count)]
    rng.shuffle(education)
    values["education"] = [education[row % len(education)] for row in range(rows)]
    values["education-num"] = [_YEARS.index(str(value)) + 1 for value in values["education"]]
    values["age"] = [min(90, max(17, round(rng.gauss(38.6, 13.6)))) for _ in range(rows)]
    values["fnlwgt"] = [round(rng.lognormvariate(12.05, 0.55)) for _ in range(rows)]
    values["hours-per-week"] = [
        40 if rng.random() < 0.47 else min(99, max(1, round(rng.gauss(40, 16)))) for _ in range(rows)
    ]
    values["capital-gain"] = [
        round(rng.lognormvariate(8.7, 0.9)) if rng.random() < 0.083 else 0 for _ in range(rows)
    ]
    values["capital-loss"] = [round(rng.gauss(1870, 380)) if rng.random() < 0.047 else 0 for _ in range(rows)]
    columns = [values[name] for name in COLUMNS]
    origin = (
        f"A synthetic table of Adult's shape, {rows:,} rows: columns and shares of values as there, but"
        " independent of each other. With --data the figures are those of Adult itself."
    )
    return Adult(origin, tuple(zip(*columns, strict=True)))


@dataclass(frozen=True)
class Effort:
    """How much is measured. ``repeats`` is the number of data sets or seeds behind each point of a figure.

    ``scale`` (above 0, at most 1) is the share of the records that a figure would take; the commands take
    all. ``slow_scale`` is the same for the slowest figures, which say so. Raises ValueError.
    """

    name: str
    repeats: int
    scale: float = 1
    slow_scale: float = 1

    def __post_init__(self) -> None:
        if self.repeats < 1 or not (0 < self.scale <= 1 and 0 < self.slow_scale <= 1):
            raise ValueError("an effort has at least one repeat and scales above 0, at most 1")

    def scale_records(self, records: int, least: int = 1) -> int:
        """Return how many records to take where a figure would take ``records``, but not below ``least``."""
        return max(round(records * self.scale), min(least, records))


EFFORTS = {"quick": Effort("quick", 2, scale=0.3, slow_scale=0.27), "full": Effort("full", 10)}
"""What the command offers, by name."""


@dataclass(frozen=True)
class Study:
    """What the exhibits of a paper are measured with: an effort, the table Adult, and kept points.

    A point is one call of a function. It is kept as a file in ``points``, named by a digest of the function's
    name, its arguments, the files of the package and, if it takes Adult, of that table. A point that is there
    is not measured again, whatever the effort.
    """

    effort: Effort
    adult: Adult
    points: Points

    def measure(self, function: Callable[..., JSON], arguments: Sequence[Mapping[str, JSON]]) -> list[JSON]:
        """Return ``function(**each)`` for each of the arguments, in order.

        ``function`` is defined at the top level of a module; arguments and results are data as JSON has it.
        It draws whatever is random from a seed among its arguments. Points that are missing are measured by
        the workers, in order, and kept as they finish.
        """
        return self._measure(function, function, arguments, "")

    def measure_on_adult(
        self, function: Callable[..., JSON], arguments: Sequence[Mapping[str, JSON]]
    ) -> list[JSON]:
        """Return ``function(adult, **each)`` for each of the arguments; else like ``measure``."""
        return self._measure(function, partial(function, self.adult), arguments, self.adult.digest)

    def repeat(
        self,
        function: Callable[..., JSON],
        settings: Mapping[Setting, Mapping[str, JSON]],
        seeds: Sequence[int] = (),
        *,
        on_adult: bool = True,
    ) -> dict[Setting, list[JSON]]:
        """Measure each setting once with every seed; return its results, in the order of the seeds.

        ``settings`` are the arguments but for ``seed``. Seeds are by default as many as the effort has
        repeats, from 1.
        """
        seeds = seeds or range(1, self.effort.repeats + 1)
        arguments = [{**stated, "seed": seed} for stated in settings.values() for seed in seeds]
        points = iter((self.measure_on_adult if on_adult else self.measure)(function, arguments))
        return {setting: list(islice(points, len(seeds))) for setting in settings}

    def _measure(
        self,
        function: Callable[..., JSON],
        call: Callable[..., JSON],
        arguments: Sequence[Mapping[str, JSON]],
        data: str,
    ) -> list[JSON]:
        stage = f"{function.__module__}.{function.__qualname__}"
        return self.points.measure(stage, call, arguments, data, words=_words(stage))


def _words(stage: str) -> str:
    """Return the name of a stage for people: the paper's code, what it belongs to, and the function."""
    *_, module, function = stage.split(".")
    paper, _, part = module.partition("_")
    return f"{paper.upper()}, {part}: {function.strip('_').replace('_', ' ')}"
