"""Everything that a forger can write into a release is refused, by a message that says what is wrong."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from copy import deepcopy
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import hierdata
from tests.redteam.forgeries import BY_GROUP, BY_RECORD, Forged, Tree, World, alike, forged, meetings, worlds

LABEL = "does not generalize that of its original|no label of its domain|not one that the policy's domain"
SENSITIVE = "published sensitive value is not that of its original"
OF_GROUP = "sensitive values of a group are not those of its originals"
TWICE = "shows an original that another one shows too"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("releases")


@pytest.mark.parametrize("world", worlds())
def test_what_was_not_forged_passes(world: World, place: Path, tmp_path: Path) -> None:
    release = forged(world, place, tmp_path)
    assert release.verify().passed
    for part in release.files():
        release.write(release.read(part), part)
    release.seal()
    assert release.verify().passed, "and the forger's tools forge nothing"


def judged(release: Forged) -> None:
    """Verify; raise what the verdict says is wrong."""
    verdict = release.verify()
    assert not verdict.passed, "a forged release passed"
    failing = [f"{one.model} {one.path}" for one in verdict.judgements if not one.held]
    raise hierdata.VerificationError(f"{verdict.not_judged} {dict(verdict.forbidden)} {failing}")


def refuse(release: Forged, message: str) -> None:
    """The release is refused by a message that says what is wrong, and quotes nothing."""
    with pytest.raises(hierdata.HierdataError, match=message) as caught:
        judged(release)
    assert caught.value.exit_code in (4, 5, 6)
    for secret in ("Atlantis", "987654", "1066"):
        assert secret not in str(caught.value)


# Records of their own


def invented_value(world: World, records: list[Tree]) -> None:
    records[0][world.key("income")] = type(records[0][world.key("income")])(987654)


def exchanged_values(world: World, records: list[Tree]) -> None:
    one, other, *_ = next(alike(world, records))
    key = world.key("income")
    one[key], other[key] = other[key], one[key]


def exchanged_between_classes(world: World, records: list[Tree]) -> None:
    (one, *_), (other, *_), *_ = alike(world, records)
    key = world.key("income")
    one[key], other[key] = other[key], one[key]


def lost_value(world: World, records: list[Tree]) -> None:
    del records[1][world.key("income")]


def respelled_value(world: World, records: list[Tree]) -> None:
    from hierdata.documents.document import Numeral

    key = world.key("income")
    value = records[2][key]
    records[2][key] = f"{value}.0" if isinstance(value, str) else Numeral(f"{value}.0")


def other_date(world: World, records: list[Tree]) -> None:
    records[3][world.key("born")] = "1066-10-14"


def date_moved_alone(world: World, records: list[Tree]) -> None:
    key = world.key("born")
    day = records[4][key]
    records[4][key] = f"{day[:-1]}{(int(day[-1]) + 1) % 8 + 1}"


def class_label(name: str, label: str) -> Callable[[World, list[Tree]], None]:
    def change(world: World, records: list[Tree]) -> None:
        for record in next(alike(world, records)):
            record[world.key(name)] = label

    return change


def label_of_other_class(world: World, records: list[Tree]) -> None:
    first, *others = (own for own in alike(world, records))
    key = world.key("age")
    labels = [own[0][key] for own in others if own[0].get(key) not in (first[0].get(key), "*")]
    if not labels:
        pytest.skip("all classes have one label")
    for record in first:
        record[key] = labels[0]


def lost_label(world: World, records: list[Tree]) -> None:
    for record in next(alike(world, records)):
        record.pop(world.key("town"), None)


def exchanged_illnesses(world: World, records: list[Tree]) -> None:
    visits, key = world.key("visits"), world.key("ill")
    for one, *others in alike(world, records):
        for other in others:
            left, right = one[visits][0], other[visits][0]
            if left[key] != right[key]:
                left[key], right[key] = right[key], left[key]
                return
    raise AssertionError("all are alike")


def invented_illness(world: World, records: list[Tree]) -> None:
    records[5][world.key("visits")][0][world.key("ill")] = "987654"


def other_ward(world: World, records: list[Tree]) -> None:
    for record in records:
        for visit in record[world.key("visits")]:
            visit[world.key("ward")] = "Atlantis"


def two_pseudonyms_for_one(world: World, records: list[Tree]) -> None:
    records[6][world.key("boss")] = secrets.token_hex(16)


def one_pseudonym_for_two(world: World, records: list[Tree]) -> None:
    key = world.key("boss")
    for record in records:
        record[key] = records[0][key]


def other_note(world: World, records: list[Tree]) -> None:
    records[7][world.key("note")] = "Atlantis"


OF_RECORDS: dict[Callable[[World, list[Tree]], None], str] = {
    invented_value: SENSITIVE,
    exchanged_values: SENSITIVE,
    exchanged_between_classes: SENSITIVE,
    lost_value: SENSITIVE,
    respelled_value: SENSITIVE,
    other_date: SENSITIVE,
    date_moved_alone: SENSITIVE,
    class_label("age", "[900, 903]"): LABEL,
    class_label("age", "[20,23]"): LABEL,
    class_label("age", "[43, 20]"): LABEL,
    class_label("age", "1066"): LABEL,
    class_label("town", "Atlantis"): LABEL,
    class_label("town", "{Atlantis, oslo}"): LABEL,
    label_of_other_class: LABEL,
    lost_label: LABEL,
    two_pseudonyms_for_one: "in the domain b one pseudonym",
    one_pseudonym_for_two: "in the domain b one pseudonym",
    other_note: "published unchanged, but its original has another one",
}
BETWEEN_CLASSES = (exchanged_between_classes, label_of_other_class)
OF_VISITS: dict[Callable[[World, list[Tree]], None], str] = {
    exchanged_illnesses: SENSITIVE,
    invented_illness: SENSITIVE,
    other_ward: LABEL,
}


@pytest.mark.parametrize(("forge", "world"), meetings(OF_RECORDS, worlds(BY_RECORD)))
def test_forged_records(
    forge: Callable[[World, list[Tree]], None], world: World, place: Path, tmp_path: Path
) -> None:
    release = forged(world, place, tmp_path)
    records = release.read()
    if forge in BETWEEN_CLASSES and len(list(alike(world, records))) == 1:
        pytest.skip("there is one class")
    if forge is respelled_value and world.format == "parquet":
        pytest.skip("a column of whole numbers has one spelling")
    forge(world, records)
    release.write(records)
    release.seal()
    refuse(release, OF_RECORDS[forge])


@pytest.mark.parametrize(("forge", "world"), meetings(OF_VISITS, worlds(BY_RECORD, nested=True)))
def test_forged_vertices(
    forge: Callable[[World, list[Tree]], None], world: World, place: Path, tmp_path: Path
) -> None:
    release = forged(world, place, tmp_path)
    records = release.read()
    forge(world, records)
    release.write(records)
    release.seal()
    refuse(release, OF_VISITS[forge])


@pytest.mark.parametrize("world", worlds(BY_RECORD))
@pytest.mark.parametrize("copies", [1, 99])
def test_copied_records(copies: int, world: World, place: Path, tmp_path: Path) -> None:
    """The forger's witness names the original of every copy."""
    release = forged(world, place, tmp_path)
    records = release.read()
    _, entries = release.entries()
    for _ in range(copies):
        copy = deepcopy(records[0])
        copy[world.key("id")] = secrets.token_hex(16)
        records.append(copy)
    release.write(records)
    release.put_entries([*entries, *[entries[0]] * copies])
    release.seal()
    refuse(release, "more records than the original" if len(records) > 24 else TWICE)


