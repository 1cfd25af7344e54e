"""Every sentence of release.json about privacy has a test in which it would be false if the code were wrong.

``TESTED`` names them. A sentence about what is not promised has a test that shows what can be learned.
"""

from __future__ import annotations

import ast
import html
import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

import hierdata
from hierdata.ground.recodings import TRAITS
from hierdata.judge.rules import Judgement
from hierdata.policy.presets import PRESETS
from hierdata.privacy import MODELS, BoundedKnowledge, PrivacyModel
from hierdata.release.report import knowledge, sentences
from hierdata.release.report.plain import split_plain
from hierdata.release.report.text import describe_verdict

TESTS = Path(__file__).parents[1]
HERE = "redteam/test_sentences.py"
RELEASES = "adversarial/test_random_releases.py::test_every_class_is_as_large_as_promised_by_a_plain_count"
TABLES = "adversarial/test_random_tables.py::test_every_class_keeps_every_model_by_its_definition"
JUDGED = "test_judge_properties.py::test_judges_like_the_twin"
TWIN = "privacy/test_contract.py::test_holds_like_the_twin"
PRESENCE = "privacy/test_presence.py::test_holds_like_the_twin"
LISTS = "redteam/test_sets.py::test_random_lists_show_no_value_of_more_than_one_in_l"
BY_TABLE = "redteam/test_slicing_by_table.py"
KNOWLEDGE = "redteam/test_bounded_knowledge.py"
KNOWN_VALUES = "end_to_end/test_known_values.py"
POPULATION = "privacy/test_ten_million.py::test_presence_in_a_population"

