"""``python -m hierdata.policy > schemas/policy.schema.json`` writes the policy's JSON Schema anew."""

from __future__ import annotations

import sys

from hierdata.policy.schema import text

if __name__ == "__main__":
    sys.stdout.write(text())
