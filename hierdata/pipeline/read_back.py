"""Find what is said about published files: the values of quasi-identifiers, the paths, the public verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import is_
from pathlib import Path

from hierdata.documents.document import group_key
from hierdata.ground.errors import VerificationError
from hierdata.judge import JudgeRules, Keys, Verdict
from hierdata.pipeline.published import PublishedReading, Wanted, survey_published
from hierdata.pipeline.resources import RunContext
from hierdata.policy.checks.sensitive import Readings, resolve_readings, states_reading
from hierdata.policy.load import add_unlisted
from hierdata.policy.plan.compared import stated_scales
from hierdata.policy.policy import Policy
from hierdata.policy.spec.values import Keep
from hierdata.privacy.base import BY_VALUE, SensitiveReading
from hierdata.records.survey import PathSurvey
from hierdata.release.layout import published_files
from hierdata.release.public import ReadBack
from hierdata.sources import InputSplit


@dataclass(frozen=True)
class Judged:
    """Published files as they were read and judged by ``rules``; ``judge`` judges them by others."""

    rules: JudgeRules
    published: PublishedReading
    judge: Callable[[JudgeRules], Verdict]

    @property
    def verdict(self) -> Verdict:
        """The verdict by the rules."""
        return self.published.verdict

    def public_verdict(self, policy: Policy, vertices: frozenset[Keys], readings: Readings) -> Verdict:
        """Return the verdict by the policy and the published files alone.

        These are the vertices, and how the sensitive attributes are read. The search may have read an
        attribute otherwise, where only suppressed records repeat some vertex: if a model fails and the
        policy states no reading, the other one is judged. Models that compare with the original are not
        judged. Raises VerificationError if one fails.
        """
        verdict = self._judge_public(policy, vertices, readings)
        failing = {judgement.path for judgement in verdict.judgements if judgement.held is False}
        other = {
            keys: SensitiveReading("presence") if reading == BY_VALUE else BY_VALUE
            for keys, reading in readings.items()
            if policy.spell_path(keys) in failing and not states_reading(policy, keys)
        }
        if other:
            verdict = self._judge_public(policy, vertices, {**readings, **other})
        if any(judgement.held is False for judgement in verdict.judgements):
            raise VerificationError(
                "the release does not keep its promise towards those who know nothing but the published files"
            )
        return verdict

    def _judge_public(self, policy: Policy, vertices: frozenset[Keys], readings: Readings) -> Verdict:
        scales = stated_scales(policy)
        sensitive = tuple(
            rule
            if rule.reference is None
            and (rule.scale is None or scales[rule.keys] is not None)
            and rule.reading == readings[rule.keys]
            else replace(rule, reference=None, scale=scales[rule.keys], reading=readings[rule.keys])
            for rule in self.rules.sensitive
        )
        known = self.rules.vertices == vertices and all(map(is_, sensitive, self.rules.sensitive))
        return (
            self.verdict if known else self.judge(replace(self.rules, vertices=vertices, sensitive=sensitive))
        )


def read_back(
    folder: Path,
    splits: Sequence[InputSplit],
    policy: Policy,
    format: str,
    judged: Judged,
    spread: RunContext,
) -> ReadBack:
    """Read the judged files of the public ``folder``; ``policy`` as it was stated, records in ``format``.

    Which XML elements are vertices, and so how values are read by default, may depend on suppressed records.
    The verdict that is published takes those for vertices that the policy or the published records show to
    be. Raises VerificationError if the release fails then.
    """
    survey = judged.published.survey
    if isinstance(policy.unlisted, Keep):
        if policy.recoding_traits.separates_values:
            names = group_key(), *(group_key(number) for number, _ in enumerate(policy.sensitive, 1))
            _drop_groups(survey.shape, names)
        policy = add_unlisted(policy, survey.shape, least=0)
        survey = survey_published(splits, Wanted.by(policy), spread)  # with the values of the kept fields
    # A class has a list of values there, which is no vertex type.
    lists = frozenset(policy.sensitive if policy.recoding_traits.publishes_classes else ())
    repeated = frozenset(_find_repeated(survey.shape, (), lists))
    verdict = judged.public_verdict(policy, policy.vertices | repeated, resolve_readings(policy, repeated))
    return ReadBack(policy, survey, verdict, format, published_files(folder))


def _drop_groups(shape: PathSurvey, names: Sequence[str]) -> None:
    """Remove the group numbers, which are no field of the records."""
    for name in names:
        shape.children.pop(name, None)
    for below in shape.children.values():
        _drop_groups(below, names)


def _find_repeated(shape: PathSurvey, keys: Keys, lists: frozenset[Keys]) -> Iterator[Keys]:
    """Yield the paths that show several vertices in one place, or arrays."""
    for key, below in shape.children.items():
        path = (*keys, key)
        if (below.arrays or below.longest > 1) and path not in lists:
            yield path
        yield from _find_repeated(below, path, lists)