TESTED: dict[str, tuple[str, ...]] = {
    "_ALWAYS[0]": (RELEASES, f"{HERE}::test_who_knows_a_sensitive_value_may_find_the_record"),
    "_ALWAYS[1]": (f"{HERE}::test_a_missing_value_tells", f"{HERE}::test_two_attributes_together_tell_more"),
    "_ALWAYS[2]": (f"{HERE}::test_two_releases_tell_who_is_new",),
    "_ALWAYS[3]": (
        "redteam/test_public_figures.py::test_release_json_follows_byte_by_byte_from_the_published_records",
        "redteam/test_minimality.py::test_the_form_of_the_classes_tells_what_the_classes_do_not",
    ),
    "_GROUPS": (f"{HERE}::test_two_groups_of_one_person_tell_more_than_each",),
    "_GUARDED": ("redteam/test_absence.py::test_the_suppressed_are_none_or_as_safe_as_a_class",),
    "_GUARDED_VERTICES": ("redteam/test_absence.py::test_the_suppressed_are_none_or_as_safe_as_a_class",),
    "_AS_PUBLISHED": (
        "redteam/test_absence.py::test_the_program_finds_what_is_wrong_where_nothing_is_guarded",
    ),
    "_AS_PUBLISHED_VERTICES": (
        "redteam/test_absence.py::test_the_program_finds_what_is_wrong_where_nothing_is_guarded",
        f"{HERE}::test_vertices_that_are_left_out_of_groups_may_all_have_one_value",
    ),
    "_LOST_VERTICES": (f"{HERE}::test_vertices_that_are_left_out_may_all_have_one_value",),
    "_PSEUDONYMS": (
        "identifiers/test_actions.py::test_equal_values_stay_equal_and_keep_to_the_pattern",
        "identifiers/test_actions.py::test_no_unkeyed_hash_tells_the_value",
    ),
    "_CLOSED": ("fhir/test_closed.py::test_who_knows_what_belongs_together_may_find_the_record",),
    "_KEPT_KEY": ("identifiers/test_actions.py::test_another_key_gives_other_pseudonyms",),
    "_ABSENT": ("identifiers/test_releases.py::test_where_some_have_no_pseudonym_a_reason_is_due",),
    "_LINKED": (
        "identifiers/test_releases.py::test_links_are_allowed_with_a_reason_that_the_release_repeats",
    ),
    "_DROPPED_REFERENCES": (
        "redteam/test_references.py::test_nothing_dangles_and_all_of_a_class_lack_what_one_lacks",
    ),
    "_KEPT_REFERENCES": (
        "redteam/test_references.py::test_the_same_attack_succeeds_where_references_are_kept",
    ),
    "_SHIFTED": (
        "identifiers/test_actions.py::test_intervals_are_kept_and_no_date_goes_further_than_stated",
    ),
    "_BY_WEEKS": (
        "redteam/test_moved_dates.py::test_weekdays_rule_out_no_move",
        "redteam/test_moved_dates.py::test_what_holidays_and_seasons_still_tell",
    ),
    "_BY_DAYS": (
        "redteam/test_moved_dates.py::test_the_same_attack_succeeds_where_the_policy_moves_by_days",
    ),
    "_TIMED": ("redteam/test_moved_dates.py::test_the_time_of_day_links_nobody",),
    "_CERTAIN": (f"{HERE}::test_a_class_that_shows_one_value_is_named",),
    "_UNLIMITED": (f"{HERE}::test_a_field_that_no_model_limits_may_have_one_value_in_a_class",),
    "_UNLIMITED_IN_GROUPS": (f"{HERE}::test_people_of_one_group_may_have_one_value_though_they_differ",),
    "_MAY_LACK": (f"{HERE}::test_counts_of_a_release_are_lower_bounds",),
    "_LOWER_BOUND": (f"{HERE}::test_counts_of_a_release_are_lower_bounds",),
    "_BIASED": (f"{HERE}::test_shares_of_a_release_are_biased",),
    "_ALL_RECORDS": (f"{HERE}::test_bounded_knowledge_leaves_out_no_record",),
    "_COARSER": (f"{HERE}::test_finer_counts_miss_what_was_made_coarser",),
    **{f"related by {home}": (f"{HERE}::test_values_can_be_related_as_the_summary_says",)
       for home in sentences._RELATED},
    "_RESPELLED": ("redteam/test_spelling.py::test_a_policy_may_keep_spellings_with_a_reason",),
    "_OVER_VALUES": ("redteam/test_sets.py::test_by_value_these_shares_are_larger_than_promised",),
    "_ALL_MAY_SHARE": ("redteam/test_sets.py::test_models_without_presence_say_that_all_may_share_a_value",),
    "recoding generalization": (f"{HERE}::test_who_knows_a_sensitive_value_may_find_the_record",),
    "recoding full_domain": (f"{HERE}::test_who_knows_a_sensitive_value_may_find_the_record",),
    "recoding sets_and_ranges": (
        "test_sets_and_ranges.py::test_a_set_reads_back_as_the_values_of_its_class",
        "test_sets_and_ranges.py::test_ranges_are_those_of_the_class",
    ),
    "recoding representatives": (
        "redteam/test_sets.py::test_representatives_could_be_tied_in_no_way_that_breaks_it",
        "adversarial/test_order.py::test_values_of_a_multiset_stand_in_their_own_order",
    ),
    "recoding anatomy": (
        "redteam/test_anatomy.py::test_every_group_states_its_members_values_and_no_more",
        "redteam/test_anatomy.py::test_places_in_the_files_tell_no_more_than_the_group",
    ),
    "_IDS_APART": (f"{BY_TABLE}::test_in_all_worlds_nobody_has_a_value_more_often_than_promised_and_stated",),
    "_GROUP_IDS": (
        f"{BY_TABLE}::test_who_knows_a_value_of_one_table_may_know_which_record_it_is",
        "test_slicing_by_table.py::test_what_ids_tell_is_stated",
    ),
    "_KNOWN_VALUE": (
        f"{BY_TABLE}::test_in_all_worlds_nobody_has_a_value_more_often_than_promised_and_stated",
        f"{BY_TABLE}::test_who_knows_a_value_reads_the_others_of_its_row",
    ),
    "recoding slicing_by_table": (
        f"{BY_TABLE}::test_in_all_worlds_nobody_has_a_value_more_often_than_promised_and_stated",
        f"{BY_TABLE}::test_who_knows_a_value_reads_the_others_of_its_row",
        f"{BY_TABLE}::test_ids_of_two_tables_tell_nothing_of_each_other_or_of_the_order",
    ),
    "recoding slicing": ("redteam/test_slicing.py::test_places_in_the_tables_tell_no_more_than_the_group",),
    **{f"promise {kind}": (TWIN, JUDGED, TABLES) for kind in MODELS},
    "promise k-anonymity": (TWIN, RELEASES),
    "_GONE": ("redteam/test_alpha_beside_facts.py::test_entries_that_were_left_out_may_tell_what_they_were",),
    "promise bounded-knowledge": (
        "redteam/test_alpha_beside_facts.py::test_no_guess_has_a_larger_share_whatever_was_left_out",
        "test_judge_knowledge.py::test_judges_like_the_plain_twin",
        "test_judge_knowledge.py::test_judges_overlaps_like_the_plain_twin",
        f"{KNOWLEDGE}::test_no_known_facts_lead_to_fewer_than_k_published_records",
    ),
    "_KNOWN": (f"{KNOWLEDGE}::test_no_known_facts_lead_to_fewer_than_k_published_records",),
    "_PRESENT_VALUES": (
        f"{HERE}::test_a_missing_value_tells",
        f"{HERE}::test_two_attributes_together_tell_more",
    ),
    "_KNOWN_VALUES": (f"{KNOWN_VALUES}::test_nobody_is_found_by_any_facts_whatever_was_left_out",),
    "_TOGETHER": (f"{KNOWN_VALUES}::test_what_one_sensitive_value_leads_to_is_said_as_it_is",),
    "_LEFT_OUT_VALUES": (f"{KNOWN_VALUES}::test_nobody_is_found_by_any_facts_whatever_was_left_out",),
    "_LEFT_OUT": (f"{KNOWLEDGE}::test_what_a_record_lacks_may_have_been_left_out",),
    "_MORE_FACTS": (
        f"{KNOWLEDGE}::test_more_facts_tell_apart_as_many_as_is_said",
        f"{KNOWLEDGE}::test_the_sample_does_not_depend_on_order_or_parts",
    ),
    "_COUNTS": (f"{KNOWLEDGE}::test_counts_and_lacks_tell_apart_as_many_as_is_said",),
    "_LACK": (f"{KNOWLEDGE}::test_counts_and_lacks_tell_apart_as_many_as_is_said",),
    "_ORDER": (f"{KNOWLEDGE}::test_the_order_of_two_years_tells_who_it_is",),
    "_SIBLINGS": (f"{KNOWLEDGE}::test_numbers_of_visits_tell_what_was_left_out",),
    "_ONE_PATTERN": (f"{KNOWLEDGE}::test_several_patterns_together_may_exceed_alpha",),
    "_BY_ROOT": (
        "test_judge_knowledge.py::test_other_models_judge_the_records_of_one_root",
        f"{KNOWLEDGE}::test_other_models_speak_of_what_the_record_itself_shows",
    ),
    "promise k-map": (TWIN, POPULATION),
    "promise delta-presence": (TWIN, POPULATION),
    **{
        f"presence {kind}": (PRESENCE, LISTS)
        for kind, model in MODELS.items()
        if "bind_presence" in vars(model)
    },
    "limit level-alpha-k": (f"{HERE}::test_one_value_may_have_the_share_of_its_level",),
    "limit l-e-diversity": (f"{HERE}::test_values_that_are_far_apart_are_not_kept_apart",),
    "limit delta-l-diversity": (f"{HERE}::test_numbers_between_those_of_a_class_are_not_limited",),
    "limit epsilon-m-anonymity": (f"{HERE}::test_numbers_between_those_of_a_class_are_not_limited",),
    "limit delta-disclosure": (f"{HERE}::test_a_class_that_lacks_a_value_tells_it",),
    "limit k-map": ("privacy/test_distributions.py::test_without_a_population_nobody_fits",),
    "limit delta-presence": (POPULATION,),
}  # fmt: skip


