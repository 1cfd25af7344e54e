"""Published algorithms under the names of their papers: engine steps, models and a recoding, as plain data.

MLevCluTree and ClusTree are one engine, algorithms 1 and 2 of ML section 4, with the readings of errata ML-1
to ML-5, ML-7 to ML-10 and ML-14: greedy pairing in order, growth not weighted by size, the 50
nearest records.

MBF is algorithm 1 of LE with errata LE-1 to LE-4. anatomy-l is the same on plain values, the baseline of LE
section V: no value has more than 1/l of a class, so the l values of a class differ; it needs no taxonomy.

MSB-KACA is the algorithm of TC section 3.1, and SLOMS the method that it implements. TC never separates the
two, so both names give the same release: each sensitive table in groups of l records by multi-sensitive
bucketization (MMDCF), quasi-identifiers in classes of k records by KACA, so that a record has one group id
for each table (erratum TC-11). MSB-KACA with shared groups has one id for all: KACA merges the groups of MSB
until each has k. TC names no k and no l: 5 and 3 are ours. It divides the sensitive attributes by their
correlation into m tables (step 2) but does not give m: that of the largest mean silhouette is ours, and a
policy may state ``sensitive_tables``.

t-closeness over MSB-KACA is TC section 4: whole records change their groups (erratum TC-6) until each group
of each table is within t. A record has one group for each table, so it changes that of one table, with its
values there. Particle swarm optimization finds the groups, as in section 4.2, with the readings of erratum
TC-5; in the preset with swap it is exchanges of two records, which find closer groups of many records
sooner. With shared groups records move between classes, for all tables at once, by exchanges. t = 0.3 is ours
too; TC uses the least distance of any class, which cannot be reached (TC-4).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Preset:
    """What the name of a preset means.

    ``models`` are added where the policy states none of their kinds, or of ``ALTERNATIVES``; ``kinds`` are
    the models that a policy with this preset may have. ``steps``, ``sensitive_steps`` and ``recoding`` are
    fixed; ``sensitive_steps`` make the groups of each sensitive table, where tables have groups of their own.
    ``sensitive_tables`` is that of a policy that states none. ``with_shared_groups`` is the preset that gives
    all tables one id.
    """

    paper: str
    steps: tuple[Mapping[str, Any], ...]
    models: tuple[Mapping[str, Any], ...]
    kinds: tuple[str, ...]
    recoding: str = "generalization"
    sensitive_steps: tuple[Mapping[str, Any], ...] = ()
    sensitive_tables: str | None = None
    with_shared_groups: str | None = None

    def add_models(
        self, stated: Collection[tuple[str, Collection[str] | None]], sensitive: Collection[str]
    ) -> Iterator[dict[str, Any]]:
        """Yield the models that the preset adds to the stated ones, given by kind and the paths it is on.

        A model for which others are alternatives is added on those ``sensitive`` paths that none of them is
        on, and not at all where there is none.
        """
        for model in self.models:
            others = ALTERNATIVES if model["kind"] in ALTERNATIVES else (model["kind"],)
            scopes = [on for kind, on in stated if kind in others]
            if not scopes:
                yield dict(model)
            elif model["kind"] in ALTERNATIVES and None not in scopes:
                covered = {path for on in scopes for path in on or ()}
                if uncovered := [path for path in sensitive if path not in covered]:
                    yield {**model, "on": uncovered}


def describe_model(model: Mapping[str, Any]) -> str:
    """Return a model of a preset in words: its kind, and the parameters that the preset states."""
    stated = (
        f"{name} = {' '.join(map(str, value)) if isinstance(value, tuple) else value}"
        for name, value in model.items()
        if name not in ("kind", "on")
    )
    return f"{model['kind']} ({', '.join(stated)})"


ALTERNATIVES = (
    "frequency-l-diversity", "distinct-l-diversity", "entropy-l-diversity", "recursive-cl-diversity",
)  # fmt: skip
"""Models that a policy may state instead of the one among them that a preset would add."""


_MSB: Mapping[str, Any] = {"kind": "msb", "order": "multi"}
_KACA: Mapping[str, Any] = {"kind": "kaca", "beta": 0}
_SHARED = Preset(
    paper="Reduction of Data Loss and Privacy Disclosure using t-closeness, section 3.1 (code TC)",
    steps=(_MSB, _KACA),
    models=({"kind": "k-anonymity", "k": 5}, {"kind": "frequency-l-diversity", "l": 3}),
    kinds=(
        "k-anonymity",
        "frequency-l-diversity",
        "distinct-l-diversity",
        "entropy-l-diversity",
        "recursive-cl-diversity",
    ),
    recoding="slicing",
    sensitive_tables="correlated",
)
_MSB_KACA = replace(
    _SHARED,
    steps=(_KACA,),
    sensitive_steps=(_MSB,),
    recoding="slicing_by_table",
    with_shared_groups="MSB-KACA with shared groups",
)
_CLOSE = replace(
    _MSB_KACA,
    paper="Reduction of Data Loss and Privacy Disclosure using t-closeness, section 4 (code TC)",
    models=(*_SHARED.models, {"kind": "t-closeness", "t": "0.3"}),
    kinds=(*_SHARED.kinds, "t-closeness"),
    with_shared_groups="t-closeness over MSB-KACA with shared groups",
)
_CLUSTREE = {"kind": "clustree", "window": 50, "pairing": "greedy", "grow": False}

PRESETS: dict[str, Preset] = {
    "MLevCluTree": Preset(
        paper="A Multi-Level Privacy-Preserving Approach to Hierarchical Data (2018; code ML)",
        steps=(_CLUSTREE,),
        models=({"kind": "level-alpha-k", "k": 5, "alpha": ("0.8", "0.6", "0.4", "0.2", "0.1")},),
        kinds=("level-alpha-k", "k-anonymity"),
    ),
    "ClusTree": Preset(
        paper="Privacy-preserving publishing of hierarchical data (2016), as the baseline of ML section 5",
        steps=(_CLUSTREE,),
        models=({"kind": "frequency-l-diversity", "l": 3},),
        kinds=("frequency-l-diversity", "k-anonymity"),
    ),
    "MBF": Preset(
        paper="(l, e)-Diversity - A Privacy Preserving Model to Resist Semantic Similarity Attack (code LE)",
        steps=({"kind": "mbf"},),
        models=({"kind": "l-e-diversity", "l": 3, "e": 1},),
        kinds=("l-e-diversity", "k-anonymity"),
        recoding="anatomy",
    ),
    "anatomy-l": Preset(
        paper="Anatomy (2006) by algorithm 1 of LE on plain values, as the baseline of LE section V",
        steps=({"kind": "mbf"},),
        models=({"kind": "frequency-l-diversity", "l": 3},),
        kinds=("frequency-l-diversity", "k-anonymity"),
        recoding="anatomy",
    ),
    "MSB-KACA": _MSB_KACA,
    "SLOMS": replace(
        _MSB_KACA,
        paper="Slicing on multiple sensitive attributes, by MSB-KACA, as TC section 3 describes it (code TC)",
    ),
    "MSB-KACA with shared groups": _SHARED,
    "t-closeness over MSB-KACA": replace(_CLOSE, sensitive_steps=(_MSB, {"kind": "swarm"})),
    # Groups of a table are not generalized: further swaps, which lower the loss, would gain nothing.
    "t-closeness over MSB-KACA with swap": replace(
        _CLOSE, sensitive_steps=(_MSB, {"kind": "swap", "passes": 0})
    ),
    "t-closeness over MSB-KACA with shared groups": replace(
        _CLOSE,
        steps=(*_SHARED.steps, {"kind": "swap"}),
        sensitive_steps=(),
        recoding=_SHARED.recoding,
        with_shared_groups=None,
    ),
}
"""The presets by their name in a policy."""
