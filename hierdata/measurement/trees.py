"""Discrimination rates of trees: persons count, not the items of their lists (DR section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.ground.errors import InputError, PolicyError
from hierdata.measurement.key_values import KeyLabels, rate_values
from hierdata.measurement.table import Goal, KeyRates, Measurement, notes
from hierdata.metrics.cells import Array
from hierdata.metrics.joint_counts import JointTally, blocks_of, tie_values
from hierdata.metrics.numbering import Numbers, Place, original_keys
from hierdata.metrics.rates import entropy


def measure_trees(
    forest: Forest, keys: Sequence[str], sensitive: str, partition: tuple[Goal, Path] | None
) -> Measurement:
    """Measure what keys at the vertex of the sensitive attribute, or above it, reveal about the attribute.

    ``keys`` and ``sensitive`` are paths of the schema. X is the value of one item of a person, each of the
    person's n values with the probability 1 / n, and Y what the keys show of that item and of what is above
    it. So each person counts 1, however long the list; persons without a value are left out. In a table,
    where each person has one value, this is the rate of ``measure_table``.

    Raises PolicyError for a key elsewhere, of which an item does not tell the value, and for a partition
    that does not fit, InputError if nobody has a value.
    """
    asked = _TreeQuestion.of(forest, sensitive, partition)
    places = tuple(asked.place_of(key) for key in keys)
    groups = [(place,) for place in places] + ([places] if len(places) > 1 else [])
    labels = [asked.labels(group) for group in groups]
    weights = asked.tally(places).values
    persons = len(np.unique(forest.record_of[asked.vertices]))
    return Measurement(
        sensitive,
        persons,
        len(weights),
        entropy(weights.values()),
        tuple(asked.rates(group, key_labels) for group, key_labels in zip(groups, labels, strict=True)),
        tuple(notes(len(weights), forest.record_count - persons, "person")),
        {path: names for key_labels in labels for path, names in key_labels.names.items()},
        "person",
    )


@dataclass(frozen=True)
class _TreeQuestion:
    """The vertices that have a value of the sensitive attribute, all of one type, and the block of each."""

    forest: Forest
    publication: Publication
    site: Place
    vertices: Array
    value: Numbers

    @classmethod
    def of(cls, forest: Forest, sensitive: str, partition: tuple[Goal, Path] | None) -> _TreeQuestion:
        kind, position, domain = next(site for site in forest.list_domains() if site[2].path == sensitive)
        every = np.flatnonzero(forest.type == kind)
        codes = forest.sensitive[forest.first_sensitive[every] + position]
        blocks = None
        if partition is not None:
            goal, folder = partition
            counts = np.bincount(codes[codes >= 0], minlength=len(domain.values)).tolist()
            block_of = goal.blocks_of(sensitive, dict(zip(domain.values, counts, strict=True)), folder)
            blocks = tuple(block_of[value] for value in domain.values)
        vertices = every[codes >= 0]
        if not len(vertices):
            raise InputError("no record has a value of the sensitive attribute", path=sensitive)
        itself = np.arange(forest.vertex_count)
        publication = Publication((), itself, forest.nodes, itself, itself)
        value = blocks_of(forest, kind, position, vertices, blocks)
        return cls(forest, publication, (kind, position), vertices, value)

    def place_of(self, key: str) -> Place:
        """Return the place of a key. Raises PolicyError if it is neither at the vertices nor above them."""
        types = self.forest.schema.types
        above: int | None = self.site[0]
        while above is not None:
            paths = [attribute.path for attribute in types[above].quasi]
            if key in paths:
                return above, paths.index(key)
            above = types[above].parent
        raise PolicyError(
            f"an item with {self.forest.domains[self.site[0]][self.site[1]].path} does not tell which of the "
            "values of this key belongs to it: name keys of the same item, or of what is above it",
            path=key,
        )

    def tally(self, keys: tuple[Place, ...]) -> JointTally:
        """Count keys and values; the items of a person share the weight 1."""
        records = self.forest.record_of[self.vertices]
        return tie_values(self._number_keys(keys), self.value, np.bincount(records)[records])

    def labels(self, keys: tuple[Place, ...]) -> KeyLabels:
        """Return the labels of what the keys show."""
        shown, nodes = self.publication.shown, self.publication.nodes
        return KeyLabels.of(self.forest, shown, nodes, self.vertices, keys, self._number_keys(keys))

    def rates(self, keys: tuple[Place, ...], labels: KeyLabels) -> KeyRates:
        """Return the rates of keys together."""
        tally = self.tally(keys)
        paths = tuple(self.forest.schema.types[kind].quasi[position].path for kind, position in keys)
        remaining = float(1 - tally.rate) * entropy(tally.values.values())
        values = rate_values(tally, labels.labels, tally.values)
        return KeyRates(paths, tally.rate, remaining, None, None, values)

    def _number_keys(self, keys: tuple[Place, ...]) -> Numbers:
        kind, position = self.site
        every = np.flatnonzero(self.forest.type == kind)
        there = self.forest.sensitive[self.forest.first_sensitive[every] + position] >= 0
        return original_keys(self.publication, self.forest, kind, keys).of(there)
