"""The contract of domains: ``compile`` returns a tree of generalizations with losses."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from itertools import product
from pathlib import Path

from hierdata.documents.document import Scalar
from hierdata.domains.base import ROOT_LABEL, Hierarchy, Labels, QuasiDomain, Uncovered
from hierdata.testing.contract import check_parameters, require


def check_domain(domain: QuasiDomain, values: Collection[Scalar], folder: Path = Path()) -> None:
    """Check a domain against its contract with about ten values that it covers.

    ``folder`` contains the files that the domain names. Raises ContractError.
    """
    name = type(domain).__name__
    check_parameters(domain)
    tree = domain.compile(dict.fromkeys(values, 1), folder)
    _check_rows(name, tree)
    covered = [value for value in values if value is not None]
    nodes = [_node_of(name, tree, value) for value in covered]
    missing = _node_of(name, tree, None)
    require(tree.labels[missing] is None, f"{name} must publish a missing value as None")
    require(tree.ancestors[missing][:2] == (0, missing), f"{name} must put the missing value under the root")
    require(tree.lm[missing] == 0, f"{name} must give a missing value a loss of 0")
    require(
        all(tree.join(missing, node) == 0 for node in nodes),
        f"{name} must join the missing value with others at the root",
    )
    _check_joins(name, tree)
    _check_labels(name, domain.labels(folder), tree, covered)
    _check_extents(name, domain.labels(folder), tree, covered)
    _check_order(name, domain, tree, values, folder)
    for value, node in zip(covered, nodes, strict=True):
        alone = domain.compile({value: 1}, folder)
        require(
            repr(alone.labels[_node_of(name, alone, value)]) == repr(tree.labels[node]),
            f"{name} must publish a value alike whatever else the collection has: records may be suppressed",
        )
    _check_codebook(name, domain, tree)
    _check_published(name, domain, tree, folder)


def _node_of(name: str, tree: Hierarchy, value: Scalar) -> int:
    try:
        return tree.node_of(value)
    except Uncovered:
        refused = "a missing value" if value is None else "one of the values given"
    require(False, f"{name} does not cover {refused}")
    return 0


def _check_rows(name: str, tree: Hierarchy) -> None:
    count = len(tree.labels)
    require(
        count == len(tree.ancestors) == len(tree.lm),
        f"{name} must have a label, a row of ancestors and a loss for each node",
    )
    require(tree.labels[0] == ROOT_LABEL, f"{name} must label node 0, the root, with {ROOT_LABEL}")
    require(len({len(row) for row in tree.ancestors}) == 1, f"{name} must have ancestor rows of one length")
    for node, row in enumerate(tree.ancestors):
        named = [entry for entry in row if entry >= 0]
        require(
            row[0] == 0 and named[-1] == node and len({*named}) == len(named),
            f"{name} must have rows of ancestors that begin with the root and end with the node itself",
        )
        losses = [tree.lm[entry] for entry in named]
        require(
            losses == sorted(losses, reverse=True),
            f"{name} must not have losses that decrease towards the root",
        )
    require(all(0 <= loss <= 1 for loss in tree.lm), f"{name} must have losses from 0 to 1")
    spelled = Counter((type(label), str(label)) for label in tree.labels)
    require(max(spelled.values()) == 1, f"{name} must give every node a label of its own")


def _check_joins(name: str, tree: Hierarchy) -> None:
    above = [{*row} - {-1} for row in tree.ancestors]
    for node, other in product(range(len(tree.labels)), repeat=2):
        join = tree.join(node, other)
        common = above[node] & above[other]
        require(
            join == tree.join(other, node) and join in common,
            f"{name} must join two nodes at a common ancestor, independent of their order",
        )
        require(
            all(tree.lm[join] <= tree.lm[node] for node in common),
            f"{name} must join two nodes at the common ancestor with the least loss",
        )


def _check_extents(name: str, labels: Labels, tree: Hierarchy, values: Collection[Scalar]) -> None:
    """Check that the extents of all labels that may stand for one value overlap, where they are known."""
    for value in values:
        nodes = tree.ancestors[tree.node_of(value)]
        with suppress(Uncovered):
            extents = [labels.extent(tree.labels[node]) for node in nodes if node > 0]
            require(
                all(extent[0] <= other[1] for extent in extents for other in extents),
                f"{name} must give labels that stand for one value extents that overlap",
            )


def _check_labels(name: str, labels: Labels, tree: Hierarchy, values: Collection[Scalar]) -> None:
    for node, label in enumerate(tree.labels):
        require(
            label is None or node == 0 or labels.is_finest(label) or labels.is_coarser(label),
            f"{name} must know every label of its hierarchy",
        )
    for value in values:
        node = tree.node_of(value)
        require(
            node == 0 or labels.is_finest(tree.labels[node]),
            f"{name} must put a value at a node whose label is one of the finest",
        )
        require(
            not tree.lm[node]
            or tree.labels[node] == value
            or not (labels.is_finest(value) or labels.is_coarser(value)),
            f"{name} must refuse as a label a value that it publishes only generalized",
        )


def _check_order(
    name: str, domain: QuasiDomain, tree: Hierarchy, values: Collection[Scalar], folder: Path
) -> None:
    again = domain.compile(dict.fromkeys(reversed([*values]), 2), folder)
    spelled, spelled_again = ([(type(label), str(label)) for label in made.labels] for made in (tree, again))
    require(
        (spelled, tree.ancestors, tree.lm) == (spelled_again, again.ancestors, again.lm)
        and all(tree.node_of(value) == again.node_of(value) for value in values),
        f"{name} must not depend on the order of the values, nor on how often they occur",
    )


def _check_codebook(name: str, domain: QuasiDomain, tree: Hierarchy) -> None:
    try:
        plain = json.loads(json.dumps(tree.codebook))
    except (TypeError, ValueError):
        plain = None
    require(plain == tree.codebook, f"{name} must have a codebook of plain data")
    kind = tree.codebook.get("kind")
    stated = getattr(domain, "kind", kind)
    require(
        isinstance(kind, str) and kind == stated,
        f"{name} must have a codebook with its kind, {stated}",
    )


def _check_published(name: str, domain: QuasiDomain, tree: Hierarchy, folder: Path) -> None:
    """Check what is said about published labels: a codebook of the same kind, and losses by labels alone."""
    labels = [label for label in tree.labels if label is not None]
    book = domain.describe(labels, folder)
    require(
        book.get("kind") == tree.codebook.get("kind"),
        f"{name} must describe labels by a codebook of its kind",
    )
    loss = domain.published_losses(labels, folder, sets=False)
    require(all(0 <= loss(label) <= 1 for label in labels), f"{name} must have losses of labels from 0 to 1")
    require(loss(ROOT_LABEL) == 1, f"{name} must have a loss of 1 for the published root")
