"""From classes to files: write everything that is published in one order, and count it for the report."""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import reduce
from io import BytesIO
from itertools import chain
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from hierdata.documents.document import Document
from hierdata.documents.formats import FORMATS, Layout, Rowwise
from hierdata.documents.formats.source import write_stream
from hierdata.forest.encoded import Frame
from hierdata.forest.publication import PublishedPart
from hierdata.forest.spellings import TypesShown, find_types, join_types, unify_types
from hierdata.forest.worth import Heaviest
from hierdata.ground.errors import PolicyError
from hierdata.ground.private_folder import explain_full_disk
from hierdata.ground.progress import count_items
from hierdata.metrics.base import Metric
from hierdata.metrics.tallies import Tallies, tally
from hierdata.pipeline.block import Block
from hierdata.pipeline.cluster import ClusteredBlocks
from hierdata.pipeline.release_files import description
from hierdata.pipeline.resources import ask_all
from hierdata.pipeline.seeds import order_of, places_of
from hierdata.policy.plan.plan import Prepared
from hierdata.policy.policy import Policy
from hierdata.records.schema import Role
from hierdata.release.layout import XSD_FILE
from hierdata.release.recodings import Recoding
from hierdata.release.recodings.base import RECORDS
from hierdata.release.witness import WITNESS_FILE, LinkSpelling, write_witness
from hierdata.sources import Collection, FileForm, Form, InputSplit
from hierdata.sources.bundles import BundlesForm

if TYPE_CHECKING:
    from hierdata.documents.formats.kinds import Restore
    from hierdata.sources.stores import Store


@dataclass(frozen=True)
class TallyBlock:
    """Answer the metrics' questions for a block, and find the types of its published values."""

    recoding: Recoding
    frame: Frame
    heaviest: Heaviest
    metrics: tuple[Metric, ...]

    def __call__(self, block: Block) -> tuple[Tallies, TypesShown]:
        """Return the answers and the types."""
        forest = block.open_forest(self.frame, self.heaviest)
        publication = self.recoding.publish(forest, block.partitions, range(forest.record_count))
        return tally(publication, forest, self.metrics), find_types(forest, publication)


Lines: TypeAlias = "list[tuple[bytes, bytes, bytes]]"
"""Published records as bytes, each after its hash in the order of publication, before its witness."""


@dataclass(frozen=True)
class RecordSpelling:
    """How a record is sent: as bytes of the file if these can be concatenated, else as a pickled document."""

    format: Rowwise | None
    layout: Layout

    @classmethod
    def of(cls, form: Form) -> RecordSpelling:
        """Return the spelling for files of a form."""
        if isinstance(form, FileForm):
            format, layout = form.format, form.layout
            if isinstance(format, Rowwise) and format.joins(layout):
                return cls(format, layout)
        return cls(None, Layout())

    def lines(self, documents: Iterable[Document]) -> Iterator[bytes]:
        """Yield each document as bytes."""
        if self.format is None:
            yield from (pickle.dumps(document, protocol=5) for document in documents)
            return
        stream = BytesIO()
        with self.format.writer(stream, self.layout) as put:
            for document in documents:
                put(document)
                yield stream.getvalue()
                stream.seek(0)
                stream.truncate()


@dataclass(frozen=True)
class PublishBlock:
    """Publish the records of a block, divided into ``ranges`` of the order of publication.

    ``types`` are those of the published values of all blocks.
    """

    recoding: Recoding
    frame: Frame
    heaviest: Heaviest
    order_key: bytes
    ranges: int
    spelling: RecordSpelling
    types: TypesShown

    def __call__(self, block: Block) -> Iterator[tuple[int, Lines]]:
        """Yield lines by range."""
        places = places_of(self.order_key, block.encoded.ordinals.tolist())
        order = sorted(range(len(places)), key=places.__getitem__)
        forest = unify_types(block.open_forest(self.frame, self.heaviest), self.types)
        (part,) = self.recoding.publish(forest, block.partitions, order).parts
        class_of = block.partitions[0].equivalence_class.tolist()
        kept = (places[record] for record in order if class_of[record] >= 0)
        by_range: defaultdict[int, Lines] = defaultdict(list)
        links: deque[bytes] = deque()
        documents = watch_links(
            part, LinkSpelling.of(forest.roots[:-1], block.encoded.ordinals), links.append
        )
        for hash_, line in zip(kept, self.spelling.lines(documents), strict=True):
            by_range[int.from_bytes(hash_[:4]) * self.ranges >> 32].append((hash_, line, links.popleft()))
        yield from by_range.items()


