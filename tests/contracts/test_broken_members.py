"""hierdata.testing: a member that breaks its family's contract is refused with a sentence that says where."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import numpy as np
import pytest

from hierdata.documents.document import Document, Numeral
from hierdata.documents.formats import Layout
from hierdata.documents.formats.json import JsonLines
from hierdata.domains import Flat, QuasiDomain
from hierdata.domains.base import Hierarchy, Observed
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.engines.base import StepInput
from hierdata.engines.mondrian.engine import Mondrian
from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition
from hierdata.forest.publication import Publication, PublishedPart
from hierdata.ground.errors import InputError
from hierdata.metrics.base import Figure, Question, Tallies
from hierdata.metrics.losses import SuppressionRatio
from hierdata.privacy import FrequencyLDiversity, KAnonymity, PrivacyModel
from hierdata.privacy.base import ClassView, Constraint, FrequencyCaps
from hierdata.release.recodings import Recoding
from hierdata.release.recodings.generalization import Generalization
from hierdata.testing import (
    ContractError,
    check_domain,
    check_engine,
    check_format,
    check_metric,
    check_model,
    check_recoding,
)
from hierdata.testing.contract import send_to_worker


class Told(Constraint):
    """As many records as are asked for, and more that it is told to do."""

    def __init__(self, model: ToldModel) -> None:
        self.closed_under_union = self.closed_under_pooling = True
        self.min_class_size = model.least
        self.caps = FrequencyCaps((0, 1, 2, 3), (Fraction(1, 2),) * 4) if model.capped else None
        self._model = model

    def holds(self, view: ClassView) -> bool:
        return view.records >= self._model.k and not (self._model.odd and view.records % 2)

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        return {"k": Fraction(self._model.reached or view.records)}


class ToldModel(KAnonymity):
    """k-anonymity that does not keep the contract of models."""

    least: int = 1
    odd: bool = False
    capped: bool = False
    reached: int = 0
    said: str = "Each record is one of several."

    def bind(self, domain: SensitiveDomain | None = None) -> Constraint:
        return Told(self)

    def promise(self, *, apart: bool = False) -> str:
        return self.said


class Thawed(ToldModel, frozen=False):
    """Its parameters may be changed."""


class Open(ToldModel, extra="ignore"):
    """It takes keys that it does not know."""


class Unexplained(ToldModel):
    """Nobody says what k is."""

    letters: ClassVar[Mapping[str, str]] = {}


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (Thawed(k=2), "Thawed must be frozen: use the model_config of its base"),
        (Open(k=2), "Open must refuse unknown keys: use the model_config of its base"),
        (Unexplained(k=2), "letters of Unexplained must explain every letter of its combine"),
        (ToldModel(k=2, said="none"), "promise of ToldModel must be a sentence on one line"),
        (ToldModel(k=2, least=0), "min_class_size of ToldModel must be a whole number from 1 on, not 0"),
        (ToldModel(k=2, least=9), "min_class_size of ToldModel is 9, and 4 records satisfy it"),
        (ToldModel(k=1, reached=9), "what ToldModel achieves does not hold in a class of 1 records"),
        (ToldModel(k=1, reached=1), "achieves k = 1 in a class of 2 records .* a stronger k holds too"),
        (ToldModel(k=2, capped=True), "caps of ToldModel forbid .*, where it holds"),
        (ToldModel(k=1, odd=True), "ToldModel achieves k|what ToldModel achieves"),
    ],
    ids=str,
)
def test_a_broken_model_is_refused(model: PrivacyModel, sentence: str) -> None:
    with pytest.raises(ContractError, match=sentence):
        check_model(model)


class Alone(FrequencyLDiversity):
    """A model that holds for one value alone, whatever it is, and says that this survives unions."""

    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        if domain is None:
            raise TypeError
        return _OneValue()


class _OneValue(Constraint):
    closed_under_union = True
    closed_under_pooling = True
    min_class_size = 1

    def holds(self, view: ClassView) -> bool:
        return len(view.counts) < 2

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        return {"l": Fraction(0)} if view.counts else {}


def test_a_model_that_is_not_closed_under_unions_must_say_so() -> None:
    with pytest.raises(ContractError, match="Alone is declared closed under unions: it holds for the values"):
        check_model(Alone(l=1))


def test_a_model_that_is_not_closed_under_pooling_must_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_OneValue, "closed_under_union", False)
    with pytest.raises(
        ContractError, match="Alone is declared closed under pooling: it holds for the values"
    ):
        check_model(Alone(l=1))


class Careless(Mondrian):
    """mondrian, spoilt."""

    spoil: ClassVar[Callable[[Partition, Forest, np.random.Generator], Partition]]

    def find_classes(self, given: StepInput) -> Partition:
        return type(self).spoil(super().find_classes(given), given.forest, given.rng)


def as_one(partition: Partition, forest: Forest, rng: np.random.Generator) -> Partition:
    """Every record a class of its own."""
    rows = np.arange(forest.record_count)
    return replace(
        partition, equivalence_class=rows, representative=forest.roots[:-1].copy(), nodes=forest.nodes
    )


def as_it_was(partition: Partition, forest: Forest, rng: np.random.Generator) -> Partition:
    """The right classes, published by the values of one of their records."""
    return replace(partition, nodes=forest.nodes)


def by_chance(partition: Partition, forest: Forest, rng: np.random.Generator) -> Partition:
    """Classes with numbers that follow no seed."""
    return replace(partition, costs=partition.costs + type(partition.costs)(luck=id(partition)))


def in_place(partition: Partition, forest: Forest, rng: np.random.Generator) -> Partition:
    """The forest is changed."""
    forest.nodes[:] = 0
    return partition


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (as_one, "made a class below the minimum size"),
        (as_it_was, "must publish nodes that generalize every member of the class"),
        (by_chance, "must find the same for the same seed: use only rng for random draws"),
        (in_place, "must not change the forest that it is given"),
    ],
)
def test_a_broken_engine_is_refused(spoil: Any, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Careless, "spoil", staticmethod(spoil), raising=False)
    with pytest.raises(ContractError, match=f"Careless {sentence}"):
        check_engine(Careless())


class Hopeful(Mondrian):
    """It takes for granted that there is a class."""

    def find_classes(self, given: StepInput) -> Partition:
        found = super().find_classes(given)
        return replace(found, costs=found.costs + type(found.costs)(share=1 // found.class_count))


def test_an_engine_that_finds_no_class_must_not_fail() -> None:
    with pytest.raises(ContractError, match="Hopeful must suppress all records if no class is possible"):
        check_engine(Hopeful())


class Unstated(Generalization):
    """It does not say how it is judged."""

    traits = replace(Generalization.traits, judged_as="nothing")


class Mistaken(Generalization):
    """It names a judge that knows another form."""

    traits = replace(Generalization.traits, judged_as="representatives")


class Original(Generalization):
    """It publishes every record by its own values."""

    def publish(self, forest: Forest, partitions: Sequence[Partition], order: Sequence[int]) -> Publication:
        (found,) = partitions
        own = np.where(found.representative >= 0, np.arange(forest.vertex_count), -1)
        return super().publish(forest, [replace(found, representative=own, nodes=forest.nodes)], order)


class Numbered(Generalization):
    """It publishes numbers where its judge reads records."""

    def publish(self, forest: Forest, partitions: Sequence[Partition], order: Sequence[int]) -> Publication:
        found = super().publish(forest, partitions, order)
        count = len([*found.parts[0].documents()])
        return replace(found, parts=(PublishedPart("records", lambda: iter(range(count)), count),))


class Once(Generalization):
    """Its documents can be read once."""

    def publish(self, forest: Forest, partitions: Sequence[Partition], order: Sequence[int]) -> Publication:
        found = super().publish(forest, partitions, order)
        documents = iter([*found.parts[0].documents()])
        return replace(found, parts=(PublishedPart("records", lambda: documents, None),))


@pytest.mark.parametrize(
    ("recoding", "sentence"),
    [
        (Unstated, "Unstated must state traits with a judged_as of generalization,"),
        (Mistaken, "the judge of representatives does not confirm what Mistaken publishes"),
        (Original, "the judge of generalization does not confirm what Original publishes under k-anonymity"),
        (Numbered, "the judge of generalization cannot read what Numbered publishes"),
        (Once, "Once must return the same documents every time"),
    ],
)
def test_a_broken_recoding_is_refused(recoding: type[Recoding], sentence: str) -> None:
    with pytest.raises(ContractError, match=sentence):
        check_recoding(recoding)


class Bent(Flat):
    """A flat domain of which one part is wrong."""

    part: str

    def compile(self, observed: Observed, folder: Path) -> Hierarchy:
        tree = super().compile(observed, folder)
        first = tree.labels[1]
        changed: dict[str, Any] = {
            "labels": ("*", *[first] * (len(tree.labels) - 2), None),
            "ancestors": ((0, -1), *[(0, 1)] * (len(tree.labels) - 1)),
            "lm": (Fraction(1, 2), *tree.lm[1:-1], Fraction(3)),
            "codebook": {"kind": "flat", "values": {*observed}},
        }
        return replace(tree, **{self.part: changed[self.part]})


@pytest.mark.parametrize(
    ("domain", "sentence"),
    [
        (Bent(part="labels"), "Bent must give every node a label of its own"),
        (Bent(part="ancestors"), "Bent must have rows of ancestors that begin with the root and end with"),
        (Bent(part="lm"), "Bent must not have losses that decrease towards the root"),
        (Bent(part="codebook"), "Bent must have a codebook of plain data"),
    ],
    ids=str,
)
def test_a_broken_domain_is_refused(domain: QuasiDomain, sentence: str) -> None:
    with pytest.raises(ContractError, match=sentence):
        check_domain(domain, ["a", "b", "c"])
    with pytest.raises(ContractError, match="Flat does not cover one of the values given"):
        check_domain(Flat(), ["a", "*"])


class Doubled(SuppressionRatio):
    """Its figures leave their range."""

    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        return tuple(replace(figure, value=figure.value + 2) for figure in super().figures(tallies))


class Averaged(SuppressionRatio):
    """It adds up shares, so its parts are not the whole."""

    gated = ("records",)

    def questions(self, forest: Forest) -> tuple[Question, ...]:
        return (_share,)

    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        return (Figure("records", tallies[_share], "share", 0, 100, "lower"),)


def _share(publication: Publication, forest: Forest) -> Fraction:
    return Fraction(int((publication.shown >= 0).sum()), max(forest.vertex_count, 1))


class Sealed(SuppressionRatio):
    """What it asks cannot be sent to a worker."""

    def questions(self, forest: Forest) -> tuple[Question, ...]:
        return (lambda publication, forest: 0,)

    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        return (
            Figure("records", Fraction(0), "share", 0, 1, "lower"),
            Figure("vertices", Fraction(0), "share", 0, 1, "lower"),
        )


@pytest.mark.parametrize(
    ("metric", "sentence"),
    [
        (Doubled, "records of Doubled is outside its range, 0 to 1"),
        (Averaged, "Averaged must compute the figures of the whole from the sum of its parts"),
        (Sealed, "Sealed must ask the same questions after pickling"),
    ],
)
def test_a_broken_metric_is_refused(metric: type[SuppressionRatio], sentence: str) -> None:
    with pytest.raises(ContractError, match=sentence):
        check_metric(metric)


class Listed(SuppressionRatio):
    """Its answers are lists of names, and those of two parts cannot be added to a number."""

    gated = ("records",)

    def questions(self, forest: Forest) -> tuple[Question, ...]:
        return (_none_or_one,)

    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        return (Figure("records", Fraction(0), "share", 0, 1, "lower"),)


def _none_or_one(publication: Publication, forest: Forest) -> object:
    return None


def test_a_metric_whose_answers_cannot_be_added_is_refused() -> None:
    with pytest.raises(ContractError, match="Listed must have answers that can be added"):
        check_metric(Listed)


class Mute(JsonLines):
    """It writes nothing."""

    def write(self, documents: Iterable[Document], stream: BinaryIO, layout: Layout) -> None:
        raise InputError("no")


class Blind(JsonLines):
    """It reads nothing."""

    def read(self, stream: BinaryIO, layout: Layout) -> Iterator[Document]:
        raise InputError("no")


def test_what_cannot_be_written_read_or_sent_is_refused() -> None:
    for format, sentence in (
        (Mute(), "Mute cannot write these records: pass others as documents"),
        (Blind(), "Blind must read what it has written"),
    ):
        with pytest.raises(ContractError, match=sentence):
            check_format(format)
    with pytest.raises(ContractError, match="cannot be pickled for worker processes: define everything"):
        send_to_worker(lambda: 0)


class Forgetful(JsonLines):
    """It loses the last record."""

    def read(self, stream: BinaryIO, layout: Layout) -> Iterator[Document]:
        yield from [*super().read(stream, layout)][:-1]


class Rounding(JsonLines):
    """It loses how a number was spelled."""

    def write(self, documents: Iterable[Document], stream: BinaryIO, layout: Layout) -> None:
        spelled = ({**document, "id": Numeral(f"{document['id']}.0")} for document in documents)
        super().write(spelled, stream, layout)


class Talkative(JsonLines):
    """It quotes what it cannot read."""

    def read(self, stream: BinaryIO, layout: Layout) -> Iterator[Document]:
        text = stream.read().decode("latin-1")
        if not text.startswith("{") or not text.endswith("}\n"):
            raise ValueError(text)
        stream.seek(0)
        return super().read(stream, layout)


@pytest.mark.parametrize(
    ("format", "sentence"),
    [
        (Forgetful(), "Forgetful must read back exactly what it has written"),
        (
            Rounding(),
            "Rounding must read back exactly what it has written, including the spelling of numbers",
        ),
        (Talkative(), "Talkative must raise InputError for broken input, not ValueError"),
    ],
    ids=lambda own: type(own).__name__ if isinstance(own, JsonLines) else "",
)
def test_a_broken_format_is_refused(format: JsonLines, sentence: str) -> None:
    with pytest.raises(ContractError, match=sentence) as caught:
        check_format(format)
    assert "mArKeD" not in str(caught.value)
