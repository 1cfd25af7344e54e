from __future__ import annotations

import pickle
from decimal import Decimal
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.documents.document import Numeral, Siblings
from hierdata.ground.errors import InputError, PolicyError
from hierdata.records import values as batches
from hierdata.records.binding import bind, resolve, unbind
from hierdata.records.path import Step, jsonpath, parse
from hierdata.records.schema import Role, Rule
from hierdata.records.survey import survey

Q, S, C = Role.QUASI, Role.SENSITIVE, Role.CARRIED


def rules(**roles):
    return [Rule(parse(path), role) for path, role in roles.items()]


def binding_of(policy, documents, **options):
    return resolve(policy, survey(documents).shape, **options)


def plain(vertex):
    own = (list(vertex.quasi), list(vertex.sensitive), list(vertex.carried))
    return (vertex.type, *own, [plain(c) for c in vertex.children])


STUDENT = {
    "id": "S1",
    "major": "Computer Science",
    "gpa": Decimal("3.75"),
    "address": {"city": "Bern", "phones": [{"no": 7}]},
    "courses": [{"code": "CS201", "grade": "B", "tags": ["x", "y"]}, {"grade": "A", "code": "CS305"}],
}
STUDENT_RULES = rules(
    **{
        "$.id": None,
        "$.major": Q,
        "$.gpa": S,
        "$.address.city": Q,
        "$.courses[*].code": Q,
        "$.courses[*].grade": S,
        "$.courses[*].tags[*]": Q,
        "$.address.phones[*].no": C,
    }
)


def test_the_schema_of_a_student():
    schema = binding_of(STUDENT_RULES, [STUDENT]).schema
    assert [(t.path, t.steps, t.many, t.parent, t.children) for t in schema.types] == [
        ("$", (), True, None, (1, 3)),
        ("$.courses[*]", ("courses",), True, 0, (2,)),
        ("$.courses[*].tags[*]", ("tags",), True, 1, ()),
        ("$.address.phones[*]", ("address", "phones"), True, 0, ()),
    ]
    assert [(a.path, a.steps, a.role) for a in schema.root.attributes] == [
        ("$.major", ("major",), Q),
        ("$.gpa", ("gpa",), S),
        ("$.address.city", ("address", "city"), Q),
    ]
    assert [a.steps for a in schema.types[2].attributes] == [()]


def test_a_student_bound_and_unbound():
    binding = binding_of(STUDENT_RULES, [STUDENT])
    (vertex,) = bind([STUDENT], binding)
    assert plain(vertex) == (
        0,
        ["Computer Science", "Bern"],
        [Decimal("3.75")],
        [],
        [
            (1, ["CS201"], ["B"], [], [(2, ["x"], [], [], []), (2, ["y"], [], [], [])]),
            (1, ["CS305"], ["A"], [], []),
            (3, [], [], [7], []),
        ],
    )
    document = unbind(vertex, binding.schema)
    assert document == {key: value for key, value in STUDENT.items() if key != "id"}
    assert list(document) == ["major", "gpa", "address", "courses"]


def test_attributes_and_child_types_stand_in_rule_order_even_across_nested_objects():
    document = {"a": {"x": 1, "v": [{"k": 1}], "y": 2}, "b": 3, "w": [{"k": 2}]}
    policy = rules(**{"$.a.y": Q, "$.w[*].k": Q, "$.b": Q, "$.a.v[*].k": Q, "$.a.x": Q})
    schema = binding_of(policy, [document]).schema
    assert [a.path for a in schema.root.attributes] == ["$.a.y", "$.b", "$.a.x"]
    assert [t.path for t in schema.types[1:]] == ["$.w[*]", "$.a.v[*]"]


XML_RULES = rules(**{"/students/student/major": Q, "/students/student/course/@code": Q})
DOTTED_RULES = rules(**{"major": Q, "courses.code": Q})