@pytest.mark.parametrize("world", worlds(BY_RECORD))
def test_a_copy_in_the_place_of_another(world: World, place: Path, tmp_path: Path) -> None:
    release = forged(world, place, tmp_path)
    records = release.read()
    one, other, *_ = next(alike(world, records))
    _, entries = release.entries()
    first, second = (next(at for at, each in enumerate(records) if each is own) for own in (one, other))
    own_id = other[world.key("id")]
    records[second] = deepcopy(one) | {world.key("id"): own_id}
    entries[second] = entries[first]
    release.write(records)
    release.put_entries(entries)
    release.seal()
    refuse(release, TWICE)


# The witness


def missing(release: Forged) -> None:
    release.witness.unlink()


def readable(release: Forged) -> None:
    release.witness.chmod(0o640)


def linked(release: Forged) -> None:
    (other := release.folder / "other").write_bytes(release.witness.read_bytes())
    other.chmod(0o600)
    release.witness.unlink()
    release.witness.symlink_to(other)


def folder(release: Forged) -> None:
    release.witness.unlink()
    release.witness.mkdir()


def garbled(release: Forged) -> None:
    release.witness.write_bytes(b"{}" + release.witness.read_bytes()[2:])


def emptied(release: Forged) -> None:
    release.witness.write_bytes(b"")


