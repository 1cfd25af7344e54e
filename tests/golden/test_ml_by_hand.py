"""Algorithm 2 worked by hand on five students.

    0  P1  gpa 2   CS204:2    MATH101:missing
    1  P1  gpa 1   CS305:1
    2  P1  gpa 1   CS201:1    MATH101:1
    3  P2  gpa 2   CS201:2
    4  P2  gpa 3

LM: ANYP 1; CS2xx 1/3 (2 of 4 courses), CS 2/3, ANY 1. "+1": a suppressed vertex of one quasi-identifier.

RUN 1, level alpha, k = 2. A vertex takes at most 1, 1, 0, 0, 0 values of levels 1 to 5
(k * alpha: 8/5, 6/5, 4/5, 2/5, 1/5).

First draw 7 mod 5 = 2: seed 2. Loss of seed 2 against
    0:  gpa {1,2} fits. P1, P1: 0. Two courses on both sides, so those of 2 choose, in order:
        CS201:1 with CS204:2 (CS2xx, 2 * 1/3 = 2/3) or with MATH101 (ANY, 2): the former.
        MATH101:1 with what is left, MATH101: 0.                                            2/3
    1:  gpa {1,1}: two of level 1. Both suppressed, 3 + 2 values.                             5
    3:  gpa {1,2} fits. P1, P2: ANYP, 2 * 1. The one course of 3 chooses:
        CS201:2 with CS201:1 (0) or with MATH101:1 (ANY, 2): the former. MATH101 +1.          3
    4:  gpa {1,3}: level 3 has no room. Both suppressed, 3 + 1.                               4
Order 0, 3, 4, 1. Record 0 joins, class {2, 0}. At its end: gpa 1 and 2 have frequency 1/2 each,
under 4/5 and 3/5; CS2xx the same.
MATH101 has one value, of level 1, a frequency of 1 > 4/5 (ML-7): suppressed in both.
Loss of 2: 0 + 1/3 + 1; of 0: 0 + 1/3 + 1. Together 8/3.

Second draw 2 mod 3 = 2, of 1, 3, 4: seed 4. Its gpa of level 3 fits with nobody:
    1:  1 + 2 = 3
    3:  1 + 2 = 3
A tie: record 1 comes first and joins; class {4, 1} is suppressed at the root. Loss 1 + 2 = 3.

Record 3 is left alone and suppressed. Loss 2. Total 8/3 + 3 + 2 = 23/3.

RUN 2, k = 3 and nothing else. Draw 3: seed 3. Loss of seed 3 against
    0:  ANYP 2. CS201 of 3 chooses CS204 (2/3) before MATH101 (2). MATH101 +1.             11/3
    1:  ANYP 2. CS201 with CS305: CS, 2 * 2/3.                                             10/3
    2:  ANYP 2. CS201 with CS201: 0. MATH101 +1.                                              3
    4:  P2, P2: 0. No course on the other side: CS201 +1.                                     1
Order 4, 2, 1, 0. Record 4 joins; the representative is P2 without courses. Its loss against
    2:  ANYP 2, two courses +2.                                                               4
    1:  ANYP 2, one course +1.                                                                3
    0:  ANYP 2, two courses +2.                                                               4
Record 1 joins, though 2 was nearer to the seed. Class {3, 4, 1}, ANYP without courses.
Loss of 3: 1 + 1; of 4: 1; of 1: 1 + 1. Records 0 and 2 are left and suppressed, 3 + 3. Total 5 + 6 = 11.

RUN 3, the same with a window of two: candidates 4 and 2 only. Record 2 joins after 4. Class {3, 4, 2}.
Loss of 3: 1 + 1; of 4: 1; of 2: 1 + 1 + 1. Records 0 and 1 are suppressed, 3 + 2. Total 6 + 5 = 11.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.hand_worked import TAXONOMIES, Run, by_hand_collection, by_hand_runs
from tests.naive import Result, Schema, Taxonomy, Tree, Vertex, level_alpha, mlevclutree


def trees() -> list[Tree]:
    return [
        Tree(
            "student",
            [record["program"]],
            [record["gpa"]],
            [Tree("course", [course["code"]], [course["grade"]]) for course in record["courses"]],
        )
        for record in by_hand_collection()
    ]


def document(student: Vertex) -> dict[str, Any]:
    return {
        "program": student.qi[0],
        "gpa": sorted(student.values[0]),
        "courses": [{"code": c.qi[0], "grade": sorted(c.values[0])} for c in student.children],
    }


def result_of(run: Run, records: list[Tree], scale: int | None = None) -> Result:
    schema = Schema(
        {
            "student": [Taxonomy(TAXONOMIES["program"], scale=scale)],
            "course": [Taxonomy(TAXONOMIES["course"], scale=scale)],
        }
    )
    caps = [level_alpha("student", 0), level_alpha("course", 0)] if run.level_alpha else []
    return mlevclutree(records, schema, run.k, caps, [], iter(run.draws), run.window)


@pytest.mark.parametrize("run", by_hand_runs(), ids=lambda run: run.name)
def test_the_run_comes_out_as_by_hand(run: Run):
    records = trees()
    result = result_of(run, records)
    assert [c.members for c in result.classes] == run.members
    assert [c.representative and document(c.representative) for c in result.classes] == run.published
    assert result.leftover == run.leftover
    assert result.total_loss == run.total_loss
    assert records == trees()


@pytest.mark.parametrize("run", by_hand_runs(), ids=lambda run: run.name)
def test_losses_in_whole_numbers_give_the_same_run(run: Run):
    records = trees()
    result = result_of(run, records, scale=3)
    assert [c.members for c in result.classes] == run.members
    assert type(result.total_loss) is int
    assert result.total_loss == 3 * run.total_loss


def test_each_original_vertex_knows_what_became_of_it():
    records = trees()
    result = result_of(by_hand_runs()[0], records)
    root = result.classes[0].representative
    assert root is not None
    assert result.representative_of(records[2]) is root
    assert result.representative_of(records[0]) is root
    assert [result.representative_of(course) for course in records[2].children] == [root.children[0], None]
    assert [result.representative_of(course) for course in records[0].children] == [root.children[0], None]
    assert [result.representative_of(records[i]) for i in (1, 3, 4)] == [None, None, None]
