"""Read the parts of a finished release, with the types of the objects that the input consisted of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hierdata.documents.document import Document
from hierdata.release.recodings.base import RECORDS

if TYPE_CHECKING:
    from hierdata.documents.formats.kinds import Restore
    from hierdata.policy.policy import Policy
    from hierdata.sources import Collection, Form


@dataclass(frozen=True)
class PartReader:
    """Reads the documents of a part of a release from its folder.

    ``elements`` has the name of a document of each part, if the format has such names. ``restore`` gives
    values of records the types that they had in the input; it is None where they have them already.
    """

    form: Form
    elements: Mapping[str, str | None]
    restore: Restore | None

    def __call__(self, folder: Path, part: str) -> Iterator[Document]:
        """Return the documents of a part."""
        documents = self.form.read(folder / "public" / self.form.name(part), self.elements[part])
        return documents if self.restore is None or part != RECORDS else map(self.restore, documents)


def restoring(collection: Collection, policy: Policy) -> Restore | None:
    """Return the function that gives published values the types of the objects that they were read from."""
    if collection.kinds is None:
        return None
    actions = {keys: rule.stated_action for keys, (_, rule) in policy.rules_by_keys.items()}
    replaced = {keys for keys, action in actions.items() if action is not None and not action.date_shift()}
    return collection.kinds().restoring(replaced, policy.quasi.keys())