def of_another(release: Forged) -> None:
    raw = bytearray(release.witness.read_bytes())
    raw[20] ^= 1
    release.witness.write_bytes(raw)


def shortened(release: Forged) -> None:
    _, entries = release.entries()
    release.put_entries(entries[:-1])


def lengthened(release: Forged) -> None:
    _, entries = release.entries()
    release.put_entries([*entries, [0] * len(entries[0])])


def beyond(release: Forged) -> None:
    _, entries = release.entries()
    entries[2][0] = 24
    release.put_entries(entries)


def far_beyond(release: Forged) -> None:
    _, entries = release.entries()
    entries[2][1] = 0xFFFFFFFF
    release.put_entries(entries)


def other_vertex(release: Forged) -> None:
    _, entries = release.entries()
    entries[2][2] = 3
    release.put_entries(entries)


def twice(release: Forged) -> None:
    _, entries = release.entries()
    entries[1] = entries[0]
    release.put_entries(entries)


def rotated(release: Forged) -> None:
    _, entries = release.entries()
    release.put_entries([*entries[1:], entries[0]])


def other_original(release: Forged) -> None:
    raw = bytearray(release.witness.read_bytes())
    raw[83] += 1
    release.witness.write_bytes(raw)


OF_WITNESSES: dict[Callable[[Forged], None], str] = {
    missing: "witness",
    readable: "others may read",
    linked: "not a link or a folder",
    folder: "not a link or a folder",
    garbled: "not a witness",
    emptied: "not a witness",
    of_another: "witness is of another release",
    shortened: "witness does not fit the published records",
    lengthened: "witness does not fit the published records",
    beyond: "names a record that the original does not have",
    far_beyond: "names a record that the original does not have",
    other_vertex: "another place of the original than its own",
    twice: f"{TWICE}|{LABEL}|{SENSITIVE}",
    rotated: f"{LABEL}|{SENSITIVE}|{OF_GROUP}|published unchanged",
    other_original: "another number of records than the one that the release was made from",
}


@pytest.mark.parametrize(
    ("forge", "world"), meetings(OF_WITNESSES, worlds(formats=("json", "csv", "tables")))
)
def test_forged_witnesses(forge: Callable[[Forged], None], world: World, place: Path, tmp_path: Path) -> None:
    release = forged(world, place, tmp_path)
    forge(release)
    refuse(release, OF_WITNESSES[forge])


# Groups and classes


@pytest.mark.parametrize("world", worlds(("representatives",)))
@pytest.mark.parametrize("name", ["income", "town", "records"])
def test_forged_classes(name: str, world: World, place: Path, tmp_path: Path) -> None:
    release = forged(world, place, tmp_path)
    classes = release.read()
    inner: Any = classes[0]["representative"]
    inner = inner[0] if isinstance(inner, list) else inner
    if name == "records":
        key = "@records" if "@records" in classes[0] else "records"
        number = classes[0][key]
        plus = int(number[0] if isinstance(number, list) else number) + 1
        classes[0][key] = plus if isinstance(number, int) else str(plus)
    elif name == "income":
        values = inner["income"]
        values[0] = type(values[0])(987654)
    else:
        inner[world.key("town")] = "Atlantis"
    release.write(classes)
    release.seal()
    messages = {"income": OF_GROUP, "town": LABEL, "records": "witness does not fit|more records"}
    refuse(release, messages[name])


