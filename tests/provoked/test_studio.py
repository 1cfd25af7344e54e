"""What the forms of the studio are refused for."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, cast

from starlette.datastructures import FormData, UploadFile

import hierdata
from hierdata.ground.errors import InputError, PolicyError
from hierdata.ground.progress import silent
from hierdata.policy.load.yaml import fragment
from hierdata.studio.page import Action, Ask
from hierdata.studio.pages import hierarchies, promise, release, roles, tree
from hierdata.studio.policy_view import change_policy, read_plain
from hierdata.studio.sampling import _take
from hierdata.studio.study import StudyFolder
from hierdata.studio.work import Works
from hierdata.studio.yaml_edit import set_entry
from tests.provoked import Act, provoke

POLICY = """\
version: 1
models: [{kind: k-anonymity, k: 2}]
fields:
  $.a: {role: quasi, flat: true}
  $.s: {role: sensitive}
"""


def begin(folder: Path) -> StudyFolder:
    """Return a study with a policy whose collection was not read."""
    (folder / "rows.csv").write_text("a,s\n1,2\n1,3\n")
    study = StudyFolder.create(folder / "study", str(folder / "rows.csv"))
    study.change(None, POLICY, "written")
    return study


def test_forms_that_lack_something(tmp_path: Path) -> None:
    study = begin(tmp_path)
    reported = study.folder / "releases" / "0001"
    (reported / "steward").mkdir(parents=True)
    upload = UploadFile(io.BytesIO(b"x" * (64 * 2**20 + 1)), filename="large.csv")

    def send(action: Action, **form: Any) -> Act:
        fields = [*form.items(), ("version", study.version())]
        return lambda: action(Ask(study, cast("Works", None), {}, FormData(fields)))

    set_domain, answer = hierarchies.PAGE.actions["set"], roles.PAGE.actions["answer"]
    choose, sign = promise.PAGE.actions["choose"], release.PAGE.actions["sign"]
    signer = dict.fromkeys(("name", "date", "recipient", "purpose"), "x")
    rows = [{"a": 1, "s": number} for number in range(4)]
    policy = fragment(POLICY, "policy")
    hierdata.anonymize(rows, policy, seed=bytes(16), out=reported.with_name("0002"))
    provoke(
        InputError,
        ("field: a text of at most 2,000 characters", send(set_domain, field="x" * 2001)),
        ("choose how the values are made coarser", send(set_domain, field="$.a", kind="magic")),
        ("this field is not made coarser any more", send(set_domain, field="$.s", kind="flat")),
        (
            "choose a file of the study, or one",
            send(set_domain, field="$.a", kind="taxonomy", file="none.csv"),
        ),
        ("67,108,864", send(set_domain, field="$.a", kind="taxonomy", upload=upload)),
        ("choose an answer", send(answer, question="$.a", answer="")),
        ("choose an answer", send(answer, question="$.a", answer="nobody")),
        ("reason: write why this is safe", send(answer, question="$.a", answer="as_is")),
        ("reason: write why this is safe", send(answer, question=roles.PERSONS, answer="apart")),
        (
            "tick the sensitive fields that others",
            send(choose, knows="facts", k="2", m="1", fields_known="listed"),
        ),
        ("release 0001 has no readable report", send(sign, number="0001")),
        ("this release was not verified: make", send(sign, number="0002", **signer)),
        (
            "there is no such field: choose one on",
            lambda: tree.view_values(Ask(study, cast("Works", None), {})),
        ),
        ("the collection was not read yet", lambda: _take(study, silent)),
    )


def test_policies_that_an_edit_cannot_change(tmp_path: Path) -> None:
    study = begin(tmp_path)
    ask = Ask(study, cast("Works", None), {}, FormData([("version", study.version())]))
    broken = POLICY.replace("k: 2", "k: 0")
    provoke(
        PolicyError,
        ("models[0].k", lambda: change_policy(ask, "k", lambda _: broken)),
        ("policy.yaml has no keys: undo the last", lambda: read_plain("- 1")),
        ("policy.yaml has no keys here: undo", lambda: set_entry("fields: 3", ("fields", "$.a"), {})),
        ("policy.yaml has no fields: put the key", lambda: set_entry("a: 3", ("fields", "$.a"), {})),
    )
