"""Check a release against its original, record by record, by the links of the steward's witness."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from hierdata.documents.formats import Format
from hierdata.executors import Held
from hierdata.forest.encoded import Encoded, Frame, join_encoded
from hierdata.forest.encoding import encode_records
from hierdata.ground.errors import VerificationError
from hierdata.measurement.release.comparison import PSEUDONYMS, Comparison, compare, find_unequal
from hierdata.measurement.release.labels import Terms
from hierdata.measurement.release.links import OTHER_RELEASE, LinkedRecords, Shown, link
from hierdata.pipeline.published import PartReading
from hierdata.pipeline.resources import RunContext, ask_all
from hierdata.pipeline.survey import Located, Overview
from hierdata.policy.checks.knowledge import known_values
from hierdata.policy.plan.plan import Prepared
from hierdata.policy.plan.treatment import dropped_references
from hierdata.records.binding import bind_records
from hierdata.records.identifiers.treatment import Treatment
from hierdata.release.witness import Witness

COPIES = "the release has more records than the original: records were added"
OTHER_ORIGINAL = "the original has another number of records than the one that the release was made from"

CHANGED = "; the original has changed since the release was made from it"


def count_shown(part: PartReading) -> tuple[int, int] | VerificationError:
    """Return the number of records, and of the witness's numbers for them; or why they are not encoded."""
    if isinstance(part.shown, VerificationError):
        return part.shown
    shown = _shown_of(part)
    return shown.encoded.record_count, shown.words


def _accumulate_counts(
    counted: Iterable[tuple[int, int] | VerificationError],
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers of records and of the witness's numbers before each part, and of all.

    Raises VerificationError for the first record that could not be encoded, by its number in the release.
    """
    records, words = [0], [0]
    for count in counted:
        if isinstance(count, VerificationError):
            number = None if count.record is None else records[-1] + count.record
            raise VerificationError(count.message, record=number, path=count.path, revealed=count.revealed)
        records.append(records[-1] + count[0])
        words.append(words[-1] + count[1])
    return tuple(records), tuple(words)


def _shown_of(part: PartReading) -> Shown:
    assert isinstance(part.shown, Shown), "the records were read and encoded for the witness"
    return part.shown


def link_shown(
    frame: Frame,
    witness: Witness,
    before: tuple[tuple[int, ...], tuple[int, ...]],
    starts: tuple[int, ...],
    part: PartReading,
) -> Iterator[tuple[int, LinkedRecords]]:
    """Send published records to the part of the original that a witness links them to.

    ``before`` are, by split, the published records and the witness's numbers before it; ``starts`` are the
    first records of the parts of the original, and last the number of its records.
    """
    shown, (records, words) = _shown_of(part), before
    numbers = witness.read(words[part.number], shown.words)
    return link(shown, frame, numbers, records[part.number], np.array(starts, np.int64))


@dataclass(frozen=True)
class CompareLinked:
    """Compare published records with the part of the original that they are linked to."""

    prepared: Prepared
    treatment: Treatment
    parts: tuple[tuple[Located, ...], ...]
    terms: Terms

    def __call__(self, linked: list[LinkedRecords]) -> Comparison:
        """Return the first difference."""
        if not linked:
            return Comparison(None, {})
        splits = self.parts[linked[0].bin]
        frame = self.prepared.frame
        original = frame.forest(join_encoded([self._encode(located) for located in splits]))
        return compare(linked, original, splits[0].before, frame, self.terms)

    def _encode(self, located: Located) -> Encoded:
        documents = self.treatment.documents(located.split.documents(), located.before)
        records = bind_records(documents, self.prepared.binding, located.before)
        (encoded,) = encode_records(records, self.prepared.frame, located.before)
        return encoded


@dataclass(frozen=True)
class TruthCheck:
    """What a release is compared with: the surveyed original, and how its values were spelled.

    ``formats`` are those of the published records, None if they are not in a file of
    this machine, and of the original.
    ``tables`` are the sensitive fields of each part of the release.
    """

    overview: Overview
    prepared: Prepared
    formats: tuple[Format | None, Format]
    tables: Mapping[str, tuple[str, ...]]

    def check(self, held: Held[PartReading], witness: Witness, spread: RunContext) -> None:
        """Check that everything published is true of the original.

        Raises VerificationError for the first record that is not.
        """
        total = self.overview.survey.records
        if witness.records != total:
            raise VerificationError(OTHER_ORIGINAL)
        records, words = _accumulate_counts(held.map(count_shown).collect())
        if records[-1] > total:
            raise VerificationError(COPIES)
        if words[-1] != witness.words:
            raise VerificationError(OTHER_RELEASE)
        splits = self.overview.splits
        parts = (splits,) if self._is_grouped else tuple((split,) for split in splits)
        starts = (*(part[0].before for part in parts), total)
        send = partial(link_shown, self.prepared.frame, witness, (records, words), starts)
        linked = held.exchange(send, len(parts))
        _, watch = spread.progress_callbacks("comparing", total, len(parts))
        comparing = CompareLinked(self.prepared, self.overview.treatment, parts, self._terms)
        comparisons = ask_all(linked, comparing, watch)
        linked.release()
        _report(comparisons, changed=self.overview.content != witness.content)

    @property
    def _is_grouped(self) -> bool:
        """Whether sensitive values belong to groups, which may span the whole release."""
        traits = self.prepared.policy.recoding_traits
        return traits.separates_values or traits.publishes_classes

    @property
    def _terms(self) -> Terms:
        policy = self.prepared.policy
        shown, original = self.formats
        return Terms(
            policy.recoding_traits,
            same_format=shown is not None and shown.name == original.name,
            textual=shown is None or shown.is_tabular or shown.has_elements,
            typed=shown is not None and shown.types_numbers,
            respelled=policy.spelling is not None,
            tables=self.tables,
            tokens={
                policy.spell_path(keys): spec.domain
                for keys, spec in policy.pseudonyms.items()
                if not spec.keeps_form  # these are computed again, and must be equal
            },
            known=frozenset(policy.spell_path(keys) for keys in known_values(policy)),
            references=frozenset(policy.spell_path(keys) for keys in dropped_references(policy)),
        )


def _report(comparisons: Sequence[Comparison], changed: bool) -> None:
    """Raise VerificationError for the first difference; ``changed``: the original is not the release's."""
    differences = (comparison.difference for comparison in comparisons)
    first = min((difference for difference in differences if difference is not None), default=None)
    if first is not None:
        message = first.message + CHANGED * changed
        raise VerificationError(message, record=first.record, path=first.path)
    domain = find_unequal(comparison.tokens for comparison in comparisons)
    if domain is not None:
        raise VerificationError(f"in the domain {domain} {PSEUDONYMS}")