def origins() -> Iterator[str]:
    """Where the sentences of a release come from."""
    for name, value in (vars(sentences) | vars(knowledge)).items():
        if name[0] == "_" and name.isupper() and isinstance(value, str):
            yield name
    yield from (f"_ALWAYS[{at}]" for at, _ in enumerate(sentences._ALWAYS))
    yield from (f"recoding {name}" for name in TRAITS)
    yield from (f"related by {home}" for home in sentences._RELATED)
    for kind, model in MODELS.items():
        yield f"promise {kind}"
        if "bind_presence" in vars(model):
            yield f"presence {kind}"
        if model.limitation:
            yield f"limit {kind}"


def test_every_sentence_names_its_tests() -> None:
    assert sorted(TESTED) == sorted(origins())


def test_the_tests_are_there() -> None:
    for tests in TESTED.values():
        for test in tests:
            file, _, name = test.partition("::")
            functions = [
                node.name
                for node in ast.walk(ast.parse((TESTS / file).read_text("utf-8")))
                if isinstance(node, ast.FunctionDef)
            ]
            assert name in functions, test


# What is not promised can be learned: the adversary reads the published records and nothing else.

FLAT: dict[str, Any] = {"role": "quasi", "flat": True}
SENSITIVE: dict[str, Any] = {"role": "sensitive"}
Person = dict[str, Any]