def watch_links(
    part: PublishedPart, spelling: LinkSpelling, put: Callable[[bytes], object]
) -> Iterator[Document]:
    """Yield the documents of a part, and put the witness of each before it; nothing if there is none."""
    if part.linked is None:
        for document in part.documents():
            put(b"")
            yield document
        return
    for document, shown in part.linked():
        put(spelling.spell(shown))
        yield document


@dataclass(frozen=True)
class WriteRange:
    """Sort the lines of a range into new private files in ``folder``."""

    folder: Path

    def __call__(self, lines: list[Lines]) -> tuple[Path, Path]:
        """Return the file of the records, and that of their witness."""
        ordered = sorted(chain.from_iterable(lines))
        return self._write(line for _, line, _ in ordered), self._write(links for _, _, links in ordered)

    def _write(self, pieces: Iterable[bytes]) -> Path:
        with explain_full_disk():
            handle, name = tempfile.mkstemp(prefix="range-", dir=self.folder)
        with explain_full_disk(), os.fdopen(handle, "wb") as stream:
            stream.writelines(pieces)
        return Path(name)


def order_lines(lines: list[Lines]) -> Iterator[tuple[Document, bytes]]:
    """Sort the lines of a range that are pickled documents; yield these, each with its witness."""
    return ((pickle.loads(line), links) for _, line, links in sorted(chain.from_iterable(lines)))


_RANGE = 20_000
"""About how many records are sorted together."""
_RANGE_OF_TABLES = 2_000
"""The same of records that are rows of several tables: a patient may have hundreds."""


@dataclass(frozen=True)
class Written:
    """The file (or folder of tables) of each part, the records first, and the element of its documents."""

    files: dict[str, Path]
    elements: dict[str, str | None]

    def parts(self, form: Form) -> tuple[Sequence[InputSplit], dict[str, Iterator[Document]]]:
        """Return the records, in splits for parallel reading, and the documents of the other parts."""
        records, *others = self.files
        beside = {part: form.read(self.files[part], self.elements[part], alone=True) for part in others}
        return form.splits(self.files[records], self.elements[records], alone=True), beside


