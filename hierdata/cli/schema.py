"""``hierdata schema``: the JSON Schema of a policy or of a file of a release, for editors and programs."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hierdata.cli.session import require_absent, session
from hierdata.cli.terminal import say
from hierdata.ground.errors import file_error

SchemaName = StrEnum("SchemaName", ("POLICY", "RELEASE", "CODEBOOK", "REPORT", "VERIFICATION"))
"""What has a JSON Schema."""


def schema(
    name: Annotated[
        SchemaName, typer.Argument(metavar="NAME", help="policy, release, codebook, report or verification.")
    ],
    out: Annotated[Path | None, typer.Option(help="A new file for the schema.")] = None,
) -> None:
    """Print the JSON Schema of policies, or of a file of a release."""
    with session(as_json=False, result=out):
        text = _text_of(name)
        if out is None:
            say(*text.splitlines())
            return
        require_absent(out)
        try:
            with out.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise file_error(error, f"cannot be written ({error.strerror})", path=str(out)) from None
        say(f"The schema is in {out}.")
        if name is SchemaName.POLICY:
            say(f"For editors, begin a policy with the line # yaml-language-server: $schema={out.name}")


def _text_of(name: SchemaName) -> str:
    if name is SchemaName.POLICY:
        from hierdata.policy.schema import text

        return text()
    from hierdata.release.report.models import json_schemas

    return json.dumps(json_schemas()[name.value], indent=2) + "\n"
