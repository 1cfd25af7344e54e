"""The standard sentences of a report: what a release does not promise, and what an engine's costs count."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from hierdata.ground.escaping import quote
from hierdata.ground.recodings import traits_of
from hierdata.privacy import MODELS, PrivacyModel
from hierdata.privacy.base import EXACTLY, SensitiveReading
from hierdata.release.report.knowledge import knowledge_bounds, state_by_root
from hierdata.release.report.plain import split_exact

if TYPE_CHECKING:
    from hierdata.judge.rules import GroupIdRisk, Judgement
    from hierdata.privacy import BoundedKnowledge
    from hierdata.records.identifiers import DateShift


_UNLIMITED = (
    "Nothing limits what can be guessed of {paths}: people who cannot be told apart may all have the same "
    "value there."
)
_UNLIMITED_IN_GROUPS = (
    "Nothing limits what can be guessed of {paths}: all people of one group may have the same value there."
)

_CERTAIN = (
    "In some group of this release all persons have, or may have, one value at {paths}. Someone who finds "
    "a person's group may learn that value."
)

_ALWAYS = (
    "The promise holds against a reader who knows any quasi-identifier values of a person, and that the "
    "person is in the collection. It does not hold against one who knows a sensitive value.",
    "Each sensitive field is judged by itself, and at each vertex by itself unless a promise says "
    "otherwise. What a missing value tells, or several values together, is not limited.",
    "The promise is about this release alone: releases of a changing collection, or of overlapping ones, are "
    "not protected against being compared with each other.",
    "Every figure in release.json is computed from the published files and the policy. So it tells nothing"
    " more about suppressed records than these do. That the release exists, that every model and gate "
    "passed, and why records are suppressed tell a little about them. This is not limited.",
)

_GROUPS = (
    "Groups were made of the vertices that hold {paths}, each type by itself. The promise is about the "
    "persons of each group by itself. What several groups of one person tell together is not limited, nor "
    "what persons tell who share more than one group. The values of one vertex stay together in their row."
)

ROUNDED_LOSS = (
    "The common denominator of the losses is too large for exact sums in 64 bits: each value's loss was "
    "rounded once to 2^-40 before the losses were added up."
)

_GUARDED = (
    "The models hold for those left out too. Either no record is left out, or those left out satisfy every"
    " model as a class does. The same holds for those of them that fit no published record. This is said "
    "of those left out as a whole, never of one of them; models on a population do not ask about them."
)
_GUARDED_VERTICES = (
    "The models hold for those left out too. Of each type that is in groups, either none is left out, or "
    "those left out satisfy every model as a group does. This is said of those left out as a whole, never "
    "of one of them."
)
_AS_PUBLISHED = (
    "The models hold for published records only. Of the records that are not published any share may have "
    "one sensitive value. Whoever knows that a person is in the collection, and finds no published record "
    "that fits her, may learn that value."
)
_AS_PUBLISHED_VERTICES = (
    "The models hold for published vertices only. Of those of a type that are not published any share may "
    "have one sensitive value. Whoever knows that a person has one, and finds none that fits it, may learn "
    "that value."
)
_LOST_VERTICES = (
    "Vertices below a published record can be left out, in all records of its class, because a model fails "
    "there. Nothing is promised about the sensitive values of such vertices."
)

_PSEUDONYMS = (
    "Pseudonyms at {paths} tell which values of a record are the same, and records are not compared by that. "
    "They hide values from all who lack the key: whoever has it can try every value that comes to mind."
)
_CLOSED = (
    "References at {paths} tell which resources of a record belong together. Records, and resources that "
    "look alike, are not compared by that: whoever knows it of a person may tell them apart in their class."
)
_KEPT_KEY = (
    "The key was given from outside: releases under the same key have the same pseudonyms in a domain, and "
    "can be joined by them."
)
_ABSENT = "Some have no pseudonym at {path}, and that shows. Reason given: {reason}"
_LINKED = (
    "A pseudonym of the domain {domain} may occur in several records: anyone who knows how records are "
    "linked could re-identify them by it. Reason given: {reason}"
)
_DROPPED_REFERENCES = (
    "Every reference at {paths} leads to something that is published. Where that of one record did not, it"
    " was left out at the same place in all records of the class. That it is missing tells that some of "
    "them referred to what is not published."
)
_KEPT_REFERENCES = (
    "References at {paths} may lead to nothing that is published. They tell that what they refer to exists, "
    "or once did, and who refers to it."
)
_SHIFTED = (
    "Dates at {paths} were moved by one number of {unit} for each record, {most} days at most. The days "
    "between them are true: whoever knows one true date knows the others of the record."
)
_BY_WEEKS = (
    "The weekday of a moved date is the true one. Seasons and holidays of the collection may tell by how "
    "many weeks a record with many dates was moved."
)
_BY_DAYS = (
    "Dates were moved by days, so the weekdays of a record with many dates tell the move modulo 7. Reason "
    "given: {reason}"
)
_TIMED = (
    "The time of day at {path} is published as it is written: whoever knows when a person was there finds "
    "the record by it. Reason given: {reason}"
)

_RESPELLED = (
    "Values keep the spelling that they have in the input, such as 1, 1.0 and 1e0. A record that spells a "
    "value as no other does can be found again by it."
)

_OVER_VALUES = (
    "Where a person may have several values at {paths}, this is said of one of the values, not of the "
    "person. All people of one group may have one value in common."
)
_ALL_MAY_SHARE = (
    "Where a person may have several values at {paths}, all people of one group may have one of them in "
    "common."
)

_IDS_APART = "Group ids are not compared here: they may tell these records apart."
_GROUP_IDS = (
    "Group ids may single out a record: of the records that agree in their quasi-identifiers, as few as {k} "
    "agree in all group ids too. Someone who knows a sensitive value of a person may find out in which "
    "group she is, and so which record is hers. The models limit the values of each group too. Reason given: "
    "{reason}"
)
_KNOWN_VALUE = (
    "Someone who knows a person's quasi-identifiers, and one other sensitive value or that she lacks it, "
    "guesses right with a chance of at most {guesses}."
)

_COSTS = {
    "pair_losses": "pair losses computed: what it would cost to put a record with another or into a class",
    "seeds_without_room": "records that began a class and could not be joined by any other",
    "dangling_references": "references in published records to what is not published",
    "references_dropped": "references left out, because one at their place in a class led to nothing "
    "published",
    "vertices_without_partner": "vertices suppressed in published records because others of their class "
    "have no such vertex, or none that a model allows in one class with it",
    "vertices_lost_in_their_class": "vertices suppressed in published records because others of their class "
    "have no such vertex, or a model does not allow theirs in one class",
    "exchanges": "exchanges of records between classes that were aligned",
    "exchanges_made": "exchanges that lowered the loss and were made",
    "records_taken_in": "records that had been suppressed so far and found room in a class",
    "records_lost_with_a_seed": "records without a class, since no record near their seed could join it",
    "records_lost_in_a_dead_end": "records without a class, since their class could not be filled",
    "records_left_over": "records without a class, since fewer than a class were left",
    "records_lost_at_closing": "records without a class, since a model failed at the root of their class",
    "vertices_lost_at_closing": "vertices suppressed in published records because a model failed there when "
    "the class was finished",
    "rows_in_the_nearest_class": "records or vertices for which the search left no class, and which joined "
    "the nearest that accepts them",
    "classes_united": "classes that strayed too far from the original and were united with another",
    "rows_of_classes_dissolved": "records or vertices of classes that strayed too far from the "
    "original and could not be united",
    "lattice_nodes": "combinations of depths, one for each quasi-identifier, of which the best was taken",
    "lattice_nodes_of_least_loss": "combinations of depths that lose as little as the one that was taken, "
    "itself included",
    "records_that_no_class_accepts": "records without a class, since no class accepts them",
    "records_that_no_group_accepts": "records without a class, since no group of a sensitive table, or no "
    "class, accepts them",
    "vertices_that_no_class_accepts": "vertices suppressed because no class accepts them",
    "records_in_groups_that_fail": "records suppressed, within the policy's limit, because a model fails in "
    "their group",
    "records_lost_in_a_union": "records without a class, since their class came out like another, and a "
    "model failed in both together",
    "records_of_classes_given_up": "records or vertices of classes that were dissolved so that the "
    "suppressed ones as a whole satisfy the models",
    "records_published_at_roots": "records without a class, those of dissolved classes among them, "
    "published together with every quasi-identifier generalized to * and nothing below",
    "rows_published_as_one_group": "records or vertices that no class accepts and that are a class "
    "together, if need be with those of classes that were dissolved for them",
    "vertices_with_a_frequent_value": "vertices left out because their sensitive value is one that more than "
    "alpha of all persons have, so that no release can show it, and what lies below them",
    "vertices_lost_in_a_pool": "vertices suppressed in published records because a model failed among "
    "siblings that cannot be told apart",
}


READ_RESOURCES = {
    "generalized": "A category by its code; a group of codes by the display of a coding that has no code. A "
    "number by a range with both ends, of numbers cut after the last decimal place that is shown: 30 to 34.9 "
    "has all from 30 to below 35. A date by its month or year, or, where it is absent, by the period in its "
    "extension urn:hierdata:period. What is absent may be any value.",
    "missing": "A missing value, and one that may be any, is absent. Where FHIR requires an element, or an "
    "item of a list shows nothing, there is the extension data-absent-reason with the code masked.",
}
"""What the codebook says of resources of FHIR instead of its usual sentences."""


def limitations(
    models: Collection[PrivacyModel],
    recoding: str,
    exempt: Mapping[str, str],
    *,
    scopes: Collection[str] = (),
) -> tuple[str, ...]:
    """Return what a release does not promise, one text per limitation.

    ``exempt`` gives the policy's reason by path, ``scopes`` are the paths of the sensitive attributes whose
    vertices were partitioned independently. Raises KeyError for an unknown recoding.
    """
    fields = (
        f"{path} is published as it stands and left out when records are compared. "
        f"Reason given: {quote(reason)}"
        for path, reason in exempt.items()
    )
    groups = _on_paths(_GROUPS, scopes)
    form = traits_of(recoding).limitation
    against, about, *always = _ALWAYS
    for model in models:
        if model.bounds_knowledge:
            against, about, form = knowledge_bounds(cast("BoundedKnowledge", model), form)
    return (against, form, *groups, *_of_models(models), about, *always, *fields)


def unlimited_sentences(paths: Sequence[str], *, tables: bool) -> tuple[str, ...]:
    """Return the sentence on sensitive fields that no model limits, if there are any.

    ``tables``: sensitive values lie in tables, by group, so that records may be told apart.
    """
    return _on_paths(_UNLIMITED_IN_GROUPS if tables else _UNLIMITED, paths)


def _on_paths(sentence: str, paths: Collection[str]) -> tuple[str, ...]:
    """Return a sentence with the paths that it is about; none without paths."""
    return (sentence.format(paths=" and ".join(paths)),) if paths else ()


def state_forms(forms: Mapping[str, str | None]) -> tuple[str, ...]:
    """Return for each sensitive field in a coarser form what that means for what is promised of it."""
    return tuple(
        f"{path} is published {form}. Levels, shares, distances and reference distributions are those of the "
        "published values."
        for path, form in forms.items()
        if form is not None
    )


def count_empty(records: int) -> tuple[str, ...]:
    """Return the sentence on published records that show nothing but the coarsest values."""
    if not records:
        return ()
    who = "one shows" if records == 1 else f"{records:,} show"
    return (f"Of the published records, {who} nothing but *. They count as published.",)


def certain_sentences(paths: Sequence[str]) -> tuple[str, ...]:
    """Return the sentence on sensitive fields of which a group may show one value in all its records."""
    return _on_paths(_CERTAIN, paths)


_MAY_LACK = "Records, items of lists and values may have been left out. "
_ALL_RECORDS = "No record was left out, but items of lists and values may have been. "
_LOWER_BOUND = (
    "So counts are lower bounds: there may be more persons or items with a value than the files show."
)
_BIASED = (
    "Shares among the published values may be too high or too low, since what was left out is not a random "
    "part."
)
_COARSER = (
    "Some values were made coarser, and the table below says how many of each field. A count of a finer "
    "value misses them."
)
_RELATED = {
    "record": "Sensitive values stand in the records that have them, so they can be related to other fields.",
    "class": "Sensitive values stand in lists for a class of persons: relate them to other fields by class.",
    "group": "Sensitive values stand in tables by group: relate them to other fields by group.",
}


def advise_recipients(
    recoding: str, *, every_record: bool, coarser: bool, sensitive: bool
) -> tuple[str, ...]:
    """Return what recipients can compute with a release. Raises KeyError for an unknown recoding.

    ``every_record``: no record was left out; ``coarser``: some published value stands for several;
    ``sensitive``: there are sensitive values.
    """
    advice = [(_ALL_RECORDS if every_record else _MAY_LACK) + _LOWER_BOUND, _BIASED]
    advice += [_COARSER] if coarser else []
    advice += [_RELATED[traits_of(recoding).values]] if sensitive else []
    return tuple(advice)


def spelling_sentence(reason: str) -> str:
    """Return what is not promised where values keep the spelling of the input."""
    return f"{_RESPELLED} Reason given: {quote(reason)}"


def unique_sentences(accepted: Mapping[str, str]) -> tuple[str, ...]:
    """Return what is not promised of fields whose values lead to one person each, with the reasons."""
    return tuple(
        f"Someone who knows a value of {path} may know whose record it is. Reason given: {quote(reason)}"
        for path, reason in accepted.items()
    )


def describe_group_ids(risk: GroupIdRisk | None, reason: str | None) -> tuple[str, ...]:
    """Return what the group ids of records tell, with the policy's reason to accept it; none without ids."""
    if risk is None:
        return ()
    sentence = _GROUP_IDS.format(k=risk.k, reason=quote(reason or ""))
    guesses = ", ".join(f"{share} at {path}" for path, share in risk.worst_guess.items())
    return (sentence, _KNOWN_VALUE.format(guesses=guesses)) if guesses else (sentence,)