def published(people: list[Person], models: list[dict[str, Any]], **more: Any) -> list[Any]:
    """The published records of people with a town and sensitive fields."""
    fields: dict[str, Any] = {"$.town": FLAT}
    fields |= {
        f"$.{name}": {**SENSITIVE, "optional": True} for one in people for name in one if name != "town"
    }
    fields |= more.pop("fields", {})
    policy = {"version": 1, "models": models, "fields": fields, **more}
    return list(hierdata.anonymize(people, policy, seed=bytes(16)).records())


def of_town(records: list[Any], town: str) -> list[Any]:
    return [record for record in records if record["town"] in (town, "*")]


K4: dict[str, Any] = {"kind": "k-anonymity", "k": 4}


def test_who_knows_a_sensitive_value_may_find_the_record() -> None:
    people = [{"town": "a", "ill": ill, "job": job} for ill, job in zip("wxyz", "1234", strict=True)]
    for recoding in ("generalization", "full_domain"):
        records = published(people, [K4], recoding=recoding)
        assert [one["job"] for one in of_town(records, "a") if one["ill"] == "x"] == ["2"]


def test_a_missing_value_tells() -> None:
    people: list[Person] = [{"town": "a", "ill": ill} for ill in "xy"] + [{"town": "a"}] * 6
    records = published(people, [K4, {"kind": "frequency-l-diversity", "l": 2}])
    assert sum("ill" not in one for one in of_town(records, "a")) / len(records) == 6 / 8


def test_two_attributes_together_tell_more() -> None:
    people = [{"town": "a", "ill": ill, "job": ill} for ill in "xxyy"]
    records = published(people, [K4, {"kind": "frequency-l-diversity", "l": 2}])
    assert all(one["ill"] == one["job"] for one in records), (
        "each shows half of the ills and half of the jobs"
    )


def test_two_releases_tell_who_is_new() -> None:
    january = [{"town": "a", "ill": ill} for ill in "wxyz"]
    february = [*january, {"town": "a", "ill": "HIV"}]
    held = [
        Counter(one["ill"] for one in of_town(published(people, [K4]), "a")) for people in (january, february)
    ]
    assert list((held[1] - held[0]).elements()) == ["HIV"]


def test_two_groups_of_one_person_tell_more_than_each() -> None:
    """Two visits of one person are in two groups, each safe: what both tell together is not limited."""
    people = [
        {"town": town, "visits": [{"code": code} for code in codes]}
        for town, codes in (("a", "Hx"), ("b", "y"), ("c", "z"), ("d", "H"), ("e", "x"), ("f", "y"))
    ]
    policy = {
        "version": 1,
        "recoding": "anatomy",
        "models": [{"kind": "k-anonymity", "k": 2}, {"kind": "frequency-l-diversity", "l": 2}],
        "fields": {"$.town": FLAT, "$.visits[*].code": {**SENSITIVE, "asks": "value"}},
    }
    release = hierdata.anonymize(people, policy, seed=bytes(16))
    records: list[Any] = list(release.records())
    groups = [visit["group"] for record in records if record["town"] == "a" for visit in record["visits"]]
    assert len(set(groups)) == 2
    assert any("groups of one person" in sentence for sentence in release.report.limitations)


