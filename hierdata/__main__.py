"""``python -m hierdata``."""

from __future__ import annotations

import sys

from hierdata.cli import main

if __name__ == "__main__":
    sys.exit(main())