def xml_student(*codes):
    return {"major": Siblings(["CS"]), "course": Siblings({"@code": code} for code in codes)}


def json_student(*codes):
    return {"major": "CS", "courses": [{"code": code} for code in codes]}


@pytest.mark.parametrize(("policy", "student"), [(XML_RULES, xml_student), (DOTTED_RULES, json_student)])
def test_a_student_with_one_course_is_bound_as_the_others_are(policy, student):
    documents = [student("CS201"), student("CS201", "CS305"), student("CS305")]
    binding = binding_of(policy, documents)
    assert [plain(vertex) for vertex in bind(documents, binding)] == [
        (0, ["CS"], [], [], [(1, [code], [], [], []) for code in codes])
        for codes in (["CS201"], ["CS201", "CS305"], ["CS305"])
    ]


@pytest.mark.parametrize(
    ("policy", "hints", "many"),
    [
        (XML_RULES, (), False),
        (XML_RULES, {("course",)}, True),
        (rules(**{"$.major": Q, "$.course[*]['@code']": Q}), (), True),
        (rules(**{"$.major": Q, "$.course['@code']": Q}), (), False),
    ],
)
def test_where_every_student_has_one_course_policy_then_xsd_then_survey_decide(policy, hints, many):
    documents = [xml_student("CS201"), xml_student("CS305")]
    binding = binding_of(policy, documents, many_hints=hints)
    codes = [
        [vertex.children[0].quasi[0]] if many else list(vertex.quasi[1:])
        for vertex in bind(documents, binding)
    ]
    assert codes == [["CS201"], ["CS305"]]
    assert len(binding.schema.types) == 1 + many
    expected = [{"@code": "CS201"}] if many else {"@code": "CS201"}
    assert unbind(next(bind(documents, binding)), binding.schema)["course"] == expected


def test_a_json_array_is_many_however_short():
    documents = [json_student("CS201"), json_student()]
    assert len(binding_of(DOTTED_RULES, documents).schema.types) == 2


def test_the_policy_makes_a_vertex_of_a_single_object_or_value():
    documents = [{"home": {"city": "Bern"}, "pet": "cat"}, {"home": None, "pet": None}]
    policy = [
        Rule(parse("$.home"), None, vertex=True),
        Rule(parse("$.home.city"), Q),
        Rule(parse("$.pet"), Q, vertex=True),
    ]
    binding = binding_of(policy, documents)
    assert [(t.path, t.many) for t in binding.schema.types] == [
        ("$", True),
        ("$.home", False),
        ("$.pet", False),
    ]
    first, second = bind(documents, binding)
    assert plain(first) == (0, [], [], [], [(1, ["Bern"], [], [], []), (2, ["cat"], [], [], [])])
    assert plain(second) == (0, [], [], [], [])
    assert unbind(first, binding.schema) == documents[0]


def test_missing_spellings_and_null_become_none_and_stay_out():
    documents = [
        {"a": value, "t": ["x", value]} for value in ("?", None, -9, Decimal("-9.0"), Numeral("-9e0"), "-9")
    ]
    policy = [Rule(parse(path), Q, missing=frozenset(["?", "-9"])) for path in ("$.a", "$.t[*]")]
    binding = binding_of(policy, documents)
    for vertex in bind([*documents, {"t": ["x", None]}], binding):
        assert plain(vertex) == (0, [None], [], [], [(1, ["x"], [], [], []), (1, [None], [], [], [])])
        assert unbind(vertex, binding.schema) == {"t": ["x", None]}


def test_a_dropped_object_or_array_covers_all_below_it():
    document = {
        "a": 1,
        "raw": {"b": [1, [2]], "c": {}},
        "log": [{"d": 1}, 2],
        "name": {"first": "x", "last": "y"},
    }
    policy = rules(**{"$.a": Q, "$.raw": None, "$.log": None, "$.name.first": None, "$.name.last": None})
    binding = binding_of(policy, [document])
    assert unbind(next(bind([document], binding)), binding.schema) == {"a": 1}