def suppression_sentences(*, judged: bool, guarded: bool, each_type: bool) -> tuple[str, ...]:
    """Return what is promised of records and vertices that are left out.

    ``judged``: a model limits sensitive values; ``each_type``: vertex types are partitioned independently.
    """
    if not judged:
        return ()
    if not guarded:
        return (_AS_PUBLISHED_VERTICES,) if each_type else (_AS_PUBLISHED, _LOST_VERTICES)
    return (_GUARDED_VERTICES,) if each_type else (_GUARDED, _LOST_VERTICES)


class PromiseText(NamedTuple):
    """A promise in words: who could find a person's record, and what could be learned; '' for no word."""

    finding: str
    learning: str

    @property
    def statement(self) -> str:
        """The whole promise."""
        return " ".join(filter(None, self))


def state_promise(
    model: PrivacyModel,
    judged: Sequence[Judgement],
    *,
    apart: bool = False,
    ids: bool = False,
    by_root: bool = False,
) -> PromiseText:
    """State the promise of a model as it was judged, with the paths where it differs.

    It may differ by reading, and by what the model takes from an attribute (``PrivacyModel.resolve``). What
    is promised of values says so where a person may have several. ``ids``: records have group ids that are
    not compared, which a promise of k records says. ``by_root``: classes are those of root values.
    """
    alike: dict[tuple[SensitiveReading, PrivacyModel], list[Judgement]] = {}
    for judgement in judged:
        alike.setdefault((judgement.reading, judgement.resolved or model), []).append(judgement)
    if not judged:
        alike = {(SensitiveReading(), model): []}
    finding = " ".join(dict.fromkeys(resolved.promise_finding(apart=apart) for _, resolved in alike))
    learnings, exactly = [], []
    for (reading, resolved), judgements in alike.items():
        if reading.asks == "presence":
            tied = all(judgement.tied for judgement in judgements)
            said = resolved.promise_presence(reading.within, apart=apart, tied=tied)
        else:
            said = resolved.promise(apart=apart)
        said = said.removeprefix(resolved.promise_finding(apart=apart)).lstrip()
        everywhere = not judged or (len(alike) == 1 and model.on is None)
        plain, exact = split_exact(said)
        where = "" if everywhere else f"At {_paths(judgements)}: "
        learnings += [f"{where}{plain}"] if plain else []
        exactly += [f"{where}{exact}"] if exact else []
    several = [judgement for judgement in judged if judgement.repeats and judgement.reading.asks == "value"]
    if several:
        sentence = _OVER_VALUES if model.limits_presence else _ALL_MAY_SHARE
        learnings.append(sentence.format(paths=_paths(several)))
    learnings += [f"{EXACTLY}{' '.join(exactly)}"] if exactly else []
    if by_root:
        return PromiseText(*(state_by_root(said) if said else "" for said in (finding, " ".join(learnings))))
    if ids and "k" in model.letters:
        finding = " ".join(filter(None, (finding, _IDS_APART)))
    return PromiseText(finding, " ".join(learnings))


