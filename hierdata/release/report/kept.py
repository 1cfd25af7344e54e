"""What is kept of the input, in the steward's report."""

from __future__ import annotations

from pydantic import Field

from hierdata.release.report.parts import Exact, Plain


class KeptShare(Plain):
    """The share of something that is published, and the largest share that any release could publish."""

    kept: Exact
    attainable: Exact


class KeptShares(Plain):
    """What is kept in total, and by path of the vertex type and of the field.

    Types and fields of which the input has nothing are left out, and types where nothing has a weight.
    """

    total: KeptShare | None = None
    vertices: dict[str, KeptShare] = Field(default={})
    fields: dict[str, KeptShare] = Field(default={})
