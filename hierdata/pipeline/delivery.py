"""Write a release into a store: under a temporary name, read back, judged again, then renamed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from hierdata.documents.document import Document
from hierdata.ground.errors import VerificationError
from hierdata.ground.private_folder import PrivateFolder
from hierdata.judge import Verdict
from hierdata.pipeline.judging import rules_of
from hierdata.pipeline.publish import Written
from hierdata.pipeline.published import judge_files
from hierdata.pipeline.resources import RunContext
from hierdata.policy.plan.plan import Prepared
from hierdata.policy.policy import Policy
from hierdata.release.verification import promises
from hierdata.sources import Form
from hierdata.sources.files import SECOND_READING
from hierdata.sources.stores import Store
from hierdata.sources.tables import TablesForm


@dataclass(frozen=True)
class Delivery:
    """The delivery of a release to ``target``; ``source`` is the store of the originals, if there is one."""

    target: Store
    source: Store | None
    form: Form
    prepared: Prepared
    spread: RunContext
    notice: Callable[[str], None] | None = None

    def deliver(self, written: Written, verdict: Verdict, save: Callable[[], Path] | None) -> None:
        """Write judged files into the store; their folder is saved before the target appears.

        Raises VerificationError if the server's content differs from what was judged, TargetError for errors
        of the server. Then there is no target, and nothing was saved.
        """
        policy, form = self.prepared.policy, self.form
        tables = form.tables if isinstance(form, TablesForm) else ()
        with self.target.staging(self.source, tables=tables) as staged:
            for part, file in written.files.items():
                staged.write(part, _Documents(partial(form.read_for_store, file, written.elements[part])))
            with PrivateFolder(self.spread.folder, SECOND_READING) as folder:
                back = replace(written, files={part: folder / form.name(part) for part in written.files})
                for part, file in back.files.items():
                    staged.export(part, file)
                judged = judge_files(*back.parts(form), rules_of(self.prepared), self.spread)
            if not judged.passed or _figures(judged, policy) != _figures(verdict, policy):
                raise VerificationError(
                    "the content on the server differs from what was written; it was removed again"
                )
            saved = None if save is None else save()
            try:
                staged.publish()
            except BaseException:
                if saved is not None:
                    shutil.rmtree(saved, ignore_errors=True)
                raise
        if self.notice is not None:
            for sentence in staged.lacking:
                self.notice(sentence)


@dataclass(frozen=True)
class _Documents:
    """The documents of a file; every iteration starts from the beginning."""

    read: Callable[[], Iterator[Document]]

    def __iter__(self) -> Iterator[Document]:
        return self.read()


def _figures(verdict: Verdict, policy: Policy) -> object:
    """Return the figures that must agree between files and server, however each spells values."""
    figures = (verdict.records, verdict.classes, verdict.k, verdict.largest_class, verdict.k_exempt)
    return figures, verdict.tables, promises(policy, verdict)
