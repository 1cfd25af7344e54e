"""Digests of the public part of many small releases, to see that a change of the code changes no release.

``digests.json`` has one SHA-256 for each case of ``digest_cases``, by its name. A digest is that of a text:

- each published part (the records, and the tables of sensitive values): a line with its name, then its
  documents as they are read back, each as one line of JSON with its keys in their order, sorted;
- ``codebook.json`` without ``version``;
- ``release.json`` without ``version``; without its sentences, which are ``limitations`` and each promise's
  ``statement``, ``finding`` and ``reason``; without ``fineness``, which counts the published values; and
  without the digests of the files, which depend on the order of records.

So nothing of it depends on the order of publication. Numbers of groups do, and the lists of a published
class: they follow the order, which is bound to the policy's fingerprint and the build. So the releases are
made in the order of the seed alone (``tests.orders``). Pseudonyms and shifts depend on a fixed key.

The file is not changed together with code. Who means to change releases renews the entries that change, in a
commit of their own: ``python -m tests.end_to_end.test_digests NAME...``, where a NAME is that of a case or a
part of some. ``--show`` prints the texts of these cases instead, to see what differs between two builds, and
``--seconds`` the CPU seconds of each.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

import hierdata
from tests.end_to_end.digest_cases import CASES, Case, write_collections
from tests.orders import order_by_seed

FILE = Path(__file__).with_name("digests.json")
KEY = bytes(range(40, 80))


def text_of(case: Case, folder: Path) -> str:
    """Make a release of the collections in ``folder``, and return what its digest is of."""
    policy = folder / "fixtures" / "policies" / "case.json"
    policy.write_text(json.dumps(case.policy), "utf-8")
    resources = hierdata.Resources(case.executor, workers=2 if case.executor == "processes" else None)
    with order_by_seed():
        release = hierdata.anonymize(
            folder / case.source, policy, seed=bytes([case.seed]) * 16, key=KEY, resources=resources
        )
    lines = []
    for part in release.parts:
        documents = release.part(part)
        lines += [part, *sorted(json.dumps(one, ensure_ascii=False, default=repr) for one in documents)]
    codebook, stated = (
        json.loads((release.folder / "public" / name).read_text("utf-8"))
        for name in ("codebook.json", "release.json")
    )
    del codebook["version"], stated["version"], stated["limitations"], stated["fineness"]
    for promise in stated["promises"]:
        del promise["statement"], promise["finding"], promise["reason"]
    for file in stated["files"]:
        del file["sha256"]
    lines += [json.dumps(one, ensure_ascii=False, indent=1) for one in (codebook, stated)]
    return "\n".join([*lines, ""])


def digest_of(case: Case, folder: Path) -> str:
    """The digest of a case."""
    return hashlib.sha256(text_of(case, folder).encode()).hexdigest()


def read_digests() -> dict[str, str]:
    """The digests by the names of their cases."""
    found: dict[str, str] = json.loads(FILE.read_text("utf-8"))
    return found


@pytest.fixture(scope="module")
def collections(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all collections."""
    folder = tmp_path_factory.mktemp("digests")
    write_collections(folder)
    return folder


def test_every_case_has_a_digest_and_every_digest_a_case() -> None:
    digests = read_digests()
    assert sorted(CASES.keys() - digests.keys()) == []
    assert sorted(digests.keys() - CASES.keys()) == []
    assert list(digests) == sorted(digests)


@pytest.mark.full
@pytest.mark.parametrize("name", CASES)
def test_the_release_is_what_it_was(name: str, collections: Path) -> None:
    assert digest_of(CASES[name], collections) == read_digests()[name]


def main(argv: list[str] | None = None) -> int:
    """Renew the digests of cases, or show what they are of; the exit code."""
    options = argparse.ArgumentParser(description="Renew digests of public/; see the module's text.")
    options.add_argument("names", nargs="+", metavar="NAME", help="a case, or a part of the names of some")
    options.add_argument("--show", action="store_true", help="print what the digests are of, write nothing")
    options.add_argument("--seconds", action="store_true", help="print the CPU seconds of each")
    stated = options.parse_args(argv)
    for name in stated.names:
        if not any(name in case for case in CASES):
            options.error(f"no case has {name} in its name")
    chosen = [case for case in CASES if any(name == case for name in stated.names)] or [
        case for case in CASES if any(name in case for name in stated.names)
    ]
    digests: dict[str, Any] = read_digests() if FILE.exists() else {}
    with tempfile.TemporaryDirectory(prefix="digests-") as temporary:
        write_collections(Path(temporary))
        for name in chosen:
            before = os.times()
            text = text_of(CASES[name], Path(temporary))
            digests[name] = hashlib.sha256(text.encode()).hexdigest()
            if stated.show:
                print(f"== {name}\n{text}", end="")
            elif stated.seconds:
                print(f"{sum(os.times()[:4]) - sum(before[:4]):6.2f} {name}", flush=True)
    if not stated.show:
        kept = {name: digests[name] for name in sorted(digests) if name in CASES}
        FILE.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
