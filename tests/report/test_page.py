from __future__ import annotations

import base64
import hashlib
import re
from fractions import Fraction
from html.parser import HTMLParser

import pytest

from hierdata.metrics import METRICS
from hierdata.privacy import MODELS, KAnonymity
from hierdata.release.report.models import StewardReport
from hierdata.release.report.page import (
    CONTENT_POLICY,
    glossary,
    rank_limitations,
    render_report,
    render_summary,
)
from hierdata.release.report.parts import (
    Change,
    Exact,
    ExampleLine,
    Fingerprints,
    Pictures,
    Promise,
    PublishedFile,
    costs,
)
from hierdata.release.report.plain import split_plain
from hierdata.release.report.style import STYLE
from tests.report.sample import GPA, GRADE, grade_levels, judgement, release_file, steward_report

VOID = {"meta"}
PICTURES = Pictures(
    depths={"$.year": {"as they were": 200, "everything (*)": 300, "left out": 100}},
    distributions={
        GPA: (Change(name="level 1", input=400, published=100), Change(name="v2", input=0, published=0))
    },
    class_sizes={"5": 100, "50": 500},
    example=(ExampleLine(path="$.year", name="year", depth=0, before="1987", after="[1985, 1989]"),),
)


def drawn_report() -> StewardReport:
    guesses = {GPA: Exact.of(Fraction(1, 2)), GRADE: Exact.of(Fraction(1))}
    prints = Fingerprints(input="a" * 64, policy="b" * 64)
    return steward_report(pictures=PICTURES, fingerprints=prints, worst_guess=guesses)


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
    page = Page(render_report(steward_report()))
    facts = [
        "This release keeps its promise.",
        "600 of 603 records are published, in 119 classes of 5 to 10.",
        "1 warning: read it before you sign.",
        "Who could find a person",
        "What could be learned of a person",
        "Kept",
        "Not promised, most important",
        "Next: read on, then sign",
        "Contents",
        "9,100",
        "records without a class, since fewer than a class were left",
        "neighbouring levels meet at 5/3.",
        "All that is known of one individual",
    ]
    places = [page.text.rindex(fact) if at > 8 else page.text.index(fact) for at, fact in enumerate(facts)]
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
    text = render_report(report)
    page = Page(text)
    assert "<script" not in text
    assert page.text.count("alert(1)") >= 12
    assert {tag for tag, _ in page.tags} <= {tag for tag, _ in Page(render_report(steward_report())).tags}


@pytest.mark.parametrize("text", [render_report(steward_report()), render_summary(release_file())])
def test_the_page_needs_nothing_but_itself(text: str) -> None:
    page = Page(text)
    assert not re.search(r"@import|url\((?!#)|(?<!www.w3.org)//(?!www.w3.org)", text)
    assert not {"src", "srcset", "style"} & {name for _, attributes in page.tags for name in attributes}
    links = [attributes["href"] for attributes in page.named("a")]
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len({*ids})
    assert {f"#{name}" for name in ids} >= {*links}
    (policy,) = (meta for meta in page.named("meta") if meta.get("http-equiv"))
    assert policy["content"] == CONTENT_POLICY
    style = re.search("<style>(.*?)</style>", text, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in CONTENT_POLICY
    assert "unsafe" not in CONTENT_POLICY


def test_headings_and_tables_can_be_read_by_ear() -> None:
    page = Page(render_report(steward_report()))
    assert next(tag for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)) == "h1"
    assert len(page.named("h1")) == 1
    assert page.named("html") == [{"lang": "en"}]
    headings = {attributes["id"] for attributes in page.named("h2")}
    labels = {attributes["aria-labelledby"] for attributes in page.named("section")}
    assert labels == headings - {"contents"}
    assert len(page.named("caption")) == len(page.named("table")) > 4
    assert all(attributes.get("scope") in ("row", "col") for attributes in page.named("th"))


def test_rows_are_as_wide_as_their_heads() -> None:
    for table in re.findall(r"<table>.*?</table>", render_report(steward_report()), re.DOTALL):
        heads = len(re.findall('scope="col"', table))
        body = re.search("<tbody>(.*)</tbody>", table, re.DOTALL)
        assert body is not None
        for row in body[1].strip().split("</tr>")[:-1]:
            assert len(re.findall(r"<t[hd][ >]", row)) == heads