def test_plain_sentences_have_at_most_25_words() -> None:
    """Those of every promise in every recoding; the exact sentences below them may be longer."""
    said = {text for model in stated_models() for text in state_everywhere(model)}
    for preset in PRESETS.values():
        said |= {text for model in preset.models for text in state_everywhere(MODELS[model["kind"]](**model))}
    for model in stated_knowledge():
        said |= {part for part in sentences.state_promise(model, []) if part}
    plain = [split_plain(text)[0] for text in said]
    plain += [text for name in ("_OVER_VALUES", "_ALL_MAY_SHARE", "_IDS_APART", "_UNLIMITED",
                                                "_UNLIMITED_IN_GROUPS", "_CERTAIN")
              for text in [getattr(sentences, name).format(paths="$.a and $.b")]]  # fmt: skip
    assert len(said) > 80
    for sentence in (one for text in plain for one in split(text)):
        assert count_words(sentence) <= 25, sentence
        assert not re.search(r"quasi-identifier|equivalence|tuple|its share|class", sentence), sentence


def test_what_is_exact_stands_below_what_is_plain() -> None:
    """A caveat is no small print: it stands before the exact sentence."""
    (model,) = [one for one in stated_models() if one.kind == "frequency-l-diversity"]
    judged = [Judgement("", "$.ill", True, {}, 0, repeats=True)]
    plain, exact = split_plain(sentences.state_promise(model, judged).learning)
    assert "Where a person may have several values at $.ill" in plain
    assert exact.startswith("of the values that a class shows")
    assert "Exactly" not in plain + exact


def state_everywhere(model: PrivacyModel) -> Iterator[str]:
    """Both parts of the promise of a model, by all readings and in all recodings."""
    for traits in TRAITS.values():
        apart = traits.partitions_each_type
        for by_root in (False, True):
            ids = traits.groups_each_table
            yield from filter(None, sentences.state_promise(model, [], apart=apart, ids=ids, by_root=by_root))
        if "bind_presence" in vars(type(model)):
            for within, tied in product(("place", "record"), (True, False)):
                yield model.promise_presence(within, apart=apart, tied=tied)  # type: ignore[arg-type]


def split(text: str) -> list[str]:
    """Sentences, and what stands before a colon."""
    return re.split(r"(?<=[.:]) (?=[A-Z])", text)


def count_words(sentence: str) -> int:
    return len(re.findall(r"[A-Za-z][\w'-]*", sentence))


def test_what_is_not_promised_is_said_in_short_sentences() -> None:
    texts = [text for own in (sentences, knowledge) for name, text in vars(own).items()
             if name[0] == "_" and name.isupper() and isinstance(text, str)]  # fmt: skip
    texts += [*sentences._ALWAYS, *(own.limitation for own in (*TRAITS.values(), *MODELS.values()))]
    for sentence in (one for text in texts for one in re.split(r"(?<=[.:;]) (?=[A-Za-z])", text)):
        assert count_words(sentence) <= 25, sentence


def stated_models() -> Iterator[PrivacyModel]:
    """Each model with some parameters."""
    some = {"k": 5, "l": 3, "m": 2, "p": 2, "c": 2, "e": 1, "t": "1/5", "alpha": "1/2"}
    some |= {"beta": 2, "delta": 1, "epsilon": 1, "delta_max": "1/2"}
    for kind, model in MODELS.items():
        if model.bounds_knowledge:
            continue
        stated = {name: some[name] for name, field in model.model_fields.items() if field.is_required()}
        yield model(kind=kind, **stated)


def stated_knowledge() -> Iterator[BoundedKnowledge]:
    """Bounded knowledge in all its forms."""
    for m, vertex, root, facts, alpha, counts, rows in product(
        (1, 2), ("whole", "off"), ("known", "counted"), ("quasi", "all", ("$.gpa", "$.visits[*].ill")),
        (None, "1/2"), (None, {"$.visits[*]": (1, 2)}), (False, True),
    ):  # fmt: skip
        model = BoundedKnowledge(
            k=5, m=m, vertex=vertex, root=root, facts=facts, alpha=alpha, counts=counts,
            values=None if alpha is None or m == 1 else {"$.gpa": ("low",)},
        )  # fmt: skip
        yield model.of_rows() if rows else model


def summary_of(people: list[Person], fields: Any, **more: Any) -> tuple[list[Any], str]:
    """The published records, and what the summary for recipients says."""
    release = hierdata.anonymize(people, {"version": 1, "fields": fields, **more}, seed=bytes(16))
    page = (release.folder / "public" / "summary.html").read_text("utf-8")
    return list(release.records()), html.unescape(page)


TREE: dict[str, Any] = {"*": {"north": ["a", "b"], "south": ["c", "d"]}}
TOWNS: dict[str, Any] = {"role": "quasi", "taxonomy": {"tree": TREE}}


