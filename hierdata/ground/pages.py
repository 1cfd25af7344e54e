"""Pages from templates: what all of them share."""

from __future__ import annotations

import base64
import hashlib

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from hierdata.ground.escaping import escape


def read_templates(package: str, **names: object) -> Environment:
    """Return the templates in the folder ``templates`` of a package, in which ``names`` are known.

    They can extend ``page.html`` in the folder ``templates`` of this room: the frame of a page that does
    nothing but apply its ``style``, as ``content_policy`` says.
    Every text is escaped for HTML unless it is marked as markup, and for the eye by ``escape``.
    """
    templates = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("hierdata.ground")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: escape(value) if type(value) is str else value,
    )
    templates.globals.update(names)
    return templates


def allow_only(style: str) -> str:
    """Return the content security policy of a page that applies its own style, and does nothing else."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