def test_the_report_can_be_signed_by_hand() -> None:
    text = render_report(steward_report())
    box = text[text.index('class="sign"') :]
    box = box[: box.index("</section>")]
    empty = re.findall(r'<dt>([^<]*)</dt><dd class="line"></dd>', box)
    assert empty == ["Given to (recipient)", "For what purpose", "Name", "Date", "Signature"]
    assert "<dt>Release</dt><dd>students</dd>" in box


def test_sections_without_content_are_left_out() -> None:
    text = render_report(steward_report(warnings=(), levels={}, costs={}))
    assert 'id="warnings"' not in text
    assert 'id="depths"' not in text, "a report without counts for pictures"
    assert 'id="levels"' not in text
    assert 'id="costs"' not in text
    assert "<table></table>" not in text


def test_a_broken_promise_is_said_and_shown() -> None:
    broken = Promise.of(KAnonymity(k=5), [judgement(None, held=False, k="1")])
    page = Page(render_report(steward_report(passed=False, promises=(broken,))))
    assert "does NOT keep its promise" in page.text
    assert "k-anonymity: FAILED in 2 classes." in page.text
    assert "The policy asked for this: Every record looks like at least 4" in page.text
    assert page.named("header") == [{"class": "broken"}]


def test_levels_show_capacity_and_membership() -> None:
    text = render_report(steward_report())
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
@pytest.mark.parametrize("ink", ["ink", "quiet", "kept", "broken", "link"])
def test_text_stands_out_from_its_ground(scheme: int, ink: str) -> None:
    colours = [
        dict(re.findall(r"--(\w+): (#\w{6});", block)) for block in re.findall(r":root \{([^}]*)", STYLE)
    ]
    assert len(colours) == 2
    for ground in ("paper", "band"):
        low, high = sorted((_luminance(colours[scheme][ink]), _luminance(colours[scheme][ground])))
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_every_picture_is_told_in_words() -> None:
    text = render_report(drawn_report())
    page = Page(text)
    told = dict(re.findall(r'<desc id="([\w-]+)-desc">(.*?)</desc>', text))
    assert len(told) == len(page.named("svg"))
    assert all(told.values())
    assert told["depths-1"] == "$.year: as they were 33.3 %, everything (*) 50.0 %, left out 16.7 %"
    assert "level 1, before: 100 % (400); level 1, after: 100 % (100)" in told["distributions-1"]
    assert "level 1: 80.0 % of at most 80.0 %" in told["caps-1"]
    assert "16.7 % in classes of at most 5; 100 % in classes of at most 50" in told["risk-1"]


def test_the_first_screen_has_what_a_signer_needs() -> None:
    text = Page(render_report(drawn_report())).text
    first, _, rest = text.partition("Contents")
    for said in ("a" * 64, "b" * 64, "0.1.0", "Signature", "119 classes of 5 to 10"):
        assert said in first
    assert f"In no group do more than 50.0 % have the same value at {GPA}." in first
    assert GRADE not in first.partition("Measured here: In no group")[2], "100 % is no measure to be proud of"
    # 100 records in 20 classes of 5, 500 in 10 of 50: 30 classes of 600 records.
    assert "at most 20.0 %, 5.0 % on average" in first
    assert "1987" in rest
    assert sum(sentence in first for sentence in drawn_report().limitations) == 3


def test_what_a_policy_gave_up_is_first_among_what_is_not_promised() -> None:
    stated = steward_report().limitations
    ranked = rank_limitations((*stated, "$.note is published as it stands and left out. Reason given: x"))
    assert ranked[0].startswith("$.note is published as it stands")
    assert ranked[1].startswith("The promise holds against a reader")
    assert ranked[2] == stated[1], "what the form of the release tells"
    assert ranked[3].startswith("The promise is about this release alone")
    assert sorted(ranked[1:]) == sorted(stated)


def test_a_summary_says_what_release_json_says() -> None:
    release = release_file()
    text = Page(render_summary(release)).text
    for sentence in (*release.limitations, *(promise.finding for promise in release.promises)):
        assert sentence in text
    for promise in release.promises:
        plain, exact = split_plain(promise.learning)
        assert plain in text
        assert exact in text
    assert "600 records in 119 classes of 5 to 10." in text
    assert "0" * 64 in text
    assert "603" not in text