def test_counts_of_a_release_are_lower_bounds() -> None:
    """Of every value at most as many are published as there are, whatever was left out."""
    fields = {"$.town": TOWNS, "$.ill": SENSITIVE}
    fewer = 0
    for number in range(4):
        draw = Random(number)
        people = [{"town": draw.choice("abcd"), "ill": draw.choice("xxyz")} for _ in range(30)]
        records, page = summary_of(people, fields, models=[{"kind": "k-anonymity", "k": 8}])
        assert sentences._MAY_LACK + sentences._LOWER_BOUND in page
        assert sentences._ALL_RECORDS not in page
        for field in ("town", "ill"):
            shown, there = (Counter(one.get(field) for one in own) for own in (records, people))
            assert all(shown[value] <= there[value] for value in there)
            fewer += shown != there
    assert fewer


def test_shares_of_a_release_are_biased() -> None:
    """What few have is left out first: of 15 visits three show w, of those published none does."""
    rare = {"ward": "n", "ill": "w"}
    people: list[Person] = [
        {"town": "a", "visits": [{"ward": "m", "ill": "xyz"[at % 3]}, *([rare] if at < 3 else [])]}
        for at in range(12)
    ]
    fields = {"$.town": FLAT, "$.visits[*].ward": FLAT, "$.visits[*].ill": SENSITIVE}
    records, page = summary_of(people, fields, models=[{"kind": "k-anonymity", "k": 8}])
    assert sentences._BIASED in page
    shown = Counter(visit["ill"] for one in records for visit in one["visits"])
    assert shown == Counter("xyz" * 4)


def test_bounded_knowledge_leaves_out_no_record() -> None:
    people = [{"town": "abcd"[at % 4], "visits": [{"code": "uvwxyz"[at % 6]}]} for at in range(24)]
    fields = {"$.town": TOWNS, "$.visits[*].code": FLAT}
    records, page = summary_of(people, fields, models=[{"kind": "bounded-knowledge", "k": 5, "m": 1}])
    assert sentences._ALL_RECORDS + sentences._LOWER_BOUND in page
    assert sentences._MAY_LACK not in page
    assert len(records) == 24
    assert not any(sentence in page for sentence in sentences._RELATED.values()), "nothing is sensitive"


def test_finer_counts_miss_what_was_made_coarser() -> None:
    """It is said where a value was made coarser, and not where all values are as they were."""
    fields = {"$.town": TOWNS, "$.ill": SENSITIVE}
    for towns, coarser in (("aaaaab" * 2, True), ("ab" * 6, False)):
        people = [{"town": town, "ill": "xyz"[at % 3]} for at, town in enumerate(towns)]
        records, page = summary_of(people, fields, models=[{"kind": "k-anonymity", "k": 5}])
        assert (sentences._COARSER in page) is coarser
        shown, there = (Counter(one["town"] for one in own) for own in (records, people))
        assert (shown == there) is not coarser


def test_values_can_be_related_as_the_summary_says() -> None:
    """Town and ill of one person are in one record, in lists of one class, or in a table by group."""
    people = [{"town": "ab"[at % 2], "ill": "xyz"[at % 3]} for at in range(24)]
    there = Counter((one["town"], one["ill"]) for one in people)
    fields = {"$.town": FLAT, "$.ill": {**SENSITIVE, "asks": "value"}}
    for recoding, traits in TRAITS.items():
        models = [K4, {"kind": "frequency-l-diversity", "l": 2}]
        accept = {"accept": {"group-ids": "all know"}} if traits.groups_each_table else {}
        records, page = summary_of(people, fields, models=models, recoding=recoding, **accept)
        said = [home for home, sentence in sentences._RELATED.items() if sentence in page]
        assert said == [traits.values]
        if traits.values == "record":
            assert Counter((one["town"], one["ill"]) for one in records) == there
        elif traits.values == "class":
            classes = [one["representative"] for one in records]
            assert Counter((one["town"], ill) for one in classes for ill in one["ill"]) == there
            assert len(classes) < 24
        else:
            assert not any("ill" in one for one in records)
            assert any("group" in key for one in records for key in one)


