"""The names of fields on pages for people: the policy's labels, where it states any, instead of paths."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from hierdata.ground.escaping import quote
from hierdata.release.report.models import Outcome, StewardReport
from hierdata.release.report.wording import place

METRICS = {
    "lm_cost": "loss metric (LM)",
    "kept": "worth that is kept",
    "certainty_penalty": "normalized certainty penalty (NCP)",
    "suppression_ratio": "suppression ratio",
    "dissimilarity_degree": "dissimilarity of sensitivity levels",
    "discrimination_rate": "discrimination rate",
    "reconstruction_error": "reconstruction error",
    "diversity_degree": "diversity of sensitive values",
    "additional_information_loss": "additional information loss",
    "disclosure_rate": "disclosure rate of random guesses",
    "classification_metric": "classification metric (CM)",
    "background_resistance": "background knowledge that an attacker still needs",
    "identity_risk": "discrimination rate of the original values",
    "skewness": "discrimination rate lost by generalizing",
    "skewness_distance": "distance of odds from the collection (total variation)",
    "skewness_divergence": "divergence of odds from the collection (Kullback-Leibler)",
    "singling_out": "singling-out risk",
    "linkability": "linkability risk",
    "inference": "inference risk",
}
"""What readers of the field call the metrics, by the names that a policy gives them."""
FIGURES = {
    "total": "in all",
    "gcp": "over all fields (GCP)",
    "gcp_less_one": "over all fields, each number of leaves less one",
    "largest": "the largest",
    "mean": "the mean",
    "worst": "the worst",
    "records": "of records",
    "vertices": "of vertices",
    "as_printed": "as the paper prints it",
    "quasi_identifiers": "by quasi-identifiers",
    "everything": "by everything published",
}
"""What figures of metrics are called, where their name does not say it."""
HEADS = frozenset({"field", "list", "sensitive attribute", "sensitive values", "vertex type"})
"""Heads of the columns of our tables that have paths."""
_ENDS = r"(?![\w-]|[.\[/@:][\w*\[@$'])"
"""What follows a path in a sentence does not go on with it."""
_WORDS_AFTER_AT = frozenset(
    ("a", "all", "an", "any", "both", "each", "its", "least", "most", "once", "one", "that", "the", "their")
)
"""What our sentences say after "at", and could be the name of a column."""


class Cell(NamedTuple):
    """A cell of a table with small print below."""

    text: str
    small: str


def name_figure(metric: str, figure: str, paths: Collection[str]) -> Cell:
    """Name a figure of a metric as readers of the field know it; the names of the policy are the small print.

    A figure of one of the ``paths`` is of the field there.

    >>> name_figure("lm_cost", "per_record", [])
    Cell(text='loss metric (LM), per record', small='lm_cost.per_record')
    """
    known = METRICS.get(metric, metric)
    path, _, variant = figure.partition(" ")
    if path in paths:
        said = f"{known} at {path}" + (", leaves less one" if variant else "")
    else:
        said = f"{known}, {FIGURES.get(figure, figure.replace('_', ' '))}"
    return Cell(said, f"{metric}.{figure}")


class Names:
    """The labels of fields by their paths, and how a page shows a path.

    A label stands in quotes where it is part of a sentence, unless it is one plain word, so that it cannot be
    taken for words of our own. One that is stated twice, or is another field's path, is followed by the path.
    """

    def __init__(self, labels: Mapping[str, str], paths: Collection[str] = ()) -> None:
        known = dict.fromkeys((*labels, *paths))
        stated = [*labels.values()]
        self._labels = {
            path: f"{label} ({path})" if stated.count(label) > 1 or label in known else label
            for path, label in labels.items()
        }
        self._quoted = {quote(path): path for path in labels}
        ordered = sorted(filter(None, known), key=len, reverse=True)
        rooted = [re.escape(path) for path in ordered if path[0] in "$/"]
        plain = "|".join(
            re.escape(path) for path in ordered if path[0] not in "$/" and path not in _WORDS_AFTER_AT
        )
        forms = [rf"(?<![\w$./\]-])(?P<path>{'|'.join(rooted)}){_ENDS}"] if rooted else []
        if plain:
            forms.append(rf"(?P<at>\b[Aa]t )(?P<paths>(?:{plain})(?: and (?:{plain}))*)(?=[:,;. ]|$)")
            forms.append(rf"(?P<first>^(?:{plain}))(?= is published|: )")
        self._form = re.compile("|".join([*forms, '"[^"]*"'])) if labels else None

    @classmethod
    def of(cls, outcome: Outcome) -> Names:
        """Return the names of a release's fields."""
        paths = {*outcome.worst_guess, *(path for promise in outcome.promises for path in promise.paths)}
        if isinstance(outcome, StewardReport):
            paths |= {*outcome.fields, *outcome.counts.vertices}
        return cls(outcome.labels, sorted(paths))

    def show(self, path: str) -> str:
        """Return what names a field where nothing else stands, such as at a bar of a chart."""
        return self._labels.get(path, path)

    def name(self, path: str, most: int = 1000) -> str:
        """Name a field or vertex type in a sentence, in about ``most`` characters.

        Of a long label the beginning is shown, within its quotes; of a long path the end.
        """
        if path in self._labels:
            label = self._labels[path]
            return quote(label if len(label) <= most else f"{label[: most - 3].rstrip()}...")
        shown = place(path)
        return shown if len(shown) <= most else f"...{shown[3 - most :]}"

    def behind(self, cell: str | Cell, head: str) -> tuple[str, str]:
        """Return what a cell of a table shows, and the path for small print, '' for none."""
        if isinstance(cell, Cell):
            return self.text(cell.text), cell.small
        path = self._quoted.get(cell, cell)
        if head not in HEADS or path not in self._labels:
            return cell if head == "reason" else self.text(cell), ""
        label = self._labels[path]
        return label, "" if label.endswith(f" ({path})") else path

    def list_rows(
        self, heads: Sequence[str], rows: Iterable[Sequence[str | Cell]]
    ) -> Iterator[list[tuple[str, str]]]:
        """Yield the rows of a table with what ``behind`` says of each cell."""
        for row in rows:
            yield [self.behind(cell, head) for cell, head in zip(row, heads, strict=True)]

    def text(self, sentence: str) -> str:
        """Return a sentence of ours with labels for paths; what it quotes stays as it is."""
        return sentence if self._form is None else self._form.sub(self._replace, sentence)

    def _replace(self, match: re.Match[str]) -> str:
        groups = match.groupdict()
        if path := groups.get("path") or groups.get("first"):
            return quote(self._labels[path]) if path in self._labels else match[0]
        if paths := groups.get("paths"):
            return groups["at"] + self._join(paths)
        return match[0]

    def _join(self, paths: str) -> str:
        *others, last = [
            quote(self._labels[path]) if path in self._labels else path for path in paths.split(" and ")
        ]
        return f"{', '.join(others)} and {last}" if others else last
