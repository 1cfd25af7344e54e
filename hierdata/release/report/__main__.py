"""``python -m hierdata.release.report`` rewrites the JSON Schemas of a release's files in ``schemas/``."""

from __future__ import annotations

import json
from pathlib import Path

from hierdata.release.report.models import json_schemas

SCHEMAS = Path(__file__).parents[3] / "schemas"


def write(folder: Path) -> None:
    """Write one ``<name>.schema.json`` for each file of a release."""
    for name, schema in json_schemas().items():
        text = json.dumps(schema, indent=2) + "\n"
        (folder / f"{name}.schema.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(SCHEMAS)