def test_an_array_whose_fields_are_all_dropped_is_not_published():
    document = {"a": 1, "log": [{"d": 1}]}
    binding = binding_of(rules(**{"$.a": Q, "$.log[*].d": None}), [document])
    assert len(binding.schema.types) == 1


def test_element_content_with_and_without_attributes():
    documents = [{"gpa": Siblings([value])} for value in ("3.7", {"@scale": "4", "#text": "3.0"}, "")]
    binding = binding_of(rules(**{"/r/s/gpa/text()": S, "/r/s/gpa/@scale": Q}), documents)
    assert [plain(vertex)[1:3] for vertex in bind(documents, binding)] == [
        ([None], ["3.7"]),
        (["4"], ["3.0"]),
        ([None], [None]),
    ]


def test_optional_rules_may_match_nothing():
    policy = [Rule(parse("$.a"), Q), Rule(parse("$.b"), Q, optional=True)]
    binding = binding_of(policy, [{"a": 1}])
    assert plain(next(bind([{"a": 1}], binding))) == (0, [1, None], [], [], [])


def test_unlisted_fields_are_left_out_where_the_policy_says_so():
    document = {"a": 1, "secret": {"x": 1}}
    binding = binding_of(rules(**{"$.a": Q}), [document], unlisted="drop")
    assert unbind(next(bind([document], binding)), binding.schema) == {"a": 1}


MISFITS = [
    ({"a": 1, "zzz": 2}, "record 2, $.<key>: the field is not listed in the policy"),
    ({"o": {"zzz": 2}}, "record 2, $.o.<key>: the field is not listed in the policy"),
    ({"m": [{"k": 1, "zzz": 2}]}, r"record 2, $.m[*].<key>: the field is not listed in the policy"),
    ({"a": {"zzz": 1}}, "record 2, $.a: expected a single value, found an object"),
    (
        {"a": ["zzz"]},
        "record 2, $.a: expected a single value, found an array; if it is a list in some records only, state "
        "`shape: [{listed: $.a}]`",
    ),
    ({"a": Siblings(["zzz", "zzz"])}, "record 2, $.a: the element occurs 2 times instead of once"),
    ({"a": Siblings([{"#text": "zzz"}])}, "record 2, $.a: expected a single value, found an object"),
    ({"o": "zzz"}, "record 2, $.o: expected an object, found a single value"),
    ({"o": [{"k": 1}]}, "record 2, $.o: expected an object, found an array"),
    ({"o": Siblings(["zzz"])}, "record 2, $.o.<key>: the field is not listed in the policy"),
    ({"o": Siblings([{}, {}])}, "record 2, $.o: the element occurs 2 times instead of once"),
    ({"m": {"k": 1}}, "record 2, $.m[*]: expected an array, found an object"),
    ({"m": ["zzz"]}, "record 2, $.m[*]: expected an object, found a single value"),
    ({"m": [None]}, "record 2, $.m[*]: expected an object, found null"),
    ({"m": [[{"k": 1}]]}, "record 2, $.m[*]: expected an object, found an array"),
    (
        {"t": "zzz"},
        "record 2, $.t[*]: expected an array, found a single value; if it is a list in some records only, "
        "state `shape: [{listed: $.t}]`",
    ),
    ({"t": [["zzz"]]}, "record 2, $.t[*]: expected a single value, found an array"),
    (["zzz"], "record 2, $: expected an object, found an array"),
]


@pytest.mark.parametrize(("document", "message"), MISFITS)
def test_what_does_not_fit_is_refused_with_record_and_path_and_no_value(document, message):
    good = {"a": 1, "o": {"k": 1}, "m": [{"k": 1}], "t": ["x"]}
    binding = binding_of(rules(**{"$.a": Q, "$.o.k": Q, "$.m[*].k": Q, "$.t[*]": Q}), [good])
    bound = bind([good, document], binding)
    next(bound)
    with pytest.raises(InputError) as caught:
        next(bound)
    assert str(caught.value) == message
    assert "zzz" not in message


