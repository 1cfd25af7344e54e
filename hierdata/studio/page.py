"""What a page is, what it is given, and what an action on it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from starlette.datastructures import FormData
from starlette.responses import Response

from hierdata.ground.errors import InputError
from hierdata.studio.study import StudyFolder
from hierdata.studio.work import Works


class Done(NamedTuple):
    """An action was done: the page to go to, its query and what it says there (the name of a text)."""

    page: str
    said: str = ""
    query: str = ""


@dataclass(frozen=True)
class Ask:
    """A request for a page: the study, its works, and what stands in the address or the form."""

    study: StudyFolder
    works: Works
    query: Mapping[str, str]
    form: FormData = field(default_factory=FormData)
    rest: str = ""

    @property
    def version(self) -> str:
        """The state of the policy that the form was made for."""
        return self.text("version")

    def text(self, name: str, longest: int = 2000) -> str:
        """Return a text of the form, without space around it. Raises InputError if it is too long."""
        value = self.form.get(name, "")
        if not isinstance(value, str) or len(value) > longest:
            raise InputError(f"{name}: a text of at most {longest:,} characters is needed")
        return value.strip()

    def texts(self, name: str) -> list[str]:
        """Return all texts of the form of a name, such as those of boxes that were ticked."""
        return [value for value in self.form.getlist(name) if isinstance(value, str)]


View = Callable[[Ask], dict[str, Any]]
"""Returns what the template of a page is filled with."""
Action = Callable[[Ask], Done]
"""Does what a form asks for. Raises HierdataError, which the page then shows."""
Extra = Callable[[Ask], Response]
"""Answers an address below a page that is no page, such as a download."""


@dataclass(frozen=True)
class Page:
    """A page: its name in addresses, view, actions by name, and what else lies below its address.

    Its template is ``NAME.html``, its texts begin with its name. ``shows_data`` says that values of the data
    are on it. ``is_step`` is False for a page that the list of steps does not name.
    """

    name: str
    view: View
    actions: Mapping[str, Action] = field(default_factory=dict)
    extras: Mapping[str, Extra] = field(default_factory=dict)
    shows_data: bool = False
    is_step: bool = True
