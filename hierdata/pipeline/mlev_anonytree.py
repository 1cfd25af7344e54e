"""Algorithm 1 of ML, MLevAnonytree, for two records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from hierdata.pipeline.look_over import PolicySource, look_over, read_policy
from hierdata.policy.load.other_fields import without_required_fields

if TYPE_CHECKING:
    from hierdata.documents.document import Document


@dataclass(frozen=True)
class AlignedPair:
    """Two records that are generalized and suppressed until they look alike (ML section 4, Algorithm 1).

    ``representative`` is the tree of both, with a list of sensitive values at each vertex, None if both are
    suppressed. ``loss`` is the information loss of the two trees: LM' of each published quasi-identifier and
    1 for each suppressed one, from 0 to the number of quasi-identifiers of both.
    """

    representative: Document | None
    loss: Fraction


def mlev_anonytree(a: object, b: object, policy: PolicySource, *, key: bytes | None = None) -> AlignedPair:
    """Align two records by Algorithm 1 of ML (section 4), with its greedy pairing of subtrees.

    ``a`` and ``b`` are records, as ``anonymize`` takes them from an iterable: dicts or lxml elements. The
    caps of check_cons are those of the policy's models in classes of the least size they allow: under
    ``level-alpha-k`` at most k * alpha of a vertex's values may be of a level. A field that neither record
    has is no error. The class of two records is no release: nobody has judged it. ``key`` is needed if the
    policy has pseudonyms or moves dates. We differ from the print as the presets do: see errata ML-4, ML-5,
    ML-9 and ML-10 in the paper's page.

    Raises PolicyError for fields that the policy does not list, InputError for values outside their domains.
    """
    from hierdata.engines.clustree.run import align_pair
    from hierdata.engines.compiler.plain import run_small
    from hierdata.metrics.lm_cost import LMCost
    from hierdata.pipeline.encode import whole
    from hierdata.release.recodings.representatives import Representatives

    stated = without_required_fields(read_policy(policy))
    with look_over([a, b], stated, key, None, None, None) as looked:
        overview, prepared, _, spread = looked
        forest = replace(whole(overview, prepared, spread), sought=None)  # the paper minimizes LM
    size = max(prepared.constraints.min_class_size, 2)
    partition = run_small(forest.vertex_count, lambda: align_pair(forest, prepared.constraints, size))
    publication = Representatives().publish(forest, [partition], range(2))
    found = next(publication.parts[0].documents(), {"representative": None})
    total, *_ = LMCost().of(publication, forest)
    return AlignedPair(cast("Document | None", found["representative"]), Fraction(total.value))
