"""The contract of formats: written documents are read back exactly, errors on broken input quote no value."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from hierdata.documents.document import Document, Numeral, Siblings
from hierdata.documents.formats.base import WHOLE, Format, Layout
from hierdata.ground.errors import InputError, PolicyError
from hierdata.testing.contract import ContractError, require, send_to_worker

MARK = "mArKeD-value"
"""A text that no message may quote."""
_TEXTS = (MARK, " spaced ", "<&>\"'", "ünï — 日本 🎓", "line\nline", "1", "*", "[1, 2]")
_BROKEN = 60
_SMALL = 64
"""Size of a split in bytes, small enough for several splits of a few records."""


def check_format(
    format: Format, documents: Sequence[Document] | None = None, layout: Layout | None = None
) -> None:
    """Check a format against its contract.

    ``documents`` are written and read; the default documents fit the traits of the format, with texts that
    need escaping and numbers that floats cannot represent. ``layout`` is their layout in the file. Raises
    ContractError.
    """
    name = type(format).__name__
    records = documents_for(format) if documents is None else [*documents]
    written = layout or _layout(format, records)
    require(
        format.extension.startswith(".") and len(format.extension) > 1,
        f"the extension of {name} must be a full stop and at least one character",
    )
    require(type(send_to_worker(format)) is type(format), f"{name} must survive pickling")
    try:
        data = _write_bytes(format, records, written)
    except (InputError, PolicyError):
        raise ContractError(f"{name} cannot write these records: pass others as documents") from None
    require(data == _write_bytes(format, records, written), f"{name} must write the same bytes every time")
    try:
        recognized = format.layout(io.BytesIO(data), ())
        read = [*format.read(io.BytesIO(data), recognized)]
    except (InputError, PolicyError):
        raise ContractError(f"{name} must read what it has written") from None
    require(
        [*map(_exact, read)] == [*map(_exact, records)],
        f"{name} must read back exactly what it has written, including the spelling of numbers",
    )
    require(_write_bytes(format, read, written) == data, f"{name} must write the same bytes after reading")
    _check_splits(name, format, data, recognized, read)
    _check_broken(name, format, data, recognized)


def documents_for(format: Format) -> list[Document]:
    """Return records that any format with these traits can represent."""
    if format.has_elements:
        return [
            {"@id": str(position), "a": Siblings([text]), "b": Siblings(["x", text])}
            for position, text in enumerate(_TEXTS)
        ]
    if format.is_tabular:
        kind = str if format.is_textual else int
        return [{"id": kind(position), "a": text} for position, text in enumerate(_TEXTS)]
    numbers: list[Any] = [0, -1, 10**30, Decimal("0.1"), Numeral("1e2"), Numeral("1.50"), True, None]
    return [
        {"id": position, "a": text, "b": [text, {"c": number}, []], "odd name": {"d": {}}}
        for position, (text, number) in enumerate(zip(_TEXTS, numbers, strict=True))
    ]


def _layout(format: Format, documents: Sequence[Document]) -> Layout:
    if format.is_tabular:
        return Layout(columns=tuple(documents[0]))
    return Layout(("records", "record") if format.has_elements else ())


def _write_bytes(format: Format, documents: Sequence[Document], layout: Layout) -> bytes:
    stream = io.BytesIO()
    format.write(iter(documents), stream, layout)
    return stream.getvalue()


def _exact(value: Any) -> Any:
    """Return a value in a form that distinguishes types and spellings."""
    if isinstance(value, dict):
        return {key: _exact(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_exact(inner) for inner in value]
    kind = next((kind for kind in (str, bool, type(None)) if isinstance(value, kind)), Decimal)
    return kind, getattr(value, "text", str(value))


def _check_splits(name: str, format: Format, data: bytes, layout: Layout, read: list[Document]) -> None:
    splits = format.splits(io.BytesIO(data), layout, _SMALL)
    require(splits, f"{name} must have at least one split, which is WHOLE if a file cannot be cut")
    parts = [[*format.read_split(io.BytesIO(data), layout, split)] for split in splits]
    require(
        [document for part in parts for document in part] == read,
        f"{name} must have every record in one of its splits, in order",
    )
    if splits == (WHOLE,):
        return
    again = format.splits(io.BytesIO(data), layout, _SMALL)
    require(again == splits, f"{name} must cut a file the same way every time")


def _check_broken(name: str, format: Format, data: bytes, layout: Layout) -> None:
    """Check that truncated, changed and random bytes are read, or refused with InputError."""
    rng = random.Random(0)  # noqa: S311  # not used for secrets
    broken = [data[: rng.randrange(len(data))] for _ in range(_BROKEN)]
    for _ in range(_BROKEN):
        changed = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        broken.append(bytes(changed))
    broken += [rng.randbytes(50), MARK.encode()]
    for piece in broken:
        try:
            list(format.read(io.BytesIO(piece), layout))
            list(format.read(io.BytesIO(piece), format.layout(io.BytesIO(piece), ())))
        except (InputError, PolicyError) as error:
            require(MARK not in str(error), f"{name} must not quote values of broken input in its errors")
        except Exception as error:
            raise ContractError(
                f"{name} must raise InputError for broken input, not {type(error).__name__}"
            ) from error
