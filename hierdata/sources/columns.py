"""One table: the columns that a policy publishes of it, and the form that its release has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from hierdata.documents.document import COUNT, GROUP, Document
from hierdata.documents.formats import Format, Layout, detect, format_named
from hierdata.documents.formats.source import PathSource
from hierdata.errors import InputError, PolicyError, VerificationError
from hierdata.policy.policy import Policy
from hierdata.policy.spec.values import Keep
from hierdata.records.survey import Keys
from hierdata.sources.form import FileForm, open_layout


@dataclass(frozen=True)
class TableForm(FileForm):
    """One table of flat documents; ``layout`` has the columns that are published of the input's.

    Where ``fixed`` is False the recoding decides which columns a part has: they are found before it is
    written, and its documents are held until then.
    """

    fixed: bool = True

    def write(self, documents: Iterable[Document], path: Path, element: str | None = None) -> None:
        """Write one table (see Form.write)."""
        if self.fixed:
            super().write(documents, path, element)
            return
        held = list(documents)
        # Records in the input's order of columns, other parts in that of a document with all of them.
        fullest: Document = max(held, key=len, default={})
        first = self.layout.columns if element is None else tuple(fullest)
        found = dict.fromkeys(column for document in held for column in document)
        columns = tuple(dict.fromkeys([*(column for column in first if column in found), *found]))
        columns = columns or first  # a table without rows has a header all the same
        replace(self, layout=replace(self.layout, columns=columns), fixed=True).write(held, path, element)

    def _found(self, path: Path, element: str | None, alone: bool) -> Layout:
        """The table's own header."""
        return replace(open_layout(PathSource(path), self.format, ()), alone=alone)


def format_of(name: str, policy: Policy, base: Keys = ()) -> Format:
    """The format that the policy states, else the one that the name tells, for rows that lie at ``base``.

    Raises PolicyError where the policy says something that does not go with the format.
    """
    return fitted(format_named(policy.format)() if policy.format else detect(name), policy, base)


def fitted(format: Format, policy: Policy, base: Keys = ()) -> Format:
    """A format as the policy spells it (see format_of)."""
    if format.is_tabular and policy.recoding_traits.publishes_classes:
        raise PolicyError(
            "recoding: a class with lists in it is no row of a table: take generalization, anatomy or slicing"
        )
    if policy.csv is not None and policy.tables is None and not format.is_delimited:
        raise PolicyError(f"the policy says how CSV is spelled (`csv`), and the records are {format.name}")
    return format.with_options(None if policy.csv is None else policy.csv.delimiter, _paths(policy, base))


def _paths(policy: Policy, base: Keys) -> dict[str, str]:
    """The policy's names for the columns of a table."""
    return {keys[-1]: str(path) for keys, (path, _) in policy.by_keys.items() if keys and keys[:-1] == base}


def published_format(format: Format, layout: Layout, policy: Policy) -> Format:
    """The format of the release of a table."""
    return format.as_published(layout, policy.csv is not None and policy.csv.for_people)


def table_form(
    format: Format, layout: Layout, suffix: str, policy: Policy, base: Keys = (), joins: tuple[str, ...] = ()
) -> TableForm:
    """The form of the release of a table whose rows lie at ``base``; ``joins`` are its columns of keys."""
    keep = isinstance(policy.unlisted, Keep)
    columns = []
    for column in layout.columns:
        known = policy.by_keys.get((*base, column))
        if column in joins or (keep if known is None else known[1].published_as is not None):
            columns.append(column)
    # Fresh keys are numbers, whatever the input's were.
    types = {
        column: kind for column, kind in layout.types.items() if column in columns and column not in joins
    }
    released = format.layout_to_write(replace(layout, columns=tuple(columns), types=types))
    return TableForm(
        published_format(format, released, policy),
        released,
        suffix,
        not policy.recoding_traits.separates_values,
    )


def published_form(source: PathSource, format: Format, suffix: str, policy: Policy) -> TableForm:
    """The form of a published table.

    Raises VerificationError for columns that the policy does not know: names may say what no cell does.
    """
    layout = open_layout(source, format, ())
    form = TableForm(published_format(format, layout, policy), layout, suffix)
    known = {key for keys in policy.by_keys for key in keys}
    known |= {column for table in policy.joined for column in table.joins}
    known |= {GROUP, COUNT} if policy.recoding_traits.separates_values else set()
    strangers = sum(column not in known for column in open_layout(source, form.format, ()).columns)
    if strangers and not isinstance(policy.unlisted, Keep):
        raise VerificationError(
            f"the header has columns that the policy does not list: {strangers}", path=source.name
        )
    return form


def check_columns(layout: Layout, policy: Policy, base: Keys = (), joins: tuple[str, ...] = ()) -> None:
    """Raise InputError where the columns show that the table was cut wrongly or has no header."""
    declared = _paths(policy, base).keys() | set(joins)
    if len(declared) > 1 and len(layout.columns) == 1:
        raise InputError(
            "the table has one column, and the policy names more: state what separates its cells, such as "
            "`csv: {delimiter: ':'}`"
        )
    missing = [column for column in joins if column not in layout.columns]
    if len(declared) > 1 and not declared & set(layout.columns):
        raise InputError("no column has a name that the policy knows: does the table begin with a header?")
    if missing:
        raise InputError(f"there is no column {missing[0]}, which joins the tables")
