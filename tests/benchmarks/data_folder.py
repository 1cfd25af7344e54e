"""Where real collections are looked for."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder() -> Path:
    """``../shared/data`` beside the repository, or the folder that ``HIERDATA_COLLECTIONS`` names.

    Looked up at each call, so that a test can name a folder with small collections.
    """
    return Path(os.environ.get("HIERDATA_COLLECTIONS") or Path(__file__).parents[3] / "shared" / "data")
