"""The release: make it, read the report, sign, export; and the policy as it is, with its history."""

from __future__ import annotations

import json
import re
import shlex
import zipfile
from datetime import date, datetime
from pathlib import Path
from typing import Any

from starlette.responses import FileResponse, HTMLResponse, Response

from hierdata.ground.errors import HierdataError, InputError, PolicyError
from hierdata.release.report.models import StewardReport
from hierdata.release.report.page import CONTENT_POLICY, Signature, render_report
from hierdata.release.report.wording import kept_share, verdict
from hierdata.studio.page import Ask, Done, Page
from hierdata.studio.policy_view import check_policy, is_draft
from hierdata.studio.study import POLICY, StudyFolder, write_whole

_NUMBER = re.compile(r"[0-9]{4,6}")
_FIELDS = ("name", "date", "recipient", "purpose")


def view(ask: Ask) -> dict[str, Any]:
    """Return the releases, the last one first, and the policy."""
    study = ask.study
    if not study.has_policy:
        return {}
    text = study.policy_text()
    return {
        "problems": check_policy(study, text),
        "is_draft": is_draft(text),
        "releases": [_describe(study, number) for number in reversed(study.releases())],
        "command": write_command(study),
        "policy_lines": text.splitlines(),
        "changes": study.changes(),
        "today": date.today().isoformat(),
    }


def write_command(study: StudyFolder) -> str:
    """Return the command that makes the same release from the study's policy."""
    policy, out = study.folder / POLICY, study.folder / "releases" / "by-command"
    words = ["hierdata", "anonymize", study.source, "--policy", str(policy), "--root", str(study.folder)]
    return shlex.join([*words, "--out", str(out)])


def _describe(study: StudyFolder, number: str) -> dict[str, Any]:
    report, made = _read_report(study, number), study.figures(f"release-{number}") or {}
    counts, total = report.counts.records, report.kept.total
    return {
        "number": number,
        "verdict": verdict(report),
        "verified": bool(made.get("verified")),
        "other_policy": made.get("policy") != study.policy_text(),
        "published": counts.published,
        "records": counts.input,
        "kept": kept_share(total) or "-",
        "promises": [promise.statement for promise in report.promises],
        "signed": _read_signature(study, number),
        "file": f"{report.dataset}-{number}.zip" if report.dataset.isalnum() else f"release-{number}.zip",
    }


def _read_report(study: StudyFolder, number: str) -> StewardReport:
    file = _release(study, number) / "steward" / "report.json"
    try:
        return StewardReport.model_validate_json(file.read_bytes())
    except (OSError, ValueError):
        raise InputError(f"release {number} has no readable report: make a new release") from None


def _release(study: StudyFolder, number: str) -> Path:
    """Return the folder of a release. Raises InputError for a number that is none."""
    if not _NUMBER.fullmatch(number) or number not in study.releases():
        raise InputError("there is no release of this number: choose one of the list")
    return study.folder / "releases" / number


def _publish(ask: Ask) -> Done:
    with ask.study.edit(ask.version):
        text = ask.study.policy_text()
        if is_draft(text):
            raise PolicyError("the policy is a draft: answer the questions on the page of roles first")
        ask.works.start(ask.study, "release", {"version": ask.version})
    return Done("release")


def _sign(ask: Ask) -> Done:
    """Write who signed, when, for whom and for what, with the digests of what was signed."""
    study, number = ask.study, ask.text("number", 10)
    folder, report = _release(study, number), _read_report(study, number)
    stated = {name: ask.text(name, 300) for name in _FIELDS}
    for name, text in stated.items():
        if not text:
            raise InputError(f"{name}: fill this in before you sign")
    if not (study.figures(f"release-{number}") or {}).get("verified"):
        raise InputError("this release was not verified: make a new one")
    if _read_signature(study, number) is not None:
        raise InputError("this release is signed already")
    signed = {
        **stated,
        "at": datetime.now().astimezone().isoformat(timespec="seconds"),
        "release": folder.relative_to(study.folder).as_posix(),
        "files": {file.name: file.sha256 for file in report.files},
        "input": report.fingerprints.input if report.fingerprints else None,
        "policy": report.fingerprints.policy if report.fingerprints else None,
    }
    page = render_report(report, Signature(**stated))
    write_whole(study.folder / "signed" / f"{number}.html", page)
    write_whole(
        study.folder / "signed" / f"{number}.json", json.dumps(signed, ensure_ascii=False, indent=2) + "\n"
    )
    return Done("release", "signed")


def _read_signature(study: StudyFolder, number: str) -> dict[str, str] | None:
    file = study.folder / "signed" / f"{number}.json"
    return json.loads(file.read_text("utf-8")) if file.is_file() else None


def _accept_input(ask: Ask) -> Done:
    for name in ("survey", "prepare", "preview", "compare", "release"):
        ask.works.stop(name)
    ask.study.accept_input()
    ask.works.start(ask.study, "survey", {})
    return Done("tree", "input_accepted")


def _show_report(ask: Ask) -> Response:
    """Answer with the report; it brings its own policy for its own style, and does nothing else."""
    text = (_release(ask.study, ask.rest) / "steward" / "report.html").read_text("utf-8")
    return _as_page(text)


def _show_signed(ask: Ask) -> Response:
    _release(ask.study, ask.rest)
    return _as_page((ask.study.folder / "signed" / f"{ask.rest}.html").read_text("utf-8"))


def _as_page(text: str) -> Response:
    policy = f"{CONTENT_POLICY}; frame-ancestors 'none'"
    return HTMLResponse(text, headers={"Content-Security-Policy": policy})


def _export(ask: Ask) -> Response:
    """Answer with what is given out, as one archive."""
    number = ask.rest.partition("/")[0]
    folder, signed = _release(ask.study, number), _read_signature(ask.study, number)
    if signed is None:
        raise HierdataError("sign the release before you give it out")
    archive = ask.study.folder / "signed" / f"{number}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        for file in sorted((folder / "public").rglob("*")):
            if file.is_file():
                made.write(file, file.relative_to(folder / "public").as_posix())
    archive.chmod(0o600)
    return FileResponse(archive, media_type="application/zip")


PAGE = Page(
    "release",
    view,
    actions={"publish": _publish, "sign": _sign, "accept_input": _accept_input},
    extras={"report": _show_report, "signed": _show_signed, "export": _export},
)
