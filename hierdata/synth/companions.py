"""The policies and taxonomies that are written with synthetic records."""

from __future__ import annotations

from hierdata.synth.patients import PATIENT_TAXONOMIES
from hierdata.synth.vocabulary import GRADES, TAXONOMIES
from hierdata.synth.write import Companions


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
