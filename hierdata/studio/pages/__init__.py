"""The pages, in the order in which a study goes through them: one module and one template each."""

from __future__ import annotations

from hierdata.studio.page import Page
from hierdata.studio.pages import release, tree

PAGES: dict[str, Page] = {page.name: page for page in (tree.PAGE, release.PAGE, tree.VALUES)}
"""The pages by their names in addresses."""
