"""One table: its columns that a policy publishes, and the form of its release."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from hierdata.documents.document import COUNT, GROUP, Document, group_key
from hierdata.documents.formats import Format, Layout, Order, detect, format_named, look_inside
from hierdata.documents.formats.source import PathSource, Source
from hierdata.ground.errors import InputError, PolicyError, VerificationError
from hierdata.policy.policy import Policy
from hierdata.policy.shaped_tables import shaped_tables
from hierdata.policy.spec.tables import CsvOptions
from hierdata.policy.spec.values import Keep
from hierdata.records.survey import Keys
from hierdata.sources.form import FileForm, open_layout
from hierdata.sources.splits import open_source

COMMENTS = ("#", "//", "%", "--")
"""Beginnings of lines that are probably comments."""


@dataclass(frozen=True)
class TableForm(FileForm):
    """One table of flat documents, with rows at ``base``; ``joins`` are its key columns.

    If ``fixed`` is False the recoding decides which columns a part has: its documents are held in memory
    until all columns are known.
    """

    fixed: bool = True
    base: Keys = ()
    joins: tuple[str, ...] = ()

    def fit(self, policy: Policy, order: Order) -> TableForm:
        """Return the form with the columns that the policy publishes, and the key columns (see Form.fit)."""
        depth = len(self.base) + 1  # a column of lists or structs is published with any field below it
        published = {
            path.document_keys[:depth] for path, rule in policy.rules_by_keys.values() if rule.is_published
        }
        published |= {path.document_keys[:depth] for path in policy.compared_fields}
        columns = tuple(
            column
            for column in self.layout.columns
            if column in self.joins or (*self.base, column) in published
        )
        # New keys are numbers, whatever the keys of the input were.
        known = self.layout.types
        types = {column: known[column] for column in columns if column in known and column not in self.joins}
        written = replace(self.layout, columns=columns, types=types, header=True, skipped=0, trailing=0)
        layout = self.format.layout_to_write(written)
        format = published_format(self.format, layout, policy)
        fixed = not policy.recoding_traits.separates_values
        return replace(self, format=format, layout=layout, fixed=fixed)

    def write(self, documents: Iterable[Document], path: Path, element: str | None = None) -> None:
        """Write one table (see Form.write)."""
        if self.fixed:
            super().write(documents, path, element)
            return
        held = list(documents)
        # Records have the input's order of columns, other parts that of a document with all columns.
        fullest: Document = max(held, key=len, default={})
        first = self.layout.columns if element is None else tuple(fullest)
        present = dict.fromkeys(column for document in held for column in document)
        columns = tuple(dict.fromkeys([*(column for column in first if column in present), *present]))
        columns = columns or first  # a table without rows has a header too
        replace(self, layout=replace(self.layout, columns=columns), fixed=True).write(held, path, element)

    def _find_layout(self, path: Path, element: str | None, alone: bool) -> Layout:
        """Return the table's own header."""
        return replace(open_layout(PathSource(path), self.format, ()), alone=alone)


def format_of(name: str, policy: Policy, base: Keys = (), table: str | None = None) -> Format:
    """Return the format stated by the policy, or else found by the file name, for rows at ``base``.

    ``table`` is the name of one of several tables. Raises PolicyError if the policy does not fit the format.
    """
    return fit_format(format_named(policy.format)() if policy.format else detect(name), policy, base, table)


def input_format(source: Source, policy: Policy) -> tuple[Source, Format]:
    """Return an input file as UTF-8, and its format; one that nobody stated is recognized by its content too.

    Raises PolicyError where the policy states an encoding for a format that is not text.
    """
    format = format_of(source.name, policy)
    source = decode_source(source, format, policy.encoding)
    if policy.format is not None or policy.records is not None or not format.is_wrapped:
        return source, format
    with open_source(source) as stream:
        return source, look_inside(format, stream)


def decode_source(source: Source, format: Format, encoding: str | None) -> Source:
    """Return an input file as UTF-8 (see PathSource.decode_as)."""
    if format.is_binary:
        if encoding is not None:
            raise PolicyError(f"`encoding` is for text, but the records are {format.name}: leave it out")
        return source
    return source.decode_as(encoding) if isinstance(source, PathSource) else source