def _paths(judged: Iterable[Judgement]) -> str:
    return " and ".join(judgement.path for judgement in judged if judgement.path is not None)


def _of_models(models: Collection[PrivacyModel]) -> tuple[str, ...]:
    """Return each limitation once, in a fixed order; models that compare with the original come last."""
    places = {kind: position for position, kind in enumerate(MODELS)}
    ordered = sorted(models, key=lambda model: (model.needs_reference, places.get(model.kind, len(places))))
    return tuple(dict.fromkeys(model.limitation for model in ordered if model.limitation))


def identifier_sentences(
    pseudonyms: Collection[str],
    links: Mapping[str, str],
    shifted: Mapping[str, DateShift],
    *,
    absent: Mapping[str, str],
    references: Collection[str],
    kept: Collection[str],
    per_run: bool,
) -> tuple[str, ...]:
    """Return the sentences on what pseudonyms and moved dates do not hide.

    ``links`` gives by domain the policy's reason why it may link records, ``absent`` by path why a missing
    pseudonym identifies no one. ``shifted`` are the moved dates by path.
    ``references`` are dropped where they dangle, those ``kept`` are not.
    """
    sentences = [*_on_paths(_PSEUDONYMS, pseudonyms)]
    if pseudonyms and not per_run:
        sentences.append(_KEPT_KEY)
    sentences += [_ABSENT.format(path=path, reason=quote(reason)) for path, reason in absent.items()]
    for domain, reason in links.items():
        sentences.append(_LINKED.format(domain=quote(domain), reason=quote(reason)))
    sentences += [*_on_paths(_DROPPED_REFERENCES, references), *_on_paths(_KEPT_REFERENCES, kept)]
    return (*sentences, *_sentences_on_dates(shifted))


