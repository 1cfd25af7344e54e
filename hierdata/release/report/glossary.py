"""One line for each word of a report, for a reader who did not write the policy."""

from __future__ import annotations

GLOSSARY = {
    "record": "All that is known of one individual: a tree of vertices.",
    "vertex": "An object of a record: the record itself, one of its courses, a book of that course.",
    "vertex type": "All vertices at one path ($ is the record itself); only these are ever compared.",
    "quasi-identifier": "A field by which somebody could be recognised, alone or with others.",
    "sensitive attribute": "A field whose value must not be learned about a person.",
    "class": "Published records that are equal in structure and in all quasi-identifiers; with recoding "
    "anatomy a group.",
    "group": "With recoding anatomy or slicing: vertices of one type, each of another person, that share "
    "their sensitive values, so that nobody can tell whose is which.",
    "sensitive table": "With recoding slicing: a file with the values of some sensitive attributes by group; "
    "nothing ties a row of one to a row of another.",
    "generalize": "To publish a broader category, an interval or a period for a value; * is any value.",
    "suppress": "To leave a vertex, with everything below it, or a whole record out of what is published.",
    "sensitivity level": "How sensitive a value is, from 1 (least) upwards, as the policy says.",
    "k": "The least number of records in a class; of persons, with recoding anatomy or a population.",
    "l": "How many well-represented sensitive values each vertex of a class has at least.",
    "c": "The most frequent value occurs fewer than c times as often as the l-th most frequent and all "
    "rarer ones together.",
    "alpha": "The largest share that a value, or a sensitivity level, may have at a vertex of a class.",
    "e": "The semantic distance up to which values count as similar: half the edges between them in the "
    "taxonomy.",
    "distance": "The least semantic distance of two values at a vertex of a class.",
    "delta": "Of delta-l-diversity: numbers at most twice delta apart count as similar. Of delta-disclosure: "
    "no share differs from that in the collection by a factor of e^delta. Of delta-presence: the chance that "
    "somebody of the population is in the collection.",
    "epsilon": "How far around a number others count as near it.",
    "m": "No number of a class has more than 1/m of its numbers within epsilon.",
    "p": "The least number of different sensitive values wherever a class shows any.",
    "t": "The largest distance of a class's sensitive values from those of the whole collection, 0 to 1.",
    "beta": "By how much of itself a value's share may grow from the whole collection to a class.",
    "exempt": "A field that is published as it stands, outside the promise, for a reason the policy gives.",
    "lm_cost": "The loss metric: 0 for an unchanged quasi-identifier, 1 for one that is suppressed or *, "
    "in between the share of the domain that a published value covers.",
    "certainty_penalty": "The share of its domain that a published value may stand for, for each "
    "quasi-identifier and over all (gcp): leaves over all leaves, or less one of both.",
    "suppression_ratio": "The share of the input's records, or vertices, that is not published.",
    "dissimilarity_degree": "How far apart the sensitivity levels at a vertex of a class are: as the paper "
    "prints it, which grows with the class, and as a mean distance from 0 to 1.",
    "diversity_degree": "How far apart the sensitive values of a class are in their taxonomy: as the paper "
    "prints it, which grows with the class, and as the mean distance of two values.",
    "reconstruction_error": "How far one misses a vertex's true sensitive values by guessing from its class: "
    "the squared distance, 1 for a suppressed vertex.",
    "discrimination_rate": "How far the published quasi-identifiers together narrow down a sensitive value: "
    "0 where they tell nothing of it, 1 where they tell it.",
    "background_resistance": "One less the discrimination rate: what somebody still has to know "
    "from elsewhere.",
    "identity_risk": "How far the published quasi-identifiers narrow down what they were: 0 where they tell "
    "nothing of it, 1 where they are published as they were.",
    "skewness": "By how much generalizing lowered the discrimination rate; it says nothing of how far the "
    "odds in a class are from those of the collection.",
    "skewness_distance": "How far the odds of sensitive values where the published quasi-identifiers tell "
    "most are from those of the whole collection: half the sum of the differences of shares.",
    "skewness_divergence": "The same as relative entropy, in bits.",
    "additional_information_loss": "By how much groups are larger than the l of diversity, as a share of it.",
    "disclosure_rate": "The share of right guesses of somebody who draws each person's sensitive value at "
    "random from the class.",
    "classification_metric": "The share of vertices that are suppressed, or whose sensitive value is not the "
    "most frequent at its place: lower serves who learns a rule from the data, not who protects it.",
    "gate": "A limit on a figure of the release: where it is not kept, nothing is published.",
}
