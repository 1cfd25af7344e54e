"""Look at single records as trees: print one, or align two by Algorithm 1 of ML."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TextIO, cast

from hierdata.domains.base import Uncovered
from hierdata.ground.errors import InputError
from hierdata.ground.escaping import escape
from hierdata.pipeline.look_over import PolicySource, look_over, read_policy
from hierdata.policy.load import without_required_fields
from hierdata.records.schema import Role, name_steps

if TYPE_CHECKING:
    from hierdata.documents.document import Document, Scalar
    from hierdata.domains.base import Hierarchy
    from hierdata.domains.sensitive import SensitiveDomain
    from hierdata.policy.plan.plan import Prepared
    from hierdata.records.record import Vertex


def show_tree(
    record: object, policy: PolicySource, *, key: bytes | None = None, file: TextIO | None = None
) -> None:
    """Print the rooted tree of a record: its vertices, with roles, levels and generalized values.

    A quasi-identifier is followed by what it may be generalized to, up to ``*``; a sensitive value by its
    level, if the policy gives it one (levels by frequency count this record alone). ``record`` is a dict or
    an lxml element; ``file`` is standard output by default. The tree has the record's own values: it is for
    whoever may see them. ``key`` is needed if the policy has pseudonyms or moves dates.

    Raises PolicyError, and InputError for a record that does not fit the policy.
    """
    from hierdata.records.binding import bind

    with look_over([record], without_required_fields(read_policy(policy)), key, None, None, None) as looked:
        overview, prepared, *_ = looked
        (located,) = overview.splits
        documents = overview.treatment.documents(located.split.documents())
        (root,) = bind(documents, prepared.binding)
    lines = [prepared.schema.root.path, *_lines_below(root, prepared)]
    (file or sys.stdout).writelines(f"{escape(line)}\n" for line in lines)


def _lines_below(vertex: Vertex, prepared: Prepared) -> Iterator[str]:
    """Yield a line for each attribute of a vertex, and for each vertex below it with what it has."""
    types = prepared.schema.types
    below: list[tuple[str, Iterable[str]]] = [(line, ()) for line in _attributes(vertex, prepared)]
    for child in vertex.children:
        kind = types[child.type]
        below.append((name_steps(kind), _lines_below(child, prepared)))
    for number, (line, inner) in enumerate(below, 1):
        last = number == len(below)
        yield ("└── " if last else "├── ") + line
        yield from (("    " if last else "│   ") + line_below for line_below in inner)


def _attributes(vertex: Vertex, prepared: Prepared) -> Iterator[str]:
    """Yield a line for each attribute of a vertex that has a value."""
    kind = prepared.schema.types[vertex.type]
    values = vertex.quasi, vertex.sensitive, vertex.carried
    for attribute, (steps, held, position) in zip(kind.attributes, kind.places, strict=True):
        value = values[held][position]
        if value is None:
            continue
        name = ".".join(steps) or "item"
        try:
            if attribute.role is Role.QUASI:
                yield f"{name}: {value} (quasi){_ladder(prepared.hierarchies[vertex.type][position], value)}"
            elif attribute.role is Role.SENSITIVE:
                yield f"{name}: {value} (sensitive{_level(prepared.domains[vertex.type][position], value)})"
            else:
                yield f"{name}: {value} (exempt)"
        except Uncovered:
            raise InputError("the value lies outside its domain", path=attribute.path) from None


def _ladder(tree: Hierarchy, value: Scalar) -> str:
    """Return the labels of what generalizes a value, from its finest published form up."""
    above = [node for node in tree.ancestors[tree.node_of(value)] if node >= 0]
    labels = dict.fromkeys(str(tree.labels[node]) for node in reversed(above))
    labels.pop(str(value), None)
    return "".join(f" > {label}" for label in labels)


def _level(domain: SensitiveDomain, value: Scalar) -> str:
    return "" if domain.levels is None else f", level {domain.levels[domain.code_of(value)]}"


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
    from hierdata.metrics.losses import LMCost
    from hierdata.pipeline.encode import encode_whole
    from hierdata.release.recodings.representatives import Representatives

    stated = without_required_fields(read_policy(policy))
    with look_over([a, b], stated, key, None, None, None) as looked:
        prepared = looked.prepared
        forest = replace(encode_whole(looked), sought=None)  # the paper minimizes LM
    size = max(prepared.constraints.min_class_size, 2)
    partition = run_small(forest.vertex_count, lambda: align_pair(forest, prepared.constraints, size))
    publication = Representatives().publish(forest, [partition], range(2))
    published = next(publication.parts[0].documents(), {"representative": None})
    total, *_ = LMCost().of(publication, forest)
    representative = cast("Document | None", published["representative"])
    if representative is not None:
        prepared.policy.mixed_keys.unite(representative)
    return AlignedPair(representative, Fraction(total.value))