@pytest.mark.parametrize("world", worlds(BY_GROUP))
@pytest.mark.parametrize("name", ["value", "exchange", "label"])
def test_forged_groups(name: str, world: World, place: Path, tmp_path: Path) -> None:
    release = forged(world, place, tmp_path)
    part = next(one for one in release.files() if one != "records")
    if name == "label":
        records = release.read()
        for record in next(alike(world, records)):
            record[world.key("town")] = "Atlantis"
        release.write(records)
    else:
        rows = release.read(part)
        field = next(key for key in rows[0] if key.strip("@") in ("income", "born", "ill"))
        if name == "value":
            invented = "1066-10-14" if field.strip("@") == "born" else 987654
            rows[0][field] = type(rows[0][field])(invented)
        else:
            group = next(key for key in rows[0] if key.strip("@") == "group")
            other = next(row for row in rows if row[group] != rows[0][group] and row[field] != rows[0][field])
            rows[0][field], other[field] = other[field], rows[0][field]
        release.write(rows, part)
    release.seal()
    refuse(release, LABEL if name == "label" else OF_GROUP)


@pytest.mark.parametrize("world", worlds(("slicing_by_table",)))
def test_forged_members_of_a_group(world: World, place: Path, tmp_path: Path) -> None:
    """Two records of one look change their groups of one table: as safe as before, and not true."""
    release = forged(world, place, tmp_path)
    records = release.read()
    one, other = next(
        pair
        for own in alike(world, records)
        for pair in combinations(own, 2)
        if pair[0]["group_1"] != pair[1]["group_1"]
    )
    one["group_1"], other["group_1"] = other["group_1"], one["group_1"]
    release.write(records)
    release.seal()
    refuse(release, OF_GROUP)


# Files


def text_after_the_codebook(release: Forged) -> None:
    with (release.public / "codebook.json").open("a") as stream:
        stream.write('{"income": "Atlantis"}')


def space_after_the_codebook(release: Forged) -> None:
    with (release.public / "codebook.json").open("a") as stream:
        stream.write(" \t" * 20)


def text_after_the_claims(release: Forged) -> None:
    with (release.public / "release.json").open("a") as stream:
        stream.write("Atlantis")


def larger_claims(release: Forged) -> None:
    file = release.public / "release.json"
    stated = json.loads(file.read_text("utf-8"))
    stated["counts"]["smallest_class"] += 1
    file.write_text(json.dumps(stated, indent=2), "utf-8")


def no_claims(release: Forged) -> None:
    (release.public / "release.json").unlink()


def linked_records(release: Forged) -> None:
    file = release.files()["records"]
    file.rename(release.folder / file.name)
    file.symlink_to(release.folder / file.name)


def linked_codebook(release: Forged) -> None:
    file = release.public / "codebook.json"
    file.rename(release.folder / file.name)
    file.symlink_to(release.folder / file.name)


def linked_folder(release: Forged) -> None:
    release.public.rename(release.folder / "elsewhere")
    release.public.symlink_to(release.folder / "elsewhere")


def one_more_file(release: Forged) -> None:
    (release.public / "people.txt").write_text("Atlantis", "utf-8")


def one_more_folder(release: Forged) -> None:
    (release.public / "more" / "Atlantis").mkdir(parents=True)


def hidden_file(release: Forged) -> None:
    (release.public / ".people").write_text("Atlantis", "utf-8")


def exchanged_files(release: Forged) -> None:
    """The records are changed, and release.json is not."""
    records = release.read()
    release.write(records[::-1])


