"""Each page: what it shows, what its forms change, and what it refuses."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from hierdata.ground.progress import silent
from hierdata.policy.load import load
from hierdata.policy.load.yaml import fragment
from hierdata.studio.pages import PAGES
from hierdata.studio.study import StudyFolder
from hierdata.studio.tasks import TASKS
from hierdata.studio.texts import read_catalogue
from tests.studio.client import Answer, Client

STUDIO = Path(__file__).parents[2] / "hierdata" / "studio"
RAW = ("48162", "1974-08-28", "P000001", "gastritis", "Pulmonology", "General practice")


def act(client: Client, address: str, expected: int = 303, /, **fields: object) -> Answer:
    """Send a form as the page would, with the state that it was made for."""
    answer = client.post(address, {"version": client.studio.study.version(), **fields})
    assert answer.status == expected, answer.readable
    return answer


def policy_of(study: StudyFolder) -> dict[str, object]:
    read: dict[str, object] = fragment(study.policy_text(), "policy")
    return read


def test_pages_show_data_only_where_they_say_so(client: Client, study: StudyFolder) -> None:
    study.keep_figures("records", [[{"id": "P000001"}, {"id": None}]])
    for page in PAGES.values():
        answer = client.get(f"/{page.name}?field=$.visits[*].diagnosis")
        assert answer.status == 200, answer.readable
        assert ("This page shows values of the data" in answer.readable) is page.shows_data
        assert page.shows_data or not [one for one in RAW if one in answer.text], page.name
        assert "<script>" not in answer.text
        assert " style=" not in answer.text
        assert not re.search(r"(?:src|href|hx-\w+)=\"(?:https?:)?//", answer.text)


def test_texts_are_in_the_catalogue_and_all_are_used() -> None:
    sources = [*STUDIO.rglob("*.py"), *STUDIO.rglob("*.html")]
    text = "\n".join(path.read_text("utf-8") for path in sources)
    stated = set(re.findall(r'say\(\s*"([\w.]+)"[,)]', text))
    stated |= {
        name for pair in re.findall(r'say\("([\w.]+)" if [^()]+ else "([\w.]+)"', text) for name in pair
    }
    begun = set(re.findall(r'say\(f?"([\w.]+[._])(?:"|\{)', text)) | {"said.", "refused."}
    begun |= {f"{page}.{end}" for page in PAGES for end in ("title", "step")}
    known = read_catalogue()
    assert stated <= known.keys()
    assert [name for name in known if name not in stated and not name.startswith(tuple(begun))] == []
    for page in PAGES.values():
        assert f"{page.name}.title" in known
        assert not page.is_step or f"{page.name}.step" in known


def test_roles_are_changed_one_by_one_and_in_bulk(client: Client, study: StudyFolder) -> None:
    before = study.policy_text()
    act(client, "/roles/do/bulk", field=["$.sex", "$.postal_code"], role="sensitive")
    fields, models = policy_of(study)["fields"], policy_of(study)["models"]
    assert fields["$.sex"] == {"role": "sensitive"}  # type: ignore[index]
    named = {path for model in models for path in model.get("on", ())}  # type: ignore[attr-defined]
    assert named == {"$.visits[*].diagnosis", "$.sex", "$.postal_code"}
    act(client, "/roles/do/bulk", field=["$.sex", "$.postal_code", "$.visits[*].diagnosis"], role="quasi")
    models = policy_of(study)["models"]
    assert [model["kind"] for model in models] == ["k-anonymity"]  # type: ignore[attr-defined]
    assert "No field is proposed as sensitive" in client.get("/roles").readable
    assert "reason" in act(client, "/roles/do/bulk", 422, field=["$.sex"], role="as_is").readable
    act(client, "/roles/do/bulk", field=["$.sex"], role="as_is", reason="half of all people")
    assert policy_of(study)["fields"]["$.sex"] == {  # type: ignore[index]
        "role": "insensitive", "exempt": "half of all people"
    }  # fmt: skip
    for _ in range(3):
        act(client, "/undo", page="roles")
    assert study.policy_text() == before
    act(client, "/roles/do/bulk", 422, role="quasi")


def test_questions_are_answered_and_undone(client: Client, study: StudyFolder) -> None:
    survey = study.figures("survey")
    survey["fields"][3]["confirm"] = "can others know it?"
    survey["persons"] = "by $.id, records are of fewer persons"
    study.keep_figures("survey", survey)
    assert "Question 1 of 2" in client.get("/roles").readable
    assert "answer them first" in act(client, "/roles/do/confirm", 422).readable
    act(client, "/roles/do/answer", question="persons", answer="apart", reason="each visit was drawn alone")
    assert policy_of(study)["individual"] == {"none": "each visit was drawn alone"}
    assert "Question 1 of 1" in client.get("/roles").readable
    act(client, "/roles/do/answer", question="$.sex", answer="drop")
    assert policy_of(study)["fields"]["$.sex"] == {"action": "drop"}  # type: ignore[index]
    act(client, "/undo", page="roles")
    assert "Question 1 of 1" in client.get("/roles").readable
    act(client, "/roles/do/answer", question="$.sex", answer="keep")
    act(client, "/roles/do/confirm")
    assert "draft" not in policy_of(study)
    assert load(study.folder / "policy.yaml", root=study.folder).models


def test_the_promise_in_words_becomes_models(client: Client, study: StudyFolder) -> None:
    assert "At least 10 records fit what a reader knows of a person" in client.get("/promise").readable
    diagnosis = {"path": "$.visits[*].diagnosis", "limit": "third"}
    act(client, "/promise/do/choose", whom="anyone", knows="everything", **diagnosis)
    assert policy_of(study)["models"] == [
        {"kind": "k-anonymity", "k": 20},
        {"kind": "frequency-l-diversity", "l": 3, "on": ["$.visits[*].diagnosis"]},
    ]
    facts = {"knows": "facts", "m": 1, "fields_known": "listed", "listed": "$.visits[*].diagnosis"}
    act(client, "/promise/do/choose", whom="other", k=4, **facts, path="$.visits[*].diagnosis", limit="none")
    assert policy_of(study)["models"] == [
        {"kind": "bounded-knowledge", "k": 4, "m": 1, "facts": ["$.visits[*].diagnosis"]}
    ]
    said = client.get("/promise").readable
    for model in load_confirmed(study).models:
        assert model.promise() in said
    act(client, "/promise/do/choose", 422, whom="other", k=1)
    act(client, "/promise/do/choose", 422, whom="other", k="many")


def test_similar_values_are_limited_in_words(client: Client, study: StudyFolder) -> None:
    diagnosis, born = "$.visits[*].diagnosis", "$.visits[*].year"
    act(client, "/roles/do/bulk", field=born, role="sensitive")
    half = {"kind": "frequency-l-diversity", "l": 2}
    act(client, "/promise/do/choose", 422, knows="everything", whom="many", path=born, limit="within_half")
    choices = {"path": [diagnosis, born], "limit": ["half", "within_half"], "distance": ["", "2.5"]}
    act(client, "/promise/do/choose", knows="everything", whom="many", **choices)
    near = {"kind": "delta-l-diversity", "delta": "1.25", "l": 2, "on": [born]}
    assert policy_of(study)["models"][1:] == [{**half, "on": [diagnosis]}, near]  # type: ignore[index]
    page = client.get("/promise")
    assert 'name="distance" inputmode="decimal" maxlength="20" value="2.5"' in page.text
    assert "at least 3 (l = 3, e = 1)" not in page.readable  # no taxonomy
    # A second model of one field has no choice here and stays; similar values need a taxonomy.
    text = study.policy_text().replace("{role: sensitive}", "{role: sensitive, taxonomy: {file: d.csv}}")
    (study.folder / "d.csv").write_text("flu,lungs,*\nrash,skin,*\n", "utf-8")
    text = text.replace(
        "models:\n", f"models:\n  - {{kind: distinct-l-diversity, l: 2, on: ['{diagnosis}']}}\n"
    )
    study.change(study.version(), text, "by hand")
    assert "at least 3 (l = 3, e = 1)" in client.get("/promise").readable
    choices = {"path": [diagnosis, born], "limit": ["apart", "none"], "distance": ["", ""]}
    act(client, "/promise/do/choose", knows="everything", whom="many", **choices)
    kinds = [model["kind"] for model in policy_of(study)["models"]]  # type: ignore[attr-defined]
    assert kinds == ["k-anonymity", "l-e-diversity", "distinct-l-diversity"]


def load_confirmed(study: StudyFolder) -> object:
    from hierdata.studio.policy_view import build_policy

    return build_policy(study, study.policy_text())


def test_models_without_a_choice_stay(client: Client, study: StudyFolder) -> None:
    text = study.policy_text().replace(
        "  - {kind: k-anonymity, k: 5}",
        "  - {kind: k-anonymity, k: 5}\n  - {kind: level-alpha-k, k: 5, alpha: [0.8, 0.6]}",
    ).replace("{role: sensitive}", "{role: sensitive, levels: {by: frequency, sensitive: rare}}")  # fmt: skip
    study.change(study.version(), text, "by hand")
    assert "level-alpha-k" in client.get("/promise").readable
    act(client, "/promise/do/choose", whom="many", knows="everything")
    models = policy_of(study)["models"]
    assert [model["kind"] for model in models] == ["k-anonymity", "level-alpha-k"]  # type: ignore[attr-defined]


def test_hierarchies_are_edited_counted_and_imported(client: Client, study: StudyFolder) -> None:
    page = client.get("/hierarchies?field=$.visits[*].year").readable
    assert "Values under each step, in 60 records" in page
    act(client, "/hierarchies/do/set", field="$.visits[*].year", kind="interval", numbers="2, 1, 4")
    rule = policy_of(study)["fields"]["$.visits[*].year"]  # type: ignore[index]
    assert rule == {"role": "quasi", "interval": {"steps": [1, 2, 4]}}
    act(client, "/hierarchies/do/set", 422, field="$.visits[*].year", kind="interval", numbers="x")
    act(client, "/hierarchies/do/set", 422, field="$.visits[*].year", kind="date")
    arx = "male;person;*\nfemale;person;*\n"
    upload(client, "$.sex", "sex.csv", arx, 303)
    assert policy_of(study)["fields"]["$.sex"] == {  # type: ignore[index]
        "role": "quasi", "taxonomy": "hierarchies/sex.csv"
    }  # fmt: skip
    assert "person" in client.get("/hierarchies?field=$.sex").readable
    assert load_confirmed(study)
    upload(client, "$.sex", "../../sex.csv", arx, 303)  # a name without its folders
    upload(client, "$.sex", "sex.csv", "other;*\n", 422)
    upload(client, "$.sex", "bad.csv", "a;b;*\na;c;*\n", 422)
    upload(client, "$.sex", ".hidden", arx, 422)
    assert [file.name for file in (study.folder / "hierarchies").iterdir()] == ["sex.csv"]


def upload(client: Client, field: str, name: str, content: str, expected: int) -> None:
    mark = "mark"
    fields = {"version": client.studio.study.version(), "field": field, "kind": "taxonomy"}
    parts = [
        f'--{mark}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{own}\r\n'
        for key, own in fields.items()
    ]
    parts.append(
        f'--{mark}\r\nContent-Disposition: form-data; name="upload"; filename="{name}"\r\n'
        f"Content-Type: text/csv\r\n\r\n{content}\r\n--{mark}--\r\n"
    )
    headers: dict[str, str | None] = {"Content-Type": f"multipart/form-data; boundary={mark}"}
    answer = client.ask("POST", "/hierarchies/do/set", "".join(parts).encode(), headers)
    assert answer.status == expected, answer.readable


def test_a_stale_form_gets_409_and_says_so(client: Client, study: StudyFolder) -> None:
    stale = study.version()
    study.change(stale, study.policy_text() + "# elsewhere\n", "elsewhere")
    text = study.policy_text()
    for path, fields in (
        ("/roles/do/bulk", {"field": "$.sex", "role": "drop"}),
        ("/promise/do/choose", {"whom": "anyone", "knows": "everything"}),
        ("/hierarchies/do/set", {"field": "$.sex", "kind": "flat"}),
        ("/release/do/publish", {}),
        ("/preview/do/run", {}),
        ("/undo", {"page": "roles"}),
    ):
        answer = client.post(path, {"version": stale, **fields})
        assert answer.status == 409, path
        assert "changed in another tab or by another program" in answer.readable
    assert study.policy_text() == text


def test_unknown_keys_stay_and_a_broken_policy_is_explained(client: Client, study: StudyFolder) -> None:
    text = study.policy_text().replace("unlisted: error", "unlisted: error\nfuture: {key: 1}")
    (study.folder / "policy.yaml").write_text(text, "utf-8")
    assert "unknown key 'future'" in client.get("/release").readable
    act(client, "/roles/do/bulk", field=["$.sex"], role="drop")
    assert "future: {key: 1}" in study.policy_text()
    assert "future: {key: 1}" in client.get("/release").readable
    (study.folder / "policy.yaml").write_text("models: [", "utf-8")
    broken = client.get("/roles")
    assert broken.status == 422
    assert "Undo the last change" in broken.readable
    act(client, "/undo", page="roles")
    assert "future: {key: 1}" in study.policy_text()


def test_a_changed_input_is_noticed(client: Client, study: StudyFolder) -> None:
    assert "input file has changed" not in client.get("/tree").readable
    with Path(study.source).open("a", encoding="utf-8") as file:
        file.write(file.name and "\n")
    assert "input file has changed" in client.get("/tree").readable


def test_a_release_is_made_verified_signed_and_given_out(client: Client, study: StudyFolder) -> None:
    assert "draft" in act(client, "/release/do/publish", 422).readable
    act(client, "/roles/do/confirm")
    TASKS["release"](study, {"version": study.version()}, silent)
    page = client.get("/release").readable
    assert "It was verified against the original" in page
    assert client.get("/release/report/0001").status == 200
    assert client.get("/release/export/0001/x.zip").status == 422
    words = {
        "name": "A. Steward <b>",
        "date": "2031-02-03",
        "recipient": "The institute",
        "purpose": "A study",
    }
    act(client, "/release/do/sign", 422, number="0001", **{**words, "purpose": " "})
    act(client, "/release/do/sign", number="0001", **words)
    signed = client.get("/release/signed/0001").readable
    for one in words.values():
        assert one in signed
    stated = json.loads((study.folder / "signed" / "0001.json").read_text("utf-8"))
    report = json.loads((study.folder / "releases/0001/steward/report.json").read_text("utf-8"))
    assert stated["files"] == {file["name"]: file["sha256"] for file in report["files"]}
    assert stated["policy"] == report["fingerprints"]["policy"]
    assert act(client, "/release/do/sign", 422, number="0001", **words)
    assert client.get("/release/export/0001/x.zip").body.startswith(b"PK")


def test_a_preview_keeps_figures_apart_from_values(client: Client, study: StudyFolder) -> None:
    found = TASKS["preview"](study, {"version": study.version()}, silent)
    assert found is not None
    study.keep_figures("preview", found)
    assert found["refused"] is None
    assert {one["risk"] for one in found["risks"]} >= {"singling_out", "linkability", "inference"}
    before, after = study.figures("records")[0]
    source = [json.loads(line) for line in Path(study.source).read_text("utf-8").splitlines()]
    assert before in source
    kept = Counter(visit["diagnosis"] for visit in after["visits"])
    assert kept
    assert kept <= Counter(visit["diagnosis"] for visit in before["visits"])
    page = client.get("/preview")
    assert not [one for one in RAW if one in page.text]
    assert before["id"] in client.get("/record?number=1").readable
    assert client.get("/record?number=99").status == 422


def test_a_policy_of_a_comparison_is_taken(client: Client, study: StudyFolder) -> None:
    model = {"kind": "k-anonymity", "k": 3}
    row = {
        "number": 2, "name": "k = 3", "refused": None, "records": 60, "published": 60,
        "classes": 9, "smallest": 3,
        "kept": 0.5, "worst_guess": 0.25, "dominated_by": [], "seconds": 1.0, "models": [model],
    }  # fmt: skip
    refused = {**row, "number": 3, "refused": "too few", "kept": None, "worst_guess": None}
    study.keep_figures(
        "compare", {"version": study.version(), "sampled": 60, "records": 60, "rows": [row, refused]}
    )
    assert 'href="#policy-2"' in client.get("/comparison").text
    act(client, "/comparison/do/take", number="2")
    assert policy_of(study)["models"] == [model]
    act(client, "/comparison/do/take", 422, number="4")
    act(client, "/comparison/do/run", 422, k="1, x")


@pytest.mark.full
def test_a_comparison_of_policies_runs(study: StudyFolder) -> None:
    found = TASKS["compare"](study, {"version": study.version(), "k": [3, 5], "without": True}, silent)
    assert found is not None
    assert {one["name"] for one in found["rows"]} >= {"as stated", "k = 3"}
