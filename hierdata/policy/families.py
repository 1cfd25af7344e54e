"""The parts of a policy that are members of a family: the types are made from the family's dict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, Union

from pydantic import BaseModel, BeforeValidator, Field

from hierdata.engines import ENGINES
from hierdata.formats import FORMATS
from hierdata.presets import PRESETS
from hierdata.privacy import MODELS


def one_of(family: Mapping[str, type[BaseModel]]) -> Any:
    """One of a family's members, told apart by ``kind``."""

    def stated(data: Any) -> Any:
        if isinstance(data, dict) and "kind" not in data:
            raise ValueError(f"a kind is needed: {', '.join(family)}")
        return data

    members = tuple(family.values())
    if len(members) == 1:
        return Annotated[members[0], BeforeValidator(stated)]
    return Annotated[Union[members], Field(discriminator="kind")]  # noqa: UP007  (of a tuple)


if TYPE_CHECKING:
    from hierdata.engines import Engine
    from hierdata.privacy import PrivacyModel

    Model: TypeAlias = PrivacyModel
    Step: TypeAlias = Engine
    FormatName: TypeAlias = str
    PresetName: TypeAlias = str
else:
    Model = one_of(MODELS)
    Step = one_of(ENGINES)
    FormatName = Literal[tuple(FORMATS)]
    PresetName = Literal[tuple(PRESETS)]
