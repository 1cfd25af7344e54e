"""Write synthetic records, with a policy and the taxonomies, ready for ``hierdata anonymize``."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from hierdata.ground.errors import PolicyError, TargetError, file_error
from hierdata.synth.patients import PATIENT_TAXONOMIES
from hierdata.synth.vocabulary import GRADES, TAXONOMIES, csv_text


class Companions(NamedTuple):
    """What is written with records: a policy in YAML, and taxonomies by name."""

    policy: str
    taxonomies: Mapping[str, tuple[tuple[str, ...], ...]]


def write(records: Iterable[dict[str, Any]], out: Path, companions: Companions) -> None:
    """Write the records to ``out``, and ``<stem>.policy.yaml`` and ``taxonomies/*.csv`` to the same folder.

    The suffix determines the form: ``.json`` is an array, ``.jsonl`` one record per line, either also with
    ``.gz``. Only one record is held in memory at a time. Everything is written or nothing. Raises PolicyError
    for another suffix, TargetError if a file already exists (except a taxonomy with the same content) or
    cannot be written.
    """
    suffix = next((suffix for suffix in FORMS if out.name.endswith(suffix) and out.name != suffix), None)
    if suffix is None:
        raise PolicyError(f"the name of the output must end in one of {', '.join(FORMS)}")
    texts = {out.with_name(out.name.removesuffix(suffix) + ".policy.yaml"): companions.policy}
    for name, lines in companions.taxonomies.items():
        texts[out.parent / "taxonomies" / f"{name}.csv"] = csv_text(lines)
    try:
        with ExitStack() as undo:
            stream = _create(out, undo)
            for path, text in texts.items():
                _write_text(path, text, undo)
            with stream, _open_packed(stream, suffix) as packed:
                packed.writelines(line.encode() for line in FORMS[suffix](records))
            undo.pop_all()
    except FileExistsError as error:
        raise TargetError(f"{error.filename} is already there; nothing was written") from error
    except OSError as error:
        raise file_error(error, f"{error.filename or out} cannot be written: {error.strerror}") from error


def _create(path: Path, undo: ExitStack) -> BinaryIO:
    """Open a new file; ``undo`` closes and removes it."""
    stream = path.open("xb")
    undo.callback(path.unlink)
    undo.callback(stream.close)
    return stream


def _write_text(path: Path, text: str, undo: ExitStack) -> None:
    """Write a new file, in a new folder if necessary; an existing CSV file with the same content is kept."""
    data = text.encode()
    if not path.parent.exists():
        path.parent.mkdir()
        undo.callback(path.parent.rmdir)
    if path.suffix == ".csv" and path.is_file() and path.read_bytes() == data:
        return
    with _create(path, undo) as stream:
        stream.write(data)


def _open_packed(stream: BinaryIO, suffix: str) -> BinaryIO:
    if not suffix.endswith(".gz"):
        return stream
    # No name and no time in the header, so that the same records give the same bytes.
    return cast("BinaryIO", gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0))


def json_array(records: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the records as the lines of a JSON array, one record per line.

    >>> "".join(json_array([{"gpa": Decimal("3.70")}, {}])).split()
    ['[', '{"gpa":3.70},', '{}', ']']
    """
    before = "[\n"
    for record in records:
        yield before + json_text(record)
        before = ",\n"
    yield "\n]\n" if before == ",\n" else "[]\n"


def json_lines(records: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the records as JSON Lines."""
    for record in records:
        yield json_text(record) + "\n"


FORMS = {".json": json_array, ".json.gz": json_array, ".jsonl": json_lines, ".jsonl.gz": json_lines}


def json_text(value: Any) -> str:
    """Return a synthetic value as JSON; unlike with the json module, decimals keep their digits.

    >>> json_text({"score": Decimal("1.0"), "of": ["a", 2]})
    '{"score":1.0,"of":["a",2]}'
    """
    if isinstance(value, dict):
        return "{" + ",".join([f'"{key}":{json_text(item)}' for key, item in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ",".join([json_text(item) for item in value]) + "]"
    if isinstance(value, Decimal):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def beside_students(depth: int) -> Companions:
    """Return the policy and the taxonomies for students of this depth."""
    names = ("major", "course", "instructor") if depth == 3 else ("major", "course")
    return Companions(student_policy(depth), {name: TAXONOMIES[name] for name in names})


def beside_patients() -> Companions:
    """Return the policy and the taxonomies for patients with encounters."""
    return Companions(patient_policy(), PATIENT_TAXONOMIES)


def student_policy(depth: int) -> str:
    """Return a policy in YAML as in ML section 5: level-alpha-k with k = 5, and the default engine.

    Those who are left out are as the search leaves them: see the comment in the policy.
    """
    grades = ", ".join(f"{grade}: {level}" for grade, level in GRADES.items())
    rules = {
        "id": "role: identifier, action: drop",
        "major": "role: quasi, taxonomy: taxonomies/major.csv",
        "birth_year": "role: quasi, interval: {steps: [1, 2, 5, 10]}",
        "gpa": "role: sensitive, levels: {domain: [0, 4], sensitive: low}",
        "courses[*].code": "role: quasi, taxonomy: taxonomies/course.csv",
        "courses[*].grade": f"role: sensitive, levels: {{by: {{{grades}}}}}",
    }
    if depth == 3:
        rules["courses[*].evaluations[*].instructor"] = "role: quasi, taxonomy: taxonomies/instructor.csv"
        rules["courses[*].evaluations[*].score"] = "role: sensitive, levels: {domain: [0, 1], sensitive: low}"
    fields = "".join(f"  $.{path}: {{{rule}}}\n" for path, rule in rules.items())
    return (
        "# Synthetic students: these data contain no real people.\n"
        "version: 1\n"
        "dataset: students\n"
        "models:\n"
        "  - {kind: level-alpha-k, k: 5, alpha: [0.8, 0.6, 0.4, 0.2, 0.1]}\n"
        "# More values are of level 5 than those who are left out could have among themselves.\n"
        "suppressed: as_published\n"
        f"fields:\n{fields}"
    )


def patient_policy() -> str:
    """Return a policy in YAML: k = 5, no sensitive value more frequent than a half, the default engine."""
    return """\
# Synthetic patients: these data contain no real people.
version: 1
dataset: patients
models:
  - {kind: k-anonymity, k: 5}
  - {kind: frequency-l-diversity, l: 2}
fields:
  $.id: {role: identifier, action: drop}
  $.birth_date: {role: quasi, date: {steps: [month, year, decade]}}
  $.postal_code: {role: quasi, prefix: {keep: [5, 3, 2, 1]}}
  $.sex: {role: quasi, flat: true}
  $.encounters[*].start: {role: quasi, date: {steps: [month, year, decade]}}
  $.encounters[*].class: {role: quasi, taxonomy: taxonomies/encounter.csv}
  $.encounters[*].conditions[*].code: {role: sensitive}
  $.encounters[*].procedures[*].code: {role: quasi, taxonomy: taxonomies/procedure.csv}
  $.encounters[*].medications[*].code: {role: sensitive}
  $.encounters[*].observations[*].code: {role: quasi, taxonomy: taxonomies/observation.csv}
  $.encounters[*].observations[*].result: {role: sensitive}
"""
