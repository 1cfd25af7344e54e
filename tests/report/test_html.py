from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from hierdata.metrics import METRICS
from hierdata.privacy import MODELS, KAnonymity
from hierdata.release.report.glossary import glossary
from hierdata.release.report.html import render
from hierdata.release.report.models import Promise, PublishedFile, costs
from hierdata.release.report.style import PAGE
from tests.report.sample import GRADE, grade_levels, judgement, steward_report

VOID = {"meta"}


class Page(HTMLParser):
    """Tags in order, their attributes, and the text; refuses tags that do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def test_the_verdict_comes_first_in_plain_words() -> None:
    page = Page(render(steward_report()))
    facts = [
        "This release keeps its promise.",
        "600 of 603 records are published, in 119 classes of 5 to 10.",
        "12.3 % of the detail of the quasi-identifiers is lost",
        "Promised and achieved",
        "9,100",
        "records suppressed because fewer than a class were left",
        "Neighbouring levels meet at 5/3.",
        "What is not promised",
        "What the words mean",
    ]
    places = [page.text.index(fact) for fact in facts]
    assert places == sorted(places)


def test_everything_from_outside_is_escaped() -> None:
    hostile = "<script>alert(1)</script>&\"'$title"
    report = steward_report(
        dataset=hostile,
        version=hostile,
        recoding=hostile,
        format=hostile,
        files=(PublishedFile(name=hostile, sha256="0" * 64),),
        reasons={hostile: hostile},
        warnings=(hostile,),
        limitations=(hostile,),
        costs=costs({hostile: 1}),
        levels={hostile: grade_levels()},
        promises=(
            Promise.of(KAnonymity(k=2), [judgement(hostile)]).model_copy(
                update={"kind": hostile, "statement": hostile, "reason": hostile}
            ),
        ),
    )
    text = render(report)
    page = Page(text)
    assert "<script" not in text
    assert page.text.count("alert(1)") >= 12
    assert {tag for tag, _ in page.tags} == {tag for tag, _ in Page(render(steward_report())).tags}


def test_the_page_needs_nothing_but_itself() -> None:
    text = render(steward_report())
    page = Page(text)
    assert not re.search(r"@import|url\(|//", text)
    assert not {"src", "href", "srcset"} & {name for _, attributes in page.tags for name in attributes}
    (policy,) = (meta for meta in page.named("meta") if meta.get("http-equiv"))
    assert policy["content"] == "default-src 'none'; style-src 'unsafe-inline'"


def test_headings_and_tables_can_be_read_by_ear() -> None:
    page = Page(render(steward_report()))
    assert next(tag for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)) == "h1"
    assert len(page.named("h1")) == 1
    assert page.named("html") == [{"lang": "en"}]
    headings = {attributes["id"] for attributes in page.named("h2")}
    assert {attributes["aria-labelledby"] for attributes in page.named("section")} == headings
    assert len(page.named("caption")) == len(page.named("table")) > 4
    assert all(attributes.get("scope") in ("row", "col") for attributes in page.named("th"))


def test_rows_are_as_wide_as_their_heads() -> None:
    for table in re.findall(r"<table>.*?</table>", render(steward_report())):
        heads = len(re.findall('scope="col"', table))
        body = re.search("<tbody>(.*)</tbody>", table)
        assert body is not None
        for row in body[1].split("</tr>")[:-1]:
            assert len(re.findall(r"<t[hd][ >]", row)) == heads


def test_sections_without_content_are_left_out() -> None:
    text = render(steward_report(warnings=(), levels={}, costs={}))
    assert 'id="warnings"' not in text
    assert 'id="levels"' not in text
    assert 'id="costs"' not in text
    assert "<table></table>" not in text


def test_a_broken_promise_is_said_and_shown() -> None:
    broken = Promise.of(KAnonymity(k=5), [judgement(None, held=False, k="1")])
    page = Page(render(steward_report(passed=False, promises=(broken,))))
    assert "does NOT keep its promise" in page.text
    assert "k-anonymity: FAILED in 2 classes." in page.text
    assert "The policy asked for this: Each record is one of at least 5" in page.text
    assert page.named("header") == [{"class": "broken"}]


def test_levels_show_capacity_and_membership() -> None:
    text = render(steward_report())
    assert f"{GRADE}: sensitivity levels" in text
    assert "no limit" in text
    assert f"{GRADE}: degrees of membership" in text


def test_the_glossary_explains_the_metrics_and_the_letters_of_the_models() -> None:
    report = steward_report()
    words = dict(glossary(report))
    assert report.metrics.keys() <= words.keys()
    for promise in report.promises:
        letters = {word.partition(",")[0] for word in words if word.endswith(f"of {promise.kind}")}
        assert promise.parameters.keys() & {"k", "l", "alpha", "t"} <= letters


def test_every_metric_and_every_letter_has_an_explanation() -> None:
    assert all(metric.explanation.endswith(".") for metric in METRICS.values())
    for model in MODELS.values():
        assert set(model.combine) <= model.letters.keys()


def _luminance(colour: str) -> float:
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [0, 1])
@pytest.mark.parametrize("ink", ["ink", "quiet", "kept", "broken"])
def test_text_stands_out_from_its_ground(scheme: int, ink: str) -> None:
    colours = [
        dict(re.findall(r"--(\w+): (#\w{6});", block)) for block in re.findall(r":root \{([^}]*)", PAGE)
    ]
    assert len(colours) == 2
    for ground in ("paper", "band"):
        low, high = sorted((_luminance(colours[scheme][ink]), _luminance(colours[scheme][ground])))
        assert (high + 0.05) / (low + 0.05) >= 4.5
