"""Which of the things that are not promised come first."""

from __future__ import annotations

from collections.abc import Sequence

from hierdata.release.report.sentences import limitations, suppression_sentences

_STANDARD = limitations([], "generalization", {})
_KNOWLEDGE, _OTHER_RELEASES = _STANDARD[0], _STANDARD[3]
_GIVEN_UP = (
    *suppression_sentences(judged=True, guarded=False, each_type=False),
    "is published as it stands",
    "Group ids may single out",
    "Values keep the spelling",
)
"""What a policy chose not to protect, or the words that say so."""


def rank_limitations(stated: Sequence[str]) -> tuple[str, ...]:
    """Return limitations with the most important first.

    First comes what the policy chose not to protect (the suppressed, exempt fields, group ids, spellings),
    then what readers may not know already, what the form of the release tells, and other releases; then the
    rest. The form is the second sentence (see ``limitations``).
    """

    def rank(at: int) -> int:
        if any(words in stated[at] for words in _GIVEN_UP):
            return 0
        known = {_KNOWLEDGE: 1, _OTHER_RELEASES: 3}
        return known.get(stated[at], 2 if at == 1 else 4)

    return tuple(stated[at] for at in sorted(range(len(stated)), key=rank))