def test_a_clash_among_the_records_is_left_for_binding_to_refuse_with_its_number():
    documents = [{"a": [1]}, {"a": [2]}, {"a": 3}]
    binding = binding_of(rules(a=Q), documents)
    with pytest.raises(InputError, match=r"record 3, a: "):
        list(bind(documents, binding))


def test_resolve_refuses_with_every_problem_and_reveals_names_apart():
    with pytest.raises(PolicyError) as caught:
        binding_of(rules(**{"$.mayor": Q, "$.a": Q}), [{"major": 1, "a": {"x": 1}}])
    assert str(caught.value).splitlines() == [
        "$.mayor: nothing in the records matches this path; did you mean $.major?",
        "$.<key>: a field is not listed in the policy",
        "$.a: this is an object: name its fields",
    ]
    assert caught.value.revealed == ("major",)


def test_a_binding_travels_to_other_processes():
    binding = pickle.loads(pickle.dumps(binding_of(STUDENT_RULES, [STUDENT])))
    assert len(list(bind([STUDENT], binding))) == 1


# Random schemas: key -> a role (value), (role,) an array of values, dict an object, [dict, many] a vertex.
ROLES = st.sampled_from(list(Role))
KEYS = st.sampled_from(["a", "b", "odd key", "#text", "@c"])
SPECS = st.recursive(
    st.dictionaries(KEYS, ROLES | st.tuples(ROLES), min_size=1, max_size=3),
    lambda inner: st.dictionaries(
        KEYS,
        ROLES | st.tuples(ROLES) | inner | st.tuples(inner, st.booleans()).map(list),
        min_size=1,
        max_size=3,
    ),
    max_leaves=6,
)
SCALARS = (
    st.integers()
    | st.text("aé?", max_size=3)
    | st.booleans()
    | st.decimals(allow_nan=False, allow_infinity=False)
)


def documents_of(spec, scalars):
    def value(part):
        if isinstance(part, Role):
            return scalars
        if isinstance(part, tuple):
            return st.lists(scalars, min_size=1, max_size=3)
        if isinstance(part, dict):
            return documents_of(part, scalars).filter(bool)
        inner, many = part
        below = documents_of(inner, scalars)
        return st.lists(below, min_size=1, max_size=3) if many else below

    return st.fixed_dictionaries({}, optional={key: value(part) for key, part in spec.items()})


def rules_of(spec, steps=(), write=jsonpath):
    for key, part in spec.items():
        if isinstance(part, Role):
            yield Rule(parse(write((*steps, Step(key, False)))), part, optional=True)
        elif isinstance(part, tuple):
            yield Rule(parse(write((*steps, Step(key, True)))), part[0], optional=True)
        elif isinstance(part, dict):
            yield from rules_of(part, (*steps, Step(key, False)), write)
        else:
            here = (*steps, Step(key, part[1]))
            if not part[1]:
                yield Rule(parse(write(here)), None, vertex=True, optional=True)
            yield from rules_of(part[0], here, write)


COLLECTIONS = SPECS.flatmap(
    lambda spec: st.tuples(st.just(spec), st.lists(documents_of(spec, SCALARS), max_size=4))
)


@given(COLLECTIONS)
def test_unbind_is_the_inverse_of_bind(collection):
    spec, documents = collection
    binding = binding_of(list(rules_of(spec)), documents)
    assert [unbind(vertex, binding.schema) for vertex in bind(documents, binding)] == documents


def elements(value):
    """The same as the XML format reads it: children always in Siblings, text alone as text."""
    if not isinstance(value, dict):
        return value
    if value.keys() <= {"#text"}:
        return value.get("#text", "")
    return {k: v if k[0] in "@#" else Siblings(map(elements, listed(v))) for k, v in value.items()}