def test_a_field_that_no_model_limits_may_have_one_value_in_a_class() -> None:
    """The sentences name the fields that they are about, so that none is said of another field."""
    people = [{"town": "ab"[at % 2], "ill": "xyz"[at % 3], "sex": "fm"[at % 2]} for at in range(24)]
    fields = {"$.town": FLAT, "$.ill": SENSITIVE, "$.sex": SENSITIVE}
    diverse = {"kind": "frequency-l-diversity", "l": 2}
    for on, unlimited in (({"on": ["$.ill"]}, ["$.sex"]), ({}, [])):
        models = [K4, {**diverse, **on}]
        if not on:
            fields = {**fields, "$.sex": {"role": "identifier"}}
        policy = {"version": 1, "models": models, "fields": fields}
        release = hierdata.anonymize(people, policy, seed=bytes(16))
        stated = json.loads((release.folder / "public" / "release.json").read_text("utf-8"))
        said = [
            text for text in stated["limitations"] if text.startswith("Nothing limits what can be guessed")
        ]
        assert said == [sentences._UNLIMITED.format(paths=path) for path in unlimited]
        assert stated["promises"][1]["statement"].startswith("At $.ill: Someone" if on else "Someone")
        if unlimited:
            assert {one["sex"] for one in release.records() if one["town"] == "a"} == {"f"}
            assert any("$.sex: no model limits" in warning for warning in release.report.warnings)


def test_people_of_one_group_may_have_one_value_though_they_differ() -> None:
    """Where values lie in tables, records may all differ: what may be shared is said of groups."""
    people = [{"town": "abcdefgh"[at], "ill": "xy"[at % 2], "sex": "m"} for at in range(8)]
    fields = {"$.town": FLAT, "$.ill": SENSITIVE, "$.sex": SENSITIVE}
    models = [K4, {"kind": "frequency-l-diversity", "l": 2, "on": ["$.ill"]}]
    for recoding, traits in TRAITS.items():
        if traits.groups_each_table:
            continue
        policy = {"version": 1, "models": models, "fields": fields, "recoding": recoding}
        release = hierdata.anonymize(people, policy, seed=bytes(16))
        stated = json.loads((release.folder / "public" / "release.json").read_text("utf-8"))
        sentence = sentences._UNLIMITED_IN_GROUPS if traits.separates_values else sentences._UNLIMITED
        about = [text for text in stated["limitations"] if text.startswith("Nothing limits")]
        assert about == [sentence.format(paths="$.sex")]
        page = (release.folder / "public" / "summary.html").read_text("utf-8")
        assert ("all people of one group may have one value there" in page) is traits.separates_values
        assert ("persons whose records fit" in page) is not traits.separates_values
        if recoding == "anatomy":
            assert len({one["town"] for one in release.records()}) == 8, "each record can be told apart"
            (judged, *_) = describe_verdict(hierdata.verify(release.folder, policy), [], {})
            assert "1 group of persons, the smallest of 8" in judged


def test_a_class_that_shows_one_value_is_named() -> None:
    """Everybody in a class has an A somewhere, though no course shows it with more than the stated chance."""
    fields = {"$.town": FLAT, "$.courses[*].code": FLAT, "$.courses[*].grade": SENSITIVE}
    diverse = {"kind": "frequency-l-diversity", "l": 2}
    for grades, certain in ((("A", "B"), True), (("AB"[at % 2] for at in range(8)), False)):
        each = [*grades]
        people = [
            {"town": "t", "courses": [{"code": "m", "grade": own} for own in (each if certain else each[at])]}
            for at in range(8)
        ]
        policy = {"version": 1, "models": [K4, diverse], "fields": fields}
        release = hierdata.anonymize(people, policy, seed=bytes(16))
        sentence = sentences._CERTAIN.format(paths="$.courses[*].grade")
        shown = [{course["grade"] for course in one["courses"]} for one in release.records()]
        assert bool(set.intersection(*shown)) is certain
        stated = json.loads((release.folder / "public" / "release.json").read_text("utf-8"))
        assert (sentence in stated["limitations"]) is certain
        warned = [text for text in release.report.warnings if "in some group all persons" in text]
        assert [text.partition(":")[0] for text in warned] == ["$.courses[*].grade"] * certain