def state_closed(paths: Collection[str]) -> tuple[str, ...]:
    """Return the sentence on references that are published as new ids, if there are any."""
    return _on_paths(_CLOSED, paths)


def state_substitutes(paths: Collection[str]) -> str:
    """Return the sentence on pseudonyms that look like values."""
    return (
        f"The values at {' and '.join(paths)} are substitutes of the same form. Whoever has the key can turn "
        "them back into the real values. They look like real values: only `verify --original`, with the key, "
        "can tell the two apart. Length, punctuation and the places of letters and digits are real."
    )


def _sentences_on_dates(shifted: Mapping[str, DateShift]) -> Iterator[str]:
    """Yield the sentences on moved dates; all are moved alike."""
    if not shifted:
        return
    paths, shift = " and ".join(shifted), next(iter(shifted.values()))
    most = shift.days - shift.days % shift.step
    yield _SHIFTED.format(paths=paths, unit="days" if shift.weekdays else "weeks", most=most)
    if shift.weekdays is None:
        yield _BY_WEEKS
    for reason in dict.fromkeys(moved.weekdays for moved in shifted.values() if moved.weekdays):
        yield _BY_DAYS.format(reason=quote(reason))
    for path, moved in shifted.items():
        if moved.time is not None:
            yield _TIMED.format(path=path, reason=quote(moved.time))


def cost_meaning(name: str) -> str:
    """Describe what a cost of an engine counts; for an unknown name, return the name in words.

    >>> cost_meaning("blocks_merged")
    'blocks merged'
    """
    return _COSTS.get(name, name.replace("_", " "))