def listed(value):
    return value if isinstance(value, list) else [value]


def dotted(steps):
    return ".".join(step.key for step in steps)


ELEMENT_SPECS = SPECS.map(lambda spec: only_scalars_at_attributes(spec))


def only_scalars_at_attributes(spec):
    fixed = {}
    for key, part in spec.items():
        if isinstance(part, dict):
            part = only_scalars_at_attributes(part)
        elif isinstance(part, list):
            part = [only_scalars_at_attributes(part[0]), part[1]]
        fixed[key] = part if isinstance(part, Role) or key[0] not in "@#" else Role.QUASI
    return fixed


@given(
    ELEMENT_SPECS.flatmap(
        lambda spec: st.tuples(
            st.just(spec), st.lists(documents_of(spec, st.text("xyz", min_size=1)), min_size=1, max_size=4)
        )
    )
)
def test_elements_bind_like_the_json_of_the_same_records(collection):
    spec, documents = collection
    as_xml = [
        value if isinstance(value, dict) else document
        for document, value in zip(documents, map(elements, documents), strict=True)
    ]
    hints = {
        rule.path.keys[:n]
        for rule in rules_of(spec)
        for n, step in enumerate(rule.path.steps, 1)
        if step.many
    }
    in_json = binding_of(list(rules_of(spec)), documents)
    in_xml = binding_of(list(rules_of(spec, write=dotted)), as_xml, many_hints=hints)
    assert list(map(plain, bind(as_xml, in_xml))) == list(map(plain, bind(documents, in_json)))


@pytest.mark.parametrize("size", [1, 10, 30, 8192])
def test_records_are_bound_alike_however_many_at_once(size, monkeypatch):
    optional = [
        {"a": 1},
        {"m": [], "o": {}},
        {"a": None, "m": None},
        {"o": None, "t": []},
        {},
        {"t": ["y", None]},
    ]
    documents = [STUDENT | {"a": 2}, *optional, {"a": 3, "m": [{"k": 1}, {}], "o": {"k": 2}, "t": ["x"]}]
    policy = rules(**{"$.a": Q, "$.o.k": Q, "$.m[*].k": S, "$.t[*]": Q})
    binding = binding_of(policy, documents, unlisted="drop")
    expected = [plain(vertex) for document in documents for vertex in bind([document], binding)]
    monkeypatch.setattr(batches, "VALUES", size)
    monkeypatch.setattr(batches, "_WEIGHED", 1)
    assert [plain(vertex) for vertex in bind(documents, binding)] == expected
    bound = bind([*documents, {"t": "zzz"}, {"a": []}], binding)
    assert [plain(vertex) for vertex in islice(bound, len(documents))] == expected
    with pytest.raises(InputError, match=r"^record 9, \$\.t\[\*\]: "):
        next(bound)


def test_objects_in_children_belong_to_their_vertices() -> None:
    """Inlined below children that others lack: every value at its own vertex."""
    documents = [
        {"a": [{"n": {"q": "1", "i": [{"s": "x"}]}}, {}, {"n": {"i": [{"s": "y"}, {"s": "z"}]}}]},
        {},
        {"a": [{"n": {"q": "2"}}]},
    ]
    roles = {"$.a[*].n.q": Role.QUASI, "$.a[*].n.i[*].s": Role.SENSITIVE}
    own = [Rule(parse(path), role) for path, role in roles.items()]
    binding = resolve(own, survey(documents).shape)
    found = list(bind(documents, binding))
    assert [[child.quasi for child in root.children] for root in found] == [
        [("1",), (None,), (None,)],
        [],
        [("2",)],
    ]
    below = [[grand.sensitive for grand in child.children] for root in found for child in root.children]
    assert below == [[("x",)], [], [("y",), ("z",)], []]