@dataclass(frozen=True)
class Publishing:
    """How classes are published: ``form`` and ``folder`` of the release, and the ``metrics`` to count for.

    ``order_key`` is the key of the order of publication (see seeds).
    """

    recoding: Recoding
    prepared: Prepared
    form: Form
    folder: Path
    order_key: bytes
    metrics: tuple[Metric, ...]

    def publish(self, classes: ClusteredBlocks) -> tuple[Written, Tallies]:
        """Write all parts and their XSD, and count what the report needs."""
        written, tallies = self._publish_blocks(classes)
        xsd = description(written.files, self.prepared.policy) if self.form.format.has_elements else None
        if xsd is not None:
            with write_stream(self.folder / "public" / XSD_FILE) as stream:
                stream.write(xsd)
        return written, tallies

    def _publish_blocks(self, classes: ClusteredBlocks) -> tuple[Written, Tallies]:
        if classes.blocks.count == 1:
            return self._publish_local(classes)
        measure = TallyBlock(self.recoding, self.prepared.frame, classes.heaviest, self.metrics)
        _, watch = classes.spread.progress_callbacks("measuring", self._total, classes.blocks.count)
        answers, types = zip(*ask_all(classes.blocks, measure, watch), strict=True)
        file = self._write_in_order(classes, self._types_to_unify(reduce(join_types, types)))
        return Written({RECORDS: file}, {RECORDS: None}), reduce(add, answers)

    def _types_to_unify(self, types: TypesShown) -> TypesShown:
        """Return the types, none if the policy keeps the spelling of the input.

        Quasi-identifiers mix text and numbers in formats without types; tables see to their columns.
        """
        if self.prepared.policy.spelling is not None:
            return {}
        format = self.form.format
        whole = format.types_numbers and not format.is_tabular
        return types if whole else {key: kinds for key, kinds in types.items() if key[1] is not Role.QUASI}

    @property
    def _total(self) -> int:
        return self.prepared.survey.records

    def _publish_local(self, classes: ClusteredBlocks) -> tuple[Written, Tallies]:
        """Publish the only block, in this process."""
        (block,) = classes.blocks.collect()
        forest = block.open_forest(self.prepared.frame, classes.heaviest)
        order = order_of(self.order_key, forest.record_count)
        publication = self.recoding.publish(forest, block.partitions, order)
        unified = unify_types(forest, self._types_to_unify(find_types(forest, publication)))
        if unified is not forest:
            forest = unified
            publication = self.recoding.publish(forest, block.partitions, order)
        files: dict[str, Path] = {}
        spelling = LinkSpelling.of(forest.roots[:-1], block.encoded.ordinals)
        with ExitStack() as opened:
            for part in publication.parts:
                files[part.name] = self.folder / "public" / self.form.name(part.name)
                documents = part.documents()
                if part.linked is not None:
                    witness = opened.enter_context(write_witness(self.folder / WITNESS_FILE))
                    documents = watch_links(part, spelling, witness.write)
                documents = count_items(documents, "writing", part.count, classes.spread.progress)
                self.form.write(documents, files[part.name], part.element)
        elements = {part.name: part.element for part in publication.parts}
        return Written(files, elements), tally(publication, forest, self.metrics)

    def _write_in_order(self, classes: ClusteredBlocks, types: TypesShown) -> Path:
        """Write the records of all blocks into one file, in the order of publication."""
        spread, spelling = classes.spread, RecordSpelling.of(self.form)
        ranges = -(-self._total // (_RANGE_OF_TABLES if spelling.format is None else _RANGE))
        publish = PublishBlock(
            self.recoding, self.prepared.frame, classes.heaviest, self.order_key, ranges, spelling, types
        )
        _, watch = spread.progress_callbacks("publishing", self._total, classes.blocks.count)
        lines = classes.blocks.exchange(publish, ranges, watch)
        classes.blocks.release()
        file = self.folder / "public" / self.form.name(RECORDS)
        with write_witness(self.folder / WITNESS_FILE) as witness:
            if spelling.format is None:
                documents = _put_links(chain.from_iterable(map(order_lines, lines.collect())), witness)
                self.form.write(count_items(documents, "writing", None, spread.progress), file)
            else:
                _concatenate(lines.map(WriteRange(spread.folder)).collect(), file, witness)
        lines.release()
        return file


def _put_links(linked: Iterable[tuple[Document, bytes]], witness: BinaryIO) -> Iterator[Document]:
    for document, links in linked:
        witness.write(links)
        yield document


def _concatenate(parts: Iterator[tuple[Path, Path]], file: Path, witness: BinaryIO) -> None:
    """Concatenate files of records, and those of their witness; remove each. Raises TargetError."""
    with write_stream(file) as stream:
        for pair in parts:
            for part, into in zip(pair, (stream, witness), strict=True):
                with part.open("rb") as source:
                    shutil.copyfileobj(source, into, 1 << 20)
                part.unlink()


def form_in(form: Form, target: Store | None) -> Form:
    """Return the form of a release for a store; ``form`` is the input's.

    Raises PolicyError if the store cannot hold such records.
    """
    if target is None or target.format in (None, form.format.name):
        return form
    if isinstance(form, BundlesForm):
        inner = form_in(form.inner, target)
        assert isinstance(inner, FileForm), "Bundles are documents of a file"
        return replace(form, inner=inner)
    if not isinstance(form, FileForm) or form.format.has_elements:
        kind = "XML" if form.format.has_elements else "keyed tables"
        held = f"which {target.location} cannot hold"
        raise PolicyError(f"the records are {kind}, {held}: publish them as files")
    format = FORMATS[target.format]()
    return FileForm(format, Layout(), format.extension)


@dataclass(frozen=True)
class PartReader:
    """Reads the documents of a part of a release from its folder.

    ``elements`` has the name of a document of each part, if the format has such names. ``restore`` gives
    values of records the types that they had in the input; it is None where they have them already.
    """

    form: Form
    elements: Mapping[str, str | None]
    restore: Restore | None

    def __call__(self, folder: Path, part: str) -> Iterator[Document]:
        """Return the documents of a part."""
        documents = self.form.read(folder / "public" / self.form.name(part), self.elements[part])
        return documents if self.restore is None or part != RECORDS else map(self.restore, documents)


def restoring(collection: Collection, policy: Policy) -> Restore | None:
    """Return the function that gives published values the types of the objects that they were read from."""
    if collection.kinds is None:
        return None
    actions = [(path.document_keys, rule.stated_action) for path, rule in policy.rules_by_keys.values()]
    replaced = {keys for keys, action in actions if action is not None and not action.date_shift()}
    return collection.kinds().restoring(
        replaced, {policy.rules_by_keys[keys][0].document_keys for keys in policy.quasi}
    )
