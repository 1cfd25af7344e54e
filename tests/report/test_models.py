from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction

import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from hierdata.metrics.base import Figure
from hierdata.privacy import AlphaK, KAnonymity, LevelAlphaK
from hierdata.release.recodings import RECODINGS
from hierdata.release.report.__main__ import SCHEMAS, write
from hierdata.release.report.models import (
    FILES,
    Codebook,
    CodebookField,
    SensitiveFacts,
    StewardReport,
    Verification,
    dump,
    json_schemas,
)
from hierdata.release.report.parts import Promise, figures
from hierdata.release.report.sentences import limitations
from tests.report.sample import GPA, GRADE, judgement, lm_cost, release_file, steward_report


def codebook() -> Codebook:
    return Codebook(
        version="0.1.0",
        dataset="students",
        recoding="generalization",
        fields=(
            CodebookField(path="$.id", role="identifier", published=False),
            CodebookField(
                path="$.major",
                role="quasi",
                published=True,
                domain={"kind": "flat", "of": [[], {}, {"é": []}]},
                missing=("", "?"),
            ),
        ),
    )


def verification() -> Verification:
    return Verification(
        version="0.1.0",
        dataset="students",
        policy="0" * 64,
        sensitive={GPA: SensitiveFacts(scale={"kind": "domain", "domain": [0, 4]}, number=True)},
        quasi={"$.birth_year": {"min": "1985", "max": "2001"}},
        vertices=(("courses",), ("courses", "books")),
    )


EXAMPLES = {
    "release": release_file(),
    "codebook": codebook(),
    "verification": verification(),
    "report": steward_report(),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_files_are_indented_as_json_does_it(name: str) -> None:
    expected = json.dumps(EXAMPLES[name].model_dump(mode="json"), ensure_ascii=False, indent=2)
    assert dump(EXAMPLES[name]) == f"{expected}\n".encode()


def test_every_file_has_an_example() -> None:
    assert EXAMPLES.keys() == FILES.keys() == json_schemas().keys()


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_dump_is_valid_against_its_schema_and_reads_back_equal(name: str) -> None:
    schema = json_schemas()[name]
    Draft202012Validator.check_schema(schema)
    written = dump(EXAMPLES[name])
    Draft202012Validator(schema).validate(json.loads(written))
    assert FILES[name].model_validate_json(written) == EXAMPLES[name]
    assert written.endswith(b"}\n")
    assert dump(FILES[name].model_validate_json(written)) == written


@pytest.mark.parametrize("name", EXAMPLES)
def test_unknown_keys_are_refused_by_model_and_schema(name: str) -> None:
    forged = {**json.loads(dump(EXAMPLES[name])), "seed": "1234"}
    with pytest.raises(ValidationError):
        FILES[name].model_validate(forged)
    assert not Draft202012Validator(json_schemas()[name]).is_valid(forged)


def test_the_schemas_in_the_tree_are_the_generated_ones(tmp_path) -> None:
    write(tmp_path)
    for name in FILES:
        file = f"{name}.schema.json"
        assert (SCHEMAS / file).read_text(encoding="utf-8") == (tmp_path / file).read_text(encoding="utf-8")


def test_figures_stand_under_their_names_beside_the_exact_ones() -> None:
    plain = figures({"lm_cost": lm_cost()})["lm_cost"].model_dump(mode="json")
    assert (plain["total"], plain["per_value"]) == (1234.5, 0.12345)
    assert plain["exact"] == {"total": "2469/2", "per_record": "823/402", "per_value": "2469/20000"}
    assert plain["unit"]["per_value"] == "share"
    assert plain["high"] == {"total": 10_000, "per_record": None, "per_value": 1}
    assert plain["better"] == "lower"


def test_figures_keep_the_order_of_the_metric() -> None:
    assert list(figures({"lm_cost": lm_cost()})["lm_cost"].figures) == ["total", "per_record", "per_value"]


def test_a_metric_has_one_better_direction() -> None:
    both = [
        Figure("a", Fraction(1), "share", 0, 1, "lower"),
        Figure("b", Fraction(1), "share", 0, 1, "higher"),
    ]
    with pytest.raises(ValueError, match="unpack"):
        figures({"both": both})


def test_a_promise_joins_its_judgements_and_keeps_them_apart_by_path() -> None:
    promise = Promise.of(
        LevelAlphaK(k=5, alpha=["0.8", "1/3"]),
        [judgement(GPA, k="5", alpha_1="4/5"), judgement(GRADE, held=False, k="4", alpha_1="1")],
    )
    assert promise.parameters["k"] == 5
    assert [Fraction(share) for share in promise.parameters["alpha"]] == [Fraction(4, 5), Fraction(1, 3)]
    assert promise.paths == (GPA, GRADE)
    assert (promise.held, promise.failing_classes) == (False, 2)
    assert {letter: number.exact for letter, number in promise.achieved.items()} == {"k": "4", "alpha_1": "1"}
    assert promise.by_path[GPA].held is True
    assert promise.by_path[GPA].achieved["alpha_1"].value == 0.8


def test_a_model_on_whole_records_has_no_paths() -> None:
    promise = Promise.of(KAnonymity(k=3), [judgement(None, k="3")])
    assert (promise.paths, promise.by_path, promise.held) == ((), {}, True)


@pytest.mark.parametrize(
    ("answers", "held"), [((True, None), None), ((False, None), False), ((True, True), True), ((), None)]
)
def test_what_was_not_judged_never_counts_as_held(
    answers: tuple[bool | None, ...], held: bool | None
) -> None:
    judged = [judgement(f"$.a{at}", answer) for at, answer in enumerate(answers)]
    assert Promise.of(AlphaK(k=2, alpha="1/2"), judged).held is held


def test_the_public_file_tells_nothing_that_only_the_steward_may_know() -> None:
    public = json.loads(dump(release_file()))
    steward = {"class_size", "attackers", "loss_exact", "fields", "costs", "levels", "reasons", "warnings"}
    assert steward.isdisjoint(public)
    assert public["counts"]["records"] == 600
    assert {"value", "exact"}.isdisjoint(public["gates"][0])


@pytest.mark.parametrize("recoding", RECODINGS)
def test_every_recoding_has_its_limitation(recoding: str) -> None:
    told = limitations([], recoding, {"$.notes": "needed for the study"})
    assert len(told) == len(set(told)) == 6
    assert sum("$.notes" in sentence and "needed for the study" in sentence for sentence in told) == 1


def test_reports_are_frozen() -> None:
    with pytest.raises(ValidationError):
        steward_report().passed = False  # type: ignore[misc]


def test_importing_the_models_brings_no_arrays() -> None:
    heavy = "{'numpy', 'numba', 'scipy', 'lxml', 'rich'}"
    code = f"import sys, hierdata.release.report.models; sys.exit(bool({heavy} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_report_without_a_verdict_is_refused() -> None:
    content = json.loads(dump(steward_report()))
    del content["passed"]
    with pytest.raises(ValidationError):
        StewardReport.model_validate(content)
