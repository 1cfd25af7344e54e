"""From classes to files: all that is published is written in one order, and counted for the report."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import add
from pathlib import Path

from hierdata.document import Document
from hierdata.errors import TargetError
from hierdata.formats.source import write_stream
from hierdata.intake import Form, InputSplit
from hierdata.metrics.base import Metric
from hierdata.prepare import Prepared
from hierdata.progress import counted
from hierdata.published import XSD_FILE, description
from hierdata.recodings import Recoding
from hierdata.recodings.base import RECORDS
from hierdata.run.classes import Classes
from hierdata.seeds import order_of
from hierdata.tallies import Tallies, tally
from hierdata.tasks.publish import PublishBlock, Spelling, WriteRange, in_order
from hierdata.tasks.tally import TallyBlock

_RANGE = 20_000
"""Records that are put in order together."""


@dataclass(frozen=True)
class Written:
    """The file (or folder of tables) of each part, the records first, and its documents' element."""

    files: dict[str, Path]
    elements: dict[str, str | None]

    def parts(self, form: Form) -> tuple[Sequence[InputSplit], dict[str, Iterator[Document]]]:
        """The records, in parts that can be read side by side, and what lies beside them."""
        records, *others = self.files
        beside = {part: form.read(self.files[part], self.elements[part], alone=True) for part in others}
        return form.splits(self.files[records], self.elements[records], alone=True), beside


@dataclass(frozen=True)
class Publishing:
    """How classes are published: ``form`` and ``folder`` of the files, and what ``metrics`` ask."""

    recoding: Recoding
    prepared: Prepared
    form: Form
    folder: Path
    seed: bytes
    metrics: tuple[Metric, ...]

    def publish(self, classes: Classes) -> tuple[Written, Tallies]:
        """Write all parts with what describes them, and count what the report asks for."""
        written, tallies = self._published(classes)
        xsd = description(written.files, self.prepared.policy)
        if xsd is not None:
            with write_stream(self.folder / XSD_FILE) as stream:
                stream.write(xsd)
        return written, tallies

    def _published(self, classes: Classes) -> tuple[Written, Tallies]:
        if classes.blocks.count == 1:
            return self._at_once(classes)
        measure = TallyBlock(self.recoding, self.prepared.frame, classes.heaviest, self.metrics)
        _, watch = classes.spread.telling("measuring", self._total, classes.blocks.count)
        tallied = classes.blocks.map(measure, watch)
        tallies = reduce(add, tallied.collect())
        tallied.release()
        return Written({RECORDS: self._in_order(classes)}, {RECORDS: None}), tallies

    @property
    def _total(self) -> int:
        return self.prepared.survey.records

    def _at_once(self, classes: Classes) -> tuple[Written, Tallies]:
        """Publish the one block that is here."""
        (block,) = classes.blocks.collect()
        forest = block.at(self.prepared.frame, classes.heaviest)
        order = order_of(self.seed, forest.record_count)
        publication = self.recoding.publish(forest, block.partitions, order)
        files: dict[str, Path] = {}
        for part in publication.parts:
            files[part.name] = self.folder / self.form.name(part.name)
            documents = counted(part.documents(), "writing", part.count, classes.spread.progress)
            self.form.write(documents, files[part.name], part.element)
        elements = {part.name: part.element for part in publication.parts}
        return Written(files, elements), tally(publication, forest, self.metrics)

    def _in_order(self, classes: Classes) -> Path:
        """Write the records of all blocks into one file, in the order of the whole."""
        spread, ranges = classes.spread, -(-self._total // _RANGE)
        spelling = Spelling.of(self.form)
        publish = PublishBlock(
            self.recoding, self.prepared.frame, classes.heaviest, self.seed, ranges, spelling
        )
        _, watch = spread.telling("publishing", self._total, classes.blocks.count)
        lines = classes.blocks.exchange(publish, ranges, watch)
        classes.blocks.release()
        file = self.folder / self.form.name(RECORDS)
        if spelling.format is None:
            documents = chain.from_iterable(map(in_order, lines.collect()))
            self.form.write(counted(documents, "writing", None, spread.progress), file)
        else:
            _concatenate(lines.map(WriteRange(spread.folder)).collect(), file)
        lines.release()
        return file


def _concatenate(parts: Iterator[Path], file: Path) -> None:
    """Append one file after the other, and remove each."""
    try:
        with write_stream(file) as stream:
            for part in parts:
                with part.open("rb") as source:
                    shutil.copyfileobj(source, stream, 1 << 20)
                part.unlink()
    except OSError as error:
        raise TargetError(f"cannot write {file}: {error.strerror}") from None