def fit_format(format: Format, policy: Policy, base: Keys = (), table: str | None = None) -> Format:
    """Return a format with the options of the policy (see format_of)."""
    if format.is_tabular and policy.recoding_traits.publishes_classes:
        raise PolicyError(
            "recoding: a class with lists cannot be a row of a table: use generalization, anatomy or slicing"
        )
    if policy.csv is not None and policy.tables is None and not format.is_delimited:
        raise PolicyError(f"the policy has options for CSV (`csv`), but the records are {format.name}")
    stated = policy.csv if table is None or policy.tables is None else policy.tables.get(table)
    columns = () if stated is None else stated.columns or ()
    if columns and not format.is_delimited:
        raise PolicyError(f"the policy has names for columns (`columns`), but the table is {format.name}")
    options = policy.csv or CsvOptions()
    format = format.with_options(options.delimiter, columns, _paths(policy, base))
    return format.with_marks(options.comment, options.decimal, policy.missing_numbers)


def _paths(policy: Policy, base: Keys) -> dict[str, str]:
    """Return the policy's names for the columns of a table."""
    return {
        path.document_keys[-1]: str(path)
        for path, _ in policy.rules_by_keys.values()
        if path.keys and path.document_keys[:-1] == base
    }


def published_format(format: Format, layout: Layout, policy: Policy) -> Format:
    """Return the format of the release of a table."""
    return format.as_published(layout, policy.csv is not None and policy.csv.for_people)


def published_form(source: PathSource, format: Format, suffix: str, policy: Policy) -> TableForm:
    """Return the form of a published table.

    Raises VerificationError for columns that the policy does not list: names may reveal more than the cells.
    """
    layout = open_layout(source, format, ())
    form = TableForm(published_format(format, layout, policy), layout, suffix)
    paths = (*policy.paths, *policy.compared_fields)
    known = {key for path in paths for key in path.document_keys}
    known |= {column for shaped in shaped_tables(policy) for column in shaped.table.joins}
    if policy.recoding_traits.separates_values:
        known |= {GROUP, COUNT, *(group_key(number) for number, _ in enumerate(policy.sensitive, 1))}
    names = [name for kind in layout.types.values() for name in form.format.names_below(kind)]
    strangers = sum(name not in known for name in (*open_layout(source, form.format, ()).columns, *names))
    if strangers and not isinstance(policy.unlisted, Keep):
        raise VerificationError(
            f"the header has columns that the policy does not list: {strangers}", path=source.name
        )
    return form


def check_columns(layout: Layout, policy: Policy, base: Keys = (), joins: tuple[str, ...] = ()) -> None:
    """Raise InputError if the columns show a wrong delimiter or a missing header."""
    declared = _paths(policy, base).keys() | set(joins)
    if layout.types:  # not CSV: columns have names and types, and may have fields below them
        depth = len(base)
        written = [path.document_keys for path in policy.paths]
        declared |= {keys[depth] for keys in written if len(keys) > depth and keys[:depth] == base}
        if len(declared) > 1 and not declared & set(layout.columns):
            raise InputError(
                f"none of the {len(declared)} columns in the policy is in the table: compare their names"
            )
    elif len(declared) > 1 and len(layout.columns) == 1 and layout.columns[0].startswith(COMMENTS):
        sign = next(sign for sign in COMMENTS if layout.columns[0].startswith(sign))
        raise InputError(
            f"the table begins with lines that begin with {sign!r}: if they are comments above the header, "
            f"skip them with `csv: {{comment: '{sign}'}}`"
        )
    elif len(declared) > 1 and len(layout.columns) == 1 and layout.trailing:
        raise InputError("column 2 has no name: name it in the header, or leave it out")
    elif len(declared) > 1 and len(layout.columns) == 1:
        raise InputError(
            "the table has one column, but the policy names more: state the delimiter, such as "
            "`csv: {delimiter: ':'}`"
        )
    missing = [column for column in joins if column not in layout.columns]
    if len(declared) > 1 and not declared & set(layout.columns):
        raise InputError(
            "no column is in the policy: make sure that the table begins with a header, or name the columns "
            "under `columns`"
        )
    if missing:
        raise InputError(f"there is no column {missing[0]}, which joins the tables")
