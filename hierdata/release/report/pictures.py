"""What the pictures of the steward's report are drawn from: counts, and no value of the input."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from hierdata.release.report.parts import Plain, Shown, Whole

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
"""A SHA-256 in hexadecimal digits."""


class Change(Plain):
    """How many values there were in the input, and how many of them are published; ``name`` is ours."""

    name: Shown
    input: Whole
    published: Whole


class ExampleLine(Plain):
    """A line of an invented record: a vertex or a field, before, and as it is published most often.

    ``depth`` is the number of vertices above it, ``name`` what it is called there.
    """

    path: Shown
    name: Shown
    depth: Whole
    before: Shown
    after: Shown


class Pictures(Plain):
    """Counts for pictures.

    ``depths`` has by quasi-identifier how many values are published how finely: by the share of the domain
    that a published form stands for. ``distributions`` has by sensitive attribute its levels, or its most
    frequent values as v1, v2 .., before and after.
    ``class_sizes`` is the number of published records by the size of their class; it is empty where values
    are published apart, so that groups hide values and not records. ``example`` is an invented record, line
    by line from its root down.
    """

    depths: dict[str, dict[str, Whole]] = Field(default={})
    distributions: dict[str, tuple[Change, ...]] = Field(default={})
    class_sizes: dict[str, Whole] = Field(default={})
    example: tuple[ExampleLine, ...] = ()


class Fingerprints(Plain):
    """What a release was made from: SHA-256 of the input's decoded content, and of the policy's promise."""

    input: Digest
    policy: Digest