OF_FILES: dict[Callable[[Forged], None], str] = {
    text_after_the_codebook: "codebook",
    space_after_the_codebook: "codebook",
    text_after_the_claims: r"release\.json",
    larger_claims: "claims differ",
    no_claims: r"release\.json: cannot be read",
    linked_records: "symbolic links in the public folder",
    linked_codebook: "symbolic links in the public folder",
    linked_folder: "symbolic links in the public folder",
    one_more_file: "unexpected entries in the public folder",
    one_more_folder: "unexpected entries in the public folder",
    hidden_file: "unexpected entries in the public folder",
    exchanged_files: "differ from those that it names|XSD does not belong",
}


@pytest.mark.parametrize("forge", OF_FILES, ids=lambda forge: forge.__name__)
@pytest.mark.parametrize("world", worlds(("generalization",), ("json", "xml", "tables")))
def test_forged_files(forge: Callable[[Forged], None], world: World, place: Path, tmp_path: Path) -> None:
    release = forged(world, place, tmp_path)
    forge(release)
    refuse(release, OF_FILES[forge])
    if forge is not no_claims:
        with pytest.raises(hierdata.VerificationError, match=OF_FILES[forge]):
            hierdata.verify(release.release, release.policy)


SPACES: dict[str, Callable[[bytes], bytes]] = {
    "json": lambda raw: raw.replace(b'"age":', b'"age" : ', 1),
    "json-end": lambda raw: raw + b" \n\t",
    "jsonl": lambda raw: raw.replace(b"\n", b"\n\n", 1),
    "jsonl-inside": lambda raw: raw.replace(b"{", b"{  ", 1),
    "xml": lambda raw: raw.replace(b"<person ", b"<person  ", 1),
    "xml-quotes": lambda raw: raw.replace(b'note="n"', b"note='n'", 1),
    "csv": lambda raw: raw.replace(b"\n", b"\n\n", 2),
    "csv-quotes": lambda raw: raw.replace(b",n,", b',"n",', 1),
}


@pytest.mark.parametrize("name", SPACES)
def test_bytes_that_no_document_needs(name: str, place: Path, tmp_path: Path) -> None:
    release = forged(World("generalization", name.partition("-")[0]), place, tmp_path)
    file = release.files()["records"]
    before = file.read_bytes()
    file.write_bytes(SPACES[name](before))
    assert file.read_bytes() != before
    release.seal()
    refuse(release, "not written as hierdata writes|XSD does not belong")


@pytest.mark.parametrize("world", worlds(("full_domain",), ("json", "jsonl")))
def test_a_spelling_unique_to_a_record_under_a_claimed_k_raw(
    world: World, place: Path, tmp_path: Path
) -> None:
    """The order of keys is part of what is written: it tells one record of a class from the others."""
    release = forged(world, place, tmp_path)
    stated = json.loads((release.public / "release.json").read_bytes())
    records = release.read()
    records[0] = dict(reversed(records[0].items()))
    release.write(records)
    release.seal()
    told = json.loads((release.public / "release.json").read_bytes())
    assert told["counts"].pop("k_raw") == 1
    assert stated["counts"].pop("k_raw") >= 3
    assert told["counts"] == stated["counts"]
    assert release.verify().passed, "true, and said to be unique"
    told["counts"] |= {"k_raw": 6}
    (release.public / "release.json").write_text(
        json.dumps(told, indent=2, ensure_ascii=False) + "\n", "utf-8"
    )
    refuse(release, r"claims differ from what the judge found in the records \(counts\.k_raw\)")


@pytest.mark.parametrize("field", ["town", "note"])
def test_entries_of_a_parquet_dictionary_that_no_row_has(field: str, place: Path, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    release = forged(World("generalization", "parquet"), place, tmp_path)
    file = release.files()["records"]
    table = pq.read_table(file)
    column = table.column(field).combine_chunks().dictionary_encode()
    values = pa.concat_arrays([column.dictionary, pa.array(["Atlantis"])])
    with_more = pa.DictionaryArray.from_arrays(column.indices, values)
    table = table.set_column(table.schema.get_field_index(field), field, with_more)
    pq.write_table(table, file, store_schema=False)
    release.seal()
    assert b"Atlantis" in file.read_bytes()
    refuse(release, "not written as hierdata writes")