@pytest.mark.parametrize("suppressed", ["guarded", "as_published"])
def test_vertices_that_are_left_out_may_all_have_one_value(suppressed: str) -> None:
    people = [{"town": "a", "visits": [{"ward": "w", "code": code}]} for code in ("H", "H", "H", "x")]
    fields = {"$.visits[*].ward": FLAT, "$.visits[*].code": SENSITIVE}
    policy = {
        "version": 1,
        "models": [K4, {"kind": "frequency-l-diversity", "l": 2}],
        "fields": {"$.town": FLAT, **fields},
        "suppressed": suppressed,
    }
    release = hierdata.anonymize(people, policy, seed=bytes(16))
    assert sentences._LOST_VERTICES in release.report.limitations
    shown = Counter(
        visit["code"]
        for record in release.records()
        for visit in record.get("visits", ())  # type: ignore[union-attr]
    )
    assert release.report.counts.records.suppressed == 0
    assert Counter("HHHx") - shown == Counter("HHHx"), "the place breaks the model, so all of it is lost"


def test_vertices_that_are_left_out_of_groups_may_all_have_one_value() -> None:
    """Of ten visits the two that are in no group both show H, where nothing guards what is left out."""
    people = [{"town": "a", "visits": [{"code": code}]} for code in "HHHHHHxyzw"]
    fields = {"$.town": FLAT, "$.visits[*].code": SENSITIVE}
    models = [{"kind": "k-anonymity", "k": 2}, {"kind": "frequency-l-diversity", "l": 2}]
    stated = {"version": 1, "models": models, "fields": fields, "recoding": "anatomy"}
    release = hierdata.anonymize(people, {**stated, "suppressed": "as_published"}, seed=bytes(16))
    assert sentences._AS_PUBLISHED_VERTICES in release.report.limitations
    assert release.report.counts.records.suppressed == 0
    (table,) = (release.folder / "public").glob("sensitive-*")
    rows = json.loads(table.read_text("utf-8"))
    shown = Counter(row["code"] for row in rows for _ in range(row["count"]))
    assert Counter("HHHHHHxyzw") - shown == Counter("HH")


def test_one_value_may_have_the_share_of_its_level() -> None:
    levels = {"by": {"H": 1, "a": 1, "b": 2, "c": 3}}
    people = [{"town": "a", "ill": ill} for ill in "HHHHHHHbbc"]
    model = {"kind": "level-alpha-k", "k": 4, "alpha": ["0.8", "0.6", "0.4"]}
    records = published(people, [model], fields={"$.ill": {**SENSITIVE, "levels": levels}})
    assert Counter(one["ill"] for one in of_town(records, "a"))["H"] / len(records) == 0.7


def test_values_that_are_far_apart_are_not_kept_apart() -> None:
    """Two of two values differ in the taxonomy, and each can be guessed with 1/2."""
    tree = {"tree": {"*": {"lung": ["flu", "asthma"], "skin": ["acne"], "mind": ["grief"]}}}
    people = [{"town": "a", "ill": ill} for ill in ("flu", "acne", "flu", "grief")]
    records = published(
        people,
        [{"kind": "l-e-diversity", "l": 2, "e": 1}],
        fields={"$.ill": {**SENSITIVE, "taxonomy": tree}},
        recoding="anatomy",
    )
    assert Counter(Counter(one["group"] for one in records).values()) == {2: 2}


def test_numbers_between_those_of_a_class_are_not_limited() -> None:
    """All four lie within 0 to 6, each 2 from the next: nobody is near another, all are near 3."""
    people = [{"town": "a", "pay": pay} for pay in (0, 2, 4, 6)]
    for model in (
        {"kind": "delta-l-diversity", "delta": "0.9", "l": 4},
        {"kind": "epsilon-m-anonymity", "epsilon": "1.9", "m": 4},
    ):
        records = published(people, [model], fields={"$.pay": {**SENSITIVE, "number": True}})
        assert all(abs(int(one["pay"]) - 3) <= 3 for one in of_town(records, "a"))


def test_a_class_that_lacks_a_value_tells_it() -> None:
    people = [{"town": town, "ill": ill} for town in "ab" for ill in ("xxyy" if town == "a" else "xyzz")]
    model = {"kind": "delta-disclosure", "delta": 2, "absent": "ignore"}
    records = published(people, [K4, model])
    assert not any(one["ill"] == "z" for one in records if one["town"] == "a")
