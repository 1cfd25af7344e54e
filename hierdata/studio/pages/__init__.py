"""The pages, in the order in which a study goes through them: one module and one template each."""

from __future__ import annotations

from hierdata.studio.page import Page
from hierdata.studio.pages import comparison, hierarchies, preview, promise, release, roles, tree

PAGES: dict[str, Page] = {
    page.name: page
    for page in (
        tree.PAGE,
        roles.PAGE,
        hierarchies.PAGE,
        promise.PAGE,
        preview.PAGE,
        comparison.PAGE,
        release.PAGE,
        tree.VALUES,
        preview.RECORD,
    )
}
"""The pages by their names in addresses."""
