"""What every metric must keep: its range, its exactness, and which direction is better."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest

from hierdata.domains.base import Hierarchy
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.forest.encoding import encode
from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition
from hierdata.forest.publication import Publication
from hierdata.metrics import METRICS, RISKS
from hierdata.metrics.losses import AdditionalInformationLoss
from hierdata.privacy import KAnonymity
from hierdata.records.record import Vertex
from hierdata.records.schema import Attribute, Role, Schema, VertexType
from hierdata.testing.metrics import check_figures
from tests.cases import for_each
from tests.contracts.test_engines import CASES, collections
from tests.contracts.test_recodings import published
from tests.publications import publication_of

each_metric = pytest.mark.parametrize("name", METRICS)

FLAT = Hierarchy(
    ("*", "a", "b"), ((0, -1), (0, 1), (0, 2)), (Fraction(1), Fraction(0), Fraction(0)), int, leaves=2
)
LEVEL = SensitiveDomain(
    "$.s", (1, 2, 3, 4, 5), (1, 2, 3, 4, 5), paths=((0, 1, 3), (0, 1, 4), (0, 1, 5), (0, 2, 6), (0, 2, 7))
)


def forest(*levels: int, nodes: Sequence[int] = ()) -> Forest:
    """Records of one vertex with a node, or the value ``a``, and a sensitive value of this level."""
    held = zip(nodes or [1] * len(levels), levels, strict=True)
    own = (Attribute("$.q", ("q",), Role.QUASI), Attribute("$.s", ("s",), Role.SENSITIVE))
    schema = Schema((VertexType(0, "$", (), True, None, (), own),))
    return encode((Vertex(0, [node], [level], [], []) for node, level in held), schema, [[FLAT]], [[LEVEL]])


def publication(classes: list[int], nodes: list[int]) -> Publication:
    """A publication of flat records by class, each with its node."""
    class_of = np.array(classes, np.int64)
    first = [classes.index(own) if own >= 0 else -1 for own in classes]
    partition = Partition(class_of, np.array(first, np.int64), np.array(nodes, np.int32))
    return publication_of(forest(*[1] * len(classes)), partition)


Compared = tuple[Publication, Publication, Forest]
BETTER_AND_WORSE: dict[str, Compared] = {
    "lm_cost": (publication([0, 0, 1, 1], [1] * 4), publication([0, 0, 1, 1], [0] * 4), forest(1, 2, 1, 2)),
    "kept": (publication([0, 0, 1, 1], [1] * 4), publication([0, 0, 1, 1], [0] * 4), forest(1, 2, 1, 2)),
    "certainty_penalty": (
        publication([0, 0, 1, 1], [1] * 4),
        publication([0, 0, 1, 1], [0] * 4),
        forest(1, 2, 1, 2),
    ),
    "suppression_ratio": (
        publication([0, 0, 1, 1], [1] * 4),
        publication([0, 0, -1, -1], [1] * 4),
        forest(1, 2, 1, 2),
    ),
    "discrimination_rate": (
        publication([0, 0, 1, 1], [0] * 4),
        publication([0, 0, 1, 1], [1, 1, 2, 2]),
        forest(1, 5, 5, 5),
    ),
    "dissimilarity_degree": (
        publication([0, 1, 0, 1], [1, 2, 1, 2]),
        publication([0, 0, 1, 1], [1, 1, 2, 2]),
        forest(1, 1, 5, 5),
    ),
    "reconstruction_error": (
        publication([0, 0, 1, 1], [1, 1, 2, 2]),
        publication([0, 0, -1, -1], [1] * 4),
        forest(1, 2, 1, 2),
    ),
    "additional_information_loss": (
        publication([0, 0, 1, 1], [1, 1, 2, 2]),
        publication([0, 1, 1, 1], [1, 2, 2, 2]),
        forest(1, 2, 1, 2),
    ),
    "disclosure_rate": (
        publication([0, 0, 1, 1], [1, 1, 2, 2]),
        publication([0, 1, 0, 1], [1, 2, 1, 2]),
        forest(1, 2, 1, 2),
    ),
    "classification_metric": (
        publication([0, 1, 0, 1], [1, 2, 1, 2]),
        publication([0, 0, 1, 1], [1, 1, 2, 2]),
        forest(1, 2, 1, 2),
    ),
    "diversity_degree": (
        publication([0, 1, 0, 1], [1, 2, 1, 2]),
        publication([0, 0, 1, 1], [1, 1, 2, 2]),
        forest(1, 2, 4, 5),
    ),
} | {
    name: (
        publication([0, 0, 1, 1], [0] * 4),
        publication([0, 0, 1, 1], [1, 1, 2, 2]),
        forest(1, 5, 5, 5, nodes=(1, 2, 2, 2)),
    )
    for name in RISKS
    if name != "discrimination_rate"
}


def test_every_metric_is_in_the_contract() -> None:
    assert BETTER_AND_WORSE.keys() == METRICS.keys()


@each_metric
@for_each("model", CASES, few=1)
def test_figures_lie_in_their_range_and_say_whether_they_are_exact(name: str, model: KAnonymity) -> None:
    assert METRICS[name].symbol
    for built in collections():
        _, of_engine = published(built, model, "generalization")
        figures = METRICS[name]().of(of_engine, built.forest)
        assert figures
        check_figures(METRICS[name](), figures)


@each_metric
def test_figures_lie_in_their_range_where_nothing_is_published(name: str) -> None:
    for built in collections():
        forest = built.forest
        nothing = Partition(np.full(forest.record_count, -1), np.full(forest.vertex_count, -1), forest.nodes)
        figures = METRICS[name]().of(publication_of(forest, nothing), forest)
        assert figures
        check_figures(METRICS[name](), figures)


def test_anatomy_loses_what_it_suppresses_and_no_more() -> None:
    """Quasi-identifiers are published as they are: LM counts 1 for each that is gone with its vertex."""
    for built in collections():
        partition, of_anatomy = published(built, KAnonymity(k=3), "anatomy")
        forest = built.forest
        gone = partition.representative < 0
        total, _, _ = METRICS["lm_cost"]().of(of_anatomy, forest)
        original = [
            forest.losses[kind][at][node]
            for kind, first, there in zip(forest.type, forest.first_node, ~gone, strict=True)
            if there
            for at, node in enumerate(forest.nodes[first : first + len(forest.losses[kind])])
        ]
        lost = Fraction(int(sum(original)), forest.scale)  # of values at inner nodes alone
        assert total.value == lost + int(forest.quasi_count[gone].sum())
        records, vertices = METRICS["suppression_ratio"]().of(of_anatomy, forest)
        assert vertices.value == Fraction(int(gone.sum()), forest.vertex_count)
        assert records.value == Fraction(int(gone[forest.roots[:-1]].sum()), forest.record_count)


@each_metric
def test_the_better_direction_is_the_one_stated(name: str) -> None:
    better, worse, original = BETTER_AND_WORSE[name]
    metric = METRICS[name]()
    for one, other in zip(metric.of(better, original), metric.of(worse, original), strict=True):
        assert one.better == other.better
        if one.better == "lower":
            assert one.value < other.value, one.name
        else:
            assert one.value > other.value, one.name


def as_it_stands(original: Forest) -> Publication:
    """Every record a class of its own."""
    records, vertices = np.arange(original.record_count), np.arange(original.vertex_count)
    return publication_of(original, Partition(records, vertices, original.nodes.copy()))


def suppressed(original: Forest) -> Publication:
    records = np.full(original.record_count, -1)
    vertices = np.full(original.vertex_count, -1)
    return publication_of(original, Partition(records, vertices, original.nodes.copy()))


def generalized(original: Forest) -> Publication:
    records, vertices = np.arange(original.record_count), np.arange(original.vertex_count)
    return publication_of(original, Partition(records, vertices, np.zeros_like(original.nodes)))


Made = Callable[[Forest], Publication]


@pytest.mark.parametrize(
    ("make", "lm", "gone"),
    [(as_it_stands, 0, 0), (suppressed, 1, 1), (generalized, 1, 0)],
    ids=["as it stands", "suppressed", "generalized"],
)
def test_the_ends_of_the_scales(make: Made, lm: int, gone: int) -> None:
    original = forest(1, 2, 3, 4, 5)
    total, per_record, per_value = METRICS["lm_cost"]().of(make(original), original)
    assert (total.value, per_record.value, per_value.value) == (5 * lm, lm, lm)
    assert [one.value for one in METRICS["suppression_ratio"]().of(make(original), original)] == [gone] * 2


def test_dissimilarity_by_hand() -> None:
    """Levels 1, 1, 5, 5 in one class: four pairs of six are 4 apart; 16 / 20, and 16 / (6 * 4) as a mean."""
    together = publication([0, 0, 0, 0], [1] * 4)
    figures = METRICS["dissimilarity_degree"]().of(together, forest(1, 1, 5, 5))
    assert [figure.value for figure in figures] == [Fraction(4, 5), Fraction(4, 5), Fraction(2, 3)]


def test_reconstruction_error_by_hand() -> None:
    """Classes {1, 2} and {1, 1, 3}, one suppressed: 2 * 1/2, then 3 - 5/3, then 1."""
    classes = publication([0, 0, 1, 1, 1, -1], [1, 1, 2, 2, 2, 0])
    total, mean = METRICS["reconstruction_error"]().of(classes, forest(1, 2, 1, 1, 3, 5))
    assert (total.value, mean.value) == (1 + Fraction(4, 3) + 1, Fraction(10, 18))


def test_diversity_degree_by_hand() -> None:
    """Values 1, 2, 4 in one class: distances 1, 2, 2; a class of one value is left out."""
    classes = publication([0, 0, 0, 1, -1], [1, 1, 1, 2, 0])
    figures = METRICS["diversity_degree"]().of(classes, forest(1, 2, 4, 5, 5))
    assert [figure.value for figure in figures] == [Fraction(5, 3), Fraction(5, 3)]


def test_additional_information_loss_by_hand() -> None:
    """Groups of 2 and 3, the least is l: (0 + 1/2) / 2; with l = 1 (1 + 2) / 2, with l = 3 none."""
    classes, own = publication([0, 0, 1, 1, 1, -1], [1, 1, 2, 2, 2, 1]), forest(1, 2, 1, 1, 3, 5)
    found = [
        [one.value for one in metric.of(classes, own)]
        for metric in (
            METRICS["additional_information_loss"](),
            AdditionalInformationLoss(Fraction(1)),
            AdditionalInformationLoss(Fraction(3)),
        )
    ]
    assert found == [[Fraction(1, 4)], [Fraction(3, 2)], []]


def test_disclosure_rate_by_hand() -> None:
    """Classes {1, 2} and {1, 1, 3}: two are right once in two, two twice in three, one once in three."""
    classes = publication([0, 0, 1, 1, 1, -1], [1, 1, 2, 2, 2, 1])
    largest, own = METRICS["disclosure_rate"]().of(classes, forest(1, 2, 1, 1, 3, 5))
    assert (own.name, own.value) == ("$.s", Fraction(2, 5) / 2 + (Fraction(4, 3) + Fraction(1, 3)) / 5)
    assert largest.value == own.value


def test_classification_metric_by_hand() -> None:
    """Classes {1, 2} and {1, 1, 3}, one suppressed: one, one and one of six disagree."""
    classes = publication([0, 0, 1, 1, 1, -1], [1, 1, 2, 2, 2, 1])
    mean, own = METRICS["classification_metric"]().of(classes, forest(1, 2, 1, 1, 3, 5))
    assert (own.name, own.value, mean.value) == ("$.s", Fraction(1, 2), Fraction(1, 2))
